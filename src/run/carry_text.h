/* SPDX-License-Identifier: Apache-2.0 */
/* What carry_text.c and carry_edit.c share: the difference that is carried over from one text to another. */
#ifndef RUN_CARRY_TEXT_H
#define RUN_CARRY_TEXT_H

#include "base/gitconfig.h"
#include "run/carry.h"

/* Variables in the order of their names; those of one name in the order of the file. */
struct sorted {
	const struct gitconfig_item **v;
	size_t n;
};

/* All values of one variable. */
struct values {
	const struct gitconfig_item *const *v;
	size_t n;
};

struct change {
	const struct gitconfig_item *name;
	struct values before, after, present;
	bool is_carried;
};

/* A place in the text and what stands there instead. */
struct edit {
	size_t start, end;
	const char *text; /* "": only taken away */
};

struct carry {
	struct arena *arena;
	struct gitconfig before, after, present;
	struct sorted sorted_before, sorted_after, sorted_present;
	struct change *changes; /* sorted by name */
	size_t change_count, change_cap;
	const char *text; /* the present one */
	size_t length;
	struct edit *edits;
	size_t edit_count, edit_cap;
};

/* A key that may be carried over. In the order in which git writes them. */
struct carry_row {
	const char *key, *spelling;
	bool (*is_fit)(const struct carry *carry, const char *value);
};

enum { CARRY_ROWS = 4 };
extern const struct carry_row carry_rows[CARRY_ROWS];

/* Is this variable of the present text one that is carried over? */
bool carry_is_replaced(const struct carry *carry, const struct gitconfig_item *item);
/* Behind the changes of one section, which follow each other. */
size_t carry_section_end(const struct carry *carry, size_t first);
/* The new text; 0, -EINVAL, -E2BIG or -ENOMEM. */
int carry_edit(struct carry *carry, struct buf *out);

#endif
