/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that the backend bwrap is made of: bubblewrap, and our own that goes on inside (src/enter).
 *
 * The threat: whoever can put another program in their place makes the pen, and holds nothing. So they are looked for
 * at fixed places and never through PATH, which a directory of the worktree may stand in; and the file, with every
 * directory on the way to it, must be nobody's to change but root's and the caller's. A sticky directory lets nobody
 * replace what is not his. Nor may it lie where this run or an earlier one could write.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"
#include "survey/survey.h"

static const char *const places[] = { "/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap" };

/* What the command may write to, with what an earlier run of the same policy could. */
static bool is_writable(const struct survey *survey, const char *path)
{
	if (path_is_in(path, survey->worktree))
		return true;
	for (size_t i = 0; i < survey->write_count; i++)
		if (path_is_in(path, survey->writes[i].path))
			return true;
	for (size_t i = 0; i < survey->cache_count; i++)
		if (path_is_in(path, survey->caches[i].tool) ||
		    (survey->caches[i].store && path_is_in(path, survey->caches[i].store)))
			return true;
	return survey->tmp && path_is_in(path, survey->tmp);
}

static int check_node(const struct survey *survey, const char *path, bool is_program)
{
	mode_t others = S_IWOTH | S_IWGRP;
	struct stat st;

	if (lstat(path, &st) < 0)
		return -errno;
	if (!is_program && (st.st_mode & S_ISVTX))
		others = 0;
	if (is_program ? !S_ISREG(st.st_mode) : !S_ISDIR(st.st_mode))
		return -EACCES;
	return (st.st_uid == 0 || st.st_uid == survey->who.uid) && !(st.st_mode & others) ? 0 : -EPERM;
}

/* *ret: where it really is. -ENOENT: nothing is there. */
static int check_program(struct survey *survey, const char *path, const char **ret)
{
	char real[PATH_MAX], *slash;
	int r;

	if (!realpath(path, real))
		return -errno;
	if (is_writable(survey, real))
		return -EPERM;
	*ret = arena_strdup(&survey->arena, real);
	if (!*ret)
		return -ENOMEM;
	r = check_node(survey, real, true);
	while (r == 0 && (slash = strrchr(real, '/')) != NULL && slash != real) {
		*slash = '\0';
		r = check_node(survey, real, false);
	}
	return r == 0 ? check_node(survey, "/", false) : r;
}

/* The first that is there counts, and no other where that one must not be used. */
static int find(struct survey *survey, const char *const *candidates, size_t n, const char **ret)
{
	const char *found = NULL;
	int r = -ENOENT;

	for (size_t i = 0; i < n && r == -ENOENT; i++) {
		survey->unusable = (struct survey_unusable){ candidates[i], 0 };
		r = check_program(survey, candidates[i], &found);
	}
	if (r == -ENOENT)
		survey->unusable.path = candidates[0];
	survey->unusable.errnum = -r;
	if (r < 0)
		return r;
	survey->unusable.path = NULL;
	*ret = found;
	return 0;
}

/* Beside the program itself, so that what was built together runs together; for the library, where it was installed. */
static int find_enter(struct survey *survey)
{
	static const char installed[] = PINFOLD_LIBEXECDIR "/pinfold-enter";
	const char *candidates[2] = { installed, installed };
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[length > 0 ? length : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash) {
		*slash = '\0';
		candidates[0] = path_join(&survey->arena, self, "pinfold-enter");
	}
	return candidates[0] ? find(survey, candidates, 2, &survey->enter) : -ENOMEM;
}

int survey_find_bubblewrap(struct survey *survey, const char *configured, struct pinfold_error *err)
{
	int r;

	if (survey->has_bubblewrap)
		return 0;
	survey->has_bubblewrap = true;
	r = configured ? find(survey, &configured, 1, &survey->bubblewrap) :
			 find(survey, places, sizeof(places) / sizeof(places[0]), &survey->bubblewrap);
	if (r == 0)
		r = find_enter(survey);
	return r == -ENOMEM ? err_oom(err) : 0;
}
