/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run's own temporary directory, where nothing can be mounted over /tmp. It is made by the reaper and removed by it
 * when nothing of the run lives any more, so that no end of a run leaves it behind but the reaper's own.
 *
 * What the command has made in it may be as deep as it likes, and closed. So it is taken down without recursion: of a
 * directory that is not empty the entries are moved up to the top, and it is tried again. Everything is done by
 * descriptor, and no link is followed.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fd.h"
#include "linux/enter.h"
#include "linux/sys.h"

enum { LETTERS = 6, TRIES = 100 };

static int random_letters(char *ret)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567"; /* 32 of them */
	unsigned char bytes[LETTERS];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -errno;
	for (int i = 0; i < LETTERS; i++)
		ret[i] = alphabet[bytes[i] % 32];
	return 0;
}

/* The environment names the directory by the same text. The plan is the parent's; this is our copy of its memory. */
static void rename_in_environment(struct pinfold_plan *plan, const char *from, size_t length)
{
	for (size_t i = 0; i < plan->environment.n; i++) {
		char *at = strchr(plan->environment.v[i], '=');

		if (at && strncmp(at + 1, from, length) == 0)
			memcpy(at + 1, plan->temp, length);
	}
}

int temporary_make(struct pinfold_plan *plan, struct pinfold_error *err)
{
	const size_t length = strlen(plan->temp);
	char from[64];
	int r = 0;

	snprintf(from, sizeof(from), "%s", plan->temp);
	for (int i = 0; i < TRIES; i++) {
		r = random_letters(plan->temp + length - LETTERS);
		if (r == 0 && mkdir(plan->temp, 0700) < 0)
			r = -errno;
		if (r != -EEXIST)
			break;
	}
	if (r < 0) {
		memcpy(plan->temp, from, length);
		r = err_sys(err, PINFOLD_UNAVAILABLE, -r, "make the temporary directory", plan->temp);
		err_hint(err, "--tmp DIR names a directory for it");
		return r;
	}
	rename_in_environment(plan, from, length);
	return 0;
}

/* ---- removing ---- */

struct record { /* of getdents64(2) */
	uint64_t ino;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

typedef bool each_entry(int top, int dir, const char *name, unsigned *number);

/* Calls each for all entries; true where one of the calls has changed something. */
static bool for_each(int top, int dir, each_entry *each, unsigned *number)
{
	_Alignas(struct record) char records[8192];
	bool has_changed = false;
	long n;

	if (lseek(dir, 0, SEEK_SET) < 0)
		return false;
	while ((n = syscall(SYS_getdents64, dir, records, sizeof(records))) > 0)
		for (long at = 0; at < n;) {
			const struct record *record = (const void *)(records + at);

			if (strcmp(record->name, ".") != 0 && strcmp(record->name, "..") != 0)
				has_changed |= each(top, dir, record->name, number);
			at += record->length;
		}
	return has_changed;
}

static bool is_removed(int dir, const char *name)
{
	return unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0;
}

/* Opened up first: who may not write a directory cannot move it either. */
static int open_directory(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == EACCES && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	    fchmodat(dir, name, 0700, 0) == 0)
		fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		fchmod(fd, 0700);
	return fd;
}

static bool move_up(int top, int dir, const char *name, unsigned *number)
{
	char moved[32];
	int fd;

	if (is_removed(dir, name))
		return true;
	fd = open_directory(dir, name);
	fd_close(&fd);
	do
		snprintf(moved, sizeof(moved), "pinfold.%u", (*number)++);
	while (faccessat(top, moved, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	return renameat(dir, name, top, moved) == 0;
}

static bool take_down(int top, int dir, const char *name, unsigned *number)
{
	FD_CLEANUP int fd = -1;
	bool has_changed;

	if (is_removed(dir, name))
		return true;
	fd = open_directory(dir, name);
	if (fd < 0)
		return false;
	has_changed = for_each(top, fd, move_up, number);
	return is_removed(dir, name) || has_changed;
}

void temporary_remove(const struct pinfold_plan *plan)
{
	FD_CLEANUP int top = open(plan->temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	unsigned number = 0;

	if (top < 0 && errno == EACCES && chmod(plan->temp, 0700) == 0)
		top = open(plan->temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (top >= 0) {
		fchmod(top, 0700);
		while (for_each(top, top, take_down, &number))
			;
	}
	rmdir(plan->temp);
}
