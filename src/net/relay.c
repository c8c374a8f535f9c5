/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection has two ends, and two flows between them:
 *
 *            accept           a target answers
 *   (start) ───────▶ CONNECTING ──────────────▶ OPEN ──────────────────────────▶ CLOSED
 *                        │                       both flows are over, or an error │
 *                        └──────────────────────────────────────────────────────▶─┘
 *                          no target answers
 *
 *   flow:  FLOWING ──end of file──▶ (what is kept is passed on) ──shutdown──▶ OVER
 *             └──────the other side takes nothing any more───────────────────▶─┘
 *
 * A half-closed connection stays so: the end of one flow is passed on as such, and the other flow goes on. An error is
 * passed on as a reset.
 *
 * Readiness is edge-triggered: each descriptor is registered once, what may be read or written is remembered, and a
 * connection that could do more stands in a queue, of which each gets its turn. So nothing spins on a hang-up that
 * cannot be answered yet (the reader is slow), and a fast connection does not starve the others.
 *
 * Without descriptors (or memory) for one more, the listeners are left alone until a connection has ended, or for a
 * moment; who connects meanwhile waits in the backlog.
 */
#include "net/relay.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	CHUNK_BYTES = 64 * 1024,
	TURN_CHUNKS = 16, /* of one flow, before the next connection has its turn */
	TURN_ACCEPTS = 64,
	EVENTS = 128,
	PAUSE_MS = 100,
};

const int relay_calls[] = {
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
	SYS_epoll_pwait, SYS_epoll_ctl,     SYS_accept4,    SYS_connect,         SYS_getsockopt, SYS_setsockopt,
	SYS_shutdown,    SYS_socket,        SYS_recvfrom,   SYS_sendto,          SYS_close,      SYS_mmap,
	SYS_munmap,      SYS_clock_gettime, SYS_exit_group, SYS_restart_syscall, /* of a wait that a stop and a continue
										    of the job have interrupted */
};
const size_t relay_call_count = sizeof(relay_calls) / sizeof(relay_calls[0]);

enum { NEW_SOCKET = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, NEW_PAGES = PROT_READ | PROT_WRITE };

const struct relay_rule relay_rules[] = {
	{SYS_socket, 0, false, {AF_INET, AF_INET6}},
	{SYS_socket, 1, false, {NEW_SOCKET, NEW_SOCKET}},
	{SYS_sendto, 4, true, {0, 0}}, /* an address could be connected to (Fast Open), past what Landlock watches */
	{SYS_mmap, 2, false, {NEW_PAGES, NEW_PAGES}},
};
const size_t relay_rule_count = sizeof(relay_rules) / sizeof(relay_rules[0]);

enum watched_kind { WATCHED_LIFE, WATCHED_LISTENER, WATCHED_END };

/* What an event points to. */
struct watched {
	enum watched_kind kind;
};

enum { ACCEPTED, MADE, ENDS };

struct end {
	struct watched watched;
	int fd;
	bool can_read, can_write;
	struct connection *connection;
};

struct flow {
	struct end *from, *to;
	bool has_ended; /* nothing more comes; what is kept may still have to go */
	bool is_over;
	size_t start, length; /* of what is kept */
	char kept[CHUNK_BYTES];
};

enum phase { CONNECTING, OPEN, CLOSED };

struct connection {
	enum phase phase;
	struct end end[ENDS];
	const struct relay_listener *listener;
	size_t next_target;
	bool is_broken; /* its end is a reset */
	bool is_queued;
	struct connection *queue_next;
	struct connection *next, **at; /* in the list of all: what comes after, and what points here */
	struct flow flow[ENDS];        /* by the end that it comes from */
};

struct watched_listener {
	struct watched watched;
	struct relay_listener *listener;
};

struct loop {
	struct relay *relay;
	int poller;
	struct watched life;
	struct watched_listener listener[2 * LIMIT_PORTS];
	struct connection *all, *dead, *queue, **queue_end;
	unsigned count;
	bool is_paused, is_draining;
	unsigned paused_at; /* with so many connections */
	int64_t wake_ms;    /* when to try again after a pause; when draining is over */
	char chunk[CHUNK_BYTES];
};

enum turn { TURN_WAIT, TURN_MORE, TURN_BROKEN };

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int watch(struct loop *loop, int operation, int fd, struct watched *watched, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watched};

	return epoll_ctl(loop->poller, operation, fd, &event) < 0 ? -errno : 0;
}

static void enqueue(struct loop *loop, struct connection *connection)
{
	if (connection->is_queued || connection->phase == CLOSED)
		return;
	connection->is_queued = true;
	connection->queue_next = NULL;
	*loop->queue_end = connection;
	loop->queue_end = &connection->queue_next;
}

/* ---- the life of a connection ---------------------------------------------------------------------------------- */

/* The mapping stays until the round is over: events of this round may still point into it. */
static void connection_close(struct loop *loop, struct connection *connection)
{
	const struct linger reset = {.l_onoff = 1, .l_linger = 0};

	if (connection->phase == CLOSED)
		return;
	connection->phase = CLOSED;
	for (int i = 0; i < ENDS; i++) {
		int fd = connection->end[i].fd;

		if (fd >= 0 && connection->is_broken)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		if (fd >= 0)
			close(fd);
	}
	*connection->at = connection->next;
	if (connection->next)
		connection->next->at = connection->at;
	connection->next = loop->dead;
	loop->dead = connection;
	loop->count--;
}

static void connection_break(struct loop *loop, struct connection *connection)
{
	connection->is_broken = true;
	connection_close(loop, connection);
}

static void free_dead(struct loop *loop)
{
	while (loop->dead) {
		struct connection *connection = loop->dead;

		loop->dead = connection->next;
		munmap(connection, sizeof(*connection));
	}
}

static int end_open(struct loop *loop, struct end *end)
{
	const int on = 1;

	/* What comes in small pieces goes on in small pieces, at once. */
	setsockopt(end->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return watch(loop, EPOLL_CTL_ADD, end->fd, &end->watched, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

static struct connection *connection_make(struct loop *loop, const struct relay_listener *listener, int accepted)
{
	struct connection *connection = mmap(NULL, sizeof(*connection), NEW_PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (connection == MAP_FAILED)
		return NULL;
	connection->phase = CONNECTING;
	connection->listener = listener;
	for (int i = 0; i < ENDS; i++) {
		connection->end[i] = (struct end){{WATCHED_END}, -1, false, false, connection};
		connection->flow[i].from = &connection->end[i];
		connection->flow[i].to = &connection->end[!i];
	}
	connection->end[ACCEPTED].fd = accepted;
	connection->next = loop->all;
	connection->at = &loop->all;
	if (loop->all)
		loop->all->at = &connection->next;
	loop->all = connection;
	loop->count++;
	return connection;
}

static int connect_target(int fd, const struct relay_target *target)
{
	const struct sockaddr_in v4 = {
		.sin_family = AF_INET,
		.sin_port = htons(target->port),
		.sin_addr = {htonl(INADDR_LOOPBACK)},
	};
	const struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(target->port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	bool is_v4 = target->family == AF_INET;

	return connect(fd, is_v4 ? (const void *)&v4 : (const void *)&v6, is_v4 ? sizeof(v4) : sizeof(v6));
}

/* Begins with the next target. False: there is none that can be tried. */
static bool try_target(struct loop *loop, struct connection *connection)
{
	struct end *end = &connection->end[MADE];

	while (connection->next_target < connection->listener->target_count) {
		const struct relay_target *target = &connection->listener->target[connection->next_target++];

		if (end->fd >= 0)
			close(end->fd); /* which the poller forgets, too */
		end->can_read = end->can_write = false;
		end->fd = socket(target->family, NEW_SOCKET, 0);
		if (end->fd < 0)
			continue;
		if ((connect_target(end->fd, target) == 0 || errno == EINPROGRESS) && end_open(loop, end) == 0)
			return true;
	}
	return false;
}

static void begin(struct loop *loop, const struct relay_listener *listener, int accepted)
{
	struct connection *connection = connection_make(loop, listener, accepted);

	if (!connection)
		close(accepted);
	else if (end_open(loop, &connection->end[ACCEPTED]) < 0 || !try_target(loop, connection))
		connection_break(loop, connection);
}

/* ---- flows ----------------------------------------------------------------------------------------------------- */

/* The other side takes nothing any more. What comes from there is still passed on, to its end. */
static enum turn give_up(struct flow *flow)
{
	flow->is_over = true;
	flow->length = 0;
	flow->from->connection->is_broken = true;
	return TURN_WAIT;
}

/* Sends what it can. The count, or -1: the connection is broken. */
static ssize_t send_some(struct end *to, const char *data, size_t length)
{
	ssize_t n = send(to->fd, data, length, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN)
		return -1;
	if (n < 0)
		n = 0;
	to->can_write = (size_t)n == length;
	return n;
}

static enum turn send_kept(struct flow *flow)
{
	ssize_t n;

	if (!flow->to->can_write)
		return TURN_WAIT;
	n = send_some(flow->to, flow->kept + flow->start, flow->length);
	if (n < 0)
		return give_up(flow);
	flow->start += (size_t)n;
	flow->length -= (size_t)n;
	return TURN_MORE;
}

static enum turn send_fresh(struct flow *flow, const char *data, size_t length)
{
	ssize_t n = send_some(flow->to, data, length);

	if (n < 0)
		return give_up(flow);
	flow->start = 0;
	flow->length = length - (size_t)n;
	memcpy(flow->kept, data + n, flow->length);
	return TURN_MORE;
}

static enum turn finish(struct flow *flow)
{
	if (shutdown(flow->to->fd, SHUT_WR) < 0)
		return give_up(flow);
	flow->is_over = true;
	return TURN_WAIT;
}

/* One step: a chunk, or less. */
static enum turn advance(struct flow *flow, char *chunk)
{
	ssize_t n;

	if (flow->is_over)
		return TURN_WAIT;
	if (flow->length)
		return send_kept(flow);
	if (flow->has_ended)
		return finish(flow);
	if (!flow->from->can_read || !flow->to->can_write)
		return TURN_WAIT;
	n = recv(flow->from->fd, chunk, CHUNK_BYTES, 0);
	if (n > 0)
		return send_fresh(flow, chunk, (size_t)n);
	flow->has_ended = n == 0;
	flow->from->can_read = n == 0;
	if (n == 0)
		return TURN_MORE;
	return errno == EAGAIN ? TURN_WAIT : TURN_BROKEN;
}

static enum turn flow_turn(struct flow *flow, char *chunk)
{
	enum turn turn = TURN_MORE;

	for (int i = 0; i < TURN_CHUNKS && turn == TURN_MORE; i++)
		turn = advance(flow, chunk);
	return turn;
}

/* ---- turns ----------------------------------------------------------------------------------------------------- */

static void connecting_turn(struct loop *loop, struct connection *connection)
{
	struct end *end = &connection->end[MADE];
	int error = 0;
	socklen_t size = sizeof(error);

	if (!end->can_write) /* no answer yet */
		return;
	if (getsockopt(end->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
		connection->phase = OPEN;
	else if (!try_target(loop, connection))
		connection_break(loop, connection);
}

static struct flow *flow_from_pen(const struct loop *loop, struct connection *connection)
{
	return &connection->flow[loop->relay->pen_is_accepted ? ACCEPTED : MADE];
}

static bool is_over(const struct loop *loop, struct connection *connection)
{
	if (loop->is_draining)
		return flow_from_pen(loop, connection)->is_over;
	return connection->flow[ACCEPTED].is_over && connection->flow[MADE].is_over;
}

static void open_turn(struct loop *loop, struct connection *connection)
{
	enum turn turn[ENDS];

	for (int i = 0; i < ENDS; i++)
		turn[i] = flow_turn(&connection->flow[i], loop->chunk);
	if (turn[ACCEPTED] == TURN_BROKEN || turn[MADE] == TURN_BROKEN)
		connection_break(loop, connection);
	else if (is_over(loop, connection))
		connection_close(loop, connection);
	else if (turn[ACCEPTED] == TURN_MORE || turn[MADE] == TURN_MORE)
		enqueue(loop, connection);
}

/* Each that stands in the queue now has one turn; who is not done stands at its end again. */
static void take_turns(struct loop *loop)
{
	struct connection *connection = loop->queue, *next;

	loop->queue = NULL;
	loop->queue_end = &loop->queue;
	for (; connection; connection = next) {
		next = connection->queue_next;
		connection->is_queued = false;
		if (connection->phase == CONNECTING)
			connecting_turn(loop, connection);
		if (connection->phase == OPEN)
			open_turn(loop, connection);
	}
}

/* ---- listening ------------------------------------------------------------------------------------------------- */

static void listen_for(struct loop *loop, uint32_t events)
{
	for (size_t i = 0; i < loop->relay->listener_count; i++)
		watch(loop, EPOLL_CTL_MOD, loop->relay->listener[i].fd, &loop->listener[i].watched, events);
}

static void pause_accepting(struct loop *loop)
{
	loop->is_paused = true;
	loop->paused_at = loop->count;
	loop->wake_ms = now_ms() + PAUSE_MS;
	listen_for(loop, 0);
}

static void resume_accepting(struct loop *loop)
{
	if (loop->count >= loop->relay->max || (loop->count >= loop->paused_at && now_ms() < loop->wake_ms))
		return;
	loop->is_paused = false;
	listen_for(loop, EPOLLIN);
}

static void accept_some(struct loop *loop, const struct relay_listener *listener)
{
	for (int i = 0; i < TURN_ACCEPTS; i++) {
		int fd;

		if (loop->count >= loop->relay->max)
			return pause_accepting(loop);
		fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			begin(loop, listener, fd);
		else if (errno == EAGAIN)
			return;
		else if (errno != ECONNABORTED)
			return pause_accepting(loop);
	}
}

/* The pen is gone, and all its ends are closed. What it had sent is delivered; nothing new begins. */
static void begin_draining(struct loop *loop)
{
	struct relay *relay = loop->relay;

	for (size_t i = 0; i < relay->listener_count; i++) {
		if (relay->pen_is_accepted)
			accept_some(loop, &relay->listener[i]);
		close(relay->listener[i].fd);
	}
	watch(loop, EPOLL_CTL_DEL, relay->life, NULL, 0);
	loop->is_paused = false;
	loop->is_draining = true;
	loop->wake_ms = now_ms() + RELAY_DRAIN_MS;
	for (struct connection *connection = loop->all, *next; connection; connection = next) {
		next = connection->next;
		if (connection->phase == CONNECTING && !relay->pen_is_accepted)
			connection_break(loop, connection);
		else
			enqueue(loop, connection);
	}
}

/* ---- the loop -------------------------------------------------------------------------------------------------- */

static void hear(struct loop *loop, struct watched *watched, uint32_t events)
{
	struct end *end = (struct end *)watched;

	switch (watched->kind) {
	case WATCHED_LIFE: begin_draining(loop); break;
	case WATCHED_LISTENER:
		if (!loop->is_draining)
			accept_some(loop, ((struct watched_listener *)watched)->listener);
		break;
	case WATCHED_END:
		end->can_read |= (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
		end->can_write |= (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
		enqueue(loop, end->connection);
		break;
	}
}

static int time_left(const struct loop *loop)
{
	int64_t left = loop->wake_ms - now_ms();

	if (loop->queue)
		return 0;
	if (!loop->is_draining && !(loop->is_paused && loop->count < loop->relay->max))
		return -1;
	return left < 0 ? 0 : (int)left;
}

static bool is_done(const struct loop *loop)
{
	return loop->is_draining && (!loop->count || now_ms() >= loop->wake_ms);
}

static void watch_all(struct loop *loop)
{
	struct relay *relay = loop->relay;

	loop->life.kind = WATCHED_LIFE;
	watch(loop, EPOLL_CTL_ADD, relay->life, &loop->life, EPOLLIN);
	for (size_t i = 0; i < relay->listener_count; i++) {
		loop->listener[i] = (struct watched_listener){{WATCHED_LISTENER}, &relay->listener[i]};
		watch(loop, EPOLL_CTL_ADD, relay->listener[i].fd, &loop->listener[i].watched, EPOLLIN);
	}
}

void relay_run(struct relay *relay, int poller)
{
	static struct loop loop; /* too large for the stack of a caller's thread; a relay has its process for itself */
	struct epoll_event events[EVENTS];

	loop = (struct loop){.relay = relay, .poller = poller};
	loop.queue_end = &loop.queue;
	watch_all(&loop);
	while (!is_done(&loop)) {
		int n = epoll_wait(poller, events, EVENTS, time_left(&loop));

		if (n < 0 && errno != EINTR)
			return;
		for (int i = 0; i < n; i++)
			hear(&loop, events[i].data.ptr, events[i].events);
		take_turns(&loop);
		free_dead(&loop);
		if (loop.is_paused)
			resume_accepting(&loop);
	}
}
