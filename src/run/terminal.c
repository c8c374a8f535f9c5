/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All calls here happen with SIGTTOU blocked (the supervisor blocks every signal), so that a process in the background
 * may set the foreground.
 */
#include "run/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fd.h"

void terminal_open(struct terminal *terminal, const struct pinfold_plan *plan, bool own_terminal)
{
	const struct survey_terminal *seen = &plan->survey.terminal;

	*terminal = (struct terminal){ .fd = -1, .job = JOB_OWN_GROUP, .own_group = getpgrp() };
	if (!own_terminal || !seen->has_controlling)
		return;
	if (!seen->is_all) {
		/* A reader in the same pipeline would be stopped if it lost the foreground: stay in the caller's group.
		 * Then the command could signal that group (E10D), unless Landlock's scope holds; without it, the first
		 * case. */
		if (seen->is_foreground && plan->landlock_scoped)
			terminal->job = JOB_CALLERS_GROUP;
		return;
	}
	terminal->fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal->fd < 0)
		return;
	terminal->has_modes = tcgetattr(terminal->fd, &terminal->modes) == 0;
	/* In the background it may come to the foreground later (fg). */
	terminal->is_given = seen->is_foreground;
	if (seen->is_foreground)
		terminal->job = JOB_FOREGROUND;
}

void terminal_take(struct terminal *terminal)
{
	if (terminal->is_given)
		tcsetpgrp(terminal->fd, terminal->own_group);
	terminal->is_given = false;
}

bool terminal_must_give(struct terminal *terminal)
{
	if (terminal->fd < 0 || terminal->is_given || tcgetpgrp(terminal->fd) != terminal->own_group)
		return false;
	terminal->is_given = true;
	return true;
}

void terminal_close(struct terminal *terminal, bool by_signal)
{
	if (terminal->is_given) {
		tcsetpgrp(terminal->fd, terminal->own_group);
		/* A program that was killed in raw mode cannot restore it; one that ended by itself may have meant what
		 * it set. */
		if (by_signal && terminal->has_modes)
			tcsetattr(terminal->fd, TCSADRAIN, &terminal->modes);
		/* What was typed for the command, or put there by the terminal in answer to what it printed, is not the
		 * shell's. */
		tcflush(terminal->fd, TCIFLUSH);
	}
	fd_close(&terminal->fd);
}
