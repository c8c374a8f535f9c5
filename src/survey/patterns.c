/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's own `hide` and `protect`. A literal path is looked at by name. Wildcards, and names without a slash, which
 * mean any depth, need a walk: one for each place that patterns begin at, whatever their number, and none without them.
 *
 * The walk goes by descriptor and follows no link: what a link leads to is found under its own name, or lies outside.
 * A directory too deep or too many matches are errors, never a silent end: an entry that was not found is not covered.
 */
#include "survey/take.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"

struct wish {
	struct pattern pattern;
	const struct policy_item *item;
	const char *source;
	enum policy_key key;
	bool is_walked; /* its base has been walked */
	bool has_match;
};

struct wishes {
	struct wish *v;
	size_t n, cap;
	size_t matches;
};

static int grant_wish(struct taking *take, const struct wish *wish, const char *path)
{
	const struct hidden_entry entry = {
		.path = path,
		.rule = wish->item->text,
		.source = wish->source,
		.item = wish->item,
	};

	if (wish->key == KEY_HIDE)
		return hidden_add(take, &entry);
	return protect_add(take, path, wish->item->text, wish->source, wish->pattern.is_literal);
}

/* Links in the parent are resolved, the last component is the entry itself. */
static int grant_literal(struct taking *take, const struct wish *wish)
{
	const char *path = wish->pattern.literal;
	char *parent, *resolved;
	struct survey_node node;
	int r;

	if (!strcmp(path, "/"))
		return grant_wish(take, wish, path);
	parent = path_parent(take->arena, path);
	if (!parent)
		return err_oom(take->err);
	r = look_resolve(take, parent, &resolved, NULL);
	if (r == -EACCES || r == -ENOTDIR || r == -ELOOP)
		return 0; /* nobody with the caller's rights comes there */
	if (r < 0) {
		r = err_sys(take->err, PINFOLD_REFUSED, -r, "resolve", path);
		return take_blame(take, r, wish->item, wish->key);
	}
	path = path_join(take->arena, resolved, path_name(path));
	if (!path)
		return err_oom(take->err);
	if (wish->pattern.directory_only && look_at(take, path, &node) == 0 && !S_ISDIR(node.mode) &&
	    !S_ISLNK(node.mode))
		return 0;
	return grant_wish(take, wish, path);
}

/* ---- the walk ---- */

static bool is_walked_from(const struct wish *wish, const char *base)
{
	return !wish->pattern.is_literal && !strcmp(wish->pattern.base, base);
}

struct walk {
	struct wishes *wishes;
	const char *base;
};

static int walk_directory(struct taking *take, const struct walk *walk, int fd, const char *path, size_t depth);

/* 1 where the directory itself is covered: nothing below it needs a look. */
static int match_entry(struct taking *take, const struct walk *walk, const char *path, bool is_directory)
{
	int covered = 0;

	for (size_t i = 0; i < walk->wishes->n; i++) {
		struct wish *wish = &walk->wishes->v[i];
		int r;

		if (!is_walked_from(wish, walk->base) || !pattern_matches(&wish->pattern, path, is_directory))
			continue;
		wish->has_match = true;
		if (++walk->wishes->matches > LIMIT_PATTERN_MATCHES) {
			r = err_say(take->err, PINFOLD_REFUSED, E2BIG, "more than %d paths match",
				    LIMIT_PATTERN_MATCHES);
			err_hint(take->err, "name the directory instead of what is in it");
			return take_blame(take, r, wish->item, wish->key);
		}
		r = grant_wish(take, wish, path);
		if (r < 0)
			return r;
		covered |= wish->key == KEY_HIDE;
	}
	return covered;
}

static bool is_of_interest(const struct walk *walk, const char *path)
{
	for (size_t i = 0; i < walk->wishes->n; i++) {
		const struct wish *wish = &walk->wishes->v[i];

		if (is_walked_from(wish, walk->base) && pattern_may_match_below(&wish->pattern, path))
			return true;
	}
	return false;
}

static bool is_directory_at(int fd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int walk_below(struct taking *take, const struct walk *walk, int fd, const char *name, const char *path,
		      size_t depth)
{
	int below;

	if (depth >= LIMIT_WALK_DEPTH)
		return err_say(take->err, PINFOLD_REFUSED, ELOOP,
			       "'%s' is too deep for the patterns of hide and protect", path);
	below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (below >= 0)
		return walk_directory(take, walk, below, path, depth + 1);
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return 0; /* gone since */
	return take_note(take, "'%s' was not looked through: %s", path, strerror(errno));
}

static int walk_entry(struct taking *take, const struct walk *walk, int fd, const char *dir, const struct dirent *entry,
		      size_t depth)
{
	bool is_directory = is_directory_at(fd, entry);
	char *path = path_join(take->arena, dir, entry->d_name);
	int r;

	if (!path)
		return err_oom(take->err);
	r = match_entry(take, walk, path, is_directory);
	if (r != 0)
		return r < 0 ? r : 0;
	/* The inside of .git is git's layout, and it can be large. */
	if (!is_directory || !strcmp(entry->d_name, ".git") || !is_of_interest(walk, path))
		return 0;
	return walk_below(take, walk, fd, entry->d_name, path, depth);
}

/* Takes the descriptor. */
static int walk_directory(struct taking *take, const struct walk *walk, int fd, const char *path, size_t depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!dir) {
		fd_close(&fd);
		return err_oom(take->err);
	}
	while (r == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = walk_entry(take, walk, fd, path, entry, depth);
	closedir(dir);
	return r;
}

static int walk_base(struct taking *take, struct wishes *wishes, size_t first)
{
	struct walk walk = { wishes, wishes->v[first].pattern.base };
	int fd;

	for (size_t i = first; i < wishes->n; i++)
		if (is_walked_from(&wishes->v[i], walk.base))
			wishes->v[i].is_walked = true;
	fd = open(walk.base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == EACCES))
		return 0;
	if (fd < 0)
		return err_sys(take->err, PINFOLD_REFUSED, errno, "read", walk.base);
	return walk_directory(take, &walk, fd, walk.base, 0);
}

/* ---- all of them ---- */

static int add_wish(struct taking *take, struct wishes *wishes, enum policy_key key, const struct policy_item *item)
{
	struct wish *wish = take_grow(take, wishes->v, &wishes->n, &wishes->cap, sizeof(*wish));
	int r;

	if (!wish)
		return err_oom(take->err);
	wishes->v = wish - (wishes->n - 1);
	wish->item = item;
	wish->key = key;
	wish->source = take_source(take, &item->source);
	if (!wish->source)
		return err_oom(take->err);
	r = pattern_parse(take->arena, item->text, take->survey->worktree, take->survey->who.home, &wish->pattern,
			  take->err);
	return r < 0 ? take_blame(take, r, item, key) : 0;
}

static int collect(struct taking *take, struct wishes *wishes)
{
	static const enum policy_key keys[] = { KEY_HIDE, KEY_PROTECT };
	int r = 0;

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		const struct policy_value *value = &take->policy->value[keys[k]];

		for (size_t i = 0; i < value->count && r == 0; i++)
			r = add_wish(take, wishes, keys[k], &value->items[i]);
	}
	return r;
}

/* A wildcard that covers nothing is most often a mistake, and protects nobody (F042). */
static int note_vain(struct taking *take, const struct wishes *wishes)
{
	int r = 0;

	for (size_t i = 0; i < wishes->n && r == 0; i++) {
		const struct wish *wish = &wishes->v[i];

		if (!wish->pattern.is_literal && !wish->has_match)
			r = take_note(take, "%s: '%s' matches nothing here (%s)", policy_keys[wish->key].name,
				      wish->item->text, wish->source);
	}
	return r;
}

int take_patterns(struct taking *take)
{
	struct wishes wishes = { 0 };
	int r = collect(take, &wishes);

	for (size_t i = 0; i < wishes.n && r == 0; i++) {
		struct wish *wish = &wishes.v[i];

		if (wish->is_walked)
			continue;
		r = wish->pattern.is_literal ? grant_literal(take, wish) : walk_base(take, &wishes, i);
	}
	return r == 0 ? note_vain(take, &wishes) : r;
}
