/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: close-on-exec from birth, closed by scope. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

void fd_close(int *fd); /* closes *fd if >= 0, keeps errno, sets it to -1 */
void file_close(FILE **file);
#define FD_CLEANUP __attribute__((cleanup(fd_close)))
#define FILE_CLEANUP __attribute__((cleanup(file_close)))

/* Writes all of it, retrying on EINTR and short writes; 0 or -errno. Async-signal-safe. */
int fd_write_all(int fd, const void *data, size_t len);
/* Reads until len bytes or the end; the count, or -errno. Async-signal-safe. */
ssize_t fd_read_all(int fd, void *data, size_t len);
/* A file-backed read that never blocks on a FIFO and never follows a final link: O_RDONLY|O_NOFOLLOW|O_NONBLOCK|
 * O_CLOEXEC, then checks that it is a regular file (-EINVAL otherwise). The descriptor or -errno. */
int fd_open_regular(int dirfd, const char *path);
/* Moves fd to a number of at least `least`, close-on-exec; the old one is closed. The new number or -errno. */
int fd_move_above(int fd, int least);

enum { FD_SEND_MAX = 253 }; /* SCM_MAX_FD: what the kernel takes in one message */

/* Hands n descriptors (1 to FD_SEND_MAX) over in one message of a unix socket, which keeps messages whole
 * (SOCK_SEQPACKET). 0 or -errno, never SIGPIPE. Async-signal-safe. */
int fd_send(int socket, const int *fds, size_t n);
/* Takes such a message, in which max descriptors are expected at most; they are close-on-exec. How many came, 0 at the
 * end of file, or -errno: then none is left open. flags: those of recvmsg. Async-signal-safe. */
int fd_receive(int socket, int *fds, size_t max, int flags);

#endif
