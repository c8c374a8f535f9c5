/* SPDX-License-Identifier: Apache-2.0 */
/* What the user opens: write and read paths, sockets, devices; and the toolchains that are bound over the home. */
#include "survey/take.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"
#include "survey/worktree.h"

/* One kind of grant: where it is kept. */
struct grants {
	struct survey_grant **v;
	size_t *count, *cap;
};

static int add_grant(struct taking *take, struct grants to, const struct survey_grant *grant)
{
	struct survey_grant *slot;

	for (size_t i = 0; i < *to.count; i++)
		if (!strcmp((*to.v)[i].path, grant->path))
			return 0;
	slot = take_grow(take, *to.v, to.count, to.cap, sizeof(*slot));
	if (!slot)
		return err_oom(take->err);
	*to.v = slot - (*to.count - 1);
	*slot = *grant;
	slot->is_directory = S_ISDIR(grant->node.mode) || grant->must_make;
	return 0;
}

static struct grants grants_of(struct survey *survey, enum policy_key key)
{
	switch (key) {
	case KEY_WRITE:
		return (struct grants){ &survey->writes, &survey->write_count, &survey->write_cap };
	case KEY_READ:
		return (struct grants){ &survey->reads, &survey->read_count, &survey->read_cap };
	case KEY_SOCKET:
		return (struct grants){ &survey->sockets, &survey->socket_count, &survey->socket_cap };
	default:
		return (struct grants){ &survey->devices, &survey->device_count, &survey->device_cap };
	}
}

/* An item's path, resolved, and what lies there: 0, or -errno without a message. */
static int resolve_item(struct taking *take, const struct policy_item *item, struct survey_grant *ret,
			bool *ret_missing)
{
	char *path;
	int r = look_resolve(take, item->text, &path, ret_missing);

	if (r < 0)
		return r;
	ret->path = path;
	ret->source = take_source(take, &item->source);
	if (!ret->source)
		return -ENOMEM;
	return *ret_missing ? 0 : look_at(take, path, &ret->node);
}

/* ---- write ---- */

/* A link in a writable place is the command's to plant: an earlier run may have left it, for this one to open what it
 * leads to (E008). Links elsewhere are the user's own, and followed. */
static bool is_planted(const struct taking *take, const char *resolved_parent)
{
	const struct survey *survey = take->survey;

	if (path_is_in(resolved_parent, survey->worktree))
		return true;
	for (size_t i = 0; i < survey->write_count; i++)
		if (path_is_in(resolved_parent, survey->writes[i].path))
			return true;
	return false;
}

static int check_links(struct taking *take, const struct policy_item *item)
{
	const char *path = item->text;

	for (size_t end = 1; path[end - 1]; end++) {
		char *prefix, *parent;
		struct survey_node node;

		if ((path[end] != '/' && path[end] != '\0') || path[end - 1] == '/')
			continue;
		prefix = arena_strndup(take->arena, path, end);
		if (!prefix)
			return err_oom(take->err);
		if (look_at(take, prefix, &node) < 0)
			return 0;
		if (!S_ISLNK(node.mode))
			continue;
		if (look_resolve(take, path_parent(take->arena, prefix), &parent, NULL) < 0)
			return 0;
		if (is_planted(take, parent))
			return err_say(take->err, PINFOLD_REFUSED, ELOOP,
				       "'%s' is a link in a writable place, so '%s' may lead anywhere", prefix, path);
	}
	return 0;
}

/* `DIR/`: one level, as mkdir does; a missing parent is more likely a slip. */
static int make_directory(struct taking *take, const struct policy_item *item, struct survey_grant *grant)
{
	struct survey_node parent;
	int r = look_at(take, path_parent(take->arena, grant->path), &parent);

	if (r == 0 && !S_ISDIR(parent.mode))
		r = -ENOTDIR;
	if (r < 0)
		return err_sys(take->err, PINFOLD_USAGE, -r, "make directory", item->text);
	grant->must_make = true;
	if (!take->make)
		return 0;
	if (mkdir(grant->path, 0777) < 0 && errno != EEXIST)
		return err_sys(take->err, PINFOLD_USAGE, errno, "make directory", item->text);
	r = look_at(take, grant->path, &grant->node);
	if (r == 0 && !S_ISDIR(grant->node.mode))
		r = -ENOTDIR;
	return r < 0 ? err_sys(take->err, PINFOLD_USAGE, -r, "make directory", item->text) : 0;
}

static int check_write(struct taking *take, const struct policy_item *item, struct survey_grant *grant)
{
	const struct identity *who = &take->survey->who;
	int r;

	grant->unfit = worktree_refusal(take->arena, grant->path, who->home, who->account_home);
	if (!grant->unfit || policy_accepts(take->policy, "writes", false))
		return 0;
	r = err_say(take->err, PINFOLD_REFUSED, EPERM, "'%s' cannot be made writable: %s", item->text, grant->unfit);
	err_hint(take->err, "name a directory below it, or accept this with --accept writes");
	return r;
}

static int add_write(struct taking *take, const struct policy_item *item)
{
	bool wants_directory = item->text[strlen(item->text) - 1] == '/', is_missing = false;
	struct survey_grant grant = { 0 };
	int r = check_links(take, item);

	if (r < 0)
		return r;
	r = resolve_item(take, item, &grant, &is_missing);
	if (r < 0)
		return r == -ENOMEM ? err_oom(take->err) : err_sys(take->err, PINFOLD_USAGE, -r, "open", item->text);
	r = check_write(take, item, &grant);
	if (r < 0)
		return r;
	if (is_missing && !wants_directory) {
		r = err_sys(take->err, PINFOLD_USAGE, ENOENT, "open", item->text);
		err_hint(take->err, "end it in a slash to have the directory made: %s/", item->text);
		return r;
	}
	if (is_missing)
		r = make_directory(take, item, &grant);
	else if (wants_directory && !S_ISDIR(grant.node.mode))
		r = err_sys(take->err, PINFOLD_USAGE, ENOTDIR, "open", item->text);
	return r < 0 ? r : add_grant(take, grants_of(take->survey, KEY_WRITE), &grant);
}

int take_writes(struct taking *take)
{
	const struct policy_value *value = &take->policy->value[KEY_WRITE];

	for (size_t i = 0; i < value->count; i++) {
		int r = add_write(take, &value->items[i]);

		if (r < 0)
			return take_blame(take, r, &value->items[i], KEY_WRITE);
	}
	return 0;
}

int grant_write(struct taking *take, const char *path, const struct survey_node *node, const char *source)
{
	struct survey_grant grant = { .path = path, .source = source, .node = *node };

	return add_grant(take, grants_of(take->survey, KEY_WRITE), &grant);
}

/* ---- read ---- */

/* Only what would not be seen otherwise needs a grant: below a hidden directory, or in a home that is hidden whole. */
static bool needs_grant(const struct taking *take, const char *path)
{
	const struct survey *survey = take->survey;

	for (size_t i = 0; i < survey->hidden_count; i++)
		if (path_is_below(path, survey->hidden[i].path))
			return true;
	for (size_t i = 0; i < survey->home_count; i++)
		if (policy_number(take->policy, KEY_HOME) == HOME_HIDDEN && path_is_in(path, survey->home[i].path))
			return true;
	return false;
}

int take_reads(struct taking *take)
{
	const struct policy_value *value = &take->policy->value[KEY_READ];

	for (size_t i = 0; i < value->count; i++) {
		struct survey_grant grant = { 0 };
		bool is_missing = false;
		int r = resolve_item(take, &value->items[i], &grant, &is_missing);

		if (r == -ENOMEM)
			return err_oom(take->err);
		if (r < 0 || is_missing)
			r = take_note(take, "read '%s': %s", value->items[i].text, strerror(r < 0 ? -r : ENOENT));
		else if (needs_grant(take, grant.path))
			r = add_grant(take, grants_of(take->survey, KEY_READ), &grant);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- sockets and devices ---- */

static int add_special(struct taking *take, const struct policy_item *item, enum policy_key key)
{
	const char *what = key == KEY_SOCKET ? "socket" : "device";
	struct survey_grant grant = { 0 };
	bool is_missing = false, fits;
	int r = resolve_item(take, item, &grant, &is_missing);

	if (r == -ENOMEM)
		return err_oom(take->err);
	if (r < 0 || is_missing)
		return err_sys(take->err, PINFOLD_USAGE, r < 0 ? -r : ENOENT, "open", item->text);
	fits = key == KEY_SOCKET ? S_ISSOCK(grant.node.mode) : S_ISCHR(grant.node.mode) || S_ISBLK(grant.node.mode);
	if (!fits)
		return err_say(take->err, PINFOLD_USAGE, EINVAL, "'%s' is not a %s", item->text, what);
	return add_grant(take, grants_of(take->survey, key), &grant);
}

static int take_special(struct taking *take, enum policy_key key)
{
	const struct policy_value *value = &take->policy->value[key];

	for (size_t i = 0; i < value->count; i++) {
		int r = add_special(take, &value->items[i], key);

		if (r < 0)
			return take_blame(take, r, &value->items[i], key);
	}
	return 0;
}

int take_sockets(struct taking *take)
{
	return take_special(take, KEY_SOCKET);
}

int take_devices(struct taking *take)
{
	return take_special(take, KEY_DEVICE);
}

/* ---- toolchains ---- */

/* A toolchain is bound over the home's cover, so it must hold nothing that is hidden, and lie in nothing that is. */
static bool is_free(const struct survey *survey, const char *path)
{
	if (path_is_in(survey->worktree, path) || path_is_in(path, survey->worktree))
		return false;
	for (size_t i = 0; i < survey->hidden_count; i++)
		if (path_is_in(survey->hidden[i].path, path) || path_is_in(path, survey->hidden[i].path))
			return false;
	return true;
}

static int each_toolchain(struct taking *take, void *arg, const struct found *found)
{
	struct survey *survey = take->survey;
	const struct table_toolchain *row = arg;
	struct survey_grant grant = { .path = found->path, .source = row->path.text };

	/* A link (~/.nix-profile) leads to where it leads: the overlay shows it as it is. */
	if (!found->exists || *found->rest || found->type != DT_DIR || !is_free(survey, found->path))
		return 0;
	if (look_at(take, found->path, &grant.node) < 0 || !S_ISDIR(grant.node.mode))
		return 0;
	return add_grant(take, (struct grants){ &survey->tools, &survey->tool_count, &survey->tool_cap }, &grant);
}

int take_tools(struct taking *take)
{
	int r = 0;

	for (size_t i = 0; i < tables_toolchain_count && r == 0; i++) {
		const struct table_toolchain *row = &tables_toolchains[i];

		r = find_row(take, &row->path, each_toolchain, (void *)(uintptr_t)row);
	}
	return r;
}

/* ---- services ---- */

/* Directories of host services' sockets: a connect needs no more than the right to pass through. */
int take_services(struct taking *take)
{
	struct survey *survey = take->survey;

	for (size_t i = 0; i < tables_socket_count; i++) {
		char *path;

		if (access(tables_sockets[i].path, survey->who.uid == 0 ? F_OK : X_OK) < 0)
			continue;
		if (look_resolve(take, tables_sockets[i].path, &path, NULL) < 0)
			continue;
		if (path_is_in(survey->worktree, path) || path_is_in(survey->cwd, path) ||
		    strv_has(&survey->service_directories, path))
			continue;
		if (strv_add_owned(take->arena, &survey->service_directories, path) < 0)
			return err_oom(take->err);
	}
	return 0;
}
