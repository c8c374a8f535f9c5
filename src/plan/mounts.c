/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts of the pen, in this order (E109: what is laid later shows through):
 *
 *   1. the whole tree read-only, in place. (A private root with chosen binds was the alternative: dearer by a bind for
 *      every top-level directory, and what it leaves out programs miss. In place nothing can be undone either: the
 *      mounts are locked by the user namespace and no capability remains.)
 *   2. one private tmpfs; /tmp, /var/tmp, /run, /dev come from it
 *   3. the homes, hidden by name
 *   4. masks over what is hidden elsewhere
 *   5. grants: worktree, write and read paths, caches, toolchains; parents before children
 *   6. protected paths of what is writable, each ancestor pinned (E010)
 *   7. masks inside what is granted, pinned as well: hiding beats protecting beats granting (F029, F030)
 *   8. /proc, /sys, devices, files of /etc
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/num.h"
#include "base/path.h"
#include "plan/internal.h"

enum {
	ATTR_PLAIN = ATTR_NOSUID | ATTR_NODEV,
	ATTR_FIXED = ATTR_READONLY | ATTR_NOSUID | ATTR_NODEV,
};

const char *const mount_op_names[OP_KIND_COUNT] = {
	[OP_READONLY] = "make read-only", [OP_TMPFS] = "mount the private tmpfs on", [OP_DIRECTORY] = "make the private directory",
	[OP_FILE] = "make the private file", [OP_LINK] = "make the private link", [OP_WHITEOUT] = "make the whiteout",
	[OP_BIND] = "mount over", [OP_OVERLAY] = "mount the overlay on", [OP_PROC] = "mount proc on",
	[OP_DEVPTS] = "mount devpts on", [OP_SYSFS] = "mount sysfs on", [OP_RESTRICT] = "make read-only",
};

/* ---- grants ---- */

struct grant {
	const char *path, *from; /* from: where it lies on the host */
	const struct survey_node *node;
	bool is_directory, is_writable;
	bool is_recursive;
};

struct grants {
	struct grant *v;
	size_t n, cap;
};

static void add_grant(struct layout *layout, struct grants *grants, struct grant grant)
{
	struct grant *v = arena_grow(&layout->plan->arena, grants->v, grants->n, grants->n + 1, sizeof(*v), &grants->cap);

	if (!v) {
		layout->error = -ENOMEM;
		return;
	}
	grants->v = v;
	v[grants->n++] = grant;
}

static int compare_grants(const void *a, const void *b)
{
	const struct grant *x = a, *y = b;
	int order = path_compare(x->path, y->path);

	/* the stronger right last, so that it shows (F040) */
	return order ? order : (int)x->is_writable - (int)y->is_writable;
}

static void add_list(struct layout *layout, struct grants *grants, const struct survey_grant *list, size_t n, bool is_writable)
{
	for (size_t i = 0; i < n; i++)
		add_grant(layout, grants, (struct grant){ list[i].path, list[i].path, &list[i].node, list[i].is_directory,
							  is_writable, true });
}

static void collect_grants(struct layout *layout, struct grants *grants)
{
	const struct pinfold_plan *plan = layout->plan;
	const struct survey *survey = &plan->survey;
	bool is_readonly = policy_number(plan->policy, KEY_READ_ONLY);

	add_grant(layout, grants, (struct grant){ survey->worktree, survey->worktree, &survey->worktree_node, true, !is_readonly, true });
	add_list(layout, grants, survey->tools, survey->tool_count, false);
	add_list(layout, grants, survey->reads, survey->read_count, false);
	add_list(layout, grants, survey->writes, survey->write_count, true);
	for (size_t i = 0; i < survey->cache_count; i++)
		if (survey->caches[i].store)
			add_grant(layout, grants, (struct grant){ survey->caches[i].tool, survey->caches[i].store,
								  &survey->caches[i].node, true, true, false });
	if (grants->n)
		qsort(grants->v, grants->n, sizeof(*grants->v), compare_grants);
}

static void bind_grant(struct layout *layout, const struct grant *grant)
{
	int source = layout_source(layout, grant->from, grant->node, grant->is_writable ? ATTR_PLAIN : ATTR_FIXED);

	if (source < 0)
		return;
	layout->plan->sources[source].is_recursive = grant->is_recursive && grant->is_directory;
	layout_bind(layout, source, grant->path, grant->is_directory);
}

/* A cache for which no store can be made on the disk lives in the private tmpfs. */
static void bind_private_caches(struct layout *layout)
{
	const struct survey *survey = &layout->plan->survey;

	for (size_t i = 0; i < survey->cache_count; i++) {
		const char *inside;

		if (survey->caches[i].store)
			continue;
		inside = layout_name(layout, "cache");
		layout_directory(layout, inside, 0700);
		layout_place(layout, survey->caches[i].tool, true);
		layout_cover(layout, inside, survey->caches[i].tool, 0);
		layout->plan->ops[layout->plan->op_count - 1].is_optional = true;
	}
}

/* ---- masks, pins and protection ---- */

/* Every directory between the root of what is writable and path is bound onto itself: the kernel lets nobody rename or
 * remove a mount point, and a renamed parent would take the protection along (E010). */
static void pin_ancestors(struct layout *layout, struct strv *pinned, const char *root, const char *path)
{
	struct arena *arena = &layout->plan->arena;
	const char *below = path_below(path, root);

	for (const char *slash = below ? strchr(below, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
		const char *dir = arena_strndup(arena, path, (size_t)(slash - path));
		int source;

		if (!dir || strv_has(pinned, dir))
			continue;
		if (strv_add(arena, pinned, dir) < 0)
			layout->error = -ENOMEM;
		source = layout_source(layout, dir, NULL, ATTR_PLAIN);
		if (source < 0)
			return;
		layout->plan->sources[source].idmap = plan_idmap_for(layout->plan, &layout->plan->survey.worktree_node);
		layout->plan->sources[source].is_recursive = true;
		layout_bind(layout, source, dir, true);
	}
}

static void protect_paths(struct layout *layout, struct strv *pinned)
{
	struct pinfold_plan *plan = layout->plan;

	for (size_t i = 0; i < plan->survey.protected_count; i++) {
		const struct survey_protected *protected = &plan->survey.protected[i];
		const char *root = plan_writable_root(plan, protected->path);
		bool is_directory = protected->kind == PROTECTED_DIRECTORY;
		int source;

		if (!root || (protected->kind != PROTECTED_DIRECTORY && protected->kind != PROTECTED_FILE))
			continue;
		pin_ancestors(layout, pinned, root, protected->path);
		source = layout_source(layout, protected->path, &protected->node, ATTR_FIXED);
		if (source < 0)
			return;
		if (plan->ids == IDS_HIDDEN)
			plan->sources[source].idmap = plan_idmap_for(plan, &plan->survey.worktree_node);
		plan->sources[source].is_recursive = is_directory;
		layout_bind(layout, source, protected->path, is_directory);
		if (strv_add(&plan->arena, pinned, protected->path) < 0)
			layout->error = -ENOMEM;
	}
}

static void mask(struct layout *layout, const struct survey_hidden *hidden, bool is_in_worktree)
{
	if (hidden->kind == HIDDEN_DIRECTORY && plan_grants_below(layout->plan, hidden->path)) {
		const char *inside = layout_name(layout, "mask");

		layout_directory(layout, inside, 0755);
		layout_region(layout, hidden->path, inside, ATTR_FIXED);
	} else if (hidden->kind == HIDDEN_DIRECTORY) {
		layout_cover(layout, "void", hidden->path, ATTR_FIXED);
	} else if (hidden->kind == HIDDEN_CUT) {
		const char *inside = layout_name(layout, "cut");

		layout_file(layout, inside, hidden->node.mode & 0444, hidden->copy, strlen(hidden->copy));
		layout_cover(layout, inside, hidden->path, ATTR_FIXED);
	} else {
		/* programs stumble over a file of the worktree that cannot be read (F179); elsewhere a refusal is plainer */
		layout_cover(layout, is_in_worktree ? "none" : "closed", hidden->path, ATTR_FIXED);
	}
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
	if (!S_ISDIR(home->node.mode) || strcmp(home->path, "/") == 0 || plan_writable_root(plan, home->path) || !below || !*below)
		return false;
	for (size_t i = 0; i < home->mounts.n; i++)
		if (path_is_in(hidden->path, home->mounts.v[i]))
			return false;
	return !plan_grants_below(plan, hidden->path) || !plan_home_has_overlay(plan, (size_t)hidden->home);
}

static bool is_maskable(const struct survey_hidden *hidden)
{
	return hidden->kind == HIDDEN_DIRECTORY || hidden->kind == HIDDEN_FILE || hidden->kind == HIDDEN_CUT;
}

/* Is path covered again by a grant that is bound over it, so that its mask has to come later? */
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

/* What is hidden outside of what is granted. */
static void mask_elsewhere(struct layout *layout)
{
	const struct pinfold_plan *plan = layout->plan;

	for (size_t i = 0; i < plan->survey.hidden_count; i++) {
		const struct survey_hidden *hidden = &plan->survey.hidden[i];

		if (!is_maskable(hidden) || is_in_grant(plan, hidden->path) || is_hidden_by_name(plan, hidden))
			continue;
		mask(layout, hidden, false);
		layout->plan->ops[plan->op_count - 1].is_optional = true;
	}
	for (size_t i = 0; i < plan->survey.service_directories.n; i++) {
		const char *path = plan->survey.service_directories.v[i];

		if (plan_grants_below(plan, path)) {
			const char *inside = layout_name(layout, "mask");

			layout_directory(layout, inside, 0755);
			layout_region(layout, path, inside, ATTR_FIXED);
		} else {
			layout_cover(layout, "void", path, ATTR_FIXED);
		}
		layout->plan->ops[plan->op_count - 1].is_optional = true;
	}
}

static void mask_in_grants(struct layout *layout, struct strv *pinned)
{
	const struct pinfold_plan *plan = layout->plan;

	for (size_t i = 0; i < plan->survey.hidden_count; i++) {
		const struct survey_hidden *hidden = &plan->survey.hidden[i];
		const char *root = plan_writable_root(plan, hidden->path);

		if (!is_maskable(hidden) || !is_in_grant(plan, hidden->path))
			continue;
		if (root)
			pin_ancestors(layout, pinned, root, hidden->path);
		mask(layout, hidden, path_is_in(hidden->path, plan->survey.worktree));
	}
}

/* ---- the fixed places ---- */

static void lay_private(struct layout *layout)
{
	const struct pinfold_plan *plan = layout->plan;
	struct plan_op *op = layout_op(layout, OP_READONLY, "/");

	op->attr_set = ATTR_FIXED;
	op = layout_op(layout, OP_TMPFS, "/tmp");
	op->attr_set = ATTR_PLAIN;
	if (plan->limits.tmp_size != POLICY_NONE)
		op->text = arena_printf(&layout->plan->arena, "%llu", (unsigned long long)plan->limits.tmp_size);
	layout_directory(layout, "tmp", 01777);
	layout_directory(layout, "var", 01777);
	layout_directory(layout, "shm", 01777);
	layout_directory(layout, "run", 0755);
	layout_directory(layout, "dev", 0755);
	layout_directory(layout, "void", 0555);
	layout_file(layout, "none", 0444, NULL, 0);
	layout_file(layout, "closed", 0, NULL, 0);
}

static void lay_temporary(struct layout *layout)
{
	const struct survey *survey = &layout->plan->survey;

	if (survey->tmp) {
		for (int i = 0; i < 2; i++) {
			int source = layout_source(layout, survey->tmp, &survey->tmp_node, ATTR_PLAIN);

			layout_bind(layout, source, i ? "/var/tmp" : "/tmp", true);
			layout->plan->ops[layout->plan->op_count - 1].is_optional = i;
		}
		return;
	}
	layout_region(layout, "/tmp", "tmp", 0);
	layout_region(layout, "/var/tmp", "var", 0);
	layout->plan->ops[layout->plan->op_count - 1].is_optional = true; /* often a link to /tmp, or missing */
}

static void lay_run(struct layout *layout)
{
	const struct survey *survey = &layout->plan->survey;
	int source;

	layout_region(layout, "/run", "run", ATTR_FIXED);
	layout->plan->ops[layout->plan->op_count - 1].is_optional = true;
	for (size_t i = 0; i + 1 < survey->run_links.n; i += 2) {
		const char *below = path_below(survey->run_links.v[i], "/run");

		if (below && *below)
			layout_op(layout, OP_LINK, layout_join(layout, "run", below))->text = survey->run_links.v[i + 1];
	}
	if (!survey->resolver)
		return;
	source = layout_source(layout, survey->resolver, NULL, ATTR_FIXED);
	if (source < 0)
		return;
	layout->plan->sources[source].is_optional = true;
	layout_bind(layout, source, survey->resolver, false);
}

static void bind_device(struct layout *layout, const char *path, const char *place)
{
	int source = layout_source(layout, path, NULL, ATTR_NOSUID | ATTR_NOEXEC);

	if (source < 0)
		return;
	layout->plan->sources[source].is_optional = true;
	layout_bind(layout, source, place, false);
}

static void lay_devices(struct layout *layout)
{
	static const char *const nodes[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty" };
	static const char *const links[][2] = {
		{ "dev/fd", "/proc/self/fd" }, { "dev/stdin", "/proc/self/fd/0" }, { "dev/stdout", "/proc/self/fd/1" },
		{ "dev/stderr", "/proc/self/fd/2" }, { "dev/ptmx", "pts/ptmx" },
	};
	const struct survey *survey = &layout->plan->survey;

	layout_directory(layout, "dev/pts", 0755);
	layout_directory(layout, "dev/shm", 0755);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		layout_op(layout, OP_LINK, links[i][0])->text = links[i][1];
	layout_region(layout, "/dev", "dev", ATTR_READONLY | ATTR_NOSUID | ATTR_NOEXEC);
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		bind_device(layout, nodes[i], nodes[i]);
	if (survey->terminal.path)
		bind_device(layout, survey->terminal.path, "/dev/console");
	for (size_t i = 0; i < survey->device_count; i++) {
		int source = layout_source(layout, survey->devices[i].path, &survey->devices[i].node, ATTR_NOSUID | ATTR_NOEXEC);

		if (source >= 0)
			layout->plan->sources[source].idmap = -1;
		layout_bind(layout, source, survey->devices[i].path, survey->devices[i].is_directory);
	}
	layout_op(layout, OP_DEVPTS, "/dev/pts");
	layout_cover(layout, "shm", "/dev/shm", 0);
}

static void lay_sockets(struct layout *layout)
{
	const struct survey *survey = &layout->plan->survey;

	for (size_t i = 0; i < survey->socket_count; i++) {
		int source = layout_source(layout, survey->sockets[i].path, &survey->sockets[i].node, ATTR_PLAIN);

		layout_bind(layout, source, survey->sockets[i].path, survey->sockets[i].is_directory);
	}
}

static void lay_kernel_views(struct layout *layout)
{
	/* Host uid 0 may write these without any capability (E10C). */
	static const char *const root_files[] = {
		"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi",
	};
	struct pinfold_plan *plan = layout->plan;

	if (plan->host->fact[FACT_FRESH_PROC].state != FACT_NO)
		layout_op(layout, OP_PROC, "/proc");
	for (size_t i = 0; plan->ids == IDS_ROOT && i < sizeof(root_files) / sizeof(root_files[0]); i++) {
		struct plan_op *op = layout_op(layout, OP_RESTRICT, root_files[i]);

		op->attr_set = ATTR_READONLY;
		op->is_optional = true;
	}
	if (plan->offline) {
		/* /sys names the interfaces of the network namespace it was mounted in; the limits stay visible */
		int source = layout_source(layout, "/sys/fs/cgroup", NULL, ATTR_FIXED);

		layout_op(layout, OP_SYSFS, "/sys")->is_optional = true;
		if (source < 0)
			return;
		plan->sources[source].is_optional = plan->sources[source].is_recursive = true;
		layout_op(layout, OP_BIND, "/sys/fs/cgroup")->source = source;
		plan->ops[plan->op_count - 1].is_optional = true;
	}
}

static void lay_account(struct layout *layout)
{
	const struct survey *survey = &layout->plan->survey;

	if (!survey->needs_passwd_line || !survey->passwd_copy || !survey->group_copy)
		return;
	layout_file(layout, "passwd", 0444, survey->passwd_copy, strlen(survey->passwd_copy));
	layout_file(layout, "group", 0444, survey->group_copy, strlen(survey->group_copy));
	layout_cover(layout, "passwd", "/etc/passwd", ATTR_FIXED);
	layout_cover(layout, "group", "/etc/group", ATTR_FIXED);
}

/* A grant inside something hidden that itself lies in another grant comes after that mask. */
static bool is_under_late_mask(const struct pinfold_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->survey.hidden_count; i++) {
		const struct survey_hidden *hidden = &plan->survey.hidden[i];

		if (is_maskable(hidden) && path_is_below(path, hidden->path) && is_in_grant(plan, hidden->path))
			return true;
	}
	return false;
}

static void bind_grants(struct layout *layout, const struct grants *grants, bool is_late)
{
	for (size_t i = 0; i < grants->n; i++)
		if (is_under_late_mask(layout->plan, grants->v[i].path) == is_late)
			bind_grant(layout, &grants->v[i]);
}

int plan_mounts(struct pinfold_plan *plan)
{
	struct layout layout = { .plan = plan };
	struct grants grants = { 0 };
	struct strv pinned = { 0 };

	lay_private(&layout);
	lay_temporary(&layout);
	lay_run(&layout);
	layout_homes(&layout);
	mask_elsewhere(&layout);
	collect_grants(&layout, &grants);
	bind_grants(&layout, &grants, false);
	bind_private_caches(&layout);
	protect_paths(&layout, &pinned);
	mask_in_grants(&layout, &pinned);
	bind_grants(&layout, &grants, true);
	lay_devices(&layout);
	lay_sockets(&layout);
	lay_kernel_views(&layout);
	lay_account(&layout);
	if (layout.error)
		return layout.error;
	plan->scratch = ARENA_ARRAY(&plan->arena, int, 2 * plan->source_count + 1);
	return plan->scratch ? 0 : -ENOMEM;
}

/* ---- questions about the layout ---- */

bool plan_grants_below(const struct pinfold_plan *plan, const char *path)
{
	const struct survey *survey = &plan->survey;

	if (path_is_below(survey->worktree, path))
		return true;
	for (size_t i = 0; i < survey->write_count; i++)
		if (path_is_below(survey->writes[i].path, path))
			return true;
	for (size_t i = 0; i < survey->read_count; i++)
		if (path_is_below(survey->reads[i].path, path))
			return true;
	for (size_t i = 0; i < survey->socket_count; i++)
		if (path_is_below(survey->sockets[i].path, path))
			return true;
	for (size_t i = 0; i < survey->cache_count; i++)
		if (path_is_below(survey->caches[i].tool, path))
			return true;
	return false;
}

const char *plan_writable_root(const struct pinfold_plan *plan, const char *path)
{
	const struct survey *survey = &plan->survey;
	const char *best = NULL;

	if (!policy_number(plan->policy, KEY_READ_ONLY) && path_is_in(path, survey->worktree))
		best = survey->worktree;
	for (size_t i = 0; i < survey->write_count; i++)
		if (path_is_in(path, survey->writes[i].path) && (!best || path_depth(survey->writes[i].path) > path_depth(best)))
			best = survey->writes[i].path;
	return best;
}
