/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The init of the pen. It reaps what loses its parent, passes signals on, says how the command ended, and by its own
 * end ends everything: the kernel kills a pid namespace with its init.
 *
 * It lives as hardened as the command does, keeps none of the caller's descriptors, and dies with the supervisor: the
 * control pipe's end of file is the sign. (Not PR_SET_PDEATHSIG, which follows the thread that forked.)
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "linux/enter.h"
#include "linux/sys.h"

enum { REPORT_AT = 3, CONTROL_AT = 4, CHILD_AT = 5, TERMINAL_AT = 6, STARTED_AT = 7, OUT_OF_THE_WAY = 16 };

/* The kernel ends a pid namespace with its init. A reaper has to do it. */
static _Noreturn void end(const struct enter *enter, int status)
{
	if (enter->is_reaper)
		reaper_end(enter);
	_exit(status);
}

/* Whatever can be short is taken before there is a command: one that has begun its work is not ended for want of a
 * descriptor. */
int init_prepare(struct enter *enter, struct pinfold_error *err)
{
	int own[INIT_KEPT] = {
		enter->report_fd, enter->control_fd, -1, enter->terminal_fd, enter->started_fd };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	own[2] = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (own[2] < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "make", "a signal descriptor");
	/* So that no dup2 of keep_own_descriptors closes another of them. */
	for (int i = 0; i < INIT_KEPT; i++) {
		enter->kept[i] = own[i] < 0 ? -1 : fcntl(own[i], F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
		if (own[i] >= 0 && enter->kept[i] < 0)
			return err_sys(err, PINFOLD_UNAVAILABLE, errno, "keep", "a descriptor");
	}
	return 0;
}

/* Leaves only report, control, what tells of dead children, the terminal where it may have to be handed over, and what
 * tells of the start. 0, 1 and 2 are closed as well: a reader at the other end of the command's output must see its end
 * when the command closes it. */
static void keep_own_descriptors(const struct enter *enter)
{
	for (int i = 0; i < INIT_KEPT; i++)
		if (enter->kept[i] < 0)
			close(REPORT_AT + i);
		else if (dup2(enter->kept[i], REPORT_AT + i) < 0)
			end(enter, INIT_LOST);
	sys_close_range(0, 2, 0);
	sys_close_range(REPORT_AT + INIT_KEPT, ~0U, 0);
}

/* Reaps everything there is; true when the command is gone (status filled). */
static bool reap(const struct enter *enter, int *ret_status)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != enter->command)
			continue;
		if (WIFSTOPPED(status)) {
			report_status(REPORT_AT, REPORT_STOPPED, status);
			continue;
		}
		*ret_status = status;
		return true;
	}
	if (pid < 0 && errno != EINTR) /* the command is always there to be waited for */
		end(enter, INIT_LOST);
	return false;
}

/* false at the end of file. */
static bool obey(const struct enter *enter)
{
	unsigned char word;
	ssize_t n = read(CONTROL_AT, &word, 1);

	if (n < 0)
		return errno == EINTR;
	if (n == 0)
		return false;
	if (word == CONTROL_TERMINAL)
		ioctl(TERMINAL_AT, TIOCSPGRP, &enter->command); /* SIGTTOU is blocked here */
	else if ((word & CONTROL_ALL) && enter->is_reaper)
		reaper_signal(enter, word & CONTROL_SIGNAL_MASK);
	else if (word & CONTROL_ALL)
		kill(-1, word & CONTROL_SIGNAL_MASK);
	else if (enter->job == JOB_CALLERS_GROUP)
		kill(enter->command, word);
	else
		kill(-enter->command, word);
	return true;
}

/* An init was asleep until the command was executed, so that this is the first that it says. A reaper, which must hear
 * its supervisor meanwhile, is told by a pipe. */
static void tell_start(bool *has_told)
{
	if (!*has_told)
		report_status(REPORT_AT, REPORT_STARTED, 0);
	*has_told = true;
}

_Noreturn void init_run(struct enter *enter)
{
	struct pollfd fds[] = {
		{ .fd = CONTROL_AT, .events = POLLIN }, { .fd = CHILD_AT, .events = POLLIN },
		{ .fd = enter->is_reaper ? STARTED_AT : -1, .events = POLLIN },
	};
	bool has_told = false;
	int status = 0;

	if (enter->is_pinned)
		sched_setaffinity(0, sizeof(enter->affinity), &enter->affinity);
	keep_own_descriptors(enter);
	if (!enter->is_reaper)
		tell_start(&has_told);
	for (;;) {
		struct signalfd_siginfo info;

		if (reap(enter, &status))
			break;
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			end(enter, INIT_LOST);
		while (read(CHILD_AT, &info, sizeof(info)) == (ssize_t)sizeof(info))
			;
		if (fds[0].revents && !obey(enter))
			end(enter, INIT_LOST);
		if (fds[2].revents) {
			tell_start(&has_told);
			fds[2].fd = -1;
		}
	}
	tell_start(&has_told);
	report_status(REPORT_AT, REPORT_EXIT, status);
	end(enter, INIT_ENDED);
}
