/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/num.h"

static void only_digits_are_a_number(void **state)
{
	static const char *const bad[] = { "", " 1", "1 ", "+1", "-1", "0x1", "1.0", "1e3", "1\n", "\xd9\xa1" };
	uint64_t value = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(num_u64(bad[i], &value), -EINVAL);
	assert_int_equal(num_u64("18446744073709551616", &value), -ERANGE);
	assert_int_equal(num_u64("99999999999999999999999", &value), -ERANGE);
	assert_int_equal(value, 77);
	assert_int_equal(num_u64("18446744073709551615", &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(num_u64("0", &value), 0);
	assert_int_equal(value, 0);
}

static void narrow_numbers_do_not_wrap(void **state)
{
	uint32_t id = 7;
	uint16_t port = 7;

	(void)state;
	assert_int_equal(num_u32("4294967296", &id), -ERANGE);
	assert_int_equal(id, 7);
	assert_int_equal(num_u32("4294967295", &id), 0);
	assert_true(id == UINT32_MAX);
	assert_int_equal(num_port("0", &port), -ERANGE);
	assert_int_equal(num_port("65536", &port), -ERANGE);
	assert_int_equal(num_port("http", &port), -EINVAL);
	assert_int_equal(port, 7);
	assert_int_equal(num_port("65535", &port), 0);
	assert_int_equal(port, 65535);
}

static void sizes_have_units_and_ends(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t value;
	} rows[] = {
		{ "1", 0, 1 },
		{ "2K", 0, 2048 },
		{ "3M", 0, 3 << 20 },
		{ "17179869183G", 0, 17179869183ull << 30 },
		{ "17179869184G", -ERANGE, 0 },
		{ "0", -ERANGE, 0 },
		{ "0G", -ERANGE, 0 },
		{ "1k", -EINVAL, 0 },
		{ "1KB", -EINVAL, 0 },
		{ "1 K", -EINVAL, 0 },
		{ "K", -EINVAL, 0 },
		{ "1T", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 0;

		assert_int_equal(num_size(rows[i].text, &value), rows[i].r);
		assert_true(value == rows[i].value);
	}
}

static void durations_need_their_unit(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t value;
	} rows[] = {
		{ "1ms", 0, 1 },
		{ "90s", 0, 90000 },
		{ "2m", 0, 120000 },
		{ "1h", 0, 3600000 },
		{ "5", -EINVAL, 0 },
		{ "0s", -ERANGE, 0 },
		{ "1min", -EINVAL, 0 },
		{ "1h30m", -EINVAL, 0 },
		{ "1M", -EINVAL, 0 },
		{ "18446744073709551615s", -ERANGE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 0;

		assert_int_equal(num_duration(rows[i].text, &value), rows[i].r);
		assert_true(value == rows[i].value);
	}
}

static void texts_are_read_back(void **state)
{
	static const uint64_t values[] = { 1, 999, 1000, 1024, 1025, 60000, 90000, 3600000, 1 << 30, UINT64_MAX };
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		uint64_t value = 0;

		assert_int_equal(num_size(num_size_text(values[i], text), &value), 0);
		assert_true(value == values[i]);
		assert_int_equal(num_duration(num_duration_text(values[i], text), &value), 0);
		assert_true(value == values[i]);
	}
	assert_string_equal(num_size_text(1ull << 31, text), "2G");
	assert_string_equal(num_size_text(1536, text), "1536");
	assert_string_equal(num_duration_text(5400000, text), "90m");
	assert_string_equal(num_duration_text(1500, text), "1500ms");
	assert_string_equal(num_size_text(0, text), "0");
	assert_string_equal(num_duration_text(0, text), "0ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_digits_are_a_number),
		cmocka_unit_test(narrow_numbers_do_not_wrap),
		cmocka_unit_test(sizes_have_units_and_ends),
		cmocka_unit_test(durations_need_their_unit),
		cmocka_unit_test(texts_are_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
