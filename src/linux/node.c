/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statx (Linux 4.11; the root of a mount is told from 5.8 on). A sandbox around pinfold may refuse it: then lstat says
 * what it can. The layout is that of linux/stat.h, whose names are not the same in every C library.
 */
#include "linux/node.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	NODE_NO_AUTOMOUNT = 0x800,
	NODE_DONT_SYNC = 0x4000, /* the answer of a dead file server would never come */
	NODE_BASIC = 0x7ff,
	NODE_BIRTH = 0x800,
	NODE_MOUNT_ROOT = 0x2000,
};

struct node_time {
	int64_t seconds;
	uint32_t nanoseconds;
	int32_t reserved;
};

struct node_statx {
	uint32_t mask, block_size;
	uint64_t attributes;
	uint32_t links, owner, group;
	uint16_t mode, reserved;
	uint64_t inode, size, blocks, attributes_mask;
	struct node_time accessed, born, changed, modified;
	uint32_t special_major, special_minor, device_major, device_minor;
	uint64_t rest[14];
};
_Static_assert(sizeof(struct node_statx) == 256, "as the kernel's");

static int64_t in_ns(int64_t seconds, int64_t nanoseconds)
{
	return seconds * 1000000000 + nanoseconds;
}

static int look_plainly(int dir_fd, const char *name, struct node *ret)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*ret = (struct node){
		.device = st.st_dev,
		.inode = st.st_ino,
		.mode = st.st_mode,
		.links = (uint32_t)st.st_nlink,
		.changed_ns = in_ns(st.st_ctim.tv_sec, st.st_ctim.tv_nsec),
		.born_ns = -1,
	};
	return 0;
}

int node_look(int dir_fd, const char *name, struct node *ret)
{
	struct node_statx st;

	if (syscall(SYS_statx, dir_fd, name, AT_SYMLINK_NOFOLLOW | NODE_NO_AUTOMOUNT | NODE_DONT_SYNC,
		    NODE_BASIC | NODE_BIRTH, &st) < 0)
		return errno == ENOSYS || errno == EPERM ? look_plainly(dir_fd, name, ret) : -errno;
	*ret = (struct node){
		.device = (uint64_t)st.device_major << 32 | st.device_minor,
		.inode = st.inode,
		.mode = st.mode,
		.links = st.links,
		.changed_ns = in_ns(st.changed.seconds, st.changed.nanoseconds),
		.born_ns = st.mask & NODE_BIRTH ? in_ns(st.born.seconds, st.born.nanoseconds) : -1,
		.is_mount = st.attributes & NODE_MOUNT_ROOT,
	};
	return 0;
}
