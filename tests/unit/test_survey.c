/* SPDX-License-Identifier: Apache-2.0 */
/* Grants, caches, places, and the survey written down and read back. */
#include "survey_world.h"

/* ---- grants ---- */

static void assert_write_refused(const char *path, int error, const char *says)
{
	forget();
	assert_int_equal(set(KEY_WRITE, path), 0);
	load_fine();
	assert_int_equal(take_with(false), error);
	assert_says(says);
	assert_string_equal(world_error.key, "--write");
	assert_int_equal(world_error.code, error == -EPERM || error == -ELOOP ? PINFOLD_REFUSED : PINFOLD_USAGE);
}

static void test_write_paths_that_are_refused(void **state)
{
	(void)state;
	put("out/file", "x");
	make_link(at("out"), "work/planted");
	make_dir("out/real");
	make_link("real", "out/mine");
	assert_write_refused(at("out/missing"), -ENOENT, "end it in a slash");
	assert_write_refused(at("out/file/"), -ENOTDIR, "out/file");
	assert_write_refused(at("out/no/such/"), -ENOENT, "out/no/such");
	assert_write_refused("/usr", -EPERM, "writable");
	assert_write_refused("/etc", -EPERM, "writable");
	assert_write_refused(at("work/planted"), -ELOOP, "is a link"); /* E008 */
	assert_write_refused(at("work/planted/real"), -ELOOP, "is a link");
	forget();
	assert_int_equal(set(KEY_WRITE, at("out/mine")), 0);
	take();
	assert_true(has_grant(seen.writes, seen.write_count, at("out/real")));
}

static void test_write_makes_a_directory(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(set(KEY_WRITE, at("out/new/")), 0);
	take();
	assert_true(seen.writes[0].must_make);
	assert_true(stat(at("out/new"), &st) < 0);
	assert_int_equal(take_with(true), 0);
	assert_int_equal(stat(at("out/new"), &st), 0);
	assert_int_equal(seen.writes[0].node.ino, st.st_ino);
}

static void test_sockets_and_devices(void **state)
{
	(void)state;
	assert_int_equal(set(KEY_DEVICE, "/dev/null"), 0);
	take();
	assert_true(has_grant(seen.devices, seen.device_count, "/dev/null"));
	forget();
	assert_int_equal(set(KEY_SOCKET, "/dev/null"), 0);
	load_fine();
	assert_int_equal(take_with(false), -EINVAL);
	assert_says("is not a socket");
}

static const struct survey_cache *cache_named(const char *name)
{
	for (size_t i = 0; i < seen.cache_count; i++)
		if (!strcmp(seen.caches[i].name, name))
			return &seen.caches[i];
	return NULL;
}

static void test_caches(void **state)
{
	struct stat st;

	(void)state;
	set_variable(0, "npm_config_cache", at("out/npm"));
	set_variable(1, "GOCACHE", at("work/go"));
	take();
	assert_null(cache_named("xdg")->store);
	assert_true(stat(at("home/.cache"), &st) < 0);
	assert_int_equal(take_with(true), 0);
	assert_string_equal(cache_named("xdg")->tool, at("home/.cache"));
	assert_string_equal(cache_named("xdg")->store, at("home/.cache/pinfold/xdg"));
	assert_string_equal(cache_named("npm")->tool, at("out/npm"));
	assert_null(cache_named("pip"));      /* below $CACHE, which the row xdg covers */
	assert_null(cache_named("go-build")); /* in the worktree, which is writable anyway */
	assert_int_equal(stat(at("home/.cache/pinfold/npm"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void test_foreign_cache_store(void **state)
{
	(void)state;
	make_dir("home/.cache/pinfold");
	make_link(at("out"), "home/.cache/pinfold/xdg");
	make_dir("home/.cache/pinfold/npm");
	assert_int_equal(chmod(at("home/.cache/pinfold/npm"), 0777), 0);
	assert_int_equal(take_with(true), 0);
	assert_null(cache_named("xdg")->store);
	assert_null(cache_named("npm")->store);
	assert_non_null(cache_named("ccache-old")->store);
	assert_int_equal(chmod(at("home/.cache/pinfold"), 0777), 0);
	assert_int_equal(take_with(true), 0);
	assert_null(cache_named("ccache-old")->store);
	assert_true(has_note("no cache is kept"));
}

static void test_toolchains(void **state)
{
	(void)state;
	make_dir("home/.cargo/bin");
	make_dir("home/go/bin");
	put("home/.pyenv", "no directory");
	take();
	assert_true(has_grant(seen.tools, seen.tool_count, at("home/.cargo/bin")));
	assert_true(has_grant(seen.tools, seen.tool_count, at("home/go/bin")));
	assert_false(has_grant(seen.tools, seen.tool_count, at("home/.pyenv")));
	assert_int_equal(set(KEY_HIDE, at("home/.cargo/bin/secret")), 0);
	forget();
	assert_int_equal(set(KEY_HIDE, at("home/.cargo/bin/secret")), 0);
	take();
	assert_false(has_grant(seen.tools, seen.tool_count, at("home/.cargo/bin")));
}

/* ---- places ---- */

static void test_worktrees_that_are_refused(void **state)
{
	(void)state;
	assert_int_equal(policy_set(&world_policy, KEY_WORKTREE, at("home"), at("home"), &world_error), 0);
	assert_true(take_from(at("home")) < 0);
	assert_says(at("home"));
}

static void test_tmp_directory(void **state)
{
	(void)state;
	make_dir("out/tmp");
	assert_int_equal(set(KEY_TMP, at("out/tmp")), 0);
	take();
	assert_string_equal(seen.tmp, at("out/tmp"));
	assert_int_equal(chmod(at("out/tmp"), 0755), 0);
	assert_int_equal(take_with(false), -EPERM);
	assert_says("0700");
	assert_int_equal(rmdir(at("out/tmp")), 0);
	make_link(at("home"), "out/tmp");
	assert_int_equal(take_with(false), -ENOTDIR);
}

static void test_stdio(void **state)
{
	int saved = dup(0), fd;

	(void)state;
	put("out/in", "x");
	fd = open(at("out/in"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(dup2(fd, 0), 0);
	take();
	assert_int_equal(seen.stdio[0].kind, STDIO_FILE);
	assert_string_equal(seen.stdio[0].path, at("out/in"));
	unlink(at("out/in")); /* "… (deleted)" is no path */
	take();
	assert_null(seen.stdio[0].path);
	close(0);
	take();
	assert_int_equal(seen.stdio[0].kind, STDIO_CLOSED);
	dup2(saved, 0);
	close(saved);
	close(fd);
}

static void test_mounts(void **state)
{
	bool has_root = false;

	(void)state;
	take();
	for (size_t i = 0; i < seen.mount_count; i++)
		has_root |= !strcmp(seen.mounts[i].path, "/");
	assert_true(has_root);
}

/* ---- written and read back ---- */

static void assert_round_trip(const struct survey *survey, struct buf *text)
{
	BUF_CLEANUP struct buf again = BUF_INIT(LIMIT_TEXT_BYTES);
	struct survey back;

	assert_int_equal(survey_write(survey, text), 0);
	if (survey_read(&back, text->data, text->len, &world_error) < 0)
		fail_msg("%s", error_text());
	assert_int_equal(survey_write(&back, &again), 0);
	assert_string_equal(text->data, again.data);
	survey_free(&back);
}

static void test_round_trip(void **state)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_TEXT_BYTES), bare = BUF_INIT(LIMIT_TEXT_BYTES);

	(void)state;
	make_clone("work");
	put("home/.npmrc", "registry=https://registry.example/\n_authToken=x\n");
	put("home/.\xff_history", "x");
	make_dir("home/.cargo/bin");
	set_variable(0, "ODD", "\xff\xfe");
	assert_int_equal(set(KEY_WRITE, at("out")), 0);
	assert_int_equal(set(KEY_DEVICE, "/dev/null"), 0);
	assert_int_equal(take_with(true), 0);
	assert_int_equal(survey_list_entries(&seen, &world_error), 0);
	assert_round_trip(&seen, &text);
	assert_non_null(strstr(text.data, "\"cut\""));
	assert_round_trip(&(struct survey){ .cwd = "/", .worktree = "/" }, &bare);
}

static void test_broken_surveys(void **state)
{
	static const char *const broken[] = {
		"", "[]", "{", "{}", "{\"cwd\": \"/\"}", "{\"cwd\": \"/\", \"worktree\": \"/\", \"unknown\": 1}",
		"{\"cwd\": \"/\", \"worktree\": \"/\", \"hidden\": {}}",
		"{\"cwd\": \"/\", \"worktree\": \"/\", \"hidden\": [{\"kind\": \"odd\"}]}",
		"{\"cwd\": \"/\", \"worktree\": \"/\", \"home\": [{}, {}, {}]}",
		"{\"cwd\": \"/\", \"worktree\": \"/\", \"stdio\": []}",
		"{\"cwd\": \"/\", \"worktree\": \"/\", \"who\": {\"uid\": -1}}",
		"{\"cwd\": 1, \"worktree\": \"/\"}",
	};
	static const char least[] = "{\"cwd\": \"/\", \"worktree\": \"/\"}";
	struct survey back;

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		assert_int_equal(survey_read(&back, broken[i], strlen(broken[i]), &world_error), -EINVAL);
	assert_int_equal(survey_read(&back, least, strlen(least), &world_error), 0);
	survey_free(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_write_paths_that_are_refused),
		TEST(test_write_makes_a_directory),
		TEST(test_sockets_and_devices),
		TEST(test_caches),
		TEST(test_foreign_cache_store),
		TEST(test_toolchains),
		TEST(test_worktrees_that_are_refused),
		TEST(test_tmp_directory),
		TEST(test_stdio),
		TEST(test_mounts),
		TEST(test_round_trip),
		TEST(test_broken_surveys),
	};

	return cmocka_run_group_tests(tests, world_make, world_remove);
}
