/* SPDX-License-Identifier: Apache-2.0 */
/* `config show` and `config paths`: each value, where it comes from, and whether it has an effect. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/num.h"
#include "policy/internal.h"

const char *const policy_layer_names[LAYER_COUNT] = {
	"built in", "administrator", "user", "user", "project", "command line",
};

static const char ignored_reason[] = "a project's file may only tighten; see: pinfold trust";

enum { VALUE_WIDTH_MAX = 48 }; /* a longer one pushes its own row only */

/* ---- words ---- */

void source_text(const struct policy_source *source, struct buf *out)
{
	if (!source->file)
		buf_str(out, policy_layer_names[source->layer]);
	else if (source->line > 0)
		buf_printf(out, "%s:%d", source->file, source->line);
	else
		buf_str(out, source->file);
}

static void number_text(const struct policy_key_def *def, uint64_t number, struct buf *out)
{
	char text[32];

	if (def->type == TYPE_FLAG)
		buf_str(out, number ? "true" : "false");
	else if (def->type == TYPE_CHOICE)
		buf_str(out, def->words[number]);
	else if (number == POLICY_NONE)
		buf_str(out, "none");
	else if (def->type == TYPE_DURATION)
		buf_str(out, num_duration_text(number, text));
	else if (def->type == TYPE_SIZE)
		buf_str(out, num_size_text(number, text));
	else
		buf_printf(out, "%llu", (unsigned long long)number);
}

void value_text(enum policy_key key, uint64_t number, const char *text, struct buf *out)
{
	const struct policy_key_def *def = &policy_keys[key];

	if (def->type == TYPE_TMP && !text)
		buf_str(out, "private");
	else if (def->type == TYPE_PATH || def->type == TYPE_TMP || type_is_list(def->type))
		buf_str(out, text ? text : "");
	else
		number_text(def, number, out);
}

/* ---- rows ---- */

struct show_row {
	char *key, *value, *source;
	const char *reason; /* NULL: it has an effect */
};

struct show_rows {
	struct show_row *v;
	struct arena arena;
	size_t n, cap;
};

static char *printable(struct arena *arena, const char *text, bool is_quoted)
{
	BUF_CLEANUP struct buf quoted = BUF_INIT(LIMIT_TEXT_BYTES), out = BUF_INIT(LIMIT_TEXT_BYTES);

	if (is_quoted && *text)
		buf_shell(&quoted, text);
	else
		buf_str(&quoted, text);
	if (quoted.data)
		buf_printable(&out, quoted.data);
	return quoted.error || out.error ? NULL : arena_strdup(arena, out.data ? out.data : "");
}

static char *source_word(struct arena *arena, const struct policy_source *source)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_TEXT_BYTES);

	source_text(source, &text);
	return text.error ? NULL : printable(arena, text.data, false);
}

static int add_row(struct show_rows *rows, const char *key, const char *value, bool is_quoted,
		   const struct policy_source *source, const char *reason)
{
	struct show_row *grown = arena_grow(&rows->arena, rows->v, rows->n, rows->n + 1, sizeof(*grown), &rows->cap);
	struct show_row row = {.reason = reason};

	if (!grown)
		return -ENOMEM;
	rows->v = grown;
	row.key = printable(&rows->arena, key, false);
	row.value = printable(&rows->arena, value, is_quoted);
	row.source = source ? source_word(&rows->arena, source) : arena_strdup(&rows->arena, policy_layer_names[0]);
	grown[rows->n++] = row;
	return row.key && row.value && row.source ? 0 : -ENOMEM;
}

static int add_scalar(const struct pinfold_policy *policy, enum policy_key key, const char *reason,
		      struct show_rows *rows)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_TEXT_BYTES);
	const struct policy_value *value = &policy->value[key];

	value_text(key, value->number, key == KEY_WORKTREE ? policy->worktree : value->text, &text);
	if (text.error)
		return text.error;
	return add_row(rows, policy_keys[key].name, text.data ? text.data : "", true, &value->source, reason);
}

static int add_list(const struct pinfold_policy *policy, enum policy_key key, const char *reason,
		    struct show_rows *rows)
{
	const struct policy_value *value = &policy->value[key];
	int r = 0;

	if (value->count == 0)
		return add_row(rows, policy_keys[key].name, "(none)", false, NULL, reason);
	for (size_t i = 0; r == 0 && i < value->count; i++)
		r = add_row(rows, policy_keys[key].name, value->items[i].text, true, &value->items[i].source, reason);
	return r;
}

static int add_ignored(const struct pinfold_policy *policy, struct show_rows *rows)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < policy->ignored_count; i++) {
		const struct policy_ignored *ignored = &policy->ignored[i];
		struct policy_source source = {LAYER_PROJECT, ignored->file, ignored->line};

		r = add_row(rows, ignored->key, ignored->text, false, &source, ignored_reason);
	}
	return r;
}

static int make_rows(const struct pinfold_policy *policy, const char *(*effect_of)(void *, enum policy_key), void *arg,
		     struct show_rows *rows)
{
	int r = 0;

	for (int i = 0; r == 0 && i < KEY_COUNT; i++) {
		enum policy_key key = (enum policy_key)i;
		const char *reason = effect_of ? effect_of(arg, key) : NULL;

		if (type_is_list(policy_keys[key].type))
			r = add_list(policy, key, reason, rows);
		else
			r = add_scalar(policy, key, reason, rows);
	}
	return r < 0 ? r : add_ignored(policy, rows);
}

static void print_rows(const struct show_rows *rows, struct buf *out)
{
	int key_width = 0, value_width = 0;

	for (size_t i = 0; i < rows->n; i++) {
		int key = (int)strlen(rows->v[i].key), value = (int)strlen(rows->v[i].value);

		if (key > key_width)
			key_width = key;
		if (value > value_width && value <= VALUE_WIDTH_MAX)
			value_width = value;
	}
	for (size_t i = 0; i < rows->n; i++) {
		const struct show_row *row = &rows->v[i];

		buf_printf(out, "%-*s  %-*s  %s", key_width, row->key, value_width, row->value, row->source);
		if (row->reason)
			buf_printf(out, "  (no effect: %s)", row->reason);
		buf_char(out, '\n');
	}
}

int policy_show_text(const struct pinfold_policy *policy, const char *(*effect_of)(void *, enum policy_key), void *arg,
		     struct buf *out)
{
	struct show_rows rows = {0};
	int r = make_rows(policy, effect_of, arg, &rows);

	if (r == 0 && rows.arena.is_short)
		r = -ENOMEM;
	if (r == 0)
		print_rows(&rows, out);
	arena_free(&rows.arena);
	return r < 0 ? r : out->error;
}

/* ---- JSON ---- */

static json_t *source_json(const struct policy_source *source)
{
	json_t *object = json_object();
	int r = json_put(object, "layer", json_string(policy_layer_names[source->layer]));

	if (r == 0 && source->file)
		r = json_put_bytes(object, "file", source->file);
	if (r == 0 && source->line > 0)
		r = json_put(object, "line", json_integer(source->line));
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *value_json(const struct pinfold_policy *policy, enum policy_key key)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_TEXT_BYTES);
	const struct policy_value *value = &policy->value[key];

	if (policy_keys[key].type == TYPE_FLAG)
		return json_boolean(value->number);
	if (policy_keys[key].type == TYPE_COUNT && value->number != POLICY_NONE)
		return json_integer((json_int_t)value->number);
	value_text(key, value->number, key == KEY_WORKTREE ? policy->worktree : value->text, &text);
	return text.error ? NULL : json_bytes(text.data ? text.data : "");
}

static json_t *items_json(const struct policy_value *value)
{
	json_t *list = json_array();

	for (size_t i = 0; i < value->count; i++) {
		json_t *item = json_object();

		if (json_put_bytes(item, "value", value->items[i].text) < 0 ||
		    json_put(item, "source", source_json(&value->items[i].source)) < 0 ||
		    json_array_append(list, item) < 0) {
			json_decref(item);
			json_decref(list);
			return NULL;
		}
		json_decref(item);
	}
	return list;
}

static json_t *key_json(const struct pinfold_policy *policy, enum policy_key key, const char *reason)
{
	bool is_list = type_is_list(policy_keys[key].type);
	json_t *object = json_object();
	int r;

	if (is_list) {
		r = json_put(object, "items", items_json(&policy->value[key]));
	} else {
		r = json_put(object, "value", value_json(policy, key));
		if (r == 0)
			r = json_put(object, "source", source_json(&policy->value[key].source));
	}
	if (r == 0)
		r = json_put(object, "effect", json_boolean(!reason));
	if (r == 0 && reason)
		r = json_put(object, "reason", json_string(reason));
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *ignored_json(const struct pinfold_policy *policy)
{
	json_t *list = json_array();

	for (size_t i = 0; i < policy->ignored_count; i++) {
		const struct policy_ignored *ignored = &policy->ignored[i];
		json_t *item = json_object();
		int r = json_put(item, "key", json_string(ignored->key));

		if (r == 0)
			r = json_put_bytes(item, "value", ignored->text);
		if (r == 0)
			r = json_put_bytes(item, "file", ignored->file);
		if (r == 0)
			r = json_put(item, "line", json_integer(ignored->line));
		if (r == 0)
			r = json_put(item, "reason", json_string(ignored_reason));
		if (r < 0 || json_array_append(list, item) < 0) {
			json_decref(item);
			json_decref(list);
			return NULL;
		}
		json_decref(item);
	}
	return list;
}

static int print_json(json_t *root, int r, struct buf *out)
{
	json_write(json_done(root, r), JSON_INDENT(2), out);
	buf_char(out, '\n');
	return out->error;
}

int policy_show_json(const struct pinfold_policy *policy, const char *(*effect_of)(void *, enum policy_key), void *arg,
		     struct buf *out)
{
	json_t *root = json_object(), *keys = json_object();
	int r = 0;

	for (int i = 0; r == 0 && i < KEY_COUNT; i++) {
		enum policy_key key = (enum policy_key)i;

		r = json_put(keys, policy_keys[i].name, key_json(policy, key, effect_of ? effect_of(arg, key) : NULL));
	}
	if (json_put(root, "keys", keys) < 0)
		r = -ENOMEM;
	if (r == 0)
		r = json_put(root, "ignored", ignored_json(policy));
	if (r == 0)
		r = json_put(root, "sha256", json_string(policy->sha256));
	return print_json(root, r, out);
}

/* ---- paths ---- */

static void print_path(const char *layer, const char *path, const char *state, struct buf *out)
{
	buf_printf(out, "%-13s  %-9s  ", layer, state);
	buf_printable(out, path);
	buf_char(out, '\n');
}

int policy_paths(const struct pinfold_policy *policy, struct buf *out)
{
	struct arena arena = {0};
	const char *trust = trust_path(&arena, &policy->who);

	for (size_t i = 0; i < policy->file_count; i++) {
		const struct policy_file *file = &policy->files[i];

		print_path(policy_layer_names[file->layer], file->path,
			   !file->exists   ? "missing"
			   : file->trusted ? "trusted"
					   : "read",
			   out);
	}
	if (trust)
		print_path("trust", trust, access(trust, F_OK) == 0 ? "exists" : "missing", out);
	if (arena.is_short && !out->error)
		out->error = -ENOMEM;
	arena_free(&arena);
	return out->error;
}
