/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process of a booted kernel, in an initial file system that has nothing but busybox, the program and the
 * tests' core: mounts what a system has, loads the module of overlayfs, carries the core out as root and as a plain
 * user, and switches the machine off. What it says goes to the serial console, to be read by tests/kernels/run. A step
 * that fails is said, and what follows shows what it was needed for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USER = 1000 };

static void must(int result, const char *what)
{
	if (result < 0)
		printf("init: %s: %s\n", what, strerror(errno));
}

static void mount_all(void)
{
	static const struct {
		const char *type, *place, *options;
	} mounts[] = {
		{"proc", "/proc", NULL},
		{"sysfs", "/sys", NULL},
		{"devtmpfs", "/dev", NULL},
		{"devpts", "/dev/pts", "ptmxmode=0666,mode=620"},
		{"tmpfs", "/dev/shm", "mode=1777"},
		{"tmpfs", "/tmp", "mode=1777"},
		{"tmpfs", "/run", "mode=0755"},
		{"tmpfs", "/root", "mode=0700"},
		{"tmpfs", "/home", "mode=0755"},
		{"cgroup2", "/sys/fs/cgroup", NULL},
		{"securityfs", "/sys/kernel/security", NULL},
	};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].place, 0755);
		must(mount(mounts[i].type, mounts[i].place, mounts[i].type, 0, mounts[i].options), mounts[i].place);
	}
	must(mkdir("/home/user", 0700), "/home/user");
	must(chown("/home/user", USER, USER), "/home/user");
}

static void load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		must((int)syscall(SYS_finit_module, fd, "", 0), path);
}

/* The loopback is down at first. */
static void raise_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	must(fd < 0 ? fd : ioctl(fd, SIOCSIFFLAGS, &request), "lo");
	close(fd);
}

static void try_core(const char *as, unsigned id, const char *home)
{
	char folder[64];
	pid_t pid;
	int status;

	snprintf(folder, sizeof(folder), "%s/core", home);
	printf("\nas %s\n", as); /* the firmware has not ended its line */
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		char *const argv[] = {"sh", "/tests/core/try", folder, NULL};

		if (setgroups(0, NULL) < 0 || setgid(id) < 0 || setuid(id) < 0 || setenv("HOME", home, 1) < 0 ||
		    setenv("USER", as, 1) < 0 || chdir(home) < 0)
			_exit(126);
		setsid();
		execv("/bin/sh", argv);
		_exit(127);
	}
	/* whatever is left of it as well: nobody else takes it away */
	while (pid > 0 && waitpid(-1, &status, 0) != pid)
		;
	printf("end %s %d\n", as, pid > 0 ? status : -1);
	fflush(stdout);
}

int main(void)
{
	setenv("PATH", "/bin", 1);
	setenv("PINFOLD", "/bin/pinfold", 1);
	setenv("ATTEMPT", "/tests/attempt", 1);
	setenv("CASES", "/tests/core/cases.tsv", 1);
	umask(022);
	mount_all();
	load_module("/overlay.ko");
	raise_loopback();
	try_core("root", 0, "/root");
	try_core("user", USER, "/home/user");
	reboot(RB_POWER_OFF);
	return 0;
}
