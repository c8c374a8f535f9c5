/* SPDX-License-Identifier: Apache-2.0 */
/* What the printers of the plan share. */
#ifndef PLAN_PRINT_H
#define PLAN_PRINT_H

#include "plan/plan.h"

/* A word for each operation, which golden plans and other programs may hold on to; mount_op_names are for messages. */
extern const char *const print_op_words[OP_KIND_COUNT];

/* What is bound or laid under an overlay; NULL for every other operation. */
const struct plan_source *print_source(const struct pinfold_plan *plan, const struct plan_op *op);

#endif
