/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion, answered from the tables: `pinfold __complete WORD...` gets the words after the program's name, the last
 * one being completed, and prints a candidate a line with its description after a tab. Nothing means: a file.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static void candidate(const char *lead, const char *word, const char *prefix, const char *help)
{
	if (strncmp(word, prefix, strlen(prefix)) == 0)
		printf("%s%s%s%s\n", lead, word, help ? "\t" : "", help ? help : "");
}

static void complete_commands(const char *prefix)
{
	for (const struct command *command = commands; command->name; command++)
		candidate("", command->name, prefix, command->help);
}

static void complete_options(unsigned where, const char *prefix)
{
	struct option option;
	char no[64], help[64];

	for (size_t i = 0; option_at(i, &option); i++) {
		if (!(option.where & where))
			continue;
		if (option.fixed)
			snprintf(help, sizeof(help), "--%s %s", option.key, option.fixed);
		candidate("", option.name, prefix, option.fixed ? help : option.help);
		if (!option.no_word)
			continue;
		snprintf(no, sizeof(no), "--no-%s", option.name + 2);
		/* Only when asked for: they would double the list. */
		if (strncmp(prefix, "--no-", 5) == 0)
			candidate("", no, prefix, option.help);
	}
}

static void complete_value(const struct option *option, const char *lead, const char *prefix)
{
	for (size_t i = 0; option->words && option->words[i]; i++)
		candidate(lead, option->words[i], prefix, NULL);
	/* What it is without being asked for can be asked for: "none", "private". */
	if (!option->words && option->argument && option->builtin)
		candidate(lead, option->builtin, prefix, NULL);
}

static bool is_named(const struct option *option, const char *word, size_t len)
{
	return strlen(option->name) == len && memcmp(option->name, word, len) == 0;
}

/* The option that word[0..len) names, if it takes a value. */
static bool takes_value(const char *word, size_t len, unsigned where, struct option *ret)
{
	for (size_t i = 0; option_at(i, ret); i++)
		if ((ret->where & where) && ret->argument && is_named(ret, word, len))
			return true;
	return false;
}

/* Does the last word still stand among pinfold's own? *ret: the option whose value it is; name NULL: none. */
static bool walk(char **words, unsigned where, struct option *ret, char ***ret_last)
{
	*ret = (struct option){ 0 };
	for (; words[1]; words++) {
		struct option option;

		if (ret->name) {
			/* bash makes `--mode=auto` three words */
			if (strcmp(words[0], "=") != 0)
				*ret = (struct option){ 0 };
			continue;
		}
		if (strcmp(words[0], "--") == 0 || words[0][0] != '-')
			return false;
		if (takes_value(words[0], strlen(words[0]), where, &option))
			*ret = option;
	}
	*ret_last = words;
	return true;
}

static void complete_word(unsigned where, const char *word)
{
	const char *equals = strchr(word, '=');
	struct option option;
	char lead[64];

	if (word[0] != '-')
		return;
	if (!equals) {
		complete_options(where, word);
	} else if (takes_value(word, (size_t)(equals - word), where, &option)) {
		snprintf(lead, sizeof(lead), "%s=", option.name);
		complete_value(&option, lead, equals + 1);
	}
}

static void complete_after(const struct command *command, char **words)
{
	struct option option;
	char **last;

	if (command->words && !words[1] && words[0][0] != '-') {
		for (size_t i = 0; command->words[i]; i++)
			candidate("", command->words[i], words[0], NULL);
		return;
	}
	/* The word after `config` is its topic, no command. */
	if (command->words && words[0][0] != '-' && words[1])
		words++;
	if (!walk(words, command->where, &option, &last))
		return;
	if (option.name)
		complete_value(&option, "", strcmp(*last, "=") == 0 ? "" : *last);
	else
		complete_word(command->where, *last);
}

int complete_command(char **words)
{
	const struct command *command;

	if (!words[0])
		return EXIT_YES;
	if (!words[1]) {
		complete_commands(words[0]);
		candidate("", "--help", words[0][0] == '-' ? words[0] : "\n", NULL);
		candidate("", "--version", words[0][0] == '-' ? words[0] : "\n", NULL);
		return print_end();
	}
	command = command_find(words[0]);
	if (command && command->run == help_command && !words[2])
		complete_commands(words[1]);
	else if (command)
		complete_after(command, words + 1);
	return print_end();
}
