/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted set of paths, which is asked thousands of times whether one of them lies in some directory. */
#ifndef BASE_PATHSET_H
#define BASE_PATHSET_H

#include <stdint.h>

#include "base/arena.h"

enum { PATH_SET_ENDS = 192 }; /* what is longer is searched for */

struct path_set {
	struct path_text {
		const char *text;
		size_t length;
	} *v;
	size_t n, cap;
	/* Where components end in them, with which letters (modulo 32): most of what is asked about ends nowhere there.
	 */
	uint32_t ends[PATH_SET_ENDS];
};

int path_set_add(struct arena *arena, struct path_set *set, const char *path); /* keeps path; 0 or -ENOMEM */
void path_set_sort(struct path_set *set);                                      /* once, when all are in */
/* The first that is `path` or lies below it; NULL: none. */
const char *path_set_first_in(const struct path_set *sorted, const char *path);

#endif
