/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one system call of a run fail: the N-th of one of its processes, up to the exec of the command, which is let
 * go and runs at its own speed. What strace's --inject does, but that counts by the part that a process has in a run,
 * ends with the set-up, and costs ten times less.
 *
 * usage: inject REPORT ROLE N ERRNO COMMAND [ARG...]
 *
 *   ROLE     supervisor (the program itself, from its main on), map (makes an id map for root), init (the pen's, or the
 *            reaper), command
 *   N        1 is the first; 0 makes none fail. With a "+" after it every later call of the same number fails as
 *            well, in every role, as on a machine that lacks it: until the command is executed, or, where memory is
 *            asked for, to the end
 *   REPORT   this file gets a line "ROLE NUMBER" for every call, in their order, and "hit ROLE NUMBER" for those that
 *            were made to fail
 *
 * The exit status is the command's (128 and the signal's number if it was killed); 124 after ten seconds, 2 for
 * anything that went wrong here.
 */
#include <elf.h>
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum role { SUPERVISOR, MAP, INIT, COMMAND, ROLE_COUNT };

static const char *const role_names[ROLE_COUNT] = {
	[SUPERVISOR] = "supervisor",
	[MAP] = "map",
	[INIT] = "init",
	[COMMAND] = "command",
};

enum {
	TRACED_MAX = 16,
	SECONDS = 10,
	OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
		  PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE
};

/* One process that is followed. */
struct traced {
	pid_t pid;
	enum role role;
	bool is_known;        /* its role is; its first stop may come before its parent's event */
	bool has_begun;       /* its first SIGSTOP, which is ours, is over */
	bool is_hit;          /* between entry and exit of the call that fails */
	uint64_t call, first; /* the last call that was entered, and its first argument */
};

static struct traced traced[TRACED_MAX];
static struct {
	FILE *report;
	enum role role;
	unsigned long when;
	bool is_lasting, is_done;
	int error;
	uint64_t call; /* the number that was hit */
} wanted;
static unsigned long counts[ROLE_COUNT];
static bool has_begun;    /* main of the program has been reached */
static bool has_executed; /* so has the command */

static _Noreturn void give_up(const char *what)
{
	perror(what);
	_exit(2);
}

static void too_late(int signal)
{
	(void)signal;
	fflush(wanted.report); /* nothing is being written: we wait */
	_exit(124);            /* PTRACE_O_EXITKILL ends the rest */
}

static struct traced *find(pid_t pid)
{
	for (size_t i = 0; i < TRACED_MAX; i++)
		if (traced[i].pid == pid)
			return &traced[i];
	return NULL;
}

static struct traced *find_or_add(pid_t pid)
{
	struct traced *process = find(pid);

	if (process)
		return process;
	process = find(0);
	if (!process)
		give_up("too many processes");
	*process = (struct traced){.pid = pid};
	return process;
}

/* No call of this number exists, so the kernel does nothing and the result is ours. */
static void set_call(pid_t pid)
{
#if defined(__x86_64__)
	if (ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, orig_rax), -1L) < 0)
		give_up("set the number of a call");
#else
	int none = -1;
	struct iovec vector = {&none, sizeof(none)};

	if (ptrace(PTRACE_SETREGSET, pid, 0x404 /* NT_ARM_SYSTEM_CALL */, &vector) < 0)
		give_up("set the number of a call");
#endif
}

static void set_result(pid_t pid, long result)
{
#if defined(__x86_64__)
	if (ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax), result) < 0)
		give_up("set the result of a call");
#else
	struct user_regs_struct registers;
	struct iovec vector = {&registers, sizeof(registers)};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &vector) < 0)
		give_up("read registers");
	registers.regs[0] = (unsigned long long)result;
	if (ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &vector) < 0)
		give_up("set the result of a call");
#endif
}

/* Before and, where its register is not the result's, after the call: the compiler counts on finding it unchanged. */
static void set_first_argument(pid_t pid, uint64_t value, bool is_after)
{
#if defined(__x86_64__)
	(void)is_after;
	if (ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rdi), value) < 0)
		give_up("set an argument");
#else
	if (!is_after)
		set_result(pid, (long)value);
#endif
}

/* What cannot fail, or never comes back. */
static bool is_safe(uint64_t call)
{
	return call == SYS_exit || call == SYS_exit_group || call == SYS_rt_sigreturn;
}

static bool is_memory(uint64_t call)
{
	return call == SYS_mmap || call == SYS_brk || call == SYS_mremap;
}

/* Whether the call that this process enters is to fail. */
static bool is_wanted(const struct traced *process)
{
	if (is_safe(process->call))
		return false;
	if (wanted.is_done)
		return wanted.is_lasting && process->call == wanted.call && (!has_executed || is_memory(process->call));
	return process->role == wanted.role && counts[process->role] == wanted.when;
}

static void fail_call(struct traced *process)
{
	/* It fails by leaving the break where it is, and saying where. */
	process->is_hit = true;
	if (process->call == SYS_brk) {
		set_first_argument(process->pid, 0, false);
		return;
	}
	/* It lets go of the descriptor whatever it says. */
	if (process->call != SYS_close)
		set_call(process->pid);
}

static void enter(struct traced *process)
{
	/* What the C library does before main is not ours to survive. */
	if (!has_begun && process->call == SYS_fcntl)
		has_begun = true;
	if (!has_begun)
		return;
	counts[process->role]++;
	if (is_wanted(process)) {
		wanted.is_done = true;
		wanted.call = process->call;
		fprintf(wanted.report, "hit ");
		fail_call(process);
	}
	fprintf(wanted.report, "%s %lu\n", role_names[process->role], (unsigned long)process->call);
}

static void stop_at_call(struct traced *process)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, process->pid, sizeof(info), &info) < 0)
		return; /* killed meanwhile */
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		process->call = info.entry.nr;
		process->first = info.entry.args[0];
		enter(process);
	} else if (process->is_hit) {
		process->is_hit = false;
		if (process->call == SYS_brk)
			set_first_argument(process->pid, process->first, true);
		else
			set_result(process->pid, -(long)wanted.error);
	}
}

/* A child of the supervisor is the pen's init or reaper, whose own child is the command; one that has a user namespace
 * and nothing else makes a map. */
static void hear_of_child(const struct traced *parent)
{
	unsigned long pid;
	struct traced *child;

	if (ptrace(PTRACE_GETEVENTMSG, parent->pid, 0, &pid) < 0)
		give_up("ask for a child");
	child = find_or_add((pid_t)pid);
	if (parent->role == INIT)
		child->role = COMMAND;
	else
		child->role = (parent->first & (CLONE_NEWUSER | CLONE_NEWPID)) == CLONE_NEWUSER ? MAP : INIT;
	child->is_known = true;
	if (child->has_begun && ptrace(PTRACE_SYSCALL, child->pid, 0, 0) < 0 && errno != ESRCH)
		give_up("let a child go");
}

/* true: it goes on. */
static bool hear_event(struct traced *process, int event)
{
	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE: hear_of_child(process); return true;
	case PTRACE_EVENT_EXEC:
		if (process->role != COMMAND)
			return true;
		has_executed = true;
		ptrace(PTRACE_DETACH, process->pid, 0, 0);
		*process = (struct traced){0};
		return false;
	default: return true;
	}
}

static void hear(pid_t pid, int status)
{
	struct traced *process = find_or_add(pid);
	int signal = WSTOPSIG(status), passed = 0;

	if (signal == (SIGTRAP | 0x80)) {
		stop_at_call(process);
	} else if (status >> 16) {
		if (!hear_event(process, status >> 16))
			return;
	} else if (signal == SIGSTOP && !process->has_begun) {
		process->has_begun = true;
		if (!process->is_known)
			return; /* goes on when its parent has told of it */
	} else {
		passed = signal;
	}
	if (ptrace(PTRACE_SYSCALL, pid, 0, passed) < 0 && errno != ESRCH)
		give_up("let a process go on");
}

static pid_t begin(char **command)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		give_up("fork");
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execv(command[0], command);
		give_up(command[0]);
	}
	if (waitpid(pid, &status, 0) != pid || ptrace(PTRACE_SETOPTIONS, pid, 0, OPTIONS) < 0 ||
	    ptrace(PTRACE_SYSCALL, pid, 0, 0) < 0)
		give_up("trace");
	traced[0] = (struct traced){.pid = pid, .role = SUPERVISOR, .is_known = true, .has_begun = true};
	return pid;
}

static int follow(pid_t first)
{
	int status, result = 2;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		struct traced *process;

		if (WIFSTOPPED(status)) {
			hear(pid, status);
			continue;
		}
		process = find(pid);
		if (process)
			*process = (struct traced){0};
		if (pid == first)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return result;
}

static void understand(char **argv)
{
	char *end;

	for (wanted.role = 0; strcmp(argv[2], role_names[wanted.role]) != 0;)
		if (++wanted.role == ROLE_COUNT)
			give_up(argv[2]);
	wanted.when = strtoul(argv[3], &end, 10);
	wanted.is_lasting = *end == '+';
	wanted.error = atoi(argv[4]);
	wanted.report = fopen(argv[1], "we");
	if (!wanted.report)
		give_up(argv[1]);
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 6)
		return 2;
	understand(argv);
	signal(SIGALRM, too_late);
	alarm(SECONDS);
	status = follow(begin(argv + 5));
	return fclose(wanted.report) == 0 ? status : 2;
}
