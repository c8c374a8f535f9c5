/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns. Whatever cannot be matched as it was meant is refused when it is read: a deny that is dropped without a
 * word is worse than none (F031, E027). Bytes are compared, not characters, as git does.
 */
#include "policy/pattern.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/path.h"

/* ---- one component ---- */

/* Does the set at g ("[a-z]") hold c? *ret_length: its length, or 0 where no bracket closes it. */
static bool set_holds(const char *g, const char *end, unsigned char c, size_t *ret_length)
{
	const char *p = g + 1;
	bool is_negated = p < end && (*p == '!' || *p == '^');
	bool found = false;

	if (is_negated)
		p++;
	for (bool is_first = true; p < end && (is_first || *p != ']'); is_first = false) {
		unsigned char low, high;

		if (*p == '\\' && p + 1 < end)
			p++;
		low = high = (unsigned char)*p++;
		if (p + 1 < end && p[0] == '-' && p[1] != ']') {
			p += p[1] == '\\' && p + 2 < end ? 2 : 1;
			high = (unsigned char)*p++;
		}
		if (low <= c && c <= high)
			found = true;
	}
	*ret_length = p < end ? (size_t)(p + 1 - g) : 0;
	return found != is_negated;
}

/* The length of the element at g where it matches c, else 0. g is not at a star. */
static size_t element_matches(const char *g, const char *end, char c)
{
	size_t length;

	switch (*g) {
	case '?': return 1;
	case '\\':
		if (g + 1 < end)
			return g[1] == c ? 2 : 0;
		return c == '\\' ? 1 : 0;
	case '[': {
		bool holds = set_holds(g, end, (unsigned char)c, &length);

		if (length > 0)
			return holds ? length : 0;
		return c == '[' ? 1 : 0;
	}
	default: return *g == c ? 1 : 0;
	}
}

/* Only the last star is ever tried again: what an earlier one could take in addition, the last one can take too. So the
 * time is at most the product of both lengths. */
static bool glob_span(const char *g, const char *g_end, const char *n, const char *n_end)
{
	const char *star = NULL, *mark = NULL;

	while (n < n_end) {
		size_t length;

		if (g < g_end && *g == '*') {
			star = ++g;
			mark = n;
			continue;
		}
		length = g < g_end ? element_matches(g, g_end, *n) : 0;
		if (length > 0) {
			g += length;
			n++;
		} else if (star) {
			g = star;
			n = ++mark;
		} else {
			return false;
		}
	}
	while (g < g_end && *g == '*')
		g++;
	return g == g_end;
}

bool pattern_glob(const char *glob, const char *name)
{
	/* Most pairs differ in the first letter. */
	if (*glob != *name && *glob != '*' && *glob != '?' && *glob != '[' && *glob != '\\')
		return false;
	return glob_span(glob, glob + strlen(glob), name, name + strlen(name));
}

/* ---- components ---- */

static const char *component_end(const char *p)
{
	return p + strcspn(p, "/");
}

static const char *component_next(const char *p)
{
	p = component_end(p);
	return *p == '/' ? p + 1 : p;
}

static bool is_double_star(const char *glob)
{
	return component_end(glob) == glob + 2 && glob[0] == '*' && glob[1] == '*';
}

static bool component_matches(const char *glob, const char *path)
{
	return glob_span(glob, component_end(glob), path, component_end(path));
}

/* As glob_span, with components for bytes and `**` for the star; a `**` at the end needs something below. */
static bool components_match(const char *glob, const char *path)
{
	const char *star = NULL, *mark = NULL;

	while (*path) {
		if (*glob && is_double_star(glob)) {
			glob = star = component_next(glob);
			mark = path;
			if (!*glob)
				return true;
		} else if (*glob && component_matches(glob, path)) {
			glob = component_next(glob);
			path = component_next(path);
		} else if (star) {
			glob = star;
			path = mark = component_next(mark);
		} else {
			return false;
		}
	}
	return !*glob;
}

bool pattern_matches(const struct pattern *pattern, const char *path, bool is_directory)
{
	const char *below = path_below(path, pattern->base);

	if (!below || (pattern->directory_only && !is_directory))
		return false;
	if (!*pattern->rest)
		return !*below;
	if (pattern->any_depth)
		return *below && pattern_glob(pattern->rest, path_name(path));
	return components_match(pattern->rest, below);
}

bool pattern_may_match_below(const struct pattern *pattern, const char *path)
{
	const char *below = path_below(path, pattern->base);
	const char *glob = pattern->rest;

	if (!below)
		return path_is_in(pattern->base, path);
	if (!*glob || pattern->any_depth)
		return pattern->any_depth;
	for (; *below; below = component_next(below), glob = component_next(glob)) {
		if (*glob && is_double_star(glob))
			return true;
		if (!*glob || !component_matches(glob, below))
			return false;
	}
	return *glob;
}

/* ---- reading ---- */

static int refuse(struct pinfold_error *err, const char *text, const char *why)
{
	return err_say(err, PINFOLD_USAGE, EINVAL, "pattern '%s' %s", text, why);
}

/* What is wrong with the set at p, or NULL and *ret_end behind it. */
static const char *set_fault(const char *p, const char *end, const char **ret_end)
{
	p++;
	if (p < end && (*p == '!' || *p == '^'))
		p++;
	for (bool is_first = true; p < end && (is_first || *p != ']'); is_first = false) {
		unsigned char low;

		if (p[0] == '[' && p + 1 < end && strchr(":.=", p[1]))
			return "holds a character class such as [:alpha:], which is not supported";
		if (*p == '\\' && p + 1 < end)
			p++;
		low = (unsigned char)*p++;
		if (p + 1 < end && p[0] == '-' && p[1] != ']') {
			p += p[1] == '\\' && p + 2 < end ? 2 : 1;
			if ((unsigned char)*p++ < low)
				return "holds a range in [] that runs backwards";
		}
	}
	if (p >= end)
		return "holds a [ that no ] closes";
	*ret_end = p + 1;
	return NULL;
}

/* How many dots the component consists of, escaped or not; 0 where it holds anything else. */
static size_t only_dots(const char *p, const char *end)
{
	size_t dots = 0;

	for (; p < end; p++) {
		if (*p == '\\' && p + 1 < end)
			p++;
		if (*p != '.')
			return 0;
		dots++;
	}
	return dots;
}

static const char *component_fault(const char *p, const char *end)
{
	const char *fault;

	if (only_dots(p, end) == 2)
		return "holds a '..'";
	while (p < end) {
		if (*p == '\\' && p + 1 >= end)
			return "holds a backslash with nothing to escape";
		if (*p == '[') {
			fault = set_fault(p, end, &p);
			if (fault)
				return fault;
			continue;
		}
		p += *p == '\\' ? 2 : 1;
	}
	return NULL;
}

static const char *text_fault(const char *text)
{
	const char *fault = NULL;

	if (!*text)
		return "is empty";
	if (strlen(text) > LIMIT_PATTERN_BYTES)
		return "is too long";
	if (*text == '!')
		return "starts with '!': a pattern cannot be taken back";
	for (const char *p = text; *p && !fault; p = component_next(p))
		fault = component_fault(p, component_end(p));
	return fault;
}

/* Leaves out empty and "." components, in place. */
static void components_normalise(char *rest)
{
	char *to = rest;

	for (const char *p = rest; *p;) {
		const char *end = component_end(p);
		size_t length = (size_t)(end - p);
		bool is_last = !*end;

		if (length > 0 && only_dots(p, end) != 1) {
			if (to > rest)
				*to++ = '/';
			memmove(to, p, length);
			to += length;
		}
		p = is_last ? end : end + 1;
	}
	*to = '\0';
}

static bool has_wildcard(const char *p)
{
	for (; *p; p++) {
		if (strchr("*?[", *p))
			return true;
		if (*p == '\\' && p[1])
			p++;
	}
	return false;
}

static void unescape(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		*to++ = *p;
	}
	*to = '\0';
}

static int set_literal(struct arena *arena, struct pattern *pattern)
{
	char *rest = arena_strdup(arena, pattern->rest);

	if (!rest)
		return -ENOMEM;
	unescape(rest);
	pattern->literal = *rest ? path_join(arena, pattern->base, rest) : pattern->base;
	pattern->is_literal = true;
	return pattern->literal ? 0 : -ENOMEM;
}

/* Splits text into base and rest; *ret_anchored: it names a place. */
static const char *find_base(const char *text, const char *worktree, const char *home, const char **ret_rest,
			     bool *ret_anchored)
{
	const char *slash = strchr(text, '/');

	*ret_anchored = true;
	*ret_rest = text;
	if (*text == '/')
		return "/";
	if (*text == '~' && (!text[1] || text[1] == '/')) {
		*ret_rest = text + 1;
		return home;
	}
	*ret_anchored = (slash && slash[strspn(slash, "/")]) || strcmp(text, ".") == 0 || strcmp(text, "./") == 0;
	return worktree;
}

int pattern_parse(struct arena *arena, const char *text, const char *worktree, const char *home, struct pattern *ret,
		  struct pinfold_error *err)
{
	struct pattern pattern = {0};
	const char *fault = text_fault(text);
	const char *written;
	bool is_anchored;
	char *rest;

	if (fault)
		return refuse(err, text, fault);
	pattern.base = find_base(text, worktree, home, &written, &is_anchored);
	if (!pattern.base)
		return refuse(err, text, "begins with ~, but there is no home directory");
	rest = arena_strdup(arena, written);
	pattern.text = arena_strdup(arena, text);
	pattern.base = arena_strdup(arena, pattern.base);
	if (!rest || !pattern.text || !pattern.base)
		return err_oom(err);
	components_normalise(rest);
	pattern.rest = rest;
	pattern.any_depth = !is_anchored;
	pattern.directory_only = text[strlen(text) - 1] == '/';
	if (is_anchored && !has_wildcard(rest) && set_literal(arena, &pattern) < 0)
		return err_oom(err);
	*ret = pattern;
	return 0;
}
