/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the protected names that have no place of their own: wildcards, whose matches were protected where they
 * existed, and of which a new one must not appear; and names that may change, which are looked at so that it is said.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "survey/take.h"

/* Of the watches of one directory's names there is one. */
static struct survey_watch *find_names(const struct taking *take, const char *dir)
{
	struct survey *survey = take->survey;

	for (size_t i = survey->watch_count; i-- > 0;) {
		struct survey_watch *watch = &survey->watches[i];
		const char *below = path_below(dir, survey->watch_roots[watch->root].path);

		if (watch->kind == WATCH_NAMES && below && strcmp(below, watch->below) == 0)
			return watch;
	}
	return NULL;
}

/* What cannot be listed now may hold a match that was there before: of it nothing could be said. */
static bool can_be_listed(struct taking *take, const char *dir, int *ret_error)
{
	const struct listing *listing = look_listing(take, dir);

	*ret_error = listing ? 0 : err_oom(take->err);
	return listing && (listing->errnum == 0 || listing->errnum == ENOENT || listing->errnum == ENOTDIR);
}

static int watch_names(struct taking *take, const char *dir, const char *glob)
{
	struct survey_watch *watch;
	int r = 0;

	if (!protect_is_in_reach(take->survey, dir) || !can_be_listed(take, dir, &r))
		return r;
	watch = find_names(take, dir);
	if (!watch) {
		r = watch_add(take, WATCH_NAMES, dir, "a protected name");
		if (r <= 0)
			return r;
		watch = watch_last(take);
	}
	return strv_add(take->arena, &watch->words, glob) < 0 ? err_oom(take->err) : 0;
}

/* Where the directory of the wildcard is: behind a link, if one leads there. */
static int watch_glob(struct taking *take, const char *dir, const char *row)
{
	const char *glob = path_name(row);
	char *parent, *resolved;
	int r;

	if (glob == row)
		return watch_names(take, dir, glob);
	parent = arena_strndup(take->arena, row, (size_t)(glob - row) - 1);
	parent = parent ? path_join(take->arena, dir, parent) : NULL;
	if (!parent)
		return err_oom(take->err);
	r = look_resolve(take, parent, &resolved, NULL);
	if (r == -ENOMEM)
		return err_oom(take->err);
	return r < 0 ? 0 : watch_names(take, resolved, glob);
}

static int watch_report(struct taking *take, const char *dir, const struct table_protected *row)
{
	struct stat st;
	struct found found;
	char *path;
	int r = find_below(take, dir, row->path, &found);

	if (r <= 0)
		return r;
	path = path_join(take->arena, dir, row->path);
	if (!path)
		return err_oom(take->err);
	r = watch_add(take, WATCH_REPORT, path, row->reason);
	if (r > 0 && found.exists && !*found.rest && lstat(path, &st) == 0)
		watch_fill(take->survey, watch_last(take), path, &st);
	return r < 0 ? r : 0;
}

int watch_row(struct taking *take, const char *dir, const struct table_protected *row)
{
	if (row->only_report)
		return watch_report(take, dir, row);
	return row->is_glob ? watch_glob(take, dir, row->path) : 0;
}
