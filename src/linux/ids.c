/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom the command runs as.
 *
 * A plain user: the own id is mapped to itself, never to 0: git and make compare owners, and a file of an id that is
 * not mapped looks foreign.
 *
 * Root: host uid 0 owns /proc/sys, /proc/sysrq-trigger and root's files without any capability (E10C: mapped 0 to 0,
 * with none, it rewrites kernel.core_pattern). So the command runs under an unprivileged host id that is mapped to 0
 * inside, and what it may write is bound id-mapped from its owner to that id: inside everything belongs to uid 0, on
 * the disk new files belong to the owner of the directory that was bound. Only the supervisor can map (it takes
 * CAP_SYS_ADMIN over the file system), so it clones these sources itself, and the pen only puts them in place.
 */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/enter.h"
#include "linux/sys.h"

static int write_file(const char *path, const char *text)
{
	FD_CLEANUP int fd = openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return fd_write_all(fd, text, strlen(text));
}

int ids_write_own(const struct enter *enter, struct pinfold_error *err)
{
	int r;

	/* An unprivileged gid_map wants setgroups gone first (Linux 3.19). */
	r = write_file("/proc/self/setgroups", "deny");
	if (r < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, -r, "write", "/proc/self/setgroups");
	r = write_file("/proc/self/uid_map", enter->uid_map);
	if (r < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, -r, "write the uid map", enter->uid_map);
	r = write_file("/proc/self/gid_map", enter->gid_map);
	if (r < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, -r, "write the gid map", enter->gid_map);
	return 0;
}

static int write_map_of(pid_t pid, const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return write_file(path, text);
}

int ids_write_for(const struct enter *enter, pid_t pid, struct pinfold_error *err)
{
	int r;

	r = write_map_of(pid, "uid_map", enter->uid_map);
	if (r < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, -r, "write the uid map", enter->uid_map);
	r = write_map_of(pid, "gid_map", enter->gid_map);
	if (r < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, -r, "write the gid map", enter->gid_map);
	return 0;
}

/* By system call: the C library's setgroups and setresuid would signal other threads, which do not exist here. */
int ids_become_inner(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	if (syscall(SYS_setgroups, 0, NULL) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "leave", "supplementary groups");
	if (syscall(SYS_setresgid, plan->inner_gid, plan->inner_gid, plan->inner_gid) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "take", "the pen's group id");
	if (syscall(SYS_setresuid, plan->inner_uid, plan->inner_uid, plan->inner_uid) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "take", "the pen's user id");
	return 0;
}

/* First the user namespace, whose owner we are: it gives the capabilities, in it alone, that the other one asks for. In
 * runs started by root also the id that the pen's init has: root's own means nothing in there. */
int ids_join(const struct pinfold_plan *plan, int namespace_fd)
{
	FD_CLEANUP int user = ioctl(namespace_fd, SYS_NS_GET_USERNS);
	struct pinfold_error err;

	if (user < 0 || setns(user, CLONE_NEWUSER) < 0)
		return -errno;
	if (plan->ids == IDS_HIDDEN && ids_become_inner(plan, &err) < 0)
		return -err.errnum;
	return setns(namespace_fd, 0) < 0 ? -errno : 0;
}

/* A user namespace that exists only as a table: ids on the disk (inside) to ids of the host (outside). It lives as long
 * as its descriptor. */
static int make_map(const struct plan_idmap *map, const struct pinfold_plan *plan)
{
	char text[64], path[64];
	int gate[2], fd = -1, r;
	pid_t pid;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	pid = sys_clone(CLONE_NEWUSER | SIGCHLD, NULL);
	if (pid == 0) {
		char byte;

		close(gate[1]);
		fd_read_all(gate[0], &byte, 1);
		_exit(0);
	}
	r = pid < 0 ? -errno : 0;
	if (r == 0) {
		snprintf(text, sizeof(text), "%u %u 1\n", map->uid, plan->host_uid);
		r = write_map_of(pid, "uid_map", text);
	}
	if (r == 0) {
		snprintf(text, sizeof(text), "%u %u 1\n", map->gid, plan->host_gid);
		r = write_map_of(pid, "gid_map", text);
	}
	if (r == 0) {
		snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
		fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
		r = fd < 0 ? -errno : 0;
	}
	close(gate[0]);
	close(gate[1]);
	if (pid > 0)
		waitpid(pid, NULL, __WALL);
	return r < 0 ? r : fd;
}

/* Mounts inside may be of file systems that cannot be mapped; these stay as they are, so that they can be seen (F033).
 * A source that is nothing but such a mount is optional. */
static int map_tree(int fd, int map_fd, const struct plan_source *source)
{
	unsigned recursive = source->is_recursive ? SYS_AT_RECURSIVE : 0;
	struct sys_mount_attr attr = {
		.attr_set = SYS_MOUNT_ATTR_IDMAP | source->attr_set,
		.propagation = SYS_MS_PRIVATE,
		.userns_fd = (uint64_t)map_fd,
	};

	if (sys_mount_setattr(fd, "", SYS_AT_EMPTY_PATH | recursive, &attr) == 0)
		return 0;
	if (!recursive)
		return -errno;
	attr.attr_set &= ~(uint64_t)SYS_MOUNT_ATTR_IDMAP;
	if (sys_mount_setattr(fd, "", SYS_AT_EMPTY_PATH | recursive, &attr) < 0)
		return -errno;
	attr.attr_set = SYS_MOUNT_ATTR_IDMAP;
	if (sys_mount_setattr(fd, "", SYS_AT_EMPTY_PATH, &attr) < 0)
		return source->is_optional ? 0 : -errno;
	return 0;
}

/* A mount call that nobody may use is more than a missing map: no other plan with these mounts can be carried out. */
static int map_source(struct enter *enter, size_t i, int map_fd, int *ret_fact, struct pinfold_error *err)
{
	const struct plan_source *source = &enter->plan->sources[i];
	struct stat st;
	int r, fd = clone_source(source);

	if (fd < 0 && source->is_optional)
		return 0;
	enter->clones[i] = fd;
	if (fd < 0) {
		r = errno;
		if (mounts_is_closed(r))
			*ret_fact = FACT_MOUNTS;
		return err_sys(err, PINFOLD_UNAVAILABLE, r, clone_step(r), source->path);
	}
	/* What is not compared is not looked at: it may be a mount whose server does not answer (F193). */
	if (source->ino && fstat(fd, &st) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "look at", source->path);
	if (source->ino && (st.st_dev != source->dev || st.st_ino != source->ino)) {
		err_say(err, PINFOLD_REFUSED, ESTALE, "'%s' was replaced while the run was being set up", source->path);
		return -ESTALE;
	}
	r = map_tree(fd, map_fd, source);
	if (r == -ENOSYS)
		*ret_fact = FACT_MOUNTS;
	return r < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, -r, "map the ids of", source->path) : 0;
}

int ids_map_sources(struct enter *enter, int *ret_fact, struct pinfold_error *err)
{
	const struct pinfold_plan *plan = enter->plan;

	for (size_t m = 0; m < plan->idmap_count; m++) {
		FD_CLEANUP int map_fd = make_map(&plan->idmaps[m], plan);
		int r = map_fd < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, -map_fd, "make", "an id map") : 0;
		int fact = map_fd >= 0 || enter_can_clone(CLONE_NEWUSER) ? FACT_IDMAP : FACT_NAMESPACES;

		for (size_t i = 0; r == 0 && i < plan->source_count; i++)
			if (plan->sources[i].idmap == (int)m)
				r = map_source(enter, i, map_fd, &fact, err);
		if (r < 0) {
			*ret_fact = fact;
			return r;
		}
	}
	return 0;
}
