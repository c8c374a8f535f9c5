/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filters of both architectures against a simulator of classic BPF, so that aarch64 is judged on x86_64 as well:
 * tests/unit/seccomp_verdicts.tsv says what must come out, data/seccomp.tsv that nothing else does. libseccomp gives a
 * second opinion on the numbers, and on the verdicts that hang on a number alone. What a kernel makes of it is in
 * test_seccomp_live.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/audit.h>
#include <seccomp.h>

#include "linux/seccomp.h"
#include "seccomp_filters_aarch64.h"
#include "seccomp_filters_x86_64.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define X32_BIT 0x40000000U

enum { ARCH_COUNT = 2, CALLS_MAX = 600, FIELDS = 5, LINE_SIZE = 512 };

/* Generous by some instructions, so that a new row passes and a tree that has lost its balance does not. */
enum { HOT_WEIGHT = 10, HOT_INSTRUCTIONS = 16, ANY_INSTRUCTIONS = 20 };

#define PROGRAM(arch, name) { #name, arch##name, COUNT(arch##name) }
#define PROGRAMS(arch) { PROGRAM(arch, base), PROGRAM(arch, closed), PROGRAM(arch, root), PROGRAM(arch, shared), \
	PROGRAM(arch, offline), PROGRAM(arch, no_unix) }

static const struct arch {
	const char *name;
	uint32_t audit, libseccomp;
	int highest;
	struct seccomp_filter programs[SECCOMP_PROGRAM_COUNT];
} arches[ARCH_COUNT] = {
	{ "x86_64", AUDIT_ARCH_X86_64, SCMP_ARCH_X86_64, x86_64_highest,
	  PROGRAMS(x86_64_) },
	{ "aarch64", AUDIT_ARCH_AARCH64, SCMP_ARCH_AARCH64, aarch64_highest,
	  PROGRAMS(aarch64_) },
};

static const struct { const char *name; uint32_t value; } verdicts[] = {
	{ "allow", SECCOMP_RET_ALLOW },
	{ "EPERM", SECCOMP_RET_ERRNO | EPERM },
	{ "ENOSYS", SECCOMP_RET_ERRNO | ENOSYS },
	{ "EAFNOSUPPORT", SECCOMP_RET_ERRNO | EAFNOSUPPORT },
};

/* Entry points that are not the architecture's own: "i386:20" in the table of verdicts is call 20 by int 0x80. */
static const struct { const char *prefix; uint32_t audit, bit; } foreign[] = {
	{ "i386:", AUDIT_ARCH_I386, 0 },
	{ "arm:", AUDIT_ARCH_ARM, 0 },
	{ "x32:", AUDIT_ARCH_X86_64, X32_BIT },
};

/* data/syscalls.tsv, and what data/seccomp.tsv and the table of verdicts say about each call. */
static struct call {
	char name[32];
	int nr[ARCH_COUNT];
	int weight;
	char answer[SECCOMP_PROGRAM_COUNT][16]; /* of a row without a condition, else empty */
	bool is_conditional[SECCOMP_PROGRAM_COUNT];
	bool seen_allowed[SECCOMP_PROGRAM_COUNT], seen_refused[SECCOMP_PROGRAM_COUNT];
} calls[CALLS_MAX];
static size_t call_count;

/* ---- tables ---------------------------------------------------------------------------------------------------- */

/* Splits the next line that is no comment; returns the number of fields, 0 at the end. */
static int next_row(FILE *file, char *line, char *fields[FIELDS])
{
	while (fgets(line, LINE_SIZE, file)) {
		int count = 0;

		line[strcspn(line, "\n")] = '\0';
		if (*line == '#' || *line == '\0')
			continue;
		for (char *rest = line; rest && count < FIELDS; count++)
			fields[count] = strsep(&rest, "\t");
		return count;
	}
	return 0;
}

static FILE *open_table(const char *path)
{
	FILE *file = fopen(path, "re");

	if (!file)
		fail_msg("cannot open %s: the test runs in the top of the sources", path);
	return file;
}

static struct call *find_call(const char *name)
{
	for (size_t i = 0; i < call_count; i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	return NULL;
}

static int parse_number(const char *text)
{
	return strcmp(text, "-") ? (int)strtol(text, NULL, 10) : -1;
}

static void load_calls(void)
{
	FILE *file = open_table("data/syscalls.tsv");
	char line[LINE_SIZE], *fields[FIELDS];

	while (next_row(file, line, fields) == 4) {
		struct call *call = &calls[call_count++];

		assert_true(call_count < CALLS_MAX);
		snprintf(call->name, sizeof(call->name), "%s", fields[0]);
		call->nr[0] = parse_number(fields[1]);
		call->nr[1] = parse_number(fields[2]);
		call->weight = parse_number(fields[3]);
	}
	fclose(file);
}

static int find_program(const char *name)
{
	for (int program = 0; program < SECCOMP_PROGRAM_COUNT; program++)
		if (!strcmp(arches[0].programs[program].name, name))
			return program;
	fail_msg("there is no program '%s'", name);
	return -1;
}

static void load_rules(void)
{
	FILE *file = open_table("data/seccomp.tsv");
	char line[LINE_SIZE], *fields[FIELDS];

	while (next_row(file, line, fields)) {
		struct call *call = find_call(fields[0]);
		int program;

		if (!strcmp(fields[0], "const"))
			continue;
		assert_non_null(call);
		program = find_program(fields[3]);
		if (strcmp(fields[1], "-"))
			call->is_conditional[program] = true;
		else
			snprintf(call->answer[program], sizeof(call->answer[program]), "%s", fields[2]);
	}
	fclose(file);
}

static int setup(void **state)
{
	(void)state;
	load_calls();
	load_rules();
	return 0;
}

/* ---- the simulator --------------------------------------------------------------------------------------------- */

struct result {
	uint32_t verdict;
	int steps;
	bool saw_arguments;
};

static uint32_t load_word(const struct seccomp_data *data, uint32_t offset, struct result *result)
{
	uint32_t word;

	assert_true(offset % 4 == 0 && offset + 4 <= sizeof(*data));
	if (offset != offsetof(struct seccomp_data, nr) && offset != offsetof(struct seccomp_data, arch))
		result->saw_arguments = true;
	memcpy(&word, (const char *)data + offset, sizeof(word));
	return word;
}

/* How many instructions further. */
static size_t jump(const struct sock_filter *at, uint32_t a)
{
	switch (BPF_OP(at->code)) {
	case BPF_JA: return at->k;
	case BPF_JEQ: return a == at->k ? at->jt : at->jf;
	case BPF_JGE: return a >= at->k ? at->jt : at->jf;
	case BPF_JGT: return a > at->k ? at->jt : at->jf;
	default: return a & at->k ? at->jt : at->jf;
	}
}

static struct result simulate(const struct seccomp_filter *filter, const struct seccomp_data *data)
{
	struct result result = { 0 };
	uint32_t a = 0;

	for (size_t pc = 0; pc < filter->length; pc++) {
		const struct sock_filter *at = &filter->code[pc];

		result.steps++;
		switch (BPF_CLASS(at->code)) {
		case BPF_LD: a = load_word(data, at->k, &result); break;
		case BPF_ALU: a &= at->k; break;
		case BPF_JMP: pc += jump(at, a); break;
		default: result.verdict = at->k; return result;
		}
	}
	fail_msg("the program '%s' has no end", filter->name);
	return result;
}

/* What the command sees: every other program stands on top of base, and a refusal goes before an allowance. */
static uint32_t simulate_run(const struct arch *arch, enum seccomp_program kind, const struct seccomp_data *data)
{
	uint32_t verdict = simulate(&arch->programs[kind], data).verdict;

	return verdict == SECCOMP_RET_ALLOW ? simulate(&arch->programs[SECCOMP_BASE], data).verdict : verdict;
}

static struct result simulate_call(const struct arch *arch, enum seccomp_program program, int nr)
{
	const struct seccomp_data data = { .nr = nr, .arch = arch->audit };

	return simulate(&arch->programs[program], &data);
}

static uint32_t verdict_value(const char *name)
{
	for (size_t i = 0; i < COUNT(verdicts); i++)
		if (!strcmp(verdicts[i].name, name))
			return verdicts[i].value;
	fail_msg("unknown verdict '%s'", name);
	return 0;
}

/* ---- the table of verdicts ------------------------------------------------------------------------------------- */

struct expectation {
	const char *arch, *run, *call, *args, *verdict;
};

static void parse_args(const char *text, uint64_t args[6])
{
	char *end;

	for (int i = 0; i < 6 && *text && strcmp(text, "-"); i++, text = end)
		args[i] = strtoull(text, &end, 0);
}

/* Returns false where the call does not exist on that architecture. */
static bool make_data(const struct expectation *row, size_t arch, enum seccomp_program kind, struct seccomp_data *data)
{
	struct call *call = find_call(row->call);
	const char *number = row->call;

	data->arch = arches[arch].audit;
	parse_args(row->args, (uint64_t *)data->args);
	if (call) {
		call->seen_allowed[kind] |= !strcmp(row->verdict, "allow");
		call->seen_refused[kind] |= strcmp(row->verdict, "allow") != 0;
		data->nr = call->nr[arch];
		return data->nr >= 0;
	}
	for (size_t i = 0; i < COUNT(foreign); i++) {
		size_t length = strlen(foreign[i].prefix);

		if (strncmp(row->call, foreign[i].prefix, length))
			continue;
		data->arch = foreign[i].bit ? data->arch : foreign[i].audit;
		data->nr = (int)(strtoul(row->call + length, NULL, 0) | foreign[i].bit);
		return true;
	}
	if (*number != '-' && (*number < '0' || *number > '9'))
		fail_msg("'%s' stands in the table of verdicts, but not in data/syscalls.tsv", row->call);
	data->nr = (int)strtol(number, NULL, 0);
	return true;
}

static int check_row(const struct expectation *row, size_t arch, enum seccomp_program kind)
{
	const char *run = arches[arch].programs[kind].name;
	struct seccomp_data data = { 0 };
	uint32_t verdict;

	if (strcmp(row->arch, "*") && strcmp(row->arch, arches[arch].name))
		return 0;
	if (strcmp(row->run, "*") ? strcmp(row->run, run) != 0 : kind > SECCOMP_ROOT)
		return 0;
	if (!make_data(row, arch, kind, &data))
		return 0;
	verdict = simulate_run(&arches[arch], kind, &data);
	if (verdict == verdict_value(row->verdict))
		return 0;
	print_error("%s, %s: %s(%s) gives %#x, not %s\n", arches[arch].name, run, row->call, row->args,
		    verdict, row->verdict);
	return 1;
}

static void test_verdicts(void **state)
{
	FILE *file = open_table("tests/unit/seccomp_verdicts.tsv");
	char line[LINE_SIZE], *fields[FIELDS];
	int rows = 0, wrong = 0;

	(void)state;
	for (; next_row(file, line, fields) == FIELDS; rows++) {
		const struct expectation row = { fields[0], fields[1], fields[2], fields[3], fields[4] };

		for (size_t arch = 0; arch < ARCH_COUNT; arch++)
			for (int kind = 0; kind < SECCOMP_PROGRAM_COUNT; kind++)
				wrong += check_row(&row, arch, kind);
	}
	fclose(file);
	assert_int_equal(wrong, 0);
	assert_true(rows > 100);
}

/* Runs after test_verdicts. A condition without both cases in the table is not tested. */
static void test_every_condition_has_both_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < call_count; i++)
		for (int program = 0; program < SECCOMP_PROGRAM_COUNT; program++)
			if (calls[i].is_conditional[program] &&
			    !(calls[i].seen_allowed[program] && calls[i].seen_refused[program]))
				fail_msg("%s: the table of verdicts needs an allowed and a refused '%s'",
					 arches[0].programs[program].name, calls[i].name);
}

/* ---- over all calls -------------------------------------------------------------------------------------------- */

static void check_call(const struct call *call, size_t arch, enum seccomp_program program)
{
	struct result result = simulate_call(&arches[arch], program, call->nr[arch]);
	const char *expected = *call->answer[program] ? call->answer[program] : "allow";

	assert_true(result.steps <= (call->weight >= HOT_WEIGHT ? HOT_INSTRUCTIONS : ANY_INSTRUCTIONS));
	assert_int_equal(result.saw_arguments, call->is_conditional[program]);
	if (!call->is_conditional[program] && result.verdict != verdict_value(expected))
		fail_msg("%s, %s: wrong verdict %#x", arches[arch].name, call->name, result.verdict);
}

/* What has no condition must be decided without a look at the arguments, else the kernel's bitmap is lost. */
static void test_every_call(void **state)
{
	(void)state;
	for (size_t arch = 0; arch < ARCH_COUNT; arch++)
		for (int program = 0; program < SECCOMP_PROGRAM_COUNT; program++)
			for (size_t i = 0; i < call_count; i++)
				if (calls[i].nr[arch] >= 0)
					check_call(&calls[i], arch, program);
}

static void test_unknown_numbers(void **state)
{
	(void)state;
	for (size_t arch = 0; arch < ARCH_COUNT; arch++) {
		const int highest = arches[arch].highest;
		const uint32_t numbers[] = { highest + 1, 9999, X32_BIT, X32_BIT + 39, INT32_MAX, UINT32_MAX };

		assert_true(highest >= 471);
		for (size_t i = 0; i < COUNT(numbers); i++)
			assert_int_equal(simulate_call(&arches[arch], SECCOMP_BASE, (int)numbers[i]).verdict,
					 SECCOMP_RET_ERRNO | ENOSYS);
	}
}

/* Nothing but these loads, comparisons and verdicts. So no program asks a listener, who would read pointers that the
 * command can change after the look (E098). */
static bool is_permitted(const struct sock_filter *at)
{
	switch (at->code) {
	case BPF_LD | BPF_W | BPF_ABS:
	case BPF_ALU | BPF_AND | BPF_K:
	case BPF_JMP | BPF_JEQ | BPF_K:
	case BPF_JMP | BPF_JGE | BPF_K:
	case BPF_JMP | BPF_JGT | BPF_K:
	case BPF_JMP | BPF_JSET | BPF_K:
		return true;
	case BPF_RET | BPF_K:
		for (size_t i = 0; i < COUNT(verdicts); i++)
			if (at->k == verdicts[i].value)
				return true;
	}
	return false;
}

static void test_instructions(void **state)
{
	(void)state;
	for (size_t arch = 0; arch < ARCH_COUNT; arch++) {
		for (int program = 0; program < SECCOMP_PROGRAM_COUNT; program++) {
			const struct seccomp_filter *filter = &arches[arch].programs[program];

			assert_in_range(filter->length, 1, BPF_MAXINSNS - 1);
			for (size_t pc = 0; pc < filter->length; pc++) {
				const struct sock_filter *at = &filter->code[pc];

				assert_true(is_permitted(at));
				if (BPF_CLASS(at->code) == BPF_JMP)
					assert_true(pc + 1 + (at->jt > at->jf ? at->jt : at->jf) < filter->length);
			}
		}
	}
}

/* ---- the numbers ----------------------------------------------------------------------------------------------- */

static void test_numbers_agree_with_libseccomp(void **state)
{
	(void)state;
	for (size_t arch = 0; arch < ARCH_COUNT; arch++) {
		int compared = 0;

		for (size_t i = 0; i < call_count; i++) {
			int nr = seccomp_syscall_resolve_name_arch(arches[arch].libseccomp, calls[i].name);

			if (nr < 0) /* too new for it, or not on this architecture */
				continue;
			assert_int_equal(calls[i].nr[arch], nr);
			compared++;
		}
		assert_true(compared > 280);
	}
}

/* The other way: no number that libseccomp knows is missing, or carries another name. */
static void test_no_number_is_missing(void **state)
{
	(void)state;
	for (size_t arch = 0; arch < ARCH_COUNT; arch++) {
		for (int nr = 0; nr <= arches[arch].highest; nr++) {
			char *name = seccomp_syscall_resolve_num_arch(arches[arch].libseccomp, nr);
			struct call *call = name ? find_call(name) : NULL;

			if (name && (!call || call->nr[arch] != nr))
				fail_msg("%s: %d is %s, says libseccomp", arches[arch].name, nr, name);
			free(name);
		}
	}
}

/* ---- the verdicts ---------------------------------------------------------------------------------------------- */

static bool is_known_to_libseccomp(const struct call *call)
{
	return seccomp_syscall_resolve_name(call->name) != __NR_SCMP_ERROR;
}

/* What libseccomp makes of the same refusals, as the code that it would load. */
static struct seccomp_filter let_libseccomp_write(const struct arch *arch, int program)
{
	static struct sock_filter code[BPF_MAXINSNS];
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	int fd = memfd_create("filter", MFD_CLOEXEC);
	ssize_t size;

	assert_non_null(context);
	if (arch->libseccomp != seccomp_arch_native()) {
		assert_int_equal(seccomp_arch_add(context, arch->libseccomp), 0);
		assert_int_equal(seccomp_arch_remove(context, SCMP_ARCH_NATIVE), 0);
	}
	for (size_t i = 0; i < call_count; i++) {
		const char *answer = calls[i].answer[program];
		uint32_t error = *answer ? verdict_value(answer) & SECCOMP_RET_DATA : 0;

		/* It takes the number here, whatever architecture it writes for. */
		if (error && is_known_to_libseccomp(&calls[i]))
			assert_int_equal(seccomp_rule_add(context, SCMP_ACT_ERRNO(error),
							  seccomp_syscall_resolve_name(calls[i].name), 0), 0);
	}
	assert_int_equal(seccomp_export_bpf(context, fd), 0);
	size = pread(fd, code, sizeof(code), 0);
	close(fd);
	seccomp_release(context);
	assert_true(size > 0 && (size_t)size < sizeof(code));
	return (struct seccomp_filter){ "libseccomp's", code, (unsigned short)((size_t)size / sizeof(code[0])) };
}

/* Is it refused? By both, or by none. */
static bool compare_call(const struct call *call, size_t arch, int program, const struct seccomp_filter *theirs)
{
	const struct seccomp_data data = { .nr = call->nr[arch], .arch = arches[arch].audit };
	uint32_t verdict = simulate(theirs, &data).verdict;

	if (simulate(&arches[arch].programs[program], &data).verdict != verdict)
		fail_msg("%s, %s: libseccomp says %#x", arches[arch].name, call->name, verdict);
	return verdict != SECCOMP_RET_ALLOW;
}

/* Where libseccomp can have an opinion: calls that are decided by their number, and no others. */
static void test_verdicts_agree_with_libseccomp(void **state)
{
	int compared = 0, refused = 0;

	(void)state;
	for (size_t arch = 0; arch < ARCH_COUNT; arch++)
		for (int program = 0; program < SECCOMP_PROGRAM_COUNT; program++) {
			const struct seccomp_filter theirs = let_libseccomp_write(&arches[arch], program);

			for (size_t i = 0; i < call_count; i++) {
				if (calls[i].nr[arch] < 0 || calls[i].is_conditional[program] ||
				    !is_known_to_libseccomp(&calls[i]))
					continue;
				refused += compare_call(&calls[i], arch, program, &theirs);
				compared++;
			}
		}
	assert_true(compared > 3000 && refused > 100);
}

/* The program has the same filters in it as the ones tested here. */
static void test_built_filters(void **state)
{
	size_t arch = 0;

	(void)state;
	while (arch < ARCH_COUNT && arches[arch].libseccomp != seccomp_arch_native())
		arch++;
	assert_true(arch < ARCH_COUNT);
	for (int program = 0; program < SECCOMP_PROGRAM_COUNT; program++) {
		const struct seccomp_filter *expected = &arches[arch].programs[program];

		assert_string_equal(seccomp_filters[program].name, expected->name);
		assert_int_equal(seccomp_filters[program].length, expected->length);
		assert_memory_equal(seccomp_filters[program].code, expected->code,
				    expected->length * sizeof(expected->code[0]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_every_condition_has_both_verdicts),
		cmocka_unit_test(test_every_call),
		cmocka_unit_test(test_unknown_numbers),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_numbers_agree_with_libseccomp),
		cmocka_unit_test(test_no_number_is_missing),
		cmocka_unit_test(test_verdicts_agree_with_libseccomp),
		cmocka_unit_test(test_built_filters),
	};

	return cmocka_run_group_tests_name("seccomp", tests, setup, NULL);
}
