/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/identity.h"
#include "base/path.h"

static struct arena arena;

static int clear(void **state)
{
	static const char *const names[] = {
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "HOME",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	return 0;
}

static int release(void **state)
{
	(void)state;
	arena_free(&arena);
	return 0;
}

static void the_account_is_the_one_of_the_id(void **state)
{
	const struct passwd *expected = getpwuid(getuid());
	struct identity id;

	(void)state;
	setenv("USER", "somebody", 1);
	setenv("LOGNAME", "somebody", 1);
	assert_int_equal(identity_read(&arena, &id), 0);
	assert_int_equal(id.uid, getuid());
	assert_int_equal(id.gid, getgid());
	assert_int_equal(id.shell[0], '/');
	if (!expected) {
		assert_null(id.user);
		assert_null(id.account_home);
		return;
	}
	assert_string_equal(id.user, expected->pw_name);
	assert_true(path_is_normal(id.account_home));
	assert_string_equal(id.home, id.account_home);
}

static void home_is_a_second_one(void **state)
{
	struct identity plain, other;

	(void)state;
	assert_int_equal(identity_read(&arena, &plain), 0);
	setenv("HOME", "//none-of-ours/./me/", 1);
	assert_int_equal(identity_read(&arena, &other), 0);
	assert_string_equal(other.home, "/none-of-ours/me");
	assert_string_equal(other.home_spelling, "/none-of-ours/me");
	assert_string_equal(other.config_home, "/none-of-ours/me/.config");
	assert_string_equal(other.data_home, "/none-of-ours/me/.local/share");
	assert_string_equal(other.state_home, "/none-of-ours/me/.local/state");
	assert_string_equal(other.cache_home, "/none-of-ours/me/.cache");
	assert_null(other.runtime_dir);
	if (plain.account_home)
		assert_string_equal(other.account_home, plain.account_home);
}

static void a_linked_home_has_both_spellings(void **state)
{
	char top[] = "/tmp/pinfold-home-XXXXXX", *link, *real;
	struct identity id;

	(void)state;
	assert_non_null(mkdtemp(top));
	link = path_join(&arena, top, "link");
	assert_int_equal(symlink(".", link), 0);
	assert_int_equal(path_resolve(&arena, top, &real, NULL), 0);
	setenv("HOME", link, 1);
	assert_int_equal(identity_read(&arena, &id), 0);
	assert_string_equal(id.home, real);
	assert_string_equal(id.home_spelling, link);
	unlink(link);
	rmdir(top);
}

static void relative_words_are_ignored(void **state)
{
	struct identity plain, other;

	(void)state;
	setenv("HOME", "", 1);
	assert_int_equal(identity_read(&arena, &plain), 0);
	setenv("HOME", "here", 1);
	setenv("XDG_CONFIG_HOME", "conf", 1);
	setenv("XDG_CACHE_HOME", "/c//d/", 1);
	setenv("XDG_RUNTIME_DIR", "./run", 1);
	assert_int_equal(identity_read(&arena, &other), 0);
	assert_string_equal(other.cache_home, "/c/d");
	assert_null(other.runtime_dir);
	if (!plain.home) {
		assert_null(other.home);
		assert_null(other.config_home);
		return;
	}
	assert_string_equal(other.home, plain.home);
	assert_string_equal(other.config_home, plain.config_home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_account_is_the_one_of_the_id, clear),
		cmocka_unit_test_setup(home_is_a_second_one, clear),
		cmocka_unit_test_setup(a_linked_home_has_both_spellings, clear),
		cmocka_unit_test_setup(relative_words_are_ignored, clear),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
