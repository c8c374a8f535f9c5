/* SPDX-License-Identifier: Apache-2.0 */
/* The same errno has another cause, and another cure, by what else is true of the machine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/cause.h"

static struct cause_signs usual(void)
{
	return (struct cause_signs){ .userns_clone = -1, .max_userns = 1000, .max_netns = 1000, .apparmor_userns = -1,
				     .has_userns = true, .has_landlock_lsm = true };
}

static void every_sign_has_its_cause(void **state)
{
	struct cause_signs debian = usual(), none_left = usual(), container = usual(), ubuntu = usual(),
			   chrooted = usual(), masked = usual(), old = usual(), without = usual(), plain = usual(),
			   root = usual();
	const struct {
		const struct cause_signs *signs;
		enum host_fact fact;
		int errnum;
		const char *kind;
	} rows[] = {
		{ &debian, FACT_NAMESPACES, EPERM, "sysctl" },
		{ &none_left, FACT_NAMESPACES, ENOSPC, "sysctl" },
		{ &plain, FACT_NAMESPACES, ENOSPC, "limit" },
		{ &plain, FACT_NAMESPACES, EUSERS, "limit" },
		{ &container, FACT_NAMESPACES, EPERM, "seccomp" },
		{ &container, FACT_MOUNTS, EPERM, "seccomp" },
		{ &container, FACT_LANDLOCK, ENOSYS, "seccomp" },
		{ &ubuntu, FACT_NAMESPACES, EACCES, "apparmor" },
		{ &ubuntu, FACT_MOUNTS, EPERM, "apparmor" },
		{ &chrooted, FACT_NAMESPACES, EPERM, "container" },
		{ &root, FACT_NAMESPACES, EPERM, "container" },
		{ &masked, FACT_FRESH_PROC, EPERM, "container" },
		{ &old, FACT_NAMESPACES, EINVAL, "kernel" },
		{ &without, FACT_LANDLOCK, ENOSYS, "kernel" },
		{ &plain, FACT_LANDLOCK, EOPNOTSUPP, "kernel" },
		{ &plain, FACT_MOUNTS, ENOSYS, "kernel" },
		{ &plain, FACT_OVERLAY, ENODEV, "kernel" },
		{ &plain, FACT_OVERLAY, EINVAL, "file system" },
		{ &plain, FACT_IDMAP, EINVAL, "file system" },
		{ &plain, FACT_NET_NAMESPACE, EINVAL, "kernel" },
		{ &plain, FACT_SECCOMP, EINVAL, "kernel" },
		{ &plain, FACT_NAMESPACES, EACCES, "lsm" },
		{ &plain, FACT_NAMESPACES, EPERM, "capability" },
		{ &plain, FACT_FRESH_PROC, EIO, "unknown" },
	};

	(void)state;
	debian.userns_clone = 0;
	none_left.max_userns = 0;
	container.has_filter = true;
	ubuntu.apparmor_userns = 1;
	chrooted.is_chrooted = true;
	root.is_admin = true;
	masked.has_masked_proc = true;
	old.has_userns = false;
	without.has_landlock_lsm = false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cause cause = cause_of(rows[i].fact, "make namespaces for", rows[i].errnum, rows[i].signs);

		if (strcmp(cause.kind, rows[i].kind) != 0)
			fail_msg("row %zu: %s (%s) instead of %s", i, cause.kind, cause.text, rows[i].kind);
		assert_true(cause.text[0] && cause.fix[0]);
	}
}

static void a_root_that_cannot_be_mapped(void **state)
{
	struct cause_signs signs = usual();

	(void)state;
	signs.is_root = signs.has_filter = true;
	assert_string_equal(cause_of(FACT_NAMESPACES, "write the uid map", EPERM, &signs).kind, "capability");
	assert_string_equal(cause_of(FACT_NAMESPACES, "make namespaces for", EPERM, &signs).kind, "seccomp");
	signs.has_setfcap = true;
	assert_string_equal(cause_of(FACT_NAMESPACES, "write the uid map", EPERM, &signs).kind, "seccomp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sign_has_its_cause),
		cmocka_unit_test(a_root_that_cannot_be_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
