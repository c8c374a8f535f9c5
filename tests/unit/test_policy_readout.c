/* SPDX-License-Identifier: Apache-2.0 */
/* config show, paths and schema, and the dump that reads back as itself. */
#include "policy_world.h"

#include <jansson.h>
#include <regex.h>

#include "base/limits.h"

static struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);

static int clear(void **state)
{
	buf_free(&out);
	return world_clear(state);
}

/* ---- show ---- */

static const char *effect(void *arg, enum policy_key key)
{
	assert_ptr_equal(arg, &out);
	return key == KEY_MEMORY ? "no cgroup is delegated" : NULL;
}

/* The line that begins with `start`, with runs of blanks as one. */
static const char *line(const char *start)
{
	static char text[4096];
	const char *p = out.data;
	size_t n = 0;

	while (p && strncmp(p, start, strlen(start)) != 0)
		p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL;
	if (!p)
		fail_msg("no line '%s' in\n%s", start, out.data);
	for (; *p && *p != '\n' && n + 1 < sizeof(text); p++)
		if (*p != ' ' || p[1] != ' ')
			text[n++] = *p;
	text[n] = '\0';
	return text;
}

static void test_show(void **state)
{
	char expected[PATH_MAX + 128];

	(void)state;
	put(USER_FILE, "{\n\"hide\": [\n\"a b\", \"x\\n\\u001b(0\"], \"memory\": \"64M\"}");
	put(PROJECT_FILE, "{\n\n\"network\": \"offline\", \"env\": [\"A\"]}");
	assert_int_equal(set(KEY_MODE, "auto"), 0);
	load_fine();
	assert_int_equal(policy_show_text(&world_policy, effect, &out, &out), 0);
	assert_string_equal(line("mode"), "mode auto command line");
	assert_string_equal(line("home"), "home masked built in");
	assert_string_equal(line("write"), "write (none) built in");
	snprintf(expected, sizeof(expected), "hide 'a b' %s:3", at(USER_FILE));
	assert_string_equal(line("hide"), expected);
	assert_non_null(strstr(out.data, "'x\\x0a\\x1b(0'")); /* no name can forge a line */
	snprintf(expected, sizeof(expected), "memory 64M %s:3 (no effect: no cgroup is delegated)", at(USER_FILE));
	assert_string_equal(line("memory"), expected);
	snprintf(expected, sizeof(expected), "network offline %s:3", at(PROJECT_FILE));
	assert_string_equal(line("network"), expected);
	assert_string_equal(line("env "), "env (none) built in");
	snprintf(expected, sizeof(expected),
		 "%s:3  (no effect: a project's file may only tighten; see: pinfold trust)\n", at(PROJECT_FILE));
	assert_non_null(strstr(out.data, "env           [\"A\"]"));
	assert_non_null(strstr(out.data, expected));
	snprintf(expected, sizeof(expected), "worktree %s built in", world_work);
	assert_string_equal(line("worktree"), expected);
}

static void test_show_json(void **state)
{
	json_t *root, *keys, *item;
	const char *reason;

	(void)state;
	put(USER_FILE, "{\"hide\": [\"x\"], \"memory\": \"64M\", \"processes\": 5}");
	put(PROJECT_FILE, "{\n\"env\": [\"A\"]}");
	assert_int_equal(set(KEY_WRITE, "/x/\xff"), 0);
	load_fine();
	assert_int_equal(policy_show_json(&world_policy, effect, &out, &out), 0);
	root = json_loads(out.data, 0, NULL);
	keys = json_object_get(root, "keys");
	assert_int_equal(json_object_size(keys), KEY_COUNT);
	item = json_array_get(json_object_get(json_object_get(keys, "hide"), "items"), 0);
	assert_string_equal(json_string_value(json_object_get(item, "value")), "x");
	item = json_object_get(item, "source");
	assert_string_equal(json_string_value(json_object_get(item, "layer")), "user");
	assert_int_equal(json_integer_value(json_object_get(item, "line")), 1);
	item = json_array_get(json_object_get(json_object_get(keys, "write"), "items"), 0);
	assert_string_equal(json_string_value(json_object_get(json_object_get(item, "value"), "bytes")), "L3gv/w==");
	reason = json_string_value(json_object_get(json_object_get(keys, "memory"), "reason"));
	assert_string_equal(reason, "no cgroup is delegated");
	assert_true(json_is_false(json_object_get(json_object_get(keys, "memory"), "effect")));
	assert_int_equal(json_integer_value(json_object_get(json_object_get(keys, "processes"), "value")), 5);
	item = json_array_get(json_object_get(root, "ignored"), 0);
	assert_string_equal(json_string_value(json_object_get(item, "key")), "env");
	assert_int_equal(json_integer_value(json_object_get(item, "line")), 2);
	json_decref(root);
}

static void test_paths(void **state)
{
	char expected[PATH_MAX + 64];

	(void)state;
	put(PROJECT_FILE, "{}");
	load_fine();
	assert_int_equal(policy_paths(&world_policy, &out), 0);
	snprintf(expected, sizeof(expected), "administrator missing %s", at(ADMIN_FILE));
	assert_string_equal(line("administrator"), expected);
	snprintf(expected, sizeof(expected), "project read %s", at(PROJECT_FILE));
	assert_string_equal(line("project"), expected);
	snprintf(expected, sizeof(expected), "trust missing %s", at(TRUST_FILE));
	assert_string_equal(line("trust"), expected);
}

/* ---- dump ---- */

/* The dump of the loaded policy is the only file → the same dump. */
static void assert_round_trip(void)
{
	char *first = NULL;
	int error = 0;

	buf_free(&out);
	assert_int_equal(policy_dump(&world_policy, &out), 0);
	first = buf_take(&out, &error);
	assert_non_null(first);
	unlink(at(ADMIN_FILE));
	unlink(at(PROJECT_FILE));
	forget();
	put(USER_FILE, first);
	load_fine();
	assert_int_equal(policy_dump(&world_policy, &out), 0);
	assert_string_equal(out.data, first);
	free(first);
}

static void test_dump_built_in(void **state)
{
	(void)state;
	load_fine();
	assert_round_trip();
	assert_true(policy_accepts(&world_policy, "services", false));
}

static void test_dump_all(void **state)
{
	(void)state;
	put(ADMIN_FILE, "{\"hide\": [\"/srv\"], \"env\": [\"A=1\"], \"processes\": 7}");
	put(USER_FILE, "{\"read\": [\"/srv/x\", \"/ok\"], \"hide\": [\"*.pem\", \"/a\", \"/p\"],"
		       "\"env\": [\"A=2\"], \"memory\": 1000}");
	put(PROJECT_FILE, "{\"protect\": [\"ci/\"], \"hide\": [\"/ok\"], \"time\": \"1500ms\"}");
	assert_int_equal(set(KEY_READ, "/a"), 0);
	assert_int_equal(set(KEY_WRITE, "/w/\xfe/"), 0);
	assert_int_equal(set(KEY_HIDE, "/a/b"), 0);
	assert_int_equal(set(KEY_ENV, "A=1"), 0);
	assert_int_equal(set(KEY_ACCEPT, "none"), 0);
	assert_int_equal(set(KEY_ACCEPT, "network=absent"), 0);
	assert_int_equal(set(KEY_TMP, "/srv/tmp"), 0);
	assert_int_equal(set(KEY_READ_ONLY, "true"), 0);
	load_fine();
	assert_round_trip();
	/* the rights are those of the layers together */
	assert_int_equal(policy_rule(&world_policy, AXIS_READ, "/srv/x", NULL, NULL), RULE_DENY);
	assert_int_equal(policy_rule(&world_policy, AXIS_READ, "/ok", NULL, NULL), RULE_DENY);
	assert_int_equal(policy_rule(&world_policy, AXIS_READ, "/a/x", NULL, NULL), RULE_ALLOW);
	assert_int_equal(policy_rule(&world_policy, AXIS_READ, "/a/b", NULL, NULL), RULE_DENY);
	assert_int_equal(policy_rule(&world_policy, AXIS_READ, "/p", NULL, NULL), RULE_DENY);
	assert_int_equal(policy_rule(&world_policy, AXIS_WRITE, "/w/\xfe/x", NULL, NULL), RULE_ALLOW);
	assert_false(policy_accepts(&world_policy, "services", false));
	assert_true(policy_accepts(&world_policy, "network", false));
	assert_false(policy_accepts(&world_policy, "network", true)); /* the command line's alone */
	assert_int_equal(world_policy.value[KEY_ENV].count, 2);
	assert_string_equal(world_policy.value[KEY_ENV].items[0].text, "A=2");
	assert_string_equal(world_policy.value[KEY_ENV].items[1].text, "A=1");
}

/* The digest names the policy: it changes with it and with nothing else. */
static void test_digest(void **state)
{
	char first[65], second[65];

	(void)state;
	load_fine();
	strcpy(first, world_policy.sha256);
	forget();
	assert_int_equal(set(KEY_VERBOSE, "true"), 0);
	load_fine();
	assert_string_equal(world_policy.sha256, first);
	forget();
	assert_int_equal(set(KEY_HIDE, "x"), 0);
	load_fine();
	assert_string_not_equal(world_policy.sha256, first);
	strcpy(second, world_policy.sha256);
	forget();
	assert_int_equal(set(KEY_PROTECT, "x"), 0);
	load_fine();
	assert_string_not_equal(world_policy.sha256, second);
}

/* ---- schema ---- */

/* A validator of what our schema uses of JSON Schema, no more. */
static bool is_valid(const json_t *root, const json_t *schema, const json_t *value);

static bool has_type(const char *type, const json_t *value)
{
	return (strcmp(type, "object") == 0 && json_is_object(value)) ||
	       (strcmp(type, "array") == 0 && json_is_array(value)) ||
	       (strcmp(type, "string") == 0 && json_is_string(value)) ||
	       (strcmp(type, "integer") == 0 && json_is_integer(value)) ||
	       (strcmp(type, "boolean") == 0 && json_is_boolean(value));
}

/* POSIX knows neither (?!...) nor \u: the two forms that use them are tried by hand. */
static bool has_form(const char *form, const char *text)
{
	regex_t regex;
	bool matches;

	if (strstr(form, "(?!")) {
		size_t length = strlen(text);

		return *text == '/' && (length == 1 || text[length - 1] != '/') && !strstr(text, "//") &&
		       !strstr(text, "/./") && !strstr(text, "/../");
	}
	if (strstr(form, "\\u0000"))
		form = "^[^= ]+(=|$)";
	assert_int_equal(regcomp(&regex, form, REG_EXTENDED | REG_NOSUB), 0);
	matches = regexec(&regex, text, 0, NULL, 0) == 0;
	regfree(&regex);
	return matches;
}

static bool any_of(const json_t *root, const json_t *forms, const json_t *value)
{
	for (size_t i = 0; i < json_array_size(forms); i++)
		if (is_valid(root, json_array_get(forms, i), value))
			return true;
	return false;
}

static bool is_among(const json_t *list, const json_t *value)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_equal(json_array_get(list, i), value))
			return true;
	return false;
}

static const json_t *deref(const json_t *root, const json_t *schema)
{
	const char *ref = json_string_value(json_object_get(schema, "$ref"));

	if (!ref)
		return schema;
	assert_int_equal(strncmp(ref, "#/$defs/", 8), 0);
	return json_object_get(json_object_get(root, "$defs"), ref + 8);
}

static bool members_are_valid(const json_t *root, const json_t *schema, json_t *object)
{
	const json_t *others = json_object_get(schema, "additionalProperties");
	const json_t *names = json_object_get(schema, "propertyNames");
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value)
	{
		const json_t *form = json_object_get(json_object_get(schema, "properties"), name);

		if (names && !has_form(json_string_value(json_object_get(names, "pattern")), name))
			return false;
		if (!form && json_is_false(others))
			return false;
		if (!is_valid(root, form ? form : others, value))
			return false;
	}
	return true;
}

static bool is_valid(const json_t *root, const json_t *schema, const json_t *value)
{
	const char *type, *form;
	const json_t *part;

	schema = deref(root, schema);
	type = json_string_value(json_object_get(schema, "type"));
	form = json_string_value(json_object_get(schema, "pattern"));
	if (type && !has_type(type, value))
		return false;
	if (form && !has_form(form, json_string_value(value)))
		return false;
	if ((part = json_object_get(schema, "not")) &&
	    has_form(json_string_value(json_object_get(part, "pattern")), json_string_value(value)))
		return false;
	if ((part = json_object_get(schema, "enum")) && !is_among(part, value))
		return false;
	if ((part = json_object_get(schema, "const")) && !json_equal(part, value))
		return false;
	if ((part = json_object_get(schema, "anyOf")) && !any_of(root, part, value))
		return false;
	if ((part = json_object_get(schema, "minimum")) && json_integer_value(value) < json_integer_value(part))
		return false;
	if ((part = json_object_get(schema, "required")))
		for (size_t i = 0; i < json_array_size(part); i++)
			if (!json_object_get(value, json_string_value(json_array_get(part, i))))
				return false;
	for (size_t i = 0; i < json_array_size(value); i++)
		if (!is_valid(root, json_object_get(schema, "items"), json_array_get(value, i)))
			return false;
	return !json_is_object(value) || members_are_valid(root, schema, (json_t *)value);
}

static const struct document {
	const char *text;
	bool is_fine;
	bool is_project;
} documents[] = {
	{"{}", true, false},
	{"{\"read_only\": true}", true, false},
	{"{\"read_only\": \"true\"}", false, false},
	{"{\"read_only\": null}", false, false},
	{"{\"mode\": \"auto\"}", true, false},
	{"{\"mode\": \"lax\"}", false, false},
	{"{\"mode\": [\"auto\"]}", false, false},
	{"{\"network\": \"filtered\"}", false, false},
	{"{\"backend\": \"namespaces\"}", true, false},
	{"{\"backend\": \"docker\"}", false, false},
	{"{\"accept\": [\"writes\", \"none\"]}", true, false},
	{"{\"accept\": [\"write\"]}", false, false},
	{"{\"accept\": [\"writes=absent\"]}", false, false},
	{"{\"accept\": \"writes\"}", false, false},
	{"{\"write\": []}", true, false},
	{"{\"write\": [\"/a\", \"~/b/\", \"~\"]}", true, false},
	{"{\"write\": [\"a\"]}", false, false},
	{"{\"write\": [\"\"]}", false, false},
	{"{\"write\": [\"~x\"]}", false, false},
	{"{\"write\": [{\"bytes\": \"L3gv/w==\"}]}", true, false},
	{"{\"write\": [{\"byte\": \"L3gv/w==\"}]}", false, false},
	{"{\"write\": [{\"bytes\": \"L3gv/w==\", \"x\": 1}]}", false, false},
	{"{\"write\": [1]}", false, false},
	{"{\"hide\": [\"*.pem\", \"~/x\", \"/y\", \"a/..b\"]}", true, false},
	{"{\"hide\": [\"!x\"]}", false, false},
	{"{\"hide\": [\"a/../b\"]}", false, false},
	{"{\"hide\": [\"..\"]}", false, false},
	{"{\"hide\": [\"\"]}", false, false},
	{"{\"protect\": \"x\"}", false, false},
	{"{\"env\": [\"A\", \"B=\", \"C=x y\"]}", true, false},
	{"{\"env\": [\"=x\"]}", false, false},
	{"{\"env\": [\"A B=x\"]}", false, false},
	{"{\"tmp\": \"private\"}", true, false},
	{"{\"tmp\": \"/srv\"}", true, false},
	{"{\"tmp\": \"other\"}", false, false},
	{"{\"time\": \"90s\"}", true, false},
	{"{\"time\": \"none\"}", true, false},
	{"{\"time\": \"90\"}", false, false},
	{"{\"time\": \"0s\"}", false, false},
	{"{\"time\": 90}", false, false},
	{"{\"memory\": \"64M\"}", true, false},
	{"{\"memory\": 65536}", true, false},
	{"{\"memory\": 0}", false, false},
	{"{\"memory\": \"64m\"}", false, false},
	{"{\"memory\": \"0\"}", false, false},
	{"{\"memory\": 1.5}", false, false},
	{"{\"processes\": 7}", true, false},
	{"{\"processes\": \"none\"}", true, false},
	{"{\"processes\": \"7\"}", false, false},
	{"{\"processes\": -1}", false, false},
	{"{\"worktree\": \"/x\"}", false, false},
	{"{\"verbose\": true}", false, false},
	{"{\"unknown\": true}", false, false},
	{"{\"projects\": {\"/x\": {\"mode\": \"off\"}}}", true, false},
	{"{\"projects\": {\"x\": {}}}", false, false},
	{"{\"projects\": {\"/x/\": {}}}", false, false},
	{"{\"projects\": {\"/x\": {\"projects\": {}}}}", false, false},
	{"{\"projects\": {\"/x\": []}}", false, false},
	{"{\"$schema\": \"schema.json\", \"mode\": \"auto\"}", true, false},
	{"{\"$schema\": \"schema.json\"}", true, true},
	{"{\"$schema\": 1}", false, false},
	{"{\"projects\": {\"/x\": {\"$schema\": \"x\"}}}", false, false},
	{"[]", false, false},
	{"{\"write\": [\"a/b\", \"~/x\"], \"tmp\": \"out\"}", true, true},
	{"{\"write\": [\"\"]}", false, true},
	{"{\"projects\": {}}", false, true},
	{"{\"hide\": [\"./x\"]}", true, true},
};

static void test_schema(void **state)
{
	const char *const files[] = {USER_FILE, PROJECT_FILE};
	json_t *root;

	(void)state;
	assert_int_equal(policy_schema(&out), 0);
	root = json_loads(out.data, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		const struct document *row = &documents[i];
		const json_t *form = row->is_project ? json_object_get(json_object_get(root, "$defs"), "project")
						     : root;
		json_t *value = json_loads(row->text, 0, NULL);
		int r;

		assert_non_null(value);
		put(files[row->is_project], row->text);
		r = policy_check_file(at(files[row->is_project]), row->is_project ? LAYER_PROJECT : LAYER_USER,
				      &world_error);
		if ((r == 0) != row->is_fine)
			fail_msg("the reader on %s: %s", row->text, error_text());
		if (is_valid(root, form, value) != row->is_fine)
			fail_msg("the schema on %s", row->text);
		json_decref(value);
	}
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_show, clear),     cmocka_unit_test_teardown(test_show_json, clear),
		cmocka_unit_test_teardown(test_paths, clear),    cmocka_unit_test_teardown(test_dump_built_in, clear),
		cmocka_unit_test_teardown(test_dump_all, clear), cmocka_unit_test_teardown(test_digest, clear),
		cmocka_unit_test_teardown(test_schema, clear),
	};

	return cmocka_run_group_tests_name("policy: readouts", tests, world_make, world_remove);
}
