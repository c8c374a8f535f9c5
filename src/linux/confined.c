/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Am I in a pen? PINFOLD_STATUS is a variable, so anybody can say yes; what counts is what the kernel says of this
 * process. no_new_privs and the filter cannot be taken back, and the init of our pid namespace names itself before it
 * hardens. Where /proc is not the pen's own, its init is still an ancestor of everything in the pen: orphans go to it.
 */
#include "linux/confined.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/fd.h"
#include "linux/enter.h"

enum { GENERATIONS = 4096, FILTER_MODE = 2 /* SECCOMP_MODE_FILTER */ };

/* What /proc/PID/status says, in the numbers of the /proc that is mounted. */
struct process {
	char name[32];
	long parent, own_pid; /* own_pid: in the innermost namespace that the process is in */
};

static const char *field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? at + strlen(name) : NULL;
}

static bool parse_process(const char *text, struct process *ret)
{
	/* The name comes first; a newline in it is escaped, so it cannot bring lines of its own. */
	const char *name = strncmp(text, "Name:\t", 6) == 0 ? text + 6 : NULL;
	const char *parent = field(text, "\nPPid:\t"), *numbers = field(text, "\nNSpid:");

	if (!name || !parent || !numbers)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)strcspn(name, "\n"), name);
	ret->parent = strtol(parent, NULL, 10);
	for (ret->own_pid = 0; *numbers == '\t'; numbers += strcspn(numbers, "\t\n"))
		ret->own_pid = strtol(++numbers, NULL, 10);
	return true;
}

static bool read_process(const char *pid, struct process *ret)
{
	char path[64], text[4096];
	FD_CLEANUP int fd = -1;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : fd_read_all(fd, text, sizeof(text) - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	return parse_process(text, ret);
}

static bool has_pen_init(void)
{
	char pid[32] = "self";
	struct process process;

	for (int i = 0; i < GENERATIONS && read_process(pid, &process); i++) {
		if (i > 0 && strcmp(process.name, enter_reaper_name) == 0)
			return true;
		if (process.own_pid == 1)
			return strcmp(process.name, enter_init_name) == 0;
		snprintf(pid, sizeof(pid), "%ld", process.parent);
	}
	return false;
}

bool confined_here(void)
{
	int filter = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);

	/* -1: a kernel without seccomp, where a pen may have been accepted without. */
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && (filter == FILTER_MODE || filter < 0) && has_pen_init();
}
