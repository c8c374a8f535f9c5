/* SPDX-License-Identifier: Apache-2.0 */
/* A HEAD, the target of one, a todo list of git-rebase. A name that counts as one never leads out of refs/; a command
 * that is found is a line of the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/gittext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct strv commands = { 0 };
	struct arena arena = { 0 };

	if (gittext_is_ref(text, size) && (memmem(text, size, "..", 2) || memchr(text, '\0', size)))
		abort();
	if (gittext_is_head(text, size) && (memmem(text, size, "..", 2) || size < 5))
		abort();
	if (gittext_commands(&arena, text, size, &commands) < 0)
		abort();
	for (size_t i = 0; i < commands.n; i++)
		if (strchr(commands.v[i], '\n') || !memmem(text, size, commands.v[i], strlen(commands.v[i])))
			abort();
	arena_free(&arena);
	return 0;
}
