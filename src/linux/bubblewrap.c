/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way into a pen that bubblewrap makes, where user namespaces are allowed to it and not to us.
 *
 *   supervisor ──clone──▶ keeper ──fork, exec──▶ bwrap ──clone, exec──▶ pinfold-enter, pid 1 ──▶ the command
 *
 * Theory of operation. bubblewrap makes the namespaces and carries out the plan's mounts; then it executes our own
 * small program, which looks at what was made, hardens itself as every init of a pen does and starts the command.
 * Nothing of the policy stands where others may see it: bubblewrap's arguments and pinfold-enter's orders come over
 * descriptors, and the environment is empty.
 *
 *   - bubblewrap's own words go to a file of the keeper's, never to the command's output. They become the error where
 *     the pen could not be made.
 *   - The end of the control pipe ends the pen: pinfold-enter hears it, and the keeper, which then kills bwrap, whose
 *     death the kernel passes on to the pen's init (--die-with-parent), even where that is stuck in an exec.
 *   - The keeper is the subreaper of what it started: when it has no child left, the pen's init has been waited for,
 *     and by then the kernel has ended all of the pen.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/enter.h"
#include "linux/orders.h"
#include "linux/sys.h"

enum { OUT_OF_THE_WAY = 16, WORDS_MAX = 1024, FAILED = 1 /* bubblewrap's own status */ };

/* ---- bubblewrap's process ---- */

/* Under a number of its own, which an exec leaves open. */
static int keep_open(int *fd)
{
	int kept = *fd < 0 ? -1 : fcntl(*fd, F_DUPFD, OUT_OF_THE_WAY);

	if (*fd >= 0 && kept < 0)
		return -errno;
	*fd = kept;
	return 0;
}

/* bubblewrap gets nothing of the caller's on 0, 1 and 2; all else but what is meant for the inside is closed. */
static int arrange_descriptors(struct enter *enter, int words_fd)
{
	const struct pinfold_plan *plan = enter->plan;
	FD_CLEANUP int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int *kept[] = { &enter->stdio[0], &enter->stdio[1], &enter->stdio[2], &enter->report_fd, &enter->control_fd,
			&enter->terminal_fd, &enter->go[0] };
	int r = null < 0 ? -errno : 0;

	if (r == 0 && sys_close_range(3, ~0U, SYS_CLOSE_RANGE_CLOEXEC) < 0)
		r = -errno;
	for (size_t i = 0; r == 0 && i < sizeof(kept) / sizeof(kept[0]); i++)
		r = keep_open(kept[i]);
	for (size_t i = 0; r == 0 && i < plan->pass_fd_count; i++)
		if (fcntl(plan->pass_fds[i], F_SETFD, 0) < 0)
			r = -errno;
	if (r == 0 && (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(words_fd, 2) < 0))
		r = -errno;
	return r;
}

static int make_files(const struct enter *enter, int *ret_arguments, int *ret_orders)
{
	int r;

	*ret_arguments = bubblewrap_file(NULL, 0);
	*ret_orders = bubblewrap_file(NULL, 0);
	if (*ret_arguments < 0 || *ret_orders < 0)
		return *ret_arguments < 0 ? *ret_arguments : *ret_orders;
	r = bubblewrap_arguments(*ret_arguments, enter->plan);
	if (r == 0)
		r = orders_write(*ret_orders, enter);
	if (r == 0 && (lseek(*ret_arguments, 0, SEEK_SET) < 0 || lseek(*ret_orders, 0, SEEK_SET) < 0))
		r = -errno;
	return r;
}

static _Noreturn void be_bubblewrap(struct enter *enter, int words_fd)
{
	const char *path = enter->plan->survey.bubblewrap;
	struct pinfold_error err = { 0 };
	char arguments[16], orders[16];
	int arguments_fd = -1, orders_fd = -1, report_fd = enter->report_fd, fact = -1, r;

	r = arrange_descriptors(enter, words_fd);
	if (r == 0)
		r = make_files(enter, &arguments_fd, &orders_fd);
	if (r == 0) {
		char *const argv[] = { (char[]){ "bwrap" }, (char[]){ "--args" }, arguments,
				       (char[]){ PLAN_ENTER_PLACE }, orders, NULL };
		char *const environment[] = { NULL };

		snprintf(arguments, sizeof(arguments), "%d", arguments_fd);
		snprintf(orders, sizeof(orders), "%d", orders_fd);
		execve(path, argv, environment);
		r = -errno;
		fact = FACT_BWRAP;
	}
	err_sys(&err, PINFOLD_UNAVAILABLE, -r, "execute", path);
	report_error(report_fd, enter_fact_of(fact, &err), &err);
	_exit(INIT_NEVER_STARTED);
}

/* ---- the keeper ---- */

enum { REPORT_AT = 3, CONTROL_AT = 4, CHILD_AT = 5, WORDS_AT = 6, KEPT = 4 };

/* A reader at the other end of the command's output must see its end. */
static int keep_own_descriptors(const struct enter *enter, int child_fd, int words_fd)
{
	int own[KEPT] = { enter->report_fd, enter->control_fd, child_fd, words_fd };

	for (int i = 0; i < KEPT; i++) {
		own[i] = fcntl(own[i], F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
		if (own[i] < 0)
			return -errno;
	}
	for (int i = 0; i < KEPT; i++)
		if (dup2(own[i], REPORT_AT + i) < 0)
			return -errno;
	sys_close_range(0, 2, 0);
	sys_close_range(REPORT_AT + KEPT, ~0U, 0);
	return 0;
}

/* The reason that stands behind the last ": ", as strerror has it; it is cut off. */
static int cut_reason(char *text)
{
	char *at = strrchr(text, ':');

	for (int error = 1; at && at[1] && error < 134; error++)
		if (strcmp(at + 2, strerror(error)) == 0) {
			*at = '\0';
			return error;
		}
	return EPERM;
}

/* What its words disprove. The plan that is made again without it is asked again whether it holds what was asked. */
static int fact_of_words(const struct pinfold_plan *plan, const char *text)
{
	if (strstr(text, "mount proc"))
		return FACT_FRESH_PROC;
	return plan->offline && strstr(text, "loopback") ? FACT_NET_NAMESPACE : FACT_BWRAP;
}

/* One place, and not what the machine can do: an entry of the home, say, that has come and gone. */
static bool is_about_one_place(const char *text)
{
	static const char *const signs[] = {
		" source ", "/oldroot/", "(deleted)", "Can't mkdir ", "Can't create file ",
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strstr(text, signs[i]))
			return true;
	return false;
}

static void report_words(const struct pinfold_plan *plan)
{
	char text[WORDS_MAX], *line = text, *end;
	struct pinfold_error err = { 0 };
	ssize_t n = pread(WORDS_AT, text, sizeof(text) - 1, 0);
	bool is_about_one;
	int fact, error;

	text[n > 0 ? n : 0] = '\0';
	if (strncmp(line, "bwrap: ", 7) == 0)
		line += 7;
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	is_about_one = is_about_one_place(line);
	fact = fact_of_words(plan, line);
	error = cut_reason(line);
	err_sys(&err, PINFOLD_UNAVAILABLE, error, "make the pen with bubblewrap:", *line ? line : "it ended");
	report_error(REPORT_AT, is_about_one ? ENTER_AGAIN : enter_fact_of(fact, &err), &err);
}

/* Until bubblewrap is gone: how it ended. */
static int wait_for(pid_t bubblewrap)
{
	struct pollfd fds[] = { { .fd = CHILD_AT, .events = POLLIN }, { .fd = CONTROL_AT, .events = 0 } };
	struct signalfd_siginfo info;
	int status;

	for (;;) {
		pid_t pid = waitpid(bubblewrap, &status, WNOHANG);

		if (pid == bubblewrap)
			return status;
		if (pid < 0 && errno != EINTR)
			_exit(INIT_NEVER_STARTED);
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			_exit(INIT_NEVER_STARTED);
		if (fds[1].revents) {
			kill(bubblewrap, SIGKILL);
			fds[1].fd = -1;
		}
		while (read(CHILD_AT, &info, sizeof(info)) == (ssize_t)sizeof(info))
			;
	}
}

static int set_up(struct enter *enter, pid_t *ret_pid, struct pinfold_error *err)
{
	int words_fd = (int)syscall(SYS_memfd_create, "pinfold", 1U /* MFD_CLOEXEC */), child_fd, r;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	child_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (words_fd < 0 || child_fd < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "make", "a descriptor");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "become", "a subreaper");
	*ret_pid = sys_clone(SIGCHLD, NULL);
	if (*ret_pid == 0)
		be_bubblewrap(enter, words_fd);
	if (*ret_pid < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "start a process for",
			       enter->plan->survey.bubblewrap);
	r = keep_own_descriptors(enter, child_fd, words_fd);
	if (r == 0)
		return 0;
	kill(*ret_pid, SIGKILL);
	return err_sys(err, PINFOLD_UNAVAILABLE, -r, "keep", "a descriptor");
}

/* With bubblewrap the pen is over. Its first process is ours then. Where bubblewrap was killed before it had told
 * it what to be, that one waits for the word for ever: neither its parent's death nor ours ends it yet. */
static void end_children(void)
{
	FD_CLEANUP int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	char text[1024], *at = text, *end;
	ssize_t length = fd < 0 ? -1 : fd_read_all(fd, text, sizeof(text) - 1);
	long pid;

	if (length < 0)
		return;
	text[length] = '\0';
	for (; (pid = strtol(at, &end, 10)) > 0; at = end)
		kill((pid_t)pid, SIGKILL); /* not waited for yet, so the number is its own */
}

static _Noreturn void be_keeper(struct enter *enter)
{
	struct pinfold_error err = { 0 };
	pid_t bubblewrap = 0;
	int status;

	enter_begin(enter, "pinfold-keeper");
	if (set_up(enter, &bubblewrap, &err) < 0) {
		report_error(enter->report_fd, -1, &err);
		_exit(INIT_NEVER_STARTED);
	}
	if (enter->is_pinned)
		sched_setaffinity(0, sizeof(enter->affinity), &enter->affinity);
	status = wait_for(bubblewrap);
	do {
		end_children();
	} while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR);
	if (!WIFEXITED(status))
		_exit(INIT_NEVER_STARTED);
	if (WEXITSTATUS(status) == FAILED)
		report_words(enter->plan);
	_exit(WEXITSTATUS(status) == INIT_ENDED || WEXITSTATUS(status) == INIT_LOST ? WEXITSTATUS(status) :
										     INIT_NEVER_STARTED);
}

pid_t bubblewrap_spawn(struct enter *enter, int *ret_pidfd, int *ret_fact, struct pinfold_error *err)
{
	pid_t pid;

	*ret_fact = -1;
	pid = sys_clone(CLONE_PIDFD | SIGCHLD, ret_pidfd);
	if (pid == 0)
		be_keeper(enter);
	return pid < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, errno, "start", "the keeper") : pid;
}
