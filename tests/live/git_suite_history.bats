#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=slow
# Scripts of git's own test suite in the pen: commits, merges, rebases, stashes. Only `make test-all` runs them.

load ../lib
load ../git_suite

@test "git's t3404-rebase-interactive" { suite t3404-rebase-interactive; }
@test "git's t3407-rebase-abort" { suite t3407-rebase-abort; }
@test "git's t3413-rebase-hook" { suite t3413-rebase-hook; }
@test "git's t3507-cherry-pick-conflict" { suite t3507-cherry-pick-conflict; }
@test "git's t3700-add" { suite t3700-add; }
@test "git's t3905-stash-include-untracked" { suite t3905-stash-include-untracked; }
@test "git's t3908-stash-in-worktree" { suite t3908-stash-in-worktree; }
@test "git's t7502-commit-porcelain" { suite t7502-commit-porcelain; }
@test "git's t7503-pre-commit-and-pre-merge-commit-hooks" { suite t7503-pre-commit-and-pre-merge-commit-hooks; }
@test "git's t7504-commit-msg-hook" { suite t7504-commit-msg-hook; }
@test "git's t7600-merge" { suite t7600-merge; }
@test "git's t7611-merge-abort" { suite t7611-merge-abort; }
