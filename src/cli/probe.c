/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the doctor tries, inside the pen and, for the control, outside. One row each: the guarantee, the attempt, and
 * whether it must succeed. They are harmless wherever they run: what they would change is the scene's own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/doctor.h"

/* What a probe gets: the scene as it was told on the command line, the scene's top in front. */
struct probing {
	const char *top, *pid, *port, *name;
};

/* Each returns 0 for "it was done", or an errno. */
typedef int probe_function(const struct probing *scene);

static int result(long returned)
{
	return returned < 0 ? errno : 0;
}

static int close_result(int fd)
{
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int open_below(const struct probing *scene, const char *below, int flags)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", scene->top, below);
	return close_result(open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
}

/* A name that is made is taken away again, so that the probe can be tried once more. */
static int make_below(const struct probing *scene, const char *below)
{
	char path[PATH_MAX + 64];
	int r;

	snprintf(path, sizeof(path), "%s/%s", scene->top, below);
	r = close_result(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	if (r == 0)
		unlink(path);
	return r;
}

/* ---- writes ---- */

static int write_in_worktree(const struct probing *scene)
{
	return make_below(scene, "work/new");
}

static int write_outside(const struct probing *scene)
{
	return open_below(scene, "outside/file", O_WRONLY);
}

static int make_outside(const struct probing *scene)
{
	return make_below(scene, "outside/new");
}

static int touch_outside(const struct probing *scene)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/outside/file", scene->top);
	return result(chmod(path, 0600));
}

static int use_temp(const struct probing *scene)
{
	const char *temp = getenv("TMPDIR");
	struct probing place = { .top = temp ? temp : "/tmp" };
	char name[64];

	(void)scene;
	snprintf(name, sizeof(name), "pinfold-doctor-%d", getpid());
	return make_below(&place, name);
}

/* ---- secrets ---- */

static int read_secret(const struct probing *scene)
{
	return open_below(scene, "secret", O_RDONLY);
}

static int read_beside(const struct probing *scene)
{
	return open_below(scene, "outside/file", O_RDONLY);
}

/* ---- repository ---- */

static int plant_hook(const struct probing *scene)
{
	return make_below(scene, "work/.git/hooks/post-checkout");
}

static int remove_config(const struct probing *scene)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/work/.git/config", scene->top);
	return result(unlink(path));
}

static int move_git(const struct probing *scene)
{
	char from[PATH_MAX + 64], to[PATH_MAX + 64];
	int r;

	snprintf(from, sizeof(from), "%s/work/.git", scene->top);
	snprintf(to, sizeof(to), "%s/work/moved", scene->top);
	r = result(rename(from, to));
	if (r == 0)
		rename(to, from);
	return r;
}

static int write_ref(const struct probing *scene)
{
	return make_below(scene, "work/.git/refs/heads/new");
}

/* ---- network ---- */

static int connect_port(uint32_t address, unsigned port)
{
	struct sockaddr_in peer = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(address),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return errno;
	r = result(connect(fd, (struct sockaddr *)&peer, sizeof(peer)));
	close(fd);
	return r;
}

static int reach_host(const struct probing *scene)
{
	return connect_port(INADDR_LOOPBACK, (unsigned)strtoul(scene->port, NULL, 10));
}

static int serve_self(const struct probing *scene)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(own);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	(void)scene;
	if (fd < 0)
		return errno;
	r = result(bind(fd, (struct sockaddr *)&own, size)) ? errno : result(listen(fd, 1));
	if (r == 0 && getsockname(fd, (struct sockaddr *)&own, &size) == 0)
		r = connect_port(INADDR_LOOPBACK, ntohs(own.sin_port));
	close(fd);
	return r;
}

/* ---- services ---- */

static int connect_unix(const char *path, bool is_abstract)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = strlen(path);
	int fd, r;

	if (length + 2 > sizeof(address.sun_path))
		return ENAMETOOLONG;
	memcpy(address.sun_path + is_abstract, path, length);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	r = result(connect(fd, (struct sockaddr *)&address,
			   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1)));
	close(fd);
	return r;
}

/* The working directory is the worktree, and the name of a socket short. */
static int reach_service(const struct probing *scene)
{
	(void)scene;
	return connect_unix("../outside/service", false);
}

static int reach_abstract(const struct probing *scene)
{
	return connect_unix(scene->name, true);
}

static int own_sockets(const struct probing *scene)
{
	int pair[2], r = result(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));

	(void)scene;
	if (r == 0) {
		close(pair[0]);
		close(pair[1]);
	}
	return r;
}

/* ---- processes, environment, terminal, privileges, cleanup ---- */

static int signal_doctor(const struct probing *scene)
{
	return result(kill((pid_t)strtol(scene->pid, NULL, 10), 0));
}

static int see_doctor(const struct probing *scene)
{
	char path[64], name[32] = "";
	int fd;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%s/comm", scene->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	length = read(fd, name, sizeof(name) - 1);
	close(fd);
	/* the number may be a process of the pen's own */
	return length > 0 && strncmp(name, "pinfold", 7) == 0 ? 0 : ENOENT;
}

static int see_token(const struct probing *scene)
{
	(void)scene;
	return getenv("PINFOLD_DOCTOR_API_TOKEN") ? 0 : ENOENT;
}

static int see_path(const struct probing *scene)
{
	(void)scene;
	return getenv("PATH") ? 0 : ENOENT;
}

/* Types into the terminal that it makes its own. */
static int type_into(int master)
{
	char name[64];
	int slave;

	if (grantpt(master) < 0 || unlockpt(master) < 0 || ptsname_r(master, name, sizeof(name)) != 0 || setsid() < 0)
		return errno;
	slave = open(name, O_RDWR | O_CLOEXEC);
	return slave < 0 ? errno : result(ioctl(slave, TIOCSTI, "x"));
}

static int in_child(int (*run)(int), int argument)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(run(argument));
	if (child < 0 || waitpid(child, &status, 0) != child)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

static int type_ahead(const struct probing *scene)
{
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), r;

	(void)scene;
	if (master < 0)
		return errno;
	r = in_child(type_into, master);
	close(master);
	return r;
}

static int open_terminal(const struct probing *scene)
{
	(void)scene;
	return close_result(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
}

static int gain_privileges(const struct probing *scene)
{
	(void)scene;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? EPERM : 0;
}

static int have_capabilities(const struct probing *scene)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 }, { 0 } };

	(void)scene;
	if (syscall(SYS_capget, &header, data) < 0)
		return errno;
	return data[0].permitted | data[1].permitted | data[0].inheritable | data[1].inheritable ? 0 : EPERM;
}

static int leave_user_namespace(int flags)
{
	return result(unshare(flags));
}

static int make_namespace(const struct probing *scene)
{
	(void)scene;
	return in_child(leave_user_namespace, CLONE_NEWUSER);
}

/* Stays, with our end of the pipe, until somebody ends it: the doctor sees by the pipe whether somebody did. */
static int leave_behind(const struct probing *scene)
{
	pid_t child = fork();

	(void)scene;
	if (child == 0) {
		setsid();
		if (fork() == 0) {
			alarm(20);
			for (;;)
				pause();
		}
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	return result(child);
}

/* ---- the table ---- */

enum { WANTED_NO, WANTED_YES };

static const struct probe {
	const char *guarantee, *name;
	int wanted;
	probe_function *run;
	bool has_control; /* it must succeed outside, for its failure inside to say anything */
} probes[] = {
	{ "writes", "write-in-worktree", WANTED_YES, write_in_worktree, true },
	{ "writes", "use-temp", WANTED_YES, use_temp, true },
	{ "writes", "write-outside", WANTED_NO, write_outside, true },
	{ "writes", "make-outside", WANTED_NO, make_outside, true },
	{ "writes", "chmod-outside", WANTED_NO, touch_outside, true },
	{ "secrets", "read-beside", WANTED_YES, read_beside, true },
	{ "secrets", "read-secret", WANTED_NO, read_secret, true },
	{ "repository", "write-ref", WANTED_YES, write_ref, true },
	{ "repository", "plant-hook", WANTED_NO, plant_hook, true },
	{ "repository", "remove-config", WANTED_NO, remove_config, false },
	{ "repository", "move-git", WANTED_NO, move_git, true },
	{ "network", "own-loopback", WANTED_YES, serve_self, true },
	{ "network", "reach-host", WANTED_NO, reach_host, true },
	{ "services", "own-sockets", WANTED_YES, own_sockets, true },
	{ "services", "reach-service", WANTED_NO, reach_service, true },
	{ "services", "reach-abstract", WANTED_NO, reach_abstract, true },
	{ "processes", "signal-outside", WANTED_NO, signal_doctor, true },
	{ "processes", "see-outside", WANTED_NO, see_doctor, false },
	{ "environment", "see-path", WANTED_YES, see_path, false },
	{ "environment", "see-token", WANTED_NO, see_token, true },
	{ "terminal", "open-terminal", WANTED_YES, open_terminal, true },
	{ "terminal", "type-ahead", WANTED_NO, type_ahead, false },
	{ "privileges", "new-privileges", WANTED_NO, gain_privileges, false },
	{ "privileges", "capabilities", WANTED_NO, have_capabilities, false },
	{ "privileges", "make-namespace", WANTED_NO, make_namespace, false },
	{ "cleanup", "leave-behind", WANTED_YES, leave_behind, false },
};

/* words: the scene's top, the doctor's pid, the port, the abstract name. */
int probe_scene(char **words)
{
	struct probing scene;

	for (int i = 0; i < 4; i++)
		if (!words[i])
			return EXIT_REFUSED;
	scene = (struct probing){ words[0], words[1], words[2], words[3] };
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		printf("%s %s %s %d\n", probes[i].guarantee, probes[i].name, probes[i].wanted ? "yes" : "no",
		       probes[i].run(&scene));
		fflush(stdout); /* before any of them forks */
	}
	return print_end();
}

int probe_controls(const struct scene *scene, struct pinfold_error *err)
{
	const struct probing outside = { scene->top, scene->pid, scene->port_text, scene->name };

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		int r = probes[i].has_control ? probes[i].run(&outside) : 0;

		if (r == 0)
			continue;
		*err = (struct pinfold_error){ .code = PINFOLD_UNAVAILABLE, .errnum = r };
		snprintf(err->operation, sizeof(err->operation), "try outside of the pen what is tried inside:");
		snprintf(err->object, sizeof(err->object), "%s", probes[i].name);
		return -r;
	}
	return 0;
}
