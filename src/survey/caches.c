/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caches of tools (F100, F102): each gets a private directory of the user's, bound where the tool looks. The directory
 * must be a real one of the caller's that nobody else can write: what is in it is carried out by later builds.
 */
#include "survey/take.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"

/* ---- where the tool looks ---- */

/* Canonical as far as it exists. Below the home the listings tell, without a look at what is not there. *ret NULL: it
 * leads nowhere. */
static int locate(struct taking *take, const char *dir, const char *below, const char **ret)
{
	const char *path = *below ? path_join(take->arena, dir, below) : dir;
	const char *home = take->survey->who.home, *rest = path && home ? path_below(path, home) : NULL;
	struct found found;
	char *resolved;
	int r;

	*ret = NULL;
	if (!path)
		return err_oom(take->err);
	if (rest && *rest) {
		r = find_below(take, home, rest, &found);
		if (r <= 0)
			return r;
		if (!found.exists || found.type != DT_LNK) {
			*ret = *found.rest ? path_join(take->arena, found.path, found.rest) : found.path;
			return *ret ? 0 : err_oom(take->err);
		}
		path = found.path;
		if (*found.rest) /* behind a link that leads nowhere */
			return 0;
	}
	r = look_resolve(take, path, &resolved, NULL);
	if (r == 0)
		*ret = resolved;
	return r == -ENOMEM ? err_oom(take->err) : 0;
}

static int default_place(struct taking *take, const struct table_path *row, const char **ret)
{
	const struct identity *who = &take->survey->who;
	const char *dir = row->base == TABLE_HOME   ? who->home
			  : row->base == TABLE_CACHE ? who->cache_home
			  : row->base == TABLE_DATA  ? who->data_home
			  : row->base == TABLE_STATE ? who->state_home
						     : who->config_home;

	*ret = NULL;
	return dir && who->home && strcmp(who->home, "/") != 0 ? locate(take, dir, row->below, ret) : 0;
}

/* Rows of one name are alternatives: the first whose variable is set, else the default of the last. */
static int tool_place(struct taking *take, const struct table_cache *rows, size_t count, const char **ret)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = rows[i].variable ? look_environment(take->survey, rows[i].variable) : NULL;
		char *dir;

		if (!value || value[0] != '/')
			continue;
		dir = path_normal(take->arena, NULL, value);
		return dir ? locate(take, dir, rows[i].below, ret) : err_oom(take->err);
	}
	*ret = NULL;
	return rows[count - 1].has_default ? default_place(take, &rows[count - 1].path, ret) : 0;
}

/* A private directory must not cover what the run needs, nor stand where the tool may write anyway, nor below another
 * one: what was bound first shows its own content there. */
static bool is_fit(const struct survey *survey, const char *tool)
{
	if (path_is_in(tool, survey->worktree) || path_is_in(survey->worktree, tool) || path_is_in(survey->cwd, tool))
		return false;
	for (size_t i = 0; i < survey->home_count; i++)
		if (path_is_in(survey->home[i].path, tool))
			return false;
	for (size_t i = 0; i < survey->write_count; i++)
		if (path_is_in(tool, survey->writes[i].path) || path_is_in(survey->writes[i].path, tool))
			return false;
	for (size_t i = 0; i < survey->cache_count; i++)
		if (path_is_in(tool, survey->caches[i].tool))
			return false;
	return true;
}

/* ---- the private directory ---- */

static bool is_own(const struct survey *survey, const struct stat *st)
{
	return S_ISDIR(st->st_mode) && st->st_uid == survey->who.uid && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* mkdir -p of a normal path, 0700. */
static int make_parents(const char *path)
{
	char copy[PATH_MAX];
	size_t length = strlen(path);

	if (length >= sizeof(copy))
		return -ENAMETOOLONG;
	memcpy(copy, path, length + 1);
	for (char *slash = strchr(copy + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST)
			return -errno;
		if (!slash)
			return 0;
		*slash = '/';
	}
}

/* A preview makes nothing, and says what would hinder. */
static int make_base(struct taking *take, const char *path, int *ret_fd)
{
	const char *home = take->survey->who.cache_home;
	int r = 0;

	if (take->make)
		r = make_parents(path);
	else if (access(home, W_OK | X_OK) < 0 && errno != ENOENT)
		r = -errno;
	if (r < 0)
		return take_note(take, "'%s' cannot be made (%s): no cache is kept", path, strerror(-r));
	if (take->make)
		*ret_fd = openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return 0;
}

/* The directory of all private caches, opened without following a link at its end. *ret_fd -1: there is none. */
static int open_base(struct taking *take, char **ret_path, int *ret_fd)
{
	const struct survey *survey = take->survey;
	struct stat st;
	char *path;
	int r;

	*ret_fd = -1;
	if (!survey->who.cache_home || !survey->who.home)
		return 0;
	path = path_join(take->arena, survey->who.cache_home, "pinfold");
	if (!path)
		return err_oom(take->err);
	/* Where the command can write it could put another directory, or a link, in the place of ours. */
	if (path_is_in(path, survey->worktree))
		return 0;
	*ret_path = path;
	*ret_fd = openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_fd < 0 && errno == ENOENT) {
		r = make_base(take, path, ret_fd);
		if (r < 0 || *ret_fd < 0)
			return r;
	}
	if (*ret_fd < 0)
		return take_note(take, "'%s' is no directory that can be used (%s): no cache is kept", path,
				 strerror(errno));
	if (fstat(*ret_fd, &st) < 0 || !is_own(survey, &st)) {
		fd_close(ret_fd);
		return take_note(take, "'%s' is not the caller's own directory: no cache is kept", path);
	}
	if (faccessat(*ret_fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return take_note(take, "'%s' cannot be written (%s): caches that it does not hold yet are not kept",
				 path, strerror(errno));
	return 0;
}

static int add_cache(struct taking *take, int base, const char *base_path, const char *name, const char *tool)
{
	struct survey *survey = take->survey;
	struct survey_cache *cache;
	struct stat st;
	bool found;

	cache = take_grow(take, survey->caches, &survey->cache_count, &survey->cache_cap, sizeof(*cache));
	if (!cache)
		return err_oom(take->err);
	survey->caches = cache - (survey->cache_count - 1);
	cache->name = name;
	cache->tool = tool;
	if (base < 0)
		return 0;
	found = fstatat(base, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!found && errno == ENOENT && take->make && mkdirat(base, name, 0700) == 0)
		found = fstatat(base, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!found || !is_own(survey, &st))
		return 0;
	cache->store = path_join(take->arena, base_path, name);
	look_node(&st, &cache->node);
	return cache->store ? 0 : err_oom(take->err);
}

int take_caches(struct taking *take)
{
	FD_CLEANUP int base = -1;
	char *base_path = NULL;
	size_t count;
	int r = open_base(take, &base_path, &base);

	for (size_t i = 0; i < tables_cache_count && r == 0; i += count) {
		const struct table_cache *rows = &tables_caches[i];
		const char *tool;

		for (count = 1; i + count < tables_cache_count && !strcmp(rows[count].name, rows->name);)
			count++;
		r = tool_place(take, rows, count, &tool);
		if (r == 0 && tool && is_fit(take->survey, tool))
			r = add_cache(take, base, base_path, rows->name, tool);
	}
	return r;
}
