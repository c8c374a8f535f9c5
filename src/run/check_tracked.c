/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git could not write although HEAD has moved (F012). git does not know that it is half done: the entry in its
 * index is the new one, the file the old one, and the next switch refuses to touch "local changes". It is told by the
 * entry: git fills in what it sees of a file when it has written it, so that an entry without is one that git has not
 * written. A file that its owner has changed is not named.
 */
#include <errno.h>
#include <sha1.h>
#include <sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/gitindex.h"
#include "base/limits.h"
#include "base/path.h"
#include "run/visiting.h"
#include "survey/tracked.h"

enum { NOTICE_MOST = 16 * 1024, HEADER_MOST = 32, SHA1_ID = 20 };

/* ---- did HEAD move? -------------------------------------------------------------------------------------------- */

/* `switch` writes HEAD, what moves the branch under it writes HEAD's log, and nearly all of it ORIG_HEAD. */
static bool has_moved(struct checking *c, const char *directory)
{
	static const char *const names[] = { "HEAD", "logs/HEAD", "ORIG_HEAD" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !c->error; i++) {
		char *path = visit_join(c, directory, names[i]);
		struct survey_watch at;
		struct stat st;

		if (path && visit_look(c, path, &at, &st) == 0 && visit_is_young(c, &st))
			return true;
	}
	return false;
}

/* ---- is the file what its entry says? -------------------------------------------------------------------------- */

static int read_file(struct checking *c, const char *path, struct buf *ret)
{
	struct survey_watch at;
	struct stat st;
	int r = visit_look(c, path, &at, &st);
	FD_CLEANUP int fd = -1;
	char target[4096];
	ssize_t n;

	if (r < 0)
		return r;
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(c->dir_fd, path_name(at.below), target, sizeof(target));
		if (n < 0)
			return -errno;
		buf_add(ret, target, (size_t)n);
		return ret->error;
	}
	fd = S_ISREG(st.st_mode) ? fd_open_regular(c->dir_fd, path_name(at.below)) : -EINVAL;
	return fd < 0 ? fd : buf_read_fd(ret, fd);
}

/* The id that git gives such a content. */
static void id_of(const struct buf *content, size_t id_length, unsigned char ret[GITINDEX_ID])
{
	char header[HEADER_MOST];
	/* with the zero byte that ends it */
	const size_t length = (size_t)snprintf(header, sizeof(header), "blob %zu", content->len) + 1;
	const unsigned char *data = (const unsigned char *)(content->data ? content->data : "");
	SHA1_CTX sha1;
	SHA2_CTX sha2;

	if (id_length == SHA1_ID) {
		SHA1Init(&sha1);
		SHA1Update(&sha1, (const unsigned char *)header, length);
		SHA1Update(&sha1, data, content->len);
		SHA1Final(ret, &sha1);
	} else {
		SHA256Init(&sha2);
		SHA256Update(&sha2, (const unsigned char *)header, length);
		SHA256Update(&sha2, data, content->len);
		SHA256Final(ret, &sha2);
	}
}

static bool is_stale(struct checking *c, const char *path, const struct gitindex_entry *entry)
{
	struct buf content BUF_CLEANUP = BUF_INIT(LIMIT_GIT_TRACKED_BYTES);
	unsigned char id[GITINDEX_ID];
	int r;

	if (entry->has_stat || entry->is_skipped)
		return false;
	r = read_file(c, path, &content);
	if (r < 0) {
		c->error = r == -ENOMEM ? r : c->error;
		return r == -E2BIG; /* gone: by the command's hand, or the host's */
	}
	id_of(&content, entry->id_length, id);
	return memcmp(id, entry->id, entry->id_length) != 0;
}

/* ---- what is said ---------------------------------------------------------------------------------------------- */

enum { MENDED_MOST = 20 }; /* names in the command: more are for the user to find by `git status` */

/* One line, with the command that mends it, from any directory. */
static void say(struct checking *c, const char *top, bool are_left, const struct strv *names)
{
	struct buf text BUF_CLEANUP = BUF_INIT(NOTICE_MOST);

	if (!names->n)
		return;
	buf_printf(&text, "git could not %s ", are_left ? "remove" : "update");
	tracked_list(&text, names);
	buf_str(&text, names->n == 1 ? ", which is protected: outside, '" : ", which are protected: outside, '");
	buf_str(&text, are_left ? "rm" : "git -C ");
	if (!are_left) {
		buf_shell(&text, top);
		buf_str(&text, " checkout --");
	}
	for (size_t i = 0; i < names->n && i < MENDED_MOST && !c->error; i++) {
		char *path = visit_join(c, top, names->v[i]);

		buf_char(&text, ' ');
		buf_shell(&text, !path || !are_left ? names->v[i] : path);
	}
	buf_str(&text, "' does");
	if (text.error == -E2BIG)
		return; /* names that long say nothing */
	if (text.error ||
	    strv_add_owned(c->arena, &c->result->notices, arena_strndup(c->arena, text.data, text.len)) < 0)
		c->error = -ENOMEM;
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

static int read_index(struct checking *c, const char *path, struct gitindex *ret)
{
	struct buf bytes BUF_CLEANUP = BUF_INIT(LIMIT_GIT_INDEX_BYTES);
	struct stat st;
	FD_CLEANUP int fd = visit_open(c, path, &st);
	int r = fd < 0 ? fd : buf_read_fd(&bytes, fd);

	return r < 0 ? r : gitindex_read(c->arena, bytes.data ? bytes.data : "", bytes.len, ret);
}

static void find_stale(struct checking *c, const char *top, const struct gitindex *index, struct strv *ret)
{
	for (size_t i = 0; i < index->entry_count && !c->error; i++) {
		const struct gitindex_entry *entry = &index->entries[i];
		char *path = visit_join(c, top, entry->name);

		if (path && is_stale(c, path, entry) && strv_add(c->arena, ret, entry->name) < 0)
			c->error = -ENOMEM;
	}
}

static bool has_entry(const struct gitindex *index, const char *name)
{
	for (size_t i = 0; i < index->entry_count; i++)
		if (strcmp(index->entries[i].name, name) == 0)
			return true;
	return false;
}

/* The new commit does not have them, and they are still there. */
static void find_left(struct checking *c, const char *top, const struct gitindex *index, struct strv *ret)
{
	const struct strv *before = &c->plan->survey.tracked;

	for (size_t i = 0; i < before->n && !c->error; i++) {
		char *path = has_entry(index, before->v[i]) ? NULL : visit_join(c, top, before->v[i]);
		struct survey_watch at;
		struct stat st;

		if (path && visit_look(c, path, &at, &st) == 0 && strv_add(c->arena, ret, before->v[i]) < 0)
			c->error = -ENOMEM;
	}
}

void check_tracked(struct checking *c)
{
	const struct survey *survey = &c->plan->survey;
	struct strv wanted = { 0 }, stale = { 0 }, left = { 0 };
	struct gitindex index = { .wanted = &wanted };
	const char *top;
	char *path;
	int r;

	if (policy_number(c->plan->policy, KEY_GIT) != GIT_COMMIT)
		return;
	r = tracked_wanted(survey, c->arena, &top, &wanted);
	if (r == 0 && wanted.n && has_moved(c, survey->git.directory)) {
		path = visit_join(c, survey->git.directory, "index");
		r = path ? read_index(c, path, &index) : -ENOMEM;
		/* check_repositories has told about an index that cannot be read; one in two parts is not judged */
		if (r == 0 && !index.shared.n) {
			find_stale(c, top, &index, &stale);
			find_left(c, top, &index, &left);
		}
	}
	if (r == -ENOMEM)
		c->error = r;
	if (c->error)
		return;
	say(c, top, false, &stale);
	say(c, top, true, &left);
}
