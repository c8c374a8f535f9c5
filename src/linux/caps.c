/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No capability, and no way to one. The user namespace gave us all of them over itself; whoever keeps one there can
 * undo mounts (E101). Four sets go, and the rule that uid 0 gets them back at an exec is switched off and locked, since
 * runs started by root are uid 0 inside.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/err.h"
#include "linux/enter.h"
#include "linux/sys.h"

enum {
	SECURE_NOROOT = 1 << 0 | 1 << 1,            /* and its lock; linux/securebits.h */
	SECURE_NO_SETUID_FIXUP = 1 << 2 | 1 << 3,
	SECURE_KEEP_CAPS_LOCKED = 1 << 5,
	SECURE_NO_CAP_AMBIENT_RAISE = 1 << 6 | 1 << 7,
};

/* In a user namespace of our own we may do all of it. Elsewhere only who holds CAP_SETPCAP may lock bits and bounding
 * set; for the rest no_new_privs, which is set before, keeps an exec from giving what was not there. */
static bool passes_over(bool has_namespace)
{
	return !has_namespace && errno == EPERM;
}

int caps_drop(bool has_namespace, struct pinfold_error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };

	if (prctl(PR_SET_SECUREBITS, SECURE_NOROOT | SECURE_NO_SETUID_FIXUP | SECURE_KEEP_CAPS_LOCKED |
		  SECURE_NO_CAP_AMBIENT_RAISE) < 0 && !passes_over(has_namespace))
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "lock", "secure bits");
	for (int cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)
		;
	if (errno != EINVAL && !passes_over(has_namespace)) /* EINVAL: past the last one this kernel knows */
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "drop", "the capability bounding set");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "clear", "ambient capabilities");
	if (syscall(SYS_capset, &header, none) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "drop", "capabilities");
	return 0;
}

static int set_limit(int resource, uint64_t value, const char *name, struct pinfold_error *err)
{
	struct rlimit limit;

	if (value == POLICY_NONE)
		return 0;
	if (getrlimit(resource, &limit) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "read the limit", name);
	if (limit.rlim_max != RLIM_INFINITY && value > limit.rlim_max)
		value = limit.rlim_max;
	limit.rlim_cur = limit.rlim_max = (rlim_t)value;
	if (setrlimit(resource, &limit) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "set the limit", name);
	return 0;
}

/* RLIMIT_NPROC counts, since Linux 5.14, the processes of this id in this user namespace (and every ancestor's own
 * limit there): the pen's init is one of them. RLIMIT_DATA is per process, which the plan says. */
int limits_set(const struct plan_limits *limits, struct pinfold_error *err)
{
	uint64_t processes = limits->processes == POLICY_NONE ? POLICY_NONE : limits->processes + 1;
	int r = set_limit(RLIMIT_NPROC, processes, "processes", err);

	return r < 0 ? r : set_limit(RLIMIT_DATA, limits->memory, "memory", err);
}
