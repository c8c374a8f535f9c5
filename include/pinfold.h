/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinfold: run a command so that it cannot harm the machine it runs on.
 *
 * Five nouns, in the order in which data flows:
 *
 *   pinfold_policy   what is asked: built-in defaults, configuration files, the caller's own settings
 *   pinfold_host     what this machine can hold
 *   pinfold_plan     what will be done, and which guarantees that holds
 *   pinfold_run      one command being run
 *   pinfold_outcome  what happened
 *
 * Rules that hold for every function:
 *
 * - It returns 0 or a negative errno, or what its comment says. Where it takes a struct pinfold_error, that record is
 *   filled exactly when the return is negative; NULL may be passed when the caller does not want it.
 * - A ret_x parameter is written only on success.
 * - No function logs, exits, aborts, changes a signal disposition, the terminal or the working directory of the
 *   caller's process. pinfold_run_here() is the one exception, and says so.
 * - An object may be used from one thread at a time; different objects from different threads. No function is
 *   async-signal-safe.
 * - Strings are bytes without NUL; they need not be UTF-8. What a function is given stays the caller's; what it returns
 *   as const char * belongs to the object and lives as long as it; what it returns as char ** is freed with free().
 * - A _free function accepts NULL and returns NULL, so that `p = pinfold_plan_free(p)` leaves nothing behind.
 */
#ifndef PINFOLD_H
#define PINFOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PINFOLD_PUBLIC __attribute__((visibility("default")))

struct pinfold_policy;
struct pinfold_host;
struct pinfold_plan;
struct pinfold_run;
struct pinfold_outcome;

/* ---- errors ---------------------------------------------------------------------------------------------------- */

/* The kind of an error; the texts (pinfold_code_name) are the record's exit.reason. */
enum pinfold_code {
	PINFOLD_OK,
	PINFOLD_USAGE,       /* the caller, an option or a configuration file asked for something that makes no sense */
	PINFOLD_UNAVAILABLE, /* this machine cannot do it: the failed step and its errno are in the record */
	PINFOLD_REFUSED,     /* a guarantee that was asked for is not held, or a path is not fit for what was asked */
	PINFOLD_BLOCKED,     /* blocked_offline: a command that needs the network, told so before its start */
	PINFOLD_INTERNAL,    /* out of memory, a broken invariant */
	PINFOLD_VIOLATION,   /* something changed that the policy does not let change */
	PINFOLD_NOT_FOUND,   /* the command does not exist inside (status 127) */
	PINFOLD_NOT_EXECUTABLE, /* the command cannot be executed (status 126) */
	PINFOLD_CODE_COUNT
};

/*
 * One error, of fixed size, so that it can be filled in a process that may not allocate and sent over a pipe whole.
 * Every string is NUL-terminated and cut to fit; "" where it does not apply.
 */
struct pinfold_error {
	enum pinfold_code code;
	int errnum;        /* errno of the failed call, or 0 */
	int line;          /* line in `file`, or 0 */
	char operation[64]; /* what was being done: "mount", "open", "uid map" … */
	char object[512];  /* to what: a path, a word of the command line, a number */
	char file[512];    /* the configuration file it is about */
	char key[64];      /* the configuration key or option it is about */
	char text[768];    /* the rest of the message, without trailing stop; may stand alone */
	char hint[768];    /* one line that helps, or "" */
};

/* The kind's name: "ok", "usage", "unavailable", "refused", "blocked_offline", "internal", "violation", "not_found",
 * "not_executable"; "unknown" for a value that is none. Static storage. */
PINFOLD_PUBLIC const char *pinfold_code_name(enum pinfold_code code);

/*
 * Writes the message of `err` as one line without newline (control characters and bytes that are not printable are
 * escaped as \xHH) into text[0..size), always NUL-terminated when size > 0. Returns the length that the whole message
 * has, as snprintf does.
 */
PINFOLD_PUBLIC size_t pinfold_error_text(const struct pinfold_error *err, char *text, size_t size);

/*
 * The version of the library, "MAJOR.MINOR.PATCH". Static storage; may be called from any thread at any time.
 */
PINFOLD_PUBLIC const char *pinfold_version(void);

/* How a readout is written: lines for people, or one JSON document with a newline at its end. */
enum pinfold_format {
	PINFOLD_TEXT,
	PINFOLD_JSON,
	PINFOLD_FORMAT_COUNT
};

/* ---- keys ------------------------------------------------------------------------------------------------------ */

/* What a key takes. A client that builds its own option parser needs no more than this to read a command line. */
enum pinfold_key_type {
	PINFOLD_KEY_SWITCH,    /* "true" or "false": --read-only, --no-read-only */
	PINFOLD_KEY_WORD,      /* one of `words` */
	PINFOLD_KEY_PATH,      /* a path; relative ones count from the working directory */
	PINFOLD_KEY_DURATION,  /* a number with ms, s, m or h; "none" */
	PINFOLD_KEY_SIZE,      /* bytes, with K, M or G (1024); "none" */
	PINFOLD_KEY_NUMBER,    /* "none" */
	PINFOLD_KEY_TEXT,      /* a pattern, a name, NAME=VALUE */
	PINFOLD_KEY_TYPE_COUNT
};

/* One key of the policy. Its strings are static storage. */
struct pinfold_key {
	const char *name;         /* in a configuration file: "tmp_size" */
	const char *option;       /* on a command line: "--tmp-size" */
	const char *argument;     /* the word for its argument in a help text: "SIZE"; NULL for a switch */
	const char *help;         /* one line */
	enum pinfold_key_type type;
	bool is_list;             /* may be given more than once; the items add up */
	bool is_command_only;     /* an option, but no key of a configuration file */
	const char *const *words; /* what it takes, or may take (accept), NULL-terminated; or NULL */
	const char *builtin;      /* the default as text; NULL where there is none to name */
	const char *alias;        /* an option that stands for one word: "--offline"; NULL mostly */
	const char *alias_word;   /* that word: "offline" */
};

/*
 * Key number `index`, counted from 0, in the order of the documentation. 0, or -ENOENT beyond the last, with *ret
 * untouched. May be called from any thread at any time.
 */
PINFOLD_PUBLIC int pinfold_key_at(size_t index, struct pinfold_key *ret);

/* ---- policy ---------------------------------------------------------------------------------------------------- */

/*
 * A policy without any setting, to be filled by pinfold_policy_set and completed by pinfold_policy_load; NULL when out
 * of memory. The caller frees it with pinfold_policy_free, after every plan that was made from it.
 */
PINFOLD_PUBLIC struct pinfold_policy *pinfold_policy_new(void);

/* Frees a policy and every string it handed out. NULL is fine. Returns NULL. */
PINFOLD_PUBLIC struct pinfold_policy *pinfold_policy_free(struct pinfold_policy *policy);

/*
 * One setting with the weight of a command line, above every file. `name` is a key's name ("tmp_size") or its option
 * ("--tmp-size"); `text` is what the option would take: "true" or "false" for a switch, "none" to take a limit back.
 * A list takes one item a call. Relative paths count from the working directory at the time of the call. Both strings
 * are copied.
 *
 * Errors, all PINFOLD_USAGE with `key` filled: -EINVAL (no such key, a text that the key does not take, the policy was
 * loaded before), -ERANGE (a number out of range), -E2BIG (too many items). -ENOENT or another errno of getcwd where a
 * relative path cannot be completed. PINFOLD_INTERNAL: -ENOMEM.
 */
PINFOLD_PUBLIC int pinfold_policy_set(struct pinfold_policy *policy, const char *name, const char *text,
				      struct pinfold_error *err);

/*
 * Reads `path` in place of the user's configuration file. The file is opened by pinfold_policy_load, and must belong to
 * the user or to root, and nobody else may be able to write it. The path is copied; a relative one counts from the
 * working directory. Errors: -EINVAL (loaded before), an errno of getcwd, -ENOMEM.
 */
PINFOLD_PUBLIC int pinfold_policy_config_file(struct pinfold_policy *policy, const char *path,
					      struct pinfold_error *err);

/*
 * The same from a descriptor, read to its end by pinfold_policy_load; so a program hands a policy over without a file.
 * The descriptor stays the caller's, and is made close-on-exec. Errors: -EINVAL (loaded before), -EBADF.
 */
PINFOLD_PUBLIC int pinfold_policy_config_fd(struct pinfold_policy *policy, int fd, struct pinfold_error *err);

/*
 * Reads every layer (built in, the administrator's file, the user's, the project's `.pinfold.json`, the settings made
 * so far) for a command that will start in `cwd` (NULL: the working directory), and merges them. It can be called once.
 *
 * Errors: PINFOLD_USAGE with file, line and key for a file that does not parse, has an unknown key, a wrong type, a
 * contradiction (-EINVAL, -ERANGE, -E2BIG); PINFOLD_REFUSED (-EPERM) for a file that somebody else could have written;
 * PINFOLD_UNAVAILABLE with the errno of the failed call; PINFOLD_INTERNAL (-ENOMEM). After an error the policy can only
 * be freed.
 */
PINFOLD_PUBLIC int pinfold_policy_load(struct pinfold_policy *policy, const char *cwd, struct pinfold_error *err);

/*
 * The effective value of a key that is not a list, as text that pinfold_policy_set would take: "required", "true",
 * "64M", a path. NULL for a list, for an unknown key, where the value is "none" or left to be found, and before
 * pinfold_policy_load. The string belongs to the policy.
 */
PINFOLD_PUBLIC const char *pinfold_policy_get(struct pinfold_policy *policy, const char *name);

/*
 * The effective policy: a row for each key with its value, the source of the value, and, where the chosen mode or other
 * values leave it without effect, the reason. `host` may be NULL: what depends on the machine is then not said.
 * *ret is freed with free(). Errors: -EINVAL before pinfold_policy_load, -ENOMEM, -E2BIG.
 */
PINFOLD_PUBLIC int pinfold_policy_show(const struct pinfold_policy *policy, const struct pinfold_host *host,
				       enum pinfold_format format, char **ret, struct pinfold_error *err);

/*
 * The effective policy as a configuration file which, read as the only one, gives the same policy again. *ret is freed
 * with free(). Errors as pinfold_policy_show.
 */
PINFOLD_PUBLIC int pinfold_policy_dump(const struct pinfold_policy *policy, char **ret, struct pinfold_error *err);

/*
 * The files that were looked for, in the order of the layers, and which of them exist. *ret is freed with free().
 * Errors as pinfold_policy_show.
 */
PINFOLD_PUBLIC int pinfold_policy_paths(const struct pinfold_policy *policy, enum pinfold_format format, char **ret,
					struct pinfold_error *err);

/* The JSON Schema (draft 2020-12) of a configuration file. *ret is freed with free(). Errors: -ENOMEM. */
PINFOLD_PUBLIC int pinfold_policy_schema(char **ret, struct pinfold_error *err);

/*
 * Reads one configuration file as a layer would and checks all of it; merges and changes nothing. A file named
 * `.pinfold.json` is checked as a project's. Errors as pinfold_policy_load.
 */
PINFOLD_PUBLIC int pinfold_policy_check_file(const char *path, struct pinfold_error *err);

/*
 * Lets a project's file loosen too, as long as its content stays what it is now: records its sha256 in the user's
 * trust file. `path` NULL: the `.pinfold.json` of the worktree that holds the working directory. *ret_path (may be
 * NULL) is the file that is trusted now, freed with free(). Errors: PINFOLD_USAGE (-ENOENT no such file, -EINVAL not a
 * valid project file), PINFOLD_UNAVAILABLE (the trust file cannot be written), PINFOLD_REFUSED (-EPERM, it is not the
 * user's own, or the trust file would lie where a command can write), any error of pinfold_policy_load,
 * PINFOLD_INTERNAL (-ENOMEM).
 */
PINFOLD_PUBLIC int pinfold_trust(const char *path, char **ret_path, struct pinfold_error *err);

/* ---- host ------------------------------------------------------------------------------------------------------ */

/*
 * What this machine can hold, found by a few cheap system calls (uname, the version of Landlock, our ids); NULL when
 * out of memory. What would cost a process to find out is learned from the runs themselves: use one host for many plans
 * and it remembers. Freed with pinfold_host_free, after every plan that was made with it.
 */
PINFOLD_PUBLIC struct pinfold_host *pinfold_host_new(void);

/* NULL is fine. Returns NULL. */
PINFOLD_PUBLIC struct pinfold_host *pinfold_host_free(struct pinfold_host *host);

/* The newest Landlock interface of the running kernel, 0 where there is none (Linux before 5.13, or switched off). */
PINFOLD_PUBLIC int pinfold_host_landlock_abi(const struct pinfold_host *host);

/* What the machine turned out to lack. */
struct pinfold_missing {
	const char *name;  /* "namespaces", "fresh /proc" … */
	const char *step;  /* the step that failed: "mount proc on"; its object: "/proc", or "" */
	const char *object;
	int errnum;
	const char *cause; /* sysctl, apparmor, lsm, seccomp, kernel, capability, container, file system, limit,
			      unknown */
	const char *text;  /* the cause as a sentence, without its stop */
	const char *fix;   /* the narrowest thing to do about it */
};

/*
 * Number `index`, counted from 0: 1 and *ret filled where it is known to be missing, 0 where it is there or nothing has
 * needed it yet, -ENOENT beyond the last. The cause is worked out now, from the kernel's switches in /proc and /sys.
 * step and object live as long as the host and change when it learns more; the rest is static.
 */
PINFOLD_PUBLIC int pinfold_host_missing(const struct pinfold_host *host, size_t index, struct pinfold_missing *ret);

/* ---- guarantees ------------------------------------------------------------------------------------------------ */

enum pinfold_state {
	PINFOLD_HELD,      /* the command alone cannot break the promise */
	PINFOLD_WEAKER,    /* it can break a named part: `why` */
	PINFOLD_ABSENT,    /* nothing holds it */
	PINFOLD_NOT_ASKED, /* the policy does not ask for it */
	PINFOLD_STATE_COUNT
};

/* One guarantee of a plan or an outcome; its strings belong to that and live as long. */
struct pinfold_guarantee {
	const char *name;         /* "writes" */
	const char *promise;      /* one sentence */
	enum pinfold_state state;
	const char *const *by;    /* mechanisms, NULL-terminated, never NULL itself */
	const char *why;          /* weaker and absent: what is open; else NULL */
	const char *const *notes; /* what needs another party to matter; NULL-terminated, never NULL itself */
	bool accepted;            /* weaker or absent, and the policy accepts that */
	const char *accepted_by;  /* the source that accepts it, or NULL */
	int missing;              /* what the machine lacks for it: an index for pinfold_host_missing, or -1 */
};

/* "held", "weaker", "absent", "not_asked"; "unknown" for a value that is none. Static storage. */
PINFOLD_PUBLIC const char *pinfold_state_name(enum pinfold_state state);

/* ---- plan ------------------------------------------------------------------------------------------------------ */

/*
 * Looks at what lies on disk and decides what will be done for the command argv (NULL-terminated, not empty, copied).
 * The policy must be loaded; policy and host must outlive the plan. Starts no process. It makes the directories that a
 * run needs and that do not exist (the private caches, `write` paths that end in a slash) unless is_preview is set.
 *
 * A plan that does not hold what is asked is no error here, so that it can be printed: see pinfold_plan_refusal.
 *
 * Errors: PINFOLD_USAGE (-EINVAL policy not loaded or argv empty; -ENOENT, -ENOTDIR … a path of the policy that does
 * not fit), PINFOLD_REFUSED (-EPERM, a worktree that would open the machine), PINFOLD_UNAVAILABLE with the errno of the
 * failed call, PINFOLD_INTERNAL (-ENOMEM).
 */
PINFOLD_PUBLIC int pinfold_plan_new(struct pinfold_plan **ret, const struct pinfold_policy *policy,
				    struct pinfold_host *host, char *const argv[], bool is_preview,
				    struct pinfold_error *err);

/* Frees a plan; not while a run of it lasts. NULL is fine. Returns NULL. */
PINFOLD_PUBLIC struct pinfold_plan *pinfold_plan_free(struct pinfold_plan *plan);

/*
 * Guarantee number `index`, counted from 0, in the order of the documentation. 0, or -ENOENT beyond the last, with *ret
 * untouched. The strings live until the plan is freed or run.
 */
PINFOLD_PUBLIC int pinfold_plan_guarantee(const struct pinfold_plan *plan, size_t index, struct pinfold_guarantee *ret);

/* The backend that would carry the plan out: "namespaces" …, or "none" for a run without a pen. Static storage. */
PINFOLD_PUBLIC const char *pinfold_plan_backend(const struct pinfold_plan *plan);

/*
 * What in the command's words needs the network ("npm install"), where the run is to be offline; NULL where nothing is
 * known to, or it is not asked (`word_check` off). pinfold_plan_refusal refuses it unless `word_check` is warn.
 */
PINFOLD_PUBLIC const char *pinfold_plan_needs_network(const struct pinfold_plan *plan);

/* Warning number `index` of the plan (a path that was skipped, and why), counted from 0; NULL beyond the last. */
PINFOLD_PUBLIC const char *pinfold_plan_warning(const struct pinfold_plan *plan, size_t index);

/*
 * What the command's user should know before it starts, a line each, without newline: protected files that git tracks,
 * where the words of the command have git change files. None with is_preview. NULL beyond the last. Belongs to the
 * plan.
 */
PINFOLD_PUBLIC const char *pinfold_plan_notice(const struct pinfold_plan *plan, size_t index);

/* The whole plan, guarantees first. *ret is freed with free(). Errors: -ENOMEM, -E2BIG (PINFOLD_INTERNAL). */
PINFOLD_PUBLIC int pinfold_plan_print(const struct pinfold_plan *plan, enum pinfold_format format, char **ret,
				      struct pinfold_error *err);

/*
 * What the command may know about its pen: the text of PINFOLD_STATUS as JSON (under 1 KB), or a few lines. *ret is
 * freed with free(). Errors as pinfold_plan_print.
 */
PINFOLD_PUBLIC int pinfold_plan_status(const struct pinfold_plan *plan, enum pinfold_format format, char **ret,
				       struct pinfold_error *err);

/*
 * The few fixed sentences, a line each, that belong into the description of an agent's tool: what commands can change,
 * what looks missing, what of the network works. They promise nothing that the plan does not hold. *ret is freed with
 * free(). Errors as pinfold_plan_print.
 */
PINFOLD_PUBLIC int pinfold_plan_description(const struct pinfold_plan *plan, char **ret, struct pinfold_error *err);

/*
 * 0 when the plan may run; -EPERM with PINFOLD_REFUSED when the mode is `required` and a guarantee is weaker or absent
 * without being accepted: the text says which and why, the hint is the one complete line that would accept it. Or with
 * PINFOLD_BLOCKED when the command is known to need the network, and is to be offline (`word_check` refuse).
 */
PINFOLD_PUBLIC int pinfold_plan_refusal(const struct pinfold_plan *plan, struct pinfold_error *err);

/*
 * What would happen to `word` in a run of this plan, and which rule says so. A "/", "." or "~" at its beginning makes
 * it a path: read, write, create, rename and execute are answered separately. ":DIGITS" at its end makes it an address,
 * HOST:PORT. NULL asks about the plan's own command. Worked out from the plan and from what lies on disk now, without a
 * process. `kernel` may be NULL; for a path it is what a process said that tried it in a run of this plan, a line
 * "RIGHT ERRNO" each (0: done), and the answer then tells for each whether that agrees. *ret is freed with free().
 *
 * 1: the path can be read, the address connected to, the command started; 0: not; 2: the kernel disagrees. Errors:
 * PINFOLD_USAGE (-EINVAL, the word is none of these; -ELOOP, -ENAMETOOLONG), PINFOLD_INTERNAL (-ENOMEM, -E2BIG).
 */
PINFOLD_PUBLIC int pinfold_plan_explain(const struct pinfold_plan *plan, const char *word, const char *kernel,
					enum pinfold_format format, char **ret, struct pinfold_error *err);

/*
 * Can the command of this plan write what lies at `path`, or replace it? A program asks before it keeps its own files
 * (a record, a log) there. 1 as well where a link in a writable place is on the way, since the command may have planted
 * it. The path may be missing; links are resolved. 1, 0, or a negative errno (PINFOLD_UNAVAILABLE).
 */
PINFOLD_PUBLIC int pinfold_plan_is_writable(const struct pinfold_plan *plan, const char *path,
					    struct pinfold_error *err);

/*
 * Does this process run in a pen? Found by looking at the process itself, never at the environment: no_new_privs, the
 * system-call filter, and a pid namespace whose init is a pen's. 1 or 0; in a pen whose /proc hides its init, 0.
 */
PINFOLD_PUBLIC int pinfold_is_confined(void);

/*
 * Reads the value of PINFOLD_STATUS, which pinfold_plan_status wrote, and writes it again: checked, and for
 * PINFOLD_TEXT as lines. It informs and proves nothing: any process can set a variable. 1: it says confined; 0: it says
 * that the command runs bare. *ret is freed with free(). Errors: PINFOLD_USAGE -EINVAL (it is no such JSON),
 * PINFOLD_INTERNAL -ENOMEM.
 */
PINFOLD_PUBLIC int pinfold_status_read(const char *text, enum pinfold_format format, char **ret,
				       struct pinfold_error *err);

/* ---- run ------------------------------------------------------------------------------------------------------- */

/* Start from PINFOLD_RUN_OPTIONS_INIT, so that members that are added later have their defaults. */
struct pinfold_run_options {
	size_t size;         /* sizeof(struct pinfold_run_options) */
	int stdio[3];        /* descriptors for 0, 1 and 2 of the command; -1: the caller's own */
	const int *pass_fds; /* descriptors that stay open in the command under the same number; else NULL */
	size_t pass_fd_count;
	/* -1, or where the events before the command's start are written, as JSON lines: `sandbox_status` and `start`,
	 * when the pen is made and the command has not started yet. A reader that reads nothing for two seconds misses
	 * them. pinfold_outcome_events has the others. */
	int event_fd;
};

#define PINFOLD_RUN_OPTIONS_INIT { sizeof(struct pinfold_run_options), { -1, -1, -1 }, NULL, 0, -1 }

/*
 * Starts the command of the plan, from any process, also one with threads and with its own signal handling: supervision
 * is a forked process's, which sends no SIGCHLD here and needs no wait(2). options may be NULL; its descriptors stay
 * the caller's and must stay open until the run has ended, as must the plan, its policy and its host.
 *
 * Where a step of the set-up shows that the machine lacks something, the plan is made again without it, once for each
 * such fact, and refused if it no longer holds what is asked. The plan then is the one that was carried out.
 *
 * Uses user, mount, pid, ipc, uts and cgroup namespaces, and a network namespace when offline (Linux 5.10 and later),
 * Landlock (5.13) and seccomp.
 *
 * Errors: PINFOLD_REFUSED (-EPERM, as pinfold_plan_refusal), PINFOLD_USAGE (-EINVAL, options of an unknown size or too
 * many descriptors; -EBADF), PINFOLD_UNAVAILABLE or PINFOLD_INTERNAL (-EAGAIN, -EMFILE, -ENOMEM … of fork or pipe).
 * What fails later is told by the outcome.
 */
PINFOLD_PUBLIC int pinfold_run_start(struct pinfold_run **ret, struct pinfold_plan *plan,
				     const struct pinfold_run_options *options, struct pinfold_error *err);

/*
 * A descriptor to poll for POLLIN: readable when pinfold_run_wait has something to do, mostly the end of the run. It
 * belongs to the run and keeps its number; do not read from it or close it. -1 after the outcome was handed over.
 */
PINFOLD_PUBLIC int pinfold_run_fd(const struct pinfold_run *run);

/*
 * Waits for the end of the run, at most timeout_ms (0: only looks, -1: for ever). The outcome is the caller's, freed
 * with pinfold_outcome_free, and lives on its own. It is handed over once; after that -EINVAL. Before that the check
 * after the run takes place, here: what was planted at a protected name is gone when this returns.
 *
 * Errors: PINFOLD_UNAVAILABLE -ETIMEDOUT (still running; also when the descriptor was readable because the set-up
 * is tried a second time), PINFOLD_INTERNAL (-EIO, the supervisor was killed: the pen ends with it; -ENOMEM).
 */
PINFOLD_PUBLIC int pinfold_run_wait(struct pinfold_run *run, int timeout_ms, struct pinfold_outcome **ret,
				    struct pinfold_error *err);

/* Ends the run: every process of the pen is killed. Returns at once; pinfold_run_wait tells when it is done. */
PINFOLD_PUBLIC void pinfold_run_kill(struct pinfold_run *run);

/* Frees a run; one that still lasts is ended first, and waited for. NULL is fine. Returns NULL. */
PINFOLD_PUBLIC struct pinfold_run *pinfold_run_free(struct pinfold_run *run);

/*
 * Runs the command and supervises it in this very process, until its end: for a program that does nothing else
 * meanwhile, as the command line. It may hand the terminal to the command, stop and continue with it, forward signals
 * and change signal dispositions; the process must have no threads. Else as pinfold_run_start and pinfold_run_wait; a
 * refusal is an outcome here, too: not ran, with its error.
 *
 * Errors: PINFOLD_USAGE (-EINVAL, -EBADF: the options), PINFOLD_INTERNAL (-ENOMEM).
 */
PINFOLD_PUBLIC int pinfold_run_here(struct pinfold_plan *plan, const struct pinfold_run_options *options,
				    struct pinfold_outcome **ret, struct pinfold_error *err);

/* ---- outcome --------------------------------------------------------------------------------------------------- */

/*
 * The outcome of a run that never came about, so that a record can be written for it, too. plan may be NULL (it could
 * not be made); argv may be NULL or empty. Everything is copied; argv and error are the caller's. Errors: -ENOMEM.
 */
PINFOLD_PUBLIC int pinfold_outcome_failure(struct pinfold_outcome **ret, const struct pinfold_plan *plan,
					   char *const argv[], const struct pinfold_error *error,
					   struct pinfold_error *err);

/* NULL is fine. Returns NULL. */
PINFOLD_PUBLIC struct pinfold_outcome *pinfold_outcome_free(struct pinfold_outcome *outcome);

/*
 * The exit status that `pinfold run` has for it: the command's own; 128 + N when signal N ended it; 123 it would be 0,
 * but something changed under `on_violation` fail; 124 time limit; 125 it never ran; 126 it is not executable; 127 it
 * was not found. A command may use these numbers as well: pinfold_outcome_ran says for sure.
 */
PINFOLD_PUBLIC int pinfold_outcome_status(const struct pinfold_outcome *outcome);

/* Was the command executed? */
PINFOLD_PUBLIC bool pinfold_outcome_ran(const struct pinfold_outcome *outcome);

/* Was it ended by the time limit? */
PINFOLD_PUBLIC bool pinfold_outcome_timed_out(const struct pinfold_outcome *outcome);

/* Why it never ran, or what failed after it ran; NULL when nothing did. Belongs to the outcome. */
PINFOLD_PUBLIC const struct pinfold_error *pinfold_outcome_error(const struct pinfold_outcome *outcome);

/*
 * What the command's user should know of what became of its work, a line each, not terminated: changes of git's
 * configuration that were not kept, protected files that git could not update. The record has them as warnings. NULL
 * behind the last. Belongs to the outcome.
 */
PINFOLD_PUBLIC const char *pinfold_outcome_notice(const struct pinfold_outcome *outcome, size_t index);

/* As pinfold_plan_guarantee, for the plan that was carried out; -ENOENT for all when there never was a plan. */
PINFOLD_PUBLIC int pinfold_outcome_guarantee(const struct pinfold_outcome *outcome, size_t index,
					     struct pinfold_guarantee *ret);

/* What must not change and did, as the check after the run found it; its strings belong to the outcome. */
struct pinfold_violation {
	const char *path;
	const char *below;    /* the same below the worktree's top; NULL where it lies elsewhere */
	const char *what;     /* "appeared at a protected name" */
	const char *action;   /* reported; moved: out of the worktree; renamed: where it is; left: that failed, too */
	const char *moved_to; /* where it is now (renamed: below the worktree or git directory), or NULL */
};

/* Violation number `index`, counted from 0: 0, or -ENOENT beyond the last, with *ret untouched. */
PINFOLD_PUBLIC int pinfold_outcome_violation(const struct pinfold_outcome *outcome, size_t index,
					     struct pinfold_violation *ret);

/* Could everything be looked at? True where there was nothing to compare; else the record's warnings tell what not. */
PINFOLD_PUBLIC bool pinfold_outcome_check_is_complete(const struct pinfold_outcome *outcome);

/* Whom a hint is for. A human is told the one option that allows what was refused; an agent is told how to go on, and
 * never an option or a key, since it may be able to give itself what it is told. */
enum pinfold_audience {
	PINFOLD_FOR_HUMAN,
	PINFOLD_FOR_AGENT,
	PINFOLD_AUDIENCE_COUNT
};

/*
 * Looks for what the pen may have had to do with it that the command failed. The evidence is the plan that was carried
 * out: what it closed, hid or protected. text[0..length) is what the command printed (its standard error; NULL: not
 * known), of which the last 64 KiB are looked at, to see what of that it met; any bytes will do. What needs no words
 * (the time limit, a violation, changes of git's configuration that were not kept) is found without. For a command that
 * ended with 0, or never ran, the text is not looked at.
 *
 * Returns the number of hints, at most one for each cause; pinfold_outcome_hint has them, and so has the record from
 * now on. A second call replaces the first one's. No hint holds a word of the text. No path of the text is looked at on
 * disk. Errors: PINFOLD_USAGE -EINVAL (an audience that is none), PINFOLD_INTERNAL
 * -ENOMEM.
 */
PINFOLD_PUBLIC int pinfold_hints(struct pinfold_outcome *outcome, enum pinfold_audience audience, const char *text,
				 size_t length, struct pinfold_error *err);

/* Hint number `index` of the last pinfold_hints, a line without newline, counted from 0; NULL beyond the last. Belongs
 * to the outcome, until the next pinfold_hints. */
PINFOLD_PUBLIC const char *pinfold_outcome_hint(const struct pinfold_outcome *outcome, size_t index);

/*
 * The events that follow when the run has ended, as JSON lines: `hint`, `violation`, `limit`, `finish`; and first a
 * `sandbox_status` that says why no pen was made, where none was. *ret is freed with free(). Errors: -ENOMEM, -E2BIG
 * (PINFOLD_INTERNAL).
 */
PINFOLD_PUBLIC int pinfold_outcome_events(const struct pinfold_outcome *outcome, char **ret, struct pinfold_error *err);

/*
 * The record: one JSON object with a newline at its end; pinfold(1) names its fields, and fields are only ever added.
 * *ret is freed with free(). Errors: -ENOMEM, -E2BIG (PINFOLD_INTERNAL).
 */
PINFOLD_PUBLIC int pinfold_outcome_json(const struct pinfold_outcome *outcome, char **ret, struct pinfold_error *err);

#ifdef __cplusplus
}
#endif
#endif
