/* SPDX-License-Identifier: Apache-2.0 */
/* An outcome is made once, after the run, by copying the few things that the record needs. */
#include "report/outcome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/report.h"

static int copy_list(struct arena *arena, char *const *from, size_t count, struct strv *ret)
{
	for (size_t i = 0; i < count; i++)
		if (strv_add(arena, ret, from[i]) < 0)
			return -1;
	return 0;
}

/* NULL stays NULL and is no failure. */
static int copy_text(struct arena *arena, const char *from, const char **ret)
{
	*ret = from ? arena_strdup(arena, from) : NULL;
	return from && !*ret ? -1 : 0;
}

static const char *const *copy_vector(struct arena *arena, const struct strv *list)
{
	const char **copy = ARENA_ARRAY(arena, const char *, list->n + 1);

	for (size_t i = 0; copy && i < list->n; i++)
		if (copy_text(arena, list->v[i], &copy[i]) < 0)
			return NULL;
	return copy;
}

static int copy_guarantees(struct pinfold_outcome *outcome, const struct pinfold_plan *plan)
{
	struct arena *arena = &outcome->arena;

	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		const struct guarantee_result *from = &plan->guarantee[i];
		struct outcome_guarantee *to = &outcome->guarantee[i];

		to->state = from->state;
		to->accepted = from->accepted;
		to->fact = from->fact;
		to->by = copy_vector(arena, &from->by);
		to->notes = copy_vector(arena, &from->notes);
		if (!to->by || !to->notes || copy_text(arena, from->why, &to->why) < 0 ||
		    copy_text(arena, from->accepted_by, &to->accepted_by) < 0)
			return -1;
	}
	return 0;
}

static int copy_files(struct pinfold_outcome *outcome, const struct pinfold_policy *policy)
{
	struct arena *arena = &outcome->arena;

	outcome->files = ARENA_ARRAY(arena, struct outcome_file, policy->file_count + 1);
	for (size_t i = 0; outcome->files && i < policy->file_count; i++) {
		const struct policy_file *from = &policy->files[i];
		struct outcome_file *to = &outcome->files[outcome->file_count];

		if (!from->exists)
			continue;
		to->layer = report_layer_names[from->layer];
		to->is_project = from->layer == LAYER_PROJECT;
		to->is_trusted = from->trusted;
		if (copy_text(arena, from->path, &to->path) < 0 || copy_text(arena, from->sha256, &to->sha256) < 0)
			return -1;
		outcome->file_count++;
	}
	return outcome->files ? 0 : -1;
}

/* A project's key that was left out is a warning of the record: it was asked for and is not in force. */
static int add_ignored(struct pinfold_outcome *outcome, const struct pinfold_policy *policy)
{
	for (size_t i = 0; i < policy->ignored_count; i++) {
		const struct policy_ignored *ignored = &policy->ignored[i];
		char *line = arena_printf(&outcome->arena,
					  "%s:%d: '%s' loosens and was left out: the file is not trusted",
					  ignored->file, ignored->line, ignored->key);

		if (strv_add_owned(&outcome->arena, &outcome->warnings, line) < 0)
			return -1;
	}
	return 0;
}

static int copy_policy(struct pinfold_outcome *outcome, const struct pinfold_policy *policy)
{
	struct arena *arena = &outcome->arena;

	outcome->mode = policy_keys[KEY_MODE].words[policy_number(policy, KEY_MODE)];
	if (copy_text(arena, policy->cwd, &outcome->cwd) < 0 ||
	    copy_text(arena, policy->worktree, &outcome->worktree) < 0 ||
	    copy_text(arena, policy->sha256, &outcome->policy_sha256) < 0 || copy_files(outcome, policy) < 0)
		return -1;
	return add_ignored(outcome, policy);
}

static int copy_plan(struct pinfold_outcome *outcome, const struct pinfold_plan *plan)
{
	struct arena *arena = &outcome->arena;

	outcome->has_plan = true;
	outcome->backend = backend_defs[plan->backend].name;
	outcome->landlock_abi = plan->host->landlock_abi;
	if (copy_policy(outcome, plan->policy) < 0 || copy_guarantees(outcome, plan) < 0 ||
	    copy_text(arena, plan->host->kernel, &outcome->kernel) < 0 ||
	    copy_list(arena, plan->reach.words.v, plan->reach.words.n, &outcome->reach) < 0 ||
	    copy_list(arena, plan->publish.words.v, plan->publish.words.n, &outcome->publish) < 0 ||
	    copy_list(arena, plan->removed.v, plan->removed.n, &outcome->removed) < 0 ||
	    copy_list(arena, plan->argv.v, plan->argv.n, &outcome->command) < 0)
		return -1;
	return copy_list(arena, plan->warnings.v, plan->warnings.n, &outcome->warnings);
}

static int copy_argv(struct pinfold_outcome *outcome, char *const argv[])
{
	size_t count = 0;

	while (argv && argv[count])
		count++;
	return copy_list(&outcome->arena, argv, count, &outcome->command);
}

/* A command that ends well pays nothing for hints. */
static int copy_evidence(struct pinfold_outcome *outcome, const struct pinfold_plan *plan)
{
	if (!plan || !outcome->result.ran || outcome_status(&outcome->result) == 0)
		return 0;
	return hints_evidence(&outcome->evidence, plan, &outcome->arena);
}

struct pinfold_outcome *outcome_new(void)
{
	return calloc(1, sizeof(struct pinfold_outcome));
}

/* What there was no memory left for is said, unless something else went wrong first. */
static void settle_shortage(struct pinfold_outcome *outcome)
{
	if (outcome->result.error.code == PINFOLD_OK)
		err_oom(&outcome->result.error);
}

void outcome_fill(struct pinfold_outcome *outcome, const struct pinfold_plan *plan, char *const argv[],
		  const struct run_result *result)
{
	outcome->result = *result;
	if ((plan ? copy_plan(outcome, plan) : copy_argv(outcome, argv)) == 0 && copy_evidence(outcome, plan) == 0 &&
	    !outcome->arena.is_short)
		return;
	outcome->has_plan = false; /* half of its guarantees would read as all */
	outcome->evidence = (struct hint_evidence){ 0 };
	settle_shortage(outcome);
}

/* Under `fail` a run that would end well does not. What could not be compared counts: whoever relies on the status must
 * not take it for clean. */
static void settle_violation(struct run_result *result, const struct check_result *check)
{
	if (!result->ran || result->code != 0 || result->timed_out || result->error.code != PINFOLD_OK)
		return;
	if (check->count)
		err_say(&result->error, PINFOLD_VIOLATION, 0, "what must not change changed during the run (%zu)",
			check->count);
	else if (!check->is_complete)
		err_say(&result->error, PINFOLD_VIOLATION, 0, "the check after the run could not be completed");
}

/* The supervisor has ended the run because of it. */
static int add_unguarded(struct pinfold_outcome *outcome, const struct pinfold_plan *plan)
{
	const struct run_result *result = &outcome->result;
	struct check_result *check = &outcome->check;
	struct check_violation *v, lost;

	if (!result->unguarded || result->unguarded > plan->op_count)
		return 0;
	v = arena_grow(&outcome->arena, check->violations, check->count, check->count + 1, sizeof(*v), &check->cap);
	if (!v)
		return -ENOMEM;
	check->violations = v;
	lost = (struct check_violation){
		.path = arena_strdup(&outcome->arena, plan->ops[result->unguarded - 1].path),
		.what = arena_printf(&outcome->arena,
				     "lost its cover to the host, which cannot be put back (%s): the run was ended",
				     strerror(result->unguarded_errno)),
	};
	if (!lost.path || !lost.what)
		return -ENOMEM;
	v[check->count++] = lost;
	return 0;
}

static int warn_of_marking(struct pinfold_outcome *outcome)
{
	struct arena *arena = &outcome->arena;

	if (!outcome->result.marking_errno)
		return 0;
	return strv_add_owned(arena, &outcome->warnings,
			      arena_printf(arena, "files that the host moved away were not seen (inotify: %s)",
					   strerror(outcome->result.marking_errno)));
}

static int add_notices(struct pinfold_outcome *outcome)
{
	const struct strv *notices = &outcome->check.notices;
	int r = 0;

	for (size_t i = 0; r == 0 && i < notices->n; i++) {
		r = strv_add(&outcome->arena, &outcome->notices, notices->v[i]);
		if (r == 0)
			r = strv_add(&outcome->arena, &outcome->warnings, notices->v[i]);
	}
	return r;
}

void outcome_check(struct pinfold_outcome *outcome, const struct pinfold_plan *plan)
{
	struct check_result *check = &outcome->check;
	int r = check_after(plan, &outcome->arena, check);

	for (size_t i = 0; r == 0 && i < check->warnings.n; i++)
		r = strv_add(&outcome->arena, &outcome->warnings, check->warnings.v[i]);
	if (r == 0)
		r = add_unguarded(outcome, plan);
	if (r == 0)
		r = warn_of_marking(outcome);
	if (r == 0)
		r = add_notices(outcome);
	if (outcome->arena.is_short)
		r = -ENOMEM;
	if (r < 0)
		check->is_complete = false;
	if (policy_number(plan->policy, KEY_ON_VIOLATION) == VIOLATION_FAIL)
		settle_violation(&outcome->result, check);
	if (r < 0)
		settle_shortage(outcome);
}

void outcome_destroy(struct pinfold_outcome *outcome)
{
	arena_free(&outcome->arena);
	free(outcome);
}

int outcome_status(const struct run_result *result)
{
	if (!result->ran && result->error.code == PINFOLD_NOT_FOUND)
		return 127;
	if (!result->ran && result->error.code == PINFOLD_NOT_EXECUTABLE)
		return 126;
	if (result->timed_out)
		return 124;
	if (!result->ran)
		return 125;
	if (result->signal)
		return 128 + result->signal;
	if (result->code == 0 && result->error.code == PINFOLD_VIOLATION)
		return 123;
	/* It ran, and how it ended is not known: the supervisor failed. */
	return result->code >= 0 ? result->code : 125;
}
