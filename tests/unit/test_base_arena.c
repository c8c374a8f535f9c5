/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/strv.h"

static void memory_is_zeroed_and_aligned(void **state)
{
	struct arena arena = { 0 };

	(void)state;
	for (size_t n = 1; n < 40; n++) {
		char *p = arena_alloc(&arena, n, 1);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
	}
	assert_non_null(arena_alloc(&arena, 0, 8));
	arena_free(&arena);
	assert_null(arena.head);
}

static void overflow_and_the_limit_give_null(void **state)
{
	struct arena arena = { 0 };

	(void)state;
	assert_null(arena_alloc(&arena, SIZE_MAX, 2));
	assert_null(arena_alloc(&arena, SIZE_MAX / 2 + 1, 2));
	assert_null(arena_alloc(&arena, SIZE_MAX, 1));
	assert_null(arena_alloc(&arena, LIMIT_ARENA_BYTES + 1, 1));
	assert_non_null(arena_alloc(&arena, LIMIT_ARENA_BYTES - 16, 1));
	assert_non_null(arena_alloc(&arena, 16, 1));
	assert_null(arena_alloc(&arena, 1, 1));
	arena_free(&arena);
	assert_non_null(arena_alloc(&arena, 1, 1));
	arena_free(&arena);
}

static void a_large_block_leaves_room_for_small_ones(void **state)
{
	struct arena arena = { 0 };
	char *a = arena_alloc(&arena, 16, 1);
	char *large = arena_alloc(&arena, 100000, 1);
	char *b = arena_alloc(&arena, 16, 1);

	(void)state;
	assert_non_null(large);
	assert_ptr_equal(b, a + 16);
	memset(large, 1, 100000);
	arena_free(&arena);
}

static void arrays_grow_with_their_content(void **state)
{
	struct arena arena = { 0 };
	int *v = NULL;
	size_t cap = 0;

	(void)state;
	for (size_t n = 0; n < 5000; n++) {
		v = arena_grow(&arena, v, n, n + 1, sizeof(*v), &cap);
		assert_non_null(v);
		v[n] = (int)n;
	}
	for (size_t n = 0; n < 5000; n++)
		assert_int_equal(v[n], (int)n);
	assert_true(arena.used < 4 * 5000 * sizeof(int));
	assert_null(arena_grow(&arena, v, 5000, SIZE_MAX / 2, sizeof(*v), &cap));
	assert_int_equal(v[4999], 4999);
	arena_free(&arena);
}

static void strings_are_copied(void **state)
{
	struct arena arena = { 0 };

	(void)state;
	assert_string_equal(arena_strndup(&arena, "abc", 2), "ab");
	assert_string_equal(arena_strndup(&arena, "abc", 9), "abc");
	assert_string_equal(arena_strdup(&arena, ""), "");
	assert_string_equal(arena_printf(&arena, "%s-%d", "x", 7), "x-7");
	assert_memory_equal(arena_memdup(&arena, "a\0b", 3), "a\0b", 3);
	arena_free(&arena);
}

static void a_list_ends_with_null(void **state)
{
	struct arena arena = { 0 };
	struct strv list = { 0 };

	(void)state;
	assert_false(strv_has(&list, "a"));
	for (int i = 0; i < 100; i++) {
		assert_int_equal(strv_add(&arena, &list, i % 2 ? "b" : "a"), 0);
		assert_null(list.v[list.n]);
	}
	assert_int_equal(strv_add_owned(&arena, &list, NULL), -ENOMEM);
	assert_int_equal(list.n, 100);
	assert_true(strv_has(&list, "b"));
	assert_false(strv_has(&list, "ab"));
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_and_aligned),
		cmocka_unit_test(overflow_and_the_limit_give_null),
		cmocka_unit_test(a_large_block_leaves_room_for_small_ones),
		cmocka_unit_test(arrays_grow_with_their_content),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(a_list_ends_with_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
