/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of the set-up inside a pen that bubblewrap has made.
 *
 * It worked by path, while others may have changed what lies there (E008, E009), and nothing says that it did what it
 * was told. So every mount of the host's is looked at here, before any code of the command's runs: it must be what the
 * survey saw, and read-only where the plan says so.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "linux/enter.h"
#include "linux/sys.h"

/* Something is laid over the whole place later. */
static bool is_covered(const struct pinfold_plan *plan, size_t i)
{
	for (size_t later = i + 1; later < plan->op_count; later++)
		if (plan->ops[later].kind == OP_BIND && path_is_in(plan->ops[i].path, plan->ops[later].path))
			return true;
	return false;
}

static int look(const struct plan_op *op, const struct plan_source *source, struct pinfold_error *err)
{
	FD_CLEANUP int fd = sys_open_place(AT_FDCWD, op->path, O_PATH | O_NOFOLLOW);
	struct stat st;
	struct statvfs fs;

	if (fd < 0 && (op->is_optional || source->is_optional))
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, PINFOLD_REFUSED, errno, "look at", op->path);
	if (source->ino && (st.st_dev != source->dev || st.st_ino != source->ino)) {
		err_say(err, PINFOLD_REFUSED, ESTALE, "'%s' was replaced while the run was being set up", op->path);
		return -ESTALE;
	}
	/* what is not compared may be a mount whose server does not answer (F193) */
	if (!(source->attr_set & ATTR_READONLY) || !source->ino)
		return 0;
	if (fstatvfs(fd, &fs) < 0)
		return err_sys(err, PINFOLD_REFUSED, errno, "look at", op->path);
	if (fs.f_flag & ST_RDONLY)
		return 0;
	err_say(err, PINFOLD_REFUSED, EPERM, "bubblewrap has left '%s' writable", op->path);
	return -EPERM;
}

static int look_at_all(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	struct statvfs fs;
	int r = 0;

	if (getpid() != 1 || statvfs("/", &fs) < 0 || !(fs.f_flag & ST_RDONLY)) {
		err_say(err, PINFOLD_REFUSED, EPERM, "bubblewrap has not made the pen that was asked for");
		return -EPERM;
	}
	for (size_t i = 0; i < plan->op_count && r == 0; i++)
		if (plan->ops[i].kind == OP_BIND && plan->ops[i].source >= 0 && !is_covered(plan, i))
			r = look(&plan->ops[i], &plan->sources[plan->ops[i].source], err);
	return r;
}

/* bubblewrap before 0.5 gives every directory it makes the same mode; those that can be written are ours to change. */
static int set_modes(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *bound = &plan->ops[i];

		if (bound->kind != OP_BIND || !bound->from || (bound->attr_set & ATTR_READONLY) || is_covered(plan, i))
			continue;
		for (size_t k = 0; k < plan->op_count; k++)
			if (plan->ops[k].kind == OP_DIRECTORY && strcmp(plan->ops[k].path, bound->from) == 0 &&
			    chmod(bound->path, plan->ops[k].mode) < 0 && !bound->is_optional)
				return err_sys(err, PINFOLD_UNAVAILABLE, errno, "set the mode of", bound->path);
	}
	return 0;
}

int bubblewrap_finish(struct enter *enter, int *fact, struct pinfold_error *err)
{
	int r = look_at_all(enter->plan, err);

	if (r == 0)
		r = set_modes(enter->plan, err);
	if (r < 0) {
		*fact = FACT_BWRAP;
		return r;
	}
	r = enter_directory(enter->plan, err);
	if (r == 0)
		r = stdio_reopen(enter, err);
	if (r == 0)
		r = stdio_reopen_passed(enter->plan, err);
	return r < 0 ? r : enter_harden(enter, fact, err);
}
