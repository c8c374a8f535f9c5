/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration file's text → the settings of its layer. Strict: what is not understood is an error, since a rule
 * that is dropped without a word protects nobody. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/path.h"
#include "policy/internal.h"

struct json_walk {
	const struct setting_context *context;
	const int *lines;
	size_t line_count;
	size_t at;           /* number of the value, in document order */
	struct layer *entry; /* NULL: projects{} is not allowed */
	struct pinfold_error *err;
};

static int line_of(const struct json_walk *walk)
{
	return walk->at < walk->line_count ? walk->lines[walk->at] : 0;
}

static int blame(const struct json_walk *walk, int r, const char *key)
{
	return err_at(walk->err, r, walk->context->file, line_of(walk), key);
}

static const char *json_type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT: return "an object";
	case JSON_ARRAY: return "a list";
	case JSON_STRING: return "a string";
	case JSON_INTEGER:
	case JSON_REAL: return "a number";
	case JSON_NULL: return "null";
	default: return json_is_true(value) ? "true" : "false";
	}
}

static const char *wanted(enum policy_type type, bool is_item)
{
	if (is_item)
		return type == TYPE_PORTS ? "a number or a string" : "a string";
	switch (type) {
	case TYPE_FLAG: return "true or false";
	case TYPE_SIZE: return "a string or a whole number of bytes";
	case TYPE_COUNT: return "a whole number or \"none\"";
	case TYPE_PORTS: return "a list of numbers and strings";
	default: return type_is_list(type) ? "a list of strings" : "a string";
	}
}

static bool takes_bytes(enum policy_type type)
{
	return type == TYPE_PATH || type == TYPE_TMP ||
	       (type_is_list(type) && type != TYPE_NAMES && type != TYPE_PORTS);
}

/* is_item: it stands in a list, where it has to be. */
static int wrong_type(const struct json_walk *walk, const struct policy_key_def *def, const json_t *value, bool is_item)
{
	bool is_list = type_is_list(def->type) && !is_item, is_bare_item = is_list && json_is_string(value);

	if (!is_list && takes_bytes(def->type) && json_object_get(value, "bytes"))
		return err_say(walk->err, PINFOLD_USAGE, EINVAL,
			       "{\"bytes\": TEXT} has to be base64 of a text without NUL, and nothing else");
	err_say(walk->err, PINFOLD_USAGE, EINVAL, "this is %s, and has to be %s", json_type_name(value),
		wanted(def->type, is_item));
	if (is_bare_item)
		err_hint(walk->err, "write [\"%s\"]", json_string_value(value));
	else if (json_is_null(value))
		err_hint(walk->err, "leave the key out%s", def->builtin == POLICY_NONE ? ", or write \"none\"" : "");
	return -EINVAL;
}

/* The value as the command line would spell it, or NULL where its type is wrong. */
static const char *scalar_text(struct arena *arena, enum policy_type type, const json_t *value)
{
	switch (type) {
	case TYPE_FLAG: return json_is_boolean(value) ? json_type_name(value) : NULL;
	case TYPE_COUNT:
		if (json_is_string(value))
			return strcmp(json_string_value(value), "none") == 0 ? "none" : NULL;
		/* fall through */
	case TYPE_SIZE:
	case TYPE_PORTS:
		if (json_is_integer(value))
			return arena_printf(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		/* fall through */
	default: return json_text_of(arena, value);
	}
}

static int add_value(struct json_walk *walk, enum policy_key key, const json_t *value, struct layer *ret)
{
	const struct policy_key_def *def = &policy_keys[key];
	const char *text = scalar_text(walk->context->arena, def->type, value);
	struct policy_setting setting;
	int r;

	if (!text)
		return blame(walk, wrong_type(walk, def, value, type_is_list(def->type)), def->name);
	r = setting_read(walk->context, key, text, &setting, walk->err);
	if (r < 0)
		return blame(walk, r, def->name);
	setting.source.line = line_of(walk);
	walk->at += json_is_object(value) ? 2 : 1;
	return layer_add(walk->context->arena, ret, &setting) < 0 ? err_oom(walk->err) : 0;
}

static int add_list(struct json_walk *walk, enum policy_key key, const json_t *value, struct layer *ret)
{
	json_t *item;
	size_t i;
	int r = 0;

	if (!json_is_array(value))
		return blame(walk, wrong_type(walk, &policy_keys[key], value, false), policy_keys[key].name);
	walk->at++;
	json_array_foreach(value, i, item) {
		r = add_value(walk, key, item, ret);
		if (r < 0)
			break;
	}
	return r;
}

/* Kept of a project's file, to say what was ignored. */
static int keep_raw(const struct json_walk *walk, enum policy_key key, const json_t *value, struct layer *ret)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);

	ret->line[key] = line_of(walk);
	if (walk->context->layer != LAYER_PROJECT)
		return 0;
	if (json_write(json_incref((json_t *)value), JSON_COMPACT | JSON_ENCODE_ANY, &text) == 0)
		ret->raw[key] = arena_strdup(walk->context->arena, text.data);
	return ret->raw[key] ? 0 : err_oom(walk->err);
}

static int unknown_key(const struct json_walk *walk, const char *name)
{
	int key = policy_key_find(name);
	int near = key_near(name);

	if (key >= 0 && policy_keys[key].is_command_only) {
		err_say(walk->err, PINFOLD_USAGE, EINVAL, "this is an option of the command line only");
		return blame(walk, -EINVAL, name);
	}
	err_say(walk->err, PINFOLD_USAGE, EINVAL, "there is no such key");
	if (near >= 0)
		err_hint(walk->err, "did you mean '%s'?", policy_keys[near].name);
	return blame(walk, -EINVAL, name);
}

static int read_settings(struct json_walk *walk, json_t *object, struct layer *ret);

static int read_entry(struct json_walk *walk, const char *path, json_t *object)
{
	struct setting_context inner = *walk->context;
	struct json_walk entry = *walk;
	struct layer ignored = {0};
	bool is_ours = inner.worktree && strcmp(path, inner.worktree) == 0;
	int r;

	if (!path_is_normal(path)) {
		err_say(walk->err, PINFOLD_USAGE, EINVAL,
			"'%s' is not an absolute path without '.', '..' or a slash at its end", path);
		return blame(walk, -EINVAL, "projects");
	}
	if (!json_is_object(object)) {
		err_say(walk->err, PINFOLD_USAGE, EINVAL, "this is %s, and has to be an object",
			json_type_name(object));
		return blame(walk, -EINVAL, "projects");
	}
	inner.layer = LAYER_PROJECT_ENTRY;
	entry.context = &inner;
	entry.entry = NULL;
	r = read_settings(&entry, object, is_ours ? walk->entry : &ignored);
	walk->at = entry.at;
	return r;
}

static int read_projects(struct json_walk *walk, json_t *value)
{
	const char *path;
	json_t *object;
	int r = 0;

	if (!walk->entry) {
		err_say(walk->err, PINFOLD_USAGE, EINVAL, "this key belongs to the user's file only, at its top");
		return blame(walk, -EINVAL, "projects");
	}
	if (!json_is_object(value)) {
		err_say(walk->err, PINFOLD_USAGE, EINVAL, "this is %s, and has to be an object", json_type_name(value));
		return blame(walk, -EINVAL, "projects");
	}
	walk->at++;
	json_object_foreach(value, path, object) {
		r = read_entry(walk, path, object);
		if (r < 0)
			break;
	}
	return r;
}

/* It binds the schema in an editor and says nothing to us. */
static int read_schema(struct json_walk *walk, const json_t *value)
{
	if (!json_is_string(value)) {
		err_say(walk->err, PINFOLD_USAGE, EINVAL, "this is %s, and has to be a string", json_type_name(value));
		return blame(walk, -EINVAL, "$schema");
	}
	walk->at++;
	return 0;
}

static int read_member(struct json_walk *walk, const char *name, json_t *value, struct layer *ret)
{
	int key = name[0] == '-' ? -1 : policy_key_find(name);
	int r;

	if (strcmp(name, "projects") == 0)
		return read_projects(walk, value);
	if (strcmp(name, "$schema") == 0 && walk->context->layer != LAYER_PROJECT_ENTRY)
		return read_schema(walk, value);
	if (key < 0 || policy_keys[key].is_command_only)
		return unknown_key(walk, name);
	r = keep_raw(walk, (enum policy_key)key, value, ret);
	if (r < 0)
		return r;
	if (type_is_list(policy_keys[key].type))
		return add_list(walk, (enum policy_key)key, value, ret);
	return add_value(walk, (enum policy_key)key, value, ret);
}

static int read_settings(struct json_walk *walk, json_t *object, struct layer *ret)
{
	const char *name;
	json_t *value;
	int r = 0;

	walk->at++;
	json_object_foreach(object, name, value) {
		r = read_member(walk, name, value, ret);
		if (r < 0)
			break;
	}
	return r;
}

/* jansson says `duplicate object key near '"mode"'`; the key is told as every other error tells it. */
static int syntax_error(const struct setting_context *context, const json_error_t *error, struct pinfold_error *err)
{
	const char *name = strstr(error->text, "near '\"");
	enum json_error_code code = json_error_code(error);
	bool is_duplicate = code == json_error_duplicate_key;
	char key[64] = "";

	if (code == json_error_out_of_memory || !error->text[0])
		return err_oom(err);
	if (is_duplicate && name)
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(name + 7, "\"'"), name + 7);
	if (is_duplicate)
		err_say(err, PINFOLD_USAGE, EINVAL, "this key stands here twice");
	else if (code == json_error_null_character || code == json_error_null_byte_in_key)
		err_say(err, PINFOLD_USAGE, EINVAL, "\\u0000 cannot stand in a text here");
	else
		err_say(err, PINFOLD_USAGE, EINVAL, "not valid JSON: %s", error->text);
	return err_at(err, -EINVAL, context->file, error->line, key[0] ? key : NULL);
}

/* What editors and cut-off writes leave, where a parser's own words would not help. */
static const char *unreadable(const char *text, size_t length)
{
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		return "the file begins with a byte order mark; save it as UTF-8 without one";
	while (length > 0 && strchr(" \t\r\n", text[length - 1]))
		length--;
	return length == 0 ? "the file is empty; without any setting it is {}" : NULL;
}

static int parse_text(const struct setting_context *context, char *text, size_t length, json_t **ret,
		      struct pinfold_error *err)
{
	json_error_t error;
	const char *why;
	int line = 1, r;

	if (comments_blank(text, length, &line, &why) == 0)
		why = unreadable(text, length);
	if (why)
		return err_at(err, err_say(err, PINFOLD_USAGE, EINVAL, "%s", why), context->file, line, NULL);
	r = json_read(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, ret, &error);
	if (r < 0)
		return r == -ENOMEM ? err_oom(err) : syntax_error(context, &error, err);
	if (json_is_object(*ret))
		return 0;
	err_say(err, PINFOLD_USAGE, EINVAL, "this is %s, and has to be an object", json_type_name(*ret));
	json_decref(*ret);
	return err_at(err, -EINVAL, context->file, 1, NULL);
}

int layer_parse(const struct setting_context *context, char *text, size_t length, struct layer *ret,
		struct layer *ret_entry, struct pinfold_error *err)
{
	struct json_walk walk = {.context = context, .entry = ret_entry, .err = err};
	char empty[1] = "";
	json_t *root = NULL;
	int *lines;
	int r = parse_text(context, text ? text : empty, length, &root, err);

	if (r < 0)
		return r;
	r = lines_find(context->arena, text, length, &lines, &walk.line_count);
	walk.lines = lines;
	if (r < 0)
		r = err_oom(err);
	else
		r = read_settings(&walk, root, ret);
	json_decref(root);
	return r;
}
