# SPDX-License-Identifier: Apache-2.0
# Whatever call of the set-up fails: the command runs with all that the record calls held, or never. injection.py knows
# how, inject.c makes the calls fail.
# shellcheck shell=bash disable=SC2154

load ../lib

# judge SCENARIO EXTENT
judge() {
	# The sanitizers have system calls of their own, and end the program when one fails.
	[[ $PINFOLD != *asan* ]] || skip "needs unsanitized"
	run python3 "$PROJECT/tests/live/injection.py" "$PINFOLD" "${ATTEMPT%/*}/inject" "$ATTEMPT" "$SCRATCH/world" "$@"
	assert_status 0
}

@test "one system call fails, of every kind, in a plain run" {
	judge plain some
}

@test "one system call fails, of every kind, in a run with most options, offline" {
	judge rich some
}

@test "one system call fails, of every kind, without namespaces" {
	judge landlock some
}

# bats test_tags=slow
@test "any one system call fails, in a plain run" {
	judge plain all
}

# bats test_tags=slow
@test "any one system call fails, in a run with most options, offline" {
	judge rich all
}
