/* SPDX-License-Identifier: Apache-2.0 */
/* What is protected in the worktree: git, agents, editors, links. */
#include "survey_world.h"

/* ---- protected ---- */

static void test_clone_is_protected(void **state)
{
	(void)state;
	make_clone("work");
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_CLONE);
	assert_protected("work/.git/hooks", PROTECTED_DIRECTORY);
	assert_protected("work/.git/config", PROTECTED_FILE);
	assert_protected("work/.git/commondir", PROTECTED_ABSENT);
	assert_protected("work/.git/config.worktree", PROTECTED_ABSENT);
	assert_null(protected_at(at("work/.git")));
}

static void test_git_modes(void **state)
{
	(void)state;
	make_clone("work");
	assert_int_equal(set(KEY_GIT, "readonly"), 0);
	take();
	assert_protected("work/.git", PROTECTED_DIRECTORY);
	assert_null(protected_at(at("work/.git/config")));
	forget();
	put("work/.mcp.json", "{}");
	assert_int_equal(set(KEY_GIT, "open"), 0);
	take();
	assert_null(protected_at(at("work/.git")));
	assert_null(protected_at(at("work/.git/config")));
	assert_protected("work/.mcp.json", PROTECTED_FILE);
}

static void test_other_repositories(void **state)
{
	(void)state;
	put("work/.git", "gitdir: ../out/git\n");
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_OTHER);
	assert_protected("work/.git", PROTECTED_FILE); /* E034 */
	unlink(at("work/.git"));
	make_clone("work");
	put("work/.git/commondir", "/tmp\n"); /* E031 */
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_OTHER);
	assert_protected("work/.git", PROTECTED_DIRECTORY);
}

static void test_protected_rows(void **state)
{
	(void)state;
	make_dir("work/.vscode");
	make_dir("work/sub/.vscode");
	make_dir("work/.claude/hooks");
	put("work/.claude/settings.odd.json", "{}");
	put("work/x.code-workspace", "{}");
	put("work/.pinfold.json", "{}");
	put("work/AGENTS.md", "x");
	assert_int_equal(policy_set(&world_policy, KEY_WORKTREE, at("work"), at("work/sub"), &world_error), 0);
	assert_int_equal(take_from(at("work/sub")), 0);
	assert_protected("work/.vscode", PROTECTED_DIRECTORY);
	assert_protected("work/sub/.vscode", PROTECTED_DIRECTORY);
	assert_protected("work/.claude/hooks", PROTECTED_DIRECTORY);
	assert_protected("work/.claude/settings.odd.json", PROTECTED_FILE);
	assert_protected("work/x.code-workspace", PROTECTED_FILE);
	assert_protected("work/.pinfold.json", PROTECTED_FILE);
	assert_null(protected_at(at("work/AGENTS.md")));
	assert_null(protected_at(at("work/.idea")));
}

/* F189, F192 */
static void test_protected_links(void **state)
{
	(void)state;
	make_dir("work/other/agents");
	make_link("other/agents", "work/.agents");
	put("work/c", "{}");
	make_link("b", "work/.mcp.json");
	make_link("c", "work/b");
	make_link("planted.json", "work/opencode.json");
	make_link(at("out/envrc"), "work/.envrc");
	make_link(".gdbinit", "work/.gdbinit");
	assert_int_equal(mkfifo(at("work/.exrc"), 0600), 0);
	take();
	assert_protected("work/.agents", PROTECTED_LINK);
	assert_protected("work/other/agents", PROTECTED_DIRECTORY);
	assert_protected("work/.mcp.json", PROTECTED_LINK);
	assert_protected("work/b", PROTECTED_LINK); /* turned round it would lead the first one elsewhere */
	assert_protected("work/c", PROTECTED_FILE);
	assert_protected("work/planted.json", PROTECTED_ABSENT);
	assert_protected("work/.envrc", PROTECTED_LINK);
	assert_null(protected_at(at("out/envrc")));
	assert_protected("work/.gdbinit", PROTECTED_LINK);
	assert_protected("work/.exrc", PROTECTED_FILE);
}

static void test_protected_behind_a_linked_directory(void **state)
{
	(void)state;
	make_dir("work/other/hooks");
	make_link("other", "work/.claude");
	take();
	assert_protected("work/.claude", PROTECTED_LINK);
	assert_protected("work/other/hooks", PROTECTED_DIRECTORY);
}

static void test_write_frees_exactly_one(void **state)
{
	(void)state;
	make_dir("work/.vscode");
	make_dir("work/.idea");
	assert_int_equal(set(KEY_WRITE, at("work/.vscode")), 0);
	take();
	assert_null(protected_at(at("work/.vscode")));
	assert_protected("work/.idea", PROTECTED_DIRECTORY);
}

static void test_protect_patterns(void **state)
{
	(void)state;
	make_dir("work/a/deep");
	put("work/a/deep/lock.txt", "x");
	assert_int_equal(set(KEY_PROTECT, "lock.txt"), 0);
	assert_int_equal(set(KEY_PROTECT, "sub/"), 0);
	assert_int_equal(set(KEY_PROTECT, at("work/absent")), 0);
	assert_int_equal(set(KEY_PROTECT, at("out")), 0);
	take();
	assert_protected("work/a/deep/lock.txt", PROTECTED_FILE);
	assert_protected("work/sub", PROTECTED_DIRECTORY);
	assert_protected("work/absent", PROTECTED_ABSENT);
	assert_null(protected_at(at("out"))); /* nothing can be written there */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_clone_is_protected),
		TEST(test_git_modes),
		TEST(test_other_repositories),
		TEST(test_protected_rows),
		TEST(test_protected_links),
		TEST(test_protected_behind_a_linked_directory),
		TEST(test_write_frees_exactly_one),
		TEST(test_protect_patterns),
	};

	return cmocka_run_group_tests(tests, world_make, world_remove);
}
