/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error record. Everything that fills it runs between fork and exec as well, so it touches the stack and the record
 * only: no allocation, no locale, no strerror (which may load a message catalogue). The errno travels as a number and
 * becomes words in pinfold_error_text(), which only the parent calls.
 */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const char *const code_names[] = {
	[PINFOLD_OK] = "ok",
	[PINFOLD_USAGE] = "usage",
	[PINFOLD_UNAVAILABLE] = "unavailable",
	[PINFOLD_REFUSED] = "refused",
	[PINFOLD_BLOCKED] = "blocked_offline",
	[PINFOLD_INTERNAL] = "internal",
	[PINFOLD_VIOLATION] = "violation",
	[PINFOLD_NOT_FOUND] = "not_found",
	[PINFOLD_NOT_EXECUTABLE] = "not_executable",
};
_Static_assert(sizeof(code_names) / sizeof(code_names[0]) == PINFOLD_CODE_COUNT, "a name for every code");

const char *pinfold_code_name(enum pinfold_code code)
{
	return (unsigned int)code < PINFOLD_CODE_COUNT ? code_names[code] : "unknown";
}

/* ---- filling --------------------------------------------------------------------------------------------------- */

/* Takes back a character of which the cut left only the first bytes; it would be shown as bytes that are not UTF-8. */
static void drop_partial(char *s, size_t len)
{
	size_t at = len;

	while (at > 0 && len - at < 3 && ((unsigned char)s[at - 1] & 0xc0) == 0x80)
		at--;
	if (at > 0 && (unsigned char)s[at - 1] >= 0xc0 && !utf8_is_valid(s + at - 1, len - at + 1))
		s[at - 1] = '\0';
}

static void copy_cut(char *to, size_t size, const char *from)
{
	size_t len = from ? strlen(from) : 0;

	if (len >= size) {
		len = size - 1;
		memcpy(to, from, len);
		to[len] = '\0';
		drop_partial(to, len);
		return;
	}
	if (len)
		memcpy(to, from, len);
	to[len] = '\0';
}

static void __attribute__((format(printf, 3, 0)))
format_cut(char *to, size_t size, const char *format, va_list args)
{
	int len = vsnprintf(to, size, format, args);

	if (len < 0)
		to[0] = '\0';
	else if ((size_t)len >= size)
		drop_partial(to, size - 1);
}

static int negative(int errnum)
{
	return errnum ? -errnum : -EINVAL;
}

/* Each record is made beside the old one: an argument may be a part of it, where a caller says more about an error. */
int err_sys(struct pinfold_error *err, enum pinfold_code code, int errnum, const char *operation, const char *object)
{
	struct pinfold_error fresh = { .code = code, .errnum = errnum };

	if (!err)
		return negative(errnum);
	copy_cut(fresh.operation, sizeof(fresh.operation), operation);
	copy_cut(fresh.object, sizeof(fresh.object), object);
	*err = fresh;
	return negative(errnum);
}

int err_say(struct pinfold_error *err, enum pinfold_code code, int errnum, const char *format, ...)
{
	struct pinfold_error fresh = { .code = code, .errnum = errnum };
	va_list args;

	if (!err)
		return negative(errnum);
	va_start(args, format);
	format_cut(fresh.text, sizeof(fresh.text), format, args);
	va_end(args);
	*err = fresh;
	return negative(errnum);
}

int err_oom(struct pinfold_error *err)
{
	return err_say(err, PINFOLD_INTERNAL, ENOMEM, "out of memory");
}

int err_at(struct pinfold_error *err, int ret, const char *file, int line, const char *key)
{
	if (!err)
		return ret;
	if (file && file != err->file)
		copy_cut(err->file, sizeof(err->file), file);
	if (line > 0)
		err->line = line;
	if (key && key != err->key)
		copy_cut(err->key, sizeof(err->key), key);
	return ret;
}

void err_hint(struct pinfold_error *err, const char *format, ...)
{
	va_list args;

	if (!err || err->hint[0])
		return;
	va_start(args, format);
	format_cut(err->hint, sizeof(err->hint), format, args);
	va_end(args);
}

/* ---- telling --------------------------------------------------------------------------------------------------- */

/* text[0..size), and the length the whole would have. `len` runs on when the room is used up. */
struct line {
	char *text;
	size_t size, len;
};

/* All of piece or nothing, so that a cut never leaves half a character or half an escape. */
static void line_piece(struct line *line, const char *piece, size_t len)
{
	if (line->len < line->size && len < line->size - line->len) {
		memcpy(line->text + line->len, piece, len);
		line->text[line->len + len] = '\0';
	} else {
		line->size = 0;
	}
	line->len += len;
}

static void line_add(struct line *line, const char *s, size_t max)
{
	size_t left = strnlen(s, max);

	while (left > 0) {
		size_t len = utf8_printable_len(s, left);
		char escape[8];

		if (len) {
			line_piece(line, s, len);
		} else {
			snprintf(escape, sizeof(escape), "\\x%02x", (unsigned int)(unsigned char)*s);
			line_piece(line, escape, strlen(escape));
			len = 1;
		}
		s += len;
		left -= len;
	}
}

#define LINE_WORDS(line, words) line_piece((line), "" words, sizeof(words) - 1)
/* The record may have come over a pipe: nothing is read past its arrays, NUL or not. */
#define LINE_PART(line, array) line_add((line), (array), sizeof(array))

/* GNU's strerror_r returns the text, POSIX's a number; which one a C library gives is not ours to choose. */
static const char *__attribute__((unused)) pick_text(const char *text, const char *buffer)
{
	(void)buffer;
	return text;
}

static const char *__attribute__((unused)) pick_buffer(int r, const char *buffer)
{
	return r == 0 ? buffer : "unknown error";
}

static void line_errno(struct line *line, int errnum)
{
	char buffer[128] = "";
	const char *text = _Generic(strerror_r(errnum, buffer, sizeof(buffer)), char *: pick_text, int: pick_buffer)(
		strerror_r(errnum, buffer, sizeof(buffer)), buffer);

	line_add(line, text, sizeof(buffer));
}

static void line_place(struct line *line, const struct pinfold_error *err)
{
	char number[16];

	if (err->file[0]) {
		LINE_PART(line, err->file);
		if (err->line > 0) {
			snprintf(number, sizeof(number), ":%d", err->line);
			line_add(line, number, sizeof(number));
		}
		LINE_WORDS(line, ": ");
	}
	if (err->key[0]) {
		/* The command line's spelling of a key begins with a dash. */
		line_add(line, err->key[0] == '-' ? "option '" : "key '", sizeof(err->key));
		LINE_PART(line, err->key);
		LINE_WORDS(line, "': ");
	}
}

static void line_step(struct line *line, const struct pinfold_error *err)
{
	LINE_WORDS(line, "cannot ");
	LINE_PART(line, err->operation);
	if (err->object[0]) {
		LINE_WORDS(line, " '");
		LINE_PART(line, err->object);
		LINE_WORDS(line, "'");
	}
	if (err->errnum) {
		LINE_WORDS(line, ": ");
		line_errno(line, err->errnum);
	}
}

size_t pinfold_error_text(const struct pinfold_error *err, char *text, size_t size)
{
	struct line line = { text, size, 0 };

	if (size > 0)
		text[0] = '\0';
	line_place(&line, err);
	if (err->operation[0]) {
		line_step(&line, err);
		if (err->text[0])
			LINE_WORDS(&line, ": ");
	}
	if (err->text[0])
		LINE_PART(&line, err->text);
	else if (!err->operation[0] && err->errnum)
		line_errno(&line, err->errnum);
	return line.len;
}
