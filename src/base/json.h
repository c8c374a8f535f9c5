/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small helpers over jansson. A string that is not UTF-8 becomes {"bytes": "<base64>"}, and json_text_of reads both
 * forms back.
 *
 * Values are read and written here and nowhere else: where memory runs out jansson leaves bytes out without a word, the
 * reader's of a long string and the writer's of a key.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>

#include "base/arena.h"
#include "base/buf.h"

json_t *json_bytes(const char *s);                              /* s == NULL gives null */
int json_put(json_t *object, const char *key, json_t *value);   /* steals value, also on failure; 0 or -ENOMEM */
int json_put_bytes(json_t *object, const char *key, const char *s);
int json_append_bytes(json_t *array, const char *s);
/* 0, -ENOMEM, or -EINVAL with what is wrong in *where. */
int json_read(const char *text, size_t len, size_t flags, json_t **ret, json_error_t *where);
/* value where r is 0, else NULL, and it is dropped. */
json_t *json_done(json_t *value, int r);
/* Steals value; NULL, which a shortage before has left, is -ENOMEM. A failure sticks in out as well. */
int json_write(json_t *value, size_t flags, struct buf *out);
/* NULL when it is neither a string nor {"bytes": …}, or holds a NUL. */
const char *json_text_of(struct arena *arena, const json_t *value);

#endif
