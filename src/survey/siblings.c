/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be read, for a backend that can only grant. Landlock gives a right over a directory and all that lies in it,
 * and takes nothing of it back; so a directory that holds something hidden is not granted itself, but each of its other
 * entries. It cannot be listed then, since the right to list it would be one to list what is hidden in it.
 *
 * A hidden name counts whether it is there or not: in a directory that is opened up, what the host makes or replaces
 * during the run is not granted either (E043, E044). The price is a rule for each entry of the few directories in which
 * such names are known.
 *
 * The list begins at the root and at everything that the user opens below something hidden; what is on the way to
 * nothing hidden is one entry. Links need none: what they lead to has a name of its own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/pathset.h"
#include "survey/survey.h"

/* The host's temporary files are not the command's, nor its services' directories; devices are granted one by one. */
static const char *const closed_places[] = { "/dev", "/run", "/tmp", "/var/run", "/var/tmp" };

enum { SIBLINGS_DEPTH = 64 };

struct listing_siblings {
	struct survey *survey;
	struct path_set hidden; /* all that must not be granted */
	bool is_cut;            /* there were more than LIMIT_SIBLINGS */
};

static int add(struct listing_siblings *l, const char *path, bool is_directory)
{
	struct survey *survey = l->survey;
	struct survey_sibling *siblings;

	if (survey->sibling_count == LIMIT_SIBLINGS) {
		l->is_cut = true; /* what is not granted stays closed */
		return 0;
	}
	siblings = arena_grow(&survey->arena, survey->siblings, survey->sibling_count, survey->sibling_count + 1,
			      sizeof(*siblings), &survey->sibling_cap);
	if (!siblings)
		return -ENOMEM;
	survey->siblings = siblings;
	siblings[survey->sibling_count++] = (struct survey_sibling){ path, is_directory };
	return 0;
}

static int list(struct listing_siblings *l, int parent, const char *name, const char *path, int depth);

static int list_one(struct listing_siblings *l, int dir, const struct dirent *entry, const char *parent, int depth)
{
	unsigned char type = entry->d_type;
	const char *hidden;
	struct stat st;
	char *path;

	if (type == DT_UNKNOWN) {
		if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return 0;
		type = S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_LNK;
	}
	/* a FIFO, a socket or a device is a way to a process of the host */
	if (type != DT_DIR && type != DT_REG)
		return 0;
	path = path_join(&l->survey->arena, parent, entry->d_name);
	if (!path)
		return -ENOMEM;
	hidden = path_set_first_in(&l->hidden, path);
	if (!hidden)
		return add(l, path, type == DT_DIR);
	if (strcmp(hidden, path) == 0 || type != DT_DIR || depth == SIBLINGS_DEPTH)
		return 0;
	return list(l, dir, entry->d_name, path, depth + 1);
}

/* A directory that cannot be read is one whose entries the command could open only by name: they stay closed. */
static int list(struct listing_siblings *l, int parent, const char *name, const char *path, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), r = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (r == 0 && !l->is_cut && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = list_one(l, fd, entry, path, depth);
	closedir(dir);
	return r;
}

static int list_from(struct listing_siblings *l, const char *path, bool is_directory)
{
	const char *hidden = path_set_first_in(&l->hidden, path);

	/* itself it may well be hidden: it is granted all the same */
	return hidden && is_directory ? list(l, AT_FDCWD, path, path, 0) : add(l, path, is_directory);
}

static int collect(struct listing_siblings *l, bool has_private_home)
{
	struct survey *survey = l->survey;
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(closed_places) / sizeof(closed_places[0]); i++)
		r = path_set_add(&survey->arena, &l->hidden, closed_places[i]);
	for (size_t i = 0; r == 0 && i < survey->hidden_count; i++)
		r = path_set_add(&survey->arena, &l->hidden, survey->hidden[i].path);
	for (size_t i = 0; r == 0 && i < survey->service_directories.n; i++)
		r = path_set_add(&survey->arena, &l->hidden, survey->service_directories.v[i]);
	for (size_t i = 0; r == 0 && has_private_home && i < survey->home_count; i++)
		if (strcmp(survey->home[i].path, "/") != 0)
			r = path_set_add(&survey->arena, &l->hidden, survey->home[i].path);
	path_set_sort(&l->hidden);
	return r;
}

/* A worktree that the command may write is a right of its own, over all that lies in it. */
static int list_worktree(struct listing_siblings *l, bool is_read_only)
{
	return is_read_only ? list_from(l, l->survey->worktree, true) : 0;
}

static int list_grants(struct listing_siblings *l, const struct survey_grant *grants, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = list_from(l, grants[i].path, grants[i].is_directory);
	return r;
}

int survey_list_siblings(struct survey *survey, bool has_private_home, bool is_read_only, struct pinfold_error *err)
{
	struct listing_siblings l = { .survey = survey };
	int r;

	if (survey->has_siblings)
		return 0;
	survey->has_siblings = true;
	r = collect(&l, has_private_home);
	if (r == 0)
		r = list_from(&l, "/", true);
	if (r == 0)
		r = list_worktree(&l, is_read_only);
	if (r == 0)
		r = list_grants(&l, survey->reads, survey->read_count);
	if (r == 0)
		r = list_grants(&l, survey->tools, survey->tool_count);
	if (r == 0 && l.is_cut)
		r = strv_add(&survey->arena, &survey->notes,
			     "more entries lie beside hidden ones than can be granted: some of them cannot be read");
	return r < 0 ? err_oom(err) : 0;
}
