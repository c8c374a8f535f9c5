/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's way to run: a supervisor in a process of its own, so that the caller's process keeps its signal mask,
 * handlers and threads to itself.
 *
 *   caller ──fork──▶ middle ──fork──▶ supervisor ──clone──▶ init ──▶ command
 *
 * The middle process ends at once and is reaped here by its pid, so that the supervisor is nobody's child here: the
 * caller gets no SIGCHLD of it, and a caller that waits for any child never sees it. Between the fork and its end the
 * supervisor only makes system calls on what was prepared before: the caller may have threads.
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "linux/sys.h"
#include "run/internal.h"

int run_here(const struct pinfold_plan *plan, const struct run_options *options, struct run_result *ret)
{
	supervise(plan, options, -1, ret);
	return 0;
}

struct channel {
	int result[2], stop[2];
};

static void close_channel(struct channel *channel)
{
	for (int i = 0; i < 2; i++) {
		fd_close(&channel->result[i]);
		fd_close(&channel->stop[i]);
	}
}

/* The descriptors that the run needs, in order: few enough for an insertion. */
struct kept {
	int fd[LIMIT_PASS_FDS + 8];
	size_t n;
};

static void keep(struct kept *kept, int fd)
{
	size_t i = kept->n;

	if (fd < 0 || kept->n == sizeof(kept->fd) / sizeof(kept->fd[0]))
		return;
	for (; i > 0 && kept->fd[i - 1] > fd; i--)
		kept->fd[i] = kept->fd[i - 1];
	kept->fd[i] = fd;
	kept->n++;
}

/*
 * All others are the caller's own business. The writing end of the pipe that is the command's standard input, say,
 * would stay open here as long as the command waits for its end; and the control pipe of another run, started by
 * another thread at the same time, would keep that run from ending with its caller.
 */
static void close_others(const struct pinfold_plan *plan, const struct run_options *options,
			 const struct channel *channel)
{
	struct kept kept = { .n = 0 };
	unsigned next = 3;

	for (int i = 0; i < 3; i++)
		keep(&kept, options->stdio[i]);
	for (size_t i = 0; i < plan->pass_fd_count; i++)
		keep(&kept, plan->pass_fds[i]);
	keep(&kept, options->handover_fd);
	keep(&kept, options->event_fd);
	keep(&kept, channel->result[1]);
	keep(&kept, channel->stop[0]);
	for (size_t i = 0; i < kept.n; i++) {
		unsigned fd = (unsigned)kept.fd[i];

		if (fd > next)
			sys_close_range(next, fd - 1, 0);
		if (fd >= next)
			next = fd + 1;
	}
	sys_close_range(next, ~0U, 0);
}

static _Noreturn void be_supervisor(const struct pinfold_plan *plan, const struct run_options *options,
				    struct channel *channel, const sigset_t *mask)
{
	struct run_result result;

	setsid(); /* not in the caller's process group: a Ctrl-C there is the caller's to pass on */
	close_others(plan, options, channel);
	sigprocmask(SIG_SETMASK, mask, NULL);
	supervise(plan, options, channel->stop[0], &result);
	fd_write_all(channel->result[1], &result, sizeof(result));
	_exit(0);
}

int run_start(const struct pinfold_plan *plan, const struct run_options *options, struct run_handle *ret,
	      struct pinfold_error *err)
{
	struct channel channel = { { -1, -1 }, { -1, -1 } };
	sigset_t all, mask;
	pid_t middle, supervisor;
	int pair[2];
	int r;

	if (pipe2(channel.result, O_CLOEXEC) < 0 || pipe2(channel.stop, O_CLOEXEC) < 0 || pipe2(pair, O_CLOEXEC) < 0) {
		r = err_sys(err, PINFOLD_INTERNAL, errno, "make", "a pipe");
		close_channel(&channel);
		return r;
	}
	/* No handler of the caller's may run in the new processes. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	middle = sys_clone(0, NULL); /* no exit signal: no SIGCHLD, and only a wait with __WALL or __WCLONE sees it */
	if (middle == 0) {
		supervisor = sys_clone(SIGCHLD, NULL);
		if (supervisor == 0)
			be_supervisor(plan, options, &channel, &mask);
		fd_write_all(pair[1], &supervisor, sizeof(supervisor));
		_exit(supervisor < 0);
	}
	r = middle < 0 ? -errno : 0;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	close(pair[1]);
	supervisor = -1;
	if (middle > 0) {
		fd_read_all(pair[0], &supervisor, sizeof(supervisor));
		while (waitpid(middle, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	close(pair[0]);
	if (supervisor < 0) {
		close_channel(&channel);
		return err_sys(err, PINFOLD_INTERNAL, r < 0 ? -r : EAGAIN, "start", "the supervisor");
	}
	fd_close(&channel.result[1]);
	fd_close(&channel.stop[0]);
	*ret = (struct run_handle){
		.supervisor = supervisor, .result_fd = channel.result[0], .control_fd = channel.stop[1]};
	return 0;
}
