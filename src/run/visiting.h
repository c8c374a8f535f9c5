/* SPDX-License-Identifier: Apache-2.0 */
/* What the two parts share that look at repositories after the run. */
#ifndef RUN_VISITING_H
#define RUN_VISITING_H

#include <dirent.h>

#include "run/checking.h"

/* What is younger than the run is moved away. What is older may be its owner's: */
enum newness {
	IS_OLD,     /* nothing says that the command had a part in it */
	IS_TOUCHED, /* the index that names it was written: it is named */
	IS_NEW,     /* there was no repository: it is moved away as well, the command has put it there */
};

struct repository {
	const char *checkout;
	const char *directory; /* git's own */
	bool is_known;         /* protected as the survey says */
	enum newness newness;  /* of its index */
};

struct visiting {
	struct checking *c;
	struct repository *v; /* those whose index is still to be read come behind `next` */
	size_t n, cap, next, seen;
	enum newness newness; /* of the repository that is visited */
	struct strv searched; /* for links: a submodule is found in the index and below modules */
	bool is_only_named;   /* git comes there only where somebody calls it: nothing is moved away */
};

/* ---- check_judge.c ---- */

/* As checking_look_up, for a path; -EXDEV: nothing that the command can write to. */
int visit_look(struct checking *c, const char *path, struct survey_watch *ret_place, struct stat *ret);
char *visit_join(struct checking *c, const char *dir, const char *name); /* NULL: c->error is set */
int visit_open(struct checking *c, const char *path, struct stat *st);   /* a regular file, to be read */
bool visit_is_young(const struct checking *c, const struct stat *st);
bool visit_is_named(const struct checking *c, const char *path); /* as a violation already */
/* No way back from a name, which could be a link. */
bool visit_is_straight(const char *path);
/* NULL with errno; what it is goes to *ret. */
DIR *visit_open_directory(struct checking *c, const char *path, struct stat *ret);
/* The names of a directory without "." and "..": 0, -E2BIG, -ENOMEM or another -errno. */
int visit_list(struct checking *c, const char *path, size_t most, struct strv *ret);
/* Moves away or names what is at path, as old as the repository is. */
void visit_take(struct visiting *v, const char *path, const char *what);
void visit_is_incomplete(struct checking *c, const char *path, const char *why);
void visit_is_unreadable(struct checking *c, const char *path, int r);
void visit_judge(struct visiting *v, const struct repository *repository);

/* ---- check_links.c ---- */

/* Takes away the command's links at the places in a git directory that git writes to. */
void visit_links(struct visiting *v, const char *directory);

#endif
