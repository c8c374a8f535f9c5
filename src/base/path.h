/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text. Nothing here touches the file system but path_resolve. Comparisons go by whole components, never by
 * string prefix (E020: /srv/app does not hold /srv/app-evil). */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* Absolute, no empty, "." or ".." component, no trailing slash ("/" itself is fine). */
bool path_is_normal(const char *path);
/* Lexically: absolute (against base, which must be normal, when relative), doubled slashes, "." and trailing slashes
 * removed. ".." is taken lexically as well, so use it only on paths that hold no links, or on their unresolved spelling
 * as the user wrote it. NULL when out of memory or when base is needed and NULL. */
char *path_normal(struct arena *arena, const char *base, const char *path);
char *path_join(struct arena *arena, const char *dir, const char *name); /* no doubled slash for dir "/" */
/* path is dir or lies below it. Both normal. */
bool path_is_in(const char *path, const char *dir);
/* The same where the lengths are known. */
bool path_is_in_n(const char *path, size_t length, const char *dir, size_t dir_length);
/* path lies strictly below dir. */
bool path_is_below(const char *path, const char *dir);
/* The part of path below dir: "a/b" for /x/a/b in /x; "" for dir itself; NULL if it is not in dir. */
const char *path_below(const char *path, const char *dir);
char *path_parent(struct arena *arena, const char *path); /* "/" for "/" and "/x" */
const char *path_name(const char *path);                   /* last component; "/" for "/" */
size_t path_depth(const char *path);                       /* number of components; 0 for "/" */
/* The canonical spelling: the deepest ancestor that exists is resolved by realpath, what is missing below it is added
 * lexically (a ".." in the missing part is -ENOENT). 0 or -errno; *ret_missing (may be NULL) says whether anything was
 * missing. Relative paths are resolved against the working directory. */
int path_resolve(struct arena *arena, const char *path, char **ret, bool *ret_missing);
/* The same for what lies `below` a directory whose spelling is canonical already: asks only about the rest. */
int path_resolve_below(struct arena *arena, const char *dir, const char *below, char **ret);
/* Orders normal paths so that a directory comes directly before all that lies in it: bytewise, '/' below every other
 * byte. */
int path_compare(const char *a, const char *b);
/* The same where the lengths are known. */
int path_compare_n(const char *a, size_t a_length, const char *b, size_t b_length);

#endif
