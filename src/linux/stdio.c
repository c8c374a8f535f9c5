/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A regular file on 0, 1 or 2 that is open for reading only still stands on the host's writable mount: through
 * /proc/self/fd/0 the command could open it for writing, change its mode or empty it (E110a: `pinfold run x < notes.txt`).
 * So it is opened again inside, by its path, on the pen's read-only mount, compared, moved to the same offset, and put in
 * its place. Where it cannot be seen inside, the caller gave away a file that the policy hides: the plan says so in a note
 * and Landlock refuses to truncate it.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "linux/enter.h"
#include "linux/sys.h"

static int reopen(struct enter *enter, int i, struct pinfold_error *err)
{
	const char *path = enter->plan->reopen_path[i];
	struct stat outside, inside;
	off_t offset;
	int fd;

	if (fstat(enter->stdio[i], &outside) < 0)
		return err_sys(err, PINFOLD_INTERNAL, errno, "look at", path);
	fd = sys_open_place(AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	/* Gone or replaced meanwhile (a shell's here-document, for one, has no name any more): it keeps the caller's. */
	if (fd < 0)
		return 0;
	if (fstat(fd, &inside) < 0 || inside.st_dev != outside.st_dev || inside.st_ino != outside.st_ino) {
		close(fd);
		return 0;
	}
	offset = lseek(enter->stdio[i], 0, SEEK_CUR);
	if (offset > 0 && lseek(fd, offset, SEEK_SET) < 0) {
		close(fd);
		return err_sys(err, PINFOLD_INTERNAL, errno, "seek in", path);
	}
	fcntl(fd, F_SETFL, O_RDONLY);
	enter->stdio[i] = fd;
	return 0;
}

int stdio_reopen(struct enter *enter, struct pinfold_error *err)
{
	for (int i = 0; i < 3; i++) {
		int r = enter->plan->reopen[i] ? reopen(enter, i, err) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}
