/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/limits.h"

#ifndef MAP_POPULATE /* of Linux alone; without it a page comes when it is touched */
#define MAP_POPULATE 0
#endif

enum {
	FIRST_BYTES = 8 * 1024, /* with the head of the block: many arenas hold a few paths */
	BLOCK_BYTES = 32 * 1024,
	PAGE_BYTES = 4096,
	GROW_LEAST = 8,
};

struct arena_block {
	struct arena_block *next;
	size_t size, used; /* of data, in bytes */
	max_align_t data[];
};

static size_t aligned(size_t n)
{
	const size_t mask = _Alignof(max_align_t) - 1;

	return (n + mask) & ~mask;
}

/* Pages of the kernel are zero already, where calloc would write all of them once more; taken together they cost less
 * than one fault for each. */
static struct arena_block *block_map(size_t bytes)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
	struct arena_block *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (block == MAP_FAILED)
		return NULL;
	block->size = bytes - sizeof(*block);
	return block;
}

static struct arena_block *block_new(struct arena *arena, size_t need)
{
	size_t usual = arena->head ? BLOCK_BYTES : FIRST_BYTES, whole = sizeof(struct arena_block) + need;
	bool is_large = whole > usual;
	struct arena_block *block = block_map(is_large ? (whole + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES : usual);

	if (!block)
		return NULL;
	/* A block of one large thing goes behind the head, so that the room left in the head is still used. */
	if (arena->head && is_large) {
		block->next = arena->head->next;
		arena->head->next = block;
	} else {
		block->next = arena->head;
		arena->head = block;
	}
	return block;
}

static void *fall_short(struct arena *arena)
{
	arena->is_short = true;
	return NULL;
}

void *arena_alloc(struct arena *arena, size_t n, size_t size)
{
	struct arena_block *block = arena->head;
	size_t need;
	char *p;

	if (size && n > SIZE_MAX / size)
		return fall_short(arena);
	need = n * size;
	if (need > LIMIT_ARENA_BYTES)
		return fall_short(arena);
	need = need ? aligned(need) : aligned(1);
	if (need > LIMIT_ARENA_BYTES - arena->used)
		return fall_short(arena);
	if (!block || block->size - block->used < need)
		block = block_new(arena, need);
	if (!block)
		return fall_short(arena);
	p = (char *)block->data + block->used;
	block->used += need;
	arena->used += need;
	return p;
}

void *arena_grow(struct arena *arena, void *old, size_t used, size_t n, size_t size, size_t *cap)
{
	size_t want = GROW_LEAST;
	void *fresh;

	if (old && n <= *cap)
		return old;
	if (*cap <= SIZE_MAX / 2 && *cap * 2 > want)
		want = *cap * 2;
	if (n > want)
		want = n;
	fresh = arena_alloc(arena, want, size);
	if (!fresh)
		return NULL;
	if (old && used)
		memcpy(fresh, old, used * size);
	*cap = want;
	return fresh;
}

char *arena_strndup(struct arena *arena, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = arena_alloc(arena, len + 1, 1);

	if (copy)
		memcpy(copy, s, len);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *s)
{
	return s ? arena_strndup(arena, s, strlen(s)) : fall_short(arena);
}

void *arena_memdup(struct arena *arena, const void *p, size_t n)
{
	void *copy = arena_alloc(arena, n, 1);

	if (copy && n)
		memcpy(copy, p, n);
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0)
		return fall_short(arena);
	text = arena_alloc(arena, (size_t)len + 1, 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	return text;
}

void arena_free(struct arena *arena)
{
	struct arena_block *next;

	for (struct arena_block *block = arena->head; block; block = next) {
		next = block->next;
		munmap(block, sizeof(*block) + block->size);
	}
	*arena = (struct arena){ 0 };
}
