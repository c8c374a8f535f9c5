/* SPDX-License-Identifier: Apache-2.0 */
/* Whom the command runs as (see linux/ids.c for the reasons). */
#include <errno.h>
#include <unistd.h>

#include "plan/internal.h"

/* The unprivileged host id of runs started by root: in the range that Linux distributions leave unused (60578 to
 * 61183), and inside the 65536 ids that a container usually has. */
enum { PEN_ID = 61183 };

static int add_idmap(struct pinfold_plan *plan, const struct survey_node *node)
{
	struct plan_idmap *maps;

	if (!node->mode || plan_idmap_for(plan, node) >= 0)
		return 0;
	maps = arena_grow(&plan->arena, plan->idmaps, plan->idmap_count, plan->idmap_count + 1, sizeof(*maps),
			  &plan->idmap_cap);
	if (!maps)
		return -ENOMEM;
	plan->idmaps = maps;
	maps[plan->idmap_count++] = (struct plan_idmap){ node->uid, node->gid };
	return 0;
}

static int add_grant_maps(struct pinfold_plan *plan, const struct survey_grant *grants, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_idmap(plan, &grants[i].node);
	return r;
}

static int add_maps(struct pinfold_plan *plan)
{
	const struct survey *survey = &plan->survey;
	int r = add_idmap(plan, &survey->worktree_node);

	for (size_t i = 0; r == 0 && i < survey->home_count; i++)
		r = add_idmap(plan, &survey->home[i].node);
	for (size_t i = 0; r == 0 && i < survey->cache_count; i++)
		r = add_idmap(plan, &survey->caches[i].node);
	if (r == 0 && survey->tmp)
		r = add_idmap(plan, &survey->tmp_node);
	if (r == 0)
		r = add_grant_maps(plan, survey->writes, survey->write_count);
	if (r == 0)
		r = add_grant_maps(plan, survey->reads, survey->read_count);
	if (r == 0)
		r = add_grant_maps(plan, survey->tools, survey->tool_count);
	return r == 0 ? add_grant_maps(plan, survey->sockets, survey->socket_count) : r;
}

int plan_idmap_for(const struct pinfold_plan *plan, const struct survey_node *node)
{
	if (plan->ids != IDS_HIDDEN)
		return -1;
	for (size_t i = 0; i < plan->idmap_count; i++)
		if (plan->idmaps[i].uid == node->uid && plan->idmaps[i].gid == node->gid)
			return (int)i;
	return -1;
}

int plan_ids(struct pinfold_plan *plan)
{
	const struct identity *who = &plan->survey.who;

	plan->ids = IDS_SELF;
	plan->host_uid = plan->inner_uid = who->uid;
	plan->host_gid = plan->inner_gid = who->gid;
	if (who->uid != 0 || plan->host->is_mapped_root)
		return 0;
	plan->ids = IDS_ROOT;
	/* without namespaces there is none to map the id in */
	if (plan->backend != BACKEND_OWN_NAMESPACES || !plan->host->has_admin ||
	    plan->host->fact[FACT_IDMAP].state == FACT_NO)
		return 0;
	plan->ids = IDS_HIDDEN;
	plan->host_uid = plan->host_gid = PEN_ID;
	plan->inner_uid = plan->inner_gid = 0;
	return add_maps(plan);
}
