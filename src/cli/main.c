/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinfold, the command line. Nothing is set up that a run does not need: this program starts before every command of an
 * agent, and its start is part of each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor.h"

static int version_command(const struct command *command, char **argv)
{
	struct request request;
	struct pinfold_error error;
	int status;

	status = request_end(command, &request, request_parse(&request, command->where, argv, &error), &error);
	if (status < 0) {
		printf(request.is_json ? "{\"pinfold\":\"%s\"}\n" : "pinfold %s\n", pinfold_version());
		status = print_end();
	}
	request_free(&request);
	return status;
}

static const char *const config_words[] = { "show", "check", "schema", "paths", NULL };

const struct command commands[] = {
	{ "run", "[OPTION...] [--] COMMAND [ARG...]", "run one command in the pen", NULL, IN_RUN, run_command },
	{ "config", "[show|check [FILE]|schema|paths] [OPTION...]", "the effective policy: values, sources, effects",
	  config_words, IN_CONFIG, config_command },
	{ "trust", "[-C DIR] [FILE]", "let this project's file loosen too, as long as its content stays the same", NULL,
	  IN_TRUST, trust_command },
	{ "status", "[OPTION...]", "inside a run: what it may do; outside: what a run here would hold", NULL, IN_STATUS,
	  status_command },
	{ "doctor", "[OPTION...]", "what this machine can hold, proved by real runs", NULL, IN_DOCTOR, doctor_command },
	{ "explain", "[OPTION...] PATH | HOST:PORT | -- COMMAND [ARG...]",
	  "what would happen in a run here, and which rule says so", NULL, IN_EXPLAIN, explain_command_line },
	{ "help", "[COMMAND]", "the options of a command", NULL, IN_HELP, help_command },
	{ "version", "[--json]", "the version", NULL, IN_VERSION, version_command },
	{ 0 }
};

const struct command *command_find(const char *name)
{
	for (const struct command *command = commands; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

int request_end(const struct command *command, const struct request *request, int r, const struct pinfold_error *err)
{
	if (r < 0)
		return say_error(err);
	return request->is_help ? help_of(command) : -1;
}

static int unknown_command(const char *word)
{
	struct pinfold_error error;
	const char *best = NULL;
	size_t least = SIZE_MAX;

	usage_error(&error, word[0] == '-' ? "unknown option '%.64s'" : "unknown command '%.64s'", word);
	for (const struct command *command = commands; command->name; command++)
		best = nearest(word, best, &least, command->name);
	if (best)
		usage_hint(&error, "did you mean 'pinfold %s'?", best);
	else if (word[0] == '-')
		usage_hint(&error, "options come after the command: pinfold run [OPTION...] [--] COMMAND [ARG...]");
	else
		usage_hint(&error, "'pinfold help' names the commands; to run one: pinfold run -- %.64s", word);
	return say_error(&error);
}

/* A descriptor 0, 1 or 2 that is closed would be given to the first file that is opened, and messages would go there.
 * Close-on-exec: the command finds it closed, as it would without us. */
static void fill_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* Called as pinfold-sh: a shell, for tools that take a shell's path and nothing more. */
static int run_shell(int argc, char **argv)
{
	static char end[] = "--", shell[] = "/bin/sh";
	char **words = calloc((size_t)argc + 2, sizeof(*words));
	int status;

	if (!words)
		return EXIT_REFUSED;
	words[0] = end;
	words[1] = shell;
	memcpy(words + 2, argv + 1, (size_t)argc * sizeof(*words)); /* with the NULL at the end */
	status = run_command(command_find("run"), words);
	free(words);
	return status;
}

static bool is_called(const char *path, const char *name)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return path && strcmp(slash ? slash + 1 : path, name) == 0;
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (fcntl(0, F_GETFD) < 0 || fcntl(1, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0)
		fill_standard_descriptors();
	if (argc > 0 && is_called(argv[0], "pinfold-sh"))
		return run_shell(argc, argv);
	if (argc < 2) {
		help_general();
		return EXIT_REFUSED;
	}
	if (strcmp(argv[1], "__complete") == 0)
		return complete_command(argv + 2);
	if (strcmp(argv[1], "__probe") == 0)
		return probe_scene(argv + 2);
	if (strcmp(argv[1], "__try") == 0)
		return try_path(argv + 2);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help_general();
	if (strcmp(argv[1], "--version") == 0)
		return version_command(command_find("version"), argv + 2);
	command = command_find(argv[1]);
	return command ? command->run(command, argv + 2) : unknown_command(argv[1]);
}
