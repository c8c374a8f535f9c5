/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting lists that are nearly in order already. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>

/* Sorts n elements of `size` bytes by `compare`, as qsort(3) does; what is equal stays in its order. `room` is for half
 * of them (n / 2 elements, rounded down). */
void sort_merge(void *elements, void *room, size_t n, size_t size, int (*compare)(const void *, const void *));

#endif
