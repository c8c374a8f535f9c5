/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times the start of commands against each other: spawns each of them once in every round, in random order, so that
 * what else happens on the machine hits all alike, and prints medians and quartiles in microseconds, the median of the
 * CPU time, and the memory in KiB of the largest process that a command had. Ratios of one run are worth reading,
 * absolute times are not.
 *
 * usage: spawn ROUNDS NAME COMMAND [ARG...] [-- NAME COMMAND [ARG...]]...
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { CONTENDERS = 16 };

struct contender {
	const char *name;
	char **argv;
	double *wall, *cpu;
	long peak;
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double cpu_of(const struct rusage *usage)
{
	return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static void run_once(struct contender *contender, size_t round, const posix_spawn_file_actions_t *actions)
{
	struct rusage usage;
	double begin = seconds(CLOCK_MONOTONIC);
	int status;
	pid_t pid;

	errno = posix_spawnp(&pid, contender->argv[0], actions, NULL, contender->argv, environ);
	if (errno) {
		fprintf(stderr, "spawn: cannot start '%s': %s\n", contender->argv[0], strerror(errno));
		exit(1);
	}
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	contender->wall[round] = (seconds(CLOCK_MONOTONIC) - begin) * 1e6;
	contender->cpu[round] = cpu_of(&usage) * 1e6;
	if (usage.ru_maxrss > contender->peak)
		contender->peak = usage.ru_maxrss;
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "spawn: '%s' (%s) failed with status %#x\n", contender->name, contender->argv[0],
			(unsigned)status);
		exit(1);
	}
}

static size_t read_contenders(struct contender *contenders, size_t rounds, char **argv)
{
	size_t n = 0;

	while (*argv && n < CONTENDERS) {
		contenders[n] = (struct contender){argv[0], argv + 1, calloc(rounds, sizeof(double)),
						   calloc(rounds, sizeof(double)), 0};
		if (!argv[1] || !contenders[n].wall || !contenders[n].cpu)
			exit(2);
		n++;
		while (*argv && strcmp(*argv, "--") != 0)
			argv++;
		if (*argv)
			*argv++ = NULL;
	}
	return n;
}

int main(int argc, char **argv)
{
	struct contender contenders[CONTENDERS];
	posix_spawn_file_actions_t actions;
	size_t rounds, n, order[CONTENDERS];

	if (argc < 4 || (rounds = strtoul(argv[1], NULL, 10)) < 1) {
		fprintf(stderr, "usage: spawn ROUNDS NAME COMMAND [ARG...] [-- NAME COMMAND [ARG...]]...\n");
		return 2;
	}
	n = read_contenders(contenders, rounds, argv + 2);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	srandom(1);
	for (size_t i = 0; i < n; i++) { /* warm */
		order[i] = i;
		run_once(&contenders[i], 0, &actions);
	}
	for (size_t round = 0; round < rounds; round++) {
		for (size_t i = n; i > 1; i--) {
			size_t j = (size_t)random() % i, swap = order[i - 1];

			order[i - 1] = order[j];
			order[j] = swap;
		}
		for (size_t i = 0; i < n; i++)
			run_once(&contenders[order[i]], round, &actions);
	}
	for (size_t i = 0; i < n; i++) {
		qsort(contenders[i].wall, rounds, sizeof(double), by_value);
		qsort(contenders[i].cpu, rounds, sizeof(double), by_value);
		printf("%s\t%.0f\t%.0f\t%.0f\t%.0f\t%ld\n", contenders[i].name, contenders[i].wall[rounds / 2],
		       contenders[i].wall[rounds / 4], contenders[i].wall[rounds * 3 / 4],
		       contenders[i].cpu[rounds / 2], contenders[i].peak);
	}
	return 0;
}
