/* SPDX-License-Identifier: Apache-2.0 */
/* A list of trusted project files. Whatever it says, a project is trusted only where its digest and its worktree stand
 * there, one of them at least in plain letters. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/internal.h"

#define DIGEST "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A letter may be written as an escape. */
static bool may_have(const uint8_t *data, size_t size, const char *text)
{
	return memmem(data, size, text, strlen(text)) || memchr(data, '\\', size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	json_t *list = NULL;
	int line;
	int r = trust_parse((const char *)data, size, &list, &line);

	if (r == 0 && !json_is_array(list))
		abort();
	if (r < 0 && line < -1)
		abort();
	if (r == 0 && trust_list_has(&arena, list, "/src/site", DIGEST) && !may_have(data, size, DIGEST))
		abort();
	json_decref(list);
	arena_free(&arena);
	return 0;
}
