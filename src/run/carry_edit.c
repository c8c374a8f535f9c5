/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting the new text together from pieces of the old one, so that comments and order stay: lines are taken away and
 * lines are added, each at its place, and nothing else moves.
 */
#include "run/carry_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

static int add_edit(struct carry *carry, size_t start, size_t end, const char *text)
{
	struct edit *v = arena_grow(carry->arena, carry->edits, carry->edit_count, carry->edit_count + 1, sizeof(*v),
				    &carry->edit_cap);

	if (!v || !text)
		return -ENOMEM;
	carry->edits = v;
	v[carry->edit_count++] = (struct edit){ start, end, text };
	return 0;
}

static bool is_line_start(const struct carry *carry, size_t at)
{
	return at == 0 || carry->text[at - 1] == '\n';
}

/* The whole line (or lines); behind a header of the same line only what belongs to the variable. */
static int take_away(struct carry *carry, const struct gitconfig_item *item)
{
	size_t start = item->start, end = item->end;

	while (start > 0 && (carry->text[start - 1] == ' ' || carry->text[start - 1] == '\t'))
		start--;
	if (!is_line_start(carry, start)) {
		start = item->start;
		while (end > start && (carry->text[end - 1] == '\n' || carry->text[end - 1] == '\r'))
			end--;
	}
	return add_edit(carry, start, end, "");
}

static bool is_blank(const struct carry *carry, size_t start, size_t end)
{
	for (; start < end; start++)
		if (!strchr(" \t\r\n", carry->text[start]))
			return false;
	return true;
}

/* A header on a line of its own as git writes it, without a comment. */
static bool is_plain_header(const struct carry *carry, const struct gitconfig_item *header)
{
	BUF_CLEANUP struct buf plain = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);

	if (!header->subsection)
		return false;
	gitconfig_add_header(&plain, header->section, header->subsection);
	return !plain.error && plain.len == header->end - header->start &&
	       memcmp(plain.data, carry->text + header->start, plain.len) == 0;
}

/* Nothing is left between a header and the next one (v[first] and v[end]): no variable, no comment. */
static bool is_emptied(const struct carry *carry, size_t first, size_t end)
{
	const struct gitconfig_item *v = carry->present.v;

	for (size_t i = first; i < end; i++) {
		size_t next = i + 1 < carry->present.n ? v[i + 1].start : carry->length;

		if (!is_blank(carry, v[i].end, next) || (i > first && !carry_is_replaced(carry, &v[i])))
			return false;
	}
	return end > first + 1 && is_plain_header(carry, &v[first]);
}

static bool has_additions(const struct carry *carry, const struct gitconfig_item *section)
{
	for (size_t i = 0; i < carry->change_count; i++) {
		const struct change *change = &carry->changes[i];

		if (change->is_carried && change->after.n && gitconfig_same_section(change->name, section))
			return true;
	}
	return false;
}

static int clear_section(struct carry *carry, size_t first, size_t end)
{
	const struct gitconfig_item *v = carry->present.v;
	int r = 0;

	if (is_emptied(carry, first, end) && !has_additions(carry, &v[first]))
		return add_edit(carry, v[first].start, end < carry->present.n ? v[end].start : carry->length, "");
	for (size_t i = first + 1; i < end && r == 0; i++)
		if (carry_is_replaced(carry, &v[i]))
			r = take_away(carry, &v[i]);
	return r;
}

static int clear_all(struct carry *carry)
{
	const struct gitconfig *present = &carry->present;
	int r = 0;

	for (size_t first = 0, end; first < present->n && r == 0; first = end) {
		for (end = first + 1; end < present->n && present->v[end].key; end++)
			;
		r = clear_section(carry, first, end);
	}
	return r;
}

static void add_values(struct buf *lines, const char *key, const struct values *values)
{
	for (size_t i = 0; i < values->n; i++)
		gitconfig_add_variable(lines, key, values->v[i]->value);
}

/* Behind the last line of the section, or as a section of its own at the end. */
static int add_section(struct carry *carry, size_t first, size_t end)
{
	BUF_CLEANUP struct buf lines = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	const struct gitconfig_item *section = carry->changes[first].name, *last = NULL;
	size_t at;

	for (size_t i = 0; i < carry->present.n; i++)
		if (gitconfig_same_section(&carry->present.v[i], section))
			last = &carry->present.v[i];
	at = last ? last->end : carry->length;
	if (!is_line_start(carry, at))
		buf_char(&lines, '\n');
	if (!last)
		gitconfig_add_header(&lines, section->section, section->subsection);
	for (size_t row = 0; row < CARRY_ROWS; row++)
		for (size_t i = first; i < end; i++)
			if (strcmp(carry->changes[i].name->key, carry_rows[row].key) == 0)
				add_values(&lines, carry_rows[row].spelling, &carry->changes[i].after);
	if (lines.error)
		return lines.error;
	return add_edit(carry, at, at, arena_strdup(carry->arena, lines.data));
}

static int add_all(struct carry *carry)
{
	int r = 0;

	for (size_t first = 0, end; first < carry->change_count && r == 0; first = end) {
		bool has_some = false;

		end = carry_section_end(carry, first);
		for (size_t i = first; i < end; i++)
			has_some = has_some || (carry->changes[i].is_carried && carry->changes[i].after.n);
		if (has_some)
			r = add_section(carry, first, end);
	}
	return r;
}

static int compare_edits(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

int carry_edit(struct carry *carry, struct buf *out)
{
	size_t at = 0;
	int r = clear_all(carry);

	if (r == 0)
		r = add_all(carry);
	if (r < 0)
		return r;
	if (carry->edit_count)
		qsort(carry->edits, carry->edit_count, sizeof(*carry->edits), compare_edits);
	for (size_t i = 0; i < carry->edit_count; i++) {
		const struct edit *one = &carry->edits[i];

		if (one->start < at)
			return -EINVAL;
		buf_add(out, carry->text + at, one->start - at);
		buf_str(out, one->text);
		at = one->end;
	}
	buf_add(out, carry->text + at, carry->length - at);
	return out->error;
}
