/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan as lines for people. Values of variables and contents of files stay out: a plan is pasted into reports. Every
 * name that comes from disk or from the caller is made printable, so that none can forge a line.
 */
#include "base/num.h"
#include "plan/print.h"

enum { NAME_WIDTH = 13, STATE_WIDTH = 10 };

static void add_row(struct buf *out, const char *name, const char *text)
{
	buf_printf(out, "  %-*s", NAME_WIDTH, name);
	buf_printable(out, text);
	buf_char(out, '\n');
}

static void add_list(struct buf *out, const struct strv *list)
{
	for (size_t i = 0; i < list->n; i++) {
		buf_str(out, i ? ", " : "");
		buf_printable(out, list->v[i]);
	}
}

/* ---- guarantees ------------------------------------------------------------------------------------------------ */

static void add_guarantee(struct buf *out, const char *name, const struct guarantee_result *result)
{
	bool is_alone = !result->why && !result->by.n;

	buf_printf(out, "  %-*s%-*s", NAME_WIDTH, name, is_alone ? 0 : STATE_WIDTH,
		   guarantee_state_names[result->state]);
	if (result->why)
		buf_printable(out, result->why);
	else
		add_list(out, &result->by);
	if (result->accepted && result->accepted_by) {
		buf_str(out, " (accepted: ");
		buf_printable(out, result->accepted_by);
		buf_char(out, ')');
	}
	buf_char(out, '\n');
	for (size_t i = 0; i < result->notes.n; i++) {
		buf_printf(out, "  %*snote: ", NAME_WIDTH + STATE_WIDTH, "");
		buf_printable(out, result->notes.v[i]);
		buf_char(out, '\n');
	}
}

static void add_guarantees(struct buf *out, const struct pinfold_plan *plan)
{
	buf_str(out, "guarantees\n");
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		add_guarantee(out, guarantee_defs[i].name, &plan->guarantee[i]);
}

/* ---- command --------------------------------------------------------------------------------------------------- */

static void add_argv(struct buf *out, const struct strv *argv)
{
	BUF_CLEANUP struct buf line = BUF_INIT(out->max);

	for (size_t i = 0; i < argv->n; i++) {
		buf_str(&line, i ? " " : "");
		buf_shell(&line, argv->v[i]);
	}
	add_row(out, "command", line.data ? line.data : "");
}

static void add_limits(struct buf *out, const struct plan_limits *limits)
{
	char text[32];

	if (limits->time_ms != POLICY_NONE)
		add_row(out, "time", num_duration_text(limits->time_ms, text));
	if (limits->memory != POLICY_NONE)
		add_row(out, "memory", num_size_text(limits->memory, text));
	if (limits->processes != POLICY_NONE)
		buf_printf(out, "  %-*s%llu\n", NAME_WIDTH, "processes", (unsigned long long)limits->processes);
	if (limits->tmp_size != POLICY_NONE)
		add_row(out, "temp size", num_size_text(limits->tmp_size, text));
}

static void add_ids(struct buf *out, const struct pinfold_plan *plan)
{
	buf_printf(out, "  %-*suid %u, gid %u on the host, uid %u, gid %u inside\n", NAME_WIDTH, "ids",
		   (unsigned)plan->host_uid, (unsigned)plan->host_gid, (unsigned)plan->inner_uid,
		   (unsigned)plan->inner_gid);
}

static void add_ports(struct buf *out, const char *name, const struct plan_ports *ports)
{
	if (!ports->n)
		return;
	buf_printf(out, "  %-*s", NAME_WIDTH, name);
	add_list(out, &ports->words);
	buf_char(out, '\n');
}

static void add_command(struct buf *out, const struct pinfold_plan *plan)
{
	buf_str(out, "command\n");
	add_argv(out, &plan->argv);
	add_row(out, "directory", plan->cwd ? plan->cwd : plan->policy->cwd);
	add_row(out, "worktree", plan->policy->worktree);
	add_row(out, "backend", backend_defs[plan->backend].name);
	add_row(out, "network", plan->offline ? "offline" : "open");
	add_ports(out, "reach", &plan->reach);
	add_ports(out, "publish", &plan->publish);
	if (plan->backend != BACKEND_NONE)
		add_ids(out, plan);
	add_limits(out, &plan->limits);
	if (plan->removed.n) {
		buf_printf(out, "  %-*s", NAME_WIDTH, "without");
		add_list(out, &plan->removed);
		buf_char(out, '\n');
	}
}

/* ---- mechanisms ------------------------------------------------------------------------------------------------ */

static void add_attributes(struct buf *out, unsigned set)
{
	static const struct {
		unsigned bit;
		const char *name;
	} names[] = {
		{ ATTR_READONLY, "ro" }, { ATTR_NOSUID, "nosuid" }, { ATTR_NODEV, "nodev" }, { ATTR_NOEXEC, "noexec" },
	};
	const char *separator = " (";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(set & names[i].bit))
			continue;
		buf_printf(out, "%s%s", separator, names[i].name);
		separator = ",";
	}
	buf_str(out, separator[0] == ',' ? ")" : "");
}

const char *const print_op_words[OP_KIND_COUNT] = {
	[OP_READONLY] = "readonly",
	[OP_TMPFS] = "tmpfs",
	[OP_DIRECTORY] = "directory",
	[OP_FILE] = "file",
	[OP_LINK] = "link",
	[OP_WHITEOUT] = "whiteout",
	[OP_BIND] = "bind",
	[OP_OVERLAY] = "overlay",
	[OP_PROC] = "proc",
	[OP_DEVPTS] = "devpts",
	[OP_SYSFS] = "sysfs",
	[OP_MQUEUE] = "mqueue",
	[OP_RESTRICT] = "restrict",
};
_Static_assert(OP_RESTRICT == OP_KIND_COUNT - 1, "a word for every operation");

const struct plan_source *print_source(const struct pinfold_plan *plan, const struct plan_op *op)
{
	bool has_source = op->kind == OP_BIND || op->kind == OP_OVERLAY;

	if (!has_source || op->source < 0 || (size_t)op->source >= plan->source_count)
		return NULL;
	return &plan->sources[op->source];
}

static bool is_in_temp(const struct plan_op *op)
{
	return op->is_private || op->kind == OP_DIRECTORY || op->kind == OP_FILE || op->kind == OP_LINK ||
	       op->kind == OP_WHITEOUT;
}

/* Where it comes from, where that is not plain from its place. */
static void add_origin(struct buf *out, const struct pinfold_plan *plan, const struct plan_op *op)
{
	const struct plan_source *source = print_source(plan, op);

	if (op->from && op->kind != OP_WHITEOUT) {
		buf_str(out, " from temp:");
		buf_printable(out, op->from);
	}
	if (source) {
		buf_str(out, op->from ? " over " : " from ");
		buf_printable(out, source->path);
	}
	if ((op->kind == OP_LINK || op->kind == OP_TMPFS) && op->text && op->text[0]) {
		buf_str(out, op->kind == OP_LINK ? " to " : " ");
		buf_printable(out, op->text);
	}
}

static void add_op(struct buf *out, const struct pinfold_plan *plan, const struct plan_op *op)
{
	const struct plan_source *source = print_source(plan, op);

	buf_printf(out, "  %-*s%s", NAME_WIDTH, print_op_words[op->kind], is_in_temp(op) ? "temp:" : "");
	buf_printable(out, op->path ? op->path : "/");
	add_origin(out, plan, op);
	add_attributes(out, op->attr_set | (source ? source->attr_set : 0));
	buf_str(out, op->is_optional ? ", if it is there\n" : "\n");
}

static void add_rule(struct buf *out, const struct plan_landlock_rule *rule)
{
	buf_printf(out, "  %#-*llx", NAME_WIDTH, (unsigned long long)rule->access);
	if (rule->path)
		buf_printable(out, rule->path);
	else
		buf_printf(out, "descriptor %d", rule->fd);
	buf_char(out, '\n');
}

static void add_mechanisms(struct buf *out, const struct pinfold_plan *plan)
{
	buf_str(out, plan->op_count ? "mounts\n" : "");
	for (size_t i = 0; i < plan->op_count; i++)
		add_op(out, plan, &plan->ops[i]);
	if (plan->has_landlock)
		buf_printf(out, "landlock (handles %#llx, scopes %#llx)\n", (unsigned long long)plan->landlock_handled,
			   (unsigned long long)plan->landlock_scoped);
	for (size_t i = 0; plan->has_landlock && i < plan->rule_count; i++)
		add_rule(out, &plan->rules[i]);
}

int plan_print_text(const struct pinfold_plan *plan, struct buf *out)
{
	add_guarantees(out, plan);
	add_command(out, plan);
	if (plan->backend != BACKEND_NONE)
		add_mechanisms(out, plan);
	if (plan->warnings.n)
		buf_str(out, "warnings\n");
	for (size_t i = 0; i < plan->warnings.n; i++) {
		buf_str(out, "  ");
		buf_printable(out, plan->warnings.v[i]);
		buf_char(out, '\n');
	}
	return out->error;
}
