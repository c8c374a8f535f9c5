/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the set-up; see enter.h. */
#include "linux/enter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "linux/putback.h"
#include "linux/seccomp.h"
#include "linux/sys.h"

void report_error(int fd, int fact, const struct pinfold_error *err)
{
	struct enter_report report = { .kind = REPORT_ERROR, .fact = fact, .error = *err };

	fd_write_all(fd, &report, sizeof(report));
}

void report_status(int fd, enum report_kind kind, int status)
{
	struct enter_report report = { .kind = kind, .status = status, .fact = -1 };

	fd_write_all(fd, &report, sizeof(report));
}

/* What a failure disproves. A limit of the caller's, a moment without memory, a file that was replaced just now say
 * nothing about the machine: taken for a fact, `ulimit -n` would make the user accept a run without the guarantee. */
int enter_fact_of(int fact, const struct pinfold_error *err)
{
	static const int shortages[] = { EMFILE, ENFILE, ENOMEM, EAGAIN, ESTALE };

	for (size_t i = 0; i < sizeof(shortages) / sizeof(shortages[0]); i++)
		if (err->errnum == shortages[i])
			return -1;
	return fact;
}

/*
 * Where our own arguments and environment lie in memory, so that the pen's init can wipe its copy: /proc/PID/cmdline is
 * readable by everybody who sees the process, whether it is dumpable or not, and ours holds host paths (F175).
 * /proc/self/stat has the addresses as fields 48 to 51; the name in field 2 may hold anything, so count from its ")".
 */
static int find_arguments(struct enter *enter, struct pinfold_error *err)
{
	static const char path[] = "/proc/self/stat";
	FD_CLEANUP int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	char text[2048], *at, *save = NULL, *word;
	unsigned long address[4] = { 0 };
	ssize_t length;

	if (fd < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "open", path);
	length = fd_read_all(fd, text, sizeof(text) - 1);
	if (length < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, (int)-length, "read", path);
	text[length] = '\0';
	at = strrchr(text, ')');
	if (!at)
		return err_sys(err, PINFOLD_UNAVAILABLE, EINVAL, "read", path);
	word = strtok_r(at + 1, " ", &save);
	for (int field = 3; word && field <= 51; field++, word = strtok_r(NULL, " ", &save))
		if (field >= 48)
			address[field - 48] = strtoul(word, NULL, 10);
	if (address[0] && address[3] > address[0] && address[3] - address[0] < 8UL << 20) {
		enter->argument_start = (char *)address[0];
		enter->argument_end = (char *)address[3];
	}
	return 0;
}

static void prepare_maps(struct enter *enter)
{
	const struct pinfold_plan *plan = enter->plan;

	snprintf(enter->uid_map, sizeof(enter->uid_map), "%u %u 1\n", plan->inner_uid, plan->host_uid);
	snprintf(enter->gid_map, sizeof(enter->gid_map), "%u %u 1\n", plan->inner_gid, plan->host_gid);
	enter->waits_for_ids = plan->ids == IDS_HIDDEN;
}

int enter_prepare(struct enter *enter, const struct pinfold_plan *plan, struct pinfold_error *err)
{
	*enter = (struct enter){
		.plan = plan,
		.stdio = {0, 1, 2},
		.report_fd = -1,
		.control_fd = -1,
		.outer_fds = {-1, -1},
		.terminal_fd = -1,
		.private_fd = -1,
		.handover_fd = -1,
		.watch_fd = -1,
		.relay_fd = {-1, -1},
		.landlock_fd = -1,
		.go = {-1, -1},
		.started_fd = -1,
		.clones = plan->scratch,
		.lowers = plan->scratch + plan->source_count,
	};
	for (size_t i = 0; i < 2 * plan->source_count; i++)
		plan->scratch[i] = -1;
	prepare_maps(enter);
	return plan->backend == BACKEND_NONE ? 0 : find_arguments(enter, err);
}

void enter_close(struct enter *enter)
{
	for (size_t i = 0; i < enter->plan->source_count; i++)
		fd_close(&enter->clones[i]);
	fd_close(&enter->report_fd);
	fd_close(&enter->control_fd);
	fd_close(&enter->go[0]);
	fd_close(&enter->go[1]);
	fd_close(&enter->watch_fd);
}

const char enter_init_name[] = "pinfold-init";

const char enter_reaper_name[] = "pinfold-reaper";

/* The pen's init keeps nothing of our own command line, and no end of the pipes that is the supervisor's: with one of
 * them it would wait for itself, and outlive a supervisor that is killed. */
void enter_begin(struct enter *enter, const char *name)
{
	for (int i = 0; i < 2; i++)
		fd_close(&enter->outer_fds[i]);
	fd_close(&enter->go[1]);
	if (enter->argument_start)
		memset(enter->argument_start, 0, (size_t)(enter->argument_end - enter->argument_start));
	prctl(PR_SET_NAME, name);
}

static int take_ids(struct enter *enter, struct pinfold_error *err)
{
	char go;
	int r;

	if (!enter->waits_for_ids)
		return ids_write_own(enter, err);
	if (fd_read_all(enter->control_fd, &go, 1) != 1)
		_exit(INIT_NEVER_STARTED); /* the supervisor is gone, or could not write the maps and has said so */
	r = ids_become_inner(enter->plan, err);
	return r;
}

/* The command must start where the caller stands, not in a directory of the same name that a mount brought, nor in the
 * host's tree below the pen's mounts (E023, F028). */
int enter_directory(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	struct stat st;

	if (chdir(plan->cwd) < 0 || stat(".", &st) < 0)
		return err_sys(err, PINFOLD_REFUSED, errno, "enter the working directory", plan->cwd);
	if (plan->cwd_ino && (st.st_dev != plan->cwd_dev || st.st_ino != plan->cwd_ino)) {
		err_say(err, PINFOLD_REFUSED, ESTALE, "the working directory '%s' is another directory inside the pen",
			plan->cwd);
		return -ESTALE;
	}
	return 0;
}

/* A session keyring of our own: the caller's is inherited and possessed, its secrets readable (E063). A full quota or a
 * kernel without keyrings is no failure: the filter refuses keyctl altogether. */
void enter_leave_keyring(void)
{
	syscall(SYS_keyctl, 1 /* KEYCTL_JOIN_SESSION_KEYRING */, NULL);
}

int enter_filter(const struct pinfold_plan *plan, int *fact, struct pinfold_error *err)
{
	for (int program = 0; plan->has_seccomp && program < SECCOMP_PROGRAM_COUNT; program++) {
		int r = plan->filters[program] ? seccomp_install((enum seccomp_program)program) : 0;

		if (r < 0) {
			*fact = FACT_SECCOMP;
			return err_sys(err, PINFOLD_UNAVAILABLE, -r, "install the seccomp filter",
				       seccomp_filters[program].name);
		}
	}
	return 0;
}

int enter_harden(struct enter *enter, int *fact, struct pinfold_error *err)
{
	const struct pinfold_plan *plan = enter->plan;
	struct plan_limits limits = plan->limits;
	int r;

	if (limits.processes != POLICY_NONE && plan->publish.n)
		limits.processes++; /* the relay, which counts as one of this user namespace's */
	enter_leave_keyring();
	r = landlock_make(enter, fact, err);
	if (r < 0)
		return r;
	r = limits_set(&limits, err);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "set", "no_new_privs");
	r = caps_drop(plan->backend == BACKEND_OWN_NAMESPACES, err);
	if (r < 0)
		return r;
	/* Else the command walks in through /proc/1/mem (E10E). */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "clear", "dumpable");
	r = landlock_restrict(enter, fact, err);
	if (r < 0)
		return r;
	return enter_filter(plan, fact, err);
}

static int set_up(struct enter *enter, int *fact, struct pinfold_error *err)
{
	int r;

	r = take_ids(enter, err);
	if (r < 0) {
		*fact = FACT_NAMESPACES;
		return r;
	}
	r = mounts_open_sources(enter, fact, err);
	if (r < 0)
		return r;
	r = stdio_open_hidden(enter, err);
	if (r < 0)
		return r;
	r = mounts_carry_out(enter, fact, err);
	if (r < 0)
		return r;
	r = handover_send(enter, err);
	if (r < 0)
		return r;
	r = putback_send(enter, fact, err);
	if (r < 0)
		return r;
	if (enter->plan->offline) {
		r = net_loopback_up(err);
		if (r < 0) {
			*fact = FACT_NET_NAMESPACE;
			return r;
		}
		r = net_serve_relays(enter, err);
		if (r < 0)
			return r;
	}
	r = enter_directory(enter->plan, err);
	if (r < 0)
		return r;
	r = stdio_reopen(enter, err);
	if (r < 0)
		return r;
	return enter_harden(enter, fact, err);
}

_Noreturn void enter_be_init(struct enter *enter, enter_set_up *prepare)
{
	struct pinfold_error err = { 0 };
	int fact = -1;

	enter_begin(enter, enter_init_name);
	if (prepare(enter, &fact, &err) < 0 || init_prepare(enter, &err) < 0) {
		report_error(enter->report_fd, enter_fact_of(fact, &err), &err);
		_exit(INIT_NEVER_STARTED);
	}
	/* With CLONE_VFORK we sleep until the command is executed or gone: no pipe is needed to learn which. */
	enter->command = sys_clone(CLONE_VFORK | SIGCHLD, NULL);
	if (enter->command == 0)
		command_execute(enter);
	if (enter->command < 0) {
		err_sys(&err, PINFOLD_UNAVAILABLE, errno, "start a process for", enter->plan->argv.v[0]);
		report_error(enter->report_fd, -1, &err);
		_exit(INIT_NEVER_STARTED);
	}
	init_run(enter);
}

bool enter_can_clone(unsigned long flags)
{
	pid_t pid = sys_clone((flags & ~(unsigned long)CLONE_PIDFD) | SIGCHLD, NULL);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, __WALL);
	return pid > 0;
}

static pid_t spawn_namespaces(struct enter *enter, int *ret_pidfd, int *ret_fact, struct pinfold_error *err)
{
	const struct pinfold_plan *plan = enter->plan;
	unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
			      CLONE_NEWCGROUP | CLONE_PIDFD | SIGCHLD;
	pid_t pid;
	int r;

	*ret_fact = -1;
	r = ids_map_sources(enter, ret_fact, err);
	if (r < 0) {
		*ret_fact = enter_fact_of(*ret_fact, err);
		return r;
	}
	if (plan->ids == IDS_HIDDEN)
		stdio_give_pipes(enter);
	if (plan->offline)
		flags |= CLONE_NEWNET;
	pid = sys_clone(flags, ret_pidfd);
	if (pid == 0)
		enter_be_init(enter, set_up);
	if (pid < 0) {
		r = err_sys(err, PINFOLD_UNAVAILABLE, errno, "make namespaces for", plan->argv.v[0]);
		*ret_fact = enter_fact_of(plan->offline && enter_can_clone(flags & ~(unsigned long)CLONE_NEWNET) ?
						  FACT_NET_NAMESPACE : FACT_NAMESPACES, err);
		return r;
	}
	if (enter->waits_for_ids) {
		r = ids_write_for(enter, pid, err);
		if (r < 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, __WALL);
			fd_close(ret_pidfd);
			return r;
		}
	}
	return pid;
}

typedef pid_t spawn_function(struct enter *enter, int *ret_pidfd, int *ret_fact, struct pinfold_error *err);

static spawn_function *const spawners[BACKEND_KIND_COUNT] = {
	[BACKEND_OWN_NAMESPACES] = spawn_namespaces,
	[BACKEND_BUBBLEWRAP] = bubblewrap_spawn,
	[BACKEND_ONLY_LANDLOCK] = reaper_spawn,
};

pid_t enter_spawn(struct enter *enter, int *ret_pidfd, int *ret_fact, struct pinfold_error *err)
{
	return spawners[enter->plan->backend](enter, ret_pidfd, ret_fact, err);
}
