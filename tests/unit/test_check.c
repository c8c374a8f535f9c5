/* SPDX-License-Identifier: Apache-2.0 */
/* What git's texts mean, what the survey fixes, and what the check makes of it; the tests play the command. */
#include "survey_world.h"

#include <fcntl.h>

#include "base/gittext.h"
#include "run/checking.h"

/* ---- git's texts ---- */

static bool is_head(const char *text)
{
	return gittext_is_head(text, strlen(text));
}

static void test_heads(void **state)
{
	(void)state;
	assert_true(is_head("ref: refs/heads/main\n"));
	assert_true(is_head("ref:refs/heads/a/b"));
	assert_true(is_head("ref: refs/heads/.invalid\n")); /* with reftables */
	assert_true(is_head("0123456789abcdef0123456789abcdef01234567\n"));
	assert_true(is_head("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
	assert_false(is_head(""));
	assert_false(is_head("ref: heads/main\n"));
	assert_false(is_head("ref: refs/../../config\n"));
	assert_false(is_head("ref: refs/heads/a\nref: refs/heads/b\n"));
	assert_false(is_head("0123456789abcdef\n"));
	assert_false(is_head("gitdir: /elsewhere\n"));
}

static size_t commands(const char *text)
{
	struct arena arena = { 0 };
	struct strv list = { 0 };
	size_t n;

	assert_int_equal(gittext_commands(&arena, text, strlen(text), &list), 0);
	n = list.n;
	arena_free(&arena);
	return n;
}

static void test_commands(void **state)
{
	(void)state;
	assert_int_equal(commands(""), 0);
	assert_int_equal(commands("pick abc exec\nbreak\n# exec a\nexecute\nxx\nedit x\n"), 0);
	assert_int_equal(commands("exec a\nx b\n\t exec c\n x\td\nexec"), 5);
	assert_int_equal(commands("pick abc\r\nexec a\r\nx\r\n"), 2);
}

/* ---- the check ---- */

static struct pinfold_plan plan;
static struct arena arena;
static struct check_result result;

static void look(void)
{
	take();
	plan = (struct pinfold_plan){ .policy = &world_policy, .backend = BACKEND_OWN_NAMESPACES, .survey = seen };
}

static void check(void)
{
	arena_free(&arena);
	plan.survey = seen;
	assert_int_equal(check_after(&plan, &arena, &result), 0);
	assert_true(result.is_done);
}

static int finish(void **state)
{
	arena_free(&arena);
	return end(state);
}

static const struct check_violation *violation_at(const char *name)
{
	for (size_t i = 0; i < result.count; i++)
		if (strcmp(result.violations[i].path, at(name)) == 0)
			return &result.violations[i];
	return NULL;
}

static void assert_found(const char *name, enum check_action action)
{
	const struct check_violation *violation = violation_at(name);

	if (!violation)
		fail_msg("'%s' was not found", name);
	if (violation->action != action)
		fail_msg("'%s' was %s", name, check_action_names[violation->action]);
}

static bool exists(const char *name)
{
	return faccessat(AT_FDCWD, at(name), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* An index of version 4 with one file, or with one submodule. */
static void put_index(const char *name, const char *submodule)
{
	static const char header[12] = { 'D', 'I', 'R', 'C', 0, 0, 0, 4, 0, 0, 0, 1 };
	const char *entry = submodule ? submodule : "file";
	char bytes[256] = { 0 };
	const size_t mode = sizeof(header) + 24;
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memcpy(bytes, header, sizeof(header));
	bytes[mode + 2] = (char)(submodule ? 0xe0 : 0x81);
	bytes[sizeof(header) + 61] = (char)strlen(entry);
	memcpy(bytes + sizeof(header) + 63, entry, strlen(entry));
	assert_true(fd >= 0);
	assert_true(write(fd, bytes, sizeof(header) + 64 + strlen(entry) + 20) > 0);
	close(fd);
}

static void test_nothing(void **state)
{
	(void)state;
	make_clone("work");
	make_dir("work/.claude");
	put("work/.claude/settings.json", "{}");
	look();
	put("work/file", "x");
	put_index("work/.git/index", NULL);
	put("work/.claude/notes", "x");
	put("work/.git/HEAD", "ref: refs/heads/other\n");
	check();
	assert_true(result.is_complete);
	assert_int_equal(result.count, 0);
	assert_int_equal(result.warnings.n, 0);
}

static void test_absent(void **state)
{
	(void)state;
	make_clone("work");
	put("work/.codex", "a file where a directory is expected");
	look();
	put("work/.mcp.json", "x");
	make_dir("work/.claude/commands");
	make_link("nowhere", "work/.envrc");
	put("work/.git/commondir", "../other\n");
	check();
	assert_int_equal(result.count, 4);
	assert_found("work/.mcp.json", ACTION_MOVED);
	assert_found("work/.claude/commands", ACTION_MOVED);
	assert_found("work/.envrc", ACTION_MOVED);
	assert_found("work/.git/commondir", ACTION_MOVED);
	assert_false(exists("work/.mcp.json") || exists("work/.envrc") || exists("work/.git/commondir"));
	assert_true(exists("work/.claude"));
	assert_non_null(strstr(violation_at("work/.mcp.json")->moved_to, at("home/.local/state/pinfold/removed/")));
}

/* The time is over before the first look: nothing is said about the tree but that. */
static void test_tree_without_time(void **state)
{
	struct checking c = { .root = (size_t)-1, .root_fd = -1, .dir_fd = -1, .plan = &plan, .arena = &arena,
			      .result = &result };

	(void)state;
	set(KEY_CHECK, "tree");
	look();
	make_dir("work/deep/.vscode");
	result = (struct check_result){ .is_complete = true };
	check_tree(&c, 0);
	checking_leave(&c);
	close(c.root_fd);
	assert_int_equal(c.error, 0);
	assert_false(result.is_complete);
	assert_int_equal(result.warnings.n, 1);
	assert_int_equal(result.count, 0);
	check();
	assert_true(result.is_tree && result.is_complete);
	assert_int_equal(result.count, 1);
	assert_found("work/deep/.vscode", ACTION_MOVED);
}

/* The name's parent was a file, and gave way to a directory. */
static void test_parent_was_a_file(void **state)
{
	(void)state;
	put("work/.cargo", "");
	look();
	assert_int_equal(unlink(at("work/.cargo")), 0);
	make_dir("work/.cargo");
	put("work/.cargo/config.toml", "x");
	check();
	assert_found("work/.cargo/config.toml", ACTION_MOVED);
}

static void test_links_on_the_way(void **state)
{
	(void)state;
	make_dir("out/.claude");
	put("out/.claude/settings.json", "theirs");
	look();
	make_link("../out/.claude", "work/.claude");
	check();
	assert_int_equal(result.count, 1); /* though several protected names lie behind it */
	assert_found("work/.claude", ACTION_MOVED);
	assert_true(exists("out/.claude/settings.json"));
}

/* They were there: the link is held, and what must not be made lies where it leads. */
static void test_links_that_lead_nowhere(void **state)
{
	(void)state;
	make_link("missing", "work/.cargo");
	make_link(".claude", "work/.claude");
	make_link("gone", "work/.envrc");
	look();
	check();
	assert_int_equal(result.count, 0);
	assert_true(result.is_complete);
	make_dir("work/missing");
	put("work/missing/config.toml", "x");
	put("work/gone", "x");
	check();
	assert_int_equal(result.count, 2);
	assert_found("work/missing/config.toml", ACTION_MOVED);
	assert_found("work/gone", ACTION_MOVED);
	assert_true(exists("work/.cargo") && exists("work/.envrc"));
}

static void test_changed(void **state)
{
	(void)state;
	make_clone("work");
	put("work/.mcp.json", "{}");
	look();
	put("work/.git/config", "[core]\n\tfsmonitor = x\n");
	assert_int_equal(rename(at("work/.git/hooks"), at("work/.git/h")), 0);
	assert_int_equal(unlink(at("work/.mcp.json")), 0);
	put("work/.git/HEAD", "nothing\n");
	assert_int_equal(rename(at("work/.git/refs"), at("work/.git/r")), 0);
	check();
	assert_int_equal(result.count, 5);
	assert_found("work/.git/config", ACTION_REPORTED);
	assert_found("work/.git/hooks", ACTION_REPORTED);
	assert_found("work/.mcp.json", ACTION_REPORTED);
	assert_found("work/.git/HEAD", ACTION_REPORTED);
	assert_found("work/.git/refs", ACTION_REPORTED);
	assert_true(exists("work/.git/config"));
}

static void test_bare(void **state)
{
	(void)state;
	make_clone("work");
	make_dir("work/objects"); /* a project may have this */
	look();
	make_dir("work/refs");
	check();
	assert_int_equal(result.count, 0);
	put("work/HEAD", "ref: refs/heads/main\n");
	check();
	assert_int_equal(result.count, 1);
	assert_found("work/HEAD", ACTION_MOVED);
	assert_true(exists("work/objects"));
	/* objects and refs may be elsewhere */
	rmdir(at("work/refs"));
	rmdir(at("work/objects"));
	look();
	put("work/HEAD", "ref: refs/heads/main\n");
	put("work/commondir", "out\n");
	check();
	assert_found("work/HEAD", ACTION_MOVED);
}

static void test_nearer_repository(void **state)
{
	(void)state;
	make_clone("work");
	assert_int_equal(take_from(at("work/sub")), 0);
	look();
	make_clone("work/sub");
	make_clone("work/deep");
	check();
	assert_int_equal(result.count, 1);
	assert_found("work/sub/.git", ACTION_MOVED);
}

#define FSMONITOR "[core]\n\tfsmonitor = evil\n"

static void test_submodules(void **state)
{
	(void)state;
	make_clone("work");
	put_index("work/.git/index", NULL);
	look();
	make_clone("work/module");
	put_index("work/.git/index", "module");
	check();
	assert_int_equal(result.count, 0);
	put("work/module/.git/config", FSMONITOR);
	put("work/module/.git/hooks/post-index-change", "evil");
	put("work/module/.git/hooks/pre-push.sample", "sample");
	put("work/module/.git/commondir", "../../other\n");
	check();
	assert_true(result.is_complete);
	assert_int_equal(result.count, 3);
	assert_found("work/module/.git/config", ACTION_MOVED);
	assert_found("work/module/.git/hooks/post-index-change", ACTION_MOVED);
	assert_found("work/module/.git/commondir", ACTION_MOVED);
	assert_true(exists("work/module/.git/hooks/pre-push.sample"));
	/* the place of one that nobody has cloned: the index is what it was; and in that one another */
	look();
	put_index("work/module/.git/index", "inner");
	make_clone("work/module/inner");
	put("work/module/inner/.git/config", "[include]\n\tpath = ../evil\n");
	check();
	assert_int_equal(result.count, 1);
	assert_found("work/module/inner/.git/config", ACTION_MOVED);
	/* two spellings of a subsection at once are read by git, not by us */
	put("work/module/inner/.git/config", "[filter.a \"b\"]\n\tclean = evil\n");
	check();
	assert_found("work/module/inner/.git/config", ACTION_MOVED);
}

/* What is older than the run is its owner's: nothing is said as long as the command has no part in it. */
static void test_older_submodules(void **state)
{
	(void)state;
	make_clone("work");
	make_clone("work/module");
	put("work/module/.git/config", FSMONITOR);
	put_index("work/.git/index", "module");
	usleep(20000);
	look();
	check();
	assert_int_equal(result.count, 0);
	put_index("work/.git/index", "module");
	check();
	assert_int_equal(result.count, 1);
	assert_found("work/module/.git/config", ACTION_REPORTED);
	assert_true(exists("work/module/.git/config"));
}

static void test_pointers(void **state)
{
	(void)state;
	make_clone("work");
	put_index("work/.git/index", "module");
	make_dir("work/module");
	make_clone("out");
	look();
	make_clone("work/deep");
	put("work/deep/.git/config", FSMONITOR);
	put("work/module/.git", "gitdir: ../deep/.git\n");
	check();
	assert_int_equal(result.count, 1);
	assert_found("work/deep/.git/config", ACTION_MOVED);
	/* a way that a link could bend, a link, and out of the worktree */
	put("work/module/.git", "gitdir: ../link/../evil/.git\n");
	check();
	assert_found("work/module/.git", ACTION_MOVED);
	make_link("../deep/.git", "work/module/.git");
	check();
	assert_found("work/module/.git", ACTION_MOVED);
	put("work/module/.git", "gitdir: ../../out/.git\n");
	check();
	assert_found("work/module/.git", ACTION_MOVED);
	assert_true(exists("out/.git/config"));
	assert_int_equal(rmdir(at("work/module")), 0);
	make_link("deep", "work/module");
	check();
	assert_found("work/module", ACTION_MOVED);
	assert_true(exists("work/deep"));
}

/* `git submodule update` outside takes what lies there. */
static void test_modules(void **state)
{
	(void)state;
	make_clone("work");
	put_index("work/.git/index", NULL);
	look();
	make_dir("work/.git/modules/group/name");
	put("work/.git/modules/group/name/HEAD", "ref: refs/heads/main\n");
	put("work/.git/modules/group/name/config", "[core]\n\tworktree = ../../../../sub\n\tbare = false\n");
	check();
	assert_int_equal(result.count, 0);
	make_link("../out", "work/away");
	put("work/.git/modules/group/name/config", "[core]\n\tworktree = ../../../../away/../sub\n");
	check();
	assert_found("work/.git/modules/group/name/config", ACTION_MOVED);
	put("work/.git/modules/group/name/config", "[core]\n\tworktree = ../../../../away\n");
	check();
	assert_found("work/.git/modules/group/name/config", ACTION_MOVED);
	put("work/.git/modules/group/name/config", FSMONITOR);
	check();
	assert_found("work/.git/modules/group/name/config", ACTION_MOVED);
}

static void test_first_repository(void **state)
{
	(void)state;
	make_clone("work/old"); /* put in place by the command, so that its age says nothing */
	put("work/old/.git/config", "[remote \"o\"]\n\turl = ext::evil\n");
	usleep(20000);
	look();
	assert_int_equal(rename(at("work/old/.git"), at("work/.git")), 0);
	check();
	assert_int_equal(result.count, 1);
	assert_found("work/.git/config", ACTION_MOVED);
	put("work/.git/config",
	    "[core]\n\tbare = false\n[remote \"o\"]\n\turl = https://a.example/b\n[branch \"main\"]\n"
	    "\tremote = o\n\tmerge = refs/heads/main\n[user]\n\tname = x\n");
	check();
	assert_int_equal(result.count, 0);
	assert_true(result.is_complete);
}

static void test_index_that_cannot_be_read(void **state)
{
	(void)state;
	make_clone("work");
	put("work/.git/index", "nothing that git writes");
	look();
	check();
	assert_false(result.is_complete);
	assert_int_equal(result.warnings.n, 1);
	unlink(at("work/.git/index"));
	make_link("../sub/index", "work/.git/index");
	check();
	assert_int_equal(result.count, 1);
	assert_found("work/.git/index", ACTION_MOVED); /* git would write through it */
}

static void test_todo(void **state)
{
	(void)state;
	make_clone("work");
	look();
	make_dir("work/.git/rebase-merge");
	put("work/.git/rebase-merge/git-rebase-todo", "pick a\n");
	check();
	assert_int_equal(result.count, 0);
	assert_int_equal(result.warnings.n, 1);
	put("work/.git/rebase-merge/git-rebase-todo", "pick a\nexec evil\n");
	check();
	assert_int_equal(result.count, 1);
	assert_found("work/.git/rebase-merge", ACTION_MOVED);
	/* begun before, with a command that stays allowed */
	make_dir("work/.git/rebase-merge");
	put("work/.git/rebase-merge/git-rebase-todo", "exec mine\npick a\n");
	look();
	put("work/.git/rebase-merge/git-rebase-todo", "exec mine\n");
	check();
	assert_int_equal(result.count, 0);
	put("work/.git/rebase-merge/git-rebase-todo", "exec mine\nexec evil\n");
	check();
	assert_found("work/.git/rebase-merge/git-rebase-todo", ACTION_MOVED);
	assert_true(exists("work/.git/rebase-merge"));
}

static void test_report_and_no_check(void **state)
{
	(void)state;
	assert_int_equal(set(KEY_ON_VIOLATION, "report"), 0);
	look();
	put("work/.envrc", "x");
	check();
	assert_found("work/.envrc", ACTION_REPORTED);
	assert_true(exists("work/.envrc"));
	plan.backend = BACKEND_NONE;
	assert_int_equal(check_after(&plan, &arena, &result), 0);
	assert_false(result.is_done);
}

/* The worktree is not the one that the survey saw: nothing is touched there. */
static void test_other_worktree(void **state)
{
	(void)state;
	look();
	assert_int_equal(rename(at("work"), at("work.old")), 0);
	make_dir("work");
	put("work/.envrc", "x");
	check();
	assert_false(result.is_complete);
	assert_int_equal(result.count, 0);
	assert_true(exists("work/.envrc"));
}

static void test_git_open(void **state)
{
	(void)state;
	make_clone("work");
	assert_int_equal(set(KEY_GIT, "open"), 0);
	look();
	put("work/.git/commondir", "x");
	put("work/.envrc", "x");
	check();
	assert_int_equal(result.count, 1);
	assert_found("work/.envrc", ACTION_MOVED);
}

#define CHECK_TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_commands),
		CHECK_TEST(test_nothing),
		CHECK_TEST(test_absent),
		CHECK_TEST(test_tree_without_time), CHECK_TEST(test_parent_was_a_file),
		CHECK_TEST(test_links_on_the_way),
		CHECK_TEST(test_links_that_lead_nowhere),
		CHECK_TEST(test_changed),
		CHECK_TEST(test_bare),
		CHECK_TEST(test_nearer_repository),
		CHECK_TEST(test_submodules),
		CHECK_TEST(test_older_submodules),
		CHECK_TEST(test_pointers),
		CHECK_TEST(test_modules),
		CHECK_TEST(test_first_repository),
		CHECK_TEST(test_index_that_cannot_be_read),
		CHECK_TEST(test_todo),
		CHECK_TEST(test_report_and_no_check),
		CHECK_TEST(test_other_worktree),
		CHECK_TEST(test_git_open),
	};

	return cmocka_run_group_tests(tests, world_make, world_remove);
}
