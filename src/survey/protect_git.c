/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of git's directories the command may not change, where it can write there at all: all that decides what git
 * outside runs (E030), or where it looks (E031, E034), and in a linked worktree what belongs to the other ones.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "survey/git.h"

enum {
	MODULE_LIMIT = 512, /* submodules of one repository that are protected one by one */
	MODULE_DEPTH = 16,  /* names of submodules may hold slashes, and submodules have submodules */
};

struct name {
	const char *path;
	bool keep_absent; /* git outside believes it as soon as it is there */
};

/* Read by every git command that runs outside; objects, refs, logs and the index stay writable, so commits work. */
static const struct name everywhere[] = {
	{ "hooks", true },           /* E030 */
	{ "config", true },          /* E030: fsmonitor, aliases, filters, pagers */
	{ "config.worktree", true }, /* E030 */
	{ "commondir", true },       /* E031: moves hooks and configuration elsewhere */
	{ "info/attributes", true }, /* E030: picks filters */
};

/* The registrations of the others. Seen from the main checkout they are commondir files, too (E031). */
static const struct name registrations[] = {
	{ "worktrees", false },
};

/* The main checkout's own, beside what it shares with the linked worktree. */
static const struct name main_checkout[] = {
	{ "HEAD", false },
	{ "index", false },
	{ "modules", false },
	{ "rebase-merge", true }, /* E039: `git rebase --continue` would carry out what it says */
	{ "rebase-apply", true },
	{ "sequencer", true },
};

/* A linked worktree's own directory. */
static const struct name own_directory[] = {
	{ "commondir", true },
	{ "gitdir", true }, /* the back pointer: what the next run trusts */
	{ "config.worktree", true },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int protect_names(struct taking *take, const char *directory, const struct name *names, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		char *path = path_join(take->arena, directory, names[i].path);

		if (!path)
			return err_oom(take->err);
		r = protect_add(take, path, names[i].path, "built in", names[i].keep_absent);
	}
	return r;
}

/* ---- submodules ---- */

static int protect_modules(struct taking *take, const char *directory, size_t *left, int depth);

/* The directory of a submodule, the `.git` file of its checkout, and its own submodules. */
static int protect_module(struct taking *take, const char *directory, size_t *left, int depth)
{
	char *checkout, *pointer;
	int r = protect_names(take, directory, everywhere, COUNT(everywhere));

	if (r == 0)
		r = protect_names(take, directory, registrations, COUNT(registrations));
	if (r < 0)
		return r;
	if (git_read_worktree(take, directory, &checkout) < 0)
		return err_oom(take->err);
	if (checkout) {
		pointer = path_join(take->arena, checkout, ".git");
		r = pointer ? protect_add(take, pointer, ".git", "built in", false) : err_oom(take->err);
		if (r == 0)
			r = protect_named(take, directory, checkout);
	}
	return r < 0 ? r : protect_modules(take, path_join(take->arena, directory, "modules"), left, depth);
}

/* Too many, or too deep: then all of them are read-only. */
static int protect_whole(struct taking *take, const char *directory)
{
	int r = protect_add(take, directory, "modules", "built in", false);

	return r < 0 ? r : take_note(take, "'%s' is read-only: it holds too many submodules", directory);
}

static int protect_modules(struct taking *take, const char *directory, size_t *left, int depth)
{
	const struct dirent *entry;
	int r = 0;
	DIR *dir;

	if (!directory)
		return err_oom(take->err);
	dir = opendir(directory);
	if (!dir)
		look_failed(take, directory, errno);
	while (dir && r == 0 && (entry = readdir(dir))) {
		char *path;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		if (*left == 0 || depth >= MODULE_DEPTH) {
			r = protect_whole(take, directory);
			break;
		}
		(*left)--;
		path = path_join(take->arena, directory, entry->d_name);
		if (!path)
			r = err_oom(take->err);
		else if (git_has(take, path, "HEAD", S_IFREG))
			r = protect_module(take, path, left, depth + 1);
		else
			r = protect_modules(take, path, left, depth + 1);
	}
	if (dir)
		closedir(dir);
	return r;
}

/* ---- all of it ---- */

static int protect_commit(struct taking *take)
{
	const struct survey_git *git = &take->survey->git;
	size_t left = MODULE_LIMIT;
	int r = protect_names(take, git->common, everywhere, COUNT(everywhere));

	if (r == 0)
		r = protect_names(take, git->common, registrations, COUNT(registrations));
	if (r == 0 && git->kind == REPOSITORY_LINKED) {
		r = protect_names(take, git->common, main_checkout, COUNT(main_checkout));
		if (r == 0)
			r = protect_names(take, git->directory, own_directory, COUNT(own_directory));
	}
	return r < 0 ? r : protect_modules(take, path_join(take->arena, git->directory, "modules"), &left, 0);
}

/* Read-only as asked; or something that git takes for its directory although it does not look like one. */
static int protect_all(struct taking *take)
{
	const struct survey_git *git = &take->survey->git;
	int r = protect_add(take, git->directory, ".git", "built in", git->kind == REPOSITORY_OTHER);

	return r < 0 || git->common == git->directory ? r : protect_add(take, git->common, ".git", "built in", false);
}

int protect_git(struct taking *take)
{
	const struct survey_git *git = &take->survey->git;
	uint64_t mode = policy_number(take->policy, KEY_GIT);
	int r = 0;

	if (git->kind == REPOSITORY_NONE || mode == GIT_OPEN)
		return 0;
	if (git->entry && S_ISLNK(git->node.mode))
		r = protect_links(take, git->entry, ".git", "built in");
	else if (git->entry && !S_ISDIR(git->node.mode)) /* E034: the pointer */
		r = protect_add(take, git->entry, ".git", "built in", false);
	if (r < 0)
		return r;
	/* a bare repository at the top is the worktree: as a whole it is not git's alone */
	if (git->kind == REPOSITORY_OTHER || (mode == GIT_READONLY && git->kind != REPOSITORY_BARE))
		r = protect_all(take);
	else
		r = protect_commit(take);
	return r < 0 ? r : protect_named_by_git(take);
}
