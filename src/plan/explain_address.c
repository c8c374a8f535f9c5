/* SPDX-License-Identifier: Apache-2.0 */
/* explain's answers about addresses. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "plan/explain_rule.h"

static const char *find_port(const char *word)
{
	const char *colon = strrchr(word, ':');

	return colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] ? colon + 1 : NULL;
}

int explain_kind_of(const char *word)
{
	if (word[0] == '/' || word[0] == '.' || word[0] == '~')
		return EXPLAIN_PATH;
	return find_port(word) ? EXPLAIN_ADDRESS : -1;
}

static bool is_loopback(const char *host)
{
	return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
}

static const char *host_of(struct arena *arena, const char *word, const char *port)
{
	size_t length = (size_t)(port - 1 - word);

	if (length == 0)
		return "localhost";
	if (word[0] == '[' && word[length - 1] == ']')
		return arena_strndup(arena, word + 1, length - 2);
	return arena_strndup(arena, word, length);
}

/* The relay listens at these two alone: 127.0.0.2 is the pen's own. NULL: no port of the host's is behind it. */
static const struct policy_item *reach_of(const struct pinfold_plan *plan, const char *host, uint16_t port)
{
	const struct policy_value *reach = &plan->policy->value[KEY_REACH];
	struct policy_port pair;

	if (!plan->reach.n || (strcmp(host, "localhost") && strcmp(host, "127.0.0.1") && strcmp(host, "::1")))
		return NULL;
	for (size_t i = 0; i < reach->count; i++)
		if (policy_port_parse(reach->items[i].text, &pair) == 0 && pair.inside == port)
			return &reach->items[i];
	return NULL;
}

static int explain_reach(struct arena *arena, const struct policy_item *item, struct explain_answer *connect,
			 struct pinfold_error *err)
{
	connect->allowed = true;
	connect->rule = arena_printf(arena, "reach %s", item->text);
	connect->source = explain_source_name(&item->source);
	connect->why = "the host's loopback, through a relay";
	return connect->rule ? 0 : err_oom(err);
}

int explain_address(const struct pinfold_plan *plan, struct arena *arena, const char *word,
		    struct explain_address *ret, struct pinfold_error *err)
{
	bool is_asked = policy_number(plan->policy, KEY_NETWORK) == NETWORK_OFFLINE;
	struct explain_answer *connect = &ret->connect;
	const struct policy_item *reach;
	const char *port = find_port(word);
	uint16_t number;

	if (!port || num_port(port, &number) < 0)
		return err_say(err, PINFOLD_USAGE, EINVAL, "'%s' has no port from 1 to 65535", word);
	*ret = (struct explain_address){ .host = host_of(arena, word, port), .port = number };
	if (!ret->host)
		return err_oom(err);
	connect->rule = is_asked ? "network offline" : "network open";
	connect->source = explain_source_of(plan, KEY_NETWORK);
	connect->allowed = !plan->offline;
	connect->is_held = !is_asked || plan->offline;
	if (is_asked && !plan->offline)
		connect->why = "this backend cannot hold it";
	reach = reach_of(plan, ret->host, number);
	if (reach)
		return explain_reach(arena, reach, connect, err);
	if (plan->offline && plan->backend == BACKEND_ONLY_LANDLOCK)
		connect->why = "there are no internet sockets at all";
	else if (plan->offline)
		connect->why = is_loopback(ret->host) ? "only servers of the command itself are there" :
							"the pen's network ends at its own loopback";
	return 0;
}
