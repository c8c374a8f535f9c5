/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt NAME [ARG...]: tries one thing, prints OK or the errno's name, and ends with 0 when it succeeded, 1 when it
 * was refused, 2 when it was not understood. Static and without any dependency, since it has to start in a pen that has
 * no libraries left.
 *
 * attempt each NAME [ARG...] [-- NAME [ARG...]]...: one after the other, a line for each, and 0 when all were
 * understood.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attempt.h"

#define NAME_OF(number) { number, #number }

/* strerrorname_np is glibc's alone. */
static const struct {
	int number;
	const char *name;
} errno_names[] = {
	NAME_OF(E2BIG), NAME_OF(EACCES), NAME_OF(EADDRINUSE), NAME_OF(EADDRNOTAVAIL), NAME_OF(EAFNOSUPPORT),
	NAME_OF(EAGAIN), NAME_OF(EBADF), NAME_OF(EBUSY), NAME_OF(ECONNREFUSED), NAME_OF(EDQUOT), NAME_OF(EEXIST),
	NAME_OF(EFAULT), NAME_OF(EFBIG), NAME_OF(EHOSTUNREACH), NAME_OF(EINVAL), NAME_OF(EIO), NAME_OF(EISDIR),
	NAME_OF(ELOOP), NAME_OF(EMFILE), NAME_OF(ENAMETOOLONG), NAME_OF(ENETUNREACH), NAME_OF(ENODEV), NAME_OF(ENOENT),
	NAME_OF(ENOKEY), NAME_OF(ENOMEM), NAME_OF(ENOSPC), NAME_OF(ENOSYS), NAME_OF(ENOTCONN), NAME_OF(ENOTDIR),
	NAME_OF(ENOTEMPTY), NAME_OF(ENOTSOCK), NAME_OF(ENOTTY), NAME_OF(ENXIO), NAME_OF(EOPNOTSUPP), NAME_OF(EPERM),
	NAME_OF(EPIPE), NAME_OF(EPROTONOSUPPORT), NAME_OF(EROFS), NAME_OF(ESOCKTNOSUPPORT), NAME_OF(ESRCH),
	NAME_OF(ETIMEDOUT), NAME_OF(ETXTBSY), NAME_OF(EUSERS), NAME_OF(EXDEV),
};

static const struct attempt *const tables[] = {
	file_attempts, descriptor_attempts, process_attempts, socket_attempts, kernel_attempts,
};

int attempt_result(long returned)
{
	return returned < 0 ? -errno : 0;
}

int attempt_closed(int fd)
{
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

long attempt_number(const char *word)
{
	char *end;
	long number = strtol(word, &end, 0);

	if (*word && !*end)
		return number;
	fprintf(stderr, "attempt: not a number: %s\n", word);
	exit(2);
}

static const struct attempt *find(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct attempt *row = tables[i]; row->name; row++)
			if (!strcmp(row->name, name))
				return row;
	return NULL;
}

static int usage(void)
{
	fputs("usage: attempt NAME [ARG...], where NAME is followed by as many words as stand behind it:\n", stderr);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct attempt *row = tables[i]; row->name; row++)
			fprintf(stderr, "  %s %d\n", row->name, row->args);
	return 2;
}

static int report(int result)
{
	if (!result) {
		puts("OK");
		return 0;
	}
	for (size_t i = 0; i < sizeof(errno_names) / sizeof(*errno_names); i++) {
		if (errno_names[i].number == -result) {
			puts(errno_names[i].name);
			return 1;
		}
	}
	printf("E%d\n", -result);
	return 1;
}

static int attempt(int count, char **words)
{
	const struct attempt *row = count > 0 ? find(words[0]) : NULL;

	if (!row || (row->args == ANY_ARGS ? count < 2 : count != row->args + 1))
		return usage();
	return report(row->run(words + 1));
}

static int attempt_each(int count, char **words)
{
	while (count >= 0) {
		int n = 0;

		while (n < count && strcmp(words[n], "--") != 0)
			n++;
		if (attempt(n, words) == 2)
			return 2;
		count -= n + 1;
		words += n + 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "each") == 0)
		return attempt_each(argc - 2, argv + 2);
	return attempt(argc - 1, argv + 1);
}
