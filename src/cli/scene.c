/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The doctor's scene. It lies in the home, where real projects lie, so that it is reached and covered as they are:
 *
 *   TOP/work      the worktree: a git repository, made by hand
 *   TOP/outside   a file and a service's socket beside it
 *   TOP/secret    a file that the doctor's policy hides
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/doctor.h"

enum { LEAST_PID = 300, WAITS = 300 /* seconds */ };

static int fail(const char *what, const char *path, struct pinfold_error *err)
{
	int r = -errno;

	*err = (struct pinfold_error){ .code = PINFOLD_UNAVAILABLE, .errnum = -r };
	snprintf(err->operation, sizeof(err->operation), "%s", what);
	snprintf(err->object, sizeof(err->object), "%s", path);
	return r;
}

static int make_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ssize_t length = (ssize_t)strlen(text);
	bool is_written = fd >= 0 && write(fd, text, (size_t)length) == length;

	if (fd >= 0)
		close(fd);
	return is_written ? 0 : -1;
}

static int make_tree(const struct scene *scene, struct pinfold_error *err)
{
	static const struct {
		const char *name, *text; /* NULL: a directory */
	} things[] = {
		{ "work", NULL },
		{ "work/.git", NULL },
		{ "work/.git/objects", NULL },
		{ "work/.git/refs", NULL },
		{ "work/.git/refs/heads", NULL },
		{ "work/.git/hooks", NULL },
		{ "work/.git/HEAD", "ref: refs/heads/main\n" },
		{ "work/.git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n" },
		{ "work/kept", "as it was\n" },
		{ "outside", NULL },
		{ "outside/file", "as it was\n" },
		{ "secret", "as it was\n" },
	};
	char path[PATH_MAX + 64];

	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", scene->top, things[i].name);
		if ((things[i].text ? make_file(path, things[i].text) : mkdir(path, 0700)) < 0)
			return fail("make", path, err);
	}
	return 0;
}

static int listen_unix(const char *path, size_t length, bool is_abstract)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || length + 1 >= sizeof(address.sun_path))
		return fd;
	memcpy(address.sun_path + is_abstract, path, length);
	if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 4) == 0)
		return fd;
	close(fd);
	return -1;
}

static int listen_port(struct scene *scene)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 4) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
		snprintf(scene->port_text, sizeof(scene->port_text), "%u", ntohs(address.sin_port));
		return fd;
	}
	close(fd);
	return -1;
}

/* The path of a socket is short: from the scene's own directory. */
static int make_sockets(struct scene *scene, struct pinfold_error *err)
{
	snprintf(scene->name, sizeof(scene->name), "pinfold-doctor-%s", strrchr(scene->top, '.') + 1);
	scene->port = listen_port(scene);
	scene->hidden_name = listen_unix(scene->name, strlen(scene->name), true);
	if (chdir(scene->top) < 0)
		return fail("change to", scene->top, err);
	scene->service = listen_unix("outside/service", strlen("outside/service"), false);
	if (scene->port < 0 || scene->hidden_name < 0 || scene->service < 0)
		return fail("listen in", scene->top, err);
	return 0;
}

/* A process that only waits. In a container its number could be small, and one of the pen's own have the same: so a
 * larger one is looked for. It is killed at the end, or ends with us. */
static int start_victim(struct scene *scene, struct pinfold_error *err)
{
	for (int tries = 0; tries < 1000; tries++) {
		scene->victim = fork();
		if (scene->victim == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (int i = 0; i < WAITS; i++)
				sleep(1);
			_exit(0);
		}
		if (scene->victim < 0)
			return fail("start", "a process", err);
		if (scene->victim > LEAST_PID)
			break;
		kill(scene->victim, SIGKILL);
		waitpid(scene->victim, NULL, 0);
	}
	snprintf(scene->pid, sizeof(scene->pid), "%d", scene->victim);
	return 0;
}

int scene_make(struct scene *scene, struct pinfold_error *err)
{
	const char *home = getenv("HOME");
	int r;

	*scene = (struct scene){ .service = -1, .port = -1, .hidden_name = -1 };
	r = start_victim(scene, err);
	if (r < 0)
		return r;
	if (!home || home[0] != '/' || access(home, W_OK | X_OK) < 0)
		home = "/var/tmp";
	snprintf(scene->top, sizeof(scene->top), "%s/.pinfold-doctor.XXXXXX", home);
	if (!mkdtemp(scene->top)) {
		r = fail("make a directory in", home, err);
		scene->top[0] = '\0';
		return r;
	}
	r = make_tree(scene, err);
	return r == 0 ? make_sockets(scene, err) : r;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)walk;
	if (kind == FTW_DP)
		rmdir(path);
	else
		unlink(path);
	return 0;
}

void scene_remove(struct scene *scene)
{
	int sockets[] = { scene->service, scene->port, scene->hidden_name };

	if (scene->victim > 0) {
		kill(scene->victim, SIGKILL);
		waitpid(scene->victim, NULL, 0);
	}
	scene->victim = 0;

	for (size_t i = 0; i < 3; i++)
		if (sockets[i] >= 0)
			close(sockets[i]);
	if (scene->top[0])
		nftw(scene->top, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	scene->top[0] = '\0';
}
