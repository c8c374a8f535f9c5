/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out the plan's mount operations.
 *
 * The threat: paths below the worktree belong to whoever wrote there last, an earlier command included, and a parallel
 * one may change them while we work (E008, E009). So a source is opened once, compared with the device and inode that
 * the survey saw, and used by its descriptor from then on; a place is opened without following any link. What lies in
 * the private tmpfs is made through a descriptor of it, before anybody else can see it.
 *
 * Stages: sources are cloned while the tree is still the host's, so that writable ones keep their right to be written;
 * then OP_READONLY, which nothing undoes (the mounts are locked, and no capability will remain); then the rest in the
 * plan's order. No mount is ever taken off: an unmount waits for the kernel's grace period.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/enter.h"
#include "linux/sys.h"

enum {
	ATTACH_TRIES = 11, /* a tenth of a second */
	AT_BIRTH = 01777,  /* what mkdir gives of a mode, where no umask takes from it */
};

static bool is_gone(int error)
{
	return error == ENOENT || error == EACCES || error == ENOTDIR || error == ELOOP || error == ESTALE ||
	       error == EIO || error == ENXIO || error == EHOSTDOWN || error == ENOTCONN;
}

/* Not the file is refused, but the call: by a filter, a security module, an older kernel. */
const char *clone_step(int error)
{
	return error == EPERM || error == ENOSYS ? "copy the mount of" : "open";
}

static int set_attr(int fd, unsigned attr, bool is_recursive)
{
	struct sys_mount_attr mount_attr = { .attr_set = attr };

	if (!attr)
		return 0;
	return sys_mount_setattr(fd, "", SYS_AT_EMPTY_PATH | (is_recursive ? SYS_AT_RECURSIVE : 0), &mount_attr) < 0
		       ? -errno
		       : 0;
}

static int check_identity(int fd, const struct plan_source *source, struct pinfold_error *err)
{
	struct stat st;

	if (!source->ino)
		return 0;
	if (fstat(fd, &st) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "look at", source->path);
	if (st.st_dev == source->dev && st.st_ino == source->ino)
		return 0;
	err_say(err, PINFOLD_REFUSED, ESTALE, "'%s' was replaced while the run was being set up", source->path);
	return -ESTALE;
}

/* A layer of the overlay, which makes a private copy of it itself. */
static int open_lower(struct enter *enter, size_t i, struct pinfold_error *err)
{
	const struct plan_source *source = &enter->plan->sources[i];

	enter->lowers[i] = openat(AT_FDCWD, source->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (enter->lowers[i] < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "open", source->path);
	return check_identity(enter->lowers[i], source, err);
}

int clone_source(const struct plan_source *source)
{
	unsigned flags = SYS_OPEN_TREE_CLONE | (source->is_recursive ? SYS_AT_RECURSIVE : 0);

	return source->is_place ? sys_open_tree_at_place(source->path, flags) :
				  sys_open_tree(AT_FDCWD, source->path, flags | AT_SYMLINK_NOFOLLOW);
}

/* 1: left out. */
static int open_source(struct enter *enter, size_t i, struct pinfold_error *err)
{
	const struct plan_source *source = &enter->plan->sources[i];
	int *fd = &enter->clones[i], r;

	if (*fd >= 0) /* id-mapped by the supervisor, and compared there */
		return 0;
	if (source->is_lower)
		return open_lower(enter, i, err);
	*fd = clone_source(source);
	if (*fd < 0) {
		if (source->is_optional && is_gone(errno))
			return 1;
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, clone_step(errno), source->path);
	}
	r = check_identity(*fd, source, err);
	if (r < 0)
		return r;
	r = set_attr(*fd, source->attr_set, source->is_recursive);
	if (r < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, -r, "restrict the mount of", source->path);
	return 0;
}

/* What refuses mounts to everybody (a filter around us, AppArmor) answers so; what lies at a place does not. Only
 * EACCES can be either: then the root, which everybody may look at, tells. */
bool mounts_is_closed(int error)
{
	FD_CLEANUP int root = error == EACCES ? sys_open_tree(AT_FDCWD, "/", SYS_OPEN_TREE_CLONE) : -1;

	return error == EPERM || error == ENOSYS || (error == EACCES && root < 0);
}

int mounts_open_sources(struct enter *enter, int *ret_fact, struct pinfold_error *err)
{
	for (size_t i = 0; i < enter->plan->source_count; i++) {
		int r = open_source(enter, i, err);

		if (r < 0 && mounts_is_closed(-r))
			*ret_fact = FACT_MOUNTS;
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- one operation each: 0 or -errno ---- */

typedef int op_function(struct enter *enter, const struct plan_op *op);

static int op_readonly(struct enter *enter, const struct plan_op *op)
{
	struct sys_mount_attr attr = { .attr_set = op->attr_set, .propagation = SYS_MS_PRIVATE };

	(void)enter;
	return sys_mount_setattr(AT_FDCWD, "/", SYS_AT_RECURSIVE, &attr) < 0 ? -errno : 0;
}

static int op_tmpfs(struct enter *enter, const struct plan_op *op)
{
	FD_CLEANUP int fs = (int)syscall(NR_FSOPEN, "tmpfs", 1 /* FSOPEN_CLOEXEC */);

	if (fs < 0)
		return -errno;
	if (syscall(NR_FSCONFIG, fs, SYS_FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
	    (op->text && syscall(NR_FSCONFIG, fs, SYS_FSCONFIG_SET_STRING, "size", op->text, 0) < 0) ||
	    syscall(NR_FSCONFIG, fs, SYS_FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	enter->private_fd = (int)syscall(NR_FSMOUNT, fs, 1 /* FSMOUNT_CLOEXEC */, op->attr_set);
	if (enter->private_fd < 0)
		return -errno;
	return sys_move_mount(enter->private_fd, AT_FDCWD, op->path) < 0 ? -errno : 0;
}

static int op_directory(struct enter *enter, const struct plan_op *op)
{
	if (mkdirat(enter->private_fd, op->path, op->mode & AT_BIRTH) < 0)
		return -errno;
	return op->mode & ~AT_BIRTH && fchmodat(enter->private_fd, op->path, op->mode, 0) < 0 ? -errno : 0;
}

static int op_file(struct enter *enter, const struct plan_op *op)
{
	FD_CLEANUP int fd = -1;

	if (!op->length) /* a place to mount over */
		return mknodat(enter->private_fd, op->path, S_IFREG | (op->mode & 0777), 0) < 0 ? -errno : 0;
	fd = openat(enter->private_fd, op->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, op->mode & 0777);
	return fd < 0 ? -errno : fd_write_all(fd, op->text, op->length);
}

static int op_link(struct enter *enter, const struct plan_op *op)
{
	return symlinkat(op->text, enter->private_fd, op->path) < 0 ? -errno : 0;
}

/* A character device 0/0 is what overlayfs takes as "not there", and what any user namespace may make (Linux 5.8). All
 * whiteouts are one inode with many names: cheaper to make and to take down. */
static int op_whiteout(struct enter *enter, const struct plan_op *op)
{
	if (op->from)
		return linkat(enter->private_fd, op->from, enter->private_fd, op->path, 0) < 0 ? -errno : 0;
	return mknodat(enter->private_fd, op->path, S_IFCHR, makedev(0, 0)) < 0 ? -errno : 0;
}

bool mounts_wait(int *tried, int tries)
{
	const struct timespec pause = { .tv_nsec = 50000L << *tried };

	if (*tried >= tries)
		return false;
	nanosleep(&pause, NULL);
	++*tried;
	return true;
}

/* What is bound has been compared; what it is bound over need not be the same thing, but no link may lead there. A link
 * itself can be bound over: that keeps it from being turned round. */
static int attach_once(const struct enter *enter, int fd, const struct plan_op *op)
{
	FD_CLEANUP int place =
		sys_open_place(op->is_private ? enter->private_fd : AT_FDCWD, op->path, O_PATH | O_NOFOLLOW);

	if (place < 0)
		return -errno;
	return sys_move_mount(fd, place, "") < 0 ? -errno : 0;
}

/* The host's git may write its configuration in this very moment. Where nothing may be there, it is not waited for. */
static int attach(const struct enter *enter, int fd, const struct plan_op *op)
{
	int r = attach_once(enter, fd, op);

	for (int tried = 0; r == -ENOENT && !op->is_optional && mounts_wait(&tried, ATTACH_TRIES);)
		r = attach_once(enter, fd, op);
	return r;
}

static int op_bind(struct enter *enter, const struct plan_op *op)
{
	FD_CLEANUP int copy = -1;
	int fd, r;

	if (op->source >= 0) {
		fd = enter->clones[op->source];
		if (fd < 0) /* an optional source that was not there */
			return 0;
		return attach(enter, fd, op);
	}
	copy = sys_open_tree(enter->private_fd, op->from, SYS_OPEN_TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	if (copy < 0)
		return -errno;
	r = set_attr(copy, op->attr_set, false);
	return r < 0 ? r : attach(enter, copy, op);
}

/* The layers are named by descriptor, so that no byte of a path needs quoting and none is looked up again. */
static int op_overlay(struct enter *enter, const struct plan_op *op)
{
	FD_CLEANUP int upper = openat(enter->private_fd, op->from, O_PATH | O_DIRECTORY | O_CLOEXEC);
	FD_CLEANUP int mapped = -1;
	int lower = enter->lowers[op->source];

	if (upper < 0)
		return -errno;
	if (lower < 0) {
		/* id-mapped: a detached mount is no layer (before Linux 6.15), so it was bound into the private tmpfs
		 */
		mapped = openat(enter->private_fd, op->text, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (mapped < 0)
			return -errno;
		lower = mapped;
	}
	snprintf(enter->lower_option, sizeof(enter->lower_option), "lowerdir=/proc/self/fd/%d:/proc/self/fd/%d", upper,
		 lower);
	if (mount("overlay", op->path, "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, enter->lower_option) < 0)
		return -errno;
	return 0;
}

static int op_proc(struct enter *enter, const struct plan_op *op)
{
	(void)enter;
	return mount("proc", op->path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 ? -errno : 0;
}

static int op_devpts(struct enter *enter, const struct plan_op *op)
{
	(void)enter;
	return mount("devpts", op->path, "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620") < 0
		       ? -errno
		       : 0;
}

static int op_sysfs(struct enter *enter, const struct plan_op *op)
{
	(void)enter;
	return mount("sysfs", op->path, "sysfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 ? -errno : 0;
}

static int op_mqueue(struct enter *enter, const struct plan_op *op)
{
	(void)enter;
	return mount("mqueue", op->path, "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 ? -errno : 0;
}

static int op_restrict(struct enter *enter, const struct plan_op *op)
{
	FD_CLEANUP int copy = sys_open_tree(AT_FDCWD, op->path, SYS_OPEN_TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	int r;

	if (copy < 0)
		return -errno;
	r = set_attr(copy, op->attr_set, false);
	return r < 0 ? r : attach(enter, copy, op);
}

/* Which host fact a failure disproves: the plan is then made once more without it. */
static const struct {
	op_function *carry_out;
	int fact;
} operations[] = {
	[OP_READONLY] = { op_readonly, FACT_MOUNTS },
	[OP_TMPFS] = { op_tmpfs, FACT_MOUNTS },
	[OP_DIRECTORY] = { op_directory, -1 },
	[OP_FILE] = { op_file, -1 },
	[OP_LINK] = { op_link, -1 },
	[OP_WHITEOUT] = { op_whiteout, FACT_OVERLAY },
	[OP_BIND] = { op_bind, -1 },
	[OP_OVERLAY] = { op_overlay, FACT_OVERLAY },
	[OP_PROC] = { op_proc, FACT_FRESH_PROC },
	[OP_DEVPTS] = { op_devpts, -1 },
	[OP_SYSFS] = { op_sysfs, -1 },
	[OP_MQUEUE] = { op_mqueue, -1 },
	[OP_RESTRICT] = { op_restrict, -1 },
};
_Static_assert(sizeof(operations) / sizeof(operations[0]) == OP_KIND_COUNT, "an operation is missing");

static int carry_out_all(struct enter *enter, int *ret_fact, struct pinfold_error *err)
{
	const struct pinfold_plan *plan = enter->plan;

	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];
		int r = operations[op->kind].carry_out(enter, op);

		if (r == 0 || (op->is_optional && (is_gone(-r) || op->kind == OP_SYSFS || op->kind == OP_MQUEUE)))
			continue;
		*ret_fact = operations[op->kind].fact;
		if (*ret_fact < 0 && mounts_is_closed(-r))
			*ret_fact = FACT_MOUNTS;
		return err_sys(err, PINFOLD_UNAVAILABLE, -r, mount_op_names[op->kind], op->path);
	}
	return 0;
}

/* The caller's umask is the command's. What the plan makes has the modes that it says, from birth on. */
int mounts_carry_out(struct enter *enter, int *ret_fact, struct pinfold_error *err)
{
	const mode_t callers = umask(0);
	int r = carry_out_all(enter, ret_fact, err);

	umask(callers);
	return r;
}
