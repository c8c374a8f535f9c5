/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts on other processes, and on what processes share: keyrings, System V and POSIX IPC. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attempt.h"

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

enum {
	KEYCTL_JOIN_SESSION = 1,
	KEYCTL_FIND = 10,
	KEYCTL_READ_KEY = 11,
	SESSION_KEYRING = -3,
	IOPRIO_PROCESS = 1,
};

/* The program is not position independent, so the victim, which runs it too, has the same bytes at the same place. */
static char marker[16] = "attempt's mark";

static pid_t process(char **args)
{
	return (pid_t)attempt_number(args[0]);
}

static int send_signal(char **args)
{
	return attempt_result(kill(process(args), (int)attempt_number(args[1])));
}

static int send_thread_signal(char **args)
{
	return attempt_result(syscall(SYS_tgkill, process(args), process(args), (int)attempt_number(args[1])));
}

static int queue_signal(char **args)
{
	return attempt_result(sigqueue(process(args), (int)attempt_number(args[1]), (union sigval){ 0 }));
}

static int pidfd_signal(char **args)
{
	int fd = (int)syscall(SYS_pidfd_open, process(args), 0);
	int result;

	if (fd < 0)
		return -errno;
	result = attempt_result(syscall(SYS_pidfd_send_signal, fd, (int)attempt_number(args[1]), NULL, 0));
	close(fd);
	return result;
}

static int pidfd_take(char **args)
{
	int fd = (int)syscall(SYS_pidfd_open, process(args), 0);
	int result;

	if (fd < 0)
		return -errno;
	result = attempt_closed((int)syscall(SYS_pidfd_getfd, fd, 0, 0));
	close(fd);
	return result;
}

static int attach(char **args)
{
	pid_t pid = process(args);
	int result = attempt_result(ptrace(PTRACE_ATTACH, pid, NULL, NULL));

	if (!result) {
		waitpid(pid, NULL, __WALL);
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
	}
	return result;
}

static int seize(char **args)
{
	return attempt_result(ptrace(PTRACE_SEIZE, process(args), NULL, NULL));
}

static int read_memory(char **args)
{
	char copy[sizeof(marker)];
	struct iovec mine = { copy, sizeof(copy) }, theirs = { marker, sizeof(marker) };

	return attempt_result(process_vm_readv(process(args), &mine, 1, &theirs, 1, 0));
}

static int write_memory(char **args)
{
	struct iovec mine = { marker, sizeof(marker) }, theirs = mine;

	return attempt_result(process_vm_writev(process(args), &mine, 1, &theirs, 1, 0));
}

static int open_memory(char **args)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)process(args));
	return attempt_closed(open(path, O_RDWR | O_CLOEXEC));
}

static int set_limit(char **args)
{
	struct rlimit limit;
	int result = attempt_result(prlimit(process(args), RLIMIT_CORE, NULL, &limit));

	return result ? result : attempt_result(prlimit(process(args), RLIMIT_CORE, &limit, NULL));
}

static int set_priority(char **args)
{
	return attempt_result(setpriority(PRIO_PROCESS, (id_t)process(args), 19));
}

static int set_io_priority(char **args)
{
	return attempt_result(syscall(SYS_ioprio_set, IOPRIO_PROCESS, process(args), 3 << 13));
}

/* The priorities of a process have more than one door; this one takes it off the CPU whenever another wants it. */
static int set_scheduler(char **args)
{
	struct sched_param none = { .sched_priority = 0 };

	return attempt_result(sched_setscheduler(process(args), SCHED_IDLE, &none));
}

/* The kernel's struct sched_attr in its first form; not every C library has it. */
static int set_scheduling(char **args)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} idle = { .size = sizeof(idle), .policy = SCHED_IDLE };

	return attempt_result(syscall(SYS_sched_setattr, process(args), &idle, 0));
}

static int set_affinity(char **args)
{
	cpu_set_t set;
	int result = attempt_result(sched_getaffinity(process(args), sizeof(set), &set));

	return result ? result : attempt_result(sched_setaffinity(process(args), sizeof(set), &set));
}

/* Succeeds where one of the things that confine this process for good is missing. */
static int be_privileged(char **args)
{
	static const char *const confined[] = {
		"\nNoNewPrivs:\t1\n",
		"\nSeccomp:\t2\n",
		"\nCapInh:\t0000000000000000\n",
		"\nCapPrm:\t0000000000000000\n",
		"\nCapEff:\t0000000000000000\n",
		"\nCapBnd:\t0000000000000000\n",
		"\nCapAmb:\t0000000000000000\n",
	};
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	(void)args;
	attempt_closed(fd);
	if (length <= 0)
		return 0;
	text[length] = '\0';
	for (size_t i = 0; i < sizeof(confined) / sizeof(*confined); i++)
		if (!strstr(text, confined[i]))
			return 0;
	return -EPERM;
}

/* Is there anything on another process's command line? */
static int read_command_line(char **args)
{
	char path[64], text[4096];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", process(args));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	length = read(fd, text, sizeof(text));
	close(fd);
	for (ssize_t i = 0; i < length; i++)
		if (text[i])
			return 0;
	return -ENOENT;
}

static int read_variable(char **args)
{
	return getenv(args[0]) ? 0 : -ENOENT;
}

/* A victim: says who it is and waits for a signal. */
static int wait_forever(char **args)
{
	printf("%s %d\n", args[0], (int)getpid());
	fflush(stdout);
	return attempt_result(pause());
}

/* with-key NAME COMMAND...: a session keyring of its own with one key in it, then the command. */
static int with_key(char **args)
{
	if (!args[1])
		return -EINVAL;
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION, NULL) < 0 ||
	    syscall(SYS_add_key, "user", args[0], "secret", 6, SESSION_KEYRING) < 0)
		return -errno;
	execvp(args[1], args + 1);
	return -errno;
}

static int read_key(char **args)
{
	char value[16];
	long key = syscall(SYS_keyctl, KEYCTL_FIND, SESSION_KEYRING, "user", args[0], 0);

	return key < 0 ? -errno : attempt_result(syscall(SYS_keyctl, KEYCTL_READ_KEY, key, value, sizeof(value)));
}

static int request_key(char **args)
{
	return attempt_result(syscall(SYS_request_key, "user", args[0], NULL, 0));
}

static int shm_create(char **args)
{
	return attempt_result(shmget((key_t)attempt_number(args[0]), 4096, IPC_CREAT | IPC_EXCL | 0600));
}

static int shm_attach(char **args)
{
	int id = shmget((key_t)attempt_number(args[0]), 0, 0);

	if (id < 0)
		return -errno;
	return shmat(id, NULL, 0) == (void *)-1 ? -errno : 0;
}

static int shm_remove(char **args)
{
	int id = shmget((key_t)attempt_number(args[0]), 0, 0);

	return id < 0 ? -errno : attempt_result(shmctl(id, IPC_RMID, NULL));
}

static int mq_create(char **args)
{
	return attempt_result(mq_open(args[0], O_RDWR | O_CREAT | O_EXCL, 0600, NULL));
}

static int mq_open_existing(char **args)
{
	return attempt_result(mq_open(args[0], O_RDWR));
}

static int mq_remove(char **args)
{
	return attempt_result(mq_unlink(args[0]));
}

const struct attempt process_attempts[] = {
	{"kill", 2, send_signal}, /* PID SIGNAL; 0 and negative ones are groups */
	{"tgkill", 2, send_thread_signal}, {"sigqueue", 2, queue_signal},    {"pidfd-signal", 2, pidfd_signal},
	{"pidfd-getfd", 1, pidfd_take},    {"ptrace-attach", 1, attach},     {"ptrace-seize", 1, seize},
	{"vm-read", 1, read_memory},       {"vm-write", 1, write_memory},    {"proc-mem", 1, open_memory},
	{"prlimit", 1, set_limit},         {"setpriority", 1, set_priority}, {"ioprio", 1, set_io_priority},
	{"scheduler", 1, set_scheduler},   {"scheduling", 1, set_scheduling},
	{"affinity", 1, set_affinity},     {"privileged", 0, be_privileged}, {"command-line", 1, read_command_line},
	{"variable", 1, read_variable},    {"wait", 1, wait_forever},        {"with-key", ANY_ARGS, with_key},
	{"key-read", 1, read_key},         {"key-request", 1, request_key},  {"shm-create", 1, shm_create},
	{"shm-attach", 1, shm_attach},     {"shm-remove", 1, shm_remove},    {"mq-create", 1, mq_create},
	{"mq-open", 1, mq_open_existing},  {"mq-remove", 1, mq_remove},      {NULL, 0, NULL},
};
