/* SPDX-License-Identifier: Apache-2.0 */
/* PINFOLD_STATUS, which anybody can set. Whatever it says, no control character of it reaches the terminal. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pinfold.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text)
{
	struct pinfold_error err;
	char *out = NULL;

	if (pinfold_status_read(text, PINFOLD_TEXT, &out, &err) < 0)
		return;
	for (const char *p = out; *p; p++)
		if (((unsigned char)*p < ' ' && *p != '\n') || *p == 0x7f)
			abort();
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	check(text);
	free(text);
	return 0;
}
