/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts on descriptors that the command was started with. N is the number. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attempt.h"

static int number(char **args)
{
	return (int)attempt_number(args[0]);
}

/* The descriptor by its name in /proc: an open file is reached again, with other rights (E110a). */
static const char *link_to(int fd)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static int is_open(char **args)
{
	return attempt_result(fcntl(number(args), F_GETFD));
}

static int change_directory(char **args)
{
	return attempt_result(fchdir(number(args)));
}

static int open_below(char **args)
{
	return attempt_closed(openat(number(args), args[1], O_RDONLY | O_CLOEXEC));
}

static int create_below(char **args)
{
	return attempt_closed(openat(number(args), args[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static int open_again(char **args)
{
	return attempt_closed(open(link_to(number(args)), O_WRONLY | O_CLOEXEC));
}

static int truncate_again(char **args)
{
	return attempt_result(truncate(link_to(number(args)), 0));
}

static int cut(char **args)
{
	return attempt_result(ftruncate(number(args), 0));
}

static int change_mode(char **args)
{
	return attempt_result(fchmod(number(args), 0644));
}

static int change_times(char **args)
{
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

	return attempt_result(futimens(number(args), times));
}

static int send_byte(char **args)
{
	return attempt_result(send(number(args), "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL));
}

const struct attempt descriptor_attempts[] = {
	{ "fd-open", 1, is_open },
	{ "fd-chdir", 1, change_directory },
	{ "fd-openat", 2, open_below },
	{ "fd-createat", 2, create_below },
	{ "fd-reopen", 1, open_again },
	{ "fd-retruncate", 1, truncate_again },
	{ "fd-truncate", 1, cut },
	{ "fd-chmod", 1, change_mode },
	{ "fd-utimes", 1, change_times },
	{ "fd-send", 1, send_byte },
	{ NULL, 0, NULL },
};
