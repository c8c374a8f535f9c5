/* SPDX-License-Identifier: Apache-2.0 */
/* What the texts of a git directory mean, read as git reads them. Git itself is never run on them: its configuration
 * may be the command's work. */
#ifndef BASE_GITTEXT_H
#define BASE_GITTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/strv.h"

/* The content of a HEAD that git takes for one: "ref: refs/…", or an object's id (gitrepository-layout(5)). */
bool gittext_is_head(const char *text, size_t length);
/* The target of a HEAD that is a symbolic link, as old versions of git made it. */
bool gittext_is_ref(const char *name, size_t length);
/* Adds the lines of a todo list of git-rebase(1) that run a command: `exec` and `x`. 0 or -ENOMEM. */
int gittext_commands(struct arena *arena, const char *text, size_t length, struct strv *ret);
/* Adds what git would run because of a file of a rebase or of a series of cherry-picks: the commands of a todo list, or
 * a merge strategy that is none of git's own (`strategy`, and the `opts` of a series), which names a program, maybe one
 * in the worktree. name: the file's, without directories. 0 or -ENOMEM. */
int gittext_programs(struct arena *arena, const char *name, const char *text, size_t length, struct strv *ret);

#endif
