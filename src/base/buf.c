/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

enum {
	GROW_LEAST = 256,
	READ_CHUNK = 4000, /* most files are smaller; the room for a second one then fits in two pages */
};

/* Room for `more` bytes and the NUL after them. False, with the error stuck, where there is none. */
static bool reserve(struct buf *buf, size_t more)
{
	size_t need, cap;
	char *data;

	if (buf->error)
		return false;
	if (buf->max > SIZE_MAX / 2 || more > buf->max - buf->len) {
		buf->error = -E2BIG;
		return false;
	}
	need = buf->len + more + 1;
	if (need <= buf->cap)
		return true;
	cap = buf->cap * 2 > GROW_LEAST ? buf->cap * 2 : GROW_LEAST;
	if (cap > buf->max + 1)
		cap = buf->max + 1;
	if (cap < need)
		cap = need;
	data = realloc(buf->data, cap);
	if (!data) {
		buf->error = -ENOMEM;
		return false;
	}
	buf->data = data;
	buf->cap = cap;
	return true;
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
	if (!reserve(buf, len))
		return;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_str(struct buf *buf, const char *s)
{
	buf_add(buf, s, strlen(s));
}

void buf_char(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0) {
		if (!buf->error)
			buf->error = -EINVAL;
		return;
	}
	if (!reserve(buf, (size_t)len))
		return;
	va_start(args, format);
	vsnprintf(buf->data + buf->len, (size_t)len + 1, format, args);
	va_end(args);
	buf->len += (size_t)len;
}

static ssize_t read_retry(int fd, void *data, size_t len)
{
	ssize_t n;

	do
		n = read(fd, data, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int buf_read_fd(struct buf *buf, int fd)
{
	char spare;

	while (!buf->error) {
		size_t room = buf->max - buf->len, left = buf->cap - buf->len;
		ssize_t n;

		/* What is left of the last chunk is enough to see the end in. */
		if (room > READ_CHUNK)
			room = left > 1 && left <= READ_CHUNK ? left - 1 : READ_CHUNK;
		if (!reserve(buf, room))
			break;
		/* At the maximum one byte more tells a text that just fits from one that is longer. */
		n = room ? read_retry(fd, buf->data + buf->len, room) : read_retry(fd, &spare, 1);
		if (n < 0 || (n > 0 && !room)) {
			buf->error = n < 0 ? (int)n : -E2BIG;
		} else {
			buf->len += (size_t)n;
			if (n == 0)
				break;
		}
	}
	if (buf->data)
		buf->data[buf->len] = '\0';
	return buf->error;
}

char *buf_take(struct buf *buf, int *ret_error)
{
	char *data;

	if (!buf->error && !buf->data)
		reserve(buf, 0);
	if (buf->error) {
		if (ret_error)
			*ret_error = buf->error;
		buf_free(buf);
		return NULL;
	}
	data = buf->data;
	data[buf->len] = '\0';
	*buf = BUF_INIT(buf->max);
	return data;
}

void buf_free(struct buf *buf)
{
	free(buf->data);
	*buf = BUF_INIT(buf->max);
}

/* '=' is plain only in an option: a first word NAME=x is an assignment, and zsh expands a leading '='. */
static bool is_plain_word(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./-=";

	return *s && s[strspn(s, plain)] == '\0' && (*s == '-' || !strchr(s, '='));
}

void buf_shell(struct buf *buf, const char *s)
{
	if (is_plain_word(s)) {
		buf_str(buf, s);
		return;
	}
	buf_char(buf, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_str(buf, "'\\''");
		else
			buf_char(buf, *s);
	}
	buf_char(buf, '\'');
}

void buf_printable(struct buf *buf, const char *s)
{
	size_t left = strlen(s);

	while (left > 0 && !buf->error) {
		size_t len = utf8_printable_len(s, left);

		if (len)
			buf_add(buf, s, len);
		else
			buf_printf(buf, "\\x%02x", (unsigned int)(unsigned char)*s);
		s += len ? len : 1;
		left -= len ? len : 1;
	}
}
