/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SURVEY_WORKTREE_H
#define SURVEY_WORKTREE_H

#include <stdbool.h>

#include "base/arena.h"
#include "pinfold.h"

/* The worktree for `cwd` (canonical): `given` (NULL: none) resolved, else the directory at or above cwd that holds
 * `.git`, unless that one would be refused (then cwd). Reads no file. */
int worktree_find(struct arena *arena, const char *cwd, const char *given, const char *home, char **ret,
		  struct pinfold_error *err);

/* Why `path` is no fit worktree (`/`, `/tmp`, a home, a system directory, one that holds any of them or pinfold's own
 * binary or configuration), in words, or NULL where it is fit. Without enough memory in the arena it is not fit. */
const char *worktree_refusal(struct arena *arena, const char *path, const char *home, const char *account_home);

#endif
