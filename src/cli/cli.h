/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: a client of include/pinfold.h and of nothing else of the core, so that whatever it can do, any
 * program can.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "pinfold.h"

/* Exit statuses of pinfold's own. */
enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_REFUSED = 125 };

enum { CLI_PASS_FDS = 64 };

/* ---- options (options.c) ---- */

/* The subcommands that an option belongs to. */
enum {
	IN_RUN = 1,
	IN_CONFIG = 2,
	IN_STATUS = 4,
	IN_TRUST = 8,
	IN_VERSION = 16,
	IN_HELP = 32,
	IN_EXPLAIN = 64,
	IN_DOCTOR = 128,
	/* where the keys of the policy are options */
	IN_POLICY = IN_RUN | IN_CONFIG | IN_STATUS | IN_EXPLAIN | IN_DOCTOR,
	IN_ALL = 255
};

enum own_option {
	OPTION_DIRECTORY,
	OPTION_CONFIG,
	OPTION_RECORD,
	OPTION_EVENTS,
	OPTION_PASS_FD,
	OPTION_PLAN,
	OPTION_JSON,
	OPTION_NOTICE,
	OPTION_PROVE,
	OPTION_QUIET,
	OPTION_HELP,
	OPTION_COUNT
};

/* One option as the parser, the help and the completion see it: the command line's own, or a key of the policy. */
struct option {
	const char *name;     /* "--plan" */
	const char *letter;   /* "-C", or NULL */
	const char *argument; /* NULL: a switch */
	const char *help;
	const char *const *words;
	const char *builtin;
	const char *fixed;    /* an alias: the word that it stands for */
	unsigned where;
	int own;              /* enum own_option, or -1: a key */
	bool is_list;
	const char *no_word;  /* what its --no- form says, or NULL: it has none */
	const char *key;      /* the name of the key */
};

/* Option number `index` of all, aliases included; false beyond the last. */
bool option_at(size_t index, struct option *ret);

struct setting {
	const char *name, *text;
};

/* What a command line asks for. The words stay where they are: in argv. */
struct request {
	const char *directory, *config, *record, *events;
	bool is_plan, is_json, is_notice, is_prove, is_quiet, is_help;
	bool has_dashes; /* a "--" ended the options */
	int pass_fds[CLI_PASS_FDS];
	size_t pass_fd_count;
	struct setting *settings; /* in their order, for pinfold_policy_set */
	size_t setting_count;
	char **rest;              /* the words that are no options: of run, the command; NULL-terminated */
};

/* Reads the options: of run those before the command, else all. After an error the rest is still read, so that a
 * --record further on is known, and the first error is reported. request is freed with request_free in any case. */
int request_parse(struct request *request, unsigned where, char **argv, struct pinfold_error *err);
void request_free(struct request *request);

/* ---- what most subcommands begin with (session.c) ---- */

struct session {
	struct pinfold_policy *policy;
	struct pinfold_host *host;
	struct pinfold_plan *plan; /* NULL before session_plan */
};

/* Changes to the directory, makes the policy of the request and loads it. session_close in any case. */
/* NULL: stays. Comes first, whatever its place: paths of other options are relative to it, as with git and make. */
int change_directory(const char *directory, struct pinfold_error *err);
/* What --config names, for a policy that is still to be loaded. */
int set_config_of(struct pinfold_policy *policy, const struct request *request, struct pinfold_error *err);
int session_open(struct session *session, const struct request *request, struct pinfold_error *err);
int session_plan(struct session *session, char *const argv[], bool is_preview, struct pinfold_error *err);
void session_close(struct session *session);
/* "fd:N" gives N, anything else -1; -2: "fd:" with something that is no descriptor. */
int descriptor_of(const char *text);

/* ---- the record's file (record.c) ---- */

struct record_file {
	int fd; /* -1: none is asked for */
	const char *option, *target; /* "--record", and what stood behind it */
	bool is_ours;
};

/* plan may be NULL where none could be made: then nothing runs, and no place is unfit. */
int record_open(struct record_file *file, const char *option, const char *target, const struct pinfold_plan *plan,
		struct pinfold_error *err);
/* A file of ours loses what was in it. */
int record_empty(struct record_file *file, struct pinfold_error *err);
int record_write_text(struct record_file *file, const char *text, struct pinfold_error *err);
int record_write(struct record_file *file, const struct pinfold_outcome *outcome, struct pinfold_error *err);
void record_close(struct record_file *file);

/* ---- between the command and its standard error (relay.c) ---- */

struct relay {
	pid_t pid;  /* 0: none */
	int fd;     /* the command's end of the pipe */
	int control; /* its end tells the relay that the run has ended */
	struct relay_tail *tail;
};

/* Starts it and puts its pipe into stdio; where standard error is a terminal or closed, does nothing. */
void relay_open(struct relay *relay, int stdio[3]);
/* After the run: everything that was printed has been passed on when this returns. */
void relay_end(struct relay *relay);
/* The last of what was printed, freed with free(); NULL: nothing. */
char *relay_text(const struct relay *relay, size_t *ret_length);
void relay_free(struct relay *relay);

/* ---- messages (message.c) ---- */

/* Past the caller's `ulimit -f`, and where the reader is gone, the kernel answers a write with a signal, which would
 * end us and lose the command's status; ignored, the answer is an error. What was set before is put back, since the
 * command inherits it. */
struct write_signals {
	void (*file_limit)(int), (*pipe)(int);
};

struct write_signals write_signals_ignore(void);
void write_signals_restore(struct write_signals before);

/* Fills an error of the kind PINFOLD_USAGE and returns -EINVAL. */
int usage_error(struct pinfold_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
void usage_hint(struct pinfold_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One line on standard error, after "pinfold: ". What is not printable is escaped. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The error and its hint, one line each. Returns EXIT_REFUSED. */
int say_error(const struct pinfold_error *err);
/* Writes text to standard output and frees it. EXIT_YES, or EXIT_REFUSED after a message. */
int print_text(char *text);
/* Flushes standard output; a reader that is gone or a full disk is an error. */
int print_end(void);
/* text, which is UTF-8, as a JSON string on standard output */
void print_json_string(const char *text);
/* candidate, if it is more like `word` than what gave *least, else best. *least starts as SIZE_MAX. */
const char *nearest(const char *word, const char *best, size_t *least, const char *candidate);

/* ---- subcommands ---- */

struct command {
	const char *name;
	const char *usage;   /* after "pinfold NAME " */
	const char *help;    /* one line */
	const char *const *words; /* what may follow at once, or NULL */
	unsigned where;      /* the options it takes */
	int (*run)(const struct command *command, char **argv);
};

extern const struct command commands[];
const struct command *command_find(const char *name);

int run_command(const struct command *command, char **argv);
int config_command(const struct command *command, char **argv);
int trust_command(const struct command *command, char **argv);
int status_command(const struct command *command, char **argv);
int doctor_command(const struct command *command, char **argv);
int explain_command_line(const struct command *command, char **argv);
int help_command(const struct command *command, char **argv);
int complete_command(char **words);
int try_path(char **words); /* inside the pen of `explain --prove` */

/* `pinfold --help`, and `pinfold NAME --help`. */
int help_general(void);
int help_of(const struct command *command);

/* The parse error or the help that a request ends with: an exit status, or -1: go on. */
int request_end(const struct command *command, const struct request *request, int r, const struct pinfold_error *err);

#endif
