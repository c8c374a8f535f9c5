/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this module share. Nothing outside src/policy and its tests includes it. */
#ifndef POLICY_INTERNAL_H
#define POLICY_INTERNAL_H

#include <jansson.h>

#include "base/arena.h"
#include "base/identity.h"
#include "policy/policy.h"

/* ---- one setting (settings.c) ---- */

/* What one layer says about one key: a value, or one item of a list. */
struct policy_setting {
	enum policy_key key;
	uint64_t number;
	const char *text;
	struct policy_source source;
};

/* All that one file (or the command line) says. */
struct layer {
	struct policy_setting *v;
	size_t n, cap;
	const char *raw[KEY_COUNT]; /* the value as JSON, on one line; project files only */
	int line[KEY_COUNT];
};

/* Where a value stands, which decides what it may be. */
struct setting_context {
	struct arena *arena;
	enum policy_layer layer;
	const char *file;     /* NULL: the command line */
	const char *base;     /* what relative paths are relative to; NULL: they are an error */
	const char *home;     /* what ~ is; may be NULL */
	const char *worktree; /* canonical; NULL while it is not known */
};

#define ACCEPT_NONE   "none"    /* takes back what earlier layers accept */
#define ACCEPT_ABSENT "=absent" /* on the command line only */

/* Reads text as a value of `key`, or as one item of it. Place and key of an error are added by the caller. */
/* Reads who calls, once. */
int policy_identity(struct pinfold_policy *policy, struct pinfold_error *err);
int setting_read(const struct setting_context *context, enum policy_key key, const char *text,
		 struct policy_setting *ret, struct pinfold_error *err);
int layer_add(struct arena *arena, struct layer *layer, const struct policy_setting *setting);
static inline bool type_is_list(enum policy_type type)
{
	return type >= TYPE_PATHS && type < TYPE_TYPE_COUNT;
}

/* The key that an unknown name most likely means, or -1. */
int key_near(const char *name);

/* ---- text of a file (comments.c, lines.c, json.c) ---- */

/* Overwrites comments and trailing commas with blanks; every line keeps its number. 0, or -EINVAL and *ret_line with
 * *ret_why: a comment that does not end, a NUL, too deep nesting. */
int comments_blank(char *text, size_t length, int *ret_line, const char **ret_why);
/* The line of each value of valid JSON, in document order, parents first; a member's line is that of its key. */
int lines_find(struct arena *arena, const char *text, size_t length, int **ret, size_t *ret_count);
/* Reads a whole file. text is overwritten. ret_entry (the entry of projects{} for the worktree) is NULL where
 * `projects` is not allowed. */
int layer_parse(const struct setting_context *context, char *text, size_t length, struct layer *ret,
		struct layer *ret_entry, struct pinfold_error *err);

/* ---- files (layers.c, trust.c) ---- */

extern const char *policy_admin_file; /* /etc/pinfold/config.json; another only in tests */

extern const char policy_project_file[]; /* .pinfold.json */

/* Reads a file of the user's or the administrator's, after its links are resolved, and refuses one that others control:
 * owner not the user or root, writable by others, in `worktree` (NULL: not checked). 1 and its text, 0 where there is
 * none, or -errno. */
int config_read(struct arena *arena, const char *path, const char *worktree, struct buf *text,
		struct pinfold_error *err);
/* Reads `name` in a directory as a project's file: no link, a regular file, nobody's but the user's, root's or the
 * directory's owner's. As config_read. */
int project_read(const char *directory, const char *name, struct buf *text, struct pinfold_error *err);
void config_digest(const char *text, size_t length, char sha256[65]);
/* The text of trust.json: 0 with the list of entries, -ENOMEM, or -EINVAL with the line of what is wrong (0: none). */
int trust_parse(const char *text, size_t length, json_t **ret, int *ret_line);
bool trust_list_has(struct arena *arena, const json_t *list, const char *worktree, const char *sha256);
/* trust_has for a caller that knows who asks. */
bool trust_lookup(struct arena *arena, const struct identity *who, const char *worktree, const char *sha256,
		  struct pinfold_error *err);

/* ---- the merge (merge.c, rules.c) ---- */

int merge_layers(struct pinfold_policy *policy, const struct layer layers[LAYER_COUNT], bool is_trusted,
		 struct pinfold_error *err);
/* Contradictions within one layer: hide and read, or protect and write, of the same path; two claims on one port. */
int rules_check_layer(struct arena *arena, const struct layer *layer, const char *worktree, const char *home,
		      struct pinfold_error *err);
/* Two items of reach and publish that cannot both be true: one layer's, then all layers together. */
int ports_check_layer(struct arena *arena, const struct layer *layer, struct pinfold_error *err);
int ports_check(struct pinfold_policy *policy, struct pinfold_error *err);
int rules_make(struct pinfold_policy *policy, struct pinfold_error *err);

/* ---- readouts ---- */

/* "built in", "command line", FILE or FILE:LINE. */
void source_text(const struct policy_source *source, struct buf *out);
extern const char *const policy_layer_names[LAYER_COUNT];
/* A value or an item as a word (in buf), as the command line would take it. */
void value_text(enum policy_key key, uint64_t number, const char *text, struct buf *out);
/* The canonical text that policy->sha256 is made of. */
int policy_canonical(const struct pinfold_policy *policy, struct buf *out);

#endif
