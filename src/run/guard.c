/* SPDX-License-Identifier: Apache-2.0 */
#include "run/guard.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

enum {
	MARK_MS = 200,   /* how long a run lasts before covered names are marked */
	PAUSE_MAX = 128, /* between two looks at what is gone */
};

int guard_open(struct guard *guard, const struct pinfold_plan *plan, int *ret_peer)
{
	int pair[2];

	*guard = (struct guard){ .plan = plan, .socket = -1, .moves_fd = -1, .mark_at = -1, .look_at = -1 };
	for (int i = 0; i < WATCH_FD_COUNT; i++)
		guard->fds[i] = -1;
	*ret_peer = -1;
	if (!plan->watched_count)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	guard->socket = pair[0];
	*ret_peer = pair[1];
	return 0;
}

void guard_close(struct guard *guard)
{
	fd_close(&guard->socket);
	fd_close(&guard->moves_fd);
	for (int i = 0; i < WATCH_FD_COUNT; i++)
		fd_close(&guard->fds[i]);
	guard->mark_at = guard->look_at = -1;
}

int64_t guard_next(const struct guard *guard)
{
	if (guard->mark_at < 0 || (guard->look_at >= 0 && guard->look_at < guard->mark_at))
		return guard->look_at;
	return guard->mark_at;
}

static const struct plan_op *watched(const struct guard *guard, size_t i)
{
	return &guard->plan->ops[guard->plan->watched[i]];
}

/* One word for each: 1 where an operation was left out, since its place could not be reached (is_optional). */
static int *left_out(const struct guard *guard)
{
	return guard->plan->scratch + 2 * guard->plan->source_count;
}

/* What has been marked before keeps its mark; what cannot be marked (a file that we may not read, say) does not keep
 * the others from it. A mark goes with its first event, so that one that was moved away does not tell of more. */
static void mark(struct guard *guard)
{
	for (size_t i = 0; i < guard->plan->watched_count; i++)
		if (!left_out(guard)[i] && inotify_add_watch(guard->moves_fd, watched(guard, i)->path,
							     IN_MOVE_SELF | IN_ONESHOT | IN_DONT_FOLLOW) < 0 &&
		    errno == ENOSPC)
			guard->marking = errno;
}

static void forget_events(const struct guard *guard)
{
	_Alignas(struct inotify_event) char events[4096];

	while (guard->moves_fd >= 0 && read(guard->moves_fd, events, sizeof(events)) > 0)
		;
}

/* What is gone needs no cover, but may be made again at any time, of which no mount tells. What has been covered again
 * is seen to stand, and is marked. */
static void look_again_later(struct guard *guard, int64_t now)
{
	guard->pause = guard->pause ? guard->pause * 2 : 1;
	if (guard->pause > PAUSE_MAX)
		guard->pause = PAUSE_MAX;
	guard->look_at = now + guard->pause;
}

/* The marks come first: what is moved before it is marked is found missing here. */
static int look(struct guard *guard, int64_t now, size_t *ret_lost)
{
	bool is_lost = false, is_gone = false;
	int r = 0;

	if (guard->moves_fd >= 0)
		mark(guard);
	for (size_t i = guard->plan->watched_count; i-- > 0;) {
		enum cover_state state = left_out(guard)[i] ? COVER_STANDS
							    : putback_look(guard->fds, watched(guard, i));

		is_gone |= state == COVER_GONE;
		is_lost |= state == COVER_LOST;
		if (state == COVER_LOST)
			*ret_lost = guard->plan->watched[i];
	}
	if (is_lost)
		r = putback_all(guard->plan, guard->fds, left_out(guard));
	if (r < 0 && r != -ENOENT)
		return r;
	/* Until all stands: what lay open may be gone when the cover comes, the kernel takes the mount off first. */
	if (is_lost || is_gone) {
		look_again_later(guard, now);
	} else {
		guard->pause = 0;
		guard->look_at = -1;
	}
	return 0;
}

int guard_begin(struct guard *guard, int64_t now, size_t *ret_lost)
{
	int n;

	if (guard->socket < 0)
		return 0;
	n = fd_receive(guard->socket, guard->fds, WATCH_FD_COUNT, MSG_DONTWAIT);
	fd_close(&guard->socket);
	if (n != WATCH_FD_COUNT) { /* our own table of descriptors is full */
		*ret_lost = guard->plan->watched[0];
		return n < 0 ? n : -EPROTO;
	}
	for (size_t i = 0; i < guard->plan->watched_count; i++)
		left_out(guard)[i] = watched(guard, i)->is_optional &&
				     putback_look(guard->fds, watched(guard, i)) != COVER_STANDS;
	guard->mark_at = now + MARK_MS;
	return look(guard, now, ret_lost);
}

int guard_hear(struct guard *guard, int64_t now, size_t *ret_lost)
{
	if (guard->mark_at >= 0 && now >= guard->mark_at) {
		guard->mark_at = -1;
		guard->moves_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		guard->marking = guard->moves_fd < 0 ? errno : 0;
	}
	forget_events(guard);
	return look(guard, now, ret_lost);
}
