/* SPDX-License-Identifier: Apache-2.0 */
#include "run/ports.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/sys.h"
#include "net/relay.h"

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fd_close(&fds[i]);
}

/* On 127.0.0.1 only: nobody on another machine gets an answer. */
static int open_published(const struct plan_ports *publish, int *fds, size_t *ret_n, struct pinfold_error *err)
{
	for (size_t i = 0; i < publish->n; i++) {
		int fd = net_listen(AF_INET, publish->v[i].host);

		if (fd < 0)
			return err_sys(err, PINFOLD_UNAVAILABLE, -fd, "publish port", publish->words.v[i]);
		fds[(*ret_n)++] = fd;
	}
	return 0;
}

static int start_relay(const struct pinfold_plan *plan, enum relay_side side, const int *listeners,
		       struct ports_relay *ret, struct pinfold_error *err)
{
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, PINFOLD_INTERNAL, errno, "make", "a socket");
	/* No exit signal: the caller's SIGCHLD tells of the command alone. */
	ret->pid = sys_clone(CLONE_PIDFD, &ret->pidfd);
	if (ret->pid == 0)
		relay_process(plan, side, pair[0], listeners);
	r = ret->pid < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, errno, "start", "the relay of ports") : 0;
	if (r < 0)
		ret->pid = 0;
	close(pair[0]);
	ret->life = pair[1];
	return r;
}

int ports_begin(const struct pinfold_plan *plan, struct ports *ret, struct pinfold_error *err)
{
	int listeners[LIMIT_PORTS], r;
	size_t n = 0;

	r = open_published(&plan->publish, listeners, &n, err);
	if (r == 0 && plan->reach.n)
		r = start_relay(plan, RELAY_REACH, NULL, &ret->relay[RELAY_REACH], err);
	if (r == 0 && plan->publish.n)
		r = start_relay(plan, RELAY_PUBLISH, listeners, &ret->relay[RELAY_PUBLISH], err);
	close_all(listeners, n); /* the relay's from now on: without it nobody is to find them open */
	return r;
}

static void end_relay(struct ports_relay *relay)
{
	struct pollfd poller = {.fd = relay->pidfd, .events = POLLIN};

	fd_close(&relay->life);
	if (!relay->pid)
		return;
	/* It ends by itself; what does not is killed. */
	if (poll(&poller, 1, 2 * RELAY_DRAIN_MS) <= 0)
		kill(relay->pid, SIGKILL);
	while (waitpid(relay->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	fd_close(&relay->pidfd);
	relay->pid = 0;
}

void ports_end(struct ports *ports)
{
	for (int side = 0; side < RELAY_COUNT; side++)
		end_relay(&ports->relay[side]);
}
