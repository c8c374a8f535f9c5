/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies over what. Grants, protected paths and masks meet in every nesting, and a mount that comes later covers
 * whatever is mounted below it already (E109, F029, F030, F040). So all of them go into one list, a parent before what
 * lies in it, and the rule is the order itself: the most specific entry decides; at the same path hiding beats
 * protecting beats writing beats reading. How the survey ordered its lists makes no difference.
 *
 * On the way down a stack holds what encloses the next entry: it tells whether there is anything to do (nothing is
 * protected where nothing can be written, nothing hidden where nothing shows), and which directories between the two
 * have to be pinned.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/sort.h"
#include "plan/internal.h"

enum {
	ATTR_PLAIN = ATTR_NOSUID | ATTR_NODEV,
	ATTR_FIXED = ATTR_READONLY | ATTR_NOSUID | ATTR_NODEV,
};

/* In the order in which they lie over each other at the same path. */
enum cover_kind {
	COVER_SERVICE, /* a directory of host services' sockets, or one that only root may enter */
	COVER_READ,
	COVER_CACHE,
	COVER_FIXED,   /* a worktree that may not change */
	COVER_WRITE,
	COVER_PROTECT,
	COVER_HIDE,
	COVER_KIND_COUNT
};

/* What an entry makes of the places below it. */
enum sight { SIGHT_NONE, SIGHT_PRIVATE, SIGHT_READ, SIGHT_WRITE };

struct cover {
	const char *path, *from; /* from: where it lies on the host; NULL: nowhere */
	const struct survey_node *node;
	const struct survey_hidden *hidden;
	enum cover_kind kind;
	bool is_directory;
	/* once it is on the stack */
	enum sight sight;
	int idmap;
};

struct covers {
	struct layout *layout;
	struct cover *v;
	size_t n, cap;
	struct cover *stack; /* what encloses the current entry, outermost first */
	size_t depth, stack_cap;
};

/* ---- collecting ---- */

static void add(struct covers *covers, struct cover cover)
{
	struct arena *arena = &covers->layout->plan->arena;
	struct cover *v = arena_grow(arena, covers->v, covers->n, covers->n + 1, sizeof(*v), &covers->cap);

	if (!v) {
		covers->layout->error = -ENOMEM;
		return;
	}
	covers->v = v;
	v[covers->n++] = cover;
}

static void add_grants(struct covers *covers, enum cover_kind kind, const struct survey_grant *grants, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(covers, (struct cover){ .path = grants[i].path, .from = grants[i].path, .node = &grants[i].node,
					    .kind = kind, .is_directory = grants[i].is_directory });
}

/* Is this entry a name of a home's overlay, or left out of a private home, so that no mask is needed? */
static bool is_hidden_by_name(const struct pinfold_plan *plan, const struct survey_hidden *hidden)
{
	const struct survey_home *home;
	const char *below;

	if (hidden->place != PLACE_HOME || plan_writable_root(plan, hidden->path))
		return false;
	home = &plan->survey.home[hidden->home];
	below = path_below(hidden->path, home->path);
	if (!S_ISDIR(home->node.mode) || strcmp(home->path, "/") == 0 || plan_writable_root(plan, home->path) ||
	    !below || !*below)
		return false;
	for (size_t i = 0; i < home->mounts.n; i++)
		if (path_is_in(hidden->path, home->mounts.v[i]))
			return false;
	return !plan_grants_below(plan, hidden->path) || !plan_home_has_overlay(plan, (size_t)hidden->home);
}

/* Is path covered by a grant, which would show what the home's cover hides by name? */
static bool is_in_grant(const struct pinfold_plan *plan, const char *path)
{
	const struct survey *survey = &plan->survey;

	if (path_is_in(path, survey->worktree) || plan_writable_root(plan, path))
		return true;
	for (size_t i = 0; i < survey->read_count; i++)
		if (path_is_in(path, survey->reads[i].path))
			return true;
	for (size_t i = 0; i < survey->tool_count; i++)
		if (path_is_in(path, survey->tools[i].path))
			return true;
	return false;
}

static void add_hidden(struct covers *covers)
{
	const struct pinfold_plan *plan = covers->layout->plan;

	for (size_t i = 0; i < plan->survey.hidden_count; i++) {
		const struct survey_hidden *hidden = &plan->survey.hidden[i];

		if (hidden->kind != HIDDEN_DIRECTORY && hidden->kind != HIDDEN_FILE && hidden->kind != HIDDEN_CUT)
			continue;
		if (!is_hidden_by_name(plan, hidden) || is_in_grant(plan, hidden->path))
			add(covers, (struct cover){ .path = hidden->path, .hidden = hidden, .kind = COVER_HIDE });
	}
}

static void add_protected(struct covers *covers)
{
	const struct survey *survey = &covers->layout->plan->survey;

	for (size_t i = 0; i < survey->protected_count; i++) {
		const struct survey_protected *protected = &survey->protected[i];

		/* a link, too: bound onto itself it cannot be turned round (F188, F189) */
		if (protected->kind != PROTECTED_ABSENT)
			add(covers, (struct cover){ .path = protected->path, .from = protected->path,
						    .node = &protected->node, .kind = COVER_PROTECT,
						    .is_directory = protected->kind == PROTECTED_DIRECTORY });
	}
}

static void collect(struct covers *covers)
{
	const struct pinfold_plan *plan = covers->layout->plan;
	const struct survey *survey = &plan->survey;
	bool is_readonly = policy_number(plan->policy, KEY_READ_ONLY);

	add(covers, (struct cover){ .path = survey->worktree, .from = survey->worktree,
				    .node = &survey->worktree_node,
				    .kind = is_readonly ? COVER_FIXED : COVER_WRITE, .is_directory = true });
	add_grants(covers, COVER_READ, survey->tools, survey->tool_count);
	add_grants(covers, COVER_READ, survey->reads, survey->read_count);
	add_grants(covers, COVER_WRITE, survey->writes, survey->write_count);
	for (size_t i = 0; i < survey->cache_count; i++)
		add(covers, (struct cover){ .path = survey->caches[i].tool, .from = survey->caches[i].store,
					    .node = &survey->caches[i].node, .kind = COVER_CACHE,
					    .is_directory = true });
	for (size_t i = 0; i < survey->service_directories.n; i++)
		add(covers, (struct cover){ .path = survey->service_directories.v[i], .kind = COVER_SERVICE });
	for (size_t i = 0; i < survey->closed.n; i++)
		add(covers, (struct cover){ .path = survey->closed.v[i], .kind = COVER_SERVICE });
	add_protected(covers);
	add_hidden(covers);
}

static int compare(const void *a, const void *b)
{
	const struct cover *x = a, *y = b;
	int order = path_compare(x->path, y->path);

	return order ? order : (int)x->kind - (int)y->kind;
}

/* ---- what encloses the current entry ---- */

static void push(struct covers *covers, const struct cover *cover, enum sight sight, int idmap)
{
	struct arena *arena = &covers->layout->plan->arena;
	struct cover *stack = arena_grow(arena, covers->stack, covers->depth, covers->depth + 1, sizeof(*stack),
					 &covers->stack_cap);

	if (!stack) {
		covers->layout->error = -ENOMEM;
		return;
	}
	covers->stack = stack;
	stack[covers->depth] = *cover;
	stack[covers->depth].sight = sight;
	stack[covers->depth++].idmap = idmap;
}

/* NULL: nothing but the tree, the homes and the private places. */
static const struct cover *enclosing(struct covers *covers, const char *path)
{
	while (covers->depth && !path_is_in(path, covers->stack[covers->depth - 1].path))
		covers->depth--;
	return covers->depth ? &covers->stack[covers->depth - 1] : NULL;
}

/* ---- laying ---- */

/* Returns the id map of what is bound. */
static int lay_bind(struct covers *covers, const struct cover *cover, const struct cover *outer)
{
	struct layout *layout = covers->layout;
	bool is_writable = cover->kind == COVER_WRITE || cover->kind == COVER_CACHE;
	int source = layout_source(layout, cover->from, cover->node, is_writable ? ATTR_PLAIN : ATTR_FIXED);
	struct plan_source *opened;

	if (source < 0)
		return -1;
	opened = &layout->plan->sources[source];
	/* what only covers a part of a grant is mapped as that is, whoever owns it */
	if (cover->kind == COVER_PROTECT || !cover->node)
		opened->idmap = outer->idmap;
	/* Whatever lies there by then is bound over itself: the host may replace it while we set up, as its git does
	 * with HEAD and index of a linked worktree's main checkout. */
	if (cover->kind == COVER_PROTECT)
		opened->dev = opened->ino = 0;
	opened->is_recursive = cover->is_directory && cover->kind != COVER_CACHE;
	opened->is_place = strcmp(cover->from, cover->path) == 0;
	if (!outer || outer->sight < SIGHT_READ)
		layout_place(layout, cover->path, cover->is_directory);
	layout_op(layout, OP_BIND, cover->path)->source = source;
	return layout->plan->sources[source].idmap;
}

/* What was laid last keeps the command from something, and must stay when the host replaces what is below (E011). */
static void mark_cover(struct layout *layout)
{
	if (!layout->error)
		layout->plan->ops[layout->plan->op_count - 1].is_cover = true;
}

/* Every directory between what is writable and path is bound onto itself: the kernel lets nobody rename or remove a
 * mount point, and a renamed parent would take what lies over path along (E010). */
static void pin_ancestors(struct covers *covers, struct cover outer, const char *path)
{
	for (const char *slash = strchr(path + strlen(outer.path) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *dir = arena_strndup(&covers->layout->plan->arena, path, (size_t)(slash - path));
		struct cover pin = { .path = dir, .from = dir, .kind = COVER_WRITE, .is_directory = true };

		if (!dir) {
			covers->layout->error = -ENOMEM;
			return;
		}
		lay_bind(covers, &pin, &outer);
		mark_cover(covers->layout);
		push(covers, &pin, SIGHT_WRITE, outer.idmap);
	}
}

/* Nothing shows but what is granted below: those are made as places to mount over. */
static void mask_directory(struct layout *layout, const char *path)
{
	const char *inside;

	if (!plan_grants_below(layout->plan, path)) {
		layout_cover(layout, "void", path, ATTR_FIXED);
		return;
	}
	inside = layout_name(layout, "mask");
	layout_directory(layout, inside, 0755);
	layout_region(layout, path, inside, ATTR_FIXED);
}

static void mask(struct layout *layout, const struct survey_hidden *hidden)
{
	bool is_in_worktree = path_is_in(hidden->path, layout->plan->survey.worktree);
	const char *inside;

	switch (hidden->kind) {
	case HIDDEN_DIRECTORY:
		mask_directory(layout, hidden->path);
		break;
	case HIDDEN_CUT:
		inside = layout_name(layout, "cut");
		layout_file(layout, inside, hidden->node.mode & 0444, hidden->copy, strlen(hidden->copy));
		layout_cover(layout, inside, hidden->path, ATTR_FIXED);
		break;
	default:
		/* programs stumble over a file of the worktree that cannot be read (F179); elsewhere a refusal is
		 * plainer */
		layout_cover(layout, is_in_worktree ? "none" : "closed", hidden->path, ATTR_FIXED);
	}
}

/* A cache for which no store can be made on the disk lives in the private tmpfs. */
static void lay_cache(struct covers *covers, const struct cover *cover, const struct cover *outer)
{
	const char *inside;

	if (cover->from) {
		lay_bind(covers, cover, outer);
		return;
	}
	inside = layout_name(covers->layout, "cache");
	layout_directory(covers->layout, inside, 0700);
	layout_region(covers->layout, cover->path, inside, 0);
	covers->layout->plan->ops[covers->layout->plan->op_count - 1].is_optional = true;
}

/* Does the entry change anything where `outer` stands around it? */
static bool has_effect(const struct cover *cover, const struct cover *outer)
{
	enum sight around = outer ? outer->sight : SIGHT_READ;

	switch (cover->kind) {
	case COVER_SERVICE:
	case COVER_HIDE:
		return around == SIGHT_READ || around == SIGHT_WRITE;
	case COVER_READ:
		return around != SIGHT_WRITE; /* what may be written may be read (F040) */
	case COVER_PROTECT:
		return around == SIGHT_WRITE;
	default:
		return true;
	}
}

/* git replaces its configuration, which a mount point does not let it do: instead of the file lies a link to a copy,
 * which git follows, making its lock beside the copy. What the name stands for cannot be turned round: the link is the
 * mount. bubblewrap mounts no link: there the file is only protected, and git says that it cannot write to it. */
static bool lay_copy(struct covers *covers, const struct cover *cover)
{
	struct layout *layout = covers->layout;
	const struct survey *survey = &layout->plan->survey;

	for (size_t i = 0; layout->plan->backend != BACKEND_BUBBLEWRAP && i < survey->config_count; i++) {
		if (strcmp(survey->configs[i].path, cover->path) != 0)
			continue;
		layout_copy(layout, &survey->configs[i]);
		return true;
	}
	return false;
}

static enum sight lay_one(struct covers *covers, const struct cover *cover, const struct cover *outer, int *ret_idmap)
{
	struct pinfold_plan *plan = covers->layout->plan;

	*ret_idmap = -1;
	switch (cover->kind) {
	case COVER_CACHE:
		lay_cache(covers, cover, outer);
		return SIGHT_PRIVATE;
	case COVER_WRITE:
		*ret_idmap = lay_bind(covers, cover, outer);
		return SIGHT_WRITE;
	case COVER_PROTECT:
		if (lay_copy(covers, cover))
			return SIGHT_READ;
		/* fall through */
	case COVER_READ:
	case COVER_FIXED:
		lay_bind(covers, cover, outer);
		/* the private directory of a cache need not hold the place */
		if (outer && outer->sight == SIGHT_PRIVATE)
			plan->ops[plan->op_count - 1].is_optional = true;
		return SIGHT_READ;
	case COVER_SERVICE:
		mask_directory(covers->layout, cover->path);
		break;
	default:
		mask(covers->layout, cover->hidden);
		plan->has_masks = true;
	}
	/* outside of what is granted it may lie where the command cannot come, or in a place that is private now */
	plan->ops[plan->op_count - 1].is_optional = !outer || cover->kind == COVER_SERVICE;
	return SIGHT_NONE;
}

static void lay(struct covers *covers, const struct cover *cover)
{
	const struct cover *outer = enclosing(covers, cover->path);
	enum sight sight;
	int idmap;

	if (!has_effect(cover, outer))
		return;
	if (outer && outer->sight == SIGHT_WRITE && strcmp(outer->path, cover->path) != 0) {
		pin_ancestors(covers, *outer, cover->path);
		outer = enclosing(covers, cover->path);
	}
	if (covers->layout->error)
		return;
	sight = lay_one(covers, cover, outer, &idmap);
	if (cover->kind == COVER_PROTECT || sight == SIGHT_NONE)
		mark_cover(covers->layout);
	push(covers, cover, sight, idmap);
}

void layout_covers(struct layout *layout)
{
	struct covers covers = { .layout = layout };
	struct cover *room;

	collect(&covers);
	if (layout->error)
		return;
	room = ARENA_ARRAY(&layout->plan->arena, struct cover, covers.n / 2);
	if (!room) {
		layout->error = -ENOMEM;
		return;
	}
	sort_merge(covers.v, room, covers.n, sizeof(*covers.v), compare);
	for (size_t i = 0; i < covers.n; i++)
		lay(&covers, &covers.v[i]);
}
