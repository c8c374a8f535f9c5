/* SPDX-License-Identifier: Apache-2.0 */
/* The survey's fields as a table (shapes.c), from which it is written and read back (write.c). */
#ifndef SURVEY_SHAPES_H
#define SURVEY_SHAPES_H

#include <stddef.h>

enum field_type {
	FIELD_TEXT,   /* const char * */
	FIELD_BOOL,
	FIELD_INT,
	FIELD_U32,
	FIELD_U64,
	FIELD_WORD,   /* an enum, by its words */
	FIELD_STRV,
	FIELD_STRUCT,
	FIELD_LIST,   /* a pointer, a count and a capacity */
	FIELD_ARRAY   /* of fixed length, in the struct itself */
};

struct shape;

struct field {
	const char *name;
	enum field_type type;
	size_t offset;
	const struct shape *shape;  /* of a struct, or of an element */
	const char *const *words;   /* NULL-terminated, by value */
	/* Offsets of a list's counters. An array: count is its length, cap the offset of how much of it is used, or 0
	 * where all is. */
	size_t count, cap;
};

struct shape {
	size_t size;
	const struct field *fields;
	size_t n;
};

extern const struct shape survey_shape;

#endif
