/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's terminal: who is in its foreground, and giving it back. */
#ifndef RUN_TERMINAL_H
#define RUN_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

#include "linux/enter.h"

struct terminal {
	int fd;                 /* the controlling terminal; -1 without one, or where it is not handed over */
	enum job_control job;
	pid_t own_group;
	pid_t command_group;    /* as it was in the foreground when the command was stopped; 0: not known */
	bool has_modes;
	struct termios modes;   /* as they were before */
};

/* Decides which of the three cases it is (enter.h). own_terminal: the caller lets us hand the terminal over. */
void terminal_open(struct terminal *terminal, const struct pinfold_plan *plan, bool own_terminal);
/* The command was stopped: the terminal is ours again. */
void terminal_take(struct terminal *terminal);
/* It goes on: give it back, where it had it. */
void terminal_give(struct terminal *terminal);
/* The end: foreground is ours, modes as before where the command left them broken by dying, unread input is flushed. */
void terminal_close(struct terminal *terminal, bool by_signal);

#endif
