/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/json.h"

static int free_arena(void **state)
{
	arena_free(*state);
	return 0;
}

static int make_arena(void **state)
{
	static struct arena arena;

	*state = &arena;
	return 0;
}

static void any_name_is_read_back(void **state)
{
	static const char *const names[] = {
		"", "plain", "gr\xc3\xbc", "\xff", "\xff\xfe", "a\n\xc0\xaf", "\xed\xa0\x80",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_t *value = json_bytes(names[i]);

		assert_non_null(value);
		assert_string_equal(json_text_of(*state, value), names[i]);
		json_decref(value);
	}
}

static void what_is_not_utf8_is_marked(void **state)
{
	json_t *value = json_bytes("\xff"), *none = json_bytes(NULL);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(value, "bytes")), "/w==");
	assert_true(json_is_null(none));
	assert_null(json_text_of(*state, none));
	json_decref(value);
}

static const char *text_of(void **state, const char *source)
{
	json_t *value = json_loads(source, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	const char *text;

	assert_non_null(value);
	text = json_text_of(*state, value);
	json_decref(value);
	return text;
}

static void only_one_spelling_is_taken(void **state)
{
	static const char *const bad[] = {
		"1", "null", "[]", "{}", "\"a\\u0000b\"",
		"{\"bytes\": 1}",
		"{\"bytes\": \"Zg==\", \"more\": 1}",
		"{\"byte\": \"Zg==\"}",
		"{\"bytes\": \"Zg\"}",       /* no padding */
		"{\"bytes\": \"Zg=\"}",
		"{\"bytes\": \"Z===\"}",
		"{\"bytes\": \"====\"}",
		"{\"bytes\": \"Zh==\"}",     /* bits behind the end */
		"{\"bytes\": \"Zm9=\"}",
		"{\"bytes\": \"Zg==Zg==\"}", /* padding inside */
		"{\"bytes\": \"Zg=v\"}",
		"{\"bytes\": \"Zm 9v\"}",
		"{\"bytes\": \"Zm9v\\n\"}",
		"{\"bytes\": \"_w==\"}",     /* the alphabet of URLs */
		"{\"bytes\": \"AGE=\"}",     /* a NUL */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(text_of(state, bad[i]));
	assert_string_equal(text_of(state, "{\"bytes\": \"Zm9vYg==\"}"), "foob");
	assert_string_equal(text_of(state, "{\"bytes\": \"\"}"), "");
}

static void a_failure_on_the_way_is_told(void **state)
{
	json_t *object = json_object(), *array = json_array();

	(void)state;
	assert_int_equal(json_put(object, "k", NULL), -ENOMEM);
	assert_int_equal(json_put(object, "\xff", json_true()), -ENOMEM);
	assert_int_equal(json_put_bytes(object, "k", "v"), 0);
	assert_int_equal(json_append_bytes(array, "v"), 0);
	assert_int_equal(json_append_bytes(NULL, "v"), -ENOMEM);
	assert_int_equal(json_object_size(object), 1);
	assert_int_equal(json_array_size(array), 1);
	json_decref(object);
	json_decref(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_name_is_read_back),
		cmocka_unit_test(what_is_not_utf8_is_marked),
		cmocka_unit_test(only_one_spelling_is_taken),
		cmocka_unit_test(a_failure_on_the_way_is_told),
	};

	return cmocka_run_group_tests(tests, make_arena, free_arena);
}
