/* SPDX-License-Identifier: Apache-2.0 */
/* The three standard descriptors, and the terminal they may be. */
#include "survey/take.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"

/* The path of an open file, believed only when the same node is found there: a deleted file, or one of another mount
 * namespace, has a text that names something else. */
static int name_of(struct taking *take, int fd, const struct stat *st, const char **ret)
{
	char link[32], path[PATH_MAX];
	struct stat there;
	ssize_t n;

	*ret = NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	if (n < 0)
		look_failed(take, link, errno);
	if (n <= 0 || (size_t)n == sizeof(path) || path[0] != '/')
		return 0;
	path[n] = '\0';
	if (lstat(path, &there) < 0) {
		look_failed(take, path, errno);
		return 0;
	}
	if (there.st_dev != st->st_dev || there.st_ino != st->st_ino)
		return 0;
	*ret = arena_strdup(take->arena, path);
	return *ret ? 0 : err_oom(take->err);
}

/* A stream between two processes stays one; any other socket can be connected to somebody else. */
static bool is_bound_to_peer(int fd)
{
	int domain = 0, type = 0;
	socklen_t length = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0)
		return false;
	return domain == AF_UNIX && (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

static enum stdio_kind kind_of(int fd, const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		return STDIO_FILE;
	if (S_ISDIR(st->st_mode))
		return STDIO_DIRECTORY;
	if (S_ISCHR(st->st_mode) && isatty(fd))
		return STDIO_TERMINAL;
	return S_ISSOCK(st->st_mode) && !is_bound_to_peer(fd) ? STDIO_SOCKET : STDIO_OTHER;
}

static int take_descriptor(struct taking *take, int number, int fd, dev_t *ret_rdev)
{
	struct survey_stdio *stdio_fd = &take->survey->stdio[number];
	struct stat st;
	int flags;

	*stdio_fd = (struct survey_stdio){ .kind = STDIO_CLOSED };
	if (fstat(fd, &st) < 0 || (flags = fcntl(fd, F_GETFL)) < 0) {
		look_failed(take, "a standard descriptor", errno);
		return 0; /* STDIO_CLOSED */
	}
	stdio_fd->kind = kind_of(fd, &st);
	stdio_fd->flags = flags & (O_ACCMODE | O_APPEND);
	look_node(&st, &stdio_fd->node);
	if (stdio_fd->kind == STDIO_TERMINAL)
		*ret_rdev = st.st_rdev;
	if (stdio_fd->kind == STDIO_FILE)
		return name_of(take, fd, &st, &stdio_fd->path);
	return 0;
}

/* tcgetpgrp answers only for the controlling terminal of the caller: that tells it from any other terminal. */
static int take_terminal(struct taking *take, const dev_t rdev[3])
{
	struct survey_terminal *terminal = &take->survey->terminal;
	FD_CLEANUP int fd = openat(AT_FDCWD, "/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int ours = 0;

	if (fd < 0)
		return 0;
	terminal->has_controlling = true;
	terminal->is_foreground = tcgetpgrp(fd) == getpgrp();
	for (int i = 0; i < 3; i++) {
		if (take->survey->stdio[i].kind != STDIO_TERMINAL || tcgetpgrp(i) < 0)
			continue;
		ours += rdev[i] == rdev[0];
		if (terminal->path || fstat(i, &st) < 0)
			continue;
		if (name_of(take, i, &st, &terminal->path) < 0)
			return -ENOMEM;
	}
	terminal->is_all = ours == 3;
	return 0;
}

int take_stdio(struct taking *take)
{
	dev_t rdev[3] = { 0 };
	int r = 0;

	for (int i = 0; i < 3 && r == 0; i++)
		r = take_descriptor(take, i, i, &rdev[i]);
	return r < 0 ? r : take_terminal(take, rdev);
}

int survey_look_stdio(struct survey *survey, const int fds[3], struct pinfold_error *err)
{
	struct taking take = { .survey = survey, .arena = &survey->arena, .err = err };
	dev_t rdev;
	int r = 0;

	for (int i = 0; i < 3 && r == 0; i++)
		if (fds[i] >= 0)
			r = take_descriptor(&take, i, fds[i], &rdev);
	return r;
}
