/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plan holds: one function per guarantee, each of which looks only at what the plan does. This is the one
 * place that decides; every readout reads its result.
 *
 * Held, weaker, absent are about what the command alone can do. What needs another party, or what no kernel can close,
 * is a note and no reason to refuse.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "plan/internal.h"
#include "plan/judging.h"

const char *const guarantee_state_names[STATE_COUNT] = { "held", "weaker", "absent", "not_asked" };

void held_by(struct judging *j, const char *mechanism)
{
	if (strv_add(&j->plan->arena, &j->result->by, mechanism) < 0)
		j->error = -ENOMEM;
}

void note(struct judging *j, const char *text)
{
	if (!text || strv_add(&j->plan->arena, &j->result->notes, text) < 0)
		j->error = -ENOMEM;
}

void open_part(struct judging *j, enum guarantee_state state, const char *why)
{
	struct guarantee_result *result = j->result;

	if (state > result->state)
		result->state = state;
	result->why = result->why ? arena_printf(&j->plan->arena, "%s; %s", result->why, why) : why;
	if (!result->why)
		j->error = -ENOMEM;
}

void judge_accept(struct judging *j, const struct policy_source *source)
{
	j->result->accepted = true;
	j->result->accepted_by = source->file                     ? source->file
				 : source->layer == LAYER_BUILTIN ? "built in"
								  : "command line";
}

bool has_fact(const struct judging *j, enum host_fact fact)
{
	return j->plan->host->fact[fact].state != FACT_NO;
}

const char *fact_text(struct judging *j, enum host_fact fact)
{
	const char *text = plan_fact_text(j->plan, fact);

	if (!text)
		j->error = -ENOMEM;
	j->result->fact = (int)fact;
	return text ? text : "";
}

/* ---- one each ---- */

static void judge_unfit(struct judging *j, const char *what, const char *path, const char *unfit)
{
	/* Where `writes` is weaker anyway, and accepted for good, a too wide grant has to be accepted apart: as absent,
	 * which only a command line can. */
	if (unfit)
		open_part(j, j->result->state == STATE_HELD ? STATE_WEAKER : STATE_ABSENT,
			  arena_printf(&j->plan->arena, "the %s '%s' is too wide: %s", what, path, unfit));
}

void judge_fitness(struct judging *j)
{
	const struct pinfold_plan *plan = j->plan;

	if (policy_number(plan->policy, KEY_NESTING) && plan_keeps_host_file(plan))
		open_part(j, STATE_WEAKER,
			  "a file on 0, 1 or 2 that is open for reading, and that nothing shows inside, can "
			  "be opened again and changed (nesting)");
	if (!policy_number(plan->policy, KEY_READ_ONLY))
		judge_unfit(j, "worktree", plan->survey.worktree, plan->survey.unfit);
	for (size_t i = 0; i < plan->survey.write_count; i++)
		judge_unfit(j, "write path", plan->survey.writes[i].path, plan->survey.writes[i].unfit);
}

static void judge_writes(struct judging *j)
{
	const struct pinfold_plan *plan = j->plan;

	held_by(j, "read-only mounts");
	if (plan->landlock_handled)
		held_by(j, "Landlock");
	else
		note(j, "a FIFO outside that a process of the host reads can be written to (no Landlock)");
	judge_fitness(j);
	if (!policy_number(plan->policy, KEY_READ_ONLY))
		note(j, "a file of the worktree that has another name outside (a hard link) changes there too");
	if (plan->ids == IDS_ROOT)
		note(j, "the command is root on the host: files that others may not read but root may, stay readable");
}

static bool has_overlay_or_none(const struct pinfold_plan *plan)
{
	for (size_t i = 0; i < plan->survey.home_count; i++)
		if (!plan_home_has_overlay(plan, i) && policy_number(plan->policy, KEY_HOME) == HOME_MASKED &&
		    plan->survey.home[i].node.mode && strcmp(plan->survey.home[i].path, "/") != 0)
			return false;
	return true;
}

/* A mount lies over what was there, and goes with it; the watch puts it back over what comes instead. */
static void judge_watch(struct judging *j, const char *covered, const char *done)
{
	struct arena *arena = &j->plan->arena;

	if (j->plan->backend == BACKEND_BUBBLEWRAP)
		note(j, arena_printf(arena, "a %s that the host replaces can be %s for the rest of the run: mounts of "
				     "bubblewrap's are not put back", covered, done));
	else if (!has_fact(j, FACT_WATCH))
		note(j,
		     arena_printf(arena,
				  "a %s that the host replaces can be %s for the rest of the run: its cover cannot be "
				  "put back (%s)",
				  covered, done, fact_text(j, FACT_WATCH)));
	else if (j->plan->watched_count && policy_number(j->plan->policy, KEY_NESTING))
		note(j,
		     arena_printf(arena,
				  "a %s that the host replaces can be %s for the rest of the run in a mount namespace "
				  "of the command's own (nesting)",
				  covered, done));
	else if (j->plan->watched_count)
		note(j, arena_printf(arena,
				     "a %s that the host replaces can be %s until its cover is put back, less than a "
				     "millisecond later where a CPU is free",
				     covered, done));
}

void judge_aliases(struct judging *j)
{
	const struct survey *survey = &j->plan->survey;

	for (size_t i = 0; i < survey->alias_homes.n; i++)
		open_part(j, STATE_WEAKER,
			  arena_printf(&j->plan->arena,
				       "'%s' shows the home once more: a secret that is made or "
				       "replaced there during the run can be read",
				       survey->alias_homes.v[i]));
	for (size_t i = 0; i < survey->alias_parts.n; i++)
		note(j, arena_printf(&j->plan->arena,
				     "in '%s', which shows a part of the home once more, what was there at the start "
				     "is hidden",
				     survey->alias_parts.v[i]));
}

static void judge_secrets(struct judging *j)
{
	const struct pinfold_plan *plan = j->plan;

	if (policy_number(plan->policy, KEY_HOME) == HOME_HIDDEN)
		held_by(j, "private home");
	else if (has_overlay_or_none(plan))
		held_by(j, "read-only overlay over the home");
	else
		held_by(j, "visible entries of the home bound one by one");
	held_by(j, "masks");
	for (size_t i = 0; i < plan->survey.home_count; i++)
		if (plan_writable_root(plan, plan->survey.home[i].path))
			open_part(j, STATE_WEAKER,
				  "the home is writable: a secret that is made or replaced there during the run can be "
				  "read");
	judge_aliases(j);
	for (size_t i = 0; i < 3; i++)
		if (plan->survey.stdio[i].kind == STDIO_FILE && plan->survey.stdio[i].path && !plan->reopen[i] &&
		    (plan->survey.stdio[i].flags & 3) == 0)
			note(j, "a file that the caller opened is handed to the command although nothing shows at its "
				"path inside");
	if (plan->has_masks)
		judge_watch(j, "hidden file outside of the home's cover", "read");
	note(j, "names that only a pattern covers are hidden where they existed at the start");
}

bool plan_has_check(const struct pinfold_plan *plan)
{
	return plan->backend != BACKEND_NONE && !policy_number(plan->policy, KEY_READ_ONLY);
}

/* Of the directories that are neither the top nor on the way from there to the working directory. */
static const char off_the_way_set[] =
	"in other directories than those from the top down to the working directory, mounts hold what git uses and "
	"what `protect` matched at the start, and the check looks only into repositories that git at the top would "
	"enter: protected names, other repositories and set-id files there are found by check tree alone";
static const char off_the_way_tree[] =
	"in other directories than those from the top down to the working directory, mounts hold what git uses and "
	"what `protect` matched at the start; a protected name that is made there is found when the run has ended, "
	"and one that was there and is changed is only named";
static void judge_repository(struct judging *j)
{
	const struct pinfold_plan *plan = j->plan;
	const struct policy_value *on_violation = &plan->policy->value[KEY_ON_VIOLATION];

	if (policy_number(plan->policy, KEY_READ_ONLY)) {
		held_by(j, "read-only mounts");
		return;
	}
	if (policy_number(plan->policy, KEY_GIT) == GIT_OPEN && plan->survey.git.kind != REPOSITORY_NONE) {
		j->result->state = STATE_NOT_ASKED;
		return;
	}
	held_by(j, "binds with pinned ancestors");
	if (plan->watched_count)
		held_by(j, "watch over the mounts");
	if (plan->survey.git.refused)
		note(j, "git can read this repository, but not write to it: its directory is not proven to be this "
			"worktree's");
	held_by(j, "check after the run");
	if (on_violation->number == VIOLATION_REPORT) {
		open_part(
			j, STATE_WEAKER,
			"a protected name that is made during the run stays, and is only named (on_violation report)");
		judge_accept(j, &on_violation->source); /* whoever asked for this has accepted it */
	}
	note(j, "until the run has ended, a protected name that was missing can be made");
	note(j, policy_number(plan->policy, KEY_CHECK) == CHECK_TREE ? off_the_way_tree : off_the_way_set);
	note(j, "what the project itself runs or reads (build files, scripts, instructions of agents) is the "
		"command's to change");
	judge_watch(j, "protected file", "written");
	note(j, "where pinfold itself is killed (SIGKILL), the check after the run does not take place");
}

/* As asked, so no reason for a weaker state; but whoever reads the state must see them. */
static void note_ports(struct judging *j)
{
	const struct pinfold_plan *plan = j->plan;

	for (size_t i = 0; i < plan->reach.n; i++)
		note(j, arena_printf(&j->plan->arena, "the host's loopback port %u is reachable at port %u, as asked",
				     plan->reach.v[i].host, plan->reach.v[i].inside));
	for (size_t i = 0; i < plan->publish.n; i++)
		note(j,
		     arena_printf(&j->plan->arena, "port %u inside is reachable at the host's 127.0.0.1:%u, as asked",
				  plan->publish.v[i].inside, plan->publish.v[i].host));
	if (plan->reach.n + plan->publish.n)
		held_by(j, "port relay");
}

static void judge_network(struct judging *j)
{
	if (policy_number(j->plan->policy, KEY_NETWORK) == NETWORK_OPEN) {
		j->result->state = STATE_NOT_ASKED;
		note(j, "the network is open");
	} else if (j->plan->offline) {
		held_by(j, "network namespace");
		note_ports(j);
	} else {
		open_part(j, STATE_ABSENT, fact_text(j, FACT_NET_NAMESPACE));
	}
}

static void judge_services(struct judging *j)
{
	const struct pinfold_plan *plan = j->plan;
	const int abi = plan->landlock_handled ? plan->host->landlock_abi : 0;

	held_by(j, "private /run and /tmp");
	held_by(j, "masks");
	if (plan->offline) {
		held_by(j, "network namespace");
	} else if (plan->landlock_scoped) {
		held_by(j, "Landlock scope");
	} else {
		open_part(j, STATE_WEAKER,
			  "abstract sockets of the host can be reached with the open network (Landlock before ABI 6)");
	}
	if (abi >= 9)
		held_by(j, "Landlock");
	else
		note(j, "a service that listens in the worktree, or in a readable place outside the home, /run and "
			"/tmp, can be "
			"reached, also one that listened before the run");
	if (abi < 9 && !has_overlay_or_none(plan))
		open_part(j, STATE_WEAKER,
			  "sockets in visible directories of the home can be reached (no overlay over the home)");
	for (size_t i = 0; i < plan->survey.socket_count; i++)
		note(j, arena_printf(&j->plan->arena, "the host's socket '%s' is reachable, as asked",
				     plan->survey.sockets[i].path));
}

/* Whoever asked for nesting has accepted what it opens, and nothing else that is weaker. */
static void judge_nesting(struct judging *j, const char *why)
{
	const struct policy_value *nesting = &j->plan->policy->value[KEY_NESTING];

	if (!nesting->number)
		return;
	if (j->result->state == STATE_HELD)
		judge_accept(j, &nesting->source);
	open_part(j, STATE_WEAKER, why);
}

static void judge_processes(struct judging *j)
{
	held_by(j, "pid namespace");
	held_by(j, "ipc namespace");
	if (has_fact(j, FACT_FRESH_PROC))
		held_by(j, "fresh /proc");
	else
		open_part(j, STATE_WEAKER,
			  arena_printf(&j->plan->arena, "other processes can be seen in /proc (%s)",
				       fact_text(j, FACT_FRESH_PROC)));
	if (j->plan->landlock_scoped)
		held_by(j, "Landlock scope");
	judge_nesting(
		j, "the control group that the command shares with its caller can be changed where it is the user's: "
		   "its processes stopped and ended (nesting)");
}

void judge_environment(struct judging *j)
{
	const struct policy_value *mode = &j->plan->policy->value[KEY_ENV_MODE];

	switch (mode->number) {
	case ENV_ALL:
		open_part(j, STATE_ABSENT, "the caller's environment is passed on as it is (env_mode all)");
		judge_accept(j, &mode->source); /* whoever asked for this has accepted it */
		return;
	case ENV_LIST:
		held_by(j, "allow-list");
		break;
	default:
		held_by(j, "scrub");
	}
	if (j->plan->policy->value[KEY_ENV].count)
		note(j, "variables that `env` names are passed on, as asked");
}

static void judge_terminal(struct judging *j)
{
	if (!j->plan->has_seccomp) {
		open_part(j, STATE_ABSENT, fact_text(j, FACT_SECCOMP));
		return;
	}
	held_by(j, "seccomp");
	note(j, "the terminal itself answers some escape sequences of what is printed; unread answers are thrown away "
		"at the end");
}

static void judge_privileges(struct judging *j)
{
	held_by(j, "no_new_privs");
	held_by(j, "no capabilities");
	if (j->plan->has_seccomp)
		held_by(j, "seccomp");
	else
		open_part(j, STATE_WEAKER, fact_text(j, FACT_SECCOMP));
	if (j->plan->ids == IDS_HIDDEN)
		held_by(j, "unprivileged host id");
	else if (j->plan->ids == IDS_ROOT)
		open_part(j, STATE_WEAKER,
			  arena_printf(
				  &j->plan->arena, "the command runs as root of the host, without capabilities (%s)",
				  j->plan->backend == BACKEND_BUBBLEWRAP ? "bubblewrap maps no ids" :
				  has_fact(j, FACT_IDMAP) ? "no CAP_SYS_ADMIN to map ids" : fact_text(j, FACT_IDMAP)));
	judge_nesting(j, "the command may make namespaces and mounts of its own (nesting)");
}

static void judge_cleanup(struct judging *j)
{
	held_by(j, "pid namespace");
}

static void judge_limits(struct judging *j)
{
	const struct plan_limits *limits = &j->plan->limits;

	if (limits->time_ms == POLICY_NONE && limits->memory == POLICY_NONE && limits->processes == POLICY_NONE &&
	    limits->tmp_size == POLICY_NONE) {
		j->result->state = STATE_NOT_ASKED;
		return;
	}
	if (limits->time_ms != POLICY_NONE)
		held_by(j, "supervisor's clock");
	if (limits->processes != POLICY_NONE)
		held_by(j, "RLIMIT_NPROC in the user namespace");
	if (limits->tmp_size != POLICY_NONE && j->plan->backend == BACKEND_OWN_NAMESPACES)
		held_by(j, "size of the private tmpfs");
	if (limits->processes != POLICY_NONE && j->plan->ids == IDS_ROOT)
		open_part(j, STATE_WEAKER, "the number of processes is not limited: the kernel counts none of root's");
	note(j, "the size of the worktree and of the output is not limited");
	if (limits->memory != POLICY_NONE) {
		held_by(j, "RLIMIT_DATA");
		open_part(j, STATE_WEAKER, "memory is limited for each process, not for all together");
	}
}

judge_function *const judges_namespaces[GUARANTEE_COUNT] = {
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

/* The supervisor's clock ends the command; without a pen what the command started lives on. The other limits are set
 * on the way into the pen. */
static void judge_bare_limits(struct judging *j, const char *why)
{
	const struct plan_limits *limits = &j->plan->limits;
	bool is_clock_all = limits->memory == POLICY_NONE && limits->processes == POLICY_NONE &&
			    limits->tmp_size == POLICY_NONE;

	if (is_clock_all && limits->time_ms == POLICY_NONE)
		j->result->state = STATE_NOT_ASKED;
	else if (is_clock_all)
		open_part(j, STATE_WEAKER, "the time limit ends the command, but not what it has left running");
	else
		open_part(j, STATE_ABSENT, why);
}

/* Without a backend nothing is held but what the supervisor does by itself. */
static void judge_bare(struct judging *j, enum guarantee guarantee)
{
	const char *why;

	if (guarantee == GUARANTEE_NETWORK && policy_number(j->plan->policy, KEY_NETWORK) == NETWORK_OPEN) {
		j->result->state = STATE_NOT_ASKED;
		return;
	}
	if (guarantee == GUARANTEE_ENVIRONMENT) {
		judge_environment(j);
		if (j->result->state != STATE_ABSENT)
			open_part(j, STATE_WEAKER,
				  "the environment of the caller's other processes can be read in /proc");
		return;
	}
	why = plan_no_backend(j->plan);
	if (!why)
		j->error = -ENOMEM;
	else if (guarantee == GUARANTEE_LIMITS)
		judge_bare_limits(j, why);
	else
		open_part(j, STATE_ABSENT, why);
}

/* What is not held may be accepted: by mode auto or off, or by name. */
static void settle_acceptance(struct judging *j, const char *name)
{
	const struct policy_value *mode = &j->plan->policy->value[KEY_MODE];
	struct guarantee_result *result = j->result;
	const struct policy_item *item;

	if (result->state != STATE_WEAKER && result->state != STATE_ABSENT)
		return;
	item = policy_acceptance(j->plan->policy, name, result->state == STATE_ABSENT);
	if (item)
		judge_accept(j, &item->source);
	else if (mode->number != MODE_REQUIRED)
		judge_accept(j, &mode->source);
}

/* The caller's doing, and nobody else's: no filter knows where a socket that was handed in leads, or is led. */
static void note_sockets(struct judging *j, enum guarantee guarantee)
{
	const bool is_about = guarantee == GUARANTEE_NETWORK || guarantee == GUARANTEE_SERVICES;

	for (int i = 0; is_about && j->result->state != STATE_NOT_ASKED && i < 3; i++)
		if (j->plan->survey.stdio[i].kind == STDIO_SOCKET) {
			note(j,
			     "the caller hands the command a socket: it reaches what that reaches, and can lead it on");
			return;
		}
}

int plan_guarantees(struct pinfold_plan *plan)
{
	struct judging j = { .plan = plan };

	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		j.result = &plan->guarantee[i];
		*j.result = (struct guarantee_result){ .state = STATE_HELD, .fact = -1 };
		if (plan->backend == BACKEND_NONE)
			judge_bare(&j, (enum guarantee)i);
		else
			backend_defs[plan->backend].judges[i](&j);
		note_sockets(&j, (enum guarantee)i);
		settle_acceptance(&j, guarantee_defs[i].name);
	}
	return j.error;
}
