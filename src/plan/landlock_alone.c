/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a run without namespaces: Landlock as the only layer over files, seccomp for what Landlock does not know.
 *
 * Every right that the kernel has is handled, so that what no rule grants is refused: reading and executing on the
 * siblings of what is hidden (survey/siblings.c), everything on the worktree, the write paths, the caches and the run's
 * temporary directory, a handful of devices. A right lies over all that is below it, so nothing can be taken out of
 * what is writable: protected and hidden names in there are not held, and the judges say so.
 *
 * The rights by ABI are in linux/landlock.h; none above the kernel's is asked for, since the kernel would refuse the
 * whole ruleset.
 */
#include <errno.h>
#include <string.h>

#include "linux/landlock.h"
#include "plan/internal.h"

static const uint64_t read_rights = LL_EXECUTE | LL_READ_FILE | LL_READ_DIR;
static const uint64_t device_rights = LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE | LL_IOCTL_DEV;

/* Devices are made by nobody. */
static const uint64_t never = LL_MAKE_CHAR | LL_MAKE_BLOCK;

/* What each ABI has brought. */
static const struct {
	int abi;
	uint64_t fs, net, scoped;
} levels[] = {
	{ 1, LL_EXECUTE | LL_WRITE_FILE | LL_READ_FILE | LL_READ_DIR | LL_REMOVE_DIR | LL_REMOVE_FILE | LL_MAKE_CHAR |
	     LL_MAKE_DIR | LL_MAKE_REG | LL_MAKE_SOCK | LL_MAKE_FIFO | LL_MAKE_BLOCK | LL_MAKE_SYM, 0, 0 },
	{ 2, LL_REFER, 0, 0 },
	{ 3, LL_TRUNCATE, 0, 0 },
	{ 4, 0, LL_BIND_TCP | LL_CONNECT_TCP, 0 },
	{ 5, LL_IOCTL_DEV, 0, 0 },
	{ 6, 0, 0, LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL },
	{ 9, LL_RESOLVE_UNIX, 0, 0 },
};

static void decide_rights(struct pinfold_plan *plan)
{
	plan->has_landlock = true;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]) && levels[i].abi <= plan->host->landlock_abi; i++) {
		plan->landlock_handled |= levels[i].fs;
		plan->landlock_scoped |= levels[i].scoped;
		if (plan->offline)
			plan->landlock_net |= levels[i].net;
	}
}

/* Whoever asks for a socket of the host below ABI 9, or accepts that services are absent, gets unix sockets: which of
 * them are reached nothing can tell. */
static bool allows_unix(const struct pinfold_plan *plan)
{
	return (plan->landlock_handled & LL_RESOLVE_UNIX) || plan->survey.socket_count ||
	       policy_accepts(plan->policy, "services", true);
}

static void decide_filters(struct pinfold_plan *plan)
{
	plan->has_seccomp = plan->host->fact[FACT_SECCOMP].state != FACT_NO;
	plan->filters[SECCOMP_BASE] = true;
	plan->filters[SECCOMP_CLOSED] = true;
	plan->filters[SECCOMP_ROOT] = plan->ids != IDS_SELF;
	plan->filters[SECCOMP_SHARED] = true;
	plan->filters[SECCOMP_OFFLINE] = plan->offline;
	plan->filters[SECCOMP_NO_UNIX] = !allows_unix(plan);
}

/* ---- rules ---- */

static int add_readable(struct pinfold_plan *plan)
{
	const struct survey *survey = &plan->survey;
	int r = 0;

	for (size_t i = 0; r == 0 && i < survey->sibling_count; i++)
		r = plan_add_rule(plan, survey->siblings[i].path, -1,
				  survey->siblings[i].is_directory ? read_rights : read_rights & LL_FILE_RIGHTS, true);
	/* below /run, which is closed */
	if (r == 0 && survey->resolver)
		r = plan_add_rule(plan, survey->resolver, -1, LL_READ_FILE, true);
	return r;
}

static int add_writable(struct pinfold_plan *plan)
{
	const struct survey *survey = &plan->survey;
	const uint64_t all = plan->landlock_handled & ~never;
	int r = 0;

	if (!policy_number(plan->policy, KEY_READ_ONLY))
		r = plan_add_rule(plan, survey->worktree, -1, all, false);
	for (size_t i = 0; r == 0 && i < survey->write_count; i++)
		r = plan_add_rule(plan, survey->writes[i].path, -1, all, false);
	for (size_t i = 0; r == 0 && i < survey->cache_count; i++)
		if (survey->caches[i].store)
			r = plan_add_rule(plan, survey->caches[i].store, -1, all, true);
	return r == 0 ? plan_add_rule(plan, plan->temp, -1, all, false) : r;
}

/* A terminal that the command opens for itself lies in /dev/pts, and so do those of the user's other windows. */
static int add_devices(struct pinfold_plan *plan)
{
	static const char *const nodes[] = {
		"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx",
	};
	const struct survey *survey = &plan->survey;
	int r = plan_add_rule(plan, "/dev", -1, LL_READ_DIR, true);

	for (size_t i = 0; r == 0 && i < sizeof(nodes) / sizeof(nodes[0]); i++)
		r = plan_add_rule(plan, nodes[i], -1, device_rights, true);
	if (r == 0)
		r = plan_add_rule(plan, "/dev/pts", -1, device_rights | LL_READ_DIR, true);
	for (size_t i = 0; r == 0 && i < survey->device_count; i++)
		r = plan_add_rule(plan, survey->devices[i].path, -1, device_rights, false);
	for (size_t i = 0; r == 0 && i < survey->socket_count; i++)
		r = plan_add_rule(plan, survey->sockets[i].path, -1, LL_RESOLVE_UNIX, true);
	return r;
}

/* What stands on 0, 1, 2 may be opened again under the name /dev/stdin, as outside, with the rights it has. */
static int add_stdio(struct pinfold_plan *plan)
{
	static const uint64_t of_mode[] = {
		LL_READ_FILE, LL_WRITE_FILE | LL_TRUNCATE, LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE, 0,
	};
	int r = 0;

	for (int i = 0; r == 0 && i < 3; i++) {
		const struct survey_stdio *stdio = &plan->survey.stdio[i];

		if (stdio->kind == STDIO_FILE || stdio->kind == STDIO_TERMINAL || stdio->kind == STDIO_OTHER)
			r = plan_add_rule(plan, NULL, i, of_mode[stdio->flags & 3] |
					  (stdio->kind == STDIO_FILE ? 0 : LL_IOCTL_DEV), true);
	}
	return r;
}

/* ---- the temporary directory ---- */

static int decide_temp(struct pinfold_plan *plan)
{
	plan->makes_temp = !plan->survey.tmp;
	plan->temp = arena_strdup(&plan->arena, plan->survey.tmp ? plan->survey.tmp : "/tmp/pinfold-XXXXXX");
	return plan->temp ? 0 : -ENOMEM;
}

int plan_landlock_alone(struct pinfold_plan *plan)
{
	int r = plan_ids(plan);

	plan->offline = policy_number(plan->policy, KEY_NETWORK) == NETWORK_OFFLINE &&
			plan->host->fact[FACT_SECCOMP].state != FACT_NO;
	decide_rights(plan);
	decide_filters(plan);
	if (r == 0)
		r = decide_temp(plan);
	if (r == 0)
		r = add_readable(plan);
	if (r == 0)
		r = add_writable(plan);
	if (r == 0)
		r = add_devices(plan);
	if (r == 0)
		r = add_stdio(plan);
	plan->scratch = ARENA_ARRAY(&plan->arena, int, 1);
	return r == 0 && !plan->scratch ? -ENOMEM : r;
}
