/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a run: a contract with the programs that read it. Fields are only ever added. */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "plan/plan.h"
#include "report/outcome.h"
#include "report/report.h"

enum { RECORD_SCHEMA = 1 };

const char *const report_layer_names[LAYER_COUNT] = {
	[LAYER_BUILTIN] = "built in",
	[LAYER_ADMIN] = "administrator",
	[LAYER_USER] = "user",
	[LAYER_PROJECT_ENTRY] = "user's entry for the project",
	[LAYER_PROJECT] = "project",
	[LAYER_COMMAND] = "command line",
};

/* Jansson keeps every reference counted and refuses NULL values, so a failure anywhere below reaches the one check. */
static json_t *list_json(const char *const *list)
{
	json_t *array = json_array();

	for (; array && *list; list++)
		if (json_append_bytes(array, *list) < 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *strv_json(const struct strv *list)
{
	static const char *const empty[] = { NULL };

	return list_json(list->n ? (const char *const *)list->v : empty);
}

static json_t *guarantee_json(const struct outcome_guarantee *guarantee)
{
	json_t *object = json_object();
	int r = json_put_bytes(object, "state", guarantee_state_names[guarantee->state]);

	r |= json_put(object, "by", list_json(guarantee->by));
	r |= json_put_bytes(object, "why", guarantee->why);
	r |= json_put(object, "notes", list_json(guarantee->notes));
	if (guarantee->accepted)
		r |= json_put_bytes(object, "accepted_by", guarantee->accepted_by);
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *guarantees_json(const struct pinfold_outcome *outcome)
{
	json_t *object = json_object();
	int r = object ? 0 : -ENOMEM;

	for (int i = 0; outcome->has_plan && i < GUARANTEE_COUNT; i++)
		r |= json_put(object, guarantee_defs[i].name, guarantee_json(&outcome->guarantee[i]));
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *file_json(const struct outcome_file *file)
{
	json_t *object = json_object();
	int r = json_put_bytes(object, "layer", file->layer);

	r |= json_put_bytes(object, "path", file->path);
	r |= json_put_bytes(object, "sha256", file->sha256);
	if (file->is_project)
		r |= json_put(object, "trusted", json_boolean(file->is_trusted));
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *policy_json(const struct pinfold_outcome *outcome)
{
	json_t *object, *sources = json_array();
	int r = sources ? 0 : -ENOMEM;

	if (!outcome->policy_sha256) {
		json_decref(sources);
		return json_null();
	}
	for (size_t i = 0; i < outcome->file_count; i++)
		r |= json_array_append_new(sources, file_json(&outcome->files[i]));
	object = json_object();
	r |= json_put_bytes(object, "sha256", outcome->policy_sha256);
	r |= json_put(object, "sources", sources);
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

/* The exit's reason is set when the command never ran, or when something failed beside it. */
static json_t *exit_json(const struct run_result *result)
{
	json_t *object = json_object();
	char text[2048];
	int r = json_put(object, "code", result->signal ? json_null() : json_integer(outcome_status(result)));

	r |= json_put(object, "signal", result->signal ? json_integer(result->signal) : json_null());
	r |= json_put(object, "timed_out", json_boolean(result->timed_out));
	r |= json_put_bytes(object, "reason",
			    result->error.code == PINFOLD_OK ? NULL : pinfold_code_name(result->error.code));
	if (result->error.code != PINFOLD_OK) {
		pinfold_error_text(&result->error, text, sizeof(text));
		r |= json_put_bytes(object, "message", text);
	}
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

/* That of an error, and what was asked for. */
static json_t *hints_json(const struct pinfold_outcome *outcome)
{
	const char *of_error = outcome->result.error.hint;
	json_t *array = strv_json(&outcome->hints);

	if (array && *of_error && json_append_bytes(array, of_error) < 0) {
		json_decref(array);
		return NULL;
	}
	return array;
}

static json_t *host_json(const struct pinfold_outcome *outcome)
{
	json_t *object;

	if (!outcome->kernel)
		return json_null();
	object = json_object();
	if (json_put_bytes(object, "kernel", outcome->kernel) == 0 &&
	    json_put(object, "landlock_abi", json_integer(outcome->landlock_abi)) == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *check_json(const struct check_result *check)
{
	if (!check->is_done)
		return json_pack("{s:s}", "kind", "none");
	return json_pack("{s:s, s:b}", "kind", check->is_tree ? "tree" : "set", "complete", check->is_complete);
}

static json_t *violation_json(const struct check_violation *violation)
{
	json_t *object = json_object();
	int r = json_put_bytes(object, "path", violation->path);

	r |= json_put_bytes(object, "what", violation->what);
	r |= json_put_bytes(object, "action", check_action_names[violation->action]);
	if (violation->moved_to)
		r |= json_put_bytes(object, "moved_to", violation->moved_to);
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *violations_json(const struct check_result *check)
{
	json_t *array = json_array();
	int r = array ? 0 : -ENOMEM;

	for (size_t i = 0; i < check->count; i++)
		r |= json_array_append_new(array, violation_json(&check->violations[i]));
	if (r == 0)
		return array;
	json_decref(array);
	return NULL;
}

static int what_was_asked(json_t *record, const struct pinfold_outcome *outcome)
{
	int r = json_put(record, "pinfold", json_integer(RECORD_SCHEMA));

	r |= json_put(record, "command", strv_json(&outcome->command));
	r |= json_put_bytes(record, "cwd", outcome->cwd);
	r |= json_put_bytes(record, "worktree", outcome->worktree);
	r |= json_put_bytes(record, "mode", outcome->mode);
	r |= json_put_bytes(record, "backend", outcome->backend);
	r |= json_put(record, "reach", strv_json(&outcome->reach));
	r |= json_put(record, "publish", strv_json(&outcome->publish));
	r |= json_put(record, "policy", policy_json(outcome));
	return r | json_put(record, "guarantees", guarantees_json(outcome));
}

static int what_happened(json_t *record, const struct pinfold_outcome *outcome)
{
	const struct run_result *result = &outcome->result;
	int r = json_put(record, "ran", json_boolean(result->ran));

	r |= json_put(record, "exit", exit_json(result));
	r |= json_put(record, "duration_ms", json_integer((json_int_t)result->duration_ms));
	r |= json_put(record, "check", check_json(&outcome->check));
	r |= json_put(record, "violations", violations_json(&outcome->check));
	r |= json_put(record, "hints", hints_json(outcome));
	r |= json_put(record, "warnings", strv_json(&outcome->warnings));
	r |= json_put(record, "removed_environment", strv_json(&outcome->removed));
	if (outcome->arena.is_short)
		r |= json_put(record, "incomplete", json_true());
	return r | json_put(record, "host", host_json(outcome));
}

int record_json(const struct pinfold_outcome *outcome, struct buf *out)
{
	json_t *record = json_object();
	int r = record ? 0 : -ENOMEM;

	if (r == 0 && (what_was_asked(record, outcome) || what_happened(record, outcome)))
		r = -ENOMEM;
	json_write(json_done(record, r), JSON_INDENT(2), out);
	buf_char(out, '\n');
	return out->error;
}
