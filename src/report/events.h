/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of events of a run: JSON lines, `event` and `time` first (docs/events.md). */
#ifndef REPORT_EVENTS_H
#define REPORT_EVENTS_H

#include "base/buf.h"
#include "plan/plan.h"
#include "report/outcome.h"

/* Writes what the supervisor says when the pen is ready and before the command starts, into plan->event: prepared,
 * since a supervisor may allocate nothing. For each plan anew. 0 or -ENOMEM. */
int events_prepare(struct pinfold_plan *plan);

/* What is told afterwards: hints, violations, a limit, the end; first that no pen was made, where none was. */
int events_after(const struct pinfold_outcome *outcome, struct buf *out);

#endif
