/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Five layers become one value a key. A later layer's value takes the place of an earlier one; lists add up (F035,
 * F037), and an empty list adds nothing (F036). A project's file that is not trusted may only tighten (F096, F097):
 * what would loosen is left out and kept for the readouts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "policy/internal.h"

enum { IGNORED_TEXT_BYTES = 160 };

struct item_list {
	struct policy_item *v;
	size_t n, cap;
};

struct merging {
	struct pinfold_policy *policy;
	struct arena *arena;
	struct item_list lists[KEY_COUNT];
	bool is_ignored[KEY_COUNT];
	bool is_trusted;
	struct pinfold_error *err;
};

/* ---- tighten only ---- */

static bool is_same(const struct policy_key_def *def, const struct policy_setting *setting,
		    const struct policy_value *value)
{
	if (type_is_list(def->type))
		return false;
	if (!setting->text || !value->text)
		return setting->text == value->text && setting->number == value->number;
	return strcmp(setting->text, value->text) == 0;
}

static bool loosens(const struct policy_key_def *def, const struct policy_setting *setting,
		    const struct policy_value *value)
{
	switch (def->tighten) {
	case TIGHTEN_ALWAYS: return false;
	case TIGHTEN_SMALLER: return setting->number > value->number;
	case TIGHTEN_ON: return !setting->number;
	default:
		/* Two uses of these keys take something away: a private temp, and no acceptance. */
		if (def->type == TYPE_TMP)
			return setting->text;
		return def->type != TYPE_NAMES || strcmp(setting->text, ACCEPT_NONE) != 0;
	}
}

static const char *cut(struct arena *arena, const char *text)
{
	size_t length = strlen(text);

	if (length <= IGNORED_TEXT_BYTES)
		return text;
	length = IGNORED_TEXT_BYTES - 3;
	while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	return arena_printf(arena, "%.*s...", (int)length, text);
}

static int ignore(struct merging *merge, const struct layer *layer, const struct policy_setting *setting)
{
	struct pinfold_policy *policy = merge->policy;
	struct policy_ignored *grown;

	if (merge->is_ignored[setting->key])
		return 0;
	merge->is_ignored[setting->key] = true;
	grown = arena_grow(merge->arena, policy->ignored, policy->ignored_count, policy->ignored_count + 1,
			   sizeof(*grown), &policy->ignored_cap);
	if (!grown)
		return err_oom(merge->err);
	policy->ignored = grown;
	grown[policy->ignored_count++] = (struct policy_ignored){
		.file = setting->source.file,
		.line = layer->line[setting->key],
		.key = policy_keys[setting->key].name,
		.text = cut(merge->arena, layer->raw[setting->key] ? layer->raw[setting->key] : ""),
	};
	return 0;
}

/* ---- one setting ---- */

static int add_item(struct merging *merge, const struct policy_setting *setting)
{
	struct item_list *list = &merge->lists[setting->key];
	struct policy_item *grown;

	if (policy_keys[setting->key].type == TYPE_NAMES && strcmp(setting->text, ACCEPT_NONE) == 0) {
		list->n = 0;
		return 0;
	}
	if (list->n >= LIMIT_LIST_ITEMS)
		return err_at(merge->err,
			      err_say(merge->err, PINFOLD_USAGE, E2BIG, "the list has more than %d items",
				      LIMIT_LIST_ITEMS),
			      setting->source.file, setting->source.line, policy_keys[setting->key].name);
	grown = arena_grow(merge->arena, list->v, list->n, list->n + 1, sizeof(*grown), &list->cap);
	if (!grown)
		return err_oom(merge->err);
	list->v = grown;
	list->v[list->n++] = (struct policy_item){.text = setting->text, .source = setting->source};
	return 0;
}

static int apply(struct merging *merge, const struct layer *layer, const struct policy_setting *setting)
{
	const struct policy_key_def *def = &policy_keys[setting->key];
	struct policy_value *value = &merge->policy->value[setting->key];

	if (setting->source.layer == LAYER_PROJECT && !merge->is_trusted) {
		if (is_same(def, setting, value))
			return 0;
		if (loosens(def, setting, value))
			return ignore(merge, layer, setting);
	}
	value->is_set = true;
	if (type_is_list(def->type))
		return add_item(merge, setting);
	value->number = setting->number;
	value->text = setting->text;
	value->source = setting->source;
	return 0;
}

/* ---- duplicates ---- */

struct numbered {
	const struct policy_item *item;
	size_t index;
};

static int compare_numbered(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	int r = strcmp(x->item->text, y->item->text);

	if (r == 0)
		r = (int)x->item->source.layer - (int)y->item->source.layer;
	return r ? r : x->index < y->index ? -1 : 1;
}

/* Within a layer the last of equal items stays, since of NAME=VALUE the last one counts. Equal items of two layers both
 * stay: each has its own weight, and its own row in the readout. */
static int remove_duplicates(struct merging *merge, struct item_list *list)
{
	struct numbered *sorted = ARENA_ARRAY(merge->arena, struct numbered, list->n + 1);
	size_t kept = 0;

	if (!sorted)
		return err_oom(merge->err);
	for (size_t i = 0; i < list->n; i++)
		sorted[i] = (struct numbered){&list->v[i], i};
	qsort(sorted, list->n, sizeof(*sorted), compare_numbered);
	for (size_t i = 0; i + 1 < list->n; i++) {
		const struct policy_item *a = sorted[i].item, *b = sorted[i + 1].item;

		if (a->source.layer == b->source.layer && strcmp(a->text, b->text) == 0)
			sorted[i].item = NULL;
	}
	/* The marks are by order of text; the list keeps its own order. */
	for (size_t i = 0; i < list->n; i++)
		if (!sorted[i].item)
			list->v[sorted[i].index].text = NULL;
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].text)
			list->v[kept++] = list->v[i];
	list->n = kept;
	return 0;
}

/* ---- all ---- */

/*
 * What the built-in policy accepts, for everybody to see in `status` and to take back with --no-accept; refusing there
 * would only make people switch pinfold off.
 *
 * services: below Landlock ABI 6 nothing holds abstract sockets back while the network is open.
 */
static const char *const accepted_builtin[] = { "services" };

static int set_builtin(struct merging *merge)
{
	int r = 0;

	memset(merge->policy->value, 0, sizeof(merge->policy->value));
	for (int key = 0; key < KEY_COUNT; key++)
		merge->policy->value[key].number = policy_keys[key].builtin;
	for (size_t i = 0; r == 0 && i < sizeof(accepted_builtin) / sizeof(accepted_builtin[0]); i++)
		r = add_item(merge, &(struct policy_setting){ .key = KEY_ACCEPT, .text = accepted_builtin[i] });
	return r;
}

int merge_layers(struct pinfold_policy *policy, const struct layer layers[LAYER_COUNT], bool is_trusted,
		 struct pinfold_error *err)
{
	struct merging merge = {.policy = policy, .arena = &policy->arena, .is_trusted = is_trusted, .err = err};
	int r = set_builtin(&merge);

	for (int layer = LAYER_ADMIN; r == 0 && layer < LAYER_COUNT; layer++)
		for (size_t i = 0; r == 0 && i < layers[layer].n; i++)
			r = apply(&merge, &layers[layer], &layers[layer].v[i]);
	for (int key = 0; r == 0 && key < KEY_COUNT; key++) {
		if (merge.lists[key].n > 1)
			r = remove_duplicates(&merge, &merge.lists[key]);
		policy->value[key].items = merge.lists[key].v;
		policy->value[key].count = merge.lists[key].n;
	}
	return r;
}

const struct policy_item *policy_acceptance(const struct pinfold_policy *policy, const char *guarantee, bool absent)
{
	const struct policy_value *value = &policy->value[KEY_ACCEPT];
	size_t length = strlen(guarantee);

	for (size_t i = value->count; i-- > 0;) {
		const char *text = value->items[i].text;

		if (strncmp(text, guarantee, length) != 0)
			continue;
		if (strcmp(text + length, ACCEPT_ABSENT) == 0 || (!absent && !text[length]))
			return &value->items[i];
	}
	return NULL;
}

bool policy_accepts(const struct pinfold_policy *policy, const char *guarantee, bool absent)
{
	return policy_acceptance(policy, guarantee, absent) != NULL;
}
