/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories of the plan's copies, handed out of the pen while it is set up. Whoever holds the other end finds in
 * them, when the pen is gone, what the command left: no process of the pen is asked, and a run that was killed leaves
 * its copies as well. The descriptors keep the private tmpfs alive, and nothing else of the pen.
 */
#include <errno.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "linux/enter.h"
#include "linux/sys.h"

int handover_send(struct enter *enter, struct pinfold_error *err)
{
	const struct pinfold_plan *plan = enter->plan;
	int fds[LIMIT_GIT_COPIES], r = 0;
	size_t n = 0;

	if (enter->handover_fd < 0 || plan->copy_count == 0 || plan->copy_count > LIMIT_GIT_COPIES)
		return 0;
	for (; n < plan->copy_count && r == 0; n++) {
		fds[n] = openat(enter->private_fd, plan->copies[n].inside,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = fds[n] < 0 ? -errno : 0;
	}
	if (r == 0)
		r = fd_send(enter->handover_fd, fds, n);
	for (size_t i = 0; i < n; i++)
		fd_close(&fds[i]);
	fd_close(&enter->handover_fd);
	return r < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, -r, "hand out the copy of", plan->copies[0].config->path) : 0;
}
