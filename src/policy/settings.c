/* SPDX-License-Identifier: Apache-2.0 */
/* One value from its text: the same rules for a file and for the command line. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/path.h"
#include "policy/internal.h"
#include "policy/pattern.h"

int layer_add(struct arena *arena, struct layer *layer, const struct policy_setting *setting)
{
	struct policy_setting *grown = arena_grow(arena, layer->v, layer->n, layer->n + 1, sizeof(*grown), &layer->cap);

	if (!grown)
		return -ENOMEM;
	layer->v = grown;
	layer->v[layer->n++] = *setting;
	return 0;
}

int policy_identity(struct pinfold_policy *policy, struct pinfold_error *err)
{
	int r;

	if (policy->has_identity)
		return 0;
	r = identity_read(&policy->arena, &policy->who);
	if (r == -ENOMEM)
		return err_oom(err);
	if (r < 0)
		return err_sys(err, PINFOLD_UNAVAILABLE, -r, "read", "/etc/passwd");
	policy->has_identity = true;
	return 0;
}

/* ---- numbers and words ---- */

/* The words of a choice: "required, auto or off". */
static void list_words(const char *const *words, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; words[i] && length < size; i++) {
		const char *between = i == 0 ? "" : words[i + 1] ? ", " : " or ";

		length += (size_t)snprintf(text + length, size - length, "%s%s", between, words[i]);
	}
}

static int find_word(const char *const *words, const char *text)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	return -1;
}

static int unknown_word(const char *const *words, const char *text, struct pinfold_error *err)
{
	char list[256];

	list_words(words, list, sizeof(list));
	return err_say(err, PINFOLD_USAGE, EINVAL, "'%s' is not one of %s", text, list);
}

static int read_flag(const struct setting_context *context, const struct policy_key_def *def, const char *text,
		     struct policy_setting *ret, struct pinfold_error *err)
{
	static const char *const words[] = {"false", "true", NULL};
	int word = find_word(words, text);

	(void)context;
	(void)def;
	if (word < 0)
		return unknown_word(words, text, err);
	ret->number = (uint64_t)word;
	return 0;
}

static int read_choice(const struct setting_context *context, const struct policy_key_def *def, const char *text,
		       struct policy_setting *ret, struct pinfold_error *err)
{
	int word = find_word(def->words, text);

	(void)context;
	if (word < 0)
		return unknown_word(def->words, text, err);
	ret->number = (uint64_t)word;
	return 0;
}

/* What the numbers look like, for the message. */
static const char *number_form(enum policy_type type)
{
	switch (type) {
	case TYPE_DURATION: return "a duration such as 500ms, 30s, 10m or 2h, or none";
	case TYPE_SIZE: return "a size such as 65536, 512K, 64M or 2G, or none";
	default: return "a number from 1 on, or none";
	}
}

static int parse_number(enum policy_type type, const char *text, uint64_t *ret)
{
	int r;

	if (type == TYPE_DURATION)
		return num_duration(text, ret);
	if (type == TYPE_SIZE)
		return num_size(text, ret);
	r = num_u64(text, ret);
	return r < 0 ? r : *ret > 0 ? 0 : -ERANGE;
}

static int read_number(const struct setting_context *context, const struct policy_key_def *def, const char *text,
		       struct policy_setting *ret, struct pinfold_error *err)
{
	int r = 0;

	(void)context;
	if (strcmp(text, "none") == 0)
		ret->number = POLICY_NONE;
	else
		r = parse_number(def->type, text, &ret->number);
	if (r == 0 && ret->number == POLICY_NONE && strcmp(text, "none") != 0)
		r = -ERANGE;
	if (r < 0)
		return err_say(err, PINFOLD_USAGE, -r, "'%s' is %s %s", text, r == -ERANGE ? "out of range for" : "not",
			       number_form(def->type));
	return 0;
}

/* ---- paths ---- */

/* ".." behind a name means what the kernel would make of it, links included; only then the file system is looked at. */
static int resolve_parents(struct arena *arena, const char *path, char **ret, struct pinfold_error *err)
{
	const char *cut = NULL;
	char *resolved;
	int r;

	for (const char *p = path; (p = strstr(p, "/..")); p += 3)
		if (p[3] == '\0' || p[3] == '/')
			cut = p + 3;
	if (!cut) {
		*ret = path_normal(arena, NULL, path);
		return *ret ? 0 : err_oom(err);
	}
	resolved = arena_strndup(arena, path, (size_t)(cut - path));
	if (!resolved)
		return err_oom(err);
	r = path_resolve(arena, resolved, &resolved, NULL);
	if (r < 0)
		return r == -ENOMEM ? err_oom(err) : err_sys(err, PINFOLD_USAGE, -r, "resolve", path);
	resolved = arena_printf(arena, "%s%s", resolved, cut);
	*ret = resolved ? path_normal(arena, NULL, resolved) : NULL;
	return *ret ? 0 : err_oom(err);
}

/* Absolute, but not yet normal. */
static int anchor(const struct setting_context *context, const char *text, const char **ret, struct pinfold_error *err)
{
	if (!*text)
		return err_say(err, PINFOLD_USAGE, EINVAL, "the path is empty");
	if (strlen(text) >= PATH_MAX)
		return err_say(err, PINFOLD_USAGE, ENAMETOOLONG, "the path is too long");
	if (*text == '~' && (!text[1] || text[1] == '/')) {
		if (!context->home)
			return err_say(err, PINFOLD_USAGE, EINVAL, "'%s' begins with ~, but there is no home directory",
				       text);
		*ret = arena_printf(context->arena, "%s%s", context->home, text + 1);
	} else if (*text == '/') {
		*ret = text;
	} else if (context->base) {
		*ret = path_join(context->arena, context->base, text);
	} else {
		err_say(err, PINFOLD_USAGE, EINVAL, "'%s' is not an absolute path", text);
		err_hint(err,
			 "a path here begins with / or ~/; in a project's %s it may be relative to the worktree's top",
			 policy_project_file);
		return -EINVAL;
	}
	return *ret ? 0 : err_oom(err);
}

static int make_absolute(const struct setting_context *context, const char *text, char **ret, struct pinfold_error *err)
{
	const char *path;
	int r = anchor(context, text, &path, err);

	if (r < 0)
		return r;
	return resolve_parents(context->arena, path, ret, err);
}

static int read_path(const struct setting_context *context, const struct policy_key_def *def, const char *text,
		     struct policy_setting *ret, struct pinfold_error *err)
{
	char *path = NULL;
	int r = make_absolute(context, text, &path, err);

	if (r < 0)
		return r;
	/* `--write DIR/` asks for the directory to be made. */
	if (def == &policy_keys[KEY_WRITE] && text[strlen(text) - 1] == '/' && path[1])
		path = arena_printf(context->arena, "%s/", path);
	ret->text = path;
	return path ? 0 : err_oom(err);
}

static int read_tmp(const struct setting_context *context, const struct policy_key_def *def, const char *text,
		    struct policy_setting *ret, struct pinfold_error *err)
{
	ret->text = NULL;
	return strcmp(text, "private") == 0 ? 0 : read_path(context, def, text, ret, err);
}

/* ---- patterns ---- */

static bool is_dot_pattern(const char *text)
{
	size_t dots = strspn(text, ".");

	return (dots == 1 || dots == 2) && (!text[dots] || text[dots] == '/');
}

/* The directory's own name is no pattern. */
static const char *escape(struct arena *arena, const char *path)
{
	char *ret = arena_alloc(arena, strlen(path) * 2 + 1, 1);
	char *to = ret;

	for (; ret && *path; path++) {
		if (strchr("\\*?[", *path))
			*to++ = '\\';
		*to++ = *path;
	}
	return ret;
}

/* On the command line `./x`, `.` and `../x` are what a shell's user means by them: relative to the current directory
 * (F028). */
static int anchor_pattern(const struct setting_context *context, const char *text, const char **ret,
			  struct pinfold_error *err)
{
	const char *rest = text, *between, *escaped;
	char *directory = arena_strdup(context->arena, context->base);

	while (directory && is_dot_pattern(rest)) {
		if (rest[1] == '.')
			directory = path_parent(context->arena, directory);
		rest += strspn(rest, ".");
		rest += strspn(rest, "/");
	}
	escaped = directory ? escape(context->arena, directory) : NULL;
	if (!escaped)
		return err_oom(err);
	between = *rest && directory[1] ? "/" : "";
	*ret = arena_printf(context->arena, "%s%s%s", escaped, between, rest);
	return *ret ? 0 : err_oom(err);
}

static int read_pattern(const struct setting_context *context, const struct policy_key_def *def, const char *text,
			struct policy_setting *ret, struct pinfold_error *err)
{
	const char *worktree = context->worktree ? context->worktree : "/";
	struct pattern pattern;
	int r = 0;

	(void)def;
	if (context->layer == LAYER_COMMAND && is_dot_pattern(text))
		r = anchor_pattern(context, text, &text, err);
	if (r == 0)
		r = pattern_parse(context->arena, text, worktree, context->home, &pattern, err);
	if (r == 0)
		ret->text = pattern.text;
	return r;
}

/* ---- names ---- */

static int read_name(const struct setting_context *context, const struct policy_key_def *def, const char *text,
		     struct policy_setting *ret, struct pinfold_error *err)
{
	const char *suffix = strchr(text, '=');
	const char *name = arena_strndup(context->arena, text, suffix ? (size_t)(suffix - text) : strlen(text));

	ret->text = arena_strdup(context->arena, text);
	if (!name || !ret->text)
		return err_oom(err);
	if (strcmp(text, ACCEPT_NONE) == 0)
		return 0;
	if (find_word(def->words, name) < 0)
		return unknown_word(def->words, name, err);
	if (suffix && strcmp(suffix, ACCEPT_ABSENT) != 0)
		return err_say(err, PINFOLD_USAGE, EINVAL, "'%s' is neither NAME nor NAME" ACCEPT_ABSENT, text);
	if (suffix && context->layer != LAYER_COMMAND)
		return err_say(err, PINFOLD_USAGE, EINVAL, "'%s' can be said on the command line only", text);
	return 0;
}

static int read_environment(const struct setting_context *context, const struct policy_key_def *def, const char *text,
			    struct policy_setting *ret, struct pinfold_error *err)
{
	size_t length = strcspn(text, "=");

	(void)def;
	if (length == 0)
		return err_say(err, PINFOLD_USAGE, EINVAL, "'%s' has no name of a variable", text);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
			return err_say(err, PINFOLD_USAGE, EINVAL, "'%s' is no name of a variable", text);
	ret->text = arena_strdup(context->arena, text);
	return ret->text ? 0 : err_oom(err);
}

/* One spelling for one port, so that a duplicate is seen as one. */
static int read_port(const struct setting_context *context, const struct policy_key_def *def, const char *text,
		     struct policy_setting *ret, struct pinfold_error *err)
{
	struct policy_port port;
	int r = policy_port_parse(text, &port);

	(void)def;
	if (r < 0)
		return err_say(err, PINFOLD_USAGE, -r, "'%s' is %s PORT or PORT:PORT, with numbers from 1 to 65535",
			       text, r == -ERANGE ? "out of range for" : "not");
	ret->text = port.host == port.inside ? arena_printf(context->arena, "%u", port.host) :
					       arena_printf(context->arena, "%u:%u", port.host, port.inside);
	return ret->text ? 0 : err_oom(err);
}

/* ---- the table ---- */

/* clang-format off */
static int (*const readers[TYPE_TYPE_COUNT])(const struct setting_context *, const struct policy_key_def *,
					     const char *, struct policy_setting *, struct pinfold_error *) = {
	[TYPE_FLAG] = read_flag,         [TYPE_CHOICE] = read_choice,   [TYPE_PATH] = read_path,
	[TYPE_TMP] = read_tmp,           [TYPE_DURATION] = read_number, [TYPE_SIZE] = read_number,
	[TYPE_COUNT] = read_number,      [TYPE_PATHS] = read_path,      [TYPE_PATTERNS] = read_pattern,
	[TYPE_NAMES] = read_name,        [TYPE_ENVIRONMENT] = read_environment,
	[TYPE_PORTS] = read_port,
};
/* clang-format on */

int setting_read(const struct setting_context *context, enum policy_key key, const char *text,
		 struct policy_setting *ret, struct pinfold_error *err)
{
	const struct policy_key_def *def = &policy_keys[key];
	struct policy_setting setting = {.key = key, .source = {.layer = context->layer, .file = context->file}};
	int r = readers[def->type](context, def, text, &setting, err);

	if (r == 0)
		*ret = setting;
	return r;
}

static int set_one(struct pinfold_policy *policy, const struct setting_context *context, enum policy_key key,
		   const char *text, struct pinfold_error *err)
{
	struct layer layer = {.v = policy->settings, .n = policy->setting_count, .cap = policy->setting_cap};
	struct policy_setting setting;
	int r = setting_read(context, key, text, &setting, err);

	if (r < 0)
		return r;
	if (layer_add(&policy->arena, &layer, &setting) < 0)
		return err_oom(err);
	policy->settings = layer.v;
	policy->setting_count = layer.n;
	policy->setting_cap = layer.cap;
	return 0;
}

/* `--accept a,b` */
static int set_names(struct pinfold_policy *policy, const struct setting_context *context, enum policy_key key,
		     const char *text, struct pinfold_error *err)
{
	int r = 0;

	for (const char *end; r == 0; text = end + 1) {
		char *name;

		end = text + strcspn(text, ",");
		name = arena_strndup(&policy->arena, text, (size_t)(end - text));
		r = name ? set_one(policy, context, key, name, err) : err_oom(err);
		if (!*end)
			break;
	}
	return r;
}

int policy_set(struct pinfold_policy *policy, enum policy_key key, const char *text, const char *cwd,
	       struct pinfold_error *err)
{
	struct setting_context context = {.arena = &policy->arena, .layer = LAYER_COMMAND, .base = cwd};
	int r = policy_identity(policy, err);

	if (r < 0)
		return r;
	context.home = policy->who.home;
	if (policy_keys[key].type == TYPE_NAMES)
		r = set_names(policy, &context, key, text, err);
	else
		r = set_one(policy, &context, key, text, err);
	return r < 0 ? err_at(err, r, NULL, 0, policy_keys[key].option) : 0;
}
