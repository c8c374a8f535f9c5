/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closing every descriptor of a range, also where close_range (Linux 5.9) is refused: older container engines answer
 * EPERM to each call that is newer than their list. The fallback walks through /proc/self/fd, which has them all,
 * whatever the limit was when they were opened; where there is no /proc either, it fails, and with it the run.
 */
#include <stdint.h>

#include "base/fd.h"
#include "linux/sys.h"

struct entry { /* what getdents64 gives: struct linux_dirent64 */
	uint64_t ino;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

static const struct entry *entry_at(const char *buffer, long at)
{
	return (const void *)(buffer + at);
}

/* The number that a name is; ~0U for "." and "..". */
static unsigned number_of(const char *name)
{
	unsigned number = 0;

	for (; *name; name++) {
		if (*name < '0' || *name > '9')
			return ~0U;
		number = number * 10 + (unsigned)(*name - '0');
	}
	return number;
}

static int close_one(int fd, unsigned flags)
{
	if (flags & SYS_CLOSE_RANGE_CLOEXEC)
		return fcntl(fd, F_SETFD, FD_CLOEXEC);
	close(fd); /* which has closed it whatever it says */
	return 0;
}

/* The directory itself is closed last: it may be in the range. Entries that are gone do not disturb the walk, whose
 * position is a descriptor's number. */
static int close_listed(unsigned first, unsigned last, unsigned flags)
{
	FD_CLEANUP int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct entry) char buffer[2048];
	long length;

	if (directory < 0)
		return -1;
	while ((length = syscall(SYS_getdents64, directory, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < length; at += entry_at(buffer, at)->length) {
			unsigned fd = number_of(entry_at(buffer, at)->name);

			if (fd == ~0U || fd < first || fd > last || fd == (unsigned)directory)
				continue;
			if (close_one((int)fd, flags) < 0)
				return -1;
		}
	return length < 0 ? -1 : 0;
}

int sys_close_range(unsigned first, unsigned last, unsigned flags)
{
	if (syscall(NR_CLOSE_RANGE, first, last, flags) == 0)
		return 0;
	return close_listed(first, last, flags);
}
