/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"

static void the_maximum_is_exact_and_the_failure_sticks(void **state)
{
	BUF_CLEANUP struct buf buf = BUF_INIT(5);
	int error = 0;

	(void)state;
	buf_str(&buf, "12345");
	assert_int_equal(buf.error, 0);
	buf_char(&buf, '6');
	assert_int_equal(buf.error, -E2BIG);
	buf_str(&buf, "");
	buf_printf(&buf, "%s", "");
	assert_string_equal(buf.data, "12345");
	assert_null(buf_take(&buf, &error));
	assert_int_equal(error, -E2BIG);
	assert_null(buf.data);
}

static void lengths_do_not_overflow(void **state)
{
	BUF_CLEANUP struct buf buf = BUF_INIT(100), endless = BUF_INIT(SIZE_MAX);

	(void)state;
	buf_str(&buf, "x");
	buf_add(&buf, "x", SIZE_MAX);
	assert_int_equal(buf.error, -E2BIG);
	buf_char(&endless, 'x');
	assert_int_equal(endless.error, -E2BIG);
}

static void an_empty_text_is_a_text(void **state)
{
	struct buf buf = BUF_INIT(0);
	char *text = buf_take(&buf, NULL);

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

static void printf_grows(void **state)
{
	BUF_CLEANUP struct buf buf = BUF_INIT(10000);

	(void)state;
	for (int i = 0; i < 1000; i++)
		buf_printf(&buf, "%03d,", i);
	assert_int_equal(buf.error, 0);
	assert_int_equal(buf.len, 4000);
	assert_string_equal(buf.data + 3992, "998,999,");
}

/* Writes n bytes into a pipe and reads them with the maximum max. */
static int read_through(size_t n, size_t max, size_t *ret_len)
{
	static char bytes[40000];
	BUF_CLEANUP struct buf buf = BUF_INIT(max);
	int ends[2], r;

	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fd_write_all(ends[1], bytes, n), 0);
	fd_close(&ends[1]);
	r = buf_read_fd(&buf, ends[0]);
	fd_close(&ends[0]);
	*ret_len = buf.len;
	if (buf.data)
		assert_int_equal(buf.data[buf.len], '\0');
	return r;
}

static void reading_stops_at_the_maximum(void **state)
{
	size_t len;

	(void)state;
	assert_int_equal(read_through(40000, 40000, &len), 0);
	assert_int_equal(len, 40000);
	assert_int_equal(read_through(40000, 39999, &len), -E2BIG);
	assert_int_equal(read_through(0, 0, &len), 0);
	assert_int_equal(read_through(1, 0, &len), -E2BIG);
	assert_int_equal(read_through(16384, 1 << 20, &len), 0);
	assert_int_equal(len, 16384);
}

static void a_failed_read_is_told(void **state)
{
	BUF_CLEANUP struct buf buf = BUF_INIT(10);

	(void)state;
	assert_int_equal(buf_read_fd(&buf, -1), -EBADF);
	assert_int_equal(buf.error, -EBADF);
}

static void shell_words_mean_what_they_say(void **state)
{
	static const char *const rows[][2] = {
		{ "plain-1.0/x_y", "plain-1.0/x_y" },
		{ "--option=value", "--option=value" },
		{ "NAME=value", "'NAME=value'" },
		{ "=ls", "'=ls'" },
		{ "", "''" },
		{ "~", "'~'" },
		{ "a b", "'a b'" },
		{ "it's", "'it'\\''s'" },
		{ "$(x)`y`\"", "'$(x)`y`\"'" },
		{ "a\nb", "'a\nb'" },
		{ "gr\xc3\xbc", "'gr\xc3\xbc'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		BUF_CLEANUP struct buf buf = BUF_INIT(100);

		buf_shell(&buf, rows[i][0]);
		assert_string_equal(buf.data, rows[i][1]);
	}
}

static void no_name_forges_a_line(void **state)
{
	static const char *const rows[][2] = {
		{ "\xc3\xbc \xe2\x82\xac \xf0\x9f\x90\x91", "\xc3\xbc \xe2\x82\xac \xf0\x9f\x90\x91" },
		{ "a\nwrites: held", "a\\x0awrites: held" },
		{ "\x1b[2J\t\x7f", "\\x1b[2J\\x09\\x7f" },
		{ "\xff\xc3", "\\xff\\xc3" },
		{ "\xc2\x9b" "2J", "\\xc2\\x9b2J" },               /* C1: CSI in one character */
		{ "x\xe2\x80\xae" "txt", "x\\xe2\\x80\\xaetxt" }, /* right to left */
		{ "x\xe2\x80\xa8y", "x\\xe2\\x80\\xa8y" },          /* line separator */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		BUF_CLEANUP struct buf buf = BUF_INIT(100);

		buf_printable(&buf, rows[i][0]);
		assert_string_equal(buf.data, rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_maximum_is_exact_and_the_failure_sticks),
		cmocka_unit_test(lengths_do_not_overflow),
		cmocka_unit_test(an_empty_text_is_a_text),
		cmocka_unit_test(printf_grows),
		cmocka_unit_test(reading_stops_at_the_maximum),
		cmocka_unit_test(a_failed_read_is_told),
		cmocka_unit_test(shell_words_mean_what_they_say),
		cmocka_unit_test(no_name_forges_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
