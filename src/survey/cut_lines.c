/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings that stand a line each: a name, a separator, a value. A table says in what the formats differ.
 */
#include "survey/cut.h"

#include <string.h>
#include <sys/types.h>

struct style {
	const char *name;       /* of the file; .cabal is its folder */
	const char *separators; /* NULL: blanks, and the name may stand in quotes */
	bool has_scopes;        /* the name proper is behind the last colon: @scope:registry */
	const char *comments;   /* characters that begin one; also after a blank within a line */
	const char *comment;    /* or a word that does, only at the start */
	bool continues;         /* a line that is further in belongs to the name above */
	bool has_sections;
	bool has_bare;          /* a line may be a name alone */
	bool continues_by_backslash;
	bool needs_blank;       /* the separator counts only before a blank or the end */
	const char *const *own; /* prefixes of the format's own names; others show only plain values. NULL: all are */
};

static const char *const gradle_names[] = { "org.gradle.", "systemProp.", "android.", "kotlin.", NULL };

static const struct style styles[] = {
	{ .name = ".npmrc", .separators = "=", .has_scopes = true, .comments = "#;", .has_sections = true,
	  .has_bare = true },
	{ .name = ".yarnrc", .has_scopes = true, .comments = "#", .has_bare = true },
	{ .name = "pip.conf", .separators = "=:", .comments = "#;", .continues = true, .has_sections = true },
	{ .name = "gradle.properties", .separators = "=:", .comments = "#!", .continues_by_backslash = true,
	  .own = gradle_names },
	{ .name = "nix.conf", .separators = "=", .comments = "#", .has_bare = true },
	{ .name = ".cabal", .separators = ":", .comment = "--", .continues = true, .has_bare = true,
	  .needs_blank = true },
};

struct lines {
	const struct style *style;
	bool has_name, is_cut, is_public, is_backslash; /* of the name above */
	size_t indent;
};

static size_t indent_of(const char *line, size_t len)
{
	size_t n = 0;

	while (n < len && cut_is_blank(line[n]))
		n++;
	return n;
}

static bool is_comment(const struct style *style, const char *text, size_t len)
{
	if (style->comments && strchr(style->comments, text[0]))
		return true;
	return style->comment && len >= strlen(style->comment) && !memcmp(text, style->comment, strlen(style->comment));
}

/* The length without a comment at the end; -1: whether it is one depends on quotes. A properties file has none
 * there. */
static ssize_t without_comment(const struct style *style, const char *line, size_t len)
{
	if (!style->comments || style->continues_by_backslash)
		return (ssize_t)len;
	for (size_t i = 1; i < len; i++)
		if (cut_is_blank(line[i - 1]) && strchr(style->comments, line[i]))
			return memchr(line, '"', len) || memchr(line, '\'', len) ? -1 : (ssize_t)i;
	return (ssize_t)len;
}

/* The length of the name, and where its value begins; the whole line where there is no separator. */
static size_t split(const struct style *style, const char *text, size_t len, size_t *ret_value)
{
	size_t i = 0;

	if (!style->separators && text[0] == '"') {
		const char *quote = memchr(text + 1, '"', len - 1);

		i = quote ? (size_t)(quote - text) + 1 : len;
	}
	for (; i < len; i++) {
		if (style->separators ? !strchr(style->separators, text[i]) : !cut_is_blank(text[i]))
			continue;
		if (!style->needs_blank || i + 1 == len || cut_is_blank(text[i + 1])) {
			*ret_value = i + 1;
			return i;
		}
	}
	*ret_value = len;
	return len;
}

static bool is_own(const struct style *style, const char *name, size_t len)
{
	for (const char *const *own = style->own; own && *own; own++)
		if (len >= strlen(*own) && !memcmp(name, *own, strlen(*own)))
			return true;
	return !style->own;
}

static void add_line(struct buf *out, const char *line, size_t len)
{
	cut_add(out, line, len);
	buf_char(out, '\n');
}

/* Lines that belong to the name above. */
static int cut_continuation(struct lines *lines, struct buf *out, const char *line, size_t len)
{
	enum cut_value verdict = lines->is_cut ? CUT_DROP : lines->is_public ? CUT_KEEP : cut_judge(out, line, len);

	if (verdict == CUT_KEEP)
		add_line(out, line, len);
	return verdict == CUT_UNSURE ? 0 : 1;
}

static enum cut_value judge_setting(struct buf *out, const struct style *style, const char *name, size_t name_len,
				    const char *value, size_t len)
{
	const char *colon = style->has_scopes ? memrchr(name, ':', name_len) : NULL;
	const char *proper = colon ? colon + 1 : name;
	enum cut_value verdict;

	if (cut_is_secret_name(proper, name_len - (size_t)(proper - name)))
		return memmem(value, len, "://", 3) || (!len && style->continues) ? CUT_UNSURE : CUT_DROP;
	verdict = cut_judge(out, value, len);
	return verdict == CUT_KEEP && !is_own(style, name, name_len) && !cut_is_plain(value, len) ? CUT_DROP : verdict;
}

static int cut_setting(struct lines *lines, struct buf *out, const char *line, size_t len)
{
	size_t indent = indent_of(line, len), rest = len - indent, value, name;
	const char *text = line + indent;
	enum cut_value verdict = CUT_KEEP;

	name = split(lines->style, text, rest, &value);
	if (name == rest && !lines->style->has_bare)
		return 0;
	if (lines->style->continues_by_backslash && memchr(text, '\\', name))
		return 0; /* an escaped name could spell anything */
	lines->has_name = true;
	lines->indent = indent;
	lines->is_public = cut_is_public_name(text, name);
	if (!lines->is_public)
		verdict = judge_setting(out, lines->style, text, name, text + value, rest - value);
	lines->is_cut = verdict != CUT_KEEP;
	if (verdict == CUT_KEEP)
		add_line(out, line, len);
	return verdict == CUT_UNSURE ? 0 : 1;
}

static bool ends_in_backslash(const char *line, size_t len)
{
	size_t n = 0;

	while (n < len && line[len - 1 - n] == '\\')
		n++;
	return n % 2 == 1;
}

/* Is the line, further in than the name above, text of that name? cabal's fields stand further in than their
 * section. */
static bool is_continuation(const struct lines *lines, const char *text, size_t len)
{
	size_t value;

	if (!lines->style->needs_blank || lines->is_cut)
		return true;
	return split(lines->style, text, len, &value) == len;
}

static int cut_line(struct lines *lines, struct buf *out, const char *line, size_t len)
{
	const struct style *style = lines->style;
	size_t indent = indent_of(line, len);
	bool was_backslash = lines->is_backslash;
	ssize_t rest;

	lines->is_backslash = style->continues_by_backslash && ends_in_backslash(line, len);
	if (was_backslash)
		return cut_continuation(lines, out, line, len);
	if (indent == len || is_comment(style, line + indent, len - indent))
		return lines->is_backslash ? 0 : 1; /* does a comment go on? Readers don't agree */
	rest = without_comment(style, line, len);
	if (rest < 0)
		return 0;
	len = (size_t)rest;
	if (style->has_sections && line[indent] == '[') {
		lines->has_name = lines->is_cut = lines->is_public = false;
		return cut_continuation(lines, out, line, len);
	}
	if (style->continues && lines->has_name && indent > lines->indent &&
	    is_continuation(lines, line + indent, len - indent))
		return cut_continuation(lines, out, line, len);
	return cut_setting(lines, out, line, len);
}

static const struct style *find_style(const char *name)
{
	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		if (!strcmp(name, styles[i].name))
			return &styles[i];
	return NULL;
}

int cut_lines(struct buf *out, const char *name, const char *text, size_t len)
{
	struct lines lines = { .style = find_style(name) };
	const char *line;
	size_t n;

	if (!lines.style)
		return 0;
	while (cut_next_line(&text, &len, &line, &n)) {
		int r = cut_line(&lines, out, line, n);

		if (r <= 0)
			return r;
	}
	return lines.is_backslash ? 0 : 1;
}
