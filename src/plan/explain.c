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
#include "base/num.h"
#include "base/path.h"
#include "linux/landlock.h"
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

/* ---- which rule ---- */

/* In the order in which they lie over each other at the same path (cover.c). */
enum rule_kind {
	RULE_REST,
	RULE_PRIVATE,
	RULE_SERVICE,
	RULE_READ,
	RULE_SOCKET,
	RULE_CACHE,
	RULE_FIXED,
	RULE_WRITE,
	RULE_PROTECT,
	RULE_HIDE
};

struct rule {
	enum rule_kind kind;
	size_t depth;
	const char *word, *text, *source;
	bool is_absent; /* a name that is protected and was not there at the start */
};

struct deciding {
	const char *path;
	bool is_change; /* writing, creating, renaming: protection counts, too */
	struct rule best;
};

static void consider(struct deciding *deciding, enum rule_kind kind, const char *place, const char *word,
		     const char *text, const char *source)
{
	struct rule *best = &deciding->best;
	size_t depth = path_depth(place) + 1;

	if (!path_is_in(deciding->path, place) || depth < best->depth || (depth == best->depth && kind < best->kind))
		return;
	*best = (struct rule){ kind, depth, word, text, source, false };
}

static void consider_grants(struct deciding *deciding, enum rule_kind kind, const char *word,
			    const struct survey_grant *grants, size_t n)
{
	for (size_t i = 0; i < n; i++)
		consider(deciding, kind, grants[i].path, word, grants[i].path, grants[i].source);
}

static const char *source_name(const struct policy_source *source)
{
	return source->file ? source->file : source->layer == LAYER_BUILTIN ? "built in" : "command line";
}

static const char *source_of(const struct pinfold_plan *plan, enum policy_key key)
{
	return source_name(&plan->policy->value[key].source);
}

static void consider_worktree(struct deciding *deciding, const struct pinfold_plan *plan)
{
	if (policy_number(plan->policy, KEY_READ_ONLY))
		consider(deciding, RULE_FIXED, plan->survey.worktree, "read_only", "", source_of(plan, KEY_READ_ONLY));
	else
		consider(deciding, RULE_WRITE, plan->survey.worktree, "worktree", "", source_of(plan, KEY_WORKTREE));
}

/* What the pen has of its own stands in the plan's operations. */
static void consider_private(struct deciding *deciding, const struct pinfold_plan *plan)
{
	const struct survey *survey = &plan->survey;

	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (op->kind == OP_PROC || op->kind == OP_SYSFS || op->kind == OP_DEVPTS || op->kind == OP_MQUEUE ||
		    (op->kind == OP_BIND && op->source < 0 && !op->is_private && path_depth(op->path) <= 2))
			consider(deciding, RULE_PRIVATE, op->path, "the pen's own", op->path, "built in");
	}
	for (size_t i = 0; i < plan->copy_count; i++)
		consider(deciding, RULE_PRIVATE, plan->copies[i].shown, "copy of", plan->copies[i].config->path,
			 "built in");
	if (survey->tmp) {
		consider(deciding, RULE_WRITE, "/tmp", "tmp", survey->tmp, source_of(plan, KEY_TMP));
		consider(deciding, RULE_WRITE, "/var/tmp", "tmp", survey->tmp, source_of(plan, KEY_TMP));
	}
	for (size_t i = 0; i < survey->home_count; i++)
		if (policy_number(plan->policy, KEY_HOME) == HOME_HIDDEN)
			consider(deciding, RULE_PRIVATE, survey->home[i].path, "home", "hidden",
				 source_of(plan, KEY_HOME));
}

/* Names that nothing has yet, and that the check after the run does not let stay. */
static void consider_absent(struct deciding *deciding, const struct survey *survey)
{
	for (size_t i = 0; i < survey->watch_count; i++) {
		const struct survey_watch *watch = &survey->watches[i];
		const char *below = watch->kind == WATCH_ABSENT ?
					    path_below(deciding->path, survey->watch_roots[watch->root].path) :
					    NULL;
		size_t length = strlen(watch->below);

		if (!below || !length || strncmp(below, watch->below, length) != 0 ||
		    (below[length] && below[length] != '/'))
			continue;
		deciding->best = (struct rule){ RULE_PROTECT, path_depth(deciding->path) + 1, "protect",
						watch->rule ? watch->rule : watch->below, "built in", true };
	}
}

static void consider_protected(struct deciding *deciding, const struct survey *survey)
{
	for (size_t i = 0; deciding->is_change && i < survey->protected_count; i++) {
		const struct survey_protected *protected = &survey->protected[i];

		consider(deciding, RULE_PROTECT, protected->path, "protect", protected->rule, protected->source);
		if (deciding->best.text == protected->rule)
			deciding->best.is_absent = protected->kind == PROTECTED_ABSENT;
	}
}

static bool is_change(enum explain_right right)
{
	return right == RIGHT_WRITE || right == RIGHT_CREATE || right == RIGHT_RENAME;
}

static struct rule find_rule(const struct pinfold_plan *plan, const char *path, enum explain_right right)
{
	const struct survey *survey = &plan->survey;
	struct deciding deciding = { .path = path, .is_change = is_change(right) };

	consider(&deciding, RULE_REST, "/", "everything else", plan->backend == BACKEND_NONE ? "open" : "read-only",
		 "built in");
	consider_private(&deciding, plan);
	for (size_t i = 0; i < survey->service_directories.n; i++)
		consider(&deciding, RULE_SERVICE, survey->service_directories.v[i], "services",
			 survey->service_directories.v[i], "built in");
	for (size_t i = 0; i < survey->closed.n; i++)
		consider(&deciding, RULE_SERVICE, survey->closed.v[i], "for root alone", survey->closed.v[i],
			 "built in");
	consider_grants(&deciding, RULE_READ, "toolchain", survey->tools, survey->tool_count);
	consider_grants(&deciding, RULE_READ, "read", survey->reads, survey->read_count);
	consider_grants(&deciding, RULE_SOCKET, "socket", survey->sockets, survey->socket_count);
	consider_grants(&deciding, RULE_READ, "device", survey->devices, survey->device_count);
	for (size_t i = 0; i < survey->cache_count; i++)
		consider(&deciding, RULE_CACHE, survey->caches[i].tool, "cache", survey->caches[i].name, "built in");
	consider_worktree(&deciding, plan);
	consider_grants(&deciding, RULE_WRITE, "write", survey->writes, survey->write_count);
	consider_protected(&deciding, survey);
	if (deciding.is_change)
		consider_absent(&deciding, survey);
	for (size_t i = 0; i < survey->hidden_count; i++)
		if (survey->hidden[i].kind != HIDDEN_CUT)
			consider(&deciding, RULE_HIDE, survey->hidden[i].path, "hide", survey->hidden[i].rule,
				 survey->hidden[i].source);
	return deciding.best;
}

static bool rule_denies(const struct pinfold_plan *plan, const struct rule *rule, enum explain_right right)
{
	switch (rule->kind) {
	case RULE_HIDE:
	case RULE_SERVICE:
		return true;
	case RULE_REST:
		return plan->backend != BACKEND_NONE && (is_change(right) || right == RIGHT_CONNECT);
	case RULE_READ:
		return is_change(right) || right == RIGHT_CONNECT;
	case RULE_SOCKET:
	case RULE_FIXED:
	case RULE_PROTECT:
		return is_change(right);
	default:
		return false;
	}
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
	struct rule rule = find_rule(ask->plan, about, right);
	struct explain_answer ret = { .is_held = true, .source = rule.source };
	bool is_denied = rule_denies(ask->plan, &rule, right);
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
	return ask.error ? err_oom(err) : 0;
}

/* ---- addresses ---- */

static const char *find_port(const char *word)
{
	const char *colon = strrchr(word, ':');

	return colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] ? colon + 1 : NULL;
}

int explain_kind_of(const char *word)
{
	if (word[0] == '/' || word[0] == '.' || word[0] == '~')
		return EXPLAIN_PATH;
	return find_port(word) ? EXPLAIN_ADDRESS : -1;
}

static bool is_loopback(const char *host)
{
	return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
}

static const char *host_of(struct arena *arena, const char *word, const char *port)
{
	size_t length = (size_t)(port - 1 - word);

	if (length == 0)
		return "localhost";
	if (word[0] == '[' && word[length - 1] == ']')
		return arena_strndup(arena, word + 1, length - 2);
	return arena_strndup(arena, word, length);
}

/* The relay listens at these two alone: 127.0.0.2 is the pen's own. NULL: no port of the host's is behind it. */
static const struct policy_item *reach_of(const struct pinfold_plan *plan, const char *host, uint16_t port)
{
	const struct policy_value *reach = &plan->policy->value[KEY_REACH];
	struct policy_port pair;

	if (!plan->reach.n || (strcmp(host, "localhost") && strcmp(host, "127.0.0.1") && strcmp(host, "::1")))
		return NULL;
	for (size_t i = 0; i < reach->count; i++)
		if (policy_port_parse(reach->items[i].text, &pair) == 0 && pair.inside == port)
			return &reach->items[i];
	return NULL;
}

static int explain_reach(struct arena *arena, const struct policy_item *item, struct explain_answer *connect,
			 struct pinfold_error *err)
{
	connect->allowed = true;
	connect->rule = arena_printf(arena, "reach %s", item->text);
	connect->source = source_name(&item->source);
	connect->why = "the host's loopback, through a relay";
	return connect->rule ? 0 : err_oom(err);
}

int explain_address(const struct pinfold_plan *plan, struct arena *arena, const char *word,
		    struct explain_address *ret, struct pinfold_error *err)
{
	bool is_asked = policy_number(plan->policy, KEY_NETWORK) == NETWORK_OFFLINE;
	struct explain_answer *connect = &ret->connect;
	const struct policy_item *reach;
	const char *port = find_port(word);
	uint16_t number;

	if (!port || num_port(port, &number) < 0)
		return err_say(err, PINFOLD_USAGE, EINVAL, "'%s' has no port from 1 to 65535", word);
	*ret = (struct explain_address){ .host = host_of(arena, word, port), .port = number };
	if (!ret->host)
		return err_oom(err);
	connect->rule = is_asked ? "network offline" : "network open";
	connect->source = source_of(plan, KEY_NETWORK);
	connect->allowed = !plan->offline;
	connect->is_held = !is_asked || plan->offline;
	if (is_asked && !plan->offline)
		connect->why = "this backend cannot hold it";
	reach = reach_of(plan, ret->host, number);
	if (reach)
		return explain_reach(arena, reach, connect, err);
	if (plan->offline && plan->backend == BACKEND_ONLY_LANDLOCK)
		connect->why = "there are no internet sockets at all";
	else if (plan->offline)
		connect->why = is_loopback(ret->host) ? "only servers of the command itself are there" :
							"the pen's network ends at its own loopback";
	return 0;
}
