/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table, read from above: the first row whose fact, errno and sign fit is the cause. An errno alone rarely tells:
 * EPERM of a user namespace is a sysctl, an AppArmor rule, a container's filter or a chroot, and each has another cure.
 */
#include "host/cause.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/fd.h"

static bool read_file(const char *path, char *text, size_t size)
{
	FD_CLEANUP int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : fd_read_all(fd, text, size - 1);

	if (length < 0)
		return false;
	text[length] = '\0';
	return true;
}

static long read_number(const char *path)
{
	char text[64];

	return read_file(path, text, sizeof(text)) ? strtol(text, NULL, 10) : -1;
}

/* Seen from a chroot that is no mount itself, nothing is mounted at "/": the fifth field. */
static bool is_chrooted(const char *mounts)
{
	for (const char *line = mounts; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		int at = 0;

		if (sscanf(line, "%*s %*s %*s %*s%n", &at) == 0 && at && strncmp(line + at, " / ", 3) == 0)
			return false;
	}
	return true;
}

/* A mount point below /proc, but for those that systemd and the kernel put there for everybody. */
static bool has_masked_proc(const char *mounts)
{
	for (const char *at = strstr(mounts, " /proc/"); at; at = strstr(at + 1, " /proc/"))
		if (strncmp(at, " /proc/sys/fs/binfmt_misc", 25) != 0 && strncmp(at, " /proc/fs/nfsd", 14) != 0)
			return true;
	return false;
}

void cause_read_signs(struct cause_signs *signs, const struct pinfold_host *host)
{
	static char mounts[256 * 1024];
	char lsm[512];

	if (!read_file("/proc/self/mountinfo", mounts, sizeof(mounts)))
		mounts[0] = '\0';
	*signs = (struct cause_signs){
		.userns_clone = read_number("/proc/sys/kernel/unprivileged_userns_clone"),
		.max_userns = read_number("/proc/sys/user/max_user_namespaces"),
		.max_netns = read_number("/proc/sys/user/max_net_namespaces"),
		.apparmor_userns = read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
		.has_filter = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0,
		.is_chrooted = mounts[0] && is_chrooted(mounts),
		.is_admin = host->has_admin,
		.is_root = host->is_root,
		.has_setfcap = host_has_capability(CAP_SETFCAP),
		.has_userns = access("/proc/self/ns/user", F_OK) == 0,
		.has_masked_proc = has_masked_proc(mounts),
		.has_landlock_lsm = !read_file("/sys/kernel/security/lsm", lsm, sizeof(lsm)) || strstr(lsm, "landlock"),
	};
}

/* ---- signs ---- */

typedef bool sign_function(const struct cause_signs *signs);

static bool always(const struct cause_signs *signs)
{
	(void)signs;
	return true;
}

static bool clone_switch(const struct cause_signs *signs)
{
	return signs->userns_clone == 0;
}

static bool no_userns_left(const struct cause_signs *signs)
{
	return signs->max_userns == 0;
}

static bool no_netns_left(const struct cause_signs *signs)
{
	return signs->max_netns == 0;
}

static bool apparmor(const struct cause_signs *signs)
{
	return signs->apparmor_userns == 1;
}

static bool filter(const struct cause_signs *signs)
{
	return signs->has_filter;
}

static bool chrooted(const struct cause_signs *signs)
{
	return signs->is_chrooted;
}

static bool admin(const struct cause_signs *signs)
{
	return signs->is_admin;
}

static bool built_without(const struct cause_signs *signs)
{
	return !signs->has_userns;
}

static bool masked_proc(const struct cause_signs *signs)
{
	return signs->has_masked_proc;
}

static bool not_in_lsm(const struct cause_signs *signs)
{
	return !signs->has_landlock_lsm;
}

/* ---- the table ---- */

enum { ANY = 0, SPACES = -1 }; /* of the fact: all that need namespaces; of the errno: whatever it is */

static const struct {
	int fact, errnum;
	sign_function *sign;
	struct cause cause;
} rows[] = {
	{SPACES, ANY, clone_switch,
	 {"sysctl", "the switch kernel.unprivileged_userns_clone is off",
	  "sysctl -w kernel.unprivileged_userns_clone=1"}},
	{SPACES, ANY, no_userns_left,
	 {"sysctl", "user.max_user_namespaces is 0", "sysctl -w user.max_user_namespaces=15000"}},
	{FACT_NAMESPACES, ENOSPC, always,
	 {"limit", "as many user namespaces exist, or are nested, as may be",
	  "end what holds them, or raise user.max_user_namespaces"}},
	{FACT_NAMESPACES, EUSERS, always,
	 {"limit", "user namespaces are nested as deep as may be", "run pinfold further out"}},
	{SPACES, ANY, built_without,
	 {"kernel", "this kernel is built without user namespaces", "another kernel; or --backend landlock"}},
	{SPACES, EPERM, chrooted,
	 {"container", "this is a chroot, in which the kernel makes no user namespace",
	  "enter it with pivot_root instead; or --backend landlock"}},
	{SPACES, ANY, filter,
	 {"seccomp", "a seccomp filter around this process refuses it, as a container's default profile does",
	  "let the container's profile allow it; or --backend landlock"}},
	{FACT_NAMESPACES, EPERM, admin,
	 {"container", "it is refused to CAP_SYS_ADMIN, as in a chroot, in which the kernel makes no user namespace",
	  "enter it with pivot_root instead; or --backend landlock"}},
	{SPACES, ANY, apparmor,
	 {"apparmor", "AppArmor takes the capabilities away from user namespaces "
		      "(kernel.apparmor_restrict_unprivileged_userns)",
	  "install pinfold's AppArmor profile: make install, as root"}},
	{FACT_NET_NAMESPACE, ANY, no_netns_left,
	 {"sysctl", "user.max_net_namespaces is 0", "sysctl -w user.max_net_namespaces=15000"}},
	{FACT_NET_NAMESPACE, ENOSPC, always,
	 {"limit", "as many network namespaces exist as may be", "raise user.max_net_namespaces"}},
	{FACT_NET_NAMESPACE, EINVAL, always,
	 {"kernel", "this kernel is built without network namespaces", "another kernel; or --backend landlock"}},
	{FACT_MOUNTS, ENOSYS, always,
	 {"kernel", "this kernel is older than Linux 5.12, or a filter answers for it",
	  "a newer kernel; or --backend landlock"}},
	{FACT_OVERLAY, ENODEV, always,
	 {"kernel", "overlayfs is not in this kernel, or its module is not loaded", "modprobe overlay"}},
	{FACT_OVERLAY, EINVAL, always,
	 {"file system", "overlayfs cannot lie over the file system of the home, or over the mounts in it",
	  "none is needed: the entries of the home are bound one by one"}},
	{FACT_OVERLAY, EPERM, always,
	 {"kernel", "this kernel makes no overlay in a user namespace (before Linux 5.11)",
	  "none is needed: the entries of the home are bound one by one"}},
	{FACT_FRESH_PROC, ANY, masked_proc,
	 {"container", "a part of /proc is mounted over, as in a container: no new /proc may then be mounted",
	  "start the container with an unmasked /proc (docker: --security-opt systempaths=unconfined)"}},
	{FACT_IDMAP, ANY, always,
	 {"file system", "the file system of the worktree cannot be mounted with mapped ids",
	  "run pinfold as the user who owns the worktree"}},
	{FACT_SECCOMP, ENOSYS, always,
	 {"kernel", "this kernel is built without seccomp", "another kernel"}},
	{FACT_SECCOMP, EINVAL, always,
	 {"kernel", "this kernel is built without seccomp filters", "another kernel"}},
	{FACT_LANDLOCK, EXDEV, always,
	 {"container", "the root directory lies in one that is granted, as in a chroot below the home: Landlock looks "
		       "beyond it",
	  "enter it with pivot_root instead of chroot"}},
	{FACT_LANDLOCK, EOPNOTSUPP, always,
	 {"kernel", "Landlock is in this kernel, and switched off at boot",
	  "add landlock to the lsm= parameter of the kernel"}},
	{FACT_LANDLOCK, ANY, not_in_lsm,
	 {"kernel", "Landlock is not among the security modules of this kernel",
	  "add landlock to the lsm= parameter of the kernel, or use Linux 5.13 or later"}},
	{FACT_LANDLOCK, ENOSYS, filter,
	 {"seccomp", "a seccomp filter around this process does not know Landlock",
	  "let the container's profile allow landlock_create_ruleset, landlock_add_rule and landlock_restrict_self"}},
	{FACT_LANDLOCK, ENOSYS, always,
	 {"kernel", "this kernel is built without Landlock", "Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK"}},
	{SPACES, EACCES, always,
	 {"lsm", "a security module refuses it (AppArmor, SELinux)", "see the kernel's log for the rule"}},
	{SPACES, EPERM, always,
	 {"capability", "the kernel refuses it to this user", "ask the administrator; or --backend landlock"}},
};

static bool needs_namespaces(enum host_fact fact)
{
	return fact == FACT_NAMESPACES || fact == FACT_NET_NAMESPACE || fact == FACT_MOUNTS;
}

/* The kernel lets nobody map root who could not give a file root's capabilities (Linux 5.12). */
static const struct cause unmapped_root = {
	"capability", "root can be mapped into a user namespace only with CAP_SETFCAP, which this one has not",
	"run pinfold as another user, or let the container keep CAP_SETFCAP; or --backend landlock"};

struct cause cause_of(enum host_fact fact, const char *step, int errnum, const struct cause_signs *signs)
{
	if (fact == FACT_NAMESPACES && errnum == EPERM && strstr(step, "the uid map") && signs->is_root &&
	    !signs->has_setfcap)
		return unmapped_root;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool is_about = rows[i].fact == SPACES ? needs_namespaces(fact) : rows[i].fact == (int)fact;

		if (is_about && (rows[i].errnum == ANY || rows[i].errnum == errnum) && rows[i].sign(signs))
			return rows[i].cause;
	}
	return (struct cause){"unknown", "the kernel refuses it", "none is known"};
}
