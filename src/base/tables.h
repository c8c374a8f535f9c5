/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of data/, as constants. tools/tables_gen.py writes tables.c from the .tsv files, whose heads say what each
 * column means; what is checked once there (no row twice, no toolchain that holds a secret, a literal name beside each
 * wildcard) is not checked again here. guarantee_defs of plan/plan.h comes from data/guarantees.tsv in the same file.
 */
#ifndef BASE_TABLES_H
#define BASE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a path of a table begins. */
enum table_base {
	TABLE_ROOT,    /* absolute */
	TABLE_HOME,    /* below each home */
	TABLE_CONFIG,  /* below $XDG_CONFIG_HOME, and below .config of each home */
	TABLE_DATA,    /* $XDG_DATA_HOME, .local/share */
	TABLE_STATE,   /* $XDG_STATE_HOME, .local/state */
	TABLE_CACHE,   /* $XDG_CACHE_HOME, .cache */
	TABLE_RUNTIME, /* $XDG_RUNTIME_DIR only */
	TABLE_BASE_COUNT
};

/* The default place of a base below a home: ".config"; "" for TABLE_HOME; NULL for TABLE_ROOT and TABLE_RUNTIME. */
extern const char *const tables_base_default[TABLE_BASE_COUNT];

struct table_path {
	const char *text;     /* as written: "$CONFIG/gh", "~/.ssh", "/var/log" */
	const char *below;    /* "gh": no leading slash; "" for the base itself; all of it for TABLE_ROOT */
	enum table_base base;
	bool is_glob;         /* one * in a component; literal rows stand beside it, and decide where both match */
};

/* What a hidden path usually is. The survey believes what lies there; this is for names that are not there yet. */
enum table_kind { TABLE_DIRECTORY, TABLE_FILE, TABLE_SETTINGS, TABLE_KIND_COUNT };

struct table_hidden {
	struct table_path path;
	enum table_kind kind;
	const char *cut;   /* TABLE_SETTINGS: the name for cut_settings; else NULL */
	const char *group; /* "keys", "cloud" … */
	const char *keep;  /* one name in the directory that is shown as a read-only copy, or NULL */
};

struct table_hidden_variable {
	const char *variable;
	const char *below; /* added to the value; "" for the value itself */
	enum table_kind kind;
	bool is_list;      /* several, divided by colons */
	const char *cut;   /* as above */
};

/* Rows of one name follow each other and are alternatives: the first whose variable is set, else the default of the
 * last. */
struct table_cache {
	const char *name;
	const char *variable; /* NULL: none */
	const char *below;    /* added to the variable's value; "" for the value itself */
	bool has_default;
	struct table_path path;
};

struct table_sockets {
	const char *path, *reason;
};

struct table_toolchain {
	struct table_path path;
	const char *reason;
};

struct table_protected {
	const char *path;  /* below the worktree's top, no trailing slash; may have several components */
	bool is_glob;      /* literal rows stand beside it */
	bool is_directory; /* what it usually is */
	bool is_each;      /* in each directory from the top to the cwd */
	bool only_git;     /* only where git uses it */
	bool only_report;  /* may change; named after the run */
	const char *reason;
};

/* Patterns of names, upper case: NAME, NAME*, *NAME or A*B, at most one star. WORD, ENDING, HINT, IDENTIFIER, ADDRESS
 * and DSN are words without a star. plan/environment.c says what each kind means. */
enum table_variable_kind {
	VARIABLE_KEEP,
	VARIABLE_HARMLESS,
	VARIABLE_WORD,
	VARIABLE_ENDING,
	VARIABLE_NAME,
	VARIABLE_VENDOR,
	VARIABLE_VENDOR_SECRET,
	VARIABLE_HINT,
	VARIABLE_IDENTIFIER,
	VARIABLE_ADDRESS,
	VARIABLE_DSN,
	VARIABLE_PROXY,
	VARIABLE_CUT,
	VARIABLE_SERVICE,
	VARIABLE_REPOSITORY,
	VARIABLE_LOADER,
	VARIABLE_KIND_COUNT
};

/* How a value that is a key begins, whatever the variable is called. */
enum table_charset { CHARSET_TOKEN, CHARSET_UPPER, CHARSET_JWT, CHARSET_COUNT };

struct table_key_shape {
	const char *prefix;
	size_t least; /* characters after it */
	enum table_charset charset;
};

/* Commands that need the network, known by their words: data/words.tsv. */
enum table_needs { WORDS_ALWAYS, WORDS_URL, WORDS_ADDRESS, WORDS_HOST, WORDS_AT, WORDS_GIT };

struct table_words {
	const char *program, *words; /* words: blank-separated */
	enum table_needs needs;
	const char *unless;          /* options, blank-separated, or NULL */
};

extern const struct table_words tables_words[];
extern const size_t tables_words_count;

/* Why a run may have failed, and what is said then: data/hints.tsv. "{path}" in a text is filled in. */
struct table_hint {
	const char *cause, *human, *agent;
};

enum { TABLE_HINTS = 23 }; /* compared with the table by what the generator writes */

/* What the plan or the outcome says: data/hint_words.tsv. */
enum table_evidence {
	EVIDENCE_PEN,
	EVIDENCE_OFFLINE,
	EVIDENCE_LOOPBACK,
	EVIDENCE_GIT,
	EVIDENCE_REMOVED,    /* argument: a variable */
	EVIDENCE_SOCKET,     /* argument: its path */
	EVIDENCE_SECRET,     /* argument: as hidden.tsv spells it */
	EVIDENCE_HIDDEN,     /* this and the next six: a path on the line */
	EVIDENCE_PROTECTED,
	EVIDENCE_PINNED,
	EVIDENCE_REGISTERED,
	EVIDENCE_READ_ONLY,
	EVIDENCE_CLOSED,
	EVIDENCE_OUTSIDE,
	EVIDENCE_TEMP,
	EVIDENCE_PROCESSES,
	EVIDENCE_MEMORY,
	EVIDENCE_TIME,       /* this and the next two: no words */
	EVIDENCE_VIOLATION,
	EVIDENCE_KEPT,
	EVIDENCE_COUNT
};

struct table_hint_words {
	unsigned char cause; /* index into tables_hints; rows of one cause follow each other, causes in their order */
	enum table_evidence evidence;
	const char *argument; /* or NULL */
	const char *words;    /* small letters; NULL: the evidence is enough */
};

extern const struct table_hint tables_hints[];
extern const size_t tables_hint_count;
extern const struct table_hint_words tables_hint_words[];
extern const size_t tables_hint_words_count;
extern const struct table_hidden tables_hidden[];
extern const size_t tables_hidden_count;
extern const struct table_hidden_variable tables_hidden_variables[];
extern const size_t tables_hidden_variable_count;
extern const struct table_cache tables_caches[];
extern const size_t tables_cache_count;
extern const struct table_sockets tables_sockets[];
extern const size_t tables_socket_count;
extern const struct table_toolchain tables_toolchains[];
extern const size_t tables_toolchain_count;
extern const struct table_protected tables_protected[];
extern const size_t tables_protected_count;
/* The patterns of kind k: tables_variables[first[k]] up to, not including, [first[k + 1]]. */
extern const char *const tables_variables[];
extern const char tables_variables_initial[]; /* first letters, for memchr: a look at every row is too slow */
/* The set of them for each kind: bit (letter & 63), which no two of A-Z, 0-9, '_' and '*' share. */
extern const uint64_t tables_variables_letters[VARIABLE_KIND_COUNT];
extern const unsigned short tables_variables_first[VARIABLE_KIND_COUNT + 1];
extern const struct table_key_shape tables_key_shapes[];
extern const size_t tables_key_shape_count;

#endif
