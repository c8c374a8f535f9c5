/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of the worktree: what appeared at a name that must be absent is moved to
 *
 *   $XDG_STATE_HOME/pinfold/removed/TIME-PID.N/PATH
 *
 * so that nothing is lost and nothing outside carries it out. Renamed where both lie on one file system; else copied
 * within bounds and deleted; else it gets another name where it is, which nothing looks for. All by descriptor, no link
 * followed: a link is moved as a link.
 */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "pinfold.h"
#include "run/check.h"

enum { OWN_TRIES = 10000 };

/* ---- the directory of this run ---- */

/* A directory below fd, made where it is missing. The descriptor, or -errno. */
static int make_directory(int fd, const char *name, mode_t mode)
{
	int made;

	if (mkdirat(fd, name, mode) < 0 && errno != EEXIST)
		return -errno;
	made = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return made < 0 ? -errno : made;
}

/* Every directory of `path` below fd (which stays open). */
static int make_path(int fd, const char *path)
{
	char name[NAME_MAX + 1];
	int at = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	for (path += strspn(path, "/"); at >= 0 && *path; path += strspn(path, "/")) {
		size_t n = strcspn(path, "/");
		int next;

		if (n >= sizeof(name)) {
			close(at);
			return -ENAMETOOLONG;
		}
		memcpy(name, path, n);
		name[n] = '\0';
		next = make_directory(at, name, 0700);
		close(at);
		at = next;
		path += n;
	}
	return at;
}

/* A new one, also for the runs that one process ends in one second. */
static int make_own(struct removal *removal, int fd, const char *removed)
{
	char stamp[32], name[64];
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	for (int i = 1; i <= OWN_TRIES; i++) {
		snprintf(name, sizeof(name), "%s-%d.%d", stamp, (int)getpid(), i);
		if (mkdirat(fd, name, 0700) == 0) {
			removal->path = path_join(removal->arena, removed, name);
			return removal->path ? make_directory(fd, name, 0700) : -ENOMEM;
		}
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

/* The way to the state directory holds no link once it is resolved, and the command cannot write there. */
static int open_removed(struct removal *removal)
{
	const char *state = removal->plan->survey.who.state_home;
	FD_CLEANUP int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FD_CLEANUP int fd = -1;
	char *resolved, *removed;

	if (root < 0 || !state || path_resolve(removal->arena, state, &resolved, NULL) < 0 ||
	    pinfold_plan_is_writable(removal->plan, resolved, NULL) != 0)
		return -ENOENT;
	removed = path_join(removal->arena, resolved, "pinfold/removed");
	if (!removed)
		return -ENOMEM;
	fd = make_path(root, removed);
	return fd < 0 ? fd : make_own(removal, fd, removed);
}

static int directory_of_run(struct removal *removal)
{
	if (removal->fd < 0 && !removal->has_failed) {
		removal->fd = open_removed(removal);
		removal->has_failed = removal->fd < 0;
	}
	return removal->fd;
}

void removal_close(struct removal *removal)
{
	fd_close(&removal->fd);
}

/* ---- renaming ---- */

/* Of a descriptor that may be an O_PATH one, which fchmod does not take. */
bool directory_set_mode(int fd, mode_t mode)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return chmod(self, mode) == 0;
}

bool directory_open_up(int fd, mode_t *ret_mode)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || (st.st_mode & S_IRWXU) == S_IRWXU)
		return false;
	*ret_mode = st.st_mode & 07777;
	return directory_set_mode(fd, *ret_mode | S_IRWXU);
}

/* rename that replaces nothing. By system call: a C library may not know it yet (musl). */
static int rename_new(int from_fd, const char *from, int to_fd, const char *to)
{
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 1U /* RENAME_NOREPLACE, linux/fs.h */);
}

/* Only a directory that its owner may write can be moved to another parent; the command could have seen to that. */
static void make_movable(int dir_fd, const char *name)
{
	FD_CLEANUP int fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		directory_set_mode(fd, 0700);
}

static int move(int from_fd, const char *from, int to_fd, const char *to)
{
	if (rename_new(from_fd, from, to_fd, to) == 0)
		return 0;
	if (errno == EACCES || errno == EPERM) {
		make_movable(from_fd, from);
		if (rename_new(from_fd, from, to_fd, to) == 0)
			return 0;
	}
	return -errno;
}

/* ---- copying and deleting, on another file system ---- */

static int copy(struct removal *removal, int from_fd, const char *from, int to_fd, const char *to, int depth);

static int copy_file(struct removal *removal, int from_fd, const char *from, int to_fd, const char *to)
{
	FD_CLEANUP int in = fd_open_regular(from_fd, from);
	FD_CLEANUP int out = in < 0 ? -1 : openat(to_fd, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char bytes[16384];
	ssize_t n;
	int r;

	if (in < 0 || out < 0)
		return in < 0 ? in : -errno;
	while ((n = fd_read_all(in, bytes, sizeof(bytes))) > 0) {
		removal->bytes += (size_t)n;
		if (removal->bytes > LIMIT_REMOVED_BYTES)
			return -EFBIG;
		r = fd_write_all(out, bytes, (size_t)n);
		if (r < 0)
			return r;
	}
	return (int)n;
}

static int copy_link(int from_fd, const char *from, int to_fd, const char *to)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_fd, from, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	return symlinkat(target, to_fd, to) < 0 ? -errno : 0;
}

/* Calls `each` for every name in a directory until one fails. */
static int for_each(int fd, int (*each)(void *arg, int fd, const char *name), void *arg)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;

	if (!dir) {
		r = -errno;
		fd_close(&own);
		return r;
	}
	while (r == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = each(arg, fd, entry->d_name);
	closedir(dir);
	return r;
}

struct copying {
	struct removal *removal;
	int to, depth;
};

static int copy_entry(void *arg, int fd, const char *name)
{
	struct copying *copying = arg;

	return copy(copying->removal, fd, name, copying->to, name, copying->depth);
}

static int copy_directory(struct removal *removal, int from_fd, const char *from, int to_fd, const char *to, int depth)
{
	FD_CLEANUP int in = openat(from_fd, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	FD_CLEANUP int out = in < 0 ? -errno : make_directory(to_fd, to, 0700);
	struct copying copying = { .removal = removal, .to = out, .depth = depth + 1 };

	if (in < 0 || out < 0)
		return out;
	return for_each(in, copy_entry, &copying);
}

static int copy(struct removal *removal, int from_fd, const char *from, int to_fd, const char *to, int depth)
{
	struct stat st;

	if (depth > LIMIT_REMOVED_DEPTH || ++removal->entries > LIMIT_REMOVED_ENTRIES)
		return -EFBIG;
	if (fstatat(from_fd, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return copy_file(removal, from_fd, from, to_fd, to);
	case S_IFLNK:
		return copy_link(from_fd, from, to_fd, to);
	case S_IFDIR:
		return copy_directory(removal, from_fd, from, to_fd, to, depth);
	default:
		return 0; /* a FIFO or a socket is nothing that could be lost */
	}
}

static int delete_entry(void *arg, int fd, const char *name)
{
	FD_CLEANUP int dir = -1;
	int r;

	if (unlinkat(fd, name, 0) == 0)
		return 0;
	if (errno != EISDIR)
		return -errno;
	dir = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	r = for_each(dir, delete_entry, arg);
	return r < 0 ? r : unlinkat(fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* ---- out ---- */

static int move_out(struct removal *removal, int dir_fd, const char *name, const char *below)
{
	const char *slash = strrchr(below, '/');
	char *parent = slash ? arena_strndup(removal->arena, below, (size_t)(slash - below)) : NULL;
	FD_CLEANUP int to = -1;
	int r;

	if (directory_of_run(removal) < 0)
		return removal->fd;
	to = make_path(removal->fd, parent ? parent : "");
	if (to < 0)
		return to;
	r = move(dir_fd, name, to, name);
	if (r != -EXDEV)
		return r;
	r = copy(removal, dir_fd, name, to, name, 0);
	return r < 0 ? r : delete_entry(NULL, dir_fd, name);
}

static enum check_action take_out(struct removal *removal, int dir_fd, const char *name, const char *below,
				  const char **ret_path)
{
	const char *slash = strrchr(below, '/');
	char *other;

	if (move_out(removal, dir_fd, name, below) == 0) {
		*ret_path = path_join(removal->arena, removal->path, below);
		return ACTION_MOVED;
	}
	other = arena_printf(removal->arena, "%s.removed-by-pinfold-%lld-%d", name, (long long)time(NULL),
			     (int)getpid());
	if (!other || move(dir_fd, name, dir_fd, other) < 0)
		return ACTION_LEFT;
	*ret_path = arena_printf(removal->arena, "%.*s%s", slash ? (int)(slash - below + 1) : 0, below, other);
	return ACTION_RENAMED;
}

/* Nothing leaves a directory that may not be written (`chmod 555 .git`): it is opened for that long. */
enum check_action removal_take(struct removal *removal, int dir_fd, const char *name, const char *below,
			       const char **ret_path)
{
	mode_t mode;
	bool is_opened = directory_open_up(dir_fd, &mode);
	enum check_action action = take_out(removal, dir_fd, name, below, ret_path);

	if (is_opened)
		directory_set_mode(dir_fd, mode);
	return action;
}
