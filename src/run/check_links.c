/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links in git's directories. git follows them: what a commit appends to logs/HEAD and writes to COMMIT_EDITMSG, a
 * fetch to FETCH_HEAD and a collection to packed-refs goes to where such a link leads, with names of branches in it
 * that the command has chosen; and `git worktree prune`, with which every collection begins, empties the directory
 * that a link in worktrees leads to. So no link of the command's may stay at a place that git writes to (E018).
 *
 * Git itself makes none but symbolic refs (core.preferSymlinkRefs). Tools do (`repo`, git-new-workdir), before the run:
 * what is old stays, and is named only where the directory that holds it has changed, since it may have been moved in.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gittext.h"
#include "base/limits.h"
#include "base/path.h"
#include "run/visiting.h"

enum { DEPTH = 64 }; /* names of branches have slashes */

/* Where git writes in its directory, beside the top itself. What is named after the content of an object is left out:
 * that name is no choice of the command's, and there are many. modules has repositories of its own. */
static const struct {
	const char *path;
	int depth; /* of the directories in it that are looked into */
} places[] = {
	{ "info", 0 },
	{ "logs", DEPTH },
	{ "objects", 0 },
	{ "objects/info", 1 },
	{ "objects/pack", 0 },
	{ "rebase-apply", 1 },
	{ "rebase-merge", 1 },
	{ "refs", DEPTH },
	{ "rr-cache", 1 },
	{ "sequencer", 1 },
	{ "worktrees", DEPTH },
};

struct searching {
	struct visiting *v;
	const char *top; /* git's directory */
	size_t seen;
};

static mode_t type_of(const struct dirent *entry, int dir)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return DTTOIF(entry->d_type);
	return fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : st.st_mode & S_IFMT;
}

/* The links and the directories in one directory: 0 or -errno. */
static int list(struct searching *s, const char *path, struct stat *ret, struct strv *links, struct strv *directories)
{
	struct checking *c = s->v->c;
	DIR *dir = visit_open_directory(c, path, ret);
	const struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	while (r == 0 && (entry = readdir(dir))) {
		const mode_t type = type_of(entry, dirfd(dir));

		if (++s->seen > LIMIT_GIT_NAMES)
			r = -E2BIG;
		else if (type == S_IFLNK)
			r = links->n < LIMIT_GIT_LINKS ? strv_add(c->arena, links, entry->d_name) : -E2BIG;
		else if (type == S_IFDIR && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = strv_add(c->arena, directories, entry->d_name);
	}
	closedir(dir);
	return r;
}

/* HEAD and refs may be links to a ref: git reads them itself. HEAD that leads elsewhere is none, and git stops. */
static bool is_symbolic_ref(struct searching *s, const char *path)
{
	const char *below = path_below(path, s->top);
	struct survey_watch at;
	char text[4096];
	struct stat st;
	ssize_t n;

	if (strcmp(below, "HEAD") == 0)
		return true;
	if (strncmp(below, "refs/", 5) != 0 || visit_look(s->v->c, path, &at, &st) < 0)
		return false;
	n = readlinkat(s->v->c->dir_fd, path_name(at.below), text, sizeof(text));
	return n > 0 && gittext_is_ref(text, (size_t)n);
}

static void judge(struct searching *s, const char *path, bool is_touched)
{
	struct visiting *v = s->v;
	const enum newness newness = v->newness;

	if (is_symbolic_ref(s, path))
		return;
	if (is_touched && newness == IS_OLD)
		v->newness = IS_TOUCHED;
	visit_take(v, path, "is a link, through which git outside would write or remove something");
	v->newness = newness;
}

/* More than in any repository, so that a link may hide among them: the owner has to know. */
static void is_too_much(struct searching *s, const char *path)
{
	struct checking *c = s->v->c;
	struct survey_watch at;
	struct stat st;

	c->result->is_complete = false;
	if (visit_look(c, path, &at, &st) == 0)
		checking_add(c, &at, at.below, "has too many names or links to be looked through");
	checking_leave(c);
}

/* is_touched: a directory on the way has changed. The top always does. */
static void search(struct searching *s, const char *path, int depth, bool is_touched)
{
	struct checking *c = s->v->c;
	struct strv links = { 0 }, directories = { 0 };
	struct stat st;
	int r = checking_is_held(c, path) ? -EXDEV : list(s, path, &st, &links, &directories);

	if (r == -ENOMEM)
		c->error = r;
	else if (r == -E2BIG)
		is_too_much(s, path);
	else if (r < 0 && !checking_is_missing(r) && r != -EXDEV && r != -ELOOP)
		visit_is_unreadable(c, path, r);
	if (r < 0 && r != -E2BIG) /* then what was found so far is judged */
		return;
	is_touched = is_touched || (path != s->top && visit_is_young(c, &st));
	for (size_t i = 0; i < links.n && !c->error; i++) {
		char *link = visit_join(c, path, links.v[i]);

		if (link)
			judge(s, link, is_touched);
	}
	for (size_t i = 0; i < directories.n && depth && s->seen <= LIMIT_GIT_NAMES && !c->error; i++) {
		char *directory = visit_join(c, path, directories.v[i]);

		if (directory)
			search(s, directory, depth - 1, is_touched);
	}
}

void visit_links(struct visiting *v, const char *directory)
{
	struct searching s = { .v = v, .top = directory };

	if (strv_has(&v->searched, directory))
		return;
	if (strv_add(v->c->arena, &v->searched, directory) < 0) {
		v->c->error = -ENOMEM;
		return;
	}
	search(&s, directory, 0, false);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && s.seen <= LIMIT_GIT_NAMES && !v->c->error; i++) {
		char *path = visit_join(v->c, directory, places[i].path);

		if (path)
			search(&s, path, places[i].depth, false);
	}
}
