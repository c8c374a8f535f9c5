/* SPDX-License-Identifier: Apache-2.0 */
/* What a command prints. Whatever it is, a hint is one of the table's, and names nothing but what the plan names. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct hint_place places[] = {
	{ "/home/kim/.ssh", 14, PLACE_HIDDEN },
	{ "/src/site", 9, PLACE_OPEN },
	{ "/src/site/.git/worktrees", 24, PLACE_REGISTERED },
	{ "/src/site/.vscode/settings.json", 31, PLACE_PROTECTED },
	{ "/src/other", 10, PLACE_READ_ONLY },
};
enum { PLACES = sizeof(places) / sizeof(places[0]) };

static bool is_of_the_plan(const char *path)
{
	for (int i = 0; i < PLACES; i++)
		if (path == places[i].path)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pinfold_outcome outcome = { .result = { .ran = true, .code = 1 } };
	struct hint_evidence *evidence = &outcome.evidence;
	struct hint_found found[TABLE_HINTS];

	memset(evidence->holds, true, sizeof(evidence->holds));
	evidence->places = places;
	evidence->place_count = PLACES;
	evidence->bases[0] = "/src/site/app";
	evidence->bases[1] = "/src/site";
	evidence->home = "/home/kim";
	if (hints_find(&outcome, (const char *)data, size, found) < 0)
		abort();
	for (size_t i = 0; i < TABLE_HINTS; i++) {
		if (found[i].path && !is_of_the_plan(found[i].path))
			abort();
		if (found[i].is_found && !hints_text(&outcome.arena, i, &found[i], size & 1))
			abort();
	}
	arena_free(&outcome.arena);
	return 0;
}
