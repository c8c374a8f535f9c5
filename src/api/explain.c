/* SPDX-License-Identifier: Apache-2.0 */
/* The public side of explain. */
#include "plan/explain.h"

#include <errno.h>

#include "api/api.h"
#include "base/err.h"
#include "base/limits.h"

struct question {
	const struct pinfold_plan *plan;
	struct arena *arena;
	const char *word, *kernel;
	bool is_json;
	struct buf *out;
};

/* Each: 1, 0 (2: the kernel disagrees), or -errno with *err filled, but for the writing. */
static int ask_path(const struct question *ask, struct pinfold_error *err)
{
	struct explain_path answer;
	int r = explain_path(ask->plan, ask->arena, ask->word, &answer, err);
	bool agrees;

	if (r < 0)
		return r;
	agrees = !ask->kernel || explain_prove(&answer, ask->kernel);
	explain_path_print(&answer, ask->is_json, ask->out);
	return agrees ? answer.right[RIGHT_READ].allowed : 2;
}

static int ask_address(const struct question *ask, struct pinfold_error *err)
{
	struct explain_address answer;
	int r = explain_address(ask->plan, ask->arena, ask->word, &answer, err);

	if (r == 0)
		explain_address_print(&answer, ask->is_json, ask->out);
	return r < 0 ? r : answer.connect.allowed;
}

static int ask_command(const struct question *ask, struct pinfold_error *err)
{
	struct explain_command answer;
	int r = explain_command(ask->plan, ask->arena, &answer, err);

	if (r == 0)
		explain_command_print(&answer, ask->is_json, ask->out);
	return r < 0 ? r : answer.execute.allowed;
}

int pinfold_plan_explain(const struct pinfold_plan *plan, const char *word, const char *kernel,
			 enum pinfold_format format, char **ret, struct pinfold_error *err)
{
	static int (*const ask_about[])(const struct question *, struct pinfold_error *) = {
		[EXPLAIN_PATH] = ask_path, [EXPLAIN_ADDRESS] = ask_address, [EXPLAIN_COMMAND] = ask_command,
	};
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);
	struct arena arena = { 0 };
	const struct question ask = { plan, &arena, word, kernel, format == PINFOLD_JSON, &out };
	int kind = word ? explain_kind_of(word) : EXPLAIN_COMMAND, allowed, r;

	if (kind < 0) {
		r = err_say(err, PINFOLD_USAGE, EINVAL, "'%s' is neither a path nor HOST:PORT", word);
		err_hint(err, "a path begins with /, . or ~; to ask about a command: pinfold explain -- %s", word);
		return r;
	}
	allowed = ask_about[kind](&ask, err);
	arena_free(&arena);
	if (allowed < 0) {
		buf_free(&out);
		return allowed;
	}
	r = api_give(&out, 0, ret, err);
	return r < 0 ? r : allowed;
}
