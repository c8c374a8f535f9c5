/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LINK_HOPS = 40, /* as the kernel's own limit */
};

static bool is_dots(const char *name, size_t len)
{
	return (len == 1 && name[0] == '.') || (len == 2 && name[0] == '.' && name[1] == '.');
}

bool path_is_normal(const char *path)
{
	if (path[0] != '/')
		return false;
	if (path[1] == '\0')
		return true;
	while (*path == '/') {
		size_t len = strcspn(++path, "/");

		if (len == 0 || is_dots(path, len))
			return false;
		path += len;
	}
	return true;
}

/* Appends the components of `path` to out[0..len), which holds a normal path without its slash for "/" ("" is "/"). */
static size_t append_lexical(char *out, size_t len, const char *path)
{
	while (*path) {
		size_t part = strcspn(path, "/");

		if (part == 2 && path[0] == '.' && path[1] == '.') {
			while (len > 0 && out[--len] != '/')
				;
		} else if (part > 0 && !is_dots(path, part)) {
			out[len++] = '/';
			memcpy(out + len, path, part);
			len += part;
		}
		path += part;
		path += strspn(path, "/");
	}
	return len;
}

char *path_normal(struct arena *arena, const char *base, const char *path)
{
	bool is_absolute = path[0] == '/';
	size_t len = 0;
	char *out;

	if (!is_absolute && !base)
		return NULL;
	out = arena_alloc(arena, (is_absolute ? 0 : strlen(base)) + strlen(path) + 3, 1);
	if (!out)
		return NULL;
	if (!is_absolute)
		len = append_lexical(out, len, base);
	len = append_lexical(out, len, path);
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}

char *path_join(struct arena *arena, const char *dir, const char *name)
{
	size_t len = strlen(dir), name_len = strlen(name);
	bool needs_slash = !(len > 0 && dir[len - 1] == '/');
	char *joined = arena_alloc(arena, len + name_len + 2, 1);

	if (!joined)
		return NULL;
	memcpy(joined, dir, len);
	if (needs_slash)
		joined[len++] = '/';
	memcpy(joined + len, name, name_len + 1);
	return joined;
}

/* Thousands of pairs are compared for a plan. Nearly all have a long common part and differ, and nearly all of those
 * have no component that ends where `dir` does: that is asked first. */
bool path_is_in_n(const char *path, size_t length, const char *dir, size_t dir_length)
{
	if (dir_length <= 1)
		return true;
	return length >= dir_length && (path[dir_length] == '/' || path[dir_length] == '\0') &&
	       path[dir_length - 1] == dir[dir_length - 1] && memcmp(path, dir, dir_length) == 0;
}

const char *path_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (!path_is_in_n(path, strlen(path), dir, n))
		return NULL;
	return n > 1 && path[n] ? path + n + 1 : path + n;
}

bool path_is_in(const char *path, const char *dir)
{
	return path_below(path, dir) != NULL;
}

bool path_is_below(const char *path, const char *dir)
{
	const char *rest = path_below(path, dir);

	return rest && *rest;
}

char *path_parent(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return arena_strdup(arena, "/");
	return arena_strndup(arena, path, (size_t)(slash - path));
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

size_t path_depth(const char *path)
{
	size_t depth = 0;

	if (strcmp(path, "/") == 0)
		return 0;
	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

static uint64_t eight_bytes(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* Of n bytes, how many are the same before the first that differs. Eight at a time, since what is sorted has its
 * beginning in common: the home, the worktree. */
static size_t common_length(const char *a, const char *b, size_t n)
{
	const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	size_t i = 0;

	for (; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
		uint64_t differ = eight_bytes(a + i) ^ eight_bytes(b + i);

		if (differ)
			return i + (size_t)(is_little ? __builtin_ctzll(differ) : __builtin_clzll(differ)) / 8;
	}
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

int path_compare_n(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t n = a_length < b_length ? a_length : b_length, i = common_length(a, b, n);

	if (i == n)
		return (a_length > n) - (b_length > n);
	if (a[i] == '/' || b[i] == '/')
		return a[i] == '/' ? -1 : 1;
	return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
}

int path_compare(const char *a, const char *b)
{
	return path_compare_n(a, strlen(a), b, strlen(b));
}

/* ---- resolving --------------------------------------------------------------------------------------------------- */

static int absolute(struct arena *arena, const char *path, char **ret)
{
	char cwd[PATH_MAX];

	if (path[0] == '\0')
		return -ENOENT;
	if (path[0] == '/') {
		*ret = arena_strdup(arena, path);
	} else {
		if (!getcwd(cwd, sizeof(cwd)))
			return -errno;
		*ret = path_join(arena, cwd, path);
	}
	return *ret ? 0 : -ENOMEM;
}

/* A link that leads to nothing: `*head` becomes what it says. 1 if it was one, 0 if not, or -errno. */
static int follow_dangling(struct arena *arena, char **head)
{
	char target[PATH_MAX], *dir;
	ssize_t len = readlink(*head, target, sizeof(target));

	/* EINVAL: no link. ENOENT: made and gone, or missing for real. */
	if (len < 0)
		return errno == EINVAL || errno == ENOENT ? 0 : -errno;
	if ((size_t)len == sizeof(target))
		return -ENAMETOOLONG;
	target[len] = '\0';
	dir = target[0] == '/' ? NULL : path_parent(arena, *head);
	if (target[0] == '/')
		*head = arena_strdup(arena, target);
	else
		*head = dir ? path_join(arena, dir, target) : NULL;
	return *head ? 1 : -ENOMEM;
}

static void strip_slashes(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
}

/* Moves the last component of `head` to the front of *tail. -ENOENT for "..", whose meaning a missing parent leaves
 * open. */
static int split_last(struct arena *arena, char *head, char **tail)
{
	char *slash = strrchr(head, '/');
	const char *name = slash + 1;

	if (strcmp(name, "..") == 0 || *name == '\0')
		return -ENOENT;
	if (strcmp(name, ".") != 0) {
		*tail = **tail ? path_join(arena, name, *tail) : arena_strdup(arena, name);
		if (!*tail)
			return -ENOMEM;
	}
	slash[slash == head ? 1 : 0] = '\0';
	return 0;
}

enum step { STEP_DIRECTORY, STEP_MISSING, STEP_OTHER };

/* What lies at path[0..length): something that is no link, nothing, or what needs a closer look. */
static enum step step_at(char *path, size_t length)
{
	char kept = path[length], target[1];
	ssize_t n;

	path[length] = '\0';
	n = readlink(path, target, sizeof(target));
	path[length] = kept;
	if (n >= 0)
		return STEP_OTHER;
	return errno == EINVAL ? STEP_DIRECTORY : errno == ENOENT ? STEP_MISSING : STEP_OTHER;
}

/* From path[end] on, before which all is resolved. STEP_DIRECTORY: the path is there, and is its own canonical form.
 * STEP_MISSING: so it is as far as it exists. */
static enum step walk(char *path, size_t end)
{
	enum step step = STEP_DIRECTORY;

	while (path[end] && step == STEP_DIRECTORY) {
		end += strcspn(path + end, "/");
		step = step_at(path, end);
		end += path[end] == '/';
	}
	return step;
}

/* A dangling link is followed by its text: what is made through it later appears where it points to, and that is the
 * spelling a rule has to be about. */
static int resolve_links(struct arena *arena, const char *path, char **ret, bool *ret_missing)
{
	char found[PATH_MAX], empty[] = "", *tail = empty, *head = NULL, *whole;
	bool is_missing = false;
	int hops = 0;
	int r = absolute(arena, path, &head);

	if (r < 0)
		return r;
	while (!realpath(head, found)) {
		if (errno != ENOENT)
			return -errno;
		is_missing = true;
		strip_slashes(head);
		r = follow_dangling(arena, &head);
		if (r == 0)
			r = split_last(arena, head, &tail);
		else if (r > 0 && ++hops > LINK_HOPS)
			r = -ELOOP;
		if (r < 0)
			return r;
	}
	whole = *tail ? path_join(arena, found, tail) : arena_strdup(arena, found);
	if (!whole)
		return -ENOMEM;
	*ret = whole;
	if (ret_missing)
		*ret_missing = is_missing;
	return 0;
}

/* Most paths have no link on their way, and then need one look for each component. The unusual (a link, a dot entry,
 * no right to look) needs more. */
int path_resolve(struct arena *arena, const char *path, char **ret, bool *ret_missing)
{
	bool is_plain = path_is_normal(path) && path[1] && strlen(path) < PATH_MAX;
	char *copy = is_plain ? arena_strdup(arena, path) : NULL;
	enum step step = copy ? walk(copy, 1) : STEP_OTHER;

	if (step == STEP_OTHER)
		return resolve_links(arena, path, ret, ret_missing);
	*ret = copy;
	if (ret_missing)
		*ret_missing = step == STEP_MISSING;
	return 0;
}

/* What is asked for lies mostly below a home, whose spelling is known. */
int path_resolve_below(struct arena *arena, const char *dir, const char *below, char **ret)
{
	char *path = path_join(arena, dir, below);

	if (!path)
		return -ENOMEM;
	if (!path_is_normal(path) || walk(path, strlen(path) - strlen(below)) == STEP_OTHER)
		return resolve_links(arena, path, ret, NULL);
	*ret = path;
	return 0;
}
