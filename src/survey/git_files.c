/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading git's files. They are hostile input: an earlier run may have written them. So each is read up to a limit, none
 * through a link, and what is not in the plainest form that git writes is taken for absent, which grants nothing.
 */
#include "survey/git.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fd.h"
#include "base/path.h"

enum {
	POINTER_BYTES = PATH_MAX + 16,
	CONFIG_BYTES = 256 * 1024,
};

bool git_has(struct taking *take, const char *directory, const char *name, mode_t type)
{
	const char *path = path_join(take->arena, directory, name);
	struct survey_node node;

	return path && look_at(path, &node) == 0 && (node.mode & S_IFMT) == type;
}

bool git_is_repository(struct taking *take, const char *directory)
{
	return (git_has(take, directory, "HEAD", S_IFREG) || git_has(take, directory, "HEAD", S_IFLNK)) &&
	       git_has(take, directory, "objects", S_IFDIR) && git_has(take, directory, "refs", S_IFDIR) &&
	       !git_has(take, directory, "commondir", S_IFREG) && !git_has(take, directory, "commondir", S_IFLNK);
}

/* The text of a file, in the arena; -E2BIG beyond the limit, -EINVAL for a zero byte in it. */
static int read_text(struct taking *take, const char *path, size_t limit, char **ret)
{
	int fd FD_CLEANUP = -1;
	char *text;
	ssize_t n;

	if (!path)
		return -ENOMEM;
	fd = fd_open_regular(AT_FDCWD, path);
	if (fd < 0)
		return fd;
	text = malloc(limit + 1);
	if (!text)
		return -ENOMEM;
	n = fd_read_all(fd, text, limit + 1);
	if (n < 0 || (size_t)n > limit || memchr(text, '\0', (size_t)n)) {
		free(text);
		return n < 0 ? (int)n : (size_t)n > limit ? -E2BIG : -EINVAL;
	}
	*ret = arena_strndup(take->arena, text, (size_t)n);
	free(text);
	return *ret ? 0 : -ENOMEM;
}

static int resolve(struct taking *take, const char *base, const char *text, char **ret)
{
	const char *path = *text == '/' ? text : base ? path_join(take->arena, base, text) : NULL;
	bool is_missing = false;
	int r;

	if (!path)
		return -ENOMEM;
	r = path_resolve(take->arena, path, ret, &is_missing);
	return r == 0 && is_missing ? -ENOENT : r;
}

int git_read_pointer(struct taking *take, const char *file, const char *prefix, const char *base, char **ret)
{
	char *text;
	size_t length;
	int r = read_text(take, file, POINTER_BYTES, &text);

	if (r < 0)
		return r;
	if (strncmp(text, prefix, strlen(prefix)) != 0)
		return -EINVAL;
	text += strlen(prefix);
	length = strlen(text);
	while (length && strchr("\r\n", text[length - 1]))
		text[--length] = '\0';
	return length && !strchr(text, '\n') ? resolve(take, base, text, ret) : -EINVAL;
}

/* ---- core.worktree ---- */

/* The value of a line "name = value" in place, quotes and escapes undone; NULL for another name, or a form that git does
 * not write itself. */
static char *value_of(char *line, const char *name)
{
	size_t length = strlen(name);
	char *to, *start;
	bool is_quoted = false;

	if (strncasecmp(line, name, length) != 0)
		return NULL;
	line += length;
	line += strspn(line, " \t");
	if (*line != '=')
		return NULL;
	line++;
	start = to = line + strspn(line, " \t");
	for (char *from = start; *from && (is_quoted || !strchr("#;", *from)); from++) {
		if (*from == '"') {
			is_quoted = !is_quoted;
			continue;
		}
		if (*from == '\\' && !strchr("\\\"", *++from))
			return NULL;
		if (!*from)
			return NULL;
		*to++ = *from;
	}
	while (!is_quoted && to > start && strchr(" \t\r", to[-1]))
		to--;
	*to = '\0';
	return is_quoted || to == start ? NULL : start;
}

/* The last one counts, as for git. What an include would bring is not looked at. */
static char *find_worktree(char *text)
{
	bool is_core = false;
	char *found = NULL;

	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line += strspn(line, " \t");
		if (*line == '[') {
			is_core = !strncasecmp(line, "[core]", 6);
			line += is_core ? 6 + strspn(line + 6, " \t") : 0;
		}
		if (is_core && !strncasecmp(line, "worktree", 8))
			found = value_of(line, "worktree");
	}
	return found;
}

int git_read_worktree(struct taking *take, const char *directory, char **ret)
{
	/* Sparse checkouts move it into the second one. */
	static const char *const files[] = { "config", "config.worktree" };

	*ret = NULL;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !*ret; i++) {
		char *text, *value;
		int r = read_text(take, path_join(take->arena, directory, files[i]), CONFIG_BYTES, &text);

		if (r == 0) {
			value = find_worktree(text);
			if (value && resolve(take, directory, value, ret) == -ENOMEM)
				r = -ENOMEM;
		}
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}
