/* SPDX-License-Identifier: Apache-2.0 */
/* Small helpers over jansson for what pinfold writes. A string that is not UTF-8 becomes {"bytes": "<base64>"}, and
 * json_text_of reads both forms back. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>

#include "base/arena.h"

json_t *json_bytes(const char *s);                              /* s == NULL gives null */
int json_put(json_t *object, const char *key, json_t *value);   /* steals value, also on failure; 0 or -ENOMEM */
int json_put_bytes(json_t *object, const char *key, const char *s);
int json_append_bytes(json_t *array, const char *s);
/* NULL when it is neither a string nor {"bytes": …}, or holds a NUL. */
const char *json_text_of(struct arena *arena, const json_t *value);

#endif
