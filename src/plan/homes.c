/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The home, hidden by name: a read-only overlay whose upper of two lower layers is a directory of the private tmpfs
 * with a whiteout for every hidden name, over the real home. A hidden name then reads as absent also when the host
 * makes or replaces it during the run (E043, E044), which no mask on an inode does. What the overlay cannot be used for
 * (a kernel or file system that refuses it; a home that is writable; bubblewrap, which makes no whiteouts) falls back
 * to binding the visible entries into a private home, or to masks.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "plan/internal.h"

enum { HOME_ATTR = ATTR_READONLY | ATTR_NOSUID | ATTR_NODEV };

/* Without the mounts below it, a tree can be taken only in the mount namespace in which those were made: in one of a
 * user namespace they are locked, and the overlay is refused. Root's supervisor takes its copy outside of it. */
static bool can_be_taken_alone(const struct pinfold_plan *plan, const struct survey_home *home)
{
	return !home->mounts.n || (plan->survey.who.uid == 0 && plan->host->has_admin &&
				   !plan->host->is_mapped_root && plan->host->fact[FACT_IDMAP].state != FACT_NO);
}

bool plan_home_has_overlay(const struct pinfold_plan *plan, size_t home)
{
	const struct survey_home *seen = &plan->survey.home[home];

	return policy_number(plan->policy, KEY_HOME) == HOME_MASKED && plan->backend != BACKEND_BUBBLEWRAP &&
	       plan->host->fact[FACT_OVERLAY].state != FACT_NO && S_ISDIR(seen->node.mode) &&
	       strcmp(seen->path, "/") != 0 && !plan_writable_root(plan, seen->path) && can_be_taken_alone(plan, seen);
}

static bool is_below_mount(const struct survey_home *home, const char *path)
{
	for (size_t i = 0; i < home->mounts.n; i++)
		if (path_is_in(path, home->mounts.v[i]))
			return true;
	return false;
}

/* Something is bound over exactly this place, and needs one to be bound over: no whiteout. */
static bool is_granted(const struct survey *survey, const char *path)
{
	for (size_t i = 0; i < survey->cache_count; i++)
		if (strcmp(survey->caches[i].tool, path) == 0)
			return true;
	for (size_t i = 0; i < survey->write_count; i++)
		if (strcmp(survey->writes[i].path, path) == 0)
			return true;
	for (size_t i = 0; i < survey->read_count; i++)
		if (strcmp(survey->reads[i].path, path) == 0)
			return true;
	return false;
}

/* One hidden entry as a name in the upper layer. false: a mask has to do, since a mount lies between (or it must hold
 * something that is granted). */
static bool hide_by_name(struct layout *layout, const struct survey_home *home, const char *upper,
			 const struct survey_hidden *hidden)
{
	const char *below = path_below(hidden->path, home->path), *inside;

	if (!below || !*below || is_below_mount(home, hidden->path))
		return false;
	if (plan_grants_in(layout->plan, hidden->path) &&
	    (plan_grants_below(layout->plan, hidden->path) || is_granted(&layout->plan->survey, hidden->path)))
		return false;
	inside = layout_join(layout, upper, below);
	if (hidden->kind == HIDDEN_CUT)
		layout_file(layout, inside, hidden->node.mode & 0444, hidden->copy, strlen(hidden->copy));
	else
		layout_whiteout(layout, inside);
	return true;
}

/* A cache's place may be missing in the home: a directory of the upper layer is something to mount over. */
static void make_cache_places(struct layout *layout, const struct survey_home *home, const char *upper)
{
	const struct survey *survey = &layout->plan->survey;

	for (size_t i = 0; i < survey->cache_count; i++) {
		const char *below = path_below(survey->caches[i].tool, home->path);

		if (below && *below && !is_below_mount(home, survey->caches[i].tool))
			layout_directory(layout, layout_join(layout, upper, below), 0700);
	}
}

static void lay_overlay(struct layout *layout, size_t index)
{
	struct pinfold_plan *plan = layout->plan;
	const struct survey_home *home = &plan->survey.home[index];
	const char *upper = layout_name(layout, "home");
	int source = layout_source(layout, home->path, &home->node, HOME_ATTR);
	struct plan_op *op;

	layout_directory(layout, upper, home->node.mode & 07777);
	for (size_t i = 0; i < plan->survey.hidden_count; i++) {
		const struct survey_hidden *hidden = &plan->survey.hidden[i];

		if (hidden->place == PLACE_HOME && hidden->home == (int)index)
			hide_by_name(layout, home, upper, hidden);
	}
	make_cache_places(layout, home, upper);
	layout_place(layout, home->path, true);
	if (source < 0)
		return;
	if (plan->sources[source].idmap >= 0) {
		const char *lower = layout_name(layout, "lower");

		layout_directory(layout, lower, 0755);
		op = layout_op(layout, OP_BIND, lower);
		op->source = source;
		op->is_private = true;
		op = layout_op(layout, OP_OVERLAY, home->path);
		op->text = lower;
	} else {
		plan->sources[source].is_lower = true;
		op = layout_op(layout, OP_OVERLAY, home->path);
	}
	op->from = upper;
	op->source = source;
}

/* What lies on mounts below the home is no part of the overlay, nor among the entries. */
static void bind_mounts_below(struct layout *layout, const struct survey_home *home)
{
	for (size_t i = 0; i < home->mounts.n; i++) {
		int source;

		/* inside another one, which is bound with all below it */
		if (i > 0 && path_is_below(home->mounts.v[i], home->mounts.v[i - 1]))
			continue;
		source = layout_source(layout, home->mounts.v[i], NULL, HOME_ATTR);
		if (source < 0)
			return;
		/* opened by the supervisor where the home is closed to the id of the pen */
		layout->plan->sources[source].idmap = plan_idmap_for(layout->plan, &home->node);
		layout->plan->sources[source].is_recursive = true;
		layout->plan->sources[source].is_optional = true;
		layout_bind(layout, source, home->mounts.v[i], !strv_has(&home->file_mounts, home->mounts.v[i]));
		layout->plan->ops[layout->plan->op_count - 1].is_optional = true;
	}
}

static void bind_entry(struct layout *layout, const struct survey_entry *entry)
{
	struct plan_op *op;
	int source;

	if (entry->target) {
		for (size_t i = 0; i < layout->region_count; i++) {
			const char *below = path_below(entry->path, layout->regions[i].path);

			if (!below || !*below)
				continue;
			op = layout_op(layout, OP_LINK, layout_join(layout, layout->regions[i].inside, below));
			op->text = entry->target;
			return;
		}
		return;
	}
	source = layout_source(layout, entry->path, NULL, HOME_ATTR);
	if (source < 0)
		return;
	layout->plan->sources[source].is_optional = true;
	layout->plan->sources[source].is_recursive = entry->is_directory;
	layout->plan->sources[source].idmap =
		plan_idmap_for(layout->plan, &layout->plan->survey.home[entry->home].node);
	layout_bind(layout, source, entry->path, entry->is_directory);
}

/* The visible entries one by one (fallback), or nothing of it (--home hidden: grants come later). */
static void lay_private_home(struct layout *layout, size_t index, bool has_entries)
{
	const struct survey *survey = &layout->plan->survey;
	const struct survey_home *home = &survey->home[index];
	const char *inside = layout_name(layout, "home");

	layout_directory(layout, inside, home->node.mode & 07777);
	layout_region(layout, home->path, inside, HOME_ATTR);
	for (size_t i = 0; has_entries && i < survey->entry_count; i++)
		if (survey->entries[i].home == (int)index)
			bind_entry(layout, &survey->entries[i]);
	for (size_t i = 0; i < survey->hidden_count; i++) {
		const struct survey_hidden *hidden = &survey->hidden[i];
		const char *below = path_below(hidden->path, home->path);

		if (hidden->kind == HIDDEN_CUT && hidden->place == PLACE_HOME && hidden->home == (int)index && below)
			layout_file(layout, layout_join(layout, inside, below), hidden->node.mode & 0444, hidden->copy,
				    strlen(hidden->copy));
	}
}

static void lay_home(struct layout *layout, size_t index)
{
	const struct pinfold_plan *plan = layout->plan;
	const struct survey_home *home = &plan->survey.home[index];

	if (!S_ISDIR(home->node.mode) || strcmp(home->path, "/") == 0 || plan_writable_root(plan, home->path))
		return;
	if (plan_home_has_overlay(plan, index))
		lay_overlay(layout, index);
	else
		lay_private_home(layout, index, policy_number(plan->policy, KEY_HOME) == HOME_MASKED);
	if (policy_number(plan->policy, KEY_HOME) == HOME_MASKED)
		bind_mounts_below(layout, home);
}

/* $HOME may lie below the account's home: what covers that one comes first, or it covers what hides the secrets of
 * $HOME. */
void layout_homes(struct layout *layout)
{
	const struct survey *survey = &layout->plan->survey;
	bool is_inner_first = survey->home_count == 2 && path_is_below(survey->home[0].path, survey->home[1].path);

	for (size_t i = 0; i < survey->home_count; i++)
		lay_home(layout, is_inner_first ? survey->home_count - 1 - i : i);
}
