/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pinfold-enter, which bubblewrap executes inside, has to know of the run: the part of the plan that is left to
 * do, and the descriptors. It comes over a descriptor, so that nothing of the policy stands on a command line. Both
 * ends are one walk over the same fields (orders.c), and begin with what tells two builds apart.
 */
#ifndef LINUX_ORDERS_H
#define LINUX_ORDERS_H

#include "base/arena.h"
#include "linux/enter.h"

/* Allocates nothing; 0 or -errno. The numbers of the descriptors are those that they have now. */
int orders_write(int fd, const struct enter *enter);

/* *enter and *plan are zeroed by the caller and filled; what they point to lies in the arena. -EPROTO: from a program
 * of another build. */
int orders_read(struct arena *arena, int fd, struct enter *enter, struct pinfold_plan *plan);

#endif
