/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts that the host takes away, and how they come back (E011).
 *
 * The threat: what the command must not change or see is covered by mounts. The kernel holds them against everybody in
 * the pen, not against the host: a rename over the covered file, its removal, and that of a directory above it drop
 * the mount in every mount namespace but the renamer's own (detach_mounts, Linux 3.18), since no sandbox may keep the
 * host from working on its files. git on the host does that with each change of its configuration, an editor with each
 * save. A covered name that is renamed takes its mount along, and what is made anew at the old place lies open as well.
 *
 * Who holds what: the pen's init opens what the watch needs while it sets up, and hands it to the supervisor over a
 * socket of their own, of which nothing is left in the pen when the first line of the command's code runs (closed by
 * putback_send, and close-on-exec besides). From outside it could not be had later: the init is not dumpable, so
 * /proc/PID and the pidfd open nothing to a plain user.
 *
 *   WATCH_MOUNTS     mountinfo, which poll(2) wakes up for when a mount has come or gone
 *   WATCH_NAMESPACE  the mount namespace; its user namespace is asked of it
 *   WATCH_ROOT       the pen's root, to look at places from outside as the pen has them
 *   WATCH_PRIVATE    the private tmpfs, which holds the masks and the links over git's configuration
 *
 * Putting back takes a process of its own, since a process can enter no other user namespace and come back. It makes
 * no step that the pen's init did not make: no code of the command's choice, no capability outside of the pen, nothing
 * allocated. It stays outside of the pen's pid namespace and is not dumpable, so that nothing in the pen can see,
 * signal or trace it. What it binds is what the pen itself shows at that place, with the ids and attributes that are
 * mapped and set there: a mount that was put back never gives more than there was without it.
 */
#ifndef LINUX_PUTBACK_H
#define LINUX_PUTBACK_H

#include <stddef.h>

#include "linux/enter.h"
#include "pinfold.h"
#include "plan/plan.h"

enum watch_fd { WATCH_MOUNTS, WATCH_NAMESPACE, WATCH_ROOT, WATCH_PRIVATE, WATCH_FD_COUNT };

/* In the pen, when the mounts are made: sends the descriptors over enter->watch_fd and closes it. */
int putback_send(struct enter *enter, int *ret_fact, struct pinfold_error *err);

enum cover_state {
	COVER_STANDS,
	COVER_LOST, /* something lies there, open */
	COVER_GONE, /* nothing is there (or nothing that can be looked at): there is nothing to cover */
};

/* How the place of an operation looks inside. Async-signal-safe, as all here. */
enum cover_state putback_look(const int fds[WATCH_FD_COUNT], const struct plan_op *op);

/* Puts back each of plan->watched that is lost, but for those with a mark in `left_out`, and waits until that is done.
 * 0; -ENOENT where a place was gone again meanwhile; another -errno where a cover could not be made. */
int putback_all(const struct pinfold_plan *plan, const int fds[WATCH_FD_COUNT], const int *left_out);

#endif
