/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is carried over from one text of git's configuration to another. The new text (carry_edit.c) is read again: it
 * counts only if that yields exactly the variables that were meant.
 */
#include "run/carry_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_OF_ONE = 8, NAME_BYTES = 80 };

/* ---- variables by name ---- */

static int compare_items(const void *a, const void *b)
{
	const struct gitconfig_item *x = *(const struct gitconfig_item *const *)a;
	const struct gitconfig_item *y = *(const struct gitconfig_item *const *)b;
	int order = gitconfig_compare(x, y);

	return order ? order : (x > y) - (x < y);
}

static int sort_variables(struct arena *arena, const struct gitconfig *config, struct sorted *ret)
{
	ret->n = 0;
	ret->v = ARENA_ARRAY(arena, const struct gitconfig_item *, config->n + 1);
	if (!ret->v)
		return -ENOMEM;
	for (size_t i = 0; i < config->n; i++)
		if (config->v[i].key)
			ret->v[ret->n++] = &config->v[i];
	qsort(ret->v, ret->n, sizeof(*ret->v), compare_items);
	return 0;
}

static struct values values_at(const struct sorted *sorted, size_t first)
{
	size_t end = first;

	while (end < sorted->n && gitconfig_compare(sorted->v[end], sorted->v[first]) == 0)
		end++;
	return (struct values){ sorted->v + first, end - first };
}

static struct values values_of(const struct sorted *sorted, const struct gitconfig_item *name)
{
	size_t low = 0, high = sorted->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (gitconfig_compare(sorted->v[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == sorted->n || gitconfig_compare(sorted->v[low], name) != 0)
		return (struct values){ 0 };
	return values_at(sorted, low);
}

static bool are_same(const struct values *a, const struct values *b)
{
	for (size_t i = 0; a->n == b->n && i < a->n; i++)
		if (!gitconfig_same_value(a->v[i], b->v[i]))
			return false;
	return a->n == b->n;
}

/* ---- what differs ---- */

static int add_change(struct carry *carry, const struct values *before, const struct values *after)
{
	struct change *v = arena_grow(carry->arena, carry->changes, carry->change_count, carry->change_count + 1,
				      sizeof(*v), &carry->change_cap);

	if (!v)
		return -ENOMEM;
	carry->changes = v;
	v += carry->change_count++;
	*v = (struct change){ .name = before->n ? before->v[0] : after->v[0], .before = *before, .after = *after };
	v->present = values_of(&carry->sorted_present, v->name);
	return 0;
}

static int find_changes(struct carry *carry)
{
	const struct sorted *a = &carry->sorted_before, *b = &carry->sorted_after;
	size_t i = 0, j = 0;
	int r = 0;

	while (r == 0 && (i < a->n || j < b->n)) {
		int order = i == a->n ? 1 : j == b->n ? -1 : gitconfig_compare(a->v[i], b->v[j]);
		struct values before = { 0 }, after = { 0 };

		if (order <= 0)
			before = values_at(a, i);
		if (order >= 0)
			after = values_at(b, j);
		i += before.n;
		j += after.n;
		if (!are_same(&before, &after))
			r = add_change(carry, &before, &after);
	}
	return r;
}

/* ---- what may be carried over ---- */

/* Never an address or a path: those name another machine, or a program (ext::). */
static bool is_remote(const struct carry *carry, const char *value)
{
	const struct gitconfig_item url = { .section = "remote", .subsection = value, .key = "url" };

	return strcmp(value, ".") == 0 || (gitconfig_is_branch(value) && values_of(&carry->sorted_present, &url).n > 0);
}

static bool is_merge(const struct carry *carry, const char *value)
{
	static const char heads[] = "refs/heads/";

	(void)carry;
	return strncmp(value, heads, sizeof(heads) - 1) == 0 && gitconfig_is_branch(value + sizeof(heads) - 1);
}

static bool is_rebase(const struct carry *carry, const char *value)
{
	static const char *const words[] = { "true", "false", "merges", "interactive" };

	(void)carry;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(value, words[i]) == 0)
			return true;
	return false;
}

const struct carry_row carry_rows[CARRY_ROWS] = {
	{ "remote", "remote", is_remote },
	{ "merge", "merge", is_merge },
	{ "rebase", "rebase", is_rebase },
	{ "pushremote", "pushRemote", is_remote },
};

static const struct carry_row *find_row(const struct gitconfig_item *name)
{
	if (strcmp(name->section, "branch") != 0 || !name->subsection)
		return NULL;
	for (size_t i = 0; i < CARRY_ROWS; i++)
		if (strcmp(carry_rows[i].key, name->key) == 0)
			return &carry_rows[i];
	return NULL;
}

/* Where the host's file has changed meanwhile, it is right. */
static bool is_fit(const struct carry *carry, const struct change *change, const struct carry_row *row)
{
	if (!gitconfig_is_branch(change->name->subsection) || change->after.n > VALUES_OF_ONE)
		return false;
	if (!are_same(&change->present, &change->before) && !are_same(&change->present, &change->after))
		return false;
	for (size_t i = 0; i < change->after.n; i++)
		if (!change->after.v[i]->value || !row->is_fit(carry, change->after.v[i]->value))
			return false;
	return true;
}

size_t carry_section_end(const struct carry *carry, size_t first)
{
	size_t end = first + 1;

	while (end < carry->change_count &&
	       gitconfig_same_section(carry->changes[end].name, carry->changes[first].name))
		end++;
	return end;
}

/* A remote without its branch, or a branch with another one's remote, would be worse than neither. */
static size_t judge_section(struct carry *carry, size_t first)
{
	size_t end = carry_section_end(carry, first);
	bool are_fit = true;

	for (size_t i = first; i < end; i++) {
		const struct carry_row *row = find_row(carry->changes[i].name);

		carry->changes[i].is_carried = row != NULL;
		are_fit = are_fit && (!row || is_fit(carry, &carry->changes[i], row));
	}
	for (size_t i = first; i < end; i++)
		carry->changes[i].is_carried = carry->changes[i].is_carried && are_fit;
	return end;
}

static const struct change *find_change(const struct carry *carry, const struct gitconfig_item *name)
{
	size_t low = 0, high = carry->change_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = gitconfig_compare(carry->changes[middle].name, name);

		if (order == 0)
			return &carry->changes[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool carry_is_replaced(const struct carry *carry, const struct gitconfig_item *item)
{
	const struct change *change = item->key ? find_change(carry, item) : NULL;

	return change && change->is_carried;
}

/* ---- reading it again ---- */

static const struct gitconfig_item *next_untouched(const struct carry *carry, const struct gitconfig *config,
						   size_t *at)
{
	while (*at < config->n) {
		const struct gitconfig_item *item = &config->v[(*at)++];

		if (item->key && !carry_is_replaced(carry, item))
			return item;
	}
	return NULL;
}

/* All others are what they were, and those that are carried over are what the command made of them. */
static int check(const struct carry *carry, const struct buf *text)
{
	const struct gitconfig_item *was, *is;
	struct gitconfig config;
	struct sorted sorted;
	size_t i = 0, j = 0;
	int r = gitconfig_parse(carry->arena, text->data ? text->data : "", text->len, &config);

	if (r == 0)
		r = sort_variables(carry->arena, &config, &sorted);
	if (r < 0)
		return r;
	do {
		was = next_untouched(carry, &carry->present, &i);
		is = next_untouched(carry, &config, &j);
		if (!was != !is || (was && (gitconfig_compare(was, is) != 0 || !gitconfig_same_value(was, is))))
			return -EINVAL;
	} while (was);
	for (size_t k = 0; k < carry->change_count; k++) {
		const struct change *change = &carry->changes[k];
		struct values now = values_of(&sorted, change->name);

		if (change->is_carried && !are_same(&now, &change->after))
			return -EINVAL;
	}
	return 0;
}

/* ---- all of it ---- */

/* An address as a subsection may hold a password. */
static int add_name(struct arena *arena, struct strv *list, const struct gitconfig_item *name)
{
	const char *sub = name->subsection;
	char *text;

	if (sub && strstr(sub, "://"))
		sub = "…";
	text = arena_printf(arena, "%.*s%s%.*s%s.%.*s", NAME_BYTES, name->section, sub ? "." : "",
			    NAME_BYTES, sub ? sub : "", sub && strlen(sub) > NAME_BYTES ? "…" : "",
			    NAME_BYTES, name->key);
	return strv_add_owned(arena, list, text);
}

static int add_names(const struct carry *carry, struct carry_names *names)
{
	int r = 0;

	for (size_t i = 0; i < carry->change_count && r == 0; i++) {
		const struct change *change = &carry->changes[i];

		r = add_name(carry->arena, change->is_carried ? &names->kept : &names->dropped, change->name);
	}
	return r;
}

static int read_one(struct carry *carry, const struct buf *text, struct gitconfig *config, struct sorted *sorted)
{
	int r = gitconfig_parse(carry->arena, text->data ? text->data : "", text->len, config);

	return r < 0 ? r : sort_variables(carry->arena, config, sorted);
}

static int read_all(struct carry *carry, const struct carry_texts *texts)
{
	int r = read_one(carry, &texts->before, &carry->before, &carry->sorted_before);

	if (r == 0)
		r = read_one(carry, &texts->after, &carry->after, &carry->sorted_after);
	return r == 0 ? read_one(carry, &texts->present, &carry->present, &carry->sorted_present) : r;
}

int carry_text(struct arena *arena, const struct carry_texts *texts, struct buf *ret, struct carry_names *names)
{
	struct carry carry = { .arena = arena, .text = texts->present.data ? texts->present.data : "",
			       .length = texts->present.len };
	int r = read_all(&carry, texts);

	if (r == 0)
		r = find_changes(&carry);
	if (r < 0)
		return r;
	for (size_t first = 0; first < carry.change_count;)
		first = judge_section(&carry, first);
	r = add_names(&carry, names);
	if (r < 0 || !names->kept.n)
		return r;
	r = carry_edit(&carry, ret);
	if (r == 0)
		r = check(&carry, ret);
	if (r < 0)
		return r;
	return ret->len != carry.length || memcmp(ret->data ? ret->data : "", carry.text, carry.length) != 0;
}
