/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The refusal: what is not held, why, and the one complete line that would accept it. People give a tool up that says
 * no without saying what yes would cost.
 */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "plan/plan.h"

/* A command that is longer is only called COMMAND in the hint, which has to stay one line; of longer options, only the
 * one that has to be added is named. */
enum { COMMAND_SHOWN = 200, OPTIONS_SHOWN = 240, TEXT_MAX = 4096 };

static bool is_open(const struct guarantee_result *result)
{
	return (result->state == STATE_WEAKER || result->state == STATE_ABSENT) && !result->accepted;
}

static size_t count_open(const struct pinfold_plan *plan, enum guarantee_state state)
{
	size_t count = 0;

	for (int i = 0; i < GUARANTEE_COUNT; i++)
		count += is_open(&plan->guarantee[i]) && plan->guarantee[i].state == state;
	return count;
}

static bool has_same_reason(const struct guarantee_result *a, const struct guarantee_result *b)
{
	if (!is_open(a) || !is_open(b) || a->state != b->state || !a->why || !b->why)
		return false;
	return strcmp(a->why, b->why) == 0;
}

static bool was_told(const struct pinfold_plan *plan, int guarantee)
{
	for (int i = 0; i < guarantee; i++)
		if (has_same_reason(&plan->guarantee[i], &plan->guarantee[guarantee]))
			return true;
	return false;
}

/* "writes", or "writes, secrets, services": all that are open for the reason of this one. Returns how many. */
static int add_alike(struct buf *text, const struct pinfold_plan *plan, int first)
{
	int count = 1;

	buf_str(text, guarantee_defs[first].name);
	for (int i = first + 1; i < GUARANTEE_COUNT; i++)
		if (has_same_reason(&plan->guarantee[first], &plan->guarantee[i])) {
			buf_printf(text, ", %s", guarantee_defs[i].name);
			count++;
		}
	return count;
}

static void add_reasons(struct buf *text, const struct pinfold_plan *plan)
{
	const char *separator = "refused: ";

	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		const struct guarantee_result *result = &plan->guarantee[i];
		bool is_one;

		if (!is_open(result) || was_told(plan, i))
			continue;
		buf_str(text, separator);
		is_one = add_alike(text, plan, i) == 1;
		buf_printf(text, " %s %s here", is_one ? "is" : "are", guarantee_state_names[result->state]);
		if (result->why)
			buf_printf(text, ": %s", result->why);
		separator = "; ";
	}
}

/* services,processes=absent for a command line; "services" for a file, which must not accept what is absent. */
static void add_names(struct buf *text, const struct pinfold_plan *plan, bool is_file)
{
	const char *separator = "";

	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		const struct guarantee_result *result = &plan->guarantee[i];
		bool is_absent = result->state == STATE_ABSENT;

		if (!is_open(result) || (is_file && is_absent))
			continue;
		buf_printf(text, is_file ? "%s\"%s\"" : "%s%s", separator, guarantee_defs[i].name);
		buf_str(text, is_absent ? "=absent" : "");
		separator = is_file ? ", " : ",";
	}
}

static void add_command(struct buf *text, const struct strv *argv)
{
	BUF_CLEANUP struct buf command = BUF_INIT(COMMAND_SHOWN);

	for (size_t i = 0; i < argv->n; i++) {
		buf_char(&command, ' ');
		buf_shell(&command, argv->v[i]);
	}
	buf_str(text, command.error || !command.data ? " COMMAND" : command.data);
}

/* With the options that were given: a line that left one out (--offline, a limit) would open more than it says. */
static void add_line(struct buf *text, const struct pinfold_plan *plan)
{
	BUF_CLEANUP struct buf options = BUF_INIT(OPTIONS_SHOWN);

	policy_options(plan->policy, &options);
	if (options.error) {
		buf_str(text, "to run anyway, add the option --accept ");
		add_names(text, plan, false);
		return;
	}
	buf_printf(text, "to run anyway: pinfold run%s --accept ", options.data ? options.data : "");
	add_names(text, plan, false);
	buf_str(text, " --");
	add_command(text, &plan->argv);
}

static const char *user_file(const struct pinfold_policy *policy)
{
	for (size_t i = 0; i < policy->file_count; i++)
		if (policy->files[i].layer == LAYER_USER)
			return policy->files[i].path;
	return NULL;
}

static void add_acceptance(struct buf *text, const struct pinfold_plan *plan)
{
	const char *file = user_file(plan->policy);

	add_line(text, plan);
	if (!file || count_open(plan, STATE_WEAKER) == 0)
		return;
	buf_str(text, count_open(plan, STATE_ABSENT) ? " (what is weaker, for good, in " : " (for good, in ");
	buf_printf(text, "%s: \"accept\": [", file);
	add_names(text, plan, true);
	buf_str(text, "])");
}

/* A courtesy: it would fail, but later and less clearly. */
static int refuse_words(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	int r = err_say(err, PINFOLD_BLOCKED, EPERM, "'%s' needs the network, which is off", plan->needs_network);

	err_hint(err, "run it with --network open, or let it try: --word-check off");
	return r;
}

int plan_refusal(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	BUF_CLEANUP struct buf reasons = BUF_INIT(TEXT_MAX);
	BUF_CLEANUP struct buf acceptance = BUF_INIT(TEXT_MAX);
	int r;

	if (plan->needs_network && policy_number(plan->policy, KEY_WORD_CHECK) == WORD_CHECK_REFUSE)
		return refuse_words(plan, err);
	if (policy_number(plan->policy, KEY_MODE) != MODE_REQUIRED ||
	    count_open(plan, STATE_WEAKER) + count_open(plan, STATE_ABSENT) == 0)
		return 0;
	/* A text that is too long is still a refusal: the buffers keep what fitted. */
	add_reasons(&reasons, plan);
	add_acceptance(&acceptance, plan);
	r = err_say(err, PINFOLD_REFUSED, EPERM, "%s", reasons.data ? reasons.data : "refused: out of memory");
	if (acceptance.data)
		err_hint(err, "%s", acceptance.data);
	return r;
}
