/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/putback.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/sys.h"

/* The host goes on meanwhile: what was opened may be no place for a mount any more, or not yet. Two milliseconds, since
 * the supervisor waits; it looks again, after growing pauses of its own. */
enum { COVER_TRIES = 5 };

/* ---- in the pen ---- */

int putback_send(struct enter *enter, int *ret_fact, struct pinfold_error *err)
{
	static const struct {
		const char *path;
		int flags;
	} opened[] = {
		[WATCH_MOUNTS] = { "/proc/self/mountinfo", O_RDONLY },
		[WATCH_NAMESPACE] = { "/proc/self/ns/mnt", O_RDONLY },
		[WATCH_ROOT] = { "/", O_PATH | O_DIRECTORY },
	};
	int fds[WATCH_FD_COUNT] = { -1, -1, -1, enter->private_fd }, r = 0;
	const char *what = "the watch over the mounts";

	if (enter->watch_fd < 0)
		return 0;
	for (int i = 0; i < WATCH_PRIVATE && r == 0; i++) {
		fds[i] = openat(AT_FDCWD, opened[i].path, opened[i].flags | O_CLOEXEC);
		r = fds[i] < 0 ? -errno : 0;
		what = r < 0 ? opened[i].path : what;
	}
	if (r == 0)
		r = fd_send(enter->watch_fd, fds, WATCH_FD_COUNT);
	for (int i = 0; i < WATCH_PRIVATE; i++)
		fd_close(&fds[i]);
	fd_close(&enter->watch_fd);
	if (r == 0)
		return 0;
	*ret_fact = FACT_WATCH;
	return err_sys(err, PINFOLD_UNAVAILABLE, -r, "hand out", what);
}

/* ---- looking ---- */

static enum cover_state state_of(int dirfd, const char *path, int flags)
{
	struct sys_statx st;

	if (sys_statx(dirfd, path, flags | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | SYS_AT_STATX_DONT_SYNC, &st) < 0)
		return COVER_GONE;
	return st.attributes & SYS_STATX_ATTR_MOUNT_ROOT ? COVER_STANDS : COVER_LOST;
}

enum cover_state putback_look(const int fds[WATCH_FD_COUNT], const struct plan_op *op)
{
	return state_of(fds[WATCH_ROOT], op->path + 1, 0);
}

/* ---- the process that puts back ---- */

/* The place is opened once, without a link on the way, and is both what is bound and what it is bound over. */
static int cover(const struct pinfold_plan *plan, const struct plan_op *op, int private_fd)
{
	FD_CLEANUP int place = sys_open_place(AT_FDCWD, op->path, O_PATH | O_NOFOLLOW);
	FD_CLEANUP int mount = -1;
	struct sys_mount_attr attr = { .attr_set = op->attr_set };
	unsigned recursive = 0;

	if (place < 0)
		return -errno;
	if (op->source >= 0) {
		attr.attr_set = plan->sources[op->source].attr_set;
		recursive = plan->sources[op->source].is_recursive ? SYS_AT_RECURSIVE : 0;
		mount = sys_open_tree(place, "", SYS_OPEN_TREE_CLONE | SYS_AT_EMPTY_PATH | recursive);
	} else {
		mount = sys_open_tree(private_fd, op->from, SYS_OPEN_TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	}
	if (mount < 0 || sys_mount_setattr(mount, "", SYS_AT_EMPTY_PATH | recursive, &attr) < 0)
		return -errno;
	return sys_move_mount(mount, place, "") < 0 ? -errno : 0;
}

/* A mask may lie over something else that is protected: at the same place both are lost, or neither. */
static bool is_lost(const struct pinfold_plan *plan, size_t i, bool was_lost)
{
	const struct plan_op *op = &plan->ops[plan->watched[i]];

	if (i > 0 && strcmp(op->path, plan->ops[plan->watched[i - 1]].path) == 0)
		return was_lost;
	return state_of(AT_FDCWD, op->path, 0) == COVER_LOST;
}

static int cover_patiently(const struct pinfold_plan *plan, const struct plan_op *op, int private_fd)
{
	int r = cover(plan, op, private_fd);

	for (int tried = 0; r < 0 && mounts_wait(&tried, COVER_TRIES);)
		r = cover(plan, op, private_fd);
	return r;
}

/* A directory comes before what lies in it. What is gone stays gone, and the rest is done all the same. */
static int put_back(const struct pinfold_plan *plan, const int fds[WATCH_FD_COUNT], const int *left_out)
{
	int r = ids_join(plan, fds[WATCH_NAMESPACE]), gone = 0;
	bool lost = false;

	for (size_t i = 0; r == 0 && i < plan->watched_count; i++) {
		lost = is_lost(plan, i, lost);
		if (!lost || left_out[i])
			continue;
		r = cover_patiently(plan, &plan->ops[plan->watched[i]], fds[WATCH_PRIVATE]);
		if (r == -ENOENT || r == -ENOTDIR) {
			gone = -ENOENT;
			r = 0;
		}
	}
	return r < 0 ? r : gone;
}

/* CLONE_VFORK: the caller has nothing to do before this is done, and gives up its CPU at once. The memory is a copy. No
 * exit signal: it is nobody's child but ours. */
int putback_all(const struct pinfold_plan *plan, const int fds[WATCH_FD_COUNT], const int *left_out)
{
	pid_t pid = sys_clone(CLONE_VFORK, NULL);
	int status;

	if (pid == 0) {
		if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
			_exit(errno);
		_exit(-put_back(plan, fds, left_out));
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}
