/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as JSON: the same facts as the text, complete enough for a test to compare. Values of variables and contents
 * of files stay out, as there. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "plan/print.h"

static json_t *strv_json(const struct strv *list)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < list->n; i++)
		r |= json_append_bytes(array, list->v[i]);
	return json_done(array, r);
}

static json_t *guarantee_json(const struct guarantee_result *result)
{
	json_t *object = json_object();
	int r = json_put_bytes(object, "state", guarantee_state_names[result->state]);

	r |= json_put(object, "by", strv_json(&result->by));
	r |= json_put_bytes(object, "why", result->why);
	r |= json_put(object, "notes", strv_json(&result->notes));
	if (result->accepted)
		r |= json_put_bytes(object, "accepted_by", result->accepted_by);
	return json_done(object, r);
}

static json_t *guarantees_json(const struct pinfold_plan *plan)
{
	json_t *object = json_object();
	int r = 0;

	for (int i = 0; i < GUARANTEE_COUNT; i++)
		r |= json_put(object, guarantee_defs[i].name, guarantee_json(&plan->guarantee[i]));
	return json_done(object, r);
}

static json_t *attributes_json(unsigned set)
{
	json_t *array = json_array();
	int r = 0;

	r |= set & ATTR_READONLY ? json_append_bytes(array, "readonly") : 0;
	r |= set & ATTR_NOSUID ? json_append_bytes(array, "nosuid") : 0;
	r |= set & ATTR_NODEV ? json_append_bytes(array, "nodev") : 0;
	r |= set & ATTR_NOEXEC ? json_append_bytes(array, "noexec") : 0;
	return json_done(array, r);
}

static int put_if(json_t *object, const char *key, const char *text)
{
	return text ? json_put_bytes(object, key, text) : 0;
}

static int put_source(json_t *object, const struct pinfold_plan *plan, const struct plan_source *source)
{
	int r = json_put_bytes(object, "source", source->path);

	r |= source->is_recursive ? json_put(object, "recursive", json_true()) : 0;
	if (source->idmap >= 0)
		r |= json_put(object, "owner", json_integer(plan->idmaps[source->idmap].uid));
	return r | (source->is_optional ? json_put(object, "optional_source", json_true()) : 0);
}

static json_t *op_json(const struct pinfold_plan *plan, const struct plan_op *op)
{
	json_t *object = json_object();
	const struct plan_source *source = print_source(plan, op);
	unsigned set = op->attr_set | (source ? source->attr_set : 0);
	int r = json_put_bytes(object, "operation", print_op_words[op->kind]);

	r |= put_if(object, "path", op->path);
	r |= put_if(object, "from", op->from);
	r |= source ? put_source(object, plan, source) : 0;
	r |= op->kind == OP_LINK || op->kind == OP_TMPFS ? put_if(object, "text", op->text) : 0;
	r |= op->mode ? json_put(object, "mode", json_integer(op->mode)) : 0;
	r |= set ? json_put(object, "attributes", attributes_json(set)) : 0;
	r |= op->is_private ? json_put(object, "in_temp", json_true()) : 0;
	r |= op->is_optional ? json_put(object, "optional", json_true()) : 0;
	return json_done(object, r);
}

static json_t *ops_json(const struct pinfold_plan *plan)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < plan->op_count; i++)
		r |= json_array_append_new(array, op_json(plan, &plan->ops[i]));
	return json_done(array, r);
}

static json_t *rule_json(const struct plan_landlock_rule *rule)
{
	json_t *object = json_object();
	int r = rule->path ? json_put_bytes(object, "path", rule->path) :
			     json_put(object, "descriptor", json_integer(rule->fd));

	r |= json_put(object, "access", json_integer((json_int_t)rule->access));
	return json_done(object, r);
}

static json_t *landlock_json(const struct pinfold_plan *plan)
{
	json_t *object, *rules = json_array();
	int r = 0;

	if (!plan->has_landlock) {
		json_decref(rules);
		return json_null();
	}
	for (size_t i = 0; i < plan->rule_count; i++)
		r |= json_array_append_new(rules, rule_json(&plan->rules[i]));
	object = json_object();
	r |= json_put(object, "handled", json_integer((json_int_t)plan->landlock_handled));
	r |= json_put(object, "scoped", json_integer((json_int_t)plan->landlock_scoped));
	r |= json_put(object, "network", json_integer((json_int_t)plan->landlock_net));
	r |= json_put(object, "rules", rules);
	return json_done(object, r);
}

static json_t *ids_json(const struct pinfold_plan *plan)
{
	return json_pack("{s:I,s:I,s:I,s:I}", "host_uid", (json_int_t)plan->host_uid, "host_gid",
			 (json_int_t)plan->host_gid, "inner_uid", (json_int_t)plan->inner_uid, "inner_gid",
			 (json_int_t)plan->inner_gid);
}

static int put_limit(json_t *object, const char *name, uint64_t value)
{
	return json_put(object, name, value == POLICY_NONE ? json_null() : json_integer((json_int_t)value));
}

static json_t *limits_json(const struct plan_limits *limits)
{
	json_t *object = json_object();
	int r = put_limit(object, "time_ms", limits->time_ms);

	r |= put_limit(object, "memory", limits->memory);
	r |= put_limit(object, "processes", limits->processes);
	r |= put_limit(object, "tmp_size", limits->tmp_size);
	return json_done(object, r);
}

/* Names only. */
static json_t *environment_json(const struct strv *environment)
{
	json_t *array = json_array();
	struct arena arena = { 0 };
	int r = 0;

	for (size_t i = 0; i < environment->n; i++) {
		char *name = arena_strndup(&arena, environment->v[i], strcspn(environment->v[i], "="));

		r |= name ? json_append_bytes(array, name) : -ENOMEM;
	}
	arena_free(&arena);
	return json_done(array, r);
}

static json_t *plan_json(const struct pinfold_plan *plan)
{
	json_t *object = json_object();
	int r = json_put(object, "pinfold", json_integer(1));

	r |= json_put(object, "command", strv_json(&plan->argv));
	r |= json_put_bytes(object, "cwd", plan->cwd ? plan->cwd : plan->policy->cwd);
	r |= json_put_bytes(object, "worktree", plan->policy->worktree);
	r |= json_put_bytes(object, "mode", policy_keys[KEY_MODE].words[policy_number(plan->policy, KEY_MODE)]);
	r |= json_put_bytes(object, "backend", backend_defs[plan->backend].name);
	r |= json_put(object, "offline", json_boolean(plan->offline));
	r |= plan->reach.n ? json_put(object, "reach", strv_json(&plan->reach.words)) : 0;
	r |= plan->publish.n ? json_put(object, "publish", strv_json(&plan->publish.words)) : 0;
	r |= json_put(object, "guarantees", guarantees_json(plan));
	r |= json_put(object, "warnings", strv_json(&plan->warnings));
	r |= json_put(object, "ids", ids_json(plan));
	r |= json_put(object, "limits", limits_json(&plan->limits));
	r |= json_put(object, "environment", environment_json(&plan->environment));
	r |= json_put(object, "removed_environment", strv_json(&plan->removed));
	r |= json_put(object, "mounts", ops_json(plan));
	r |= json_put(object, "landlock", landlock_json(plan));
	r |= json_put(object, "seccomp", json_boolean(plan->has_seccomp));
	return json_done(object, r);
}

int plan_print_json(const struct pinfold_plan *plan, struct buf *out)
{
	json_write(plan_json(plan), JSON_INDENT(2), out);
	buf_char(out, '\n');
	return out->error;
}
