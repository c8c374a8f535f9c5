/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/take.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"

void look_node(const struct stat *st, struct survey_node *ret)
{
	*ret = (struct survey_node){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.mode = st->st_mode,
		.uid = st->st_uid,
		.gid = st->st_gid,
	};
}

int look_failed(struct taking *take, const char *path, int error)
{
	static const int says_nothing[] = {EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR, EPERM, ENOSYS};

	for (size_t i = 0; i < sizeof(says_nothing) / sizeof(says_nothing[0]) && !take->failed_errno; i++)
		if (error == says_nothing[i]) {
			take->failed_errno = error;
			snprintf(take->failed_path, sizeof(take->failed_path), "%s", path);
		}
	return -error;
}

int look_at(struct taking *take, const char *path, struct survey_node *ret)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return look_failed(take, path, errno);
	look_node(&st, ret);
	return 0;
}

int look_resolve(struct taking *take, const char *path, char **ret, bool *ret_missing)
{
	int r = path_resolve(take->arena, path, ret, ret_missing);

	return r < 0 ? look_failed(take, path, -r) : 0;
}

/* ---- listings ---- */

static bool is_large(const struct taking *take, const char *dir)
{
	for (size_t i = 0; i < take->survey->home_count; i++)
		if (!strcmp(dir, take->survey->home[i].path))
			return true;
	return !strcmp(dir, take->survey->worktree);
}

/* globs == NULL: every name. */
static bool is_wanted(const char *name, const struct strv *globs)
{
	if (name[0] == '.' || !globs)
		return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
	for (size_t i = 0; i < globs->n; i++)
		if (pattern_glob(globs->v[i], name))
			return true;
	return false;
}

static int listing_add(struct taking *take, struct listing *listing, const struct dirent *entry)
{
	struct listing_name *name;

	name = take_grow(take, listing->names, &listing->count, &listing->cap, sizeof(*name));
	if (!name)
		return -ENOMEM;
	listing->names = name - (listing->count - 1);
	name->type = entry->d_type;
	name->name = arena_strdup(take->arena, entry->d_name);
	return name->name ? 0 : -ENOMEM;
}

/* 0 also where the directory cannot be read: listing->errnum says so, and what is looked up there counts as absent. */
static int listing_read(struct taking *take, struct listing *listing)
{
	const struct strv *globs = is_large(take, listing->dir) ? &take->globs : NULL;
	struct dirent *entry;
	DIR *dir = opendir(listing->dir);
	int r = 0;

	if (!dir) {
		listing->errnum = -look_failed(take, listing->dir, errno);
		return 0;
	}
	while (errno = 0, r == 0 && (entry = readdir(dir)))
		if (is_wanted(entry->d_name, globs))
			r = listing_add(take, listing, entry);
	if (r == 0 && errno)
		listing->errnum = -look_failed(take, listing->dir, errno);
	closedir(dir);
	return r;
}

struct listing *look_listing(struct taking *take, const char *dir)
{
	struct listing *listing;

	for (size_t i = 0; i < take->listing_count; i++)
		if (take->listings[i].asked == dir)
			return take->last = &take->listings[i];
	for (size_t i = 0; i < take->listing_count; i++)
		if (!strcmp(take->listings[i].dir, dir))
			return take->last = &take->listings[i];
	listing = take_grow(take, take->listings, &take->listing_count, &take->listing_cap, sizeof(*listing));
	if (!listing)
		return NULL;
	take->listings = listing - (take->listing_count - 1);
	listing->asked = dir;
	listing->dir = arena_strdup(take->arena, dir);
	if (!listing->dir || listing_read(take, listing) < 0)
		return NULL;
	return take->last = listing;
}

/* FNV-1a. Whoever fills a directory with names of one hash makes his own runs slow. */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261U;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619U;
	return hash ^ hash >> 15;
}

/* The slot of the name, or the free one where it would be. */
static size_t slot_of(const struct listing *listing, const char *name)
{
	size_t mask = listing->slot_count - 1, slot = hash_name(name) & mask;

	while (listing->slots[slot] && strcmp(listing->names[listing->slots[slot] - 1].name, name) != 0)
		slot = (slot + 1) & mask;
	return slot;
}

/* At most half of them are taken. */
static int make_slots(struct taking *take, struct listing *listing)
{
	listing->slot_count = 16;
	while (listing->slot_count < 2 * listing->count)
		listing->slot_count *= 2;
	listing->slots = ARENA_ARRAY(take->arena, uint32_t, listing->slot_count);
	if (!listing->slots)
		return -ENOMEM;
	for (size_t i = 0; i < listing->count; i++)
		listing->slots[slot_of(listing, listing->names[i].name)] = (uint32_t)i + 1;
	return 0;
}

int look_name(struct taking *take, struct listing *listing, const char *name, const struct listing_name **ret)
{
	uint32_t found;

	if (listing->count == 0)
		return 0;
	if (!listing->slots && make_slots(take, listing) < 0)
		return -ENOMEM;
	found = listing->slots[slot_of(listing, name)];
	if (found)
		*ret = &listing->names[found - 1];
	return found > 0;
}

/* ---- links ---- */

int look_link(struct taking *take, const char *link, char **ret)
{
	char text[PATH_MAX], *parent, *joined, *resolved;
	ssize_t n = readlink(link, text, sizeof(text));
	int r;

	if (n < 0)
		return look_failed(take, link, errno);
	if (n == 0 || (size_t)n == sizeof(text))
		return -ENAMETOOLONG;
	while (n > 1 && text[n - 1] == '/')
		n--;
	text[n] = '\0';
	joined = text[0] == '/' ? arena_strdup(take->arena, text)
				: path_join(take->arena, path_parent(take->arena, link), text);
	if (!joined)
		return -ENOMEM;
	/* A target that ends in a dot entry has no last component to keep: resolve all of it. */
	if (!strcmp(path_name(joined), ".") || !strcmp(path_name(joined), "..") || !strcmp(joined, "/"))
		return look_resolve(take, joined, ret, NULL);
	parent = path_parent(take->arena, joined);
	if (!parent)
		return -ENOMEM;
	r = look_resolve(take, parent, &resolved, NULL);
	if (r < 0)
		return r;
	*ret = path_join(take->arena, resolved, path_name(joined));
	return *ret ? 0 : -ENOMEM;
}

/* ---- small change ---- */

int take_note(struct taking *take, const char *format, ...)
{
	char text[PATH_MAX + 512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (strv_add(take->arena, &take->survey->notes, text) < 0)
		return err_oom(take->err);
	return 0;
}

const char *take_source(struct taking *take, const struct policy_source *source)
{
	if (source->file && source->line > 0)
		return arena_printf(take->arena, "%s:%d", source->file, source->line);
	if (source->file)
		return source->file;
	return source->layer == LAYER_COMMAND ? "command line" : "built in";
}

int take_blame(struct taking *take, int ret, const struct policy_item *item, enum policy_key key)
{
	const struct policy_key_def *def = &policy_keys[key];
	bool is_option = item->source.layer == LAYER_COMMAND;

	return err_at(take->err, ret, item->source.file, item->source.line, is_option ? def->option : def->name);
}

void *take_grow(struct taking *take, void *array, size_t *count, size_t *cap, size_t size)
{
	char *grown = arena_grow(take->arena, array, *count, *count + 1, size, cap);

	if (!grown)
		return NULL;
	memset(grown + *count * size, 0, size);
	return grown + (*count)++ * size;
}

const char *look_environment(const struct survey *survey, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < survey->environment.n; i++)
		if (!strncmp(survey->environment.v[i], name, length) && survey->environment.v[i][length] == '=')
			return survey->environment.v[i] + length + 1;
	return NULL;
}

bool take_is_allowed(const struct taking *take, enum rule_axis axis, const char *path)
{
	size_t depth = 0;

	return take->has_allow_rules && policy_rule(take->policy, axis, path, &depth, NULL) == RULE_ALLOW &&
	       depth >= path_depth(path);
}
