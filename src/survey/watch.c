/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the check after the run compares, fixed before the command can have a say. Mounts hold what is there; over what
 * is not there yet nothing can be mounted without leaving a placeholder on the host (E013), so that it is looked for
 * afterwards (E012, E031, E032, E10F).
 *
 * Each look-up begins at a root whose identity is known: the worktree, a write path, or for what lies outside of both
 * the deepest directory that was there.
 */
#include "survey/take.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/gittext.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/sort.h"

enum { NS = 1000000000 };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- roots ---- */

static int add_root(struct taking *take, const char *path, const struct survey_node *node, size_t *ret)
{
	struct survey *survey = take->survey;
	struct survey_watch_root *root;

	for (size_t i = 0; i < survey->watch_root_count; i++)
		if (strcmp(survey->watch_roots[i].path, path) == 0) {
			*ret = i;
			return 0;
		}
	root = take_grow(take, survey->watch_roots, &survey->watch_root_count, &survey->watch_root_cap, sizeof(*root));
	if (!root)
		return err_oom(take->err);
	*root = (struct survey_watch_root){ .path = path, .node = *node };
	*ret = survey->watch_root_count - 1;
	survey->watch_roots = root - *ret;
	return 0;
}

/* 1: there is none, so that there is nothing to watch. */
static int find_root(struct taking *take, const char *path, size_t *ret)
{
	const struct survey *survey = take->survey;
	struct survey_node node;

	if (path_is_in(path, survey->worktree))
		return add_root(take, survey->worktree, &survey->worktree_node, ret);
	for (size_t i = 0; i < survey->write_count; i++)
		if (survey->writes[i].is_directory && path_is_in(path, survey->writes[i].path))
			return add_root(take, survey->writes[i].path, &survey->writes[i].node, ret);
	for (char *dir = path_parent(take->arena, path);; dir = path_parent(take->arena, dir)) {
		if (!dir)
			return err_oom(take->err);
		if (look_at(take, dir, &node) == 0)
			return S_ISDIR(node.mode) ? add_root(take, dir, &node, ret) : 1;
		if (strcmp(dir, "/") == 0)
			return 1;
	}
}

struct survey_watch *watch_last(const struct taking *take)
{
	return &take->survey->watches[take->survey->watch_count - 1];
}

int watch_add(struct taking *take, enum watch_kind kind, const char *path, const char *rule)
{
	struct survey *survey = take->survey;
	struct survey_watch *watch;
	size_t root;
	int r = find_root(take, path, &root);

	if (r != 0)
		return r < 0 ? r : 0;
	watch = take_grow(take, survey->watches, &survey->watch_count, &survey->watch_cap, sizeof(*watch));
	if (!watch)
		return err_oom(take->err);
	survey->watches = watch - (survey->watch_count - 1);
	*watch = (struct survey_watch){
		.kind = kind,
		.root = root,
		.below = path_below(path, survey->watch_roots[root].path),
		.rule = rule,
	};
	return 1;
}

/* ---- what is looked for in a git directory ---- */

static const struct {
	const char *name;
	enum watch_kind kind;
	const char *rule;
} git_entries[] = {
	{ "HEAD", WATCH_HEAD, "git's HEAD" },
	{ "objects", WATCH_DIRECTORY, "git's objects" },
	{ "refs", WATCH_DIRECTORY, "git's refs" },
	{ "rebase-merge/git-rebase-todo", WATCH_TODO, NULL },
	{ "rebase-merge/strategy", WATCH_TODO, NULL },
	{ "sequencer/todo", WATCH_TODO, NULL },
	{ "sequencer/opts", WATCH_TODO, NULL },
	{ "rebase-merge", WATCH_STATE, "a rebase" },
	{ "rebase-apply", WATCH_STATE, "a rebase or a series of patches" },
	{ "sequencer", WATCH_STATE, "a series of cherry-picks or reverts" },
	{ "BISECT_START", WATCH_STATE, "a bisection" },
	{ "index.lock", WATCH_LOCK, "git's lock" },
	{ "HEAD.lock", WATCH_LOCK, "git's lock" },
	{ "config.lock", WATCH_LOCK, "git's lock" },
	{ "packed-refs.lock", WATCH_LOCK, "git's lock" },
};

/* ---- protected paths and names ---- */

int watch_absent(struct taking *take, const char *path, const char *rule)
{
	int r;

	if (!protect_is_in_reach(take->survey, path) || take_is_allowed(take, AXIS_WRITE, path))
		return 0;
	r = watch_add(take, WATCH_ABSENT, path, rule);
	return r < 0 ? r : 0;
}

/* A write path in a protected directory changes that directory's times. */
static bool holds_write_path(const struct survey *survey, const char *path)
{
	for (size_t i = 0; i < survey->write_count; i++)
		if (path_is_below(survey->writes[i].path, path))
			return true;
	return false;
}

void watch_fill(const struct survey *survey, struct survey_watch *watch, const char *path, const struct stat *st)
{
	look_node(st, &watch->node);
	if (holds_write_path(survey, path))
		return;
	watch->size = (uint64_t)st->st_size;
	watch->changed_ns = (int64_t)st->st_ctim.tv_sec * NS + st->st_ctim.tv_nsec;
	watch->modified_ns = (int64_t)st->st_mtim.tv_sec * NS + st->st_mtim.tv_nsec;
}

static int watch_same(struct taking *take, const struct survey_protected *protected)
{
	struct survey_watch *watch;
	struct stat st;
	int r;

	if (lstat(protected->path, &st) < 0) {
		look_failed(take, protected->path, errno);
		return 0;
	}
	r = watch_add(take, WATCH_SAME, protected->path, protected->rule);
	if (r <= 0)
		return r;
	watch = watch_last(take);
	watch_fill(take->survey, watch, protected->path, &st);
	return 0;
}

void watch_renew(struct survey *survey, const char *path)
{
	struct stat st;

	for (size_t i = 0; i < survey->watch_count; i++) {
		struct survey_watch *watch = &survey->watches[i];
		const char *below = path_below(path, survey->watch_roots[watch->root].path);

		if (watch->kind == WATCH_SAME && below && strcmp(below, watch->below) == 0 && lstat(path, &st) == 0)
			watch_fill(survey, watch, path, &st);
	}
}

/* A rebase may begin anywhere at any time, on the host as well: what it would carry out is looked at, no more. */
static bool is_git_state(const char *rule)
{
	for (size_t i = 0; i < COUNT(git_entries); i++)
		if (git_entries[i].kind == WATCH_STATE && strcmp(git_entries[i].name, rule) == 0)
			return true;
	return false;
}

static int watch_protected(struct taking *take)
{
	int r = 0;

	for (size_t i = 0; i < take->survey->protected_count && r == 0; i++) {
		const struct survey_protected *protected = &take->survey->protected[i];

		if (is_git_state(protected->rule))
			continue;
		r = protected->kind == PROTECTED_ABSENT ? watch_absent(take, protected->path, protected->rule) :
							  watch_same(take, protected);
	}
	return r;
}

/* ---- git ---- */

static bool is_head(const char *path)
{
	char text[4096];
	FD_CLEANUP int fd = fd_open_regular(AT_FDCWD, path);
	ssize_t n = fd >= 0 ? fd_read_all(fd, text, sizeof(text)) : readlink(path, text, sizeof(text));

	return n > 0 && (fd >= 0 ? gittext_is_head(text, (size_t)n) : gittext_is_ref(text, (size_t)n));
}

static int watch_todo(struct taking *take, const char *path)
{
	FD_CLEANUP int fd = fd_open_regular(AT_FDCWD, path);
	struct buf text BUF_CLEANUP = BUF_INIT(LIMIT_TODO_BYTES);
	int r = watch_add(take, WATCH_TODO, path, "a command in a list of git's to carry out");

	if (r <= 0 || fd < 0)
		return r < 0 ? r : 0;
	/* What cannot be read now counts as empty: every command in it is a new one. */
	r = buf_read_fd(&text, fd);
	if (r < 0 || !text.len)
		return r == -ENOMEM ? err_oom(take->err) : 0;
	r = gittext_programs(take->arena, path_name(path), text.data, text.len, &watch_last(take)->words);
	return r < 0 ? err_oom(take->err) : 0;
}

/* Of what must stay, only what was there; of what may begin, only what had not. */
static int watch_git_entry(struct taking *take, const char *path, enum watch_kind kind, const char *rule)
{
	struct survey_node node = { 0 };
	bool exists = look_at(take, path, &node) == 0;
	int r = 0;

	if (kind == WATCH_TODO)
		r = watch_todo(take, path);
	else if (kind == WATCH_HEAD ? exists && is_head(path) : kind == WATCH_DIRECTORY ? S_ISDIR(node.mode) : !exists)
		r = watch_add(take, kind, path, rule);
	return r < 0 ? r : 0;
}

/* Links are looked for in the logs, also where only they, objects and refs can be written to. */
static int watch_logs(struct taking *take, const char *path)
{
	size_t root;
	int r;

	if (!path)
		return err_oom(take->err);
	r = protect_is_in_reach(take->survey, path) ? find_root(take, path, &root) : 0;
	return r < 0 ? r : 0;
}

static int watch_git_directory(struct taking *take, const char *directory)
{
	int r = watch_logs(take, path_join(take->arena, directory, "logs"));

	for (size_t i = 0; i < COUNT(git_entries) && r == 0; i++) {
		char *path = path_join(take->arena, directory, git_entries[i].name);

		r = path ? watch_git_entry(take, path, git_entries[i].kind, git_entries[i].rule) : err_oom(take->err);
	}
	return r;
}

/* In a linked worktree the main checkout's states and locks are looked for as well. A `.git` that is none of the
 * layouts is read-only as a whole, and may be a link that has always led nowhere. */
static int watch_git(struct taking *take)
{
	const struct survey_git *git = &take->survey->git;
	int r;

	if (git->kind == REPOSITORY_NONE || git->kind == REPOSITORY_OTHER || !git->directory ||
	    policy_number(take->policy, KEY_GIT) != GIT_COMMIT)
		return 0;
	r = watch_git_directory(take, git->directory);
	if (r == 0 && git->common && strcmp(git->common, git->directory) != 0)
		r = watch_git_directory(take, git->common);
	return r;
}

/* ---- the directories from the top to the working directory ---- */

static const char *const bare_names[] = { "HEAD", "commondir", "objects", "refs" };

static int watch_bare(struct taking *take, const char *dir)
{
	struct survey_node node;
	unsigned bare = 0;
	int r;

	for (size_t i = 0; i < COUNT(bare_names); i++) {
		char *path = path_join(take->arena, dir, bare_names[i]);

		if (!path)
			return err_oom(take->err);
		if (look_at(take, path, &node) == 0)
			bare |= 1U << i;
	}
	r = watch_add(take, WATCH_BARE, dir, "the shape of a git directory");
	if (r > 0)
		watch_last(take)->bare = bare;
	return r < 0 ? r : 0;
}

/* Git, called there, would take a repository that is nearer than the one at the top (E032, E033). */
static int watch_nearer(struct taking *take, const char *dir)
{
	char *path = path_join(take->arena, dir, ".git");
	struct survey_node node;

	if (!path)
		return err_oom(take->err);
	return look_at(take, path, &node) == -ENOENT ? watch_absent(take, path, ".git") : 0;
}

static int watch_directories(struct taking *take)
{
	const struct survey *survey = take->survey;
	const char *rest = path_below(survey->cwd, survey->worktree), *dir = survey->worktree;
	int r;

	if (policy_number(take->policy, KEY_GIT) == GIT_OPEN)
		return 0;
	r = watch_bare(take, dir);
	while (rest && *rest && r == 0) {
		size_t length = strcspn(rest, "/");
		char *name = arena_strndup(take->arena, rest, length);

		dir = name ? path_join(take->arena, dir, name) : NULL;
		if (!dir)
			return err_oom(take->err);
		rest += length + (rest[length] == '/');
		r = watch_bare(take, dir);
		if (r == 0 && survey->git.kind != REPOSITORY_NONE)
			r = watch_nearer(take, dir);
	}
	return r;
}

/* ---- all ---- */

/* The walk of the tree begins at each directory that the command may write to. */
static int add_tree_roots(struct taking *take)
{
	struct survey *survey = take->survey;
	size_t root;
	int r = add_root(take, survey->worktree, &survey->worktree_node, &root);

	for (size_t i = 0; i < survey->write_count && r == 0; i++)
		if (survey->writes[i].is_directory)
			r = add_root(take, survey->writes[i].path, &survey->writes[i].node, &root);
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct survey_watch *x = a, *y = b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return path_compare(x->below, y->below);
}

static int order(struct taking *take)
{
	struct survey *survey = take->survey;
	void *room = ARENA_ARRAY(take->arena, struct survey_watch, survey->watch_count / 2);

	if (!room)
		return err_oom(take->err);
	sort_merge(survey->watches, room, survey->watch_count, sizeof(*survey->watches), compare);
	return 0;
}

/* The clock of file systems, which lags behind the other one: by a tick, 1 to 10 ms. */
static int64_t file_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return (int64_t)now.tv_sec * NS + now.tv_nsec;
}

/* The walk of the tree goes by age. What was made just before the run, in the same tick, must not look like the
 * command's work, nor the other way round: so the run begins with a new one. */
static int64_t next_tick_ns(void)
{
	const struct timespec pause = { .tv_nsec = NS / 5000 };
	const int64_t first = file_time_ns();
	int64_t now = first;

	for (int i = 0; i < 100 && now == first; i++) {
		nanosleep(&pause, NULL);
		now = file_time_ns();
	}
	return now;
}

int take_watch(struct taking *take)
{
	struct survey *survey = take->survey;
	bool is_tree = policy_number(take->policy, KEY_CHECK) == CHECK_TREE;
	int r;

	survey->taken_ns = is_tree ? next_tick_ns() : file_time_ns();
	if (policy_number(take->policy, KEY_READ_ONLY) || policy_number(take->policy, KEY_MODE) == MODE_OFF) {
		survey->watch_count = 0;
		return 0;
	}
	r = is_tree ? add_tree_roots(take) : 0;
	if (r == 0)
		r = watch_protected(take);
	if (r == 0)
		r = watch_git(take);
	if (r == 0)
		r = watch_directories(take);
	return r == 0 ? order(take) : r;
}
