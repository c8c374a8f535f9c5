/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strv.h"

#include <errno.h>
#include <string.h>

int strv_add_owned(struct arena *arena, struct strv *list, char *s)
{
	char **v;

	if (!s)
		return -ENOMEM;
	/* One more than the strings, for the NULL at the end. */
	v = arena_grow(arena, list->v, list->n, list->n + 2, sizeof(*v), &list->cap);
	if (!v)
		return -ENOMEM;
	v[list->n++] = s;
	v[list->n] = NULL;
	list->v = v;
	return 0;
}

int strv_add(struct arena *arena, struct strv *list, const char *s)
{
	return strv_add_owned(arena, list, arena_strdup(arena, s));
}

bool strv_has(const struct strv *list, const char *s)
{
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->v[i], s) == 0)
			return true;
	}
	return false;
}
