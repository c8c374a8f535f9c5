/* SPDX-License-Identifier: Apache-2.0 */
/* A pattern and a path, split at the first newline: parsed, matched, walked. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "policy/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What matches is reached by a walk that asks pattern_may_match_below at each directory on the way. */
static void check_walk(struct arena *arena, const struct pattern *pattern, const char *path)
{
	if (!pattern_matches(pattern, path, true))
		return;
	while (strcmp(path, "/") != 0) {
		path = path_parent(arena, path);
		if (!path)
			return;
		if (!pattern_may_match_below(pattern, path))
			abort();
	}
}

static void check(struct arena *arena, const char *text, const char *name)
{
	struct pattern pattern;
	struct pinfold_error err = {0};
	char *path = path_normal(arena, "/w", name);

	if (pattern_parse(arena, text, "/w", "/home/me", &pattern, &err) < 0) {
		if (err.code == PINFOLD_OK)
			abort();
		return;
	}
	if (!path)
		return;
	check_walk(arena, &pattern, path);
	pattern_glob(text, name);
	/* A plain path matches itself. */
	if (pattern.is_literal &&
	    (!path_is_normal(pattern.literal) || !pattern_matches(&pattern, pattern.literal, true)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	char *text = malloc(size + 1);
	char *name;

	if (text && size < 16384) {
		memcpy(text, data, size);
		text[size] = '\0';
		name = text + strcspn(text, "\n");
		if (*name)
			*name++ = '\0';
		name[strcspn(name, "\n")] = '\0';
		check(&arena, text, name);
	}
	free(text);
	arena_free(&arena);
	return 0;
}
