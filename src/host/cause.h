/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why this machine cannot do something, told apart from what the kernel answered and from the switches that could have
 * been the reason. Only doctor and a refusal ask: it reads a dozen files.
 */
#ifndef HOST_CAUSE_H
#define HOST_CAUSE_H

#include "host/host.h"

/* What the causes are told apart by. */
struct cause_signs {
	long userns_clone;    /* kernel.unprivileged_userns_clone (Debian's); -1: there is no such switch */
	long max_userns;      /* user.max_user_namespaces */
	long max_netns;       /* user.max_net_namespaces */
	long apparmor_userns; /* kernel.apparmor_restrict_unprivileged_userns (Ubuntu's) */
	bool has_filter;      /* a seccomp filter is on us already: that of a container around us */
	bool is_chrooted;     /* no mount is at our root */
	bool is_admin;        /* we have CAP_SYS_ADMIN */
	bool is_root, has_setfcap;
	bool has_userns;      /* /proc/self/ns/user: the kernel is built with user namespaces */
	bool has_masked_proc; /* something is mounted over a part of /proc */
	bool has_landlock_lsm;/* "landlock" stands in /sys/kernel/security/lsm; true where that cannot be read */
};

struct cause {
	const char *kind; /* sysctl, apparmor, seccomp, kernel, capability, container, file system, limit, unknown */
	const char *text; /* a sentence without its stop */
	const char *fix;  /* the narrowest thing to do about it */
};

void cause_read_signs(struct cause_signs *signs, const struct pinfold_host *host);
/* Of what made `fact` untrue with that errno. The strings are static. */
struct cause cause_of(enum host_fact fact, const char *step, int errnum, const struct cause_signs *signs);

#endif
