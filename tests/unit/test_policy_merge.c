/* SPDX-License-Identifier: Apache-2.0 */
/* Which layer counts, what a project's file may do, and the two axes of the path rules. */
#include "policy_world.h"

#include <errno.h>

/* ---- precedence ---- */

static void test_precedence(void **state)
{
	/* network of each layer ("": not said), and what comes out */
	static const struct {
		const char *admin, *user, *project, *command;
		uint64_t network;
		enum policy_layer source;
	} rows[] = {
		{"", "", "", "", NETWORK_OPEN, LAYER_BUILTIN},
		{"offline", "", "", "", NETWORK_OFFLINE, LAYER_ADMIN},
		{"offline", "open", "", "", NETWORK_OPEN, LAYER_USER},
		{"open", "offline", "", "", NETWORK_OFFLINE, LAYER_USER},
		{"", "", "offline", "", NETWORK_OFFLINE, LAYER_PROJECT},
		{"", "open", "offline", "", NETWORK_OFFLINE, LAYER_PROJECT},
		{"", "offline", "open", "", NETWORK_OFFLINE, LAYER_USER},
		{"offline", "", "open", "", NETWORK_OFFLINE, LAYER_ADMIN},
		{"", "open", "open", "", NETWORK_OPEN, LAYER_USER},
		{"", "", "offline", "open", NETWORK_OPEN, LAYER_COMMAND},
		{"offline", "open", "", "offline", NETWORK_OFFLINE, LAYER_COMMAND},
	};
	static const char *const files[] = {ADMIN_FILE, USER_FILE, PROJECT_FILE};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *const words[] = {rows[i].admin, rows[i].user, rows[i].project};

		for (size_t f = 0; f < 3; f++) {
			char text[64];

			unlink(at(files[f]));
			snprintf(text, sizeof(text), "{\"network\": \"%s\"}", words[f]);
			if (*words[f])
				put(files[f], text);
		}
		if (*rows[i].command)
			assert_int_equal(set(KEY_NETWORK, rows[i].command), 0);
		load_fine();
		if (policy_number(&world_policy, KEY_NETWORK) != rows[i].network ||
		    world_policy.value[KEY_NETWORK].source.layer != rows[i].source)
			fail_msg("row %zu", i);
		forget();
	}
}

/* The last one on the command line counts. */
static void test_command_twice(void **state)
{
	(void)state;
	assert_int_equal(set(KEY_MODE, "off"), 0);
	assert_int_equal(set(KEY_MODE, "required"), 0);
	assert_int_equal(set(KEY_TIME, "5s"), 0);
	assert_int_equal(set(KEY_TIME, "none"), 0);
	load_fine();
	assert_int_equal(policy_number(&world_policy, KEY_MODE), MODE_REQUIRED);
	assert_int_equal(policy_number(&world_policy, KEY_TIME), POLICY_NONE);
	assert_true(world_policy.value[KEY_TIME].is_set);
	assert_false(world_policy.value[KEY_MEMORY].is_set);
}

/* F035: lists add up; F036, F037: an empty one, or another key, changes nothing else. */
static void test_lists_add_up(void **state)
{
	const struct policy_value *hide = &world_policy.value[KEY_HIDE];

	(void)state;
	put(ADMIN_FILE, "{\"hide\": [\"/a\"]}");
	put(USER_FILE, "{\"hide\": [\"/b\", \"/b\"], \"write\": [], \"memory\": \"1G\"}");
	put(PROJECT_FILE, "{\"hide\": [\"c\"]}");
	assert_int_equal(set(KEY_HIDE, "/b"), 0);
	load_fine();
	assert_int_equal(hide->count, 4);
	assert_string_equal(hide->items[0].text, "/a");
	assert_int_equal(hide->items[0].source.layer, LAYER_ADMIN);
	assert_int_equal(hide->items[1].source.layer, LAYER_USER);
	assert_string_equal(hide->items[2].text, "c");
	assert_string_equal(hide->items[2].source.file, at(PROJECT_FILE));
	assert_int_equal(hide->items[3].source.layer, LAYER_COMMAND);
	assert_int_equal(world_policy.value[KEY_WRITE].count, 0);
	assert_int_equal(policy_rule(&world_policy, AXIS_WRITE, "/anywhere", NULL, NULL), -1);
}

static void test_environment_order(void **state)
{
	(void)state;
	assert_int_equal(set(KEY_ENV, "A=1"), 0);
	assert_int_equal(set(KEY_ENV, "A=2"), 0);
	assert_int_equal(set(KEY_ENV, "A=1"), 0);
	load_fine();
	assert_int_equal(world_policy.value[KEY_ENV].count, 2);
	assert_string_equal(world_policy.value[KEY_ENV].items[1].text, "A=1"); /* the last one counts */
}

/* ---- a project's file ---- */

/* F096, F098: each of these is left out and named. */
static void test_project_loosens(void **state)
{
	static const struct {
		const char *key, *value;
	} rows[] = {
		{"mode", "\"auto\""},
		{"mode", "\"off\""},
		{"backend", "\"namespaces\""},
		{"accept", "[\"writes\"]"},
		{"accept", "[\"none\",\"writes\"]"},
		{"write", "[\"/etc\"]"},
		{"read", "[\"~/.ssh\"]"},
		{"home", "\"masked\""},
		{"git", "\"open\""},
		{"network", "\"open\""},
		{"reach", "[5432]"},
		{"publish", "[\"8080:80\"]"},
		{"socket", "[\"/run/docker.sock\"]"},
		{"device", "[\"/dev/kvm\"]"},
		{"env", "[\"AWS_SECRET_ACCESS_KEY\"]"},
		{"env_mode", "\"all\""},
		{"tmp", "\"/srv\""},
		{"time", "\"2h\""},
		{"time", "\"none\""},
		{"memory", "\"none\""},
		{"processes", "101"},
		{"tmp_size", "\"2G\""},
		{"read_only", "false"},
	};

	(void)state;
	put(USER_FILE, "{\"read_only\": true, \"home\": \"hidden\", \"network\": \"offline\", \"time\": \"1h\","
		       "\"memory\": \"1G\","
		       " \"processes\": 100, \"tmp_size\": \"1G\"}");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[256], before[65];

		unlink(at(PROJECT_FILE));
		load_fine();
		strcpy(before, world_policy.sha256);
		forget();
		snprintf(text, sizeof(text), "{\n\"%s\":\n%s}", rows[i].key, rows[i].value);
		put(PROJECT_FILE, text);
		load_fine();
		assert_int_equal(world_policy.ignored_count, 1);
		assert_string_equal(world_policy.ignored[0].key, rows[i].key);
		assert_string_equal(world_policy.ignored[0].text, rows[i].value);
		assert_string_equal(world_policy.ignored[0].file, at(PROJECT_FILE));
		assert_int_equal(world_policy.ignored[0].line, 2);
		if (strcmp(rows[i].value, "[\"none\",\"writes\"]") != 0)
			assert_string_equal(world_policy.sha256, before);
		else
			assert_false(policy_accepts(&world_policy, "services", false) ||
				     policy_accepts(&world_policy, "writes", false));
		forget();
	}
}

static void test_project_tightens(void **state)
{
	(void)state;
	put(USER_FILE,
	    "{\"mode\": \"auto\", \"git\": \"open\", \"env_mode\": \"all\", \"tmp\": \"/srv/tmp\", \"time\": \"1h\"}");
	put(PROJECT_FILE,
	    "{\"mode\": \"required\", \"git\": \"readonly\", \"env_mode\": \"list\", \"tmp\": \"private\","
	    "\"time\": \"1m\", \"memory\": \"1M\", \"network\": \"offline\", \"home\": \"hidden\","
	    "\"read_only\": true, \"hide\": [\"*.key\"], \"protect\": [\"ci\"], \"accept\": [\"none\"],"
	    "\"write\": [], \"env\": []}");
	load_fine();
	assert_int_equal(world_policy.ignored_count, 0);
	assert_int_equal(policy_number(&world_policy, KEY_MODE), MODE_REQUIRED);
	assert_int_equal(policy_number(&world_policy, KEY_GIT), GIT_READONLY);
	assert_int_equal(policy_number(&world_policy, KEY_ENV_MODE), ENV_LIST);
	assert_null(world_policy.value[KEY_TMP].text);
	assert_int_equal(policy_number(&world_policy, KEY_TIME), 60000);
	assert_int_equal(policy_number(&world_policy, KEY_MEMORY), 1 << 20);
	assert_int_equal(policy_number(&world_policy, KEY_HOME), HOME_HIDDEN);
	assert_int_equal(policy_number(&world_policy, KEY_READ_ONLY), 1);
	assert_true(has_item(KEY_HIDE, "*.key"));
	assert_true(has_item(KEY_PROTECT, "ci"));
	assert_false(policy_accepts(&world_policy, "services", false));
}

static void test_long_ignored(void **state)
{
	struct buf text = BUF_INIT(8192);

	(void)state;
	buf_str(&text, "{\"env\": [");
	for (int i = 0; i < 200; i++)
		buf_printf(&text, "%s\"VARIABLE_%d\"", i ? "," : "", i);
	buf_str(&text, "]}");
	put(PROJECT_FILE, text.data);
	load_fine();
	assert_int_equal(world_policy.ignored_count, 1);
	assert_true(strlen(world_policy.ignored[0].text) <= 160);
	assert_non_null(strstr(world_policy.ignored[0].text, "..."));
	buf_free(&text);
}

/* ---- rules ---- */

static void expect(enum rule_axis axis, const char *path, int right)
{
	int r = policy_rule(&world_policy, axis, path, NULL, NULL);

	if (r != right)
		fail_msg("%s %s: %d, not %d", axis == AXIS_READ ? "read" : "write", path, r, right);
}

static void test_most_specific(void **state)
{
	const struct policy_item *item = NULL;
	size_t depth = 0;

	(void)state;
	put(USER_FILE,
	    "{\"hide\": [\"/d\", \"/d/open/secret\", \"*.key\"], \"read\": [\"/d/open\"], \"write\": [\"/d/out/\"],"
	    "\"protect\": [\"/d/out/fixed\"]}");
	load_fine();
	expect(AXIS_READ, "/d", RULE_DENY);
	expect(AXIS_READ, "/d/x", RULE_DENY);
	expect(AXIS_READ, "/d-evil", -1); /* E020 */
	expect(AXIS_READ, "/d/open/x", RULE_ALLOW);
	expect(AXIS_READ, "/d/open/secret/x", RULE_DENY);
	expect(AXIS_READ, "/d/out", RULE_ALLOW); /* write implies read (F040) */
	expect(AXIS_WRITE, "/d/out/x", RULE_ALLOW);
	expect(AXIS_WRITE, "/d/out/fixed/x", RULE_DENY); /* F029, F030: read and write do not mix */
	expect(AXIS_READ, "/d/out/fixed/x", RULE_ALLOW);
	expect(AXIS_WRITE, "/d/open/x", -1);
	expect(AXIS_READ, at("work/a/x.key"), RULE_DENY);
	expect(AXIS_READ, at("work/a/x.key/below"), RULE_DENY);
	expect(AXIS_READ, at("work/a/x"), -1);
	assert_int_equal(policy_rule(&world_policy, AXIS_READ, "/d/open/x/y", &depth, &item), RULE_ALLOW);
	assert_int_equal(depth, 2);
	assert_string_equal(item->text, "/d/open");
}

static void test_same_path(void **state)
{
	(void)state;
	put(USER_FILE, "{\"hide\": [\"/a\", \"/b/*\", \"~/.c\"], \"read\": [\"/p\"]}");
	put(PROJECT_FILE, "{\"hide\": [\"/p\", \"/q\", \"/r/deep\"]}");
	assert_int_equal(set(KEY_READ, "/a"), 0);
	assert_int_equal(set(KEY_READ, "/b/x"), 0);
	assert_int_equal(set(KEY_WRITE, "~/.c"), 0);
	assert_int_equal(set(KEY_READ, "/q"), 0);
	assert_int_equal(set(KEY_READ, "/r"), 0);
	load_fine();
	expect(AXIS_READ, "/a/x", RULE_ALLOW); /* the later layer */
	expect(AXIS_READ, "/b/x", RULE_ALLOW);
	expect(AXIS_READ, "/b/y", RULE_DENY);
	expect(AXIS_READ, at("home/.c"), RULE_ALLOW);
	expect(AXIS_READ, "/p", RULE_DENY);  /* a project is the stricter one */
	expect(AXIS_READ, "/q", RULE_ALLOW); /* but not over the command line */
	expect(AXIS_READ, "/r/x", RULE_ALLOW);
	expect(AXIS_READ, "/r/deep", RULE_DENY); /* unless it says more */
}

static void test_same_layer(void **state)
{
	(void)state;
	put(USER_FILE,
	    "{\"hide\": [\"/a/*.key\"], \"read\": [\"/a/x.key\"], \"protect\": [\"/o/*\"], \"write\": [\"/o/p\"]}");
	load_fine();
	expect(AXIS_READ, "/a/x.key", RULE_DENY); /* the stricter, at the same path */
	expect(AXIS_WRITE, "/o/p", RULE_DENY);
	forget();
	unlink(at(USER_FILE));
	assert_int_equal(set(KEY_HIDE, "./x"), 0);
	assert_int_equal(set(KEY_READ, "x"), 0);
	assert_int_equal(load(), -EINVAL);
	assert_string_equal(world_error.key, "--hide");
	assert_says("contradicts --read");
}

/* An administrator's denial covers all below it, whatever is said later and closer. */
static void test_admin(void **state)
{
	const struct policy_item *item = NULL;

	(void)state;
	put(ADMIN_FILE,
	    "{\"hide\": [\"/srv/secret\", \"*.vault\"], \"protect\": [\"/srv/fixed\"], \"read\": [\"/srv/x\"]}");
	put(USER_FILE, "{\"read\": [\"/srv/secret/a/b\"], \"write\": [\"/srv/fixed/a\"], \"hide\": [\"/srv/x\"]}");
	assert_int_equal(set(KEY_READ, "/srv/secret"), 0);
	assert_int_equal(set(KEY_READ, "a.vault/x"), 0);
	load_fine();
	assert_int_equal(policy_rule(&world_policy, AXIS_READ, "/srv/secret/a/b/c", NULL, &item), RULE_DENY);
	assert_int_equal(item->source.layer, LAYER_ADMIN);
	expect(AXIS_READ, "/srv/secret", RULE_DENY);
	expect(AXIS_READ, at("work/a.vault/x"), RULE_DENY);
	expect(AXIS_WRITE, "/srv/fixed/a", RULE_DENY);
	expect(AXIS_READ, "/srv/x", RULE_DENY); /* what the administrator allows, a user may deny */
}

/* ---- F097: whatever a project says, no right comes of it ---- */

static uint64_t seed = 20240815;

static unsigned int draw(unsigned int below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(seed >> 33) % below;
}

static const char *const draw_paths[] = {"/a", "/a/b", "/a/b/c", "/a/x", "/b", "/"};
static const char *const draw_patterns[] = {"/a", "/a/*", "/a/b", "*", "x", "/a/**", "**/c", "/b/", "~/x"};
static const char *const asked[] = {"/", "/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/x", "/b", "/b/x", "/c"};

static int draw_text(enum policy_key key, char *text, size_t size)
{
	static const char *const limits[] = {"1", "5", "100", "none"};
	const struct policy_key_def *def = &policy_keys[key];
	const char *limit = limits[draw(4)];
	unsigned int words = 0;

	switch (def->type) {
	case TYPE_FLAG: return snprintf(text, size, "%s", draw(2) ? "true" : "false");
	case TYPE_CHOICE:
		while (def->words[words])
			words++;
		return snprintf(text, size, "%s", def->words[draw(words)]);
	case TYPE_DURATION: return snprintf(text, size, "%s%s", limit, *limit == 'n' ? "" : "s");
	case TYPE_SIZE:
	case TYPE_COUNT: return snprintf(text, size, "%s", limit);
	case TYPE_PATTERNS: return snprintf(text, size, "%s", draw_patterns[draw(9)]);
	case TYPE_NAMES: return snprintf(text, size, "%s", draw(4) ? def->words[draw(11)] : "none");
	case TYPE_PORTS: return snprintf(text, size, "%s", draw(2) ? "80" : "8080:80");
	case TYPE_TMP: return snprintf(text, size, "%s", draw(2) ? "private" : "/t");
	case TYPE_ENVIRONMENT: return snprintf(text, size, "%s", draw(2) ? "A" : "B=1");
	default: return snprintf(text, size, "%s", draw_paths[draw(6)]);
	}
}

static void draw_layer(struct arena *arena, enum policy_layer number, struct layer *layer)
{
	struct setting_context context = {.arena = arena, .layer = number, .home = "/home/me", .worktree = "/w"};
	unsigned int n = draw(12);

	for (unsigned int i = 0; i < n; i++) {
		enum policy_key key = (enum policy_key)draw(KEY_COUNT);
		struct policy_setting setting;
		char text[64];

		if (policy_keys[key].is_command_only)
			continue;
		draw_text(key, text, sizeof(text));
		assert_int_equal(setting_read(&context, key, text, &setting, NULL), 0);
		assert_int_equal(layer_add(arena, layer, &setting), 0);
	}
}

static void merge(struct pinfold_policy *policy, const struct layer *layers)
{
	policy->worktree = "/w";
	policy->who.home = "/home/me";
	assert_int_equal(merge_layers(policy, layers, false, NULL), 0);
	assert_int_equal(rules_make(policy, NULL), 0);
}

/* Every grant of b is one of a. */
static void assert_granted(const struct pinfold_policy *a, const struct pinfold_policy *b, enum policy_key key)
{
	for (size_t i = 0; i < b->value[key].count; i++) {
		size_t j = 0;

		while (j < a->value[key].count && strcmp(a->value[key].items[j].text, b->value[key].items[i].text) != 0)
			j++;
		assert_true(j < a->value[key].count);
	}
}

/* b has no right that a lacks. */
static void assert_subset(const struct pinfold_policy *a, const struct pinfold_policy *b)
{
	static const enum policy_key smaller[] = {KEY_MODE, KEY_HOME,   KEY_GIT,       KEY_NETWORK, KEY_ENV_MODE,
						  KEY_TIME, KEY_MEMORY, KEY_PROCESSES, KEY_TMP_SIZE};
	static const enum policy_key grants[] = {KEY_ACCEPT,  KEY_WRITE,  KEY_READ,   KEY_REACH,
						 KEY_PUBLISH, KEY_SOCKET, KEY_DEVICE, KEY_ENV};

	for (size_t i = 0; i < sizeof(smaller) / sizeof(smaller[0]); i++)
		assert_true(policy_number(b, smaller[i]) <= policy_number(a, smaller[i]));
	assert_true(policy_number(b, KEY_READ_ONLY) >= policy_number(a, KEY_READ_ONLY));
	assert_int_equal(policy_number(b, KEY_BACKEND), policy_number(a, KEY_BACKEND));
	assert_true(!b->value[KEY_TMP].text || a->value[KEY_TMP].text);
	for (size_t i = 0; i < sizeof(grants) / sizeof(grants[0]); i++)
		assert_granted(a, b, grants[i]);
	for (int axis = 0; axis < AXIS_COUNT; axis++)
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
			int without = policy_rule(a, (enum rule_axis)axis, asked[i], NULL, NULL);
			int with = policy_rule(b, (enum rule_axis)axis, asked[i], NULL, NULL);

			assert_true(with == without || with == RULE_DENY);
		}
}

static void test_property(void **state)
{
	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct pinfold_policy user = {0}, both = {0};
		struct layer layers[LAYER_COUNT] = {0};
		struct arena arena = {0};

		for (int layer = LAYER_ADMIN; layer < LAYER_PROJECT; layer++)
			draw_layer(&arena, (enum policy_layer)layer, &layers[layer]);
		merge(&user, layers);
		draw_layer(&arena, LAYER_PROJECT, &layers[LAYER_PROJECT]);
		merge(&both, layers);
		assert_subset(&user, &both);
		arena_free(&user.arena);
		arena_free(&both.arena);
		/* with a command line on top it still adds nothing */
		draw_layer(&arena, LAYER_COMMAND, &layers[LAYER_COMMAND]);
		both = (struct pinfold_policy){0};
		merge(&both, layers);
		layers[LAYER_PROJECT].n = 0;
		user = (struct pinfold_policy){0};
		merge(&user, layers);
		assert_subset(&user, &both);
		arena_free(&user.arena);
		arena_free(&both.arena);
		arena_free(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_precedence, world_clear),
		cmocka_unit_test_teardown(test_command_twice, world_clear),
		cmocka_unit_test_teardown(test_lists_add_up, world_clear),
		cmocka_unit_test_teardown(test_environment_order, world_clear),
		cmocka_unit_test_teardown(test_project_loosens, world_clear),
		cmocka_unit_test_teardown(test_project_tightens, world_clear),
		cmocka_unit_test_teardown(test_long_ignored, world_clear),
		cmocka_unit_test_teardown(test_most_specific, world_clear),
		cmocka_unit_test_teardown(test_same_path, world_clear),
		cmocka_unit_test_teardown(test_same_layer, world_clear),
		cmocka_unit_test_teardown(test_admin, world_clear),
		cmocka_unit_test(test_property),
	};

	return cmocka_run_group_tests_name("policy: layers and rules", tests, world_make, world_remove);
}
