/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The git layout, from what lies on disk: git is never run, since its configuration is the command's to write (E030)
 * and would be carried out outside the pen.
 *
 * What git needs to write may lie outside the worktree, and the way there is written down in files that an earlier run
 * may have made: `.git`, commondir, a link (F015). So nothing outside becomes writable because of what they say. It
 * must say itself, in a place that such a run could not write, that it belongs to this worktree (git_trust.c). What
 * does not is named in a warning, stays read-only, and the run goes on.
 *
 *                       found by                       own directory          common directory
 *   clone               .git is a directory            .git                   the same
 *   linked worktree     .git file, commondir           REPO/worktrees/NAME    REPO (a clone's .git, a bare one)
 *   submodule           .git file                      REPO/modules/NAME      the same
 *   separate git dir    .git file, or .git is a link   anywhere               the same
 *   bare                HEAD, objects, refs at the top the worktree           the same
 */
#include "survey/git.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"
#include "survey/worktree.h"

/* ---- finding ---- */

/* The nearest `.git` at the worktree's top or above it, as git looks for it. Above, a directory that would not do as a
 * worktree is passed over: a dotfiles repository in the home, a /tmp/.git that anybody has left there. */
static int find_entry(struct taking *take, char **ret_top)
{
	struct survey *survey = take->survey;
	char *top = arena_strdup(take->arena, survey->worktree);

	*ret_top = NULL;
	while (top) {
		char *entry = path_join(take->arena, top, ".git");

		if (!entry)
			break;
		if (look_at(take, entry, &survey->git.node) == 0) {
			if (!strcmp(top, survey->worktree) ||
			    !worktree_refusal(take->arena, top, survey->who.home, survey->who.account_home)) {
				survey->git.entry = entry;
				*ret_top = top;
			}
			return 0;
		}
		if (!strcmp(top, "/"))
			return 0;
		top = path_parent(take->arena, top);
	}
	return err_oom(take->err);
}

/* A pointer that leads nowhere, or to something that is no git directory. */
static int is_other(struct taking *take, const char *why)
{
	struct survey_git *git = &take->survey->git;

	git->kind = REPOSITORY_OTHER;
	git->refused = why;
	return 0;
}

/* `directory` is what a .git file or link leads to. */
static int classify(struct taking *take, char *directory)
{
	struct survey_git *git = &take->survey->git;
	char *common;
	int r;

	git->directory = git->common = directory;
	if (git_has(take, directory, "commondir", S_IFREG)) {
		git->kind = REPOSITORY_LINKED;
		r = git_read_pointer(take, path_join(take->arena, directory, "commondir"), "", directory, &common);
		if (r < 0)
			return r == -ENOMEM ? err_oom(take->err) : is_other(take, "its commondir leads nowhere");
		git->common = common;
		return 0;
	}
	if (!git_has(take, directory, "HEAD", S_IFREG) && !git_has(take, directory, "HEAD", S_IFLNK))
		return is_other(take, "it is no git directory");
	git->kind = strstr(directory, "/modules/") ? REPOSITORY_SUBMODULE : REPOSITORY_SEPARATE;
	return 0;
}

static int follow(struct taking *take)
{
	struct survey_git *git = &take->survey->git;
	bool is_missing = false;
	char *directory = NULL;
	int r;

	if (S_ISLNK(git->node.mode)) {
		r = look_resolve(take, git->entry, &directory, &is_missing);
		if (r == 0 && is_missing)
			r = -ENOENT;
	} else if (S_ISREG(git->node.mode)) {
		r = git_read_pointer(take, git->entry, "gitdir: ", path_parent(take->arena, git->entry), &directory);
	} else {
		r = -EINVAL;
	}
	if (r == -ENOMEM)
		return err_oom(take->err);
	return r < 0 ? is_other(take, "it leads nowhere") : classify(take, directory);
}

static int find_layout(struct taking *take)
{
	struct survey_git *git = &take->survey->git;

	if (!git->entry) {
		if (git_is_repository(take, take->survey->worktree)) {
			git->kind = REPOSITORY_BARE;
			git->directory = git->common = take->survey->worktree;
		}
		return 0;
	}
	git->directory = git->common = git->entry;
	if (!S_ISDIR(git->node.mode))
		return follow(take);
	/* One with a commondir takes hooks and configuration from elsewhere (E031). */
	if (git_is_repository(take, git->entry))
		git->kind = REPOSITORY_CLONE;
	else
		return is_other(take, "it is no git directory whose objects and refs are its own");
	return 0;
}

/* ---- granting ---- */

static bool is_inside(const struct taking *take, const char *path)
{
	return path_is_in(path, take->survey->worktree);
}

static int grant(struct taking *take, const char *path)
{
	struct survey_node node;

	if (!path)
		return err_oom(take->err);
	if (look_at(take, path, &node) < 0 || !S_ISDIR(node.mode))
		return 0;
	return grant_write(take, path, &node, "git");
}

/* git makes `logs` itself at the first commit in a linked worktree of a bare repository. */
static int make_logs(struct taking *take, const char *path)
{
	struct survey_node node;

	if (!path)
		return err_oom(take->err);
	if (!take->make || look_at(take, path, &node) != -ENOENT || look_at(take, take->survey->git.common, &node) < 0)
		return 0;
	if (mkdir(path, node.mode & 0777) == 0 && take->survey->who.uid == 0 &&
	    lchown(path, node.uid, node.gid) < 0)
		return err_sys(take->err, PINFOLD_UNAVAILABLE, errno, "give away", path);
	return 0;
}

/* What a commit writes. Locks beside HEAD and packed-refs cannot be made then, so packing and deleting refs fail. */
static const char *const pieces[] = { "objects", "refs", "logs" };

static int grant_common(struct taking *take, bool is_whole)
{
	const char *common = take->survey->git.common;
	int r = 0;

	if (is_inside(take, common))
		return 0;
	if (is_whole)
		return grant(take, common);
	r = make_logs(take, path_join(take->arena, common, "logs"));
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]) && r == 0; i++)
		r = grant(take, path_join(take->arena, common, pieces[i]));
	return r;
}

static int refuse(struct taking *take, const char *why)
{
	struct survey_git *git = &take->survey->git;

	git->refused = why;
	return take_note(take, "git can read its directory '%s', but not write to it: %s", git->directory, why);
}

/* A write path of the user's own, which needs no proof (F004). A registration that is false stays one all the same. */
static bool is_granted_by_hand(const struct taking *take)
{
	const struct survey_git *git = &take->survey->git;

	return take->has_allow_rules && git->kind != REPOSITORY_LINKED &&
	       policy_rule(take->policy, AXIS_WRITE, git->directory, NULL, NULL) == RULE_ALLOW;
}

static int grant_layout(struct taking *take, const char *top)
{
	struct survey_git *git = &take->survey->git;
	bool is_whole = true;
	const char *why;
	int r;

	if (git->refused)
		return refuse(take, git->refused);
	if ((is_inside(take, git->directory) && git->kind != REPOSITORY_LINKED) || is_granted_by_hand(take))
		return 0;
	r = git_check(take, top, &is_whole, &why);
	if (r < 0)
		return r;
	if (why)
		return refuse(take, why);
	if (policy_number(take->policy, KEY_READ_ONLY) || policy_number(take->policy, KEY_GIT) == GIT_READONLY)
		return 0;
	r = grant_common(take, is_whole);
	/* Over REPO/worktrees, which is read-only as a whole, so that the plan does not grow with the number of
	 * siblings. */
	return r == 0 && git->kind == REPOSITORY_LINKED ? grant(take, git->directory) : r;
}

/* ---- the caller's environment ---- */

/* Left out of the command's (data/environment.tsv), and no pointer for us either: it is anybody's who can set it. */
static int warn_of_environment(struct taking *take)
{
	static const char *const names[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE",
					     "GIT_OBJECT_DIRECTORY" };
	int r = 0;

	if (policy_number(take->policy, KEY_ENV_MODE) == ENV_ALL)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && r == 0; i++)
		if (look_environment(take->survey, names[i]))
			r = take_note(take, "%s is not followed: git's directory is looked for from the worktree",
				      names[i]);
	return r;
}

int take_git(struct taking *take)
{
	char *top;
	int r = find_entry(take, &top);

	if (r == 0)
		r = find_layout(take);
	if (r == 0 && top)
		r = grant_layout(take, top);
	return r < 0 ? r : warn_of_environment(take);
}
