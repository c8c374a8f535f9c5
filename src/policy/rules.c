/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Path rules on their two axes. hide and read decide about reading, protect and write about writing, and write implies
 * read (F040). The most specific rule decides, whatever its kind and whatever order it was written in (F029, F030); at
 * the same path the later layer, within a layer the stricter. Adding a denial can therefore only ever take rights away,
 * which is what lets a project's file add some (F097).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "base/sort.h"
#include "policy/internal.h"
#include "policy/pattern.h"

struct rule {
	enum rule_right right;
	const struct policy_item *item;
	const char *path; /* a plain path; NULL: the pattern */
	size_t length, order; /* of the path; as they were written */
	struct pattern pattern;
};

/* Those with a plain path come first, sorted by it. A thousand of them are asked about each of a thousand hidden paths:
 * so each directory above a path is looked up, instead of comparing the path with each of them. */
struct rule_set {
	struct rule *v[AXIS_COUNT];
	size_t n[AXIS_COUNT], plain[AXIS_COUNT];
};

/* Which key speaks on which axis. */
static const struct rule_kind {
	enum rule_axis axis;
	enum policy_key key;
	enum rule_right right;
} rule_kinds[] = {
	{AXIS_READ, KEY_HIDE, RULE_DENY},     {AXIS_READ, KEY_READ, RULE_ALLOW},   {AXIS_READ, KEY_WRITE, RULE_ALLOW},
	{AXIS_WRITE, KEY_PROTECT, RULE_DENY}, {AXIS_WRITE, KEY_WRITE, RULE_ALLOW},
};
enum { RULE_KIND_COUNT = sizeof(rule_kinds) / sizeof(rule_kinds[0]) };

/* ---- making ---- */

static const char *without_slash(struct arena *arena, const char *path)
{
	size_t length = strlen(path);

	return length > 1 && path[length - 1] == '/' ? arena_strndup(arena, path, length - 1) : path;
}

static int make_rule(struct pinfold_policy *policy, const struct rule_kind *kind, const struct policy_item *item,
		     struct rule *ret, struct pinfold_error *err)
{
	int r;

	*ret = (struct rule){.right = kind->right, .item = item};
	if (policy_keys[kind->key].type == TYPE_PATHS) {
		ret->path = without_slash(&policy->arena, item->text);
		return ret->path ? 0 : err_oom(err);
	}
	r = pattern_parse(&policy->arena, item->text, policy->worktree, policy->who.home, &ret->pattern, err);
	if (r == 0 && ret->pattern.is_literal)
		ret->path = ret->pattern.literal;
	return r < 0 ? err_at(err, r, item->source.file, item->source.line, policy_keys[kind->key].name) : 0;
}

static int compare_rules(const void *a, const void *b)
{
	const struct rule *x = a, *y = b;

	if (!x->path || !y->path)
		return !x->path - !y->path;
	return path_compare_n(x->path, x->length, y->path, y->length);
}

static int sort_axis(struct arena *arena, struct rule *v, size_t n, size_t *ret_plain)
{
	struct rule *room = ARENA_ARRAY(arena, struct rule, n / 2);

	if (!room)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		v[i].order = i;
		v[i].length = v[i].path ? strlen(v[i].path) : 0;
	}
	sort_merge(v, room, n, sizeof(*v), compare_rules);
	for (*ret_plain = 0; *ret_plain < n && v[*ret_plain].path;)
		++*ret_plain;
	return 0;
}

static int make_axis(struct pinfold_policy *policy, enum rule_axis axis, struct rule_set *set,
		     struct pinfold_error *err)
{
	size_t total = 0;
	int r = 0;

	for (size_t k = 0; k < RULE_KIND_COUNT; k++)
		if (rule_kinds[k].axis == axis)
			total += policy->value[rule_kinds[k].key].count;
	set->v[axis] = ARENA_ARRAY(&policy->arena, struct rule, total + 1);
	if (!set->v[axis])
		return err_oom(err);
	for (size_t k = 0; k < RULE_KIND_COUNT; k++) {
		const struct policy_value *value = &policy->value[rule_kinds[k].key];

		if (rule_kinds[k].axis != axis)
			continue;
		for (size_t i = 0; r == 0 && i < value->count; i++)
			r = make_rule(policy, &rule_kinds[k], &value->items[i], &set->v[axis][set->n[axis]++], err);
	}
	if (r == 0 && sort_axis(&policy->arena, set->v[axis], set->n[axis], &set->plain[axis]) < 0)
		r = err_oom(err);
	return r;
}

int rules_make(struct pinfold_policy *policy, struct pinfold_error *err)
{
	struct rule_set *set = ARENA_NEW(&policy->arena, struct rule_set);
	int r = set ? 0 : err_oom(err);

	for (int axis = 0; r == 0 && axis < AXIS_COUNT; axis++)
		r = make_axis(policy, (enum rule_axis)axis, set, err);
	policy->rules = r == 0 ? set : NULL;
	return r;
}

/* ---- asking ---- */

/* The number of components of the deepest path, `path` or a directory above it, that the pattern matches, or -1.
 * `scratch` is a copy of path; it is whole again afterwards. */
static long pattern_depth(const struct pattern *pattern, char *scratch, size_t depth)
{
	size_t length = strlen(scratch);
	char *cut = scratch + length;
	long ret = -1;

	for (;;) {
		if (pattern_matches(pattern, scratch, true)) {
			ret = (long)depth;
			break;
		}
		if (depth <= 1)
			break;
		while (*--cut != '/')
			;
		*cut = '\0';
		depth--;
	}
	for (char *p = scratch; p < scratch + length; p++)
		if (!*p)
			*p = '/';
	return ret;
}

static bool is_admin_denial(const struct rule *rule)
{
	return rule->right == RULE_DENY && rule->item->source.layer == LAYER_ADMIN;
}

/* Does rule a at depth decide before rule b at its depth? */
static bool decides_before(const struct rule *a, long depth_a, const struct rule *b, long depth_b)
{
	if (is_admin_denial(a) != is_admin_denial(b))
		return is_admin_denial(a);
	if (depth_a != depth_b)
		return depth_a > depth_b;
	if (a->item->source.layer != b->item->source.layer)
		return a->item->source.layer > b->item->source.layer;
	if (a->right != b->right)
		return a->right == RULE_DENY;
	return a->order < b->order;
}

struct decision {
	const struct rule *rule;
	long depth;
};

static void consider(struct decision *decision, const struct rule *rule, long depth)
{
	if (depth < 0 || (decision->rule && !decides_before(rule, depth, decision->rule, decision->depth)))
		return;
	*decision = (struct decision){ rule, depth };
}

/* The rules about exactly path[0..length). */
static void ask_at(const struct rule *v, size_t n, const char *path, size_t length, long depth,
		   struct decision *decision)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (path_compare_n(v[middle].path, v[middle].length, path, length) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < n && v[low].length == length && memcmp(v[low].path, path, length) == 0; low++)
		consider(decision, &v[low], depth);
}

/* Of the root, of each directory on the way, and of the path itself. */
static void ask_plain(const struct rule *v, size_t n, const char *path, struct decision *decision)
{
	long depth = 0;

	if (n == 0)
		return;
	ask_at(v, n, "/", 1, 0, decision);
	for (size_t length = 1; path[length - 1] && path[1]; length++)
		if (path[length] == '/' || path[length] == '\0')
			ask_at(v, n, path, length, ++depth, decision);
}

/* false: no memory. */
static bool ask_patterns(const struct rule *v, size_t n, const char *path, struct decision *decision)
{
	const size_t depth = path_depth(path);
	char *scratch = n ? strdup(path) : NULL;

	for (size_t i = 0; scratch && i < n; i++)
		consider(decision, &v[i], pattern_depth(&v[i].pattern, scratch, depth));
	free(scratch);
	return n == 0 || scratch;
}

int policy_rule(const struct pinfold_policy *policy, enum rule_axis axis, const char *path, size_t *ret_depth,
		const struct policy_item **ret_item)
{
	const struct rule_set *set = policy->rules;
	struct decision decision = { 0 };
	size_t plain;

	if (!set || set->n[axis] == 0)
		return -1;
	plain = set->plain[axis];
	ask_plain(set->v[axis], plain, path, &decision);
	if (!ask_patterns(set->v[axis] + plain, set->n[axis] - plain, path, &decision))
		return RULE_DENY; /* no memory, no right */
	if (!decision.rule)
		return -1;
	if (ret_depth)
		*ret_depth = (size_t)decision.depth;
	if (ret_item)
		*ret_item = decision.rule->item;
	return (int)decision.rule->right;
}

/* ---- contradictions ---- */

struct allowed {
	const char *path;
	const struct policy_setting *setting;
};

static int compare_allowed(const void *a, const void *b)
{
	return strcmp(((const struct allowed *)a)->path, ((const struct allowed *)b)->path);
}

/* The paths that the layer allows against the denial `deny`, sorted. */
static int collect_allowed(struct arena *arena, const struct layer *layer, enum policy_key deny, struct allowed *ret,
			   size_t *ret_count)
{
	size_t n = 0;

	for (size_t i = 0; i < layer->n; i++) {
		const struct policy_setting *setting = &layer->v[i];

		if (setting->key != KEY_WRITE && !(setting->key == KEY_READ && deny == KEY_HIDE))
			continue;
		ret[n].path = without_slash(arena, setting->text);
		ret[n].setting = setting;
		if (!ret[n++].path)
			return -ENOMEM;
	}
	qsort(ret, n, sizeof(*ret), compare_allowed);
	*ret_count = n;
	return 0;
}

static int contradiction(const struct policy_setting *deny, const struct policy_setting *allow,
			 struct pinfold_error *err)
{
	bool is_option = deny->source.layer == LAYER_COMMAND;
	const struct policy_key_def *a = &policy_keys[deny->key], *b = &policy_keys[allow->key];

	if (is_option)
		err_say(err, PINFOLD_USAGE, EINVAL, "'%s' contradicts %s '%s'", deny->text, b->option, allow->text);
	else
		err_say(err, PINFOLD_USAGE, EINVAL, "'%s' contradicts '%s' of %s on line %d", deny->text, allow->text,
			b->name, allow->source.line);
	return err_at(err, -EINVAL, deny->source.file, deny->source.line, is_option ? a->option : a->name);
}

static int check_denials(struct arena *arena, const struct layer *layer, enum policy_key deny, const char *worktree,
			 const char *home, struct pinfold_error *err)
{
	struct allowed *allowed = ARENA_ARRAY(arena, struct allowed, layer->n + 1);
	size_t count;
	int r = 0;

	if (!allowed || collect_allowed(arena, layer, deny, allowed, &count) < 0)
		return err_oom(err);
	for (size_t i = 0; count > 0 && r == 0 && i < layer->n; i++) {
		const struct policy_setting *setting = &layer->v[i];
		const struct allowed *found;
		struct pattern pattern;

		if (setting->key != deny)
			continue;
		r = pattern_parse(arena, setting->text, worktree, home, &pattern, err);
		if (r < 0 || !pattern.is_literal)
			continue;
		found = bsearch(&(struct allowed){.path = pattern.literal}, allowed, count, sizeof(*allowed),
				compare_allowed);
		if (found)
			r = contradiction(setting, found->setting, err);
	}
	return r;
}

int rules_check_layer(struct arena *arena, const struct layer *layer, const char *worktree, const char *home,
		      struct pinfold_error *err)
{
	int r = 0;

	if (layer->n > 1)
		r = check_denials(arena, layer, KEY_HIDE, worktree, home, err);
	if (r == 0 && layer->n > 1)
		r = check_denials(arena, layer, KEY_PROTECT, worktree, home, err);
	return r < 0 ? r : ports_check_layer(arena, layer, err);
}
