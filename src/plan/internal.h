/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the plan share. */
#ifndef PLAN_INTERNAL_H
#define PLAN_INTERNAL_H

#include "plan/plan.h"

/* backends.c: fills in plan->backend, or says why the one that is named cannot be had. */
int plan_choose_backend(struct pinfold_plan *plan, struct pinfold_error *err);
/* Why there is no backend; NULL when out of memory. */
const char *plan_no_backend(struct pinfold_plan *plan);
/* What stands in the way, in words; NULL when out of memory. */
const char *plan_fact_text(struct pinfold_plan *plan, enum host_fact fact);
int plan_namespaces(struct pinfold_plan *plan);     /* mounts.c; for bubblewrap, too */
int plan_landlock_alone(struct pinfold_plan *plan); /* landlock_alone.c */

/* Each returns 0 or -ENOMEM. They read policy, host and survey through the plan, and fill their part of it. */
int plan_ids(struct pinfold_plan *plan);          /* ids.c: whom the command runs as; id maps of what it may write */
bool plan_keeps_host_file(const struct pinfold_plan *plan); /* landlock.c: one on 0, 1 or 2, only read, not reopened */
int plan_mounts(struct pinfold_plan *plan);       /* mounts.c */
int plan_landlock(struct pinfold_plan *plan);     /* landlock.c: beside the mounts */
int plan_add_rule(struct pinfold_plan *plan, const char *path, int fd, uint64_t access, bool is_optional);
int plan_ports(struct pinfold_plan *plan);        /* ports.c */
int plan_guarantees(struct pinfold_plan *plan);   /* guarantees.c; last: it reads what the others decided */
int plan_environment(struct pinfold_plan *plan);  /* command.c */
int plan_command(struct pinfold_plan *plan, char *const *argv);
int plan_words(struct pinfold_plan *plan);        /* words.c */
const char *plan_variable(const struct pinfold_plan *plan,
			  const char *name); /* of the command's environment; or NULL */

/* ---- layout: the mount operations as they are put together (layout.c) ---- */

/* A place whose content is ours: a directory of the private tmpfs is bound over it, and what is made visible below it
 * needs its mount point made there. */
struct region {
	const char *path;   /* in the pen */
	const char *inside; /* in the private tmpfs */
};

struct layout {
	struct pinfold_plan *plan;
	struct region *regions;
	size_t region_count, region_cap;
	struct strv made;   /* directories and files made in the private tmpfs, relative to it */
	const char *parent; /* of what was made last, with its length: most follow each other in one directory */
	size_t parent_length;
	int error;          /* sticky: -ENOMEM */
	const char *whiteout; /* the first whiteout; the others are links to it */
	unsigned next;      /* number for the next name in the private tmpfs */
};

struct plan_op *layout_op(struct layout *layout, enum mount_op_kind kind, const char *path);
/* A source: its index, or -1 (out of memory; sticks). */
int layout_source(struct layout *layout, const char *path, const struct survey_node *node, unsigned attr);
/* In the private tmpfs, parents included; what is there already is left alone. */
void layout_directory(struct layout *layout, const char *inside, unsigned mode);
void layout_file(struct layout *layout, const char *inside, unsigned mode, const char *text, size_t length);
void layout_whiteout(struct layout *layout, const char *inside);
/* Binds a directory of the private tmpfs over path; what is granted below path is made in it. */
void layout_region(struct layout *layout, const char *path, const char *inside, unsigned attr);
/* Makes sure that there is something at path to mount over, where path lies in a region. */
void layout_place(struct layout *layout, const char *path, bool is_directory);
void layout_bind(struct layout *layout, int source, const char *path, bool is_directory);
/* Binds something of the private tmpfs over path. */
void layout_cover(struct layout *layout, const char *inside, const char *path, unsigned attr);
/* Lays a link to a copy of the file over it; the copy is one of the plan's. */
void layout_copy(struct layout *layout, const struct survey_config *config);
const char *layout_name(struct layout *layout, const char *prefix); /* a new name in the private tmpfs */
/* prefix/name, or name where prefix is "". */
const char *layout_join(struct layout *layout, const char *prefix, const char *name);

/* Parts of the mounts. */
void layout_homes(struct layout *layout);  /* homes.c */
void layout_covers(struct layout *layout); /* cover.c: grants, protected paths and masks */
/* Does anything that the command gets lie below path (strictly)? */
bool plan_grants_below(const struct pinfold_plan *plan, const char *path);
bool plan_grants_in(const struct pinfold_plan *plan, const char *path); /* or path itself is granted */
/* Does the command see at path what the host has there? The most specific of what is granted and hidden decides. */
bool plan_shows(const struct pinfold_plan *plan, const char *path);
/* path lies in what the command may write: the root of it, or NULL. */
const char *plan_writable_root(const struct pinfold_plan *plan, const char *path);
/* The home is shown through an overlay (else bound entry by entry, or private). */
bool plan_home_has_overlay(const struct pinfold_plan *plan, size_t home);
int plan_idmap_for(const struct pinfold_plan *plan, const struct survey_node *node); /* index, or -1 */

#endif
