/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the rows of the tables lie on this disk. Most rows name something that is not there; so the few directories
 * that many of them lie in are listed once, and a row whose first component is missing costs no system call.
 *
 * What is missing matters: a name that is hidden although nothing is there stays hidden when the host makes it during
 * the run (E043). Where the parent is missing too, the topmost missing ancestor stands for all that lies below it.
 *
 * Links on the way are followed: `~/.config` may lead into a dotfiles directory (F188), and a cover over the link's own
 * spelling would cover the link instead of what is behind it.
 */
#include "survey/take.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"

static int add_glob(struct taking *take, const char *below)
{
	char *first = arena_strndup(take->arena, below, strcspn(below, "/"));

	if (!first)
		return -ENOMEM;
	if (first[0] == '.' || strv_has(&take->globs, first))
		return 0;
	return strv_add_owned(take->arena, &take->globs, first);
}

static int collect_globs(struct taking *take)
{
	int r = 0;

	for (size_t i = 0; i < tables_hidden_count && r == 0; i++)
		if (tables_hidden[i].path.base == TABLE_HOME)
			r = add_glob(take, tables_hidden[i].path.below);
	for (size_t i = 0; i < tables_toolchain_count && r == 0; i++)
		if (tables_toolchains[i].path.base == TABLE_HOME)
			r = add_glob(take, tables_toolchains[i].path.below);
	for (size_t i = 0; i < tables_cache_count && r == 0; i++)
		if (tables_caches[i].has_default && tables_caches[i].path.base == TABLE_HOME)
			r = add_glob(take, tables_caches[i].path.below);
	for (size_t i = 0; i < tables_protected_count && r == 0; i++)
		r = add_glob(take, tables_protected[i].path);
	return r;
}

int find_begin(struct taking *take)
{
	static const char *const below[] = { ".config", ".local", ".local/share" };
	const struct survey *survey = take->survey;
	const char *const dirs[] = { survey->worktree, survey->who.config_home, survey->who.data_home };
	int r = collect_globs(take);

	take->worktree_length = strlen(survey->worktree);
	for (size_t i = 0; i < survey->home_count; i++)
		take->home_length[i] = strlen(survey->home[i].path);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && r == 0; i++)
		if (dirs[i])
			r = strv_add(take->arena, &take->listed, dirs[i]);
	for (size_t i = 0; i < survey->home_count && r == 0; i++) {
		r = strv_add(take->arena, &take->listed, survey->home[i].path);
		for (size_t k = 0; k < sizeof(below) / sizeof(below[0]) && r == 0; k++)
			r = strv_add_owned(take->arena, &take->listed,
					   path_join(take->arena, survey->home[i].path, below[k]));
	}
	return r < 0 ? err_oom(take->err) : 0;
}

/* ---- one path ---- */

static unsigned char type_of_mode(mode_t mode)
{
	return S_ISLNK(mode) ? DT_LNK : S_ISDIR(mode) ? DT_DIR : DT_REG;
}

static bool is_listed(const struct taking *take, const char *dir)
{
	if (take->last && take->last->asked == dir)
		return true;
	for (size_t i = 0; i < take->listing_count; i++)
		if (take->listings[i].asked == dir)
			return true;
	return (take->last && !strcmp(take->last->dir, dir)) || strv_has(&take->listed, dir);
}

/* 1 with the type, 0 when nothing is there, or a negative errno. */
static int type_at(struct taking *take, const char *dir, const char *name, struct found *found)
{
	int r;

	found->node.mode = 0;
	if (is_listed(take, dir)) {
		struct listing *listing = look_listing(take, dir);
		const struct listing_name *entry = NULL;

		if (!listing || look_name(take, listing, name, &entry) < 0)
			return -ENOMEM;
		if (!entry && (listing->errnum == 0 || listing->errnum == ENOENT || listing->errnum == ENOTDIR))
			return 0;
		if (entry && entry->type != DT_UNKNOWN) {
			found->type = entry->type;
			return 1;
		}
	}
	r = look_at(take, found->path, &found->node);
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	found->type = type_of_mode(found->node.mode);
	return 1;
}

/* Steps from `dir` over the link at `link`. 1: *dir moved; 0: dangling or a loop. */
static int pass_link(struct taking *take, const char *link, const char **dir, struct found *found)
{
	bool is_missing = false;
	char *resolved;
	int r;

	if (strv_add(take->arena, &found->links, link) < 0)
		return -ENOMEM;
	r = look_resolve(take, link, &resolved, &is_missing);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || is_missing)
		return 0;
	*dir = resolved;
	return 1;
}

/* dir/below[0..length), and where its last component begins. */
static const char *join_step(struct taking *take, const char *dir, const char *below, size_t length,
			     const char **ret_name)
{
	size_t dir_length = strcmp(dir, "/") ? strlen(dir) : 0;
	char *path = arena_alloc(take->arena, dir_length + length + 2, 1);

	if (!path)
		return NULL;
	memcpy(path, dir, dir_length);
	path[dir_length] = '/';
	memcpy(path + dir_length + 1, below, length);
	*ret_name = path + dir_length + 1;
	return path;
}

/* One component further; *dir moves to what it leads to. 1: there is more below; 0: here it ends, with found->exists;
 * -ENOTDIR: nothing can be below. */
static int find_step(struct taking *take, const char **dir, const char *below, struct found *found)
{
	const char *name;
	size_t length = 0;
	int r;

	while (below[length] && below[length] != '/')
		length++;
	found->path = join_step(take, *dir, below, length, &name);
	if (!found->path)
		return -ENOMEM;
	found->rest = below + length + (below[length] == '/');
	r = type_at(take, *dir, name, found);
	found->exists = r > 0;
	if (r <= 0 || !*found->rest)
		return r < 0 ? r : 0;
	/* A link that leads nowhere is itself what is covered: it may lead somewhere during the run. */
	if (found->type == DT_LNK)
		return pass_link(take, found->path, dir, found);
	*dir = found->path;
	return found->type == DT_DIR ? 1 : -ENOTDIR;
}

/* From what *found holds already. 1, 0 or a negative errno, as find_below. */
static int find_steps(struct taking *take, const char *dir, const char *below, struct found *found)
{
	int r = find_step(take, &dir, below, found);

	while (r > 0)
		r = find_step(take, &dir, found->rest, found);
	if (r == -ENOMEM)
		return err_oom(take->err);
	if (r == 0)
		return 1;
	if (r == -EACCES || r == -ENOTDIR)
		return 0;
	return take_note(take, "'%s' cannot be looked at: %s", found->path, strerror(-r));
}

int find_below(struct taking *take, const char *dir, const char *below, struct found *ret)
{
	*ret = (struct found){ 0 };
	return find_steps(take, dir, below, ret);
}

/* ---- wildcards ---- */

static int each_match(struct taking *take, const char *dir, const char *glob, find_each *each, void *arg)
{
	const struct listing *listing = look_listing(take, dir);
	int r = 0;

	if (!listing)
		return err_oom(take->err);
	for (size_t i = 0; i < listing->count && r == 0; i++) {
		const struct listing_name *name = &listing->names[i];
		struct found found = { .rest = "", .exists = true, .type = name->type };

		if (!pattern_glob(glob, name->name))
			continue;
		found.path = path_join(take->arena, dir, name->name);
		r = found.path ? each(take, arg, &found) : err_oom(take->err);
	}
	return r < 0 ? r : 0;
}

static int find_glob(struct taking *take, const char *dir, const char *below, find_each *each, void *arg)
{
	const char *glob = strrchr(below, '/');
	struct found parent;
	char *resolved, *before;
	int r;

	if (!glob)
		return each_match(take, dir, below, each, arg);
	before = arena_strndup(take->arena, below, (size_t)(glob - below));
	if (!before)
		return err_oom(take->err);
	r = find_below(take, dir, before, &parent);
	if (r <= 0 || !parent.exists || *parent.rest)
		return r < 0 ? r : 0;
	if (parent.type != DT_LNK)
		return parent.type == DT_DIR ? each_match(take, parent.path, glob + 1, each, arg) : 0;
	r = look_resolve(take, parent.path, &resolved, NULL);
	if (r == -ENOMEM)
		return err_oom(take->err);
	return r < 0 ? 0 : each_match(take, resolved, glob + 1, each, arg);
}

int find_matches(struct taking *take, const char *dir, const char *below, bool is_glob, find_each *each, void *arg)
{
	struct found found;
	int r;

	if (is_glob)
		return find_glob(take, dir, below, each, arg);
	r = find_below(take, dir, below, &found);
	return r <= 0 ? r : each(take, arg, &found);
}

/* ---- rows ---- */

static const char *xdg_directory(const struct identity *who, enum table_base base)
{
	switch (base) {
	case TABLE_CONFIG:
		return who->config_home;
	case TABLE_DATA:
		return who->data_home;
	case TABLE_STATE:
		return who->state_home;
	case TABLE_CACHE:
		return who->cache_home;
	case TABLE_RUNTIME:
		return who->runtime_dir;
	default:
		return NULL;
	}
}

/* The usual place of a base in one home: looked for once, since many rows begin there. */
struct usual {
	int r;            /* what find_below said about it */
	const char *dir;  /* where it leads, if to a directory */
	struct found found;
};

/* The homes whose rows are looked for: "/" stands for one that cannot be covered. */
static size_t row_homes(const struct taking *take, const char *ret[3])
{
	size_t n = 0;

	for (; n < take->survey->home_count; n++)
		ret[n] = take->survey->home[n].path;
	if (take->survey->who.home && !strcmp(take->survey->who.home, "/"))
		ret[n++] = "/";
	return n;
}

static int find_usual(struct taking *take, const char *home, const char *place, struct usual *ret)
{
	struct found *found = &ret->found;
	int r;

	ret->r = find_below(take, home, place, found);
	if (ret->r <= 0 || !found->exists || *found->rest)
		return ret->r < 0 ? ret->r : 0;
	if (found->type == DT_DIR)
		ret->dir = found->path;
	else if (found->type != DT_LNK)
		ret->r = 0;
	else if ((r = pass_link(take, found->path, &ret->dir, found)) < 0)
		return err_oom(take->err);
	return 0;
}

/* Where the XDG variable leads, if not to the usual place. NULL, too, where it leads nowhere that can be followed (a
 * loop): then it leads the command nowhere. */
static int find_elsewhere(struct taking *take, enum table_base base, const char *place, const char **ret)
{
	const char *xdg = xdg_directory(&take->survey->who, base), *home = take->survey->who.home;
	char *usual = xdg && home && place && *place ? path_join(take->arena, home, place) : NULL, *resolved;
	int r;

	if (xdg && home && place && *place && !usual)
		return -ENOMEM;
	if (!xdg || (usual && !strcmp(usual, xdg)))
		return 0;
	r = look_resolve(take, xdg, &resolved, NULL);
	if (r == 0)
		*ret = resolved;
	return r == -ENOMEM ? r : 0;
}

static int open_base(struct taking *take, enum table_base base)
{
	const char *place = tables_base_default[base], *homes[3];
	struct base *known = &take->base[base];
	size_t n = row_homes(take, homes);
	int r = 0;

	if (known->is_known)
		return 0;
	known->is_known = true;
	known->usual = ARENA_ARRAY(take->arena, struct usual, n);
	if (!known->usual || find_elsewhere(take, base, place, &known->elsewhere) < 0)
		return err_oom(take->err);
	for (size_t i = 0; i < n && place && *place && r == 0; i++)
		r = find_usual(take, homes[i], place, &known->usual[i]);
	return r;
}

/* A row below a base's usual place. */
static int find_from(struct taking *take, const struct usual *usual, const struct table_path *row, find_each *each,
		     void *arg)
{
	struct found found = usual->found;
	int r = usual->r;

	if (r <= 0)
		return 0;
	if (row->is_glob)
		return usual->dir ? find_glob(take, usual->dir, row->below, each, arg) : 0;
	if (usual->dir)
		r = find_steps(take, usual->dir, row->below, &found);
	else
		found.rest = row->below;
	return r <= 0 ? r : each(take, arg, &found);
}

static int find_in_homes(struct taking *take, const struct table_path *row, const char *place, find_each *each,
			 void *arg)
{
	const char *homes[3];
	size_t n = row_homes(take, homes);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		if (!*place)
			r = find_matches(take, homes[i], row->below, row->is_glob, each, arg);
		else if (!*row->below)
			r = find_matches(take, homes[i], place, false, each, arg);
		else
			r = find_from(take, &take->base[row->base].usual[i], row, each, arg);
	}
	return r;
}

int find_row(struct taking *take, const struct table_path *row, find_each *each, void *arg)
{
	const char *place = tables_base_default[row->base], *elsewhere;
	int r;

	if (row->base == TABLE_ROOT)
		return find_matches(take, "/", row->below + strspn(row->below, "/"), row->is_glob, each, arg);
	r = open_base(take, row->base);
	if (r == 0 && place)
		r = find_in_homes(take, row, place, each, arg);
	elsewhere = take->base[row->base].elsewhere;
	return r == 0 && elsewhere ? find_matches(take, elsewhere, row->below, row->is_glob, each, arg) : r;
}
