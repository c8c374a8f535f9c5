/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The survey as JSON, written and read back from one table, so that neither can know a field that the other does not.
 * What is read is checked for its shape alone: it is a world for the plan's tests, never a source of rights.
 */
#include "survey/survey.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/limits.h"
#include "survey/shapes.h"

/* ---- writing ---- */

static json_t *write_shape(const struct shape *shape, const char *base);

static json_t *write_elements(const struct shape *shape, const char *first, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < n; i++)
		if (json_array_append_new(array, write_shape(shape, first + i * shape->size)) < 0) {
			json_decref(array);
			array = NULL;
		}
	return array;
}

static json_t *write_strv(const struct strv *list)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < list->n; i++)
		if (json_append_bytes(array, list->v[i]) < 0) {
			json_decref(array);
			array = NULL;
		}
	return array;
}

static size_t array_used(const struct field *field, const char *base)
{
	return field->cap ? *(const size_t *)(base + field->cap) : field->count;
}

static json_t *write_field(const struct field *field, const char *base)
{
	const char *at = base + field->offset;

	switch (field->type) {
	case FIELD_TEXT:
		return json_bytes(*(const char *const *)at);
	case FIELD_BOOL:
		return json_boolean(*(const bool *)at);
	case FIELD_INT:
		return json_integer(*(const int *)at);
	case FIELD_U32:
		return json_integer(*(const uint32_t *)at);
	case FIELD_U64:
		return json_integer((json_int_t)*(const uint64_t *)at);
	case FIELD_WORD:
		return json_string(field->words[*(const unsigned int *)at]);
	case FIELD_STRV:
		return write_strv((const struct strv *)at);
	case FIELD_STRUCT:
		return write_shape(field->shape, at);
	case FIELD_LIST:
		return write_elements(field->shape, *(const char *const *)at, *(const size_t *)(base + field->count));
	case FIELD_ARRAY:
		return write_elements(field->shape, at, array_used(field, base));
	}
	return NULL;
}

static json_t *write_shape(const struct shape *shape, const char *base)
{
	json_t *object = json_object();

	for (size_t i = 0; object && i < shape->n; i++)
		if (json_put(object, shape->fields[i].name, write_field(&shape->fields[i], base)) < 0) {
			json_decref(object);
			object = NULL;
		}
	return object;
}

int survey_write(const struct survey *survey, struct buf *out)
{
	json_write(write_shape(&survey_shape, (const char *)survey), JSON_INDENT(1), out);
	buf_char(out, '\n');
	return out->error;
}

/* ---- reading: every function returns 0, -EINVAL or -ENOMEM ---- */

static int read_shape(struct arena *arena, const struct shape *shape, const json_t *value, char *base);

static int read_text(struct arena *arena, const json_t *value, const char **ret)
{
	if (json_is_null(value))
		return 0;
	*ret = json_text_of(arena, value);
	return *ret ? 0 : -EINVAL;
}

static int read_word(const struct field *field, const json_t *value, unsigned int *ret)
{
	for (unsigned int i = 0; json_is_string(value) && field->words[i]; i++)
		if (!strcmp(field->words[i], json_string_value(value))) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

static int read_integer(const struct field *field, const json_t *value, char *at)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value))
		return -EINVAL;
	if (field->type == FIELD_U64) {
		*(uint64_t *)at = (uint64_t)number;
	} else if (field->type == FIELD_U32) {
		if (number < 0 || number > UINT32_MAX)
			return -EINVAL;
		*(uint32_t *)at = (uint32_t)number;
	} else {
		if (number < INT32_MIN || number > INT32_MAX)
			return -EINVAL;
		*(int *)at = (int)number;
	}
	return 0;
}

static int read_strv(struct arena *arena, const json_t *value, struct strv *ret)
{
	for (size_t i = 0; i < json_array_size(value); i++) {
		const char *text = json_text_of(arena, json_array_get(value, i));

		if (!text)
			return -EINVAL;
		if (strv_add(arena, ret, text) < 0)
			return -ENOMEM;
	}
	return json_is_array(value) ? 0 : -EINVAL;
}

static int read_elements(struct arena *arena, const struct shape *shape, const json_t *value, char *first)
{
	int r = 0;

	for (size_t i = 0; i < json_array_size(value) && r == 0; i++)
		r = read_shape(arena, shape, json_array_get(value, i), first + i * shape->size);
	return r;
}

static int read_list(struct arena *arena, const struct field *field, const json_t *value, char *base)
{
	size_t n = json_array_size(value);
	char *first;

	if (!json_is_array(value) || n > LIMIT_PATTERN_MATCHES)
		return -EINVAL;
	if (n == 0)
		return 0;
	first = arena_alloc(arena, n, field->shape->size);
	if (!first)
		return -ENOMEM;
	*(void **)(base + field->offset) = first;
	*(size_t *)(base + field->count) = *(size_t *)(base + field->cap) = n;
	return read_elements(arena, field->shape, value, first);
}

static int read_array(struct arena *arena, const struct field *field, const json_t *value, char *base)
{
	size_t n = json_array_size(value);

	if (!json_is_array(value) || n > field->count || (!field->cap && n != field->count))
		return -EINVAL;
	if (field->cap)
		*(size_t *)(base + field->cap) = n;
	return read_elements(arena, field->shape, value, base + field->offset);
}

static int read_field(struct arena *arena, const struct field *field, const json_t *value, char *base)
{
	char *at = base + field->offset;

	switch (field->type) {
	case FIELD_TEXT:
		return read_text(arena, value, (const char **)at);
	case FIELD_BOOL:
		*(bool *)at = json_is_true(value);
		return json_is_boolean(value) ? 0 : -EINVAL;
	case FIELD_INT:
	case FIELD_U32:
	case FIELD_U64:
		return read_integer(field, value, at);
	case FIELD_WORD:
		return read_word(field, value, (unsigned int *)at);
	case FIELD_STRV:
		return read_strv(arena, value, (struct strv *)at);
	case FIELD_STRUCT:
		return read_shape(arena, field->shape, value, at);
	case FIELD_LIST:
		return read_list(arena, field, value, base);
	case FIELD_ARRAY:
		return read_array(arena, field, value, base);
	}
	return -EINVAL;
}

/* A field that is left out keeps its zero, so that worlds written by hand can be short; one that is not known is a
 * slip. */
static int read_shape(struct arena *arena, const struct shape *shape, const json_t *value, char *base)
{
	size_t known = 0;

	if (!json_is_object(value))
		return -EINVAL;
	for (size_t i = 0; i < shape->n; i++) {
		const json_t *member = json_object_get(value, shape->fields[i].name);
		int r;

		if (!member)
			continue;
		known++;
		r = read_field(arena, &shape->fields[i], member, base);
		if (r < 0)
			return r;
	}
	return known == json_object_size(value) ? 0 : -EINVAL;
}

int survey_read(struct survey *survey, const char *text, size_t length, struct pinfold_error *err)
{
	json_error_t where;
	json_t *root;
	int r = json_read(text, length, JSON_REJECT_DUPLICATES, &root, &where);

	*survey = (struct survey){ 0 };
	if (r == -ENOMEM)
		return err_oom(err);
	if (r < 0) {
		r = err_say(err, PINFOLD_USAGE, EINVAL, "%s", where.text);
		return err_at(err, r, NULL, where.line, NULL);
	}
	r = read_shape(&survey->arena, &survey_shape, root, (char *)survey);
	json_decref(root);
	if (r == 0 && (!survey->cwd || !survey->worktree))
		r = -EINVAL;
	if (r == 0)
		return 0;
	survey_free(survey);
	return r == -ENOMEM ? err_oom(err) : err_say(err, PINFOLD_USAGE, EINVAL, "this is no survey");
}
