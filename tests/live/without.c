/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command where the kernel refuses some calls, as a container's filter, a sysctl, AppArmor or an older kernel
 * does: with a filter of its own around it.
 *
 * usage: without WORD[=ERRNO][,WORD[=ERRNO]...] COMMAND [ARG...]
 * A word is a row of the table below; without an errno its calls fail as the row says.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	CODE_MAX = 256,
	CALLS_MAX = 8,
	FSOPEN = 430, /* newer than some C libraries, and the same on every architecture */
	FSCONFIG = 431,
	FSMOUNT = 432,
	OPEN_TREE = 428,
	MOVE_MOUNT = 429,
	PIDFD_SEND_SIGNAL = 424,
	PIDFD_OPEN = 434,
	CLONE3 = 435,
	CLOSE_RANGE = 436,
	OPENAT2 = 437,
	PIDFD_GETFD = 438,
	FACCESSAT2 = 439,
	MOUNT_SETATTR = 442,
	LANDLOCK_CREATE_RULESET = 444,
	LANDLOCK_ADD_RULE = 445,
	LANDLOCK_RESTRICT_SELF = 446,
};

static const struct refusal {
	const char *word;
	unsigned error;
	unsigned flags; /* only where the first argument has one of these; 0: always */
	unsigned calls[CALLS_MAX];
} refusals[] = {
	/* what a container, AppArmor or a sysctl keeps from its processes */
	{ "namespaces", EPERM, CLONE_NEWUSER, { SYS_clone, SYS_unshare } },
	{ "network", EPERM, CLONE_NEWNET, { SYS_clone, SYS_unshare } },
	{ "pids", EPERM, CLONE_NEWPID, { SYS_clone, SYS_unshare } },
	{ "mounts", EPERM, 0,
	  { SYS_mount, OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, MOUNT_SETATTR } },
	{ "old-mount", EPERM, 0, { SYS_mount } },
	/* what is newer than a kernel, or than the list of a filter */
	{ "landlock", ENOSYS, 0, { LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF } },
	{ "landlock-rules", EPERM, 0, { LANDLOCK_ADD_RULE } },
	{ "landlock-restrict", EPERM, 0, { LANDLOCK_RESTRICT_SELF } },
	{ "mount_setattr", ENOSYS, 0, { MOUNT_SETATTR } },
	{ "open_tree", ENOSYS, 0, { OPEN_TREE, MOVE_MOUNT } },
	{ "fsopen", ENOSYS, 0, { FSOPEN, FSCONFIG, FSMOUNT } },
	{ "openat2", ENOSYS, 0, { OPENAT2 } },
	{ "pidfd", ENOSYS, 0, { PIDFD_SEND_SIGNAL, PIDFD_OPEN, PIDFD_GETFD } },
	{ "clone3", ENOSYS, 0, { CLONE3 } },
	{ "close_range", ENOSYS, 0, { CLOSE_RANGE } },
	{ "faccessat2", ENOSYS, 0, { FACCESSAT2 } },
	{ "statx", ENOSYS, 0, { SYS_statx } },
	{ "keys", ENOSYS, 0, { SYS_keyctl, SYS_add_key, SYS_request_key } },
	{ "seccomp", EINVAL, 0, { SYS_seccomp } },
	{ "prctl-seccomp", EINVAL, 0, { SYS_prctl } }, /* its first argument: see add_refusal */
	{ "inotify", EMFILE, 0, { SYS_inotify_init1 } },
	{ "memfd", ENOSYS, 0, { SYS_memfd_create } },
};

static const struct {
	const char *name;
	unsigned number;
} errors[] = {
	{ "EPERM", EPERM }, { "ENOSYS", ENOSYS }, { "EINVAL", EINVAL }, { "EACCES", EACCES },
	{ "ENOSPC", ENOSPC }, { "EUSERS", EUSERS }, { "EOPNOTSUPP", EOPNOTSUPP }, { "ENODEV", ENODEV },
};

static struct sock_filter code[CODE_MAX];
static unsigned short length;

static void add(unsigned short operation, unsigned yes, unsigned no, unsigned k)
{
	if (length < CODE_MAX)
		code[length] = (struct sock_filter){ operation, (unsigned char)yes, (unsigned char)no, k };
	length++;
}

static void add_call(unsigned call, unsigned short jump, unsigned value, unsigned error)
{
	add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, 0, value ? 3 : 1, call);
	if (value) {
		add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, args));
		add(BPF_JMP | jump | BPF_K, 0, 1, value);
	}
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | error);
}

static void add_refusal(const struct refusal *row, unsigned error)
{
	for (size_t i = 0; i < CALLS_MAX && row->calls[i]; i++)
		if (row->calls[i] == SYS_prctl)
			add_call(SYS_prctl, BPF_JEQ, PR_SET_SECCOMP, error);
		else
			add_call(row->calls[i], BPF_JSET, row->flags, error);
}

static int error_number(const char *name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, name) == 0)
			return (int)errors[i].number;
	return -1;
}

static int refuse_word(char *word)
{
	char *name = strchr(word, '=');
	int error = 0;

	if (name) {
		*name++ = '\0';
		error = error_number(name);
	}
	for (size_t i = 0; error >= 0 && i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (strcmp(refusals[i].word, word) == 0) {
			add_refusal(&refusals[i], error ? (unsigned)error : refusals[i].error);
			return 0;
		}
	fprintf(stderr, "without: unknown: '%s'\n", error < 0 ? name : word);
	return -1;
}

int main(int argc, char **argv)
{
	struct sock_fprog program = { .filter = code };
	char *save = NULL;

	if (argc < 3)
		return 2;
	for (char *word = strtok_r(argv[1], ",", &save); word; word = strtok_r(NULL, ",", &save))
		if (refuse_word(word) < 0)
			return 2;
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	if (length > CODE_MAX) {
		fputs("without: too many words\n", stderr);
		return 2;
	}
	program.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("without");
		return 2;
	}
	execvp(argv[2], argv + 2);
	perror("without");
	return 2;
}
