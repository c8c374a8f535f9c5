/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would happen, and which rule says so: the plan's own answer to a question about a path, an address or a command.
 * It decides nothing: the mounts, the Landlock rules and the file's mode that a run would meet are looked at in the
 * order in which the kernel does.
 */
#ifndef PLAN_EXPLAIN_H
#define PLAN_EXPLAIN_H

#include "base/buf.h"
#include "plan/plan.h"

enum explain_right {
	RIGHT_READ,    /* open for reading; list a directory */
	RIGHT_WRITE,   /* change the content of a file */
	RIGHT_CREATE,  /* make the name, where it is missing or beside it; in a directory: a name in it */
	RIGHT_RENAME,  /* give it another name in its directory, or remove it */
	RIGHT_EXECUTE, /* run a file; enter a directory */
	RIGHT_CONNECT, /* of a socket alone */
	RIGHT_COUNT
};

extern const char *const explain_right_names[RIGHT_COUNT];

struct explain_answer {
	bool allowed;
	bool is_asked;      /* the kernel was asked */
	int errnum;         /* then: what it said; 0: it did it */
	bool is_held;       /* false: the rule says no, and this backend cannot hold that */
	const char *rule;   /* "~/.ssh", "worktree", "file permissions" … */
	const char *source; /* "built in", a file, "command line" */
	const char *why;    /* what the kernel will say no for, or a remark; NULL: nothing to add */
};

struct explain_path {
	const char *path;     /* as it was asked */
	const char *resolved; /* where it leads in the pen */
	bool exists;          /* for the command */
	bool is_socket;       /* then RIGHT_CONNECT is answered as well */
	struct explain_answer right[RIGHT_COUNT];
};

struct explain_address {
	const char *host;
	unsigned port;
	struct explain_answer connect;
};

struct explain_command {
	const char *name;
	const char *path; /* the file that would be executed; NULL: none */
	int status;       /* 126 or 127 where there is none, 125 where it would be refused */
	struct explain_answer execute;
};

enum explain_kind { EXPLAIN_PATH, EXPLAIN_ADDRESS, EXPLAIN_COMMAND };

/* A "/", "." or "~" at the beginning makes a path, ":DIGITS" at the end an address; anything else is -1. */
int explain_kind_of(const char *word);

/* `path` may be relative to the plan's cwd, or begin with "~/". 0 or -errno with *err filled. */
int explain_path(const struct pinfold_plan *plan, struct arena *arena, const char *path, struct explain_path *ret,
		 struct pinfold_error *err);
/*
 * Adds what the kernel said in a run of this plan: lines "RIGHT ERRNO", 0 for what it did; other lines are left alone.
 * true: it agrees with all that was worked out.
 */
bool explain_prove(struct explain_path *path, const char *lines);
/* HOST:PORT, [IPv6]:PORT, or :PORT for the loopback. */
int explain_address(const struct pinfold_plan *plan, struct arena *arena, const char *word,
		    struct explain_address *ret, struct pinfold_error *err);
/* The command of the plan. */
int explain_command(const struct pinfold_plan *plan, struct arena *arena, struct explain_command *ret,
		    struct pinfold_error *err);

/* 0, -ENOMEM or -E2BIG. */
int explain_path_print(const struct explain_path *path, bool is_json, struct buf *out);
int explain_address_print(const struct explain_address *address, bool is_json, struct buf *out);
int explain_command_print(const struct explain_command *command, bool is_json, struct buf *out);

#endif
