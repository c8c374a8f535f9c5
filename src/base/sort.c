/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A merge sort. What is sorted for a run is put together from lists that are in order each, and a part that is in order
 * costs it one comparison for each element; qsort(3) of musl (smoothsort) takes five times as many for such a list, and
 * a comparison of two paths is what costs.
 */
#include "base/sort.h"

#include <string.h>

typedef int comparison(const void *, const void *);

/* The first `half` of n elements with the rest, each in order. */
static void merge(char *elements, char *room, size_t half, size_t n, size_t size, comparison *compare)
{
	char *left = room, *right = elements + half * size, *out = elements;
	const char *const left_end = left + half * size, *const right_end = out + n * size;

	if (compare(right - size, right) <= 0) /* in order as they are */
		return;
	memcpy(left, out, half * size);
	while (left < left_end && right < right_end) {
		char **least = compare(left, right) <= 0 ? &left : &right;

		memcpy(out, *least, size);
		*least += size;
		out += size;
	}
	memcpy(out, left, (size_t)(left_end - left));
}

void sort_merge(void *elements, void *room, size_t n, size_t size, comparison *compare)
{
	const size_t half = n / 2;

	if (n < 2)
		return;
	sort_merge(elements, room, half, size, compare);
	sort_merge((char *)elements + half * size, room, n - half, size, compare);
	merge(elements, room, half, n, size, compare);
}
