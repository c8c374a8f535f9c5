/* SPDX-License-Identifier: Apache-2.0 */
/* The mounts of this namespace, from one read of /proc/self/mountinfo. None of them is touched (F193). */
#include "survey/take.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

/* The numbers of the file system's device. What stat says is another one on btrfs and overlays. */
static bool read_device(char *text, uint64_t *ret)
{
	char *end;
	uint64_t major = strtoul(text, &end, 10);

	if (end == text || *end != ':')
		return false;
	*ret = major << 32 | strtoul(end + 1, NULL, 10);
	return true;
}

/* 36 35 98:0 /root /mount/point options optional-fields... - type source super-options */
static bool split_line(char *line, struct survey_mount *ret)
{
	char *fields[5], *rest = line;

	for (int i = 0; i < 5; i++)
		if (!(fields[i] = strsep(&rest, " ")))
			return false;
	rest = rest ? strstr(rest, " - ") : NULL;
	if (!rest || !read_device(fields[2], &ret->device))
		return false;
	rest += 3;
	ret->type = strsep(&rest, " ");
	unescape(fields[3]);
	unescape(fields[4]);
	ret->root = fields[3];
	ret->path = fields[4];
	return ret->path[0] == '/';
}

static int add_mount(struct taking *take, const struct survey_mount *seen)
{
	struct survey *survey = take->survey;
	struct survey_mount *mount = take_grow(take, survey->mounts, &survey->mount_count, &survey->mount_cap,
					       sizeof(*mount));

	if (!mount)
		return err_oom(take->err);
	survey->mounts = mount - (survey->mount_count - 1);
	mount->device = seen->device;
	mount->path = arena_strdup(take->arena, seen->path);
	mount->root = arena_strdup(take->arena, seen->root);
	mount->type = arena_strdup(take->arena, seen->type);
	return mount->path && mount->root && mount->type ? 0 : err_oom(take->err);
}

int mounts_parse(struct taking *take, char *text)
{
	struct survey_mount seen;
	char *line;
	int r = 0;

	while (r == 0 && (line = strsep(&text, "\n")))
		if (split_line(line, &seen))
			r = add_mount(take, &seen);
	return r;
}

int take_mounts(struct taking *take)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_TEXT_BYTES);
	FD_CLEANUP int fd = openat(AT_FDCWD, "/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_sys(take->err, PINFOLD_UNAVAILABLE, errno, "open", "/proc/self/mountinfo");
	r = buf_read_fd(&text, fd);
	if (r < 0)
		return err_sys(take->err, PINFOLD_UNAVAILABLE, -r, "read", "/proc/self/mountinfo");
	return text.data ? mounts_parse(take, text.data) : 0;
}
