/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach and publish: what an item means, and which items cannot stand together.
 *
 * reach HOST:INSIDE    somebody listens at INSIDE in the pen,  and HOST is spoken to on the host
 * publish HOST:INSIDE  somebody listens at HOST on the host,   and INSIDE is spoken to in the pen
 *
 * So each names one place where a relay listens, and that can be said once. The same words from two layers agree.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/num.h"
#include "policy/internal.h"

int policy_port_parse(const char *text, struct policy_port *ret)
{
	size_t length = strcspn(text, ":");
	struct policy_port port;
	char first[16];
	int r;

	if (length >= sizeof(first))
		return -EINVAL;
	memcpy(first, text, length);
	first[length] = '\0';
	r = num_port(first, &port.host);
	port.inside = port.host;
	if (r == 0 && text[length])
		r = num_port(text + length + 1, &port.inside);
	if (r == 0)
		*ret = port;
	return r;
}

struct claim {
	enum policy_key key;
	struct policy_port port;
	const char *text;
	const struct policy_source *source;
};

struct claims {
	struct claim v[2 * LIMIT_PORTS];
	size_t n[KEY_COUNT], total;
};

static int blame(const struct claim *claim, int r, struct pinfold_error *err)
{
	const struct policy_key_def *def = &policy_keys[claim->key];

	return err_at(err, r, claim->source->file, claim->source->line,
		      claim->source->layer == LAYER_COMMAND ? def->option : def->name);
}

static int add_claim(struct claims *claims, enum policy_key key, const char *text, const struct policy_source *source,
		     struct pinfold_error *err)
{
	struct claim claim = {.key = key, .text = text, .source = source};

	policy_port_parse(text, &claim.port); /* it was read before */
	if (claims->n[key]++ == LIMIT_PORTS)
		return blame(&claim, err_say(err, PINFOLD_USAGE, E2BIG, "more than %d ports", LIMIT_PORTS), err);
	claims->v[claims->total++] = claim;
	return 0;
}

static int check_pair(const struct claim *a, const struct claim *b, struct pinfold_error *err)
{
	bool is_same_key = a->key == b->key, is_same_text = is_same_key && strcmp(a->text, b->text) == 0;
	bool is_inside = a->key == KEY_REACH || !is_same_key;
	unsigned port = is_inside ? b->port.inside : b->port.host;

	if (port != (is_inside ? a->port.inside : a->port.host))
		return 0;
	if (is_same_text && a->source->layer != b->source->layer)
		return 0;
	if (is_same_text)
		err_say(err, PINFOLD_USAGE, EEXIST, "'%s' stands here twice", b->text);
	else
		err_say(err, PINFOLD_USAGE, EEXIST, "'%s': port %u %s is taken by %s '%s'", b->text, port,
			is_inside ? "inside" : "of the host", policy_keys[a->key].name, a->text);
	return blame(b, -EEXIST, err);
}

static int check_claims(const struct claims *claims, struct pinfold_error *err)
{
	int r = 0;

	for (size_t i = 1; r == 0 && i < claims->total; i++)
		for (size_t j = 0; r == 0 && j < i; j++)
			r = check_pair(&claims->v[j], &claims->v[i], err);
	return r;
}

int ports_check_layer(struct arena *arena, const struct layer *layer, struct pinfold_error *err)
{
	struct claims *claims = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < layer->n; i++) {
		const struct policy_setting *setting = &layer->v[i];

		if (policy_keys[setting->key].type != TYPE_PORTS)
			continue;
		if (!claims && !(claims = ARENA_ARRAY(arena, struct claims, 1)))
			return err_oom(err);
		r = add_claim(claims, setting->key, setting->text, &setting->source, err);
	}
	return r == 0 && claims ? check_claims(claims, err) : r;
}

int ports_check(struct pinfold_policy *policy, struct pinfold_error *err)
{
	static const enum policy_key keys[] = {KEY_REACH, KEY_PUBLISH};
	struct claims *claims;
	int r = 0;

	if (policy->value[KEY_REACH].count + policy->value[KEY_PUBLISH].count < 2)
		return 0;
	claims = ARENA_ARRAY(&policy->arena, struct claims, 1);
	if (!claims)
		return err_oom(err);
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		const struct policy_value *value = &policy->value[keys[k]];

		for (size_t i = 0; r == 0 && i < value->count; i++)
			r = add_claim(claims, keys[k], value->items[i].text, &value->items[i].source, err);
	}
	return r == 0 ? check_claims(claims, err) : r;
}
