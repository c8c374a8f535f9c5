/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run could change since nothing lay over it: a backend without mounts protects nothing in the worktree while
 * the command runs (E010, E030). When all of it is gone, what git would carry out is undone as far as it can be:
 *
 *   a file in a protected directory that is younger than the run, a hook say: moved away
 *   git's configuration: what the command has left is moved away, and what it said before is there again, with what may
 *   be carried over (carry.h)
 *   a `.git` that is another one, or says something else: moved away; without it git outside does nothing
 *   any other protected file: named, since what it was nobody has kept
 *
 * The change time of a file is the kernel's and cannot be set, so that a hook that was overwritten in place is found,
 * too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "run/carry.h"
#include "run/checking.h"

static const char changed[] = "is protected and was changed, by the host or by the command";

/* ---- git's configuration ---- */

static const struct survey_config *find_config(const struct checking *c, const char *path)
{
	const struct survey *survey = &c->plan->survey;

	for (size_t i = 0; i < survey->config_count; i++)
		if (strcmp(survey->configs[i].path, path) == 0)
			return &survey->configs[i];
	return NULL;
}

/* A directory of git's own that is protected as a whole is not to be taken apart: git would not work with the rest. */
static bool is_git_directory(const struct checking *c, const char *path)
{
	const struct survey_git *git = &c->plan->survey.git;

	return (git->directory && path_is_in(git->directory, path)) || (git->common && path_is_in(git->common, path));
}

/* What the command has left; where that is nothing that can be read, as if it had changed nothing. */
static void read_left(const struct checking *c, const char *name, const struct survey_config *config, struct buf *ret)
{
	FD_CLEANUP int fd = fd_open_regular(c->dir_fd, name);

	*ret = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	if (fd >= 0 && buf_read_fd(ret, fd) == 0)
		return;
	buf_free(ret);
	*ret = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	buf_str(ret, config->text);
}

static void restore(struct checking *c, const struct survey_watch *watch, const struct survey_config *config)
{
	BUF_CLEANUP struct buf left = BUF_INIT(0);
	int r;

	read_left(c, path_name(watch->below), config, &left);
	checking_remove(c, watch, watch->below, changed);
	r = carry_restore(config, &left, c->arena);
	checking_leave(c);
	if (r == -ENOMEM)
		c->error = r;
	else if (r < 0)
		checking_warn(c, "'%s' could not be put back: %s", config->path, strerror(-r));
	else
		checking_warn(c, "'%s' was put back as it was before the run", config->path);
}

/* A `.git` that says where the repository is: a wrong one is worse than none. */
static bool leads_git(const char *path)
{
	return strcmp(path_name(path), ".git") == 0;
}

void check_git_entry(struct checking *c)
{
	const struct survey *survey = &c->plan->survey;
	const char *entry = survey->git.entry;

	for (size_t i = 0; entry && i < survey->watch_root_count; i++) {
		const char *below = path_below(entry, survey->watch_roots[i].path);
		const struct survey_watch watch = { .root = i, .below = below };
		struct stat st;

		if (!below || !*below)
			continue;
		if (checking_look_up(c, i, below, &st) == 0 &&
		    (st.st_dev != survey->git.node.dev || st.st_ino != survey->git.node.ino))
			checking_remove(c, &watch, below, changed);
		checking_leave(c);
		return;
	}
}

void check_replaced(struct checking *c, const struct survey_watch *watch)
{
	const char *path = checking_path(c, watch, watch->below);
	const struct survey_config *config = path ? find_config(c, path) : NULL;

	if (config && policy_number(c->plan->policy, KEY_ON_VIOLATION) != VIOLATION_REPORT)
		restore(c, watch, config);
	else if (path && (leads_git(path) || (S_ISDIR(watch->node.mode) && !is_git_directory(c, path))))
		checking_remove(c, watch, watch->below, changed); /* another one stands there */
	else
		checking_add(c, watch, watch->below, changed);
}

/* ---- directories ---- */

struct looking {
	struct checking *c;
	const struct survey_watch *watch;
	struct strv young; /* below the watch's root */
	size_t seen;
};

static bool is_young(const struct checking *c, const struct stat *st)
{
	return (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec >= c->plan->survey.taken_ns;
}

/* What is granted inside of a protected directory: the worktree's own part of git's. */
static bool is_granted(const struct checking *c, const char *path)
{
	for (size_t i = 0; i < c->plan->survey.write_count; i++)
		if (strcmp(c->plan->survey.writes[i].path, path) == 0)
			return true;
	return false;
}

static void look_into(struct looking *l, int fd, const char *below, int depth);

static void look_at_entry(struct looking *l, int dir, const char *name, const char *parent, int depth)
{
	struct checking *c = l->c;
	const char *below = path_join(c->arena, parent, name);
	const char *path = below ? checking_path(c, l->watch, below) : NULL;
	struct stat st;
	int fd;

	if (!path) {
		c->error = -ENOMEM;
		return;
	}
	if (is_granted(c, path) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (!S_ISDIR(st.st_mode)) {
		if (is_young(c, &st) && strv_add(c->arena, &l->young, below) < 0)
			c->error = -ENOMEM;
		return;
	}
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		checking_is_unknown(c, l->watch, -errno);
	else
		look_into(l, fd, below, depth + 1);
}

/* Closes fd. */
static void look_into(struct looking *l, int fd, const char *below, int depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		close(fd);
		return;
	}
	while (!l->c->error && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++l->seen > LIMIT_INSIDE_ENTRIES || depth > LIMIT_REMOVED_DEPTH) {
			l->c->result->is_complete = false;
			break;
		}
		look_at_entry(l, fd, entry->d_name, below, depth);
	}
	closedir(dir);
}

bool check_inside(struct checking *c, const struct survey_watch *watch)
{
	struct looking l = { .c = c, .watch = watch };
	const char *path = checking_path(c, watch, watch->below);
	struct stat st;
	int fd;

	if (!path)
		return true;
	fd = *watch->below ? openat(c->dir_fd, path_name(watch->below), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			   : fcntl(c->root_fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0) {
		checking_is_unknown(c, watch, -errno);
		return true;
	}
	look_into(&l, fd, watch->below, 0);
	for (size_t i = 0; i < l.young.n && !c->error; i++) {
		if (is_git_directory(c, path))
			checking_add(c, watch, l.young.v[i], changed);
		else if (checking_look_up(c, watch->root, l.young.v[i], &st) == 0)
			checking_remove(c, watch, l.young.v[i], changed);
		if (is_git_directory(c, path))
			break; /* one of what may be thousands */
	}
	return l.young.n > 0;
}
