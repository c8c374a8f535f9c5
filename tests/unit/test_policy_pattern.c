/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <time.h>

#include "policy/pattern.h"

#define WORKTREE "/w/tree"
#define HOME     "/home/me"

static struct arena arena;
static struct pinfold_error error;

static struct pattern parse(const char *text)
{
	struct pattern pattern;

	if (pattern_parse(&arena, text, WORKTREE, HOME, &pattern, &error) < 0)
		fail_msg("'%s': %s", text, error.text);
	return pattern;
}

static void test_glob(void **state)
{
	static const struct {
		const char *glob, *name;
		bool matches;
	} rows[] = {
		{"", "", true},
		{"a", "a", true},
		{"a", "b", false},
		{"a", "ab", false},
		{"*", "", true},
		{"*", ".hidden", true}, /* as gitignore: a secret that begins with a dot is one, too */
		{"*.pem", "key.pem", true},
		{"*.pem", ".pem", true},
		{"*.pem", "key.pem.bak", false},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "abc", true},
		{"a*b*c", "acb", false},
		{"a*bc", "abcbc", true},
		{"?", "x", true},
		{"?", "", false},
		{"?b?", "abc", true},
		{"[a-c]", "b", true},
		{"[a-c]", "d", false},
		{"[!a-c]", "d", true},
		{"[^a-c]", "b", false},
		{"[]]", "]", true},
		{"[!]]", "]", false},
		{"[]-a]", "^", true},
		{"[a-]", "-", true},
		{"[\\]]", "]", true},
		{"[\\a-\\c]", "b", true},
		{"[\xc3-\xff]", "\xe4", true},
		{"\\*", "*", true},
		{"\\*", "x", false},
		{"\\[x", "[x", true},
		{"x\\", "x\\", true}, /* never parsed, but harmless */
		{"[x", "[x", true},
		{"**", "anything", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (pattern_glob(rows[i].glob, rows[i].name) != rows[i].matches)
			fail_msg("'%s' and '%s'", rows[i].glob, rows[i].name);
}

static void test_matches(void **state)
{
	static const struct {
		const char *pattern, *path;
		bool is_directory, matches;
	} rows[] = {
		/* a name, at any depth below the worktree's top */
		{"secret.txt", "/w/tree/secret.txt", false, true},
		{"secret.txt", "/w/tree/a/b/secret.txt", false, true},
		{"secret.txt", "/w/secret.txt", false, false},
		{"secret.txt", "/w/tree/secret.txt/x", false, false},
		{"secret.txt", "/w/tree-evil/secret.txt", false, false}, /* E020 */
		{"*.pem", "/w/tree/a/x.pem", false, true},
		{"*.pem", "/w/tree", true, false},
		/* a directory */
		{"build/", "/w/tree/a/build", true, true},
		{"build/", "/w/tree/a/build", false, false},
		/* anchored */
		{"a/b", "/w/tree/a/b", false, true},
		{"a/b", "/w/tree/x/a/b", false, false},
		{"a//b/", "/w/tree/a/b", true, true},
		{"./a", "/w/tree/a", false, true},
		{"./a", "/w/tree/x/a", false, false},
		{"./a/./b", "/w/tree/a/b", false, true},
		{".", "/w/tree", true, true},
		{".", "/w/tree/a", true, false},
		{"/etc/x", "/etc/x", false, true},
		{"/", "/", true, true},
		{"/", "/x", true, false},
		{"~/.netrc", "/home/me/.netrc", false, true},
		{"~/.netrc", "/home/me/a/.netrc", false, false},
		{"~/*.key", "/home/me/a.key", false, true},
		{"~/*.key", "/home/me/a/b.key", false, false},
		{"~", "/home/me", true, true},
		{"~/", "/home/me", true, true},
		{"\\~", "/w/tree/x/~", true, true},
		{"~x", "/w/tree/~x", true, true},
		/* F042: an absolute pattern with a star stays where it is */
		{"/tmp/x-*/k", "/tmp/x-1/k", false, true},
		{"/tmp/x-*/k", "/w/tree/tmp/x-1/k", false, false},
		{"/tmp/x-*/k", "/tmp/x-1/y/k", false, false},
		/* F031: a wildcard in the middle */
		{"proj/**/guard.py", "/w/tree/proj/guard.py", false, true},
		{"proj/**/guard.py", "/w/tree/proj/a/guard.py", false, true},
		{"proj/**/guard.py", "/w/tree/proj/a/b/c/guard.py", false, true},
		{"proj/**/guard.py", "/w/tree/proj/a/guard.pyc", false, false},
		{"proj/**/a/**/b", "/w/tree/proj/x/a/y/a/b", false, true},
		{"**/x", "/w/tree/x", false, true},
		{"**/x", "/w/tree/a/b/x", false, true},
		/* F032: all that is below, not the directory itself */
		{"~/.gnupg/**", "/home/me/.gnupg/private-keys-v1.d", true, true},
		{"~/.gnupg/**", "/home/me/.gnupg/a/b", false, true},
		{"~/.gnupg/**", "/home/me/.gnupg", true, false},
		{"a/**/**", "/w/tree/a/b", false, true},
		{"**", "/w/tree/a/b", false, true},
		{"a**b/c", "/w/tree/axxb/c", false, true},
		{"a**b/c", "/w/tree/a/b/c", false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pattern pattern = parse(rows[i].pattern);

		if (pattern_matches(&pattern, rows[i].path, rows[i].is_directory) != rows[i].matches)
			fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].path);
	}
}

static void test_may_match_below(void **state)
{
	static const struct {
		const char *pattern, *path;
		bool may;
	} rows[] = {
		{"x", "/w/tree", true},
		{"x", "/w/tree/a", true},
		{"x", "/w", true},
		{"x", "/other", false},
		{"a/b/c", "/w/tree", true},
		{"a/b/c", "/w/tree/a", true},
		{"a/b/c", "/w/tree/a/b", true},
		{"a/b/c", "/w/tree/a/b/c", false},
		{"a/b/c", "/w/tree/b", false},
		{"a/*/c", "/w/tree/a/z", true},
		{"a/**/c", "/w/tree/a/z/y/x", true},
		{"a/**", "/w/tree/a", true},
		{"a/**", "/w/tree/b", false},
		{"~/a", "/home", true},
		{"~", "/home/me", false},
		{"~", "/home", true},
		{"/tmp/x-*/k", "/tmp/x-1", true},
		{"/tmp/x-*/k", "/tmp/y", false},
		{"/tmp/x-*/k", "/", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pattern pattern = parse(rows[i].pattern);

		if (pattern_may_match_below(&pattern, rows[i].path) != rows[i].may)
			fail_msg("'%s' below '%s'", rows[i].pattern, rows[i].path);
	}
}

static void test_literal(void **state)
{
	static const struct {
		const char *pattern, *literal;
	} rows[] = {
		{"a/b", WORKTREE "/a/b"},
		{"./a", WORKTREE "/a"},
		{"/etc/x/", "/etc/x"},
		{"~/.x", HOME "/.x"},
		{"~", HOME},
		{"/a\\*b", "/a*b"},
		{"/a/\\./b", "/a/b"},
		{"/", "/"},
		{"name", NULL}, /* at any depth: no one path */
		{"/a*b", NULL},
		{"/a[b]", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pattern pattern = parse(rows[i].pattern);

		assert_int_equal(pattern.is_literal, rows[i].literal != NULL);
		if (rows[i].literal)
			assert_string_equal(pattern.literal, rows[i].literal);
		assert_string_equal(pattern.text, rows[i].pattern);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *pattern, *why;
	} rows[] = {
		{"", "empty"},
		{"!x", "!"},
		{"a/../b", ".."},
		{"..", ".."},
		{"a/..", ".."},
		{"a/\\.\\./b", ".."},
		{"x\\", "backslash"},
		{"x\\/y", "backslash"},
		{"[a", "closes"},
		{"[", "closes"},
		{"[!", "closes"},
		{"[]", "closes"},
		{"a[b/c]d", "closes"},
		{"[z-a]", "backwards"},
		{"[[:alpha:]]", "character class"},
	};
	static char long_text[8000];
	struct pattern pattern;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(pattern_parse(&arena, rows[i].pattern, WORKTREE, HOME, &pattern, &error), -EINVAL);
		assert_int_equal(error.code, PINFOLD_USAGE);
		if (!strstr(error.text, rows[i].why))
			fail_msg("'%s': %s", rows[i].pattern, error.text);
	}
	memset(long_text, 'a', sizeof(long_text) - 1);
	assert_int_equal(pattern_parse(&arena, long_text, WORKTREE, HOME, &pattern, NULL), -EINVAL);
	assert_int_equal(pattern_parse(&arena, "~/x", WORKTREE, NULL, &pattern, &error), -EINVAL);
	assert_non_null(strstr(error.text, "no home"));
}

/* A base that looks like a pattern is none. */
static void test_odd_base(void **state)
{
	struct pattern pattern;

	(void)state;
	assert_int_equal(pattern_parse(&arena, "x*", "/w/[a]*", HOME, &pattern, NULL), 0);
	assert_true(pattern_matches(&pattern, "/w/[a]*/xy", false));
	assert_false(pattern_matches(&pattern, "/w/ab/xy", false));
}

/* Many stars against a text that almost matches: time grows with the product of both, not as a power. */
static void test_time(void **state)
{
	char glob[2048], name[4000];
	clock_t start = clock();

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(glob); i++)
		glob[i] = i % 2 ? 'a' : '*';
	glob[sizeof(glob) - 2] = 'b';
	glob[sizeof(glob) - 1] = '\0';
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_false(pattern_glob(glob, name));
	assert_true((clock() - start) / CLOCKS_PER_SEC < 2);
}

static int teardown(void **state)
{
	(void)state;
	arena_free(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glob),    cmocka_unit_test(test_matches), cmocka_unit_test(test_may_match_below),
		cmocka_unit_test(test_literal), cmocka_unit_test(test_refused), cmocka_unit_test(test_odd_base),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests_name("policy: patterns", tests, NULL, teardown);
}
