/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git's configuration names in the worktree: a directory of hooks (core.hooksPath), files that it includes or
 * takes attributes from, and programs that git runs by itself (core.fsmonitor, filters, pagers). git outside runs what
 * lies there, so for the command it is like git's own hooks (E030, E035): there, it is read-only; a directory of hooks
 * and a file that is included must stay absent where they are missing. A program that is missing may be a product of
 * the build, like those that the user calls himself by an alias: they are the command's work (E039).
 *
 * The configurations are the repository's and the user's own; both are out of the command's reach. A program is a text
 * for a shell, and no shell is asked: each word of it with a slash counts as a path. What a program reads in its turn,
 * and one that is found by PATH, nobody can tell from here.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/gitconfig.h"
#include "base/path.h"
#include "survey/git.h"

enum { INCLUDE_DEPTH = 10, INCLUDE_FILES = 64 };

enum value_kind { VALUE_PATH, VALUE_INCLUDE, VALUE_PROGRAM };

/* With a subsection or without; a key of "" is any. */
static const struct {
	const char *section, *key;
	enum value_kind kind;
} variables[] = {
	{ "core", "hookspath", VALUE_PATH },     { "core", "attributesfile", VALUE_PATH },
	{ "include", "path", VALUE_INCLUDE },    { "includeif", "path", VALUE_INCLUDE },
	{ "core", "fsmonitor", VALUE_PROGRAM },  { "core", "sshcommand", VALUE_PROGRAM },
	{ "core", "editor", VALUE_PROGRAM },     { "core", "pager", VALUE_PROGRAM },
	{ "core", "askpass", VALUE_PROGRAM },    { "core", "gitproxy", VALUE_PROGRAM },
	{ "sequence", "editor", VALUE_PROGRAM }, { "interactive", "difffilter", VALUE_PROGRAM },
	{ "diff", "external", VALUE_PROGRAM },   { "diff", "textconv", VALUE_PROGRAM },
	{ "diff", "command", VALUE_PROGRAM },    { "merge", "driver", VALUE_PROGRAM },
	{ "filter", "clean", VALUE_PROGRAM },    { "filter", "smudge", VALUE_PROGRAM },
	{ "filter", "process", VALUE_PROGRAM },  { "gpg", "program", VALUE_PROGRAM },
	{ "pager", "", VALUE_PROGRAM },          { "credential", "helper", VALUE_PROGRAM },
};

struct naming {
	struct taking *take;
	const char *top; /* of the checkout: git runs programs there */
	int files;
};

static int name_file(struct naming *naming, const char *path, int depth);

/* An absolute path, as text; NULL with 0: none that could be known. */
static int expand(struct naming *naming, const char *value, const char *base, char **ret)
{
	struct taking *take = naming->take;
	const char *home = take->survey->who.home;

	*ret = NULL;
	if (value[0] == '~' && value[1] == '/')
		base = home, value += 2;
	else if (value[0] == '~' || value[0] == '%')
		return 0;
	if (!base && value[0] != '/')
		return 0;
	*ret = path_normal(take->arena, base, value);
	return *ret ? 0 : err_oom(take->err);
}

/* A directory of hooks that is the worktree, or holds it or git's directory, cannot be made read-only. */
static bool is_too_wide(const struct survey *survey, const char *path)
{
	return path_is_in(survey->worktree, path) || path_is_in(survey->git.directory, path) ||
	       (survey->git.common && path_is_in(survey->git.common, path));
}

/* The links on the way as well: whoever turns one of them round decides what the path stands for. */
static int hold(struct taking *take, const char *path, const char *rule)
{
	const char *below = path_below(path, take->survey->worktree);
	char *parent = path_parent(take->arena, path), *resolved;
	int r = parent ? look_resolve(take, parent, &resolved, NULL) : -ENOMEM;

	if (r < 0)
		return r == -ENOMEM ? err_oom(take->err) : 0; /* nobody comes there */
	for (const char *at = below; at && (at = strchr(at, '/')) && r == 0; at++) {
		char *dir = arena_strndup(take->arena, path, (size_t)(at - path));

		r = dir ? protect_links(take, dir, rule, "built in") : err_oom(take->err);
	}
	if (r < 0)
		return r;
	path = path_join(take->arena, resolved, path_name(path));
	return path ? protect_add(take, path, rule, "built in", true) : err_oom(take->err);
}

static int name_path(struct naming *naming, const char *path, const char *rule)
{
	struct taking *take = naming->take;

	if (!protect_is_in_reach(take->survey, path))
		return 0;
	if (is_too_wide(take->survey, path))
		return take_note(take, "'%s' is not protected although git names it (%s): it is too wide", path, rule);
	return hold(take, path, rule);
}

/* Of what is there a file, or a link to one. */
static int name_program(struct naming *naming, const char *path, const char *rule)
{
	struct stat st;

	if (!protect_is_in_reach(naming->take->survey, path))
		return 0;
	if (stat(path, &st) < 0) {
		look_failed(naming->take, path, errno);
		return 0;
	}
	if (!S_ISREG(st.st_mode))
		return 0;
	return hold(naming->take, path, rule);
}

static int name_words(struct naming *naming, const char *value, const char *rule)
{
	static const char between[] = " \t\n\"'`;&|()<>=!$";

	for (value += strspn(value, between); *value; value += strspn(value, between)) {
		const size_t length = strcspn(value, between);
		char *word = arena_strndup(naming->take->arena, value, length), *path = NULL;
		int r = word ? 0 : err_oom(naming->take->err);

		if (r == 0 && strchr(word, '/'))
			r = expand(naming, word, naming->top, &path);
		if (r == 0 && path)
			r = name_program(naming, path, rule);
		if (r < 0)
			return r;
		value += length;
	}
	return 0;
}

static int name_value(struct naming *naming, const struct gitconfig_item *item, enum value_kind kind, const char *file,
		      int depth)
{
	struct taking *take = naming->take;
	const char *rule = arena_printf(take->arena, "%s.%s", item->section, item->key);
	char *base = kind == VALUE_INCLUDE ? path_parent(take->arena, file) : NULL, *path;
	int r;

	if (!rule || (kind == VALUE_INCLUDE && !base))
		return err_oom(take->err);
	if (kind == VALUE_PROGRAM)
		return name_words(naming, item->value, rule);
	r = expand(naming, item->value, base ? base : naming->top, &path);
	if (r == 0 && path)
		r = name_path(naming, path, rule);
	return r == 0 && path && kind == VALUE_INCLUDE ? name_file(naming, path, depth + 1) : r;
}

static int name_item(struct naming *naming, const struct gitconfig_item *item, const char *file, int depth)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (strcmp(item->section, variables[i].section) == 0 &&
		    (!*variables[i].key || strcmp(item->key, variables[i].key) == 0))
			return name_value(naming, item, variables[i].kind, file, depth);
	return 0;
}

/* What is missing, or is not as git reads it, names nothing. */
static int name_file(struct naming *naming, const char *path, int depth)
{
	struct taking *take = naming->take;
	struct gitconfig config = { 0 };
	char *resolved;
	int r;

	if (depth > INCLUDE_DEPTH || naming->files++ >= INCLUDE_FILES)
		return 0;
	r = look_resolve(take, path, &resolved, NULL);
	if (r == 0)
		r = git_read_config(take, resolved, &config);
	if (r == -ENOMEM)
		return err_oom(take->err);
	for (size_t i = 0; r == 0 && i < config.n; i++)
		if (config.v[i].key && config.v[i].value && *config.v[i].value) {
			r = name_item(naming, &config.v[i], path, depth);
			if (r < 0)
				return r;
		}
	return 0;
}

static int name_in(struct naming *naming, const char *dir, const char *name)
{
	char *path = dir ? path_join(naming->take->arena, dir, name) : NULL;

	if (!dir)
		return 0;
	return path ? name_file(naming, path, 0) : err_oom(naming->take->err);
}

int protect_named(struct taking *take, const char *directory, const char *top)
{
	const struct identity *who = &take->survey->who;
	struct naming naming = { .take = take, .top = top };
	const struct {
		const char *dir, *name;
	} files[] = {
		{ directory, "config" }, { directory, "config.worktree" }, { who->home, ".gitconfig" },
		{ who->config_home, "git/config" }, { "/etc", "gitconfig" },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && r == 0; i++)
		r = name_in(&naming, files[i].dir, files[i].name);
	return r;
}

/* In a linked worktree there are two directories with a configuration. */
int protect_named_by_git(struct taking *take)
{
	const struct survey_git *git = &take->survey->git;
	char *top = git->entry ? path_parent(take->arena, git->entry) : arena_strdup(take->arena, git->directory);
	int r;

	if (!top)
		return err_oom(take->err);
	r = protect_named(take, git->common, top);
	return r < 0 || strcmp(git->common, git->directory) == 0 ? r : protect_named(take, git->directory, top);
}
