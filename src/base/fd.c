/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void fd_close(int *fd)
{
	int saved = errno;

	/* Never retried on EINTR: Linux has let go of the number by then, and it may already be another's. */
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

void file_close(FILE **file)
{
	int saved = errno;

	if (*file)
		fclose(*file);
	*file = NULL;
	errno = saved;
}

int fd_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

ssize_t fd_read_all(int fd, void *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = read(fd, (char *)data + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int fd_open_regular(int dirfd, const char *path)
{
	/* O_NOCTTY: a terminal put in a file's place must not become ours in the moment before it is looked at. */
	FD_CLEANUP int fd = openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int taken;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	taken = fd;
	fd = -1;
	return taken;
}

int fd_move_above(int fd, int least)
{
	int moved;

	if (fd >= least)
		return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, least);
	if (moved < 0)
		return -errno;
	fd_close(&fd);
	return moved;
}

/* ---- from process to process ---- */

int fd_send(int socket, const int *fds, size_t n)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FD_SEND_MAX * sizeof(int))] = { 0 };
	char byte = 0;
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control };
	struct cmsghdr *header;

	if (n == 0 || n > FD_SEND_MAX)
		return -EINVAL;
	message.msg_controllen = CMSG_SPACE(n * sizeof(int));
	header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(header), fds, n * sizeof(int));
	return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int fd_receive(int socket, int *fds, size_t max, int flags)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FD_SEND_MAX * sizeof(int))];
	int came[FD_SEND_MAX];
	char byte;
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	ssize_t length;
	size_t n;

	do
		length = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	while (length < 0 && errno == EINTR);
	if (length <= 0)
		return length < 0 ? -errno : 0;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return -EPROTO;
	n = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(came, CMSG_DATA(header), n * sizeof(int));
	/* MSG_CTRUNC: our table of descriptors had no room for all of them. */
	if (n <= max && !(message.msg_flags & MSG_CTRUNC)) {
		memcpy(fds, came, n * sizeof(int));
		return (int)n;
	}
	for (size_t i = 0; i < n; i++)
		close(came[i]);
	return -EMFILE;
}
