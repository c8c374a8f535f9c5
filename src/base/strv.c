/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

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

static int compare(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return path_compare(*x, *y);
}

void strv_sort_paths(struct strv *list)
{
	if (list->n > 1)
		qsort(list->v, list->n, sizeof(*list->v), compare);
}

const char *strv_first_in(const struct strv *sorted, const char *path)
{
	size_t low = 0, high = sorted->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (path_compare(sorted->v[middle], path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sorted->n && path_is_in(sorted->v[low], path) ? sorted->v[low] : NULL;
}
