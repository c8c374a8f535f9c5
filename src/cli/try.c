/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `explain --prove` runs inside the pen: tries a path, and says what the kernel said, a line "RIGHT ERRNO" each.
 * Nothing is changed but for an instant: a file is opened for writing without being written, a name is made and
 * removed at once. Renaming is not tried, since nobody could say what the file's users would make of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/cli.h"

enum { CHECK_ONLY = 0x10000 /* AT_EXECVE_CHECK of linux/fcntl.h */ };

static int close_or_errno(int fd)
{
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Opening a device can do something; only what every pen has is opened. */
static bool is_harmless(const char *path, struct stat *st)
{
	if (stat(path, st) < 0)
		return true;
	return !S_ISBLK(st->st_mode) && !S_ISFIFO(st->st_mode) &&
	       (!S_ISCHR(st->st_mode) || strncmp(path, "/dev/", 5) == 0);
}

static int try_read(const char *path)
{
	return close_or_errno(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

static int try_write(const char *path)
{
	return close_or_errno(open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

static int make_and_remove(const char *path)
{
	int r = close_or_errno(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));

	if (r == 0)
		unlink(path);
	return r;
}

/* In a directory a new name, beside a file as well; the name itself where nothing has it. */
static int try_create(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat st;
	char *name;
	int r;

	if (lstat(path, &st) < 0)
		return make_and_remove(path);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		r = asprintf(&name, "%s/.pinfold-try-%d", path, getpid());
	else
		r = asprintf(&name, "%.*s.pinfold-try-%d", slash ? (int)(slash + 1 - path) : 0, path, getpid());
	if (r < 0)
		return ENOMEM;
	r = make_and_remove(name);
	free(name);
	return r;
}

/* -1: this kernel cannot be asked without executing it (before Linux 6.14). */
static int try_execute(const char *path)
{
	char *const nothing[] = { NULL };
	struct stat st;

	if (stat(path, &st) < 0 || S_ISDIR(st.st_mode))
		return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
	if (syscall(SYS_execveat, AT_FDCWD, path, nothing, nothing, CHECK_ONLY) == 0)
		return 0;
	return errno == EINVAL ? -1 : errno;
}

static void try_all(const char *path)
{
	struct stat st;
	int r;

	if (is_harmless(path, &st)) {
		printf("read %d\n", try_read(path));
		printf("write %d\n", try_write(path));
	}
	printf("create %d\n", try_create(path));
	r = try_execute(path);
	if (r >= 0)
		printf("execute %d\n", r);
}

int try_path(char **words)
{
	const char *home = getenv("HOME");
	char *path;

	if (!words[0] || asprintf(&path, "%s%s", words[0][0] == '~' && home ? home : "",
				  words[0] + (words[0][0] == '~')) < 0)
		return EXIT_REFUSED;
	try_all(path);
	free(path);
	return print_end();
}
