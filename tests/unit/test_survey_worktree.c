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
#include "survey/worktree.h"

#define HOME "/home/me"

static struct arena arena;
static char top[] = "/tmp/pinfold-worktree-XXXXXX";
static char real[PATH_MAX]; /* of top */

static int make_tree(void **state)
{
	int fd;

	(void)state;
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_STATE_HOME");
	if (!mkdtemp(top) || !realpath(top, real) || chdir(top) < 0)
		return -1;
	if (mkdir("repo", 0700) < 0 || mkdir("repo/.git", 0700) < 0 || mkdir("repo/a", 0700) < 0 ||
	    mkdir("repo/a/b", 0700) < 0 || mkdir("linked", 0700) < 0 || symlink("/none-of-ours", "linked/.git") < 0)
		return -1;
	fd = open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	fd_close(&fd);
	return 0;
}

static int remove_tree(void **state)
{
	static const char *const dirs[] = { "repo/a/b", "repo/a", "repo/.git", "repo", "linked" };

	(void)state;
	arena_free(&arena);
	unlink("file");
	unlink("linked/.git");
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		rmdir(dirs[i]);
	return chdir("/") < 0 ? -1 : rmdir(top);
}

static void finds(const char *cwd, const char *given, const char *home, const char *expected)
{
	char *got = NULL;

	assert_int_equal(worktree_find(&arena, path_join(&arena, real, cwd), given, home, &got, NULL), 0);
	assert_string_equal(got, path_join(&arena, real, expected));
}

static void the_git_top_is_nearest(void **state)
{
	(void)state;
	finds("repo", NULL, HOME, "repo");
	finds("repo/a/b", NULL, HOME, "repo");
	finds("linked", NULL, HOME, "linked"); /* whatever .git is */
	finds("repo/a/gone", NULL, HOME, "repo");
}

static void a_git_top_that_is_not_fit_is_not_used(void **state)
{
	char *home = path_join(&arena, real, "repo"), *below = path_join(&arena, real, "repo/a");

	(void)state;
	finds("repo/a/b", NULL, home, "repo/a/b"); /* a dotfiles repository */
	finds("repo/a/b", NULL, below, "repo/a/b");
	finds("repo", NULL, home, "repo"); /* found, and refused by the caller */
	assert_non_null(worktree_refusal(&arena, home, home, NULL));
}

static void what_is_given_must_be_a_directory(void **state)
{
	static const struct {
		const char *given;
		int r;
	} rows[] = { { "none", -ENOENT }, { "none/x", -ENOENT }, { "file", -ENOTDIR }, { "", -ENOENT } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pinfold_error err;
		char *got = NULL;

		assert_int_equal(worktree_find(&arena, real, rows[i].given, HOME, &got, &err), rows[i].r);
		assert_int_equal(err.code, PINFOLD_USAGE);
		assert_string_equal(err.object, rows[i].given);
		assert_null(got);
	}
	finds("repo/a/b", "..", HOME, "repo/a");
	finds("repo", path_join(&arena, real, "repo/a"), HOME, "repo/a");
	finds("repo", "../linked", HOME, "linked");
}

static void places_that_are_not_fit(void **state)
{
	static const char *const bad[] = {
		"/", "/tmp", "/var/tmp", "/var", "/home", "/home/me", "/root", "/usr", "/usr/local/src/x",
		"/etc/x", "/bin", "/lib64", "/opt", "/boot/x", "/dev/shm", "/proc/1", "/sys/fs", "/run",
		"/run/user/1000/x", "/srv", "/mnt", "/media", "/nix/store", "/usr/src", "/accounts",
		"/accounts/me", "/home/me/.config", "/home/me/.config/pinfold", "/home/me/.config/pinfold/x",
		"/home/me/.local", "/home/me/.local/state/pinfold",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!worktree_refusal(&arena, bad[i], HOME, "/accounts/me"))
			fail_msg("%s should be refused", bad[i]);
	}
}

static void places_that_are_fit(void **state)
{
	static const char *const good[] = {
		"/tmp/x", "/var/tmp/x", "/var/www", "/var/lib/ci/job", "/srv/app", "/opt/app", "/mnt/x",
		"/media/x", "/run/media/me/disk", "/home/me/src", "/home/me-too", "/home/me/.config/nvim",
		"/root/x", "/usr/src/app", "/workspace", "/tmpx", "/etcetera/x", "/accounts/me/x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (worktree_refusal(&arena, good[i], HOME, "/accounts/me"))
			fail_msg("%s should be fit", good[i]);
	}
	assert_null(worktree_refusal(&arena, "/app", "/", NULL)); /* a container's user without an account */
	assert_null(worktree_refusal(&arena, "/app", NULL, NULL));
}

static void our_own_program_and_configuration_are_not_in_it(void **state)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	assert_true(len > 0);
	self[len] = '\0';
	assert_non_null(worktree_refusal(&arena, path_parent(&arena, self), NULL, NULL));
	assert_null(worktree_refusal(&arena, path_join(&arena, path_parent(&arena, self), "none"), NULL, NULL));
	setenv("XDG_CONFIG_HOME", path_join(&arena, top, "repo/a/b"), 1);
	assert_non_null(worktree_refusal(&arena, path_join(&arena, real, "repo"), HOME, NULL));
	assert_null(worktree_refusal(&arena, path_join(&arena, real, "linked"), HOME, NULL));
	unsetenv("XDG_CONFIG_HOME");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_git_top_is_nearest),
		cmocka_unit_test(a_git_top_that_is_not_fit_is_not_used),
		cmocka_unit_test(what_is_given_must_be_a_directory),
		cmocka_unit_test(places_that_are_not_fit),
		cmocka_unit_test(places_that_are_fit),
		cmocka_unit_test(our_own_program_and_configuration_are_not_in_it),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
