/* SPDX-License-Identifier: Apache-2.0 */
/* The most specific of what was granted, protected and hidden around the path decides, as in cover.c; at the same path
 * the later kind. */
#include "plan/explain_rule.h"

#include <string.h>

#include "base/path.h"
#include "plan/internal.h"

struct deciding {
	const char *path;
	bool is_change; /* writing, creating, renaming: protection counts, too */
	struct rule best;
};

static void consider(struct deciding *deciding, enum rule_kind kind, const char *place, const char *word,
		     const char *text, const char *source)
{
	struct rule *best = &deciding->best;
	size_t depth = path_depth(place) + 1;

	if (!path_is_in(deciding->path, place) || depth < best->depth || (depth == best->depth && kind < best->kind))
		return;
	*best = (struct rule){ kind, depth, word, text, source, false };
}

static void consider_grants(struct deciding *deciding, enum rule_kind kind, const char *word,
			    const struct survey_grant *grants, size_t n)
{
	for (size_t i = 0; i < n; i++)
		consider(deciding, kind, grants[i].path, word, grants[i].path, grants[i].source);
}

const char *explain_source_name(const struct policy_source *source)
{
	return source->file ? source->file : source->layer == LAYER_BUILTIN ? "built in" : "command line";
}

const char *explain_source_of(const struct pinfold_plan *plan, enum policy_key key)
{
	return explain_source_name(&plan->policy->value[key].source);
}

static void consider_worktree(struct deciding *deciding, const struct pinfold_plan *plan)
{
	if (policy_number(plan->policy, KEY_READ_ONLY))
		consider(deciding, RULE_FIXED, plan->survey.worktree, "read_only", "",
			 explain_source_of(plan, KEY_READ_ONLY));
	else
		consider(deciding, RULE_WRITE, plan->survey.worktree, "worktree", "",
			 explain_source_of(plan, KEY_WORKTREE));
}

/* What the pen has of its own stands in the plan's operations. */
static void consider_private(struct deciding *deciding, const struct pinfold_plan *plan)
{
	const struct survey *survey = &plan->survey;

	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (op->kind == OP_PROC || op->kind == OP_SYSFS || op->kind == OP_DEVPTS || op->kind == OP_MQUEUE ||
		    (op->kind == OP_BIND && op->source < 0 && !op->is_private && path_depth(op->path) <= 2))
			consider(deciding, RULE_PRIVATE, op->path, "the pen's own", op->path, "built in");
	}
	for (size_t i = 0; i < plan->copy_count; i++)
		consider(deciding, RULE_PRIVATE, plan->copies[i].shown, "copy of", plan->copies[i].config->path,
			 "built in");
	if (survey->tmp) {
		consider(deciding, RULE_WRITE, "/tmp", "tmp", survey->tmp, explain_source_of(plan, KEY_TMP));
		consider(deciding, RULE_WRITE, "/var/tmp", "tmp", survey->tmp, explain_source_of(plan, KEY_TMP));
	}
	for (size_t i = 0; i < survey->home_count; i++)
		if (policy_number(plan->policy, KEY_HOME) == HOME_HIDDEN)
			consider(deciding, RULE_PRIVATE, survey->home[i].path, "home", "hidden",
				 explain_source_of(plan, KEY_HOME));
}

/* Names that nothing has yet, and that the check after the run does not let stay. */
static void consider_absent(struct deciding *deciding, const struct survey *survey)
{
	for (size_t i = 0; i < survey->watch_count; i++) {
		const struct survey_watch *watch = &survey->watches[i];
		const char *below = watch->kind == WATCH_ABSENT ?
					    path_below(deciding->path, survey->watch_roots[watch->root].path) :
					    NULL;
		size_t length = strlen(watch->below);

		if (!below || !length || strncmp(below, watch->below, length) != 0 ||
		    (below[length] && below[length] != '/'))
			continue;
		deciding->best = (struct rule){ RULE_PROTECT, path_depth(deciding->path) + 1, "protect",
						watch->rule ? watch->rule : watch->below, "built in", true };
	}
}

static void consider_protected(struct deciding *deciding, const struct survey *survey)
{
	for (size_t i = 0; deciding->is_change && i < survey->protected_count; i++) {
		const struct survey_protected *protected = &survey->protected[i];

		consider(deciding, RULE_PROTECT, protected->path, "protect", protected->rule, protected->source);
		if (deciding->best.text == protected->rule)
			deciding->best.is_absent = protected->kind == PROTECTED_ABSENT;
	}
}

static bool is_change(enum explain_right right)
{
	return right == RIGHT_WRITE || right == RIGHT_CREATE || right == RIGHT_RENAME;
}

struct rule explain_find_rule(const struct pinfold_plan *plan, const char *path, enum explain_right right)
{
	const struct survey *survey = &plan->survey;
	struct deciding deciding = { .path = path, .is_change = is_change(right) };

	consider(&deciding, RULE_REST, "/", "everything else", plan->backend == BACKEND_NONE ? "open" : "read-only",
		 "built in");
	consider_private(&deciding, plan);
	for (size_t i = 0; i < survey->service_directories.n; i++)
		consider(&deciding, RULE_SERVICE, survey->service_directories.v[i], "services",
			 survey->service_directories.v[i], "built in");
	for (size_t i = 0; i < survey->closed.n; i++)
		consider(&deciding, RULE_SERVICE, survey->closed.v[i], "for root alone", survey->closed.v[i],
			 "built in");
	consider_grants(&deciding, RULE_READ, "toolchain", survey->tools, survey->tool_count);
	consider_grants(&deciding, RULE_READ, "read", survey->reads, survey->read_count);
	consider_grants(&deciding, RULE_SOCKET, "socket", survey->sockets, survey->socket_count);
	consider_grants(&deciding, RULE_READ, "device", survey->devices, survey->device_count);
	for (size_t i = 0; i < survey->cache_count; i++)
		consider(&deciding, RULE_CACHE, survey->caches[i].tool, "cache", survey->caches[i].name, "built in");
	consider_worktree(&deciding, plan);
	consider_grants(&deciding, RULE_WRITE, "write", survey->writes, survey->write_count);
	consider_protected(&deciding, survey);
	if (deciding.is_change)
		consider_absent(&deciding, survey);
	for (size_t i = 0; i < survey->hidden_count; i++)
		if (survey->hidden[i].kind != HIDDEN_CUT)
			consider(&deciding, RULE_HIDE, survey->hidden[i].path, "hide", survey->hidden[i].rule,
				 survey->hidden[i].source);
	return deciding.best;
}

bool explain_rule_denies(const struct pinfold_plan *plan, const struct rule *rule, enum explain_right right)
{
	switch (rule->kind) {
	case RULE_HIDE:
	case RULE_SERVICE:
		return true;
	case RULE_REST:
		return plan->backend != BACKEND_NONE && (is_change(right) || right == RIGHT_CONNECT);
	case RULE_READ:
		return is_change(right) || right == RIGHT_CONNECT;
	case RULE_SOCKET:
	case RULE_FIXED:
	case RULE_PROTECT:
		return is_change(right);
	default:
		return false;
	}
}
