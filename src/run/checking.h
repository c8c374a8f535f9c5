/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the check after the run share: looking up without following a link, and saying what was found. */
#ifndef RUN_CHECKING_H
#define RUN_CHECKING_H

#include "base/gitconfig.h"
#include "run/check.h"

struct checking {
	const struct pinfold_plan *plan;
	struct arena *arena;
	struct check_result *result;
	struct removal removal;
	int error; /* -ENOMEM; sticks */
	size_t root;
	int root_fd, root_error;
	/* the directory of the last look-up: names of one directory follow each other */
	const char *dir;
	size_t dir_length;
	int dir_fd, dir_error;
	size_t link_length; /* with dir_error -ELOOP: of the path that is a link */
};

/* 0 with *ret, or -errno: -ELOOP where a link is on the way. c->dir_fd is the directory that holds the last name. */
int checking_look_up(struct checking *c, size_t root, const char *below, struct stat *ret);
bool checking_is_missing(int r);
/* Forgets the directory of the last look-up: something on the way may have moved. */
void checking_leave(struct checking *c);

/* What the survey knows of a path. */
bool checking_is_watched(const struct checking *c, enum watch_kind kind, const char *path);
bool checking_is_held(const struct checking *c, const char *path); /* by a mount */
int checking_user_rule(const struct checking *c, const char *path); /* about writing exactly there; -1: none */

/* NULL: c->error is set. */
char *checking_path(struct checking *c, const struct survey_watch *watch, const char *below);
bool checking_has_changed(const struct survey_watch *watch, const struct stat *st);

/* ---- what is said; of the watch, only root and below count ---- */

void checking_warn(struct checking *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void checking_is_unknown(struct checking *c, const struct survey_watch *watch, int r);
/* Names a violation; NULL when out of memory (sticks). */
struct check_violation *checking_add(struct checking *c, const struct survey_watch *watch, const char *below,
				     const char *what);
/* The same, and moves it away unless the policy only asks for a report. After a look-up of `below`. */
void checking_remove(struct checking *c, const struct survey_watch *watch, const char *below, const char *what);

/* ---- check_open.c: what no mount has held ---- */

/* What stands at the name is not what it was: takes it away, and puts git's configuration back. After a look-up. */
void check_replaced(struct checking *c, const struct survey_watch *watch);
/* Is the worktree's .git another one? */
void check_git_entry(struct checking *c);
/* What a protected directory holds. True where something in it is the command's. */
bool check_inside(struct checking *c, const struct survey_watch *watch);

/* ---- check_rows.c; r: of the look-up ---- */

void check_names(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st);
void check_report(struct checking *c, const struct survey_watch *watch, int r, const struct stat *st);

/* ---- check_repositories.c, check_judge.c: what git on the host would enter beside the repository of the run ---- */

void check_repositories(struct checking *c);

/* ---- check_tracked.c: protected files that git tracks and could not write ---- */

void check_tracked(struct checking *c);

/* ---- check_tree.c ---- */

/* All that the command could write to, for so long at most. */
void check_tree(struct checking *c, int64_t budget_ms);

/* ---- the shape of a git directory ---- */

unsigned check_bare_part(const char *name); /* enum watch_bare; 0: none */
bool check_is_bare(unsigned parts);

/* ---- check_config.c ---- */

/* The first variable of a repository's configuration that is not known to be harmless, or NULL. */
const struct gitconfig_item *check_config(const struct gitconfig *config);

#endif
