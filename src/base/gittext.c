/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gittext.h"

#include <errno.h>
#include <string.h>

#include "base/gitconfig.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t blanks(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && is_blank(text[n]))
		n++;
	return n;
}

static bool begins(const char *text, size_t length, const char *word)
{
	return length >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

bool gittext_is_ref(const char *name, size_t length)
{
	if (!begins(name, length, "refs/"))
		return false;
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f)
			return false;
		/* git-check-ref-format(1): no component begins with a dot; ".." would lead out of refs/. The one
		 * exception is what a repository with reftables has in its HEAD: refs/heads/.invalid. */
		if (begins(name + i, length - i, ".."))
			return false;
	}
	return true;
}

static bool is_id(const char *text, size_t length)
{
	if (length != 40 && length != 64)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!memchr("0123456789abcdef", text[i], 16))
			return false;
	return true;
}

bool gittext_is_head(const char *text, size_t length)
{
	while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r' || is_blank(text[length - 1])))
		length--;
	if (is_id(text, length))
		return true;
	if (!begins(text, length, "ref:"))
		return false;
	text += 4;
	length -= 4;
	return gittext_is_ref(text + blanks(text, length), length - blanks(text, length));
}

/* The word as git's parser takes it: in full or as its letter, and a blank or the line's end after it. */
static bool is_command(const char *line, size_t length)
{
	size_t word = begins(line, length, "exec") ? 4 : begins(line, length, "x") ? 1 : 0;

	return word > 0 && (word == length || is_blank(line[word]) || line[word] == '\r');
}

int gittext_commands(struct arena *arena, const char *text, size_t length, struct strv *ret)
{
	for (const char *end = text + length; text < end;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text), skip = blanks(text, n);

		if (is_command(text + skip, n - skip) &&
		    strv_add_owned(arena, ret, arena_strndup(arena, text + skip, n - skip)) < 0)
			return -ENOMEM;
		text += n + 1;
	}
	return 0;
}

static int add_strategy(struct arena *arena, const char *name, size_t length, struct strv *ret)
{
	static const char *const own[] = { "ort", "recursive", "resolve", "octopus", "ours", "subtree" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (length == strlen(own[i]) && memcmp(name, own[i], length) == 0)
			return 0;
	return length ? strv_add_owned(arena, ret, arena_strndup(arena, name, length)) : 0;
}

static int add_options(struct arena *arena, const char *text, size_t length, struct strv *ret)
{
	struct gitconfig options = { 0 };
	int r = gitconfig_parse(arena, text, length, &options);

	if (r == -ENOMEM)
		return r;
	if (r < 0) /* git may read it in another way */
		return strv_add(arena, ret, "what cannot be read");
	for (size_t i = 0; i < options.n && r == 0; i++) {
		const struct gitconfig_item *item = &options.v[i];

		if (item->key && item->value && strcmp(item->key, "strategy") == 0)
			r = add_strategy(arena, item->value, strlen(item->value), ret);
	}
	return r;
}

int gittext_programs(struct arena *arena, const char *name, const char *text, size_t length, struct strv *ret)
{
	if (strcmp(name, "opts") == 0)
		return add_options(arena, text, length, ret);
	if (strcmp(name, "strategy") != 0)
		return gittext_commands(arena, text, length, ret);
	while (length && (text[length - 1] == '\n' || is_blank(text[length - 1])))
		length--;
	return add_strategy(arena, text, length, ret);
}
