/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration files of git that the command gets as copies. Bound read-only, git's own commands fail half-way:
 * `git push -u` pushes and then complains of a busy device, `git switch` switches and does not track (F007, F011).
 *
 * Copied are those that are protected as git's configuration. What cannot be copied faithfully stays read-only, and a
 * warning says so.
 */
#include "survey/take.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"

static bool is_config(const struct survey_protected *protected)
{
	return protected->kind == PROTECTED_FILE && strcmp(protected->rule, "config") == 0 &&
	       strcmp(protected->source, "built in") == 0 && strcmp(path_name(protected->path), "config") == 0;
}

/* Started by root, we may read what the command, under another id, may not. */
static bool is_the_owners(const struct survey_node *node, const struct survey_node *directory)
{
	return node->uid == directory->uid || (node->mode & S_IROTH);
}

/* The text, with what it was read from: the host's git may have replaced it since it was looked at. NULL with *ret_why
 * where there is none to copy; without *ret_why there was no memory for it. */
static const char *read_text(struct arena *arena, const char *path, struct survey_node *node, const char **ret_why)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	FD_CLEANUP int fd = fd_open_regular(AT_FDCWD, path);
	struct stat st;
	int r;

	*ret_why = "it cannot be read";
	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	look_node(&st, node);
	r = buf_read_fd(&text, fd);
	*ret_why = r == -ENOMEM ? NULL : r == -E2BIG ? "it is too large" : "it cannot be read";
	if (r < 0)
		return NULL;
	*ret_why = "it holds a zero byte";
	if (text.len && memchr(text.data, '\0', text.len))
		return NULL;
	*ret_why = NULL;
	return arena_strndup(arena, text.data ? text.data : "", text.len);
}

static int add_config(struct taking *take, const struct survey_protected *protected)
{
	struct survey *survey = take->survey;
	struct survey_config config = { .path = protected->path, .node = protected->node }, *added;
	const char *parent = path_parent(take->arena, protected->path), *why;

	if (!parent)
		return err_oom(take->err);
	if (look_at(take, parent, &config.directory) < 0 || !is_the_owners(&config.node, &config.directory))
		return 0;
	config.text = read_text(take->arena, config.path, &config.node, &why);
	if (!is_the_owners(&config.node, &config.directory))
		return 0;
	if (!config.text && why)
		return take_note(take, "'%s' is read-only, and git commands that write to it fail: %s", config.path,
				 why);
	if (!config.text)
		return err_oom(take->err);
	added = take_grow(take, survey->configs, &survey->config_count, &survey->config_cap, sizeof(*added));
	if (!added)
		return err_oom(take->err);
	survey->configs = added - (survey->config_count - 1);
	*added = config;
	return 0;
}

int take_configs(struct taking *take)
{
	const struct survey *survey = take->survey;
	struct survey_node node;
	int r = 0;

	/* The copies are shown below /run, which is private in the pen, where the machine has one. */
	if (policy_number(take->policy, KEY_GIT) != GIT_COMMIT || policy_number(take->policy, KEY_READ_ONLY) ||
	    look_at(take, "/run", &node) < 0 || !S_ISDIR(node.mode))
		return 0;
	for (size_t i = 0; i < survey->protected_count && r == 0 && survey->config_count < LIMIT_GIT_COPIES; i++)
		if (is_config(&survey->protected[i]))
			r = add_config(take, &survey->protected[i]);
	return r;
}

/* One that can no longer be read stays what it was: what differs is not carried over then. */
static int renew(struct survey *survey, struct survey_config *config)
{
	struct survey_node node;
	const char *text, *why;
	struct stat st;

	if (lstat(config->path, &st) < 0)
		return 0;
	look_node(&st, &node);
	if (node.ino == config->node.ino && node.dev == config->node.dev &&
	    (size_t)st.st_size == strlen(config->text))
		return 0;
	text = read_text(&survey->arena, config->path, &node, &why);
	if (!text)
		return why ? 0 : -ENOMEM;
	config->text = text;
	config->node = node;
	watch_renew(survey, config->path);
	return 1;
}

int survey_renew_configs(struct survey *survey, struct pinfold_error *err)
{
	int changed = 0;

	for (size_t i = 0; i < survey->config_count; i++) {
		int r = renew(survey, &survey->configs[i]);

		if (r < 0)
			return err_oom(err);
		changed |= r;
	}
	return changed;
}
