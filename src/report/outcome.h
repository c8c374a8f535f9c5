/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcome: what happened, with what the record says of policy, plan and host. Everything is copied when the run has
 * ended, since an outcome outlives its plan; JSON is made only when somebody asks for it.
 */
#ifndef REPORT_OUTCOME_H
#define REPORT_OUTCOME_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/strv.h"
#include "pinfold.h"
#include "plan/plan.h"
#include "report/hints.h"
#include "run/check.h"
#include "run/run.h"

struct outcome_guarantee {
	enum guarantee_state state;
	const char *const *by, *const *notes; /* NULL-terminated */
	const char *why, *accepted_by;
	bool accepted;
	int fact; /* the host fact that is missing for it, or -1 */
};

struct outcome_file {
	const char *layer, *path, *sha256;
	bool is_trusted, is_project;
};

struct pinfold_outcome {
	struct arena arena;
	struct run_result result;
	struct check_result check; /* in the arena */
	struct strv command, warnings, removed, reach, publish;
	struct strv notices; /* of the warnings those that tell what became of the command's work */
	bool has_dropped;    /* a change of git's configuration was not kept */
	struct hint_evidence evidence; /* where the command has failed */
	struct strv hints;             /* that were asked for */
	const char *cwd, *worktree, *mode, *backend, *policy_sha256; /* NULL: it did not come so far */
	struct outcome_file *files;
	size_t file_count;
	bool has_plan;
	struct outcome_guarantee guarantee[GUARANTEE_COUNT];
	const char *kernel;
	int landlock_abi;
};

/* NULL when out of memory. Made before the run: afterwards there must be one, since how the command ended is in it. */
struct pinfold_outcome *outcome_new(void);
/* plan and argv may be NULL; with a plan, argv is the plan's. Where there is not enough memory the result is kept, and
 * its error says so. */
void outcome_fill(struct pinfold_outcome *outcome, const struct pinfold_plan *plan, char *const argv[],
		  const struct run_result *result);
void outcome_destroy(struct pinfold_outcome *outcome);
/* The check after the run, and what it makes of the result; without enough memory it is not complete. */
void outcome_check(struct pinfold_outcome *outcome, const struct pinfold_plan *plan);
/* The exit status of the command line. */
int outcome_status(const struct run_result *result);

/* The record as JSON, with a newline at its end. */
int record_json(const struct pinfold_outcome *outcome, struct buf *out);

#endif
