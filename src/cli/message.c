/* SPDX-License-Identifier: Apache-2.0 */
/* What pinfold says itself: on standard error, each line in one write, so that it never mixes with the command's. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { LINE_MAX_BYTES = 4096 };

int usage_error(struct pinfold_error *err, const char *format, ...)
{
	va_list args;

	*err = (struct pinfold_error){ .code = PINFOLD_USAGE };
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return -EINVAL;
}

void usage_hint(struct pinfold_error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err->hint, sizeof(err->hint), format, args);
	va_end(args);
}

struct write_signals write_signals_ignore(void)
{
	return (struct write_signals){ signal(SIGXFSZ, SIG_IGN), signal(SIGPIPE, SIG_IGN) };
}

void write_signals_restore(struct write_signals before)
{
	signal(SIGXFSZ, before.file_limit);
	signal(SIGPIPE, before.pipe);
}

static void say_line(const char *prefix, const struct pinfold_error *err)
{
	char line[LINE_MAX_BYTES];
	size_t len = (size_t)snprintf(line, sizeof(line), "%s", prefix);
	struct write_signals before;
	ssize_t n;

	/* One byte is kept for the newline. */
	pinfold_error_text(err, line + len, sizeof(line) - len - 1);
	len = strlen(line);
	line[len++] = '\n';
	/* Where standard error is gone, there is nobody to tell. */
	before = write_signals_ignore();
	n = write(STDERR_FILENO, line, len);
	(void)n;
	write_signals_restore(before);
}

void say(const char *format, ...)
{
	struct pinfold_error err = { .code = PINFOLD_USAGE };
	va_list args;

	va_start(args, format);
	vsnprintf(err.text, sizeof(err.text), format, args);
	va_end(args);
	say_line("pinfold: ", &err);
}

int say_error(const struct pinfold_error *err)
{
	struct pinfold_error hint = { .code = err->code };

	say_line("pinfold: ", err);
	if (err->hint[0]) {
		memcpy(hint.text, err->hint, sizeof(hint.text));
		say_line("pinfold: hint: ", &hint);
	}
	return EXIT_REFUSED;
}

_Static_assert(sizeof(((struct pinfold_error *)0)->text) == sizeof(((struct pinfold_error *)0)->hint), "copied whole");

int print_text(char *text)
{
	fputs(text, stdout);
	free(text);
	return print_end();
}

int print_end(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_YES;
	say("cannot write to standard output: %s", strerror(errno));
	return EXIT_REFUSED;
}

void print_json_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == 0x7f) {
			printf("\\u%04x", c);
			continue;
		}
		if (c == '"' || c == '\\')
			putchar('\\');
		putchar(c);
	}
	putchar('"');
}

/* ---- likeness -------------------------------------------------------------------------------------------------- */

enum { LIKE_LENGTH = 24 };

static size_t least_of(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* How many letters must be changed, added or taken away (Levenshtein). */
static size_t distance(const char *a, const char *b)
{
	size_t row[LIKE_LENGTH + 1], len = strlen(b);

	if (strlen(a) > LIKE_LENGTH || len > LIKE_LENGTH)
		return LIKE_LENGTH;
	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < len; j++) {
			size_t up = row[j + 1];

			row[j + 1] = least_of(up + 1, row[j] + 1, corner + (a[i] != b[j]));
			corner = up;
		}
	}
	return row[len];
}

/* A longer word that was only begun (--net for --network) is a likeness as well. */
static size_t unlikeness(const char *word, const char *candidate)
{
	size_t len = strlen(word);

	return len > 3 && strncmp(word, candidate, len) == 0 ? 1 : distance(word, candidate);
}

const char *nearest(const char *word, const char *best, size_t *least, const char *candidate)
{
	size_t d = unlikeness(word, candidate);

	/* At most two letters off, and never most of a short word. */
	if (d > 2 || d * 2 >= strlen(word) || d >= *least)
		return best;
	*least = d;
	return candidate;
}
