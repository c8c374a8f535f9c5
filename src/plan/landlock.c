/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rights Landlock handles beside the mounts, and where it grants them.
 *
 * The mounts hold reading and listing, and writing of regular files. Landlock adds, as a second layer, every right that
 * makes or changes something, for what read-only mounts leave open. Reading and executing are not handled: nothing
 * would be refused that the mounts show. TRUNCATE is not handled either, since it costs 0.5 µs at every open
 * (SPEED.md), unless a descriptor of a host file stays open for reading (see linux/stdio.c). IOCTL_DEV is not: only
 * devices of the pen's own /dev can be opened.
 *
 * With --nesting only the scopes are left.
 */
#include <errno.h>
#include <stdlib.h>

#include "linux/landlock.h"
#include "plan/internal.h"

static const uint64_t write_rights = LL_WRITE_FILE | LL_REMOVE_DIR | LL_REMOVE_FILE | LL_MAKE_CHAR | LL_MAKE_DIR |
				     LL_MAKE_REG | LL_MAKE_SOCK | LL_MAKE_FIFO | LL_MAKE_BLOCK | LL_MAKE_SYM;

/* Devices are made by nobody: granted nowhere. */
static const uint64_t never = LL_MAKE_CHAR | LL_MAKE_BLOCK;

int plan_add_rule(struct pinfold_plan *plan, const char *path, int fd, uint64_t access, bool is_optional)
{
	struct plan_landlock_rule *rules = arena_grow(&plan->arena, plan->rules, plan->rule_count, plan->rule_count + 1,
						      sizeof(*rules), &plan->rule_cap);

	if (!rules)
		return -ENOMEM;
	plan->rules = rules;
	access &= plan->landlock_handled;
	if (access)
		rules[plan->rule_count++] = (struct plan_landlock_rule){ path, fd, access, is_optional };
	return 0;
}

/* What stands on 0, 1, 2 may be opened again under the name /dev/stdout, as outside. */
static int add_stdio(struct pinfold_plan *plan)
{
	int r = 0;

	for (int i = 0; r == 0 && i < 3; i++) {
		const struct survey_stdio *stdio = &plan->survey.stdio[i];

		if (stdio->kind == STDIO_TERMINAL || stdio->kind == STDIO_OTHER ||
		    (stdio->kind == STDIO_FILE && (stdio->flags & 3) != 0))
			r = plan_add_rule(plan, NULL, i, LL_WRITE_FILE | LL_TRUNCATE, true);
	}
	return r;
}

static int add_writable(struct pinfold_plan *plan, uint64_t all)
{
	const struct survey *survey = &plan->survey;
	int r = 0;

	if (!policy_number(plan->policy, KEY_READ_ONLY))
		r = plan_add_rule(plan, survey->worktree, -1, all, false);
	for (size_t i = 0; r == 0 && i < survey->write_count; i++)
		r = plan_add_rule(plan, survey->writes[i].path, -1, all, false);
	for (size_t i = 0; r == 0 && i < survey->cache_count; i++)
		r = plan_add_rule(plan, survey->caches[i].tool, -1, all, true);
	for (size_t i = 0; r == 0 && i < plan->copy_count; i++)
		r = plan_add_rule(plan, plan->copies[i].shown, -1, all, false);
	for (size_t i = 0; r == 0 && i < survey->device_count; i++)
		r = plan_add_rule(plan, survey->devices[i].path, -1, LL_WRITE_FILE, false);
	for (size_t i = 0; r == 0 && i < survey->socket_count; i++)
		r = plan_add_rule(plan, survey->sockets[i].path, -1, LL_RESOLVE_UNIX, false);
	return r;
}

/* A host file on 0, 1 or 2 that is only read and cannot be opened again inside. */
bool plan_keeps_host_file(const struct pinfold_plan *plan)
{
	for (int i = 0; i < 3; i++)
		if (plan->survey.stdio[i].kind == STDIO_FILE && (plan->survey.stdio[i].flags & 3) == 0 &&
		    !plan->reopen[i])
			return true;
	return false;
}

int plan_landlock(struct pinfold_plan *plan)
{
	static const char *const private_places[] = { "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue" };
	const int abi = plan->host->fact[FACT_LANDLOCK].state == FACT_NO ? 0 : plan->host->landlock_abi;
	uint64_t all;
	int r;

	if (abi < 1)
		return 0;
	/* A domain that handles any right over files forbids every mount. */
	if (policy_number(plan->policy, KEY_NESTING)) {
		plan->has_landlock = abi >= 6;
		plan->landlock_scoped = abi >= 6 ? LL_SCOPE_SIGNAL | LL_SCOPE_ABSTRACT_UNIX : 0;
		return 0;
	}
	plan->has_landlock = true;
	plan->landlock_handled = write_rights;
	/* not handled, moving between directories would be refused everywhere (ABI 1 refuses it whatever we do: then
	 * programs would break, so the layer is left out and the plan says so) */
	if (abi < 2) {
		plan->has_landlock = false;
		plan->landlock_handled = 0;
		return 0;
	}
	plan->landlock_handled |= LL_REFER;
	if (abi >= 3 && plan_keeps_host_file(plan))
		plan->landlock_handled |= LL_TRUNCATE;
	if (abi >= 6)
		plan->landlock_scoped = LL_SCOPE_SIGNAL | LL_SCOPE_ABSTRACT_UNIX;
	if (abi >= 9)
		plan->landlock_handled |= LL_RESOLVE_UNIX;
	all = plan->landlock_handled & ~never;
	r = add_writable(plan, all);
	for (size_t i = 0; r == 0 && i < sizeof(private_places) / sizeof(private_places[0]); i++)
		r = plan_add_rule(plan, private_places[i], -1, all, true);
	/* /proc: a process's own files (oom_score_adj, comm); the rest is root's */
	if (r == 0)
		r = plan_add_rule(plan, "/proc", -1, LL_WRITE_FILE | LL_TRUNCATE, false);
	if (r == 0)
		r = plan_add_rule(plan, "/dev", -1, LL_WRITE_FILE | LL_TRUNCATE, false);
	return r == 0 ? add_stdio(plan) : r;
}
