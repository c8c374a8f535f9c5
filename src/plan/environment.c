/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which variables the command gets (E073). The threat is twofold: a secret in a variable is read by the first `env`
 * (F173), and a pointer to a service of the host (an agent, a bus, a multiplexer) is a way out. The price of taking too
 * much is a boundary that people switch off, so the rules name what they take, and the rest passes.
 *
 * The kinds of data/environment.tsv are asked in this order; the first that knows the name decides:
 *
 *   service, repository, name         dropped
 *   harmless                          passes, unless its value is a key
 *   proxy, cut                        user and password cut from the addresses; a proxy is dropped offline
 *   word, ending, vendor              dropped, unless empty
 *   dsn, address                      dropped where the value carries a password to another machine
 *   vendor-secret                     dropped where the rest of the name (hint) or the value looks like a secret
 *   (any)                             dropped where the value is a key or an address with a password (F174)
 *   loader                            dropped where its value names a path that is not visible inside
 *
 * The mode `list` is the same over the names of kind keep only. --env is asked before all of this.
 */
#include "plan/environment.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/secret.h"
#include "base/tables.h"

enum verdict { VERDICT_PASS, VERDICT_DROP, VERDICT_CUT, VERDICT_UNDECIDED };

struct variable {
	const char *entry; /* NAME=VALUE */
	const char *name;  /* upper case */
	const char *value;
	size_t name_length, value_length;
};

/* ---- names ---- */

static bool matches(const char *pattern, const char *name, size_t length)
{
	const char *end = name + length;
	size_t after;

	while (name < end && *pattern == *name) {
		pattern++;
		name++;
	}
	if (*pattern != '*')
		return !*pattern && name == end;
	after = strlen(++pattern);
	return after <= (size_t)(end - name) && !memcmp(pattern, end - after, after);
}

/* The next pattern of this kind, from *i on, that begins with the letter; NULL at the end. */
static const char *next(enum table_variable_kind kind, char letter, size_t *i)
{
	size_t end = tables_variables_first[kind + 1];
	const char *found = memchr(tables_variables_initial + *i, letter, end - *i);

	if (!found)
		return NULL;
	*i = (size_t)(found - tables_variables_initial) + 1;
	return tables_variables[*i - 1];
}

static bool find_with(enum table_variable_kind kind, char letter, const struct variable *variable)
{
	size_t i = tables_variables_first[kind];
	const char *pattern;

	if (!(tables_variables_letters[kind] >> (letter & 63) & 1))
		return false;
	while ((pattern = next(kind, letter, &i)))
		if (matches(pattern, variable->name, variable->name_length))
			return true;
	return false;
}

/* Does a pattern of this kind know the name? */
static bool find(enum table_variable_kind kind, const struct variable *variable)
{
	return find_with(kind, variable->name[0], variable) || find_with(kind, '*', variable);
}

/* The name goes on with the word, whose underscores may be missing; then "_", the end, or "S" and the end. */
static bool word_is_at(const char *name, const char *word)
{
	for (; *word; word++) {
		if (*name == *word)
			name++;
		else if (*word != '_')
			return false;
	}
	return !*name || *name == '_' || (name[0] == 'S' && !name[1]);
}

static bool has_word(enum table_variable_kind kind, const char *name)
{
	const char *word;

	while (true) {
		size_t i = tables_variables_first[kind];

		while ((word = next(kind, *name, &i)))
			if (word_is_at(name, word))
				return true;
		name = strchr(name, '_');
		if (!name)
			return false;
		name++;
	}
}

static bool has_ending(enum table_variable_kind kind, const struct variable *variable)
{
	for (size_t i = tables_variables_first[kind]; i < tables_variables_first[kind + 1]; i++) {
		size_t length = strlen(tables_variables[i]);

		if (length <= variable->name_length &&
		    !memcmp(variable->name + variable->name_length - length, tables_variables[i], length))
			return true;
	}
	return false;
}

/* Stricter than has_ending, the word stands alone: GITHUB_SHA, not NAMESHA. */
static bool has_last_word(enum table_variable_kind kind, const struct variable *variable)
{
	const char *last = strrchr(variable->name, '_');

	for (size_t i = tables_variables_first[kind]; i < tables_variables_first[kind + 1]; i++)
		if (!strcmp(last ? last + 1 : variable->name, tables_variables[i]))
			return true;
	return false;
}

/* ---- values ---- */

/* A connection string: "Server=db;Password=x", "…?password=x". */
static bool has_parameter(const char *value)
{
	static const char *const names[] = {
		"password=", "passwd=", "pwd=", "accountkey=", "sharedaccesskey=", "accesskey=", "token=", "secret=",
		"sig=",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *found = strcasestr(value, names[i]);

		if (found && found[strlen(names[i])] && !strchr("&;", found[strlen(names[i])]))
			return true;
	}
	return false;
}

static bool is_loopback(const struct variable *variable)
{
	struct secret_url url;
	size_t pos = 0, count = 0;

	for (; secret_next_url(variable->value, variable->value_length, &pos, &url); count++)
		if (!url.is_loopback)
			return false;
	return count || strcasestr(variable->value, "=localhost") || strstr(variable->value, "=127.0.0.1") ||
	       strcasestr(variable->value, "@tcp(localhost") || strstr(variable->value, "@tcp(127.0.0.1");
}

static bool is_secret_address(const struct variable *variable)
{
	return secret_has_url(variable->value, variable->value_length) ||
	       (has_parameter(variable->value) && !is_loopback(variable));
}

static bool is_secret_vendor(const struct variable *variable)
{
	if (!find(VARIABLE_VENDOR_SECRET, variable))
		return false;
	if (has_word(VARIABLE_HINT, variable->name))
		return true;
	return !has_last_word(VARIABLE_IDENTIFIER, variable) &&
	       secret_is_random(variable->value, variable->value_length);
}

static bool is_secret_value(const struct variable *variable)
{
	return secret_has_key(variable->value, variable->value_length) ||
	       (strstr(variable->value, "://") && secret_has_url(variable->value, variable->value_length));
}

/* ---- loaders ---- */

static bool is_path_end(char c)
{
	return strchr(" \t\n:,;'\"|()=", c);
}

/* 1, 0, or -ENOMEM. What the shell would still expand is no path yet. */
static int names_invisible(struct arena *arena, const struct environment_request *request, const char *value)
{
	for (const char *p = value; *p; p++) {
		size_t n = 0;
		char *path;

		if (*p != '/' || p[1] == '/' || (p != value && !is_path_end(p[-1])))
			continue;
		while (p[n] && !is_path_end(p[n]))
			n++;
		if (n == 1 || memchr(p, '$', n) || memchr(p, '*', n) || memchr(p, '%', n))
			continue;
		path = arena_strndup(arena, p, n);
		path = path ? path_normal(arena, NULL, path) : NULL;
		if (!path)
			return -ENOMEM;
		if (!request->is_visible(request->arg, path))
			return 1;
	}
	return 0;
}

static int check_loader(struct arena *arena, const struct environment_request *request,
			const struct variable *variable, enum verdict *ret)
{
	int r;

	if (!request->is_visible || !find(VARIABLE_LOADER, variable))
		return 0;
	r = names_invisible(arena, request, variable->value);
	if (r > 0)
		*ret = VERDICT_DROP;
	return r < 0 ? r : 0;
}

/* ---- the decision ---- */

static enum verdict by_name(const struct variable *variable, bool offline)
{
	if (find(VARIABLE_SERVICE, variable) || find(VARIABLE_REPOSITORY, variable) || find(VARIABLE_NAME, variable))
		return VERDICT_DROP;
	if (find(VARIABLE_HARMLESS, variable))
		return VERDICT_PASS;
	if (find(VARIABLE_PROXY, variable))
		return offline ? VERDICT_DROP : VERDICT_CUT;
	if (find(VARIABLE_CUT, variable))
		return VERDICT_CUT;
	if (!*variable->value)
		return VERDICT_PASS;
	if (has_word(VARIABLE_WORD, variable->name) || has_ending(VARIABLE_ENDING, variable) ||
	    find(VARIABLE_VENDOR, variable))
		return VERDICT_DROP;
	if (has_word(VARIABLE_DSN, variable->name))
		return is_loopback(variable) ? VERDICT_PASS : VERDICT_DROP;
	if (has_ending(VARIABLE_ADDRESS, variable) && is_secret_address(variable))
		return VERDICT_DROP;
	return is_secret_vendor(variable) ? VERDICT_DROP : VERDICT_UNDECIDED;
}

static int decide(struct arena *arena, const struct environment_request *request, const struct variable *variable,
		  enum verdict *ret)
{
	if (request->mode == ENV_LIST && !find(VARIABLE_KEEP, variable)) {
		*ret = VERDICT_DROP;
		return 0;
	}
	*ret = by_name(variable, request->offline);
	if (*ret == VERDICT_DROP || *ret == VERDICT_CUT)
		return 0;
	if (is_secret_value(variable)) {
		*ret = VERDICT_DROP;
		return 0;
	}
	if (*ret == VERDICT_PASS)
		return 0;
	*ret = VERDICT_PASS;
	return check_loader(arena, request, variable, ret);
}

/* The entry without users and passwords, or without the whole value where that leaves a key. */
static int cut_entry(struct arena *arena, const struct variable *variable, const char **ret)
{
	BUF_CLEANUP struct buf buf = BUF_INIT(LIMIT_TEXT_BYTES);
	const char *at = strrchr(variable->value, '@');

	*ret = NULL;
	buf_add(&buf, variable->entry, variable->name_length + 1);
	/* curl and others take a proxy without a scheme: user:password@host:port. */
	if (at && !strstr(variable->value, "://"))
		buf_str(&buf, at + 1);
	else
		secret_cut_urls(&buf, variable->value, variable->value_length);
	if (buf.error)
		return buf.error;
	if (secret_has_key(buf.data, buf.len))
		return 0;
	*ret = arena_strndup(arena, buf.data, buf.len);
	return *ret ? 0 : -ENOMEM;
}

/* ---- --env ---- */

static bool item_names(const struct policy_item *item, const char *entry, size_t name_length)
{
	return !strncmp(item->text, entry, name_length) && (!item->text[name_length] || item->text[name_length] == '=');
}

/* The last word about this name; NULL: none. */
static const struct policy_item *item_of(const struct environment_request *request, const char *entry,
					 size_t name_length)
{
	for (size_t i = request->item_count; i-- > 0;)
		if (item_names(&request->items[i], entry, name_length))
			return &request->items[i];
	return NULL;
}

static int add_items(struct arena *arena, const struct environment_request *request, struct strv *environment)
{
	for (size_t i = 0; i < request->item_count; i++) {
		const struct policy_item *item = &request->items[i];
		const char *equals = strchr(item->text, '=');
		int r;

		if (!equals || item_of(request, item->text, (size_t)(equals - item->text)) != item)
			continue;
		r = strv_add(arena, environment, item->text);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- all of them ---- */

static int upper_name(struct arena *arena, struct variable *variable)
{
	char *name = arena_strndup(arena, variable->entry, variable->name_length);

	if (!name)
		return -ENOMEM;
	for (char *p = name; *p; p++) /* not toupper: a Turkish locale has its own idea of "i" */
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	variable->name = name;
	return 0;
}

static int drop(struct arena *arena, const struct variable *variable, struct environment_result *result)
{
	return strv_add_owned(arena, &result->removed, arena_strndup(arena, variable->entry, variable->name_length));
}

static int filter(struct arena *arena, const struct environment_request *request, struct variable *variable,
		  struct environment_result *result)
{
	const char *entry = variable->entry;
	enum verdict verdict;
	int r;

	r = upper_name(arena, variable);
	if (r == 0)
		r = decide(arena, request, variable, &verdict);
	if (r == 0 && verdict == VERDICT_CUT)
		r = cut_entry(arena, variable, &entry);
	if (r < 0)
		return r;
	if (verdict == VERDICT_DROP || !entry)
		return drop(arena, variable, result);
	return strv_add(arena, &result->environment, entry);
}

static int add_entry(struct arena *arena, const struct environment_request *request, const char *entry,
		     struct environment_result *result)
{
	const char *equals = strchr(entry, '=');
	const struct policy_item *item;
	struct variable variable;

	if (!equals || equals == entry) /* no variable: getenv finds neither form */
		return 0;
	variable = (struct variable){ .entry = entry, .value = equals + 1, .name_length = (size_t)(equals - entry) };
	variable.value_length = strlen(variable.value);
	item = item_of(request, entry, variable.name_length);
	if (item && item->text[variable.name_length] == '=')
		return 0; /* the value given comes at the end */
	if (item || request->mode == ENV_ALL)
		return strv_add(arena, &result->environment, entry);
	return filter(arena, request, &variable, result);
}

int environment_make(struct arena *arena, const struct environment_request *request, struct environment_result *ret)
{
	struct environment_result result = { 0 };
	int r;

	for (size_t i = 0; i < request->caller->n; i++) {
		r = add_entry(arena, request, request->caller->v[i], &result);
		if (r < 0)
			return r;
	}
	r = add_items(arena, request, &result.environment);
	if (r < 0)
		return r;
	*ret = result;
	return 0;
}
