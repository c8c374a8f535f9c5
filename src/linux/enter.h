/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entering the pen: the system calls between the fork and the exec.
 *
 *   supervisor ──clone──▶ init, pid 1 of the pen ──fork──▶ the command
 *
 * Theory of operation. One clone makes all namespaces and the process that will be their init. As long as nothing is
 * hardened it holds every capability inside its own user namespace, and none outside. In this order it
 *
 *   1. gets its ids (written by itself; by the supervisor, who waits for nothing, in runs started by root);
 *   2. opens and clones every source, compared with what the survey saw, while the tree is still the host's;
 *   3. makes the whole tree read-only and lays the plan's mounts over it;
 *   4. moves into the command's directory, whose identity is checked: a run that would start elsewhere is refused;
 *   5. hardens itself: fresh session keyring, no_new_privs, no capability, not dumpable, Landlock, seccomp;
 *   6. forks the command, which only arranges descriptors, process group and signals, and executes.
 *
 * Nothing may run code of the command's choice before 5 is complete. A step that fails sends one report and ends the
 * pen: there is no step whose failure is passed over, except where the plan says is_optional.
 *
 * Everything here works on data prepared before the clone, and must not allocate, lock, log or decide.
 *
 * That is the way with namespaces of our own. bubblewrap may do the first three in our stead: bubblewrap.c. Without any
 * there is a reaper in the place of the init: reaper.c.
 */
#ifndef LINUX_ENTER_H
#define LINUX_ENTER_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "host/host.h"
#include "pinfold.h"
#include "plan/plan.h"

/* What a process inside sends to the supervisor over the report pipe; below PIPE_BUF, so that writes are whole. */
enum report_kind {
	REPORT_ERROR,   /* a step failed: the command has not run; error and fact are filled */
	REPORT_READY,   /* the pen is made, and the command waits to be let go */
	REPORT_STARTED, /* the command has been executed */
	REPORT_EXIT,    /* status as wait(2) gives it */
	REPORT_STOPPED, /* the command was stopped: status as wait(2) gives it */
};

/* How the pen's init ends; for the supervisor, where a report was lost. Nobody else's code is ever its own. */
enum {
	INIT_ENDED = 3,           /* the command has ended, and how is reported */
	INIT_LOST = 2,            /* the command was started, and the init could not stay with it to the end */
	INIT_NEVER_STARTED = 125, /* the command was not executed */
};

enum { INIT_KEPT = 5 }; /* descriptors of its own */

/* Instead of a fact: bubblewrap stumbled over one place, as over a file that was there when it was looked at and gone
 * when it was used. Another try may do; the third that fails disproves bubblewrap. */
enum { ENTER_AGAIN = -2 };

struct enter_report {
	enum report_kind kind;
	int status;
	int fact; /* the host fact that the failed step disproves, or -1, or ENTER_AGAIN */
	struct pinfold_error error;
};

/* One byte from the supervisor to the pen's init. End of file ends the pen. */
enum {
	CONTROL_SIGNAL_MASK = 0x7f, /* the signal's number … */
	CONTROL_ALL = 0x80,         /* … to every process of the pen, not only to the command's group */
	CONTROL_TERMINAL = 0x7f,    /* no signal: bring the command's group to the foreground of the terminal */
};

/* How the command stands to the caller's terminal (DESIGN, "Process group and terminal"). */
enum job_control {
	JOB_OWN_GROUP, /* no terminal, or not in its foreground: own process group, every signal is forwarded */
	JOB_FOREGROUND, /* own process group, and the terminal is handed over to it */
	JOB_CALLERS_GROUP, /* foreground with something redirected: stays in the caller's group */
	JOB_CONTROL_COUNT
};

/* The two relays of ports: who listens inside and speaks to the host, and who listens on the host and speaks to the
 * pen. Each is a process of its own, outside, and exists only where ports are asked for. */
enum relay_side { RELAY_REACH, RELAY_PUBLISH, RELAY_COUNT };

struct enter {
	const struct pinfold_plan *plan;
	int stdio[3];           /* what becomes 0, 1, 2 of the command */
	int report_fd;          /* write end */
	int control_fd;         /* read end */
	int outer_fds[2];       /* the supervisor's ends of the two, which nobody inside may hold open */
	int terminal_fd;        /* the controlling terminal, where it is or may be handed over; else -1 */
	enum job_control job;
	sigset_t command_mask;  /* the signal mask that the caller had */
	bool ignores_children;  /* the caller had SIGCHLD ignored, and so has the command */
	bool is_pinned;         /* the CPU is pinned during set-up; affinity is what it was */
	cpu_set_t affinity;
	char *argument_start, *argument_end; /* our own command line in memory, wiped in the pen (F175) */
	char uid_map[32], gid_map[32];       /* written by the pen itself, or by the supervisor */
	bool waits_for_ids;
	int *clones, *lowers;   /* per source of the plan: -1, or a descriptor; in the plan's scratch */
	int private_fd;         /* the private tmpfs */
	int handover_fd;        /* takes the directories of the plan's copies, or -1 */
	int watch_fd;           /* takes what the mounts are watched by (putback.h), or -1 */
	char lower_option[96];
	int relay_fd[RELAY_COUNT]; /* leads to the relay that waits for what only the pen can give it, or -1 */
	int landlock_fd;
	int go[2];              /* a pipe: the command starts when a byte comes; -1: at once */
	int kept[INIT_KEPT];    /* what the pen's init keeps, out of the way */
	pid_t command;
	/* where a reaper stands for the init (reaper.c) */
	bool is_reaper;
	bool has_scope;         /* a signal to all reaches the run, and nobody else: seen */
	pid_t supervisor, caller_group;
	int started_fd;         /* at its end when the command is executed, or gone */
};

/* Prepares, without allocating: the supervisor may be the child of a process with threads; 0 or -errno. enter_close
 * closes what it holds in the supervisor, also after a failure. */
int enter_prepare(struct enter *enter, const struct pinfold_plan *plan, struct pinfold_error *err);
void enter_close(struct enter *enter);

/* Makes the pen and its init, in the way of the plan's backend. Returns the init's pid with a pidfd, or -errno: then
 * *ret_fact is what that disproves. */
pid_t enter_spawn(struct enter *enter, int *ret_pidfd, int *ret_fact, struct pinfold_error *err);

extern const char enter_init_name[];   /* what /proc calls the pen's init */
extern const char enter_reaper_name[]; /* and the reaper */

/* Parts of the order that both ways share (enter.c). */
int enter_fact_of(int fact, const struct pinfold_error *err); /* what a failure disproves, or -1 */
/* Can a process be cloned with these flags? Asked after a failure, to tell what it was about. */
bool enter_can_clone(unsigned long flags);
void enter_begin(struct enter *enter, const char *name); /* first of all */
int enter_directory(const struct pinfold_plan *plan, struct pinfold_error *err);
void enter_leave_keyring(void);
int enter_filter(const struct pinfold_plan *plan, int *fact, struct pinfold_error *err);

/* Steps 5 and 6: the hardening; and the whole of it after a set-up of the backend's own. */
typedef int enter_set_up(struct enter *enter, int *fact, struct pinfold_error *err);
int enter_harden(struct enter *enter, int *fact, struct pinfold_error *err);
_Noreturn void enter_be_init(struct enter *enter, enter_set_up *prepare);

/* bubblewrap.c */
pid_t bubblewrap_spawn(struct enter *enter, int *ret_pidfd, int *ret_fact, struct pinfold_error *err);
int bubblewrap_arguments(int fd, const struct pinfold_plan *plan); /* bubblewrap_arguments.c: 0 or -errno */
/* bubblewrap_arguments.c: a descriptor to read that from, which an exec leaves open; or -errno */
int bubblewrap_file(const void *content, size_t length);
/* bubblewrap_inside.c: what is left of the set-up inside */
int bubblewrap_finish(struct enter *enter, int *fact, struct pinfold_error *err);

/* reaper.c */
pid_t reaper_spawn(struct enter *enter, int *ret_pidfd, int *ret_fact, struct pinfold_error *err);
void reaper_signal(const struct enter *enter, int signal); /* to every process of the run */
void reaper_end(const struct enter *enter);                /* ends all of them, and takes away what the run had */
/* temporary.c: the run's own directory in /tmp; its name replaces the X: letters, in this process's own memory */
int temporary_make(struct pinfold_plan *plan, struct pinfold_error *err);
void temporary_remove(const struct pinfold_plan *plan);

/* The pieces, one file each; 0 or -errno with *err filled, and fact set where the failure disproves one. */
int ids_write_own(const struct enter *enter, struct pinfold_error *err);              /* ids.c, in the pen */
int ids_write_for(const struct enter *enter, pid_t pid, struct pinfold_error *err);   /* ids.c, by the supervisor */
int ids_become_inner(const struct pinfold_plan *plan, struct pinfold_error *err);     /* ids.c, in the pen */
/* ids.c, by a process outside: joins this namespace of the pen's, of any kind, and the user namespace that owns it */
int ids_join(const struct pinfold_plan *plan, int namespace_fd);
/* ids.c, by the supervisor: id-mapped clones */
int ids_map_sources(struct enter *enter, int *ret_fact, struct pinfold_error *err);
int clone_source(const struct plan_source *source); /* mounts.c: a detached mount, or -1 and errno */
const char *clone_step(int error); /* what failed then, in words */
bool mounts_is_closed(int error); /* a mount call that failed so is refused to everybody */
int mounts_open_sources(struct enter *enter, int *ret_fact, struct pinfold_error *err);
int mounts_carry_out(struct enter *enter, int *ret_fact, struct pinfold_error *err);
/* While the host replaces a file nothing can be mounted at its place: the kernel marks it before the new file has the
 * name. Waits before the next of so many tries, 50 µs and each time twice as long; false when they are used up. */
bool mounts_wait(int *tried, int tries);                                             /* mounts.c */
int handover_send(struct enter *enter, struct pinfold_error *err);                   /* handover.c */
int net_loopback_up(struct pinfold_error *err);                                      /* net.c */
/* Listens at this port of 127.0.0.1 or ::1, without blocking: the descriptor or -errno. */
int net_listen(sa_family_t family, uint16_t port);
int net_serve_relays(struct enter *enter, struct pinfold_error *err);
/* relay.c, outside, in a process of its own: the listeners of the host's side where it is to publish. Never returns. */
_Noreturn void relay_process(const struct pinfold_plan *plan, enum relay_side side, int socket, const int *listeners);
int stdio_open_hidden(struct enter *enter, struct pinfold_error *err);
int stdio_reopen(struct enter *enter, struct pinfold_error *err);
int stdio_reopen_passed(const struct pinfold_plan *plan, struct pinfold_error *err);
void stdio_give_pipes(const struct enter *enter);                                    /* stdio.c, by the supervisor */
int limits_set(const struct plan_limits *limits, struct pinfold_error *err);
int caps_drop(bool has_namespace, struct pinfold_error *err);
int relay_filter_install(struct pinfold_error *err);                                  /* relay_filter.c */
/* ruleset and rules, before capabilities go */
int landlock_make(struct enter *enter, int *ret_fact, struct pinfold_error *err);
int landlock_restrict(struct enter *enter, int *ret_fact, struct pinfold_error *err);
_Noreturn void command_execute(struct enter *enter);                                  /* command.c */
int init_prepare(struct enter *enter, struct pinfold_error *err);                     /* init.c */
_Noreturn void init_run(struct enter *enter);                                         /* init.c */

/* Sends an error report; async-signal-safe. */
void report_error(int fd, int fact, const struct pinfold_error *err);
void report_status(int fd, enum report_kind kind, int status);

#endif
