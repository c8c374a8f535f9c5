/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking the survey: what the parts share. Each part reads one kind of thing and adds to the survey; none looks again
 * at what an earlier one has read. Nothing here follows a path that it does not need (F193: an unreachable mount
 * elsewhere must neither hang nor fail the run).
 */
#ifndef SURVEY_TAKE_H
#define SURVEY_TAKE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/pathset.h"
#include "base/tables.h"
#include "policy/pattern.h"
#include "survey/survey.h"

/* The names of one directory, read at once: cheaper than one lstat per row of the built-in lists. */
struct listing {
	const char *dir;
	const char *asked; /* the pointer that it was first asked for by: most who ask again have the same */
	struct listing_name {
		const char *name;
		unsigned char type; /* DT_*; DT_UNKNOWN where the file system does not say */
	} *names;
	size_t count, cap;
	uint32_t *slots; /* index + 1 of a name, by its hash; made when the first name is looked up */
	size_t slot_count;
	int errnum; /* why it could not be read, or 0; then it is empty */
};

struct taking {
	struct survey *survey;
	const struct pinfold_policy *policy;
	struct arena *arena; /* the survey's */
	bool make;
	bool has_allow_rules; /* there are `read` or `write` rules at all */
	struct listing *listings;
	size_t listing_count, listing_cap;
	struct listing *last; /* asked for last: rows of one directory follow each other */
	size_t worktree_length, home_length[2]; /* of the survey's paths */
	struct strv listed; /* directories that many rows lie in: read at once (find.c) */
	struct base {
		bool is_known;
		const char *elsewhere; /* canonical, of an XDG directory that is not the usual one */
		struct usual *usual;   /* the usual place in each home; find.c */
	} base[TABLE_BASE_COUNT];
	struct path_set granted; /* sorted: caches and write paths, which the pen puts over a home */
	struct strv globs;  /* names without a leading dot that rows of a home or of the worktree ask for */
	struct pinfold_error *err;
	int failed_errno; /* of the first look that failed and says nothing, or 0 */
	char failed_path[256];
};

/* ---- look.c: nodes, listings, links ---- */

void look_node(const struct stat *st, struct survey_node *ret);
/* lstat: 0 with *ret filled, or -errno. */
int look_at(struct taking *take, const char *path, struct survey_node *ret);
/* path_resolve, in the survey's memory. */
int look_resolve(struct taking *take, const char *path, char **ret, bool *ret_missing);
/* Every look that fails comes by here; returns -error. Most parts take what they cannot look at for absent, which is
 * right for a place that is not there, not ours, or broken: the command does not get there either. A shortage, or a
 * filter around us, says nothing of the place. Then the survey is refused as a whole, at its end. */
int look_failed(struct taking *take, const char *path, int error);
/* The listing of dir, read the first time it is asked for; NULL when out of memory. In a home and in the worktree names
 * that do not begin with a dot are only kept where a row asks for them, so that a directory with a hundred thousand
 * files costs no memory. */
struct listing *look_listing(struct taking *take, const char *dir);
/* 1 with *ret, 0: no such name, or -ENOMEM. */
int look_name(struct taking *take, struct listing *listing, const char *name, const struct listing_name **ret);
/* One step of a link: where `link` leads, its parent resolved, the last component not. -ELOOP and so on. */
int look_link(struct taking *take, const char *link, char **ret);
/* The value of a variable of the caller's, or NULL. */
const char *look_environment(const struct survey *survey, const char *name);
/* A warning for the record. 0 or -ENOMEM (reported). */
int take_note(struct taking *take, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "command line", "FILE:LINE", "built in". NULL when out of memory. */
const char *take_source(struct taking *take, const struct policy_source *source);
/* Errors about one item of the policy: adds file, line and key; returns ret. */
int take_blame(struct taking *take, int ret, const struct policy_item *item, enum policy_key key);
/* Grows one of the survey's arrays by one zeroed element; NULL when out of memory. */
void *take_grow(struct taking *take, void *array, size_t *count, size_t *cap, size_t size);

/* ---- find.c: rows of the tables ---- */

struct found {
	const char *path;  /* parent canonical; the row's last component, or the topmost one that is missing */
	const char *rest;  /* "" where path is the whole row; else what lies, or would lie, further below */
	bool exists;
	unsigned char type; /* DT_*, where it exists */
	struct survey_node node; /* mode 0: not looked at, the directory's listing knew it */
	struct strv links; /* links that were passed on the way */
};

/* Which directories are listed, and which names are kept. Called once, when homes and worktree are known. */
int find_begin(struct taking *take);
/* Where `below` lies under `dir` (canonical). 1 with *ret filled; 0: it cannot exist (something that is no directory on
 * the way, a loop of links), or a negative errno (reported). */
int find_below(struct taking *take, const char *dir, const char *below, struct found *ret);

/* Calls each(take, arg, found) for everything a row stands for: in each home, below the XDG directory and below its
 * default place, every match of a wildcard. Stops at a negative return. */
typedef int find_each(struct taking *take, void *arg, const struct found *found);
int find_row(struct taking *take, const struct table_path *row, find_each *each, void *arg);
/* The same for one glob or literal below dir. */
int find_matches(struct taking *take, const char *dir, const char *below, bool is_glob, find_each *each, void *arg);

/* ---- the parts ---- */

int take_mounts(struct taking *take);    /* mounts.c */
int take_homes(struct taking *take);     /* home.c */
int take_account(struct taking *take);   /* home.c: /etc/passwd and /etc/group with the caller's line */
int take_git(struct taking *take);       /* git.c */
int take_writes(struct taking *take);    /* grants.c; before the hidden entries: a path that it makes is not absent */
int take_sockets(struct taking *take);
int take_devices(struct taking *take);
int take_services(struct taking *take);
int take_closed(struct taking *take);    /* closed.c */
int take_reads(struct taking *take);     /* grants.c; after the hidden entries: what lies below one is granted */
int take_tools(struct taking *take);
int take_caches(struct taking *take);    /* caches.c */
int take_patterns(struct taking *take);  /* patterns.c: the user's `hide` and `protect` */
int take_hidden(struct taking *take);    /* hidden.c: the built-in list */
int take_protected(struct taking *take); /* protect.c */
int take_aliases(struct taking *take);   /* aliases.c: the same places through other mounts */
int take_order(struct taking *take);     /* order.c: sorted, entries inside others dropped, the cwd checked (F028) */
int take_configs(struct taking *take);   /* configs.c: of what is protected, what the command gets as a copy */
int take_watch(struct taking *take);     /* watch.c: what the check after the run compares */
int take_stdio(struct taking *take);     /* stdio.c */

/* ---- what the lists share ---- */

struct hidden_entry {
	const char *path;   /* parent canonical, last component as it is */
	const char *rule;
	const char *source;
	const char *cut;    /* the name for cut_settings, for a settings file that may be shown as a copy; else NULL */
	const struct policy_item *item; /* the user's; NULL: built in */
	bool is_missing;    /* known to be: no second look */
	struct survey_node node; /* known, unless its mode is 0 */
};

/* mounts.c: the text of a mountinfo, which is changed. Lines that are none are passed over. */
int mounts_parse(struct taking *take, char *text);
/* A write path that nobody has asked for; nothing where there is one of the same path. */
int grant_write(struct taking *take, const char *path, const struct survey_node *node, const char *source);
/* Adds one entry and, for a link, where it leads. */
int hidden_add(struct taking *take, const struct hidden_entry *entry);
/* The same for a protected path of the worktree. */
int protect_add(struct taking *take, const char *path, const char *rule, const char *source, bool keep_absent);
/* A link and those that it leads through, but not what is at the end. */
int protect_links(struct taking *take, const char *path, const char *rule, const char *source);
/* 1 where it was added: then it is the last one, to be filled in. 0: nothing can be looked at there. */
int watch_add(struct taking *take, enum watch_kind kind, const char *path, const char *rule);
struct survey_watch *watch_last(const struct taking *take);
/* What was there. */
void watch_fill(const struct survey *survey, struct survey_watch *watch, const char *path, const struct stat *st);
/* watch_rows.c: what a row asks for below dir that no mount can hold. */
int watch_row(struct taking *take, const char *dir, const struct table_protected *row);
/* Between two runs of one plan: what is at path now is what must stay. */
void watch_renew(struct survey *survey, const char *path);
/* A name that a row of the built-in list protects and that is not there: it must stay absent. */
int watch_absent(struct taking *take, const char *path, const char *rule);
/* Outside the worktree all is read-only anyway, but for the write paths. */
bool protect_is_in_reach(const struct survey *survey, const char *path);
/* The user's rule on exactly this path (or a more specific one) that allows it. */
bool take_is_allowed(const struct taking *take, enum rule_axis axis, const char *path);

#endif
