/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: what will be done, and which guarantees that holds. Plain, immutable data made from policy, host and
 * survey; the only input of a backend, and the one result that every readout reads.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/pathset.h"
#include "base/strv.h"
#include "host/host.h"
#include "linux/seccomp.h"
#include "policy/policy.h"
#include "survey/survey.h"

/* ---- guarantees ---- */

enum guarantee {
	GUARANTEE_WRITES,
	GUARANTEE_SECRETS,
	GUARANTEE_REPOSITORY,
	GUARANTEE_NETWORK,
	GUARANTEE_SERVICES,
	GUARANTEE_PROCESSES,
	GUARANTEE_ENVIRONMENT,
	GUARANTEE_TERMINAL,
	GUARANTEE_PRIVILEGES,
	GUARANTEE_CLEANUP,
	GUARANTEE_LIMITS,
	GUARANTEE_COUNT
};

enum guarantee_state { STATE_HELD, STATE_WEAKER, STATE_ABSENT, STATE_NOT_ASKED, STATE_COUNT };

struct guarantee_def {
	const char *name;    /* "writes" */
	const char *promise; /* one sentence */
	const char *probes;  /* catalogue numbers it answers for, blank-separated */
};

extern const struct guarantee_def guarantee_defs[GUARANTEE_COUNT];
extern const char *const guarantee_state_names[STATE_COUNT]; /* held, weaker, absent, not_asked */

struct guarantee_result {
	enum guarantee_state state;
	struct strv by;    /* mechanisms */
	const char *why;   /* for weaker and absent: the named part that is open */
	struct strv notes; /* fixed texts */
	bool accepted;     /* weaker or absent, and the policy accepts that */
	const char *accepted_by; /* the source that accepts it: "built in", a file, "command line" */
	int fact;                /* the host fact that is missing for it, or -1 */
};

/* ---- mounts ---- */

enum plan_attr { ATTR_READONLY = 1, ATTR_NOSUID = 2, ATTR_NODEV = 4, ATTR_NOEXEC = 8 }; /* MOUNT_ATTR_* of Linux */

/* What is opened in the fresh mount namespace before anything is covered, by its path with no link followed, compared
 * with what the survey saw, and cloned. */
struct plan_source {
	const char *path;
	uint64_t dev, ino;  /* 0, 0: not compared */
	bool is_recursive;  /* with the mounts below it */
	bool is_optional;   /* gone or unreachable: every operation on it is left out */
	bool is_lower;      /* also the lower layer of an overlay: a plain descriptor is kept, too */
	bool is_place;      /* bound over itself: no link may lead there, as none may lead to the place */
	unsigned attr_set;
	int idmap;          /* index into plan->idmaps, -1: none. Opened and mapped by the parent (root only) */
};

enum mount_op_kind {
	OP_READONLY, /* the whole tree below / : attr_set, propagation private */
	OP_TMPFS, /* the one private tmpfs; path: where it is anchored while things are made in it; text: size= or "" */
	OP_DIRECTORY, /* in the private tmpfs: path relative to it; mode */
	OP_FILE,      /* in the private tmpfs: mode, text (its content), length */
	OP_LINK,      /* in the private tmpfs: text is the target */
	OP_WHITEOUT,  /* in the private tmpfs: the name reads as absent in an overlay */
	OP_BIND,      /* source (or, with source -1, `from` in the private tmpfs) over path; attr_set */
	OP_OVERLAY,   /* `from` in the private tmpfs over source, read-only, mounted at path */
	OP_PROC,
	OP_DEVPTS,
	OP_SYSFS,
	OP_MQUEUE,
	OP_RESTRICT, /* path bound onto itself with attr_set */
	OP_KIND_COUNT
};

struct plan_op {
	enum mount_op_kind kind;
	const char *path;   /* absolute in the pen; relative to the private tmpfs where the kind says so */
	const char *from;
	const char *text;
	size_t length;
	int source;
	unsigned attr_set;
	unsigned mode;
	bool is_optional;   /* ENOENT, EACCES, ENOTDIR of the target: left out */
	bool is_private;    /* OP_BIND: path is relative to the private tmpfs */
	bool is_cover;      /* OP_BIND: it keeps something of the host's from the command, see `watched` */
};

extern const char *const mount_op_names[OP_KIND_COUNT];

/* A file of the host that the command gets as a copy, in a directory of the private tmpfs where its programs can also
 * make their locks and replace it. */
struct plan_copy {
	const char *inside; /* the directory, in the private tmpfs */
	const char *shown;  /* where it is in the pen; the link to PLAN_COPY_NAME in it lies over the file */
	const struct survey_config *config;
};

#define PLAN_COPY_NAME "config"

/* Where a pen that bubblewrap makes has our program that goes on in it. */
#define PLAN_ENTER_PLACE "/run/pinfold/enter"

/* ---- Landlock ---- */

struct plan_landlock_rule {
	const char *path;  /* opened in the finished pen; NULL: what is the command's 0, 1 or 2 */
	int fd;            /* then: which of them */
	uint64_t access;
	bool is_optional;
};

/* ---- ids ---- */

enum ids_kind {
	IDS_SELF,   /* own id mapped to itself */
	IDS_HIDDEN, /* started by root: an unprivileged host id, mapped to 0 inside, id-mapped binds */
	IDS_ROOT    /* started by root where that is refused: 0 mapped to 0 */
};

struct plan_idmap {
	uid_t uid; /* owner on disk → the pen's host id */
	gid_t gid;
};

struct plan_limits {
	uint64_t time_ms, memory, processes, tmp_size; /* POLICY_NONE: none */
};

/* TCP ports that are carried between the pen's loopback and the host's (src/net/relay.h). */
struct plan_ports {
	struct policy_port *v;
	size_t n;
	struct strv words; /* as they were asked for: PORT or PORT:PORT */
};

/* In the order of the words of the key `backend`, whose "auto" stands where NONE does: the table of backends
 * (backends.c) is asked in this order, too. */
enum backend {
	BACKEND_NONE,
	BACKEND_OWN_NAMESPACES,
	BACKEND_BUBBLEWRAP,
	BACKEND_ONLY_LANDLOCK,
	BACKEND_KIND_COUNT
};

struct judging;
struct pinfold_plan;

struct backend_def {
	const char *name;            /* as in the key, the plan and the record */
	const enum host_fact *needs; /* ends with FACT_COUNT: one that is disproved rules it out */
	int (*build)(struct pinfold_plan *plan);  /* what will be done; 0 or -ENOMEM */
	void (*const *judges)(struct judging *j); /* per guarantee: what that holds */
};

extern const struct backend_def backend_defs[BACKEND_KIND_COUNT]; /* NONE has a name only */

/* What is told on the stream of events before the command starts: the rest of a line, behind its name and time. */
enum plan_event { PLAN_EVENT_STATUS, PLAN_EVENT_START, PLAN_EVENT_COUNT };

struct pinfold_plan {
	struct arena arena;
	const struct pinfold_policy *policy;
	struct pinfold_host *host;
	struct survey survey;
	bool has_survey;

	enum backend backend; /* NONE: --mode off */
	bool offline;
	struct plan_ports reach, publish; /* none with the open network */
	struct guarantee_result guarantee[GUARANTEE_COUNT];
	struct strv warnings;

	struct plan_source *sources;
	size_t source_count, source_cap;
	/* Two descriptors a source, for enter, which may not allocate, and one word for each of `watched`. */
	int *scratch;
	struct plan_op *ops;
	size_t op_count, op_cap;
	/* Indices of the operations that are done again where the host takes their mounts away (linux/putback.h). */
	size_t *watched;
	size_t watched_count;
	bool has_masks; /* something is hidden by a mount of its own, not by a home's cover */
	struct plan_copy *copies;
	size_t copy_count, copy_cap;
	struct path_set granted; /* sorted: the worktree and all that is bound over a home's cover */

	uint64_t landlock_handled, landlock_scoped, landlock_net;
	struct plan_landlock_rule *rules;
	size_t rule_count, rule_cap;
	bool has_landlock, has_seccomp;
	bool filters[SECCOMP_PROGRAM_COUNT]; /* which of them are installed, where has_seccomp */
	char *temp; /* the run's own temporary directory where nothing can be mounted over /tmp: made by the run, or the
		     * one that the caller names. NULL: /tmp */
	bool makes_temp; /* `temp` ends with X: letters that the run puts there, also in the environment */

	enum ids_kind ids;
	uid_t host_uid;  /* id on the host the command runs under */
	gid_t host_gid;
	uid_t inner_uid; /* what it is mapped to */
	gid_t inner_gid;
	struct plan_idmap *idmaps;
	size_t idmap_count, idmap_cap;

	struct strv argv;         /* the command */
	const char *needs_network; /* what in its words needs the network, of a run that is to be offline; or NULL */
	struct strv candidates;   /* paths to try to execute, in order; made from PATH */
	char **shell_argv;        /* "/bin/sh", (the script), the arguments: for a file without a "#!" line */
	struct strv environment;  /* NAME=VALUE, complete, with PINFOLD_STATUS */
	struct strv removed;      /* names of variables that were left out */
	const char *cwd;
	uint64_t cwd_dev, cwd_ino;
	bool reopen[3];           /* 0, 1, 2: opened again inside by path */
	const char *reopen_path[3];
	int *pass_fds;
	size_t pass_fd_count;
	struct plan_limits limits;
	const char *event[PLAN_EVENT_COUNT]; /* NULL: not asked for (report/events.h) */
};

/* *plan is zeroed by the caller, but for the survey, which is taken (or read) before. policy and host must outlive the
 * plan. argv is copied. Refusals (mode required, a guarantee not held and not accepted) are reported by plan_refusal,
 * not here, so that a refused plan can still be printed. */
int plan_build(struct pinfold_plan *plan, const struct pinfold_policy *policy, struct pinfold_host *host,
	       char *const *argv, struct pinfold_error *err);

/* 0, or -EPERM with PINFOLD_REFUSED: which guarantees are not held, why, and the one complete line that accepts. */
int plan_refusal(const struct pinfold_plan *plan, struct pinfold_error *err);

/* Is there a check after the run? Where nothing may change, or nothing is held, there is nothing to compare. */
bool plan_has_check(const struct pinfold_plan *plan);

int plan_print_text(const struct pinfold_plan *plan, struct buf *out);
int plan_print_json(const struct pinfold_plan *plan, struct buf *out);
/* The status of a run, under LIMIT_STATUS_BYTES: what PINFOLD_STATUS holds. */
int plan_status_json(const struct pinfold_plan *plan, struct buf *out);

#endif
