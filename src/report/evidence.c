/* SPDX-License-Identifier: Apache-2.0 */
/* What the plan has made impossible, as far as the table of hints asks for it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "report/hints.h"

/* ---- places ---------------------------------------------------------------------------------------------------- */

struct collecting {
	struct hint_evidence *evidence;
	const struct pinfold_plan *plan;
	struct arena *arena;
	int error; /* -ENOMEM; sticks */
};

static void add_place(struct collecting *c, const char *path, enum hint_place_kind kind)
{
	struct hint_evidence *evidence = c->evidence;
	const char *copy = arena_strdup(c->arena, path);
	struct hint_place *all = arena_grow(c->arena, evidence->places, evidence->place_count,
					    evidence->place_count + 1, sizeof(*all), &evidence->place_cap);

	if (!copy || !all) {
		c->error = -ENOMEM;
		return;
	}
	evidence->places = all;
	all[evidence->place_count++] = (struct hint_place){ copy, strlen(copy), kind };
}

static void add_grants(struct collecting *c, const struct survey_grant *grants, size_t count, enum hint_place_kind kind)
{
	for (size_t i = 0; i < count && !c->error; i++)
		add_place(c, grants[i].path, kind);
}

/* What is not there is missed outside as well. A copy without its secrets is there. */
static void add_hidden(struct collecting *c)
{
	const struct survey *survey = &c->plan->survey;

	for (size_t i = 0; i < survey->hidden_count && !c->error; i++)
		if (survey->hidden[i].kind != HIDDEN_ABSENT && survey->hidden[i].kind != HIDDEN_CUT)
			add_place(c, survey->hidden[i].path, PLACE_HIDDEN);
}

static void add_protected(struct collecting *c)
{
	const struct survey *survey = &c->plan->survey;
	const char *common = survey->git.common;
	const char *registered = common ? path_join(c->arena, common, "worktrees") : "";

	if (!registered) {
		c->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < survey->protected_count && !c->error; i++) {
		const struct survey_protected *protected = &survey->protected[i];

		if (protected->kind != PROTECTED_ABSENT)
			add_place(c, protected->path,
				  strcmp(protected->path, registered) == 0 ? PLACE_REGISTERED : PLACE_PROTECTED);
	}
}

/* In the order in which the later one decides about the same path. */
static void add_places(struct collecting *c)
{
	static const char *const always[] = { "/tmp", "/var/tmp", "/dev", "/proc", "/sys", "/run" };
	static const char *const closed[] = { "/tmp", "/var/tmp" };
	const struct survey *survey = &c->plan->survey;
	bool is_read_only = policy_number(c->plan->policy, KEY_READ_ONLY);

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]) && !c->error; i++)
		add_place(c, always[i], PLACE_OPEN);
	for (size_t i = 0; c->plan->temp && i < sizeof(closed) / sizeof(closed[0]) && !c->error; i++)
		add_place(c, closed[i], PLACE_CLOSED);
	add_hidden(c);
	add_grants(c, survey->tools, survey->tool_count, PLACE_SHOWN);
	add_grants(c, survey->reads, survey->read_count, PLACE_SHOWN);
	if (!c->error)
		add_place(c, survey->worktree, is_read_only ? PLACE_READ_ONLY : PLACE_OPEN);
	add_grants(c, survey->writes, survey->write_count, PLACE_OPEN);
	for (size_t i = 0; i < survey->cache_count && !c->error; i++)
		add_place(c, survey->caches[i].tool, PLACE_OPEN);
	if (!is_read_only)
		add_protected(c);
}

const struct hint_place *hints_place(const struct hint_evidence *evidence, const char *path)
{
	const struct hint_place *best = NULL;
	const size_t length = strlen(path);

	for (size_t i = 0; i < evidence->place_count; i++) {
		const struct hint_place *place = &evidence->places[i];

		if (path_is_in_n(path, length, place->path, place->length) && (!best || place->length >= best->length))
			best = place;
	}
	return best;
}

const struct hint_place *hints_pinned(const struct hint_evidence *evidence, const char *path)
{
	for (size_t i = 0; i < evidence->place_count; i++) {
		const struct hint_place *place = &evidence->places[i];

		if ((place->kind == PLACE_PROTECTED || place->kind == PLACE_REGISTERED) &&
		    path_is_below(place->path, path))
			return place;
	}
	return NULL;
}

/* ---- what rows of the words name ------------------------------------------------------------------------------- */

static bool is_given(const struct survey *survey, const char *path)
{
	for (size_t i = 0; i < survey->socket_count; i++)
		if (strcmp(survey->sockets[i].path, path) == 0)
			return true;
	return false;
}

/* A service that does not run is missed outside as well. The paths are the table's own. */
static void look_for_socket(struct collecting *c, const char *path)
{
	struct strv *sockets = &c->evidence->sockets;
	struct stat st;

	if (strv_has(sockets, path) || is_given(&c->plan->survey, path) || lstat(path, &st) < 0 ||
	    !S_ISSOCK(st.st_mode))
		return;
	if (strv_add(c->arena, sockets, path) < 0)
		c->error = -ENOMEM;
}

static const char *find_secret(const struct collecting *c, const char *rule)
{
	const struct survey *survey = &c->plan->survey;

	for (size_t i = 0; i < survey->hidden_count; i++)
		if (survey->hidden[i].kind != HIDDEN_ABSENT && strcmp(survey->hidden[i].rule, rule) == 0)
			return arena_strdup(c->arena, survey->hidden[i].path);
	return NULL;
}

static void look_at_rows(struct collecting *c)
{
	c->evidence->secrets = ARENA_ARRAY(c->arena, const char *, tables_hint_words_count);
	if (!c->evidence->secrets)
		c->error = -ENOMEM;
	for (size_t i = 0; i < tables_hint_words_count && !c->error; i++) {
		const struct table_hint_words *row = &tables_hint_words[i];

		if (row->evidence == EVIDENCE_SOCKET)
			look_for_socket(c, row->argument);
		else if (row->evidence == EVIDENCE_SECRET)
			c->evidence->secrets[i] = find_secret(c, row->argument);
	}
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

static int copy_text(struct arena *arena, const char *from, const char **ret)
{
	*ret = from ? arena_strdup(arena, from) : NULL;
	return from && !*ret ? -ENOMEM : 0;
}

int hints_evidence(struct hint_evidence *evidence, const struct pinfold_plan *plan, struct arena *arena)
{
	struct collecting c = { .evidence = evidence, .plan = plan, .arena = arena };
	const struct survey *survey = &plan->survey;
	const bool has_mounts = plan->backend == BACKEND_OWN_NAMESPACES;
	bool has_limits = plan->guarantee[GUARANTEE_LIMITS].state == STATE_HELD ||
			  plan->guarantee[GUARANTEE_LIMITS].state == STATE_WEAKER;

	if (plan->backend == BACKEND_NONE || !plan->has_survey)
		return 0;
	evidence->holds[EVIDENCE_PEN] = true;
	evidence->holds[EVIDENCE_HIDDEN] = true;
	evidence->holds[EVIDENCE_OFFLINE] = plan->offline;
	evidence->holds[EVIDENCE_LOOPBACK] = plan->offline && has_mounts;
	evidence->holds[EVIDENCE_GIT] = has_mounts && survey->git.directory &&
					policy_number(plan->policy, KEY_GIT) != GIT_OPEN;
	for (int i = EVIDENCE_PROTECTED; i <= EVIDENCE_OUTSIDE; i++)
		evidence->holds[i] = has_mounts;
	evidence->holds[EVIDENCE_CLOSED] = plan->temp != NULL;
	evidence->holds[EVIDENCE_TEMP] = has_limits && plan->limits.tmp_size != POLICY_NONE;
	evidence->holds[EVIDENCE_PROCESSES] = has_limits && plan->limits.processes != POLICY_NONE;
	evidence->holds[EVIDENCE_MEMORY] = has_limits && plan->limits.memory != POLICY_NONE;
	if (copy_text(arena, survey->cwd, &evidence->bases[0]) < 0 ||
	    copy_text(arena, survey->worktree, &evidence->bases[1]) < 0 ||
	    copy_text(arena, survey->home_count ? survey->home[0].path : NULL, &evidence->home) < 0)
		return -ENOMEM;
	add_places(&c);
	if (!c.error)
		look_at_rows(&c);
	return c.error;
}
