/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way into a pen without namespaces.
 *
 *   supervisor ──clone──▶ reaper, in a Landlock scope ──fork──▶ the command, in a scope and rules of its own inside it
 *
 * Theory of operation. What ends a pid namespace, the kernel does; here a process has to. It must find everything that
 * the command has left running, and the command must not be able to end, stop or deceive it.
 *
 *   - The reaper enters a Landlock domain that does nothing but bound signals (ABI 6). The command is forked from it
 *     and enters a second one inside. From the outer one a single kill(-1) reaches all that the inner one holds,
 *     however fast it forks, and nobody else; from the inner one no signal, and no ptrace, reaches the reaper.
 *   - kill(-1) in a scope that does not hold would end everything the user runs. So the reaper first tries a signal on
 *     the supervisor, and only a refusal counts as a scope.
 *   - It is the subreaper of what it started: who loses the parent becomes its child, and having no child left is the
 *     proof that nothing is left.
 *   - It has a process group of its own, so that a kill of the caller's group, which ends the supervisor, does not end
 *     it: the control pipe's end of file is then its sign.
 *   - All that may take long (opening what the rules are about: a file system that does not answer) the command's own
 *     process does, so that the reaper always hears its supervisor.
 *
 * Below ABI 6 it walks through /proc, a bounded number of times, and the plan says that this is weaker.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/enter.h"
#include "linux/landlock.h"
#include "linux/sys.h"

/* ---- ending everything ---- */

enum { WALKS = 2000, PID_TEXT = 24, GENERATIONS = 4096 };

/* /proc/PID/stat: the parent is the second field behind the name, which may hold anything. -1: gone. */
static pid_t parent_of(pid_t pid)
{
	char path[PID_TEXT + 16], text[512];
	FD_CLEANUP int fd = -1;
	const char *at;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : fd_read_all(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	at = strrchr(text, ')');
	return at && at[1] && at[2] ? (pid_t)strtol(at + 3, NULL, 10) : -1;
}

static bool is_descendant(pid_t pid, pid_t ancestor)
{
	for (int i = 0; i < GENERATIONS && pid > 1; i++) {
		pid = parent_of(pid);
		if (pid == ancestor)
			return true;
	}
	return false;
}

/* A record of getdents64(2): the C library's readdir allocates. */
struct directory_record {
	uint64_t ino;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

static void walk(int signal)
{
	FD_CLEANUP int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct directory_record) char records[8192];
	const pid_t self = getpid();
	long n;

	while (fd >= 0 && (n = syscall(SYS_getdents64, fd, records, sizeof(records))) > 0)
		for (long at = 0; at < n;) {
			const struct directory_record *record = (const void *)(records + at);
			pid_t pid = (pid_t)strtol(record->name, NULL, 10);

			if (pid > 1 && pid != self && is_descendant(pid, self))
				kill(pid, signal);
			at += record->length;
		}
}

void reaper_signal(const struct enter *enter, int signal)
{
	if (enter->has_scope)
		kill(-1, signal);
	else
		walk(signal);
}

void reaper_end(const struct enter *enter)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };

	for (int tries = 0; enter->has_scope || tries < WALKS; tries++) {
		reaper_signal(enter, SIGKILL);
		while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
			;
		/* in a scope all that are left are dying: to wait is no risk */
		if (waitpid(-1, NULL, __WALL | (enter->has_scope ? 0 : WNOHANG)) < 0 && errno != EINTR)
			break;
		if (!enter->has_scope)
			nanosleep(&pause, NULL);
	}
	if (enter->plan->makes_temp)
		temporary_remove(enter->plan);
}

/* ---- the command's own process ---- */

/*
 * No plan grants the root directory itself, only what lies in it. Where it is open all the same, a directory that is
 * granted lies above it: in a chroot the kernel asks on beyond what is the root here, so that a grant on the directory
 * the chroot was made in is one on everything. Then nothing is hidden, and nothing is closed.
 */
static int check_root(int *fact, struct pinfold_error *err)
{
	FD_CLEANUP int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return 0;
	*fact = FACT_LANDLOCK;
	return err_sys(err, PINFOLD_UNAVAILABLE, EXDEV, "shut by Landlock", "/");
}

static int confine(struct enter *enter, int *fact, struct pinfold_error *err)
{
	const struct pinfold_plan *plan = enter->plan;
	struct plan_limits limits = plan->limits;
	int r;

	/* the kernel would count all processes of the user's, not those of the run */
	limits.processes = POLICY_NONE;
	enter_leave_keyring();
	r = enter_directory(plan, err);
	if (r == 0)
		r = landlock_make(enter, fact, err);
	if (r == 0)
		r = limits_set(&limits, err);
	if (r == 0)
		r = landlock_restrict(enter, fact, err);
	if (r == 0)
		r = check_root(fact, err);
	return r == 0 ? enter_filter(plan, fact, err) : r;
}

static _Noreturn void be_command(struct enter *enter)
{
	struct pinfold_error err = { 0 };
	int fact = -1;

	if (confine(enter, &fact, &err) == 0)
		command_execute(enter);
	report_error(enter->report_fd, enter_fact_of(fact, &err), &err);
	_exit(125);
}

/* ---- the reaper ---- */

/* The supervisor is the same user's process, and outside. */
static int enter_scope(struct enter *enter, int *fact, struct pinfold_error *err)
{
	int r;

	if (!(enter->plan->landlock_scoped & LL_SCOPE_SIGNAL))
		return 0;
	r = landlock_scope_signals();
	if (r == 0 && (kill(enter->supervisor, 0) == 0 || errno != EPERM))
		r = -EOPNOTSUPP;
	if (r < 0) {
		*fact = FACT_LANDLOCK;
		return err_sys(err, PINFOLD_UNAVAILABLE, -r, "enter", "a Landlock scope");
	}
	enter->has_scope = true;
	return 0;
}

static int set_up(struct enter *enter, int *fact, struct pinfold_error *err)
{
	int r;

	if (setpgid(0, 0) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "make", "a process group");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "set", "no_new_privs");
	r = caps_drop(false, err);
	if (r < 0)
		return r;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "clear", "dumpable");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "become", "a subreaper");
	r = enter_scope(enter, fact, err);
	if (r < 0 || !enter->plan->makes_temp)
		return r;
	return temporary_make((struct pinfold_plan *)(uintptr_t)enter->plan, err);
}

static int start_command(struct enter *enter, struct pinfold_error *err)
{
	int started[2], r;

	if (pipe2(started, O_CLOEXEC) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "make", "a pipe");
	enter->started_fd = started[0];
	r = init_prepare(enter, err);
	if (r < 0)
		return r;
	enter->command = sys_clone(SIGCHLD, NULL);
	if (enter->command == 0)
		be_command(enter);
	if (enter->command < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "start a process for", enter->plan->argv.v[0]);
	close(started[1]);
	return 0;
}

static _Noreturn void be_reaper(struct enter *enter)
{
	struct pinfold_error err = { 0 };
	int fact = -1, r;

	enter->is_reaper = true;
	enter_begin(enter, enter_reaper_name);
	r = set_up(enter, &fact, &err);
	if (r == 0 && (r = start_command(enter, &err)) < 0 && enter->plan->makes_temp)
		temporary_remove(enter->plan);
	if (r == 0)
		init_run(enter);
	report_error(enter->report_fd, enter_fact_of(fact, &err), &err);
	_exit(INIT_NEVER_STARTED);
}

pid_t reaper_spawn(struct enter *enter, int *ret_pidfd, int *ret_fact, struct pinfold_error *err)
{
	pid_t pid;

	*ret_fact = -1;
	enter->supervisor = getpid();
	enter->caller_group = getpgrp();
	pid = sys_clone(CLONE_PIDFD | SIGCHLD, ret_pidfd);
	if (pid == 0)
		be_reaper(enter);
	return pid < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, errno, "start", "the reaper") : pid;
}
