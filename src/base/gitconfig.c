/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gitconfig.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

struct reader {
	struct arena *arena;
	const char *text;
	size_t length, at;
	char *word; /* room for the word that is being put together: none is longer than the text */
	size_t word_length;
	struct gitconfig *out;
	const char *section, *subsection; /* of the header that was read last */
};

/* ---- letters: git's own notion, whatever the locale ---- */

enum { END = '\n' }; /* the end of the text ends a line, too */

static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_key_char(int c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static bool is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static bool is_at_end(const struct reader *r)
{
	return r->at >= r->length;
}

/* A line may end in "\r\n". */
static int next(struct reader *r)
{
	if (is_at_end(r))
		return END;
	if (r->text[r->at] == '\r' && r->at + 1 < r->length && r->text[r->at + 1] == '\n')
		r->at++;
	return (unsigned char)r->text[r->at++];
}

static int peek(const struct reader *r)
{
	struct reader ahead = *r;

	return next(&ahead);
}

static void put(struct reader *r, int c)
{
	r->word[r->word_length++] = (char)c;
}

static const char *take_word(struct reader *r)
{
	const char *word = arena_strndup(r->arena, r->word, r->word_length);

	r->word_length = 0;
	return word;
}

static void skip_blanks(struct reader *r)
{
	while (!is_at_end(r) && (peek(r) == ' ' || peek(r) == '\t'))
		next(r);
}

static void skip_line(struct reader *r)
{
	while (!is_at_end(r) && next(r) != '\n')
		;
}

static int add_item(struct reader *r, const char *key, const char *value, size_t start)
{
	struct gitconfig *out = r->out;
	struct gitconfig_item *v = arena_grow(r->arena, out->v, out->n, out->n + 1, sizeof(*v), &out->cap);

	if (!v)
		return -ENOMEM;
	if (out->n >= LIMIT_GIT_CONFIG_ITEMS)
		return -E2BIG;
	out->v = v;
	v[out->n++] = (struct gitconfig_item){ r->section, r->subsection, key, value, start, r->at };
	return 0;
}

/* ---- headers ---- */

/* [section "subsection"], behind the section. */
static int read_subsection(struct reader *r)
{
	int c;

	skip_blanks(r);
	if (next(r) != '"')
		return -EINVAL;
	while ((c = next(r)) != '"') {
		if (c == '\\')
			c = next(r);
		if (c == END)
			return -EINVAL;
		put(r, c);
	}
	r->subsection = take_word(r);
	if (!r->subsection)
		return -ENOMEM;
	return next(r) == ']' ? 0 : -EINVAL;
}

static int take_section(struct reader *r)
{
	char *dot = memchr(r->word, '.', r->word_length);

	r->subsection = NULL;
	if (dot) {
		r->subsection = arena_strndup(r->arena, dot + 1, r->word_length - (size_t)(dot + 1 - r->word));
		r->word_length = (size_t)(dot - r->word);
		if (!r->subsection)
			return -ENOMEM;
	}
	r->section = take_word(r);
	return r->section ? 0 : -ENOMEM;
}

static int read_header(struct reader *r, size_t start)
{
	int c, result;

	while ((c = next(r)) != ']' && !is_space(c)) {
		if (!is_key_char(c) && c != '.')
			return -EINVAL;
		put(r, lower(c));
	}
	result = take_section(r);
	if (result < 0)
		return result;
	if (c != ']') {
		/* both spellings at once are one name to git, which has a dot in its section; nobody writes that */
		if (c == END || r->subsection)
			return -EINVAL;
		result = read_subsection(r);
		if (result < 0)
			return result;
	}
	skip_blanks(r);
	c = peek(r);
	if (c == '\n' || c == '#' || c == ';')
		skip_line(r);
	return add_item(r, NULL, NULL, start);
}

/* ---- variables ---- */

/* Behind a backslash; 0: the line goes on, -1: no such escape. */
static int unescape(int c)
{
	switch (c) {
	case '\n':
		return 0;
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'n':
		return '\n';
	case '\\':
	case '"':
		return c;
	default:
		return -1;
	}
}

/* Blanks before and behind do not belong to the value, those between do. */
static int read_value(struct reader *r)
{
	bool is_quoted = false;
	size_t kept = 0; /* of the word: up to the last byte that is no bare blank */
	int c;

	while ((c = next(r)) != END || is_quoted) {
		if (c == END)
			return -EINVAL;
		if (is_space(c) && !is_quoted) {
			if (r->word_length)
				put(r, c);
			continue;
		}
		if (!is_quoted && (c == '#' || c == ';')) {
			skip_line(r);
			break;
		}
		if (c == '"') {
			is_quoted = !is_quoted;
			kept = r->word_length;
			continue;
		}
		if (c == '\\') {
			c = unescape(next(r));
			if (c < 0)
				return -EINVAL;
			if (c == 0)
				continue;
		}
		put(r, c);
		kept = r->word_length;
	}
	r->word_length = kept;
	return 0;
}

static int read_variable(struct reader *r, size_t start)
{
	const char *key, *value = NULL;
	int result, c;

	if (!r->section)
		return -EINVAL;
	r->at = start;
	while (!is_at_end(r) && is_key_char(peek(r)))
		put(r, lower(next(r)));
	key = take_word(r);
	if (!key)
		return -ENOMEM;
	skip_blanks(r);
	c = next(r);
	if (c != END) {
		if (c != '=')
			return -EINVAL;
		result = read_value(r);
		if (result < 0)
			return result;
		value = take_word(r);
		if (!value)
			return -ENOMEM;
	}
	return add_item(r, key, value, start);
}

static int read_items(struct reader *r)
{
	int result = 0;

	if (r->length >= 3 && memcmp(r->text, "\xef\xbb\xbf", 3) == 0)
		r->at = 3;
	while (result == 0 && !is_at_end(r)) {
		size_t start = r->at;
		int c = next(r);

		if (is_space(c))
			continue;
		if (c == '#' || c == ';')
			skip_line(r);
		else if (c == '[')
			result = read_header(r, start);
		else
			result = is_letter(c) ? read_variable(r, start) : -EINVAL;
	}
	return result;
}

int gitconfig_parse(struct arena *arena, const char *text, size_t length, struct gitconfig *ret)
{
	struct reader reader = { .arena = arena, .text = text, .length = length, .out = ret };

	*ret = (struct gitconfig){ 0 };
	if (length > LIMIT_GIT_CONFIG_BYTES)
		return -E2BIG;
	if (length && memchr(text, '\0', length))
		return -EINVAL;
	reader.word = arena_alloc(arena, length + 1, 1);
	return reader.word ? read_items(&reader) : -ENOMEM;
}

/* ---- comparing ---- */

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

int gitconfig_compare(const struct gitconfig_item *a, const struct gitconfig_item *b)
{
	int order = strcmp(a->section, b->section);

	if (order == 0)
		order = compare_text(a->subsection, b->subsection);
	return order ? order : compare_text(a->key, b->key);
}

bool gitconfig_same_section(const struct gitconfig_item *a, const struct gitconfig_item *b)
{
	return strcmp(a->section, b->section) == 0 && compare_text(a->subsection, b->subsection) == 0;
}

bool gitconfig_same_value(const struct gitconfig_item *a, const struct gitconfig_item *b)
{
	return compare_text(a->value, b->value) == 0;
}

/* ---- writing ---- */

static void add_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_char(out, '\\');
		buf_char(out, *text);
	}
}

void gitconfig_add_variable(struct buf *out, const char *key, const char *value)
{
	const char *quote = value && strpbrk(value, "#; ") ? "\"" : "";

	buf_printf(out, "\t%s", key);
	if (value) {
		buf_printf(out, " = %s", quote);
		add_escaped(out, value);
		buf_str(out, quote);
	}
	buf_char(out, '\n');
}

void gitconfig_add_header(struct buf *out, const char *section, const char *subsection)
{
	buf_printf(out, "[%s \"", section);
	add_escaped(out, subsection);
	buf_str(out, "\"]\n");
}

/* ---- names ---- */

static bool is_component(const char *name, size_t length)
{
	static const char lock[] = ".lock";
	const size_t tail = sizeof(lock) - 1;

	return length > 0 && name[0] != '.' && name[length - 1] != '.' &&
	       (length < tail || memcmp(name + length - tail, lock, tail) != 0);
}

bool gitconfig_is_branch(const char *name)
{
	const char *at = name;

	if (*name == '-' || !utf8_is_valid(name, strlen(name)) || strstr(name, "..") || strstr(name, "@{") ||
	    strcmp(name, "@") == 0 || strcmp(name, "HEAD") == 0)
		return false;
	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		if (*c <= ' ' || *c == 0x7f || strchr("~^:?*[\\\"'`$<>|&!", *c))
			return false;
	for (;;) {
		size_t length = strcspn(at, "/");

		if (!is_component(at, length))
			return false;
		if (!at[length])
			return true;
		at += length + 1;
	}
}
