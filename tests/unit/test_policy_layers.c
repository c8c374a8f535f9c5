/* SPDX-License-Identifier: Apache-2.0 */
/* Which files are read, and which are refused. */
#include "policy_world.h"

#include <errno.h>

static void refused(const char *file, const char *says)
{
	assert_int_equal(load(), -EPERM);
	assert_int_equal(world_error.code, PINFOLD_REFUSED);
	assert_string_equal(world_error.file, file);
	assert_says(says);
	assert_true(world_error.hint[0] || strstr(says, "link") || strstr(says, "regular"));
	forget();
}

static void test_nothing(void **state)
{
	(void)state;
	load_fine();
	assert_int_equal(world_policy.file_count, 3);
	for (size_t i = 0; i < world_policy.file_count; i++)
		assert_false(world_policy.files[i].exists);
	assert_string_equal(world_policy.worktree, world_work);
	assert_false(world_policy.worktree_given);
	assert_int_equal(policy_number(&world_policy, KEY_MODE), MODE_REQUIRED);
	assert_int_equal(policy_number(&world_policy, KEY_TIME), POLICY_NONE);
	assert_int_equal(strlen(world_policy.sha256), 64);
}

static void test_mode(void **state)
{
	static const mode_t modes[] = {0664, 0646, 0666, 0620};
	static const char *const files[] = {USER_FILE, ADMIN_FILE};

	(void)state;
	for (size_t f = 0; f < 2; f++) {
		put(files[f], "{}");
		for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
			assert_int_equal(chmod(at(files[f]), modes[i]), 0);
			refused(at(files[f]), "chmod go-w");
		}
		assert_int_equal(chmod(at(files[f]), 0600), 0);
		load_fine();
		forget();
	}
}

static void test_owner(void **state)
{
	(void)state;
	if (getuid() != 0)
		skip();
	put(USER_FILE, "{}");
	assert_int_equal(chown(at(USER_FILE), 12345, 0), 0);
	refused(at(USER_FILE), "user 12345");
	unlink(at(USER_FILE));
	put(PROJECT_FILE, "{}");
	assert_int_equal(chown(at(PROJECT_FILE), 12345, 0), 0);
	refused(at(PROJECT_FILE), "user 12345");
	/* a checkout of another owner: its file is as good as it is */
	assert_int_equal(chown(world_work, 12345, 0), 0);
	load_fine();
	assert_int_equal(chown(world_work, 0, 0), 0);
}

/* A file that an earlier command could have written decides nothing (E102). */
static void test_in_worktree(void **state)
{
	char *path = strdup(at("work/config.json"));

	(void)state;
	put("work/config.json", "{\"mode\": \"off\"}");
	world_policy.config_file = path;
	refused(path, "lies in the worktree");
	/* also where a link leads there */
	assert_int_equal(symlink(path, at(USER_FILE)), 0);
	refused(at(USER_FILE), "lies in the worktree");
	unlink(path);
	free(path);
}

static void test_in_write_path(void **state)
{
	(void)state;
	put(USER_FILE, "{}");
	assert_int_equal(set(KEY_WRITE, "~/.config"), 0);
	assert_int_equal(load(), -EPERM);
	assert_int_equal(world_error.code, PINFOLD_REFUSED);
	assert_says("would make the policy file");
	forget();
	assert_int_equal(set(KEY_WRITE, "~/.config"), 0);
	assert_int_equal(set(KEY_PROTECT, "~/.config/pinfold"), 0);
	load_fine();
	forget();
	/* a link that leads to it */
	assert_int_equal(symlink(at("home/.config"), at("link")), 0);
	assert_int_equal(set(KEY_WRITE, at("link")), 0);
	assert_int_equal(load(), -EPERM);
	unlink(at("link"));
	forget();
	assert_int_equal(set(KEY_WRITE, "~/.local/state"), 0);
	assert_int_equal(load(), -EPERM);
	assert_says("trust.json");
	forget();
	assert_int_equal(set(KEY_WRITE, "~/.config/other"), 0);
	load_fine();
}

/* The user's own links are followed: dotfiles kept elsewhere. */
static void test_link(void **state)
{
	(void)state;
	put("home/dotfile.json", "{\"mode\": \"auto\"}");
	assert_int_equal(symlink(at("home/dotfile.json"), at(USER_FILE)), 0);
	load_fine();
	assert_int_equal(policy_number(&world_policy, KEY_MODE), MODE_AUTO);
	assert_string_equal(world_policy.value[KEY_MODE].source.file, at(USER_FILE));
	forget();
	/* a link to nothing: the user has rules that cannot be read */
	unlink(at("home/dotfile.json"));
	assert_int_equal(load(), -ENOENT);
	assert_int_equal(world_error.code, PINFOLD_REFUSED);
	assert_string_equal(world_error.file, at(USER_FILE));
	assert_says("leads nowhere");
	forget();
	unlink(at(USER_FILE));
	assert_int_equal(rmdir(at("home/.config/pinfold")), 0);
	assert_int_equal(symlink("dotfiles/pinfold", at("home/.config/pinfold")), 0);
	assert_int_equal(load(), -ENOENT);
	assert_says(at("home/.config/pinfold"));
	unlink(at("home/.config/pinfold"));
	forget();
	load_fine(); /* no directory, no file */
	assert_int_equal(mkdir(at("home/.config/pinfold"), 0700), 0);
}

/* Who can write the directory can put another file in the place of ours. */
static void test_directory(void **state)
{
	const char *directory = at("home/.config/pinfold"), *dotfiles = at("home/dotfiles");

	(void)state;
	put(USER_FILE, "{}");
	assert_int_equal(chmod(directory, 0777), 0);
	refused(at(USER_FILE), "others can write its directory");
	assert_int_equal(chmod(directory, 01777), 0); /* sticky: nobody replaces what is not his */
	load_fine();
	forget();
	assert_int_equal(chmod(directory, 0775), 0); /* the user's own group */
	load_fine();
	forget();
	if (getuid() == 0) {
		assert_int_equal(chown(directory, 0, 12345), 0);
		refused(at(USER_FILE), "others can write its directory");
		assert_int_equal(chown(directory, 12345, 0), 0);
		refused(at(USER_FILE), "belongs to user 12345");
		assert_int_equal(chown(directory, 0, 0), 0);
	}
	assert_int_equal(chmod(directory, 0700), 0);
	/* that of the link's target as well */
	assert_int_equal(mkdir(dotfiles, 0700), 0);
	assert_int_equal(chmod(dotfiles, 0777), 0);
	unlink(at(USER_FILE));
	put("home/dotfiles/config.json", "{}");
	assert_int_equal(symlink("../../dotfiles/config.json", at(USER_FILE)), 0);
	refused(at(USER_FILE), "others can write its directory");
	unlink(at("home/dotfiles/config.json"));
	assert_int_equal(rmdir(at("home/dotfiles")), 0);
}

static void test_project_special(void **state)
{
	(void)state;
	put("elsewhere.json", "{}");
	assert_int_equal(symlink(at("elsewhere.json"), at(PROJECT_FILE)), 0);
	refused(at(PROJECT_FILE), "symbolic link");
	unlink(at(PROJECT_FILE));
	assert_int_equal(mkfifo(at(PROJECT_FILE), 0600), 0);
	refused(at(PROJECT_FILE), "not a regular file");
	unlink(at(PROJECT_FILE));
	put(PROJECT_FILE, "{}");
	assert_int_equal(chmod(at(PROJECT_FILE), 0666), 0);
	refused(at(PROJECT_FILE), "others can write");
	/* many users' umask is 002 */
	assert_int_equal(chmod(at(PROJECT_FILE), 0664), 0);
	load_fine();
}

static void test_project_place(void **state)
{
	(void)state;
	put("work/sub/.pinfold.json", "{\"read_only\": true}");
	assert_int_equal(policy_load(&world_policy, at("work/sub"), &world_error), 0);
	assert_string_equal(world_policy.worktree, world_work);
	assert_int_equal(policy_number(&world_policy, KEY_READ_ONLY), 0); /* the top's counts, not one on the way */
	unlink(at("work/sub/.pinfold.json"));
	forget();
	put(PROJECT_FILE, "{\n\"mode\" 1}");
	assert_int_equal(policy_load(&world_policy, at("work/sub"), &world_error), -EINVAL);
	assert_string_equal(world_error.file, at(PROJECT_FILE));
	assert_int_equal(world_error.line, 2);
}

static void test_config_file(void **state)
{
	char *path = strdup(at("other.json"));

	(void)state;
	put(USER_FILE, "{\"mode\": \"auto\"}");
	world_policy.config_file = path;
	assert_int_equal(load(), -ENOENT);
	assert_says("other.json");
	forget();
	put("other.json", "{\"network\": \"offline\"}");
	world_policy.config_file = path;
	load_fine();
	assert_int_equal(policy_number(&world_policy, KEY_MODE), MODE_REQUIRED); /* instead of the user's */
	assert_int_equal(policy_number(&world_policy, KEY_NETWORK), NETWORK_OFFLINE);
	free(path);
}

static void test_config_fd(void **state)
{
	static const char text[] = "{\"network\": \"offline\", \"hide\": [\"x\"]}";
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fd_write_all(ends[1], text, strlen(text)), 0);
	close(ends[1]);
	world_policy.config_fd = ends[0];
	load_fine();
	assert_int_equal(policy_number(&world_policy, KEY_NETWORK), NETWORK_OFFLINE);
	assert_int_equal(strncmp(world_policy.value[KEY_NETWORK].source.file, "fd:", 3), 0);
	close(ends[0]);
	forget();
	world_policy.config_fd = ends[0];
	assert_int_equal(load(), -EBADF);
}

/* Empty or relative is unset (F092), and another directory only moves the file. */
static void test_xdg(void **state)
{
	static const char *const values[] = {"", "relative/dir"};

	(void)state;
	put(USER_FILE, "{\"mode\": \"auto\"}");
	for (size_t i = 0; i < 2; i++) {
		setenv("XDG_CONFIG_HOME", values[i], 1);
		load_fine();
		assert_int_equal(policy_number(&world_policy, KEY_MODE), MODE_AUTO);
		forget();
	}
	setenv("XDG_CONFIG_HOME", "/dev/null", 1);
	load_fine();
	assert_int_equal(policy_number(&world_policy, KEY_MODE), MODE_REQUIRED);
	unsetenv("XDG_CONFIG_HOME");
}

/* Nothing in the environment weakens anything (E103, F086). */
static void test_environment(void **state)
{
	static const char *const names[] = {"PINFOLD",        "PINFOLD_MODE", "PINFOLD_ACCEPT", "PINFOLD_CONFIG",
					    "PINFOLD_STATUS", "PINFOLD_OFF",  "SANDBOX"};
	char sha256[65];

	(void)state;
	load_fine();
	strcpy(sha256, world_policy.sha256);
	forget();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		setenv(names[i], i % 2 ? "off" : "", 1);
	load_fine();
	assert_string_equal(world_policy.sha256, sha256);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

static void test_entry(void **state)
{
	struct buf text = BUF_INIT(8192);

	(void)state;
	buf_printf(&text,
		   "{\n\"mode\": \"auto\",\n\"projects\": {\n\"/elsewhere\": {\"mode\": \"off\", \"hide\": [\"no\"]},\n"
		   "\"%s\": {\n\"mode\": \"off\", \"hide\": [\"yes\"]\n}}\n}",
		   world_work);
	put(USER_FILE, text.data);
	load_fine();
	assert_int_equal(policy_number(&world_policy, KEY_MODE), MODE_OFF);
	assert_int_equal(world_policy.value[KEY_MODE].source.layer, LAYER_PROJECT_ENTRY);
	assert_int_equal(world_policy.value[KEY_MODE].source.line, 6);
	assert_true(has_item(KEY_HIDE, "yes"));
	assert_false(has_item(KEY_HIDE, "no"));
	buf_free(&text);
}

static void test_worktree(void **state)
{
	(void)state;
	assert_int_equal(set(KEY_WORKTREE, "sub"), 0);
	load_fine();
	assert_string_equal(world_policy.worktree, at("work/sub"));
	assert_true(world_policy.worktree_given);
}

/* ---- trust ---- */

static void test_trust(void **state)
{
	struct stat st;

	(void)state;
	put(PROJECT_FILE, "{\"network\": \"open\", \"write\": [\"../shared\"], \"read_only\": true}");
	put(USER_FILE, "{\"network\": \"offline\"}");
	load_fine();
	assert_int_equal(world_policy.ignored_count, 2);
	assert_int_equal(policy_number(&world_policy, KEY_NETWORK), NETWORK_OFFLINE);
	forget();

	assert_int_equal(trust_add(at(PROJECT_FILE), world_work, &world_error), 0);
	assert_int_equal(stat(at(TRUST_FILE), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	load_fine();
	assert_int_equal(world_policy.ignored_count, 0);
	assert_int_equal(policy_number(&world_policy, KEY_NETWORK), NETWORK_OPEN);
	assert_true(has_item(KEY_WRITE, at("shared")));
	assert_true(world_policy.files[2].trusted);
	assert_int_equal(world_policy.value[KEY_NETWORK].source.layer, LAYER_PROJECT);
	forget();

	/* the command line still has the last word */
	assert_int_equal(set(KEY_NETWORK, "offline"), 0);
	load_fine();
	assert_int_equal(policy_number(&world_policy, KEY_NETWORK), NETWORK_OFFLINE);
	forget();

	/* one byte more, and the trust is gone */
	put(PROJECT_FILE, "{\"network\": \"open\", \"write\": [\"../shared\"], \"read_only\": true} ");
	load_fine();
	assert_int_equal(world_policy.ignored_count, 2);
	assert_false(world_policy.files[2].trusted);
}

static void test_trust_is_of_one_worktree(void **state)
{
	char sha256[65];

	(void)state;
	put(PROJECT_FILE, "{\"network\": \"open\"}");
	config_digest("{\"network\": \"open\"}", 19, sha256);
	assert_false(trust_has(world_work, sha256, &world_error));
	assert_int_equal(world_error.code, PINFOLD_OK);
	assert_int_equal(trust_add(at(PROJECT_FILE), world_work, &world_error), 0);
	assert_int_equal(trust_add(at(PROJECT_FILE), "/another/\xff", &world_error), 0);
	assert_true(trust_has(world_work, sha256, &world_error));
	assert_true(trust_has("/another/\xff", sha256, &world_error));
	assert_false(trust_has("/a-third", sha256, &world_error));
	sha256[0] ^= 1;
	assert_false(trust_has(world_work, sha256, &world_error));
	/* a newer content takes the older one's place */
	put(PROJECT_FILE, "{}");
	assert_int_equal(trust_add(at(PROJECT_FILE), world_work, &world_error), 0);
	sha256[0] ^= 1;
	assert_false(trust_has(world_work, sha256, &world_error));
	assert_true(trust_has("/another/\xff", sha256, &world_error));
}

static void test_trust_refused(void **state)
{
	(void)state;
	assert_int_equal(trust_add(at(PROJECT_FILE), world_work, &world_error), -ENOENT);
	put(PROJECT_FILE, "{\"mode\": 1}");
	assert_int_equal(trust_add(at(PROJECT_FILE), world_work, &world_error), -EINVAL);
	assert_string_equal(world_error.key, "mode");
	put(PROJECT_FILE, "{}");
	assert_int_equal(trust_add(at(PROJECT_FILE), world_work, &world_error), 0);
	/* a trust file that others can write trusts nothing, and is named */
	assert_int_equal(chmod(at(TRUST_FILE), 0666), 0);
	refused(at(TRUST_FILE), "others can write");
	assert_int_equal(trust_add(at(PROJECT_FILE), world_work, &world_error), -EPERM);
	put(TRUST_FILE, "{\"trusted\": {}}");
	assert_int_equal(load(), -EINVAL);
	assert_string_equal(world_error.file, at(TRUST_FILE));
	forget();
	/* so is one in the worktree */
	setenv("XDG_STATE_HOME", world_work, 1);
	assert_int_equal(trust_add(at(PROJECT_FILE), "/elsewhere", &world_error), 0);
	refused(at("work/pinfold/trust.json"), "lies in the worktree");
	assert_int_equal(trust_add(at(PROJECT_FILE), world_work, &world_error), -EPERM);
	assert_int_equal(unlink(at("work/pinfold/trust.json")), 0);
	assert_int_equal(rmdir(at("work/pinfold")), 0); /* and nothing else was left there */
	/* told at once, not by every run that follows; and nothing is made */
	assert_int_equal(trust_add(at(PROJECT_FILE), world_work, &world_error), -EPERM);
	assert_says("which the command may change");
	assert_int_equal(access(at("work/pinfold"), F_OK), -1);
	unsetenv("XDG_STATE_HOME");
	assert_int_equal(unlink(at(TRUST_FILE)), 0);
	put(USER_FILE, "{\"write\": [\"~/.local/state\"]}");
	assert_int_equal(trust_add(at(PROJECT_FILE), world_work, &world_error), -EPERM);
	unlink(at(USER_FILE));
	put(PROJECT_FILE, "{\"write\": [\"~/.local\"]}");
	assert_int_equal(trust_add(at(PROJECT_FILE), world_work, &world_error), -EPERM);
	assert_int_equal(access(at(TRUST_FILE), F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_nothing, world_clear),
		cmocka_unit_test_teardown(test_mode, world_clear),
		cmocka_unit_test_teardown(test_owner, world_clear),
		cmocka_unit_test_teardown(test_in_worktree, world_clear),
		cmocka_unit_test_teardown(test_in_write_path, world_clear),
		cmocka_unit_test_teardown(test_link, world_clear),
		cmocka_unit_test_teardown(test_directory, world_clear),
		cmocka_unit_test_teardown(test_project_special, world_clear),
		cmocka_unit_test_teardown(test_project_place, world_clear),
		cmocka_unit_test_teardown(test_config_file, world_clear),
		cmocka_unit_test_teardown(test_config_fd, world_clear),
		cmocka_unit_test_teardown(test_xdg, world_clear),
		cmocka_unit_test_teardown(test_environment, world_clear),
		cmocka_unit_test_teardown(test_entry, world_clear),
		cmocka_unit_test_teardown(test_worktree, world_clear),
		cmocka_unit_test_teardown(test_trust, world_clear),
		cmocka_unit_test_teardown(test_trust_is_of_one_worktree, world_clear),
		cmocka_unit_test_teardown(test_trust_refused, world_clear),
	};

	return cmocka_run_group_tests_name("policy: files and trust", tests, world_make, world_remove);
}
