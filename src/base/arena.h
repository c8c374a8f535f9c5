/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once: one arena for a policy, one for a plan.
 *
 * The first failure sticks (arena->is_short), as a buffer's does. Many functions answer NULL for "there is none" as
 * well as for "no memory", and many a caller goes on without: what was built then lacks a part, and nobody can tell
 * which. So whoever hands out what an arena holds asks is_short once, at its end, and gives nothing out where it is
 * set.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena {
	struct arena_block *head;
	size_t used;   /* bytes handed out, bounded by LIMIT_ARENA_BYTES */
	bool is_short; /* something was asked for and not given */
};

/* Zeroed memory aligned for any type, or NULL (out of memory, or the limit). n * size is checked for overflow. */
void *arena_alloc(struct arena *arena, size_t n, size_t size);
/* Grows an array of the arena: returns room for at least `n` elements of `size` with the first `used` copied; doubles,
 * so that appending is linear. *cap is updated. */
void *arena_grow(struct arena *arena, void *old, size_t used, size_t n, size_t size, size_t *cap);
char *arena_strdup(struct arena *arena, const char *s); /* NULL, which a shortage has left, stays NULL */
char *arena_strndup(struct arena *arena, const char *s, size_t n);
void *arena_memdup(struct arena *arena, const void *p, size_t n);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *arena);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), 1, sizeof(type)))
#define ARENA_ARRAY(arena, type, n) ((type *)arena_alloc((arena), (n), sizeof(type)))

#endif
