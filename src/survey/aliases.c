/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same places through other mounts: a home that is bound from /data, a whole disk shown once more below /mnt. What
 * is hidden or protected by one path would be there by the other (E040).
 *
 * Two mounts of one file system show the same where the directory that one has as its root lies in that of the other.
 * That is compared as mountinfo tells it: the device that stat gives is another one on btrfs and overlays, and a mount
 * that does not answer must not be touched (F193). What another mount covers again is taken for visible: then a mask
 * too many lies where nothing of the home is.
 *
 * A whole home that shows once more is masked as one directory, so that names which are made there during the run are
 * hidden too (E043); a worktree in it stays. Of what shows only a part, the entries are hidden one by one, since it may
 * be anything that the run needs.
 */
#include "survey/take.h"

#include <string.h>

#include "base/err.h"
#include "base/path.h"

static const char rule[] = "another mount of the home";

/* What `from` holds, `to` shows too. */
struct alias {
	const char *from, *to;
};

struct aliases {
	struct alias *v;
	size_t n, cap;
};

/* The path in `to` of what lies at `path` in `from`. NULL with *ret_error 0: not in it. */
static const char *translate(struct taking *take, const char *path, const char *from, const char *to, int *ret_error)
{
	const char *below = path_below(path, from), *there;

	if (!below || !*below)
		return below ? to : NULL;
	there = path_join(take->arena, to, below);
	if (!there)
		*ret_error = err_oom(take->err);
	return there;
}

static int add_alias(struct taking *take, struct aliases *aliases, const char *from, const char *to)
{
	struct alias *alias = take_grow(take, aliases->v, &aliases->n, &aliases->cap, sizeof(*alias));

	if (!alias)
		return err_oom(take->err);
	aliases->v = alias - (aliases->n - 1);
	*alias = (struct alias){ from, to };
	return 0;
}

/* Both ways. The same path: /sys/fs/cgroup in /sys, or one mount over the other. */
static int compare(struct taking *take, struct aliases *aliases, const struct survey_mount *a,
		   const struct survey_mount *b)
{
	int r = 0;
	const char *other = b->path, *place = translate(take, b->root, a->root, a->path, &r);

	if (!place && r == 0) {
		other = a->path;
		place = translate(take, a->root, b->root, b->path, &r);
	}
	if (r < 0 || !place || !strcmp(place, other))
		return r;
	r = add_alias(take, aliases, place, other);
	return r < 0 ? r : add_alias(take, aliases, other, place);
}

static int collect(struct taking *take, struct aliases *aliases)
{
	const struct survey *survey = take->survey;
	int r = 0;

	for (size_t i = 1; i < survey->mount_count; i++)
		for (size_t k = 0; k < i && r == 0; k++)
			if (survey->mounts[i].device == survey->mounts[k].device)
				r = compare(take, aliases, &survey->mounts[k], &survey->mounts[i]);
	return r;
}

/* ---- whole homes ---- */

static bool is_home(const struct survey *survey, const char *path)
{
	for (size_t i = 0; i < survey->home_count; i++)
		if (!strcmp(survey->home[i].path, path))
			return true;
	return false;
}

static int mask_home(struct taking *take, const char *place)
{
	struct survey *survey = take->survey;
	const struct hidden_entry entry = { .path = place, .rule = rule, .source = "built in" };

	if (is_home(survey, place))
		return 0;
	if (strcmp(place, "/") != 0 && !take_is_allowed(take, AXIS_READ, place))
		return hidden_add(take, &entry);
	return strv_add(take->arena, &survey->alias_homes, place) < 0 ? err_oom(take->err) : 0;
}

static int mask_homes(struct taking *take, const struct alias *alias)
{
	int r = 0;

	for (size_t i = 0; i < take->survey->home_count && r == 0; i++) {
		const char *place = translate(take, take->survey->home[i].path, alias->from, alias->to, &r);

		if (place)
			r = mask_home(take, place);
	}
	return r;
}

/* ---- single entries ---- */

/* Where an entry shows once more; all of `to` where it lies in what is hidden. */
static const char *place_of(struct taking *take, const char *path, const struct alias *alias, int *ret_error)
{
	return path_is_below(alias->from, path) ? alias->to : translate(take, path, alias->from, alias->to, ret_error);
}

static bool is_part_of_home(const struct survey *survey, const char *path)
{
	for (size_t i = 0; i < survey->home_count; i++)
		if (path_is_below(path, survey->home[i].path))
			return true;
	return false;
}

static bool holds_home(const struct survey *survey, const char *path)
{
	for (size_t i = 0; i < survey->home_count; i++)
		if (path_is_in(survey->home[i].path, path))
			return true;
	return false;
}

static int hide_entry(struct taking *take, const struct survey_hidden *hidden, const char *place)
{
	const struct hidden_entry entry = { .path = place, .rule = hidden->rule, .source = hidden->source };

	if (hidden->kind == HIDDEN_ABSENT)
		return 0;
	/* A container's root may be a directory of a place that is hidden as a whole. */
	if (!strcmp(place, "/") || holds_home(take->survey, place))
		return take_note(take, "'%s' lies in '%s', and the run needs it: it stays visible", place,
				 hidden->path);
	return hidden_add(take, &entry);
}

static int hide_entries(struct taking *take, const struct alias *alias, size_t count)
{
	struct survey *survey = take->survey;
	bool is_told = !is_part_of_home(survey, alias->from);
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct survey_hidden hidden = survey->hidden[i];
		const char *place = place_of(take, hidden.path, alias, &r);

		if (place)
			r = hide_entry(take, &hidden, place);
		if (!place || is_told || r < 0)
			continue;
		is_told = true;
		if (strv_add(take->arena, &survey->alias_parts, alias->to) < 0)
			r = err_oom(take->err);
	}
	return r;
}

static int protect_entries(struct taking *take, const struct alias *alias, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct survey_protected protected = take->survey->protected[i];
		const char *place = place_of(take, protected.path, alias, &r);

		if (place && protected.kind != PROTECTED_ABSENT)
			r = protect_add(take, place, protected.rule, protected.source, false);
	}
	return r;
}

int take_aliases(struct taking *take)
{
	const struct survey *survey = take->survey;
	const size_t hidden_count = survey->hidden_count, protected_count = survey->protected_count;
	struct aliases aliases = { 0 };
	int r = collect(take, &aliases);

	for (size_t i = 0; i < aliases.n && r == 0; i++) {
		r = mask_homes(take, &aliases.v[i]);
		if (r == 0)
			r = hide_entries(take, &aliases.v[i], hidden_count);
		if (r == 0)
			r = protect_entries(take, &aliases.v[i], protected_count);
	}
	return r;
}
