/* SPDX-License-Identifier: Apache-2.0 */
/* Which rule it is that a path falls under, whatever the kernel makes of it: explain's other half. */
#ifndef PLAN_EXPLAIN_RULE_H
#define PLAN_EXPLAIN_RULE_H

#include "plan/explain.h"

/* In the order in which they lie over each other at the same path (cover.c). */
enum rule_kind {
	RULE_REST,
	RULE_PRIVATE,
	RULE_SERVICE,
	RULE_READ,
	RULE_SOCKET,
	RULE_CACHE,
	RULE_FIXED,
	RULE_WRITE,
	RULE_PROTECT,
	RULE_HIDE
};

struct rule {
	enum rule_kind kind;
	size_t depth;
	const char *word, *text, *source;
	bool is_absent; /* a name that is protected and was not there at the start */
};

/* path: absolute, no link on the way. */
struct rule explain_find_rule(const struct pinfold_plan *plan, const char *path, enum explain_right right);
bool explain_rule_denies(const struct pinfold_plan *plan, const struct rule *rule, enum explain_right right);

/* "built in", a file with its line, "command line": where the value of the key, or of a list's item, comes from. */
const char *explain_source_name(const struct policy_source *source);
const char *explain_source_of(const struct pinfold_plan *plan, enum policy_key key);

#endif
