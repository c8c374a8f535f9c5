/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process of a relay (net/relay.h), from its fork to its end. It is the supervisor's child and lives outside: the
 * command can neither see nor signal it. It begins with a copy of all that the supervisor has, so before the first byte
 * of the command's reaches it, it
 *
 *   1. leaves all descriptors but its own, and every directory;
 *   2. takes over, over a socket from the pen's set-up: the sockets that listen inside, or, to publish, the pen's user
 *      and network namespaces, which it joins;
 *   3. gives up root's ids, where the run was started by root, and every capability;
 *   4. shuts itself in: not dumpable, no_new_privs, Landlock (no file; only the ports that it is to connect to), and a
 *      filter that knows the few calls of its loop and ends the process at any other;
 *   5. answers that it is ready: only then the command is started.
 *
 * The socket's other end is the supervisor's (and the set-up's, until the command runs): whatever ends that one, ends
 * the relay.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/enter.h"
#include "linux/landlock.h"
#include "linux/sys.h"
#include "net/relay.h"

struct process {
	const struct pinfold_plan *plan;
	enum relay_side side;
	int socket, poller;
	struct relay relay;
};

/* ---- what it takes over ---------------------------------------------------------------------------------------- */

/* Out of the way of the low numbers, then everything else is closed: among it the reading end of what the command
 * writes to, or the control pipe of the pen. */
static int keep_own_descriptors(struct process *process, const int *listeners, struct pinfold_error *err)
{
	const struct plan_ports *publish = &process->plan->publish;
	size_t n = process->side == RELAY_PUBLISH ? publish->n : 0;
	int own[LIMIT_PORTS + 1], next = 0;

	for (size_t i = 0; i <= n; i++) {
		own[i] = fcntl(i < n ? listeners[i] : process->socket, F_DUPFD_CLOEXEC, (int)n + 1);
		if (own[i] < 0)
			return err_sys(err, PINFOLD_UNAVAILABLE, errno, "copy", "a descriptor");
	}
	for (size_t i = 0; i <= n; i++)
		if (dup2(own[i], next++) < 0)
			return err_sys(err, PINFOLD_UNAVAILABLE, errno, "move", "a descriptor");
	for (size_t i = 0; i < n; i++)
		process->relay.listener[i].fd = (int)i;
	process->relay.listener_count = n;
	process->socket = next - 1;
	sys_close_range((unsigned)next, ~0U, 0);
	return chdir("/") < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, errno, "enter", "/") : 0;
}

static int receive(struct process *process, struct pinfold_error *err)
{
	struct relay *relay = &process->relay;
	int fds[2 * LIMIT_PORTS], r;
	int n = fd_receive(process->socket, fds, 2 * LIMIT_PORTS, 0);

	if (n == 0)
		_exit(0); /* the set-up has failed before it came to us, and has said so */
	if (n < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, -n, "take over", "the pen's descriptors");
	if (process->side == RELAY_PUBLISH) {
		r = ids_join(process->plan, fds[0]);
		for (int i = 0; i < n; i++)
			fd_close(&fds[i]);
		return r < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, -r, "join", "the pen's network namespace") : 0;
	}
	for (int i = 0; i < n; i++)
		relay->listener[relay->listener_count++].fd = fds[i];
	return 0;
}

/* ---- what it connects to --------------------------------------------------------------------------------------- */

static void add_target(struct relay_listener *listener, sa_family_t family, uint16_t port)
{
	listener->target[listener->target_count++] = (struct relay_target){family, port};
}

/* The listener itself says which port of the plan it stands for. The host's ::1 where the client asked for ::1, and
 * then, as the client itself would without a relay, 127.0.0.1; a server inside may listen at either. */
static int find_targets(struct process *process, struct relay_listener *listener)
{
	bool is_reach = process->side == RELAY_REACH;
	const struct plan_ports *ports = is_reach ? &process->plan->reach : &process->plan->publish;
	struct sockaddr_in6 address;
	socklen_t size = sizeof(address);
	uint16_t port;

	if (getsockname(listener->fd, (struct sockaddr *)&address, &size) < 0)
		return -errno;
	port = ntohs(address.sin6_port); /* which lies where an IPv4 address has it */
	for (size_t i = 0; i < ports->n; i++) {
		if (port != (is_reach ? ports->v[i].inside : ports->v[i].host))
			continue;
		if (is_reach && address.sin6_family == AF_INET6)
			add_target(listener, AF_INET6, ports->v[i].host);
		add_target(listener, AF_INET, is_reach ? ports->v[i].host : ports->v[i].inside);
		if (!is_reach)
			add_target(listener, AF_INET6, ports->v[i].inside);
		return 0;
	}
	return -ENOENT;
}

static int find_all_targets(struct process *process, struct pinfold_error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < process->relay.listener_count; i++)
		r = find_targets(process, &process->relay.listener[i]);
	return r < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, -r, "look at", "a listening socket") : 0;
}

/* ---- what it gives up ------------------------------------------------------------------------------------------ */

/* By system call, as ids_become_inner does, which the relay that publishes has behind it. A service that asks whose a
 * connection is must not hear that it is root's. */
static int leave_root(const struct process *process, struct pinfold_error *err)
{
	const struct pinfold_plan *plan = process->plan;

	if (plan->ids != IDS_HIDDEN || process->side == RELAY_PUBLISH)
		return 0;
	if (syscall(SYS_setgroups, 0, NULL) < 0 ||
	    syscall(SYS_setresgid, plan->host_gid, plan->host_gid, plan->host_gid) < 0 ||
	    syscall(SYS_setresuid, plan->host_uid, plan->host_uid, plan->host_uid) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "give up", "root's ids");
	return 0;
}

/* As many descriptors as the caller may have at most: two for each connection. */
static unsigned raise_limit(size_t listeners)
{
	struct rlimit limit = {0, 0};

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	return relay_max_of(limit.rlim_cur, listeners);
}

static int restrict_files_and_ports(const struct process *process, struct pinfold_error *err)
{
	struct {
		uint64_t fs, net;
	} attr = {(1 << 13) - 1, LL_BIND_TCP | LL_CONNECT_TCP}; /* as of ABI 4 */
	FD_CLEANUP int fd = -1;
	int r = 0;

	if (!process->plan->has_landlock || process->plan->host->landlock_abi < 4)
		return 0;
	fd = (int)syscall(NR_LANDLOCK_CREATE_RULESET, &attr, sizeof(attr), 0);
	for (size_t i = 0; fd >= 0 && r == 0 && i < process->relay.listener_count; i++) {
		struct {
			uint64_t access, port;
		} rule = {LL_CONNECT_TCP, process->relay.listener[i].target[0].port};

		r = (int)syscall(NR_LANDLOCK_ADD_RULE, fd, 2 /* LANDLOCK_RULE_NET_PORT */, &rule, 0);
	}
	if (fd < 0 || r < 0 || syscall(NR_LANDLOCK_RESTRICT_SELF, fd, 0) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "restrict", "the relay of ports (Landlock)");
	return 0;
}

static int give_up(struct process *process, struct pinfold_error *err)
{
	int r = leave_root(process, err);

	if (r < 0)
		return r;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "set", "no_new_privs");
	r = caps_drop(process->side == RELAY_PUBLISH, err);
	if (r < 0)
		return r;
	return restrict_files_and_ports(process, err);
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

static int set_up(struct process *process, const int *listeners, struct pinfold_error *err)
{
	int r = keep_own_descriptors(process, listeners, err);

	if (r == 0)
		r = receive(process, err);
	if (r == 0)
		r = find_all_targets(process, err);
	if (r < 0)
		return r;
	process->poller = epoll_create1(EPOLL_CLOEXEC);
	if (process->poller < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "make", "a poller");
	process->relay.life = process->socket;
	process->relay.pen_is_accepted = process->side == RELAY_REACH;
	process->relay.max = raise_limit(process->relay.listener_count);
	r = give_up(process, err);
	return r == 0 && process->plan->has_seccomp ? relay_filter_install(err) : r;
}

_Noreturn void relay_process(const struct pinfold_plan *plan, enum relay_side side, int socket, const int *listeners)
{
	struct process process = {.plan = plan, .side = side, .socket = socket};
	struct pinfold_error answer = {0};
	int r;

	prctl(PR_SET_NAME, "pinfold-relay");
	r = set_up(&process, listeners, &answer);
	if (send(process.socket, &answer, sizeof(answer), MSG_NOSIGNAL) == (ssize_t)sizeof(answer) && r == 0)
		relay_run(&process.relay, process.poller);
	_exit(r < 0);
}
