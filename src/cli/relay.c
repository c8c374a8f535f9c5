/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standing between the command and its standard error, for the hints: what it prints is passed on as it comes, and the
 * end of it is kept.
 *
 *   command ──pipe──▶ relay (a process of its own) ──▶ what was standard error
 *                       │ the last 64 KiB, in memory that both share
 *                       ▼
 *                    pinfold
 *
 * A process, since the supervisor waits for other things and must not wait for a slow reader. Standard output joins
 * where both are one (2>&1), so that the order of the bytes stays what it was; else it is the caller's own, untouched.
 * A terminal is never relayed: programs look whether they have one.
 *
 * What a reader that goes away, or is slow, does to the command stays the same: a write blocks here, the pipe fills,
 * and the command waits; when the last reader has gone, the pipe is closed, and the command gets SIGPIPE. The relay
 * ends with the last writer, or, when the run has ended before (the control pipe tells), with what is in the pipe
 * then: a process that has got hold of the pipe somehow keeps nobody waiting.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

enum { TAIL_BYTES = 64 * 1024, CHUNK = 64 * 1024, KCMP_FILE = 0 };

struct relay_tail {
	size_t written; /* bytes that have passed; the last of them are in the ring */
	char ring[TAIL_BYTES];
};

/* ---- the process ----------------------------------------------------------------------------------------------- */

enum { FROM = 0, TO = 1, CONTROL = 2 }; /* its descriptors */

static void keep(struct relay_tail *tail, const char *data, size_t length)
{
	while (length) {
		const size_t at = tail->written % TAIL_BYTES;
		const size_t n = length < TAIL_BYTES - at ? length : TAIL_BYTES - at;

		memcpy(tail->ring + at, data, n);
		tail->written += n;
		data += n;
		length -= n;
	}
}

static bool pass_on(const char *data, size_t length)
{
	struct pollfd wait = { .fd = TO, .events = POLLOUT };

	while (length) {
		ssize_t n = write(TO, data, length);

		if (n >= 0) {
			data += n;
			length -= (size_t)n;
		} else if (errno == EAGAIN) {
			poll(&wait, 1, -1); /* non-blocking, since somebody who has the same file has made it so */
		} else if (errno != EINTR) {
			return false;
		}
	}
	return true;
}

/* False: there is no more to come, or nobody to take it. *ret_empty: nothing is there now. */
static bool move(struct relay_tail *tail, char *chunk, bool *ret_empty)
{
	ssize_t n = read(FROM, chunk, CHUNK);

	*ret_empty = n < 0 && errno == EAGAIN;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	keep(tail, chunk, (size_t)n);
	return n > 0 && pass_on(chunk, (size_t)n);
}

static _Noreturn void relay(struct relay_tail *tail)
{
	static char chunk[CHUNK];
	struct pollfd fds[] = { { .fd = FROM, .events = POLLIN }, { .fd = CONTROL }, { .fd = TO } };
	bool has_ended = false, is_empty = false;

	while (!(has_ended && is_empty)) {
		if (poll(fds, 3, has_ended ? 0 : -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents) {
			has_ended = true;
			fds[1].fd = -1;
		}
		if (fds[2].revents & POLLERR) /* the last reader has gone */
			break;
		if (!move(tail, chunk, &is_empty))
			break;
	}
	_exit(0);
}

/* Its descriptors, and none of the caller's: nobody waits for their end because of us. */
static bool take_descriptors(int from, int to, int control)
{
	/* above the three of them, so that none is overwritten before it is moved */
	from = fcntl(from, F_DUPFD_CLOEXEC, 3);
	to = fcntl(to, F_DUPFD_CLOEXEC, 3);
	control = fcntl(control, F_DUPFD_CLOEXEC, 3);
	if (dup2(from, FROM) < 0 || dup2(to, TO) < 0 || dup2(control, CONTROL) < 0)
		return false;
	if (syscall(SYS_close_range, 3U, ~0U, 0U) < 0)
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	return fcntl(FROM, F_SETFL, O_NONBLOCK) == 0;
}

static _Noreturn void be_relay(struct relay_tail *tail, int from, int control)
{
	sigset_t all;

	/* A Ctrl-C is the command's, and what it says to that still has to be passed on. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (!take_descriptors(from, STDERR_FILENO, control))
		_exit(1);
	relay(tail);
}

/* ---- pinfold's side -------------------------------------------------------------------------------------------- */

/* Do both lead into the same file, so that the order between them shows? Two openings of one pipe are one as well. */
static bool are_one(int a, int b)
{
	struct stat of_a, of_b;

	if (fstat(a, &of_a) < 0 || fstat(b, &of_b) < 0 || of_a.st_dev != of_b.st_dev || of_a.st_ino != of_b.st_ino)
		return false;
	return S_ISFIFO(of_a.st_mode) || S_ISSOCK(of_a.st_mode) ||
	       syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, a, b) == 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Not 0, 1 or 2, where the caller has closed one of them: it would become the command's. */
static int make_pipe(int ret[2])
{
	int ends[2], errors = 0;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		ret[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
		errors += ret[i] < 0;
		close(ends[i]);
	}
	for (int i = 0; errors && i < 2; i++)
		close_fd(&ret[i]);
	return errors ? -1 : 0;
}

static bool start(struct relay *relay)
{
	int data[2] = { -1, -1 }, control[2] = { -1, -1 };
	pid_t pid = -1;

	if (make_pipe(data) == 0 && make_pipe(control) == 0)
		pid = fork();
	if (pid == 0) {
		close(data[1]);
		close(control[1]);
		be_relay(relay->tail, data[0], control[0]);
	}
	close_fd(&data[0]);
	close_fd(&control[0]);
	if (pid < 0) {
		close_fd(&data[1]);
		close_fd(&control[1]);
		return false;
	}
	relay->pid = pid;
	relay->fd = data[1];
	relay->control = control[1];
	return true;
}

/* Hints are a courtesy: where there is no memory or no process for it, the command runs as without. */
void relay_open(struct relay *relay, int stdio[3])
{
	*relay = (struct relay){ .fd = -1, .control = -1 };
	if (fcntl(STDERR_FILENO, F_GETFD) < 0 || isatty(STDERR_FILENO))
		return;
	relay->tail = mmap(NULL, sizeof(*relay->tail), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (relay->tail == MAP_FAILED) {
		relay->tail = NULL;
		return;
	}
	if (!start(relay))
		return;
	stdio[STDERR_FILENO] = relay->fd;
	if (are_one(STDOUT_FILENO, STDERR_FILENO))
		stdio[STDOUT_FILENO] = relay->fd;
}

void relay_end(struct relay *relay)
{
	close_fd(&relay->fd);
	close_fd(&relay->control);
	while (relay->pid > 0 && waitpid(relay->pid, NULL, 0) < 0 && errno == EINTR)
		;
	relay->pid = 0;
}

char *relay_text(const struct relay *relay, size_t *ret_length)
{
	const struct relay_tail *tail = relay->tail;
	size_t begin;
	char *text;

	*ret_length = !tail ? 0 : tail->written < TAIL_BYTES ? tail->written : TAIL_BYTES;
	text = *ret_length ? malloc(*ret_length) : NULL;
	if (!text)
		return NULL;
	begin = (tail->written - *ret_length) % TAIL_BYTES;
	for (size_t i = 0; i < *ret_length; i++)
		text[i] = tail->ring[(begin + i) % TAIL_BYTES];
	return text;
}

void relay_free(struct relay *relay)
{
	relay_end(relay);
	if (relay->tail)
		munmap(relay->tail, sizeof(*relay->tail));
	relay->tail = NULL;
}
