/* SPDX-License-Identifier: Apache-2.0 */
/* The generated system-call filters (tools/seccomp_gen.py over data/seccomp.tsv). */
#ifndef LINUX_SECCOMP_H
#define LINUX_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>

/* The kernel's header of the same name, which this one hides. */
#include_next <linux/seccomp.h>

enum seccomp_program {
	SECCOMP_BASE,      /* every run */
	SECCOMP_CLOSED,    /* no namespaces and mounts of the command's own; without --nesting */
	SECCOMP_ROOT,      /* added in runs started by root: set-gid bits as well */
	SECCOMP_SHARED,    /* where the namespaces are the host's: its message queues, semaphores, shared memory */
	SECCOMP_OFFLINE,   /* no network namespace to be offline in: no internet sockets at all */
	SECCOMP_NO_UNIX,   /* nothing else tells the host's unix sockets from the command's: none of them */
	SECCOMP_PROGRAM_COUNT
};

struct seccomp_filter {
	const char *name;
	const struct sock_filter *code;
	unsigned short length;
};

/* For the architecture this was built for. */
extern const struct seccomp_filter seccomp_filters[SECCOMP_PROGRAM_COUNT];

/* The same for a program that is made at run time. */
int seccomp_install_code(const struct sock_filter *code, unsigned short length);
/* Installs one filter on the calling thread (no_new_privs must be set); 0 or -errno. Async-signal-safe. */
int seccomp_install(enum seccomp_program program);

#endif
