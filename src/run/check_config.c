/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a repository that a command has made. More of git's variables can run a program than anybody
 * could list, and each version adds some, so that the harmless ones are listed: what `git init`, `git clone`,
 * `git submodule`, `git config user.name` and a tracking branch write.
 */
#include <string.h>

#include "run/checking.h"

typedef bool is_harmless_value(const char *value);

static bool is_any(const char *value)
{
	(void)value;
	return true;
}

/* No transport helper (ext::COMMAND, NAME://), and nothing that ssh could take for an option. */
static bool is_url(const char *value)
{
	static const char *const schemes[] = { "https://", "http://", "ssh://", "git://", "file://" };
	const char *helper = value ? strstr(value, "::") : NULL, *address = value ? strstr(value, "://[") : NULL;

	if (!value || !*value || *value == '-' || strstr(value, ":-") || strstr(value, "://-"))
		return false;
	if (helper && !(address && address < helper))
		return false;
	if (!strstr(value, "://"))
		return true;
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncmp(value, schemes[i], strlen(schemes[i])) == 0)
			return true;
	return false;
}

/* Not `!COMMAND`. */
static bool is_update(const char *value)
{
	return value && (strcmp(value, "checkout") == 0 || strcmp(value, "rebase") == 0 ||
			 strcmp(value, "merge") == 0 || strcmp(value, "none") == 0);
}

static const struct {
	const char *section;
	bool has_subsection;
	const char *key;
	is_harmless_value *is_harmless;
} harmless[] = {
	{ "core", false, "repositoryformatversion", is_any },
	{ "core", false, "filemode", is_any },
	{ "core", false, "bare", is_any },
	{ "core", false, "logallrefupdates", is_any },
	{ "core", false, "ignorecase", is_any },
	{ "core", false, "precomposeunicode", is_any },
	{ "core", false, "symlinks", is_any },
	{ "core", false, "autocrlf", is_any },
	{ "core", false, "eol", is_any },
	{ "core", false, "quotepath", is_any },
	{ "core", false, "sparsecheckout", is_any },
	{ "core", false, "sparsecheckoutcone", is_any },
	{ "core", false, "worktree", is_any }, /* check_judge.c looks where it leads */
	{ "extensions", false, "objectformat", is_any },
	{ "extensions", false, "compatobjectformat", is_any },
	{ "extensions", false, "refstorage", is_any },
	{ "extensions", false, "partialclone", is_any },
	{ "extensions", false, "noop", is_any },
	{ "user", false, "name", is_any },
	{ "user", false, "email", is_any },
	{ "author", false, "name", is_any },
	{ "author", false, "email", is_any },
	{ "committer", false, "name", is_any },
	{ "committer", false, "email", is_any },
	{ "init", false, "defaultbranch", is_any },
	{ "pull", false, "rebase", is_any },
	{ "pull", false, "ff", is_any },
	{ "push", false, "default", is_any },
	{ "push", false, "autosetupremote", is_any },
	{ "fetch", false, "prune", is_any },
	{ "advice", false, NULL, is_any },
	{ "gc", false, "auto", is_any },
	{ "lfs", false, "repositoryformatversion", is_any },
	{ "remote", true, "url", is_url },
	{ "remote", true, "pushurl", is_url },
	{ "remote", true, "fetch", is_any },
	{ "remote", true, "tagopt", is_any },
	{ "remote", true, "prune", is_any },
	{ "remote", true, "promisor", is_any },
	{ "remote", true, "partialclonefilter", is_any },
	{ "branch", true, "remote", is_url }, /* may be a URL itself */
	{ "branch", true, "pushremote", is_url },
	{ "branch", true, "merge", is_any },
	{ "branch", true, "rebase", is_any },
	{ "branch", true, "description", is_any },
	{ "submodule", true, "url", is_url },
	{ "submodule", true, "active", is_any },
	{ "submodule", true, "branch", is_any },
	{ "submodule", true, "update", is_update },
	{ "submodule", false, "active", is_any },
};

static bool is_harmless(const struct gitconfig_item *item)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (strcmp(item->section, harmless[i].section) == 0 &&
		    harmless[i].has_subsection == (item->subsection != NULL) &&
		    (!harmless[i].key || strcmp(item->key, harmless[i].key) == 0))
			return harmless[i].is_harmless(item->value);
	return false;
}

const struct gitconfig_item *check_config(const struct gitconfig *config)
{
	for (size_t i = 0; i < config->n; i++)
		if (config->v[i].key && !is_harmless(&config->v[i]))
			return &config->v[i];
	return NULL;
}
