/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protected files that git tracks (F012). git goes on when it cannot write one of them: `git switch` moves HEAD, prints
 * an error among others, and ends with 0, with a tree of two commits. So it is said before the start where the words of
 * the command have git change files, and after the run what has come of it (run/check_tracked.c).
 */
#ifndef SURVEY_TRACKED_H
#define SURVEY_TRACKED_H

#include "survey/survey.h"

/* What of the checkout is protected and there, below its top: *ret_top NULL: there is none. 0 or -ENOMEM. */
int tracked_wanted(const struct survey *survey, struct arena *arena, const char **ret_top, struct strv *ret);

/* "a, b and 3 more" */
enum { TRACKED_SHOWN = 5 };
void tracked_list(struct buf *out, const struct strv *names);

/* Fills survey->tracked and the notice about them, where the command's words ask for it; what cannot be read is none.
 * 0 or -ENOMEM. */
int survey_take_tracked(struct survey *survey, const struct pinfold_policy *policy, char *const argv[]);

#endif
