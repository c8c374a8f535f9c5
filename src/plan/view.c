/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation. Mounts cover what was mounted below them before, so at every path the last operation in the
 * plan's order whose place holds the path decides what is there; where none does, it is the host's tree. An operation
 * that the plan lets fail counts only where its place exists by the operations before it. Below a place: a bind leads
 * to the host or into the private tmpfs, whose content is the operations that make something in it; the overlay of a
 * home is the private layer, whiteouts included, over the host's.
 *
 * Links are followed here, component by component, since they lead on through the pen's mounts and not the host's.
 */
#include "plan/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "plan/internal.h"

enum { LINK_HOPS = 40 }; /* as the kernel's */

struct look {
	const struct pinfold_plan *plan;
	struct arena *arena;
	int error; /* sticky: -ENOMEM */
};

static const char *joined(struct look *look, const char *dir, const char *below)
{
	const char *path = *below ? path_join(look->arena, dir, below) : dir;

	if (!path)
		look->error = -ENOMEM;
	return path ? path : "/";
}

/* ---- what the places hold ---- */

static void see_host(struct look *look, struct view_node *node, const char *host)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t length;

	node->host = host;
	if (lstat(host, &st) < 0)
		return;
	node->kind = VIEW_HOST;
	node->mode = st.st_mode;
	node->uid = st.st_uid;
	node->gid = st.st_gid;
	if (!S_ISLNK(st.st_mode))
		return;
	length = readlink(host, target, sizeof(target) - 1);
	node->target = arena_strndup(look->arena, target, length < 0 ? 0 : (size_t)length);
	if (!node->target)
		look->error = -ENOMEM;
}

static const struct plan_op *find_private(const struct pinfold_plan *plan, const char *inside)
{
	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];

		if ((op->kind == OP_DIRECTORY || op->kind == OP_FILE || op->kind == OP_LINK ||
		     op->kind == OP_WHITEOUT) &&
		    strcmp(op->path, inside) == 0)
			return op;
	}
	return NULL;
}

static void see_private(struct look *look, struct view_node *node, const char *inside)
{
	const struct plan_op *op = find_private(look->plan, inside);

	if (!op || op->kind == OP_WHITEOUT)
		return;
	node->kind = VIEW_PRIVATE;
	node->uid = look->plan->host_uid;
	node->gid = look->plan->host_gid;
	node->mode = op->mode | (op->kind == OP_DIRECTORY ? S_IFDIR : op->kind == OP_LINK ? S_IFLNK : S_IFREG);
	if (op->kind == OP_LINK) {
		node->mode |= 0777;
		node->target = op->text;
	}
}

/* Is the name, or a directory on the way to it, taken out of the overlay by a whiteout, or made a file there? */
static bool is_cut_off(struct look *look, const char *upper, const char *below)
{
	for (size_t end = 0; below[end]; end++) {
		const struct plan_op *op;
		char *prefix;

		if (below[end + 1] != '/' && below[end + 1] != '\0')
			continue;
		prefix = arena_strndup(look->arena, below, end + 1);
		op = prefix ? find_private(look->plan, joined(look, upper, prefix)) : NULL;
		if (!prefix)
			look->error = -ENOMEM;
		if (op && (op->kind == OP_WHITEOUT || (op->kind != OP_DIRECTORY && below[end + 1])))
			return true;
	}
	return false;
}

static void see_overlay(struct look *look, struct view_node *node, const struct plan_op *op, const char *below)
{
	const struct plan_source *lower = &look->plan->sources[op->source];

	node->attr = ATTR_READONLY | ATTR_NOSUID | ATTR_NODEV;
	node->idmap = lower->idmap;
	node->is_overlaid = true;
	if (is_cut_off(look, op->from, below))
		return;
	see_private(look, node, joined(look, op->from, below));
	if (node->kind == VIEW_ABSENT)
		see_host(look, node, joined(look, lower->path, below));
}

/* The kernel's own files: what is the same on the host tells the mode. Processes are the pen's own. */
static void see_kernel(struct look *look, struct view_node *node, const struct plan_op *op, const char *below)
{
	node->attr = op->kind == OP_SYSFS ? ATTR_READONLY | ATTR_NOSUID | ATTR_NODEV : ATTR_NOSUID;
	if (op->kind == OP_PROC && below[0] >= '0' && below[0] <= '9')
		return;
	if (op->kind == OP_DEVPTS && *below && strcmp(below, "ptmx") != 0)
		return;
	if (op->kind == OP_MQUEUE && *below)
		return;
	see_host(look, node, node->path);
	if (node->kind == VIEW_HOST)
		node->kind = VIEW_KERNEL;
	if (op->kind == OP_PROC && (strcmp(below, "self") == 0 || strcmp(below, "thread-self") == 0)) {
		node->target = NULL; /* not the asking process's */
		node->mode = S_IFDIR | 0555;
	}
	/* its root is ours in a namespace of the pen's own */
	if (op->kind == OP_MQUEUE)
		node->mode = S_IFDIR | S_ISVTX | 0777;
}

static bool is_mount(const struct plan_op *op)
{
	switch (op->kind) {
	case OP_BIND:
		return !op->is_private;
	case OP_OVERLAY:
	case OP_PROC:
	case OP_DEVPTS:
	case OP_SYSFS:
	case OP_MQUEUE:
		return true;
	default:
		return false;
	}
}

static void see_before(struct look *look, const char *path, size_t ops, struct view_node *ret);

/* Was the operation carried out? */
static bool has_taken_place(struct look *look, size_t index)
{
	const struct plan_op *op = &look->plan->ops[index];
	struct view_node place;
	struct stat st;

	if (op->kind == OP_BIND && op->source >= 0 && look->plan->sources[op->source].is_optional &&
	    lstat(look->plan->sources[op->source].path, &st) < 0)
		return false;
	if (!op->is_optional)
		return true;
	see_before(look, op->path, index, &place);
	return place.kind != VIEW_ABSENT && !S_ISLNK(place.mode);
}

/* What is at path, looked at with the first `ops` operations alone. No link may be on the way. */
static void see_before(struct look *look, const char *path, size_t ops, struct view_node *ret)
{
	const struct pinfold_plan *plan = look->plan;
	unsigned restricted = 0;

	*ret = (struct view_node){ .path = path, .idmap = -1 };
	while (ops-- > 0) {
		const struct plan_op *op = &plan->ops[ops];
		const char *below = op->kind == OP_RESTRICT || op->kind == OP_READONLY || is_mount(op) ?
					    path_below(path, op->path) :
					    NULL;

		if (!below || (op->kind != OP_READONLY && !has_taken_place(look, ops)))
			continue;
		if (op->kind == OP_RESTRICT || op->kind == OP_READONLY) {
			restricted |= op->attr_set;
			ret->is_mount_point |= op->kind == OP_RESTRICT && !*below;
			continue;
		}
		ret->is_mount_point |= !*below;
		if (op->kind == OP_OVERLAY) {
			see_overlay(look, ret, op, below);
		} else if (op->kind != OP_BIND) {
			see_kernel(look, ret, op, below);
		} else if (op->source < 0) {
			ret->attr = op->attr_set | ATTR_NOSUID | ATTR_NODEV;
			see_private(look, ret, joined(look, op->from, below));
		} else {
			ret->attr = plan->sources[op->source].attr_set;
			ret->idmap = plan->sources[op->source].idmap;
			see_host(look, ret, joined(look, plan->sources[op->source].path, below));
		}
		ret->attr |= restricted;
		return;
	}
	ret->attr = restricted;
	see_host(look, ret, path);
}

static void see(struct look *look, const char *path, struct view_node *ret)
{
	const struct survey *survey = &look->plan->survey;

	see_before(look, path, look->plan->op_count, ret);
	for (size_t i = 0; ret->kind == VIEW_HOST && i < survey->mount_count; i++)
		ret->is_mount_point |= strcmp(survey->mounts[i].path, ret->host) == 0;
}

/* ---- the way there ---- */

static bool is_owner(const struct pinfold_plan *plan, const struct view_node *node, bool group)
{
	unsigned id = group ? node->gid : node->uid;
	unsigned own = group ? plan->host_gid : plan->host_uid;

	if (node->kind == VIEW_HOST && node->idmap >= 0)
		own = group ? plan->idmaps[node->idmap].gid : plan->idmaps[node->idmap].uid;
	return id == own;
}

bool view_may(const struct pinfold_plan *plan, const struct view_node *node, int want)
{
	unsigned mode = node->mode;

	/* We are who the command will be, with its groups: the kernel knows about access lists as well. */
	if (node->kind == VIEW_HOST && plan->ids == IDS_SELF && geteuid() != 0)
		return faccessat(AT_FDCWD, node->host, want, AT_EACCESS) == 0 || (errno == EROFS && want == VIEW_WRITE);
	if (is_owner(plan, node, false))
		mode >>= 6;
	else if (is_owner(plan, node, true))
		mode >>= 3;
	return (mode & (unsigned)want) == (unsigned)want;
}

/* Nothing is there, or nothing can be below it: where the rest of the path would be. */
static void see_missing(struct look *look, const char *rest, struct view_way *ret)
{
	const char *intended = path_normal(look->arena, ret->node.path, rest);

	ret->intended = intended ? intended : ret->node.path;
	ret->parent = ret->node;
	ret->node = ret->name = (struct view_node){
		.path = ret->intended, .attr = ret->parent.attr, .idmap = ret->parent.idmap };
}

static void step_up(struct look *look, struct view_way *ret)
{
	const char *parent = path_parent(look->arena, ret->node.path);

	if (!parent)
		look->error = -ENOMEM;
	else
		see(look, parent, &ret->node);
}

/* The name's own parent and self are those of the path's last component, wherever it leads from there. */
static void step_down(struct look *look, const char *component, bool is_name, struct view_way *ret)
{
	struct view_node directory = ret->node;

	see(look, joined(look, directory.path, component), &ret->node);
	if (!is_name)
		return;
	ret->parent = directory;
	ret->name = ret->node;
}

static const char *next_component(struct look *look, const char *rest, char **ret)
{
	size_t length = strcspn(rest, "/");

	*ret = arena_strndup(look->arena, rest, length);
	if (!*ret)
		look->error = -ENOMEM;
	rest += length;
	return rest + strspn(rest, "/");
}

static int follow(struct look *look, const char *rest, struct view_way *ret)
{
	bool has_name = false;
	int hops = 0;

	see(look, "/", &ret->node);
	ret->parent = ret->name = ret->node;
	for (rest += strspn(rest, "/"); *rest && !look->error;) {
		const char *directory = ret->node.path;
		char *component;

		if (ret->node.kind == VIEW_ABSENT || !S_ISDIR(ret->node.mode)) {
			see_missing(look, rest, ret);
			return look->error;
		}
		if (!ret->closed && !view_may(look->plan, &ret->node, VIEW_EXECUTE))
			ret->closed = directory;
		if (!has_name)
			ret->name_closed = ret->closed;
		rest = next_component(look, rest, &component);
		if (look->error)
			break;
		if (strcmp(component, ".") == 0 || strcmp(component, "..") == 0) {
			if (component[1])
				step_up(look, ret);
			if (!*rest && !has_name) {
				ret->parent = ret->name = ret->node;
				ret->is_dots = has_name = true;
			}
			continue;
		}
		step_down(look, component, !*rest && !has_name, ret);
		has_name |= !*rest;
		if (!S_ISLNK(ret->node.mode) || !ret->node.target)
			continue;
		if (++hops > LINK_HOPS)
			return -ELOOP;
		rest = *rest ? joined(look, ret->node.target, rest) : ret->node.target;
		see(look, *rest == '/' ? "/" : directory, &ret->node);
		rest += strspn(rest, "/");
	}
	ret->intended = ret->node.path;
	return look->error;
}

int view_follow(const struct pinfold_plan *plan, struct arena *arena, const char *path, struct view_way *ret)
{
	struct look look = { .plan = plan, .arena = arena };

	*ret = (struct view_way){ 0 };
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	return follow(&look, path, ret);
}
