/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of worlds that this machine does not have. A world is a directory of tests/golden: survey.json (what lies on
 * disk), host.json (what the machine can do), policy.json (what is asked). The plan made of it, as text and as JSON, is
 * compared with plan.txt and plan.json; PINFOLD_GOLDEN_UPDATE=1 writes these two anew, for somebody to read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "plan/plan.h"
#include "policy/internal.h"

enum { WORLDS_MAX = 128, WORDS_MAX = 16, NAME_BYTES = 64, FILE_BYTES = 1 << 20, CONTEXT_LINES = 2 };

static const char top[] = "tests/golden";
static char world_names[WORLDS_MAX][NAME_BYTES];
static size_t world_count;

/* ---- files ---- */

static const char *file_of(const char *world, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s/%s", top, world, name);
	return path;
}

/* "" where there is none. */
static void read_file(const char *world, const char *name, struct buf *ret)
{
	FD_CLEANUP int fd = open(file_of(world, name), O_RDONLY | O_CLOEXEC);

	*ret = BUF_INIT(FILE_BYTES);
	if (fd >= 0)
		assert_int_equal(buf_read_fd(ret, fd), 0);
	buf_str(ret, "");
	assert_int_equal(ret->error, 0);
}

static json_t *read_json(const char *world, const char *name)
{
	json_error_t where;
	json_t *root = json_load_file(file_of(world, name), JSON_REJECT_DUPLICATES, &where);

	if (!root)
		fail_msg("%s:%d: %s", file_of(world, name), where.line, where.text);
	return root;
}

/* ---- a world ---- */

struct world {
	struct pinfold_policy policy;
	struct pinfold_host host;
	struct pinfold_plan plan;
	char *words[WORDS_MAX + 1];
};

static const char user_file[] = "/home/kim/.config/pinfold/config.json";

static void fail_with(const char *world, const struct pinfold_error *error)
{
	char text[1024];

	pinfold_error_text(error, text, sizeof(text));
	fail_msg("%s: %s", world, text);
}

static void read_survey(struct world *world, const char *name)
{
	struct pinfold_error error;
	struct buf text;

	read_file(name, "survey.json", &text);
	if (survey_read(&world->plan.survey, text.data, text.len, &error) < 0)
		fail_with(name, &error);
	buf_free(&text);
}

static int find_fact(const char *name)
{
	for (int fact = 0; fact < FACT_COUNT; fact++)
		if (!strcmp(host_fact_names[fact], name))
			return fact;
	return -1;
}

static void read_host(struct world *world, const char *name)
{
	json_t *root = read_json(name, "host.json"), *finding;
	struct pinfold_host *host = &world->host;
	const char *kernel;
	size_t i;

	assert_int_equal(json_unpack(root, "{s:s,s:i,s:b,s:b}", "kernel", &kernel, "landlock_abi", &host->landlock_abi,
				     "is_root", &host->is_root, "has_admin", &host->has_admin), 0);
	snprintf(host->kernel, sizeof(host->kernel), "%s", kernel);
	json_array_foreach(json_object_get(root, "not"), i, finding) {
		const char *fact, *step, *object;
		int errnum;

		assert_int_equal(json_unpack(finding, "{s:s,s:s,s:s,s:i}", "fact", &fact, "step", &step, "object",
					     &object, "errno", &errnum), 0);
		assert_true(find_fact(fact) >= 0);
		host_learn(host, (enum host_fact)find_fact(fact), step, object, errnum);
	}
	json_decref(root);
}

static void add_setting(struct world *world, const char *name, struct layer *layer, enum policy_layer kind,
			const char *key, const json_t *value)
{
	const struct setting_context context = {
		.arena = &world->policy.arena, .layer = kind, .file = kind == LAYER_USER ? user_file : NULL,
		.base = world->policy.cwd, .home = world->policy.who.home, .worktree = world->policy.worktree,
	};
	struct pinfold_error error;
	struct policy_setting setting;
	const char *text = json_text_of(&world->policy.arena, value);

	if (policy_key_find(key) < 0 || !text)
		fail_msg("%s: policy.json: '%s'", name, key);
	if (setting_read(&context, (enum policy_key)policy_key_find(key), text, &setting, &error) < 0)
		fail_with(name, &error);
	assert_int_equal(layer_add(&world->policy.arena, layer, &setting), 0);
}

static void add_settings(struct world *world, const char *name, struct layer *layer, enum policy_layer kind,
			 json_t *settings)
{
	const char *key;
	json_t *value, *item;
	size_t i;

	json_object_foreach(settings, key, value) {
		if (!json_is_array(value))
			add_setting(world, name, layer, kind, key, value);
		json_array_foreach(value, i, item)
			add_setting(world, name, layer, kind, key, item);
	}
}

/* As policy_load does it, but for the files and for who calls: that is the world's. */
static void read_policy(struct world *world, const char *name)
{
	struct pinfold_policy *policy = &world->policy;
	json_t *root = read_json(name, "policy.json"), *command = json_object_get(root, "command");
	struct layer layers[LAYER_COUNT] = { 0 };
	struct pinfold_error error;

	policy->config_fd = -1;
	policy->who = world->plan.survey.who;
	policy->has_identity = true;
	policy->cwd = world->plan.survey.cwd;
	policy->worktree = world->plan.survey.worktree;
	add_settings(world, name, &layers[LAYER_USER], LAYER_USER, json_object_get(root, "user"));
	add_settings(world, name, &layers[LAYER_COMMAND], LAYER_COMMAND, json_object_get(root, "options"));
	policy->settings = layers[LAYER_COMMAND].v;
	policy->setting_count = layers[LAYER_COMMAND].n;
	if (merge_layers(policy, layers, false, &error) < 0)
		fail_with(name, &error);
	policy->loaded = true;
	assert_true(json_array_size(command) > 0 && json_array_size(command) <= WORDS_MAX);
	for (size_t i = 0; i < json_array_size(command); i++)
		world->words[i] = arena_strdup(&policy->arena, json_string_value(json_array_get(command, i)));
	json_decref(root);
}

static struct world *open_world(const char *name)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	read_survey(world, name);
	read_host(world, name);
	read_policy(world, name);
	return world;
}

static void close_world(struct world *world)
{
	survey_free(&world->plan.survey);
	arena_free(&world->plan.arena);
	arena_free(&world->policy.arena);
	free(world);
}

/* ---- what it becomes ---- */

static void add_error(const struct pinfold_error *error, struct buf *text)
{
	char message[1024];

	pinfold_error_text(error, message, sizeof(message));
	buf_printable(text, message);
	if (error->hint[0]) {
		buf_str(text, "\nhint: ");
		buf_printable(text, error->hint);
	}
	buf_char(text, '\n');
}

/* The text begins with a refusal where there is one. What cannot be planned at all has no plan.json. */
static void print_plan(struct world *world, struct buf *text, struct buf *json)
{
	struct pinfold_error error = { 0 };

	*text = BUF_INIT(FILE_BYTES);
	*json = BUF_INIT(FILE_BYTES);
	if (plan_build(&world->plan, &world->policy, &world->host, world->words, &error) < 0) {
		add_error(&error, text);
		buf_str(json, "");
	} else {
		if (plan_refusal(&world->plan, &error) < 0) {
			add_error(&error, text);
			buf_char(text, '\n');
		}
		assert_int_equal(plan_print_text(&world->plan, text), 0);
		assert_int_equal(plan_print_json(&world->plan, json), 0);
	}
	assert_int_equal(text->error, 0);
	assert_int_equal(json->error, 0);
}

/* ---- the comparison ---- */

static void print_line(char mark, const char *text)
{
	print_error("%c %.*s\n", mark, (int)strcspn(text, "\n"), text);
}

static const char *next_line(const char *text)
{
	text += strcspn(text, "\n");
	return *text ? text + 1 : text;
}

/* The first line that differs, with what stands around it. */
static void tell_difference(const char *path, const char *right, const char *made)
{
	const char *before[CONTEXT_LINES + 1] = { NULL };
	int line = 1;

	while (*right && *made && strcspn(right, "\n") == strcspn(made, "\n") &&
	       !strncmp(right, made, strcspn(right, "\n"))) {
		memmove(before, before + 1, CONTEXT_LINES * sizeof(before[0]));
		before[CONTEXT_LINES - 1] = right;
		right = next_line(right);
		made = next_line(made);
		line++;
	}
	print_error("%s:%d\n", path, line);
	for (int i = 0; i < CONTEXT_LINES; i++)
		if (before[i])
			print_line(' ', before[i]);
	for (int i = 0; i <= CONTEXT_LINES && *right; i++, right = next_line(right))
		print_line('-', right);
	for (int i = 0; i <= CONTEXT_LINES && *made; i++, made = next_line(made))
		print_line('+', made);
}

static void write_file(const char *path, const struct buf *text)
{
	FD_CLEANUP int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text->data, text->len), 0);
}

static bool compare_file(const char *world, const char *name, const struct buf *made)
{
	struct buf right;
	bool is_same;

	if (getenv("PINFOLD_GOLDEN_UPDATE")) {
		if (made->len)
			write_file(file_of(world, name), made);
		else
			unlink(file_of(world, name));
		return true;
	}
	read_file(world, name, &right);
	is_same = right.len == made->len && !memcmp(right.data, made->data, made->len);
	if (!is_same)
		tell_difference(file_of(world, name), right.data, made->data);
	buf_free(&right);
	return is_same;
}

static void the_plan_is_the_golden_one(void **state)
{
	const char *name = *state;
	struct world *world = open_world(name);
	struct buf text, json;
	bool is_same;

	print_plan(world, &text, &json);
	is_same = compare_file(name, "plan.txt", &text);
	is_same &= compare_file(name, "plan.json", &json);
	buf_free(&text);
	buf_free(&json);
	close_world(world);
	if (!is_same)
		fail_msg("the plan of '%s' has changed: look at it, then PINFOLD_GOLDEN_UPDATE=1", name);
}

/* ---- Landlock ---- */

/* How many rights each ABI has, counted in the kernel's include/uapi/linux/landlock.h: the kernel refuses a ruleset
 * with a bit above them, and there is no gap between them. */
static const struct { uint64_t fs, net, scoped; } rights_of_abi[] = {
	{ 0, 0, 0 }, { 13, 0, 0 }, { 14, 0, 0 }, { 15, 0, 0 }, { 15, 2, 0 }, { 16, 2, 0 }, { 16, 2, 2 }, { 16, 2, 2 },
	{ 16, 2, 2 }, { 17, 2, 2 }, { 17, 2, 2 },
};

static uint64_t bits(uint64_t count)
{
	return ((uint64_t)1 << count) - 1;
}

static void plan_by_abi(const char *name, int abi)
{
	struct world *world = open_world(name);
	const struct pinfold_plan *plan = &world->plan;
	struct pinfold_error error;

	world->host.landlock_abi = abi;
	world->policy.value[KEY_NETWORK].number = NETWORK_OFFLINE;
	if (plan_build(&world->plan, &world->policy, &world->host, world->words, &error) < 0)
		fail_with(name, &error);
	assert_int_equal(plan->landlock_handled & ~bits(rights_of_abi[abi].fs), 0);
	assert_int_equal(plan->landlock_net & ~bits(rights_of_abi[abi].net), 0);
	assert_int_equal(plan->landlock_scoped & ~bits(rights_of_abi[abi].scoped), 0);
	/* as the only layer it handles all that there is */
	if (plan->backend == BACKEND_ONLY_LANDLOCK) {
		assert_int_equal(plan->landlock_handled, bits(rights_of_abi[abi].fs));
		assert_int_equal(plan->landlock_net, bits(rights_of_abi[abi].net));
	}
	for (size_t i = 0; i < plan->rule_count; i++)
		assert_int_equal(plan->rules[i].access & ~plan->landlock_handled, 0);
	close_world(world);
}

static void no_right_is_above_the_kernels(void **state)
{
	(void)state;
	for (int abi = 0; abi < (int)(sizeof(rights_of_abi) / sizeof(rights_of_abi[0])); abi++) {
		plan_by_abi("clone", abi);
		if (abi > 0)
			plan_by_abi("landlock-alone-10", abi);
	}
}

/* ---- purity ---- */

/* From here on a look at the machine ends the process. */
static int forbid_looking(void)
{
	static const int calls[] = {
		SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(fstat),
		SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(access), SCMP_SYS(faccessat),
		SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(uname),
		SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(capget), SCMP_SYS(mkdir),
		SCMP_SYS(mkdirat), SCMP_SYS(getdents64), SCMP_SYS(socket), SCMP_SYS(ioctl),
		SCMP_SYS(landlock_create_ruleset),
	};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int r = filter ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < sizeof(calls) / sizeof(calls[0]); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, calls[i], 0);
	if (r == 0)
		r = seccomp_load(filter);
	seccomp_release(filter);
	return r;
}

static void build_blindly(const char *name)
{
	struct world *world = open_world(name);
	struct pinfold_error error;

	clearenv();
	if (forbid_looking() < 0)
		_exit(2);
	plan_build(&world->plan, &world->policy, &world->host, world->words, &error);
	_exit(0);
}

/* The control: the filter lets a process live that only counts and allocates. Not so under valgrind, which looks at
 * files in its name, and where there is no seccomp. */
static void count_blindly(const char *name)
{
	volatile size_t sum = 0;
	void *block = malloc(1 << 20);

	clearenv();
	if (forbid_looking() < 0)
		_exit(2);
	for (; *name; name++)
		sum += (unsigned char)*name;
	free(block);
	_exit(0);
}

/* The wait status of a process that does this. */
static int run_apart(void (*act)(const char *name), const char *name)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		act(name);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* The environment, the disk and who runs the test make no difference: the plan is made of policy, host and survey. */
static void the_plan_looks_at_nothing_but_the_world(void **state)
{
	(void)state;
	if (run_apart(count_blindly, top) != 0)
		skip();
	for (size_t i = 0; i < world_count; i++) {
		int status = run_apart(build_blindly, world_names[i]);

		if (status != 0)
			fail_msg("the plan of '%s' looks at this machine (status %#x)", world_names[i],
				 (unsigned)status);
	}
}

/* ---- tables that have to agree ---- */

static void the_words_of_accept_are_the_guarantees(void **state)
{
	const char *const *words = policy_keys[KEY_ACCEPT].words;

	(void)state;
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		assert_non_null(words[i]);
		assert_string_equal(words[i], guarantee_defs[i].name);
	}
	assert_null(words[GUARANTEE_COUNT]);
}

/* ---- all worlds ---- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void find_worlds(void)
{
	DIR *dir = opendir(top);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !strchr(entry->d_name, '.') && strlen(entry->d_name) < NAME_BYTES &&
		    world_count < WORLDS_MAX)
			snprintf(world_names[world_count++], NAME_BYTES, "%.63s", entry->d_name);
	if (dir)
		closedir(dir);
	qsort(world_names, world_count, NAME_BYTES, compare_names);
}

static void there_are_worlds(void **state)
{
	(void)state;
	assert_true(world_count > 0);
}

int main(void)
{
	struct CMUnitTest tests[WORLDS_MAX + 4] = {
		cmocka_unit_test(there_are_worlds),
		cmocka_unit_test(the_words_of_accept_are_the_guarantees),
		cmocka_unit_test(the_plan_looks_at_nothing_but_the_world),
		cmocka_unit_test(no_right_is_above_the_kernels),
	};

	find_worlds();
	for (size_t i = 0; i < world_count; i++)
		tests[4 + i] = (struct CMUnitTest){ .name = world_names[i], .test_func = the_plan_is_the_golden_one,
						    .initial_state = world_names[i] };
	return _cmocka_run_group_tests("golden plans", tests, 4 + world_count, NULL, NULL);
}
