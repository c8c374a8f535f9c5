/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check after the run. The worktree was the command's: a link that it has planted must lead the check nowhere
 * (E018), so that each look-up goes from a directory whose identity is known, component by component, by descriptor,
 * and no link is followed. A link on the way to a name that must be absent was not there at the start, and counts as
 * that name itself.
 */
#include "run/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/gittext.h"
#include "base/limits.h"
#include "base/path.h"
#include "run/carry.h"
#include "run/checking.h"

const char *const check_action_names[] = { "reported", "moved", "renamed", "left" };
_Static_assert(sizeof(check_action_names) / sizeof(check_action_names[0]) == ACTION_COUNT, "a name for each action");

/* ---- looking up ---- */

static bool is_node(const struct stat *st, const struct survey_node *node)
{
	return st->st_dev == node->dev && st->st_ino == node->ino && (st->st_mode & S_IFMT) == (node->mode & S_IFMT);
}

void checking_leave(struct checking *c)
{
	if (c->dir_fd != c->root_fd)
		fd_close(&c->dir_fd);
	c->dir_fd = -1;
	c->dir = NULL;
}

static void enter_root(struct checking *c, size_t index)
{
	const struct survey_watch_root *root = &c->plan->survey.watch_roots[index];
	struct stat st;

	checking_leave(c);
	fd_close(&c->root_fd);
	c->root = index;
	c->root_error = 0;
	c->root_fd = openat(AT_FDCWD, root->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (c->root_fd < 0 || fstat(c->root_fd, &st) < 0)
		c->root_error = -errno;
	else if (!is_node(&st, &root->node))
		c->root_error = -ESTALE;
}

/* What cannot be searched hides what was made there until somebody opens it again: we do, and it stays open. */
static bool is_opened_up(int fd, int r)
{
	mode_t mode;

	return r == -EACCES && directory_open_up(fd, &mode);
}

/* One step down; -ELOOP for a link. */
static int step(int fd, const char *name)
{
	int next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r = -errno;
	struct stat st;

	if (next < 0 && is_opened_up(fd, r)) {
		next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = -errno;
	}

	if (next >= 0)
		return next;
	if (r == -ENOTDIR && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		return -ELOOP;
	return r;
}

/* On the way to a link, dir_fd is the directory that holds it. */
static int walk(struct checking *c, const char *dir, size_t length)
{
	char name[NAME_MAX + 1];

	c->dir_fd = c->root_fd;
	for (size_t at = 0; at < length;) {
		size_t n = strcspn(dir + at, "/");
		int next;

		if (n >= sizeof(name))
			return -ENAMETOOLONG;
		memcpy(name, dir + at, n);
		name[n] = '\0';
		next = step(c->dir_fd, name);
		if (next < 0) {
			c->link_length = at + n;
			return next;
		}
		if (c->dir_fd != c->root_fd)
			close(c->dir_fd);
		c->dir_fd = next;
		at += n + 1;
	}
	return 0;
}

/* 0: c->dir_fd is the directory that holds `below`. */
static int enter_directory(struct checking *c, size_t root, const char *below)
{
	const char *slash = strrchr(below, '/');
	size_t length = slash ? (size_t)(slash - below) : 0;

	if (c->root != root)
		enter_root(c, root);
	if (c->root_error)
		return c->root_error;
	if (c->dir && c->dir_length == length && memcmp(c->dir, below, length) == 0)
		return c->dir_error;
	checking_leave(c);
	c->dir = below;
	c->dir_length = length;
	c->dir_error = walk(c, below, length);
	return c->dir_error;
}

int checking_look_up(struct checking *c, size_t root, const char *below, struct stat *ret)
{
	int r = enter_directory(c, root, below);

	if (r < 0)
		return r;
	if (!*below)
		return fstat(c->root_fd, ret) < 0 ? -errno : 0;
	r = fstatat(c->dir_fd, path_name(below), ret, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
	if (is_opened_up(c->dir_fd, r))
		r = fstatat(c->dir_fd, path_name(below), ret, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
	return r;
}

bool checking_is_missing(int r)
{
	return r == -ENOENT || r == -ENOTDIR;
}

/* ---- what is said ---- */

static const char *root_path(const struct checking *c, const struct survey_watch *watch)
{
	return c->plan->survey.watch_roots[watch->root].path;
}

char *checking_path(struct checking *c, const struct survey_watch *watch, const char *below)
{
	const char *root = root_path(c, watch);
	char *path = *below ? path_join(c->arena, root, below) : arena_strdup(c->arena, root);

	if (!path)
		c->error = -ENOMEM;
	return path;
}

void checking_warn(struct checking *c, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (strv_add(c->arena, &c->result->warnings, text) < 0)
		c->error = -ENOMEM;
}

void checking_is_unknown(struct checking *c, const struct survey_watch *watch, int r)
{
	c->result->is_complete = false;
	checking_warn(c, "'%s%s%s' cannot be looked at after the run: %s", root_path(c, watch),
		      *watch->below ? "/" : "", watch->below, strerror(-r));
}

struct check_violation *checking_add(struct checking *c, const struct survey_watch *watch, const char *below,
				     const char *what)
{
	const struct survey *survey = &c->plan->survey;
	struct check_result *result = c->result;
	struct check_violation *v = arena_grow(c->arena, result->violations, result->count, result->count + 1,
					       sizeof(*v), &result->cap);
	char *path = checking_path(c, watch, below);

	if (!v || !path) {
		c->error = -ENOMEM;
		return NULL;
	}
	result->violations = v;
	v += result->count++;
	*v = (struct check_violation){ .path = path, .what = what };
	if (strcmp(root_path(c, watch), survey->worktree) == 0)
		v->below = path_below(path, survey->worktree);
	return v;
}

/* c->dir_fd holds the last component of below. */
void checking_remove(struct checking *c, const struct survey_watch *watch, const char *below, const char *what)
{
	struct check_violation *v = checking_add(c, watch, below, what);

	if (v && policy_number(c->plan->policy, KEY_ON_VIOLATION) != VIOLATION_REPORT)
		v->action = removal_take(&c->removal, c->dir_fd, path_name(below), below, &v->moved_to);
}

/* ---- one for each kind; r: of looking it up ---- */

static void remove_link(struct checking *c, const struct survey_watch *watch)
{
	char *link = arena_strndup(c->arena, watch->below, c->link_length);

	if (!link)
		c->error = -ENOMEM;
	else
		checking_remove(c, watch, link, "became a link on the way to a protected name");
	checking_leave(c); /* what comes next may lie behind it as well, and is looked up anew */
}

static void check_absent(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st)
{
	(void)st;
	if (r == -ELOOP)
		remove_link(c, watch);
	else if (r == 0)
		checking_remove(c, watch, watch->below, "appeared at a protected name");
	else if (!checking_is_missing(r))
		checking_is_unknown(c, watch, r);
}

bool checking_has_changed(const struct survey_watch *watch, const struct stat *st)
{
	static const int64_t second = 1000000000;

	if (!is_node(st, &watch->node))
		return true;
	return watch->changed_ns && ((uint64_t)st->st_size != watch->size ||
				     (int64_t)st->st_mtim.tv_sec * second + st->st_mtim.tv_nsec != watch->modified_ns ||
				     (int64_t)st->st_ctim.tv_sec * second + st->st_ctim.tv_nsec != watch->changed_ns);
}

/* Another run of this repository may have carried over what a branch tracks (carry.h). */
static bool is_carried_over(struct checking *c, const struct survey_watch *watch)
{
	const struct survey *survey = &c->plan->survey;
	const char *path = checking_path(c, watch, watch->below);

	return path && carry_is_all(survey, path);
}

static void check_same(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st)
{
	bool is_open = c->plan->backend == BACKEND_ONLY_LANDLOCK;

	if (is_open && r == 0 && S_ISDIR(st->st_mode) && is_node(st, &watch->node) && check_inside(c, watch))
		return;
	if (checking_is_missing(r) || r == -ELOOP)
		checking_add(c, watch, watch->below, "is protected and is gone");
	else if (r < 0)
		checking_is_unknown(c, watch, r);
	else if (is_open && checking_has_changed(watch, st) && !is_carried_over(c, watch))
		check_replaced(c, watch);
	else if (checking_has_changed(watch, st) && !is_carried_over(c, watch))
		checking_add(c, watch, watch->below, "is protected and was changed, by the host or by the command");
}

static bool is_head(struct checking *c, const char *name, const struct stat *st)
{
	char text[4096];
	ssize_t n;
	FD_CLEANUP int fd = -1;

	if (S_ISLNK(st->st_mode)) {
		n = readlinkat(c->dir_fd, name, text, sizeof(text));
		return n > 0 && gittext_is_ref(text, (size_t)n);
	}
	fd = fd_open_regular(c->dir_fd, name);
	n = fd >= 0 ? fd_read_all(fd, text, sizeof(text)) : -1;
	return n > 0 && gittext_is_head(text, (size_t)n);
}

static void check_head(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st)
{
	if (r < 0 && !checking_is_missing(r) && r != -ELOOP)
		checking_is_unknown(c, watch, r);
	else if (r < 0 || !is_head(c, path_name(watch->below), st))
		checking_add(c, watch, watch->below, "is no HEAD of git any more");
}

static void check_directory(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st)
{
	if (r < 0 && !checking_is_missing(r) && r != -ELOOP)
		checking_is_unknown(c, watch, r);
	else if (r < 0 || !S_ISDIR(st->st_mode))
		checking_add(c, watch, watch->below, "is no directory of git any more");
}

/* As git decides (setup.c, is_git_directory): a HEAD, and objects and refs, which a commondir file has elsewhere. */
bool check_is_bare(unsigned parts)
{
	return (parts & BARE_HEAD) && ((parts & BARE_COMMONDIR) || (parts & (BARE_OBJECTS | BARE_REFS)) ==
								   (BARE_OBJECTS | BARE_REFS));
}

/* In the order of enum watch_bare. */
static const char *const bare_names[] = { "HEAD", "commondir", "objects", "refs" };

unsigned check_bare_part(const char *name)
{
	for (unsigned i = 0; i < 4; i++)
		if (strcmp(name, bare_names[i]) == 0)
			return 1U << i;
	return 0;
}

static void check_bare(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st)
{
	char *paths[4];
	unsigned parts = 0;
	struct stat part;

	(void)st;
	if (r < 0) {
		/* a directory that is gone, or a link now, is none of git's */
		if (!checking_is_missing(r) && r != -ELOOP)
			checking_is_unknown(c, watch, r);
		return;
	}
	for (int i = 0; i < 4; i++) {
		paths[i] = *watch->below ? path_join(c->arena, watch->below, bare_names[i]) :
					   arena_strdup(c->arena, bare_names[i]);
		if (!paths[i]) {
			c->error = -ENOMEM;
			return;
		}
		if ((i == 0 || parts) && checking_look_up(c, watch->root, paths[i], &part) == 0)
			parts |= 1U << i;
	}
	for (int i = 0; i < 4 && check_is_bare(parts) && !check_is_bare(watch->bare); i++) {
		if (!(parts & ~watch->bare & 1U << i))
			continue;
		checking_remove(c, watch, paths[i], "made its directory a repository of its own");
		parts &= ~(1U << i);
	}
}

/* A whole state that is new goes as a whole, so that nothing half done stays for git to stumble over. */
static void remove_todo(struct checking *c, const struct survey_watch *watch)
{
	const struct survey *survey = &c->plan->survey;
	const char *slash = strrchr(watch->below, '/'), *state = watch->below;
	struct stat st;

	for (size_t i = 0; slash && i < survey->watch_count; i++) {
		const struct survey_watch *other = &survey->watches[i];

		if (other->kind == WATCH_STATE && other->root == watch->root &&
		    strncmp(other->below, watch->below, (size_t)(slash - watch->below)) == 0 &&
		    strlen(other->below) == (size_t)(slash - watch->below))
			state = other->below;
	}
	if (checking_look_up(c, watch->root, state, &st) == 0)
		checking_remove(c, watch, state, "has commands for git to carry out");
	checking_leave(c);
}

static void check_todo(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st)
{
	struct buf text BUF_CLEANUP = BUF_INIT(LIMIT_TODO_BYTES);
	FD_CLEANUP int fd = -1;
	struct strv now = { 0 };

	(void)st;
	if (r == -ELOOP) {
		remove_link(c, watch);
		return;
	}
	if (checking_is_missing(r))
		return;
	fd = r < 0 ? r : fd_open_regular(c->dir_fd, path_name(watch->below));
	if (fd >= 0)
		r = buf_read_fd(&text, fd);
	if (fd < 0 || r < 0) {
		remove_todo(c, watch); /* a link, or longer than any that a rebase makes */
		return;
	}
	if (text.len && gittext_programs(c->arena, path_name(watch->below), text.data, text.len, &now) < 0)
		c->error = -ENOMEM;
	for (size_t i = 0; i < now.n; i++)
		if (!strv_has(&watch->words, now.v[i])) {
			remove_todo(c, watch);
			return;
		}
}

static void check_state(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st)
{
	(void)st;
	if (r == -ELOOP)
		remove_link(c, watch);
	else if (r == 0)
		checking_warn(c, "%s was begun: '%s/%s'", watch->rule, root_path(c, watch), watch->below);
	else if (!checking_is_missing(r))
		checking_is_unknown(c, watch, r);
}

static void check_lock(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st)
{
	(void)st;
	if (r == 0)
		checking_warn(c, "%s is there since the run: '%s/%s'", watch->rule, root_path(c, watch), watch->below);
}

typedef void check_function(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st);

static check_function *const checks[WATCH_KIND_COUNT] = {
	[WATCH_SAME] = check_same, [WATCH_ABSENT] = check_absent, [WATCH_NAMES] = check_names,
	[WATCH_REPORT] = check_report, [WATCH_HEAD] = check_head, [WATCH_DIRECTORY] = check_directory,
	[WATCH_BARE] = check_bare, [WATCH_TODO] = check_todo, [WATCH_STATE] = check_state, [WATCH_LOCK] = check_lock,
};

/* ---- all ---- */

static bool is_twice(const struct survey_watch *a, const struct survey_watch *b)
{
	return a->kind == b->kind && a->root == b->root && strcmp(a->below, b->below) == 0;
}

int check_after(const struct pinfold_plan *plan, struct arena *arena, struct check_result *ret)
{
	const struct survey *survey = &plan->survey;
	struct checking c = {
		.plan = plan, .arena = arena, .result = ret, .root = (size_t)-1, .root_fd = -1, .dir_fd = -1,
		.removal = { .plan = plan, .arena = arena, .fd = -1 },
	};

	*ret = (struct check_result){ .is_complete = true };
	if (!plan_has_check(plan))
		return 0;
	ret->is_done = true;
	ret->is_tree = policy_number(plan->policy, KEY_CHECK) == CHECK_TREE;
	if (plan->backend == BACKEND_ONLY_LANDLOCK)
		check_git_entry(&c);
	for (size_t i = 0; i < survey->watch_count && !c.error; i++) {
		const struct survey_watch *watch = &survey->watches[i];
		struct stat st;

		if (i == 0 || !is_twice(watch, watch - 1))
			checks[watch->kind](&c, watch, checking_look_up(&c, watch->root, watch->below, &st), &st);
	}
	if (!c.error)
		check_repositories(&c);
	if (!c.error)
		check_tracked(&c);
	if (!c.error && ret->is_tree)
		check_tree(&c, LIMIT_TREE_MS);
	checking_leave(&c);
	fd_close(&c.root_fd);
	removal_close(&c.removal);
	return c.error;
}
