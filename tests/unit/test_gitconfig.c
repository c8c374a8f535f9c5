/* SPDX-License-Identifier: Apache-2.0 */
/* git's configuration: how it is read, and what of a changed one reaches the host's file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/gitconfig.h"
#include "base/limits.h"
#include "run/carry.h"

/* ---- reading ---- */

/* "section|subsection|key=value" a line; a header ends in "]", a key alone has no "=". */
static void describe(const struct gitconfig *config, struct buf *out)
{
	for (size_t i = 0; i < config->n; i++) {
		const struct gitconfig_item *item = &config->v[i];

		buf_printf(out, "%s|%s|%s%s%s\n", item->section, item->subsection ? item->subsection : "-",
			   item->key ? item->key : "]", item->value ? "=" : "", item->value ? item->value : "");
	}
}

static void check_reading(const char *text, const char *expected)
{
	BUF_CLEANUP struct buf out = BUF_INIT(4096);
	struct arena arena = { 0 };
	struct gitconfig config;
	int r = gitconfig_parse(&arena, text, strlen(text), &config);

	if (!expected) {
		if (r != -EINVAL)
			fail_msg("%d for:\n%s", r, text);
	} else {
		if (r != 0)
			fail_msg("%d for:\n%s", r, text);
		buf_str(&out, "");
		describe(&config, &out);
		assert_string_equal(out.data ? out.data : "", expected);
	}
	arena_free(&arena);
}

static void test_reading(void **state)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{ "", "" },
		{ "# only\n ; comments", "" },
		{ "[core]\n\tbare = false\n", "core|-|]\ncore|-|bare=false\n" },
		{ "\xef\xbb\xbf[core]\r\n\tBare\r\n", "core|-|]\ncore|-|bare\n" },
		{ "[Branch \"Main\"] Remote=origin", "branch|Main|]\nbranch|Main|remote=origin\n" },
		{ "[branch.Main]\n", "branch|main|]\n" },
		{ "[a \"x\\\"y\\\\z\\q\"]\n", "a|x\"y\\zq|]\n" },
		{ "[a]b = one two  ; comment\n", "a|-|]\na|-|b=one two\n" },
		{ "[a]b = \" x \" y # z\n", "a|-|]\na|-|b= x  y\n" },
		{ "[a]b = \"x;#\"\n", "a|-|]\na|-|b=x;#\n" },
		{ "[a]b = one\\\n  two\nc=\n", "a|-|]\na|-|b=one  two\na|-|c=\n" },
		{ "[a]b = \\t\\n\\\\\\\"\n", "a|-|]\na|-|b=\t\n\\\"\n" },
		{ "[a] # comment ]\n b = 1 # \\\n c = 2\n", "a|-|]\na|-|b=1\na|-|c=2\n" },
		{ "b = 1\n", NULL },
		{ "[a]b = \"x\n", NULL },
		{ "[a]b = \\x\n", NULL },
		{ "[a]1b = x\n", NULL },
		{ "[a]b # x\n", NULL },
		{ "[a]b c = x\n", NULL },
		{ "[a", NULL },
		{ "[a \"b]\n", NULL },
		{ "[a \"b\"x]\n", NULL },
		{ "[a b]\n", NULL },
		{ "[a\n]\n", NULL },
		{ "[a \"b\n\"]\n", NULL },
		{ "[a_b]\n", NULL },
		{ "]", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_reading(rows[i].text, rows[i].expected);
}

static void test_limits(void **state)
{
	char *text = malloc(LIMIT_GIT_CONFIG_BYTES + 1);
	struct arena arena = { 0 };
	struct gitconfig config;

	(void)state;
	assert_non_null(text);
	memset(text, '\n', LIMIT_GIT_CONFIG_BYTES + 1);
	assert_int_equal(gitconfig_parse(&arena, text, LIMIT_GIT_CONFIG_BYTES, &config), 0);
	assert_int_equal(gitconfig_parse(&arena, text, LIMIT_GIT_CONFIG_BYTES + 1, &config), -E2BIG);
	for (size_t i = 0; i + 3 <= LIMIT_GIT_CONFIG_BYTES; i += 3)
		memcpy(text + i, "[a]", 3);
	assert_int_equal(gitconfig_parse(&arena, text, LIMIT_GIT_CONFIG_BYTES, &config), -E2BIG);
	assert_int_equal(gitconfig_parse(&arena, "[a]\0\n", 5, &config), -EINVAL);
	arena_free(&arena);
	free(text);
}

static void test_names(void **state)
{
	static const char *const good[] = { "main", "feature/#12", "a.b", "a;b", "ünï", "v1-2_3", "x@y" };
	static const char *const bad[] = {
		"", "-x", "a b", "a..b", "a/", "/a", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "@", "a@{b",
			"a~1",
		"a^", "a:b", "a?", "a*", "a[", "a\\b", "a\"b", "a\nb", "a\x7f", "\xff", "$(id)", "`id`", "a|b", "HEAD",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(gitconfig_is_branch(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (gitconfig_is_branch(bad[i]))
			fail_msg("a branch: %s", bad[i]);
}

/* ---- carrying over ---- */

#define REMOTE "[remote \"origin\"]\n\turl = /r\n"
#define MAIN "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
#define TOPIC "[branch \"topic\"]\n\tremote = origin\n\tmerge = refs/heads/topic\n"

static void add_names(struct buf *out, const struct strv *names)
{
	for (size_t i = 0; i < names->n; i++)
		buf_printf(out, "%s%s", i ? " " : "", names->v[i]);
}

struct row {
	const char *before, *after;
	const char *present;  /* NULL: as before */
	const char *expected; /* NULL: stays as it is */
	const char *dropped;  /* names */
};

static void check_row(const struct row *row)
{
	BUF_CLEANUP struct buf out = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	BUF_CLEANUP struct buf dropped = BUF_INIT(4096);
	struct carry_texts texts = { BUF_INIT(4096), BUF_INIT(4096), BUF_INIT(4096) };
	const char *present = row->present ? row->present : row->before;
	struct carry_names names = { 0 };
	struct arena arena = { 0 };
	int r;

	buf_str(&texts.before, row->before);
	buf_str(&texts.after, row->after);
	buf_str(&texts.present, present);
	r = carry_text(&arena, &texts, &out, &names);
	if (r != (row->expected ? 1 : 0))
		fail_msg("%d, after:\n%s\nbecame:\n%s", r, row->after, out.data ? out.data : "(nothing)");
	if (row->expected)
		assert_string_equal(out.data ? out.data : "", row->expected);
	buf_str(&dropped, "");
	add_names(&dropped, &names.dropped);
	assert_string_equal(dropped.data ? dropped.data : "", row->dropped ? row->dropped : "");
	buf_free(&texts.before);
	buf_free(&texts.after);
	buf_free(&texts.present);
	arena_free(&arena);
}

#define CHECK(rows)                                                     \
	for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++) \
	check_row(&(rows)[i])

static void test_carried(void **state)
{
	static const struct row rows[] = {
		{ REMOTE, REMOTE, NULL, NULL, NULL },
		{ REMOTE, REMOTE "# a comment\n", NULL, NULL, NULL },
		{ REMOTE, REMOTE MAIN, NULL, REMOTE MAIN, NULL },
		/* the last line of the host's file has no end */
		{ "[remote \"origin\"]\n\turl = /r", REMOTE MAIN, NULL, REMOTE MAIN, NULL },
		{ REMOTE MAIN, REMOTE, NULL, REMOTE, NULL },
		{ REMOTE MAIN TOPIC, REMOTE TOPIC, NULL, REMOTE TOPIC, NULL },
		{ MAIN REMOTE, MAIN REMOTE TOPIC, NULL, MAIN REMOTE TOPIC, NULL },
		/* renamed */
		{ REMOTE MAIN, REMOTE TOPIC, NULL, REMOTE TOPIC, NULL },
		{ "", "[branch \"a#b\"]\n\tremote = .\n\tmerge = \"refs/heads/x;y\"\n\trebase = true\n", NULL,
		  "[branch \"a#b\"]\n\tremote = .\n\tmerge = \"refs/heads/x;y\"\n\trebase = true\n", NULL },
		/* into the section that is there, beside what else it has */
		{ REMOTE "[branch \"main\"]\n\tdescription = mine\n[core]\n\tbare = false\n",
		  REMOTE "[core]\n\tbare = false\n[branch \"main\"]\n\tdescription = mine\n\tpushremote = origin\n",
			NULL,
		  REMOTE "[branch \"main\"]\n\tdescription = mine\n\tpushRemote = origin\n[core]\n\tbare = false\n",
			NULL },
		/* a section whose comment or other variable stays */
		{ REMOTE "[branch \"main\"] # mine\n\tremote = origin\n", REMOTE, NULL,
		  REMOTE "[branch \"main\"] # mine\n", NULL },
		{ REMOTE "[branch \"main\"]\n\tremote = origin\n\tdescription = mine\n", REMOTE, NULL,
		  REMOTE "[branch \"main\"]\n\tdescription = mine\n", "branch.main.description" },
		{ REMOTE "[branch \"main\"] remote = origin\n\tmerge = refs/heads/main\n", REMOTE, NULL,
		  REMOTE "[branch \"main\"] \n", NULL },
		/* the host's file went on meanwhile */
		{ REMOTE, REMOTE MAIN, REMOTE "[user]\n\tname = me\n", REMOTE "[user]\n\tname = me\n" MAIN, NULL },
		{ REMOTE, REMOTE MAIN, REMOTE MAIN, NULL, NULL },
		{ REMOTE MAIN, REMOTE, REMOTE TOPIC MAIN, REMOTE TOPIC, NULL },
		/* several values */
		{ REMOTE "[branch \"main\"]\n\tmerge = refs/heads/a\n\tmerge = refs/heads/b\n",
		  REMOTE "[branch \"main\"]\n\tmerge = refs/heads/b\n\tmerge = refs/heads/c\n", NULL,
		  REMOTE "[branch \"main\"]\n\tmerge = refs/heads/b\n\tmerge = refs/heads/c\n", NULL },
	};

	(void)state;
	CHECK(rows);
}

static void test_dropped(void **state)
{
	static const struct row rows[] = {
		{ "", "[core]\n\tfsmonitor = touch x\n\thooksPath = /tmp\n", NULL, NULL,
		  "core.fsmonitor core.hookspath" },
		{ "", "[alias]\n\tst = !id\n[include]\n\tpath = x\n", NULL, NULL, "alias.st include.path" },
		{ REMOTE, "[remote \"origin\"]\n\turl = ext::id\n", NULL, NULL, "remote.origin.url" },
		{ REMOTE, "", NULL, NULL, "remote.origin.url" },
		{ "", "[url \"https://u:p@h/\"]\n\tinsteadOf = x\n", NULL, NULL, "url.….insteadof" },
		/* a remote of the command's own, an address, a path */
		{ REMOTE, REMOTE "[remote \"evil\"]\n\turl = /e\n[branch \"main\"]\n\tremote = evil\n", NULL, NULL,
		  "branch.main.remote remote.evil.url" },
		{ REMOTE, REMOTE "[branch \"main\"]\n\tremote = ext::id\n\tmerge = refs/heads/main\n", NULL, NULL,
		  "branch.main.merge branch.main.remote" },
		{ REMOTE, REMOTE "[branch \"main\"]\n\tremote = /tmp\n", NULL, NULL, "branch.main.remote" },
		{ REMOTE, REMOTE "[branch \"main\"]\n\tremote\n", NULL, NULL, "branch.main.remote" },
		{ REMOTE, REMOTE "[branch \"main\"]\n\tmerge = refs/tags/x\n", NULL, NULL, "branch.main.merge" },
		{ REMOTE, REMOTE "[branch \"main\"]\n\tmerge = refs/heads/../x\n", NULL, NULL, "branch.main.merge" },
		{ REMOTE, REMOTE "[branch \"main\"]\n\tmerge = \"refs/heads/x\\n\"\n", NULL, NULL,
		  "branch.main.merge" },
		{ REMOTE, REMOTE "[branch \"main\"]\n\trebase = exec\n", NULL, NULL, "branch.main.rebase" },
		{ REMOTE, REMOTE "[branch \"a b\"]\n\tremote = origin\n", NULL, NULL, "branch.a b.remote" },
		{ REMOTE, REMOTE "[branch \"x\\\"]\\\\\"]\n\tremote = origin\n", NULL, NULL, "branch.x\"]\\.remote" },
		{ REMOTE, REMOTE "[branch]\n\tremote = origin\n\tautoSetupMerge = true\n", NULL, NULL,
		  "branch.autosetupmerge branch.remote" },
		/* one bad branch does not take the others along */
		{ REMOTE, REMOTE MAIN "[branch \"topic\"]\n\tremote = /x\n\tmerge = refs/heads/topic\n", NULL,
		  REMOTE MAIN,
		  "branch.topic.merge branch.topic.remote" },
		/* the host said otherwise meanwhile, or took the remote away */
		{ REMOTE MAIN, REMOTE, REMOTE "[branch \"main\"]\n\tremote = .\n\tmerge = refs/heads/main\n", NULL,
		  "branch.main.merge branch.main.remote" },
		{ REMOTE, REMOTE MAIN, "", NULL, "branch.main.merge branch.main.remote" },
	};

	(void)state;
	CHECK(rows);
}

/* What nobody can read is not guessed at; a text in which the lines would mean something else is left alone. */
static void test_refused(void **state)
{
	static const char *const texts[][2] = {
		{ REMOTE, "[branch \"main\"\n" },
		{ REMOTE, REMOTE "[branch \"main\"]\n\tremote = \"origin\n" },
		{ "[remote \"origin\"]\n\turl = /r\\", REMOTE MAIN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct carry_texts all = { BUF_INIT(4096), BUF_INIT(4096), BUF_INIT(4096) };
		BUF_CLEANUP struct buf out = BUF_INIT(4096);
		struct carry_names names = { 0 };
		struct arena arena = { 0 };

		buf_str(&all.before, texts[i][0]);
		buf_str(&all.after, texts[i][1]);
		buf_str(&all.present, texts[i][0]);
		assert_int_equal(carry_text(&arena, &all, &out, &names), -EINVAL);
		buf_free(&all.before);
		buf_free(&all.after);
		buf_free(&all.present);
		arena_free(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading), cmocka_unit_test(test_limits),  cmocka_unit_test(test_names),
		cmocka_unit_test(test_carried), cmocka_unit_test(test_dropped), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
