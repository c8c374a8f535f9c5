/* SPDX-License-Identifier: Apache-2.0 */
/* What the judges of a backend say, each about one guarantee and only by what the plan does. */
#ifndef PLAN_JUDGING_H
#define PLAN_JUDGING_H

#include "plan/plan.h"

typedef void judge_function(struct judging *j);

extern judge_function *const judges_namespaces[GUARANTEE_COUNT]; /* guarantees.c */
extern judge_function *const judges_bubblewrap[GUARANTEE_COUNT]; /* guarantees_bubblewrap.c */
extern judge_function *const judges_landlock[GUARANTEE_COUNT];   /* guarantees_landlock.c */

struct judging {
	struct pinfold_plan *plan;
	struct guarantee_result *result;
	int error;
};

void held_by(struct judging *j, const char *mechanism);
void note(struct judging *j, const char *text);
/* The state only gets worse; reasons add up. */
void open_part(struct judging *j, enum guarantee_state state, const char *why);
void judge_accept(struct judging *j, const struct policy_source *source);
bool has_fact(const struct judging *j, enum host_fact fact);
const char *fact_text(struct judging *j, enum host_fact fact);

/* What no backend changes. */
void judge_fitness(struct judging *j); /* of the worktree and the write paths */
void judge_aliases(struct judging *j); /* other mounts of the homes */
void judge_environment(struct judging *j);

#endif
