/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/orders.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"

enum { ORDERS_MAX = 64 << 20, ABSENT = -1 };

/* Writing, `at` is NULL and what is put into the buffer goes to fd; reading, it is what is left of the text. */
struct orders {
	int fd, error;
	struct arena *arena;
	const char *at;
	size_t left, used;
	char buffer[4096];
};

static void flush(struct orders *o)
{
	if (!o->error && o->used)
		o->error = fd_write_all(o->fd, o->buffer, o->used);
	o->used = 0;
}

static void put(struct orders *o, const char *data, size_t size)
{
	while (size && !o->error) {
		size_t n = sizeof(o->buffer) - o->used;

		n = size < n ? size : n;
		memcpy(o->buffer + o->used, data, n);
		o->used += n;
		data += n;
		size -= n;
		if (o->used == sizeof(o->buffer))
			flush(o);
	}
}

static void take(struct orders *o, char *data, size_t size)
{
	if (o->error || size > o->left) {
		o->error = o->error ? o->error : -EPROTO;
		memset(data, 0, size);
		return;
	}
	memcpy(data, o->at, size);
	o->at += size;
	o->left -= size;
}

/* ---- one field each, in both directions ---- */

static void raw(struct orders *o, void *data, size_t size)
{
	if (o->at)
		take(o, data, size);
	else
		put(o, data, size);
}

#define RAW(o, field) raw(o, &(field), sizeof(field))

static void text(struct orders *o, const char **value)
{
	int64_t length = !o->at && *value ? (int64_t)strlen(*value) : ABSENT;

	RAW(o, length);
	if (length < 0 || o->error) {
		*value = o->at ? NULL : *value;
		return;
	}
	if (!o->at) {
		put(o, *value, (size_t)length);
		return;
	}
	if ((uint64_t)length > o->left) {
		o->error = -EPROTO;
		return;
	}
	*value = arena_strndup(o->arena, o->at, (size_t)length);
	if (!*value)
		o->error = -ENOMEM;
	o->at += length;
	o->left -= (size_t)length;
}

/* How many elements follow; reading, *elements becomes room for them and one more. */
static size_t count(struct orders *o, size_t n, void **elements, size_t size)
{
	RAW(o, n);
	if (o->error || !o->at)
		return o->error ? 0 : n;
	if (n > o->left) {
		o->error = -EPROTO;
		return 0;
	}
	*elements = arena_alloc(o->arena, n + 1, size);
	if (!*elements)
		o->error = -ENOMEM;
	return o->error ? 0 : n;
}

static void words(struct orders *o, struct strv *list)
{
	void *elements = list->v;
	size_t n = count(o, list->n, &elements, sizeof(char *));

	list->v = elements;
	list->n = n;
	for (size_t i = 0; i < n; i++)
		text(o, (const char **)&list->v[i]);
}

static void numbers(struct orders *o, int **list, size_t *ret_n)
{
	void *elements = *list;

	*ret_n = count(o, *ret_n, &elements, sizeof(int));
	*list = elements;
	raw(o, *list, *ret_n * sizeof(int));
}

/* ---- the parts ---- */

/* Two builds have the same structures, or do not speak to each other. */
static void build(struct orders *o)
{
	static const char own[] = "pinfold " PINFOLD_VERSION;
	struct { char version[sizeof(own)]; size_t enter, plan, op, status; } seen, here = {
		{ 0 }, sizeof(struct enter), sizeof(struct pinfold_plan), sizeof(struct plan_op), KEY_COUNT };

	memcpy(here.version, own, sizeof(own));
	seen = here;
	RAW(o, seen);
	if (!o->error && memcmp(seen.version, here.version, sizeof(own)) != 0)
		o->error = -EPROTO;
	if (seen.enter != here.enter || seen.plan != here.plan || seen.op != here.op || seen.status != here.status)
		o->error = -EPROTO;
}

static void descriptors(struct orders *o, struct enter *enter)
{
	RAW(o, enter->stdio);
	RAW(o, enter->report_fd);
	RAW(o, enter->control_fd);
	RAW(o, enter->terminal_fd);
	RAW(o, enter->go[0]);
	RAW(o, enter->job);
	RAW(o, enter->command_mask);
	RAW(o, enter->ignores_children);
	RAW(o, enter->is_pinned);
	RAW(o, enter->affinity);
}

static void mounts(struct orders *o, struct pinfold_plan *plan)
{
	void *elements = plan->sources;

	plan->source_count = count(o, plan->source_count, &elements, sizeof(*plan->sources));
	plan->sources = elements;
	for (size_t i = 0; i < plan->source_count; i++) {
		RAW(o, plan->sources[i].dev);
		RAW(o, plan->sources[i].ino);
		RAW(o, plan->sources[i].attr_set);
		RAW(o, plan->sources[i].is_optional);
	}
	elements = plan->ops;
	plan->op_count = count(o, plan->op_count, &elements, sizeof(*plan->ops));
	plan->ops = elements;
	for (size_t i = 0; i < plan->op_count; i++) {
		RAW(o, plan->ops[i].kind);
		text(o, &plan->ops[i].path);
		text(o, &plan->ops[i].from);
		RAW(o, plan->ops[i].source);
		RAW(o, plan->ops[i].attr_set);
		RAW(o, plan->ops[i].mode);
		RAW(o, plan->ops[i].is_optional);
	}
}

static void hardening(struct orders *o, struct pinfold_plan *plan)
{
	void *elements = plan->rules;

	RAW(o, plan->has_landlock);
	RAW(o, plan->has_seccomp);
	RAW(o, plan->filters);
	RAW(o, plan->landlock_handled);
	RAW(o, plan->landlock_scoped);
	RAW(o, plan->landlock_net);
	RAW(o, plan->limits);
	plan->rule_count = count(o, plan->rule_count, &elements, sizeof(*plan->rules));
	plan->rules = elements;
	for (size_t i = 0; i < plan->rule_count; i++) {
		text(o, &plan->rules[i].path);
		RAW(o, plan->rules[i].fd);
		RAW(o, plan->rules[i].access);
		RAW(o, plan->rules[i].is_optional);
	}
}

static void shell(struct orders *o, struct pinfold_plan *plan)
{
	struct strv list = { .v = plan->shell_argv, .n = plan->argv.n + 1 };

	words(o, &list);
	plan->shell_argv = list.v;
}

static void command(struct orders *o, struct pinfold_plan *plan)
{
	words(o, &plan->argv);
	words(o, &plan->candidates);
	shell(o, plan);
	words(o, &plan->environment);
	text(o, &plan->cwd);
	RAW(o, plan->cwd_dev);
	RAW(o, plan->cwd_ino);
	RAW(o, plan->reopen);
	for (int i = 0; i < 3; i++)
		text(o, &plan->reopen_path[i]);
	numbers(o, &plan->pass_fds, &plan->pass_fd_count);
}

static void walk(struct orders *o, struct enter *enter, struct pinfold_plan *plan)
{
	build(o);
	if (o->error)
		return;
	RAW(o, plan->backend);
	descriptors(o, enter);
	mounts(o, plan);
	hardening(o, plan);
	command(o, plan);
}

int orders_write(int fd, const struct enter *enter)
{
	struct orders o = { .fd = fd };
	struct pinfold_plan plan = *enter->plan; /* what is written is not changed */
	struct enter copy = *enter;

	walk(&o, &copy, &plan);
	flush(&o);
	return o.error;
}

int orders_read(struct arena *arena, int fd, struct enter *enter, struct pinfold_plan *plan)
{
	BUF_CLEANUP struct buf bytes = BUF_INIT(ORDERS_MAX);
	struct orders o = { .fd = -1, .arena = arena };
	int r = buf_read_fd(&bytes, fd);

	if (r < 0)
		return r;
	if (!bytes.data)
		return -EPROTO;
	o.at = bytes.data;
	o.left = bytes.len;
	*enter = (struct enter){
		.plan = plan, .private_fd = -1, .handover_fd = -1, .watch_fd = -1, .relay_fd = { -1, -1 },
		.landlock_fd = -1, .started_fd = -1, .outer_fds = { -1, -1 }, .go = { -1, -1 },
	};
	walk(&o, enter, plan);
	return o.error;
}
