/* SPDX-License-Identifier: Apache-2.0 */
/* A list of strings in an arena; v is NULL-terminated once something was added. */
#ifndef BASE_STRV_H
#define BASE_STRV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct strv {
	char **v;
	size_t n, cap;
};

int strv_add(struct arena *arena, struct strv *list, const char *s); /* copies s; 0 or -ENOMEM */
int strv_add_owned(struct arena *arena, struct strv *list, char *s); /* keeps s, which may be NULL (→ -ENOMEM) */
bool strv_has(const struct strv *list, const char *s);

#endif
