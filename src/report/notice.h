/* SPDX-License-Identifier: Apache-2.0 */
/* The few fixed sentences about a plan that belong into the description of an agent's tool. */
#ifndef REPORT_NOTICE_H
#define REPORT_NOTICE_H

#include "base/buf.h"
#include "plan/plan.h"

/* A sentence a line. 0, -ENOMEM or -E2BIG. */
int notice_write(const struct pinfold_plan *plan, struct buf *out);

#endif
