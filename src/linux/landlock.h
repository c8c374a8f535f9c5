/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock's rights, from the kernel's include/uapi/linux/landlock.h; the ABI that brought each is in the comment. 7
 * and 8 brought flags of restrict_self alone (what is logged, all threads at once), which nothing here needs.
 */
#ifndef LINUX_LANDLOCK_H
#define LINUX_LANDLOCK_H

#include <stdint.h>

enum landlock_fs_right {
	LL_EXECUTE = 1 << 0, /* 1 */
	LL_WRITE_FILE = 1 << 1,
	LL_READ_FILE = 1 << 2,
	LL_READ_DIR = 1 << 3,
	LL_REMOVE_DIR = 1 << 4,
	LL_REMOVE_FILE = 1 << 5,
	LL_MAKE_CHAR = 1 << 6,
	LL_MAKE_DIR = 1 << 7,
	LL_MAKE_REG = 1 << 8,
	LL_MAKE_SOCK = 1 << 9,
	LL_MAKE_FIFO = 1 << 10,
	LL_MAKE_BLOCK = 1 << 11,
	LL_MAKE_SYM = 1 << 12,
	LL_REFER = 1 << 13,      /* 2 */
	LL_TRUNCATE = 1 << 14,   /* 3 */
	LL_IOCTL_DEV = 1 << 15,  /* 5 */
	LL_RESOLVE_UNIX = 1 << 16, /* 9 */
};

enum landlock_net_right {
	LL_BIND_TCP = 1 << 0,    /* 4 */
	LL_CONNECT_TCP = 1 << 1, /* 4 */
};

enum landlock_scope {
	LL_SCOPE_ABSTRACT_UNIX = 1 << 0, /* 6 */
	LL_SCOPE_SIGNAL = 1 << 1,        /* 6 */
};

/* The rights of a file that is no directory. */
#define LL_FILE_RIGHTS \
	((uint64_t)(LL_EXECUTE | LL_WRITE_FILE | LL_READ_FILE | LL_TRUNCATE | LL_IOCTL_DEV | LL_RESOLVE_UNIX))

/* The newest ABI of this kernel; 0 and *ret_errno where there is none. */
int landlock_abi(int *ret_errno);
unsigned landlock_errata(void);
/* Enters a domain that bounds signals and nothing else (ABI 6); 0 or -errno. no_new_privs must be set. */
int landlock_scope_signals(void);

#endif
