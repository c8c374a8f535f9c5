/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files are read, and whether they may be.
 *
 * The threat: whoever can write a policy file decides what the pen holds. The command of an earlier run could (a file
 * in the worktree or another writable path, E102), another user could (owner, mode), and a cloned repository brings its
 * own (F096, F097, F098). So the user's and the administrator's files are refused by name where others can change them,
 * and the project's only ever tightens, until exactly its content was trusted. No environment variable switches
 * anything (E103, F086, F092); XDG_CONFIG_HOME only says where the user's file is.
 */
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "policy/internal.h"
#include "survey/worktree.h"

const char *policy_admin_file = "/etc/pinfold/config.json";
const char policy_project_file[] = ".pinfold.json";

struct loading {
	struct pinfold_policy *policy;
	struct layer layers[LAYER_COUNT];
	bool is_trusted;
	struct pinfold_error *err;
};

void config_digest(const char *text, size_t length, char sha256[65])
{
	SHA256Data((const uint8_t *)text, length, sha256);
}

/* ---- may it be used ---- */

static int check_owner(int fd, uid_t also, const char *path, struct pinfold_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "read", path);
	if (st.st_uid == 0 || st.st_uid == getuid() || st.st_uid == also)
		return 0;
	err_say(err, PINFOLD_REFUSED, EPERM, "the file belongs to user %u, not to you or root",
		(unsigned int)st.st_uid);
	err_hint(err, "look at the file, then chown it");
	return err_at(err, -EPERM, path, 0, NULL);
}

static int check_mode(int fd, mode_t refused, const char *path, struct pinfold_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "read", path);
	if ((st.st_mode & refused) == 0)
		return 0;
	err_say(err, PINFOLD_REFUSED, EPERM, "others can write the file (its mode is %04o)", st.st_mode & 07777U);
	err_hint(err, "look at the file, then: chmod go-w '%s'", path);
	return err_at(err, -EPERM, path, 0, NULL);
}

/* Whoever can write the directory can put another file in the place of this one. A sticky directory (/tmp) lets nobody
 * replace what is not his; and where the umask is 002 a user's own group writes in the user's directories. */
static int check_directory(const char *directory, const char *path, struct pinfold_error *err)
{
	mode_t refused = S_IWOTH | S_IWGRP;
	struct stat st;

	if (stat(directory, &st) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "read", directory);
	if (st.st_gid == getgid() || st.st_gid == 0)
		refused &= ~(mode_t)S_IWGRP;
	if (st.st_uid != 0 && st.st_uid != getuid())
		err_say(err, PINFOLD_REFUSED, EPERM, "its directory '%s' belongs to user %u, not to you or root",
			directory, (unsigned int)st.st_uid);
	else if ((st.st_mode & refused) && !(st.st_mode & S_ISVTX))
		err_say(err, PINFOLD_REFUSED, EPERM, "others can write its directory '%s' (its mode is %04o)",
			directory, st.st_mode & 07777U);
	else
		return 0;
	err_hint(err,
		 st.st_mode & refused ? "look at the file, then: chmod go-w '%s'" : "look at the file, then chown '%s'",
		 directory);
	return err_at(err, -EPERM, path, 0, NULL);
}

/* Of the file, and of the link that led to it. */
static int check_directories(struct arena *arena, const char *path, const char *resolved, struct pinfold_error *err)
{
	const char *first = path_parent(arena, path), *second = path_parent(arena, resolved);
	int r;

	if (!first || !second)
		return err_oom(err);
	r = check_directory(second, path, err);
	return r < 0 || strcmp(first, second) == 0 ? r : check_directory(first, path, err);
}

static int check_place(const char *path, const char *shown, const char *worktree, struct pinfold_error *err)
{
	if (!worktree || !path_is_in(path, worktree))
		return 0;
	err_say(err, PINFOLD_REFUSED, EPERM, "the file lies in the worktree '%s', which the command may change",
		worktree);
	err_hint(err, "keep it outside; a project's own settings go into %s", policy_project_file);
	return err_at(err, -EPERM, shown, 0, NULL);
}

static const char *kind_of(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return "something else";
	if (S_ISDIR(st.st_mode))
		return "a directory";
	return S_ISFIFO(st.st_mode) ? "a FIFO" : "a special file";
}

static int open_failed(int errnum, const char *path, struct pinfold_error *err)
{
	if (errnum == EINVAL || errnum == ELOOP) {
		err_say(err, PINFOLD_REFUSED, EPERM, "this is %s, not a regular file",
			errnum == ELOOP ? "a symbolic link" : kind_of(path));
		return err_at(err, -EPERM, path, 0, NULL);
	}
	return err_sys(err, PINFOLD_UNAVAILABLE, errnum, "open", path);
}

static int read_text(int fd, const char *path, struct buf *text, struct pinfold_error *err)
{
	int r = buf_read_fd(text, fd);

	if (r == -E2BIG)
		return err_at(
			err, err_say(err, PINFOLD_USAGE, E2BIG, "the file is larger than %d bytes", LIMIT_CONFIG_BYTES),
			path, 0, NULL);
	return r < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, -r, "read", path) : 0;
}

/* Is the file missing, or is the way to it a link that leads nowhere? Then the user has rules that we cannot see. */
static int check_missing(struct arena *arena, const char *path, struct pinfold_error *err)
{
	const char *at = path;
	struct stat st;

	while (lstat(at, &st) < 0) {
		if (!strcmp(at, "/"))
			return 0;
		at = path_parent(arena, at);
		if (!at)
			return err_oom(err);
	}
	if (!S_ISLNK(st.st_mode) || stat(at, &st) == 0 || errno != ENOENT)
		return 0;
	if (at == path)
		err_say(err, PINFOLD_REFUSED, ENOENT, "this is a link that leads nowhere");
	else
		err_say(err, PINFOLD_REFUSED, ENOENT, "its directory '%s' is a link that leads nowhere", at);
	err_hint(err, "mend the link, or remove it");
	return err_at(err, -ENOENT, path, 0, NULL);
}

/* The links on the way are the user's own (dotfiles); what they lead to is opened without following any more. */
int config_read(struct arena *arena, const char *path, const char *worktree, struct buf *text,
		struct pinfold_error *err)
{
	FD_CLEANUP int fd = -1;
	char *resolved;
	int r;

	/* Mostly there is none: few calls instead of one per component. */
	if (access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return check_missing(arena, path, err);
	r = path_resolve(arena, path, &resolved, NULL);
	if (r < 0)
		return r == -ENOMEM ? err_oom(err) : err_sys(err, PINFOLD_UNAVAILABLE, -r, "open", path);
	fd = fd_open_regular(AT_FDCWD, resolved);
	if (fd < 0)
		return fd == -ENOENT ? 0 : open_failed(-fd, path, err);
	r = check_owner(fd, 0, path, err);
	if (r == 0)
		r = check_mode(fd, S_IWGRP | S_IWOTH, path, err);
	if (r == 0)
		r = check_place(resolved, path, worktree, err);
	if (r == 0)
		r = check_directories(arena, path, resolved, err);
	if (r == 0)
		r = read_text(fd, path, text, err);
	return r < 0 ? r : 1;
}

/* Weaker checks than config_read's suffice: the file can only tighten, and trust is in its content. A checkout of
 * another owner (a container's) is as good as the directory it lies in, and many users' umask makes it writable by
 * their group. */
int project_read(const char *directory, const char *name, struct buf *text, struct pinfold_error *err)
{
	struct arena arena = {0};
	const char *path = path_join(&arena, directory, name);
	FD_CLEANUP int dir = openat(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FD_CLEANUP int fd = -1;
	struct stat st;
	int r;

	if (!path)
		r = err_oom(err);
	else if (dir < 0 || fstat(dir, &st) < 0)
		r = err_sys(err, PINFOLD_UNAVAILABLE, errno, "open", directory);
	else if ((fd = fd_open_regular(dir, name)) < 0)
		r = fd == -ENOENT ? 0 : open_failed(-fd, path, err);
	else if ((r = check_owner(fd, st.st_uid, path, err)) == 0 && (r = check_mode(fd, S_IWOTH, path, err)) == 0 &&
		 (r = read_text(fd, path, text, err)) == 0)
		r = 1;
	arena_free(&arena);
	return r;
}

/* ---- the layers ---- */

static struct policy_file *add_file(struct loading *load, enum policy_layer layer, const char *path)
{
	struct pinfold_policy *policy = load->policy;
	struct policy_file *grown = arena_grow(&policy->arena, policy->files, policy->file_count,
					       policy->file_count + 1, sizeof(*grown), &policy->file_cap);

	if (!grown || !path)
		return NULL;
	policy->files = grown;
	grown[policy->file_count] = (struct policy_file){.layer = layer, .path = path};
	return &grown[policy->file_count++];
}

static int take_text(struct loading *load, struct policy_file *file, const char *base, struct buf *text)
{
	struct pinfold_policy *policy = load->policy;
	struct setting_context context = {
		.arena = &policy->arena,
		.layer = file->layer,
		.file = file->path,
		.base = base,
		.home = policy->who.home,
		.worktree = policy->worktree,
	};
	struct layer *entry = file->layer == LAYER_USER ? &load->layers[LAYER_PROJECT_ENTRY] : NULL;

	file->exists = true;
	config_digest(text->data ? text->data : "", text->len, file->sha256);
	return layer_parse(&context, text->data, text->len, &load->layers[file->layer], entry, load->err);
}

static int load_file(struct loading *load, enum policy_layer layer, const char *path, bool is_needed)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	struct policy_file *file = add_file(load, layer, path);
	int r;

	if (!file)
		return err_oom(load->err);
	r = config_read(&load->policy->arena, path, load->policy->worktree, &text, load->err);
	if (r == 0 && is_needed)
		return err_sys(load->err, PINFOLD_USAGE, ENOENT, "open", path);
	return r > 0 ? take_text(load, file, NULL, &text) : r;
}

/* Whoever hands over a descriptor answers for what comes out of it. */
static int load_fd(struct loading *load, int fd)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	struct policy_file *file = add_file(load, LAYER_USER, arena_printf(&load->policy->arena, "fd:%d", fd));
	int r;

	if (!file)
		return err_oom(load->err);
	r = read_text(fd, file->path, &text, load->err);
	return r < 0 ? r : take_text(load, file, NULL, &text);
}

static int load_user(struct loading *load)
{
	struct pinfold_policy *policy = load->policy;

	if (policy->config_fd >= 0)
		return load_fd(load, policy->config_fd);
	if (policy->config_file)
		return load_file(load, LAYER_USER, policy->config_file, true);
	if (!policy->who.config_home)
		return 0;
	return load_file(load, LAYER_USER,
			 arena_printf(&policy->arena, "%s/pinfold/config.json", policy->who.config_home), false);
}

static int load_project(struct loading *load)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	struct pinfold_policy *policy = load->policy;
	struct policy_file *file =
		add_file(load, LAYER_PROJECT, path_join(&policy->arena, policy->worktree, policy_project_file));
	struct pinfold_error trouble = {0};
	int r;

	if (!file)
		return err_oom(load->err);
	r = project_read(policy->worktree, policy_project_file, &text, load->err);
	if (r > 0)
		r = take_text(load, file, policy->worktree, &text);
	if (r < 0 || !file->exists)
		return r;
	file->trusted = trust_lookup(&policy->arena, &policy->who, policy->worktree, file->sha256, &trouble);
	load->is_trusted = file->trusted;
	if (trouble.code == PINFOLD_OK)
		return 0;
	if (load->err)
		*load->err = trouble;
	return trouble.errnum ? -trouble.errnum : -EINVAL;
}

static int find_worktree(struct loading *load)
{
	struct pinfold_policy *policy = load->policy;
	const char *given = NULL;
	char *found;
	int r;

	for (size_t i = 0; i < policy->setting_count; i++)
		if (policy->settings[i].key == KEY_WORKTREE)
			given = policy->settings[i].text;
	r = worktree_find(&policy->arena, policy->cwd, given, policy->who.home, &found, load->err);
	if (r < 0)
		return r;
	policy->worktree = found;
	policy->worktree_given = given;
	return 0;
}

static int load_layers(struct loading *load)
{
	struct pinfold_policy *policy = load->policy;
	int r = load_file(load, LAYER_ADMIN, policy_admin_file, false);

	if (r == 0)
		r = load_user(load);
	if (r == 0)
		r = load_project(load);
	load->layers[LAYER_COMMAND] = (struct layer){.v = policy->settings, .n = policy->setting_count};
	for (int i = 0; r == 0 && i < LAYER_COUNT; i++)
		r = rules_check_layer(&policy->arena, &load->layers[i], policy->worktree, policy->who.home, load->err);
	return r;
}

/* ---- a policy file in a writable path ---- */

static int check_file_is_outside(struct pinfold_policy *policy, const char *path, struct pinfold_error *err)
{
	const struct policy_value *writes = &policy->value[KEY_WRITE];
	char *file, *granted;
	int r = path_resolve(&policy->arena, path, &file, NULL);

	if (r == -ENOMEM)
		return err_oom(err);
	if (r < 0 || policy_rule(policy, AXIS_WRITE, file, NULL, NULL) == RULE_DENY)
		return 0;
	for (size_t i = 0; i < writes->count; i++) {
		const struct policy_item *item = &writes->items[i];

		r = path_resolve(&policy->arena, item->text, &granted, NULL);
		if (r == -ENOMEM)
			return err_oom(err);
		if (r < 0 || !path_is_in(file, granted))
			continue;
		err_say(err, PINFOLD_REFUSED, EPERM, "'%s' would make the policy file '%s' writable", item->text, path);
		err_hint(err, "name the directories below it that the command needs, or add: --protect '%s'", file);
		return err_at(err, -EPERM, item->source.file, item->source.line,
			      item->source.layer == LAYER_COMMAND ? policy_keys[KEY_WRITE].option :
								    policy_keys[KEY_WRITE].name);
	}
	return 0;
}

static int check_files_are_outside(struct pinfold_policy *policy, struct pinfold_error *err)
{
	const char *trust;
	int r = 0;

	if (policy->value[KEY_WRITE].count == 0)
		return 0;
	for (size_t i = 0; r == 0 && i < policy->file_count; i++)
		if (policy->files[i].layer != LAYER_PROJECT && policy->files[i].path[0] == '/')
			r = check_file_is_outside(policy, policy->files[i].path, err);
	trust = trust_path(&policy->arena, &policy->who);
	return r == 0 && trust ? check_file_is_outside(policy, trust, err) : r;
}

static int digest_policy(struct pinfold_policy *policy, struct pinfold_error *err)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_TEXT_BYTES);
	int r = policy_canonical(policy, &text);

	if (r < 0)
		return r == -ENOMEM ? err_oom(err) : err_sys(err, PINFOLD_INTERNAL, -r, "print the policy", NULL);
	config_digest(text.data, text.len, policy->sha256);
	return 0;
}

int policy_load(struct pinfold_policy *policy, const char *cwd, struct pinfold_error *err)
{
	struct loading load = {.policy = policy, .err = err};
	int r = policy_identity(policy, err);

	if (r < 0)
		return r;
	policy->cwd = arena_strdup(&policy->arena, cwd);
	if (!policy->cwd)
		return err_oom(err);
	r = find_worktree(&load);
	if (r == 0)
		r = load_layers(&load);
	if (r == 0)
		r = merge_layers(policy, load.layers, load.is_trusted, err);
	if (r == 0)
		r = rules_make(policy, err);
	if (r == 0)
		r = ports_check(policy, err);
	if (r == 0)
		r = check_files_are_outside(policy, err);
	if (r == 0)
		r = digest_policy(policy, err);
	if (policy->arena.is_short) /* whatever was made of it */
		r = err_oom(err);
	policy->loaded = r == 0;
	return r;
}

/* ---- one file alone ---- */

static int check_text(struct arena *arena, const char *path, enum policy_layer layer, const char *directory,
		      struct buf *text, struct pinfold_error *err)
{
	struct setting_context context = {.arena = arena, .layer = layer, .file = path};
	struct layer settings = {0}, entry = {0};
	struct identity who;
	int r;

	if (identity_read(arena, &who) < 0)
		return err_oom(err);
	context.home = who.home;
	context.base = layer == LAYER_PROJECT ? directory : NULL;
	context.worktree = directory;
	r = layer_parse(&context, text->data, text->len, &settings, layer == LAYER_USER ? &entry : NULL, err);
	return r < 0 ? r : rules_check_layer(arena, &settings, directory, who.home, err);
}

static int check_file(struct arena *arena, const char *path, enum policy_layer layer, struct pinfold_error *err)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	char *resolved, *directory;
	int r = path_resolve(arena, path, &resolved, NULL);

	if (r < 0)
		return err_sys(err, PINFOLD_USAGE, -r, "open", path);
	directory = path_parent(arena, resolved);
	if (!directory)
		return err_oom(err);
	if (layer == LAYER_PROJECT)
		r = project_read(directory, path_name(path), &text, err);
	else
		r = config_read(arena, path, NULL, &text, err);
	if (r == 0)
		return err_sys(err, PINFOLD_USAGE, ENOENT, "open", path);
	return r < 0 ? r : check_text(arena, path, layer, directory, &text, err);
}

int policy_check_file(const char *path, enum policy_layer layer, struct pinfold_error *err)
{
	struct arena arena = {0};
	int r = check_file(&arena, path, layer, err);

	if (arena.is_short)
		r = err_oom(err);
	arena_free(&arena);
	return r;
}
