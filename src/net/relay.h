/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay: carries TCP connections from the loopback of one network to that of another. It has no idea of pens: it is
 * given sockets that listen in the one network, and connects in the one that its process is in.
 *
 * Theory of operation. What it carries comes from a command that nobody trusts, so it never looks at it, and it lives
 * in a process of its own that can do nothing else (linux/relay.c). It connects to fixed addresses of the loopback and
 * follows no name. Its memory does not grow with what flows: of each direction of a connection at most one chunk is
 * held, and nothing more is read before that is passed on, so that a slow reader slows its writer down as it would
 * without a relay. Each connection is one mapping, given back at its end.
 */
#ifndef NET_RELAY_H
#define NET_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/limits.h"

enum {
	RELAY_TARGETS = 2,
	RELAY_DRAIN_MS = 3000, /* for what is on its way when the run is over */
};

struct relay_target {
	sa_family_t family; /* AF_INET: 127.0.0.1, AF_INET6: ::1 */
	uint16_t port;
};

struct relay_listener {
	int fd; /* listens and does not block; relay_run closes it */
	/* Tried in this order. A client inside that gets no answer at ::1 goes on to 127.0.0.1, but it cannot do so
	 * once the relay has taken its connection: so the relay does it for it. */
	struct relay_target target[RELAY_TARGETS];
	size_t target_count;
};

struct relay {
	struct relay_listener listener[2 * LIMIT_PORTS];
	size_t listener_count;
	int life;             /* at its end of file the run is over */
	bool pen_is_accepted; /* the pen's side are the connections that come in; else those that are made */
	unsigned max;         /* connections at once */
};

/* The system calls of relay_run, and no others, are allowed to its process; and of some arguments only these values. */
struct relay_rule {
	int call, argument;
	bool is_wide; /* all 64 bits count, not only the lower 32 */
	uint32_t value[2];
};

extern const int relay_calls[];
extern const size_t relay_call_count;
extern const struct relay_rule relay_rules[];
extern const size_t relay_rule_count;

/* What a connection costs: two descriptors. */
static inline unsigned relay_max_of(uint64_t descriptors, size_t listeners)
{
	const uint64_t own = listeners + 16;

	if (descriptors < own + 2)
		return 1;
	return descriptors - own > 2 * LIMIT_RELAY_CONNECTIONS ? LIMIT_RELAY_CONNECTIONS
							       : (unsigned)((descriptors - own) / 2);
}

/* Until the end of file of `life`, and then until what the pen has sent is delivered, or RELAY_DRAIN_MS are over.
 * poller: an epoll instance. Makes no other system call than relay_calls, and allocates nothing but mappings. */
void relay_run(struct relay *relay, int poller);

#endif
