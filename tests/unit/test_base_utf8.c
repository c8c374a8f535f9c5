/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/utf8.h"

#define VALID(s) utf8_is_valid((s), sizeof(s) - 1)

static void only_strict_utf8_is_valid(void **state)
{
	(void)state;
	assert_true(VALID(""));
	assert_true(VALID("a\0b"));
	assert_true(VALID("\xc2\x80\xdf\xbf"));
	assert_true(VALID("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80"));
	assert_true(VALID("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"));
	assert_false(VALID("\x80"));
	assert_false(VALID("\xc0\xaf"));         /* overlong "/" */
	assert_false(VALID("\xe0\x80\xaf"));
	assert_false(VALID("\xf0\x80\x80\xaf"));
	assert_false(VALID("\xed\xa0\x80"));     /* surrogate */
	assert_false(VALID("\xf4\x90\x80\x80")); /* above U+10FFFF */
	assert_false(VALID("\xf8\x88\x80\x80\x80"));
	assert_false(VALID("\xff"));
	assert_false(VALID("\xe2\x82"));         /* cut */
	assert_false(VALID("\xe2\x82" "x"));
}

static void the_length_bounds_the_reading(void **state)
{
	(void)state;
	assert_false(utf8_is_valid("\xe2\x82\xac", 2));
	assert_true(utf8_is_valid("a\xff", 1));
	assert_int_equal(utf8_printable_len("\xe2\x82\xac", 3), 3);
	assert_int_equal(utf8_printable_len("\xe2\x82\xac", 2), 0);
	assert_int_equal(utf8_printable_len("a", 0), 0);
	assert_int_equal(utf8_printable_len("\n", 1), 0);
	assert_int_equal(utf8_printable_len("\xc2\x85", 2), 0);
	assert_int_equal(utf8_printable_len("\xc2\xa0", 2), 2);
}

static void base64_is_padded(void **state)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "\xff\xfe\xfd", "//79" },
		{ "\xfb\xef\xbe", "++++" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		BUF_CLEANUP struct buf buf = BUF_INIT(100);

		buf_str(&buf, "");
		base64_add(&buf, rows[i][0], strlen(rows[i][0]));
		assert_string_equal(buf.data, rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_strict_utf8_is_valid),
		cmocka_unit_test(the_length_bounds_the_reading),
		cmocka_unit_test(base64_is_padded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
