/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts on paths: content, names, metadata, special files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attempt.h"

#ifndef SYS_openat2
#define SYS_openat2 437 /* Linux 5.6 */
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* Linux 6.6 */
#endif

/* O_NONBLOCK: nobody may read at the other end of a FIFO. */
static int open_write(char **args)
{
	return attempt_closed(open(args[0], O_WRONLY | O_NONBLOCK | O_CLOEXEC));
}

static int open_read(char **args)
{
	return attempt_closed(open(args[0], O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

/* Really executed: faccessat(2) does not ask Landlock. What is no program passes when the kernel says so (ENOEXEC). */
static int may_execute(char **args)
{
	int ends[2], result = 0;
	struct stat st;
	pid_t child;

	if (stat(args[0], &st) == 0 && S_ISDIR(st.st_mode))
		return attempt_result(faccessat(AT_FDCWD, args[0], X_OK, AT_EACCESS));
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child == 0) {
		char *const argv[] = { args[0], NULL };
		int null = open("/dev/null", O_RDWR);

		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		execv(args[0], argv);
		result = -errno;
		_exit(write(ends[1], &result, sizeof(result)) < 0);
	}
	close(ends[1]);
	if (read(ends[0], &result, sizeof(result)) < 0)
		result = -errno;
	close(ends[0]);
	waitpid(child, NULL, 0);
	return result == -ENOEXEC ? 0 : result;
}

static int append(char **args)
{
	int fd = open(args[0], O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
	int result;

	if (fd < 0)
		return -errno;
	result = attempt_result(write(fd, "attempt\n", 8));
	close(fd);
	return result;
}

static int create(char **args)
{
	return attempt_closed(open(args[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
}

static int create_mode(char **args)
{
	return attempt_closed(open(args[1], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)attempt_number(args[0])));
}

/* The same by a call whose mode lies in memory. */
static int create_mode_2(char **args)
{
	uint64_t how[3] = { O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (uint64_t)attempt_number(args[0]), 0 };

	return attempt_closed((int)syscall(SYS_openat2, AT_FDCWD, args[1], how, sizeof(how)));
}

static int make_unnamed(char **args)
{
	return attempt_closed(open(args[0], O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
}

static int list(char **args)
{
	DIR *dir = opendir(args[0]);

	if (!dir)
		return -errno;
	closedir(dir);
	return 0;
}

static int look(char **args)
{
	struct stat st;

	return attempt_result(lstat(args[0], &st));
}

static int make_directory(char **args)
{
	return attempt_result(mkdir(args[0], 0755));
}

static int remove_directory(char **args)
{
	return attempt_result(rmdir(args[0]));
}

static int remove_name(char **args)
{
	return attempt_result(unlink(args[0]));
}

static int cut(char **args)
{
	return attempt_result(truncate(args[0], 0));
}

static int hard_link(char **args)
{
	return attempt_result(link(args[0], args[1]));
}

static int symbolic_link(char **args)
{
	return attempt_result(symlink(args[0], args[1]));
}

static int move(char **args)
{
	return attempt_result(rename(args[0], args[1]));
}

static int exchange(char **args)
{
	return attempt_result(renameat2(AT_FDCWD, args[0], AT_FDCWD, args[1], RENAME_EXCHANGE));
}

static int change_mode(char **args)
{
	return attempt_result(chmod(args[1], (mode_t)attempt_number(args[0])));
}

static int change_mode_2(char **args)
{
	return attempt_result(syscall(SYS_fchmodat2, AT_FDCWD, args[1], attempt_number(args[0]), 0));
}

/* To ourselves, which the owner may. */
static int change_owner(char **args)
{
	return attempt_result(chown(args[0], getuid(), getgid()));
}

static int change_times(char **args)
{
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

	return attempt_result(utimensat(AT_FDCWD, args[0], times, 0));
}

static int set_attribute(char **args)
{
	return attempt_result(setxattr(args[0], "user.attempt", "x", 1, 0));
}

static int make_device(char **args)
{
	return attempt_result(mknod(args[0], S_IFCHR | 0666, makedev(1, 3)));
}

static int make_fifo(char **args)
{
	return attempt_result(mkfifo(args[0], 0600));
}

static int make_socket(char **args)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int result;

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", args[0]);
	result = attempt_result(bind(fd, (struct sockaddr *)&address, sizeof(address)));
	close(fd);
	return result;
}

const struct attempt file_attempts[] = {
	{ "open-write", 1, open_write },
	{ "open-read", 1, open_read },
	{ "may-execute", 1, may_execute },
	{ "append", 1, append },
	{ "create", 1, create },
	{ "create-mode", 2, create_mode }, /* MODE PATH */
	{ "openat2-mode", 2, create_mode_2 },
	{ "tmpfile", 1, make_unnamed },
	{ "list", 1, list },
	{ "stat", 1, look },
	{ "mkdir", 1, make_directory },
	{ "rmdir", 1, remove_directory },
	{ "unlink", 1, remove_name },
	{ "truncate", 1, cut },
	{ "link", 2, hard_link },
	{ "symlink", 2, symbolic_link },
	{ "rename", 2, move },
	{ "exchange", 2, exchange },
	{ "chmod", 2, change_mode }, /* MODE PATH */
	{ "fchmodat2", 2, change_mode_2 },
	{ "chown", 1, change_owner },
	{ "utimes", 1, change_times },
	{ "setxattr", 1, set_attribute },
	{ "mknod-char", 1, make_device },
	{ "mkfifo", 1, make_fifo },
	{ "bind-unix", 1, make_socket },
	{ NULL, 0, NULL },
};
