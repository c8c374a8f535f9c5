/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check after the run: what the mounts cannot hold, or what may have been taken from them, is compared with what
 * the survey saw, and what appeared at a name that must be absent is moved out of the worktree.
 */
#ifndef RUN_CHECK_H
#define RUN_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/strv.h"
#include "plan/plan.h"

enum check_action { ACTION_REPORTED, ACTION_MOVED, ACTION_RENAMED, ACTION_LEFT, ACTION_COUNT };

extern const char *const check_action_names[ACTION_COUNT];

struct check_violation {
	const char *path;
	const char *below; /* the worktree's top: for an option; NULL where it is not in it, or where none helps */
	const char *what;  /* "appeared where nothing may be" */
	enum check_action action;
	const char *moved_to;
};

struct check_result {
	bool is_done;     /* else there was nothing to compare: mode off, a worktree that is read-only */
	bool is_tree;     /* the whole tree was looked through as well */
	bool is_complete;
	struct check_violation *violations;
	size_t count, cap;
	struct strv warnings;
	struct strv notices; /* warnings that the command's user is told at once */
};

/* After the last process of the run is gone. 0 or -ENOMEM; what else fails leaves the check incomplete. */
int check_after(const struct pinfold_plan *plan, struct arena *arena, struct check_result *ret);

/* ---- remove.c: out of the worktree ---- */

/* Gives the owner all rights over a directory that the command has closed; true where that changed its mode. */
bool directory_open_up(int fd, mode_t *ret_mode);
/* Of a descriptor that may be an O_PATH one. */
bool directory_set_mode(int fd, mode_t mode);

struct removal {
	const struct pinfold_plan *plan;
	struct arena *arena;
	int fd;           /* the directory of this run's, -1: not made yet */
	const char *path;
	bool has_failed;  /* it cannot be made */
	size_t bytes, entries; /* copied so far */
};

/* Moves `name` of dir_fd away; `below` is its path as it is kept. *ret_path: where it is now. ACTION_LEFT: it could not
 * even be renamed. */
enum check_action removal_take(struct removal *removal, int dir_fd, const char *name, const char *below,
			       const char **ret_path);
void removal_close(struct removal *removal);

#endif
