/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git's configuration format, read without git: what the command left in such a file is nobody's to carry out (E030).
 * Strict: a text that git would refuse, one with a zero byte and one over the limit are errors, and nothing is guessed.
 * No file is included, no value is interpreted.
 */
#ifndef BASE_GITCONFIG_H
#define BASE_GITCONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"

/* A header, or a variable where key is set. start is at its "[" or its key's first letter; end is behind its line (or
 * lines) with the newline, or behind the "]" where a variable follows on the same line. */
struct gitconfig_item {
	const char *section;    /* in lower case */
	const char *subsection; /* NULL: none. [a.b], the old spelling, is the subsection b */
	const char *key;        /* in lower case; NULL: this is a header */
	const char *value;      /* NULL: `key` without a "=", which means true */
	size_t start, end;
};

struct gitconfig {
	struct gitconfig_item *v;
	size_t n, cap;
};

/* 0, -EINVAL (git refuses it as well), -E2BIG or -ENOMEM. Everything lies in the arena. */
int gitconfig_parse(struct arena *arena, const char *text, size_t length, struct gitconfig *ret);

/* Orders by section, subsection and key; 0: the same variable, or the same header. */
int gitconfig_compare(const struct gitconfig_item *a, const struct gitconfig_item *b);
bool gitconfig_same_section(const struct gitconfig_item *a, const struct gitconfig_item *b);
bool gitconfig_same_value(const struct gitconfig_item *a, const struct gitconfig_item *b);

/* Adds a line or a header as git itself writes them. */
void gitconfig_add_variable(struct buf *out, const char *key, const char *value);
void gitconfig_add_header(struct buf *out, const char *section, const char *subsection);

/* A branch's name as git has it, and without the bytes that a shell or a reader would stumble over. */
bool gitconfig_is_branch(const char *name);

#endif
