/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel said is compared right by right; and what kind of question a word is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/explain.h"

static void agreement_is_right_by_right(void **state)
{
	static const struct {
		const char *lines;
		bool agrees;
	} rows[] = {
		{ "", true },
		{ "read 0\nwrite 13\n", true },
		{ "write 30", true }, /* whatever the errno is */
		{ "read 13\n", false },
		{ "read 0\nwrite 0\n", false },
		{ "unknown 1\n\nread\n", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct explain_path path = { .right[RIGHT_READ].allowed = true };

		assert_int_equal(explain_prove(&path, rows[i].lines), rows[i].agrees);
	}
}

static void what_was_not_tried_is_not_proved(void **state)
{
	struct explain_path path = { .right[RIGHT_READ].allowed = true };

	(void)state;
	assert_true(explain_prove(&path, "write 13\n"));
	assert_true(path.right[RIGHT_WRITE].is_asked);
	assert_int_equal(path.right[RIGHT_WRITE].errnum, 13);
	assert_false(path.right[RIGHT_READ].is_asked);
}

static void the_word_tells_the_kind(void **state)
{
	static const struct {
		const char *word;
		int kind;
	} rows[] = {
		{ "/etc", EXPLAIN_PATH },        { "./x:80", EXPLAIN_PATH },      { "~/.ssh", EXPLAIN_PATH },
		{ ".git", EXPLAIN_PATH },        { "host:80", EXPLAIN_ADDRESS },  { "[::1]:443", EXPLAIN_ADDRESS },
		{ ":8080", EXPLAIN_ADDRESS },    { "word", -1 },                  { "host:", -1 },
		{ "host:80x", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(explain_kind_of(rows[i].word), rows[i].kind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agreement_is_right_by_right),
		cmocka_unit_test(what_was_not_tried_is_not_proved),
		cmocka_unit_test(the_word_tells_the_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
