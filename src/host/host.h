/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine can do, found by doing. What would cost a process to find out stays FACT_UNKNOWN, and the plan
 * assumes it works: the set-up of the run is the probe, and a failed step comes back as FACT_NO with its errno.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <stdbool.h>

#include "base/arena.h"
#include "pinfold.h"

enum host_fact {
	FACT_NAMESPACES, /* user, mount, pid, ipc, uts and cgroup namespaces for this caller */
	FACT_NET_NAMESPACE,
	FACT_MOUNTS,     /* the new mount calls: open_tree, move_mount, mount_setattr (Linux 5.12) */
	FACT_OVERLAY,    /* overlayfs in a user namespace (Linux 5.11) over this home */
	FACT_FRESH_PROC, /* a new /proc (refused where the outer one is partly masked) */
	FACT_IDMAP, /* id-mapped binds, for runs started by root (mount_setattr, Linux 5.12, and the file system) */
	FACT_SECCOMP,
	FACT_LANDLOCK,
	FACT_BWRAP, /* bubblewrap is there, may be trusted, and makes the namespaces and mounts */
	FACT_WATCH, /* the pen's mounts can be seen and put back from outside */
	FACT_COUNT
};

enum fact_state { FACT_UNKNOWN, FACT_YES, FACT_NO };

struct host_finding {
	enum fact_state state;
	int errnum;            /* of the failed step */
	char step[64];         /* "mount overlay" … */
	char object[256];
};

struct pinfold_host {
	char kernel[128];      /* uname release */
	char machine[32];
	int landlock_abi;      /* 0: none */
	int landlock_errno;    /* why none */
	unsigned landlock_errata;
	bool is_root;          /* effective uid 0 in the user namespace we are in */
	bool is_mapped_root; /* and another uid outside of it (a rootless container): nothing of the host is its own */
	bool has_admin;        /* CAP_SYS_ADMIN effective */
	struct host_finding fact[FACT_COUNT];
};

extern const char *const host_fact_names[FACT_COUNT];

/* Cheap calls only: uname, the Landlock version, our ids and capabilities. Never fails. */
void host_read(struct pinfold_host *host);
bool host_has_capability(int cap); /* effective */
void host_learn(struct pinfold_host *host, enum host_fact fact, const char *step, const char *object, int errnum);

#endif
