/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is protected in the worktree: git's own files, and what agents, editors and shells outside run or believe later
 * (E030 to E038). A link is protected at both ends, and at every link between: whoever can turn one of them round
 * decides what the name stands for. A link's missing target is recorded as absent, since making it is changing it.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "survey/git.h"

enum {
	LINK_HOPS = 40, /* as the kernel's own limit */
};

static enum protected_kind kind_of(const struct survey_node *node)
{
	if (node->mode == 0)
		return PROTECTED_ABSENT;
	if (S_ISLNK(node->mode))
		return PROTECTED_LINK;
	return S_ISDIR(node->mode) ? PROTECTED_DIRECTORY : PROTECTED_FILE;
}

bool protect_is_in_reach(const struct survey *survey, const char *path)
{
	if (path_is_in(path, survey->worktree))
		return true;
	for (size_t i = 0; i < survey->write_count; i++)
		if (path_is_in(path, survey->writes[i].path))
			return true;
	return false;
}

enum keep { KEEP_PRESENT, KEEP_ABSENT, KEEP_LINKS };

/* 1 where it is a link: the next end of the chain has to be looked at. */
static int add_one(struct taking *take, const char *path, const char *rule, const char *source, enum keep keep)
{
	struct survey *survey = take->survey;
	struct survey_protected *protected;
	struct survey_node node = { 0 };
	int r;

	if (!protect_is_in_reach(survey, path) || take_is_allowed(take, AXIS_WRITE, path))
		return 0;
	r = look_at(take, path, &node);
	if (r == -ENOENT || r == -ENOTDIR)
		r = keep == KEEP_ABSENT ? 0 : -EACCES;
	if (r == -EACCES || (keep == KEEP_LINKS && !S_ISLNK(node.mode)))
		return 0;
	if (r < 0)
		return take_note(take, "'%s' cannot be looked at: %s", path, strerror(-r));
	protected = take_grow(take, survey->protected, &survey->protected_count, &survey->protected_cap,
			      sizeof(*protected));
	if (!protected)
		return err_oom(take->err);
	survey->protected = protected - (survey->protected_count - 1);
	*protected = (struct survey_protected){
		.path = path,
		.kind = kind_of(&node),
		.rule = rule,
		.source = source,
		.node = node,
	};
	return protected->kind == PROTECTED_LINK;
}

/* Along a chain of links; what is missing at its end is kept where the end itself is to be protected. */
static int add_chain(struct taking *take, const char *path, const char *rule, const char *source, enum keep first,
		     enum keep next)
{
	int r = add_one(take, path, rule, source, first);

	for (int hops = 0; r > 0 && hops < LINK_HOPS; hops++) {
		char *target;

		r = look_link(take, path, &target);
		if (r < 0)
			return r == -ENOMEM ? err_oom(take->err) : 0; /* a target nobody can reach */
		path = target;
		r = add_one(take, path, rule, source, next);
	}
	return r < 0 ? r : 0;
}

int protect_add(struct taking *take, const char *path, const char *rule, const char *source, bool keep_absent)
{
	return add_chain(take, path, rule, source, keep_absent ? KEEP_ABSENT : KEEP_PRESENT, KEEP_ABSENT);
}

int protect_links(struct taking *take, const char *path, const char *rule, const char *source)
{
	return add_chain(take, path, rule, source, KEEP_LINKS, KEEP_LINKS);
}

/* ---- the rows ---- */

struct seeking {
	const struct table_protected *row;
	bool is_heard; /* something was said about it, if only that it is not there */
};

/* The name itself, or what lies below a directory that is missing. A link that leads nowhere yet is held as it is: what
 * must not be made lies where it leads; around a loop nothing can be. */
static int watch_missing(struct taking *take, const struct found *found, const char *rule)
{
	const char *path = found->path;
	char *resolved;
	int r;

	if (found->exists && found->type == DT_LNK) {
		r = look_resolve(take, path, &resolved, NULL);
		if (r < 0)
			return r == -ENOMEM ? err_oom(take->err) : 0;
		path = resolved;
	}
	if (*found->rest)
		path = path_join(take->arena, path, found->rest);
	return path ? watch_absent(take, path, rule) : err_oom(take->err);
}

static int each_row(struct taking *take, void *arg, const struct found *found)
{
	struct seeking *seeking = arg;
	const struct table_protected *row = seeking->row;
	int r = 0;

	seeking->is_heard = true;
	/* `.claude` as a link: its settings are protected behind it, and it must not be turned round either. */
	for (size_t i = 0; i < found->links.n && r == 0; i++)
		r = protect_links(take, found->links.v[i], row->path, "built in");
	if (r < 0)
		return r;
	if (!found->exists || *found->rest)
		return watch_missing(take, found, row->path);
	return protect_add(take, found->path, row->path, "built in", false);
}

/* What lies on the way is no directory now; the command can put one in its place. A link there is left out: the check
 * could not tell it from one that the command has made. */
static int watch_blocked(struct taking *take, const char *dir, const char *row)
{
	char *first = arena_strndup(take->arena, row, strcspn(row, "/")), *path;
	struct survey_node node;

	first = first ? path_join(take->arena, dir, first) : NULL;
	path = first ? path_join(take->arena, dir, row) : NULL;
	if (!path)
		return err_oom(take->err);
	return look_at(take, first, &node) == 0 && S_ISLNK(node.mode) ? 0 : watch_absent(take, path, row);
}

static int protect_rows(struct taking *take, const char *dir, bool is_top)
{
	bool has_git = take->survey->git.kind != REPOSITORY_NONE && policy_number(take->policy, KEY_GIT) != GIT_OPEN;
	int r = 0;

	for (size_t i = 0; i < tables_protected_count && r == 0; i++) {
		struct seeking seeking = { .row = &tables_protected[i] };
		const struct table_protected *row = seeking.row;

		if ((row->only_git && !has_git) || (!is_top && !row->is_each))
			continue;
		r = watch_row(take, dir, row);
		if (row->only_report)
			continue;
		if (r == 0)
			r = find_matches(take, dir, row->path, row->is_glob, each_row, &seeking);
		if (r == 0 && !row->is_glob && !seeking.is_heard)
			r = watch_blocked(take, dir, row->path);
	}
	return r;
}

/* In the directories between the top and the working directory editors and shells look as well. */
static int protect_down_to_cwd(struct taking *take)
{
	const struct survey *survey = take->survey;
	const char *rest = path_below(survey->cwd, survey->worktree);
	char *dir = arena_strdup(take->arena, survey->worktree);
	int r = 0;

	while (rest && *rest && r == 0) {
		size_t length = strcspn(rest, "/");
		char *name = arena_strndup(take->arena, rest, length);

		dir = dir && name ? path_join(take->arena, dir, name) : NULL;
		if (!dir || strv_add(take->arena, &take->listed, dir) < 0)
			return err_oom(take->err);
		rest += length + (rest[length] == '/');
		r = protect_rows(take, dir, false);
	}
	return r;
}

int take_protected(struct taking *take)
{
	int r = protect_git(take);

	if (r == 0)
		r = protect_rows(take, take->survey->worktree, true);
	return r < 0 ? r : protect_down_to_cwd(take);
}
