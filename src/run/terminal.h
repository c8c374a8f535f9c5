/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's terminal: who is in its foreground, and giving it back. */
#ifndef RUN_TERMINAL_H
#define RUN_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

#include "linux/enter.h"

struct terminal {
	int fd;          /* the controlling terminal, where 0, 1 and 2 are all it; -1: there is nothing to hand over */
	enum job_control job;
	pid_t own_group;
	bool is_given;   /* the command's group is in its foreground, by us */
	bool has_modes;
	struct termios modes; /* as they were before */
};

/* Decides which of the three cases it is (enter.h). own_terminal: the caller lets us hand the terminal over. */
void terminal_open(struct terminal *terminal, const struct pinfold_plan *plan, bool own_terminal);
/* The command was stopped: the terminal is ours again, if it was the command's. */
void terminal_take(struct terminal *terminal);
/* We were continued: true where the shell has put us in the foreground, and the command's group has to follow. The
 * pen's init brings it there: it is in the same session, and knows the group by a number. */
bool terminal_must_give(struct terminal *terminal);
/* The end: foreground is ours, modes as before where the command left them broken by dying, unread input is flushed. */
void terminal_close(struct terminal *terminal, bool by_signal);

#endif
