/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/pathset.h"

static struct arena arena;
static char top[] = "/tmp/pinfold-path-XXXXXX";
static char real[PATH_MAX]; /* of top */

static const char *const links[][2] = {
	{ "real/sub", "link" },
	{ "nowhere/x", "dangling" },
	{ "../dangling", "real/again" },
	{ "loop-b", "loop-a" },
	{ "loop-a", "loop-b" },
	{ "none/../real", "upward" },
};

static int make_tree(void **state)
{
	int fd;

	(void)state;
	if (!mkdtemp(top) || !realpath(top, real) || chdir(top) < 0)
		return -1;
	if (mkdir("real", 0700) < 0 || mkdir("real/sub", 0700) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (symlink(links[i][0], links[i][1]) < 0)
			return -1;
	}
	fd = open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	fd_close(&fd);
	return 0;
}

static int remove_tree(void **state)
{
	(void)state;
	arena_free(&arena);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		unlink(links[i][1]);
	unlink("file");
	rmdir("real/sub");
	rmdir("real");
	return chdir("/") < 0 ? -1 : rmdir(top);
}

static void normal_is_absolute_and_clean(void **state)
{
	static const char *const good[] = { "/", "/a", "/a/b", "/...", "/.a", "/a..", "/\xff" };
	static const char *const bad[] = {
		"", "a", "./a", "//", "/a/", "//a", "/a//b", "/.", "/..", "/a/./b", "/a/..",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(path_is_normal(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(path_is_normal(bad[i]));
}

static void normalising_is_lexical(void **state)
{
	static const char *const rows[][3] = {
		{ NULL, "/", "/" },
		{ NULL, "//a//b/.//", "/a/b" },
		{ NULL, "/a/../..", "/" },
		{ NULL, "/a/b/../c", "/a/c" },
		{ NULL, "/../x", "/x" },
		{ "/base", "", "/base" },
		{ "/base", "x/", "/base/x" },
		{ "/base", "../x", "/x" },
		{ "/", "x", "/x" },
		{ "/base", "/abs", "/abs" },
		{ "/base", "...", "/base/..." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(path_normal(&arena, rows[i][0], rows[i][1]), rows[i][2]);
	assert_null(path_normal(&arena, NULL, "x"));
}

/* E020 */
static void comparing_goes_by_components(void **state)
{
	(void)state;
	assert_true(path_is_in("/srv/app", "/srv/app"));
	assert_true(path_is_in("/srv/app/x", "/srv/app"));
	assert_false(path_is_in("/srv/app-evil", "/srv/app"));
	assert_false(path_is_in("/srv/ap", "/srv/app"));
	assert_false(path_is_in("/srv", "/srv/app"));
	assert_true(path_is_in("/x", "/"));
	assert_true(path_is_in("/", "/"));
	assert_false(path_is_below("/", "/"));
	assert_false(path_is_below("/a", "/a"));
	assert_true(path_is_below("/a/b", "/a"));
	assert_true(path_is_below("/a", "/"));
	assert_string_equal(path_below("/x/a/b", "/x"), "a/b");
	assert_string_equal(path_below("/x", "/x"), "");
	assert_string_equal(path_below("/x", "/"), "x");
	assert_string_equal(path_below("/", "/"), "");
	assert_null(path_below("/xy", "/x"));
}

static void parts_of_a_path(void **state)
{
	(void)state;
	assert_string_equal(path_join(&arena, "/", "x"), "/x");
	assert_string_equal(path_join(&arena, "/a", "x"), "/a/x");
	assert_string_equal(path_parent(&arena, "/"), "/");
	assert_string_equal(path_parent(&arena, "/x"), "/");
	assert_string_equal(path_parent(&arena, "/x/y"), "/x");
	assert_string_equal(path_name("/"), "/");
	assert_string_equal(path_name("/x/y"), "y");
	assert_int_equal(path_depth("/"), 0);
	assert_int_equal(path_depth("/x"), 1);
	assert_int_equal(path_depth("/x/y"), 2);
}

static void parents_come_first(void **state)
{
	(void)state;
	assert_true(path_compare("/", "/a") < 0);
	assert_true(path_compare("/a/b", "/") > 0);
	assert_true(path_compare("/z", "/a/b") > 0);
	assert_true(path_compare("/a", "/a/b") < 0);
	assert_true(path_compare("/a/b", "/a-/b") < 0);
	assert_true(path_compare("/a/b", "/a-c") < 0);
	assert_true(path_compare("/a/c", "/a/b") > 0);
	assert_true(path_compare("/a/\xff", "/a/z") > 0);
	assert_int_equal(path_compare("/a/b", "/a/b"), 0);
}

static void resolves_to(const char *path, const char *below_top, bool is_missing)
{
	bool missing = !is_missing;
	char *got = NULL;

	assert_int_equal(path_resolve(&arena, path, &got, &missing), 0);
	assert_string_equal(got, *below_top ? path_join(&arena, real, below_top) : real);
	assert_int_equal(missing, is_missing);
	assert_true(path_is_normal(got));
}

static void links_are_resolved(void **state)
{
	(void)state;
	resolves_to(".", "", false);
	resolves_to("link", "real/sub", false);
	resolves_to("link/..", "real", false);
	resolves_to("real//sub/", "real/sub", false);
	resolves_to(path_join(&arena, top, "link/../sub"), "real/sub", false);
}

static void missing_leaves_are_added(void **state)
{
	char *got;

	(void)state;
	resolves_to("link/new/deep", "real/sub/new/deep", true);
	resolves_to("new/./deep//er/", "new/deep/er", true);
	resolves_to("link/../new", "real/new", true);
	resolves_to("new/.", "new", true);
	assert_int_equal(path_resolve(&arena, "new/../x", &got, NULL), -ENOENT);
	assert_int_equal(path_resolve(&arena, "new/..", &got, NULL), -ENOENT);
	assert_int_equal(path_resolve(&arena, "", &got, NULL), -ENOENT);
	assert_int_equal(path_resolve(&arena, "file/x", &got, NULL), -ENOTDIR);
	assert_int_equal(path_resolve(&arena, "/", &got, NULL), 0);
	assert_string_equal(got, "/");
	assert_int_equal(path_resolve(&arena, "/none-of-ours/x", &got, NULL), 0);
	assert_string_equal(got, "/none-of-ours/x");
}

/* What is made through the link appears at its target: that is the path which rules are about. */
static void dangling_links_are_followed(void **state)
{
	char *got;

	(void)state;
	resolves_to("dangling", "nowhere/x", true);
	resolves_to("dangling/", "nowhere/x", true);
	resolves_to("dangling/y", "nowhere/x/y", true);
	resolves_to("real/again/y", "nowhere/x/y", true);
	assert_int_equal(path_resolve(&arena, "dangling/..", &got, NULL), -ENOENT);
	assert_int_equal(path_resolve(&arena, "upward", &got, NULL), -ENOENT);
	assert_int_equal(path_resolve(&arena, "loop-a", &got, NULL), -ELOOP);
	assert_int_equal(path_resolve(&arena, "loop-a/x", &got, NULL), -ELOOP);
}

/* With fewer looks the same answer, links and errors included. */
static void below_a_canonical_directory_as_from_the_root(void **state)
{
	static const char *const below[] = {
		"real", "real/sub", "real/new/deep", "new", "link", "link/new", "link/../sub", "real//sub/", "dangling",
		"dangling/y", "real/again", "upward", "loop-a", "loop-a/x", "file", "file/x", "new/../x", "",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		char *a = NULL, *b = NULL;
		int r = path_resolve(&arena, path_join(&arena, real, below[i]), &a, NULL);

		assert_int_equal(path_resolve_below(&arena, real, below[i], &b), r);
		if (r == 0)
			assert_string_equal(a, b);
	}
}

static const char *first_in(const char *path)
{
	static const char *const paths[] = { "/b/c", "/a/b/c", "/a/bc", "/home/me/.cache/pip", "/a" };
	struct path_set set = { 0 };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(path_set_add(&arena, &set, paths[i]), 0);
	path_set_sort(&set);
	return path_set_first_in(&set, path);
}

static void a_set_knows_what_lies_in_a_directory(void **state)
{
	static char deep[400] = "/home/me/";

	(void)state;
	assert_string_equal(first_in("/a"), "/a");
	assert_string_equal(first_in("/a/b"), "/a/b/c");
	assert_string_equal(first_in("/a/bc"), "/a/bc");
	assert_string_equal(first_in("/home/me/.cache"), "/home/me/.cache/pip");
	assert_non_null(first_in("/"));
	assert_null(first_in("/a/b/d"));
	assert_null(first_in("/a/b/c/d"));
	assert_null(first_in("/home/me/.cachd"));
	assert_null(first_in("/home/me/.cach"));
	memset(deep + strlen(deep), 'x', sizeof(deep) - strlen(deep) - 1);
	assert_null(first_in(deep));
}

static void what_is_too_long_is_refused(void **state)
{
	static char name[PATH_MAX + 10];
	char *got;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(path_resolve(&arena, name, &got, NULL), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normal_is_absolute_and_clean),
		cmocka_unit_test(normalising_is_lexical),
		cmocka_unit_test(comparing_goes_by_components),
		cmocka_unit_test(parts_of_a_path),
		cmocka_unit_test(parents_come_first),
		cmocka_unit_test(links_are_resolved),
		cmocka_unit_test(missing_leaves_are_added),
		cmocka_unit_test(dangling_links_are_followed),
		cmocka_unit_test(below_a_canonical_directory_as_from_the_root),
		cmocka_unit_test(a_set_knows_what_lies_in_a_directory),
		cmocka_unit_test(what_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
