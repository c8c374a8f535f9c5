/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command is told of its pen, in PINFOLD_STATUS: an agent that knows beforehand what is closed does not have
 * to find out by failures (F204). An environment has little room, so the text stays below LIMIT_STATUS_BYTES: what does
 * not fit is left out, the least needed first.
 */
#include <errno.h>

#include "base/json.h"
#include "base/limits.h"
#include "plan/plan.h"

enum detail { DETAIL_ALL, DETAIL_NO_REASONS, DETAIL_NO_PATHS, DETAIL_NO_PORTS, DETAIL_COUNT };

static json_t *held_json(const struct pinfold_plan *plan)
{
	json_t *array = json_array();
	int r = array ? 0 : -ENOMEM;

	for (int i = 0; i < GUARANTEE_COUNT; i++)
		if (plan->guarantee[i].state == STATE_HELD)
			r |= json_append_bytes(array, guarantee_defs[i].name);
	if (r == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* The guarantees of one state with what is open about them. */
static json_t *open_json(const struct pinfold_plan *plan, enum guarantee_state state, enum detail detail)
{
	json_t *object = json_object();
	int r = object ? 0 : -ENOMEM;

	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		const struct guarantee_result *result = &plan->guarantee[i];

		if (result->state == state)
			r |= json_put_bytes(object, guarantee_defs[i].name,
					    detail < DETAIL_NO_REASONS ? result->why : NULL);
	}
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *words_json(const struct strv *words)
{
	json_t *array = json_array();
	int r = array ? 0 : -ENOMEM;

	for (size_t i = 0; i < words->n; i++)
		r |= json_append_bytes(array, words->v[i]);
	if (r == 0)
		return array;
	json_decref(array);
	return NULL;
}

static int put_ports(json_t *object, const struct pinfold_plan *plan, enum detail detail)
{
	int r = 0;

	if (plan->reach.n && detail < DETAIL_NO_PORTS)
		r = json_put(object, "reach", words_json(&plan->reach.words));
	if (plan->publish.n && detail < DETAIL_NO_PORTS)
		r |= json_put(object, "publish", words_json(&plan->publish.words));
	return r;
}

static json_t *writes_json(const struct survey *survey)
{
	json_t *array = json_array();
	int r = array ? 0 : -ENOMEM;

	for (size_t i = 0; i < survey->write_count; i++)
		r |= json_append_bytes(array, survey->writes[i].path);
	if (r == 0)
		return array;
	json_decref(array);
	return NULL;
}

static const char *word(const struct pinfold_plan *plan, enum policy_key key)
{
	return policy_keys[key].words[policy_number(plan->policy, key)];
}

static int put_places(json_t *object, const struct pinfold_plan *plan, enum detail detail)
{
	int r = 0;

	if (detail < DETAIL_NO_PATHS) {
		r |= json_put_bytes(object, "worktree", plan->policy->worktree);
		if (plan->survey.write_count)
			r |= json_put(object, "write", writes_json(&plan->survey));
	}
	return r | json_put(object, "read_only", json_boolean(policy_number(plan->policy, KEY_READ_ONLY)));
}

static int put_limit(json_t *object, const char *name, uint64_t value)
{
	return value == POLICY_NONE ? 0 : json_put(object, name, json_integer((json_int_t)value));
}

static json_t *status_json(const struct pinfold_plan *plan, enum detail detail)
{
	json_t *object = json_object();
	int r = json_put(object, "pinfold", json_integer(1));

	r |= json_put(object, "confined", json_boolean(plan->backend != BACKEND_NONE));
	r |= json_put_bytes(object, "mode", word(plan, KEY_MODE));
	r |= put_places(object, plan, detail);
	r |= json_put_bytes(object, "network", word(plan, KEY_NETWORK));
	r |= put_ports(object, plan, detail);
	r |= json_put_bytes(object, "git", word(plan, KEY_GIT));
	r |= put_limit(object, "time_ms", plan->limits.time_ms);
	r |= put_limit(object, "memory", plan->limits.memory);
	r |= json_put(object, "held", held_json(plan));
	r |= json_put(object, "weaker", open_json(plan, STATE_WEAKER, detail));
	r |= json_put(object, "absent", open_json(plan, STATE_ABSENT, detail));
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

/* 0, -E2BIG (it does not fit with this much detail) or -ENOMEM. */
static int status_with(const struct pinfold_plan *plan, enum detail detail, struct buf *out)
{
	char text[LIMIT_STATUS_BYTES];
	json_t *object = status_json(plan, detail);
	size_t len = object ? json_dumpb(object, text, sizeof(text), JSON_COMPACT) : 0;

	json_decref(object);
	if (len == 0)
		return -ENOMEM;
	if (len >= sizeof(text))
		return -E2BIG;
	buf_add(out, text, len);
	return out->error;
}

int plan_status_json(const struct pinfold_plan *plan, struct buf *out)
{
	int r = -E2BIG;

	for (int detail = 0; r == -E2BIG && detail < DETAIL_COUNT; detail++)
		r = status_with(plan, (enum detail)detail, out);
	return r;
}
