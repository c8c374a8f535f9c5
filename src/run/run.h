/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a plan: the process that supervises, what it watches and what it reports. It runs either in the caller's own
 * process (run_here: the command line) or in a forked supervisor (run_start: the library), with the same code.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pinfold.h"
#include "plan/plan.h"

/* How it ended: plain and of fixed size, so that a forked supervisor can send it over a pipe. */
struct run_result {
	bool ran;            /* the command was executed */
	int code;            /* exit code of the command, or -1 */
	int signal;          /* the signal that ended it, or 0 */
	bool timed_out;
	uint64_t duration_ms;
	int64_t start_ns; /* CLOCK_REALTIME when the command was started */
	int fact;         /* a host fact that a failed step disproved before the command ran, -1, or ENTER_AGAIN */
	/* Which of the plan's operations, plus one, lost its mount to the host and could not be put back: the run was
	 * ended for it. 0: none. */
	size_t unguarded;
	int unguarded_errno;
	int marking_errno;          /* why it is not seen when the host moves a protected file away, or 0 */
	bool is_announced;          /* the events before the command's start were written */
	struct pinfold_error error; /* code PINFOLD_OK when there is none */
};

struct run_options {
	int stdio[3];        /* descriptors for 0, 1, 2 of the command; -1: the caller's own */
	int handover_fd;     /* a socket that takes the directories of the plan's copies (carry.h), or -1 */
	int event_fd;        /* where the plan's events are written once the pen is ready, or -1 */
	bool own_terminal;   /* may hand over the terminal, stop with the command, change signal dispositions (run_here)
			      */
};

/* Runs the plan in this process until the end; mode off included. Returns 0 with *ret filled, whatever happened. */
int run_here(const struct pinfold_plan *plan, const struct run_options *options, struct run_result *ret);

struct run_handle {
	pid_t supervisor;
	int result_fd;  /* becomes readable when the run has ended: one struct run_result, then end of file */
	int control_fd; /* closing it ends the run */
};

/* Forks a supervisor. It is not reaped through SIGCHLD: the caller's process sees no SIGCHLD of it (double fork). */
int run_start(const struct pinfold_plan *plan, const struct run_options *options, struct run_handle *ret,
	      struct pinfold_error *err);

#endif
