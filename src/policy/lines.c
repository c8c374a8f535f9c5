/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which line each value stands. jansson keeps no positions, so this looks at the text a second time; the text is
 * known to be valid JSON by then. jansson hands out the members of an object in the order of the text, so that the n-th
 * value of a walk through its tree is the n-th one here.
 */
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "policy/internal.h"

struct line_scan {
	struct arena *arena;
	int *lines;
	size_t count, cap;
	int line;
	bool is_object[LIMIT_CONFIG_DEPTH + 1]; /* by depth */
	size_t depth;
	bool expects_key;
	bool has_key; /* the next value is a member, whose line was taken at its key */
};

static int take_line(struct line_scan *scan)
{
	int *grown = arena_grow(scan->arena, scan->lines, scan->count, scan->count + 1, sizeof(*grown), &scan->cap);

	if (!grown)
		return -ENOMEM;
	scan->lines = grown;
	scan->lines[scan->count++] = scan->line;
	return 0;
}

/* A value begins, or the key of one. */
static int begin(struct line_scan *scan, bool is_string)
{
	if (is_string && scan->expects_key) {
		scan->expects_key = false;
		scan->has_key = true;
		return take_line(scan);
	}
	if (scan->has_key) {
		scan->has_key = false;
		return 0;
	}
	return take_line(scan);
}

static const char *string_end(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : end;
}

static const char *word_end(const char *p, const char *end)
{
	while (p < end && !strchr(" \t\r\n,:]}", *p))
		p++;
	return p;
}

static int open_bracket(struct line_scan *scan, bool is_object)
{
	int r = begin(scan, false);

	if (r < 0 || scan->depth >= LIMIT_CONFIG_DEPTH)
		return r < 0 ? r : -EINVAL;
	scan->is_object[++scan->depth] = is_object;
	scan->expects_key = is_object;
	return 0;
}

static int scan_step(struct line_scan *scan, const char **p, const char *end)
{
	char c = **p;

	switch (c) {
	case '\n': scan->line++; break;
	case ' ':
	case '\t':
	case '\r':
	case ':': break;
	case ',': scan->expects_key = scan->is_object[scan->depth]; break;
	case ']':
	case '}':
		scan->expects_key = false;
		scan->depth -= scan->depth > 0;
		break;
	case '[':
	case '{': (*p)++; return open_bracket(scan, c == '{');
	case '"': *p = string_end(*p, end); return begin(scan, true);
	default: *p = word_end(*p, end); return begin(scan, false);
	}
	(*p)++;
	return 0;
}

int lines_find(struct arena *arena, const char *text, size_t length, int **ret, size_t *ret_count)
{
	struct line_scan scan = {.arena = arena, .line = 1};
	const char *end = text + length;
	int r = 0;

	while (r == 0 && text < end)
		r = scan_step(&scan, &text, end);
	if (r < 0)
		return r;
	*ret = scan.lines;
	*ret_count = scan.count;
	return 0;
}
