/* SPDX-License-Identifier: Apache-2.0 */
/* Which ports the relays carry: what is asked, as far as the network is cut. With the open network every port is
 * reached as it is, and nothing listens twice. */
#include <errno.h>
#include <string.h>

#include "plan/internal.h"

static int add_ports(struct pinfold_plan *plan, enum policy_key key, struct plan_ports *ret)
{
	const struct policy_value *value = &plan->policy->value[key];

	ret->v = ARENA_ARRAY(&plan->arena, struct policy_port, value->count);
	if (value->count && !ret->v)
		return -ENOMEM;
	for (size_t i = 0; i < value->count; i++) {
		const char *word = value->items[i].text;

		/* Two layers may say the same. */
		if (strv_has(&ret->words, word))
			continue;
		if (policy_port_parse(word, &ret->v[ret->n]) < 0 || strv_add(&plan->arena, &ret->words, word) < 0)
			return -ENOMEM;
		ret->n++;
	}
	return 0;
}

int plan_ports(struct pinfold_plan *plan)
{
	int r = plan->offline ? add_ports(plan, KEY_REACH, &plan->reach) : 0;

	return r == 0 && plan->offline ? add_ports(plan, KEY_PUBLISH, &plan->publish) : r;
}
