/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of a relay's process in the running kernel: what its loop needs passes, anything else ends the process.
 * Each probe is a process of its own, and is made without the filter first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/enter.h"

enum {
	STREAM = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	DATAGRAM = SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS,
};

static void open_file(void)      { syscall(SYS_openat, -100, "/dev/null", 0, 0); }
static void get_pid(void)        { syscall(SYS_getpid); }
static void write_byte(void)     { syscall(SYS_write, -1, "x", 1); }
static void new_process(void)    { syscall(SYS_clone, -1, 0, 0, 0, 0); }
static void unix_socket(void)    { syscall(SYS_socket, AF_UNIX, STREAM, 0); }
static void datagrams(void)      { syscall(SYS_socket, AF_INET, DATAGRAM, 0); }
static void netlink(void)        { syscall(SYS_socket, AF_NETLINK, STREAM, 0); }
static void send_to(void)        { syscall(SYS_sendto, -1, "x", 1, 0, &(struct sockaddr_in){ 0 }, 16); }
static void send_to_high(void)   { syscall(SYS_sendto, -1, "x", 1, 0, 1UL << 32, 16); }
static void code(void)           { syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, PRIVATE, -1, 0); }

static void stream_v4(void)      { syscall(SYS_socket, AF_INET, STREAM, 0); }
static void stream_v6(void)      { syscall(SYS_socket, AF_INET6, STREAM, 0); }
static void send_on(void)        { syscall(SYS_sendto, -1, "x", 1, 0, NULL, 0); }
static void receive(void)        { syscall(SYS_recvfrom, -1, NULL, 0, 0, NULL, NULL); }
static void pages(void)          { syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, PRIVATE, -1, 0); }
static void take(void)           { syscall(SYS_accept4, -1, NULL, NULL, 0); }
static void wait_again(void)     { syscall(SYS_restart_syscall); }

static void (*const refused[])(void) = {
	open_file, get_pid, write_byte, new_process, unix_socket, datagrams, netlink, send_to, send_to_high, code,
};
static void (*const passed[])(void) = { stream_v4, stream_v6, send_on, receive, pages, take, wait_again };

/* The signal that ended it, or 0. */
static int try(void (*probe)(void), bool is_filtered)
{
	struct pinfold_error err;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (is_filtered && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || relay_filter_install(&err) < 0))
			syscall(SYS_exit_group, 9);
		probe();
		syscall(SYS_exit_group, 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status));
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void what_the_loop_needs_passes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		assert_int_equal(try(passed[i], true), 0);
}

static void anything_else_ends_the_process(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_int_equal(try(refused[i], false), 0);
		if (try(refused[i], true) != SIGSYS)
			fail_msg("probe %zu passed", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_loop_needs_passes),
		cmocka_unit_test(anything_else_ends_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
