/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan's mount operations in bubblewrap's words.
 *
 * Only options that bubblewrap 0.4 has are used, so that nothing has to be known of the one that is installed. What it
 * does otherwise than the plan says:
 *
 *   - It resolves its sources by path, in its own mount namespace, and binds them with all that lies below. What came
 *     of that is compared with what the survey saw, inside (bubblewrap_inside.c).
 *   - There is no private tmpfs from which several places are bound: each directory of ours is a tmpfs of its own, put
 *     together where it is first bound over something, and made read-only there.
 *   - An empty file that nobody may open is /dev/null on a mount where devices cannot be opened.
 *   - /dev is made by --dev, with its terminals.
 *   - A missing source or place is an error to it: what is optional in the plan is looked at before.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "linux/enter.h"
#include "linux/sys.h"

struct arguments {
	const struct pinfold_plan *plan;
	int fd, error;
	size_t used;
	char buffer[4096];
};

static void flush(struct arguments *a)
{
	int r = a->used ? fd_write_all(a->fd, a->buffer, a->used) : 0;

	a->used = 0;
	if (r < 0 && !a->error)
		a->error = r;
}

static void put(struct arguments *a, const char *data, size_t size)
{
	if (size > sizeof(a->buffer) - a->used)
		flush(a);
	if (size > sizeof(a->buffer)) {
		a->error = -E2BIG;
		return;
	}
	memcpy(a->buffer + a->used, data, size);
	a->used += size;
}

static void word(struct arguments *a, const char *text)
{
	put(a, text, strlen(text) + 1);
}

/* A path that has the second part as its end. */
static void place(struct arguments *a, const char *path, const char *below)
{
	put(a, path, strlen(path));
	word(a, below);
}

static void lay_bind(struct arguments *a, const char *option, const char *from, const char *to)
{
	word(a, option);
	word(a, from);
	word(a, to);
}

/* ---- contents ---- */

int bubblewrap_file(const void *content, size_t length)
{
	int fd = (int)syscall(SYS_memfd_create, "pinfold", 0), r;

	if (fd < 0)
		return -errno;
	r = length ? fd_write_all(fd, content, length) : 0;
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r < 0)
		fd_close(&fd);
	return r < 0 ? r : fd;
}

static void file(struct arguments *a, const char *option, const struct plan_op *op)
{
	int fd = bubblewrap_file(op->text, op->length);
	char number[16];

	if (fd < 0)
		a->error = a->error ? a->error : fd;
	snprintf(number, sizeof(number), "%d", fd);
	word(a, option);
	word(a, number);
}

/* ---- places of our own ---- */

static const struct plan_op *find_made(const struct pinfold_plan *plan, const char *inside)
{
	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];

		if ((op->kind == OP_DIRECTORY || op->kind == OP_FILE) && strcmp(op->path, inside) == 0)
			return op;
	}
	return NULL;
}

/* --dev makes these, and what they are bound to. */
static bool comes_with_dev(const char *path)
{
	static const char *const nodes[] = { "/null", "/zero", "/full", "/random", "/urandom", "/tty" };

	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		if (strcmp(path, nodes[i]) == 0)
			return true;
	return false;
}

/* All at once, whatever comes between in the plan, since it is made read-only next. */
static void fill(struct arguments *a, const struct plan_op *region, bool is_dev)
{
	for (size_t i = 0; i < a->plan->op_count; i++) {
		const struct plan_op *op = &a->plan->ops[i];
		const size_t length = strlen(region->from);

		if (op->kind != OP_DIRECTORY && op->kind != OP_FILE && (op->kind != OP_LINK || is_dev))
			continue;
		if (strncmp(op->path, region->from, length) != 0 || op->path[length] != '/' ||
		    (is_dev && comes_with_dev(op->path + length)))
			continue;
		if (op->kind == OP_DIRECTORY) {
			word(a, "--dir");
		} else if (op->kind == OP_FILE) {
			file(a, "--file", op);
		} else {
			word(a, "--symlink");
			word(a, op->text);
		}
		place(a, region->path, op->path + length);
	}
}

static void lay_region(struct arguments *a, const struct plan_op *op)
{
	bool is_dev = strcmp(op->path, "/dev") == 0;

	word(a, is_dev ? "--dev" : "--tmpfs");
	word(a, op->path);
	fill(a, op, is_dev);
	if (op->attr_set & ATTR_READONLY) {
		word(a, "--remount-ro");
		word(a, op->path);
	}
}

static void lay_own(struct arguments *a, const struct plan_op *op)
{
	const struct plan_op *made = find_made(a->plan, op->from);

	if (!made) {
		a->error = a->error ? a->error : -EINVAL;
	} else if (made->kind == OP_DIRECTORY) {
		lay_region(a, op);
	} else if (made->mode == 0) {
		lay_bind(a, "--ro-bind", "/dev/null", op->path);
	} else {
		file(a, "--ro-bind-data", made);
		word(a, op->path);
	}
}

/* ---- what is the host's ---- */

static bool is_there(const char *path)
{
	FD_CLEANUP int fd = sys_open_place(AT_FDCWD, path, O_PATH | O_NOFOLLOW);

	return fd >= 0;
}

/* A place below one of our own directories is made in it. */
static bool is_in_region(const struct pinfold_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (op->kind == OP_BIND && op->from && op->path != path && path_is_below(path, op->path))
			return true;
	}
	return false;
}

/* bubblewrap asks what a source is, and gives up where that cannot be said, as of a mount whose server has died. */
static bool can_be_bound(const char *path)
{
	struct sys_statx seen;

	return is_there(path) &&
	       sys_statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | SYS_AT_STATX_DONT_SYNC, &seen) == 0;
}

static bool is_left_out(const struct arguments *a, const struct plan_op *op)
{
	const struct plan_source *source = op->source >= 0 ? &a->plan->sources[op->source] : NULL;

	if (source && source->is_optional && !can_be_bound(source->path))
		return true;
	if (path_is_below(op->path, "/dev") && comes_with_dev(op->path + strlen("/dev")))
		return true;
	return op->is_optional && !is_in_region(a->plan, op->path) && !is_there(op->path);
}

static void lay_source(struct arguments *a, const struct plan_op *op)
{
	const struct plan_source *source = &a->plan->sources[op->source];
	static const char *const options[][2] = {
		{ "--bind", "--bind-try" }, { "--ro-bind", "--ro-bind-try" }, { "--dev-bind", "--dev-bind-try" } };
	const int kind = !(source->attr_set & ATTR_NODEV) ? 2 : (source->attr_set & ATTR_READONLY) ? 1 : 0;

	lay_bind(a, options[kind][source->is_optional], source->path, op->path);
}

static void lay(struct arguments *a, const struct plan_op *op)
{
	switch (op->kind) {
	case OP_READONLY:
		lay_bind(a, "--ro-bind", op->path, op->path);
		break;
	case OP_BIND:
		if (is_left_out(a, op))
			break;
		if (op->source >= 0)
			lay_source(a, op);
		else
			lay_own(a, op);
		break;
	case OP_PROC:
		word(a, "--proc");
		word(a, op->path);
		break;
	case OP_MQUEUE:
		word(a, "--mqueue");
		word(a, op->path);
		break;
	case OP_RESTRICT: /* of /proc, whose settings are no process's: the host's shows the same */
		lay_bind(a, "--ro-bind-try", op->path, op->path);
		break;
	default: /* what is made in the private tmpfs: where it is bound. /dev/pts: with /dev */
		break;
	}
}

int bubblewrap_arguments(int fd, const struct pinfold_plan *plan)
{
	static const char *const always[] = {
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--as-pid-1", "--cap-drop", "ALL", "--chdir", "/",
	};
	struct arguments a = { .plan = plan, .fd = fd };

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		word(&a, always[i]);
	if (plan->offline)
		word(&a, "--unshare-net");
	for (size_t i = 0; i < plan->op_count; i++)
		lay(&a, &plan->ops[i]);
	flush(&a);
	return a.error;
}
