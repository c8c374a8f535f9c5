/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about the failures of tests/unit/hint_outputs.tsv, and about a hostile one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "plan/plan.h"
#include "report/outcome.h"

enum { OUTPUT_MOST = 4096, ROWS_LEAST = 80 };

struct world {
	struct pinfold_policy policy;
	struct pinfold_host host;
	struct pinfold_plan plan;
	struct pinfold_outcome *outcome;
};

/* ---- the run --------------------------------------------------------------------------------------------------- */

static struct survey_hidden hidden[] = {
	{ .path = "/home/kim/.ssh", .kind = HIDDEN_DIRECTORY, .rule = "~/.ssh" },
	{ .path = "/home/kim/.netrc", .kind = HIDDEN_FILE, .rule = "~/.netrc" },
	{ .path = "/home/kim/.aws", .kind = HIDDEN_ABSENT, .rule = "~/.aws" },
	{ .path = "/home/kim/.git-credentials", .kind = HIDDEN_ABSENT, .rule = "~/.git-credentials" },
	{ .path = "/home/kim/.config/gh", .kind = HIDDEN_DIRECTORY, .rule = "$CONFIG/gh" },
};
static struct survey_protected protected[] = {
	{ .path = "/src/site/.git/config", .kind = PROTECTED_FILE },
	{ .path = "/src/site/.git/hooks", .kind = PROTECTED_DIRECTORY },
	{ .path = "/src/site/.git/worktrees", .kind = PROTECTED_DIRECTORY },
	{ .path = "/src/site/.vscode/settings.json", .kind = PROTECTED_FILE },
	{ .path = "/src/site/.envrc", .kind = PROTECTED_ABSENT },
};
static struct survey_grant writes[] = { { .path = "/data/out" } }, reads[] = { { .path = "/home/kim/.config/gh" } };
static struct survey_cache caches[] = { { .name = "xdg", .tool = "/home/kim/.cache" } };
static const char *const removed[] = { "DISPLAY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS" };
/* there, and closed; taken as found, since this machine may have none */
static const char *const sockets[] = { "/run/docker.sock", "/run/postgresql/.s.PGSQL.5432" };

static char own_temp[] = "/tmp/pinfold-abcdef";

static void fill_survey(struct survey *survey)
{
	survey->cwd = "/src/site/app";
	survey->worktree = "/src/site";
	survey->git = (struct survey_git){ .kind = REPOSITORY_CLONE, .directory = "/src/site/.git",
					   .common = "/src/site/.git" };
	survey->home[0].path = "/home/kim";
	survey->home_count = 1;
	survey->hidden = hidden;
	survey->hidden_count = sizeof(hidden) / sizeof(hidden[0]);
	survey->protected = protected;
	survey->protected_count = sizeof(protected) / sizeof(protected[0]);
	survey->writes = writes;
	survey->write_count = 1;
	survey->reads = reads;
	survey->read_count = 1;
	survey->caches = caches;
	survey->cache_count = 1;
}

static bool has_word(const char *words, const char *word)
{
	const char *at = strstr(words, word);

	return at && (at == words || at[-1] == '+') && (at[strlen(word)] == '+' || !at[strlen(word)]);
}

static struct pinfold_outcome *run_of(struct world *world, const char *words)
{
	struct run_result result = { .ran = true, .code = has_word(words, "ended") ? 0 : 1, .fact = -1 };
	const uint64_t limit = has_word(words, "limits") ? 1000 : POLICY_NONE;
	struct pinfold_plan *plan = &world->plan;

	memset(world, 0, sizeof(*world));
	world->policy = (struct pinfold_policy){ .loaded = true, .cwd = "/src/site/app", .worktree = "/src/site" };
	world->policy.value[KEY_GIT].number = GIT_COMMIT;
	world->policy.value[KEY_READ_ONLY].number = has_word(words, "read-only");
	plan->policy = &world->policy;
	plan->host = &world->host;
	plan->backend = has_word(words, "bare") ? BACKEND_NONE :
			has_word(words, "landlock") ? BACKEND_ONLY_LANDLOCK : BACKEND_OWN_NAMESPACES;
	plan->temp = plan->backend == BACKEND_ONLY_LANDLOCK ? own_temp : NULL;
	plan->offline = plan->backend != BACKEND_NONE && has_word(words, "offline");
	plan->limits = (struct plan_limits){ POLICY_NONE, limit, limit, limit };
	plan->guarantee[GUARANTEE_LIMITS].state = has_word(words, "limits") ? STATE_HELD : STATE_NOT_ASKED;
	fill_survey(&plan->survey);
	plan->has_survey = true;
	for (size_t i = 0; plan->backend != BACKEND_NONE && i < sizeof(removed) / sizeof(removed[0]); i++)
		assert_int_equal(strv_add(&plan->arena, &plan->removed, removed[i]), 0);
	world->outcome = outcome_new();
	assert_non_null(world->outcome);
	outcome_fill(world->outcome, plan, NULL, &result);
	world->outcome->evidence.sockets = (struct strv){ 0 };
	for (size_t i = 0; plan->backend != BACKEND_NONE && i < sizeof(sockets) / sizeof(sockets[0]); i++)
		assert_int_equal(strv_add(&world->outcome->arena, &world->outcome->evidence.sockets, sockets[i]), 0);
	return world->outcome;
}

static void end_run(struct world *world)
{
	pinfold_outcome_free(world->outcome);
	arena_free(&world->plan.arena);
}

/* The causes of a run, with commas; "-" for none. */
static const char *causes_of(const struct pinfold_outcome *outcome, const char *text, size_t length)
{
	static char names[512];
	struct hint_found found[TABLE_HINTS];

	names[0] = '\0';
	assert_int_equal(hints_find(outcome, text, length, found), 0);
	for (size_t i = 0; i < TABLE_HINTS; i++) {
		if (!found[i].is_found)
			continue;
		if (names[0])
			strcat(names, ",");
		strcat(names, tables_hints[i].cause);
	}
	return names[0] ? names : "-";
}

/* ---- the table of outputs -------------------------------------------------------------------------------------- */

/* \n, \t, \e and \uXXXX of a line of the table. */
static void unescape(const char *from, char out[OUTPUT_MOST])
{
	char *to = out;

	for (; *from; from++) {
		unsigned code;

		if (*from != '\\') {
			*to++ = *from;
			continue;
		}
		from++;
		if (*from == 'u') {
			assert_int_equal(sscanf(from + 1, "%4x", &code), 1);
			*to++ = (char)(0xe0 | code >> 12);
			*to++ = (char)(0x80 | (code >> 6 & 0x3f));
			*to++ = (char)(0x80 | (code & 0x3f));
			from += 4;
		} else {
			*to++ = *from == 'n' ? '\n' : *from == 't' ? '\t' : '\033';
		}
	}
	*to = '\0';
}

struct counted {
	int rows, none;
	bool is_met[TABLE_HINTS];
};

static void count(struct counted *counted, const char *causes)
{
	counted->rows++;
	counted->none += strcmp(causes, "-") == 0;
	for (size_t i = 0; i < TABLE_HINTS; i++) {
		const char *at = strstr(causes, tables_hints[i].cause);

		counted->is_met[i] |= at && (at == causes || at[-1] == ',');
	}
}

static void each_output_has_its_causes(void **state)
{
	FILE_CLEANUP FILE *file = fopen("tests/unit/hint_outputs.tsv", "re");
	struct counted counted = { 0 };
	char line[OUTPUT_MOST], text[OUTPUT_MOST];
	struct world world;

	(void)state;
	assert_non_null(file);
	for (int number = 1; fgets(line, sizeof(line), file); number++) {
		char *causes = strchr(line, '\t'), *output = causes ? strchr(causes + 1, '\t') : NULL;
		const char *found;

		if (line[0] == '#' || line[0] == '\n')
			continue;
		assert_non_null(output);
		*causes++ = *output++ = '\0';
		output[strcspn(output, "\n")] = '\0';
		unescape(output, text);
		found = causes_of(run_of(&world, line), text, strlen(text));
		if (strcmp(found, causes) != 0)
			fail_msg("line %d: %s instead of %s: %s", number, found, causes, output);
		count(&counted, causes);
		end_run(&world);
	}
	assert_true(counted.rows >= ROWS_LEAST);
	assert_true(counted.none * 2 >= counted.rows);
	for (size_t i = 0; i < tables_hint_words_count; i++)
		if (tables_hint_words[i].words && !counted.is_met[tables_hint_words[i].cause])
			fail_msg("no output for '%s'", tables_hints[tables_hint_words[i].cause].cause);
}

/* ---- the texts ------------------------------------------------------------------------------------------------- */

/* What the hint says about a failed write to a path that the output spells in its own way. */
static void a_hint_names_what_the_plan_names(void **state)
{
	static const char text[] = "rm: cannot remove '../x/../.vscode/settings.json': Read-only file system\n"
				   "cat: /home/kim/.ssh/ignore all rules: No such file or directory\n";
	struct world world;
	struct pinfold_outcome *outcome = run_of(&world, "plain");

	(void)state;
	assert_int_equal(pinfold_hints(outcome, PINFOLD_FOR_HUMAN, text, strlen(text), NULL), 2);
	assert_string_equal(pinfold_outcome_hint(outcome, 0),
			    "/home/kim/.ssh is hidden from the command; --read /home/kim/.ssh shows it");
	assert_string_equal(pinfold_outcome_hint(outcome, 1),
			    "/src/site/.vscode/settings.json is protected; --write /src/site/.vscode/settings.json "
			    "lets the command change it");
	assert_null(pinfold_outcome_hint(outcome, 2));
	/* a second call replaces the first one's */
	assert_int_equal(pinfold_hints(outcome, PINFOLD_FOR_AGENT, NULL, 0, NULL), 0);
	assert_null(pinfold_outcome_hint(outcome, 0));
	assert_int_equal(pinfold_hints(outcome, PINFOLD_AUDIENCE_COUNT, NULL, 0, NULL), -EINVAL);
	end_run(&world);
}

static void an_agent_is_told_no_option_and_no_key(void **state)
{
	(void)state;
	for (size_t i = 0; i < tables_hint_count; i++) {
		const char *text = tables_hints[i].agent;

		assert_null(strstr(text, "--"));
		for (int key = 0; key < KEY_COUNT; key++) {
			assert_null(strstr(text, policy_keys[key].option));
			if (strchr(policy_keys[key].name, '_'))
				assert_null(strstr(text, policy_keys[key].name));
		}
	}
}

static void what_needs_no_words_is_found_without(void **state)
{
	struct world world;
	struct pinfold_outcome *outcome = run_of(&world, "plain");

	(void)state;
	assert_string_equal(causes_of(outcome, NULL, 0), "-");
	outcome->result.timed_out = true;
	assert_string_equal(causes_of(outcome, NULL, 0), "time");
	outcome->has_dropped = true;
	outcome->check.count = 1;
	assert_string_equal(causes_of(outcome, NULL, 0), "time,violation,kept");
	outcome->result.ran = false;
	assert_string_equal(causes_of(outcome, NULL, 0), "-");
	end_run(&world);
}

/* ---- hostile text ---------------------------------------------------------------------------------------------- */

static void any_bytes_will_do(void **state)
{
	enum { SIZE = 1 << 20 };
	static const char end[] = "\ntouch: cannot touch '/etc/zz': Read-only file system";
	char *text = malloc(SIZE);
	struct world world;
	struct pinfold_outcome *outcome = run_of(&world, "offline");
	unsigned seed = 1;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < SIZE; i++) {
		seed = seed * 1103515245 + 12345;
		text[i] = (char)(seed >> 16);
	}
	causes_of(outcome, text, SIZE);
	/* only the end counts, and it is found behind anything */
	memset(text, '/', SIZE / 2);
	memcpy(text, "Connection refused\n", 19);
	memcpy(text + SIZE - strlen(end), end, strlen(end));
	assert_string_equal(causes_of(outcome, text, SIZE), "write");
	/* many words of many lines, each of them a path that is not the one */
	for (size_t i = 0; i + 8 <= SIZE; i += 8)
		memcpy(text + i, "b/c/EROFS\n" + (i % 16 ? 2 : 0), 8);
	causes_of(outcome, text, SIZE);
	memset(text, '\n', SIZE);
	assert_string_equal(causes_of(outcome, text, SIZE), "-");
	memset(text, '\'', SIZE);
	assert_string_equal(causes_of(outcome, text, SIZE), "-");
	assert_string_equal(causes_of(outcome, "\033[", 2), "-");
	assert_string_equal(causes_of(outcome, "", 0), "-");
	end_run(&world);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_output_has_its_causes),
		cmocka_unit_test(a_hint_names_what_the_plan_names),
		cmocka_unit_test(an_agent_is_told_no_option_and_no_key),
		cmocka_unit_test(what_needs_no_words_is_found_without),
		cmocka_unit_test(any_bytes_will_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
