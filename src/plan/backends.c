/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backends, and the choice of one.
 *
 *   `auto` takes the first of namespaces, bwrap, landlock whose needs this machine has not disproved.
 *   A backend that is named is taken, or the run is refused with what stands in its way.
 *   Where none is possible nothing is held, and the refusal says why for each.
 *
 * Each holds everything the next one does and more, so that the order is the choice. What a machine cannot do is
 * mostly found out by the set-up of a run: a step that fails disproves a fact, and the plan is made once more.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "plan/internal.h"
#include "plan/judging.h"

_Static_assert((int)BACKEND_OWN_NAMESPACES == (int)BACKEND_NAMESPACES &&
	       (int)BACKEND_BUBBLEWRAP == (int)BACKEND_BWRAP &&
	       (int)BACKEND_ONLY_LANDLOCK == (int)BACKEND_LANDLOCK && (int)BACKEND_KIND_COUNT == (int)BACKEND_COUNT,
	       "the words of the key are the backends");

#define NEEDS(...) ((const enum host_fact[]){ __VA_ARGS__, FACT_COUNT })

const struct backend_def backend_defs[BACKEND_KIND_COUNT] = {
	[BACKEND_NONE] = { .name = "none" },
	[BACKEND_OWN_NAMESPACES] = { "namespaces", NEEDS(FACT_NAMESPACES, FACT_MOUNTS), plan_namespaces,
				     judges_namespaces },
	[BACKEND_BUBBLEWRAP] = { "bwrap", NEEDS(FACT_BWRAP), plan_namespaces, judges_bubblewrap },
	[BACKEND_ONLY_LANDLOCK] = { "landlock", NEEDS(FACT_LANDLOCK), plan_landlock_alone,
				    judges_landlock },
};

/* The fact that rules it out, or FACT_COUNT. */
static enum host_fact missing_fact(const struct pinfold_plan *plan, const struct backend_def *def)
{
	const enum host_fact *fact = def->needs;

	while (*fact != FACT_COUNT && plan->host->fact[*fact].state != FACT_NO)
		fact++;
	return *fact;
}

const char *plan_fact_text(struct pinfold_plan *plan, enum host_fact fact)
{
	const struct host_finding *finding = &plan->host->fact[fact];

	return arena_printf(&plan->arena, "cannot %s%s%s: %s", finding->step, *finding->object ? " " : "",
			    finding->object, strerror(finding->errnum));
}

const char *plan_no_backend(struct pinfold_plan *plan)
{
	const char *text = "";

	if (policy_number(plan->policy, KEY_MODE) == MODE_OFF)
		return "the command runs without a pen (mode off)";
	for (int i = BACKEND_NONE + 1; text && i < BACKEND_KIND_COUNT; i++) {
		const char *missing = plan_fact_text(plan, missing_fact(plan, &backend_defs[i]));

		text = missing ? arena_printf(&plan->arena, "%s%sno %s (%s)", text, *text ? ", " : "",
					      backend_defs[i].name, missing) : NULL;
	}
	return text;
}

static int refuse_named(struct pinfold_plan *plan, const struct backend_def *def, struct pinfold_error *err)
{
	enum host_fact fact = missing_fact(plan, def);
	const char *text = plan_fact_text(plan, fact);

	return text ? err_say(err, PINFOLD_UNAVAILABLE, plan->host->fact[fact].errnum,
			      "the backend '%s' is not possible here: %s", def->name, text) :
		      err_oom(err);
}

/* What is refused to root is refused to what root starts as well. What a kernel does not know, bubblewrap may not
 * need. */
static const struct host_finding *refused_to_root(const struct pinfold_plan *plan)
{
	const struct pinfold_host *host = plan->host;

	if (!host->is_root)
		return NULL;
	if (host->fact[FACT_NAMESPACES].state == FACT_NO)
		return &host->fact[FACT_NAMESPACES];
	return host->fact[FACT_MOUNTS].state == FACT_NO && host->fact[FACT_MOUNTS].errnum != ENOSYS ?
		       &host->fact[FACT_MOUNTS] :
		       NULL;
}

/* bubblewrap is looked for on the disk when its turn comes, and not before. */
static int look_for_programs(struct pinfold_plan *plan, enum backend backend, struct pinfold_error *err)
{
	const struct host_finding *refused = refused_to_root(plan);
	const struct survey *survey = &plan->survey;
	int r;

	if (backend != BACKEND_BUBBLEWRAP)
		return 0;
	r = survey_find_bubblewrap(&plan->survey, plan->policy->value[KEY_BWRAP].text, err);
	if (r == 0 && survey->unusable.path)
		host_learn(plan->host, FACT_BWRAP, "use", survey->unusable.path, survey->unusable.errnum);
	else if (r == 0 && refused)
		host_learn(plan->host, FACT_BWRAP, refused->step, refused->object, refused->errnum);
	return r;
}

int plan_choose_backend(struct pinfold_plan *plan, struct pinfold_error *err)
{
	const int named = (int)policy_number(plan->policy, KEY_BACKEND);

	plan->backend = BACKEND_NONE;
	if (policy_number(plan->policy, KEY_MODE) == MODE_OFF)
		return 0;
	for (int i = BACKEND_NONE + 1; plan->backend == BACKEND_NONE && i < BACKEND_KIND_COUNT; i++) {
		int r = named == BACKEND_AUTO || named == i ? look_for_programs(plan, (enum backend)i, err) : -ENOENT;

		if (r == 0 && missing_fact(plan, &backend_defs[i]) == FACT_COUNT)
			plan->backend = (enum backend)i;
		else if (r < 0 && r != -ENOENT)
			return r;
	}
	if (named != BACKEND_AUTO && plan->backend == BACKEND_NONE)
		return refuse_named(plan, &backend_defs[named], err);
	return 0;
}
