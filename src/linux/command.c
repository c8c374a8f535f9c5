/* SPDX-License-Identifier: Apache-2.0 */
/* The last steps of the command's own process, after everything is hardened: process group, terminal, descriptors,
 * signals, exec. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/enter.h"
#include "linux/sys.h"

static int join_group(const struct enter *enter)
{
	pid_t self = getpid();

	if (enter->job == JOB_CALLERS_GROUP) {
		if (enter->is_reaper && setpgid(0, enter->caller_group) < 0) /* which has left it */
			return -errno;
		return 0;
	}
	if (setpgid(0, 0) < 0)
		return -errno;
	/* SIGTTOU is blocked until the mask is restored, so that this does not stop us. */
	if (enter->job == JOB_FOREGROUND)
		ioctl(enter->terminal_fd, TIOCSPGRP, &self);
	return 0;
}

/* 0, 1, 2 and what --pass-fd names stay; everything else is closed by the exec (E070). */
static int arrange_descriptors(const struct enter *enter)
{
	const struct pinfold_plan *plan = enter->plan;

	for (int i = 0; i < 3; i++) {
		int fd = enter->stdio[i];

		if (fd == i)
			continue;
		if (fd < 0)
			close(i);
		else if (dup2(fd, i) < 0)
			return -errno;
	}
	if (sys_close_range(3, ~0U, SYS_CLOSE_RANGE_CLOEXEC) < 0)
		return -errno;
	for (size_t i = 0; i < plan->pass_fd_count; i++) {
		int fd = plan->pass_fds[i], flags = fcntl(fd, F_GETFD);

		if (flags < 0 || fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC) < 0)
			return -errno;
	}
	return 0;
}

/* As execvp(3) does: a file that the kernel does not know as a program is given to the shell; a candidate that may not
 * be executed is remembered while the rest of PATH is tried. A directory of PATH that cannot be searched counts as one
 * that is not there (F109). */
static int execute_candidates(const struct pinfold_plan *plan, const char **ret_path)
{
	int error = ENOENT, error_here;

	*ret_path = plan->argv.v[0];
	for (size_t i = 0; i < plan->candidates.n; i++) {
		char *path = plan->candidates.v[i];

		execve(path, plan->argv.v, plan->environment.v);
		if (errno == ENOEXEC) {
			/* plan->shell_argv: /bin/sh, path, arguments; slot 1 is ours to fill, in our own copy of the
			 * memory */
			plan->shell_argv[1] = path;
			execve(plan->shell_argv[0], plan->shell_argv, plan->environment.v);
		}
		error_here = errno;
		if (error_here == ENOENT && access(path, F_OK) == 0)
			*ret_path = path;
		if (error_here == ENOENT || error_here == ENOTDIR ||
		    (error_here == EACCES && plan->candidates.n > 1 && access(path, F_OK) < 0))
			continue;
		error = error_here;
		*ret_path = path;
		if (error != EACCES)
			break;
	}
	return error;
}

static int arrange(const struct enter *enter)
{
	int r = join_group(enter);

	if (r == 0)
		r = arrange_descriptors(enter);
	if (r < 0)
		return r;
	if (enter->is_pinned)
		sched_setaffinity(0, sizeof(enter->affinity), &enter->affinity);
	if (enter->ignores_children)
		signal(SIGCHLD, SIG_IGN);
	return sigprocmask(SIG_SETMASK, &enter->command_mask, NULL) < 0 ? -errno : 0;
}

/* Who follows the events knows what holds before anything runs. */
static void wait_for_go(struct enter *enter)
{
	char go;

	if (enter->go[0] < 0)
		return;
	report_status(enter->report_fd, REPORT_READY, 0);
	if (fd_read_all(enter->go[0], &go, 1) != 1)
		_exit(125); /* the supervisor is gone */
}

_Noreturn void command_execute(struct enter *enter)
{
	const struct pinfold_plan *plan = enter->plan;
	struct pinfold_error err = { 0 };
	const char *path = plan->argv.v[0];
	int error;

	wait_for_go(enter);
	error = -arrange(enter);
	if (error) {
		err_sys(&err, PINFOLD_UNAVAILABLE, error, "prepare a process for", path);
		report_error(enter->report_fd, -1, &err);
		_exit(125);
	}
	error = execute_candidates(plan, &path);
	err_sys(&err, error == ENOENT ? PINFOLD_NOT_FOUND : PINFOLD_NOT_EXECUTABLE, error,
		*path ? "execute" : "execute ''", path);
	if (error == ENOENT && strchr(path, '/') && access(path, F_OK) == 0)
		err_hint(&err, "the file is there; the interpreter or loader that it names is not, in the pen");
	report_error(enter->report_fd, -1, &err);
	_exit(error == ENOENT ? 127 : 126);
}
