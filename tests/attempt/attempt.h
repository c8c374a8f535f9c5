/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One forbidden (or allowed) thing, tried once. Each file of this folder has a table of attempts about one subject; the
 * tests run the same attempt outside the pen, where it has to succeed, and inside.
 */
#ifndef ATTEMPT_H
#define ATTEMPT_H

struct attempt {
	const char *name;
	int args;                /* how many words follow the name; ANY_ARGS: at least one */
	int (*run)(char **args); /* 0 or a negative errno */
};

#define ANY_ARGS (-1)

/* The tables end with a row without a name. */
extern const struct attempt file_attempts[];
extern const struct attempt descriptor_attempts[];
extern const struct attempt process_attempts[];
extern const struct attempt socket_attempts[];
extern const struct attempt kernel_attempts[];

/* What a system call returned, as 0 or a negative errno. */
int attempt_result(long returned);

/* The same for a call whose result is a descriptor, which is closed. */
int attempt_closed(int fd);

/* A number of the command line, in C's notation; anything else ends the program with status 2. */
long attempt_number(const char *word);

#endif
