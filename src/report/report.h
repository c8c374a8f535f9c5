/* SPDX-License-Identifier: Apache-2.0 */
/* Readouts that are neither the plan's nor the policy's own. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/buf.h"
#include "host/host.h"
#include "pinfold.h"
#include "policy/policy.h"

extern const char *const report_layer_names[LAYER_COUNT];

/* The value of PINFOLD_STATUS, checked, written again. 1: it says confined, 0: it says not; or an error. */
int status_read(const char *text, enum pinfold_format format, struct buf *out, struct pinfold_error *err);

struct effect_context {
	const struct pinfold_policy *policy;
	const struct pinfold_host *host; /* may be NULL */
};

/* Why a key has no effect with this policy on this host; NULL where it has one. arg: a struct effect_context. */
const char *effect_of(void *arg, enum policy_key key);

/* `config paths --json`. */
int paths_json(const struct pinfold_policy *policy, struct buf *out);

#endif
