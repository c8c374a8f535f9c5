/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git's index (gitformat-index(5)), read for two things: the directories below a checkout that git on the host would
 * enter as repositories of their own, and what it says of a few files that are asked for. Hostile input. What git reads
 * in another order (blocks that a table names, a list of entries in a second file) is read as well, so that nothing is
 * found by git alone.
 */
#ifndef BASE_GITINDEX_H
#define BASE_GITINDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/strv.h"

enum { GITINDEX_ID = 32 };

struct gitindex_entry {
	const char *name;
	unsigned mode;
	unsigned char id[GITINDEX_ID];
	size_t id_length;
	bool has_stat;   /* git has seen the file as the entry says */
	bool is_skipped; /* not to be there (sparse checkout), or of a merge that is not settled */
};

struct gitindex {
	const struct strv *wanted; /* the caller's: files, and directories for all in them; NULL: no entries are kept */
	struct gitindex_entry *entries;
	size_t entry_count, entry_cap;
	struct strv links;   /* gitlinks: submodules */
	struct strv sparse;  /* directories whose entries are not listed (a sparse index) */
	const char *foreign; /* a name that no commit of git's can have, such as .git/hooks/x or ../x; NULL: none */
	struct strv shared;  /* names of files beside the index that hold more entries (a split index) */
};

/* Adds what it finds. 0, -EINVAL (as no git writes it), -E2BIG (too many) or -ENOMEM. */
int gitindex_read(struct arena *arena, const void *data, size_t length, struct gitindex *ret);

#endif
