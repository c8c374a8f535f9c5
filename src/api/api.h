/* SPDX-License-Identifier: Apache-2.0 */
/* What the public functions share. They are thin: each checks what a caller may get wrong and hands over. */
#ifndef API_API_H
#define API_API_H

#include "base/buf.h"
#include "pinfold.h"
#include "plan/plan.h"
#include "report/outcome.h"
#include "run/run.h"

/* Hands the text of a buffer over: 0 with *ret; else r, or the error that stuck to the buffer, which is freed. */
int api_give(struct buf *out, int r, char **ret, struct pinfold_error *err);

/* NULL-terminated, never NULL itself. */
const char *const *api_list(const struct strv *list);

#endif
