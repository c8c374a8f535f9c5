/* SPDX-License-Identifier: Apache-2.0 */
/* Putting mount operations together. Errors stick in the layout and are looked at once, at the end. */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "plan/internal.h"

struct plan_op *layout_op(struct layout *layout, enum mount_op_kind kind, const char *path)
{
	struct pinfold_plan *plan = layout->plan;
	static struct plan_op nowhere; /* written to, never read, once memory has run out */
	struct plan_op *ops;

	ops = arena_grow(&plan->arena, plan->ops, plan->op_count, plan->op_count + 1, sizeof(*ops), &plan->op_cap);
	if (!ops || !path) {
		layout->error = -ENOMEM;
		return &nowhere;
	}
	plan->ops = ops;
	ops[plan->op_count] = (struct plan_op){ .kind = kind, .path = path, .source = -1 };
	return &ops[plan->op_count++];
}

int layout_source(struct layout *layout, const char *path, const struct survey_node *node, unsigned attr)
{
	struct pinfold_plan *plan = layout->plan;
	struct plan_source *sources;

	sources = arena_grow(&plan->arena, plan->sources, plan->source_count, plan->source_count + 1, sizeof(*sources),
			     &plan->source_cap);
	if (!sources || !path) {
		layout->error = -ENOMEM;
		return -1;
	}
	plan->sources = sources;
	sources[plan->source_count] = (struct plan_source){
		.path = path, .attr_set = attr, .idmap = node ? plan_idmap_for(plan, node) : -1,
		.dev = node ? node->dev : 0, .ino = node ? node->ino : 0,
	};
	return (int)plan->source_count++;
}

const char *layout_join(struct layout *layout, const char *prefix, const char *name)
{
	const char *joined;

	if (!prefix || !name)
		return NULL;
	if (!*prefix || !*name)
		return *prefix ? prefix : name;
	joined = path_join(&layout->plan->arena, prefix, name);
	if (!joined)
		layout->error = -ENOMEM;
	return joined;
}

const char *layout_name(struct layout *layout, const char *prefix)
{
	const char *name = arena_printf(&layout->plan->arena, "%s%u", prefix, layout->next++);

	if (!name)
		layout->error = -ENOMEM;
	return name;
}

static bool remember(struct layout *layout, const char *inside)
{
	if (!inside || strv_has(&layout->made, inside))
		return false;
	if (strv_add(&layout->plan->arena, &layout->made, inside) < 0)
		layout->error = -ENOMEM;
	return true;
}

static void make_parents(struct layout *layout, const char *inside, unsigned mode)
{
	size_t known = layout->parent_length;

	if (known && !strncmp(inside, layout->parent, known) && inside[known] == '/' &&
	    !strchr(inside + known + 1, '/'))
		return;
	layout->parent = inside;
	layout->parent_length = 0;
	for (const char *slash = strchr(inside, '/'); slash; slash = strchr(slash + 1, '/')) {
		size_t length = (size_t)(slash - inside);
		char *parent = arena_strndup(&layout->plan->arena, inside, length);

		layout->parent_length = length;
		if (remember(layout, parent))
			layout_op(layout, OP_DIRECTORY, parent)->mode = mode;
	}
}

void layout_directory(struct layout *layout, const char *inside, unsigned mode)
{
	if (!inside) {
		layout->error = -ENOMEM;
		return;
	}
	make_parents(layout, inside, 0755);
	if (remember(layout, inside))
		layout_op(layout, OP_DIRECTORY, inside)->mode = mode;
}

void layout_file(struct layout *layout, const char *inside, unsigned mode, const char *text, size_t length)
{
	struct plan_op *op;

	if (!inside) {
		layout->error = -ENOMEM;
		return;
	}
	make_parents(layout, inside, 0755);
	if (!remember(layout, inside))
		return;
	op = layout_op(layout, OP_FILE, inside);
	op->mode = mode;
	op->text = text;
	op->length = length;
}

void layout_whiteout(struct layout *layout, const char *inside)
{
	if (!inside) {
		layout->error = -ENOMEM;
		return;
	}
	make_parents(layout, inside, 0700);
	layout_op(layout, OP_WHITEOUT, inside)->from = layout->whiteout;
	if (!layout->whiteout)
		layout->whiteout = inside;
}

void layout_cover(struct layout *layout, const char *inside, const char *path, unsigned attr)
{
	struct plan_op *op = layout_op(layout, OP_BIND, path);

	op->from = inside;
	op->attr_set = attr;
}

void layout_region(struct layout *layout, const char *path, const char *inside, unsigned attr)
{
	struct region *regions = arena_grow(&layout->plan->arena, layout->regions, layout->region_count,
					    layout->region_count + 1, sizeof(*regions), &layout->region_cap);

	if (!regions || !path || !inside) {
		layout->error = -ENOMEM;
		return;
	}
	layout_place(layout, path, true);
	layout->regions = regions;
	regions[layout->region_count++] = (struct region){ path, inside };
	layout_cover(layout, inside, path, attr);
}

void layout_copy(struct layout *layout, const struct survey_config *config)
{
	struct pinfold_plan *plan = layout->plan;
	struct plan_copy *copies = arena_grow(&plan->arena, plan->copies, plan->copy_count, plan->copy_count + 1,
					      sizeof(*copies), &plan->copy_cap);
	const char *inside = layout_name(layout, "git");
	const char *shown = layout_join(layout, "/run/pinfold", inside);
	const char *link = inside ? arena_printf(&plan->arena, "%s.link", inside) : NULL;

	if (!copies || !shown || !link) {
		layout->error = -ENOMEM;
		return;
	}
	plan->copies = copies;
	copies[plan->copy_count++] = (struct plan_copy){ inside, shown, config };
	layout_directory(layout, inside, 0700);
	layout_file(layout, layout_join(layout, inside, PLAN_COPY_NAME), config->node.mode & 0666, config->text,
		    strlen(config->text));
	layout_region(layout, shown, inside, ATTR_NOEXEC);
	layout_op(layout, OP_LINK, link)->text = layout_join(layout, shown, PLAN_COPY_NAME);
	layout_cover(layout, link, config->path, ATTR_READONLY | ATTR_NOSUID | ATTR_NODEV);
}

static const struct region *find_region(const struct layout *layout, const char *path)
{
	const struct region *best = NULL;

	for (size_t i = 0; i < layout->region_count; i++)
		if (path_is_below(path, layout->regions[i].path) &&
		    (!best || path_depth(layout->regions[i].path) >= path_depth(best->path)))
			best = &layout->regions[i];
	return best;
}

void layout_place(struct layout *layout, const char *path, bool is_directory)
{
	const struct region *region = find_region(layout, path);
	const char *inside;

	if (!region)
		return;
	inside = layout_join(layout, region->inside, path_below(path, region->path));
	if (is_directory)
		layout_directory(layout, inside, 0755);
	else
		layout_file(layout, inside, 0444, NULL, 0);
}

void layout_bind(struct layout *layout, int source, const char *path, bool is_directory)
{
	if (source < 0)
		return;
	layout_place(layout, path, is_directory);
	layout_op(layout, OP_BIND, path)->source = source;
}
