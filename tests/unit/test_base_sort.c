/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/sort.h"

enum { MOST = 200 };

struct element {
	int key, was; /* was: where it stood before */
};

static size_t comparisons;

static int compare(const void *a, const void *b)
{
	const struct element *x = a, *y = b;

	comparisons++;
	return (x->key > y->key) - (x->key < y->key);
}

static void sort(struct element *v, size_t n)
{
	struct element room[MOST / 2 + 1];

	memset(room, 0xff, sizeof(room));
	for (size_t i = 0; i < n; i++)
		v[i].was = (int)i;
	comparisons = 0;
	sort_merge(v, room, n, sizeof(*v), compare);
	assert_int_equal(room[n / 2].key, -1); /* no more than half is taken */
}

static void every_order_is_sorted_and_equals_keep_theirs(void **state)
{
	struct element v[MOST];
	uint32_t random = 1;

	(void)state;
	for (size_t n = 0; n <= MOST; n++)
		for (uint32_t kinds = 1; kinds <= MOST; kinds *= 3) {
			long sum = 0;

			for (size_t i = 0; i < n; i++) {
				random = random * 1664525U + 1013904223U;
				v[i].key = (int)((random >> 16) % kinds);
				sum += v[i].key;
			}
			sort(v, n);
			for (size_t i = 0; i < n; i++) {
				sum -= v[i].key;
				assert_true(i == 0 || v[i - 1].key < v[i].key ||
					    (v[i - 1].key == v[i].key && v[i - 1].was < v[i].was));
			}
			assert_int_equal(sum, 0);
		}
}

static void what_is_in_order_is_read_once(void **state)
{
	struct element v[MOST];

	(void)state;
	for (int i = 0; i < MOST; i++)
		v[i].key = i / 2;
	sort(v, MOST);
	assert_int_equal(comparisons, MOST - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order_is_sorted_and_equals_keep_theirs),
		cmocka_unit_test(what_is_in_order_is_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
