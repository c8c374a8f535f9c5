/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the command need the network, by its words alone? A courtesy, asked only of runs that are to be offline: the
 * kernel refuses what gets past it, and nothing here loosens or tightens that. So it is plain on purpose. It looks at
 * the command, and where that is a shell with a script on its command line, at the simple commands in it, divided at
 * `;`, `&`, `|` and newlines; no expansion, no substitution, no function is followed. What is not surely known to need
 * the network passes.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/gitconfig.h"
#include "base/path.h"
#include "base/tables.h"
#include "plan/internal.h"

enum { WORDS_MAX = 256 };

struct simple {
	const char *v[WORDS_MAX + 1];
	size_t n;
};

struct checking {
	const struct pinfold_plan *plan;
	struct arena *arena;
	int error;
	const char *found; /* "npm install" */
};

/* ---- addresses ---- */

static bool is_loopback(const char *host, size_t length)
{
	return (length == 9 && !memcmp(host, "localhost", 9)) || (length > 4 && !memcmp(host, "127.", 4)) ||
	       (length == 5 && !memcmp(host, "[::1]", 5)) || (length == 3 && !memcmp(host, "::1", 3)) ||
	       (length == 7 && !memcmp(host, "0.0.0.0", 7));
}

/* What stands between "://" and the next "/", "?" or "#", without user and port. */
static bool is_url_elsewhere(const char *word)
{
	const char *host = strstr(word, "://"), *at;
	size_t length;

	if (!host || strncmp(word, "file:", 5) == 0)
		return false;
	host += 3;
	length = strcspn(host, "/?#");
	at = memchr(host, '@', length);
	if (at) {
		length -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	if (host[0] == '[')
		length = strcspn(host, "]") + 1;
	else
		length = strcspn(host, ":/?#") < length ? strcspn(host, ":/?#") : length;
	return length && !is_loopback(host, length);
}

static bool is_local_path(const char *word)
{
	return word[0] == '/' || word[0] == '.' || word[0] == '~' || strncmp(word, "file:", 5) == 0;
}

/* host:path, as ssh has it; a path with a colon begins with a dot or a slash. */
static bool is_address_elsewhere(const char *word)
{
	size_t colon = strcspn(word, ":/"), user;

	if (is_url_elsewhere(word))
		return true;
	if (strstr(word, "://") || is_local_path(word) || word[colon] != ':')
		return false;
	user = strcspn(word, "@");
	if (user < colon) {
		word += user + 1;
		colon -= user + 1;
	}
	return colon && !is_loopback(word, colon);
}

/* A remote of this worktree's git whose address is elsewhere. */
static bool is_remote_elsewhere(struct checking *check, const char *name)
{
	const struct survey *survey = &check->plan->survey;

	for (size_t i = 0; i < survey->config_count; i++) {
		const char *text = survey->configs[i].text;
		struct gitconfig config = { 0 };

		if (gitconfig_parse(check->arena, text, strlen(text), &config) < 0)
			continue;
		for (size_t item = 0; item < config.n; item++) {
			const struct gitconfig_item *v = &config.v[item];

			if (v->key && v->value && strcmp(v->section, "remote") == 0 && v->subsection &&
			    strcmp(v->subsection, name) == 0 && strcmp(v->key, "url") == 0 &&
			    is_address_elsewhere(v->value))
				return true;
		}
	}
	return false;
}

/* ---- one command ---- */

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1];
}

static bool is_listed(const char *list, const char *word, size_t length)
{
	for (const char *at = list; *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		if (n == length && !memcmp(at, word, n))
			return true;
		at += n;
	}
	return false;
}

/* The words behind the program that are no options, from `from` on; NULL at the end. */
static const char *plain(const struct simple *simple, size_t *from)
{
	for (; *from < simple->n; (*from)++)
		if (!is_option(simple->v[*from]))
			return simple->v[(*from)++];
	return NULL;
}

/* "install", or "pip+install"; *ret_next: where the arguments begin. */
static bool fits(const struct table_words *row, const struct simple *simple, size_t *ret_next)
{
	char both[128];
	size_t at = 1;
	const char *first = plain(simple, &at), *second;

	*ret_next = at;
	if (!first)
		return is_listed(row->words, "none", 4);
	if (is_listed(row->words, "any", 3)) {
		*ret_next = 1;
		return true;
	}
	if (is_listed(row->words, first, strlen(first)))
		return true;
	second = plain(simple, &at);
	*ret_next = at;
	return second && (size_t)snprintf(both, sizeof(both), "%s+%s", first, second) < sizeof(both) &&
	       is_listed(row->words, both, strlen(both));
}

static bool is_excused(const struct table_words *row, const struct simple *simple)
{
	for (size_t i = 1; row->unless && i < simple->n; i++)
		if (is_listed(row->unless, simple->v[i], strcspn(simple->v[i], "=")))
			return true;
	return false;
}

static bool needs(struct checking *check, const struct table_words *row, const struct simple *simple, size_t at)
{
	size_t count = 0, local = 0;
	bool is_elsewhere = false, has_loopback = false, has_version = false;
	const char *first = NULL;

	for (const char *word; (word = plain(simple, &at)); count++) {
		const char *host = strchr(word, '@') ? strchr(word, '@') + 1 : word;

		first = first ? first : word;
		local += is_local_path(word);
		is_elsewhere |= row->needs == WORDS_URL ? is_url_elsewhere(word) : is_address_elsewhere(word);
		has_loopback |= is_loopback(host, strlen(host));
		has_version |= strchr(word + (word[0] == '@'), '@') != NULL;
	}
	switch (row->needs) {
	case WORDS_ALWAYS:
		return count == 0 || local < count;
	case WORDS_HOST:
		return count && !has_loopback;
	case WORDS_AT:
		return has_version;
	case WORDS_GIT:
		return is_elsewhere || (!local && is_remote_elsewhere(check, first ? first : "origin"));
	default: return is_elsewhere;
	}
}

/* Words that only lead to a command: "sudo", "time -p", "A=b". */
static bool is_lead(const char *word)
{
	static const char leads[] =
		"! { ( if then elif else while until do time env sudo nohup command exec nice builtin";
	const char *equals = strchr(word, '=');

	return is_listed(leads, word, strlen(word)) ||
	       (equals && equals > word && !strchr(word, '/') && !is_option(word));
}

static void strip_leads(struct simple *simple)
{
	size_t skip = 0;

	while (skip < simple->n && (is_lead(simple->v[skip]) || (skip && is_option(simple->v[skip]))))
		skip++;
	/* `python -m pip` is pip */
	if (skip + 2 < simple->n && strncmp(path_name(simple->v[skip]), "python", 6) == 0 &&
	    strcmp(simple->v[skip + 1], "-m") == 0)
		skip += 2;
	memmove(simple->v, simple->v + skip, (simple->n - skip) * sizeof(simple->v[0]));
	simple->n -= skip;
}

static void check_script(struct checking *check, const char *script);

/* What follows the -c of a shell, which may stand among others: -lc. */
static const char *script_of(const struct simple *simple)
{
	static const char shells[] = "sh bash dash zsh ash ksh";
	const char *name = path_name(simple->v[0]);

	if (!is_listed(shells, name, strlen(name)))
		return NULL;
	for (size_t i = 1; i + 1 < simple->n && is_option(simple->v[i]); i++)
		if (simple->v[i][1] != '-' && strchr(simple->v[i], 'c'))
			return simple->v[i + 1];
	return NULL;
}

static void check_simple(struct checking *check, struct simple *simple, bool is_nested)
{
	const char *name, *word;

	strip_leads(simple);
	if (!simple->n || check->found)
		return;
	if (!is_nested && script_of(simple)) {
		check_script(check, script_of(simple));
		return;
	}
	/* a program of the project's own may be called anything */
	if (strchr(simple->v[0], '/') && simple->v[0][0] != '/')
		return;
	name = path_name(simple->v[0]);
	for (size_t i = 0; i < tables_words_count; i++) {
		const struct table_words *row = &tables_words[i];
		size_t at = 1;

		if (strcmp(row->program, name) != 0 || !fits(row, simple, &at) || is_excused(row, simple) ||
		    !needs(check, row, simple, at))
			continue;
		at = 1;
		/* a word of the table, or none: what else stands there may be long */
		word = is_listed(row->words, "any", 3) ? NULL : plain(simple, &at);
		check->found = arena_printf(check->arena, "%s%s%s", name, word ? " " : "", word ? word : "");
		if (!check->found)
			check->error = -ENOMEM;
		return;
	}
}

/* ---- a script ---- */

/* One word, its quotes taken off; *text is behind it. */
static char *take_word(struct checking *check, const char **text)
{
	char *word = ARENA_ARRAY(check->arena, char, strlen(*text) + 1), quote = '\0';
	size_t n = 0;

	if (!word) {
		check->error = -ENOMEM;
		return NULL;
	}
	for (; **text; (*text)++) {
		char c = **text;

		if (!quote && strchr(" \t\n;&|", c))
			break;
		if (c == quote) {
			quote = '\0';
		} else if (!quote && (c == '\'' || c == '"')) {
			quote = c;
		} else {
			if (c == '\\' && quote != '\'' && (*text)[1])
				c = *++(*text);
			word[n++] = c;
		}
	}
	word[n] = '\0';
	return word;
}

static void check_script(struct checking *check, const char *script)
{
	struct simple simple = { .n = 0 };

	while (!check->found && !check->error) {
		script += strspn(script, " \t");
		if (!*script || strchr("\n;&|", *script)) {
			check_simple(check, &simple, true);
			simple.n = 0;
			if (!*script)
				return;
			script++;
			continue;
		}
		simple.v[simple.n] = take_word(check, &script);
		simple.n += simple.n < WORDS_MAX;
	}
}

int plan_words(struct pinfold_plan *plan)
{
	struct checking check = { .plan = plan, .arena = &plan->arena };
	struct simple simple = { .n = 0 };

	if (policy_number(plan->policy, KEY_NETWORK) != NETWORK_OFFLINE ||
	    policy_number(plan->policy, KEY_MODE) == MODE_OFF ||
	    policy_number(plan->policy, KEY_WORD_CHECK) == WORD_CHECK_OFF)
		return 0;
	for (size_t i = 0; i < plan->argv.n && simple.n < WORDS_MAX; i++)
		simple.v[simple.n++] = plan->argv.v[i];
	check_simple(&check, &simple, false);
	plan->needs_network = check.found;
	return check.error;
}
