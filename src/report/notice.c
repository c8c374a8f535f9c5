/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read from the plan, not from the policy: where a guarantee is not held, no sentence promises it. The words are the
 * same for everybody, but for paths, ports and limits, so that a tool's description stays short and stays the same.
 */
#include "report/notice.h"

#include "base/num.h"

static bool is_held(const struct pinfold_plan *plan, enum guarantee guarantee)
{
	return plan->guarantee[guarantee].state == STATE_HELD;
}

static void say_paths(const struct survey_grant *grants, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		buf_str(out, i + 1 < count ? ", " : " and ");
		buf_printable(out, grants[i].path);
	}
}

static void say_writes(const struct pinfold_plan *plan, struct buf *out)
{
	const struct survey *survey = &plan->survey;
	const char *temp = plan->makes_temp ? "the directory that TMPDIR names" : "/tmp";

	if (policy_number(plan->policy, KEY_READ_ONLY)) {
		buf_str(out, "Commands can read ");
		buf_printable(out, survey->worktree);
		buf_printf(out, ", and change nothing but files in %s", temp);
	} else {
		buf_printf(out, "Commands can change files in %s%s", temp, survey->write_count ? ", " : " and ");
		buf_printable(out, survey->worktree);
	}
	say_paths(survey->writes, survey->write_count, out);
	buf_str(out, ".\n");
	if (plan->makes_temp)
		buf_str(out, "/tmp itself is closed.\n");
	else if (!survey->tmp)
		buf_str(out, "/tmp is empty at the start of each command and gone at its end.\n");
}

static void say_secrets(const struct pinfold_plan *plan, struct buf *out)
{
	if (policy_number(plan->policy, KEY_HOME) == HOME_HIDDEN)
		buf_str(out, "The user's home directory looks empty but for toolchains.\n");
	else
		buf_str(out, "Credentials and private files of the user look missing.\n");
}

static void say_ports(const char *before, const struct strv *words, struct buf *out)
{
	for (size_t i = 0; i < words->n; i++)
		buf_printf(out, "%s%s", i == 0 ? before : i + 1 < words->n ? ", " : " and ", words->v[i]);
	if (words->n)
		buf_str(out, " (host's port first).\n");
}

static void say_network(const struct pinfold_plan *plan, struct buf *out)
{
	if (policy_number(plan->policy, KEY_NETWORK) == NETWORK_OPEN) {
		buf_str(out, "The network is open.\n");
		return;
	}
	if (!plan->offline) {
		buf_str(out, "The network is to be off, and is not: this machine cannot hold it.\n");
		return;
	}
	buf_str(out, "There is no network: downloads, installs from a registry and git with a remote fail.\n");
	if (plan->backend == BACKEND_ONLY_LANDLOCK)
		buf_str(out, "There is no loopback either: a server cannot be started.\n");
	else
		buf_str(out, "A server that a command starts on 127.0.0.1 can be reached by that same command only.\n");
	say_ports("Of the host's own servers these ports of 127.0.0.1 can be reached: ", &plan->reach.words, out);
	say_ports("Servers on these ports of 127.0.0.1 can be reached from the host: ", &plan->publish.words, out);
}

static void say_git(const struct pinfold_plan *plan, struct buf *out)
{
	if (plan->survey.git.kind == REPOSITORY_NONE)
		return;
	if (policy_number(plan->policy, KEY_READ_ONLY) || policy_number(plan->policy, KEY_GIT) == GIT_READONLY)
		buf_str(out, "The git repository can be read and not be changed.\n");
	else if (policy_number(plan->policy, KEY_GIT) == GIT_COMMIT && is_held(plan, GUARANTEE_REPOSITORY))
		buf_str(out, "git commit, switch, merge and rebase work; git's hooks and configuration, and the files "
			     "of editors and agents that are protected, cannot be changed.\n");
}

static void say_limits(const struct pinfold_plan *plan, struct buf *out)
{
	const struct plan_limits *limits = &plan->limits;
	char text[32];

	if (limits->time_ms != POLICY_NONE)
		buf_printf(out, "A command is ended after %s.\n", num_duration_text(limits->time_ms, text));
	if (limits->memory != POLICY_NONE)
		buf_printf(out, "A process gets at most %s of memory.\n", num_size_text(limits->memory, text));
	if (limits->processes != POLICY_NONE)
		buf_printf(out, "At most %llu processes run at once.\n", (unsigned long long)limits->processes);
}

int notice_write(const struct pinfold_plan *plan, struct buf *out)
{
	if (plan->backend == BACKEND_NONE) {
		buf_str(out, "Commands run without a sandbox: they can do all that the user can.\n");
		return out->error;
	}
	buf_str(out, "Commands run in a sandbox. What it forbids fails; trying other ways does not help.\n");
	say_writes(plan, out);
	say_secrets(plan, out);
	say_network(plan, out);
	say_git(plan, out);
	buf_str(out, "No process outlives its command.\n");
	say_limits(plan, out);
	return out->error;
}
