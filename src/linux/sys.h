/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls that enter uses and that a C library may not know yet: numbers and constants from the kernel's UAPI
 * headers (asm-generic/unistd.h, linux/mount.h, linux/openat2.h, linux/landlock.h, linux/sched.h), which never change.
 * Numbers above 423 are the same on every architecture. All are thin: they return -1 and set errno.
 */
#ifndef LINUX_SYS_H
#define LINUX_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	NR_OPEN_TREE = 428,          /* Linux 5.2 */
	NR_MOVE_MOUNT = 429,         /* 5.2 */
	NR_FSOPEN = 430,             /* 5.2 */
	NR_FSCONFIG = 431,           /* 5.2 */
	NR_FSMOUNT = 432,            /* 5.2 */
	NR_CLOSE_RANGE = 436,        /* 5.9 */
	NR_OPENAT2 = 437,            /* 5.6 */
	NR_MOUNT_SETATTR = 442,      /* 5.12 */
	NR_LANDLOCK_CREATE_RULESET = 444, /* 5.13 */
	NR_LANDLOCK_ADD_RULE = 445,
	NR_LANDLOCK_RESTRICT_SELF = 446,
};

enum {
	SYS_OPEN_TREE_CLONE = 1,
	SYS_AT_RECURSIVE = 0x8000,
	SYS_AT_EMPTY_PATH = 0x1000,
	SYS_MOVE_MOUNT_F_EMPTY_PATH = 0x4,
	SYS_MOVE_MOUNT_T_EMPTY_PATH = 0x40,
	SYS_FSCONFIG_SET_STRING = 1,
	SYS_FSCONFIG_CMD_CREATE = 6,
	SYS_RESOLVE_NO_MAGICLINKS = 0x2,
	SYS_RESOLVE_NO_SYMLINKS = 0x4,
	SYS_CLOSE_RANGE_CLOEXEC = 4,
	SYS_MS_PRIVATE = 1 << 18,
	SYS_MOUNT_ATTR_IDMAP = 0x100000,
	SYS_AT_STATX_DONT_SYNC = 0x4000,
	SYS_STATX_ATTR_MOUNT_ROOT = 0x2000, /* Linux 5.8 */
	SYS_NS_GET_USERNS = 0xb701,
};

struct sys_mount_attr { /* linux/mount.h: struct mount_attr */
	uint64_t attr_set, attr_clr, propagation, userns_fd;
};

struct sys_statx { /* linux/stat.h: struct statx, which the C library may have as well or not */
	uint32_t mask, blksize;
	uint64_t attributes;
	uint64_t rest[30];
};

struct sys_open_how { /* linux/openat2.h: struct open_how */
	uint64_t flags, mode, resolve;
};

static inline int sys_open_tree(int dirfd, const char *path, unsigned flags)
{
	return (int)syscall(NR_OPEN_TREE, dirfd, path, flags | O_CLOEXEC);
}

/* Puts the mount that from_fd stands for over the place that to_fd (or path below it) stands for. No link is followed
 * in the last component. */
static inline int sys_move_mount(int from_fd, int to_fd, const char *path)
{
	unsigned flags = SYS_MOVE_MOUNT_F_EMPTY_PATH | (*path ? 0U : (unsigned)SYS_MOVE_MOUNT_T_EMPTY_PATH);

	return (int)syscall(NR_MOVE_MOUNT, from_fd, "", to_fd, path, flags);
}

static inline int sys_mount_setattr(int dirfd, const char *path, unsigned flags, const struct sys_mount_attr *attr)
{
	return (int)syscall(NR_MOUNT_SETATTR, dirfd, path, flags, attr, sizeof(*attr));
}

/* Opens a place without following any link on the way. */
static inline int sys_open_place(int dirfd, const char *path, uint64_t flags)
{
	struct sys_open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = SYS_RESOLVE_NO_SYMLINKS | SYS_RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(NR_OPENAT2, dirfd, path, &how, sizeof(how));
}

/* Clones the mount at a place, reached in the same way: what lies at the end of a link may be what another run put
 * there. */
static inline int sys_open_tree_at_place(const char *path, unsigned flags)
{
	int place = sys_open_place(AT_FDCWD, path, O_PATH | O_NOFOLLOW), fd, saved;

	if (place < 0)
		return -1;
	fd = sys_open_tree(place, "", flags | SYS_AT_EMPTY_PATH);
	saved = errno;
	close(place);
	errno = saved;
	return fd;
}

static inline int sys_statx(int dirfd, const char *path, int flags, struct sys_statx *ret)
{
	return (int)syscall(SYS_statx, dirfd, path, flags, 0, ret);
}

/* Not thin: where the call is missing, or a container's filter does not know it, descriptors are found in /proc
 * (close.c). Async-signal-safe. */
int sys_close_range(unsigned first, unsigned last, unsigned flags);

/* fork, with flags. Straight to the kernel: no handler of pthread_atfork runs, no lock of the C library is taken, and
 * the child has its parent's memory as a private copy. s390 and cris, where the arguments differ, are not supported. */
static inline pid_t sys_clone(unsigned long flags, int *ret_pidfd)
{
	return (pid_t)syscall(SYS_clone, flags, NULL, ret_pidfd, NULL, 0);
}

#endif
