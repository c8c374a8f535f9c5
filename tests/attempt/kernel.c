/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts on the kernel's surface: the terminal's ioctls, namespaces and mounts, other entries, rare system calls. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attempt.h"

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_fsopen
#define SYS_fsopen 430
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

enum {
	TREE_CLONE = 1,
	URING_PARAMS_SIZE = 120,
	X32_BIT = 0x40000000,
	IA32_GETPID = 20,
	USER_MODE_ONLY = 1, /* userfaultfd's, for which no privilege is needed */
};

/* The characters of a whole line on the caller's terminal, which the shell that comes next would carry out (E077). */
static int type_line(unsigned long request)
{
	for (const char *c = "echo TYPED\n"; *c; c++)
		if (syscall(SYS_ioctl, 0, request, c) < 0)
			return -errno;
	return 0;
}

static int tiocsti(char **args)
{
	(void)args;
	return type_line(TIOCSTI);
}

/* The kernel looks at the low 32 bits only; a filter that compares all 64 lets this through (E078). */
static int tiocsti_wide(char **args)
{
	(void)args;
	return type_line(TIOCSTI | 1ul << 32);
}

/* The same on a terminal of its own, which it makes its controlling one: no terminal of the caller's is needed. */
static int type_into(int master)
{
	char name[32];
	int slave, number, lock = 0;

	if (ioctl(master, TIOCSPTLCK, &lock) < 0 || ioctl(master, TIOCGPTN, &number) < 0 || setsid() < 0)
		return -errno;
	snprintf(name, sizeof(name), "/dev/pts/%d", number);
	slave = open(name, O_RDWR | O_CLOEXEC);
	return slave < 0 ? -errno : attempt_result(ioctl(slave, TIOCSTI, "x"));
}

static int type_ahead(char **args)
{
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), status;
	pid_t child = master < 0 ? -1 : fork();

	(void)args;
	if (child == 0)
		_exit(-type_into(master));
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -errno;
	close(master);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EPERM;
}

static int tioclinux(char **args)
{
	char subcode = (char)attempt_number(args[0]);

	return attempt_result(syscall(SYS_ioctl, 0, TIOCLINUX, &subcode));
}

static int tiocsetd(char **args)
{
	int discipline = 0; /* N_TTY, which a terminal has anyway */

	(void)args;
	return attempt_result(syscall(SYS_ioctl, 0, TIOCSETD, &discipline));
}

static int tioccons(char **args)
{
	(void)args;
	return attempt_result(syscall(SYS_ioctl, 0, TIOCCONS, NULL));
}

static int io_uring(char **args)
{
	char params[URING_PARAMS_SIZE] = { 0 };

	(void)args;
	return attempt_closed((int)syscall(SYS_io_uring_setup, 1, params));
}

/* What a clone call returned: the child ends at once, the parent takes it away. */
static int cloned(long pid)
{
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, __WALL);
	return attempt_result(pid);
}

/* clone3's flags lie in memory, where no filter can read them (E094). */
static int clone3_user(char **args)
{
	uint64_t clone_args[8] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };

	(void)args;
	return cloned(syscall(SYS_clone3, clone_args, sizeof(clone_args)));
}

static int clone3_plain(char **args)
{
	uint64_t clone_args[8] = { 0, 0, 0, 0, SIGCHLD };

	(void)args;
	return cloned(syscall(SYS_clone3, clone_args, sizeof(clone_args)));
}

static int clone_user(char **args)
{
	(void)args;
	return cloned(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
}

static int unshare_user(char **args)
{
	(void)args;
	return attempt_result(unshare(CLONE_NEWUSER));
}

static int unshare_mounts(char **args)
{
	(void)args;
	return attempt_result(unshare(CLONE_NEWNS));
}

/* Into the namespace of this file. */
static int enter_namespace(char **args)
{
	int fd = open(args[0], O_RDONLY | O_CLOEXEC);
	int result;

	if (fd < 0)
		return -errno;
	result = attempt_result(setns(fd, 0));
	close(fd);
	return result;
}

static int mount_tmpfs(char **args)
{
	return attempt_result(mount("attempt", args[0], "tmpfs", 0, NULL));
}

static int unmount(char **args)
{
	return attempt_result(umount2(args[0], MNT_DETACH));
}

static int remount_writable(char **args)
{
	return attempt_result(mount(NULL, args[0], NULL, MS_REMOUNT | MS_BIND, NULL));
}

static int copy_tree(char **args)
{
	return attempt_closed((int)syscall(SYS_open_tree, AT_FDCWD, args[0], TREE_CLONE));
}

static int fsopen_tmpfs(char **args)
{
	(void)args;
	return attempt_closed((int)syscall(SYS_fsopen, "tmpfs", 0));
}

static int change_root(char **args)
{
	return attempt_result(chroot(args[0]));
}

static int become_root(char **args)
{
	(void)args;
	return attempt_result(setuid(0));
}

/* Arguments are zeros: a call that is there mostly says EFAULT or EINVAL. */
static int any_call(char **args)
{
	return attempt_result(syscall(attempt_number(args[0]), 0, 0, 0, 0, 0, 0));
}

static int load_bpf(char **args)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1 };

	(void)args;
	return attempt_closed((int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static int perf(char **args)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .exclude_kernel = 1 };

	(void)args;
	return attempt_closed((int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

static int userfaultfd(char **args)
{
	(void)args;
	return attempt_closed((int)syscall(SYS_userfaultfd, O_CLOEXEC | USER_MODE_ONLY));
}

#ifdef __x86_64__
/* The 32-bit entry has other numbers, so a filter that does not look at the architecture judges another call (E093). */
static int int80(char **args)
{
	long returned;

	(void)args;
	__asm__ volatile("int $0x80" : "=a"(returned) : "0"((long)IA32_GETPID) : "memory", "r8", "r9", "r10", "r11");
	return returned < 0 ? (int)returned : 0;
}

static int x32(char **args)
{
	(void)args;
	return attempt_result(syscall(X32_BIT | SYS_getpid));
}
#endif

const struct attempt kernel_attempts[] = {
	{ "tiocsti", 0, tiocsti },
	{ "tiocsti64", 0, tiocsti_wide },
	{ "tioclinux", 1, tioclinux },
	{ "type-ahead", 0, type_ahead },
	{ "tiocsetd", 0, tiocsetd },
	{ "tioccons", 0, tioccons },
	{ "io_uring", 0, io_uring },
	{ "clone3-userns", 0, clone3_user },
	{ "clone3", 0, clone3_plain },
	{ "clone-userns", 0, clone_user },
	{ "unshare-user", 0, unshare_user },
	{ "unshare-mount", 0, unshare_mounts },
	{ "setns", 1, enter_namespace },
	{ "mount-tmpfs", 1, mount_tmpfs },
	{ "umount", 1, unmount },
	{ "remount-rw", 1, remount_writable },
	{ "open_tree", 1, copy_tree },
	{ "fsopen", 0, fsopen_tmpfs },
	{ "chroot", 1, change_root },
	{ "setuid-0", 0, become_root },
	{ "syscall", 1, any_call },
	{ "bpf", 0, load_bpf },
	{ "perf", 0, perf },
	{ "userfaultfd", 0, userfaultfd },
#ifdef __x86_64__
	{ "int80", 0, int80 },
	{ "x32", 0, x32 },
#endif
	{ NULL, 0, NULL },
};
