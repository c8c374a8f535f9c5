/* SPDX-License-Identifier: Apache-2.0 */
/* What the two parts of the walk of the tree share. */
#ifndef RUN_WALKING_H
#define RUN_WALKING_H

#include <limits.h>

#include "linux/node.h"
#include "run/visiting.h"

/* What is said in one line, whatever its number. */
enum tally_kind {
	TALLY_REPOSITORIES,
	TALLY_CHANGED,
	TALLY_SPECIAL,
	TALLY_LINKS,
	TALLY_UNREADABLE, /* from here on the check is not complete */
	TALLY_MOUNTS,
	TALLY_DEEP,
	TALLY_MANY_LINKS,
	TALLY_MANY_FINDINGS,
	TALLY_TIME,
	TALLY_COUNT
};

enum { TALLY_NAMES = 4 };

struct tally {
	size_t n;
	const char *names[TALLY_NAMES];
};

/* A young file with several names: one of them. */
struct linked {
	uint64_t device, inode;
	uint32_t links;
	const char *path;
};

struct walk {
	struct checking *c;
	int64_t deadline_ns;
	bool is_over;
	char path[PATH_MAX]; /* of what is looked at */
	size_t length;
	bool in_worktree;    /* else a write path: protected names mean nothing there */
	size_t kept;         /* length of the path of the directory with a protected name that we are in; 0: none */
	bool is_kept_named;
	struct tally tally[TALLY_COUNT];
	struct linked *linked;
	size_t linked_count, linked_cap;
};

/* One directory of the way. */
struct level {
	int depth;
	bool in_git;    /* git's own: other names count there */
	bool is_young;  /* a name was added or taken away, or more */
	unsigned parts; /* of a git directory: enum watch_bare */
	bool has_young_part;
};

/* ---- check_entry.c: what one name of the tree is worth saying ---- */

/* What the walk is at, for one line at its end. */
void walk_count(struct walk *walk, enum tally_kind kind);
/* Not older than the run, by its last change. */
bool walk_is_touched(const struct walk *walk, const struct node *node);
/* What lies at a protected name; true where it is gone. */
bool walk_judge_name(struct walk *walk, const struct node *node);
/* Anything in a directory with a protected name. */
void walk_judge_kept(struct walk *walk, const struct node *node);
void walk_judge_file(struct walk *walk, const struct node *node);
void walk_judge_git(struct walk *walk, const struct node *node); /* a `.git` */
void walk_note_part(struct walk *walk, struct level *level, const char *name, const struct node *node);
void walk_judge_shape(struct walk *walk, const struct level *level);
/* When all is walked. */
void walk_judge_links(struct walk *walk);
void walk_say(struct walk *walk);

#endif
