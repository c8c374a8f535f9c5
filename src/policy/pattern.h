/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns, as in gitignore: `*` and `?` within a component, `**` over components, `[a-z]`, `\` escapes. A pattern with
 * a slash before its end is anchored at the worktree's top; without one it matches at any depth. A trailing slash
 * matches directories only. `~/` and `/` at the start anchor at the home and at the root. No negation (`!`).
 */
#ifndef POLICY_PATTERN_H
#define POLICY_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "pinfold.h"

struct pattern {
	const char *text;    /* as written */
	const char *base;    /* absolute directory it is anchored at */
	const char *rest;    /* below base, without leading or trailing slash; may be "" (the base itself) */
	bool is_literal;     /* no wildcard: rest, unescaped, is a path (in `literal`) */
	bool any_depth;      /* no slash: matches a name at any depth below base */
	bool directory_only;
	const char *literal; /* base/rest unescaped where is_literal, else NULL */
};

/* home may be NULL (then ~/ is an error). -EINVAL with a message for: empty, negation, a bad bracket, a trailing
 * backslash, a ".." component, too long. */
int pattern_parse(struct arena *arena, const char *text, const char *worktree, const char *home, struct pattern *ret,
		  struct pinfold_error *err);
/* Does the absolute normal path match? A path below a matching directory does not match by itself. */
bool pattern_matches(const struct pattern *pattern, const char *path, bool is_directory);
/* Could something below directory `path` match? For walks. */
bool pattern_may_match_below(const struct pattern *pattern, const char *path);
/* Matches one name against one glob component; linear in time for one `*` chain (no exponential backtracking). */
bool pattern_glob(const char *glob, const char *name);

#endif
