/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor's watch over the pen's mounts: when to look, and what follows. How they are looked at and put back is
 * linux/putback.h.
 *
 *            a mount has come or gone,                nothing at the place
 *            a covered name was moved        ┌───────────────────────────────┐
 *   STANDS ─────────────────────────▶ look ──┤                               ▼
 *     ▲                                │     │ something lies there        GONE: look again after 1, 2, 4 … 128 ms
 *     └────────────────────────────────┘     ▼                               │
 *                    all covered           put back ◀────────────────────────┘
 *                                            │ fails: the run is ended
 *
 * A quiet run wakes up once at most: the kernel says when a mount is dropped, but nothing when a covered name is
 * renamed together with its mount. That is seen by inotify, a mark on each covered file, which can only be moved by the
 * host. Taking such marks down waits for the kernel's grace period, some milliseconds at worst, so a run gets them only
 * when it has lasted for a while.
 */
#ifndef RUN_GUARD_H
#define RUN_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linux/putback.h"
#include "plan/plan.h"

struct guard {
	const struct pinfold_plan *plan;
	int socket;             /* where the pen's descriptors come from, until they have come */
	int fds[WATCH_FD_COUNT];
	int moves_fd;           /* tells of covered names that are moved; -1 as long as they are not marked */
	int64_t mark_at, look_at; /* milliseconds on the caller's clock; -1: not */
	int pause;              /* before the next look at what is gone */
	int marking;            /* errno of what keeps moves from being seen, or 0 */
};

/* Before the pen is made. *ret_peer is its end of the socket, or -1: nothing to watch. 0 or -errno. */
int guard_open(struct guard *guard, const struct pinfold_plan *plan, int *ret_peer);
/* The rest return 0, or -errno with the index of a watched operation in *ret_lost: its cover cannot be put back, and
 * the run must not go on. */

/* The command has been started: takes the descriptors, and looks whether all is there. */
int guard_begin(struct guard *guard, int64_t now, size_t *ret_lost);
/* Something was heard from WATCH_MOUNTS or moves_fd, or the time has come. */
int guard_hear(struct guard *guard, int64_t now, size_t *ret_lost);
/* The earlier of two times to wake up at, of which -1 is none. */
int64_t guard_next(const struct guard *guard);
void guard_close(struct guard *guard);

#endif
