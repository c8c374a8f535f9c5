/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

static char folder[] = "/tmp/pinfold-fd-XXXXXX";

static int make_folder(void **state)
{
	int fd;

	(void)state;
	if (!mkdtemp(folder) || chdir(folder) < 0)
		return -1;
	fd = open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, "hello", 5) < 0)
		return -1;
	fd_close(&fd);
	return symlink("file", "link") < 0 || mkfifo("fifo", 0600) < 0 || mkdir("dir", 0700) < 0 ? -1 : 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink("file");
	unlink("link");
	unlink("fifo");
	rmdir("dir");
	return chdir("/") < 0 ? -1 : rmdir(folder);
}

static void only_regular_files_are_opened(void **state)
{
	FD_CLEANUP int fd = fd_open_regular(AT_FDCWD, "file");
	char text[8] = "";

	(void)state;
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fd_read_all(fd, text, sizeof(text)), 5);
	assert_string_equal(text, "hello");
	assert_int_equal(fd_open_regular(AT_FDCWD, "link"), -ELOOP);
	assert_int_equal(fd_open_regular(AT_FDCWD, "fifo"), -EINVAL);
	assert_int_equal(fd_open_regular(AT_FDCWD, "dir"), -EINVAL);
	assert_int_equal(fd_open_regular(AT_FDCWD, "/dev/null"), -EINVAL);
	assert_int_equal(fd_open_regular(AT_FDCWD, "none"), -ENOENT);
}

static void closing_keeps_errno_and_forgets_the_number(void **state)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), old = fd, bad = 9999;
	FILE *file = fopen("/dev/null", "re"), *none = NULL;

	(void)state;
	errno = EXDEV;
	fd_close(&fd);
	fd_close(&fd);
	fd_close(&bad);
	assert_non_null(file);
	errno = EXDEV;
	file_close(&file);
	file_close(&none);
	assert_int_equal(errno, EXDEV);
	assert_null(file);
	assert_int_equal(fd, -1);
	assert_int_equal(fcntl(old, F_GETFD), -1);
}

static void moved_descriptors_close_on_exec(void **state)
{
	int fd = open("/dev/null", O_RDONLY), moved = fd_move_above(fd, 100);

	(void)state;
	assert_true(moved >= 100);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_true(fcntl(moved, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fcntl(moved, F_SETFD, 0), 0);
	assert_int_equal(fd_move_above(moved, 50), moved);
	assert_true(fcntl(moved, F_GETFD) & FD_CLOEXEC);
	fd_close(&moved);
	assert_int_equal(fd_move_above(moved, 3), -EBADF);
}

static void failures_are_numbers(void **state)
{
	char byte;

	(void)state;
	assert_int_equal(fd_write_all(-1, "x", 1), -EBADF);
	assert_int_equal(fd_read_all(-1, &byte, 1), -EBADF);
	assert_int_equal(fd_write_all(-1, "", 0), 0);
}

/* What is handed over is the same open file, close-on-exec; more than is expected is refused whole. */
static void descriptors_go_from_process_to_process(void **state)
{
	int pair[2], sent[3], got[3] = { -1, -1, -1 };
	char text[8] = "";

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	for (int i = 0; i < 3; i++)
		sent[i] = open("file", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fd_send(pair[0], sent, 0), -EINVAL);
	assert_int_equal(fd_send(pair[0], sent, 2), 0);
	assert_int_equal(fd_receive(pair[1], got, 3, 0), 2);
	assert_true(fcntl(got[1], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fd_read_all(got[1], text, sizeof(text)), 5);
	assert_int_equal(lseek(sent[1], 0, SEEK_CUR), 5);
	close(got[0]);
	close(got[1]);
	got[0] = -1;
	assert_int_equal(fd_send(pair[0], sent, 3), 0);
	assert_int_equal(fd_receive(pair[1], got, 2, 0), -EMFILE);
	assert_int_equal(got[0], -1);
	assert_int_equal(fd_receive(pair[1], got, 2, MSG_DONTWAIT), -EAGAIN);
	close(pair[0]);
	assert_int_equal(fd_receive(pair[1], got, 2, 0), 0);
	assert_int_equal(fd_send(pair[1], sent, 1), -EPIPE);
	close(pair[1]);
	for (int i = 0; i < 3; i++)
		close(sent[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_regular_files_are_opened),
		cmocka_unit_test(closing_keeps_errno_and_forgets_the_number),
		cmocka_unit_test(moved_descriptors_close_on_exec),
		cmocka_unit_test(failures_are_numbers),
		cmocka_unit_test(descriptors_go_from_process_to_process),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
