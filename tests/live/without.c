/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command where the kernel refuses some calls, as a container's filter, a sysctl or AppArmor does: with a filter
 * of its own around it.
 *
 * usage: without WORD[,WORD...] COMMAND [ARG...]
 *   namespaces   clone and unshare with the flag of a user namespace: EPERM
 *   network      the same for a network namespace alone
 *   mounts       every call that mounts: EPERM
 *   landlock     ENOSYS, as on a kernel that is older than it
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

enum { CODE_MAX = 128 };

static struct sock_filter code[CODE_MAX];
static unsigned short length;

static void add(unsigned short operation, unsigned yes, unsigned no, unsigned k)
{
	if (length < CODE_MAX)
		code[length++] = (struct sock_filter){ operation, (unsigned char)yes, (unsigned char)no, k };
}

/* One call, where it has one of these flags in its first argument (0: always). */
static void refuse(unsigned call, unsigned flags, unsigned error)
{
	add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, 0, flags ? 3 : 1, call);
	if (flags) {
		add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, args));
		add(BPF_JMP | BPF_JSET | BPF_K, 0, 1, flags);
	}
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | error);
}

static int refuse_word(const char *word)
{
	static const unsigned mounts[] = { SYS_mount, 428, 429, 430, 431, 432, 442 }; /* open_tree … mount_setattr */

	if (strcmp(word, "namespaces") == 0 || strcmp(word, "network") == 0) {
		unsigned flag = *word == 'n' && word[1] == 'a' ? CLONE_NEWUSER : CLONE_NEWNET;

		refuse(SYS_clone, flag, EPERM);
		refuse(SYS_unshare, flag, EPERM);
	} else if (strcmp(word, "mounts") == 0) {
		for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++)
			refuse(mounts[i], 0, EPERM);
	} else if (strcmp(word, "landlock") == 0) {
		for (unsigned call = 444; call <= 446; call++)
			refuse(call, 0, ENOSYS);
	} else {
		fprintf(stderr, "without: unknown word '%s'\n", word);
		return -1;
	}
	return 0;
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
	program.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("without");
		return 2;
	}
	execvp(argv[2], argv + 2);
	perror("without");
	return 2;
}
