/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The YAML that people write into .yarnrc.yml, .condarc and Bundler's config: names with a value on the same line,
 * maps and lists by indentation, quotes that close on their line. Whatever else YAML has (anchors, tags, block and flow
 * text, escapes, several documents) is not read, and the file stays hidden.
 */
#include "survey/cut.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"

struct yaml_line {
	size_t indent; /* of the name, behind the dashes */
	bool is_item, is_open; /* begins with a dash; the value stands on the lines below */
	bool was_cut;  /* something below it was */
	const char *text;
	size_t len;
};

struct yaml {
	struct arena *arena;
	struct buf *out;
	struct yaml_line *lines; /* that stay */
	size_t count, cap;
	bool is_bundler, is_cutting;
	size_t cut_indent; /* while is_cutting: all further in than this goes */
};

struct setting {
	size_t indent;
	bool is_item;
	const char *name, *value;
	size_t name_len, value_len; /* name NULL: an item without one */
};

/* Bundler calls its secrets BUNDLE_ and the host (BUNDLE_GEMS__EXAMPLE__ORG): only names that are known are shown. */
static bool is_bundler_name(const char *name, size_t len)
{
	static const char *const prefixes[] = { "BUNDLE_MIRROR__", "BUNDLE_BUILD__", "BUNDLE_LOCAL__" };
	static const char *const names[] = {
		"PATH", "JOBS", "RETRY", "WITHOUT", "WITH", "ONLY", "DEPLOYMENT", "FROZEN", "BIN", "GEMFILE",
		"CACHE_ALL", "CACHE_PATH", "CLEAN", "FORCE_RUBY_PLATFORM", "SPECIFIC_PLATFORM", "PREFER_PATCH",
		"TIMEOUT", "SSL_CA_CERT", "SSL_VERIFY_MODE", "DISABLE_SHARED_GEMS", "GLOBAL_GEM_CACHE",
		"NO_INSTALL", "NO_PRUNE", "SHEBANG", "IGNORE_MESSAGES", "SILENCE_ROOT_WARNING", "PATH__SYSTEM",
		"DISABLE_EXEC_LOAD", "DISABLE_VERSION_CHECK",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (len > strlen(prefixes[i]) && !memcmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	if (len <= 7 || memcmp(name, "BUNDLE_", 7))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (len - 7 == strlen(names[i]) && !memcmp(name + 7, names[i], len - 7))
			return true;
	return false;
}

/* A value that stands in quotes, ends with its line, and has no escape. */
static bool is_quoted(const char *value, size_t len)
{
	return len >= 2 && value[len - 1] == value[0] && !memchr(value + 1, value[0], len - 2) &&
	       !memchr(value, '\\', len);
}

static bool is_list(const char *value, size_t len)
{
	return value[len - 1] == ']' && !memchr(value + 1, '[', len - 1) && !memchr(value, '{', len) &&
	       !memmem(value, len, ": ", 2) && !memchr(value, '\\', len);
}

static bool is_known_value(const char *value, size_t len)
{
	if (!len)
		return true;
	if (value[0] == '"' || value[0] == '\'')
		return is_quoted(value, len);
	if (value[0] == '[')
		return is_list(value, len);
	if (len == 2 && !memcmp(value, "{}", 2))
		return true;
	return !strchr("{}]|>&*!%@`?,#", value[0]) && !memmem(value, len, ": ", 2) && value[len - 1] != ':';
}

/* The length without a comment; a "#" behind a blank within quotes is not told apart, and ends the reading later. */
static size_t without_comment(const char *text, size_t len)
{
	for (size_t i = 1; i < len; i++)
		if (text[i] == '#' && (text[i - 1] == ' ' || text[i - 1] == '\t'))
			return i;
	return len;
}

/* Where the name ends: the colon before a blank or the end of the line; NULL: no name. */
static const char *find_colon(const char *text, size_t len)
{
	size_t i = 0;

	if (text[0] == '"' || text[0] == '\'') {
		const char *quote = memchr(text + 1, text[0], len - 1);

		i = quote ? (size_t)(quote - text) + 1 : len;
		return i < len && text[i] == ':' && (i + 1 == len || text[i + 1] == ' ') ? text + i : NULL;
	}
	for (; i < len; i++)
		if (text[i] == ':' && (i + 1 == len || text[i + 1] == ' '))
			return text + i;
	return NULL;
}

/* False: no YAML of the kind that is read here. text has no blanks at its ends. */
static bool parse(const char *text, size_t len, size_t indent, struct setting *ret)
{
	const char *colon;

	*ret = (struct setting){ .indent = indent };
	while (len >= 2 && text[0] == '-' && text[1] == ' ') {
		size_t before = len;

		text += 1;
		len = cut_trim(&text, len - 1);
		ret->indent += before - len;
		ret->is_item = true;
	}
	if (!len || (text[0] == '-' && len == 1) || memchr(text, '\t', len))
		return false;
	colon = find_colon(text, len);
	if (colon) {
		ret->name = text;
		ret->name_len = (size_t)(colon - text);
		if (strchr("{}[]|>&*!%`?,#", text[0]) || memchr(text, '\\', ret->name_len))
			return false;
		ret->value = colon + 1;
		ret->value_len = cut_trim(&ret->value, len - ret->name_len - 1);
	} else {
		if (!ret->is_item) /* text that goes on from the line above */
			return false;
		ret->value = text;
		ret->value_len = len;
	}
	return is_known_value(ret->value, ret->value_len);
}

static enum cut_value judge(const struct yaml *yaml, const struct setting *setting)
{
	if (setting->name && yaml->is_bundler && !is_bundler_name(setting->name, setting->name_len))
		return CUT_DROP;
	if (!setting->name || !cut_is_secret_name(setting->name, setting->name_len))
		return cut_judge(yaml->out, setting->value, setting->value_len);
	/* A map with such a name may be a scope (npmScopes: keycloak:), whose address must not get lost. */
	if (!setting->value_len || memmem(setting->value, setting->value_len, "://", 3))
		return CUT_UNSURE;
	return CUT_DROP;
}

static int keep(struct yaml *yaml, const struct setting *setting, const char *line, size_t len)
{
	struct yaml_line *lines = arena_grow(yaml->arena, yaml->lines, yaml->count, yaml->count + 1, sizeof(*lines),
					     &yaml->cap);

	if (!lines)
		return -ENOMEM;
	yaml->lines = lines;
	lines[yaml->count++] = (struct yaml_line){
		.indent = setting->indent, .is_item = setting->is_item, .is_open = setting->name && !setting->value_len,
		.text = line, .len = len,
	};
	return 1;
}

/* A map that has lost all it had must stay a map. */
static void note_cut(struct yaml *yaml, size_t indent)
{
	struct yaml_line *above = yaml->count ? &yaml->lines[yaml->count - 1] : NULL;

	if (above && above->is_open && above->indent <= indent)
		above->was_cut = true;
}

static int read_line(struct yaml *yaml, const char *line, size_t len)
{
	const char *text = line;
	struct setting setting;
	enum cut_value verdict;
	size_t indent, n;

	n = cut_trim(&text, without_comment(line, len));
	indent = (size_t)(text - line);
	if (!n || text[0] == '#')
		return 1;
	if (memchr(line, '\t', indent))
		return 0;
	if (n == 3 && !indent && !memcmp(text, "---", 3)) /* only before everything: else a second document */
		return yaml->count || yaml->is_cutting ? 0 : 1;
	if (yaml->is_cutting && (indent > yaml->cut_indent || (indent == yaml->cut_indent && text[0] == '-')))
		return 1;
	yaml->is_cutting = false;
	if (!parse(text, n, indent, &setting))
		return 0;
	verdict = judge(yaml, &setting);
	if (verdict == CUT_KEEP)
		return keep(yaml, &setting, line, indent + n);
	if (verdict == CUT_UNSURE || (setting.is_item && setting.name)) /* the first name carries its item's dash */
		return 0;
	note_cut(yaml, setting.indent);
	yaml->is_cutting = setting.name != NULL; /* an item alone has nothing below */
	yaml->cut_indent = setting.indent;
	return 1;
}

static bool has_children(const struct yaml *yaml, size_t i)
{
	const struct yaml_line *line = &yaml->lines[i], *below = line + 1;

	if (i + 1 == yaml->count)
		return false;
	return below->indent > line->indent || (below->is_item && below->indent == line->indent);
}

int cut_yaml(struct arena *arena, struct buf *out, const char *text, size_t len, bool is_bundler)
{
	struct yaml yaml = { .arena = arena, .out = out, .is_bundler = is_bundler };
	const char *line;
	size_t n;

	while (cut_next_line(&text, &len, &line, &n)) {
		int r = read_line(&yaml, line, n);

		if (r <= 0)
			return r;
	}
	if (yaml.count)
		buf_str(out, "---\n");
	for (size_t i = 0; i < yaml.count; i++) {
		cut_add(out, yaml.lines[i].text, yaml.lines[i].len);
		buf_str(out, yaml.lines[i].was_cut && !has_children(&yaml, i) ? " {}\n" : "\n");
	}
	return 1;
}
