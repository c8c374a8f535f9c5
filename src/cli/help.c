/* SPDX-License-Identifier: Apache-2.0 */
/* Help, from the tables of commands and options. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

enum { OPTION_WIDTH = 26 };

int help_general(void)
{
	puts("pinfold runs a command so that it cannot harm the machine it runs on\n");
	for (const struct command *command = commands; command->name; command++)
		printf("  pinfold %s%s%s\n        %s\n", command->name, *command->usage ? " " : "", command->usage,
		       command->help);
	puts("\n'pinfold help COMMAND' names the options; the manual is pinfold(1)");
	return print_end();
}

/* "--no-" is shown where it says something that cannot be said otherwise. */
static void print_option(const struct option *option)
{
	char name[128];
	int len = snprintf(name, sizeof(name), "%s%s%s", option->letter ? option->letter : "",
			   option->letter ? ", " : "", option->name);

	if (option->argument)
		snprintf(name + len, sizeof(name) - (size_t)len, " %s", option->argument);
	printf("  %-*s", OPTION_WIDTH, name);
	if (strlen(name) >= OPTION_WIDTH)
		printf("\n  %-*s", OPTION_WIDTH, "");
	if (option->fixed)
		printf("--%s %s", option->key, option->fixed);
	else
		fputs(option->help, stdout);
	putchar('\n');
}

static void print_words(const struct option *option)
{
	if (!option->words || option->fixed)
		return;
	printf("  %-*s", OPTION_WIDTH, "");
	for (size_t i = 0; option->words[i]; i++)
		printf("%s%s", i ? "|" : "", option->words[i]);
	if (option->builtin)
		printf(" (default: %s)", option->builtin);
	putchar('\n');
}

int help_of(const struct command *command)
{
	struct option option;

	printf("pinfold %s%s%s\n%s\n\n", command->name, *command->usage ? " " : "", command->usage, command->help);
	for (size_t i = 0; option_at(i, &option); i++) {
		if (!(option.where & command->where))
			continue;
		print_option(&option);
		print_words(&option);
	}
	if (command->where & IN_RUN)
		puts("\nSwitches have a --no- form; --no-accept takes back what the defaults accept;\n"
		     "none takes a limit back. Exit status: the command's own; 124 time limit,\n"
		     "125 pinfold refused or failed and the command never ran, 126 not executable,\n"
		     "127 not found, 128+N killed by signal N.");
	return print_end();
}

int help_command(const struct command *self, char **argv)
{
	const struct command *command;
	struct pinfold_error error;

	if (!argv[0])
		return help_general();
	command = strcmp(argv[0], "--help") == 0 ? self : command_find(argv[0]);
	if (command)
		return help_of(command);
	usage_error(&error, "help: unknown command '%.64s'", argv[0]);
	return say_error(&error);
}
