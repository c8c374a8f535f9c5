/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--check tree`: one walk over all that the command could write to.
 *
 * The set (check.c) is fixed at the start and knows where to look. What may be anywhere it cannot know: a `.vscode` in
 * packages/x, a directory that git takes for a repository (E032, E033), a set-uid file. Nothing is remembered of how
 * the tree was before, since that would be a second walk, before each run. So the age of each file has to say what the
 * command has done. These two times nobody can set:
 *
 *   ctime   the last change, a rename included; not older than the run: the command may have made or changed it
 *   birth   when the file was made; younger than the run: the command has made it (or the host meanwhile)
 *
 * Only what was born during the run, at a name that must be absent, is moved away. What was there before and was
 * renamed to such a name, or changed, is named: it may be its owner's. So is all where the file system knows no birth.
 * The run begins with a new tick of the clock of file systems (watch.c), so that nothing older bears its time.
 *
 * The stages: each writable root once, by descriptor, from a directory whose identity is known, no link followed, no
 * mount entered; then hard links, of which all names have to be seen first; then what was found is said.
 *
 * The tree is the command's work, and it can make one that no walk gets through: too deep, too many files, directories
 * that are closed. So time, depth, findings and memory are bounded, and where a bound was met the check is not complete
 * and says so. A closed directory is opened for the look, and closed again. One that belongs to others and that we may
 * not enter was closed to the command as well. What moves a root of the walk meanwhile is somebody on the host: nothing
 * is moved away but by the look-up of check.c, which begins at the root anew.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "run/walking.h"

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool goes_on(struct walk *w)
{
	if (!w->is_over && now_ns() >= w->deadline_ns) {
		w->is_over = true;
		walk_count(w, TALLY_TIME);
	}
	return !w->is_over && !w->c->error;
}

/* A directory that the command has closed, as it was. */
struct closed {
	int fd;
	mode_t mode;
};

/* It is opened for the look. -EACCES: it was closed to the command as well. */
static int open_directory(int dir_fd, const char *name, struct closed *closed)
{
	int fd;

	closed->fd = -1;
	if (faccessat(dir_fd, name, R_OK | X_OK, AT_EACCESS) < 0) {
		closed->fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (closed->fd >= 0 && !directory_open_up(closed->fd, &closed->mode))
			fd_close(&closed->fd);
	}
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void close_again(struct closed *closed)
{
	if (closed->fd >= 0)
		directory_set_mode(closed->fd, closed->mode);
	fd_close(&closed->fd);
}

static void walk_directory(struct walk *w, int fd, struct level *level);

static void walk_below(struct walk *w, int dir_fd, const char *name, const struct node *node,
		       const struct level *parent)
{
	struct level level = {
		.depth = parent->depth + 1,
		.in_git = parent->in_git || strcmp(name, ".git") == 0,
		.is_young = walk_is_touched(w, node),
	};
	struct closed closed;
	int fd;

	if (node->is_mount) {
		walk_count(w, TALLY_MOUNTS);
		return;
	}
	if (level.depth > LIMIT_WALK_DEPTH) {
		walk_count(w, TALLY_DEEP);
		return;
	}
	fd = open_directory(dir_fd, name, &closed);
	if (fd >= 0)
		walk_directory(w, fd, &level);
	else if (fd != -EACCES && fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP)
		walk_count(w, TALLY_UNREADABLE);
	close_again(&closed);
}

/* w->path is that of the entry. */
static void judge_entry(struct walk *w, int dir_fd, const char *name, struct level *level)
{
	const size_t kept = w->kept;
	struct node node;
	int r = node_look(dir_fd, name, &node);

	if (r < 0) {
		if (r != -ENOENT && r != -EACCES)
			walk_count(w, TALLY_UNREADABLE);
		return;
	}
	walk_note_part(w, level, name, &node);
	walk_judge_kept(w, &node);
	if (!level->in_git && strcmp(name, ".git") == 0)
		walk_judge_git(w, &node);
	else if (!level->in_git && w->in_worktree && walk_judge_name(w, &node))
		return;
	if (S_ISDIR(node.mode))
		walk_below(w, dir_fd, name, &node, level);
	else
		walk_judge_file(w, &node);
	w->kept = kept;
}

/* w->path is that of the directory, before and after. */
static void enter_name(struct walk *w, int dir_fd, const char *name, struct level *level)
{
	const size_t length = w->length, n = strlen(name);

	if (length + n + 2 > sizeof(w->path)) {
		walk_count(w, TALLY_DEEP);
		return;
	}
	w->path[length] = '/';
	memcpy(w->path + length + 1, name, n + 1);
	w->length = length + 1 + n;
	judge_entry(w, dir_fd, name, level);
	w->length = length;
	w->path[length] = '\0';
}

static bool read_name(struct walk *w, DIR *dir, const struct dirent **ret)
{
	errno = 0;
	*ret = readdir(dir);
	if (!*ret && errno)
		walk_count(w, TALLY_UNREADABLE);
	return *ret != NULL;
}

/* Takes the descriptor. */
static void walk_directory(struct walk *w, int fd, struct level *level)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		fd_close(&fd);
		w->c->error = -ENOMEM;
		return;
	}
	while (goes_on(w) && read_name(w, dir, &entry))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			enter_name(w, dirfd(dir), entry->d_name, level);
	closedir(dir);
	if (level->depth)
		walk_judge_shape(w, level);
}

/* `in_git`: all of it is git's own. */
static void walk_root(struct walk *w, const char *path, bool in_git)
{
	const struct survey *survey = &w->c->plan->survey;
	struct level level = { .in_git = in_git };
	struct closed closed = { .fd = -1 };
	struct survey_watch at;
	struct stat st;
	int r = visit_look(w->c, path, &at, &st), fd;

	w->length = strlen(path);
	if (w->length >= sizeof(w->path))
		return;
	memcpy(w->path, path, w->length + 1);
	w->in_worktree = strcmp(path, survey->worktree) == 0;
	w->kept = 0;
	/* in a directory that is none of ours any more nothing is looked for */
	fd = r == 0 && S_ISDIR(st.st_mode) ? open_directory(w->c->root_fd, ".", &closed) : -ESTALE;
	if (fd < 0)
		walk_count(w, TALLY_UNREADABLE);
	else
		walk_directory(w, fd, &level);
	close_again(&closed);
	checking_leave(w->c);
}

static bool is_walked(const struct survey *survey, size_t index)
{
	const char *path = survey->writes[index].path;

	if (path_is_in(path, survey->worktree))
		return true;
	for (size_t i = 0; i < survey->write_count; i++)
		if (i != index && survey->writes[i].is_directory &&
		    (path_is_below(path, survey->writes[i].path) ||
		     (i < index && strcmp(path, survey->writes[i].path) == 0)))
			return true;
	return false;
}

void check_tree(struct checking *c, int64_t budget_ms)
{
	const struct survey *survey = &c->plan->survey;
	struct walk w = { .c = c, .deadline_ns = now_ns() + budget_ms * 1000000 };

	walk_root(&w, survey->worktree, survey->git.kind == REPOSITORY_BARE);
	for (size_t i = 0; i < survey->write_count; i++)
		if (survey->writes[i].is_directory && !is_walked(survey, i))
			walk_root(&w, survey->writes[i].path, strcmp(survey->writes[i].source, "git") == 0);
	walk_judge_links(&w);
	walk_say(&w);
}
