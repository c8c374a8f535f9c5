/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock beside the mounts, not instead of them. The mounts hold reading and writing of files; Landlock closes what
 * they leave open: a FIFO or device on a read-only mount, mounts that appear later, descriptors that are opened again
 * through /proc/self/fd, signals to the caller's process group (E10D), abstract sockets of the host (E056). Which
 * rights are handled, and where they are granted, stands in the plan.
 *
 * The rules are made while capabilities are still there (a rule's path may lie below a directory that only they open),
 * the restriction comes last but for seccomp: a Landlock domain forbids mount.
 */
#include "linux/landlock.h"

#include <errno.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/enter.h"
#include "linux/sys.h"

struct ruleset_attr { /* struct landlock_ruleset_attr, as of ABI 6 */
	uint64_t fs, net, scoped;
};

struct path_beneath { /* struct landlock_path_beneath_attr */
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

int landlock_abi(int *ret_errno)
{
	long abi = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, 1U /* LANDLOCK_CREATE_RULESET_VERSION */);

	*ret_errno = abi < 0 ? errno : 0;
	return abi < 0 ? 0 : (int)abi;
}

unsigned landlock_errata(void)
{
	long errata = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, 2U /* LANDLOCK_CREATE_RULESET_ERRATA, Linux 6.15 */);

	return errata < 0 ? 0 : (unsigned)errata;
}

static int add_access(const struct enter *enter, const struct path_beneath *beneath)
{
	if (!beneath->access)
		return 0;
	return syscall(NR_LANDLOCK_ADD_RULE, enter->landlock_fd, 1 /* LANDLOCK_RULE_PATH_BENEATH */, beneath, 0) < 0
		       ? -errno
		       : 0;
}

/* What lies at the path is not looked at: it may be a mount whose server does not answer (F193). That it is no
 * directory the kernel says. */
static int add_rule(const struct enter *enter, const struct plan_landlock_rule *rule)
{
	FD_CLEANUP int opened = -1;
	struct path_beneath beneath = { .access = rule->access, .fd = rule->path ? -1 : enter->stdio[rule->fd] };
	int r;

	if (rule->path) {
		opened = openat(AT_FDCWD, rule->path, O_PATH | O_CLOEXEC);
		if (opened < 0)
			return -errno;
		beneath.fd = opened;
	}
	r = add_access(enter, &beneath);
	if (r != -EINVAL || !(beneath.access & ~LL_FILE_RIGHTS))
		return r;
	beneath.access &= LL_FILE_RIGHTS;
	return add_access(enter, &beneath);
}

/* Moving between directories is the one right that every domain refuses which does not grant it, handled or not: so it
 * is granted, everywhere, or no domain inside could grant it any more. */
int landlock_scope_signals(void)
{
	const struct ruleset_attr attr = { .fs = LL_REFER, .scoped = LL_SCOPE_SIGNAL };
	FD_CLEANUP int fd = (int)syscall(NR_LANDLOCK_CREATE_RULESET, &attr, sizeof(attr), 0);
	FD_CLEANUP int root = openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct path_beneath all = { .access = LL_REFER, .fd = root };

	if (fd < 0 || root < 0 || syscall(NR_LANDLOCK_ADD_RULE, fd, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &all, 0) < 0)
		return -errno;
	return syscall(NR_LANDLOCK_RESTRICT_SELF, fd, 0) < 0 ? -errno : 0;
}

int landlock_make(struct enter *enter, int *ret_fact, struct pinfold_error *err)
{
	const struct pinfold_plan *plan = enter->plan;
	struct ruleset_attr attr = { plan->landlock_handled, plan->landlock_net, plan->landlock_scoped };
	size_t size = attr.scoped ? sizeof(attr) : attr.net ? 16 : 8; /* an older kernel knows a shorter structure */

	if (!plan->has_landlock)
		return 0;
	enter->landlock_fd = (int)syscall(NR_LANDLOCK_CREATE_RULESET, &attr, size, 0);
	if (enter->landlock_fd < 0) {
		*ret_fact = FACT_LANDLOCK;
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "make", "the Landlock ruleset");
	}
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct plan_landlock_rule *rule = &plan->rules[i];
		int r = add_rule(enter, rule);

		if (r < 0 && !rule->is_optional) {
			*ret_fact = FACT_LANDLOCK;
			return err_sys(err, PINFOLD_UNAVAILABLE, -r, "add the Landlock rule for",
				       rule->path ? rule->path : "a descriptor");
		}
	}
	return 0;
}

int landlock_restrict(struct enter *enter, int *ret_fact, struct pinfold_error *err)
{
	if (!enter->plan->has_landlock)
		return 0;
	if (syscall(NR_LANDLOCK_RESTRICT_SELF, enter->landlock_fd, 0) < 0) {
		*ret_fact = FACT_LANDLOCK;
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "enter", "the Landlock domain");
	}
	return 0;
}
