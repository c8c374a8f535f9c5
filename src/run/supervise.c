/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervising one run.
 *
 *            spawn                REPORT_STARTED            REPORT_EXIT, or the init is gone
 *   (start) ───────▶ SETTING_UP ────────────────▶ RUNNING ─────────────────────────────────▶ ENDED
 *                        │ REPORT_ERROR, or the      │ time limit: SIGTERM to all, two seconds later SIGKILL to the
 * init │ time limit: SIGKILL       └─▶ ENDING ─▶ ENDED └──────────▶ ENDED
 *
 * Every signal is blocked and read from a descriptor, so there is no handler and no race; what the caller had blocked
 * is handed to the command. The pen's init holds the read end of the control pipe: whatever ends this process, SIGKILL
 * included, ends the pen.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/enter.h"
#include "linux/sys.h"
#include "run/guard.h"
#include "run/internal.h"
#include "run/ports.h"
#include "run/terminal.h"

enum { GRACE_MS = 2000 };

enum phase { SETTING_UP, RUNNING, ENDING, ENDED };

struct supervision {
	const struct pinfold_plan *plan;
	const struct run_options *options;
	struct run_result *result;
	struct enter enter;
	struct terminal terminal;
	struct guard guard;
	struct ports ports;
	enum phase phase;
	bool is_bare; /* --mode off: `init` is the command itself */
	pid_t init;
	int pidfd, report_fd, control_fd, signal_fd, stop_fd;
	sigset_t caller_mask;
	struct sigaction caller_child; /* what the caller had for SIGCHLD */
	bool is_blocked;               /* both are known, and to be put back */
	int64_t deadline_ms; /* CLOCK_MONOTONIC, or -1 */
	bool is_killed;      /* the pen was, by us and on purpose */
	bool has_status;
	int status;
};

static int64_t now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* To the command: through the pen's init, or, without a pen, straight. */
static void send_word(struct supervision *s, int word)
{
	unsigned char byte = (unsigned char)word;

	if (s->is_bare && s->init > 0)
		kill(s->init, word & CONTROL_SIGNAL_MASK);
	else if (s->control_fd >= 0 && fd_write_all(s->control_fd, &byte, 1) < 0)
		fd_close(&s->control_fd);
}

/* A reaper or keeper must live to end the others: the end of the control pipe is what ends it. */
static void kill_pen(struct supervision *s)
{
	s->is_killed = true;
	if (s->plan->backend != BACKEND_OWN_NAMESPACES && !s->is_bare)
		fd_close(&s->control_fd);
	else if (s->init > 0)
		kill(s->init, SIGKILL); /* ours and not reaped yet, so the number is its own */
}

/* ---- what is heard ---- */

/* r: of the guard. What lies open and cannot be covered again must not be met by the command. */
static void keep_guard(struct supervision *s, int r, size_t lost)
{
	if (r == 0)
		return;
	s->result->unguarded = lost + 1;
	s->result->unguarded_errno = -r;
	guard_close(&s->guard);
	kill_pen(s);
}

static void hear_guard(struct supervision *s)
{
	size_t lost = 0;
	int r;

	r = guard_hear(&s->guard, now_ms(CLOCK_MONOTONIC), &lost);
	keep_guard(s, r, lost);
}

static void hear_started(struct supervision *s)
{
	struct timespec t;
	size_t lost = 0;
	int r;

	if (s->phase != SETTING_UP)
		return;
	s->phase = RUNNING;
	s->result->ran = true;
	clock_gettime(CLOCK_REALTIME, &t);
	s->result->start_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	if (s->enter.is_pinned)
		sched_setaffinity(0, sizeof(s->enter.affinity), &s->enter.affinity);
	r = guard_begin(&s->guard, now_ms(CLOCK_MONOTONIC), &lost);
	keep_guard(s, r, lost);
}

/* A reader that does not read holds up nobody: what cannot be written in a while is left out. */
static bool write_event(int fd, const char *name, const char *rest)
{
	struct pollfd poller = { .fd = fd, .events = POLLOUT };
	char head[64];
	int length = snprintf(head, sizeof(head), "{\"event\":\"%s\",\"time\":%lld,", name,
			      (long long)now_ms(CLOCK_REALTIME));

	return poll(&poller, 1, GRACE_MS) == 1 && fd_write_all(fd, head, (size_t)length) == 0 &&
	       fd_write_all(fd, rest, strlen(rest)) == 0;
}

static void announce(struct supervision *s)
{
	const int fd = s->options->event_fd;
	char go = 1;

	if (fd >= 0)
		s->result->is_announced = write_event(fd, "sandbox_status", s->plan->event[PLAN_EVENT_STATUS]) &&
					  write_event(fd, "start", s->plan->event[PLAN_EVENT_START]);
	if (s->enter.go[1] >= 0)
		fd_write_all(s->enter.go[1], &go, 1);
	fd_close(&s->enter.go[1]);
}

/* The shell has continued us, in the foreground or not. */
static void hear_continued(struct supervision *s)
{
	if (terminal_must_give(&s->terminal))
		send_word(s, CONTROL_TERMINAL);
	send_word(s, SIGCONT);
}

/* Stops us, or the whole job, until the shell continues us, but no longer than until the deadline: a command that stops
 * itself must not stop the clock that is to end it (E111). SIGCONT, when the kernel's timer sends it, continues a
 * process that can do nothing itself. */
static void stop_job(const struct supervision *s)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT };
	struct itimerspec at = { .it_value = { s->deadline_ms / 1000, s->deadline_ms % 1000 * 1000000 } };
	timer_t timer;
	bool has_timer = s->deadline_ms >= 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;

	/* Without a timer, where one is needed, we would rather be no job than have no end. */
	if (s->deadline_ms < 0 || (has_timer && timer_settime(timer, TIMER_ABSTIME, &at, NULL) == 0))
		kill(s->terminal.fd >= 0 ? 0 : getpid(), SIGSTOP);
	if (has_timer)
		timer_delete(timer);
}

/* The command was stopped by the terminal or by a signal: so are we, as a shell expects of its job, until it continues
 * us. With a terminal the whole job stops; without one we are nobody's job, and the caller's other processes go on. */
static void hear_stopped(struct supervision *s, int signal)
{
	if (!s->options->own_terminal || s->phase == ENDING)
		return;
	/* It wants the terminal, and the shell has brought us to the foreground: without a word, since we were running.
	 */
	if ((signal == SIGTTIN || signal == SIGTTOU) && terminal_must_give(&s->terminal)) {
		send_word(s, CONTROL_TERMINAL);
		send_word(s, SIGCONT);
		return;
	}
	terminal_take(&s->terminal);
	stop_job(s);
	hear_continued(s);
}

static void hear_report(struct supervision *s)
{
	struct enter_report report;
	ssize_t n = fd_read_all(s->report_fd, &report, sizeof(report));

	if (n != (ssize_t)sizeof(report)) { /* end of file: the init is gone, its pidfd tells the rest */
		fd_close(&s->report_fd);
		return;
	}
	switch (report.kind) {
	case REPORT_ERROR:
		if (s->phase == SETTING_UP || s->is_bare) {
			s->result->error = report.error;
			s->result->fact = report.fact;
			s->result->ran = false;
			s->phase = ENDED;
		}
		break;
	case REPORT_READY:
		announce(s);
		break;
	case REPORT_STARTED:
		hear_started(s);
		break;
	case REPORT_STOPPED:
		hear_stopped(s, WSTOPSIG(report.status));
		break;
	case REPORT_EXIT:
		s->has_status = true;
		s->status = report.status;
		guard_close(&s->guard); /* so that the pen's own end takes the mounts down, while we wait */
		break;
	}
}

static void hear_signal(struct supervision *s)
{
	struct signalfd_siginfo info;
	siginfo_t child = { 0 };
	bool from_terminal;

	if (read(s->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	from_terminal = info.ssi_code == SI_KERNEL;
	switch (info.ssi_signo) {
	case SIGCHLD:
		if (s->is_bare && waitid(P_PID, (id_t)s->init, &child, WSTOPPED | WNOHANG) == 0 && child.si_pid)
			hear_stopped(s, child.si_status);
		return;
	case SIGTTOU:
	case SIGTTIN:
		return;
	case SIGCONT: /* the shell's fg or bg */
		hear_continued(s);
		return;
	case SIGWINCH:
		if (s->terminal.job == JOB_OWN_GROUP)
			send_word(s, (int)info.ssi_signo);
		return;
	default:
		/* The terminal has sent its own to the whole group, the command included. */
		if (s->terminal.job == JOB_CALLERS_GROUP && from_terminal)
			return;
		send_word(s, (int)info.ssi_signo);
	}
}

static void hear_deadline(struct supervision *s)
{
	if (s->phase == RUNNING) {
		s->result->timed_out = true;
		s->phase = ENDING;
		s->deadline_ms = now_ms(CLOCK_MONOTONIC) + GRACE_MS;
		send_word(s, CONTROL_ALL | SIGTERM);
		send_word(s, CONTROL_ALL | SIGCONT);
	} else {
		s->result->timed_out = true;
		s->deadline_ms = -1;
		kill_pen(s);
	}
}

/* Until a time that may be -1, which never comes. */
static int time_left(int64_t until_ms)
{
	int64_t left;

	if (until_ms < 0)
		return -1;
	left = until_ms - now_ms(CLOCK_MONOTONIC);
	return left < 0 ? 0 : left > 1000000 ? 1000000 : (int)left;
}

static int time_to_wait(const struct supervision *s)
{
	int deadline = time_left(s->deadline_ms), look = time_left(guard_next(&s->guard));

	return look < 0 || (deadline >= 0 && deadline < look) ? deadline : look;
}

/* Until the init is gone and everything it said is heard. */
static void watch(struct supervision *s)
{
	bool is_gone = false;

	while (!is_gone || s->report_fd >= 0) {
		struct pollfd fds[] = {
			{ .fd = s->report_fd, .events = POLLIN },
			{ .fd = s->signal_fd, .events = POLLIN },
			{ .fd = is_gone ? -1 : s->pidfd, .events = POLLIN },
			{ .fd = s->stop_fd, .events = POLLIN },
			{ .fd = s->guard.fds[WATCH_MOUNTS], .events = POLLPRI },
			{ .fd = s->guard.moves_fd, .events = POLLIN },
		};
		int n = poll(fds, 6, is_gone ? 0 : time_to_wait(s));

		if (n < 0 && errno != EINTR) {
			err_sys(&s->result->error, PINFOLD_INTERNAL, errno, "wait for", "the pen");
			kill_pen(s);
			return;
		}
		if (n == 0) {
			if (is_gone)
				return;
			if (time_left(s->deadline_ms) == 0)
				hear_deadline(s);
			if (time_left(guard_next(&s->guard)) == 0)
				hear_guard(s);
			continue;
		}
		if (fds[4].revents || fds[5].revents)
			hear_guard(s);
		if (fds[0].revents)
			hear_report(s);
		if (fds[1].revents)
			hear_signal(s);
		if (fds[2].revents)
			is_gone = true;
		if (fds[3].revents) { /* the library's caller wants an end, or is gone itself */
			s->stop_fd = -1;
			kill_pen(s);
		}
	}
}

/* ---- start and end ---- */

static int make_pipes(struct supervision *s, struct pinfold_error *err)
{
	int report[2], control[2];

	if (pipe2(report, O_CLOEXEC) < 0)
		return err_sys(err, PINFOLD_INTERNAL, errno, "make", "a pipe");
	s->report_fd = s->enter.outer_fds[0] = report[0];
	s->enter.report_fd = report[1];
	if (pipe2(control, O_CLOEXEC) < 0)
		return err_sys(err, PINFOLD_INTERNAL, errno, "make", "a pipe");
	s->control_fd = s->enter.outer_fds[1] = control[1];
	s->enter.control_fd = control[0];
	if (s->options->event_fd >= 0 && !s->is_bare && pipe2(s->enter.go, O_CLOEXEC) < 0)
		return err_sys(err, PINFOLD_INTERNAL, errno, "make", "a pipe");
	return 0;
}

static int block_signals(struct supervision *s, struct pinfold_error *err)
{
	/* Who was started with SIGCHLD ignored, as children of many daemons are, never learns how a child ended: the
	 * kernel reaps it unseen, and the pen's init, which inherits this, would wait for ever. */
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t all, heard;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &s->caller_mask);
	sigaction(SIGCHLD, &usual, &s->caller_child);
	s->is_blocked = true;
	s->enter.command_mask = s->caller_mask;
	s->enter.ignores_children = s->caller_child.sa_handler == SIG_IGN;
	/* A fault of our own must end us, not wait in a descriptor. SIGPIPE is answered by EPIPE. */
	heard = all;
	for (size_t i = 0; i < 6; i++)
		sigdelset(&heard, (const int[]){ SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGPIPE, SIGABRT }[i]);
	s->signal_fd = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signal_fd < 0)
		return err_sys(err, PINFOLD_INTERNAL, errno, "make", "a signal descriptor");
	return 0;
}

/* Pinning during set-up keeps the three processes on one CPU, where handing over costs least: on a busy machine 1.4 ms
 * instead of 7 (SPEED). Undone before the command is executed. */
static void pin(struct supervision *s)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	if (cpu < 0 || sched_getaffinity(0, sizeof(s->enter.affinity), &s->enter.affinity) < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	s->enter.is_pinned = sched_setaffinity(0, sizeof(one), &one) == 0;
}

static int spawn(struct supervision *s)
{
	int fact = -1;

	if (s->is_bare) {
		s->enter.job = s->terminal.job = JOB_CALLERS_GROUP;
		announce(s);
		s->init = sys_clone(CLONE_PIDFD | CLONE_VFORK | SIGCHLD, &s->pidfd);
		if (s->init == 0)
			command_execute(&s->enter);
		if (s->init < 0)
			return err_sys(&s->result->error, PINFOLD_INTERNAL, errno, "start a process for",
				       s->plan->argv.v[0]);
		return 0;
	}
	terminal_open(&s->terminal, s->plan, s->options->own_terminal);
	s->enter.job = s->terminal.job;
	s->enter.terminal_fd = s->terminal.fd;
	pin(s);
	s->init = enter_spawn(&s->enter, &s->pidfd, &fact, &s->result->error);
	s->result->fact = s->init < 0 ? fact : -1;
	return s->init < 0 ? (int)s->init : 0;
}

static int start(struct supervision *s)
{
	struct pinfold_error *err = &s->result->error;
	int r;

	r = enter_prepare(&s->enter, s->plan, err);
	if (r < 0)
		return r;
	s->enter.handover_fd = s->options->handover_fd;
	for (int i = 0; i < 3; i++)
		s->enter.stdio[i] = s->options->stdio[i] >= 0 ? s->options->stdio[i] : i;
	r = guard_open(&s->guard, s->plan, &s->enter.watch_fd);
	if (r < 0)
		return err_sys(err, PINFOLD_INTERNAL, -r, "make", "a socket");
	r = make_pipes(s, err);
	if (r < 0)
		return r;
	r = block_signals(s, err);
	if (r < 0)
		return r;
	r = ports_begin(s->plan, &s->ports, err); /* before the CPU is pinned: they live longer than the set-up */
	if (r < 0)
		return r;
	for (int side = 0; side < RELAY_COUNT; side++)
		s->enter.relay_fd[side] = s->ports.relay[side].life;
	r = spawn(s);
	if (r < 0) {
		s->init = 0;
		return r;
	}
	/* From here on, not from REPORT_STARTED: a file system that answers nothing holds up mounts and execve as well.
	 */
	if (s->plan->limits.time_ms != POLICY_NONE)
		s->deadline_ms = now_ms(CLOCK_MONOTONIC) + (int64_t)s->plan->limits.time_ms;
	fd_close(&s->enter.report_fd);
	fd_close(&s->enter.control_fd);
	fd_close(&s->enter.watch_fd);
	fd_close(&s->enter.go[0]);
	if (s->is_bare)
		hear_started(s);
	else if (s->enter.waits_for_ids)
		send_word(s, 1);
	return 0;
}

static void reap(struct supervision *s)
{
	int status = 0;

	while (waitpid(s->init, &status, __WALL) < 0 && errno == EINTR)
		;
	s->init = 0;
	if (s->is_bare) {
		s->has_status = true;
		s->status = status;
		return;
	}
	/* Where the watch broke off something may have been left unheard. There are no mounts left to be guarded. */
	guard_close(&s->guard);
	for (struct pollfd fd = { s->report_fd, POLLIN, 0 }; s->report_fd >= 0 && poll(&fd, 1, 0) > 0;)
		hear_report(s);
	/* A report may be lost, and then its exit code says whether there was a command. */
	if (WIFEXITED(status) && WEXITSTATUS(status) != INIT_NEVER_STARTED && s->result->error.code == PINFOLD_OK)
		hear_started(s);
}

/* How the command ended. An init that died without a word was killed: by us, by the kernel for want of memory, or by
 * somebody else; or its word was lost. */
static void settle(struct supervision *s)
{
	struct run_result *result = s->result;

	if (!result->ran)
		return;
	if (s->has_status && WIFEXITED(s->status))
		result->code = WEXITSTATUS(s->status);
	else
		result->signal = s->has_status && WIFSIGNALED(s->status) ? WTERMSIG(s->status) : SIGKILL;
	if (!s->has_status && !s->is_killed && result->error.code == PINFOLD_OK)
		err_say(&result->error, PINFOLD_INTERNAL, 0,
			"the pen broke down during the run, and the command was killed with it");
}

static void finish(struct supervision *s)
{
	sigset_t pending;

	if (s->enter.is_pinned)
		sched_setaffinity(0, sizeof(s->enter.affinity), &s->enter.affinity);
	terminal_close(&s->terminal, s->result->signal != 0 || s->result->timed_out);
	fd_close(&s->pidfd);
	fd_close(&s->report_fd);
	fd_close(&s->control_fd);
	s->result->marking_errno = s->guard.marking;
	guard_close(&s->guard);
	enter_close(&s->enter);
	/* Signals that came when there was no command left to take them would hit the caller now: those that only told
	 * of the run are taken off. SIGPIPE tells of a word to an init that had just ended. */
	sigemptyset(&pending);
	sigaddset(&pending, SIGCHLD);
	sigaddset(&pending, SIGPIPE);
	sigaddset(&pending, SIGTTOU);
	while (sigtimedwait(&pending, NULL, &(struct timespec){ 0 }) > 0)
		;
	fd_close(&s->signal_fd);
	if (!s->is_blocked)
		return;
	sigaction(SIGCHLD, &s->caller_child, NULL);
	sigprocmask(SIG_SETMASK, &s->caller_mask, NULL);
}

void supervise(const struct pinfold_plan *plan, const struct run_options *options, int stop_fd, struct run_result *ret)
{
	int64_t begin = now_ms(CLOCK_MONOTONIC);
	struct supervision s = {
		.plan = plan, .options = options, .result = ret, .pidfd = -1, .report_fd = -1, .control_fd = -1,
		.signal_fd = -1, .stop_fd = stop_fd, .deadline_ms = -1, .terminal = { .fd = -1 },
		.is_bare = plan->backend == BACKEND_NONE,
		.ports.relay = { { 0, -1, -1 }, { 0, -1, -1 } },
	};

	*ret = (struct run_result){ .code = -1, .fact = -1 };
	if (start(&s) == 0)
		watch(&s);
	if (s.init > 0)
		reap(&s);
	ports_end(&s.ports);
	settle(&s);
	finish(&s);
	ret->duration_ms = (uint64_t)(now_ms(CLOCK_MONOTONIC) - begin);
	if (!ret->ran && ret->error.code == PINFOLD_OK)
		err_say(&ret->error, PINFOLD_UNAVAILABLE, 0,
			ret->timed_out ? "the time limit was over before the command was started"
				       : "the pen ended before the command was started");
}
