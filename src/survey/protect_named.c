/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git's configuration names in the worktree: the directory of the hooks, and files that it includes (E035).
 *
 * The threat: a configuration that nobody can write may still say that part of it lies in the project, as
 * `include.path = ../.gitconfig` does, or that the hooks do. Whoever writes there decides what git outside runs. Such a
 * place is protected like git's own files, also while it is missing.
 *
 * The configuration is the user's, the repository's and the worktree's own, each with what it includes, whatever the
 * condition: which one holds can change after the run. A path that git could not read is no error here, and grants
 * nothing: rules are only added. What a name in the command's own environment would bring is the command's.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/gitconfig.h"
#include "base/path.h"
#include "survey/git.h"

enum {
	INCLUDE_FILES = 32, /* git gives up at a depth of 10; what matters is that a loop ends */
};

struct naming {
	struct strv files; /* to be read; grows while it is walked */
	const char *top;   /* what relative hooks lie below */
};

static bool is_hooks(const struct gitconfig_item *item)
{
	return !item->subsection && !strcmp(item->section, "core") && !strcmp(item->key, "hookspath");
}

static bool is_include(const struct gitconfig_item *item)
{
	return !strcmp(item->key, "path") && (!strcmp(item->section, "include") || !strcmp(item->section, "includeif"));
}

/* As git reads a path: below the home, absolute, or below `base`. */
static char *named_path(struct taking *take, const char *value, const char *base)
{
	const char *home = take->survey->who.home;

	if (!strncmp(value, "~/", 2))
		return path_join(take->arena, home ? home : "/", value + 2);
	return path_join(take->arena, *value == '/' ? "/" : base, value + strspn(value, "/"));
}

/* The worktree as a whole, or what holds it, is no place of git's alone. */
static int protect_named(struct taking *take, const char *path, const char *rule)
{
	char *resolved;
	int r = path_resolve(take->arena, path, &resolved, NULL);

	if (r == -ENOMEM)
		return err_oom(take->err);
	if (r < 0 || path_is_in(take->survey->worktree, resolved) ||
	    (take->survey->git.common && path_is_in(take->survey->git.common, resolved)))
		return 0;
	r = protect_links(take, path, rule, "built in");
	return r < 0 ? r : protect_add(take, resolved, rule, "built in", true);
}

static int hear_item(struct taking *take, struct naming *naming, const char *file, const struct gitconfig_item *item)
{
	const bool is_file = item->key && is_include(item);
	char *base, *path;
	int r;

	if (!item->key || !item->value || !*item->value || !(is_file || is_hooks(item)))
		return 0;
	base = is_file ? path_parent(take->arena, file) : arena_strdup(take->arena, naming->top);
	path = base ? named_path(take, item->value, base) : NULL;
	if (!path)
		return err_oom(take->err);
	r = protect_named(take, path, is_file ? "include.path" : "core.hooksPath");
	if (r == 0 && is_file && naming->files.n < INCLUDE_FILES && strv_add(take->arena, &naming->files, path) < 0)
		r = err_oom(take->err);
	return r;
}

static int hear_file(struct taking *take, struct naming *naming, const char *file)
{
	struct gitconfig config = { 0 };
	char *resolved;
	int r = path_resolve(take->arena, file, &resolved, NULL);

	if (r == 0)
		r = git_read_config(take, resolved, &config);
	if (r == -ENOMEM)
		return err_oom(take->err);
	r = 0; /* there is none, or git refuses it, too */
	for (size_t i = 0; i < config.n && r == 0; i++)
		r = hear_item(take, naming, file, &config.v[i]);
	return r;
}

static int add_file(struct taking *take, struct naming *naming, const char *directory, const char *name)
{
	char *path = directory ? path_join(take->arena, directory, name) : NULL;

	if (!directory)
		return 0;
	return path && strv_add(take->arena, &naming->files, path) == 0 ? 0 : err_oom(take->err);
}

int protect_named_by_git(struct taking *take)
{
	const struct survey *survey = take->survey;
	const char *xdg = look_environment(survey, "XDG_CONFIG_HOME");
	struct naming naming = { .top = survey->worktree };
	int r = add_file(take, &naming, survey->git.common, "config");

	if (r == 0)
		r = add_file(take, &naming, survey->git.directory, "config.worktree");
	if (r == 0)
		r = add_file(take, &naming, survey->who.home, ".gitconfig");
	if (r == 0)
		r = add_file(take, &naming, survey->who.home, ".config/git/config");
	if (r == 0 && xdg && *xdg == '/')
		r = add_file(take, &naming, xdg, "git/config");
	if (r == 0)
		r = add_file(take, &naming, "/etc", "gitconfig");
	for (size_t i = 0; i < naming.files.n && r == 0; i++)
		r = hear_file(take, &naming, naming.files.v[i]);
	return r;
}
