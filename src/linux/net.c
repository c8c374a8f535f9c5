/* SPDX-License-Identifier: Apache-2.0 */
/* The pen's own loopback: a new network namespace has it down. Bringing it up gives 127.0.0.1 and ::1. */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/enter.h"

int net_loopback_up(struct pinfold_error *err)
{
	FD_CLEANUP int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_name = "lo" };

	if (fd < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "bring up", "the loopback interface");
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, errno, "bring up", "the loopback interface");
	return 0;
}
