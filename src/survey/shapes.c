/* SPDX-License-Identifier: Apache-2.0 */
/* Every field of the survey, once. A field that is added to survey.h is added here in the same commit. */
#include "survey/shapes.h"

#include "survey/survey.h"

#define SHAPE(owner, list) { sizeof(owner), list, sizeof(list) / sizeof((list)[0]) }
#define FIELD(kind, owner, member) { .name = #member, .type = FIELD_##kind, .offset = offsetof(owner, member) }
#define WORD(owner, member, list) \
	{ .name = #member, .type = FIELD_WORD, .offset = offsetof(owner, member), .words = (list) }
#define STRUCT(owner, member, of) \
	{ .name = #member, .type = FIELD_STRUCT, .offset = offsetof(owner, member), .shape = (of) }
#define LIST(member, of, used, room)                                                                     \
	{ .name = #member, .type = FIELD_LIST, .offset = offsetof(struct survey, member), .shape = (of), \
	  .count = offsetof(struct survey, used), .cap = offsetof(struct survey, room) }

static const char *const hidden_kinds[] = { "absent", "directory", "file", "cut", "link", NULL };
static const char *const hidden_places[] = { "home", "worktree", "elsewhere", NULL };
static const char *const protected_kinds[] = { "absent", "directory", "file", "link", NULL };
static const char *const git_kinds[] = { "none", "clone", "linked", "submodule", "separate", "bare", "other", NULL };
static const char *const stdio_kinds[] = { "closed", "file", "directory", "terminal", "socket", "other", NULL };

#define IS_COMPLETE(words, count) (sizeof(words) / sizeof((words)[0]) == (size_t)(count) + 1)
_Static_assert(IS_COMPLETE(hidden_kinds, HIDDEN_KIND_COUNT), "a word for every kind");
_Static_assert(IS_COMPLETE(hidden_places, PLACE_COUNT), "a word for every place");
_Static_assert(IS_COMPLETE(protected_kinds, PROTECTED_KIND_COUNT), "a word for every kind");
_Static_assert(IS_COMPLETE(git_kinds, REPOSITORY_KIND_COUNT), "a word for every kind");
_Static_assert(IS_COMPLETE(stdio_kinds, STDIO_KIND_COUNT), "a word for every kind");

static const struct field node_fields[] = {
	FIELD(U64, struct survey_node, dev), FIELD(U64, struct survey_node, ino), FIELD(U32, struct survey_node, mode),
	FIELD(U32, struct survey_node, uid), FIELD(U32, struct survey_node, gid),
};
static const struct shape node_shape = SHAPE(struct survey_node, node_fields);

static const struct field who_fields[] = {
	FIELD(U32, struct identity, uid),           FIELD(U32, struct identity, gid),
	FIELD(TEXT, struct identity, user),         FIELD(TEXT, struct identity, account_home),
	FIELD(TEXT, struct identity, home),         FIELD(TEXT, struct identity, home_spelling),
	FIELD(TEXT, struct identity, shell),        FIELD(TEXT, struct identity, config_home),
	FIELD(TEXT, struct identity, data_home),    FIELD(TEXT, struct identity, state_home),
	FIELD(TEXT, struct identity, cache_home),   FIELD(TEXT, struct identity, runtime_dir),
};
static const struct shape who_shape = SHAPE(struct identity, who_fields);
_Static_assert(sizeof(uid_t) == sizeof(uint32_t) && sizeof(gid_t) == sizeof(uint32_t), "ids are written as 32 bits");

static const struct field git_fields[] = {
	WORD(struct survey_git, kind, git_kinds),
	FIELD(TEXT, struct survey_git, entry),
	FIELD(TEXT, struct survey_git, directory),
	FIELD(TEXT, struct survey_git, common),
	FIELD(TEXT, struct survey_git, refused),
	STRUCT(struct survey_git, node, &node_shape),
};
static const struct shape git_shape = SHAPE(struct survey_git, git_fields);

static const struct field home_fields[] = {
	FIELD(TEXT, struct survey_home, path),
	STRUCT(struct survey_home, node, &node_shape),
	FIELD(STRV, struct survey_home, mounts),
	FIELD(STRV, struct survey_home, file_mounts),
};
static const struct shape home_shape = SHAPE(struct survey_home, home_fields);

static const struct field hidden_fields[] = {
	FIELD(TEXT, struct survey_hidden, path),
	WORD(struct survey_hidden, kind, hidden_kinds),
	WORD(struct survey_hidden, place, hidden_places),
	FIELD(INT, struct survey_hidden, home),
	FIELD(TEXT, struct survey_hidden, rule),
	FIELD(TEXT, struct survey_hidden, source),
	FIELD(TEXT, struct survey_hidden, copy),
	STRUCT(struct survey_hidden, node, &node_shape),
};
static const struct shape hidden_shape = SHAPE(struct survey_hidden, hidden_fields);

static const struct field protected_fields[] = {
	FIELD(TEXT, struct survey_protected, path),
	WORD(struct survey_protected, kind, protected_kinds),
	FIELD(TEXT, struct survey_protected, rule),
	FIELD(TEXT, struct survey_protected, source),
	STRUCT(struct survey_protected, node, &node_shape),
};
static const struct shape protected_shape = SHAPE(struct survey_protected, protected_fields);

static const struct field config_fields[] = {
	FIELD(TEXT, struct survey_config, path),
	FIELD(TEXT, struct survey_config, text),
	STRUCT(struct survey_config, node, &node_shape),
	STRUCT(struct survey_config, directory, &node_shape),
};
static const struct shape config_shape = SHAPE(struct survey_config, config_fields);

static const struct field grant_fields[] = {
	FIELD(TEXT, struct survey_grant, path),
	FIELD(BOOL, struct survey_grant, is_directory),
	FIELD(BOOL, struct survey_grant, must_make),
	FIELD(TEXT, struct survey_grant, source),
	FIELD(TEXT, struct survey_grant, unfit),
	STRUCT(struct survey_grant, node, &node_shape),
};
static const struct shape grant_shape = SHAPE(struct survey_grant, grant_fields);

static const struct field cache_fields[] = {
	FIELD(TEXT, struct survey_cache, name),
	FIELD(TEXT, struct survey_cache, tool),
	FIELD(TEXT, struct survey_cache, store),
	STRUCT(struct survey_cache, node, &node_shape),
};
static const struct shape cache_shape = SHAPE(struct survey_cache, cache_fields);

static const struct field mount_fields[] = {
	FIELD(TEXT, struct survey_mount, path),
	FIELD(TEXT, struct survey_mount, type),
	FIELD(TEXT, struct survey_mount, root),
	FIELD(U64, struct survey_mount, device),
};
static const struct shape mount_shape = SHAPE(struct survey_mount, mount_fields);

static const struct field entry_fields[] = {
	FIELD(TEXT, struct survey_entry, path),
	FIELD(TEXT, struct survey_entry, target),
	FIELD(BOOL, struct survey_entry, is_directory),
	FIELD(INT, struct survey_entry, home),
};
static const struct shape entry_shape = SHAPE(struct survey_entry, entry_fields);

static const struct field sibling_fields[] = {
	FIELD(TEXT, struct survey_sibling, path),
	FIELD(BOOL, struct survey_sibling, is_directory),
};
static const struct shape sibling_shape = SHAPE(struct survey_sibling, sibling_fields);

static const struct field stdio_fields[] = {
	WORD(struct survey_stdio, kind, stdio_kinds),
	FIELD(INT, struct survey_stdio, flags),
	FIELD(TEXT, struct survey_stdio, path),
	STRUCT(struct survey_stdio, node, &node_shape),
};
static const struct shape stdio_shape = SHAPE(struct survey_stdio, stdio_fields);

static const struct field terminal_fields[] = {
	FIELD(BOOL, struct survey_terminal, has_controlling),
	FIELD(BOOL, struct survey_terminal, is_foreground),
	FIELD(BOOL, struct survey_terminal, is_all),
	FIELD(TEXT, struct survey_terminal, path),
};
static const struct shape terminal_shape = SHAPE(struct survey_terminal, terminal_fields);

static const struct field unusable_fields[] = {
	FIELD(TEXT, struct survey_unusable, path),
	FIELD(INT, struct survey_unusable, errnum),
};
static const struct shape unusable_shape = SHAPE(struct survey_unusable, unusable_fields);

static const struct field survey_fields[] = {
	STRUCT(struct survey, who, &who_shape),
	FIELD(TEXT, struct survey, cwd),
	STRUCT(struct survey, cwd_node, &node_shape),
	FIELD(TEXT, struct survey, worktree),
	STRUCT(struct survey, worktree_node, &node_shape),
	FIELD(TEXT, struct survey, unfit),
	STRUCT(struct survey, git, &git_shape),
	{ .name = "home", .type = FIELD_ARRAY, .offset = offsetof(struct survey, home), .shape = &home_shape,
	  .count = 2, .cap = offsetof(struct survey, home_count) },
	LIST(hidden, &hidden_shape, hidden_count, hidden_cap),
	LIST(protected, &protected_shape, protected_count, protected_cap),
	LIST(configs, &config_shape, config_count, config_cap),
	LIST(writes, &grant_shape, write_count, write_cap),
	LIST(reads, &grant_shape, read_count, read_cap),
	LIST(sockets, &grant_shape, socket_count, socket_cap),
	LIST(devices, &grant_shape, device_count, device_cap),
	LIST(tools, &grant_shape, tool_count, tool_cap),
	FIELD(STRV, struct survey, service_directories),
	FIELD(STRV, struct survey, closed),
	LIST(caches, &cache_shape, cache_count, cache_cap),
	LIST(mounts, &mount_shape, mount_count, mount_cap),
	FIELD(STRV, struct survey, alias_parts),
	FIELD(STRV, struct survey, alias_homes),
	{ .name = "stdio", .type = FIELD_ARRAY, .offset = offsetof(struct survey, stdio), .shape = &stdio_shape,
	  .count = 3 },
	STRUCT(struct survey, terminal, &terminal_shape),
	FIELD(BOOL, struct survey, has_entries),
	LIST(entries, &entry_shape, entry_count, entry_cap),
	FIELD(BOOL, struct survey, has_siblings),
	LIST(siblings, &sibling_shape, sibling_count, sibling_cap),
	FIELD(BOOL, struct survey, has_bubblewrap),
	FIELD(TEXT, struct survey, bubblewrap),
	FIELD(TEXT, struct survey, enter),
	STRUCT(struct survey, unusable, &unusable_shape),
	FIELD(TEXT, struct survey, tmp),
	STRUCT(struct survey, tmp_node, &node_shape),
	FIELD(STRV, struct survey, run_links),
	FIELD(TEXT, struct survey, resolver),
	FIELD(BOOL, struct survey, needs_passwd_line),
	FIELD(TEXT, struct survey, passwd_copy),
	FIELD(TEXT, struct survey, group_copy),
	FIELD(STRV, struct survey, environment),
	FIELD(STRV, struct survey, notes),
};
const struct shape survey_shape = SHAPE(struct survey, survey_fields);
