/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effective policy as one configuration file, every value written out. One file is one layer, and has to say in one
 * voice what several said over each other: what a later layer, or the administrator, overruled is left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "policy/internal.h"
#include "policy/pattern.h"

struct dumping {
	const struct pinfold_policy *policy;
	struct arena arena;
};

static const char *plain_path(struct dumping *dump, const char *path)
{
	size_t length = strlen(path);

	return length > 1 && path[length - 1] == '/' ? arena_strndup(&dump->arena, path, length - 1) : path;
}

/* 1: the grant still holds, 0: it is overruled. */
static int grant_holds(struct dumping *dump, enum policy_key key, const char *text)
{
	const char *path = plain_path(dump, text);

	if (!path)
		return -ENOMEM;
	if (policy_rule(dump->policy, AXIS_READ, path, NULL, NULL) == RULE_DENY)
		return 0;
	return key != KEY_WRITE || policy_rule(dump->policy, AXIS_WRITE, path, NULL, NULL) != RULE_DENY;
}

/* 0: a later layer took the denial of this one path back. A wildcard is kept whole: with the grant in the same layer it
 * is the stricter of the two then. */
static int denial_holds(struct dumping *dump, enum policy_key key, const char *text)
{
	const struct pinfold_policy *policy = dump->policy;
	enum rule_axis axis = key == KEY_HIDE ? AXIS_READ : AXIS_WRITE;
	struct pattern pattern;

	if (pattern_parse(&dump->arena, text, policy->worktree, policy->who.home, &pattern, NULL) < 0)
		return -ENOMEM;
	return !pattern.is_literal || policy_rule(policy, axis, pattern.literal, NULL, NULL) == RULE_DENY;
}

static int item_holds(struct dumping *dump, enum policy_key key, const char *text)
{
	if (key == KEY_WRITE || key == KEY_READ)
		return grant_holds(dump, key, text);
	if (key == KEY_HIDE || key == KEY_PROTECT)
		return denial_holds(dump, key, text);
	return 1;
}

/* "NAME=absent" is the command line's alone; a file says NAME, which is stricter. */
static const char *item_text(struct dumping *dump, enum policy_key key, const char *text)
{
	if (policy_keys[key].type != TYPE_NAMES)
		return text;
	return arena_strndup(&dump->arena, text, strcspn(text, "="));
}

/* Of equal items the last stays, since of a variable that is set twice the last one counts. */
static int prepend_item(struct dumping *dump, enum policy_key key, const char *text, json_t *seen, json_t *list)
{
	const char *shown = item_text(dump, key, text);

	if (!shown)
		return -ENOMEM;
	if (json_object_get(seen, shown))
		return 0;
	if (json_object_set_new_nocheck(seen, shown, json_true()) < 0)
		return -ENOMEM;
	return json_array_insert_new(list, 0, json_bytes(shown)) < 0 ? -ENOMEM : 0;
}

static int fill_list(struct dumping *dump, enum policy_key key, json_t *seen, json_t *list)
{
	const struct policy_value *value = &dump->policy->value[key];
	int r = list && seen ? 0 : -ENOMEM;

	for (size_t i = value->count; r >= 0 && i > 0; i--) {
		const char *text = value->items[i - 1].text;

		r = item_holds(dump, key, text);
		if (r > 0)
			r = prepend_item(dump, key, text, seen, list);
	}
	/* Begins with what takes the built-in row back, so that the list says all of it. */
	if (r >= 0 && policy_keys[key].type == TYPE_NAMES)
		r = json_array_insert_new(list, 0, json_string(ACCEPT_NONE)) < 0 ? -ENOMEM : 0;
	return r < 0 ? r : 0;
}

static json_t *list_json(struct dumping *dump, enum policy_key key)
{
	json_t *list = json_array(), *seen = json_object();
	int r = fill_list(dump, key, seen, list);

	json_decref(seen);
	if (r == 0)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *scalar_json(enum policy_key key, const struct policy_value *value)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_TEXT_BYTES);

	if (policy_keys[key].type == TYPE_FLAG)
		return json_boolean(value->number);
	if (policy_keys[key].type == TYPE_COUNT && value->number != POLICY_NONE)
		return json_integer((json_int_t)value->number);
	value_text(key, value->number, value->text, &text);
	return text.error ? NULL : json_bytes(text.data ? text.data : "");
}

static int fill(struct dumping *dump, json_t *root)
{
	int r = 0;

	for (int i = 0; r == 0 && i < KEY_COUNT; i++) {
		enum policy_key key = (enum policy_key)i;

		if (policy_keys[key].is_command_only)
			continue;
		/* without a path there is no word for the default */
		if (policy_keys[key].type == TYPE_PATH && !dump->policy->value[key].text)
			continue;
		r = json_put(root, policy_keys[key].name,
			     type_is_list(policy_keys[key].type) ? list_json(dump, key)
								 : scalar_json(key, &dump->policy->value[key]));
	}
	return r;
}

int policy_dump(const struct pinfold_policy *policy, struct buf *out)
{
	struct dumping dump = {.policy = policy};
	json_t *root = json_object();
	int r = fill(&dump, root);

	json_write(json_done(root, dump.arena.is_short ? -ENOMEM : r), JSON_INDENT(2), out);
	buf_char(out, '\n');
	arena_free(&dump.arena);
	return out->error;
}

static void add_option(struct buf *out, const struct policy_setting *setting)
{
	const struct policy_key_def *def = &policy_keys[setting->key];
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_TEXT_BYTES);

	if (def->type == TYPE_FLAG) {
		buf_printf(out, " --%s%s", setting->number ? "" : "no-", def->option + 2);
		return;
	}
	if (type_is_list(def->type))
		buf_str(&text, setting->text);
	else
		value_text(setting->key, setting->number, setting->text, &text);
	/* What a variable is set to may be a secret: nobody wants it in a message or a record. */
	if (def->type == TYPE_ENVIRONMENT && strchr(setting->text, '='))
		buf_printf(out, " %s %.*s=...", def->option, (int)strcspn(setting->text, "="), setting->text);
	else if (def->type == TYPE_NAMES && strcmp(setting->text, ACCEPT_NONE) == 0)
		buf_printf(out, " --no-%s", def->option + 2);
	else {
		buf_printf(out, " %s ", def->option);
		buf_shell(out, text.data ? text.data : "");
	}
}

void policy_options(const struct pinfold_policy *policy, struct buf *out)
{
	if (policy->config_file) {
		buf_str(out, " --config ");
		buf_shell(out, policy->config_file);
	} else if (policy->config_fd >= 0) {
		buf_printf(out, " --config fd:%d", policy->config_fd);
	}
	for (size_t i = 0; i < policy->setting_count; i++)
		if (policy->settings[i].key != KEY_VERBOSE)
			add_option(out, &policy->settings[i]);
}

/* For the sha256, at every run: what differs from the defaults, lengths first so that no text can pass for another, and
 * with each item its layer, since that decides between two rules. */
int policy_canonical(const struct pinfold_policy *policy, struct buf *out)
{
	buf_printf(out, "%zu:%s\n", strlen(policy->worktree), policy->worktree);
	for (int key = 0; key < KEY_COUNT; key++) {
		const struct policy_value *value = &policy->value[key];
		const char *text = value->text ? value->text : "";

		if (key == KEY_WORKTREE || key == KEY_VERBOSE)
			continue;
		if (value->number == policy_keys[key].builtin && !*text && value->count == 0)
			continue;
		buf_printf(out, "%s %llu ", policy_keys[key].name, (unsigned long long)value->number);
		buf_printf(out, "%zu:%s\n", strlen(text), text);
		for (size_t i = 0; i < value->count; i++)
			buf_printf(out, "%d %zu:%s\n", (int)value->items[i].source.layer, strlen(value->items[i].text),
				   value->items[i].text);
	}
	return out->error;
}
