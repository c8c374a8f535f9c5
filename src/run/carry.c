/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files behind carry_text: the copies that the pen has left, and the host's own, which is written under git's lock.
 *
 * The directory of the host's file is opened without a link on the way and compared with what the survey saw, and every
 * name below it is used from there: started by root, this must write into no other place. Signals wait while the lock
 * is held: one that is left behind switches git off for everybody (F007).
 */
#include "run/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "linux/sys.h"

enum {
	LOCK_TRIES = 50, /* of 10 ms: git itself holds it for one or two */
	NAMED = 8,       /* variables that a message names */
};

/* ---- the socket ---- */

int carry_open(const struct pinfold_plan *plan, struct carry_handover *ret)
{
	int pair[2];

	*ret = (struct carry_handover){ -1, -1 };
	if (!plan->copy_count)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	*ret = (struct carry_handover){ pair[0], pair[1] };
	return 0;
}

void carry_close(struct carry_handover *handover)
{
	fd_close(&handover->in);
	fd_close(&handover->out);
}

/* ---- files ---- */

/* What the command left may be anything: only a regular file is read, only so far, and no link is followed. */
static int read_file(int directory, const char *name, struct buf *ret, struct stat *ret_st)
{
	FD_CLEANUP int fd = fd_open_regular(directory, name);

	*ret = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	if (fd < 0)
		return fd;
	if (fstat(fd, ret_st) < 0)
		return -errno;
	return buf_read_fd(ret, fd);
}

static int open_directory(const struct survey_config *config, struct arena *arena)
{
	const char *parent = path_parent(arena, config->path);
	FD_CLEANUP int fd = parent ? sys_open_place(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY) : -1;
	struct stat st;
	int taken;

	if (fd < 0 || fstat(fd, &st) < 0)
		return parent ? -errno : -ENOMEM;
	if (st.st_dev != config->directory.dev || st.st_ino != config->directory.ino)
		return -ESTALE;
	taken = fd;
	fd = -1;
	return taken;
}

static int take_lock(int directory, const char *lock)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };

	for (int i = 0;; i++) {
		int fd = openat(directory, lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

		if (fd >= 0 || errno != EEXIST || i == LOCK_TRIES)
			return fd >= 0 ? fd : -errno;
		nanosleep(&pause, NULL);
	}
}

/* Whose the old file was, the new one is; its group as far as may be, as with git. */
static int keep_owner(int fd, const struct stat *st)
{
	if (st->st_uid != geteuid() && fchown(fd, st->st_uid, st->st_gid) < 0)
		return -errno;
	if (st->st_uid == geteuid() && fchown(fd, (uid_t)-1, st->st_gid) < 0 && errno != EPERM)
		return -errno;
	return fchmod(fd, st->st_mode & 0777) < 0 ? -errno : 0;
}

/* 1 when it was done, with one write, which no reader sees half of; 0 when it cannot be done so. */
static int append_lines(int directory, const char *name, const struct buf *present, const struct stat *present_st,
			const struct buf *text)
{
	FD_CLEANUP int fd = -1;
	struct stat st;
	size_t length;
	ssize_t n;

	if (text->len <= present->len || (present->len && memcmp(text->data, present->data, present->len) != 0))
		return 0;
	fd = openat(directory, name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != present_st->st_ino || st.st_dev != present_st->st_dev ||
	    (size_t)st.st_size != present->len)
		return 0;
	length = text->len - present->len;
	n = write(fd, text->data + present->len, length);
	if (n == (ssize_t)length)
		return fsync(fd) < 0 ? -errno : 1;
	return ftruncate(fd, st.st_size) < 0 ? -EIO : 0;
}

/* With the lock held: 1 when the lock has become the file, 0 when it has to be removed. */
static int replace(int directory, int lock_fd, const char *lock, const char *name, struct arena *arena,
		   struct carry_texts *texts, struct carry_names *names)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	struct stat st;
	int r;

	buf_free(&texts->present);
	r = read_file(directory, name, &texts->present, &st);
	if (r == 0)
		r = carry_text(arena, texts, &text, names);
	if (r <= 0)
		return r;
	r = append_lines(directory, name, &texts->present, &st, &text);
	if (r != 0)
		return r < 0 ? r : 0;
	r = keep_owner(lock_fd, &st);
	if (r == 0)
		r = fd_write_all(lock_fd, text.data, text.len);
	if (r == 0 && (fsync(lock_fd) < 0 || renameat(directory, lock, directory, name) < 0))
		r = -errno;
	return r < 0 ? r : 1;
}

static int update(const struct survey_config *config, struct arena *arena, struct carry_texts *texts,
		  struct carry_names *names)
{
	FD_CLEANUP int directory = open_directory(config, arena);
	FD_CLEANUP int lock_fd = -1;
	const char *name = path_name(config->path), *lock = arena_printf(arena, "%s.lock", name);
	sigset_t all, mask;
	int r;

	if (directory < 0)
		return directory;
	if (!lock)
		return -ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	r = lock_fd = take_lock(directory, lock);
	if (r >= 0)
		r = replace(directory, lock_fd, lock, name, arena, texts, names);
	if (lock_fd >= 0 && r <= 0)
		unlinkat(directory, lock, 0);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return r < 0 ? r : 0;
}

/* ---- one copy, and all ---- */

struct carrying {
	struct arena *arena;
	struct carry_names names; /* of all copies */
	const char *why;          /* why the last that should have been kept was not, or NULL */
};

static int append(struct arena *arena, struct strv *to, const struct strv *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (strv_add(arena, to, from->v[i]) < 0)
			return -ENOMEM;
	return 0;
}

static const char *reason(struct arena *arena, const struct survey_config *config, int error)
{
	if (error == -EEXIST)
		return arena_printf(arena, "'%s.lock' exists", config->path);
	return arena_printf(arena, "'%s' cannot be changed: %s", config->path, strerror(-error));
}

/* Nothing of the copy can be told. */
static int give_up(struct carrying *carrying, const struct survey_config *config)
{
	carrying->why = arena_printf(carrying->arena, "the copy of '%s' cannot be read", config->path);
	return carrying->why ? strv_add(carrying->arena, &carrying->names.dropped, "what was changed") : -ENOMEM;
}

static int carry_texts_over(struct carrying *carrying, const struct survey_config *config, struct carry_texts *texts)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	struct carry_names first = { 0 }, names = { 0 };
	int r = carry_text(carrying->arena, texts, &text, &first);

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return give_up(carrying, config);
	if (r == 0) /* nothing that may be kept: the host's file is not even looked at */
		return append(carrying->arena, &carrying->names.dropped, &first.dropped);
	r = update(config, carrying->arena, texts, &names);
	if (r == 0)
		return append(carrying->arena, &carrying->names.dropped, &names.dropped);
	carrying->why = reason(carrying->arena, config, r);
	if (!carrying->why || append(carrying->arena, &carrying->names.dropped, &first.kept) < 0)
		return -ENOMEM;
	return append(carrying->arena, &carrying->names.dropped, &first.dropped);
}

static bool is_text(const struct buf *buf, const char *text)
{
	return buf->len == strlen(text) && (buf->len == 0 || memcmp(buf->data, text, buf->len) == 0);
}

static int carry_one(struct carrying *carrying, const struct survey_config *config, int directory)
{
	struct carry_texts texts = {
		.before = BUF_INIT(LIMIT_GIT_CONFIG_BYTES), .present = BUF_INIT(LIMIT_GIT_CONFIG_BYTES),
	};
	struct stat st;
	int r = read_file(directory, PLAN_COPY_NAME, &texts.after, &st);

	if (r < 0) {
		r = give_up(carrying, config);
	} else if (!is_text(&texts.after, config->text)) {
		buf_str(&texts.before, config->text);
		buf_str(&texts.present, config->text);
		r = texts.before.error || texts.present.error ? -ENOMEM : carry_texts_over(carrying, config, &texts);
	}
	buf_free(&texts.before);
	buf_free(&texts.after);
	buf_free(&texts.present);
	return r;
}

static bool is_all(const struct survey_config *config, struct arena *arena)
{
	struct carry_texts texts = {
		.before = BUF_INIT(LIMIT_GIT_CONFIG_BYTES), .present = BUF_INIT(LIMIT_GIT_CONFIG_BYTES),
	};
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	FD_CLEANUP int directory = open_directory(config, arena);
	struct carry_names names = { 0 };
	struct stat st;
	bool is_so = false;

	texts.after = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	if (directory >= 0 && read_file(directory, path_name(config->path), &texts.after, &st) == 0 &&
	    st.st_mode == config->node.mode && st.st_uid == config->node.uid && st.st_gid == config->node.gid) {
		buf_str(&texts.before, config->text);
		buf_str(&texts.present, config->text);
		is_so = !texts.before.error && !texts.present.error &&
			carry_text(arena, &texts, &text, &names) >= 0 && names.dropped.n == 0;
	}
	buf_free(&texts.before);
	buf_free(&texts.after);
	buf_free(&texts.present);
	return is_so;
}

bool carry_is_all(const struct survey *survey, const char *path)
{
	struct arena arena = { 0 };
	bool is_so = false;

	for (size_t i = 0; i < survey->config_count && !is_so; i++)
		if (strcmp(survey->configs[i].path, path) == 0)
			is_so = is_all(&survey->configs[i], &arena);
	arena_free(&arena);
	return is_so;
}

/* A lock of git's is left alone as long as somebody may hold it; the command, which may have left it, is gone. */
static int take_any_lock(int directory, const char *lock)
{
	int fd = take_lock(directory, lock);

	if (fd != -EEXIST || (unlinkat(directory, lock, 0) < 0 && unlinkat(directory, lock, AT_REMOVEDIR) < 0))
		return fd;
	return take_lock(directory, lock);
}

static int write_back(const struct survey_config *config, struct arena *arena, const struct buf *text)
{
	FD_CLEANUP int directory = open_directory(config, arena);
	FD_CLEANUP int fd = -1;
	const char *name = path_name(config->path), *lock = arena_printf(arena, "%s.lock", name);
	const struct stat st = { .st_mode = config->node.mode, .st_uid = config->node.uid, .st_gid = config->node.gid };
	sigset_t all, mask;
	int r;

	if (directory < 0)
		return directory;
	if (!lock)
		return -ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	r = fd = take_any_lock(directory, lock);
	if (r >= 0)
		r = keep_owner(fd, &st);
	if (r == 0)
		r = fd_write_all(fd, text->data ? text->data : "", text->len);
	if (r == 0 && (fsync(fd) < 0 || renameat(directory, lock, directory, name) < 0))
		r = -errno;
	if (fd >= 0 && r < 0)
		unlinkat(directory, lock, 0);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return r;
}

int carry_restore(const struct survey_config *config, const struct buf *left, struct arena *arena)
{
	struct carry_texts texts = {
		.before = BUF_INIT(LIMIT_GIT_CONFIG_BYTES), .after = *left, .present = BUF_INIT(LIMIT_GIT_CONFIG_BYTES),
	};
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	struct carry_names names = { 0 };
	int r;

	buf_str(&texts.before, config->text);
	buf_str(&texts.present, config->text);
	r = texts.before.error || texts.present.error ? -ENOMEM : carry_text(arena, &texts, &text, &names);
	if (r == 0 || r == -EINVAL) /* nothing to be kept */
		buf_str(&text, config->text);
	if (r != -ENOMEM)
		r = text.error ? -ENOMEM : write_back(config, arena, &text);
	buf_free(&texts.before);
	buf_free(&texts.present);
	return r;
}

/* One line, however much it was. */
static const char *message(struct arena *arena, const struct carrying *carrying)
{
	BUF_CLEANUP struct buf line = BUF_INIT(LIMIT_TEXT_BYTES);
	const struct strv *dropped = &carrying->names.dropped;

	if (!dropped->n)
		return "";
	buf_str(&line, "git's configuration: ");
	for (size_t i = 0; i < dropped->n && i < NAMED; i++)
		buf_printf(&line, "%s%s", i == 0 ? "" : i + 1 == dropped->n ? " and " : ", ", dropped->v[i]);
	if (dropped->n > NAMED)
		buf_printf(&line, " and %zu more", dropped->n - NAMED);
	buf_printf(&line, " %s not kept", dropped->n == 1 ? "was" : "were");
	if (carrying->why)
		buf_printf(&line, ": %s", carrying->why);
	return line.error ? NULL : arena_strdup(arena, line.data);
}

int carry_over(const struct pinfold_plan *plan, const struct carry_handover *handover, struct arena *arena,
	       const char **ret_said)
{
	struct arena scratch = { 0 };
	struct carrying carrying = { .arena = &scratch };
	int fds[LIMIT_GIT_COPIES], r = 0;
	int got;
	size_t n;
	const char *said;

	*ret_said = NULL;
	if (handover->in < 0)
		return 0;
	got = fd_receive(handover->in, fds, LIMIT_GIT_COPIES, MSG_DONTWAIT);
	n = got > 0 ? (size_t)got : 0;
	for (size_t i = 0; i < plan->copy_count && r == 0; i++) {
		const struct survey_config *config = plan->copies[i].config;

		r = i < n ? carry_one(&carrying, config, fds[i]) : give_up(&carrying, config);
	}
	for (size_t i = 0; i < n; i++)
		fd_close(&fds[i]);
	said = r == 0 ? message(arena, &carrying) : NULL;
	arena_free(&scratch);
	if (!said)
		return -ENOMEM;
	*ret_said = *said ? said : NULL;
	return 0;
}
