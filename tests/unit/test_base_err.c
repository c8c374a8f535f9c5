/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"

static void expect(const struct pinfold_error *err, const char *text)
{
	char line[4096];

	assert_int_equal(pinfold_error_text(err, line, sizeof(line)), strlen(text));
	assert_string_equal(line, text);
}

static void every_code_has_its_name(void **state)
{
	(void)state;
	assert_string_equal(pinfold_code_name(PINFOLD_OK), "ok");
	assert_string_equal(pinfold_code_name(PINFOLD_BLOCKED), "blocked_offline");
	assert_string_equal(pinfold_code_name(PINFOLD_NOT_EXECUTABLE), "not_executable");
	for (int i = 0; i < PINFOLD_CODE_COUNT; i++)
		assert_non_null(pinfold_code_name((enum pinfold_code)i));
	assert_string_equal(pinfold_code_name(PINFOLD_CODE_COUNT), "unknown");
	assert_string_equal(pinfold_code_name((enum pinfold_code)-1), "unknown");
}

static void a_failed_step_is_one_sentence(void **state)
{
	struct pinfold_error err;

	(void)state;
	assert_int_equal(err_sys(&err, PINFOLD_UNAVAILABLE, ENOENT, "open", "/x"), -ENOENT);
	expect(&err, "cannot open '/x': No such file or directory");
	err_sys(&err, PINFOLD_UNAVAILABLE, EPERM, "make a user namespace", NULL);
	expect(&err, "cannot make a user namespace: Operation not permitted");
	assert_int_equal(err_sys(&err, PINFOLD_USAGE, 0, "use", "y"), -EINVAL);
	expect(&err, "cannot use 'y'");
	strcpy(err.text, "it is closed");
	expect(&err, "cannot use 'y': it is closed");
}

static void a_message_names_its_place(void **state)
{
	struct pinfold_error err;
	int r = err_say(&err, PINFOLD_USAGE, 0, "unknown value '%s'", "maybe");

	(void)state;
	assert_int_equal(r, -EINVAL);
	assert_int_equal(err_at(&err, -7, "/etc/pinfold.json", 3, "network"), -7);
	expect(&err, "/etc/pinfold.json:3: key 'network': unknown value 'maybe'");
	err_at(&err, r, NULL, 0, NULL);
	expect(&err, "/etc/pinfold.json:3: key 'network': unknown value 'maybe'");
	err.line = 0;
	err.key[0] = '\0';
	expect(&err, "/etc/pinfold.json: unknown value 'maybe'");
	assert_int_equal(err_at(NULL, -5, "f", 1, "k"), -5);
}

static void a_new_error_forgets_the_old_one(void **state)
{
	struct pinfold_error err;

	(void)state;
	err_say(&err, PINFOLD_USAGE, 0, "first");
	err_at(&err, 0, "file", 1, "key");
	err_hint(&err, "do %s", "this");
	err_hint(&err, "do that");
	assert_string_equal(err.hint, "do this");
	err_say(&err, PINFOLD_REFUSED, EACCES, "second, after %s", err.text);
	expect(&err, "second, after first");
	assert_string_equal(err.hint, "");
	assert_int_equal(err.errnum, EACCES);
	assert_int_equal(err_oom(&err), -ENOMEM);
	assert_int_equal(err.code, PINFOLD_INTERNAL);
	assert_int_equal(err_oom(NULL), -ENOMEM);
	err_hint(NULL, "nothing");
}

static void no_object_forges_a_line(void **state)
{
	struct pinfold_error err;

	(void)state;
	err_sys(&err, PINFOLD_USAGE, ENOENT, "open", "a\npinfold: all held\x1b[A\xff\xc3\xa9");
	expect(&err, "cannot open 'a\\x0apinfold: all held\\x1b[A\\xff\xc3\xa9': No such file or directory");
	memset(err.object, 'x', sizeof(err.object)); /* as it may come over a pipe */
	assert_int_equal(pinfold_error_text(&err, NULL, 0),
		strlen("cannot open '': No such file or directory") + sizeof(err.object));
}

static void what_is_too_long_is_cut_between_characters(void **state)
{
	struct pinfold_error err;
	char name[1001];

	(void)state;
	for (size_t shift = 0; shift < 3; shift++) {
		memset(name, 'x', sizeof(name));
		for (size_t i = shift; i + 3 < sizeof(name); i += 3)
			memcpy(name + i, "\xe2\x82\xac", 3);
		name[1000] = '\0';
		err_sys(&err, PINFOLD_USAGE, 0, name, name);
		assert_true(utf8_is_valid(err.object, strlen(err.object)));
		assert_true(strlen(err.object) >= sizeof(err.object) - 3);
		assert_true(utf8_is_valid(err.operation, strlen(err.operation)));
		err_say(&err, PINFOLD_USAGE, 0, "%s", name);
		assert_true(utf8_is_valid(err.text, strlen(err.text)));
		assert_true(strlen(err.text) >= sizeof(err.text) - 3);
	}
}

static void a_short_line_holds_whole_pieces(void **state)
{
	static const char *const expected[] = {
		"", "", "a", "ab", "abc", "abc", "abc", "abc\xe2\x82\xac", "abc\xe2\x82\xac",
	};
	struct pinfold_error err;
	char line[8];

	(void)state;
	err_say(&err, PINFOLD_USAGE, 0, "%s", "abc\xe2\x82\xac\nz");
	for (size_t size = 1; size <= sizeof(line); size++) {
		memset(line, '#', sizeof(line));
		assert_int_equal(pinfold_error_text(&err, line, size), 11);
		assert_true(strlen(line) < size);
		assert_string_equal(line, expected[size]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_has_its_name),
		cmocka_unit_test(a_failed_step_is_one_sentence),
		cmocka_unit_test(a_message_names_its_place),
		cmocka_unit_test(a_new_error_forgets_the_old_one),
		cmocka_unit_test(no_object_forges_a_line),
		cmocka_unit_test(what_is_too_long_is_cut_between_characters),
		cmocka_unit_test(a_short_line_holds_whole_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
