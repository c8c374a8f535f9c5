/* SPDX-License-Identifier: Apache-2.0 */
/* A scratch tree for the survey's tests: a home, a worktree and a place elsewhere, made anew for each test. */
#ifndef SURVEY_WORLD_H
#define SURVEY_WORLD_H

#include "policy_world.h"

#include <errno.h>

#include "base/limits.h"
#include "survey/survey.h"

static struct survey seen;
static bool has_survey;
static const char *extra[8]; /* the environment that the next survey is given, NULL-terminated */

/* ---- the scratch tree ---- */

static inline int begin(void **state)
{
	static const char *const dirs[] = { "home", "home/.config", "work", "work/sub", "out" };
	char command[2 * PATH_MAX + 64];

	world_clear(state);
	snprintf(command, sizeof(command), "rm -rf '%s'; mkdir -p '%s'", world_top, world_top);
	if (system(command) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (mkdir(at(dirs[i]), 0700) < 0)
			return -1;
	setenv("HOME", at("home"), 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_CACHE_HOME");
	memset(extra, 0, sizeof(extra));
	return 0;
}

static inline int end(void **state)
{
	if (has_survey)
		survey_free(&seen);
	has_survey = false;
	return world_clear(state);
}

static inline void make_dir(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", at(name));
	for (char *slash = path + strlen(world_top) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
}

static inline void make_link(const char *target, const char *name)
{
	assert_int_equal(symlink(target, at(name)), 0);
}

static inline void make_clone(const char *top)
{
	static const char *const below[] = { ".git", ".git/objects", ".git/refs", ".git/hooks", ".git/info" };
	char name[PATH_MAX];

	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		snprintf(name, sizeof(name), "%s/%s", top, below[i]);
		make_dir(name);
	}
	snprintf(name, sizeof(name), "%s/.git/HEAD", top);
	put(name, "ref: refs/heads/main\n");
	snprintf(name, sizeof(name), "%s/.git/config", top);
	put(name, "[core]\n");
}

/* ---- taking it ---- */

static inline int take_with(bool make)
{
	int r;

	if (!world_policy.loaded)
		load_fine();
	if (has_survey)
		survey_free(&seen);
	r = survey_take(&seen, &world_policy, (char *const *)extra, make, &world_error);
	has_survey = r == 0;
	return r;
}

static inline void take(void)
{
	if (take_with(false) < 0)
		fail_msg("%s", error_text());
}

static inline int take_from(const char *cwd)
{
	int r = policy_load(&world_policy, cwd, &world_error);

	return r < 0 ? r : take_with(false);
}

static inline const struct survey_hidden *hidden_at(const char *path)
{
	for (size_t i = 0; i < seen.hidden_count; i++)
		if (!strcmp(seen.hidden[i].path, path))
			return &seen.hidden[i];
	return NULL;
}

static inline const struct survey_protected *protected_at(const char *path)
{
	for (size_t i = 0; i < seen.protected_count; i++)
		if (!strcmp(seen.protected[i].path, path))
			return &seen.protected[i];
	return NULL;
}

static inline bool has_grant(const struct survey_grant *grants, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(grants[i].path, path))
			return true;
	return false;
}

static inline void assert_hidden(const char *name, enum hidden_kind kind, enum hidden_place place)
{
	const struct survey_hidden *hidden = hidden_at(at(name));

	if (!hidden)
		fail_msg("'%s' is not hidden", name);
	if (hidden->kind != kind || hidden->place != place)
		fail_msg("'%s' is of kind %d in place %d", name, hidden->kind, hidden->place);
}

static inline void assert_open(const char *name)
{
	if (hidden_at(at(name)))
		fail_msg("'%s' is hidden", name);
}

static inline void assert_protected(const char *name, enum protected_kind kind)
{
	const struct survey_protected *protected = protected_at(at(name));

	if (!protected)
		fail_msg("'%s' is not protected", name);
	if (protected->kind != kind)
		fail_msg("'%s' is of kind %d", name, protected->kind);
}

static inline bool has_note(const char *part)
{
	for (size_t i = 0; i < seen.notes.n; i++)
		if (strstr(seen.notes.v[i], part))
			return true;
	return false;
}

static char variable[4][3 * PATH_MAX + 64];

static inline void set_variable(size_t i, const char *name, const char *value)
{
	snprintf(variable[i], sizeof(variable[i]), "%s=%s", name, value);
	extra[i] = variable[i];
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
