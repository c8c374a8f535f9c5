/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy: what is asked, merged from five layers, each value with its source.
 *
 *   built in < administrator < user < project (may only tighten) < command line
 *
 * Everything about a key (its option, type, words, default, help, what tightens it) stands in one table, policy_keys
 * (keys.c). From it come the readers of JSON and of the command line, --help, completion, the JSON Schema, `config
 * show` and the check of the man page.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/identity.h"
#include "pinfold.h"

enum policy_key {
	KEY_WORKTREE,
	KEY_READ_ONLY,
	KEY_MODE,
	KEY_BACKEND,
	KEY_BWRAP,
	KEY_ACCEPT,
	KEY_WRITE,
	KEY_READ,
	KEY_HIDE,
	KEY_PROTECT,
	KEY_HOME,
	KEY_GIT,
	KEY_CHECK,
	KEY_ON_VIOLATION,
	KEY_NETWORK,
	KEY_REACH,
	KEY_PUBLISH,
	KEY_SOCKET,
	KEY_DEVICE,
	KEY_ENV,
	KEY_ENV_MODE,
	KEY_TMP,
	KEY_TIME,
	KEY_MEMORY,
	KEY_PROCESSES,
	KEY_TMP_SIZE,
	KEY_NESTING,
	KEY_WORD_CHECK,
	KEY_HINTS,
	KEY_VERBOSE,
	KEY_COUNT
};

/* Choices; the words stand in keys.c, in this order, loosest last: "may only tighten" is "not a later word". */
enum { MODE_REQUIRED, MODE_AUTO, MODE_OFF, MODE_COUNT };
enum { BACKEND_AUTO, BACKEND_NAMESPACES, BACKEND_BWRAP, BACKEND_LANDLOCK, BACKEND_COUNT };
enum { HOME_HIDDEN, HOME_MASKED, HOME_COUNT };
enum { GIT_READONLY, GIT_COMMIT, GIT_OPEN, GIT_COUNT };
enum { CHECK_TREE, CHECK_SET, CHECK_COUNT };
enum { VIOLATION_FAIL, VIOLATION_REMOVE, VIOLATION_REPORT, VIOLATION_COUNT };
enum { NETWORK_OFFLINE, NETWORK_OPEN, NETWORK_COUNT };
enum { ENV_LIST, ENV_SCRUB, ENV_ALL, ENV_COUNT };
enum { WORD_CHECK_REFUSE, WORD_CHECK_WARN, WORD_CHECK_OFF, WORD_CHECK_COUNT };
enum { HINTS_OFF, HINTS_HUMAN, HINTS_AGENT, HINTS_COUNT };

enum policy_layer {
	LAYER_BUILTIN,
	LAYER_ADMIN,
	LAYER_USER,    /* the user's file, or what --config names */
	LAYER_PROJECT_ENTRY, /* projects{} of the user's file: the user's own word about one worktree */
	LAYER_PROJECT, /* .pinfold.json */
	LAYER_COMMAND,
	LAYER_COUNT
};

struct policy_source {
	enum policy_layer layer;
	const char *file; /* NULL for built in and command line */
	int line;         /* 0 where there is none */
};

enum policy_type {
	TYPE_FLAG,     /* bool */
	TYPE_CHOICE,   /* number = index into words */
	TYPE_PATH,     /* text: absolute and normal, or NULL = the default */
	TYPE_TMP,      /* text: NULL = private, else an absolute directory */
	TYPE_DURATION, /* number in ms, UINT64_MAX = none */
	TYPE_SIZE,     /* number in bytes, UINT64_MAX = none */
	TYPE_COUNT,    /* number, UINT64_MAX = none */
	TYPE_PATHS,    /* items: paths, absolute and normal; a trailing slash is kept for `write` (make a directory) */
	TYPE_PATTERNS, /* items: patterns, as written (see pattern.h) */
	TYPE_NAMES,    /* items: guarantee names, NAME or NAME=absent */
	TYPE_ENVIRONMENT, /* items: NAME or NAME=VALUE */
	TYPE_PORTS,    /* items: PORT or PORT:PORT, without zeros in front; see policy_port */
	TYPE_TYPE_COUNT
};

#define POLICY_NONE UINT64_MAX

struct policy_item {
	const char *text;
	struct policy_source source;
};

struct policy_value {
	bool is_set;     /* by any layer but the built-in one */
	uint64_t number; /* flag (0, 1), choice, duration, size, count */
	const char *text;
	const struct policy_item *items; /* all layers together, in layer order, exact duplicates removed */
	size_t count;
	struct policy_source source; /* of a value that is not a list */
};

/* How a project file may use a key. */
enum policy_tighten {
	TIGHTEN_NEVER,   /* every use loosens: ignored without trust */
	TIGHTEN_ALWAYS,  /* every use tightens: hide, protect */
	TIGHTEN_SMALLER, /* only a smaller number (a limit) or a lower word (a choice) than the layers before it say */
	TIGHTEN_ON,      /* only switching on: read_only */
};

struct policy_key_def {
	const char *name;   /* in JSON: tmp_size */
	const char *option; /* on the command line: --tmp-size */
	const char *argument; /* word for it in --help: SIZE; NULL for a flag */
	enum policy_type type;
	const char *const *words; /* of a choice, NULL-terminated */
	uint64_t builtin;         /* default number */
	enum policy_tighten tighten;
	const char *help;         /* one line */
	const char *alias;        /* an option that sets a fixed word: "--offline", or NULL */
	const char *alias_word;
	bool is_command_only;     /* an option, but no key of the configuration */
};

extern const struct policy_key_def policy_keys[KEY_COUNT];

/* A key that a project file used to loosen, and that was left out. */
struct policy_ignored {
	const char *file, *key, *text; /* text: the value as JSON, cut to a line */
	int line;
};

struct policy_file { /* a file that took part */
	enum policy_layer layer;
	const char *path;
	char sha256[65];
	bool exists;
	bool trusted; /* project file only */
};

struct pinfold_policy {
	struct arena arena;
	/* what was said on the command line, before the merge */
	struct policy_setting *settings;
	size_t setting_count, setting_cap;
	const char *config_file; /* --config FILE; NULL: the user's */
	int config_fd;           /* --config fd:N; -1, which whoever makes the object sets */
	/* the result of policy_load */
	bool loaded;
	struct policy_value value[KEY_COUNT];
	const char *cwd;      /* canonical */
	const char *worktree; /* canonical: --worktree, else the git top of cwd, else cwd */
	bool worktree_given;
	struct policy_file *files;
	size_t file_count, file_cap;
	struct policy_ignored *ignored;
	size_t ignored_count, ignored_cap;
	char sha256[65]; /* of the effective policy, printed canonically */
	struct identity who; /* read at the first use */
	bool has_identity;
	struct rule_set *rules; /* of policy_rule */
};

/* Reads all layers for `cwd` (canonical, absolute) and merges them. The worktree is found by worktree_find. */
int policy_load(struct pinfold_policy *policy, const char *cwd, struct pinfold_error *err);
/* One setting of the command line, as text: what an option would take; "true" or "false" for a flag. Lists: one
 * item a call (accept: several with commas; "none" takes back what was accepted so far, the built-in row included).
 * "none" takes a limit back. Checked at once (type, word, number); paths, and patterns that begin with a "." or ".."
 * component, are made absolute against cwd. */
int policy_set(struct pinfold_policy *policy, enum policy_key key, const char *text, const char *cwd,
	       struct pinfold_error *err);
/* By name of key ("tmp_size") or option ("--tmp-size"); -1 when there is none. */
int policy_key_find(const char *name);

/* ---- rules ---- */

/* The two axes. What a layer says about one path; the most specific path decides, at the same path the later layer
 * (a project file only where it is stricter), within one layer the stricter; an administrator's denial covers all
 * below it whatever its length. */
enum rule_axis { AXIS_READ, AXIS_WRITE, AXIS_COUNT };
enum rule_right { RULE_DENY, RULE_ALLOW }; /* hide / read, protect / write */

/*
 * The word of the user's rules about path (normal) on one axis, patterns and paths of all layers together, but without
 * the built-in lists of hidden and protected paths, which the survey knows: RULE_DENY, RULE_ALLOW or -1 (no rule).
 * *ret_depth (may be NULL): the number of components of the path that the deciding rule is about, so that it can be
 * compared with a built-in one; *ret_item (may be NULL): the rule. path itself is taken for a directory, as every path
 * above it is, so a pattern with a trailing slash matches it.
 */
int policy_rule(const struct pinfold_policy *policy, enum rule_axis axis, const char *path, size_t *ret_depth,
		const struct policy_item **ret_item);

static inline uint64_t policy_number(const struct pinfold_policy *policy, enum policy_key key)
{
	return policy->value[key].number;
}

/* An item of reach or publish: TCP on the loopback of the host, and in the pen. */
struct policy_port {
	uint16_t host, inside;
};

/* PORT (the same on both sides) or PORT:PORT, the host's first. 0, -EINVAL or -ERANGE. */
int policy_port_parse(const char *text, struct policy_port *ret);

/* `accept` names `guarantee` (and, for absent, as NAME=absent on the command line). */
/* The item that accepts it, the latest layer's; NULL: nothing does. */
const struct policy_item *policy_acceptance(const struct pinfold_policy *policy, const char *guarantee, bool absent);
bool policy_accepts(const struct pinfold_policy *policy, const char *guarantee, bool absent);

/* ---- readouts ---- */

/* `config show`: a row per key: value, source, effect. effect_of may be NULL; it returns NULL (has effect) or the
 * reason why not, decided by the caller who knows mode, backend and host. Lists print one row per item. */
int policy_show_text(const struct pinfold_policy *policy, const char *(*effect_of)(void *, enum policy_key), void *arg,
		     struct buf *out);
int policy_show_json(const struct pinfold_policy *policy, const char *(*effect_of)(void *, enum policy_key), void *arg,
		     struct buf *out);
/* `config schema`: JSON Schema (draft 2020-12) made from the table. */
int policy_schema(struct buf *out);
/* `config paths`: each file that is looked for, and whether it exists. */
int policy_paths(const struct pinfold_policy *policy, struct buf *out);
/* Reads one file as the layer would, checks all of it, merges nothing. */
int policy_check_file(const char *path, enum policy_layer layer, struct pinfold_error *err);
/* The effective policy as a configuration file that, read back as the only one, gives the same policy. */
int policy_dump(const struct pinfold_policy *policy, struct buf *out);

/* What was said on the command line, as it would be said again: " --offline --memory 512M", "" when it was nothing. */
void policy_options(const struct pinfold_policy *policy, struct buf *out);

/* ---- trust ---- */

/* Records the sha256 of a project's file in $XDG_STATE_HOME/pinfold/trust.json (0600, written aside and renamed). */
int trust_add(const char *project_file, const char *worktree, struct pinfold_error *err);
/* Where that file is; NULL: there is no home. */
const char *trust_path(struct arena *arena, const struct identity *who);
bool trust_has(const char *worktree, const char *sha256, struct pinfold_error *err);

#endif
