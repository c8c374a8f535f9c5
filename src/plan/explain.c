/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two questions are answered apart, and then compared. What will the kernel do? The view says what is at the path, and
 * mount, Landlock and mode are asked in turn. Which rule is that? The most specific of what was granted, protected and
 * hidden around the path. Where the rule says no and the kernel does not, this backend cannot hold it, and the answer
 * says so.
 */
#include "plan/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/path.h"
#include "linux/landlock.h"
#include "plan/explain_rule.h"
#include "plan/internal.h"
#include "plan/view.h"

const char *const explain_right_names[RIGHT_COUNT] = { "read", "write", "create", "rename", "execute", "connect" };

struct asking {
	const struct pinfold_plan *plan;
	struct arena *arena;
	struct view_way way;
	int error; /* sticky: -ENOMEM */
};

static const char *text_or_fail(struct asking *ask, const char *text)
{
	if (!text)
		ask->error = -ENOMEM;
	return text ? text : "";
}

/* ---- what the kernel does ---- */

static const char missing[] = "it does not exist inside", permissions[] = "its owner and mode do not allow it",
		  read_only[] = "it is on a read-only mount", landlock[] = "Landlock does not allow it";

static bool landlock_allows(const struct pinfold_plan *plan, const char *path, uint64_t access)
{
	uint64_t open = ~plan->landlock_handled;

	if (!plan->has_landlock)
		return true;
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].path && path_is_in(path, plan->rules[i].path))
			open |= plan->rules[i].access;
	return (access & ~open) == 0;
}

static bool is_special(const struct view_node *node)
{
	return S_ISCHR(node->mode) || S_ISBLK(node->mode) || S_ISFIFO(node->mode);
}

static const char *blocks_read(const struct asking *ask)
{
	const struct view_node *node = &ask->way.node;

	if (node->kind == VIEW_ABSENT)
		return missing;
	if (S_ISSOCK(node->mode))
		return "it is a socket: it can be connected to, not opened";
	if (!view_may(ask->plan, node, VIEW_READ))
		return permissions;
	return landlock_allows(ask->plan, node->path, S_ISDIR(node->mode) ? LL_READ_DIR : LL_READ_FILE) ? NULL :
													  landlock;
}

static const char *blocks_write(const struct asking *ask)
{
	const struct view_node *node = &ask->way.node;

	if (node->kind == VIEW_ABSENT)
		return missing;
	if (S_ISDIR(node->mode))
		return "it is a directory";
	if (S_ISSOCK(node->mode))
		return "it is a socket: it can be connected to, not opened";
	if ((node->attr & ATTR_READONLY) && !is_special(node))
		return read_only;
	if (!view_may(ask->plan, node, VIEW_WRITE))
		return permissions;
	return landlock_allows(ask->plan, node->path, LL_WRITE_FILE) ? NULL : landlock;
}

/* May names be made (or taken away: access) in the directory? */
static const char *blocks_names(const struct asking *ask, const struct view_node *directory, uint64_t access)
{
	if (directory->kind == VIEW_ABSENT || !S_ISDIR(directory->mode))
		return "the directory does not exist inside";
	if (directory->kind == VIEW_KERNEL && strcmp(directory->path, "/dev/mqueue") != 0)
		return "the kernel has no names to be made there";
	if (directory->attr & ATTR_READONLY)
		return read_only;
	if (!view_may(ask->plan, directory, VIEW_WRITE | VIEW_EXECUTE))
		return "owner and mode of the directory do not allow it";
	return landlock_allows(ask->plan, directory->path, access) ? NULL : landlock;
}

static const char *blocks_create(const struct asking *ask)
{
	const struct view_way *way = &ask->way;

	if (!way->closed && way->node.kind != VIEW_ABSENT && S_ISDIR(way->node.mode)) {
		const char *why = blocks_names(ask, &way->node, LL_MAKE_REG);

		return why || view_may(ask->plan, &way->node, VIEW_EXECUTE) ? why : permissions;
	}
	/* more than the last component is missing */
	if (way->name.kind == VIEW_ABSENT && strcmp(way->name.path, way->parent.path) != 0 &&
	    path_depth(way->name.path) != path_depth(way->parent.path) + 1)
		return "the directory does not exist inside";
	return blocks_names(ask, &way->parent, LL_MAKE_REG);
}

static bool is_owners(const struct pinfold_plan *plan, const struct view_node *node)
{
	return node->idmap >= 0 ? node->uid == plan->idmaps[node->idmap].uid : node->uid == plan->host_uid;
}

static const char *blocks_rename(const struct asking *ask)
{
	const struct view_way *way = &ask->way;
	bool is_directory = S_ISDIR(way->name.mode);
	const char *why;

	if (way->name.kind == VIEW_ABSENT)
		return missing;
	if (way->is_dots)
		return "the name is a dot: it cannot be moved by that";
	if (way->name.is_mount_point || strcmp(way->name.path, "/") == 0)
		return "it is a mount point, which nobody can move";
	why = blocks_names(ask, &way->parent,
			   (is_directory ? LL_REMOVE_DIR : LL_REMOVE_FILE) |
				   (is_directory               ? LL_MAKE_DIR :
				    S_ISLNK(way->name.mode)    ? LL_MAKE_SYM :
				    S_ISFIFO(way->name.mode)   ? LL_MAKE_FIFO :
				    S_ISSOCK(way->name.mode)   ? LL_MAKE_SOCK :
								 LL_MAKE_REG));
	if (!why && (way->parent.mode & S_ISVTX) && !is_owners(ask->plan, &way->parent) &&
	    !is_owners(ask->plan, &way->name))
		return "the directory lets only the owner do it";
	return why;
}

static const char *blocks_execute(const struct asking *ask)
{
	const struct view_node *node = &ask->way.node;

	if (node->kind == VIEW_ABSENT)
		return missing;
	if (!S_ISDIR(node->mode) && (!S_ISREG(node->mode) || (node->attr & ATTR_NOEXEC)))
		return S_ISREG(node->mode) ? "nothing is executed on its mount" : "it is no program";
	if (!view_may(ask->plan, node, VIEW_EXECUTE))
		return permissions;
	return S_ISDIR(node->mode) || landlock_allows(ask->plan, node->path, LL_EXECUTE) ? NULL : landlock;
}

/* Mounts refuse nobody who connects; what makes a file a host's is that nothing of the pen is behind it. */
static const char *blocks_connect(const struct asking *ask)
{
	const struct view_node *node = &ask->way.node;

	if (node->kind == VIEW_ABSENT)
		return missing;
	if (!S_ISSOCK(node->mode))
		return "it is no socket";
	if (!view_may(ask->plan, node, VIEW_WRITE))
		return permissions;
	if (ask->plan->has_seccomp && ask->plan->filters[SECCOMP_NO_UNIX])
		return "the filter lets nobody make a unix socket";
	if (node->is_overlaid)
		return "through the overlay of the home nobody answers";
	return landlock_allows(ask->plan, node->path, LL_RESOLVE_UNIX) ? NULL : landlock;
}

static const char *(*const blocks[RIGHT_COUNT])(const struct asking *) = {
	[RIGHT_READ] = blocks_read,
	[RIGHT_WRITE] = blocks_write,
	[RIGHT_CREATE] = blocks_create,
	[RIGHT_RENAME] = blocks_rename,
	[RIGHT_EXECUTE] = blocks_execute,
	[RIGHT_CONNECT] = blocks_connect,
};

/* ---- answers ---- */

static const char *rule_text(struct asking *ask, const struct rule *rule)
{
	if (!*rule->text || strcmp(rule->word, rule->text) == 0)
		return rule->word;
	return text_or_fail(ask, arena_printf(ask->arena, "%s %s", rule->word, rule->text));
}

static struct explain_answer answer(struct asking *ask, enum explain_right right)
{
	const char *about = right == RIGHT_RENAME ? ask->way.name.path : ask->way.intended;
	struct rule rule = explain_find_rule(ask->plan, about, right);
	struct explain_answer ret = { .is_held = true, .source = rule.source };
	bool is_denied = explain_rule_denies(ask->plan, &rule, right);
	const char *closed;

	ret.rule = rule_text(ask, &rule);
	closed = right == RIGHT_CREATE || right == RIGHT_RENAME ? ask->way.name_closed : ask->way.closed;
	if (closed)
		ret.why = text_or_fail(ask, arena_printf(ask->arena, "the directory '%s' cannot be entered", closed));
	else
		ret.why = blocks[right](ask);
	ret.allowed = !ret.why;
	if (ret.allowed && is_denied) {
		ret.is_held = false;
		ret.why = rule.is_absent ? "it can be made; the check after the run moves it away" :
					   "this backend cannot hold it";
	}
	/* the rule lets it through, something older does not */
	if (!ret.allowed && !is_denied && (ret.why == permissions || closed)) {
		ret.rule = "file permissions";
		ret.source = "the file system";
	}
	return ret;
}

static const char *absolute(struct asking *ask, const char *path)
{
	const struct survey *survey = &ask->plan->survey;

	if (path[0] == '~' && (path[1] == '/' || !path[1]) && survey->home_count)
		return text_or_fail(ask, arena_printf(ask->arena, "%s%s", survey->home[0].path, path + 1));
	return path[0] == '/' ? path : text_or_fail(ask, arena_printf(ask->arena, "%s/%s", ask->plan->cwd, path));
}

static int look_at_path(struct asking *ask, const char *path, struct pinfold_error *err)
{
	const char *whole = absolute(ask, path);
	int r = ask->error ? ask->error : view_follow(ask->plan, ask->arena, whole, &ask->way);

	if (r == -ENOMEM)
		return err_oom(err);
	return r < 0 ? err_sys(err, PINFOLD_USAGE, -r, "look for", path) : 0;
}

int explain_path(const struct pinfold_plan *plan, struct arena *arena, const char *path, struct explain_path *ret,
		 struct pinfold_error *err)
{
	struct asking ask = { .plan = plan, .arena = arena };
	int r = look_at_path(&ask, path, err);

	if (r < 0)
		return r;
	*ret = (struct explain_path){ .path = path, .resolved = ask.way.intended,
				      .exists = ask.way.node.kind != VIEW_ABSENT && !ask.way.closed,
				      .is_socket = S_ISSOCK(ask.way.node.mode) };
	for (int right = 0; right < RIGHT_COUNT; right++)
		ret->right[right] = answer(&ask, (enum explain_right)right);
	return ask.error ? err_oom(err) : 0;
}

static int right_of(const char *line, size_t length)
{
	for (int right = 0; right < RIGHT_COUNT; right++)
		if (strlen(explain_right_names[right]) == length && !memcmp(line, explain_right_names[right], length))
			return right;
	return -1;
}

bool explain_prove(struct explain_path *path, const char *lines)
{
	bool agrees = true;

	for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t length = strcspn(line, " \n");
		int right = right_of(line, length);

		if (right < 0 || line[length] != ' ')
			continue;
		path->right[right].is_asked = true;
		path->right[right].errnum = (int)strtol(line + length, NULL, 10);
		agrees &= path->right[right].allowed == (path->right[right].errnum == 0);
	}
	return agrees;
}

int explain_command(const struct pinfold_plan *plan, struct arena *arena, struct explain_command *ret,
		    struct pinfold_error *err)
{
	struct asking ask = { .plan = plan, .arena = arena };

	*ret = (struct explain_command){ .name = plan->argv.v[0], .status = 127 };
	ret->execute = (struct explain_answer){ .is_held = true, .rule = "PATH", .source = "the environment",
						.why = "no directory of PATH has it inside" };
	for (size_t i = 0; i < plan->candidates.n; i++) {
		struct explain_answer found;
		int r = look_at_path(&ask, plan->candidates.v[i], err);

		if (r < 0)
			return r;
		if (ask.way.node.kind == VIEW_ABSENT || ask.way.closed)
			continue;
		found = answer(&ask, RIGHT_EXECUTE);
		if (S_ISDIR(ask.way.node.mode)) {
			found.allowed = false;
			found.why = "it is a directory";
		}
		if (found.allowed || ret->status == 127)
			ret->execute = found;
		ret->status = found.allowed ? 0 : 126;
		ret->path = plan->candidates.v[i];
		if (found.allowed)
			break;
	}
	if (plan->needs_network && policy_number(plan->policy, KEY_WORD_CHECK) == WORD_CHECK_REFUSE) {
		ret->status = 125;
		ret->execute = (struct explain_answer){
			.is_held = true, .rule = "word_check refuse", .source = explain_source_of(plan, KEY_WORD_CHECK),
			.why = "it needs the network, which is off",
		};
	}
	return ask.error ? err_oom(err) : 0;
}
