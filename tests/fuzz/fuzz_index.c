/* SPDX-License-Identifier: Apache-2.0 */
/* An index of git's. Whatever it says, no list that is found is over its limit, and every name has an end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/gitindex.h"
#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct strv *list)
{
	if (list->n > LIMIT_GIT_LINKS)
		abort();
	for (size_t i = 0; i < list->n; i++)
		if (strlen(list->v[i]) > 65536)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *names[] = { (char[]){ "a" }, (char[]){ ".vscode" } };
	const struct strv wanted = { names, 2, 2 };
	struct gitindex found = { .wanted = &wanted };
	struct arena arena = { 0 };
	int r = gitindex_read(&arena, data, size, &found);

	if (r == 0) {
		check(&found.links);
		check(&found.sparse);
		check(&found.shared);
		for (size_t i = 0; i < found.entry_count; i++)
			if (strlen(found.entries[i].name) > 65536 || found.entries[i].id_length > GITINDEX_ID)
				abort();
	}
	arena_free(&arena);
	return 0;
}
