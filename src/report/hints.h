/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hints: why a run may have failed that failed in the pen.
 *
 * The plan is the evidence. What it has made impossible is copied once the command has failed, since an outcome
 * outlives its plan; what the command has printed only says which of these things it met. So "permission denied" is no
 * denial of ours (F201), and no word of the output gets into a hint: the texts are those of data/hints.tsv, and a path
 * in them is the plan's.
 */
#ifndef REPORT_HINTS_H
#define REPORT_HINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/strv.h"
#include "base/tables.h"
#include "plan/plan.h"

/* What a place is to the command. Of two that hold a path the deeper one decides, of two that are one the later. */
enum hint_place_kind {
	PLACE_OPEN,      /* it can write there, or no option would help */
	PLACE_SHOWN,     /* it can only read there */
	PLACE_HIDDEN,    /* and there is something */
	PLACE_PROTECTED,
	PLACE_REGISTERED, /* the registrations of linked worktrees */
	PLACE_READ_ONLY,  /* the worktree */
	PLACE_CLOSED,     /* the host's temporary places, where the run has its own elsewhere */
	PLACE_KIND_COUNT
};

struct hint_place {
	const char *path;
	size_t length;
	enum hint_place_kind kind;
};

struct hint_evidence {
	bool holds[EVIDENCE_COUNT]; /* of the whole run; of paths: such an error would be the pen's */
	struct strv sockets;        /* of those in the table: there, and closed */
	const char **secrets;       /* for each row of the words: the hidden path that it names, or NULL */
	struct hint_place *places;
	size_t place_count, place_cap;
	const char *bases[2];       /* where relative paths begin: the working directory, and git's, the worktree */
	const char *home;
};

/* What the plan says, for a command that has failed. 0 or -ENOMEM. */
int hints_evidence(struct hint_evidence *evidence, const struct pinfold_plan *plan, struct arena *arena);

/* The place that decides about a path (normal); NULL: the rest of the machine, which can only be read. */
const struct hint_place *hints_place(const struct hint_evidence *evidence, const char *path);
/* Something protected below it; NULL: there is none. */
const struct hint_place *hints_pinned(const struct hint_evidence *evidence, const char *path);

struct hint_found {
	bool is_found;
	const char *path; /* the plan's, where the text of the cause names one */
};

struct pinfold_outcome;

/* Which causes of the table explain what the command has printed (may be NULL). 0 or -ENOMEM. */
int hints_find(const struct pinfold_outcome *outcome, const char *text, size_t length,
	       struct hint_found found[TABLE_HINTS]);
/* The line for a cause; NULL when out of memory. */
char *hints_text(struct arena *arena, size_t cause, const struct hint_found *found, bool for_agent);

#endif
