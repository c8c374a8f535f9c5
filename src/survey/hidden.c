/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is hidden: the built-in list and where the user's variables and links lead to.
 *
 * Three places, three ways to hide. In a home a name is hidden whether it exists or not, since the cover goes by name
 * (E043, E044). In the worktree and elsewhere a mask needs something to lie on: only what exists gets an entry. What
 * lies on a mount of its own below the home counts as elsewhere: that mount is bound over the home's cover.
 *
 * An entry that is a link is hidden at both ends (F188): the link, since it may be turned round during the run, and
 * what it leads to, since that has a name of its own.
 */
#include "survey/take.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"

/* ---- one entry ---- */

static bool is_on_own_mount(const struct survey_home *home, const char *path)
{
	for (size_t i = 0; i < home->mounts.n; i++)
		if (path_is_below(path, home->mounts.v[i]))
			return true;
	return false;
}

static enum hidden_place place_of(const struct taking *take, const char *path, int *ret_home)
{
	const struct survey *survey = take->survey;
	size_t length = strlen(path), deepest = 0;

	*ret_home = 0;
	if (path_is_in_n(path, length, survey->worktree, take->worktree_length))
		return PLACE_WORKTREE;
	for (size_t i = 0; i < survey->home_count; i++)
		if (take->home_length[i] > deepest && length > take->home_length[i] &&
		    path_is_in_n(path, length, survey->home[i].path, take->home_length[i])) {
			*ret_home = (int)i;
			deepest = take->home_length[i];
		}
	if (deepest && !is_on_own_mount(&survey->home[*ret_home], path))
		return PLACE_HOME;
	*ret_home = 0;
	return PLACE_ELSEWHERE;
}

/* A path that the run needs cannot be where a link's hiding leads to: `~/.aws -> ~` must not take the home away. */
static bool holds_needed(const struct survey *survey, const char *path)
{
	if (path_is_in(survey->worktree, path) || path_is_in(survey->cwd, path))
		return true;
	for (size_t i = 0; i < survey->home_count; i++)
		if (path_is_in(survey->home[i].path, path))
			return true;
	return false;
}

/* Host uid 0 may run the command under another id, which reads more or less than the caller: all that exists counts. */
static bool is_readable(struct taking *take, const char *path, bool is_directory)
{
	if (take->survey->who.uid == 0 || access(path, R_OK) == 0)
		return true;
	/* A directory that can be passed through gives away what has a known name. */
	if (errno == EACCES && is_directory && access(path, X_OK) == 0)
		return true;
	look_failed(take, path, errno);
	return false;
}

/* The copy of a settings file; NULL where there is none (too large, no regular file, not to be cut safely). */
static int cut_copy(struct taking *take, const char *path, const char *name, const char **ret)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_CUT_BYTES);
	FD_CLEANUP int fd = fd_open_regular(-1, path);
	int r;

	*ret = NULL;
	if (fd < 0)
		return 0;
	r = buf_read_fd(&text, fd);
	if (r < 0)
		return r == -ENOMEM ? err_oom(take->err) : 0;
	r = cut_settings(take->arena, name, text.data ? text.data : "", text.len, ret);
	if (r <= 0)
		*ret = NULL;
	return r == -ENOMEM ? err_oom(take->err) : 0;
}

static enum hidden_kind kind_of(const struct survey_node *node)
{
	if (node->mode == 0)
		return HIDDEN_ABSENT;
	if (S_ISLNK(node->mode))
		return HIDDEN_LINK;
	return S_ISDIR(node->mode) ? HIDDEN_DIRECTORY : HIDDEN_FILE;
}

static struct survey_hidden *append(struct taking *take, const struct hidden_entry *entry)
{
	struct survey *survey = take->survey;
	struct survey_hidden *hidden;

	hidden = take_grow(take, survey->hidden, &survey->hidden_count, &survey->hidden_cap, sizeof(*hidden));
	if (!hidden)
		return NULL;
	survey->hidden = hidden - (survey->hidden_count - 1);
	hidden->path = entry->path;
	hidden->rule = entry->rule;
	hidden->source = entry->source;
	return hidden;
}

/* 1: add it, 0: leave it out. */
static int is_worth(struct taking *take, const struct hidden_entry *entry, enum hidden_place place, int found,
		    const struct survey_node *node)
{
	if (found == -ENOENT || found == -ENOTDIR)
		return entry->item || place == PLACE_HOME;
	if (found == -EACCES)
		return 0; /* the command, with the caller's rights, does not come here either */
	if (found < 0 && take_note(take, "'%s' cannot be looked at: %s", entry->path, strerror(-found)) < 0)
		return -ENOMEM;
	if (found < 0)
		return place == PLACE_HOME; /* where the name is enough: it may be readable in a moment */
	if (entry->item || place != PLACE_ELSEWHERE || S_ISLNK(node->mode))
		return 1;
	return is_readable(take, entry->path, S_ISDIR(node->mode));
}

static int add_target(struct taking *take, const struct hidden_entry *entry, struct survey_hidden *hidden)
{
	struct hidden_entry target = *entry;
	struct survey_node node;
	char *resolved;
	int r = look_resolve(take, entry->path, &resolved, NULL), home;

	if (r < 0)
		return r == -ENOMEM ? err_oom(take->err) : 0; /* a loop leads nowhere */
	/* What is shown of a settings file stands at the link's own name, where the tool looks. */
	if (entry->cut && hidden->place == PLACE_HOME && cut_copy(take, resolved, entry->cut, &hidden->copy) < 0)
		return -ENOMEM;
	if (hidden->copy)
		hidden->kind = HIDDEN_CUT;
	if (holds_needed(take->survey, resolved))
		return take_note(take, "'%s' leads to '%s', which the run needs: that stays visible", entry->path,
				 resolved);
	target.path = resolved;
	target.node.mode = 0;
	/* A rule about the worktree reaches outside it only for the user's own files: a checkout must not choose, by a
	 * link, which program the pen lacks. */
	if (entry->item && hidden->place == PLACE_WORKTREE &&
	    place_of(take, resolved, &home) == PLACE_ELSEWHERE)
		return take_note(take, "'%s' leads to '%s', which is not hidden", entry->path, resolved);
	target.is_missing = false;
	r = look_at(take, resolved, &node);
	if (r < 0 && place_of(take, resolved, &home) != PLACE_HOME)
		return 0;
	return hidden_add(take, &target);
}

int hidden_add(struct taking *take, const struct hidden_entry *entry)
{
	struct survey_node node = entry->node;
	struct survey_hidden *hidden;
	enum hidden_place place;
	int r = 0, home;

	if (entry->item ? policy_rule(take->policy, AXIS_READ, entry->path, NULL, NULL) == RULE_ALLOW
			: take_is_allowed(take, AXIS_READ, entry->path))
		return 0;
	if (entry->is_missing)
		r = -ENOENT;
	else if (!node.mode)
		r = look_at(take, entry->path, &node);
	place = place_of(take, entry->path, &home);
	r = is_worth(take, entry, place, r, &node);
	if (r <= 0)
		return r;
	hidden = append(take, entry);
	if (!hidden)
		return err_oom(take->err);
	hidden->node = node;
	hidden->kind = kind_of(&node);
	hidden->place = place;
	hidden->home = home;
	if (hidden->kind == HIDDEN_LINK)
		return add_target(take, entry, hidden);
	if (!entry->cut || hidden->kind != HIDDEN_FILE)
		return 0;
	r = cut_copy(take, entry->path, entry->cut, &hidden->copy);
	if (r == 0 && hidden->copy)
		hidden->kind = HIDDEN_CUT;
	return r;
}

/* ---- rows ---- */

/* A file of a hidden directory that stays readable: ssh without known_hosts trusts nobody (F167). */
static int keep_name(struct taking *take, const struct found *found, const char *name)
{
	struct survey *survey = take->survey;
	struct survey_grant *grant;
	struct survey_node node;
	char *path;

	if (!name || !found->exists || *found->rest || found->type != DT_DIR)
		return 0;
	path = path_join(take->arena, found->path, name);
	if (!path)
		return err_oom(take->err);
	if (look_at(take, path, &node) < 0 || !S_ISREG(node.mode))
		return 0;
	grant = take_grow(take, survey->reads, &survey->read_count, &survey->read_cap, sizeof(*grant));
	if (!grant)
		return err_oom(take->err);
	survey->reads = grant - (survey->read_count - 1);
	*grant = (struct survey_grant){ .path = path, .source = "built in", .node = node };
	return 0;
}

/* The topmost missing name stands for what would lie in it. Where a cache is shown below it, the pen makes that
 * directory itself, in a layer of its own, in which nothing of the host's can appear: then there is nothing to hide.
 * NULL: none. */
static const char *missing_name(const struct taking *take, const struct found *found)
{
	return path_set_first_in(&take->granted, found->path) ? NULL : found->path;
}

static int each_row(struct taking *take, void *arg, const struct found *found)
{
	const struct table_hidden *row = arg;
	struct hidden_entry entry = {
		.path = found->path,
		.rule = row->path.text,
		.source = "built in",
		.cut = *found->rest ? NULL : row->cut,
		.is_missing = !found->exists,
		.node = found->node,
	};
	int r;

	if (!found->exists) {
		entry.path = missing_name(take, found);
		if (!entry.path)
			return 0;
	}
	r = hidden_add(take, &entry);
	return r < 0 ? r : keep_name(take, found, row->keep);
}

/* Rows outside homes are few, and most cannot be read by the caller: one call tells. */
static bool is_out_of_reach(struct taking *take, const struct table_hidden *row)
{
	const struct survey *survey = take->survey;
	const char *path = row->path.text;

	if (row->path.base == TABLE_RUNTIME) /* /run is private in the pen */
		return !survey->who.runtime_dir || path_is_in(survey->who.runtime_dir, "/run");
	if (row->path.base != TABLE_ROOT || row->path.is_glob)
		return false;
	for (size_t i = 0; i < survey->home_count; i++)
		if (path_is_in(survey->home[i].path, path))
			return true;
	if (survey->who.uid == 0)
		return access(path, F_OK) < 0 && look_failed(take, path, errno);
	return !is_readable(take, path, row->kind == TABLE_DIRECTORY);
}

/* ---- variables ---- */

static int add_value(struct taking *take, const struct table_hidden_variable *row, const char *value)
{
	struct hidden_entry entry = { .rule = row->variable, .source = "built in", .cut = row->cut };
	struct survey_node node;
	char *parent, *resolved;
	int home;

	entry.path = *row->below ? arena_printf(take->arena, "%s/%s", value, row->below) : value;
	entry.path = entry.path ? path_normal(take->arena, NULL, entry.path) : NULL;
	parent = entry.path ? path_parent(take->arena, entry.path) : NULL;
	if (!parent)
		return err_oom(take->err);
	if (!strcmp(entry.path, "/") || look_resolve(take, parent, &resolved, NULL) < 0)
		return 0;
	entry.path = path_join(take->arena, resolved, path_name(entry.path));
	if (!entry.path)
		return err_oom(take->err);
	if (holds_needed(take->survey, entry.path))
		return take_note(take, "%s names '%s', which the run needs: it stays visible", row->variable,
				 entry.path);
	if (look_at(take, entry.path, &node) < 0)
		return place_of(take, entry.path, &home) == PLACE_HOME ? hidden_add(take, &entry) : 0;
	/* HISTFILE=/dev/null means no history, not a secret. */
	if (!S_ISREG(node.mode) && !S_ISDIR(node.mode) && !S_ISLNK(node.mode))
		return 0;
	return hidden_add(take, &entry);
}

static int add_variable(struct taking *take, const struct table_hidden_variable *row, const char *value)
{
	char *list = arena_strdup(take->arena, value), *item;
	int r = 0;

	if (!list)
		return err_oom(take->err);
	if (!row->is_list)
		return list[0] == '/' ? add_value(take, row, list) : 0;
	while (r == 0 && (item = strsep(&list, ":")))
		if (item[0] == '/')
			r = add_value(take, row, item);
	return r;
}

/* One pass over the environment, not one per row: both are long. */
static int add_variables(struct taking *take)
{
	const struct strv *environment = &take->survey->environment;
	int r = 0;

	for (size_t i = 0; i < environment->n; i++) {
		const char *entry = environment->v[i], *equals = strchr(entry, '=');
		size_t length = equals ? (size_t)(equals - entry) : 0;

		for (size_t k = 0; equals && k < tables_hidden_variable_count && r == 0; k++) {
			const struct table_hidden_variable *row = &tables_hidden_variables[k];

			if (row->variable[0] == entry[0] && !strncmp(row->variable, entry, length) &&
			    row->variable[length] == '\0')
				r = add_variable(take, row, equals + 1);
		}
	}
	return r;
}

/* Room for all that is usual, at once: nearly every row is kept, present or not. */
static int make_room(struct taking *take)
{
	struct survey *survey = take->survey;
	size_t n = survey->hidden_count + tables_hidden_count * survey->home_count;

	survey->hidden = arena_grow(take->arena, survey->hidden, survey->hidden_count, n, sizeof(*survey->hidden),
				    &survey->hidden_cap);
	return survey->hidden ? 0 : err_oom(take->err);
}

static int collect_granted(struct taking *take)
{
	const struct survey *survey = take->survey;
	int r = 0;

	for (size_t i = 0; i < survey->cache_count && r == 0; i++)
		r = path_set_add(take->arena, &take->granted, survey->caches[i].tool);
	for (size_t i = 0; i < survey->write_count && r == 0; i++)
		r = path_set_add(take->arena, &take->granted, survey->writes[i].path);
	path_set_sort(&take->granted);
	return r < 0 ? err_oom(take->err) : 0;
}

int take_hidden(struct taking *take)
{
	int r = make_room(take);

	if (r == 0)
		r = collect_granted(take);

	/* Literal rows first: where one and a wildcard name the same path, the literal one decides. */
	for (int globs = 0; globs < 2; globs++)
		for (size_t i = 0; i < tables_hidden_count && r == 0; i++) {
			const struct table_hidden *row = &tables_hidden[i];

			if (row->path.is_glob == globs && !is_out_of_reach(take, row))
				r = find_row(take, &row->path, each_row, (void *)(uintptr_t)row);
		}
	return r < 0 ? r : add_variables(take);
}
