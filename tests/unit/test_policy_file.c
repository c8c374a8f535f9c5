/* SPDX-License-Identifier: Apache-2.0 */
/* What a configuration file may say, and how an error names its place. */
#include "policy_world.h"

#include <errno.h>

#include "base/limits.h"

static void test_all_keys(void **state)
{
	(void)state;
	put(USER_FILE,
	    "{\n"
	    "  \"read_only\": true, \"mode\": \"auto\", \"backend\": \"namespaces\",\n"
	    "  \"accept\": [\"network\"], \"write\": [\"/srv/data\", \"~/out/\"], \"read\": [\"~/.netrc\"],\n"
	    "  \"hide\": [\"*.pem\"], \"protect\": [\"ci/\"], \"home\": \"hidden\", \"git\": \"readonly\",\n"
	    "  \"network\": \"offline\", \"reach\": [5432, \"08080:80\"], \"publish\": [\"3000\"],"
	    " \"socket\": [\"/run/x.sock\"], \"device\": [\"/dev/kvm\"],\n"
	    "  \"env\": [\"A\", \"B=c d\"], \"env_mode\": \"list\", \"tmp\": \"/srv/tmp\", \"time\": \"90s\",\n"
	    "  \"memory\": \"64M\", \"processes\": 100, \"tmp_size\": 65536\n"
	    "}\n");
	load_fine();
	assert_int_equal(policy_number(&world_policy, KEY_READ_ONLY), 1);
	assert_int_equal(policy_number(&world_policy, KEY_MODE), MODE_AUTO);
	assert_int_equal(policy_number(&world_policy, KEY_BACKEND), BACKEND_NAMESPACES);
	assert_true(policy_accepts(&world_policy, "network", false));
	assert_true(has_item(KEY_WRITE, "/srv/data"));
	assert_true(has_item(KEY_WRITE, at("home/out/"))); /* the slash asks for the directory to be made */
	assert_true(has_item(KEY_READ, at("home/.netrc")));
	assert_true(has_item(KEY_HIDE, "*.pem"));
	assert_true(has_item(KEY_PROTECT, "ci/"));
	assert_int_equal(policy_number(&world_policy, KEY_HOME), HOME_HIDDEN);
	assert_int_equal(policy_number(&world_policy, KEY_GIT), GIT_READONLY);
	assert_int_equal(policy_number(&world_policy, KEY_NETWORK), NETWORK_OFFLINE);
	assert_true(has_item(KEY_REACH, "5432"));
	assert_true(has_item(KEY_REACH, "8080:80"));
	assert_true(has_item(KEY_PUBLISH, "3000"));
	assert_true(has_item(KEY_SOCKET, "/run/x.sock"));
	assert_true(has_item(KEY_DEVICE, "/dev/kvm"));
	assert_true(has_item(KEY_ENV, "B=c d"));
	assert_int_equal(policy_number(&world_policy, KEY_ENV_MODE), ENV_LIST);
	assert_string_equal(world_policy.value[KEY_TMP].text, "/srv/tmp");
	assert_int_equal(policy_number(&world_policy, KEY_TIME), 90000);
	assert_int_equal(policy_number(&world_policy, KEY_MEMORY), 64 << 20);
	assert_int_equal(policy_number(&world_policy, KEY_PROCESSES), 100);
	assert_int_equal(policy_number(&world_policy, KEY_TMP_SIZE), 65536);
	assert_string_equal(world_policy.value[KEY_MEMORY].source.file, at(USER_FILE));
	assert_int_equal(world_policy.value[KEY_MEMORY].source.line, 7);
}

/* An editor's way to the schema is no setting, in a project's file as well, and the lines stay right behind it. */
static void test_schema_key(void **state)
{
	(void)state;
	put(USER_FILE, "{\n\"$schema\": \"file:///usr/share/pinfold.json\",\n\"mode\": \"auto\"\n}\n");
	put(PROJECT_FILE, "{ \"$schema\": \"../schema.json\", \"network\": \"offline\" }");
	load_fine();
	assert_int_equal(world_policy.value[KEY_MODE].source.line, 3);
	assert_int_equal(policy_number(&world_policy, KEY_NETWORK), NETWORK_OFFLINE);
	assert_int_equal(world_policy.ignored_count, 0);
}

static void test_comments(void **state)
{
	(void)state;
	put(USER_FILE, "// first\n"
		       "{ /* a\n"
		       "     b, \"mode\": \"off\" */\n"
		       "  \"env\": [\"A=http://x/*y*/\", \"B=\\\"//\\\"\", ], // c: ,\n"
		       "  \"hide\": [\n"
		       "    \"one\", /* , */\n"
		       "    \"two\" , // last\n"
		       "  ],\n"
		       "}\n"
		       "// end");
	load_fine();
	assert_true(has_item(KEY_ENV, "A=http://x/*y*/"));
	assert_true(has_item(KEY_ENV, "B=\"//\""));
	assert_int_equal(world_policy.value[KEY_ENV].items[0].source.line, 4);
	assert_string_equal(world_policy.value[KEY_HIDE].items[1].text, "two");
	assert_int_equal(world_policy.value[KEY_HIDE].items[1].source.line, 7);
	assert_int_equal(policy_number(&world_policy, KEY_MODE), MODE_REQUIRED);
}

static const struct bad_file {
	const char *text;
	int line;
	const char *key, *says;
} bad_files[] = {
	/* syntax */
	{"", 1, "", "the file is empty"},
	{" \n// nothing\n", 1, "", "the file is empty"},
	{"\xef\xbb\xbf{}", 1, "", "begins with a byte order mark"},
	{"{\n\"mode\": \"auto\"\n", 3, "", "not valid JSON"},
	{"{\n\n\"mode\" \"auto\"}", 3, "", "not valid JSON"},
	{"{} x", 1, "", "not valid JSON"},
	{"{\"hide\": [,]}", 1, "", "not valid JSON"},
	{"{\"hide\": [\"a\",,]}", 1, "", "not valid JSON"},
	{"{,}", 1, "", "not valid JSON"},
	{"{\n/* never", 2, "", "comment does not end"},
	{"{\"hide\": [\"\xff\"]}", 1, "", "not valid JSON"},
	{"{\"hide\": [\"a\\u0000b\"]}", 1, "", "\\u0000 cannot stand in a text"},
	{"{\"a\\u0000\": 1}", 1, "", "\\u0000 cannot stand in a text"},
	{"{\"a\":[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]}", 1, "", "nesting"},
	{"[]", 1, "", "a list, and has to be an object"},
	{"null", 1, "", "null, and has to be an object"},
	/* values */
	{"{\"hide\": [{\"bytes\": \"x\"}]}", 1, "hide", "base64"},
	{"{\"hide\": [{\"bytes\": \"/w==\", \"more\": 1}]}", 1, "hide", "base64"},
	{"{\"hide\": {\"bytes\": \"/w==\"}}", 1, "hide", "a list of strings"},
	{"{\"hide\": [1]}", 1, "hide", "has to be a string"},
	{"{\"time\": {\"bytes\": \"x\"}}", 1, "time", "has to be a string"},
	{"{\"$schema\": 1}", 1, "$schema", "has to be a string"},
	{"{\"projects\": {\"/x\": {\"$schema\": \"x\"}}}", 1, "$schema", "no such key"},
	/* keys */
	{"{\n\"mode\": \"auto\",\n\"mode\": \"auto\"}", 3, "mode", "twice"},
	{"{\n\n\"modee\": 1}", 3, "modee", "did you mean 'mode'"},
	{"{\"read-only\": true}", 1, "read-only", "did you mean 'read_only'"},
	{"{\"--mode\": \"auto\"}", 1, "--mode", "no such key"},
	{"{\"xyzzy\": true}", 1, "xyzzy", "no such key"},
	{"{\"worktree\": \"/x\"}", 1, "worktree", "command line only"},
	{"{\"verbose\": true}", 1, "verbose", "command line only"},
	/* types */
	{"{\n\"hide\":\n\"x\"}", 2, "hide", "write [\"x\"]"},
	{"{\"hide\": [\n\"a\",\n5]}", 3, "hide", "a number, and has to be a string"},
	{"{\"hide\": null}", 1, "hide", "null"},
	{"{\"hide\": [[\"a\"]]}", 1, "hide", "a list"},
	{"{\"mode\": true}", 1, "mode", "true, and has to be a string"},
	{"{\"read_only\": \"true\"}", 1, "read_only", "a string, and has to be true or false"},
	{"{\"read_only\": 1}", 1, "read_only", "true or false"},
	{"{\"time\": 30}", 1, "time", "a number, and has to be a string"},
	{"{\"time\": null}", 1, "time", "none"},
	{"{\"memory\": 1.5}", 1, "memory", "a number"},
	{"{\"processes\": \"100\"}", 1, "processes", "a whole number"},
	/* values */
	{"{\n\"mode\":\n\"lax\"}", 2, "mode", "required, auto or off"},
	{"{\"network\": \"filtered\"}", 1, "network", "offline or open"},
	{"{\"backend\": \"docker\"}", 1, "backend", "auto, namespaces, bwrap or landlock"},
	{"{\"time\": \"30\"}", 1, "time", "a duration such as"},
	{"{\"time\": \"0s\"}", 1, "time", "0s"},
	{"{\"memory\": \"64X\"}", 1, "memory", "a size such as"},
	{"{\"memory\": 0}", 1, "memory", "'0'"},
	{"{\"memory\": -5}", 1, "memory", "'-5'"},
	{"{\"memory\": \"99999999999999999999\"}", 1, "memory", "out of range"},
	{"{\"processes\": 0}", 1, "processes", "out of range"},
	{"{\"accept\": [\"everything\"]}", 1, "accept", "not one of writes"},
	{"{\"accept\": [\"writes=absent\"]}", 1, "accept", "command line only"},
	{"{\"accept\": [\"writes=x\"]}", 1, "accept", "neither"},
	{"{\"env\": [\"=x\"]}", 1, "env", "no name"},
	{"{\"env\": [\"A B=x\"]}", 1, "env", "no name"},
	{"{\"env\": [\"\"]}", 1, "env", "no name"},
	/* paths */
	{"{\n\"write\": [\n\"data\"]}", 3, "write", "not an absolute path"},
	{"{\"write\": [\"\"]}", 1, "write", "empty"},
	{"{\"read\": [\"~other/x\"]}", 1, "read", "not an absolute path"},
	{"{\"tmp\": \"tmp\"}", 1, "tmp", "not an absolute path"},
	{"{\"hide\": [\"!x\"]}", 1, "hide", "'!x'"},
	{"{\"protect\": [\"a/../b\"]}", 1, "protect", "'..'"},
	/* contradictions */
	{"{\"hide\": [\"~/.x\"],\n\"read\": [\"~/.x\"]}", 1, "hide", "of read on line 2"},
	{"{\"write\": [\"/a/\"],\n\"hide\": [\"b\", \"/a\"]}", 2, "hide", "of write on line 1"},
	{"{\"protect\": [\n\"/a/b\"],\n\"write\": [\"/a//b/.\"]}", 2, "protect", "of write on line 3"},
	/* projects */
	{"{\"projects\": []}", 1, "projects", "a list, and has to be an object"},
	{"{\"projects\": {\n\"x\": {}}}", 2, "projects", "not an absolute path"},
	{"{\"projects\": {\"/x/\": {}}}", 1, "projects", "not an absolute path"},
	{"{\"projects\": {\"/x\": 1}}", 1, "projects", "an object"},
	{"{\"projects\": {\"/x\": {\n\"mode\": 1}}}", 2, "mode", "a string"},
	{"{\"projects\": {\"/x\": {\"projects\": {}}}}", 1, "projects", "user's file only"},
	{"{\"hide\": [\"a\", {\"bytes\": \"/w==\"}],\n\"projects\": {\"/x\": {\"hide\": [],\n\"mode\": 1}}}", 3, "mode",
	 "a string"},
};

static void test_bad_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++) {
		const struct bad_file *bad = &bad_files[i];

		put(USER_FILE, bad->text);
		if (load() >= 0)
			fail_msg("%s is taken", bad->text);
		if (strcmp(world_error.file, at(USER_FILE)) != 0 || world_error.line != bad->line ||
		    strcmp(world_error.key, bad->key) != 0)
			fail_msg("%s: line %d key '%s': %s", bad->text, world_error.line, world_error.key,
				 error_text());
		assert_int_equal(world_error.code, PINFOLD_USAGE);
		assert_false(world_policy.loaded);
		assert_says(bad->says);
		forget();
	}
}

static void test_whole_message(void **state)
{
	char expected[PATH_MAX + 128];

	(void)state;
	put(USER_FILE, "{\n  \"mode\": \"lax\"\n}");
	assert_int_equal(load(), -EINVAL);
	snprintf(expected, sizeof(expected), "%s:2: key 'mode': 'lax' is not one of required, auto or off",
		 at(USER_FILE));
	assert_string_equal(error_text(), expected);
}

static void test_nul_and_size(void **state)
{
	static char large[LIMIT_CONFIG_BYTES + 2];
	FD_CLEANUP int fd = -1;

	(void)state;
	put(USER_FILE, "{}");
	fd = open(at(USER_FILE), O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(fd_write_all(fd, "\n\0", 2), 0);
	assert_int_equal(load(), -EINVAL);
	assert_says("NUL");
	assert_int_equal(world_error.line, 2);
	forget();
	memset(large, ' ', sizeof(large) - 1);
	put(USER_FILE, large);
	assert_int_equal(load(), -E2BIG);
	assert_string_equal(world_error.file, at(USER_FILE));
}

/* A list has its maximum over all layers, and a long one costs no time. */
static void test_long_list(void **state)
{
	struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);

	(void)state;
	buf_str(&text, "{\"hide\": [");
	for (int i = 0; i < LIMIT_LIST_ITEMS; i++)
		buf_printf(&text, "\"/x/%d\",\n", i);
	buf_str(&text, "]}");
	put(USER_FILE, text.data);
	buf_free(&text);
	load_fine();
	assert_int_equal(world_policy.value[KEY_HIDE].count, LIMIT_LIST_ITEMS);
	assert_int_equal(world_policy.value[KEY_HIDE].items[9999].source.line, 10000);
	forget();
	assert_int_equal(set(KEY_HIDE, "/y"), 0);
	assert_int_equal(load(), -E2BIG);
	assert_string_equal(world_error.key, "hide");
}

static void test_bytes(void **state)
{
	(void)state;
	put(USER_FILE, "{\"write\": [{\"bytes\": \"L3gv/w==\"}], \"hide\": [\"b\"]}"); /* "/x/\xff" */
	load_fine();
	assert_true(has_item(KEY_WRITE, "/x/\xff"));
	assert_int_equal(world_policy.value[KEY_HIDE].items[0].source.line, 1);
}

static void test_check_file(void **state)
{
	struct pinfold_error *err = &world_error;

	(void)state;
	put(USER_FILE, "{\"hide\": [\"x\"], \"projects\": {\"/x\": {\"mode\": \"auto\"}}}");
	assert_int_equal(policy_check_file(at(USER_FILE), LAYER_USER, err), 0);
	assert_int_equal(policy_check_file(at(USER_FILE), LAYER_ADMIN, err), -EINVAL);
	assert_string_equal(err->key, "projects");
	put(PROJECT_FILE, "{\"write\": [\"out\"], \"hide\": [\"./x\"]}");
	assert_int_equal(policy_check_file(at(PROJECT_FILE), LAYER_PROJECT, err), 0);
	assert_int_equal(policy_check_file(at(PROJECT_FILE), LAYER_USER, err), -EINVAL);
	put(PROJECT_FILE, "{\"write\": [\"x\"], \"hide\": [\"./x\"]}");
	assert_int_equal(policy_check_file(at(PROJECT_FILE), LAYER_PROJECT, err), -EINVAL);
	assert_says("contradicts");
	assert_int_equal(policy_check_file(at("missing"), LAYER_USER, err), -ENOENT);
}

/* ---- the command line's words ---- */

static void test_set(void **state)
{
	static const struct {
		enum policy_key key;
		const char *text, *says;
	} bad[] = {
		{KEY_MODE, "lax", "required, auto or off"},
		{KEY_READ_ONLY, "yes", "false or true"},
		{KEY_TIME, "5", "duration"},
		{KEY_MEMORY, "", "size"},
		{KEY_PROCESSES, "-1", "number"},
		{KEY_WRITE, "", "empty"},
		{KEY_HIDE, "", "empty"},
		{KEY_HIDE, "a/../b", "'..'"},
		{KEY_ACCEPT, "writes,", "not one of"},
		{KEY_ENV, "=", "no name"},
		{KEY_REACH, "0", "out of range for PORT"},
		{KEY_REACH, "65536", "out of range for PORT"},
		{KEY_REACH, "80:", "not PORT"},
		{KEY_REACH, ":80", "not PORT"},
		{KEY_REACH, "+80", "not PORT"},
		{KEY_REACH, "80:80:80", "not PORT"},
		{KEY_PUBLISH, "127.0.0.1:80", "not PORT"},
		{KEY_PUBLISH, "http", "not PORT"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(set(bad[i].key, bad[i].text) < 0);
		assert_string_equal(world_error.key, policy_keys[bad[i].key].option);
		assert_string_equal(world_error.file, "");
		assert_says(bad[i].says);
	}
}

/* ---- ports ---- */

/* Where a relay would have to listen twice, or for two, the file is wrong, and says where. */
static void test_ports_contradict(void **state)
{
	static const struct {
		const char *user, *reach, *publish, *says; /* says NULL: all is well */
	} rows[] = {
		/* the same words of two layers agree */
		{"{\"reach\": [80, 81], \"publish\": [82, 83]}", "80", "82", NULL},
		{"{\"reach\": [\"80:1\", \"80:2\"], \"publish\": [\"80:3\", \"81:3\"]}", "1:80", "1:81", NULL},
		{"{\"reach\": [80, 80]}", NULL, NULL, "'80' stands here twice"},
		{"{\"reach\": [80, \"80:80\"]}", NULL, NULL, "'80' stands here twice"},
		{"{\"reach\": [\"80:1\", \"81:1\"]}", NULL, NULL, "'81:1': port 1 inside is taken by reach '80:1'"},
		{"{\"publish\": [\"1:80\", \"1:81\"]}", NULL, NULL,
		 "'1:81': port 1 of the host is taken by publish '1:80'"},
		{"{\"reach\": [\"80:1\"], \"publish\": [\"1\"]}", NULL, NULL,
		 "'1': port 1 inside is taken by reach '80:1'"},
		{"{\"reach\": [\"80:1\"]}", "81:1", NULL, "'81:1': port 1 inside is taken by reach '80:1'"},
		{"{\"reach\": [\"80:1\"]}", NULL, "9:1", "'9:1': port 1 inside is taken by reach '80:1'"},
		{"{\"reach\": [1.5]}", NULL, NULL, "a number or a string"},
		{"{\"reach\": 80}", NULL, NULL, "a list of numbers and strings"},
		{"{\"publish\": [-1]}", NULL, NULL, "'-1' is not PORT"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		forget();
		put(USER_FILE, rows[i].user);
		assert_int_equal(rows[i].reach ? set(KEY_REACH, rows[i].reach) : 0, 0);
		assert_int_equal(rows[i].publish ? set(KEY_PUBLISH, rows[i].publish) : 0, 0);
		if (!rows[i].says)
			load_fine();
		else if (load() == 0)
			fail_msg("%s passed", rows[i].user);
		else
			assert_says(rows[i].says);
	}
}

static void test_set_paths(void **state)
{
	static const struct {
		enum policy_key key;
		const char *text, *below; /* below the world's top; NULL: as it is */
	} rows[] = {
		{KEY_WRITE, "out", "work/out"},
		{KEY_WRITE, "out2/", "work/out2/"},
		{KEY_WRITE, "./a//b/.", "work/a/b"},
		{KEY_WRITE, "../x", "x"},
		{KEY_READ, "~/.netrc", "home/.netrc"},
		{KEY_READ, "dir/", "work/dir"},
		{KEY_SOCKET, "/run/s", NULL},
		{KEY_HIDE, "secret", NULL},
		{KEY_HIDE, "./secret", "work/secret"}, /* F028 */
		{KEY_HIDE, "./*.key", "work/*.key"},
		{KEY_HIDE, "..", ""},
		{KEY_HIDE, "../other/", "other/"},
		{KEY_HIDE, ".", "work"},
		{KEY_HIDE, "...", NULL},
		{KEY_HIDE, ".env", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(set(rows[i].key, rows[i].text), 0);
	load_fine();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s", rows[i].below ? at(rows[i].below) : rows[i].text);
		if (rows[i].below && !*rows[i].below)
			path[strlen(path) - 1] = '\0';
		if (!has_item(rows[i].key, path))
			fail_msg("'%s' is not '%s'", rows[i].text, path);
	}
}

/* ".." behind a link is where the kernel would go, not where the text says (E020). */
static void test_set_parent_of_link(void **state)
{
	(void)state;
	assert_int_equal(symlink(at("home/.config"), at("work/link")), 0);
	assert_int_equal(set(KEY_WRITE, "link/../out"), 0);
	assert_int_equal(set(KEY_WRITE, "missing/../out"), -ENOENT);
	load_fine();
	assert_true(has_item(KEY_WRITE, at("home/out")));
	unlink(at("work/link"));
}

/* The name of the directory is no pattern, whatever it holds. */
static void test_set_odd_directory(void **state)
{
	(void)state;
	assert_int_equal(policy_set(&world_policy, KEY_HIDE, "./s*", "/w/a[b]*\\", NULL), 0);
	load_fine();
	assert_true(has_item(KEY_HIDE, "/w/a\\[b]\\*\\\\/s*"));
	assert_int_equal(policy_rule(&world_policy, AXIS_READ, "/w/a[b]*\\/sx", NULL, NULL), RULE_DENY);
	assert_int_equal(policy_rule(&world_policy, AXIS_READ, "/w/ab/sx", NULL, NULL), -1);
}

static void test_set_accept(void **state)
{
	(void)state;
	assert_int_equal(set(KEY_ACCEPT, "writes,limits=absent"), 0);
	load_fine();
	assert_true(policy_accepts(&world_policy, "writes", false));
	assert_false(policy_accepts(&world_policy, "writes", true));
	assert_true(policy_accepts(&world_policy, "limits", true));
	assert_true(policy_accepts(&world_policy, "limits", false));
	assert_true(policy_accepts(&world_policy, "services", false)); /* built in */
	assert_false(policy_accepts(&world_policy, "write", false));
	forget();
	assert_int_equal(set(KEY_ACCEPT, "none"), 0);
	load_fine();
	assert_false(policy_accepts(&world_policy, "services", false));
}

static void test_keys(void **state)
{
	(void)state;
	for (int key = 0; key < KEY_COUNT; key++) {
		const struct policy_key_def *def = &policy_keys[key];

		assert_non_null(def->name);
		assert_int_equal(policy_key_find(def->name), key);
		assert_int_equal(policy_key_find(def->option), key);
		assert_true(strlen(def->help) > 10 && strlen(def->help) < 100);
		assert_int_equal(def->argument == NULL, def->type == TYPE_FLAG);
		if (def->type == TYPE_CHOICE)
			assert_non_null(def->words[def->builtin]);
	}
	assert_int_equal(policy_key_find("tmp-size"), -1);
	assert_int_equal(policy_key_find("--offline"), -1);
	assert_int_equal(policy_key_find(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_all_keys, world_clear),
		cmocka_unit_test_teardown(test_schema_key, world_clear),
		cmocka_unit_test_teardown(test_comments, world_clear),
		cmocka_unit_test_teardown(test_bad_files, world_clear),
		cmocka_unit_test_teardown(test_whole_message, world_clear),
		cmocka_unit_test_teardown(test_nul_and_size, world_clear),
		cmocka_unit_test_teardown(test_long_list, world_clear),
		cmocka_unit_test_teardown(test_bytes, world_clear),
		cmocka_unit_test_teardown(test_check_file, world_clear),
		cmocka_unit_test_teardown(test_set, world_clear),
		cmocka_unit_test_teardown(test_ports_contradict, world_clear),
		cmocka_unit_test_teardown(test_set_paths, world_clear),
		cmocka_unit_test_teardown(test_set_parent_of_link, world_clear),
		cmocka_unit_test_teardown(test_set_odd_directory, world_clear),
		cmocka_unit_test_teardown(test_set_accept, world_clear),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests_name("policy: what a file may say", tests, world_make, world_remove);
}
