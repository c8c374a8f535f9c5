/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the command (E073, E075, F173, F174): pure, over data/environment.tsv. */
#ifndef PLAN_ENVIRONMENT_H
#define PLAN_ENVIRONMENT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/strv.h"
#include "policy/policy.h"

struct environment_request {
	const struct strv *caller;            /* NAME=VALUE */
	uint64_t mode;                        /* ENV_LIST, ENV_SCRUB, ENV_ALL */
	const struct policy_item *items;      /* --env: NAME (the caller's value, whatever the mode) or NAME=VALUE */
	size_t item_count;
	bool offline;
	/* Is this absolute path visible inside? For code-loader variables whose value names a path. NULL: all are. */
	bool (*is_visible)(void *arg, const char *path);
	void *arg;
};

struct environment_result {
	struct strv environment; /* sorted as the caller's, then what was added */
	struct strv removed;     /* names only */
};

int environment_make(struct arena *arena, const struct environment_request *request, struct environment_result *ret);

#endif
