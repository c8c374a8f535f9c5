/* SPDX-License-Identifier: Apache-2.0 */
/* The mounts of this namespace, from one read of /proc/self/mountinfo. None of them is touched (F193). */
#include "survey/take.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"

/* The kernel writes blank, tab, newline and backslash as three octal digits. In place. */
static void unescape(char *text)
{
	char *out = text;

	while (*text) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' && text[2] <= '7' &&
		    text[3] >= '0' && text[3] <= '7') {
			*out++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
			text += 4;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
}

/* 36 35 98:0 /root /mount/point options optional-fields... - type source super-options */
static bool split_line(char *line, char **ret_path, char **ret_type)
{
	char *rest = line, *path = NULL, *separator;

	for (int field = 0; field < 5; field++)
		path = strsep(&rest, " ");
	if (!path || !rest)
		return false;
	separator = strstr(rest, " - ");
	if (!separator)
		return false;
	rest = separator + 3;
	*ret_type = strsep(&rest, " ");
	unescape(path);
	*ret_path = path;
	return path[0] == '/';
}

static int parse(struct taking *take, char *text)
{
	struct survey *survey = take->survey;
	char *line, *path, *type;

	while ((line = strsep(&text, "\n"))) {
		struct survey_mount *mount;

		if (!split_line(line, &path, &type))
			continue;
		mount = take_grow(take, survey->mounts, &survey->mount_count, &survey->mount_cap, sizeof(*mount));
		if (!mount)
			return err_oom(take->err);
		survey->mounts = mount - (survey->mount_count - 1);
		mount->path = arena_strdup(take->arena, path);
		mount->type = arena_strdup(take->arena, type);
		if (!mount->path || !mount->type)
			return err_oom(take->err);
	}
	return 0;
}

int take_mounts(struct taking *take)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_TEXT_BYTES);
	FD_CLEANUP int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_sys(take->err, PINFOLD_UNAVAILABLE, errno, "open", "/proc/self/mountinfo");
	r = buf_read_fd(&text, fd);
	if (r < 0)
		return err_sys(take->err, PINFOLD_UNAVAILABLE, -r, "read", "/proc/self/mountinfo");
	return text.data ? parse(take, text.data) : 0;
}
