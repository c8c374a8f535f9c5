/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON Schema of a configuration file, made from the table of keys. The root is the user's file; "#/$defs/project"
 * is a project's, where paths may be relative. What needs more than one value (contradictions, duplicate keys) or the
 * machine (does the path exist) no schema can say. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "policy/internal.h"

/* Regular expressions by kind of text; no backslash class, since not every validator knows them. */
static const char absolute_path[] = "^(/|~$|~/)";
static const char any_path[] = "^([^~]|~$|~/)";
static const char size_form[] = "^(none|0*[1-9][0-9]*[KMG]?)$";
static const char duration_form[] = "^(none|0*[1-9][0-9]*(ms|s|m|h))$";
static const char variable_form[] = "^[^=\\u0000-\\u0020\\u007f]+(=|$)";
static const char port_form[] = "^0*[1-9][0-9]{0,4}(:0*[1-9][0-9]{0,4})?$";
static const char pattern_form[] = "^[^!]";
static const char pattern_parent[] = "(^|/)[.][.](/|$)";

static json_t *string_form(const char *form)
{
	return json_pack("{s:s, s:s}", "type", "string", "pattern", form);
}

/* A text that need not be UTF-8 can be written as its bytes. */
static json_t *or_bytes(json_t *form)
{
	return json_pack("{s:[o, {s:s, s:{s:{s:s}}, s:[s], s:b}]}", "anyOf", form, "type", "object", "properties",
			 "bytes", "type", "string", "required", "bytes", "additionalProperties", 0);
}

static json_t *words_form(const char *const *words, const char *one_more)
{
	json_t *list = json_array();

	for (size_t i = 0; words[i]; i++)
		json_array_append_new(list, json_string(words[i]));
	if (one_more)
		json_array_append_new(list, json_string(one_more));
	return json_pack("{s:o}", "enum", list);
}

static json_t *pattern_json(void)
{
	return json_pack("{s:s, s:s, s:{s:s}}", "type", "string", "pattern", pattern_form, "not", "pattern",
			 pattern_parent);
}

static json_t *value_form(const struct policy_key_def *def, bool is_project)
{
	const char *path = is_project ? any_path : absolute_path;

	switch (def->type) {
	case TYPE_FLAG: return json_pack("{s:s}", "type", "boolean");
	case TYPE_CHOICE: return words_form(def->words, NULL);
	case TYPE_NAMES: return words_form(def->words, ACCEPT_NONE);
	case TYPE_DURATION: return string_form(duration_form);
	case TYPE_SIZE:
		return json_pack("{s:[{s:s, s:i}, o]}", "anyOf", "type", "integer", "minimum", 1,
				 string_form(size_form));
	case TYPE_COUNT:
		return json_pack("{s:[{s:s, s:i}, {s:s}]}", "anyOf", "type", "integer", "minimum", 1, "const", "none");
	case TYPE_PORTS:
		return json_pack("{s:[{s:s, s:i, s:i}, o]}", "anyOf", "type", "integer", "minimum", 1, "maximum", 65535,
				 string_form(port_form));
	case TYPE_PATTERNS: return or_bytes(pattern_json());
	case TYPE_ENVIRONMENT: return or_bytes(string_form(variable_form));
	case TYPE_TMP: return or_bytes(json_pack("{s:[{s:s}, o]}", "anyOf", "const", "private", string_form(path)));
	default: return or_bytes(string_form(path));
	}
}

static json_t *key_form(const struct policy_key_def *def, bool is_project)
{
	json_t *form = value_form(def, is_project);

	if (type_is_list(def->type))
		form = json_pack("{s:s, s:o}", "type", "array", "items", form);
	if (form && json_put(form, "description", json_string(def->help)) == 0)
		return form;
	json_decref(form);
	return NULL;
}

/* What an editor finds the schema by, at the top of a file. */
static int add_editors_key(json_t *form)
{
	return json_put(json_object_get(form, "properties"), "$schema",
			json_pack("{s:s, s:s}", "type", "string", "description",
				  "this schema's place, for editors; ignored"));
}

/* The keys of a file, or of an entry in projects{}. */
static json_t *keys_form(bool is_project)
{
	json_t *properties = json_object();
	int r = 0;

	for (int key = 0; r == 0 && key < KEY_COUNT; key++)
		if (!policy_keys[key].is_command_only)
			r = json_put(properties, policy_keys[key].name, key_form(&policy_keys[key], is_project));
	if (r == 0)
		return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties",
				 0);
	json_decref(properties);
	return NULL;
}

static json_t *schema(void)
{
	static const char normal_path[] = "^/(?!$)(?!.*//)(?!.*/[.]{1,2}(/|$))(?!.*/$)|^/$";
	json_t *root = keys_form(false), *project = keys_form(true);
	json_t *projects = json_pack("{s:s, s:s, s:{s:s}, s:{s:s}}", "type", "object", "description",
				     "settings for single worktrees, by their canonical path", "propertyNames",
				     "pattern", normal_path, "additionalProperties", "$ref", "#/$defs/settings");
	int r = json_put(json_object_get(root, "properties"), "projects", projects);

	if (r == 0 && (r = add_editors_key(root)) == 0)
		r = add_editors_key(project);
	if (r == 0)
		r = json_put(root, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
	if (r == 0)
		r = json_put(root, "title", json_string("pinfold configuration"));
	if (r == 0)
		r = json_put(root, "$defs",
			     json_pack("{s:o, s:O}", "settings", keys_form(false), "project", project));
	json_decref(project);
	if (r == 0)
		return root;
	json_decref(root);
	return NULL;
}

int policy_schema(struct buf *out)
{
	json_write(schema(), JSON_INDENT(2), out);
	buf_char(out, '\n');
	return out->error;
}
