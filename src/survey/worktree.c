/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worktree is the one place that the command may change, so a wrong one undoes every other promise: a home brings
 * its shell start files, a system directory its programs, our own directory the pen. Such a place is taken only when
 * the caller says so in so many words, never because somebody left a .git in it (a dotfiles repository, /tmp/.git).
 */
#include "survey/worktree.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"

/* ---- what is not fit --------------------------------------------------------------------------------------------- */

enum reach {
	ITSELF,    /* the directory, and all that hold it */
	AND_BELOW, /* what lies in it as well */
};

/* Canonical spellings; the deepest row that holds a path decides about it. A path above a row is never fit. */
static const struct system_dir {
	const char *path;
	enum reach reach;
} system_dirs[] = {
	{ "/bin", AND_BELOW },
	{ "/boot", AND_BELOW },
	{ "/dev", AND_BELOW },
	{ "/efi", AND_BELOW },
	{ "/etc", AND_BELOW },
	{ "/gnu", AND_BELOW },
	{ "/lib", AND_BELOW },
	{ "/lib32", AND_BELOW },
	{ "/lib64", AND_BELOW },
	{ "/libx32", AND_BELOW },
	{ "/media", ITSELF },
	{ "/mnt", ITSELF },
	{ "/nix", AND_BELOW },
	{ "/opt", ITSELF },
	{ "/proc", AND_BELOW },
	{ "/run", ITSELF },
	{ "/run/media", ITSELF },
	{ "/run/user", AND_BELOW }, /* the sockets of the user's services */
	{ "/sbin", AND_BELOW },
	{ "/snap", AND_BELOW },
	{ "/srv", ITSELF },
	{ "/sys", AND_BELOW },
	{ "/tmp", ITSELF },
	{ "/usr", AND_BELOW },
	{ "/usr/src", ITSELF }, /* container images build in /usr/src/app by custom */
	{ "/var", ITSELF },
	{ "/var/tmp", ITSELF },
	/* macOS, where /etc, /tmp and /var are links into /private */
	{ "/Applications", AND_BELOW },
	{ "/Library", AND_BELOW },
	{ "/System", AND_BELOW },
	{ "/Volumes", ITSELF },
	{ "/private", ITSELF },
	{ "/private/etc", AND_BELOW },
	{ "/private/tmp", ITSELF },
	{ "/private/var", ITSELF },
	{ "/private/var/tmp", ITSELF },
};

/* Where homes are kept, and root's own; below them worktrees are fine. */
static const char *const home_dirs[] = { "/home", "/root", "/Users", "/var/home", "/var/roothome", "/var/root" };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool is_system(const char *path)
{
	const struct system_dir *deepest = NULL;

	for (size_t i = 0; i < COUNT(system_dirs); i++) {
		const struct system_dir *dir = &system_dirs[i];

		if (path_is_in(dir->path, path))
			return true;
		if (path_is_in(path, dir->path) && (!deepest || path_is_below(dir->path, deepest->path)))
			deepest = dir;
	}
	return deepest && deepest->reach == AND_BELOW;
}

static bool holds_home(const char *path, const char *home)
{
	return home && path_is_in(home, path);
}

static bool holds_homes(const char *path, const char *home, const char *account_home)
{
	for (size_t i = 0; i < COUNT(home_dirs); i++) {
		if (holds_home(path, home_dirs[i]))
			return true;
	}
	return holds_home(path, home) || holds_home(path, account_home);
}

/* The program itself: whoever can write it decides about the next run. Without /proc there is nothing to compare. */
static bool holds_binary(const char *path)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len <= 0)
		return false;
	self[len] = '\0';
	return self[0] == '/' && path_is_in(self, path);
}

/* pinfold's directory in one of the user's base directories: path holds it or lies in it, under its canonical name or
 * the one that is written in the environment. */
static bool touches_own(struct arena *arena, const char *path, const char *variable, const char *home,
	const char *below)
{
	const char *base = getenv(variable);
	char *spelling, *real;
	int r;

	if (base && base[0] == '/')
		spelling = path_join(arena, base, "pinfold");
	else if (home)
		spelling = path_join(arena, home, below);
	else
		return false;
	if (!spelling)
		return true;
	if (base && base[0] == '/')
		r = path_resolve(arena, spelling, &real, NULL);
	else
		r = path_resolve_below(arena, home, below, &real);
	if (r < 0)
		real = path_normal(arena, NULL, spelling);
	spelling = path_normal(arena, NULL, spelling);
	if (!real || !spelling)
		return true;
	return path_is_in(real, path) || path_is_in(spelling, path) || path_is_in(path, real);
}

/* The configuration, and the trust given to projects' files: a run that can write them grants itself the next one. */
static bool touches_configuration(struct arena *arena, const char *path, const char *home, const char *account_home)
{
	bool touches = false;

	for (int i = 0; i < 2 && !touches; i++) {
		const char *base = i == 0 ? home : account_home;

		if (i > 0 && (!base || (home && strcmp(base, home) == 0)))
			break;
		touches = touches_own(arena, path, "XDG_CONFIG_HOME", base, ".config/pinfold") ||
			  touches_own(arena, path, "XDG_STATE_HOME", base, ".local/state/pinfold");
	}
	return touches;
}

const char *worktree_refusal(struct arena *arena, const char *path, const char *home, const char *account_home)
{
	if (strcmp(path, "/") == 0)
		return "it is the root of the file system";
	if (holds_homes(path, home, account_home))
		return "it is a home directory or holds one";
	if (is_system(path))
		return "it is a part of the system or holds one";
	if (holds_binary(path))
		return "it holds pinfold's own program";
	if (touches_configuration(arena, path, home, account_home))
		return "it holds pinfold's own configuration";
	return NULL;
}

/* ---- finding it -------------------------------------------------------------------------------------------------- */

static int find_given(struct arena *arena, const char *cwd, const char *given, char **ret, struct pinfold_error *err)
{
	const char *spelling = given[0] == '/' ? given : path_join(arena, cwd, given);
	bool is_missing;
	struct stat st;
	char *path;
	int r;

	if (!spelling)
		return err_oom(err);
	/* An empty word is a variable that was not set, never a wish for the cwd. */
	r = given[0] ? path_resolve(arena, spelling, &path, &is_missing) : -ENOENT;
	if (r == -ENOMEM)
		return err_oom(err);
	if (r == 0 && is_missing)
		r = -ENOENT;
	if (r == 0 && stat(path, &st) < 0)
		r = -errno;
	if (r == 0 && !S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	if (r < 0)
		return err_sys(err, PINFOLD_USAGE, -r, "use worktree", given);
	*ret = path;
	return 0;
}

/* By its entry alone, whatever it is: what a .git file or link leads to is git layout, and checked there. */
static bool has_git(struct arena *arena, const char *dir, bool *ret_oom)
{
	const char *entry = path_join(arena, dir, ".git");
	struct stat st;

	*ret_oom = !entry;
	return entry && lstat(entry, &st) == 0;
}

static int find_git_top(struct arena *arena, const char *cwd, char **ret)
{
	char *dir = arena_strdup(arena, cwd);
	bool is_oom = !dir;

	while (dir && !has_git(arena, dir, &is_oom) && !is_oom) {
		if (strcmp(dir, "/") == 0) {
			*ret = NULL;
			return 0;
		}
		dir = path_parent(arena, dir);
	}
	if (!dir || is_oom)
		return -ENOMEM;
	*ret = dir;
	return 0;
}

int worktree_find(struct arena *arena, const char *cwd, const char *given, const char *home, char **ret,
	struct pinfold_error *err)
{
	char *top;

	if (given)
		return find_given(arena, cwd, given, ret, err);
	if (find_git_top(arena, cwd, &top) < 0)
		return err_oom(err);
	if (!top || worktree_refusal(arena, top, home, NULL))
		top = arena_strdup(arena, cwd);
	if (!top)
		return err_oom(err);
	*ret = top;
	return 0;
}
