/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The repositories that git on the host enters from the run's own: `git status` at the top runs itself in each
 * submodule that the index names, and carries out there what that repository's configuration says (core.fsmonitor).
 * The command can make a repository in any directory and add it (E033), fill the place of a submodule that nobody has
 * cloned, or make a repository where there was none at all. So after the run the way that git would go is gone once:
 * from the index to each submodule, to its index, and so on. A repository may be new; what it would carry out may not.
 *
 * The index is read even if it has not changed: an earlier run may have added a submodule whose place this one fills.
 * Only a large one is not: the cost of a run must not grow with the tree. What the survey protects was out of the
 * command's reach and is not judged, but its index is read. All is bounded, and no link is followed.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/gitindex.h"
#include "base/limits.h"
#include "base/path.h"
#include "run/visiting.h"

enum { MODULE_DEPTH = 16 };

/* ---- which repositories ---- */

/* Its configuration is protected, or must stay absent, or all of it is read-only. */
static bool is_known(struct checking *c, const char *directory)
{
	const struct survey *survey = &c->plan->survey;
	char *config = visit_join(c, directory, "config");

	for (size_t i = 0; config && i < survey->protected_count; i++)
		if (path_is_in(config, survey->protected[i].path))
			return true;
	return config && checking_is_watched(c, WATCH_ABSENT, config);
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
	all[v->n] = (struct repository){ .checkout = checkout, .directory = directory, .newness = v->newness };
	all[v->n].is_known = is_known(c, directory);
	if (judge_it && !all[v->n].is_known)
		visit_judge(v, &all[v->n]);
	v->n++;
	if (!c->error)
		visit_links(v, directory);
}

/* "gitdir: PATH". */
static char *read_pointer(struct checking *c, const char *entry, const char *checkout)
{
	static const char prefix[] = "gitdir: ";
	char text[4096], *path = text + sizeof(prefix) - 1;
	struct stat st;
	FD_CLEANUP int fd = visit_open(c, entry, &st);
	ssize_t n = fd < 0 ? fd : fd_read_all(fd, text, sizeof(text) - 1);

	if (n <= (ssize_t)sizeof(prefix) - 1 || n == sizeof(text) - 1 || memchr(text, '\0', (size_t)n) ||
	    memcmp(text, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	text[n] = '\0';
	return visit_is_straight(path) ? path_normal(c->arena, checkout, path) : NULL;
}

/* A `.git` file. Where it leads no run could write, unless it is a place that is not looked at. */
static void follow_pointer(struct visiting *v, const char *entry, const char *checkout, const struct stat *pointer)
{
	struct checking *c = v->c;
	char *directory = read_pointer(c, entry, checkout);
	struct survey_watch at;
	struct stat st;
	int r = directory ? visit_look(c, directory, &at, &st) : -EINVAL;

	if (r == 0 && S_ISDIR(st.st_mode))
		add_repository(v, checkout, directory, true);
	else if (!checking_is_missing(r) && !(r == -EXDEV && v->newness != IS_NEW && !visit_is_young(c, pointer)))
		visit_take(v, entry, "leads git outside to a repository that is not looked at");
}

/* The repository in a directory, if there is one. */
static void visit(struct visiting *v, const char *checkout, enum newness newness)
{
	struct checking *c = v->c;
	char *entry = visit_join(c, checkout, ".git");
	struct survey_watch at;
	struct stat st;
	int r = entry ? visit_look(c, entry, &at, &st) : -ENOENT;

	if (checking_is_missing(r) || r == -EXDEV)
		return;
	v->newness = newness;
	if (r == -ELOOP) { /* one further up ends git's way; older versions follow one in a submodule's place */
		if (visit_look(c, checkout, &at, &st) == 0 && S_ISLNK(st.st_mode))
			visit_take(v, checkout, "became a link in the place of a repository");
	} else if (++v->seen > LIMIT_GIT_REPOSITORIES) {
		if (v->seen == LIMIT_GIT_REPOSITORIES + 1)
			visit_is_incomplete(c, entry, "there are too many repositories");
	} else if (r < 0) {
		visit_is_unreadable(c, entry, r);
	} else if (S_ISLNK(st.st_mode)) {
		visit_take(v, entry, "leads git outside to a repository that is not looked at");
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
	char *head = visit_join(c, directory, "HEAD"), *modules = visit_join(c, directory, "modules");
	struct survey_watch at;
	struct stat st;

	if (c->error || visit_look(c, directory, &at, &st) < 0 || S_ISREG(st.st_mode))
		return;
	v->seen++;
	v->newness = IS_NEW; /* or the survey would know it */
	if (!S_ISDIR(st.st_mode)) {
		visit_take(v, directory, "leads git outside to a repository that is not looked at");
		return;
	}
	if (visit_look(c, head, &at, &st) < 0) {
		visit_modules(v, directory, depth + 1);
		return;
	}
	if (!is_known(c, directory))
		visit_judge(v, &(struct repository){ .directory = directory });
	if (!c->error)
		visit_links(v, directory);
	if (!c->error)
		visit_modules(v, modules, depth + 1);
}

static void visit_modules(struct visiting *v, const char *path, int depth)
{
	struct checking *c = v->c;
	struct strv names = { 0 };
	int r = depth > MODULE_DEPTH ? -E2BIG : visit_list(c, path, LIMIT_GIT_REPOSITORIES, &names);

	if (checking_is_missing(r) || r == -EXDEV)
		return;
	if (r < 0)
		visit_is_unreadable(c, path, r);
	for (size_t i = 0; i < names.n && !c->error && v->seen <= LIMIT_GIT_REPOSITORIES; i++) {
		char *directory = visit_join(c, path, names.v[i]);

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
	FD_CLEANUP int fd = visit_open(c, path, &st);
	int r;

	if (fd >= 0 && st.st_size > LIMIT_GIT_INDEX_STILL && !visit_is_young(c, &st)) {
		checking_warn(c, "'%s' is large and has not changed: the submodules in it are not looked at", path);
		return -ENOENT;
	}
	r = fd < 0 ? fd : buf_read_fd(&bytes, fd);
	if (r < 0)
		return r;
	*ret_young = *ret_young || visit_is_young(c, &st);
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
		path = is_plain_name(names->v[i]) ? visit_join(c, checkout, names->v[i]) : NULL;
		if (!path || visit_look(c, path, &at, &st) == 0)
			visit_is_incomplete(c, path ? path : names->v[i], "git's index does not list what is in it");
	}
}

/* `git checkout .` outside would write what it names: a hook, or a file beside the checkout (E030). */
static void take_index(struct visiting *v, const struct repository *repository)
{
	char *path = visit_join(v->c, repository->directory, "index");

	v->newness = repository->newness;
	if (path)
		visit_take(v, path, "names files in git's own directory or outside of the checkout");
}

static void read_links(struct visiting *v, const struct repository *repository)
{
	struct checking *c = v->c;
	struct gitindex index = { 0 };
	bool is_written = false;
	char *path = visit_join(c, repository->directory, "index");
	int r = path ? read_index(c, path, &index, &is_written) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < index.shared.n && i < 2; i++) {
		path = visit_join(c, repository->directory, index.shared.v[i]);
		r = path ? read_index(c, path, &index, &is_written) : -ENOMEM;
	}
	if (r == -ENOMEM)
		c->error = r;
	else if (r < 0 && !checking_is_missing(r) && r != -EXDEV)
		visit_is_unreadable(c, path, r);
	if (index.foreign && !c->error)
		take_index(v, repository);
	for (size_t i = 0; i < index.links.n && !c->error; i++) {
		char *checkout = is_plain_name(index.links.v[i]) ?
				 path_normal(c->arena, repository->checkout, index.links.v[i]) : NULL;

		if (checkout)
			visit(v, checkout, is_written ? IS_TOUCHED : IS_OLD);
		else
			visit_is_incomplete(c, path, "it names a directory outside of the checkout");
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

		dir = name ? visit_join(v->c, dir, name) : NULL;
		if (!dir) {
			v->c->error = -ENOMEM;
			return;
		}
		rest += length + (rest[length] == '/');
		visit(v, dir, IS_OLD);
	}
}

/* A link that led to no directory at the start: what is made where it leads is one of the names that must be free. */
static bool leads_nowhere(const struct survey_git *git)
{
	return S_ISLNK(git->node.mode) && strcmp(git->directory, git->entry) == 0;
}

void check_repositories(struct checking *c)
{
	const struct survey *survey = &c->plan->survey;
	const struct survey_git *git = &survey->git;
	struct visiting v = { .c = c };

	if (policy_number(c->plan->policy, KEY_GIT) == GIT_OPEN)
		return;
	if (git->directory && git->entry && !leads_nowhere(git)) {
		char *top = path_parent(c->arena, git->entry);

		if (top)
			add_repository(&v, top, git->directory, false);
		else
			c->error = -ENOMEM;
	}
	if (!c->error && git->common && git->directory && strcmp(git->common, git->directory) != 0)
		visit_links(&v, git->common);
	if (!c->error)
		visit_way(&v);
	for (; v.next < v.n && !c->error; v.next++) {
		const struct repository repository = v.v[v.next];
		char *modules = visit_join(c, repository.directory, "modules");

		read_links(&v, &repository);
		/* that of a submodule is below the first one's */
		if (modules && !c->error && (v.next == 0 || strcmp(path_name(repository.directory), ".git") == 0))
			visit_modules(&v, modules, 0);
	}
}
