/* SPDX-License-Identifier: Apache-2.0 */
/* What one name of the tree says about what the command has done: by its age, its kind and its spelling. Why by its
 * age, and what that cannot tell, says check_tree.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/path.h"
#include "base/tables.h"
#include "policy/pattern.h"
#include "run/walking.h"

static const char *const tally_texts[] = {
	[TALLY_REPOSITORIES] = "repositories were made",
	[TALLY_CHANGED] = "what decides over other programs was made or changed",
	[TALLY_SPECIAL] = "FIFOs, sockets or devices were left",
	[TALLY_LINKS] = "what was changed has another name outside of what was looked through (a hard link)",
	[TALLY_UNREADABLE] = "not looked through, since it cannot be read",
	[TALLY_MOUNTS] = "not looked through, since it is another mount",
	[TALLY_DEEP] = "not looked through, since it lies too deep",
	[TALLY_MANY_LINKS] = "too many hard links, from here on",
	[TALLY_MANY_FINDINGS] = "too much was found, from here on",
	[TALLY_TIME] = "the time for looking through the tree was over here",
};
_Static_assert(sizeof(tally_texts) / sizeof(tally_texts[0]) == TALLY_COUNT, "a text for each");

/* ---- saying ---- */

static char *copy_path(struct walk *w)
{
	char *path = arena_strndup(w->c->arena, w->path, w->length);

	if (!path)
		w->c->error = -ENOMEM;
	return path;
}

void walk_count(struct walk *w, enum tally_kind kind)
{
	struct tally *tally = &w->tally[kind];

	if (tally->n < TALLY_NAMES)
		tally->names[tally->n] = copy_path(w);
	tally->n++;
}

enum treatment { NAMED, MOVED };

/* `length` of the path of what is looked at. What the set has named already is not named again. */
static void find(struct walk *w, size_t length, const char *what, enum treatment treatment)
{
	struct checking *c = w->c;
	char *path = arena_strndup(c->arena, w->path, length);
	struct survey_watch at;
	struct stat st;
	int r;

	if (!path) {
		c->error = -ENOMEM;
		return;
	}
	if (visit_is_named(c, path))
		return;
	if (c->result->count >= LIMIT_TREE_FINDINGS) {
		walk_count(w, TALLY_MANY_FINDINGS);
		return;
	}
	r = visit_look(c, path, &at, &st);
	if (r == 0 && treatment == MOVED)
		checking_remove(c, &at, at.below, what);
	else if (r == 0)
		checking_add(c, &at, at.below, what);
	checking_leave(c);
}

void walk_say(struct walk *w)
{
	for (int kind = 0; kind < TALLY_COUNT; kind++) {
		const struct tally *tally = &w->tally[kind];
		const size_t shown = tally->n < TALLY_NAMES ? tally->n : TALLY_NAMES;
		char *names = arena_strdup(w->c->arena, "");

		for (size_t i = 0; i < shown && names; i++)
			names = tally->names[i] ? arena_printf(w->c->arena, "%s%s'%s'", names, i ? ", " : "",
							       tally->names[i]) : NULL;
		if (!names)
			w->c->error = -ENOMEM;
		else if (tally->n > shown)
			checking_warn(w->c, "%s: %s and %zu more", tally_texts[kind], names, tally->n - shown);
		else if (tally->n)
			checking_warn(w->c, "%s: %s", tally_texts[kind], names);
		if (tally->n && kind >= TALLY_UNREADABLE)
			w->c->result->is_complete = false;
	}
}

/* ---- age ---- */

bool walk_is_touched(const struct walk *w, const struct node *node)
{
	return node->changed_ns >= w->c->plan->survey.taken_ns;
}

/* Where no birth is known the last change has to do. */
static bool may_be_new(const struct walk *w, const struct node *node)
{
	return walk_is_touched(w, node) && (node->born_ns < 0 || node->born_ns >= w->c->plan->survey.taken_ns);
}

static bool is_surely_new(const struct walk *w, const struct node *node)
{
	return node->born_ns >= w->c->plan->survey.taken_ns;
}

/* ---- protected names ---- */

/* Rows for any depth: a name, or one with its parent; `*.code-workspace`. */
static bool is_row(const char *path, const struct table_protected *row)
{
	size_t length = strlen(path), row_length = strlen(row->path);

	if (row->is_glob)
		return pattern_glob(row->path, path_name(path));
	return length > row_length && path[length - row_length - 1] == '/' &&
	       memcmp(path + length - row_length, row->path, row_length) == 0;
}

static const struct table_protected *row_of(const struct walk *w)
{
	for (size_t i = 0; i < tables_protected_count; i++)
		if (tables_protected[i].is_each && is_row(w->path, &tables_protected[i]))
			return &tables_protected[i];
	return NULL;
}

/* True where it is gone. */
bool walk_judge_name(struct walk *w, const struct node *node)
{
	static const char appeared[] = "appeared at a protected name";
	static const char changed[] = "is a protected name, and was made or changed";
	const struct table_protected *row = row_of(w);
	const bool has_patterns = w->c->plan->policy->value[KEY_PROTECT].count;
	const int rule = row || has_patterns ? checking_user_rule(w->c, w->path) : -1;

	if (rule == RULE_ALLOW || (!row && rule != RULE_DENY) || checking_is_held(w->c, w->path))
		return false;
	if (rule != RULE_DENY && row->only_report) {
		if (walk_is_touched(w, node) && !checking_is_watched(w->c, WATCH_REPORT, w->path))
			walk_count(w, TALLY_CHANGED);
		return false;
	}
	if (is_surely_new(w, node)) {
		find(w, w->length, appeared, MOVED);
		return true;
	}
	if (walk_is_touched(w, node))
		find(w, w->length, changed, NAMED);
	if (S_ISDIR(node->mode) && !w->kept) {
		w->kept = w->length;
		w->is_kept_named = walk_is_touched(w, node);
	}
	return false;
}

void walk_judge_kept(struct walk *w, const struct node *node)
{
	if (!w->kept || w->is_kept_named || !walk_is_touched(w, node))
		return;
	find(w, w->kept, "is a protected name, and what is in it was changed", NAMED);
	w->is_kept_named = true;
}

/* ---- files ---- */

static void remember_links(struct walk *w, const struct node *node)
{
	struct linked *all;

	if (w->linked_count >= LIMIT_TREE_LINKS) {
		walk_count(w, TALLY_MANY_LINKS);
		return;
	}
	all = arena_grow(w->c->arena, w->linked, w->linked_count, w->linked_count + 1, sizeof(*all), &w->linked_cap);
	if (!all) {
		w->c->error = -ENOMEM;
		return;
	}
	w->linked = all;
	all[w->linked_count++] = (struct linked){ node->device, node->inode, node->links, copy_path(w) };
}

void walk_judge_file(struct walk *w, const struct node *node)
{
	if (S_ISREG(node->mode) && node->links > 1 && walk_is_touched(w, node))
		remember_links(w, node);
	if (S_ISREG(node->mode) && (node->mode & (S_ISUID | S_ISGID)) && walk_is_touched(w, node))
		find(w, w->length, "was made or changed, and has a set-uid or set-gid bit", NAMED);
	if (!S_ISREG(node->mode) && !S_ISLNK(node->mode) && may_be_new(w, node))
		walk_count(w, TALLY_SPECIAL);
}

static int compare_links(const void *a, const void *b)
{
	const struct linked *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->inode == y->inode ? 0 : x->inode < y->inode ? -1 : 1;
}

/* Those whose names have not all been seen. Of a walk that was cut short nothing can be said. */
void walk_judge_links(struct walk *w)
{
	if (w->is_over || !w->linked_count)
		return;
	qsort(w->linked, w->linked_count, sizeof(*w->linked), compare_links);
	for (size_t i = 0, n; i < w->linked_count && !w->c->error; i += n) {
		const struct linked *linked = &w->linked[i];

		for (n = 1; i + n < w->linked_count && compare_links(linked, linked + n) == 0; n++)
			;
		if (n < linked->links) {
			w->length = strlen(linked->path);
			memcpy(w->path, linked->path, w->length + 1);
			walk_count(w, TALLY_LINKS);
		}
	}
}

/* ---- repositories ---- */

static bool has_git(const struct walk *w)
{
	return policy_number(w->c->plan->policy, KEY_GIT) != GIT_OPEN;
}

/* A repository may be made; what git would carry out in it is named. */
void walk_judge_git(struct walk *w, const struct node *node)
{
	struct visiting v = { .c = w->c, .newness = IS_NEW, .is_only_named = true };
	const char *entry = w->c->plan->survey.git.entry;

	if (!has_git(w) || !may_be_new(w, node) || (entry && strcmp(entry, w->path) == 0))
		return;
	walk_count(w, TALLY_REPOSITORIES);
	if (S_ISDIR(node->mode) && w->c->result->count < LIMIT_TREE_FINDINGS) {
		const struct repository repository = { .directory = copy_path(w) };

		if (repository.directory)
			visit_judge(&v, &repository);
		if (!w->c->error)
			visit_links(&v, repository.directory);
	}
	checking_leave(w->c);
}

void walk_note_part(struct walk *w, struct level *level, const char *name, const struct node *node)
{
	const unsigned part = check_bare_part(name);

	level->parts |= part;
	level->has_young_part |= part && walk_is_touched(w, node);
}

/* The shape cannot come to be without a name being added to the directory. */
void walk_judge_shape(struct walk *w, const struct level *level)
{
	if (!level->in_git && has_git(w) && level->is_young && level->has_young_part && check_is_bare(level->parts))
		find(w, w->length, "was made or changed, and git takes it for a repository", NAMED);
}
