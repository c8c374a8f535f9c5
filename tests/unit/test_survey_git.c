/* SPDX-License-Identifier: Apache-2.0 */
/* Git layouts, and forged ones: what is found, and what outside the worktree becomes writable because of it. */
#include "survey_world.h"

/* ---- making layouts ---- */

enum { NAME_BYTES = 256 };

/* The last ones stay as they are. */
static const char *name_in(const char *directory, const char *name)
{
	static char text[64][NAME_BYTES];
	static unsigned next;
	char joined[NAME_BYTES];

	snprintf(joined, sizeof(joined), "%s/%s", directory, name);
	return memcpy(text[next++ % 64], joined, sizeof(joined));
}

/* A git directory of any name, with no pointer to a worktree. */
static void make_repository(const char *directory)
{
	static const char *const below[] = { "objects", "refs", "hooks", "info", "logs" };

	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++)
		make_dir(name_in(directory, below[i]));
	put(name_in(directory, "HEAD"), "ref: refs/heads/main\n");
	put(name_in(directory, "config"), "[core]\n");
}

static void put_line(const char *name, const char *prefix, const char *path)
{
	char text[16 * 1024];

	snprintf(text, sizeof(text), "%s%s\n", prefix, path);
	put(name, text);
}

static void remove_file(const char *name)
{
	assert_int_equal(unlink(at(name)), 0);
}

/* The worktree "work", registered in `common` under the name x. */
static void make_linked(const char *common)
{
	const char *own = name_in(common, "worktrees/x");

	make_repository(common);
	make_dir(own);
	put(name_in(own, "HEAD"), "ref: refs/heads/x\n");
	put(name_in(own, "commondir"), "../..\n");
	put_line(name_in(own, "gitdir"), "", at("work/.git"));
	put_line("work/.git", "gitdir: ", at(own));
}

static void make_own(const char *directory, const char *worktree)
{
	make_repository(directory);
	if (worktree)
		put_line(name_in(directory, "config"), "[core]\n\tworktree = ", at(worktree));
	put_line("work/.git", "gitdir: ", at(directory));
}

/* ---- what is expected ---- */

static bool is_writable(const char *name)
{
	return has_grant(seen.writes, seen.write_count, at(name));
}

static void assert_granted(const char *name)
{
	if (!is_writable(name))
		fail_msg("'%s' is not writable", name);
}

/* Nothing outside is writable, one warning says why, and the pointer is protected. */
static void assert_refused(const char *why)
{
	take();
	assert_int_equal(seen.write_count, 0);
	assert_non_null(seen.git.refused);
	assert_int_equal(seen.notes.n, 1);
	if (!has_note(why))
		fail_msg("'%s' instead of '%s'", seen.notes.v[0], why);
	assert_non_null(protected_at(at("work/.git")));
}

/* ---- layouts ---- */

static void test_linked_worktree(void **state)
{
	(void)state;
	make_linked("out/main/.git");
	put("out/main/.git/index", "x");
	make_dir("out/main/.git/worktrees/sibling");
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_LINKED);
	assert_string_equal(seen.git.directory, at("out/main/.git/worktrees/x"));
	assert_string_equal(seen.git.common, at("out/main/.git"));
	assert_null(seen.git.refused);
	assert_int_equal(seen.write_count, 2);
	assert_granted("out/main/.git");
	assert_granted("out/main/.git/worktrees/x");
	assert_protected("work/.git", PROTECTED_FILE);
	assert_protected("out/main/.git/hooks", PROTECTED_DIRECTORY);
	assert_protected("out/main/.git/config", PROTECTED_FILE);
	assert_protected("out/main/.git/commondir", PROTECTED_ABSENT);
	assert_protected("out/main/.git/HEAD", PROTECTED_FILE);
	assert_protected("out/main/.git/index", PROTECTED_FILE);
	assert_protected("out/main/.git/rebase-merge", PROTECTED_ABSENT);
	assert_protected("out/main/.git/worktrees", PROTECTED_DIRECTORY);
	assert_protected("out/main/.git/worktrees/x/commondir", PROTECTED_FILE);
	assert_protected("out/main/.git/worktrees/x/gitdir", PROTECTED_FILE);
	assert_protected("out/main/.git/worktrees/x/config.worktree", PROTECTED_ABSENT);
	assert_null(protected_at(at("out/main/.git/worktrees/x/HEAD")));
}

/* git can write these pointers relative to where they lie (2.48). */
static void test_relative_pointers(void **state)
{
	(void)state;
	make_linked("out/main/.git");
	put("out/main/.git/worktrees/x/gitdir", "../../../../../work/.git\n");
	put("work/.git", "gitdir: ../out/main/.git/worktrees/x\r\n");
	take();
	assert_null(seen.git.refused);
	assert_granted("out/main/.git");
}

static void test_bare_worktree(void **state)
{
	(void)state;
	make_linked("out/store.git");
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_LINKED);
	assert_granted("out/store.git");
	assert_granted("out/store.git/worktrees/x");
	assert_null(protected_at(at("out/store.git/index")));
}

/* A bare repository with its worktrees in it: the siblings are none of this run's. */
static void test_worktrees_in_a_bare_repository(void **state)
{
	(void)state;
	make_linked("out/store.git");
	make_dir("out/store.git/sibling");
	take();
	assert_false(is_writable("out/store.git"));
	assert_int_equal(seen.write_count, 4);
	assert_granted("out/store.git/objects");
	assert_granted("out/store.git/refs");
	assert_granted("out/store.git/logs");
	assert_granted("out/store.git/worktrees/x");
	assert_null(seen.git.refused);
	assert_true(has_note("pack or delete"));
}

static void test_submodule(void **state)
{
	(void)state;
	make_clone("out");
	make_own("out/.git/modules/group/work", "work");
	make_repository("out/.git/modules/group/work/modules/deep");
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_SUBMODULE);
	assert_int_equal(seen.write_count, 1);
	assert_granted("out/.git/modules/group/work");
	assert_protected("work/.git", PROTECTED_FILE);
	assert_protected("out/.git/modules/group/work/config", PROTECTED_FILE);
	assert_protected("out/.git/modules/group/work/hooks", PROTECTED_DIRECTORY);
	assert_protected("out/.git/modules/group/work/modules/deep/config", PROTECTED_FILE);
}

static void test_submodule_of_a_linked_worktree(void **state)
{
	(void)state;
	make_clone("out");
	make_dir("out/.git/worktrees/w");
	make_own("out/.git/worktrees/w/modules/sub", "work");
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_SUBMODULE);
	assert_granted("out/.git/worktrees/w/modules/sub");
}

/* Seen from the repository that holds them: E033, and E034 for the `.git` file of their checkout. */
static void test_submodules_of_a_clone(void **state)
{
	(void)state;
	make_clone("work");
	make_repository("work/.git/modules/a/b");
	put("work/.git/modules/a/b/config", "[core]\n\tworktree = ../../../../sub\n");
	put("work/sub/.git", "gitdir: ../.git/modules/a/b\n");
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_CLONE);
	assert_protected("work/.git/modules/a/b/config", PROTECTED_FILE);
	assert_protected("work/.git/modules/a/b/hooks", PROTECTED_DIRECTORY);
	assert_protected("work/.git/modules/a/b/commondir", PROTECTED_ABSENT);
	assert_protected("work/sub/.git", PROTECTED_FILE);
	assert_int_equal(seen.write_count, 0);
}

static void test_separate_git_directory(void **state)
{
	(void)state;
	make_own("out/store", "work");
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_SEPARATE);
	assert_int_equal(seen.write_count, 1);
	assert_granted("out/store");
	assert_protected("out/store/config", PROTECTED_FILE);
}

static void test_core_worktree_spellings(void **state)
{
	static const char *const right[] = {
		"[core]\n\tworktree = ../../work\n",
		"[CORE]\nWorkTree=\"../../work\"\n",
		"[core] worktree = ../../work ; here\n",
		"[core]\n\tworktree = /nowhere\n\tworktree = ../../work\n",
		"[core \"x\"]\n\tworktree = /\n[core]\nworktree=../../work",
	};
	static const char *const wrong[] = {
		"[core]\n\tworktree\n", "[core \"x\"]\n\tworktree = ../../work\n", "[other]\n\tworktree = ../../work\n",
		"[core]\n\tworktree = ../../work\n\tworktree = ../../out\n", "[core]\n\tworktree = \"../../work\n",
		"[core]\n\tworktree = ../../work\\q\n", "[core]\n#\tworktree = ../../work\n", "",
	};

	(void)state;
	make_own("out/store", NULL);
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		put("out/store/config", right[i]);
		take();
		if (!is_writable("out/store"))
			fail_msg("not taken: %s", right[i]);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		put("out/store/config", wrong[i]);
		take();
		if (seen.write_count)
			fail_msg("taken: %s", wrong[i]);
	}
	put("out/store/config", "[core]\n");
	put("out/store/config.worktree", "[core]\n\tworktree = ../../work\n"); /* a sparse checkout of a submodule */
	take();
	assert_granted("out/store");
}

/* In the worktree all is writable anyway; what decides over it is protected. */
static void test_separate_inside(void **state)
{
	(void)state;
	make_own("work/.bare", NULL);
	take();
	assert_null(seen.git.refused);
	assert_int_equal(seen.write_count, 0);
	assert_protected("work/.bare/config", PROTECTED_FILE);
	assert_protected("work/.git", PROTECTED_FILE);
}

static void test_link_to_a_directory(void **state)
{
	(void)state;
	make_own("out/store", "work");
	remove_file("work/.git");
	make_link("../out/store", "work/.git");
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_SEPARATE);
	assert_granted("out/store");
	assert_protected("work/.git", PROTECTED_LINK);
	assert_protected("out/store/hooks", PROTECTED_DIRECTORY);
}

static void test_repository_above(void **state)
{
	(void)state;
	make_clone("work");
	assert_int_equal(set(KEY_WORKTREE, at("work/sub")), 0);
	assert_int_equal(take_from(at("work/sub")), 0);
	assert_int_equal(seen.git.kind, REPOSITORY_CLONE);
	assert_granted("work/.git");
	assert_protected("work/.git/config", PROTECTED_FILE);
}

/* A dotfiles repository is not the project's. */
static void test_home_above(void **state)
{
	(void)state;
	make_clone("home");
	make_dir("home/project");
	assert_int_equal(take_from(at("home/project")), 0);
	assert_string_equal(seen.worktree, at("home/project"));
	assert_int_equal(seen.git.kind, REPOSITORY_NONE);
	assert_int_equal(seen.write_count, 0);
}

static void test_bare_at_the_top(void **state)
{
	(void)state;
	make_repository("work");
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_BARE);
	assert_int_equal(seen.write_count, 0);
	assert_protected("work/hooks", PROTECTED_DIRECTORY);
	assert_protected("work/config", PROTECTED_FILE);
}

static void test_modes(void **state)
{
	(void)state;
	make_linked("out/main/.git");
	assert_int_equal(set(KEY_GIT, "readonly"), 0);
	take();
	assert_int_equal(seen.write_count, 0);
	assert_int_equal(seen.notes.n, 0);
	assert_protected("work/.git", PROTECTED_FILE);
	forget();
	assert_int_equal(set(KEY_GIT, "open"), 0);
	take();
	assert_granted("out/main/.git");
	assert_null(protected_at(at("work/.git")));
	assert_null(protected_at(at("out/main/.git/config")));
	assert_null(protected_at(at("out/main/.git/worktrees")));
	forget();
	assert_int_equal(set(KEY_READ_ONLY, "true"), 0);
	take();
	assert_int_equal(seen.write_count, 0);
}

/* F004: a grant of the user's own is honoured, and what is git's stays protected in it. */
static void test_granted_by_hand(void **state)
{
	(void)state;
	make_own("out/store", NULL);
	assert_int_equal(set(KEY_WRITE, at("out/store")), 0);
	take();
	assert_granted("out/store");
	assert_protected("out/store/config", PROTECTED_FILE);
	assert_int_equal(seen.notes.n, 0);
}

static void test_environment(void **state)
{
	(void)state;
	make_clone("work");
	make_repository("out/other");
	set_variable(0, "GIT_DIR", at("out/other"));
	take();
	assert_int_equal(seen.git.kind, REPOSITORY_CLONE);
	assert_int_equal(seen.write_count, 0);
	assert_true(has_note("GIT_DIR"));
}

/* ---- forged (F015) ---- */

static void test_pointer_to_keys(void **state)
{
	(void)state;
	make_dir("home/.ssh");
	put("home/.ssh/id", "x");
	put_line("work/.git", "gitdir: ", at("home/.ssh"));
	assert_refused("no git directory");
	put_line("work/.git", "gitdir: ", at("out/missing"));
	assert_refused("leads nowhere");
	put("work/.git", "gitdir: \n");
	assert_refused("leads nowhere");
	put("work/.git", "gitdir: /tmp\n/x\n");
	assert_refused("leads nowhere");
	remove_file("work/.git");
	make_link(at("home/.ssh"), "work/.git");
	assert_refused("no git directory");
}

static void test_pointer_to_another_repository(void **state)
{
	(void)state;
	make_clone("out");
	put_line("work/.git", "gitdir: ", at("out/.git"));
	assert_refused("core.worktree");
	remove_file("work/.git");
	make_link(at("out/.git"), "work/.git");
	assert_refused("core.worktree");
	make_own("out/store", "out");
	remove_file("work/.git");
	put_line("work/.git", "gitdir: ", at("out/store"));
	assert_refused("core.worktree");
}

static void test_registered_for_another_worktree(void **state)
{
	(void)state;
	make_linked("out/main/.git");
	put("out/.git", "");
	put_line("out/main/.git/worktrees/x/gitdir", "", at("out/.git"));
	assert_refused("another worktree");
	put_line("out/main/.git/worktrees/x/gitdir", "", at("work/sub/.git"));
	assert_refused("another worktree");
	remove_file("out/main/.git/worktrees/x/gitdir");
	assert_refused("another worktree");
	/* not followed, not even to the right answer */
	put_line("out/right", "", at("work/.git"));
	make_link(at("out/right"), "out/main/.git/worktrees/x/gitdir");
	assert_refused("another worktree");
}

/* The pointer's target is the command's own making, and its commondir leads to somebody else's repository. */
static void test_commondir_elsewhere(void **state)
{
	(void)state;
	make_linked("work/fake");
	make_clone("out");
	put_line("work/fake/worktrees/x/commondir", "", at("out/.git"));
	assert_refused("not registered");
	put("work/fake/worktrees/x/commondir", "../../../../out/.git\n");
	assert_refused("not registered");
	put("work/fake/worktrees/x/commondir", "/\n");
	assert_refused("not registered");
}

static void test_objects_as_a_link(void **state)
{
	(void)state;
	make_linked("out/main/.git");
	make_dir("home/.ssh");
	assert_int_equal(rmdir(at("out/main/.git/objects")), 0);
	make_link(at("home/.ssh"), "out/main/.git/objects");
	assert_refused("no git directory");
	make_own("out/store", "work");
	assert_int_equal(rmdir(at("out/store/objects")), 0);
	make_link(at("home/.ssh"), "out/store/objects");
	assert_refused("no git directory");
}

/* A protected part of the repository above, dressed up as a git directory by a run that could write there. */
static void test_part_of_another_repository(void **state)
{
	static const char *const parts[] = { "out/.git/info", "out/.git/modules", "out/.git/worktrees/y",
					     "out/.git/modules/a/info" };

	(void)state;
	make_clone("out");
	make_repository("out/.git/modules/a");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		make_own(parts[i], "work");
		take();
		if (seen.write_count || !seen.git.refused)
			fail_msg("'%s' is writable", parts[i]);
	}
}

/* A directory that holds more than git's own is never opened as a whole. */
static void test_dressed_up_project(void **state)
{
	(void)state;
	make_own("out/app", "work");
	make_dir("out/app/.vscode");
	assert_refused("more than git's own");
	assert_int_equal(rmdir(at("out/app/.vscode")), 0);
	put("out/app/.mcp.json", "{}");
	assert_refused("more than git's own");
	make_own("out/.claude", "work");
	assert_refused("more than git's own");
	make_own("out", "work");
	assert_refused("more than git's own");
}

static void test_hostile_files(void **state)
{
	char long_text[8 * 1024];

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	put_line("work/.git", "gitdir: /", long_text);
	assert_refused("leads nowhere");
	remove_file("work/.git");
	assert_int_equal(mkfifo(at("work/.git"), 0600), 0);
	assert_refused("leads nowhere");
	remove_file("work/.git");
	make_link(".git", "work/.git");
	assert_refused("leads nowhere");
	remove_file("work/.git");
	make_own("out/store", NULL);
	remove_file("out/store/config");
	assert_int_equal(mkfifo(at("out/store/config"), 0600), 0);
	assert_refused("core.worktree");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_linked_worktree),
		TEST(test_relative_pointers),
		TEST(test_bare_worktree),
		TEST(test_worktrees_in_a_bare_repository),
		TEST(test_submodule),
		TEST(test_submodule_of_a_linked_worktree),
		TEST(test_submodules_of_a_clone),
		TEST(test_separate_git_directory),
		TEST(test_core_worktree_spellings),
		TEST(test_separate_inside),
		TEST(test_link_to_a_directory),
		TEST(test_repository_above),
		TEST(test_home_above),
		TEST(test_bare_at_the_top),
		TEST(test_modes),
		TEST(test_granted_by_hand),
		TEST(test_environment),
		TEST(test_pointer_to_keys),
		TEST(test_pointer_to_another_repository),
		TEST(test_registered_for_another_worktree),
		TEST(test_commondir_elsewhere),
		TEST(test_objects_as_a_link),
		TEST(test_part_of_another_repository),
		TEST(test_dressed_up_project),
		TEST(test_hostile_files),
	};

	return cmocka_run_group_tests(tests, world_make, world_remove);
}
