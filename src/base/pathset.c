/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pathset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

static uint32_t letter_bit(char c)
{
	return UINT32_C(1) << (c & 31);
}

static void note_ends(struct path_set *set, const char *path)
{
	for (size_t i = 1; i < PATH_SET_ENDS && path[i - 1]; i++)
		if (path[i] == '/' || path[i] == '\0')
			set->ends[i] |= letter_bit(path[i - 1]);
}

int path_set_add(struct arena *arena, struct path_set *set, const char *path)
{
	struct path_text *v = arena_grow(arena, set->v, set->n, set->n + 1, sizeof(*v), &set->cap);

	if (!v)
		return -ENOMEM;
	set->v = v;
	v[set->n++] = (struct path_text){ path, strlen(path) };
	note_ends(set, path);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct path_text *x = a, *y = b;

	return path_compare_n(x->text, x->length, y->text, y->length);
}

void path_set_sort(struct path_set *set)
{
	if (set->n > 1)
		qsort(set->v, set->n, sizeof(*set->v), compare);
}

/* In this order a directory comes directly before what lies in it: the first that is not before `path` tells. */
const char *path_set_first_in(const struct path_set *sorted, const char *path)
{
	size_t low = 0, high = sorted->n, length = strlen(path);
	const struct path_text *found;

	if (length > 1 && length < PATH_SET_ENDS && !(sorted->ends[length] & letter_bit(path[length - 1])))
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct path_text *at = &sorted->v[middle];

		if (path_compare_n(at->text, at->length, path, length) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	found = &sorted->v[low];
	return low < sorted->n && path_is_in_n(found->text, found->length, path, length) ? found->text : NULL;
}
