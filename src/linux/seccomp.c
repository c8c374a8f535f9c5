/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last step before exec: after it no mount, no namespace, no keyring can be reached any more, so whatever the
 * set-up still needs must be done. The programs are made at build time and are constant data: between fork and exec
 * nothing has to be built, and what is installed is what the tests have seen.
 */
#include "linux/seccomp.h"

#include "seccomp_filters.h"

#include <errno.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILTER(program) { #program, seccomp_filter_##program, \
	sizeof(seccomp_filter_##program) / sizeof(seccomp_filter_##program[0]) }

const struct seccomp_filter seccomp_filters[SECCOMP_PROGRAM_COUNT] = {
	[SECCOMP_BASE] = FILTER(base),
	[SECCOMP_CLOSED] = FILTER(closed),
	[SECCOMP_ROOT] = FILTER(root),
	[SECCOMP_SHARED] = FILTER(shared),
	[SECCOMP_OFFLINE] = FILTER(offline),
	[SECCOMP_NO_UNIX] = FILTER(no_unix),
};

int seccomp_install_code(const struct sock_filter *code, unsigned short length)
{
	struct sock_fprog prog = { .len = length };

	/* The kernel only reads it; its structure is older than const. */
	prog.filter = (struct sock_filter *)(uintptr_t)code;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0)
		return 0;
	/* An outer filter that does not know seccomp(2) may still let the older call through. */
	if (errno == ENOSYS && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0)
		return 0;
	return -errno;
}

int seccomp_install(enum seccomp_program program)
{
	return seccomp_install_code(seccomp_filters[program].code, seccomp_filters[program].length);
}
