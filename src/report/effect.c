/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which keys of a policy do nothing, and why: the one place that knows, for `config show`. A value that is set and
 * silently does nothing makes its user believe in a fence that is not there.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "base/path.h"
#include "report/report.h"

static bool is_bare(const struct effect_context *context)
{
	return policy_number(context->policy, KEY_MODE) == MODE_OFF;
}

static bool is_read_only(const struct effect_context *context)
{
	return policy_number(context->policy, KEY_READ_ONLY) != 0;
}

static bool accepts_everything(const struct effect_context *context)
{
	return policy_number(context->policy, KEY_MODE) == MODE_AUTO;
}

static bool has_open_network(const struct effect_context *context)
{
	return policy_number(context->policy, KEY_NETWORK) == NETWORK_OPEN;
}

static bool has_no_loopback(const struct effect_context *context)
{
	return policy_number(context->policy, KEY_BACKEND) == BACKEND_LANDLOCK;
}

static bool has_own_tmp(const struct effect_context *context)
{
	return context->policy->value[KEY_TMP].text != NULL;
}

static bool has_no_git(const struct effect_context *context)
{
	struct arena arena = { 0 };
	char *path = path_join(&arena, context->policy->worktree, ".git");
	bool is_missing = path && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0;

	arena_free(&arena);
	return is_missing;
}

#define KEYS(...) ((const enum policy_key[]){ __VA_ARGS__, KEY_COUNT })

/* The first row that names the key and applies decides. */
static const struct {
	const enum policy_key *keys; /* ends with KEY_COUNT */
	bool (*applies)(const struct effect_context *context);
	const char *reason;
} effects[] = {
	{KEYS(KEY_READ_ONLY, KEY_BACKEND, KEY_BWRAP, KEY_ACCEPT, KEY_WRITE, KEY_READ, KEY_HIDE, KEY_PROTECT, KEY_HOME,
	      KEY_GIT, KEY_CHECK, KEY_ON_VIOLATION, KEY_NETWORK, KEY_REACH, KEY_PUBLISH, KEY_SOCKET, KEY_DEVICE,
	      KEY_ENV_MODE, KEY_TMP, KEY_MEMORY, KEY_PROCESSES, KEY_TMP_SIZE, KEY_NESTING, KEY_WORD_CHECK),
	 is_bare, "mode is off"},
	{KEYS(KEY_ACCEPT), accepts_everything, "mode is auto, which accepts everything"},
	{KEYS(KEY_PROTECT, KEY_GIT, KEY_CHECK, KEY_ON_VIOLATION), is_read_only, "the whole worktree is read-only"},
	{KEYS(KEY_GIT), has_no_git, "there is no git repository in the worktree"},
	{KEYS(KEY_REACH, KEY_PUBLISH, KEY_WORD_CHECK), has_open_network, "the network is open"},
	{KEYS(KEY_REACH, KEY_PUBLISH), has_no_loopback, "the backend landlock has no loopback"},
	{KEYS(KEY_NESTING), has_no_loopback, "the backend landlock gives no namespaces"},
	{KEYS(KEY_TMP_SIZE), has_own_tmp, "the temp is a directory of the host"},
};

static bool names(const enum policy_key *keys, enum policy_key key)
{
	while (*keys != KEY_COUNT && *keys != key)
		keys++;
	return *keys == key;
}

const char *effect_of(void *arg, enum policy_key key)
{
	const struct effect_context *context = arg;

	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
		if (names(effects[i].keys, key) && effects[i].applies(context))
			return effects[i].reason;
	return NULL;
}
