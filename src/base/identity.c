/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who calls. The ids are the kernel's, the account is the line of /etc/passwd with that id; neither $USER nor $LOGNAME
 * is asked, and $HOME only adds a second home whose secrets are hidden: the account's own stays one whatever the
 * environment says.
 */
#include "base/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/path.h"

enum passwd_field {
	PASSWD_NAME,
	PASSWD_PASSWORD,
	PASSWD_UID,
	PASSWD_GID,
	PASSWD_GECOS,
	PASSWD_HOME,
	PASSWD_SHELL,
	PASSWD_FIELD_COUNT
};

/* Cuts the line at its colons, in place. False where it has not all fields (the "+" lines of NIS, a broken line). */
static bool split_line(char *line, char *fields[PASSWD_FIELD_COUNT])
{
	for (size_t i = 0; i < PASSWD_FIELD_COUNT; i++) {
		fields[i] = line;
		line += strcspn(line, ":");
		if (i + 1 < PASSWD_FIELD_COUNT && *line != ':')
			return false;
		if (*line)
			*line++ = '\0';
	}
	return true;
}

/* The first line of the user id, as getpwuid would take it. */
static bool find_account(char *text, uid_t uid, char *fields[PASSWD_FIELD_COUNT])
{
	char *next;

	for (char *line = text; *line; line = next) {
		uint32_t id;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (split_line(line, fields) && num_u32(fields[PASSWD_UID], &id) == 0 && id == uid)
			return true;
	}
	return false;
}

/* Links are followed here: the place is root's, and some systems keep the file elsewhere. Where the file is missing
 * there is no account; where it cannot be read we don't guess, since the account's home decides what is hidden. */
static int read_passwd(struct buf *text)
{
	FD_CLEANUP int fd = openat(AT_FDCWD, "/etc/passwd", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	return buf_read_fd(text, fd);
}

static const char *canonical_or_normal(struct arena *arena, const char *path)
{
	char *resolved;
	int r = path_resolve(arena, path, &resolved, NULL);

	if (r == -ENOMEM)
		return NULL;
	return r == 0 ? resolved : path_normal(arena, NULL, path);
}

static int set_account(struct arena *arena, struct identity *id, const char **ret_spelling)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_TEXT_BYTES);
	char *fields[PASSWD_FIELD_COUNT];
	int r = read_passwd(&text);

	id->shell = "/bin/sh";
	if (r < 0)
		return r;
	if (!text.data || !find_account(text.data, id->uid, fields))
		return 0;
	id->user = arena_strdup(arena, fields[PASSWD_NAME]);
	if (fields[PASSWD_SHELL][0] == '/')
		id->shell = arena_strdup(arena, fields[PASSWD_SHELL]);
	if (!id->user || !id->shell)
		return -ENOMEM;
	if (fields[PASSWD_HOME][0] != '/')
		return 0;
	*ret_spelling = path_normal(arena, NULL, fields[PASSWD_HOME]);
	id->account_home = canonical_or_normal(arena, fields[PASSWD_HOME]);
	return *ret_spelling && id->account_home ? 0 : -ENOMEM;
}

static const char *absolute_variable(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] == '/' ? value : NULL;
}

static int set_home(struct arena *arena, struct identity *id, const char *account_spelling)
{
	const char *home = absolute_variable("HOME");

	if (!home) {
		id->home = id->account_home;
		id->home_spelling = account_spelling;
		return 0;
	}
	id->home = canonical_or_normal(arena, home);
	id->home_spelling = path_normal(arena, NULL, home);
	return id->home && id->home_spelling ? 0 : -ENOMEM;
}

/* A relative XDG variable is to be ignored, says its specification. */
static int base_directory(struct arena *arena, const char *home, const char *variable, const char *below,
	const char **ret)
{
	const char *value = absolute_variable(variable);

	if (value)
		*ret = path_normal(arena, NULL, value);
	else if (home && below)
		*ret = path_join(arena, home, below);
	else
		return 0;
	return *ret ? 0 : -ENOMEM;
}

static int set_base_directories(struct arena *arena, struct identity *id)
{
	const struct {
		const char *variable, *below, **ret;
	} rows[] = {
		{ "XDG_CONFIG_HOME", ".config", &id->config_home },
		{ "XDG_DATA_HOME", ".local/share", &id->data_home },
		{ "XDG_STATE_HOME", ".local/state", &id->state_home },
		{ "XDG_CACHE_HOME", ".cache", &id->cache_home },
		{ "XDG_RUNTIME_DIR", NULL, &id->runtime_dir },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int r = base_directory(arena, id->home, rows[i].variable, rows[i].below, rows[i].ret);

		if (r < 0)
			return r;
	}
	return 0;
}

int identity_read(struct arena *arena, struct identity *ret)
{
	struct identity id = { .uid = getuid(), .gid = getgid() };
	const char *spelling = NULL;
	int r = set_account(arena, &id, &spelling);

	if (r == 0)
		r = set_home(arena, &id, spelling);
	if (r == 0)
		r = set_base_directories(arena, &id);
	if (r == 0)
		*ret = id;
	return r;
}
