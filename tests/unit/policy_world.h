/* SPDX-License-Identifier: Apache-2.0 */
/* A small world for the policy's tests: a home, a worktree, an administrator's file, below one temporary directory. */
#ifndef POLICY_WORLD_H
#define POLICY_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "policy/internal.h"
#include "policy/policy.h"

static char world_top[PATH_MAX];
static char world_work[PATH_MAX];
static struct pinfold_policy world_policy = {.config_fd = -1};
static struct pinfold_error world_error;

/* A path below the world's top; the last eight stay valid. */
static inline const char *at(const char *name)
{
	static char ring[8][PATH_MAX];
	static unsigned int next;
	char *path = ring[next++ % 8];

	if (snprintf(path, sizeof(ring[0]), "%s/%s", world_top, name) >= (int)sizeof(ring[0]))
		abort();
	return path;
}

static inline void put(const char *name, const char *text)
{
	FD_CLEANUP int fd = -1;

	unlink(at(name));
	fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(fchmod(fd, 0644), 0);
}

#define ADMIN_FILE   "admin.json"
#define USER_FILE    "home/.config/pinfold/config.json"
#define PROJECT_FILE "work/.pinfold.json"
#define TRUST_FILE   "home/.local/state/pinfold/trust.json"

static inline int world_make(void **state)
{
	static const char *const dirs[] = {"home", "home/.config", "home/.config/pinfold",
					   "work", "work/.git",    "work/sub"};
	static const char *const unset[] = {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"};
	char name[] = "/tmp/pinfold-policy-XXXXXX";

	(void)state;
	umask(022);
	if (!mkdtemp(name) || !realpath(name, world_top))
		return -1;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (mkdir(at(dirs[i]), 0700) < 0)
			return -1;
	for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++)
		unsetenv(unset[i]);
	setenv("HOME", at("home"), 1);
	strcpy(world_work, at("work"));
	policy_admin_file = strdup(at(ADMIN_FILE));
	return policy_admin_file ? 0 : -1;
}

/* Forgets the policy and every file, so that each test starts from the built-in layer. */
static inline int world_clear(void **state)
{
	(void)state;
	arena_free(&world_policy.arena);
	world_policy = (struct pinfold_policy){.config_fd = -1};
	memset(&world_error, 0, sizeof(world_error));
	unlink(at(ADMIN_FILE));
	unlink(at(USER_FILE));
	unlink(at(PROJECT_FILE));
	unlink(at(TRUST_FILE));
	return 0;
}

static inline int world_remove(void **state)
{
	char command[PATH_MAX + 16];

	world_clear(state);
	snprintf(command, sizeof(command), "rm -rf '%s'", world_top);
	free((char *)policy_admin_file);
	return system(command) == 0 ? 0 : -1;
}

/* A fresh policy, keeping the files. */
static inline void forget(void)
{
	arena_free(&world_policy.arena);
	world_policy = (struct pinfold_policy){.config_fd = -1};
	memset(&world_error, 0, sizeof(world_error));
}

static inline int set(enum policy_key key, const char *text)
{
	return policy_set(&world_policy, key, text, world_work, &world_error);
}

static inline int load(void)
{
	return policy_load(&world_policy, world_work, &world_error);
}

static inline const char *error_text(void)
{
	static char text[4096];

	pinfold_error_text(&world_error, text, sizeof(text));
	return text;
}

/* Loads, and says what went wrong where it fails. */
static inline void load_fine(void)
{
	if (load() < 0)
		fail_msg("%s", error_text());
}

static inline void assert_says(const char *part)
{
	if (!strstr(error_text(), part) && !strstr(world_error.hint, part))
		fail_msg("'%s' is neither in \"%s\" nor in the hint \"%s\"", part, error_text(), world_error.hint);
}

static inline bool has_item(enum policy_key key, const char *text)
{
	for (size_t i = 0; i < world_policy.value[key].count; i++)
		if (strcmp(world_policy.value[key].items[i].text, text) == 0)
			return true;
	return false;
}

#endif
