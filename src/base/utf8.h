/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Strict UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. */
bool utf8_is_valid(const char *s, size_t len);
/* The length of the character at s where it may be shown to people as it is; 0 where its first byte must be escaped: a
 * byte that is not UTF-8, a control character (C0, DEL, C1), a line separator, a mark that changes the direction. */
size_t utf8_printable_len(const char *s, size_t len);
/* Standard base64 with padding. */
void base64_add(struct buf *buf, const void *data, size_t len);

#endif
