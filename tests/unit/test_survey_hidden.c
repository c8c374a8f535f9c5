/* SPDX-License-Identifier: Apache-2.0 */
/* What is hidden: built-in rows, links, variables, the rules of the user. */
#include "survey_world.h"

#include <sys/socket.h>
#include <sys/un.h>

/* ---- hidden: built in ---- */

static void test_home_rows_by_name(void **state)
{
	(void)state;
	make_dir("home/.ssh");
	put("home/.netrc", "x");
	make_dir("home/.config/gh");
	take();
	assert_hidden("home/.ssh", HIDDEN_DIRECTORY, PLACE_HOME);
	assert_hidden("home/.netrc", HIDDEN_FILE, PLACE_HOME);
	assert_hidden("home/.config/gh", HIDDEN_DIRECTORY, PLACE_HOME);
	/* E043: what the host makes during the run has a name already */
	assert_hidden("home/.aws", HIDDEN_ABSENT, PLACE_HOME);
	assert_hidden("home/.config/gcloud", HIDDEN_ABSENT, PLACE_HOME);
	assert_string_equal(hidden_at(at("home/.aws"))->source, "built in");
	assert_true(hidden_at(at("home/.ssh"))->node.ino != 0);
}

static void test_topmost_missing_parent(void **state)
{
	(void)state;
	assert_int_equal(rmdir(at("home/.config")), 0);
	take();
	assert_hidden("home/.config", HIDDEN_ABSENT, PLACE_HOME);
	assert_open("home/.config/gh");
	assert_hidden("home/.snowsql", HIDDEN_ABSENT, PLACE_HOME);
	/* the private cache is bound at ~/.cargo/registry, in a ~/.cargo that the pen makes: nothing of the host shows
	 * there */
	assert_open("home/.cargo");
	assert_open("home/.cargo/credentials.toml");
}

static void test_wildcard_rows(void **state)
{
	(void)state;
	put("home/.foo_history", "x");
	put("home/work.kdbx", "x");
	make_dir("home/.aider.tags.cache.v4");
	take();
	assert_hidden("home/.foo_history", HIDDEN_FILE, PLACE_HOME);
	assert_hidden("home/work.kdbx", HIDDEN_FILE, PLACE_HOME);
	assert_hidden("home/.aider.tags.cache.v4", HIDDEN_DIRECTORY, PLACE_HOME);
}

static void test_settings_are_cut(void **state)
{
	const struct survey_hidden *hidden;

	(void)state;
	put("home/.npmrc", "registry=https://registry.example/\n//registry.example/:_authToken=canary\n");
	take();
	assert_hidden("home/.npmrc", HIDDEN_CUT, PLACE_HOME);
	hidden = hidden_at(at("home/.npmrc"));
	assert_non_null(strstr(hidden->copy, "registry=https://registry.example/"));
	assert_null(strstr(hidden->copy, "canary"));
}

static void test_settings_that_are_no_file(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(at("home/.npmrc"), 0600), 0); /* F192: reading it would wait for ever */
	take();
	assert_hidden("home/.npmrc", HIDDEN_FILE, PLACE_HOME);
	assert_null(hidden_at(at("home/.npmrc"))->copy);
}

static void test_known_hosts_stays_readable(void **state)
{
	(void)state;
	make_dir("home/.ssh");
	put("home/.ssh/known_hosts", "host key\n");
	take();
	assert_hidden("home/.ssh", HIDDEN_DIRECTORY, PLACE_HOME);
	assert_true(has_grant(seen.reads, seen.read_count, at("home/.ssh/known_hosts")));
}

/* F188: dotfiles kept elsewhere */
static void test_link_is_hidden_at_both_ends(void **state)
{
	(void)state;
	make_dir("home/dotfiles");
	put("home/dotfiles/netrc", "x");
	make_link("dotfiles/netrc", "home/.netrc");
	put("out/key", "x");
	make_link(at("out/key"), "home/.pgpass");
	take();
	assert_hidden("home/.netrc", HIDDEN_LINK, PLACE_HOME);
	assert_hidden("home/dotfiles/netrc", HIDDEN_FILE, PLACE_HOME);
	assert_hidden("home/.pgpass", HIDDEN_LINK, PLACE_HOME);
	assert_hidden("out/key", HIDDEN_FILE, PLACE_ELSEWHERE);
}

static void test_odd_links(void **state)
{
	(void)state;
	make_link("one", "home/.netrc");
	make_link("two", "home/one");
	put("home/two", "x");
	make_link("nowhere", "home/.pgpass");
	make_link(".boto", "home/.boto");
	make_link(".", "home/.aws");
	make_link(at("work"), "home/.azure");
	take();
	assert_hidden("home/.netrc", HIDDEN_LINK, PLACE_HOME);
	assert_hidden("home/two", HIDDEN_FILE, PLACE_HOME);
	assert_hidden("home/.pgpass", HIDDEN_LINK, PLACE_HOME);
	assert_hidden("home/nowhere", HIDDEN_ABSENT, PLACE_HOME);
	assert_hidden("home/.boto", HIDDEN_LINK, PLACE_HOME);
	/* neither the home nor the worktree goes away with a link to it */
	assert_hidden("home/.aws", HIDDEN_LINK, PLACE_HOME);
	assert_open("home");
	assert_open("work");
	assert_true(has_note(".azure"));
}

static void test_linked_config_directory(void **state)
{
	(void)state;
	assert_int_equal(rmdir(at("home/.config")), 0);
	make_dir("home/dotfiles/config/gh");
	make_link("dotfiles/config", "home/.config");
	take();
	assert_open("home/.config");
	assert_open("home/.config/gh");
	assert_hidden("home/dotfiles/config/gh", HIDDEN_DIRECTORY, PLACE_HOME);
	assert_hidden("home/dotfiles/config/gcloud", HIDDEN_ABSENT, PLACE_HOME);
}

static void test_linked_settings_keep_their_copy(void **state)
{
	(void)state;
	put("home/npm", "registry=https://registry.example/\n_authToken=canary\n");
	make_link("npm", "home/.npmrc");
	take();
	assert_hidden("home/.npmrc", HIDDEN_CUT, PLACE_HOME);
	assert_hidden("home/npm", HIDDEN_CUT, PLACE_HOME);
	assert_null(strstr(hidden_at(at("home/.npmrc"))->copy, "canary"));
}

static void test_xdg_directory_elsewhere(void **state)
{
	(void)state;
	setenv("XDG_CONFIG_HOME", at("out/config"), 1);
	make_dir("out/config/gh");
	make_dir("home/.config/gh");
	take();
	assert_hidden("out/config/gh", HIDDEN_DIRECTORY, PLACE_ELSEWHERE);
	assert_open("out/config/gcloud");
	assert_hidden("home/.config/gh", HIDDEN_DIRECTORY, PLACE_HOME);
}

static void test_variables_add_paths(void **state)
{
	char list[3 * PATH_MAX];

	(void)state;
	put("out/kube", "x");
	put("work/kube", "x");
	snprintf(list, sizeof(list), "%s:%s:%s", at("out/kube"), at("work/kube"), at("home/kube"));
	set_variable(0, "KUBECONFIG", list);
	set_variable(1, "HISTFILE", "/dev/null");
	set_variable(2, "NETRC", at("out/absent"));
	set_variable(3, "DOCKER_CONFIG", at("home"));
	take();
	assert_hidden("out/kube", HIDDEN_FILE, PLACE_ELSEWHERE);
	assert_hidden("work/kube", HIDDEN_FILE, PLACE_WORKTREE);
	assert_hidden("home/kube", HIDDEN_ABSENT, PLACE_HOME);
	assert_null(hidden_at("/dev/null"));
	assert_open("out/absent");
	assert_open("home");
	assert_true(has_note("DOCKER_CONFIG"));
}

static void test_names_that_are_not_text(void **state)
{
	(void)state;
	put("home/.\xff\xfe_history", "x");
	put("home/.a\nb_history", "x");
	take();
	assert_hidden("home/.\xff\xfe_history", HIDDEN_FILE, PLACE_HOME);
	assert_hidden("home/.a\nb_history", HIDDEN_FILE, PLACE_HOME);
}

/* ---- rules of the user's ---- */

static void test_read_opens_what_it_names(void **state)
{
	(void)state;
	put("home/.netrc", "x");
	make_dir("home/.config/gh");
	make_dir("home/.ssh");
	put("home/.ssh/config", "x");
	assert_int_equal(set(KEY_READ, at("home/.netrc")), 0);
	assert_int_equal(set(KEY_READ, at("home/.config")), 0);
	assert_int_equal(set(KEY_READ, at("home/.ssh/config")), 0);
	assert_int_equal(set(KEY_READ, at("home/missing")), 0);
	take();
	assert_open("home/.netrc");
	/* the built-in row is the more specific one */
	assert_hidden("home/.config/gh", HIDDEN_DIRECTORY, PLACE_HOME);
	assert_hidden("home/.ssh", HIDDEN_DIRECTORY, PLACE_HOME);
	assert_true(has_grant(seen.reads, seen.read_count, at("home/.ssh/config")));
	assert_false(has_grant(seen.reads, seen.read_count, at("home/.netrc")));
	assert_true(has_note("missing"));
}

static void test_write_implies_read(void **state)
{
	(void)state;
	make_dir("home/.aws");
	assert_int_equal(set(KEY_WRITE, at("home/.aws")), 0);
	take();
	assert_open("home/.aws");
	assert_true(has_grant(seen.writes, seen.write_count, at("home/.aws")));
}

static void test_hide_literal(void **state)
{
	(void)state;
	put("work/secret", "x");
	make_dir("out/dir");
	assert_int_equal(set(KEY_HIDE, "/secret" + 1), 0);
	assert_int_equal(set(KEY_HIDE, at("work/absent")), 0);
	assert_int_equal(set(KEY_HIDE, at("out/dir")), 0);
	assert_int_equal(set(KEY_HIDE, at("home/later")), 0);
	take();
	assert_hidden("work/secret", HIDDEN_FILE, PLACE_WORKTREE);
	assert_hidden("work/absent", HIDDEN_ABSENT, PLACE_WORKTREE);
	assert_hidden("out/dir", HIDDEN_DIRECTORY, PLACE_ELSEWHERE);
	assert_hidden("home/later", HIDDEN_ABSENT, PLACE_HOME);
	assert_string_equal(hidden_at(at("work/secret"))->source, "command line");
}

static void test_hide_wildcards(void **state)
{
	(void)state;
	make_dir("work/a/b");
	make_dir("work/.git/a");
	put("work/.env", "x");
	put("work/a/.env", "x");
	put("work/a/b/key.pem", "x");
	put("work/.git/a/key.pem", "x");
	make_link("a", "work/link"); /* F187: found by its own name, not through the link */
	assert_int_equal(set(KEY_HIDE, ".env"), 0);
	assert_int_equal(set(KEY_HIDE, "**/*.pem"), 0);
	take();
	assert_hidden("work/.env", HIDDEN_FILE, PLACE_WORKTREE);
	assert_hidden("work/a/.env", HIDDEN_FILE, PLACE_WORKTREE);
	assert_hidden("work/a/b/key.pem", HIDDEN_FILE, PLACE_WORKTREE);
	assert_open("work/.git/a/key.pem");
	assert_open("work/link/.env");
}

static void test_hide_follows_links_in_the_worktree(void **state)
{
	(void)state;
	put("work/real", "x");
	make_link("real", "work/.env");
	make_link("/bin/sh", "work/sub/.env"); /* a checkout must not choose what the pen lacks */
	assert_int_equal(set(KEY_HIDE, ".env"), 0);
	take();
	assert_hidden("work/.env", HIDDEN_LINK, PLACE_WORKTREE);
	assert_hidden("work/real", HIDDEN_FILE, PLACE_WORKTREE);
	assert_hidden("work/sub/.env", HIDDEN_LINK, PLACE_WORKTREE);
	assert_null(hidden_at("/bin/sh"));
	assert_true(has_note("not hidden"));
}

/* F192 */
static void test_hide_odd_files(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	make_link("nowhere", "work/.env");
	make_dir("work/a");
	make_link(".env", "work/a/.env");
	make_dir("work/b");
	assert_int_equal(mkfifo(at("work/b/.env"), 0600), 0);
	make_dir("work/c");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", at("work/c/.env"));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(set(KEY_HIDE, ".env"), 0);
	take();
	assert_hidden("work/.env", HIDDEN_LINK, PLACE_WORKTREE);
	assert_hidden("work/a/.env", HIDDEN_LINK, PLACE_WORKTREE);
	assert_hidden("work/b/.env", HIDDEN_FILE, PLACE_WORKTREE);
	assert_hidden("work/c/.env", HIDDEN_FILE, PLACE_WORKTREE);
	close(fd);
}

static void test_entries_inside_are_dropped(void **state)
{
	(void)state;
	make_dir("work/a/b");
	put("work/a/b/.env", "x");
	put("work/a-b", "x");
	assert_int_equal(set(KEY_HIDE, at("work/a")), 0);
	assert_int_equal(set(KEY_HIDE, at("work/a/b/.env")), 0);
	assert_int_equal(set(KEY_HIDE, at("work/a-b")), 0);
	take();
	assert_hidden("work/a", HIDDEN_DIRECTORY, PLACE_WORKTREE);
	assert_open("work/a/b/.env");
	assert_hidden("work/a-b", HIDDEN_FILE, PLACE_WORKTREE);
}

/* F028: refused by name, never run elsewhere */
static void test_hidden_cwd_is_refused(void **state)
{
	(void)state;
	assert_int_equal(set(KEY_HIDE, at("work")), 0);
	load_fine();
	assert_int_equal(take_with(false), -EPERM);
	assert_int_equal(world_error.code, PINFOLD_REFUSED);
	assert_says(at("work"));
	forget();
	assert_int_equal(set(KEY_HIDE, at("work/sub")), 0);
	assert_true(policy_set(&world_policy, KEY_WORKTREE, at("work"), at("work/sub"), &world_error) == 0);
	assert_int_equal(take_from(at("work/sub")), -EPERM);
	assert_says("working directory");
}

static void test_project_in_a_hidden_directory(void **state)
{
	(void)state;
	make_dir("home/.aws/project");
	put("home/.aws/project/.env", "x");
	assert_int_equal(policy_set(&world_policy, KEY_HIDE, ".env", at("home/.aws/project"), &world_error), 0);
	if (take_from(at("home/.aws/project")) < 0)
		fail_msg("%s", error_text());
	assert_hidden("home/.aws", HIDDEN_DIRECTORY, PLACE_HOME);
	/* shown again inside the hidden directory, so it needs a cover of its own */
	assert_hidden("home/.aws/project/.env", HIDDEN_FILE, PLACE_WORKTREE);
	forget();
	assert_int_equal(take_from(at("home/.aws")), -EPERM);
	assert_says("~/.aws");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_home_rows_by_name),
		TEST(test_topmost_missing_parent),
		TEST(test_wildcard_rows),
		TEST(test_settings_are_cut),
		TEST(test_settings_that_are_no_file),
		TEST(test_known_hosts_stays_readable),
		TEST(test_link_is_hidden_at_both_ends),
		TEST(test_odd_links),
		TEST(test_linked_config_directory),
		TEST(test_linked_settings_keep_their_copy),
		TEST(test_xdg_directory_elsewhere),
		TEST(test_variables_add_paths),
		TEST(test_names_that_are_not_text),
		TEST(test_read_opens_what_it_names),
		TEST(test_write_implies_read),
		TEST(test_hide_literal),
		TEST(test_hide_wildcards),
		TEST(test_hide_follows_links_in_the_worktree),
		TEST(test_hide_odd_files),
		TEST(test_entries_inside_are_dropped),
		TEST(test_hidden_cwd_is_refused),
		TEST(test_project_in_a_hidden_directory),
	};

	return cmocka_run_group_tests(tests, world_make, world_remove);
}
