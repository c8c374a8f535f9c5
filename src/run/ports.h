/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor's part of the ports: what must be there before the pen, and gone after it. It opens the published
 * ports, since a busy one is to be an error before anything starts, and starts the relays; it never touches what they
 * carry, so that nothing the command does can hold it up.
 */
#ifndef RUN_PORTS_H
#define RUN_PORTS_H

#include <sys/types.h>

#include "linux/enter.h"
#include "plan/plan.h"

struct ports_relay {
	pid_t pid;
	int pidfd;
	int life; /* our end of its socket: closed, it ends */
};

struct ports {
	struct ports_relay relay[RELAY_COUNT]; /* pid 0: there is none */
};

/* Allocates nothing. 0, or -errno with *err filled; either way ports_end is to be called. */
int ports_begin(const struct pinfold_plan *plan, struct ports *ret, struct pinfold_error *err);
/* When the pen is gone: lets the relays deliver what it had sent, for a moment, and ends them. */
void ports_end(struct ports *ports);

#endif
