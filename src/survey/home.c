/* SPDX-License-Identifier: Apache-2.0 */
/* The homes whose secrets are hidden: $HOME and the account's, where they differ; and the caller's line in passwd. */
#include "survey/take.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"

static int add_mounts(struct taking *take, struct survey_home *home)
{
	const struct survey *survey = take->survey;

	for (size_t i = 0; i < survey->mount_count; i++) {
		const char *path = survey->mounts[i].path;

		if (!path_is_below(path, home->path) || strv_has(&home->mounts, path))
			continue;
		if (strv_add(take->arena, &home->mounts, path) < 0)
			return err_oom(take->err);
	}
	return 0;
}

/* A home of "/" (services, some containers) cannot be covered: its rows are treated as paths elsewhere. */
static int add_home(struct taking *take, const char *path)
{
	struct survey *survey = take->survey;
	struct survey_home *home = &survey->home[survey->home_count];
	struct survey_node node;
	int r;

	if (!path || !strcmp(path, "/"))
		return 0;
	for (size_t i = 0; i < survey->home_count; i++)
		if (!strcmp(survey->home[i].path, path))
			return 0;
	r = look_at(take, path, &node);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r < 0)
		return take_note(take, "the home '%s' cannot be looked at: %s", path, strerror(-r));
	if (!S_ISDIR(node.mode))
		return 0;
	home->path = path;
	home->node = node;
	survey->home_count++;
	return add_mounts(take, home);
}

int take_homes(struct taking *take)
{
	int r = add_home(take, take->survey->who.home);

	return r < 0 ? r : add_home(take, take->survey->who.account_home);
}

/* ---- passwd ---- */

/* Does a line begin with `name:`, or, where name is NULL, is the third field of one `id`? */
static bool has_line(const char *text, const char *name, unsigned long id)
{
	char start[80], number[32];

	snprintf(start, sizeof(start), "%s:", name ? name : "");
	snprintf(number, sizeof(number), "%lu", id);
	for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		const char *end = line + strcspn(line, "\n"), *field = line;

		if (name && !strncmp(line, start, strlen(start)))
			return true;
		for (int i = 0; !name && i < 2 && field; i++) {
			field = memchr(field, ':', (size_t)(end - field));
			field = field ? field + 1 : NULL;
		}
		if (!name && field && strspn(field, "0123456789") == strlen(number) &&
		    !strncmp(field, number, strlen(number)))
			return true;
	}
	return false;
}

static bool is_plain_name(const char *name)
{
	return name && *name && strlen(name) < 33 && strspn(name, "0123456789") < strlen(name) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen(name) &&
	       name[0] != '-';
}

static int read_file(const char *path, struct buf *text)
{
	FD_CLEANUP int fd = fd_open_regular(-1, path);
	int r = fd < 0 ? fd : buf_read_fd(text, fd);

	/* No such file: a bare container. The copy then holds the caller's line alone. */
	if (r == -ENOENT)
		r = 0;
	if (r == 0 && text->len > 0 && text->data[text->len - 1] != '\n')
		buf_char(text, '\n');
	return r < 0 ? r : text->error;
}

/* A name service (sssd, LDAP, a container's numeric user) is not reachable inside; programs that ask who they are then
 * fail in odd ways. So the caller gets a line of its own, with the name that the environment gives. */
int take_account(struct taking *take)
{
	struct survey *survey = take->survey;
	const struct identity *who = &survey->who;
	BUF_CLEANUP struct buf passwd = BUF_INIT(LIMIT_CONFIG_BYTES);
	BUF_CLEANUP struct buf group = BUF_INIT(LIMIT_CONFIG_BYTES);
	const char *name = look_environment(survey, "USER"), *home = who->home;
	int r;

	if (who->user)
		return 0;
	r = read_file("/etc/passwd", &passwd);
	if (r == 0)
		r = read_file("/etc/group", &group);
	if (r == -ENOMEM)
		return err_oom(take->err);
	if (r < 0)
		return take_note(take, "/etc/passwd or /etc/group cannot be read: the caller's name is unknown inside");
	if (!is_plain_name(name) || has_line(passwd.data, name, 0))
		name = arena_printf(take->arena, "uid%lu", (unsigned long)who->uid);
	if (!name)
		return err_oom(take->err);
	if (!home || strpbrk(home, ":\n"))
		home = "/";
	buf_printf(&passwd, "%s:x:%lu:%lu::%s:%s\n", name, (unsigned long)who->uid, (unsigned long)who->gid, home,
		   who->shell && !strpbrk(who->shell, ":\n") ? who->shell : "/bin/sh");
	if (!has_line(group.data, NULL, who->gid))
		buf_printf(&group, "%s:x:%lu:\n", has_line(group.data, name, 0) ? "pen" : name,
			   (unsigned long)who->gid);
	if (passwd.error || group.error)
		return err_oom(take->err);
	survey->passwd_copy = arena_strdup(take->arena, passwd.data);
	survey->group_copy = arena_strdup(take->arena, group.data ? group.data : "");
	survey->needs_passwd_line = true;
	return survey->passwd_copy && survey->group_copy ? 0 : err_oom(take->err);
}
