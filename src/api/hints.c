/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of the hints. */
#include "report/hints.h"

#include <errno.h>

#include "api/api.h"
#include "base/err.h"

int pinfold_hints(struct pinfold_outcome *outcome, enum pinfold_audience audience, const char *text, size_t length,
		  struct pinfold_error *err)
{
	struct hint_found found[TABLE_HINTS];
	struct strv hints = { 0 };

	if ((unsigned)audience >= PINFOLD_AUDIENCE_COUNT)
		return err_say(err, PINFOLD_USAGE, EINVAL, "%d is no audience of hints", (int)audience);
	if (hints_find(outcome, text, length, found) < 0)
		return err_oom(err);
	for (size_t i = 0; i < TABLE_HINTS; i++) {
		char *line;

		if (!found[i].is_found)
			continue;
		line = hints_text(&outcome->arena, i, &found[i], audience == PINFOLD_FOR_AGENT);
		if (strv_add_owned(&outcome->arena, &hints, line) < 0)
			return err_oom(err);
	}
	outcome->hints = hints;
	return (int)hints.n;
}

const char *pinfold_outcome_hint(const struct pinfold_outcome *outcome, size_t index)
{
	return index < outcome->hints.n ? outcome->hints.v[index] : NULL;
}
