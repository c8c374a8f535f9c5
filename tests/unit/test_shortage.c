/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation fails: the N-th alone, and all from the N-th on, for each N, while a policy is read, a plan is
 * built, and plan and record are written. Each time there is a clean error, or the same result as with all the memory
 * in the world; what was half built is never given out. The linker puts the functions below between the library and the
 * real ones (tests/meson.build); jansson, which is linked dynamically here, has a hook. A run among many takes some of
 * the Ns of a long list; PINFOLD_TEST_EVERY=1 takes all.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/arena.h"
#include "pinfold.h"

/* ---- what fails ---- */

static unsigned long made, fails_at; /* 0: nothing fails */
static bool is_for_good;             /* and all after it */

static bool is_over(void)
{
	made++;
	return fails_at && (is_for_good ? made >= fails_at : made == fails_at);
}

/* What the library's own function does where there is no room. */
static bool is_short(struct arena *arena)
{
	bool is_so = is_over();

	arena->is_short |= is_so;
	return is_so;
}

#define BETWEEN_WHERE(type, name, over, parameters, arguments)  \
	type __real_##name parameters;                          \
	type __wrap_##name parameters;                          \
	type __wrap_##name parameters                           \
	{                                                       \
		return over ? NULL : __real_##name arguments;   \
	}
#define BETWEEN(type, name, parameters, arguments) BETWEEN_WHERE(type, name, is_over(), parameters, arguments)
#define BETWEEN_ARENA(type, name, parameters, arguments) \
	BETWEEN_WHERE(type, name, is_short(arena), parameters, arguments)

BETWEEN(void *, malloc, (size_t n), (n))
BETWEEN(void *, calloc, (size_t n, size_t size), (n, size))
BETWEEN(void *, realloc, (void *old, size_t n), (old, n))
BETWEEN(char *, strdup, (const char *s), (s))
BETWEEN_ARENA(void *, arena_alloc, (struct arena *arena, size_t n, size_t size), (arena, n, size))
BETWEEN_ARENA(void *, arena_grow, (struct arena *arena, void *old, size_t used, size_t n, size_t size, size_t *cap),
	(arena, old, used, n, size, cap))
BETWEEN_ARENA(char *, arena_strdup, (struct arena *arena, const char *s), (arena, s))
BETWEEN_ARENA(char *, arena_strndup, (struct arena *arena, const char *s, size_t n), (arena, s, n))
BETWEEN_ARENA(void *, arena_memdup, (struct arena *arena, const void *p, size_t n), (arena, p, n))

char *__wrap_arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *__wrap_arena_printf(struct arena *arena, const char *format, ...)
{
	char text[4096];
	va_list args;

	if (is_short(arena))
		return NULL;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return __real_arena_strdup(arena, text);
}

static void *jansson_malloc(size_t n)
{
	return is_over() ? NULL : __real_malloc(n);
}

/* ---- a small world ---- */

static char top[64];

static const char *at(const char *below)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, below);
	return path;
}

static void put(const char *below, const char *text)
{
	FILE *file = fopen(at(below), "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int make_world(void **state)
{
	static const char *const directories[] = {
		"home", "home/.ssh", "home/.config", "home/.config/pinfold", "work", "work/.git", "work/.git/objects",
		"work/.git/refs", "work/.git/hooks", "work/.vscode",
	};

	(void)state;
	umask(022);
	snprintf(top, sizeof(top), "/var/tmp/pinfold-shortage.XXXXXX");
	if (!mkdtemp(top))
		return -1;
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		if (mkdir(at(directories[i]), 0755) < 0)
			return -1;
	put("home/.netrc", "secret");
	put("home/.npmrc", "color=false\n//registry.invalid/:_authToken=secret\n");
	put("home/.config/pinfold/config.json",
	    "{ // a comment\n \"hide\": [\"*.pem\"], \"protect\": [\"/locked/\"],\n"
	    " \"time\": \"1h\", \"accept\": [\"limits\"],\n"
	    " \"projects\": { \"/nowhere\": { \"network\": \"offline\" } }, }\n");
	put("work/.pinfold.json", "{ \"network\": \"offline\", \"write\": [\"/elsewhere\"] }\n");
	put("work/.git/HEAD", "ref: refs/heads/main\n");
	put("work/.git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n");
	return setenv("HOME", at("home"), 1) < 0 || chdir(at("work")) < 0 ? -1 : 0;
}

static int remove_world(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return chdir("/") < 0 || system(command) != 0 ? -1 : 0;
}

/* ---- what is done ---- */

struct work {
	struct pinfold_policy *policy;
	struct pinfold_host *host;
	struct pinfold_plan *plan;
	struct pinfold_outcome *outcome;
	char *text[4];
};

static int load(struct work *work, struct pinfold_error *err)
{
	int r;

	work->policy = pinfold_policy_new();
	work->host = pinfold_host_new();
	if (!work->policy || !work->host)
		return -ENOMEM;
	r = pinfold_policy_set(work->policy, "processes", "100", err);
	if (r == 0)
		r = pinfold_policy_set(work->policy, "hide", "*.key", err);
	return r < 0 ? r : pinfold_policy_load(work->policy, ".", err);
}

static int do_policy(struct work *work, struct pinfold_error *err)
{
	int r = load(work, err);

	if (r == 0)
		r = pinfold_policy_show(work->policy, work->host, PINFOLD_JSON, &work->text[0], err);
	return r < 0 ? r : pinfold_policy_dump(work->policy, &work->text[1], err);
}

static int do_plan(struct work *work, struct pinfold_error *err)
{
	static char name[] = "true";
	static char *const argv[] = { name, NULL };
	int r = load(work, err);

	if (r == 0)
		r = pinfold_plan_new(&work->plan, work->policy, work->host, argv, true, err);
	if (r < 0) {
		assert_null(work->plan);
		return r;
	}
	r = pinfold_plan_print(work->plan, PINFOLD_JSON, &work->text[0], err);
	return r < 0 ? r : pinfold_plan_status(work->plan, PINFOLD_TEXT, &work->text[1], err);
}

static int do_record(struct work *work, struct pinfold_error *err)
{
	struct pinfold_error refusal = { .code = PINFOLD_REFUSED, .text = "refused" };
	int r = do_plan(work, err);

	if (r == 0)
		r = pinfold_outcome_failure(&work->outcome, work->plan, NULL, &refusal, err);
	if (r == 0)
		r = pinfold_outcome_json(work->outcome, &work->text[2], err);
	/* An outcome is given also where there was no room for all of it, and says so. */
	return r == 0 && strstr(work->text[2], "\"incomplete\": true") ? -ENOMEM : r;
}

static void undo(struct work *work)
{
	for (size_t i = 0; i < sizeof(work->text) / sizeof(work->text[0]); i++)
		free(work->text[i]);
	pinfold_outcome_free(work->outcome);
	pinfold_plan_free(work->plan);
	pinfold_host_free(work->host);
	pinfold_policy_free(work->policy);
}

/* The first line that is another one, of `now`; NULL: none. */
static const char *difference(const char *before, const char *now)
{
	const char *line = now;

	if (!before || !now)
		return before ? "(nothing)" : now;
	for (; *now && *now == *before; now++, before++)
		if (*now == '\n')
			line = now + 1;
	return *now == *before ? NULL : line;
}

/* How many texts are other ones although nothing was said. */
static int compare(const struct work *whole, const struct work *work, unsigned long n)
{
	int differ = 0;

	for (size_t i = 0; i < sizeof(whole->text) / sizeof(whole->text[0]); i++) {
		const char *line = difference(whole->text[i], work->text[i]);

		if (line)
			print_error("allocation %lu, text %zu: %.*s\n", n, i, (int)strcspn(line, "\n"), line);
		differ += line != NULL;
	}
	return differ;
}

typedef int job(struct work *, struct pinfold_error *);

/* How much is wrong with what is done when the N-th fails. */
static int fail_at(job *what, const struct work *whole, unsigned long n)
{
	struct pinfold_error err = { 0 };
	struct work work = { 0 };
	int r, faults = 0;

	made = 0;
	fails_at = n;
	r = what(&work, &err);
	fails_at = 0;
	if (r == 0) {
		faults = compare(whole, &work, n);
	} else if (r != -ENOMEM) {
		print_error("allocation %lu: an error, but not of memory: %d, '%s'\n", n, r, err.text);
		faults = 1;
	}
	undo(&work);
	return faults;
}

/* From one allocation to the next `step`, which has no divisor in common with what repeats. */
static void every_one_fails(job *what, unsigned long step)
{
	struct pinfold_error err;
	struct work whole = { 0 };
	unsigned long all;
	int faults = 0;

	made = fails_at = 0;
	if (what(&whole, &err) < 0)
		fail_msg("without a shortage: %s", err.text);
	all = made;
	assert_true(all > 100);
	if (getenv("PINFOLD_TEST_EVERY"))
		step = 1;
	for (int i = 0; i < 2; i++) {
		is_for_good = i == 1;
		for (unsigned long n = 1; n <= all; n += step)
			faults += fail_at(what, &whole, n);
	}
	undo(&whole);
	assert_int_equal(faults, 0);
}

static void reading_the_policy(void **state)
{
	(void)state;
	every_one_fails(do_policy, 1);
}

static void building_the_plan(void **state)
{
	(void)state;
	every_one_fails(do_plan, 13);
}

static void writing_the_record(void **state)
{
	(void)state;
	every_one_fails(do_record, 61);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading_the_policy),
		cmocka_unit_test(building_the_plan),
		cmocka_unit_test(writing_the_record),
	};

	json_set_alloc_funcs(jansson_malloc, free);
	return cmocka_run_group_tests(tests, make_world, remove_world);
}
