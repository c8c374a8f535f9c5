/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pen's own network. A new network namespace has its loopback down; bringing it up gives 127.0.0.1 and ::1.
 *
 * What the relays need of it can only be made or opened in here, as long as nothing is hardened: the sockets that
 * listen for the one, the namespace for the other to join. The set-up waits for their answer, so that a command finds
 * its ports from its first moment on, and does not run where they cannot be.
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "linux/enter.h"
#include "linux/sys.h"

int net_loopback_up(struct pinfold_error *err)
{
	FD_CLEANUP int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo"};

	if (fd < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "bring up", "the loopback interface");
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "bring up", "the loopback interface");
	return 0;
}

int net_listen(sa_family_t family, uint16_t port)
{
	const struct sockaddr_in v4 = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = {htonl(INADDR_LOOPBACK)},
	};
	const struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	FD_CLEANUP int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const int on = 1;
	int taken;

	if (fd < 0)
		return -errno;
	/* Connections of an earlier run that are still being closed are no reason to refuse this one. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (bind(fd, family == AF_INET ? (const void *)&v4 : (const void *)&v6,
		 family == AF_INET ? sizeof(v4) : sizeof(v6)) < 0 ||
	    listen(fd, SOMAXCONN) < 0)
		return -errno;
	taken = fd;
	fd = -1;
	return taken;
}

/* What the relay that reaches out listens at: each port at 127.0.0.1, and at ::1 where there is IPv6. */
static int open_listeners(const struct plan_ports *reach, int *fds, size_t *ret_n, struct pinfold_error *err)
{
	static const sa_family_t families[] = {AF_INET, AF_INET6};

	for (size_t i = 0; i < reach->n * 2; i++) {
		int fd = net_listen(families[i % 2], reach->v[i / 2].inside);

		if (fd >= 0)
			fds[(*ret_n)++] = fd;
		else if (families[i % 2] == AF_INET || (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL))
			return err_sys(err, PINFOLD_UNAVAILABLE, -fd, "listen in the pen for port",
				       reach->words.v[i / 2]);
	}
	return 0;
}

/* What the relay that publishes joins; the user namespace is found by it. */
static int open_namespace(int *fds, size_t *ret_n, struct pinfold_error *err)
{
	static const char path[] = "/proc/self/ns/net";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "open", path);
	fds[(*ret_n)++] = fd;
	return 0;
}

/* Hands the relay what it waits for, and hears whether it is ready; if not, why. */
static int serve_relay(int socket, const int *fds, size_t n, struct pinfold_error *err)
{
	struct pinfold_error answer;
	ssize_t length;
	int r = fd_send(socket, fds, n);

	if (r < 0 && r != -EPIPE) /* one that has failed already has said why */
		return err_sys(err, PINFOLD_UNAVAILABLE, -r, "speak to", "the relay of ports");
	length = fd_read_all(socket, &answer, sizeof(answer));
	if (length != (ssize_t)sizeof(answer))
		return err_sys(err, PINFOLD_UNAVAILABLE, length < 0 ? (int)-length : EPIPE, "hear from",
			       "the relay of ports");
	if (answer.code == PINFOLD_OK)
		return 0;
	*err = answer;
	return answer.errnum ? -answer.errnum : -EIO;
}

int net_serve_relays(struct enter *enter, struct pinfold_error *err)
{
	int r = 0;

	for (int side = 0; r == 0 && side < RELAY_COUNT; side++) {
		int fds[2 * LIMIT_PORTS];
		size_t n = 0;

		if (enter->relay_fd[side] < 0)
			continue;
		r = side == RELAY_REACH ? open_listeners(&enter->plan->reach, fds, &n, err)
					: open_namespace(fds, &n, err);
		if (r == 0)
			r = serve_relay(enter->relay_fd[side], fds, n, err);
		for (size_t i = 0; i < n; i++)
			fd_close(&fds[i]);
		fd_close(&enter->relay_fd[side]);
	}
	return r;
}
