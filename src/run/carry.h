/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git's configuration after the run.
 *
 * The command had a copy (survey/configs.c). What a branch tracks is worth keeping; nearly everything else in such a
 * file can make git run a program, talk to another machine or read another file (E030). So it is the other way round
 * than a filter: a few keys with a few values are carried over to the host's file, and every other difference is named
 * and dropped.
 *
 *   branch.NAME.remote, .pushRemote   a remote that the host's file names itself, or "."
 *   branch.NAME.merge                 a branch
 *   branch.NAME.rebase                a word that git knows
 *
 * and their removal. They arrive together for a branch or not at all, only where the host's file has not changed them
 * meanwhile, and in git's own way: with its lock, as a whole new file. Where lines are only added at the end they are
 * appended, under the same lock: a new file would take the cover off the old one in every other pen of this repository
 * (E011).
 */
#ifndef RUN_CARRY_H
#define RUN_CARRY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/strv.h"
#include "plan/plan.h"

struct carry_texts {
	struct buf before, after, present;
};

struct carry_names {
	struct strv kept, dropped; /* of variables, fit for a message */
};

/* What becomes of `present` when the difference between before and after is carried over to it. 1 with *ret filled, 0:
 * it stays as it is, -EINVAL: after is nothing that git reads, or present would not become what was meant; -ENOMEM.
 * Nothing is looked at but the texts. */
int carry_text(struct arena *arena, const struct carry_texts *texts, struct buf *ret, struct carry_names *names);

/* ---- between the pen and its caller ---- */

struct carry_handover {
	int in, out; /* the socket's two ends; -1 where the plan has no copies */
};

/* Before a run, and again before each second try. 0 or -errno. */
int carry_open(const struct pinfold_plan *plan, struct carry_handover *ret);
void carry_close(struct carry_handover *handover);

/* When the pen is gone: carries over, and gives the one line that says what was not kept (in the arena), or NULL.
 * 0 or -ENOMEM. */
int carry_over(const struct pinfold_plan *plan, const struct carry_handover *handover, struct arena *arena,
	       const char **ret_said);

/* Where the command could write to the file itself (no mounts): puts back what it said before, but for what may be
 * carried over. What is at its name must have been taken away before. 0 or -errno. */
int carry_restore(const struct survey_config *config, const struct buf *left, struct arena *arena);

/* Is what the host's file at path (one of the survey's) says now nothing but what may be carried over? Then another run
 * has done that. */
bool carry_is_all(const struct survey *survey, const char *path);

#endif
