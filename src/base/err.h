/* SPDX-License-Identifier: Apache-2.0 */
/* Filling the public error record. Nothing here allocates: all of it may be called between fork and exec. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "pinfold.h"

/* All of these accept err == NULL and return the negative errno to return: -errnum, or -EINVAL where errnum is 0. */

/* A system call or a step failed: "cannot OPERATION 'OBJECT': strerror". object may be NULL. */
int err_sys(struct pinfold_error *err, enum pinfold_code code, int errnum, const char *operation, const char *object);

/* A message of our own, printf-style; operation and object stay empty. */
int err_say(struct pinfold_error *err, enum pinfold_code code, int errnum, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Out of memory: PINFOLD_INTERNAL, ENOMEM. */
int err_oom(struct pinfold_error *err);

/* Adds the place in a configuration file, or the key; NULL or 0 leaves that part as it is. Keeps the return value of
 * the error: `return err_at(err, r, file, line, key)`. */
int err_at(struct pinfold_error *err, int ret, const char *file, int line, const char *key);

/* Adds the one hint, printf-style; an error that has one keeps it. */
void err_hint(struct pinfold_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
