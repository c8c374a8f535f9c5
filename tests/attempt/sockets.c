/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts on sockets: services of the host, the network, and the families that are kernel surface only. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "attempt.h"

enum {
	NETLINK_ROUTE = 0,
	NETLINK_GENERIC = 16,
	PROTOCOL_MPTCP = 262,
	FAMILY_SMC = 43, /* newer than some C libraries */
};

static int only_socket(int family, int type, int protocol)
{
	return attempt_closed(socket(family, type | SOCK_CLOEXEC, protocol));
}

/* By path, or where `prefix` is 1 by abstract name, which begins with a zero byte and ends with its length. */
static socklen_t unix_address(struct sockaddr_un *address, const char *name, size_t prefix)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	snprintf(address->sun_path + prefix, sizeof(address->sun_path) - prefix, "%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + prefix + strlen(name) + !prefix);
}

static int unix_connect(const char *name, int type, size_t prefix)
{
	struct sockaddr_un address;
	socklen_t length = unix_address(&address, name, prefix);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	int result;

	if (fd < 0)
		return -errno;
	result = attempt_result(connect(fd, (struct sockaddr *)&address, length));
	close(fd);
	return result;
}

static int connect_unix(char **args)
{
	return unix_connect(args[0], SOCK_STREAM, 0);
}

static int connect_abstract(char **args)
{
	return unix_connect(args[0], SOCK_STREAM, 1);
}

/* A datagram needs no connect, and so passes what only looks at that. */
static int send_unix(const char *name, size_t prefix)
{
	struct sockaddr_un address;
	socklen_t length = unix_address(&address, name, prefix);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int result;

	if (fd < 0)
		return -errno;
	result = attempt_result(sendto(fd, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&address, length));
	close(fd);
	return result;
}

static int sendto_unix(char **args)
{
	return send_unix(args[0], 0);
}

static int sendto_abstract(char **args)
{
	return send_unix(args[0], 1);
}

/* An end of a pair is a socket like any other: it sends to a name without ever having been made by socket() (E092). */
static int pair_of_type(int type, char **args)
{
	struct sockaddr_un address;
	socklen_t length = unix_address(&address, args[0], 0);
	int ends[2], result;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	result = attempt_result(sendto(ends[0], "x", 1, MSG_DONTWAIT, (struct sockaddr *)&address, length));
	close(ends[0]);
	close(ends[1]);
	return result;
}

static int pair_sendto_unix(char **args)
{
	return pair_of_type(SOCK_DGRAM, args);
}

/* For the kernel a raw unix socket is one of datagrams. */
static int raw_pair_sendto_unix(char **args)
{
	return pair_of_type(SOCK_RAW, args);
}

/* The length of the address, or 0 for one that is none. */
static socklen_t inet_address(struct sockaddr_storage *address, const char *host, const char *port)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)attempt_number(port));
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)attempt_number(port));
		return sizeof(*v6);
	}
	return 0;
}

static int inet_connect(char **args, int type, int protocol)
{
	struct sockaddr_storage address;
	socklen_t length = inet_address(&address, args[0], args[1]);
	int fd, result;

	if (!length)
		return -EINVAL;
	fd = socket(address.ss_family, type | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		return -errno;
	result = attempt_result(connect(fd, (struct sockaddr *)&address, length));
	close(fd);
	return result;
}

static int connect_tcp(char **args)
{
	return inet_connect(args, SOCK_STREAM, 0);
}

static int connect_sctp(char **args)
{
	return inet_connect(args, SOCK_STREAM, IPPROTO_SCTP);
}

static int connect_mptcp(char **args)
{
	return inet_connect(args, SOCK_STREAM, PROTOCOL_MPTCP);
}

/* Connects by sending, so that what only looks at connect() sees nothing (E083). */
static int fast_open(char **args)
{
	struct sockaddr_storage address;
	socklen_t length = inet_address(&address, args[0], args[1]);
	int fd, result;

	if (!length)
		return -EINVAL;
	fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	result = attempt_result(sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&address, length));
	close(fd);
	return result;
}

/* A port of its own choice on this address. */
static int bind_tcp(char **args)
{
	struct sockaddr_storage address;
	socklen_t length = inet_address(&address, args[0], "0");
	int fd, result;

	if (!length)
		return -EINVAL;
	fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	result = attempt_result(bind(fd, (struct sockaddr *)&address, length));
	if (!result)
		result = attempt_result(listen(fd, 1));
	close(fd);
	return result;
}

/* Datagrams are sent without a handshake: it is the sending that has to fail. */
static int udp_send(char **args)
{
	struct sockaddr_storage address;
	socklen_t length = inet_address(&address, args[0], args[1]);
	int fd, result;

	if (!length)
		return -EINVAL;
	fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	result = attempt_result(sendto(fd, "x", 1, 0, (struct sockaddr *)&address, length));
	close(fd);
	return result;
}

static int vsock(char **args)
{
	(void)args;
	return only_socket(AF_VSOCK, SOCK_STREAM, 0);
}

static int netlink_route(char **args)
{
	(void)args;
	return only_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
}

static int netlink_generic(char **args)
{
	(void)args;
	return only_socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
}

static int raw_socket(char **args)
{
	(void)args;
	return only_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static int packet_socket(char **args)
{
	(void)args;
	return only_socket(AF_PACKET, SOCK_RAW, 0);
}

static int sctp_socket(char **args)
{
	(void)args;
	return only_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
}

static int smc_socket(char **args)
{
	(void)args;
	return only_socket(FAMILY_SMC, SOCK_STREAM, 0);
}

static int alg_socket(char **args)
{
	(void)args;
	return only_socket(AF_ALG, SOCK_SEQPACKET, 0);
}

static int listening(int family, const struct sockaddr *address, socklen_t length)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && bind(fd, address, length) == 0 && listen(fd, 64) == 0 ? fd : -1;
}

/* serve PATH NAME: the services of a host, for where there is no other program: at this path, at this abstract name,
 * and at a port of the loopback, which is said. Nobody needs to accept for a connection to succeed. */
static int serve(char **args)
{
	struct sockaddr_un path, name;
	struct sockaddr_in port = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t path_length = unix_address(&path, args[0], 0), name_length = unix_address(&name, args[1], 1);
	socklen_t port_length = sizeof(port);
	int fd = listening(AF_INET, (struct sockaddr *)&port, port_length);

	if (fd < 0 || listening(AF_UNIX, (struct sockaddr *)&path, path_length) < 0 ||
	    listening(AF_UNIX, (struct sockaddr *)&name, name_length) < 0 ||
	    getsockname(fd, (struct sockaddr *)&port, &port_length) < 0)
		return -errno;
	printf("%u\n", ntohs(port.sin_port));
	fflush(stdout);
	return attempt_result(pause());
}

const struct attempt socket_attempts[] = {
	{ "connect-unix", 1, connect_unix },
	{ "connect-abstract", 1, connect_abstract },
	{ "sendto-unix", 1, sendto_unix },
	{ "sendto-abstract", 1, sendto_abstract },
	{ "pair-sendto-unix", 1, pair_sendto_unix },
	{ "raw-pair-sendto-unix", 1, raw_pair_sendto_unix },
	{ "connect-tcp", 2, connect_tcp }, /* ADDRESS PORT */
	{ "fastopen", 2, fast_open },
	{ "connect-mptcp", 2, connect_mptcp },
	{ "connect-sctp", 2, connect_sctp },
	{ "bind-tcp", 1, bind_tcp },
	{ "udp-send", 2, udp_send },
	{ "vsock", 0, vsock },
	{ "netlink-route", 0, netlink_route },
	{ "netlink-generic", 0, netlink_generic },
	{ "raw-socket", 0, raw_socket },
	{ "packet-socket", 0, packet_socket },
	{ "alg-socket", 0, alg_socket },
	{ "sctp-socket", 0, sctp_socket },
	{ "smc-socket", 0, smc_socket },
	{ "serve", 2, serve },
	{ NULL, 0, NULL },
};
