/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system as the command of a plan would see it, worked out from the plan's mount operations and from what lies
 * on the host's disk at the moment of the question. Only explain asks; a run never does.
 */
#ifndef PLAN_VIEW_H
#define PLAN_VIEW_H

#include "plan/plan.h"

enum view_kind {
	VIEW_ABSENT,
	VIEW_HOST,    /* what the host has at `host` */
	VIEW_PRIVATE, /* the pen's own, in the private tmpfs */
	VIEW_KERNEL   /* in a /proc, /sys, /dev/pts of the pen's own */
};

struct view_node {
	enum view_kind kind;
	const char *path;   /* where the command finds it; no link on the way */
	const char *host;   /* VIEW_HOST, and of VIEW_KERNEL where the host has the like */
	const char *target; /* of a link */
	uint32_t mode, uid, gid; /* as stat(2) on the host has them */
	unsigned attr;      /* enum plan_attr of the mount, also of what is absent */
	int idmap;          /* of the mount: index into plan->idmaps, or -1 */
	bool is_mount_point;
	bool is_overlaid;   /* seen through a home's overlay, where a socket has nobody behind it */
};

/* What the path leads to. */
struct view_way {
	struct view_node parent; /* the directory that holds the name */
	struct view_node name;   /* what has the name, a link not followed */
	struct view_node node;   /* with links followed */
	bool is_dots;            /* the name is "." or ".." */
	const char *intended;    /* node.path, or where it would be if nothing on the way were missing or closed */
	const char *closed;      /* a directory on the way that may not be entered; NULL: none */
	const char *name_closed; /* one on the way to the name alone */
};

enum { VIEW_EXECUTE = 1, VIEW_WRITE = 2, VIEW_READ = 4 }; /* as R_OK, W_OK, X_OK */

/* path: absolute and normal; everything found is in the arena. 0, -ELOOP, -ENAMETOOLONG or -ENOMEM. */
int view_follow(const struct pinfold_plan *plan, struct arena *arena, const char *path, struct view_way *ret);

/* Do owner, group and mode let the command do that? Mounts and Landlock are not asked. */
bool view_may(const struct pinfold_plan *plan, const struct view_node *node, int want);

#endif
