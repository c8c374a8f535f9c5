/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is laid later shows through, so the order of the mounts decides what the command may read and write (E109, F029,
 * F030, F040). Small random worlds: grants, masks and protection nested in every way over three little trees. The
 * plan's operations are carried out on a table instead of a kernel, and what then shows at each path is compared with
 * the rule: the most specific entry decides; at the same path hiding beats protecting beats writing beats reading. The
 * order in which the survey lists things must make no difference, so every world is planned in several orders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "plan/internal.h"

enum { WORLDS = 2000, ORDERS = 4, PLACES_MAX = 128, ITEMS_MAX = 8, MOUNTS_MAX = 256 };

enum sight { SIGHT_NONE, SIGHT_PRIVATE, SIGHT_READ, SIGHT_WRITE, SIGHT_COUNT };
static const char *const sight_names[SIGHT_COUNT] = { "nothing", "something private", "readable", "writable" };

/* ---- the tree: /h (the home), /o and /tmp, each with directories a and b three deep and a file f in each ---- */

struct place {
	char path[24];
	bool is_directory;
};

static struct place places[PLACES_MAX];
static size_t place_count;

static void grow(const char *dir, int depth)
{
	static const char *const names[] = { "f", "a", "b" };

	snprintf(places[place_count].path, sizeof(places[0].path), "%s", dir);
	places[place_count++].is_directory = true;
	for (int i = 0; i < (depth > 0 ? 3 : 1); i++) {
		char below[24];

		snprintf(below, sizeof(below), "%.20s/%s", dir, names[i]);
		if (i > 0) {
			grow(below, depth - 1);
			continue;
		}
		snprintf(places[place_count++].path, sizeof(places[0].path), "%s", below);
	}
}

static const struct place *place_at(const char *path)
{
	for (size_t i = 0; i < place_count; i++)
		if (!strcmp(places[i].path, path))
			return &places[i];
	return NULL;
}

static int make_tree(void **state)
{
	static const char *const tops[] = { "/h", "/o", "/tmp" };

	(void)state;
	place_count = 0;
	for (size_t i = 0; i < 3; i++)
		grow(tops[i], 3);
	return place_count <= PLACES_MAX ? 0 : -1;
}

/* ---- a world ---- */

enum item_kind { ITEM_READ, ITEM_TOOL, ITEM_CACHE, ITEM_WRITE, ITEM_PROTECT, ITEM_HIDE, ITEM_KIND_COUNT };
static const char *const item_names[ITEM_KIND_COUNT] = { "read", "tool", "cache", "write", "protect", "hide" };

struct item {
	enum item_kind kind;
	const struct place *place;
	bool is_kept; /* a cache with a store on the disk */
};

struct world {
	const struct place *worktree;
	struct item items[ITEMS_MAX];
	size_t count;
	bool is_readonly, has_overlay, is_home_hidden;
};

static unsigned seed;

static unsigned draw(unsigned n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % n;
}

static bool overlaps(const char *a, const char *b)
{
	return path_is_in(a, b) || path_is_in(b, a);
}

/* What the survey promises about its lists. */
static bool is_fit(const struct world *world, const struct item *item)
{
	const char *path = item->place->path;
	bool is_in_home = path_is_below(path, "/h"), is_in_reach = path_is_in(path, world->worktree->path);

	for (size_t i = 0; i < world->count; i++) {
		const struct item *other = &world->items[i];

		if (item->kind == other->kind && item->place == other->place)
			return false;
		is_in_reach |= other->kind == ITEM_WRITE && path_is_in(path, other->place->path);
		/* toolchains hold and lie in nothing that is hidden; caches keep away from write paths */
		if (item->kind + other->kind == ITEM_TOOL + ITEM_HIDE && item->kind != other->kind &&
		    item->kind != ITEM_CACHE && item->kind != ITEM_WRITE && overlaps(path, other->place->path))
			return false;
		if (item->kind + other->kind == ITEM_CACHE + ITEM_WRITE && item->kind != ITEM_TOOL &&
		    item->kind != ITEM_PROTECT && item->kind != other->kind && overlaps(path, other->place->path))
			return false;
	}
	switch (item->kind) {
	case ITEM_TOOL:
	case ITEM_CACHE:
		return is_in_home && item->place->is_directory && !overlaps(path, world->worktree->path);
	case ITEM_PROTECT:
		return is_in_reach && strcmp(path, world->worktree->path) != 0;
	case ITEM_HIDE:
		return path_depth(path) > 1 && strcmp(path, world->worktree->path) != 0;
	default:
		return path_depth(path) > 1;
	}
}

static void draw_world(struct world *world)
{
	size_t wanted = 1 + draw(ITEMS_MAX);

	*world = (struct world){ .is_readonly = draw(8) == 0, .has_overlay = draw(2), .is_home_hidden = draw(4) == 0 };
	do
		world->worktree = &places[draw((unsigned)place_count)];
	while (!world->worktree->is_directory || path_depth(world->worktree->path) < 2);
	for (size_t tries = 0; world->count < wanted && tries < 64; tries++) {
		struct item item = { (enum item_kind)draw(ITEM_KIND_COUNT), &places[draw((unsigned)place_count)],
				     draw(2) };

		/* half of them where they meet others */
		if (draw(2) && !path_is_in(item.place->path, world->worktree->path))
			continue;
		if (is_fit(world, &item))
			world->items[world->count++] = item;
	}
}

/* ---- the rule ---- */

static enum sight base_sight(const struct world *world, const char *path)
{
	if (path_is_in(path, "/tmp") || (world->is_home_hidden && path_is_in(path, "/h")))
		return SIGHT_NONE;
	return SIGHT_READ;
}

static enum sight apply(enum sight sight, enum item_kind kind)
{
	switch (kind) {
	case ITEM_READ:
	case ITEM_TOOL:
		return sight == SIGHT_WRITE ? sight : SIGHT_READ;
	case ITEM_CACHE:
		return SIGHT_PRIVATE;
	case ITEM_WRITE:
		return SIGHT_WRITE;
	case ITEM_PROTECT:
		return sight == SIGHT_WRITE ? SIGHT_READ : sight;
	default:
		return SIGHT_NONE;
	}
}

/* What the items at exactly this place make of what was there. */
static enum sight sight_after(const struct world *world, const char *path, enum sight sight)
{
	bool is_worktree = !strcmp(path, world->worktree->path);

	for (int kind = 0; kind < ITEM_KIND_COUNT; kind++) {
		if (is_worktree && kind == ITEM_WRITE)
			sight = world->is_readonly ? SIGHT_READ : SIGHT_WRITE;
		for (size_t i = 0; i < world->count; i++)
			if ((int)world->items[i].kind == kind && !strcmp(world->items[i].place->path, path))
				sight = apply(sight, world->items[i].kind);
	}
	return sight;
}

static enum sight rule_at(const struct world *world, const char *path)
{
	enum sight sight = base_sight(world, path);
	char prefix[24];

	for (size_t end = 1; end <= strlen(path); end++) {
		if (path[end] != '/' && path[end] != '\0')
			continue;
		snprintf(prefix, sizeof(prefix), "%.*s", (int)end, path);
		sight = sight_after(world, prefix, sight);
	}
	return sight;
}

/* ---- the survey of a world ---- */

static struct survey_node node_of(const struct place *place)
{
	return (struct survey_node){
		.dev = 1, .ino = (uint64_t)(place - places) + 1, .uid = 1000, .gid = 1000,
		.mode = place->is_directory ? S_IFDIR | 0755 : S_IFREG | 0644,
	};
}

static void *more(struct survey *survey, void *list, size_t *count, size_t *cap, size_t size)
{
	char *grown = arena_grow(&survey->arena, list, *count, *count + 1, size, cap);

	assert_non_null(grown);
	memset(grown + *count * size, 0, size);
	(*count)++;
	return grown;
}

#define ADD(list, count) ((survey->list = more(survey, survey->list, &survey->count, &(size_t){ survey->count }, \
					       sizeof(*survey->list))) + survey->count - 1)

static enum hidden_place hidden_place(const struct world *world, const char *path)
{
	if (path_is_in(path, world->worktree->path))
		return PLACE_WORKTREE;
	return path_is_below(path, "/h") ? PLACE_HOME : PLACE_ELSEWHERE;
}

static void add_item(struct survey *survey, const struct world *world, const struct item *item)
{
	const struct survey_node node = node_of(item->place);
	const struct survey_grant grant = { .path = item->place->path, .is_directory = item->place->is_directory,
					    .source = "command line", .node = node };

	switch (item->kind) {
	case ITEM_READ:
		*ADD(reads, read_count) = grant;
		break;
	case ITEM_TOOL:
		*ADD(tools, tool_count) = grant;
		break;
	case ITEM_WRITE:
		*ADD(writes, write_count) = grant;
		break;
	case ITEM_CACHE:
		*ADD(caches, cache_count) = (struct survey_cache){
			"cache", item->place->path, item->is_kept ? "/store" : NULL, node };
		break;
	case ITEM_PROTECT:
		*ADD(protected, protected_count) = (struct survey_protected){
			.path = item->place->path, .rule = "x", .source = "x", .node = node,
			.kind = item->place->is_directory ? PROTECTED_DIRECTORY : PROTECTED_FILE };
		break;
	default:
		*ADD(hidden, hidden_count) = (struct survey_hidden){
			.path = item->place->path, .kind = item->place->is_directory ? HIDDEN_DIRECTORY : HIDDEN_FILE,
			.place = hidden_place(world, item->place->path), .rule = "x", .source = "x", .node = node };
	}
}

/* Something between the two is shown again. */
static bool is_shown_again(const struct world *world, const char *outer, const char *inner)
{
	if (path_is_below(world->worktree->path, outer) && path_is_in(inner, world->worktree->path))
		return true;
	for (size_t i = 0; i < world->count; i++)
		if ((world->items[i].kind == ITEM_WRITE || world->items[i].kind == ITEM_READ) &&
		    path_is_below(world->items[i].place->path, outer) && path_is_in(inner, world->items[i].place->path))
			return true;
	return false;
}

/* The survey lists nothing hidden inside what is hidden already. */
static bool is_listed(const struct world *world, const struct item *item)
{
	const char *path = item->place->path;

	for (size_t i = 0; item->kind == ITEM_HIDE && i < world->count; i++) {
		const char *outer = world->items[i].place->path;

		if (world->items[i].kind == ITEM_HIDE && path_is_below(path, outer) &&
		    !is_shown_again(world, outer, path))
			return false;
	}
	return true;
}

static bool is_hidden(const struct survey *survey, const char *path, bool *ret_below)
{
	*ret_below = false;
	for (size_t i = 0; i < survey->hidden_count; i++) {
		if (!strcmp(survey->hidden[i].path, path))
			return true;
		*ret_below |= path_is_below(survey->hidden[i].path, path);
	}
	return false;
}

/* As survey_list_entries does on a disk. */
static void list_entries(struct survey *survey, const char *dir)
{
	for (size_t i = 0; i < place_count; i++) {
		const char *path = places[i].path;
		bool holds_hidden;

		if (!path_is_below(path, dir) || path_depth(path) != path_depth(dir) + 1 ||
		    is_hidden(survey, path, &holds_hidden))
			continue;
		if (places[i].is_directory && holds_hidden)
			list_entries(survey, path);
		else
			*ADD(entries, entry_count) = (struct survey_entry){ path, NULL, places[i].is_directory, 0 };
	}
}

static void make_survey(struct survey *survey, const struct world *world, const size_t order[ITEMS_MAX])
{
	*survey = (struct survey){
		.who = { .uid = 1000, .gid = 1000, .user = "kim", .home = "/h", .account_home = "/h",
			 .shell = "/bin/sh" },
		.cwd = world->worktree->path, .worktree = world->worktree->path,
		.home = { { .path = "/h", .node = node_of(place_at("/h")) } }, .home_count = 1,
		.has_entries = true,
	};
	survey->cwd_node = survey->worktree_node = node_of(world->worktree);
	for (size_t i = 0; i < world->count; i++)
		if (is_listed(world, &world->items[order[i]]))
			add_item(survey, world, &world->items[order[i]]);
	if (!world->has_overlay && !world->is_home_hidden)
		list_entries(survey, "/h");
}

/* ---- a table instead of a kernel ---- */

struct mounted {
	const char *at;      /* in the pen */
	const char *from;    /* of the host; NULL: the private tmpfs */
	const char *inside;  /* there; of an overlay: the upper layer */
	bool is_overlay, is_readonly;
};

struct table {
	const struct pinfold_plan *plan;
	struct mounted v[MOUNTS_MAX];
	size_t n;
	const struct plan_op *made[MOUNTS_MAX]; /* in the private tmpfs */
	size_t made_count;
};

/* The operation that made it, or NULL. */
static const struct plan_op *find_made(const struct table *table, const char *inside)
{
	for (size_t i = 0; i < table->made_count; i++)
		if (!strcmp(table->made[i]->path, inside))
			return table->made[i];
	return NULL;
}

static const char *join(char text[96], const char *dir, const char *below)
{
	snprintf(text, 96, "%.40s%s%.40s", dir, *below ? "/" : "", below);
	return text;
}

/* A name, or a directory above it, that a whiteout takes away. */
static bool is_whited_out(const struct table *table, const char *upper, const char *below)
{
	for (size_t end = 1; end <= strlen(below); end++) {
		const struct plan_op *op;
		char name[64], text[96];

		if (below[end] != '/' && below[end] != '\0')
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)end, below);
		op = find_made(table, join(text, upper, name));
		if (op && op->kind == OP_WHITEOUT)
			return true;
	}
	return false;
}

/* What stands at path; *ret_exists: anything at all, something private included. */
static enum sight look(const struct table *table, const char *path, bool *ret_exists)
{
	const struct mounted *top = NULL;
	const char *below;
	char text[96];

	for (size_t i = 0; i < table->n; i++)
		if (path_is_in(path, table->v[i].at))
			top = &table->v[i];
	below = path_below(path, top->at);
	if (!top->from) {
		*ret_exists = find_made(table, join(text, top->inside, below));
		return *ret_exists ? SIGHT_PRIVATE : SIGHT_NONE;
	}
	if (top->is_overlay && is_whited_out(table, top->inside, below)) {
		*ret_exists = false;
		return SIGHT_NONE;
	}
	join(text, top->from, below);
	*ret_exists = place_at(text) || !strcmp(top->from, "/store") || !strcmp(path, "/run") ||
		      path_is_in(path, "/dev") || path_is_in(path, "/var") || path_is_in(path, "/proc");
	if (strcmp(text, path) != 0)
		return SIGHT_PRIVATE;
	if (!*ret_exists)
		return SIGHT_NONE;
	return top->is_readonly ? SIGHT_READ : SIGHT_WRITE;
}

/* 0, or -1: it cannot be mounted there. */
static int attach(struct table *table, struct mounted mounted)
{
	bool exists;

	look(table, mounted.at, &exists);
	if (!exists)
		return -1;
	assert_true(table->n < MOUNTS_MAX);
	table->v[table->n++] = mounted;
	return 0;
}

static int make(struct table *table, const struct plan_op *op)
{
	assert_true(table->made_count < MOUNTS_MAX);
	if (find_made(table, op->path))
		return -1; /* EEXIST */
	table->made[table->made_count++] = op;
	return 0;
}

static int carry_out(struct table *table, const struct plan_op *op)
{
	const struct plan_source *source = op->source >= 0 ? &table->plan->sources[op->source] : NULL;
	unsigned set = op->attr_set | (source ? source->attr_set : 0);

	switch (op->kind) {
	case OP_READONLY:
		table->v[table->n++] = (struct mounted){ .at = "/", .from = "", .is_readonly = true };
		return 0;
	case OP_DIRECTORY:
	case OP_FILE:
	case OP_LINK:
	case OP_WHITEOUT:
		return make(table, op);
	case OP_BIND:
	case OP_OVERLAY:
		return attach(table, (struct mounted){ .at = op->path, .from = source ? source->path : NULL,
						       .inside = op->from, .is_overlay = op->kind == OP_OVERLAY,
						       .is_readonly = set & ATTR_READONLY || op->kind == OP_OVERLAY });
	default:
		return 0;
	}
}

/* ---- the comparison ---- */

static void tell(const struct world *world, const struct table *table)
{
	print_error("worktree %s%s, home %s, %s\n", world->worktree->path, world->is_readonly ? " (read-only)" : "",
		    world->is_home_hidden ? "hidden" : "masked", world->has_overlay ? "overlay" : "entries");
	for (size_t i = 0; i < world->count; i++)
		print_error("  %s %s%s\n", item_names[world->items[i].kind], world->items[i].place->path,
			    world->items[i].kind == ITEM_CACHE && world->items[i].is_kept ? " (kept)" : "");
	for (size_t i = 0; i < table->n; i++)
		print_error("  mounted: %s from %s%s%s\n", table->v[i].at,
			    table->v[i].from ? table->v[i].from : "temp:",
			    table->v[i].from ? "" : table->v[i].inside, table->v[i].is_readonly ? " (ro)" : "");
}

static bool is_mount_point(const struct table *table, const char *path)
{
	for (size_t i = 0; i < table->n; i++)
		if (!strcmp(table->v[i].at, path))
			return true;
	return false;
}

/* A directory shows what lies in it: only the files are compared for reading, all places for writing. */
static void compare_sights(const struct world *world, const struct table *table)
{
	for (size_t i = 0; i < place_count; i++) {
		const char *path = places[i].path;
		enum sight right = rule_at(world, path), seen;
		bool exists;

		seen = look(table, path, &exists);
		/* what is private and what is not there are the same to the host's secrets */
		if (seen == SIGHT_PRIVATE)
			seen = SIGHT_NONE;
		if (right == SIGHT_PRIVATE)
			right = SIGHT_NONE;
		if (places[i].is_directory ? (seen == SIGHT_WRITE) == (right == SIGHT_WRITE) : seen == right)
			continue;
		tell(world, table);
		fail_msg("'%s' is %s, and should be %s (world %u)", path, sight_names[seen], sight_names[right], seed);
	}
}

/* Whoever renames a parent takes the mask or the protection along (E010). */
static void check_pins(const struct world *world, const struct table *table)
{
	for (size_t i = 0; i < world->count; i++) {
		const struct item *item = &world->items[i];
		char parent[24], *slash;
		enum sight above;

		snprintf(parent, sizeof(parent), "%s", item->place->path);
		slash = strrchr(parent, '/');
		*slash = '\0';
		above = rule_at(world, parent);
		if ((item->kind != ITEM_HIDE && item->kind != ITEM_PROTECT) || above == SIGHT_NONE ||
		    above == SIGHT_PRIVATE)
			continue;
		for (; slash > parent; slash = strrchr(parent, '/')) {
			*slash = '\0';
			if (*parent && rule_at(world, parent) == SIGHT_WRITE && !is_mount_point(table, parent)) {
				tell(world, table);
				fail_msg("'%s' above '%s' can be renamed", parent, item->place->path);
			}
		}
	}
}

static void set_policy(struct pinfold_policy *policy, const struct world *world)
{
	*policy = (struct pinfold_policy){ .loaded = true, .cwd = world->worktree->path,
					   .worktree = world->worktree->path };
	for (int key = 0; key < KEY_COUNT; key++)
		policy->value[key].number = policy_keys[key].builtin;
	policy->value[KEY_READ_ONLY].number = world->is_readonly;
	policy->value[KEY_HOME].number = world->is_home_hidden ? HOME_HIDDEN : HOME_MASKED;
}

static void plan_and_compare(const struct world *world, const size_t order[ITEMS_MAX])
{
	static char name[] = "true";
	char *const argv[] = { name, NULL };
	struct pinfold_policy policy;
	struct pinfold_host host = { .landlock_abi = 6 };
	struct pinfold_plan plan = { 0 };
	struct pinfold_error error;
	struct table table = { .plan = &plan };

	set_policy(&policy, world);
	if (!world->has_overlay)
		host_learn(&host, FACT_OVERLAY, "mount", "overlay", 1);
	make_survey(&plan.survey, world, order);
	assert_int_equal(plan_build(&plan, &policy, &host, argv, &error), 0);
	for (size_t i = 0; i < plan.op_count; i++) {
		if (carry_out(&table, &plan.ops[i]) == 0 || plan.ops[i].is_optional)
			continue;
		tell(world, &table);
		fail_msg("cannot %s '%s'", mount_op_names[plan.ops[i].kind], plan.ops[i].path);
	}
	compare_sights(world, &table);
	check_pins(world, &table);
	survey_free(&plan.survey);
	arena_free(&plan.arena);
}

static void shuffle(size_t order[ITEMS_MAX], size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = draw((unsigned)i), kept = order[i - 1];

		order[i - 1] = order[k];
		order[k] = kept;
	}
}

static void try_world(const struct world *world)
{
	size_t order[ITEMS_MAX];

	for (size_t i = 0; i < ITEMS_MAX; i++)
		order[i] = i;
	for (int i = 0; i < ORDERS; i++) {
		plan_and_compare(world, order);
		shuffle(order, world->count);
	}
}

static void random_worlds_follow_the_rule(void **state)
{
	struct world world;

	(void)state;
	for (unsigned i = 0; i < WORLDS; i++) {
		seed = i + 1;
		draw_world(&world);
		try_world(&world);
	}
}

/* ---- the cases that were seen elsewhere, by name ---- */

static void try_case(const char *worktree, const struct item *items, size_t count)
{
	struct world world = { .worktree = place_at(worktree), .count = count, .has_overlay = true };

	memcpy(world.items, items, count * sizeof(*items));
	try_world(&world);
	world.has_overlay = false;
	try_world(&world);
}

static void a_hidden_file_in_a_protected_directory_stays_hidden(void **state) /* F029 */
{
	const struct item items[] = { { ITEM_PROTECT, place_at("/h/a/b"), 0 },
				      { ITEM_HIDE, place_at("/h/a/b/a/f"), 0 } };

	(void)state;
	try_case("/h/a", items, 2);
}

static void what_is_hidden_and_protected_is_hidden(void **state) /* F030 */
{
	const struct item items[] = { { ITEM_PROTECT, place_at("/o/a/b"), 0 }, { ITEM_HIDE, place_at("/o/a/b"), 0 } };

	(void)state;
	try_case("/o/a", items, 2);
}

static void a_write_path_that_is_also_read_stays_writable(void **state) /* F040 */
{
	const struct item items[] = { { ITEM_READ, place_at("/h/a"), 0 }, { ITEM_READ, place_at("/h/a/b"), 0 },
				      { ITEM_READ, place_at("/o"), 0 } };

	(void)state;
	try_case("/h/a", items, 3);
}

static void a_write_path_in_a_protected_directory_is_writable(void **state)
{
	const struct item items[] = { { ITEM_PROTECT, place_at("/o/a/b"), 0 }, { ITEM_WRITE, place_at("/o/a/b/a"), 0 },
				      { ITEM_HIDE, place_at("/o/a/b/a/f"), 0 } };

	(void)state;
	try_case("/o/a", items, 3);
}

static void a_secret_in_a_write_path_in_a_hidden_directory_is_hidden(void **state) /* E109 */
{
	const struct item items[] = { { ITEM_HIDE, place_at("/o/a/b"), 0 }, { ITEM_WRITE, place_at("/o/a/b/a"), 0 },
				      { ITEM_HIDE, place_at("/o/a/b/a/f"), 0 } };

	(void)state;
	try_case("/o/a", items, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hidden_file_in_a_protected_directory_stays_hidden),
		cmocka_unit_test(what_is_hidden_and_protected_is_hidden),
		cmocka_unit_test(a_write_path_that_is_also_read_stays_writable),
		cmocka_unit_test(a_write_path_in_a_protected_directory_is_writable),
		cmocka_unit_test(a_secret_in_a_write_path_in_a_hidden_directory_is_hidden),
		cmocka_unit_test(random_worlds_follow_the_rule),
	};

	return cmocka_run_group_tests(tests, make_tree, NULL);
}
