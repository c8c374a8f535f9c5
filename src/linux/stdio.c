/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A regular file on 0, 1 or 2 that is open for reading only still stands on the host's writable mount: through
 * /proc/self/fd/0 the command could open it for writing, change its mode or empty it (E110a: `pinfold run x < notes.txt`).
 * So it is opened again inside, by its path, on the pen's read-only mount, compared, moved to the same offset, and put in
 * its place. Where it cannot be seen inside, the caller gave away a file that the policy hides: the plan says so in a note,
 * Landlock refuses to truncate it, and it is opened again before anything is hidden, on a read-only mount of its own:
 * whoever holds a descriptor of a file that is theirs can change its mode, times and attributes (E002).
 */
#include <errno.h>
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
 * once more, would be refused to it. A pipe is nobody's file: root loses nothing when it belongs to that id, and the pipe
 * is gone with its last descriptor. Not for named ones, and not for another user's. */
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
static int open_apart(const char *path, const struct stat *outside)
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
	fd = open(link, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* What cannot be found again, or is not the command's to open, stays as it is: what is not its own it cannot change. */
int stdio_open_hidden(struct enter *enter, struct pinfold_error *err)
{
	for (int i = 0; i < 3; i++) {
		const char *path = enter->plan->reopen_path[i];
		struct stat outside;
		off_t offset;
		int fd;

		if (!path || enter->plan->reopen[i])
			continue;
		if (fstat(enter->stdio[i], &outside) < 0)
			return err_sys(err, PINFOLD_INTERNAL, errno, "look at", path);
		fd = open_apart(path, &outside);
		if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP || fd == -EACCES || fd == -ESTALE)
			continue;
		if (fd < 0)
			return err_sys(err, PINFOLD_UNAVAILABLE, -fd, "open again", path);
		offset = lseek(enter->stdio[i], 0, SEEK_CUR);
		if (offset > 0 && lseek(fd, offset, SEEK_SET) < 0) {
			close(fd);
			return err_sys(err, PINFOLD_INTERNAL, errno, "seek in", path);
		}
		enter->stdio[i] = fd;
	}
	return 0;
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
	off_t offset;
	int fd;

	if (fstat(enter->stdio[i], &outside) < 0)
		return err_sys(err, PINFOLD_INTERNAL, errno, "look at", path);
	fd = sys_open_place(AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	/* Gone or replaced meanwhile (a shell's here-document, for one, has no name any more): it keeps the caller's. */
	if (fd < 0)
		return 0;
	if (fstat(fd, &inside) < 0 || !is_same(&outside, &inside)) {
		close(fd);
		return 0;
	}
	offset = lseek(enter->stdio[i], 0, SEEK_CUR);
	if (offset > 0 && lseek(fd, offset, SEEK_SET) < 0) {
		close(fd);
		return err_sys(err, PINFOLD_INTERNAL, errno, "seek in", path);
	}
	fcntl(fd, F_SETFL, O_RDONLY);
	enter->stdio[i] = fd;
	return 0;
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
