/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The repositories that git on the host enters from the run's own: `git status` at the top runs itself in each
 * submodule that the index names, and carries out there what that repository's configuration says (core.fsmonitor).
 * The command can make a repository in any directory and add it (E033), fill the place of a submodule that nobody has
 * cloned, or make a repository where there was none at all. So after the run the way that git would go is gone once:
 * from the index to each submodule, to its index, and so on. A repository may be new; what it would carry out may not.
 *
 * The index is read even if it has not changed: an earlier run may have added a submodule whose place this one fills.
 * What the survey protects was out of the command's reach and is not judged, but its index is read. All is bounded, and
 * no link is followed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/gitindex.h"
#include "base/limits.h"
#include "base/path.h"
#include "run/checking.h"

enum { HOOK_LIMIT = 1000, MODULE_DEPTH = 16 };

struct repository {
	const char *checkout;
	const char *directory; /* git's own */
	bool is_known;         /* protected as the survey says */
};

/* What is younger than the run is moved away. What is older may be its owner's: */
enum newness {
	IS_OLD,     /* nothing says that the command had a part in it */
	IS_TOUCHED, /* the index that names it was written: it is named */
	IS_NEW,     /* there was no repository: it is moved away as well, the command has put it there */
};

struct visiting {
	struct checking *c;
	struct repository *v; /* those whose index is still to be read come behind `next` */
	size_t n, cap, next, seen;
	enum newness newness; /* of the repository that is visited */
};

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
static int look(struct checking *c, const char *path, struct survey_watch *ret_place, struct stat *ret)
{
	return place(c, path, ret_place) ? checking_look_up(c, ret_place->root, ret_place->below, ret) : -EXDEV;
}

static char *join(struct checking *c, const char *dir, const char *name)
{
	char *path = path_join(c->arena, dir, name);

	if (!path)
		c->error = -ENOMEM;
	return path;
}

static int open_file(struct checking *c, const char *path, struct stat *st)
{
	struct survey_watch at;
	int r = look(c, path, &at, st);

	if (r < 0)
		return r;
	return S_ISREG(st->st_mode) ? fd_open_regular(c->dir_fd, path_name(at.below)) : -EINVAL;
}

static bool is_young(const struct checking *c, const struct stat *st)
{
	static const int64_t second = 1000000000;

	return (int64_t)st->st_ctim.tv_sec * second + st->st_ctim.tv_nsec >= c->plan->survey.taken_ns;
}

static bool is_named(const struct checking *c, const char *path)
{
	for (size_t i = 0; i < c->result->count; i++)
		if (strcmp(c->result->violations[i].path, path) == 0)
			return true;
	return false;
}

static void take(struct visiting *v, const char *path, const char *what)
{
	struct checking *c = v->c;
	struct survey_watch at;
	struct stat st;
	int r = look(c, path, &at, &st);

	if (!what)
		c->error = -ENOMEM;
	else if (is_named(c, path))
		return;
	else if (r == 0 && (v->newness == IS_NEW || is_young(c, &st)))
		checking_remove(c, &at, at.below, what);
	else if (at.below && v->newness != IS_OLD)
		checking_add(c, &at, at.below, what);
	checking_leave(c);
}

static void is_incomplete(struct checking *c, const char *path, const char *why)
{
	c->result->is_complete = false;
	checking_warn(c, "'%s' is not looked at after the run: %s", path, why);
}

static void is_unreadable(struct checking *c, const char *path, int r)
{
	is_incomplete(c, path, r == -EINVAL ? "it is not as git writes it" : strerror(-r));
}

/* ---- what a repository would carry out ---- */

/* No way back from a name, which could be a link. */
static bool is_straight(const char *path)
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
	char *path = value && is_straight(value) ? path_normal(c->arena, repository->directory, value) : NULL;
	int r;

	if (!path)
		return false;
	if (repository->checkout)
		return strcmp(path, repository->checkout) == 0;
	r = look(c, path, &at, &st);
	return checking_is_missing(r) || (r == 0 && S_ISDIR(st.st_mode));
}

static const char *find_harm(struct checking *c, const struct repository *repository, const struct gitconfig *config)
{
	const struct gitconfig_item *item = check_config(config);

	for (size_t i = 0; i < config->n && !item; i++)
		if (config->v[i].key && strcmp(config->v[i].section, "core") == 0 && !config->v[i].subsection &&
		    strcmp(config->v[i].key, "worktree") == 0 && !is_worktree_fit(c, repository, config->v[i].value))
			item = &config->v[i];
	if (!item)
		return NULL;
	return arena_printf(c->arena, "sets %s.%s in a repository that git outside would enter", item->section, item->key);
}

/* One that cannot be read may be read by git all the same. */
static void judge_config(struct visiting *v, const struct repository *repository, const char *path)
{
	struct buf text BUF_CLEANUP = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	struct checking *c = v->c;
	struct gitconfig config;
	const char *harm;
	struct stat st;
	FD_CLEANUP int fd = open_file(c, path, &st);
	int r = fd < 0 ? fd : buf_read_fd(&text, fd);

	if (checking_is_missing(r))
		return;
	if (r >= 0)
		r = gitconfig_parse(c->arena, text.data ? text.data : "", text.len, &config);
	if (r == -ENOMEM) {
		c->error = r;
		return;
	}
	harm = r < 0 ? "cannot be read, in a repository that git outside would enter" :
		       find_harm(c, repository, &config);
	if (harm)
		take(v, path, harm);
}

static void judge_absent(struct visiting *v, const char *path)
{
	struct checking *c = v->c;
	struct survey_watch at;
	struct stat st;

	if (look(c, path, &at, &st) == 0)
		take(v, path, "leads git outside to a configuration of its own");
}

static bool is_sample(const char *name)
{
	size_t length = strlen(name);

	return length > 7 && strcmp(name + length - 7, ".sample") == 0;
}

/* The names of a directory without "." and "..": 0, -E2BIG, -ENOMEM or another -errno. */
static int list(struct checking *c, const char *path, size_t most, struct strv *ret)
{
	struct survey_watch at;
	const struct dirent *entry;
	struct stat st;
	int r = look(c, path, &at, &st), fd;
	DIR *dir;

	if (r < 0)
		return r;
	fd = openat(c->dir_fd, *at.below ? path_name(at.below) : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		r = -errno;
		fd_close(&fd);
		return r;
	}
	while (r == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = ret->n < most ? strv_add(c->arena, ret, entry->d_name) : -E2BIG;
	closedir(dir);
	return r;
}

static void judge_hooks(struct visiting *v, const char *path)
{
	static const char what[] = "is a hook of a repository that git outside would enter";
	struct checking *c = v->c;
	struct strv names = { 0 };
	int r = list(c, path, HOOK_LIMIT, &names);

	if (checking_is_missing(r) && r != -ENOTDIR)
		return;
	if (r < 0) { /* a link, closed, or more than any repository has */
		take(v, path, what);
		return;
	}
	for (size_t i = 0; i < names.n && !c->error; i++) {
		char *hook = is_sample(names.v[i]) ? NULL : join(c, path, names.v[i]);

		if (hook)
			take(v, hook, what);
	}
}

static void judge(struct visiting *v, const struct repository *repository)
{
	static const char *const absent[] = { "commondir", "config.worktree" };
	struct checking *c = v->c;
	char *path = join(c, repository->directory, "config");

	if (path)
		judge_config(v, repository, path);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]) && !c->error; i++) {
		path = join(c, repository->directory, absent[i]);
		if (path)
			judge_absent(v, path);
	}
	path = c->error ? NULL : join(c, repository->directory, "hooks");
	if (path)
		judge_hooks(v, path);
}

/* ---- which repositories ---- */

/* Its configuration is protected, or must stay absent, or all of it is read-only. */
static bool is_known(struct checking *c, const char *directory)
{
	const struct survey *survey = &c->plan->survey;
	char *config = join(c, directory, "config");

	for (size_t i = 0; config && i < survey->protected_count; i++)
		if (path_is_in(config, survey->protected[i].path))
			return true;
	for (size_t i = 0; config && i < survey->watch_count; i++) {
		const struct survey_watch *watch = &survey->watches[i];
		const char *below = path_below(config, survey->watch_roots[watch->root].path);

		if (watch->kind == WATCH_ABSENT && below && strcmp(below, watch->below) == 0)
			return true;
	}
	return false;
}

static void add_repository(struct visiting *v, const char *checkout, const char *directory, bool judge_it)
{
	struct checking *c = v->c;
	struct repository *all = arena_grow(c->arena, v->v, v->n, v->n + 1, sizeof(*all), &v->cap);

	if (!all) {
		c->error = -ENOMEM;
		return;
	}
	v->v = all;
	all[v->n] = (struct repository){ .checkout = checkout, .directory = directory };
	all[v->n].is_known = is_known(c, directory);
	if (judge_it && !all[v->n].is_known)
		judge(v, &all[v->n]);
	v->n++;
}

/* "gitdir: PATH". */
static char *read_pointer(struct checking *c, const char *entry, const char *checkout)
{
	static const char prefix[] = "gitdir: ";
	char text[4096], *path = text + sizeof(prefix) - 1;
	struct stat st;
	FD_CLEANUP int fd = open_file(c, entry, &st);
	ssize_t n = fd < 0 ? fd : fd_read_all(fd, text, sizeof(text) - 1);

	if (n <= (ssize_t)sizeof(prefix) - 1 || n == sizeof(text) - 1 || memchr(text, '\0', (size_t)n) ||
	    memcmp(text, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	text[n] = '\0';
	return is_straight(path) ? path_normal(c->arena, checkout, path) : NULL;
}

/* A `.git` file. Where it leads no run could write, unless it is a place that is not looked at. */
static void follow_pointer(struct visiting *v, const char *entry, const char *checkout, const struct stat *pointer)
{
	struct checking *c = v->c;
	char *directory = read_pointer(c, entry, checkout);
	struct survey_watch at;
	struct stat st;
	int r = directory ? look(c, directory, &at, &st) : -EINVAL;

	if (r == 0 && S_ISDIR(st.st_mode))
		add_repository(v, checkout, directory, true);
	else if (!checking_is_missing(r) && !(r == -EXDEV && v->newness != IS_NEW && !is_young(c, pointer)))
		take(v, entry, "leads git outside to a repository that is not looked at");
}

/* The repository in a directory, if there is one. */
static void visit(struct visiting *v, const char *checkout, enum newness newness)
{
	struct checking *c = v->c;
	char *entry = join(c, checkout, ".git");
	struct survey_watch at;
	struct stat st;
	int r = entry ? look(c, entry, &at, &st) : -ENOENT;

	if (checking_is_missing(r) || r == -EXDEV)
		return;
	v->newness = newness;
	if (r == -ELOOP) { /* one further up ends git's way; older versions follow one in a submodule's place */
		if (look(c, checkout, &at, &st) == 0 && S_ISLNK(st.st_mode))
			take(v, checkout, "became a link in the place of a repository");
	} else if (++v->seen > LIMIT_GIT_REPOSITORIES) {
		if (v->seen == LIMIT_GIT_REPOSITORIES + 1)
			is_incomplete(c, entry, "there are too many repositories");
	} else if (r < 0) {
		is_unreadable(c, entry, r);
	} else if (S_ISLNK(st.st_mode)) {
		take(v, entry, "leads git outside to a repository that is not looked at");
	} else if (S_ISDIR(st.st_mode)) {
		add_repository(v, checkout, entry, true);
	} else {
		follow_pointer(v, entry, checkout, &st);
	}
}

/* ---- modules/NAME, which `git submodule update` outside would take into use as it is ---- */

static void visit_modules(struct visiting *v, const char *path, int depth);

static void visit_module(struct visiting *v, const char *directory, int depth)
{
	struct checking *c = v->c;
	char *head = join(c, directory, "HEAD"), *modules = join(c, directory, "modules");
	struct survey_watch at;
	struct stat st;

	if (c->error || look(c, directory, &at, &st) < 0 || S_ISREG(st.st_mode))
		return;
	v->seen++;
	v->newness = IS_NEW; /* or the survey would know it */
	if (!S_ISDIR(st.st_mode)) {
		take(v, directory, "leads git outside to a repository that is not looked at");
		return;
	}
	if (look(c, head, &at, &st) < 0) {
		visit_modules(v, directory, depth + 1);
		return;
	}
	if (!is_known(c, directory))
		judge(v, &(struct repository){ .directory = directory });
	if (!c->error)
		visit_modules(v, modules, depth + 1);
}

static void visit_modules(struct visiting *v, const char *path, int depth)
{
	struct checking *c = v->c;
	struct strv names = { 0 };
	int r = depth > MODULE_DEPTH ? -E2BIG : list(c, path, LIMIT_GIT_REPOSITORIES, &names);

	if (checking_is_missing(r) || r == -EXDEV)
		return;
	if (r < 0)
		is_unreadable(c, path, r);
	for (size_t i = 0; i < names.n && !c->error && v->seen <= LIMIT_GIT_REPOSITORIES; i++) {
		char *directory = join(c, path, names.v[i]);

		if (directory)
			visit_module(v, directory, depth);
	}
}

/* ---- the index ---- */

static bool is_plain_name(const char *name)
{
	if (!*name || *name == '/')
		return false;
	for (const char *at = name; *at; at += strspn(at, "/")) {
		const size_t n = strcspn(at, "/");

		if ((n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		at += n;
	}
	return true;
}

static int read_index(struct checking *c, const char *path, struct gitindex *ret, bool *ret_young)
{
	struct buf bytes BUF_CLEANUP = BUF_INIT(LIMIT_GIT_INDEX_BYTES);
	struct stat st;
	FD_CLEANUP int fd = open_file(c, path, &st);
	int r = fd < 0 ? fd : buf_read_fd(&bytes, fd);

	if (r < 0)
		return r;
	*ret_young = *ret_young || is_young(c, &st);
	return gitindex_read(c->arena, bytes.data ? bytes.data : "", bytes.len, ret);
}

/* Directories without a list of what is in them: git takes them for empty, unless they exist. */
static void look_at_sparse(struct checking *c, const char *checkout, const struct strv *names)
{
	for (size_t i = 0; i < names->n && !c->error; i++) {
		size_t length = strlen(names->v[i]);
		struct survey_watch at;
		struct stat st;
		char *path;

		while (length && names->v[i][length - 1] == '/')
			names->v[i][--length] = '\0';
		path = is_plain_name(names->v[i]) ? join(c, checkout, names->v[i]) : NULL;
		if (!path || look(c, path, &at, &st) == 0)
			is_incomplete(c, path ? path : names->v[i], "git's index does not list what is in it");
	}
}

static void read_links(struct visiting *v, const struct repository *repository)
{
	struct checking *c = v->c;
	struct gitindex index = { 0 };
	bool is_written = false;
	char *path = join(c, repository->directory, "index");
	int r = path ? read_index(c, path, &index, &is_written) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < index.shared.n && i < 2; i++) {
		path = join(c, repository->directory, index.shared.v[i]);
		r = path ? read_index(c, path, &index, &is_written) : -ENOMEM;
	}
	if (r == -ENOMEM)
		c->error = r;
	else if (r < 0 && r != -ENOENT && r != -EXDEV)
		is_unreadable(c, path, r);
	for (size_t i = 0; i < index.links.n && !c->error; i++) {
		char *checkout = is_plain_name(index.links.v[i]) ?
				 path_normal(c->arena, repository->checkout, index.links.v[i]) : NULL;

		if (checkout)
			visit(v, checkout, is_written ? IS_TOUCHED : IS_OLD);
		else
			is_incomplete(c, path, "it names a directory outside of the checkout");
	}
	look_at_sparse(c, repository->checkout, &index.sparse);
}

/* ---- all ---- */

/* Where git on the host would find a repository first: at the top, or in a directory on the way to where the command
 * was started. */
static void visit_way(struct visiting *v)
{
	const struct survey *survey = &v->c->plan->survey;
	const char *rest = path_below(survey->cwd, survey->worktree), *dir = survey->worktree;

	if (survey->git.kind == REPOSITORY_NONE)
		visit(v, dir, IS_NEW); /* the survey has found none there */
	while (rest && *rest && !v->c->error) {
		size_t length = strcspn(rest, "/");
		char *name = arena_strndup(v->c->arena, rest, length);

		dir = name ? join(v->c, dir, name) : NULL;
		if (!dir) {
			v->c->error = -ENOMEM;
			return;
		}
		rest += length + (rest[length] == '/');
		visit(v, dir, IS_OLD);
	}
}

void check_repositories(struct checking *c)
{
	const struct survey *survey = &c->plan->survey;
	const struct survey_git *git = &survey->git;
	struct visiting v = { .c = c };

	if (policy_number(c->plan->policy, KEY_GIT) == GIT_OPEN)
		return;
	if (git->directory && git->entry) {
		char *top = path_parent(c->arena, git->entry);

		if (top)
			add_repository(&v, top, git->directory, false);
		else
			c->error = -ENOMEM;
	}
	if (!c->error)
		visit_way(&v);
	for (; v.next < v.n && !c->error; v.next++) {
		const struct repository repository = v.v[v.next];
		char *modules = join(c, repository.directory, "modules");

		read_links(&v, &repository);
		/* that of a submodule is below the first one's */
		if (modules && !c->error && (v.next == 0 || strcmp(path_name(repository.directory), ".git") == 0))
			visit_modules(&v, modules, 0);
	}
}
