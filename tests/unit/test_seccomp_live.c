/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filters in the running kernel. Each test forks, since what is installed cannot be taken off. Every probe is made
 * twice: without the filter as its control, then with it. A control that gets the same answer proves nothing and is
 * named: another filter, a missing module or a setting refuses the call already.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/netlink.h>

#include "linux/seccomp.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define X32_BIT 0x40000000
#define NO_SUCH_CALL 9999
#define GET_SESSION_KEYRING 0, -3, 0 /* KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING */

/* The same on every architecture, and not in every header. */
enum { NR_IO_URING_SETUP = 425, NR_OPEN_TREE = 428, NR_CLONE3 = 435 };

/* A probe returns 0 or a positive number, or the negative errno. */
static long answer(long result)
{
	return result < 0 ? -errno : result;
}

/* ---- refused --------------------------------------------------------------------------------------------------- */

static long io_uring(void)    { return answer(syscall(NR_IO_URING_SETUP, 0, NULL)); }
static long clone3(void)      { return answer(syscall(NR_CLONE3, NULL, 0)); }
static long open_tree(void)   { return answer(syscall(NR_OPEN_TREE, -1, "", 0)); }
static long unknown(void)     { return answer(syscall(NO_SUCH_CALL)); }
static long x32_getpid(void)  { return answer(syscall(X32_BIT + SYS_getpid)); }
static long new_user(void)    { return answer(unshare(CLONE_NEWUSER)); }
static long own_setns(void)   { return answer(setns(-1, 0)); }
/* A descriptor that is none would be EBADF: the filter speaks before the kernel looks. */
static long sti(void)         { return answer(syscall(SYS_ioctl, -1, TIOCSTI, "x")); }
static long sti_high(void)    { return answer(syscall(SYS_ioctl, -1, TIOCSTI | 1UL << 32, "x")); }
static long console(void)     { return answer(syscall(SYS_ioctl, -1, TIOCLINUX, "\2")); }
static long discipline(void)  { return answer(syscall(SYS_ioctl, -1, TIOCSETD, NULL)); }
static long vsock(void)       { return answer(socket(AF_VSOCK, SOCK_STREAM, 0)); }
static long packet(void)      { return answer(socket(AF_PACKET, SOCK_RAW, 0)); }
static long alg(void)         { return answer(socket(AF_ALG, SOCK_SEQPACKET, 0)); }
static long generic(void)     { return answer(socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC)); }
static long session_key(void) { return answer(syscall(SYS_keyctl, GET_SESSION_KEYRING)); }
static long exec_reads(void)  { return answer(personality(READ_IMPLIES_EXEC)); }
static long bpf_map(void)     { return answer(syscall(SYS_bpf, -1, NULL, 0)); }

static long parent_limit(void)
{
	struct rlimit limit = { 1, 1 };

	return answer(syscall(SYS_prlimit64, 0x7ffffff, RLIMIT_CPU, &limit, NULL));
}

/* chmod of a file that has no place in any directory. */
static long change_mode(mode_t mode)
{
	int fd = memfd_create("mode", MFD_CLOEXEC);
	char path[32];
	long result;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	result = answer(chmod(path, mode));
	close(fd);
	return result;
}

static long set_uid_mode(void) { return change_mode(04755); }
static long set_gid_mode(void) { return change_mode(02755); }
static long plain_mode(void)   { return change_mode(0755); }

/* There nothing can be made: ENOENT without the filter. */
static long set_uid_open(void) { return answer(open("/proc/self/nowhere", O_CREAT | O_WRONLY, 04755)); }

/* ---- allowed --------------------------------------------------------------------------------------------------- */

static long route(void)      { return answer(close(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE))); }
static long unix_pair(void)  { int fds[2]; return answer(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds)); }
static long inet(void)       { return answer(close(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))); }
static long same_files(void) { return answer(unshare(CLONE_FILES)); }
static long query(void)      { return answer(personality(0xffffffff)) >= 0 ? 0 : -1; }

static long own_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_CORE, &limit) ? -errno : answer(setrlimit(RLIMIT_CORE, &limit));
}

static void *nothing(void *argument)
{
	return argument;
}

/* The C library asks for clone3 first. */
static long thread(void)
{
	pthread_t id;
	void *result = NULL;
	int r = pthread_create(&id, NULL, nothing, NULL);

	return r ? -r : -pthread_join(id, &result);
}

static long child(void)
{
	return system("exec true");
}

static const struct probe {
	const char *name;
	long (*run)(void);
	long expected;
} refused[] = {
	{ "io_uring_setup", io_uring, -ENOSYS },
	{ "clone3", clone3, -ENOSYS },
	{ "open_tree", open_tree, -EPERM },
	{ "a call that is unknown", unknown, -ENOSYS },
	{ "the x32 getpid", x32_getpid, -ENOSYS },
	{ "unshare of users", new_user, -EPERM },
	{ "setns", own_setns, -EPERM },
	{ "TIOCSTI", sti, -EPERM },
	{ "TIOCSTI with a 33rd bit", sti_high, -EPERM },
	{ "TIOCLINUX", console, -EPERM },
	{ "TIOCSETD", discipline, -EPERM },
	{ "a vsock socket", vsock, -EAFNOSUPPORT },
	{ "a packet socket", packet, -EAFNOSUPPORT },
	{ "an alg socket", alg, -EAFNOSUPPORT },
	{ "a generic netlink socket", generic, -EAFNOSUPPORT },
	{ "keyctl", session_key, -EPERM },
	{ "READ_IMPLIES_EXEC", exec_reads, -EPERM },
	{ "bpf", bpf_map, -EPERM },
	{ "prlimit of another process", parent_limit, -EPERM },
	{ "chmod 04755", set_uid_mode, -EPERM },
	{ "open with 04755", set_uid_open, -EPERM },
}, allowed[] = {
	{ "a route netlink socket", route, 0 },
	{ "a socketpair", unix_pair, 0 },
	{ "a TCP socket", inet, 0 },
	{ "unshare of descriptors", same_files, 0 },
	{ "a question about the personality", query, 0 },
	{ "setrlimit", own_limit, 0 },
	{ "chmod 0755", plain_mode, 0 },
	{ "chmod 02755", set_gid_mode, 0 },
	{ "a thread", thread, 0 },
	{ "a child", child, 0 },
};

/* ---- running them ---------------------------------------------------------------------------------------------- */

static int install(bool with_root)
{
	int r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

	r = r ? r : seccomp_install(SECCOMP_BASE);
	r = r ? r : seccomp_install(SECCOMP_CLOSED);
	return r || !with_root ? r : seccomp_install(SECCOMP_ROOT);
}

/* Runs `work` in a child of its own; its result, below 256, or 1000 + the signal that ended it. */
static int in_child(int (*work)(const void *), const void *argument)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(work(argument));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int has_expected_answer(const void *argument)
{
	const struct probe *probe = argument;

	return probe->run() == probe->expected;
}

static int has_expected_answer_inside(const void *argument)
{
	return install(false) == 0 && has_expected_answer(argument);
}

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		if (in_child(has_expected_answer, &refused[i]) != 0)
			print_message("no control: %s is refused without the filter, too\n", refused[i].name);
		if (in_child(has_expected_answer_inside, &refused[i]) != 1)
			fail_msg("not refused as expected: %s", refused[i].name);
	}
}

static void test_allowed(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(allowed); i++) {
		if (in_child(has_expected_answer, &allowed[i]) != 1)
			print_message("no control: %s does not work without the filter either\n", allowed[i].name);
		else if (in_child(has_expected_answer_inside, &allowed[i]) != 1)
			fail_msg("not allowed as expected: %s", allowed[i].name);
	}
}

static int modes_under_root_program(const void *argument)
{
	(void)argument;
	return install(true) == 0 && set_gid_mode() == -EPERM && set_uid_mode() == -EPERM && plain_mode() == 0;
}

static void test_root_program(void **state)
{
	(void)state;
	assert_int_equal(in_child(modes_under_root_program, NULL), 1);
}

#ifdef __x86_64__
enum { I386_GETPID = 20 };

static long i386_getpid(void)
{
	long result = I386_GETPID;

	__asm__ volatile("int $0x80" : "+a"(result) : : "r8", "r9", "r10", "r11", "memory");
	return (int)result;
}

static int i386_is_served(const void *is_inside)
{
	if (*(const bool *)is_inside && install(false) != 0)
		return 2;
	return i386_getpid() == getpid();
}

/* E093. Without IA32 emulation the instruction ends the process: closed even earlier. */
static void test_i386_entry(void **state)
{
	const bool outside = false, inside = true;

	(void)state;
	if (in_child(i386_is_served, &outside) != 1) {
		print_message("no control: this kernel does not serve int 0x80\n");
		skip();
	}
	assert_int_equal(in_child(i386_is_served, &inside), 0);
}
#endif

/* An outer filter that has not heard of seccomp(2). */
static int install_without_the_call(const void *argument)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { COUNT(code), (struct sock_filter *)(uintptr_t)code };

	(void)argument;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 2;
	return seccomp_install(SECCOMP_BASE) == 0 && session_key() == -EPERM;
}

static void test_older_call(void **state)
{
	(void)state;
	assert_int_equal(in_child(install_without_the_call, NULL), 1);
}

/* Without no_new_privs the kernel refuses, and that must not pass for success. */
static int install_as_anybody(const void *argument)
{
	enum { NOBODY = 65534 };

	(void)argument;
	if (getuid() == 0 && (setgid(NOBODY) || setuid(NOBODY)))
		return 2;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) ? 3 : seccomp_install(SECCOMP_BASE) == -EACCES;
}

static void test_failure_is_told(void **state)
{
	int result = in_child(install_as_anybody, NULL);

	(void)state;
	if (result == 3)
		skip();
	assert_int_equal(result, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_root_program),
#ifdef __x86_64__
		cmocka_unit_test(test_i386_entry),
#endif
		cmocka_unit_test(test_older_call),
		cmocka_unit_test(test_failure_is_told),
	};

	return cmocka_run_group_tests_name("seccomp_live", tests, NULL, NULL);
}
