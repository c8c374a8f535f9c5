/* SPDX-License-Identifier: Apache-2.0 */
/* A script on a shell's command line, of a run that is to be offline. It is looked at and nothing else: no word of it
 * is an error, and what is found is said in few words. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pinfold_policy policy = { .config_fd = -1 };
	struct pinfold_plan plan = { .policy = &policy };
	char *script = arena_strndup(&plan.arena, (const char *)data, size);

	if (size > 8192) {
		arena_free(&plan.arena);
		return 0;
	}
	policy.value[KEY_NETWORK].number = NETWORK_OFFLINE;
	policy.value[KEY_MODE].number = MODE_REQUIRED;
	policy.value[KEY_WORD_CHECK].number = WORD_CHECK_REFUSE;
	if (strv_add(&plan.arena, &plan.argv, "sh") < 0 || strv_add(&plan.arena, &plan.argv, "-c") < 0 ||
	    strv_add(&plan.arena, &plan.argv, script) < 0 || plan_words(&plan) < 0)
		abort();
	if (plan.needs_network && strlen(plan.needs_network) > 256)
		abort();
	arena_free(&plan.arena);
	return 0;
}
