/* SPDX-License-Identifier: Apache-2.0 */
/* `pinfold status`: the text of PINFOLD_STATUS as lines. It comes from the environment, so it is foreign data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/num.h"
#include "plan/plan.h"
#include "report/report.h"

static const char *text_of(struct arena *arena, const json_t *object, const char *key)
{
	return json_text_of(arena, json_object_get(object, key));
}

static void add_list(struct buf *out, struct arena *arena, const char *title, const json_t *list)
{
	size_t i;
	const json_t *item;

	if (json_array_size(list) == 0)
		return;
	buf_printf(out, "%s: ", title);
	json_array_foreach(list, i, item) {
		const char *text = json_text_of(arena, item);

		buf_str(out, i ? ", " : "");
		buf_printable(out, text ? text : "?");
	}
	buf_char(out, '\n');
}

static void add_open(struct buf *out, struct arena *arena, const char *state, json_t *object)
{
	const char *name;
	json_t *reason;

	json_object_foreach(object, name, reason) {
		const char *why = json_text_of(arena, reason);

		buf_printf(out, "%s: ", state);
		buf_printable(out, name);
		buf_str(out, why ? ": " : "");
		buf_printable(out, why ? why : "");
		buf_char(out, '\n');
	}
}

static void add_place(struct buf *out, struct arena *arena, const json_t *object)
{
	const char *worktree = text_of(arena, object, "worktree");

	if (json_is_true(json_object_get(object, "read_only"))) {
		buf_str(out, "files: read-only, except a private temp\n");
		return;
	}
	buf_str(out, "files: read-only, except ");
	buf_printable(out, worktree ? worktree : "the worktree");
	buf_str(out, ", a private temp and private caches\n");
	add_list(out, arena, "also writable", json_object_get(object, "write"));
}

static void add_words(struct buf *out, struct arena *arena, const json_t *object)
{
	static const char *const keys[] = { "network", "git" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *word = text_of(arena, object, keys[i]);

		if (!word)
			continue;
		buf_printf(out, "%s: ", keys[i]);
		buf_printable(out, word);
		buf_char(out, '\n');
	}
	add_list(out, arena, "reachable ports of the host (host:inside)", json_object_get(object, "reach"));
	add_list(out, arena, "published ports (host:inside)", json_object_get(object, "publish"));
}

static void add_limits(struct buf *out, const json_t *object)
{
	json_int_t time_ms = json_integer_value(json_object_get(object, "time_ms"));
	json_int_t memory = json_integer_value(json_object_get(object, "memory"));
	char text[32];

	if (time_ms > 0)
		buf_printf(out, "time: %s\n", num_duration_text((uint64_t)time_ms, text));
	if (memory > 0)
		buf_printf(out, "memory: %s\n", num_size_text((uint64_t)memory, text));
}

static bool is_confined(const json_t *object)
{
	return json_is_true(json_object_get(object, "confined"));
}

static bool status_text(struct buf *out, struct arena *arena, const json_t *object)
{
	buf_str(out, is_confined(object) ? "confined: yes\n" : "confined: no\n");
	if (is_confined(object)) {
		add_place(out, arena, object);
		add_words(out, arena, object);
	}
	add_limits(out, object);
	add_list(out, arena, "held", json_object_get(object, "held"));
	add_open(out, arena, guarantee_state_names[STATE_WEAKER], json_object_get(object, "weaker"));
	add_open(out, arena, guarantee_state_names[STATE_ABSENT], json_object_get(object, "absent"));
	return is_confined(object);
}

static bool status_json(struct buf *out, json_t *object)
{
	json_write(json_incref(object), JSON_COMPACT, out);
	buf_char(out, '\n');
	return is_confined(object);
}

int status_read(const char *text, enum pinfold_format format, struct buf *out, struct pinfold_error *err)
{
	struct arena arena = { 0 };
	json_t *object = NULL;
	json_error_t where;
	int r = json_read(text, strlen(text), JSON_REJECT_DUPLICATES, &object, &where);

	if (r == -ENOMEM)
		return err_oom(err);
	if (!json_is_object(object) || !json_is_boolean(json_object_get(object, "confined")))
		r = err_say(err, PINFOLD_USAGE, EINVAL, "PINFOLD_STATUS does not hold the status of a run");
	else if (format == PINFOLD_JSON)
		r = status_json(out, object);
	else
		r = status_text(out, &arena, object);
	if (arena.is_short || out->error == -ENOMEM)
		r = err_oom(err);
	json_decref(object);
	arena_free(&arena);
	return r;
}
