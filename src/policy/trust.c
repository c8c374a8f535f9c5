/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which project files the user has let loosen: per worktree the sha256 of one content. The file is
 * {"trusted": [{"worktree": PATH, "sha256": HEX}, ...]}; a newer trust takes the place of the older one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/path.h"
#include "policy/internal.h"

static const char trust_name[] = "trust.json";

const char *trust_path(struct arena *arena, const struct identity *who)
{
	return who->state_home ? arena_printf(arena, "%s/pinfold/%s", who->state_home, trust_name) : NULL;
}

/* ---- reading ---- */

static int broken(const char *path, int line, struct pinfold_error *err)
{
	err_say(err, PINFOLD_USAGE, EINVAL, "this is no list of trusted project files");
	err_hint(err, "remove it, and trust your projects again with: pinfold trust");
	return err_at(err, -EINVAL, path, line, NULL);
}

int trust_parse(const char *text, size_t length, json_t **ret, int *ret_line)
{
	json_error_t error = { .line = 0 };
	json_t *root = NULL, *list;
	int r = json_read(text, length, JSON_REJECT_DUPLICATES, &root, &error);

	*ret_line = r < 0 ? error.line : 0;
	list = json_object_get(root, "trusted");
	if (json_is_array(list))
		*ret = json_incref(list);
	else if (r == 0)
		r = -EINVAL;
	json_decref(root);
	return r;
}

/* *ret: the list of entries, a new one where there is no file. */
static int read_trust(struct arena *arena, const char *path, const char *worktree, json_t **ret,
		      struct pinfold_error *err)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	int line, r = config_read(arena, path, worktree, &text, err);

	if (r < 0)
		return r;
	if (r == 0) {
		*ret = json_array();
		return *ret ? 0 : err_oom(err);
	}
	r = trust_parse(text.data ? text.data : "", text.len, ret, &line);
	if (r < 0)
		return r == -ENOMEM ? err_oom(err) : broken(path, line, err);
	return 0;
}

static bool entry_is_of(struct arena *arena, const json_t *entry, const char *worktree)
{
	const char *path = json_text_of(arena, json_object_get(entry, "worktree"));

	return path && strcmp(path, worktree) == 0;
}

bool trust_list_has(struct arena *arena, const json_t *list, const char *worktree, const char *sha256)
{
	json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		const char *digest = json_string_value(json_object_get(entry, "sha256"));

		if (digest && strcmp(digest, sha256) == 0 && entry_is_of(arena, entry, worktree))
			return true;
	}
	return false;
}

bool trust_lookup(struct arena *arena, const struct identity *who, const char *worktree, const char *sha256,
		  struct pinfold_error *err)
{
	const char *path = trust_path(arena, who);
	json_t *list = NULL;
	bool ret;

	if (!path || read_trust(arena, path, worktree, &list, err) < 0)
		return false;
	ret = trust_list_has(arena, list, worktree, sha256);
	json_decref(list);
	return ret;
}

bool trust_has(const char *worktree, const char *sha256, struct pinfold_error *err)
{
	struct arena arena = {0};
	struct identity who;
	bool ret = false;

	if (identity_read(&arena, &who) < 0)
		err_oom(err);
	else
		ret = trust_lookup(&arena, &who, worktree, sha256, err);
	arena_free(&arena);
	return ret;
}

/* ---- writing ---- */

static int set_entry(struct arena *arena, json_t *list, const char *worktree, const char *sha256)
{
	json_t *entry = json_object();

	for (size_t i = json_array_size(list); i-- > 0;)
		if (entry_is_of(arena, json_array_get(list, i), worktree))
			json_array_remove(list, i);
	if (json_put_bytes(entry, "worktree", worktree) < 0 || json_put(entry, "sha256", json_string(sha256)) < 0) {
		json_decref(entry);
		return -ENOMEM;
	}
	return json_array_append_new(list, entry) < 0 ? -ENOMEM : 0;
}

/* The file's directory, made where it is missing (0700, as the XDG base directories want it). */
static int open_state(struct arena *arena, const char *directory)
{
	int fd = -1;
	char *path = directory ? arena_strdup(arena, directory) : NULL;

	if (!path)
		return -ENOMEM;
	for (char *p = path + 1; fd < 0; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		*p = c;
		if (c)
			continue;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
	}
	return fd;
}

/* Aside and renamed: a reader sees the old file or the new one. */
static int replace_file(int dir, const char *text)
{
	char name[64];
	int r;
	FD_CLEANUP int fd = -1;

	snprintf(name, sizeof(name), ".%s.%ld", trust_name, (long)getpid());
	unlinkat(dir, name, 0); /* left by a process that had our number and was killed */
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = fd_write_all(fd, text, strlen(text));
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && renameat(dir, name, dir, trust_name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir, name, 0);
	return r;
}

static int write_trust(int dir, json_t *list)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	int r = json_write(json_pack("{s:O}", "trusted", list), JSON_INDENT(2), &text);

	return r < 0 ? r : replace_file(dir, text.data);
}

/* The lock is on the directory, so that two at a time both are kept and no lock file stays behind. */
static int update(struct arena *arena, const char *path, const char *worktree, const char *sha256,
		  struct pinfold_error *err)
{
	FD_CLEANUP int dir = open_state(arena, path_parent(arena, path));
	json_t *list = NULL;
	int r;

	if (dir < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, -dir, "write", path);
	if (flock(dir, LOCK_EX) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "lock", path);
	r = read_trust(arena, path, worktree, &list, err);
	if (r < 0)
		return r;
	r = set_entry(arena, list, worktree, sha256);
	if (r == 0)
		r = write_trust(dir, list);
	json_decref(list);
	return r < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, -r, "write", path) : 0;
}

/* What is checked is what is hashed: one read. */
static int digest_project(struct arena *arena, const char *file, const struct identity *who, struct layer *layer,
			  char sha256[65], struct pinfold_error *err)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	char *directory = path_parent(arena, file);
	struct setting_context context = {
		.arena = arena,
		.layer = LAYER_PROJECT,
		.file = file,
		.base = directory,
		.home = who->home,
		.worktree = directory,
	};
	int r;

	if (!directory)
		return err_oom(err);
	r = project_read(directory, path_name(file), &text, err);
	if (r == 0)
		return err_sys(err, PINFOLD_USAGE, ENOENT, "open", file);
	if (r < 0)
		return r;
	config_digest(text.data ? text.data : "", text.len, sha256);
	r = layer_parse(&context, text.data, text.len, layer, NULL, err);
	return r < 0 ? r : rules_check_layer(arena, layer, directory, who->home, err);
}

static int check_outside(struct arena *arena, const char *file, const char *directory, const char *what,
			 struct pinfold_error *err)
{
	char *real, *writable;
	int r = path_resolve(arena, file, &real, NULL);

	if (r == 0)
		r = path_resolve(arena, directory, &writable, NULL);
	if (r < 0)
		return r == -ENOMEM ? err_oom(err) : err_sys(err, PINFOLD_UNAVAILABLE, -r, "resolve", file);
	if (!path_is_in(real, writable))
		return 0;
	err_say(err, PINFOLD_REFUSED, EPERM,
		"the list of trusted files would lie in %s '%s', which the command may change", what, writable);
	err_hint(err, "XDG_STATE_HOME says where it lies; keep it outside");
	return err_at(err, -EPERM, file, 0, NULL);
}

/* A trust that a command could write makes every run refuse: better told now, and with nothing written. Asked are the
 * worktree, what the layers in force make writable, and what this file would. */
static int check_trust_place(struct arena *arena, const char *path, const char *worktree, const char *directory,
			     const struct layer *layer, struct pinfold_error *err)
{
	struct pinfold_policy policy = {.config_fd = -1};
	int r = check_outside(arena, path, worktree, "the worktree", err);

	for (size_t i = 0; r == 0 && i < layer->n; i++)
		if (layer->v[i].key == KEY_WRITE)
			r = check_outside(arena, path, layer->v[i].text, "a write path of this file,", err);
	if (r == 0)
		r = policy_load(&policy, directory, err);
	arena_free(&policy.arena);
	return r;
}

int trust_add(const char *project_file, const char *worktree, struct pinfold_error *err)
{
	struct arena arena = {0};
	struct layer layer = {0};
	struct identity who;
	const char *path = NULL;
	char sha256[65];
	int r;

	if (identity_read(&arena, &who) < 0)
		r = err_oom(err);
	else
		r = digest_project(&arena, project_file, &who, &layer, sha256, err);
	if (r == 0 && !(path = trust_path(&arena, &who)))
		r = err_say(err, PINFOLD_UNAVAILABLE, ENOENT, "there is no home directory to keep the trust in");
	if (r == 0)
		r = check_trust_place(&arena, path, worktree, path_parent(&arena, project_file), &layer, err);
	if (r == 0)
		r = update(&arena, path, worktree, sha256, err);
	arena_free(&arena);
	return r;
}
