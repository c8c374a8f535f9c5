/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pen that bubblewrap makes holds: the same as one with namespaces of our own, but for what bubblewrap has no
 * words for. Only that is said here; the rest the judges of that pen see in the plan, which has no overlay, no copies
 * of git's configuration, no id maps and no watch.
 */
#include "plan/internal.h"
#include "plan/judging.h"

static void judge_alike(struct judging *j)
{
	judges_namespaces[j->result - j->plan->guarantee](j);
}

static bool keeps_host_file(const struct pinfold_plan *plan)
{
	for (int i = 0; i < 3; i++)
		if (plan->reopen_path[i] && !plan->reopen[i])
			return true;
	return false;
}

static void judge_writes(struct judging *j)
{
	judge_alike(j);
	if (keeps_host_file(j->plan))
		open_part(j, STATE_WEAKER,
			  "mode and times of the file that the command reads from, which is hidden inside, can be "
			  "changed");
	if (j->plan->survey.device_count)
		open_part(j, STATE_WEAKER, "mode and times of the device that is asked for can be changed");
}

static void judge_secrets(struct judging *j)
{
	judge_alike(j);
	note(j, "what the host makes in the home during the run is not seen");
}

static void judge_repository(struct judging *j)
{
	judge_alike(j);
	if (j->plan->survey.config_count && j->result->state != STATE_NOT_ASKED)
		note(j, "git cannot write to its configuration, and says so where it would note what a branch tracks");
}

static void judge_network(struct judging *j)
{
	const struct policy_value *value = j->plan->policy->value;

	judge_alike(j);
	if (!j->plan->offline)
		return;
	if (value[KEY_REACH].count + value[KEY_PUBLISH].count)
		open_part(j, STATE_WEAKER, "no port is reached or published: bubblewrap hands out no network to carry "
					   "them to");
	note(j, "names of the host's interfaces can be seen in /sys");
}

static void judge_privileges(struct judging *j)
{
	judge_alike(j);
	if (j->plan->ids == IDS_ROOT && j->plan->survey.worktree_node.uid != 0)
		note(j, "the worktree is another user's: root without capabilities changes there what everybody may");
}

static void judge_limits(struct judging *j)
{
	judge_alike(j);
	if (j->plan->limits.tmp_size != POLICY_NONE)
		open_part(j, STATE_WEAKER, "the size of the private temp is not limited");
}

judge_function *const judges_bubblewrap[GUARANTEE_COUNT] = {
	[GUARANTEE_WRITES] = judge_writes,
	[GUARANTEE_SECRETS] = judge_secrets,
	[GUARANTEE_REPOSITORY] = judge_repository,
	[GUARANTEE_NETWORK] = judge_network,
	[GUARANTEE_SERVICES] = judge_alike,
	[GUARANTEE_PROCESSES] = judge_alike,
	[GUARANTEE_ENVIRONMENT] = judge_environment,
	[GUARANTEE_TERMINAL] = judge_alike,
	[GUARANTEE_PRIVILEGES] = judge_privileges,
	[GUARANTEE_CLEANUP] = judge_alike,
	[GUARANTEE_LIMITS] = judge_limits,
};
