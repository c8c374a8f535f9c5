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

/* 1 with the type, 0 when nothing is there, or a negative errno. */
static int type_at(struct taking *take, const char *dir, const char *name, const char *path, unsigned char *ret)
{
	struct survey_node node;
	int r;

	if ((take->last && !strcmp(take->last->dir, dir)) || strv_has(&take->listed, dir)) {
		const struct listing *listing = look_listing(take, dir);
		const struct listing_name *found = listing ? look_name(listing, name) : NULL;

		if (!listing)
			return -ENOMEM;
		if (!found && (listing->errnum == 0 || listing->errnum == ENOENT || listing->errnum == ENOTDIR))
			return 0;
		if (found && found->type != DT_UNKNOWN) {
			*ret = found->type;
			return 1;
		}
	}
	r = look_at(path, &node);
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	*ret = type_of_mode(node.mode);
	return 1;
}

/* Steps from `dir` over the link at `link`. 1: *dir moved; 0: dangling or a loop. */
static int pass_link(struct taking *take, const char *link, char **dir, struct found *found)
{
	bool is_missing = false;
	int r;

	if (strv_add(take->arena, &found->links, link) < 0)
		return -ENOMEM;
	r = path_resolve(take->arena, link, dir, &is_missing);
	if (r == -ENOMEM)
		return r;
	return r == 0 && !is_missing;
}

static int find_steps(struct taking *take, char *dir, const char *below, struct found *found)
{
	int r = 0;

	for (;;) {
		size_t length = strcspn(below, "/");
		char *name = arena_strndup(take->arena, below, length);
		char *path = name ? path_join(take->arena, dir, name) : NULL;

		if (!path)
			return -ENOMEM;
		below += length + (below[length] == '/');
		found->path = path;
		found->rest = below;
		r = type_at(take, dir, name, path, &found->type);
		found->exists = r > 0;
		if (r <= 0 || !*below)
			break;
		if (found->type == DT_LNK) {
			r = pass_link(take, path, &dir, found);
			if (r <= 0)
				break;
		} else if (found->type == DT_DIR) {
			dir = path;
		} else {
			return 0;
		}
	}
	/* A link that leads nowhere is itself what is covered: it may lead somewhere during the run. */
	return r < 0 ? r : 1;
}

int find_below(struct taking *take, const char *dir, const char *below, struct found *ret)
{
	char *start = arena_strdup(take->arena, dir);
	int r;

	*ret = (struct found){ 0 };
	r = start ? find_steps(take, start, below, ret) : -ENOMEM;
	if (r == -ENOMEM)
		return err_oom(take->err);
	if (r < 0 && r != -EACCES) {
		r = take_note(take, "'%s' cannot be looked at: %s", ret->path, strerror(-r));
		return r < 0 ? r : 0;
	}
	return r < 0 ? 0 : r;
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
	r = path_resolve(take->arena, parent.path, &resolved, NULL);
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

/* NULL where it leads nowhere that can be followed (a loop): then it leads the command nowhere, too. */
static const char *resolve_once(struct taking *take, enum table_base base, const char *path)
{
	char *resolved;

	if (!take->base[base] && path_resolve(take->arena, path, &resolved, NULL) == 0)
		take->base[base] = resolved;
	return take->base[base];
}

/* Below the default place in each home. */
static int find_in_homes(struct taking *take, const struct table_path *row, const char *below, find_each *each,
			 void *arg)
{
	int r = 0;

	for (size_t i = 0; i < take->survey->home_count && r == 0; i++)
		r = find_matches(take, take->survey->home[i].path, below, row->is_glob, each, arg);
	if (r == 0 && take->survey->who.home && !strcmp(take->survey->who.home, "/"))
		r = find_matches(take, "/", below, row->is_glob, each, arg);
	return r;
}

int find_row(struct taking *take, const struct table_path *row, find_each *each, void *arg)
{
	const char *place = tables_base_default[row->base], *below = row->below;
	const char *xdg = xdg_directory(&take->survey->who, row->base), *home = take->survey->who.home;
	const char *usual = NULL;
	int r = 0;

	while (*below == '/')
		below++;
	if (row->base == TABLE_ROOT)
		return find_matches(take, "/", below, row->is_glob, each, arg);
	if (place) {
		if (*place && *below)
			below = arena_printf(take->arena, "%s/%s", place, below);
		else if (*place)
			below = place;
		usual = home && *place ? path_join(take->arena, home, place) : NULL;
		if (!below || (home && *place && !usual))
			return err_oom(take->err);
		r = find_in_homes(take, row, below, each, arg);
	}
	if (r < 0 || !xdg || (usual && !strcmp(usual, xdg)))
		return r;
	xdg = resolve_once(take, row->base, xdg);
	return xdg ? find_matches(take, xdg, row->below, row->is_glob, each, arg) : 0;
}
