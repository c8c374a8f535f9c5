/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run by root, the command has an unprivileged id of the host, which cannot pass through a directory that only root may
 * enter: a worktree below one would be out of reach. In the pen such a directory is one of our own, in which nothing
 * shows but what is granted below it. Homes need none of this: they are shown with their ids mapped.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/path.h"
#include "survey/take.h"

/* Where the pen has directories of its own anyway. */
static const char *const own_places[] = { "/tmp", "/var/tmp", "/run", "/dev" };

static bool is_own(const struct survey *survey, const char *path)
{
	for (size_t i = 0; i < sizeof(own_places) / sizeof(own_places[0]); i++)
		if (path_is_in(path, own_places[i]))
			return true;
	for (size_t i = 0; i < survey->home_count; i++)
		if (path_is_in(path, survey->home[i].path))
			return true;
	return false;
}

/* The topmost ancestor of path that others may not enter. */
static int add_closed(struct taking *take, const char *path)
{
	struct survey *survey = take->survey;

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *dir = arena_strndup(take->arena, path, (size_t)(slash - path));
		struct survey_node node;

		if (!dir)
			return err_oom(take->err);
		if (is_own(survey, dir) || strv_has(&survey->closed, dir))
			return 0;
		if (look_at(take, dir, &node) < 0 || (node.mode & S_IXOTH))
			continue;
		return strv_add_owned(take->arena, &survey->closed, dir) < 0 ? err_oom(take->err) : 0;
	}
	return 0;
}

int take_closed(struct taking *take)
{
	struct survey *survey = take->survey;
	int r;

	if (survey->who.uid != 0)
		return 0;
	r = add_closed(take, survey->worktree);
	for (size_t i = 0; r == 0 && i < survey->write_count; i++)
		r = add_closed(take, survey->writes[i].path);
	for (size_t i = 0; r == 0 && i < survey->read_count; i++)
		r = add_closed(take, survey->reads[i].path);
	return r;
}
