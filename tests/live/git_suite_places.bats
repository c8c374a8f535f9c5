#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=slow
# Scripts of git's own test suite in the pen: repositories, branches, worktrees, submodules. Only `make test-all` runs
# them.

load ../lib
load ../git_suite

@test "git's t0002-gitfile" { suite t0002-gitfile; }
@test "git's t1350-config-hooks-path" { suite t1350-config-hooks-path; }
@test "git's t1400-update-ref" { suite t1400-update-ref; }
@test "git's t1501-work-tree" { suite t1501-work-tree; }
@test "git's t2018-checkout-branch" { suite t2018-checkout-branch; }
@test "git's t2060-switch" { suite t2060-switch; }
@test "git's t2402-worktree-list" { suite t2402-worktree-list; }
@test "git's t2403-worktree-move" { suite t2403-worktree-move; }
@test "git's t2406-worktree-repair" { suite t2406-worktree-repair; }
@test "git's t7400-submodule-basic" { suite t7400-submodule-basic; }
@test "git's t7403-submodule-sync" { suite t7403-submodule-sync; }
@test "git's t7412-submodule-absorbgitdirs" { suite t7412-submodule-absorbgitdirs; }
