/* SPDX-License-Identifier: Apache-2.0 */
/* Refusal, status, print and record of plans that are written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "plan/plan.h"
#include "report/outcome.h"
#include "report/report.h"

struct world {
	struct pinfold_policy policy;
	struct pinfold_host host;
	struct pinfold_plan plan;
	struct policy_file file;
};

static void add(struct world *world, struct strv *list, const char *text)
{
	assert_int_equal(strv_add(&world->plan.arena, list, text), 0);
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct pinfold_plan *plan = &world->plan;

	world->file = (struct policy_file){ .layer = LAYER_USER, .path = "/home/kim/.config/pinfold/config.json" };
	world->policy.files = &world->file;
	world->policy.file_count = 1;
	world->policy.loaded = true;
	world->policy.config_fd = -1;
	world->policy.cwd = world->policy.worktree = "/src/site";
	world->policy.value[KEY_NETWORK].number = NETWORK_OPEN;
	world->policy.value[KEY_GIT].number = GIT_COMMIT;
	memcpy(world->host.kernel, "6.1.0", 6);
	world->host.landlock_abi = 2;
	plan->policy = &world->policy;
	plan->host = &world->host;
	plan->backend = BACKEND_OWN_NAMESPACES;
	plan->limits = (struct plan_limits){ POLICY_NONE, POLICY_NONE, POLICY_NONE, POLICY_NONE };
	add(world, &plan->argv, "make");
	add(world, &plan->argv, "it's");
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		add(world, &plan->guarantee[i].by, "mounts");
	plan->guarantee[GUARANTEE_LIMITS].state = STATE_NOT_ASKED;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	arena_free(&world->plan.arena);
	free(world);
	return 0;
}

static void open_guarantee(struct world *world, enum guarantee guarantee, enum guarantee_state state, const char *why)
{
	world->plan.guarantee[guarantee].state = state;
	world->plan.guarantee[guarantee].why = why;
}

/* ---- refusal --------------------------------------------------------------------------------------------------- */

static void what_is_held_or_accepted_runs(void **state)
{
	struct world *world = *state;
	struct pinfold_error error;

	assert_int_equal(plan_refusal(&world->plan, &error), 0);
	open_guarantee(world, GUARANTEE_SERVICES, STATE_WEAKER, "a part is open");
	world->plan.guarantee[GUARANTEE_SERVICES].accepted = true;
	assert_int_equal(plan_refusal(&world->plan, &error), 0);
}

static void other_modes_accept_everything(void **state)
{
	struct world *world = *state;

	open_guarantee(world, GUARANTEE_WRITES, STATE_ABSENT, "nothing holds it");
	world->policy.value[KEY_MODE].number = MODE_AUTO;
	assert_int_equal(plan_refusal(&world->plan, NULL), 0);
	world->policy.value[KEY_MODE].number = MODE_OFF;
	assert_int_equal(plan_refusal(&world->plan, NULL), 0);
	world->policy.value[KEY_MODE].number = MODE_REQUIRED;
	assert_int_equal(plan_refusal(&world->plan, NULL), -EPERM);
}

static void a_refusal_names_the_reason_and_the_line_that_accepts(void **state)
{
	struct world *world = *state;
	struct pinfold_error error;

	open_guarantee(world, GUARANTEE_SERVICES, STATE_WEAKER, "the host's abstract sockets can be reached");
	assert_int_equal(plan_refusal(&world->plan, &error), -EPERM);
	assert_int_equal(error.code, PINFOLD_REFUSED);
	assert_string_equal(error.text, "refused: services is weaker here: the host's abstract sockets can be reached");
	assert_string_equal(error.hint, "to run anyway: pinfold run --accept services -- make 'it'\\''s' (for good, in "
					"/home/kim/.config/pinfold/config.json: \"accept\": [\"services\"])");
}

/* A line without them would run with the network open, or without the limit. */
static void the_line_that_accepts_keeps_the_other_options(void **state)
{
	static const struct {
		enum policy_key key;
		const char *text;
	} said[] = {
		{ KEY_NETWORK, "offline" }, { KEY_READ_ONLY, "true" }, { KEY_ACCEPT, "none" },
		{ KEY_TIME, "10m" }, { KEY_HIDE, "*.pem" }, { KEY_VERBOSE, "true" },
		{ KEY_ENV, "TOKEN=secret" }, { KEY_MEMORY, "none" },
	};
	struct pinfold_policy policy = { .config_fd = 7 };
	struct world *world = *state;
	struct pinfold_error error;

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		assert_int_equal(policy_set(&policy, said[i].key, said[i].text, "/src/site", &error), 0);
	open_guarantee(world, GUARANTEE_SERVICES, STATE_WEAKER, "why");
	world->plan.policy = &policy;
	assert_int_equal(plan_refusal(&world->plan, &error), -EPERM);
	assert_string_equal(error.hint, "to run anyway: pinfold run --config fd:7 --network offline --read-only "
					"--no-accept --time 10m --hide '*.pem' --env TOKEN=... --memory none "
					"--accept services -- make 'it'\\''s'");
	arena_free(&policy.arena);
}

static void options_that_are_too_long_are_left_out_together(void **state)
{
	struct pinfold_policy policy = { .config_fd = -1 };
	struct world *world = *state;
	struct pinfold_error error;
	char pattern[300];

	memset(pattern, 'x', sizeof(pattern) - 1);
	pattern[sizeof(pattern) - 1] = '\0';
	assert_int_equal(policy_set(&policy, KEY_HIDE, pattern, "/src/site", &error), 0);
	open_guarantee(world, GUARANTEE_SERVICES, STATE_WEAKER, "why");
	world->plan.policy = &policy;
	assert_int_equal(plan_refusal(&world->plan, &error), -EPERM);
	assert_string_equal(error.hint, "to run anyway, add the option --accept services");
	arena_free(&policy.arena);
}

static void what_is_absent_is_accepted_on_the_command_line_only(void **state)
{
	struct world *world = *state;
	struct pinfold_error error;

	open_guarantee(world, GUARANTEE_PROCESSES, STATE_ABSENT, "nothing");
	assert_int_equal(plan_refusal(&world->plan, &error), -EPERM);
	assert_non_null(strstr(error.hint, "--accept processes=absent -- make"));
	assert_null(strstr(error.hint, "config.json"));

	open_guarantee(world, GUARANTEE_SERVICES, STATE_WEAKER, "something");
	assert_int_equal(plan_refusal(&world->plan, &error), -EPERM);
	assert_non_null(strstr(error.text, "services is weaker here: something; processes is absent here: nothing"));
	assert_non_null(strstr(error.hint, "--accept services,processes=absent -- make"));
	assert_non_null(strstr(error.hint, "\"accept\": [\"services\"]"));
}

static void a_long_command_is_not_repeated(void **state)
{
	struct world *world = *state;
	struct pinfold_error error;
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	add(world, &world->plan.argv, text);
	open_guarantee(world, GUARANTEE_SERVICES, STATE_WEAKER, "something");
	assert_int_equal(plan_refusal(&world->plan, &error), -EPERM);
	assert_non_null(strstr(error.hint, "--accept services -- COMMAND"));
}

/* ---- status ---------------------------------------------------------------------------------------------------- */

static void status_is_read_back(void **state)
{
	struct world *world = *state;
	struct buf json = BUF_INIT(4096), text = BUF_INIT(4096);
	struct pinfold_error error;

	open_guarantee(world, GUARANTEE_SERVICES, STATE_WEAKER, "something");
	world->plan.limits.time_ms = 60000;
	assert_int_equal(plan_status_json(&world->plan, &json), 0);
	assert_int_equal(status_read(json.data, PINFOLD_TEXT, &text, &error), 1);
	assert_non_null(strstr(text.data, "confined: yes\n"));
	assert_non_null(strstr(text.data, "except /src/site,"));
	assert_non_null(strstr(text.data, "weaker: services: something\n"));
	assert_non_null(strstr(text.data, "time: 1m\n"));
	buf_free(&json);
	buf_free(&text);
}

static void status_stays_small(void **state)
{
	static const size_t lengths[] = { 10, 400, 600, 900, 4000 };
	struct world *world = *state;
	char path[4001];

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct buf json = BUF_INIT(8192);
		json_t *object;

		memset(path, 'x', sizeof(path));
		path[0] = '/';
		path[lengths[i]] = '\0';
		world->policy.worktree = path;
		for (int g = 0; g < GUARANTEE_COUNT; g++)
			open_guarantee(world, (enum guarantee)g, STATE_WEAKER, "a reason of forty characters or so");
		assert_int_equal(plan_status_json(&world->plan, &json), 0);
		assert_true(json.len < LIMIT_STATUS_BYTES);
		object = json_loads(json.data, 0, NULL);
		assert_int_equal(json_object_size(json_object_get(object, "weaker")), GUARANTEE_COUNT);
		json_decref(object);
		buf_free(&json);
	}
}

static void a_status_from_elsewhere_is_foreign_data(void **state)
{
	static const char forged[] = "{\"confined\":true,\"worktree\":\"\\u001b[2J\",\"held\":7,\"weaker\":[1]}";
	static const char *const bad[] = {
		"", "{", "[]", "1", "{}", "{\"confined\":1}", "{\"confined\":true,\"confined\":true}",
	};
	struct buf text = BUF_INIT(4096);
	struct pinfold_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(status_read(bad[i], PINFOLD_TEXT, &text, &error), -EINVAL);
	assert_int_equal(status_read(forged, PINFOLD_TEXT, &text, &error), 1);
	assert_null(strchr(text.data, '\033'));
	buf_free(&text);
}

/* ---- print and record ------------------------------------------------------------------------------------------ */

static void a_plan_names_variables_but_not_their_values(void **state)
{
	struct world *world = *state;
	struct buf text = BUF_INIT(65536), json = BUF_INIT(65536);
	json_t *object;

	add(world, &world->plan.environment, "TOKEN=hush");
	add(world, &world->plan.removed, "AWS_SECRET");
	assert_int_equal(plan_print_text(&world->plan, &text), 0);
	assert_int_equal(plan_print_json(&world->plan, &json), 0);
	assert_null(strstr(text.data, "hush"));
	assert_null(strstr(json.data, "hush"));
	assert_non_null(strstr(text.data, "AWS_SECRET"));
	object = json_loads(json.data, 0, NULL);
	assert_string_equal(json_string_value(json_array_get(json_object_get(object, "environment"), 0)), "TOKEN");
	assert_int_equal(json_object_size(json_object_get(object, "guarantees")), GUARANTEE_COUNT);
	json_decref(object);
	buf_free(&text);
	buf_free(&json);
}

static void an_outcome_outlives_its_plan(void **state)
{
	struct world *world = *state;
	struct run_result result = { .ran = true, .code = 3, .fact = -1, .duration_ms = 12 };
	struct pinfold_outcome *outcome;
	struct buf json = BUF_INIT(65536);
	json_t *record;

	memcpy(world->policy.sha256, "abc", 4);
	outcome = outcome_new();
	assert_non_null(outcome);
	outcome_fill(outcome, &world->plan, NULL, &result);
	arena_free(&world->plan.arena);
	memset(world, 0, sizeof(*world));
	assert_int_equal(record_json(outcome, &json), 0);
	record = json_loads(json.data, 0, NULL);
	assert_string_equal(json_string_value(json_array_get(json_object_get(record, "command"), 1)), "it's");
	assert_string_equal(json_string_value(json_object_get(record, "worktree")), "/src/site");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(record, "exit"), "code")), 3);
	assert_true(json_is_true(json_object_get(record, "ran")));
	json_decref(record);
	buf_free(&json);
	outcome_destroy(outcome);
}

static void every_ending_has_its_status(void **state)
{
	static const struct {
		struct run_result result;
		int status;
	} cases[] = {
		{ { .ran = true, .code = 0 }, 0 },
		{ { .ran = true, .code = 255 }, 255 },
		{ { .ran = true, .code = -1, .signal = 9 }, 137 },
		{ { .ran = true, .code = -1, .signal = 9, .timed_out = true }, 124 },
		{ { .ran = true, .code = 0, .error = { .code = PINFOLD_INTERNAL } }, 0 },
		{ { .code = -1, .error = { .code = PINFOLD_REFUSED } }, 125 },
		{ { .code = -1, .error = { .code = PINFOLD_UNAVAILABLE } }, 125 },
		{ { .code = -1, .error = { .code = PINFOLD_NOT_EXECUTABLE } }, 126 },
		{ { .code = -1, .error = { .code = PINFOLD_NOT_FOUND } }, 127 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(outcome_status(&cases[i].result), cases[i].status);
}

static void a_key_without_effect_says_why(void **state)
{
	struct world *world = *state;
	struct effect_context context = { &world->policy, NULL };

	world->policy.worktree = "/";
	assert_null(effect_of(&context, KEY_TMP_SIZE));
	world->policy.value[KEY_TMP].text = "/srv/tmp";
	assert_non_null(effect_of(&context, KEY_TMP_SIZE));
	assert_null(effect_of(&context, KEY_WRITE));
	world->policy.value[KEY_MODE].number = MODE_AUTO;
	assert_non_null(effect_of(&context, KEY_ACCEPT));
	world->policy.value[KEY_MODE].number = MODE_OFF;
	assert_non_null(effect_of(&context, KEY_WRITE));
	assert_null(effect_of(&context, KEY_MODE));
	assert_null(effect_of(&context, KEY_TIME));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_held_or_accepted_runs),
		TEST(other_modes_accept_everything),
		TEST(a_refusal_names_the_reason_and_the_line_that_accepts),
		TEST(the_line_that_accepts_keeps_the_other_options),
		TEST(options_that_are_too_long_are_left_out_together),
		TEST(what_is_absent_is_accepted_on_the_command_line_only),
		TEST(a_long_command_is_not_repeated),
		TEST(status_is_read_back),
		TEST(status_stays_small),
		TEST(a_status_from_elsewhere_is_foreign_data),
		TEST(a_plan_names_variables_but_not_their_values),
		TEST(an_outcome_outlives_its_plan),
		TEST(every_ending_has_its_status),
		TEST(a_key_without_effect_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
