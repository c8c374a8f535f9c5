/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading git's files. They are hostile input: an earlier run may have written them. So each is read up to a limit,
 * none through a link, and what git would not take is taken for absent, which grants nothing.
 */
#include "survey/git.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/gitconfig.h"
#include "base/limits.h"
#include "base/path.h"

enum {
	POINTER_BYTES = PATH_MAX + 16,
};

bool git_has(struct taking *take, const char *directory, const char *name, mode_t type)
{
	const char *path = path_join(take->arena, directory, name);
	struct survey_node node;

	return path && look_at(take, path, &node) == 0 && (node.mode & S_IFMT) == type;
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
	struct buf text BUF_CLEANUP = BUF_INIT(limit);
	int fd FD_CLEANUP = -1;
	int r;

	if (!path)
		return -ENOMEM;
	fd = fd_open_regular(AT_FDCWD, path);
	if (fd < 0)
		return look_failed(take, path, -fd);
	r = buf_read_fd(&text, fd);
	if (r < 0)
		return r;
	if (text.len && memchr(text.data, '\0', text.len))
		return -EINVAL;
	*ret = arena_strndup(take->arena, text.data ? text.data : "", text.len);
	return *ret ? 0 : -ENOMEM;
}

static int resolve(struct taking *take, const char *base, const char *text, char **ret)
{
	const char *path = *text == '/' ? text : base ? path_join(take->arena, base, text) : NULL;
	bool is_missing = false;
	char *resolved;
	int r;

	if (!path)
		return -ENOMEM;
	r = look_resolve(take, path, &resolved, &is_missing);
	if (r == 0 && is_missing)
		r = -ENOENT;
	if (r == 0)
		*ret = resolved;
	return r;
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

int git_read_config(struct taking *take, const char *file, struct gitconfig *ret)
{
	char *text;
	int r = read_text(take, file, LIMIT_GIT_CONFIG_BYTES, &text);

	return r < 0 ? r : gitconfig_parse(take->arena, text, strlen(text), ret);
}

/* ---- core.worktree ---- */

/* The last one counts, as for git. What an include would bring is not looked at. */
static int find_worktree(struct taking *take, const char *text, const char **ret)
{
	struct gitconfig config = { 0 };
	int r = gitconfig_parse(take->arena, text, strlen(text), &config);

	*ret = NULL;
	for (size_t i = 0; r == 0 && i < config.n; i++) {
		const struct gitconfig_item *item = &config.v[i];

		if (item->key && !item->subsection && !strcmp(item->section, "core") && !strcmp(item->key, "worktree"))
			*ret = item->value;
	}
	return r;
}

int git_read_worktree(struct taking *take, const char *directory, char **ret)
{
	/* Sparse checkouts move it into the second one. */
	static const char *const files[] = { "config", "config.worktree" };

	*ret = NULL;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !*ret; i++) {
		const char *value;
		char *text;
		int r = read_text(take, path_join(take->arena, directory, files[i]), LIMIT_GIT_CONFIG_BYTES, &text);

		if (r == 0)
			r = find_worktree(take, text, &value);
		if (r == 0 && value && *value)
			r = resolve(take, directory, value, ret);
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}
