/* SPDX-License-Identifier: Apache-2.0 */
/* The command as it will be executed: its environment, where its program is looked for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/path.h"
#include "base/tables.h"
#include "plan/environment.h"
#include "plan/internal.h"

static const char default_path[] = "/usr/local/bin:/usr/bin:/bin";

/* Set in every pen. git: a gc that is killed with the pen leaves a lock that switches the host's gc off for good
 * (seen); the user's credential helpers are programs of the host, whose secrets are hidden (an empty value resets the
 * list). */
static const char *const git_settings[][2] = {
	{ "gc.auto", "0" }, { "maintenance.auto", "false" }, { "credential.helper", "" },
};

static bool names(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

const char *plan_variable(const struct pinfold_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->environment.n; i++)
		if (names(plan->environment.v[i], name))
			return plan->environment.v[i] + strlen(name) + 1;
	return NULL;
}

static int set(struct pinfold_plan *plan, const char *name, const char *value)
{
	char *entry = arena_printf(&plan->arena, "%s=%s", name, value);

	if (!entry)
		return -ENOMEM;
	for (size_t i = 0; i < plan->environment.n; i++)
		if (names(plan->environment.v[i], name)) {
			plan->environment.v[i] = entry;
			return 0;
		}
	return strv_add_owned(&plan->arena, &plan->environment, entry);
}

static bool is_visible(void *arg, const char *path)
{
	return plan_shows(arg, path);
}

/* Does the policy name this variable? Then its value is the user's own choice. */
static bool is_asked(const struct pinfold_plan *plan, const char *name)
{
	const struct policy_value *items = &plan->policy->value[KEY_ENV];

	for (size_t i = 0; i < items->count; i++)
		if (strcmp(items->items[i].text, name) == 0 || names(items->items[i].text, name))
			return true;
	return false;
}

/* The private temporary directory under every name that programs look for (F115, F121). */
static int set_temporary(struct pinfold_plan *plan)
{
	static const char *const variables[] = { "TMPDIR", "TMP", "TEMP", "TEMPDIR", "TMPPREFIX" };
	const char *temp = plan->temp ? plan->temp : "/tmp";
	const char *prefix = arena_printf(&plan->arena, "%s/zsh", temp);
	const size_t n = sizeof(variables) / sizeof(variables[0]);
	int r = prefix ? 0 : -ENOMEM;

	/* where /tmp is closed all of them are given: a program that asks for TEMP, or zsh, finds none otherwise */
	for (size_t i = 0; r == 0 && i < n; i++)
		if ((i == 0 || plan->temp || plan_variable(plan, variables[i])) &&
		    !is_asked(plan, variables[i]))
			r = set(plan, variables[i], i == n - 1 ? prefix : temp);
	return r;
}

/* Where no private directory can be laid over a tool's cache, the tool is told where it is, if it can be told. */
static int set_caches(struct pinfold_plan *plan)
{
	const struct survey *survey = &plan->survey;
	int r = 0;

	for (size_t i = 0; i < survey->cache_count; i++)
		for (size_t k = 0; r == 0 && survey->caches[i].store && k < tables_cache_count; k++) {
			const struct table_cache *row = &tables_caches[k];

			if (strcmp(row->name, survey->caches[i].name) == 0 && row->variable && !*row->below &&
			    !is_asked(plan, row->variable))
				r = set(plan, row->variable, survey->caches[i].store);
		}
	return r;
}

static int set_git(struct pinfold_plan *plan)
{
	const size_t n = sizeof(git_settings) / sizeof(git_settings[0]);
	char name[32], count[8];
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%zu", i);
		r = set(plan, name, git_settings[i][0]);
		snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%zu", i);
		if (r == 0)
			r = set(plan, name, git_settings[i][1]);
	}
	snprintf(count, sizeof(count), "%zu", n);
	return r == 0 ? set(plan, "GIT_CONFIG_COUNT", count) : r;
}

/* git looks upwards on one file system only, and the worktree's mount in the pen is another one than the home's. */
static int set_git_above(struct pinfold_plan *plan)
{
	static const char name[] = "GIT_DISCOVERY_ACROSS_FILESYSTEM";
	const char *entry = plan->survey.git.entry;

	if (!entry || path_is_in(entry, plan->survey.worktree) || is_asked(plan, name))
		return 0;
	return set(plan, name, "1");
}

static int set_status(struct pinfold_plan *plan)
{
	BUF_CLEANUP struct buf status = BUF_INIT(LIMIT_STATUS_BYTES);
	int r = plan_status_json(plan, &status);

	return r < 0 ? r : set(plan, "PINFOLD_STATUS", status.data);
}

int plan_environment(struct pinfold_plan *plan)
{
	const struct policy_value *items = &plan->policy->value[KEY_ENV];
	const struct environment_request request = {
		.caller = &plan->survey.environment, .mode = policy_number(plan->policy, KEY_ENV_MODE),
		.items = items->items, .item_count = items->count, .offline = plan->offline,
		.is_visible = is_visible, .arg = plan,
	};
	struct environment_result result = { { 0 }, { 0 } };
	int r = environment_make(&plan->arena, &request, &result);

	if (r < 0)
		return r;
	plan->environment = result.environment;
	plan->removed = result.removed;
	/* A bare run says that it is (F091), but does not speak for a pen that it may itself run in. */
	if (plan->backend == BACKEND_NONE)
		return plan_variable(plan, "PINFOLD_STATUS") ? 0 : set_status(plan);
	r = set_temporary(plan);
	if (r == 0 && plan->backend == BACKEND_ONLY_LANDLOCK)
		r = set_caches(plan);
	if (r == 0)
		r = set(plan, "PWD", plan->cwd);
	if (r == 0)
		r = set_git(plan);
	if (r == 0)
		r = set_git_above(plan);
	return r == 0 ? set_status(plan) : r;
}

/* As execvp(3) looks, but with the command's PATH, and inside. */
static int find_candidates(struct pinfold_plan *plan, const char *name)
{
	const char *path = plan_variable(plan, "PATH"), *end;
	int r = 0;

	if (strchr(name, '/') || !*name)
		return strv_add(&plan->arena, &plan->candidates, name);
	for (path = path ? path : default_path; r == 0; path = end + 1) {
		char *candidate;

		end = strchrnul(path, ':');
		candidate = end == path ? arena_printf(&plan->arena, "./%s", name) :
					  arena_printf(&plan->arena, "%.*s/%s", (int)(end - path), path, name);
		if (!candidate)
			return -ENOMEM;
		/* what Landlock closes is there all the same, and would be one that may not be executed */
		if (plan->backend != BACKEND_ONLY_LANDLOCK || candidate[0] != '/' || plan_shows(plan, candidate))
			r = strv_add_owned(&plan->arena, &plan->candidates, candidate);
		if (!*end)
			break;
	}
	return r;
}

int plan_command(struct pinfold_plan *plan, char *const *argv)
{
	int r = 0;

	for (size_t i = 0; r == 0 && argv[i]; i++)
		r = strv_add(&plan->arena, &plan->argv, argv[i]);
	if (r < 0 || plan->argv.n == 0)
		return r;
	plan->shell_argv = ARENA_ARRAY(&plan->arena, char *, plan->argv.n + 2);
	if (!plan->shell_argv)
		return -ENOMEM;
	plan->shell_argv[0] = arena_strdup(&plan->arena, "/bin/sh");
	memcpy(&plan->shell_argv[2], &plan->argv.v[1], (plan->argv.n - 1) * sizeof(char *));
	return plan->shell_argv[0] ? find_candidates(plan, plan->argv.v[0]) : -ENOMEM;
}
