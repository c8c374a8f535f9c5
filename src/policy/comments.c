/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON with comments and trailing commas becomes plain JSON, in place: what is left out is overwritten with blanks, so
 * that each line keeps its number and jansson's messages stay true. A string may hold what looks like a comment.
 */
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "policy/internal.h"

struct blanking {
	char *text;
	size_t length, at;
	int line;
	int depth;
	size_t comma; /* where the last comma is, while only blanks and comments followed it */
	bool has_comma;
	const char *why;
};

static int give_up(struct blanking *b, const char *why)
{
	b->why = why;
	return -EINVAL;
}

static void blank_line_comment(struct blanking *b)
{
	while (b->at < b->length && b->text[b->at] != '\n')
		b->text[b->at++] = ' ';
}

static int blank_block_comment(struct blanking *b)
{
	const char *end = memmem(b->text + b->at + 2, b->length - b->at - 2, "*/", 2);
	size_t stop;

	if (!end)
		return give_up(b, "a comment does not end");
	for (stop = (size_t)(end - b->text) + 2; b->at < stop; b->at++) {
		if (b->text[b->at] == '\n')
			b->line++;
		else
			b->text[b->at] = ' ';
	}
	return 0;
}

/* A string that does not end is jansson's to tell. */
static void skip_string(struct blanking *b)
{
	for (b->at++; b->at < b->length && b->text[b->at] != '"' && b->text[b->at] != '\n'; b->at++)
		if (b->text[b->at] == '\\' && b->at + 1 < b->length && b->text[b->at + 1] != '\n')
			b->at++;
	if (b->at < b->length && b->text[b->at] == '"')
		b->at++;
}

static int close_bracket(struct blanking *b)
{
	if (b->has_comma)
		b->text[b->comma] = ' ';
	b->depth--;
	return 0;
}

/* One comma is left out, and only behind a value: "[,]" stays the error that it is. */
static void see_comma(struct blanking *b)
{
	size_t before = b->at;

	while (before > 0 && strchr(" \t\r\n", b->text[before - 1]))
		before--;
	b->has_comma = before > 0 && !strchr("[{,:", b->text[before - 1]);
	b->comma = b->at;
}

static int step(struct blanking *b)
{
	char c = b->text[b->at];
	char next = b->at + 1 < b->length ? b->text[b->at + 1] : '\0';
	int r = 0;

	if (c == '/' && next == '/') {
		blank_line_comment(b);
		return 0;
	}
	if (c == '/' && next == '*')
		return blank_block_comment(b);
	if (c == '\0')
		return give_up(b, "there is a NUL byte");
	if (c == '\n')
		b->line++;
	if (strchr(" \t\r\n", c)) {
		b->at++;
		return 0;
	}
	if (c == ',')
		see_comma(b);
	else if (c == ']' || c == '}')
		r = close_bracket(b);
	else if ((c == '[' || c == '{') && ++b->depth > LIMIT_CONFIG_DEPTH)
		r = give_up(b, "the nesting is too deep");
	if (c != ',')
		b->has_comma = false;
	if (c == '"')
		skip_string(b);
	else
		b->at++;
	return r;
}

int comments_blank(char *text, size_t length, int *ret_line, const char **ret_why)
{
	struct blanking b = {.text = text, .length = length, .line = 1};
	int r = 0;

	while (r == 0 && b.at < length)
		r = step(&b);
	if (r < 0) {
		*ret_line = b.line;
		*ret_why = b.why;
	}
	return r;
}
