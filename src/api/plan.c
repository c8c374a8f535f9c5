/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of the host and the plan. */
#include "plan/plan.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/api.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/path.h"
#include "host/cause.h"
#include "linux/confined.h"
#include "report/notice.h"
#include "report/report.h"
#include "survey/tracked.h"

int api_give(struct buf *out, int r, char **ret, struct pinfold_error *err)
{
	char *text;

	if (r < 0 && !out->error)
		out->error = r;
	text = buf_take(out, &r);
	if (!text)
		return err_sys(err, PINFOLD_INTERNAL, r < 0 ? -r : ENOMEM, "write the text", NULL);
	*ret = text;
	return 0;
}

const char *const *api_list(const struct strv *list)
{
	static const char *const empty[] = { NULL };

	return list->n ? (const char *const *)list->v : empty;
}

/* ---- host ------------------------------------------------------------------------------------------------------ */

struct pinfold_host *pinfold_host_new(void)
{
	struct pinfold_host *host = calloc(1, sizeof(*host));

	if (host)
		host_read(host);
	return host;
}

struct pinfold_host *pinfold_host_free(struct pinfold_host *host)
{
	free(host);
	return NULL;
}

int pinfold_host_landlock_abi(const struct pinfold_host *host)
{
	return host->landlock_abi;
}

int pinfold_host_missing(const struct pinfold_host *host, size_t index, struct pinfold_missing *ret)
{
	const struct host_finding *finding;
	struct cause_signs signs;
	struct cause cause;

	if (index >= FACT_COUNT)
		return -ENOENT;
	finding = &host->fact[index];
	if (finding->state != FACT_NO)
		return 0;
	cause_read_signs(&signs, host);
	cause = cause_of((enum host_fact)index, finding->step, finding->errnum, &signs);
	*ret = (struct pinfold_missing){
		.name = host_fact_names[index],
		.step = finding->step,
		.object = finding->object,
		.errnum = finding->errnum,
		.cause = cause.kind,
		.text = cause.text,
		.fix = cause.fix,
	};
	return 1;
}

/* ---- plan ------------------------------------------------------------------------------------------------------ */

_Static_assert((int)STATE_HELD == (int)PINFOLD_HELD && (int)STATE_WEAKER == (int)PINFOLD_WEAKER &&
	       (int)STATE_ABSENT == (int)PINFOLD_ABSENT && (int)STATE_NOT_ASKED == (int)PINFOLD_NOT_ASKED,
	       "the public states are the plan's");

const char *pinfold_state_name(enum pinfold_state state)
{
	return (unsigned)state < PINFOLD_STATE_COUNT ? guarantee_state_names[state] : "unknown";
}

int pinfold_plan_new(struct pinfold_plan **ret, const struct pinfold_policy *policy, struct pinfold_host *host,
		     char *const argv[], bool is_preview, struct pinfold_error *err)
{
	struct pinfold_plan *plan;
	int r;

	if (!policy->loaded)
		return err_say(err, PINFOLD_USAGE, EINVAL, "the policy is not loaded yet");
	if (!argv || !argv[0])
		return err_say(err, PINFOLD_USAGE, EINVAL, "there is no command");
	plan = calloc(1, sizeof(*plan));
	if (!plan)
		return err_oom(err);
	r = survey_take(&plan->survey, policy, environ, !is_preview, err);
	plan->has_survey = true;
	if (r == 0 && !is_preview && survey_take_tracked(&plan->survey, policy, argv) < 0)
		r = err_oom(err);
	if (r == 0)
		r = plan_build(plan, policy, host, argv, err);
	if (r < 0)
		pinfold_plan_free(plan);
	else
		*ret = plan;
	return r;
}

struct pinfold_plan *pinfold_plan_free(struct pinfold_plan *plan)
{
	if (!plan)
		return NULL;
	if (plan->has_survey)
		survey_free(&plan->survey);
	arena_free(&plan->arena);
	free(plan);
	return NULL;
}

int pinfold_plan_guarantee(const struct pinfold_plan *plan, size_t index, struct pinfold_guarantee *ret)
{
	const struct guarantee_result *result;

	if (index >= GUARANTEE_COUNT)
		return -ENOENT;
	result = &plan->guarantee[index];
	*ret = (struct pinfold_guarantee){
		.name = guarantee_defs[index].name,
		.promise = guarantee_defs[index].promise,
		.state = (enum pinfold_state)result->state,
		.by = api_list(&result->by),
		.why = result->why,
		.notes = api_list(&result->notes),
		.accepted = result->accepted,
		.accepted_by = result->accepted_by,
		.missing = result->fact,
	};
	return 0;
}

const char *pinfold_plan_backend(const struct pinfold_plan *plan)
{
	return backend_defs[plan->backend].name;
}

const char *pinfold_plan_needs_network(const struct pinfold_plan *plan)
{
	return plan->needs_network;
}

const char *pinfold_plan_warning(const struct pinfold_plan *plan, size_t index)
{
	return index < plan->warnings.n ? plan->warnings.v[index] : NULL;
}

const char *pinfold_plan_notice(const struct pinfold_plan *plan, size_t index)
{
	return index < plan->survey.notices.n ? plan->survey.notices.v[index] : NULL;
}

int pinfold_plan_print(const struct pinfold_plan *plan, enum pinfold_format format, char **ret,
		       struct pinfold_error *err)
{
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);
	int r = format == PINFOLD_JSON ? plan_print_json(plan, &out) : plan_print_text(plan, &out);

	return api_give(&out, r, ret, err);
}

int pinfold_plan_status(const struct pinfold_plan *plan, enum pinfold_format format, char **ret,
			struct pinfold_error *err)
{
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);
	char *json;
	int r = api_give(&out, plan_status_json(plan, &out), &json, err);

	if (r < 0)
		return r;
	/* Written by way of what a run is told, so that both read alike. */
	r = pinfold_status_read(json, format, ret, err);
	free(json);
	return r < 0 ? r : 0;
}

int pinfold_status_read(const char *text, enum pinfold_format format, char **ret, struct pinfold_error *err)
{
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);
	int r = status_read(text, format, &out, err);
	int given;

	if (r < 0) {
		buf_free(&out);
		return r;
	}
	given = api_give(&out, 0, ret, err);
	return given < 0 ? given : r;
}

int pinfold_plan_description(const struct pinfold_plan *plan, char **ret, struct pinfold_error *err)
{
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);

	return api_give(&out, notice_write(plan, &out), ret, err);
}

int pinfold_plan_refusal(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	return plan_refusal(plan, err);
}

/* ---- what the command can write -------------------------------------------------------------------------------- */

static bool is_in_grants(const char *path, const struct survey_grant *grants, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (path_is_in(path, grants[i].path))
			return true;
	return false;
}

static bool is_in_caches(const struct survey *survey, const char *path)
{
	for (size_t i = 0; i < survey->cache_count; i++)
		if (survey->caches[i].store && path_is_in(path, survey->caches[i].store))
			return true;
	return false;
}

/* The private temp lies over /tmp: what the command writes there never reaches the host's. */
static bool is_in_writable(const struct pinfold_plan *plan, const char *real, bool with_worktree)
{
	const struct survey *survey = &plan->survey;

	return (with_worktree && path_is_in(real, survey->worktree)) ||
	       is_in_grants(real, survey->writes, survey->write_count) || is_in_caches(survey, real) ||
	       (survey->tmp && path_is_in(real, survey->tmp));
}

enum { LINK_HOPS = 40 }; /* as the kernel's */

/*
 * 1: the way to `path` (absolute) goes through a link in a writable place, which is the command's to plant: it decides
 * where the path leads, now or with a link that an earlier run has left (E008). A worktree that is read-only in this
 * run was writable in the last one.
 */
static int is_led(const struct pinfold_plan *plan, struct arena *arena, const char *path, int hops)
{
	for (size_t end = 1; path[end - 1]; end++) {
		char *prefix, *parent, *target, text[PATH_MAX];
		ssize_t length;
		int r;

		if ((path[end] != '/' && path[end] != '\0') || path[end - 1] == '/')
			continue;
		prefix = arena_strndup(arena, path, end);
		if (!prefix)
			return -ENOMEM;
		length = readlink(prefix, text, sizeof(text) - 1);
		if (length < 0)
			continue;
		text[length] = '\0';
		r = path_resolve(arena, path_parent(arena, prefix), &parent, NULL);
		if (r < 0)
			return r;
		if (is_in_writable(plan, parent, true))
			return 1;
		if (hops == LINK_HOPS)
			return -ELOOP;
		target = text[0] == '/' ? text : path_join(arena, parent, text);
		r = target ? is_led(plan, arena, target, hops + 1) : -ENOMEM;
		if (r != 0)
			return r;
	}
	return 0;
}

static int find_writable(const struct pinfold_plan *plan, struct arena *arena, const char *path)
{
	char cwd[PATH_MAX], *real;
	int r;

	if (path[0] != '/') {
		path = getcwd(cwd, sizeof(cwd)) ? path_join(arena, cwd, path) : NULL;
		if (!path)
			return -errno;
	}
	r = is_led(plan, arena, path, 0);
	if (r != 0)
		return r;
	r = path_resolve(arena, path, &real, NULL);
	return r < 0 ? r : is_in_writable(plan, real, !policy_number(plan->policy, KEY_READ_ONLY));
}

int pinfold_plan_is_writable(const struct pinfold_plan *plan, const char *path, struct pinfold_error *err)
{
	struct arena arena = { 0 };
	/* Without a backend nothing is shut, so it makes no difference where the file lies. */
	int r = plan->backend == BACKEND_NONE ? 0 : find_writable(plan, &arena, path);

	if (r < 0)
		err_sys(err, r == -ENOMEM ? PINFOLD_INTERNAL : PINFOLD_UNAVAILABLE, -r, "open", path);
	arena_free(&arena);
	return r;
}

int pinfold_is_confined(void)
{
	return confined_here();
}
