/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gitindex.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"

enum {
	HEADER = 12,
	STAT = 40,         /* of an entry, before its object's id */
	MODE_AT = 24,
	MODE_TYPE = 0170000, MODE_LINK = 0160000, MODE_TREE = 0040000,
	FLAG_EXTENDED = 0x4000, FLAG_STAGE = 0x3000, FLAG_NAME = 0x0fff,
	MORE_SKIP = 0x4000, /* of the extended flags: outside of the sparse checkout */
	NAME_MOST = 65536,
};

struct reader {
	struct arena *arena;
	const unsigned char *data;
	size_t length, at;
	size_t id; /* bytes of an object's id */
	unsigned version;
	char name[NAME_MOST + 1]; /* of the entry before: version 4 leaves out what two names share */
	size_t name_length;
	struct gitindex *out;
};

static uint32_t number(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static size_t left(const struct reader *r)
{
	return r->length - r->at;
}

static int keep(struct reader *r, struct strv *list, const char *name)
{
	if (list->n >= LIMIT_GIT_LINKS)
		return -E2BIG;
	return strv_has(list, name) ? 0 : strv_add(r->arena, list, name);
}

/* git's own encoding of a number, as in offsets of packs. */
static int read_varint(struct reader *r, size_t *ret)
{
	size_t value = 0;

	for (int i = 0; left(r); i++) {
		unsigned char c = r->data[r->at++];

		value = (i ? (value + 1) << 7 : 0) | (c & 0x7f);
		if (value > NAME_MOST)
			return -EINVAL;
		if (!(c & 0x80)) {
			*ret = value;
			return 0;
		}
	}
	return -EINVAL;
}

/* The name at r->at, of which `shared` bytes are those of the one before. As git does, the length in the flags decides
 * where the next entry begins, and a zero byte where the name ends. */
static int read_name(struct reader *r, unsigned flags, size_t shared)
{
	size_t length = flags & FLAG_NAME, own;

	if (length == FLAG_NAME) {
		const unsigned char *end = memchr(r->data + r->at, '\0', left(r));

		if (!end)
			return -EINVAL;
		length = shared + (size_t)(end - (r->data + r->at));
	}
	if (length < shared || length > NAME_MOST)
		return -EINVAL;
	own = length - shared;
	if (own >= left(r))
		return -EINVAL;
	memcpy(r->name + shared, r->data + r->at, own);
	r->name[length] = '\0';
	r->name_length = length;
	r->at += own;
	return 0;
}

/* ---- names that git makes no entry of, and writes out all the same (`git checkout .`) ---- */

static bool is_foreign_part(const char *part, size_t length)
{
	return (length == 1 && part[0] == '.') || (length == 2 && memcmp(part, "..", 2) == 0) ||
	       (length == 4 && strncasecmp(part, ".git", 4) == 0);
}

static bool is_foreign(const struct reader *r)
{
	const char *at = r->name;

	if (*at == '/')
		return true;
	while (at) {
		if (*at == '.' && is_foreign_part(at, strcspn(at, "/")))
			return true;
		at = strchr(at, '/');
		at = at ? at + 1 : NULL;
	}
	return false;
}

/* ---- files that are asked for ---- */

static bool is_wanted(const struct reader *r)
{
	const struct strv *wanted = r->out->wanted;

	for (size_t i = 0; wanted && i < wanted->n; i++) {
		const size_t length = strlen(wanted->v[i]);

		if (r->name[0] == wanted->v[i][0] && strncmp(r->name, wanted->v[i], length) == 0 &&
		    (r->name[length] == '\0' || r->name[length] == '/'))
			return true;
	}
	return false;
}

/* A block that a table names is read a second time, with the same entries. */
static bool is_kept(const struct reader *r)
{
	for (size_t i = 0; i < r->out->entry_count; i++)
		if (strcmp(r->out->entries[i].name, r->name) == 0)
			return true;
	return false;
}

static bool is_zero(const unsigned char *p, size_t length)
{
	while (length && !p[length - 1])
		length--;
	return length == 0;
}

static int keep_entry(struct reader *r, size_t start, unsigned mode, unsigned flags, unsigned more)
{
	const unsigned char *fixed = r->data + start;
	struct gitindex_entry *all, *entry;

	if (is_kept(r))
		return 0;
	if (r->out->entry_count >= LIMIT_GIT_LINKS)
		return -E2BIG;
	all = arena_grow(r->arena, r->out->entries, r->out->entry_count, r->out->entry_count + 1, sizeof(*all),
			 &r->out->entry_cap);
	if (!all)
		return -ENOMEM;
	r->out->entries = all;
	entry = &all[r->out->entry_count];
	*entry = (struct gitindex_entry){
		.name = arena_strdup(r->arena, r->name),
		.mode = mode,
		.id_length = r->id,
		.has_stat = !is_zero(fixed, MODE_AT) || !is_zero(fixed + MODE_AT + 4, STAT - MODE_AT - 4),
		.is_skipped = (flags & FLAG_STAGE) || (more & MORE_SKIP),
	};
	memcpy(entry->id, fixed + STAT, r->id);
	if (!entry->name)
		return -ENOMEM;
	r->out->entry_count++;
	return 0;
}

static int read_entry(struct reader *r, bool is_first)
{
	size_t start = r->at, fixed = STAT + r->id + 2, strip, shared = 0;
	unsigned flags, mode, more = 0;
	int result;

	if (left(r) < fixed + 2)
		return -EINVAL;
	mode = number(r->data + start + MODE_AT) & 0xffff;
	flags = (unsigned)r->data[start + fixed - 2] << 8 | r->data[start + fixed - 1];
	if (flags & FLAG_EXTENDED)
		more = (unsigned)r->data[start + fixed] << 8 | r->data[start + fixed + 1];
	r->at += fixed + (flags & FLAG_EXTENDED ? 2 : 0);
	if (r->version == 4) {
		result = read_varint(r, &strip);
		if (result < 0 || (!is_first && strip > r->name_length))
			return -EINVAL;
		shared = is_first ? 0 : r->name_length - strip;
	}
	result = read_name(r, flags, shared);
	if (result < 0)
		return result;
	/* one zero byte, or up to eight of them */
	r->at = r->version == 4 ? r->at + 1 : start + ((r->at - start + 8) & ~(size_t)7);
	if (r->at > r->length)
		return -EINVAL;
	if (!r->out->foreign && is_foreign(r)) {
		r->out->foreign = arena_strdup(r->arena, r->name);
		if (!r->out->foreign)
			return -ENOMEM;
	}
	if ((mode & MODE_TYPE) == MODE_LINK)
		return keep(r, &r->out->links, r->name);
	if ((mode & MODE_TYPE) != MODE_TREE && is_wanted(r))
		return keep_entry(r, start, mode, flags, more);
	return (mode & MODE_TYPE) == MODE_TREE ? keep(r, &r->out->sparse, r->name) : 0;
}

static int read_entries(struct reader *r, size_t at, uint32_t count)
{
	int result = 0;

	r->at = at;
	for (uint32_t i = 0; i < count && result == 0; i++)
		result = read_entry(r, i == 0);
	return result;
}

/* ---- extensions ---- */

/* A split index: the id of the file with the other entries, or zeroes. */
static int read_link(struct reader *r, const unsigned char *body, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	char name[16 + 2 * 32] = "sharedindex.", *end = name + strlen(name);
	bool is_any = false;

	if (length < r->id)
		return -EINVAL;
	for (size_t i = 0; i < r->id; i++) {
		*end++ = digits[body[i] >> 4];
		*end++ = digits[body[i] & 15];
		is_any = is_any || body[i];
	}
	*end = '\0';
	return is_any ? keep(r, &r->out->shared, name) : 0;
}

/* Where blocks of entries begin, for a git that reads them in threads. */
static int read_blocks(struct reader *r, const unsigned char *body, size_t length)
{
	int result = 0;

	if (length < 4)
		return -EINVAL;
	for (size_t i = 4; i + 8 <= length && result == 0; i += 8) {
		size_t at = number(body + i);

		result = at < HEADER || at > r->length ? -EINVAL : read_entries(r, at, number(body + i + 4));
	}
	return result;
}

static int read_extension(struct reader *r, const unsigned char *head, const unsigned char *body, size_t length,
			  size_t entries_end)
{
	if (memcmp(head, "link", 4) == 0)
		return read_link(r, body, length);
	if (memcmp(head, "IEOT", 4) == 0)
		return read_blocks(r, body, length);
	if (memcmp(head, "EOIE", 4) == 0) /* where extensions begin, for the same git */
		return length < 4 || number(body) != entries_end ? -EINVAL : 0;
	return 0;
}

static int read_extensions(struct reader *r, size_t at)
{
	const size_t entries_end = at, end = r->length - r->id;
	int result = 0;

	while (at + 8 <= end && result == 0) {
		const unsigned char *head = r->data + at;
		size_t length = number(head + 4);

		if (length > end - at - 8)
			return -EINVAL;
		result = read_extension(r, head, head + 8, length, entries_end);
		at += 8 + length;
	}
	return result;
}

/* ---- all ---- */

static int read_as(struct reader *r, size_t id)
{
	int result;

	r->id = id;
	if (r->length < HEADER + id)
		return -EINVAL;
	result = read_entries(r, HEADER, number(r->data + 8));
	if (result == 0 && r->at > r->length - id)
		result = -EINVAL;
	return result < 0 ? result : read_extensions(r, r->at);
}

/* A reading that fails has found nothing: git would not go on with it, either. */
static int try_as(struct reader *r, size_t id)
{
	const size_t links = r->out->links.n, sparse = r->out->sparse.n, shared = r->out->shared.n;
	const size_t entries = r->out->entry_count;
	const char *foreign = r->out->foreign;
	int result = read_as(r, id);

	if (result == -EINVAL) {
		r->out->links.n = links;
		r->out->sparse.n = sparse;
		r->out->shared.n = shared;
		r->out->entry_count = entries;
		r->out->foreign = foreign;
	}
	return result;
}

/* The length of an id is in a configuration that is not read for this: what either length finds is found. */
int gitindex_read(struct arena *arena, const void *data, size_t length, struct gitindex *ret)
{
	struct reader *r;
	int sha1, sha256;

	if (length < HEADER || memcmp(data, "DIRC", 4) != 0)
		return -EINVAL;
	r = arena_alloc(arena, 1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	*r = (struct reader){ .arena = arena, .data = data, .length = length, .out = ret };
	r->version = number(r->data + 4);
	if (r->version < 2 || r->version > 4)
		return -EINVAL;
	sha1 = try_as(r, 20);
	if (sha1 < 0 && sha1 != -EINVAL)
		return sha1;
	sha256 = try_as(r, 32);
	return sha256 == -EINVAL ? sha1 : sha256;
}
