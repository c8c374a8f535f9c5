/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A regular file on 0, 1 or 2 that is open for reading only still stands on the host's writable mount: through
 * /proc/self/fd/0 the command could open it for writing, change its mode or empty it (E110a: `pinfold run x <
 * notes.txt`). So it is opened again inside, by its path, on the pen's read-only mount, compared, moved to the same
 * offset, and put in its place. Where it cannot be seen inside, the caller gave away a file that the policy hides: the
 * plan says so in a note, Landlock refuses to truncate it, and it is opened again before anything is hidden, on a
 * read-only mount of its own: whoever holds a descriptor of a file that is theirs can change its mode, times and
 * attributes (E002). So is a file that
 * --pass-fd leaves open, wherever it lies: inside, its position is no longer that of the caller's descriptor.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/enter.h"
#include "linux/sys.h"

enum { PIPE_FILE_SYSTEM = 0x50495045 }; /* PIPEFS_MAGIC of linux/magic.h */

/* Run by root, the command has an id of its own, and /dev/stdin, /dev/stdout and /dev/stderr, which open the same thing
 * once more, would be refused to it. A pipe is nobody's file: root loses nothing when it belongs to that id, and the
 * pipe is gone with its last descriptor. Not for named ones, and not for another user's. */
void stdio_give_pipes(const struct enter *enter)
{
	for (int i = 0; i < 3; i++) {
		struct statfs fs;
		struct stat st;

		if (fstat(enter->stdio[i], &st) < 0 || !S_ISFIFO(st.st_mode) || st.st_uid != 0)
			continue;
		if (fstatfs(enter->stdio[i], &fs) == 0 && (unsigned long)fs.f_type == PIPE_FILE_SYSTEM)
			(void)!fchown(enter->stdio[i], enter->plan->host_uid, enter->plan->host_gid);
	}
}

/* Opens it on a read-only mount of its own. Only while the tree is still the host's, where every path leads. */
static int open_apart(const char *path, const struct stat *outside, int flags)
{
	FD_CLEANUP int mount = sys_open_tree_at_place(path, SYS_OPEN_TREE_CLONE);
	const struct sys_mount_attr attr = { .attr_set = 1 /* MOUNT_ATTR_RDONLY */ };
	char link[32];
	struct stat inside;
	int fd;

	if (mount < 0 || fstat(mount, &inside) < 0)
		return -errno;
	if (inside.st_dev != outside->st_dev || inside.st_ino != outside->st_ino)
		return -ESTALE;
	if (sys_mount_setattr(mount, "", SYS_AT_EMPTY_PATH, &attr) < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", mount);
	fd = open(link, flags | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* What cannot be found again, or is not the command's to open, stays as it is: what is not its own it cannot change. */
static bool stays(int error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -ELOOP || error == -EACCES || error == -ESTALE;
}

static int seek_alike(int fd, int from, const char *path, struct pinfold_error *err)
{
	off_t offset = lseek(from, 0, SEEK_CUR);

	if (offset > 0 && lseek(fd, offset, SEEK_SET) < 0)
		return err_sys(err, PINFOLD_INTERNAL, errno, "seek in", path);
	return 0;
}

/* The command gets it under the same number. One that was opened as a place only (O_PATH) stays one: through
 * /proc/self/fd it leads to the file as well. */
static int open_passed(int passed, struct pinfold_error *err)
{
	FD_CLEANUP int fd = -1;
	int flags = fcntl(passed, F_GETFL), r;
	char link[32], path[PATH_MAX];
	struct stat outside;
	ssize_t length;

	if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY || fstat(passed, &outside) < 0 || !S_ISREG(outside.st_mode))
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", passed);
	length = readlink(link, path, sizeof(path));
	if (length <= 0 || (size_t)length == sizeof(path) || path[0] != '/')
		return 0;
	path[length] = '\0';
	fd = open_apart(path, &outside, flags & O_PATH);
	if (fd < 0)
		return stays(fd) ? 0 : err_sys(err, PINFOLD_UNAVAILABLE, -fd, "open again", path);
	r = flags & O_PATH ? 0 : seek_alike(fd, passed, path, err);
	if (r == 0 && dup2(fd, passed) < 0)
		r = err_sys(err, PINFOLD_INTERNAL, errno, "pass on", path);
	return r;
}

static int open_all_passed(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	int r = 0;

	for (size_t i = 0; i < plan->pass_fd_count && r == 0; i++)
		if (plan->pass_fds[i] > 2) /* those are looked at by themselves */
			r = open_passed(plan->pass_fds[i], err);
	return r;
}

int stdio_open_hidden(struct enter *enter, struct pinfold_error *err)
{
	for (int i = 0; i < 3; i++) {
		const char *path = enter->plan->reopen_path[i];
		struct stat outside;
		int fd, r;

		if (!path || enter->plan->reopen[i])
			continue;
		if (fstat(enter->stdio[i], &outside) < 0)
			return err_sys(err, PINFOLD_INTERNAL, errno, "look at", path);
		fd = open_apart(path, &outside, O_RDONLY);
		if (stays(fd))
			continue;
		if (fd < 0)
			return err_sys(err, PINFOLD_UNAVAILABLE, -fd, "open again", path);
		r = seek_alike(fd, enter->stdio[i], path, err);
		if (r < 0) {
			close(fd);
			return r;
		}
		enter->stdio[i] = fd;
	}
	return open_all_passed(enter->plan, err);
}

/*
 * An overlay, as the home is one, gives its files a device of its own, and with some file systems another inode number,
 * but their times and sizes are the file's. To be wrong here would not be unsafe: what was opened is inside, read-only.
 */
static bool is_same(const struct stat *a, const struct stat *b)
{
	if (a->st_dev == b->st_dev)
		return a->st_ino == b->st_ino;
	return a->st_mode == b->st_mode && a->st_size == b->st_size && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int reopen(struct enter *enter, int i, struct pinfold_error *err)
{
	const char *path = enter->plan->reopen_path[i];
	struct stat outside, inside;
	int fd, r;

	if (fstat(enter->stdio[i], &outside) < 0)
		return err_sys(err, PINFOLD_INTERNAL, errno, "look at", path);
	fd = sys_open_place(AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	/* Gone or replaced meanwhile (a shell's here-document, for one, has no name any more): it keeps the caller's.
	 * Anything else that fails leaves open what the plan calls closed. */
	if (fd < 0)
		return stays(-errno) ? 0 : err_sys(err, PINFOLD_UNAVAILABLE, errno, "open again", path);
	if (fstat(fd, &inside) < 0) {
		r = err_sys(err, PINFOLD_INTERNAL, errno, "look at", path);
		close(fd);
		return r;
	}
	if (!is_same(&outside, &inside)) {
		close(fd);
		return 0;
	}
	r = seek_alike(fd, enter->stdio[i], path, err);
	if (r < 0) {
		close(fd);
		return r;
	}
	fcntl(fd, F_SETFL, O_RDONLY);
	enter->stdio[i] = fd;
	return 0;
}

/* Where no mount of its own can be made for it, it is opened again by its path in the pen. What is not seen there would
 * stay on the host's writable mount: that is refused, but for a file that has no name any more and so is nobody's. */
static int reopen_passed(int passed, struct pinfold_error *err)
{
	FD_CLEANUP int fd = -1;
	int flags = fcntl(passed, F_GETFL);
	char link[32], path[PATH_MAX] = "";
	struct stat outside, inside;

	if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY || fstat(passed, &outside) < 0 || !S_ISREG(outside.st_mode) ||
	    outside.st_nlink == 0)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", passed);
	if (readlink(link, path, sizeof(path) - 1) > 0)
		fd = sys_open_place(AT_FDCWD, path, (uint64_t)((flags & O_PATH) | O_NOCTTY | O_NONBLOCK));
	if (fd < 0 || fstat(fd, &inside) < 0 || !is_same(&outside, &inside)) {
		err_say(err, PINFOLD_REFUSED, EPERM,
			"the file on descriptor %d is not shown inside, and could be changed through it", passed);
		return -EPERM;
	}
	if (flags & O_PATH)
		return dup2(fd, passed) < 0 ? err_sys(err, PINFOLD_INTERNAL, errno, "pass on", path) : 0;
	fcntl(fd, F_SETFL, O_RDONLY);
	if (seek_alike(fd, passed, path, err) < 0)
		return -EIO;
	return dup2(fd, passed) < 0 ? err_sys(err, PINFOLD_INTERNAL, errno, "pass on", path) : 0;
}

int stdio_reopen_passed(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	int r = 0;

	for (size_t i = 0; i < plan->pass_fd_count && r == 0; i++)
		if (plan->pass_fds[i] > 2)
			r = reopen_passed(plan->pass_fds[i], err);
	return r;
}

int stdio_reopen(struct enter *enter, struct pinfold_error *err)
{
	for (int i = 0; i < 3; i++) {
		int r = enter->plan->reopen[i] ? reopen(enter, i, err) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}
