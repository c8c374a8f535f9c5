/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts share that read git's files. All reads are bounded, follow no final link, and block on nothing. */
#ifndef SURVEY_GIT_H
#define SURVEY_GIT_H

#include "base/gitconfig.h"
#include "survey/take.h"

/* ---- git_files.c ---- */

/* Is there something of this type (S_IFREG …), itself and no link to it? */
bool git_has(struct taking *take, const char *directory, const char *name, mode_t type);
/* HEAD, objects and refs of its own, and no commondir. */
bool git_is_repository(struct taking *take, const char *directory);
/* A file that holds `prefix` and a path, which is resolved against base: 0, -ENOENT where nothing is there, -EINVAL for
 * another content, or another -errno; without a message. */
int git_read_pointer(struct taking *take, const char *file, const char *prefix, const char *base, char **ret);
/* The worktree that the configuration of a git directory names (core.worktree), resolved; *ret NULL: none that exists.
 * 0 or -ENOMEM. */
int git_read_worktree(struct taking *take, const char *directory, char **ret);
/* A file of git's configuration: 0, or a negative errno, without a message; ret is zeroed by the caller. */
int git_read_config(struct taking *take, const char *file, struct gitconfig *ret);

/* ---- git_trust.c ---- */

/* Does what survey.git names belong to the worktree at top? *ret_why: why not, or NULL. *ret_whole: the common
 * directory holds git's own alone, and may be writable as a whole. 0 or -ENOMEM (reported). */
int git_check(struct taking *take, const char *top, bool *ret_whole, const char **ret_why);

/* ---- protect_git.c ---- */

int protect_git(struct taking *take);

/* ---- protect_named.c ---- */

/* What the configurations of a git directory and of the user name in the checkout at top (hooks, files that are
 * included, programs) is protected as well. */
int protect_named(struct taking *take, const char *directory, const char *top);
/* The same for the worktree's own repository. */
int protect_named_by_git(struct taking *take);

#endif
