/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run without namespaces holds (landlock_alone.c). Less than one with them, and what is less is said: each judge
 * names the part that the command alone can break, by the kernel's ABI where that is the reason.
 */
#include <string.h>

#include "linux/landlock.h"
#include "plan/internal.h"
#include "plan/judging.h"

static int abi_of(const struct judging *j)
{
	return j->plan->host->landlock_abi;
}

/* Without a filter nothing is held of what only the filter holds. */
static bool has_filter(struct judging *j, enum guarantee_state otherwise)
{
	if (j->plan->has_seccomp)
		return true;
	open_part(j, otherwise, fact_text(j, FACT_SECCOMP));
	return false;
}

static void judge_writes(struct judging *j)
{
	held_by(j, "Landlock");
	if (abi_of(j) < 3)
		open_part(j, STATE_WEAKER, "the caller's files outside can be emptied (Landlock before ABI 3)");
	open_part(j, STATE_WEAKER,
		  "mode, times and attributes of all the caller's files can be changed");
	if (j->plan->ids == IDS_ROOT)
		open_part(j, STATE_WEAKER, "device nodes that lie in the worktree can be used");
	judge_fitness(j);
	if (abi_of(j) < 2)
		note(j, "files cannot be moved from one directory to another (Landlock before ABI 2)");
	if (!policy_number(j->plan->policy, KEY_READ_ONLY))
		note(j, "a file of the worktree that has another name outside (a hard link) changes there too");
	if (j->plan->makes_temp)
		note(j, "/tmp, /var/tmp and /dev/shm are closed: the run's temporary directory is where TMPDIR says");
}

/* Is it in what the command may write? Then nothing hides it. */
static const char *first_open_secret(const struct pinfold_plan *plan)
{
	for (size_t i = 0; i < plan->survey.hidden_count; i++)
		if (plan->survey.hidden[i].kind != HIDDEN_ABSENT &&
		    plan_writable_root(plan, plan->survey.hidden[i].path))
			return plan->survey.hidden[i].path;
	return NULL;
}

static bool has_open_home(const struct pinfold_plan *plan)
{
	for (size_t i = 0; i < plan->survey.home_count; i++)
		if (plan_writable_root(plan, plan->survey.home[i].path))
			return true;
	return false;
}

static void judge_secrets(struct judging *j)
{
	const char *open = first_open_secret(j->plan);

	held_by(j, "only what is not hidden is granted (Landlock)");
	if (open)
		open_part(j, STATE_WEAKER,
			  arena_printf(&j->plan->arena,
				       "'%s' can be read: nothing is hidden in what may be written", open));
	else if (has_open_home(j->plan))
		open_part(j, STATE_WEAKER,
			  "the home is writable: a secret that is made there during the run can be read");
	judge_aliases(j);
	note(j, "that a hidden name exists, and its size and times, can be seen");
	note(j, "directories on the way to something hidden cannot be listed");
	note(j, "names that only a pattern covers are hidden where they existed at the start");
}

static void judge_repository(struct judging *j)
{
	const struct pinfold_plan *plan = j->plan;

	if (policy_number(plan->policy, KEY_READ_ONLY)) {
		held_by(j, "Landlock");
		open_part(j, STATE_WEAKER, "mode and times of protected files can be changed");
		return;
	}
	if (policy_number(plan->policy, KEY_GIT) == GIT_OPEN && plan->survey.git.kind != REPOSITORY_NONE) {
		j->result->state = STATE_NOT_ASKED;
		return;
	}
	held_by(j, "check after the run");
	open_part(j, STATE_WEAKER,
		  "protected files of the worktree can be changed, which only the check after the run finds");
	if (policy_number(plan->policy, KEY_ON_VIOLATION) == VIOLATION_REPORT)
		open_part(
			j, STATE_WEAKER,
			"a protected name that is made during the run stays, and is only named (on_violation report)");
	if (policy_number(plan->policy, KEY_CHECK) != CHECK_TREE)
		note(j,
		     "in other directories than those from the top down to the working directory protected names are "
		     "found by check tree alone");
	note(j, "where pinfold itself is killed (SIGKILL), the check after the run does not take place");
}

static void judge_network(struct judging *j)
{
	if (policy_number(j->plan->policy, KEY_NETWORK) == NETWORK_OPEN) {
		j->result->state = STATE_NOT_ASKED;
		note(j, "the network is open");
		return;
	}
	if (!has_filter(j, STATE_ABSENT))
		return;
	held_by(j, "no internet sockets (seccomp)");
	if (j->plan->landlock_net)
		held_by(j, "Landlock");
	note(j, "there is no loopback: a server on 127.0.0.1 cannot be started");
	if (j->plan->policy->value[KEY_REACH].count + j->plan->policy->value[KEY_PUBLISH].count)
		open_part(j, STATE_WEAKER, "no port is reached or published: there is no loopback to carry them to");
	note(j, "names and addresses of the host's interfaces can be seen");
}

static void judge_services(struct judging *j)
{
	struct pinfold_plan *plan = j->plan;

	if (plan->landlock_handled & LL_RESOLVE_UNIX) {
		held_by(j, "Landlock");
		for (size_t i = 0; i < plan->survey.socket_count; i++)
			note(j, arena_printf(&plan->arena, "the host's socket '%s' is reachable, as asked",
					     plan->survey.sockets[i].path));
		return;
	}
	if (!has_filter(j, STATE_ABSENT))
		return;
	if (plan->filters[SECCOMP_NO_UNIX]) {
		held_by(j, "no unix sockets but pairs (seccomp)");
		note(j,
		     "programs cannot make unix sockets of their own (Landlock before ABI 9 cannot tell them from the "
		     "host's); --accept services=absent lets them, and reach the host's");
		return;
	}
	open_part(j, STATE_ABSENT,
		  "with unix sockets, which are asked for, those of the host are reached, too (Landlock before ABI 9)");
}

static void judge_processes(struct judging *j)
{
	if (j->plan->landlock_scoped)
		held_by(j, "Landlock scope");
	else
		open_part(j, STATE_WEAKER, "the caller's other processes can be ended (Landlock before ABI 6)");
	held_by(j, "Landlock domain");
	open_part(j, STATE_WEAKER, "other processes and their command lines can be seen, and their CPUs be changed");
	if (!j->plan->has_seccomp)
		open_part(j, STATE_WEAKER, "shared memory of the caller's programs can be attached to (no seccomp)");
	else
		held_by(j, "seccomp");
}

static void judge_terminal(struct judging *j)
{
	if (!has_filter(j, STATE_ABSENT))
		return;
	held_by(j, "seccomp");
	open_part(j, STATE_WEAKER, "other terminals of the caller's can be opened");
	note(j, "the terminal itself answers some escape sequences of what is printed; unread answers are thrown away "
		"at the end");
}

static void judge_privileges(struct judging *j)
{
	held_by(j, "no_new_privs");
	held_by(j, "no capabilities");
	if (has_filter(j, STATE_WEAKER))
		held_by(j, "seccomp");
	if (j->plan->ids != IDS_ROOT)
		return;
	open_part(j, STATE_WEAKER, "the command is root, without capabilities: it reads what only root may");
	if (j->plan->survey.worktree_node.uid != 0)
		note(j, "the worktree is another user's: root without capabilities changes there what everybody may");
}

static void judge_cleanup(struct judging *j)
{
	if (j->plan->landlock_scoped) {
		held_by(j, "reaper in a Landlock scope of its own");
		note(j, "where the reaper itself is killed (SIGKILL, by somebody outside), the command lives on");
		return;
	}
	held_by(j, "reaper");
	open_part(j, STATE_WEAKER,
		  "processes that fork fast, or end the reaper, can be left behind (Landlock before ABI 6)");
}

static void judge_limits(struct judging *j)
{
	const struct plan_limits *limits = &j->plan->limits;
	const char *missing = NULL;

	if (limits->processes != POLICY_NONE)
		missing = "the number of processes is not limited (the kernel counts all of the caller's)";
	else if (limits->tmp_size != POLICY_NONE)
		missing = "the size of the temporary directory is not limited (it lies on the host's disk)";
	if (limits->time_ms == POLICY_NONE && limits->memory == POLICY_NONE && !missing) {
		j->result->state = STATE_NOT_ASKED;
		return;
	}
	if (limits->time_ms != POLICY_NONE)
		held_by(j, "supervisor's clock");
	if (limits->memory != POLICY_NONE) {
		held_by(j, "RLIMIT_DATA");
		open_part(j, STATE_WEAKER, "memory is limited for each process, not for all together");
	}
	if (missing)
		open_part(j, j->result->by.n ? STATE_WEAKER : STATE_ABSENT, missing);
}

judge_function *const judges_landlock[GUARANTEE_COUNT] = {
	[GUARANTEE_WRITES] = judge_writes,
	[GUARANTEE_SECRETS] = judge_secrets,
	[GUARANTEE_REPOSITORY] = judge_repository,
	[GUARANTEE_NETWORK] = judge_network,
	[GUARANTEE_SERVICES] = judge_services,
	[GUARANTEE_PROCESSES] = judge_processes,
	[GUARANTEE_ENVIRONMENT] = judge_environment,
	[GUARANTEE_TERMINAL] = judge_terminal,
	[GUARANTEE_PRIVILEGES] = judge_privileges,
	[GUARANTEE_CLEANUP] = judge_cleanup,
	[GUARANTEE_LIMITS] = judge_limits,
};
