/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git would carry out in one repository: its configuration, its hooks, and what leads git to others of these. Who
 * gets here, check_repositories.c decides.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "run/visiting.h"

enum { HOOK_LIMIT = 1000 };

/* ---- places: a path, as a root of the survey's and what is below it ---- */

static bool place(struct checking *c, const char *path, struct survey_watch *ret)
{
	const struct survey *survey = &c->plan->survey;

	*ret = (struct survey_watch){ 0 };
	for (size_t i = 0; i < survey->watch_root_count; i++) {
		const char *below = path_below(path, survey->watch_roots[i].path);

		if (below && (!ret->below || strlen(below) < strlen(ret->below))) {
			ret->root = i;
			ret->below = below;
		}
	}
	return ret->below != NULL;
}

/* -EXDEV: nothing that the command can write to. */
int visit_look(struct checking *c, const char *path, struct survey_watch *ret_place, struct stat *ret)
{
	return place(c, path, ret_place) ? checking_look_up(c, ret_place->root, ret_place->below, ret) : -EXDEV;
}

char *visit_join(struct checking *c, const char *dir, const char *name)
{
	char *path = path_join(c->arena, dir, name);

	if (!path)
		c->error = -ENOMEM;
	return path;
}

int visit_open(struct checking *c, const char *path, struct stat *st)
{
	struct survey_watch at;
	int r = visit_look(c, path, &at, st);

	if (r < 0)
		return r;
	return S_ISREG(st->st_mode) ? fd_open_regular(c->dir_fd, path_name(at.below)) : -EINVAL;
}

bool visit_is_young(const struct checking *c, const struct stat *st)
{
	static const int64_t second = 1000000000;

	return (int64_t)st->st_ctim.tv_sec * second + st->st_ctim.tv_nsec >= c->plan->survey.taken_ns;
}

bool visit_is_named(const struct checking *c, const char *path)
{
	for (size_t i = 0; i < c->result->count; i++)
		if (strcmp(c->result->violations[i].path, path) == 0)
			return true;
	return false;
}

void visit_take(struct visiting *v, const char *path, const char *what)
{
	struct checking *c = v->c;
	struct survey_watch at;
	struct stat st;
	int r = visit_look(c, path, &at, &st);

	if (!what)
		c->error = -ENOMEM;
	else if (visit_is_named(c, path))
		return;
	else if (r == 0 && v->is_only_named)
		checking_add(c, &at, at.below, what);
	else if (r == 0 && (v->newness == IS_NEW || visit_is_young(c, &st)))
		checking_remove(c, &at, at.below, what);
	else if (at.below && v->newness != IS_OLD)
		checking_add(c, &at, at.below, what);
	checking_leave(c);
}

void visit_is_incomplete(struct checking *c, const char *path, const char *why)
{
	c->result->is_complete = false;
	checking_warn(c, "'%s' is not looked at after the run: %s", path, why);
}

void visit_is_unreadable(struct checking *c, const char *path, int r)
{
	visit_is_incomplete(c, path, r == -EINVAL ? "it is not as git writes it" : strerror(-r));
}

/* ---- what a repository would carry out ---- */

/* No way back from a name, which could be a link. */
bool visit_is_straight(const char *path)
{
	size_t length;

	while (strncmp(path, "../", 3) == 0)
		path += 3;
	length = strlen(path);
	return !strstr(path, "/../") && (length < 3 || strcmp(path + length - 3, "/..") != 0);
}

/* A submodule's configuration names the checkout. Elsewhere, or through a link, git would overwrite other files. */
static bool is_worktree_fit(struct checking *c, const struct repository *repository, const char *value)
{
	struct survey_watch at;
	struct stat st;
	char *path = value && visit_is_straight(value) ? path_normal(c->arena, repository->directory, value) : NULL;
	int r;

	if (!path)
		return false;
	if (repository->checkout)
		return strcmp(path, repository->checkout) == 0;
	r = visit_look(c, path, &at, &st);
	return checking_is_missing(r) || (r == 0 && S_ISDIR(st.st_mode));
}

static const char *that(const struct visiting *v)
{
	return v->is_only_named ? "was made during the run" : "git outside would enter";
}

static const char *find_harm(const struct visiting *v, const struct repository *repository,
			     const struct gitconfig *config)
{
	struct checking *c = v->c;
	const struct gitconfig_item *item = check_config(config);

	for (size_t i = 0; i < config->n && !item; i++)
		if (config->v[i].key && strcmp(config->v[i].section, "core") == 0 && !config->v[i].subsection &&
		    strcmp(config->v[i].key, "worktree") == 0 && !is_worktree_fit(c, repository, config->v[i].value))
			item = &config->v[i];
	if (!item)
		return NULL;
	return arena_printf(c->arena, "sets %s.%s in a repository that %s", item->section, item->key, that(v));
}

/* One that cannot be read may be read by git all the same. */
static void judge_config(struct visiting *v, const struct repository *repository, const char *path)
{
	struct buf text BUF_CLEANUP = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	struct checking *c = v->c;
	struct gitconfig config;
	const char *harm;
	struct stat st;
	FD_CLEANUP int fd = visit_open(c, path, &st);
	int r = fd < 0 ? fd : buf_read_fd(&text, fd);

	if (checking_is_missing(r))
		return;
	if (r >= 0)
		r = gitconfig_parse(c->arena, text.data ? text.data : "", text.len, &config);
	if (r == -ENOMEM) {
		c->error = r;
		return;
	}
	harm = r < 0 ? arena_printf(c->arena, "cannot be read, in a repository that %s", that(v)) :
		       find_harm(v, repository, &config);
	if (harm)
		visit_take(v, path, harm);
}

static void judge_absent(struct visiting *v, const char *path)
{
	struct checking *c = v->c;
	struct survey_watch at;
	struct stat st;

	if (visit_look(c, path, &at, &st) == 0)
		visit_take(v, path, "leads git outside to a configuration of its own");
}

static bool is_sample(const char *name)
{
	size_t length = strlen(name);

	return length > 7 && strcmp(name + length - 7, ".sample") == 0;
}

/* A directory that the command has closed hides what is in it until somebody opens it again: we do, and it stays so. */
static int open_to_list(int dir_fd, const char *name)
{
	const int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	FD_CLEANUP int closed = -1;
	mode_t mode;

	if (fd >= 0 || errno != EACCES)
		return fd;
	closed = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (closed < 0 || !directory_open_up(closed, &mode)) {
		errno = EACCES;
		return -1;
	}
	return openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

DIR *visit_open_directory(struct checking *c, const char *path, struct stat *ret)
{
	struct survey_watch at;
	int r = visit_look(c, path, &at, ret), fd;
	DIR *dir;

	if (r < 0) {
		errno = -r;
		return NULL;
	}
	fd = open_to_list(c->dir_fd, *at.below ? path_name(at.below) : ".");
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		fd_close(&fd);
	return dir;
}

/* The names of a directory without "." and "..": 0, -E2BIG, -ENOMEM or another -errno. */
int visit_list(struct checking *c, const char *path, size_t most, struct strv *ret)
{
	const struct dirent *entry;
	struct stat st;
	DIR *dir = visit_open_directory(c, path, &st);
	int r = dir ? 0 : -errno;

	while (r == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = ret->n < most ? strv_add(c->arena, ret, entry->d_name) : -E2BIG;
	if (dir)
		closedir(dir);
	return r;
}

static void judge_hooks(struct visiting *v, const char *path)
{
	struct checking *c = v->c;
	const char *what = arena_printf(c->arena, "is a hook of a repository that %s", that(v));
	struct strv names = { 0 };
	int r = visit_list(c, path, HOOK_LIMIT, &names);

	if (checking_is_missing(r) && r != -ENOTDIR)
		return;
	if (r < 0) { /* a link, closed, or more than any repository has */
		visit_take(v, path, what);
		return;
	}
	for (size_t i = 0; i < names.n && !c->error; i++) {
		char *hook = is_sample(names.v[i]) ? NULL : visit_join(c, path, names.v[i]);

		if (hook)
			visit_take(v, hook, what);
	}
}

void visit_judge(struct visiting *v, const struct repository *repository)
{
	static const char *const absent[] = { "commondir", "config.worktree" };
	struct checking *c = v->c;
	char *path = visit_join(c, repository->directory, "config");

	if (path)
		judge_config(v, repository, path);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]) && !c->error; i++) {
		path = visit_join(c, repository->directory, absent[i]);
		if (path)
			judge_absent(v, path);
	}
	path = c->error ? NULL : visit_join(c, repository->directory, "hooks");
	if (path)
		judge_hooks(v, path);
}
