/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the protected names without a place of their own (survey/watch_rows.c): wildcards, and names that may
 * change. */
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/path.h"
#include "policy/pattern.h"
#include "run/visiting.h"

enum { REPORT_ENTRIES = 1000 };

/* ---- what the survey knows of a path ---- */

bool checking_is_watched(const struct checking *c, enum watch_kind kind, const char *path)
{
	const struct survey *survey = &c->plan->survey;

	for (size_t i = 0; i < survey->watch_count; i++) {
		const struct survey_watch *watch = &survey->watches[i];
		const char *below = path_below(path, survey->watch_roots[watch->root].path);

		if (watch->kind == kind && below && strcmp(below, watch->below) == 0)
			return true;
	}
	return false;
}

bool checking_is_held(const struct checking *c, const char *path)
{
	const struct survey *survey = &c->plan->survey;

	for (size_t i = 0; i < survey->protected_count; i++)
		if (survey->protected[i].kind != PROTECTED_ABSENT && strcmp(survey->protected[i].path, path) == 0)
			return true;
	return false;
}

int checking_user_rule(const struct checking *c, const char *path)
{
	size_t depth = 0;
	int rule = policy_rule(c->plan->policy, AXIS_WRITE, path, &depth, NULL);

	return depth >= path_depth(path) ? rule : -1;
}

/* ---- wildcards ---- */

static bool matches(const struct survey_watch *watch, const char *name)
{
	for (size_t i = 0; i < watch->words.n; i++)
		if (pattern_glob(watch->words.v[i], name))
			return true;
	return false;
}

/* The usual names have a row, and a watch, of their own. */
static void judge_match(struct checking *c, const char *path)
{
	struct survey_watch at;
	struct stat st;

	if (checking_is_held(c, path) || checking_is_watched(c, WATCH_ABSENT, path) ||
	    checking_user_rule(c, path) == RULE_ALLOW)
		return;
	if (visit_look(c, path, &at, &st) == 0)
		checking_remove(c, &at, at.below, "appeared at a protected name");
}

/* A name cannot appear without its directory changing. */
void check_names(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st)
{
	struct strv names = { 0 };
	char *dir;

	if (r < 0 || !S_ISDIR(st->st_mode) || !visit_is_young(c, st))
		return; /* a link in the place of the directory: the literal rows see to that */
	dir = checking_path(c, watch, watch->below);
	r = dir ? visit_list(c, dir, LIMIT_NAMES, &names) : -ENOMEM;
	if (r == -E2BIG)
		visit_is_incomplete(c, dir, "there are too many names in it");
	else if (r == -ENOMEM)
		c->error = r;
	else if (r < 0)
		checking_is_unknown(c, watch, r);
	for (size_t i = 0; i < names.n && !c->error; i++) {
		char *path = matches(watch, names.v[i]) ? visit_join(c, dir, names.v[i]) : NULL;

		if (path)
			judge_match(c, path);
	}
	checking_leave(c);
}

/* ---- names that may change ---- */

/* What is directly in a directory: more is below few of them. */
static bool has_young(struct checking *c, const char *dir)
{
	struct strv names = { 0 };
	bool ret = visit_list(c, dir, REPORT_ENTRIES, &names) == -E2BIG;

	for (size_t i = 0; i < names.n && !ret && !c->error; i++) {
		char *path = visit_join(c, dir, names.v[i]);
		struct survey_watch at;
		struct stat st;

		ret = path && visit_look(c, path, &at, &st) == 0 && visit_is_young(c, &st);
		checking_leave(c);
	}
	return ret;
}

void check_report(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st)
{
	const bool was_there = watch->node.mode != 0;
	const char *what = NULL, *path = checking_path(c, watch, watch->below);

	if (!path)
		return;
	if (r < 0)
		what = was_there ? "is gone" : NULL;
	else if (!was_there)
		what = "was made";
	else if (checking_has_changed(watch, st) || (S_ISDIR(st->st_mode) && has_young(c, path)))
		what = "was changed";
	if (what)
		checking_warn(c, "'%s' %s: %s", path, what, watch->rule);
}
