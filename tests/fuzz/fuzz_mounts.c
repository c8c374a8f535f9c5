/* SPDX-License-Identifier: Apache-2.0 */
/* A mountinfo: the kernel writes it, and the names in it are anybody's. Whatever they are, each mount that comes out
 * has an absolute path, a root and a type. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "survey/take.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct survey survey = { 0 };
	struct taking take = { .survey = &survey, .arena = &survey.arena };
	char *text = arena_strndup(&survey.arena, (const char *)data, size);

	if (mounts_parse(&take, text) < 0)
		abort();
	for (size_t i = 0; i < survey.mount_count; i++) {
		const struct survey_mount *mount = &survey.mounts[i];

		if (mount->path[0] != '/' || !mount->root || !mount->type || strchr(mount->type, ' '))
			abort();
	}
	survey_free(&survey);
	return 0;
}
