/* SPDX-License-Identifier: Apache-2.0 */
/* The visible entries of the homes, for the fallback without overlay. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "survey/survey.h"

enum { ENTRIES_DEPTH = 8 };

enum visibility { VISIBLE, HIDDEN_HERE, HIDDEN_BELOW };

static enum visibility visibility_of(const struct survey *survey, const char *path)
{
	enum visibility seen = VISIBLE;

	for (size_t i = 0; i < survey->hidden_count; i++) {
		if (strcmp(survey->hidden[i].path, path) == 0)
			return HIDDEN_HERE;
		if (path_is_below(survey->hidden[i].path, path))
			seen = HIDDEN_BELOW;
	}
	return seen;
}

static int add(struct survey *survey, int home, char *path, const struct stat *st, const char *target)
{
	struct survey_entry *entries = arena_grow(&survey->arena, survey->entries, survey->entry_count,
						  survey->entry_count + 1, sizeof(*entries), &survey->entry_cap);

	if (!entries)
		return -ENOMEM;
	survey->entries = entries;
	entries[survey->entry_count++] = (struct survey_entry){
		.path = path, .target = target, .home = home, .is_directory = S_ISDIR(st->st_mode),
	};
	return 0;
}

/* A mount below the home is bound on its own, and not touched here: its server may not answer (F193). */
static bool is_mount(const struct survey *survey, int home, const char *path)
{
	return strv_has(&survey->home[home].mounts, path);
}

/* What it is tells the directory that it lies in: a file (a container's ~/.gitconfig) needs one to lie on. */
static int note_mount(struct survey *survey, int home, const char *path, unsigned char type)
{
	return type == DT_REG ? strv_add(&survey->arena, &survey->home[home].file_mounts, path) : 0;
}

static int list(struct survey *survey, int home, int parent, const char *name, const char *path, int depth);

static int list_one(struct survey *survey, int home, int dir, const struct dirent *entry, const char *parent, int depth)
{
	const char *name = entry->d_name;
	char *path = path_join(&survey->arena, parent, name), target[PATH_MAX];
	const char *copy = NULL;
	enum visibility seen;
	struct stat st;

	if (!path)
		return -ENOMEM;
	seen = visibility_of(survey, path);
	if (is_mount(survey, home, path))
		return note_mount(survey, home, path, entry->d_type);
	if (seen == HIDDEN_HERE || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	/* a socket that is bound into the private home could be connected to */
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode) && seen == HIDDEN_BELOW)
		return depth < ENTRIES_DEPTH ? list(survey, home, dir, name, path, depth + 1) : 0;
	if (S_ISLNK(st.st_mode)) {
		ssize_t length = readlinkat(dir, name, target, sizeof(target) - 1);

		if (length < 0)
			return 0;
		copy = arena_strndup(&survey->arena, target, (size_t)length);
		if (!copy)
			return -ENOMEM;
	}
	return add(survey, home, path, &st, copy);
}

static int list(struct survey *survey, int home, int parent, const char *name, const char *path, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), r = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (r == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = survey->entry_count < LIMIT_PATTERN_MATCHES ? list_one(survey, home, fd, entry, path, depth)
									: -E2BIG;
	closedir(dir);
	return r;
}

int survey_list_entries(struct survey *survey, struct pinfold_error *err)
{
	if (survey->has_entries)
		return 0;
	survey->has_entries = true;
	for (size_t i = 0; i < survey->home_count; i++) {
		int r = list(survey, (int)i, AT_FDCWD, survey->home[i].path, survey->home[i].path, 0);

		if (r < 0)
			return err_sys(err, PINFOLD_UNAVAILABLE, -r, "list", survey->home[i].path);
	}
	return 0;
}
