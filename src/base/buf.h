/* SPDX-License-Identifier: Apache-2.0 */
/* A growable text with a maximum. The first failure sticks (buf->error is a negative errno: -ENOMEM, -E2BIG) and makes
 * every later call do nothing, so that writers check once at the end. data is always NUL-terminated once something was
 * added; it may be NULL before. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf {
	char *data;
	size_t len, cap, max;
	int error;
};

#define BUF_INIT(maximum) ((struct buf){ .max = (maximum) })

void buf_add(struct buf *buf, const void *data, size_t len);
void buf_str(struct buf *buf, const char *s);
void buf_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reads all of fd until its end; -errno on failure, -E2BIG when it is longer than the maximum. */
int buf_read_fd(struct buf *buf, int fd);
/* Hands the text over ("" if nothing was added), or NULL with *ret_error set where an error stuck; buf is empty after.
 */
char *buf_take(struct buf *buf, int *ret_error);
void buf_free(struct buf *buf);

/* s in single quotes for a shell: it's → 'it'\''s'; plain words stay as they are. */
void buf_shell(struct buf *buf, const char *s);
/* s for people: control characters, DEL, and bytes that are not UTF-8 as \xHH, so that no name can forge a line. */
void buf_printable(struct buf *buf, const char *s);

#define BUF_CLEANUP __attribute__((cleanup(buf_free)))

#endif
