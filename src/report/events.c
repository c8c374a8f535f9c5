/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/limits.h"
#include "report/hints.h"

static json_t *list_json(const struct strv *list)
{
	json_t *array = json_array();
	int r = array ? 0 : -ENOMEM;

	for (size_t i = 0; i < list->n; i++)
		r |= json_append_bytes(array, list->v[i]);
	if (r == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* The members of an object without its opening brace, with a newline: what follows `"event":NAME,"time":N,`. */
static char *tail_of(json_t *object, int r)
{
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);
	size_t length;
	char *text;

	json_write(json_done(object, r), JSON_COMPACT, &out);
	length = out.len;
	text = buf_take(&out, &r);
	if (!text)
		return NULL;
	memmove(text, text + 1, length); /* with the NUL */
	text[length - 1] = '\n';         /* the brace has left room */
	return text;
}

/* ---- before ---------------------------------------------------------------------------------------------------- */

static json_t *states_json(const struct pinfold_plan *plan)
{
	json_t *object = json_object();
	int r = object ? 0 : -ENOMEM;

	for (int i = 0; i < GUARANTEE_COUNT; i++)
		r |= json_put_bytes(object, guarantee_defs[i].name, guarantee_state_names[plan->guarantee[i].state]);
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *status_json(const struct pinfold_plan *plan)
{
	json_t *object = json_object();
	int r = json_put(object, "applied", json_boolean(plan->backend != BACKEND_NONE));

	r |= json_put_bytes(object, "backend", backend_defs[plan->backend].name);
	r |= json_put_bytes(object, "mode", policy_keys[KEY_MODE].words[policy_number(plan->policy, KEY_MODE)]);
	r |= json_put(object, "guarantees", states_json(plan));
	r |= json_put_bytes(object, "reason", plan->backend == BACKEND_NONE ? plan->guarantee[0].why : NULL);
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *start_json(const struct pinfold_plan *plan)
{
	json_t *object = json_object();
	int r = json_put(object, "command", list_json(&plan->argv));

	r |= json_put_bytes(object, "cwd", plan->cwd);
	r |= json_put_bytes(object, "worktree", plan->survey.worktree);
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static int prepare(struct pinfold_plan *plan, enum plan_event event, json_t *object)
{
	char *tail = tail_of(object, object ? 0 : -ENOMEM);

	plan->event[event] = tail ? arena_strdup(&plan->arena, tail) : NULL;
	free(tail);
	return plan->event[event] ? 0 : -ENOMEM;
}

int events_prepare(struct pinfold_plan *plan)
{
	int r = prepare(plan, PLAN_EVENT_STATUS, status_json(plan));

	return r == 0 ? prepare(plan, PLAN_EVENT_START, start_json(plan)) : r;
}

/* ---- after ----------------------------------------------------------------------------------------------------- */

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void line(struct buf *out, const char *event, json_t *object, int r)
{
	char *tail = tail_of(object, r);

	if (!tail) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	buf_printf(out, "{\"event\":\"%s\",\"time\":%lld,%s", event, (long long)now(), tail);
	free(tail);
}

static void no_pen(const struct pinfold_outcome *outcome, struct buf *out)
{
	json_t *object = json_object();
	char text[2048];
	int r = json_put(object, "applied", json_false());

	pinfold_error_text(&outcome->result.error, text, sizeof(text));
	r |= json_put_bytes(object, "backend", outcome->backend);
	r |= json_put_bytes(object, "mode", outcome->mode);
	r |= json_put(object, "guarantees", json_object());
	r |= json_put_bytes(object, "reason", text);
	line(out, "sandbox_status", object, r);
}

static void hints(const struct pinfold_outcome *outcome, struct buf *out)
{
	for (size_t i = 0; i < outcome->hints.n; i++) {
		json_t *object = json_object();

		line(out, "hint", object, json_put_bytes(object, "text", outcome->hints.v[i]));
	}
}

static void violations(const struct pinfold_outcome *outcome, struct buf *out)
{
	for (size_t i = 0; i < outcome->check.count; i++) {
		const struct check_violation *violation = &outcome->check.violations[i];
		json_t *object = json_object();
		int r = json_put_bytes(object, "path", violation->path);

		r |= json_put_bytes(object, "what", violation->what);
		r |= json_put_bytes(object, "action", check_action_names[violation->action]);
		r |= json_put_bytes(object, "moved_to", violation->moved_to);
		line(out, "violation", object, r);
	}
}

static void finish(const struct pinfold_outcome *outcome, struct buf *out)
{
	const struct run_result *result = &outcome->result;
	const bool failed = result->error.code != PINFOLD_OK;
	json_t *object = json_object();
	char text[2048];
	int r = json_put(object, "ran", json_boolean(result->ran));

	pinfold_error_text(&result->error, text, sizeof(text));
	r |= json_put(object, "code", result->signal ? json_null() : json_integer(outcome_status(result)));
	r |= json_put(object, "signal", result->signal ? json_integer(result->signal) : json_null());
	r |= json_put(object, "timed_out", json_boolean(result->timed_out));
	r |= json_put_bytes(object, "reason", failed ? pinfold_code_name(result->error.code) : NULL);
	r |= json_put_bytes(object, "message", failed ? text : NULL);
	r |= json_put(object, "duration_ms", json_integer((json_int_t)result->duration_ms));
	line(out, "finish", object, r);
}

int events_after(const struct pinfold_outcome *outcome, struct buf *out)
{
	if (!outcome->result.is_announced)
		no_pen(outcome, out);
	hints(outcome, out);
	violations(outcome, out);
	if (outcome->result.timed_out) {
		json_t *object = json_object();

		line(out, "limit", object, json_put_bytes(object, "limit", "time"));
	}
	finish(outcome, out);
	return out->error;
}
