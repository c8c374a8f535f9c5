/* SPDX-License-Identifier: Apache-2.0 */
/* Options: those of the policy come from the library's table, the command line's own stand here. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const struct option own_options[OPTION_COUNT] = {
	[OPTION_DIRECTORY] = { .name = "-C", .argument = "DIR", .where = IN_POLICY | IN_TRUST,
		.help = "change to DIR first" },
	[OPTION_CONFIG] = { .name = "--config", .argument = "FILE|fd:N", .where = IN_POLICY,
		.help = "read this instead of the user's configuration file" },
	[OPTION_RECORD] = { .name = "--record", .argument = "FILE|fd:N", .where = IN_RUN | IN_CONFIG,
		.help = "write what happened as JSON, for a refusal as well" },
	[OPTION_EVENTS] = { .name = "--events", .argument = "FILE|fd:N", .where = IN_RUN | IN_CONFIG,
		.help = "write what happens as it happens, a line of JSON each" },
	[OPTION_PASS_FD] = { .name = "--pass-fd", .argument = "N", .where = IN_RUN | IN_CONFIG, .is_list = true,
		.help = "leave this descriptor open in the command" },
	[OPTION_PLAN] = { .name = "--plan", .where = IN_RUN, .no_word = "",
		.help = "print what would be done and what that holds; run nothing" },
	[OPTION_JSON] = { .name = "--json", .where = IN_POLICY | IN_VERSION, .no_word = "",
		.help = "print JSON" },
	[OPTION_NOTICE] = { .name = "--notice", .where = IN_STATUS, .no_word = "",
		.help = "the sentences for the description of an agent's tool" },
	[OPTION_PROVE] = { .name = "--prove", .where = IN_EXPLAIN, .no_word = "",
		.help = "let the kernel answer as well, in a real run, and compare" },
	[OPTION_QUIET] = { .name = "--quiet", .where = IN_RUN | IN_CONFIG, .no_word = "",
		.help = "no notices and no hints, only errors" },
	[OPTION_HELP] = { .name = "--help", .letter = "-h", .where = IN_ALL,
		.help = "print this" },
};

static const char *no_word_of(const struct pinfold_key *key)
{
	if (key->type == PINFOLD_KEY_SWITCH)
		return "false";
	/* The one list that has something to take back: what the built-in policy accepts. */
	return strcmp(key->name, "accept") == 0 ? "none" : NULL;
}

static struct option key_option(const struct pinfold_key *key)
{
	return (struct option){
		.name = key->option,
		.argument = key->argument,
		.help = key->help,
		.words = key->words,
		.builtin = key->builtin,
		.where = IN_POLICY,
		.own = -1,
		.is_list = key->is_list,
		.no_word = no_word_of(key),
		.key = key->name,
	};
}

static struct option alias_option(const struct pinfold_key *key)
{
	return (struct option){
		.name = key->alias,
		.help = "a short form",
		.fixed = key->alias_word,
		.where = IN_POLICY,
		.own = -1,
		.no_word = key->builtin,
		.key = key->name,
	};
}

/* Keys first, in the order of the documentation, each followed by its alias; then the command line's own. */
bool option_at(size_t index, struct option *ret)
{
	struct pinfold_key key;

	for (size_t i = 0; pinfold_key_at(i, &key) == 0; i++) {
		if (index-- == 0) {
			*ret = key_option(&key);
			return true;
		}
		if (key.alias && index-- == 0) {
			*ret = alias_option(&key);
			return true;
		}
	}
	if (index >= OPTION_COUNT)
		return false;
	*ret = own_options[index];
	ret->own = (int)index;
	return true;
}

/* ---- finding --------------------------------------------------------------------------------------------------- */

static bool is_word(const char *name, const char *word, size_t len)
{
	return name && strlen(name) == len && memcmp(name, word, len) == 0;
}

static bool is_no_form(const struct option *option, const char *word, size_t len)
{
	return option->no_word && len > 5 && memcmp(word, "--no-", 5) == 0 &&
	       is_word(option->name + 2, word + 5, len - 5);
}

/* word[0..len) as an option of the subcommand. *ret_no: it is the --no- form. */
static bool option_find(const char *word, size_t len, unsigned where, struct option *ret, bool *ret_no)
{
	struct option option;

	for (size_t i = 0; option_at(i, &option); i++) {
		bool is_no = is_no_form(&option, word, len);
		bool is_it = is_word(option.name, word, len) || is_word(option.letter, word, len);

		if (!(option.where & where) || !(is_no || is_it))
			continue;
		*ret = option;
		*ret_no = is_no;
		return true;
	}
	return false;
}

static int unknown_option(const char *word, size_t len, unsigned where, struct pinfold_error *err)
{
	const char *best = NULL;
	size_t least = SIZE_MAX;
	struct option option;
	char name[64];

	len = len < sizeof(name) ? len : sizeof(name) - 1;
	memcpy(name, word, len);
	name[len] = '\0';
	usage_error(err, "unknown option '%s'", name);
	for (size_t i = 0; option_at(i, &option); i++)
		if (option.where & where)
			best = nearest(name, best, &least, option.name);
	if (best)
		usage_hint(err, "did you mean '%s'?", best);
	return -EINVAL;
}

/* ---- parsing --------------------------------------------------------------------------------------------------- */

static int take_pass_fd(struct request *request, const char *text, struct pinfold_error *err)
{
	char *end;
	long fd;

	errno = 0;
	fd = strtol(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || fd > INT_MAX)
		return usage_error(err, "option '--pass-fd': '%.64s' is no descriptor", text);
	if (fcntl((int)fd, F_GETFD) < 0)
		return usage_error(err, "option '--pass-fd': descriptor %ld is not open", fd);
	if (request->pass_fd_count == CLI_PASS_FDS)
		return usage_error(err, "option '--pass-fd': more than %d descriptors", CLI_PASS_FDS);
	request->pass_fds[request->pass_fd_count++] = (int)fd;
	return 0;
}

static int take_own(struct request *request, int own, const char *text, bool is_on, struct pinfold_error *err)
{
	switch (own) {
	case OPTION_DIRECTORY:
		request->directory = text;
		break;
	case OPTION_CONFIG:
		request->config = text;
		break;
	case OPTION_RECORD:
		request->record = text;
		break;
	case OPTION_EVENTS:
		request->events = text;
		break;
	case OPTION_PASS_FD:
		return take_pass_fd(request, text, err);
	case OPTION_PLAN:
		request->is_plan = is_on;
		break;
	case OPTION_JSON:
		request->is_json = is_on;
		break;
	case OPTION_NOTICE:
		request->is_notice = is_on;
		break;
	case OPTION_PROVE:
		request->is_prove = is_on;
		break;
	case OPTION_QUIET:
		request->is_quiet = is_on;
		break;
	case OPTION_HELP:
		request->is_help = true;
		break;
	}
	return 0;
}

static void take_setting(struct request *request, const struct option *option, const char *text, bool is_no)
{
	struct setting *setting = &request->settings[request->setting_count++];

	setting->name = option->key;
	if (is_no)
		setting->text = option->no_word;
	else if (option->fixed)
		setting->text = option->fixed;
	else
		setting->text = option->argument ? text : "true";
}

/* One option, with its value where it takes one. The number of words that were read, or -EINVAL. */
static int take_option(struct request *request, unsigned where, char **argv, struct pinfold_error *err)
{
	const char *equals = strncmp(argv[0], "--", 2) == 0 ? strchr(argv[0], '=') : NULL;
	size_t len = equals ? (size_t)(equals - argv[0]) : strlen(argv[0]);
	const char *text = equals ? equals + 1 : NULL;
	struct option option;
	bool is_no, takes_value;
	int r = 0, used = 1;

	if (!option_find(argv[0], len, where, &option, &is_no))
		return unknown_option(argv[0], len, where, err);
	takes_value = option.argument && !is_no;
	if (text && !takes_value)
		return usage_error(err, "option '%.*s' takes no value", (int)len, argv[0]);
	if (takes_value && !text) {
		text = argv[1];
		used = 2;
		if (!text)
			return usage_error(err, "option '%s' needs a value: %s", argv[0], option.argument);
	}
	if (option.own < 0)
		take_setting(request, &option, text, is_no);
	else
		r = take_own(request, option.own, text, !is_no, err);
	return r < 0 ? r : used;
}

static size_t count_words(char **argv)
{
	size_t count = 0;

	while (argv[count])
		count++;
	return count;
}

/* A dash alone is a word: many programs take it for standard input. */
static bool is_option(const char *word)
{
	return word[0] == '-' && word[1];
}

int request_parse(struct request *request, unsigned where, char **argv, struct pinfold_error *err)
{
	size_t count = count_words(argv), kept = 0;
	struct pinfold_error later;
	int first = 0;

	*request = (struct request){ .settings = calloc(count + 1, sizeof(*request->settings)),
				     .rest = calloc(count + 1, sizeof(*request->rest)) };
	if (!request->settings || !request->rest)
		return usage_error(err, "out of memory");
	while (*argv && strcmp(argv[0], "--") != 0 && (is_option(argv[0]) || where != IN_RUN)) {
		int used = 1;

		if (is_option(argv[0]))
			used = take_option(request, where, argv, first ? &later : err);
		else
			request->rest[kept++] = argv[0];
		if (used < 0 && !first)
			first = used;
		argv += used < 0 ? 1 : used;
	}
	request->has_dashes = *argv && strcmp(argv[0], "--") == 0;
	argv += request->has_dashes;
	while (*argv)
		request->rest[kept++] = *argv++;
	return first;
}

void request_free(struct request *request)
{
	free(request->rest);
	request->rest = NULL;
	free(request->settings);
	request->settings = NULL;
}
