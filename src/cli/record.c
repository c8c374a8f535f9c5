/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the record and of the events. A program that runs many commands keeps them in a place that no command
 * can reach: one that could write them could forge what happened to it, and a link or a FIFO put in their place would
 * lead our writing elsewhere or make it wait for ever.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static int fail(struct pinfold_error *err, const char *option, int errnum, const char *operation, const char *object)
{
	*err = (struct pinfold_error){ .code = PINFOLD_USAGE, .errnum = errnum };
	snprintf(err->operation, sizeof(err->operation), "%s", operation);
	snprintf(err->object, sizeof(err->object), "%s", object);
	snprintf(err->key, sizeof(err->key), "%s", option);
	return -errnum;
}

/* The command must not find it open: it could forge what happened to it. So its own three descriptors are refused. */
static int open_descriptor(struct record_file *file, const char *option, int fd, const char *target,
			   struct pinfold_error *err)
{
	int flags = fd >= 0 ? fcntl(fd, F_GETFD) : -1;
	int access = fd >= 0 ? fcntl(fd, F_GETFL) : -1;

	if (fd < 0)
		return usage_error(err, "option '%s': '%.64s' is no descriptor", option, target);
	if (fd <= STDERR_FILENO) {
		usage_error(err, "option '%s': descriptor %d is the command's own", option, fd);
		usage_hint(err, "name another one: pinfold run %s fd:4 -- COMMAND 4>FILE", option);
		return -EINVAL;
	}
	if (flags < 0 || access < 0)
		return usage_error(err, "option '%s': descriptor %d is not open", option, fd);
	if ((access & O_ACCMODE) == O_RDONLY)
		return usage_error(err, "option '%s': descriptor %d is not open for writing", option, fd);
	if (fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0)
		return fail(err, option, errno, "write to", target);
	*file = (struct record_file){ .fd = fd, .option = option, .target = target };
	return 0;
}

/* The target with its directory resolved: what is opened is what was checked. */
static int resolve(const char *option, const char *target, char *ret, size_t size, struct pinfold_error *err)
{
	const char *slash = strrchr(target, '/');
	const char *name = slash ? slash + 1 : target;
	char parent[PATH_MAX], real[PATH_MAX];

	if (strlen(target) >= sizeof(parent))
		return fail(err, option, ENAMETOOLONG, "open", target);
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return usage_error(err, "option '%s': '%.512s' is no regular file", option, target);
	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - target) + 1 : 1, slash ? target : ".");
	if (!realpath(parent, real))
		return fail(err, option, errno, "open", target);
	if ((size_t)snprintf(ret, size, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) >= size)
		return fail(err, option, ENAMETOOLONG, "open", target);
	return 0;
}

/* Both spellings: a link that lies in a writable place may have been put there by the command of an earlier run, and
 * lead to a place that is not writable itself (E008). */
static int check_place(const struct pinfold_plan *plan, const char *option, const char *target, const char *resolved,
		       struct pinfold_error *err)
{
	int r = pinfold_plan_is_writable(plan, target, err);

	if (r == 0)
		r = pinfold_plan_is_writable(plan, resolved, err);
	if (r <= 0)
		return r;
	usage_error(err, "option '%s': the command could write to '%.512s', or decide where it leads", option, target);
	usage_hint(err, "keep it outside the worktree and every other writable path");
	return -EINVAL;
}

/* Without a plan nothing runs and no place is known to be writable; but what leads out of the current directory by a
 * link in it is not followed even for the record of a refusal. */
static int check_unplanned(const char *option, const char *target, const char *resolved, struct pinfold_error *err)
{
	char here[PATH_MAX];
	size_t length;

	if (target[0] == '/' || strstr(target, "..") || !realpath(".", here))
		return 0;
	length = strcmp(here, "/") == 0 ? 0 : strlen(here);
	if (strncmp(resolved, here, length) == 0 && resolved[length] == '/')
		return 0;
	return usage_error(err, "option '%s': a link leads '%.512s' out of the current directory", option, target);
}

int record_open(struct record_file *file, const char *option, const char *target, const struct pinfold_plan *plan,
		struct pinfold_error *err)
{
	char resolved[PATH_MAX];
	struct stat st;
	int fd, r;

	*file = (struct record_file){ .fd = -1 };
	if (!target)
		return 0;
	if (!*target)
		return usage_error(err, "option '%s': the path is empty", option);
	fd = descriptor_of(target);
	if (fd != -1)
		return open_descriptor(file, option, fd, target, err);
	r = resolve(option, target, resolved, sizeof(resolved), err);
	if (r == 0)
		r = plan ? check_place(plan, option, target, resolved, err)
			 : check_unplanned(option, target, resolved, err);
	if (r < 0)
		return r;
	/* Not truncated yet: the last record stays until this one is there. A FIFO must not make us wait. */
	fd = open(resolved, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0 && errno == ELOOP)
		return usage_error(err, "option '%s': '%.512s' is a symbolic link, which is not followed", option,
				   target);
	if (fd < 0)
		return fail(err, option, errno, "open", target);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return usage_error(err, "option '%s': '%.512s' is no regular file", option, target);
	}
	*file = (struct record_file){ .fd = fd, .option = option, .target = target, .is_ours = true };
	return 0;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int record_empty(struct record_file *file, struct pinfold_error *err)
{
	if (file->fd < 0 || !file->is_ours || ftruncate(file->fd, 0) == 0)
		return 0;
	return fail(err, file->option, errno, "write to", file->target);
}

int record_write_text(struct record_file *file, const char *text, struct pinfold_error *err)
{
	struct write_signals before = write_signals_ignore();
	int r = write_all(file->fd, text, strlen(text));

	write_signals_restore(before);
	return r < 0 ? fail(err, file->option, -r, "write to", file->target) : 0;
}

int record_write(struct record_file *file, const struct pinfold_outcome *outcome, struct pinfold_error *err)
{
	char *text;
	int r;

	if (file->fd < 0)
		return 0;
	r = pinfold_outcome_json(outcome, &text, err);
	if (r < 0)
		return r;
	r = record_empty(file, err);
	if (r == 0)
		r = record_write_text(file, text, err);
	free(text);
	return r;
}

void record_close(struct record_file *file)
{
	if (file->is_ours && file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}
