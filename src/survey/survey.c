/* SPDX-License-Identifier: Apache-2.0 */
/* Taking the survey: the parts in their order, and the single places that need no file of their own. */
#include "survey/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "survey/take.h"
#include "survey/worktree.h"

static int take_environment(struct taking *take, char *const *environment)
{
	for (; environment && *environment; environment++)
		if (strv_add(take->arena, &take->survey->environment, *environment) < 0)
			return err_oom(take->err);
	return 0;
}

static int take_identity(struct taking *take)
{
	struct survey *survey = take->survey;
	int r = 0;

	/* The policy has read it to find its files. */
	if (take->policy->who.shell)
		survey->who = take->policy->who;
	else
		r = identity_read(take->arena, &survey->who);
	return r < 0 ? err_sys(take->err, PINFOLD_UNAVAILABLE, -r, "read", "/etc/passwd") : 0;
}

/* ---- cwd and worktree ---- */

static int take_directory(struct taking *take, const char *path, const char *word, struct survey_node *ret)
{
	int r = look_at(take, path, ret);

	if (r == 0 && !S_ISDIR(ret->mode))
		r = -ENOTDIR;
	if (r < 0)
		return err_say(take->err, PINFOLD_USAGE, -r, "the %s '%s' cannot be used: %s", word, path,
			       strerror(-r));
	return 0;
}

static int take_places(struct taking *take)
{
	struct survey *survey = take->survey;
	int r;

	survey->cwd = arena_strdup(take->arena, take->policy->cwd);
	survey->worktree = arena_strdup(take->arena, take->policy->worktree);
	if (!survey->cwd || !survey->worktree)
		return err_oom(take->err);
	r = take_directory(take, survey->cwd, "working directory", &survey->cwd_node);
	if (r == 0)
		r = take_directory(take, survey->worktree, "worktree", &survey->worktree_node);
	if (r < 0)
		return r;
	survey->unfit = worktree_refusal(take->arena, survey->worktree, survey->who.home, survey->who.account_home);
	if (!survey->unfit || policy_accepts(take->policy, "writes", false))
		return 0;
	r = err_say(take->err, PINFOLD_REFUSED, EPERM, "'%s' is not fit as a worktree: %s", survey->worktree,
		    survey->unfit);
	err_hint(take->err, "name the project's directory with --worktree DIR, or accept this with --accept writes");
	return r;
}

/* ---- single places ---- */

/* --tmp DIR holds what the next command finds: in anybody else's hands it would be a way into it. */
static int take_tmp(struct taking *take)
{
	struct survey *survey = take->survey;
	const char *path = take->policy->value[KEY_TMP].text, *key = policy_keys[KEY_TMP].option;
	char *resolved;
	int r;

	if (!path)
		return 0;
	r = look_at(take, path, &survey->tmp_node);
	if (r == 0)
		r = look_resolve(take, path, &resolved, NULL);
	if (r < 0)
		return err_at(take->err, err_sys(take->err, PINFOLD_USAGE, -r, "open", path), NULL, 0, key);
	if (S_ISLNK(survey->tmp_node.mode))
		r = err_say(take->err, PINFOLD_REFUSED, ENOTDIR, "'%s' is a symbolic link, not a directory", path);
	else if (!S_ISDIR(survey->tmp_node.mode))
		r = err_say(take->err, PINFOLD_REFUSED, ENOTDIR, "'%s' is not a directory", path);
	else if (survey->tmp_node.uid != survey->who.uid || (survey->tmp_node.mode & 0777) != 0700)
		r = err_say(take->err, PINFOLD_REFUSED, EPERM, "'%s' must be the caller's own directory with mode 0700",
			    path);
	if (r < 0) {
		err_hint(take->err, "mkdir -m 700 DIR makes one that fits");
		return err_at(take->err, r, NULL, 0, key);
	}
	survey->tmp = resolved;
	return 0;
}

/* Private in the pen: what /etc/resolv.conf leads to there has to be brought along, or no name is ever found. */
static bool is_private(const char *path)
{
	static const char *const places[] = { "/run", "/tmp", "/var/tmp", "/dev/shm" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (path_is_below(path, places[i]))
			return true;
	return false;
}

static int take_resolver(struct taking *take)
{
	static const char path[] = "/etc/resolv.conf";
	bool is_missing = false;
	struct survey_node node;
	char *resolved;
	int r;

	if (look_at(take, path, &node) < 0 || !S_ISLNK(node.mode))
		return 0;
	r = look_resolve(take, path, &resolved, &is_missing);
	if (r == -ENOMEM)
		return err_oom(take->err);
	if (r == 0 && !is_missing && is_private(resolved))
		take->survey->resolver = resolved;
	return 0;
}

/* Links of NixOS that every program's path goes through. */
static int take_run_links(struct taking *take)
{
	static const char *const links[] = { "/run/current-system", "/run/booted-system", "/run/opengl-driver" };
	struct strv *list = &take->survey->run_links;

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		char target[PATH_MAX];
		ssize_t n = readlink(links[i], target, sizeof(target));

		if (n <= 0 || (size_t)n == sizeof(target))
			continue;
		target[n] = '\0';
		if (strv_add(take->arena, list, links[i]) < 0 || strv_add(take->arena, list, target) < 0)
			return err_oom(take->err);
	}
	return 0;
}

/* ---- all of it ---- */

/* The order matters: a written path that is made is not absent, a link's target may be needed by the run, and what is
 * read or bound over the home depends on what is hidden there. */
static int (*const parts[])(struct taking *take) = {
	take_identity,
	take_places,
	take_mounts,
	take_homes,
	take_account,
	find_begin,
	take_git,
	take_writes,
	take_caches,
	take_patterns,
	take_hidden,
	take_protected,
	take_aliases,
	take_order,
	take_configs,
	take_watch,
	take_reads,
	take_tools,
	take_sockets,
	take_devices,
	take_services,
	take_closed,
	take_tmp,
	take_resolver,
	take_run_links,
	take_stdio,
};

int survey_take(struct survey *survey, const struct pinfold_policy *policy, char *const *environment, bool make,
		struct pinfold_error *err)
{
	struct taking take = {
		.survey = survey,
		.policy = policy,
		.arena = &survey->arena,
		.make = make,
		.has_allow_rules = policy->value[KEY_READ].count + policy->value[KEY_WRITE].count > 0,
		.err = err,
	};
	int r;

	*survey = (struct survey){ 0 };
	r = take_environment(&take, environment);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && r == 0; i++)
		r = parts[i](&take);
	if (survey->arena.is_short) /* whatever was made of it */
		r = err_oom(err);
	if (r == 0 && take.failed_errno)
		r = err_sys(err, PINFOLD_UNAVAILABLE, take.failed_errno, "look at", take.failed_path);
	if (r < 0)
		survey_free(survey);
	return r;
}

void survey_free(struct survey *survey)
{
	arena_free(&survey->arena);
	*survey = (struct survey){ 0 };
}
