/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of git's index, with what git writes and with what it never would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/gitindex.h"
#include "base/limits.h"

static struct buf bytes;
static struct arena arena;
static struct gitindex found;

static int begin(void **state)
{
	(void)state;
	bytes = BUF_INIT(16 * 1024 * 1024);
	arena = (struct arena){ 0 };
	found = (struct gitindex){ 0 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	buf_free(&bytes);
	arena_free(&arena);
	return 0;
}

static void add_number(uint32_t n)
{
	const unsigned char v[4] = { n >> 24 & 255, n >> 16 & 255, n >> 8 & 255, n & 255 };

	buf_add(&bytes, v, 4);
}

static void add_zeroes(size_t n)
{
	while (n--)
		buf_char(&bytes, '\0');
}

static void start(unsigned version, uint32_t count)
{
	buf_free(&bytes);
	bytes = BUF_INIT(16 * 1024 * 1024);
	buf_str(&bytes, "DIRC");
	add_number(version);
	add_number(count);
}

static void add_fixed(uint32_t mode, size_t id, unsigned flags)
{
	add_zeroes(24);
	add_number(mode);
	add_zeroes(12 + id);
	buf_char(&bytes, (char)(flags >> 8));
	buf_char(&bytes, (char)(flags & 255));
}

/* As versions 2 and 3 have it. */
static void add_entry(uint32_t mode, size_t id, const char *name)
{
	size_t from = bytes.len, length = strlen(name);

	add_fixed(mode, id, (unsigned)(length < 0xfff ? length : 0xfff));
	buf_str(&bytes, name);
	add_zeroes(8 - (bytes.len - from) % 8);
}

/* Version 4: `strip` bytes less of the name before, and these instead. */
static void add_short(uint32_t mode, unsigned strip, const char *rest, size_t length)
{
	add_fixed(mode, 20, (unsigned)length);
	buf_char(&bytes, (char)strip);
	buf_str(&bytes, rest);
	add_zeroes(1);
}

static int look(void)
{
	found = (struct gitindex){ 0 };
	return gitindex_read(&arena, bytes.data ? bytes.data : "", bytes.len, &found);
}

static void assert_links(const char *a, const char *b)
{
	assert_int_equal(found.links.n, (a != NULL) + (b != NULL));
	if (a)
		assert_string_equal(found.links.v[0], a);
	if (b)
		assert_string_equal(found.links.v[1], b);
}

static void test_files_and_links(void **state)
{
	(void)state;
	for (size_t id = 20; id <= 32; id += 12) {
		start(2, 4);
		add_entry(0100644, id, "a");
		add_entry(0160000, id, "b/sub");
		add_entry(0100755, id, "c-of-eight-or-so");
		add_entry(0160000, id, "d");
		add_zeroes(id);
		assert_int_equal(look(), 0);
		assert_links("b/sub", "d");
	}
	start(2, 0);
	add_zeroes(20);
	assert_int_equal(look(), 0);
	assert_links(NULL, NULL);
}

/* git itself adds no such entries, and writes those that are there. */
static void test_foreign_names(void **state)
{
	static const char *const foreign[] = { ".git/hooks/x", "a/.GIT/x", "a/.git", "../x", "a/../../x", "./x", "/x" };
	static const char *const own[] = { ".gitignore", ".github/x", "a/..b", "a/.git2/x", "x.git/y", ".../x", "a." };

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		start(2, 1);
		add_entry(0100644, 20, foreign[i]);
		add_zeroes(20);
		assert_int_equal(look(), 0);
		assert_string_equal(found.foreign, foreign[i]);
		start(2, 1);
		add_entry(0100644, 20, own[i]);
		add_zeroes(20);
		assert_int_equal(look(), 0);
		assert_null(found.foreign);
	}
}

/* git looks at four bits of the type; the others are anybody's. */
static void test_odd_modes(void **state)
{
	(void)state;
	start(2, 2);
	add_entry(0x0001e1ff, 20, "a");
	add_entry(0xffffefff, 20, "b");
	add_zeroes(20);
	assert_int_equal(look(), 0);
	assert_links("a", "b");
}

static void test_shortened_names(void **state)
{
	(void)state;
	start(4, 3);
	add_short(0100644, 0, "dir/file", 8);
	add_short(0160000, 4, "sub", 7);
	add_short(0160000, 7, "e", 1);
	add_zeroes(20);
	assert_int_equal(look(), 0);
	assert_links("dir/sub", "e");
	start(4, 1);
	add_short(0160000, 0, "short", 3); /* the length counts, not the zero byte */
	add_zeroes(20);
	assert_int_equal(look(), 0);
	assert_links("sho", NULL);
	start(4, 2);
	add_short(0100644, 0, "a", 1);
	add_short(0160000, 5, "b", 1); /* more than there is to strip */
	add_zeroes(20);
	assert_int_equal(look(), -EINVAL);
}

static void test_long_names(void **state)
{
	static char name[5000], longest[70000];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	memset(longest, 'n', sizeof(longest) - 1);
	start(2, 1);
	add_entry(0160000, 20, name);
	add_zeroes(20);
	assert_int_equal(look(), 0);
	assert_links(name, NULL);
	start(2, 1);
	add_entry(0160000, 20, longest);
	add_zeroes(20);
	assert_int_equal(look(), -EINVAL);
}

static void add_extension(const char *name, uint32_t length)
{
	buf_str(&bytes, name);
	add_number(length);
}

static void test_split_and_sparse(void **state)
{
	(void)state;
	start(2, 1);
	add_entry(0040000, 20, "dir/");
	add_extension("TREE", 3);
	buf_add(&bytes, "abc", 3);
	add_extension("link", 20);
	for (int i = 0; i < 20; i++)
		buf_char(&bytes, (char)0xab);
	add_zeroes(20);
	assert_int_equal(look(), 0);
	assert_int_equal(found.sparse.n, 1);
	assert_string_equal(found.sparse.v[0], "dir/");
	assert_int_equal(found.shared.n, 1);
	assert_string_equal(found.shared.v[0], "sharedindex.abababababababababababababababababababab");
}

/* A table of blocks leads git elsewhere than the order of the entries does. */
static void test_blocks(void **state)
{
	size_t hidden, end_of_entries;

	(void)state;
	start(2, 1);
	add_entry(0100644, 20, "file");
	end_of_entries = bytes.len;
	add_extension("XXXX", 72);
	hidden = bytes.len;
	add_entry(0160000, 20, "hidden");
	add_extension("IEOT", 12);
	add_number(1);
	add_number((uint32_t)hidden);
	add_number(1);
	add_extension("EOIE", 24);
	add_number((uint32_t)end_of_entries);
	add_zeroes(20 + 20);
	assert_int_equal(look(), 0);
	assert_links("hidden", NULL);
	start(2, 0);
	add_extension("EOIE", 24);
	add_number(13);
	add_zeroes(20 + 20);
	assert_int_equal(look(), -EINVAL);
}

static void test_not_an_index(void **state)
{
	(void)state;
	assert_int_equal(look(), -EINVAL);
	start(5, 0);
	add_zeroes(20);
	assert_int_equal(look(), -EINVAL);
	start(2, 0xffffffff);
	add_entry(0100644, 20, "a");
	add_zeroes(20);
	assert_int_equal(look(), -EINVAL);
	start(2, 1);
	add_entry(0160000, 20, "a");
	add_extension("TREE", 0xffffffff);
	add_zeroes(20);
	assert_int_equal(look(), -EINVAL);
	assert_links(NULL, NULL); /* what a failed reading has seen is nothing */
}

static void test_every_cut(void **state)
{
	size_t whole;

	(void)state;
	start(2, 2);
	add_entry(0160000, 20, "a/b");
	add_entry(0160000, 20, "c");
	add_extension("link", 20);
	add_zeroes(20 + 20);
	whole = bytes.len;
	for (size_t n = 0; n < whole; n++) {
		char *copy = arena_memdup(&arena, bytes.data, n + !n);
		struct gitindex ret = { 0 };

		assert_non_null(copy);
		gitindex_read(&arena, copy, n, &ret);
	}
}

static void test_too_many(void **state)
{
	char name[32];

	(void)state;
	start(2, LIMIT_GIT_LINKS + 1);
	for (int i = 0; i <= LIMIT_GIT_LINKS; i++) {
		snprintf(name, sizeof(name), "%d", i);
		add_entry(0160000, 20, name);
	}
	add_zeroes(20);
	assert_int_equal(look(), -E2BIG);
}

/* Of a directory all that is in it, and nothing that only begins alike; whether git has seen the file; stages. */
static void test_files_that_are_asked_for(void **state)
{
	char *names[] = { (char[]){ ".vscode" }, (char[]){ "a" } };
	const struct strv wanted = { names, 2, 2 };

	(void)state;
	for (size_t id = 20; id <= 32; id += 12) {
		size_t written;

		start(2, 5);
		written = bytes.len;
		add_entry(0100644, id, ".vscode/settings.json");
		bytes.data[written + 11] = 1; /* a change time */
		memset(bytes.data + written + 40, 7, id);
		add_entry(0100644, id, ".vscodes/x");
		add_entry(0120000, id, "a");
		written = bytes.len;
		add_entry(0100644, id, "a/conflict");
		bytes.data[written + 40 + id] |= 0x20; /* of one of the sides */
		add_entry(0100644, id, "ab");
		add_zeroes(id);
		found = (struct gitindex){ .wanted = &wanted };
		assert_int_equal(gitindex_read(&arena, bytes.data, bytes.len, &found), 0);
		assert_int_equal(found.entry_count, 3);
		assert_string_equal(found.entries[0].name, ".vscode/settings.json");
		assert_int_equal(found.entries[0].id_length, id);
		assert_int_equal(found.entries[0].id[id - 1], 7);
		assert_true(found.entries[0].has_stat && !found.entries[0].is_skipped);
		assert_string_equal(found.entries[1].name, "a");
		assert_int_equal(found.entries[1].mode, 0120000);
		assert_true(!found.entries[1].has_stat && !found.entries[1].is_skipped);
		assert_string_equal(found.entries[2].name, "a/conflict");
		assert_true(found.entries[2].is_skipped);
	}
	assert_int_equal(look(), 0); /* nobody asks */
	assert_int_equal(found.entry_count, 0);
}

#define INDEX_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		INDEX_TEST(test_files_and_links), INDEX_TEST(test_foreign_names),
		INDEX_TEST(test_odd_modes), INDEX_TEST(test_shortened_names),
		INDEX_TEST(test_long_names),	  INDEX_TEST(test_split_and_sparse), INDEX_TEST(test_blocks),
		INDEX_TEST(test_not_an_index),	  INDEX_TEST(test_every_cut),	     INDEX_TEST(test_too_many),
		INDEX_TEST(test_files_that_are_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
