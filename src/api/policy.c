/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of the policy. */
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/path.h"
#include "report/report.h"
#include "survey/worktree.h"

static const char project_file[] = ".pinfold.json";

struct pinfold_policy *pinfold_policy_new(void)
{
	struct pinfold_policy *policy = calloc(1, sizeof(*policy));

	if (policy)
		policy->config_fd = -1;
	return policy;
}

struct pinfold_policy *pinfold_policy_free(struct pinfold_policy *policy)
{
	if (policy)
		arena_free(&policy->arena);
	free(policy);
	return NULL;
}

static int refuse_loaded(const struct pinfold_policy *policy, struct pinfold_error *err)
{
	return policy->loaded ? err_say(err, PINFOLD_USAGE, EINVAL, "the policy is loaded already") : 0;
}

static int require_loaded(const struct pinfold_policy *policy, struct pinfold_error *err)
{
	return policy->loaded ? 0 : err_say(err, PINFOLD_USAGE, EINVAL, "the policy is not loaded yet");
}

static bool takes_path(enum policy_type type)
{
	return type == TYPE_PATH || type == TYPE_TMP || type == TYPE_PATHS || type == TYPE_PATTERNS;
}

int pinfold_policy_set(struct pinfold_policy *policy, const char *name, const char *text, struct pinfold_error *err)
{
	int key = policy_key_find(name);
	char cwd[PATH_MAX];
	int r = refuse_loaded(policy, err);

	if (r < 0)
		return r;
	if (key < 0)
		return err_at(err, err_say(err, PINFOLD_USAGE, EINVAL, "there is no such key"), NULL, 0, name);
	/* The directory is asked for only where it matters: it may be gone. */
	if (!takes_path(policy_keys[key].type) || text[0] == '/')
		return policy_set(policy, key, text, "/", err);
	if (!getcwd(cwd, sizeof(cwd))) {
		r = err_sys(err, PINFOLD_USAGE, errno, "find the working directory", NULL);
		return err_at(err, r, NULL, 0, name);
	}
	return policy_set(policy, key, text, cwd, err);
}

int pinfold_policy_config_file(struct pinfold_policy *policy, const char *path, struct pinfold_error *err)
{
	char cwd[PATH_MAX];
	int r = refuse_loaded(policy, err);

	if (r < 0)
		return r;
	if (path[0] != '/' && !getcwd(cwd, sizeof(cwd)))
		return err_sys(err, PINFOLD_USAGE, errno, "find the working directory", NULL);
	policy->config_file = path[0] == '/' ? arena_strdup(&policy->arena, path) :
					       path_join(&policy->arena, cwd, path);
	policy->config_fd = -1;
	return policy->config_file ? 0 : err_oom(err);
}

int pinfold_policy_config_fd(struct pinfold_policy *policy, int fd, struct pinfold_error *err)
{
	int r = refuse_loaded(policy, err);
	int flags = fcntl(fd, F_GETFD);

	if (r < 0)
		return r;
	/* A descriptor that the command inherited would hand it the policy. */
	if (flags < 0 || fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0)
		return err_sys(err, PINFOLD_USAGE, errno, "read the configuration from the descriptor", NULL);
	policy->config_fd = fd;
	policy->config_file = NULL;
	return 0;
}

int pinfold_policy_load(struct pinfold_policy *policy, const char *cwd, struct pinfold_error *err)
{
	char path[PATH_MAX];
	int r = refuse_loaded(policy, err);

	if (r < 0)
		return r;
	if (!realpath(cwd ? cwd : ".", path))
		return err_sys(err, PINFOLD_USAGE, errno, "open the working directory", cwd);
	return policy_load(policy, path, err);
}

static const char *number_text(const struct policy_key_def *def, uint64_t number, char *scratch)
{
	switch (def->type) {
	case TYPE_FLAG:
		return number ? "true" : "false";
	case TYPE_CHOICE:
		return def->words[number];
	case TYPE_DURATION:
		return number == POLICY_NONE ? NULL : num_duration_text(number, scratch);
	case TYPE_SIZE:
		return number == POLICY_NONE ? NULL : num_size_text(number, scratch);
	default:
		return NULL;
	}
}

const char *pinfold_policy_get(struct pinfold_policy *policy, const char *name)
{
	int key = policy_key_find(name);
	const struct policy_value *value;
	char scratch[32];
	const char *text;

	if (key < 0 || !policy->loaded)
		return NULL;
	value = &policy->value[key];
	switch (policy_keys[key].type) {
	case TYPE_PATH:
	case TYPE_TMP:
		return value->text;
	case TYPE_COUNT:
		if (value->number == POLICY_NONE)
			return NULL;
		return arena_printf(&policy->arena, "%llu", (unsigned long long)value->number);
	default:
		text = number_text(&policy_keys[key], value->number, scratch);
		return text == scratch ? arena_strdup(&policy->arena, scratch) : text;
	}
}

/* ---- readouts -------------------------------------------------------------------------------------------------- */

int pinfold_policy_show(const struct pinfold_policy *policy, const struct pinfold_host *host,
			enum pinfold_format format, char **ret, struct pinfold_error *err)
{
	struct effect_context context = { policy, host };
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);
	int r = require_loaded(policy, err);

	if (r < 0)
		return r;
	r = format == PINFOLD_JSON ? policy_show_json(policy, effect_of, &context, &out) :
				     policy_show_text(policy, effect_of, &context, &out);
	return api_give(&out, r, ret, err);
}

int pinfold_policy_dump(const struct pinfold_policy *policy, char **ret, struct pinfold_error *err)
{
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);
	int r = require_loaded(policy, err);

	return r < 0 ? r : api_give(&out, policy_dump(policy, &out), ret, err);
}

int pinfold_policy_paths(const struct pinfold_policy *policy, enum pinfold_format format, char **ret,
			 struct pinfold_error *err)
{
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);
	int r = require_loaded(policy, err);

	if (r < 0)
		return r;
	r = format == PINFOLD_JSON ? paths_json(policy, &out) : policy_paths(policy, &out);
	return api_give(&out, r, ret, err);
}

int pinfold_policy_schema(char **ret, struct pinfold_error *err)
{
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);

	return api_give(&out, policy_schema(&out), ret, err);
}

int pinfold_policy_check_file(const char *path, struct pinfold_error *err)
{
	bool is_project = strcmp(path_name(path), project_file) == 0;

	return policy_check_file(path, is_project ? LAYER_PROJECT : LAYER_USER, err);
}

/* ---- trust ----------------------------------------------------------------------------------------------------- */

/* The project file of the worktree that holds the working directory. */
static int find_project_file(struct arena *arena, char **ret, struct pinfold_error *err)
{
	struct identity who;
	char cwd[PATH_MAX];
	char *worktree;
	int r = identity_read(arena, &who);

	if (r < 0)
		return err_oom(err);
	if (!realpath(".", cwd))
		return err_sys(err, PINFOLD_USAGE, errno, "open the working directory", NULL);
	r = worktree_find(arena, cwd, NULL, who.home, &worktree, err);
	if (r < 0)
		return r;
	*ret = path_join(arena, worktree, project_file);
	return *ret ? 0 : err_oom(err);
}

static int trust_file(struct arena *arena, const char *given, char **ret_path, struct pinfold_error *err)
{
	char resolved[PATH_MAX];
	char *path = NULL, *worktree, *copy;
	int r;

	if (given)
		path = arena_strdup(arena, given);
	else if ((r = find_project_file(arena, &path, err)) < 0)
		return r;
	if (!path)
		return err_oom(err);
	if (!realpath(path, resolved))
		return err_sys(err, PINFOLD_USAGE, errno, "open", path);
	worktree = path_parent(arena, resolved);
	copy = strdup(resolved);
	if (!worktree || !copy) {
		free(copy);
		return err_oom(err);
	}
	r = trust_add(resolved, worktree, err);
	if (r < 0)
		free(copy);
	else
		*ret_path = copy;
	return r;
}

int pinfold_trust(const char *path, char **ret_path, struct pinfold_error *err)
{
	struct arena arena = { 0 };
	char *trusted = NULL;
	int r = trust_file(&arena, path, &trusted, err);

	arena_free(&arena);
	if (r == 0 && ret_path)
		*ret_path = trusted;
	else
		free(trusted);
	return r;
}
