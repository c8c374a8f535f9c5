# SPDX-License-Identifier: Apache-2.0
# Many runs in one repository, and the host's own git at work meanwhile: no lock, no leftover, no race.
# shellcheck shell=bash disable=SC2154

load ../lib

setup() {
	lib_setup
	own_home
	needs git
	new_repo
	git config gc.auto 0
}

# What git leaves when it is interrupted, and nothing else.
leftovers() { find .git -name '*.lock' -o -name 'gc.pid' -o -name 'tmp_*'; }

# one_loop DIR RUNS : so many runs there, one after the other; the first failure is the last.
one_loop() {
	local n
	cd "$1" || return
	for ((n = 1; n <= $2; n++)); do
		"$PINFOLD" run -- sh -ec "echo $n >>file && git status --porcelain >/dev/null && git commit -q -a -m $n &&
			git tag tag-$n-\$(git branch --show-current)" \
			>"$1.said.$n" 2>&1 || { echo "run $n in $1: status $?" && cat "$1.said.$n"; } >"$1.failed"
		[ ! -e "$1.failed" ] || return
	done
}

# beside LOOPS RUNS : loops in as many worktrees of one repository, while the host writes to its configuration and commits
# in the main checkout.
beside() {
	local loop written=0 failures pids=()
	for ((loop = 1; loop <= $1; loop++)); do
		git worktree add -q -b "branch-$loop" "$SCRATCH/tree-$loop"
	done
	for ((loop = 1; loop <= $1; loop++)); do
		spawn one_loop "$SCRATCH/tree-$loop" "$2"
		pids+=("$SPAWNED")
	done
	while [ -n "$(jobs -rp)" ]; do
		written=$((written + 1))
		git config host.written "$written" && git commit -q --allow-empty -m host || fail "the host's git failed"
	done
	wait "${pids[@]}" || true
	failures=$(cat "$SCRATCH"/*.failed 2>/dev/null || true)
	assert_equal "$failures" ''
	[ "$written" -ge 3 ] || fail "the host has written $written times"
	assert_equal "$(git config host.written)" "$written"
	for ((loop = 1; loop <= $1; loop++)); do
		assert_equal "$(git rev-list --count "main..branch-$loop")" "$2"
		assert_equal "$(git -C "$SCRATCH/tree-$loop" status --porcelain)" ''
	done
	assert_equal "$(git tag | wc -l)" $(($1 * $2))
	assert_equal "$(git status --porcelain)" ''
	assert_equal "$(leftovers)" ''
	git fsck --strict >"$SCRATCH/fsck" 2>&1 || fail "$(cat "$SCRATCH/fsck")"
}

@test "8 loops of 3 runs in one repository, beside the host's git: none fails, nothing is left" {
	beside 8 3
}

# bats test_tags=slow
@test "32 loops of 5 runs in one repository, beside the host's git: none fails, nothing is left" {
	beside 32 5
}

# due : a repository in which git would collect garbage with the next commit: many objects, and two of them where it
# counts.
due() {
	local n
	mkdir "$SCRATCH/objects"
	for ((n = 0; n < 2000; n++)); do
		echo "$n" >"$SCRATCH/objects/$n"
	done
	find "$SCRATCH/objects" -type f | git hash-object -w --stdin-paths >"$SCRATCH/names"
	[ "$(find .git/objects/17 -type f | wc -l)" -gt 1 ] || fail "not enough objects"
	git config gc.auto 1
	git config gc.autoDetach false
}

packs() { git count-objects -v | sed -n 's/^packs: //p'; }

@test "a commit that makes a collection of garbage due leaves that to the host's git" {
	due
	# The control: git outside collects with a commit.
	cp -r . "$SCRATCH/control"
	git -C "$SCRATCH/control" commit -q --allow-empty -m outside
	[ "$(git -C "$SCRATCH/control" count-objects -v | sed -n 's/^packs: //p')" -gt 0 ] || skip "git does not collect here"
	allowed 'git commit -q --allow-empty -m inside && git commit -q --allow-empty -m again'
	assert_equal "$output" ''
	assert_equal "$(packs)" 0
	assert_equal "$(leftovers)" ''
	git gc --auto --quiet
	[ "$(packs)" -gt 0 ] || fail "the host's git has packed nothing"
	assert_equal "$(git log --format=%s | head -2)" $'again\ninside'
	assert_equal "$(leftovers)" ''
}
