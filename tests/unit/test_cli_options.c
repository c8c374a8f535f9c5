/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of the command line. It is no part of the library, so its two files are taken in here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/cli/message.c"
#include "../../src/cli/options.c"

#define WORDS(...) ((char *[]){ __VA_ARGS__, NULL })

/* String literals are const under -Wwrite-strings, argv is not; nothing here writes to them. */
static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

#define W(text) word(text)

static void options_end_at_the_command(void **state)
{
	struct request request;
	struct pinfold_error error;

	(void)state;
	assert_int_equal(request_parse(&request, IN_RUN, WORDS(W("--plan"), W("make"), W("--json")), &error), 0);
	assert_true(request.is_plan);
	assert_false(request.is_json);
	assert_string_equal(request.rest[0], "make");
	assert_string_equal(request.rest[1], "--json");
	assert_null(request.rest[2]);
	request_free(&request);

	assert_int_equal(request_parse(&request, IN_RUN, WORDS(W("--"), W("--plan")), &error), 0);
	assert_false(request.is_plan);
	assert_string_equal(request.rest[0], "--plan");
	request_free(&request);

	assert_int_equal(request_parse(&request, IN_RUN, WORDS(W("-"), W("--plan")), &error), 0);
	assert_string_equal(request.rest[0], "-");
	request_free(&request);
}

static void other_commands_take_options_after_words(void **state)
{
	struct request request;
	struct pinfold_error error;

	(void)state;
	assert_int_equal(request_parse(&request, IN_CONFIG, WORDS(W("file"), W("--json")), &error), 0);
	assert_true(request.is_json);
	assert_string_equal(request.rest[0], "file");
	assert_null(request.rest[1]);
	request_free(&request);
}

static void settings_keep_their_order_and_words(void **state)
{
	static const struct setting expected[] = {
		{ "time", "5s" }, { "mode", "auto" }, { "network", "offline" }, { "read_only", "true" },
		{ "read_only", "false" }, { "accept", "none" }, { "env", "A=B=C" },
	};
	struct request request;
	struct pinfold_error error;
	int r = request_parse(&request, IN_RUN,
			      WORDS(W("--time"), W("5s"), W("--mode=auto"), W("--offline"), W("--read-only"),
				    W("--no-read-only"), W("--no-accept"), W("--env=A=B=C"), W("true")),
			      &error);

	(void)state;
	assert_int_equal(r, 0);
	assert_int_equal(request.setting_count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < request.setting_count; i++) {
		assert_string_equal(request.settings[i].name, expected[i].name);
		assert_string_equal(request.settings[i].text, expected[i].text);
	}
	request_free(&request);
}

static void the_first_error_is_told_and_a_later_record_still_known(void **state)
{
	struct request request;
	struct pinfold_error error;
	char **words = WORDS(W("--bogus"), W("--worse"), W("--record"), W("r"), W("true"));

	(void)state;
	assert_int_equal(request_parse(&request, IN_RUN, words, &error), -EINVAL);
	assert_string_equal(error.text, "unknown option '--bogus'");
	assert_string_equal(request.record, "r");
	assert_string_equal(request.rest[0], "true");
	request_free(&request);
}

static void what_an_option_takes_is_checked(void **state)
{
	static const struct {
		const char *words[2], *text;
	} bad[] = {
		{ { "--offline=yes", NULL }, "option '--offline' takes no value" },
		{ { "--no-read-only=1", NULL }, "option '--no-read-only' takes no value" },
		{ { "--time", NULL }, "option '--time' needs a value: DURATION" },
		{ { "--no-time", NULL }, "unknown option '--no-time'" },
		{ { "--pass-fd", "-1" }, "option '--pass-fd': '-1' is no descriptor" },
		{ { "--pass-fd", "1000000" }, "option '--pass-fd': descriptor 1000000 is not open" },
		{ { "--pass-fd", "1x" }, "option '--pass-fd': '1x' is no descriptor" },
		{ { "--pass-fd", "99999999999999999999" },
		  "option '--pass-fd': '99999999999999999999' is no descriptor" },
	};
	struct request request;
	struct pinfold_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *words[] = { word(bad[i].words[0]), word(bad[i].words[1]), NULL };

		assert_int_equal(request_parse(&request, IN_RUN, words, &error), -EINVAL);
		assert_string_equal(error.text, bad[i].text);
		request_free(&request);
	}
}

static void an_option_of_another_command_is_unknown(void **state)
{
	struct request request;
	struct pinfold_error error;

	(void)state;
	assert_int_equal(request_parse(&request, IN_STATUS, WORDS(W("--plan")), &error), -EINVAL);
	request_free(&request);
}

static const char *like(const char *word_given)
{
	size_t least = SIZE_MAX;
	const char *best = NULL;
	struct option option;

	for (size_t i = 0; option_at(i, &option); i++)
		best = nearest(word_given, best, &least, option.name);
	return best;
}

static void a_mistyped_option_is_guessed(void **state)
{
	(void)state;
	assert_string_equal(like("--nework"), "--network");
	assert_string_equal(like("--readonly"), "--read-only");
	assert_string_equal(like("--tmpsize"), "--tmp-size");
	assert_string_equal(like("--proc"), "--processes");
	assert_null(like("--completely-different"));
	assert_null(like("-x"));
}

static void every_option_is_complete(void **state)
{
	struct option option;
	size_t count = 0;

	(void)state;
	for (; option_at(count, &option); count++) {
		assert_non_null(option.name);
		assert_true(option.name[0] == '-');
		assert_non_null(option.help);
		assert_true(option.where != 0);
		assert_true(option.own >= 0 || option.key);
	}
	assert_true(count > OPTION_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_end_at_the_command),
		cmocka_unit_test(other_commands_take_options_after_words),
		cmocka_unit_test(settings_keep_their_order_and_words),
		cmocka_unit_test(the_first_error_is_told_and_a_later_record_still_known),
		cmocka_unit_test(what_an_option_takes_is_checked),
		cmocka_unit_test(an_option_of_another_command_is_unknown),
		cmocka_unit_test(a_mistyped_option_is_guessed),
		cmocka_unit_test(every_option_is_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
