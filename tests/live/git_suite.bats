#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Scripts of git's own test suite in the pen: the six that `make test` runs. git_suite_places.bats and
# git_suite_history.bats have those of `make test-all`.

load ../lib
load ../git_suite

@test "git's t0001-init" { suite t0001-init; }
@test "git's t2400-worktree-add" { suite t2400-worktree-add; }
@test "git's t3200-branch" { suite t3200-branch; }
@test "git's t3400-rebase" { suite t3400-rebase; }
@test "git's t3903-stash" { suite t3903-stash; }
@test "git's t7501-commit-basic-functionality" { suite t7501-commit-basic-functionality; }

@test "the page about git's own tests has the scripts that are run, and the differences that are known" {
	local page=$PROJECT/docs/git-suite.md tests=("$PROJECT"/tests/live/git_suite*.bats)
	assert_equal "$(sed -n '/^## Which/,/^## /s/^| \(t[0-9]\{4\}-[^ ]*\) | .*/\1/p' "$page" | sort)" \
		"$(sed -n 's/^@test .* { suite \(.*\); }$/\1/p' "${tests[@]}" | sort)"
	assert_equal "$(sed -n '/^## What ends/,$s/^| \(t[0-9]\{4\}-.*\) |$/\1/p' "$page")" \
		"$(grep -v '^#' "$PROJECT/tests/git-suite.tsv" | sed 's/\t/ | /g')"
}
