/* SPDX-License-Identifier: Apache-2.0 */
/* One look at a name: as lstat, with what the walk of the tree after a run needs beside it. */
#ifndef LINUX_NODE_H
#define LINUX_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct node {
	uint64_t device, inode;
	mode_t mode;
	uint32_t links;
	int64_t changed_ns; /* ctime, which no process can set */
	int64_t born_ns;    /* -1 where the file system does not know; a rename does not change it */
	bool is_mount;      /* the root of a mount */
};

/* No link is followed, nothing is mounted, no server is asked. 0 with *ret, or -errno. */
int node_look(int dir_fd, const char *name, struct node *ret);

#endif
