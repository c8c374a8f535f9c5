/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a git directory outside the worktree belong to it? Whoever wrote the pointer to it may be an earlier run, which
 * could write the worktree and what its own grants named, and nothing else. So
 *
 *   - it must name this worktree itself: a linked worktree by its registration (REPO/worktrees/NAME/gitdir, which every
 *     run finds read-only), another one by core.worktree in its configuration (read-only as well). A pointer to
 *     ~/.ssh, or to somebody else's repository, finds no such name there (F015);
 *   - it must be a git directory, with its objects in it;
 *   - it must not be a part of another repository that is protected there: only REPO/modules/NAME is a git directory of
 *     its own. (Else `hooks` of a repository above, dressed up as a git directory, would become writable);
 *   - as a whole it is only opened where nothing lies in it but git's own. A bare repository with worktrees in it, or a
 *     project's directory dressed up as one, would open what is none of this run's. Then a linked worktree gets its own
 *     directory, objects, refs and logs alone, and the others get nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "survey/git.h"
#include "survey/worktree.h"

enum {
	ENTRY_LIMIT = 512, /* names at the top of a git directory; usually 15 */
};

/* Directories that git and its companions make there. */
static const char *const own_names[] = {
	"annex", "branches", "branchless", "filter-repo", "fsmonitor--daemon", "git-crypt", "gitbutler", "hooks",
	"info", "jj", "lfs", "logs", "lost-found", "modules", "objects", "rebase-apply", "rebase-merge", "refs",
	"reftable", "remotes", "rr-cache", "sequencer", "sl", "stgit", "svn", "worktrees",
};

static bool is_own_name(const char *name)
{
	for (size_t i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++)
		if (!strcmp(name, own_names[i]))
			return true;
	return false;
}

static bool ends_in_git(const char *name)
{
	size_t length = strlen(name);

	return (length >= 4 && !strcmp(name + length - 4, ".git")) || !strcmp(name, ".bare");
}

/* A real directory of another name; a link opens nothing, since what it leads to stays as it is. */
static bool is_foreign(struct taking *take, const char *directory, const struct dirent *entry)
{
	bool is_directory = entry->d_type == DT_DIR;

	if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
		return false;
	if (entry->d_name[0] == '.' && !ends_in_git(path_name(directory)))
		return true;
	if (entry->d_type == DT_UNKNOWN)
		is_directory = git_has(take, directory, entry->d_name, S_IFDIR);
	return is_directory && !is_own_name(entry->d_name);
}

static bool holds_git_alone(struct taking *take, const char *directory)
{
	const char *name = path_name(directory);
	const struct dirent *entry;
	bool is_alone = true;
	size_t n = 0;
	DIR *dir;

	if (path_is_in(take->survey->worktree, directory))
		return false;
	if (name[0] == '.' && !ends_in_git(name) && take->survey->git.kind != REPOSITORY_SUBMODULE)
		return false; /* .claude, .vscode */
	dir = opendir(directory);
	if (!dir)
		look_failed(take, directory, errno);
	while (dir && is_alone && (entry = readdir(dir)))
		is_alone = n++ < ENTRY_LIMIT && !is_foreign(take, directory, entry);
	if (dir)
		closedir(dir);
	return dir && is_alone;
}

/* ---- other repositories around it ---- */

/* `modules/NAME`, `worktrees/NAME/modules/NAME`: git directories of their own below another one. */
static bool is_own_below(const char *below)
{
	const char *slash;

	if (!strncmp(below, "worktrees/", 10)) {
		slash = strchr(below + 10, '/');
		if (!slash)
			return false;
		below = slash + 1;
	}
	return !strncmp(below, "modules/", 8) && below[8];
}

static bool is_part_of_another(struct taking *take, const char *directory)
{
	const char *above = path_parent(take->arena, directory);

	while (above && strcmp(above, "/") != 0) {
		if (git_has(take, above, "HEAD", S_IFREG) && git_is_repository(take, above) &&
		    !is_own_below(path_below(directory, above)))
			return true;
		above = path_parent(take->arena, above);
	}
	return !above;
}

/* ---- the back pointers ---- */

/* The registration lies where git puts it, in the repository that it leads to, and names the worktree's `.git`. */
static int check_linked(struct taking *take, const char *top, const char **ret_why)
{
	const struct survey_git *git = &take->survey->git;
	const char *below = path_below(git->directory, git->common);
	char *named;
	int r;

	if (!below || strncmp(below, "worktrees/", 10) != 0 || !below[10] || strchr(below + 10, '/'))
		*ret_why = "it is not registered in the repository that its commondir names";
	else if (!git_is_repository(take, git->common))
		*ret_why = "its commondir leads to no git directory whose objects and refs are its own";
	if (*ret_why)
		return 0;
	r = git_read_pointer(take, path_join(take->arena, git->directory, "gitdir"), "", git->directory, &named);
	if (r == -ENOMEM)
		return err_oom(take->err);
	if (r < 0 || strcmp(named, git->entry) != 0 || !S_ISREG(git->node.mode) ||
	    strcmp(path_parent(take->arena, named), top) != 0)
		*ret_why = "it is registered for another worktree (after a move, `git worktree repair` mends that)";
	return 0;
}

static int check_own(struct taking *take, const char *top, const char **ret_why)
{
	const struct survey_git *git = &take->survey->git;
	char *named;

	/* as in the checkouts of the `repo` tool, which share them: what a link leads to is proven by nothing (F006) */
	if (!git_is_repository(take, git->directory)) {
		*ret_why = "it is no git directory whose objects and refs are its own (--write opens them)";
		return 0;
	}
	if (git_read_worktree(take, git->directory, &named) < 0)
		return err_oom(take->err);
	if (named && !strcmp(named, top))
		return 0;
	*ret_why = arena_printf(take->arena,
				"its core.worktree does not name this worktree (where it is the right one, `git config "
				"core.worktree '%s'` outside the pen mends that, or --write '%s')",
				top, git->directory);
	return *ret_why ? 0 : err_oom(take->err);
}

int git_check(struct taking *take, const char *top, bool *ret_whole, const char **ret_why)
{
	const struct survey *survey = take->survey;
	const struct survey_git *git = &survey->git;
	int r = 0;

	*ret_why = NULL;
	if (git->kind == REPOSITORY_LINKED)
		r = check_linked(take, top, ret_why);
	else if (git->kind != REPOSITORY_CLONE) /* which has nothing to point with: it lies in the directory above */
		r = check_own(take, top, ret_why);
	if (r < 0 || *ret_why)
		return r;
	if (is_part_of_another(take, git->common))
		*ret_why = "it is a part of another repository";
	else
		*ret_why = worktree_refusal(take->arena, git->common, survey->who.home, survey->who.account_home);
	if (*ret_why)
		return 0;
	*ret_whole = holds_git_alone(take, git->common);
	if (*ret_whole)
		return 0;
	if (git->kind == REPOSITORY_LINKED)
		return take_note(take,
				 "only objects, refs and logs of '%s' are writable, since it holds more than git's "
				 "own: git cannot pack or delete branches",
				 git->common);
	*ret_why = "it holds more than git's own";
	return 0;
}
