/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The git layout at the worktree's top, from what lies on disk: git is never run, since its configuration is the
 * command's to write (E030) and would be carried out outside the pen.
 */
#include "survey/take.h"

#include "base/err.h"
#include "base/path.h"

static bool is_kind(struct taking *take, const char *directory, const char *name, mode_t a, mode_t b)
{
	const char *path = path_join(take->arena, directory, name);
	struct survey_node node;
	mode_t type;

	if (!path || look_at(path, &node) < 0)
		return false;
	type = node.mode & S_IFMT;
	return type == a || type == b;
}

/* A plain clone keeps everything below `.git`. One with a commondir file takes hooks and configuration from elsewhere
 * (E031), and one whose objects or refs are links is shared: neither is plain. */
static bool is_clone(struct taking *take, const char *directory)
{
	return is_kind(take, directory, "HEAD", S_IFREG, S_IFLNK) &&
	       is_kind(take, directory, "objects", S_IFDIR, S_IFDIR) &&
	       is_kind(take, directory, "refs", S_IFDIR, S_IFDIR) &&
	       !is_kind(take, directory, "commondir", S_IFREG, S_IFLNK);
}

int take_git(struct taking *take)
{
	struct survey_git *git = &take->survey->git;
	char *path = path_join(take->arena, take->survey->worktree, ".git");

	if (!path)
		return err_oom(take->err);
	if (look_at(path, &git->node) < 0)
		return 0; /* REPOSITORY_NONE */
	git->directory = path;
	git->kind = S_ISDIR(git->node.mode) && is_clone(take, path) ? REPOSITORY_CLONE : REPOSITORY_OTHER;
	return 0;
}
