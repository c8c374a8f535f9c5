/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts of the pen, in this order (E109: what is laid later shows through):
 *
 *   1. the whole tree read-only, in place. (A private root with chosen binds was the alternative: dearer by a bind for
 *      every top-level directory, and what it leaves out programs miss. In place nothing can be undone either: the
 *      mounts are locked by the user namespace and no capability remains.)
 *   2. one private tmpfs; /tmp, /var/tmp, /run, /dev come from it
 *   3. the homes, hidden by name
 *   4. grants, protected paths and masks, each after what it lies in (cover.c)
 *   5. devices and sockets that are asked for, /proc, /sys, files of /etc
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
	[OP_READONLY] = "make read-only",
	[OP_TMPFS] = "mount the private tmpfs on",
	[OP_DIRECTORY] = "make the private directory",
	[OP_FILE] = "make the private file",
	[OP_LINK] = "make the private link",
	[OP_WHITEOUT] = "make the whiteout",
	[OP_BIND] = "mount over",
	[OP_OVERLAY] = "mount the overlay on",
	[OP_PROC] = "mount proc on",
	[OP_DEVPTS] = "mount devpts on",
	[OP_SYSFS] = "mount sysfs on",
	[OP_MQUEUE] = "mount mqueue on",
	[OP_RESTRICT] = "make read-only",
};

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

/* Wherever it is installed, in a hidden home or below /tmp, it is found here, and nothing of the host's path shows. */
static void lay_enter(struct layout *layout)
{
	if (layout->plan->backend != BACKEND_BUBBLEWRAP)
		return;
	layout_bind(layout, layout_source(layout, layout->plan->survey.enter, NULL, ATTR_FIXED), PLAN_ENTER_PLACE,
		    false);
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
			layout_op(layout, OP_LINK, layout_join(layout, "run", below))->text =
				survey->run_links.v[i + 1];
	}
	lay_enter(layout);
	if (!survey->resolver || layout->plan->offline)
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
	static const char *const nodes[] = {"/dev/null",   "/dev/zero",    "/dev/full",
					    "/dev/random", "/dev/urandom", "/dev/tty"};
	static const char *const links[][2] = {
		{ "dev/fd", "/proc/self/fd" }, { "dev/stdin", "/proc/self/fd/0" }, { "dev/stdout", "/proc/self/fd/1" },
		{ "dev/stderr", "/proc/self/fd/2" }, { "dev/ptmx", "pts/ptmx" },
	};
	const struct survey *survey = &layout->plan->survey;

	layout_directory(layout, "dev/pts", 0755);
	layout_directory(layout, "dev/shm", 0755);
	layout_directory(layout, "dev/mqueue", 0755);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		layout_op(layout, OP_LINK, links[i][0])->text = links[i][1];
	layout_region(layout, "/dev", "dev", ATTR_READONLY | ATTR_NOSUID | ATTR_NOEXEC);
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		bind_device(layout, nodes[i], nodes[i]);
	if (survey->terminal.path)
		bind_device(layout, survey->terminal.path, "/dev/console");
	layout_op(layout, OP_DEVPTS, "/dev/pts");
	/* the message queues of the pen's own ipc namespace; Landlock knows them by this place */
	layout_op(layout, OP_MQUEUE, "/dev/mqueue")->is_optional = true;
	layout_region(layout, "/dev/shm", "shm", 0);
}

/* What is granted is to be opened and connected to, which a read-only mount lets through: its mode, owner and times are
 * not the command's to change (E002). */
static void lay_granted_devices(struct layout *layout)
{
	const struct survey *survey = &layout->plan->survey;

	for (size_t i = 0; i < survey->device_count; i++) {
		int source = layout_source(layout, survey->devices[i].path, &survey->devices[i].node,
					   ATTR_READONLY | ATTR_NOSUID | ATTR_NOEXEC);

		if (source >= 0)
			layout->plan->sources[source].idmap = -1;
		layout_bind(layout, source, survey->devices[i].path, survey->devices[i].is_directory);
	}
}

static void lay_sockets(struct layout *layout)
{
	const struct survey *survey = &layout->plan->survey;

	for (size_t i = 0; i < survey->socket_count; i++) {
		int source = layout_source(layout, survey->sockets[i].path, &survey->sockets[i].node, ATTR_FIXED);

		layout_bind(layout, source, survey->sockets[i].path, survey->sockets[i].is_directory);
	}
}

static void lay_kernel_views(struct layout *layout)
{
	/* Host uid 0 may write these without any capability (E10C), the root of a container those of its own network.
	 */
	static const char *const root_files[] = {
		"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi",
	};
	struct pinfold_plan *plan = layout->plan;
	bool owns_some = plan->ids == IDS_ROOT || plan->host->is_mapped_root;

	if (plan->host->fact[FACT_FRESH_PROC].state != FACT_NO)
		layout_op(layout, OP_PROC, "/proc");
	for (size_t i = 0; owns_some && i < sizeof(root_files) / sizeof(root_files[0]); i++) {
		struct plan_op *op = layout_op(layout, OP_RESTRICT, root_files[i]);

		op->attr_set = ATTR_READONLY;
		op->is_optional = true;
	}
	/* bubblewrap mounts no sysfs: the host's shows the names of its interfaces */
	if (plan->offline && plan->backend != BACKEND_BUBBLEWRAP) {
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

/*
 * Offline no name server can answer. The C library of most systems notices at once, since its socket is told; musl's,
 * and with it every program that is linked with that, sends to all servers without connecting, and waits five seconds
 * or more for an answer. A time limit of nothing ends that, and does no harm elsewhere. Laid over the name itself,
 * whatever it is: a file, or a link, to which place and if to any.
 */
static void lay_resolver(struct layout *layout)
{
	static const char text[] = "# pinfold: this run is offline\n"
				   "nameserver 127.0.0.1\n"
				   "options timeout:0 attempts:1\n";

	if (!layout->plan->offline)
		return;
	layout_file(layout, "resolv.conf", 0444, text, sizeof(text) - 1);
	layout_cover(layout, "resolv.conf", "/etc/resolv.conf", ATTR_FIXED);
	layout->plan->ops[layout->plan->op_count - 1].is_optional = true;
}

/* Nearly all operations are whiteouts: one for every hidden name. */
static int make_room(struct pinfold_plan *plan)
{
	size_t n = plan->op_count + plan->survey.hidden_count + 128;

	plan->ops = arena_grow(&plan->arena, plan->ops, plan->op_count, n, sizeof(*plan->ops), &plan->op_cap);
	return plan->ops ? 0 : -ENOMEM;
}

static int collect_granted(struct pinfold_plan *plan)
{
	const struct survey *survey = &plan->survey;
	struct path_set *set = &plan->granted;
	struct arena *arena = &plan->arena;
	int r = path_set_add(arena, set, survey->worktree);

	for (size_t i = 0; i < survey->write_count && r == 0; i++)
		r = path_set_add(arena, set, survey->writes[i].path);
	for (size_t i = 0; i < survey->read_count && r == 0; i++)
		r = path_set_add(arena, set, survey->reads[i].path);
	for (size_t i = 0; i < survey->socket_count && r == 0; i++)
		r = path_set_add(arena, set, survey->sockets[i].path);
	for (size_t i = 0; i < survey->cache_count && r == 0; i++)
		r = path_set_add(arena, set, survey->caches[i].tool);
	path_set_sort(set);
	return r;
}

static int collect_watched(struct pinfold_plan *plan)
{
	if (plan->host->fact[FACT_WATCH].state == FACT_NO || plan->backend == BACKEND_BUBBLEWRAP)
		return 0;
	plan->watched = ARENA_ARRAY(&plan->arena, size_t, plan->op_count + 1);
	for (size_t i = 0; plan->watched && i < plan->op_count; i++)
		if (plan->ops[i].is_cover)
			plan->watched[plan->watched_count++] = i;
	return plan->watched ? 0 : -ENOMEM;
}

int plan_mounts(struct pinfold_plan *plan)
{
	struct layout layout = { .plan = plan };

	if (make_room(plan) < 0 || collect_granted(plan) < 0)
		return -ENOMEM;
	lay_private(&layout);
	lay_temporary(&layout);
	lay_run(&layout);
	lay_devices(&layout);
	layout_homes(&layout);
	layout_covers(&layout);
	lay_granted_devices(&layout);
	lay_sockets(&layout);
	lay_kernel_views(&layout);
	lay_account(&layout);
	lay_resolver(&layout);
	if (layout.error)
		return layout.error;
	if (collect_watched(plan) < 0)
		return -ENOMEM;
	plan->scratch = ARENA_ARRAY(&plan->arena, int, 2 * plan->source_count + plan->watched_count + 1);
	return plan->scratch ? 0 : -ENOMEM;
}

/* A regular file that is only read is opened again inside, where its path is visible there (E110a). */
static void decide_stdio(struct pinfold_plan *plan)
{
	for (int i = 0; i < 3; i++) {
		const struct survey_stdio *stdio = &plan->survey.stdio[i];

		if (stdio->kind != STDIO_FILE || (stdio->flags & 3) != 0 || !stdio->path)
			continue;
		plan->reopen[i] = plan_shows(plan, stdio->path);
		plan->reopen_path[i] = stdio->path;
	}
}

int plan_namespaces(struct pinfold_plan *plan)
{
	int r;

	plan->offline = policy_number(plan->policy, KEY_NETWORK) == NETWORK_OFFLINE &&
			plan->host->fact[FACT_NET_NAMESPACE].state != FACT_NO;
	decide_stdio(plan);
	r = plan_ids(plan);
	if (r == 0 && plan->backend == BACKEND_OWN_NAMESPACES)
		r = plan_ports(plan);
	if (r == 0)
		r = plan_mounts(plan);
	if (r == 0)
		r = plan_landlock(plan);
	plan->has_seccomp = plan->host->fact[FACT_SECCOMP].state != FACT_NO;
	plan->filters[SECCOMP_BASE] = true;
	plan->filters[SECCOMP_CLOSED] = !policy_number(plan->policy, KEY_NESTING);
	plan->filters[SECCOMP_ROOT] = plan->ids != IDS_SELF;
	return r;
}

/* ---- questions about the layout ---- */

bool plan_grants_below(const struct pinfold_plan *plan, const char *path)
{
	const struct survey *survey = &plan->survey;

	if (!path_set_first_in(&plan->granted, path))
		return false;
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

bool plan_grants_in(const struct pinfold_plan *plan, const char *path)
{
	return path_set_first_in(&plan->granted, path) != NULL;
}

const char *plan_writable_root(const struct pinfold_plan *plan, const char *path)
{
	const struct survey *survey = &plan->survey;
	const char *best = NULL;

	if (!policy_number(plan->policy, KEY_READ_ONLY) && path_is_in(path, survey->worktree))
		best = survey->worktree;
	for (size_t i = 0; i < survey->write_count; i++)
		if (path_is_in(path, survey->writes[i].path) &&
		    (!best || path_depth(survey->writes[i].path) > path_depth(best)))
			best = survey->writes[i].path;
	return best;
}

/* The depth of the deepest of these that holds path, plus one; 0: none does. */
static size_t deepest_grant(const struct survey_grant *grants, size_t n, const char *path, size_t least)
{
	for (size_t i = 0; i < n; i++)
		if (path_is_in(path, grants[i].path) && path_depth(grants[i].path) >= least)
			least = path_depth(grants[i].path) + 1;
	return least;
}

/* Where nothing is granted and nothing hidden: not where the pen has something of its own. */
static bool shows_by_itself(const struct pinfold_plan *plan, const char *path)
{
	static const char *const private_places[] = { "/tmp", "/var/tmp", "/run", "/dev/shm" };

	for (size_t i = 0; i < sizeof(private_places) / sizeof(private_places[0]); i++)
		if (path_is_below(path, private_places[i]))
			return false;
	for (size_t i = 0; i < plan->survey.home_count; i++)
		if (policy_number(plan->policy, KEY_HOME) == HOME_HIDDEN &&
		    path_is_below(path, plan->survey.home[i].path))
			return false;
	return true;
}

bool plan_shows(const struct pinfold_plan *plan, const char *path)
{
	const struct survey *survey = &plan->survey;
	size_t shown = path_is_in(path, survey->worktree) ? path_depth(survey->worktree) + 1 : 0, hidden = 0;
	size_t length = strlen(path);

	shown = deepest_grant(survey->writes, survey->write_count, path, shown);
	shown = deepest_grant(survey->reads, survey->read_count, path, shown);
	shown = deepest_grant(survey->tools, survey->tool_count, path, shown);
	for (size_t i = 0; i < survey->hidden_count; i++)
		if (path_is_in_n(path, length, survey->hidden[i].path, strlen(survey->hidden[i].path)) &&
		    path_depth(survey->hidden[i].path) >= hidden)
			hidden = path_depth(survey->hidden[i].path) + 1;
	if (shown || hidden)
		return shown > hidden;
	return shows_by_itself(plan, path);
}
