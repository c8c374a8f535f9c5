#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=slow
# shellcheck disable=SC2154 # status and output are bats' own
# The table of commands in docs/repository.md: each line is run outside, and in the pen in a clone and in a linked
# worktree.

load ../lib

setup() {
	lib_setup
	needs git
	own_home
	WORLD=$SCRATCH/world
}

# make_world clone|linked : a clone, or a linked worktree of one, with a submodule that is there and one that is only
# known, and branches that have gone apart. It is left in an archive: every command begins with the same.
make_world() {
	local seed=$SCRATCH/seed top=$WORLD/clone
	git config --global user.name 'A Tester'
	git config --global user.email tester@example.invalid
	git config --global protocol.file.allow always
	new_repo "$WORLD/library"
	new_repo "$seed"
	(
		cd "$seed"
		mkdir dir && echo deep >dir/deep && git add dir
		git submodule --quiet add "$WORLD/library" lib/here
		git submodule --quiet add "$WORLD/library" lib/later
		git commit -q -m second
		git switch -q -c topic && echo topic >topic && git add topic && git commit -q -m topic
		git switch -q main && echo third >third && git add third && git commit -q -m third
	)
	git clone -q --bare "$seed" "$WORLD/remote.git"
	git clone -q "$WORLD/remote.git" "$top"
	git -C "$top" branch -q topic origin/topic
	[ "$1" = clone ] || git -C "$top" worktree add -q -b work "$WORLD/linked"
	git -C "$WORLD/$1" submodule --quiet update --init lib/here
	find "$WORLD" -name '*.sample' -delete
	tar -C "$SCRATCH" -cf "$SCRATCH/world.tar" world
}

fresh_world() {
	cd "$SCRATCH"
	rm -rf "$WORLD" && tar -C "$SCRATCH" -xf "$SCRATCH/world.tar"
	cd "$WORLD/$1"
}

# The rows: command, in a clone, in a linked worktree, between tabs.
table() {
	sed -n '/^<!-- commands -->/,/^<!-- end of/s/^| `\(.*\)` | \(.*\) | \(.*\) |$/\1\t\2\t\3/p' \
		"$PROJECT/docs/repository.md"
}

# outcome COMMAND : what the table says about it.
outcome() {
	run pen -- sh -c "$1"
	if [ "$status" -ne 0 ]; then
		[[ $status -lt 125 || $status -gt 127 ]] && OUTCOME=refused || OUTCOME="status $status"
	elif [[ $output == *"not kept"* ]]; then
		OUTCOME='not kept'
	elif [[ $output == *pinfold:* ]]; then
		OUTCOME='named by pinfold'
	else
		OUTCOME=works
	fi
}

# Whatever became of the command, nothing is half done.
is_sound() {
	git fsck --no-dangling --no-progress 2>&1 && git status --porcelain >/dev/null || return
	assert_equal "$(find "$WORLD" -name '*.lock' -o -name 'tmp_*' -o -name gc.pid)" ''
}

# rows COLUMN clone|linked
rows() {
	local command expected columns wrong=() count=0
	make_world "$2"
	while IFS=$'\t' read -r -a columns; do
		command=${columns[0]} expected=${columns[$1]}
		fresh_world "$2"
		run sh -c "$command"
		[ "$status" -eq 0 ] || wrong+=("outside status $status: $command" "$output")
		fresh_world "$2"
		outcome "$command"
		[ "$OUTCOME" = "$expected" ] || wrong+=("$OUTCOME, and not $expected: $command" "$output")
		is_sound || wrong+=("left unsound: $command")
		count=$((count + 1))
	done < <(table)
	[ ${#wrong[@]} -eq 0 ] || fail "${wrong[@]}"
	[ "$count" -gt 40 ] || fail "the table has $count commands"
}

@test "the commands of the table, in a clone" { rows 1 clone; }

@test "the commands of the table, in a linked worktree" { rows 2 linked; }

@test "E025 a shared repository takes root's commits with umask 002" {
	only_as root
	git init -q --shared=group
	denied 'umask 022; rm -rf .git/objects/??; echo x >file; git add file'
	allowed 'umask 002; rm -rf .git/objects/??; git add file && git -c user.name=x -c user.email=x commit -q -m x'
	git fsck --strict
}

@test "what a sparse checkout that was set inside has taken away comes back outside" {
	mkdir dir other && echo a >dir/a && echo b >other/b
	new_repo && git add . && git commit -q -m second
	run pen -- git sparse-checkout set dir
	refute_exists other/b
	git sparse-checkout disable
	assert_content other/b b
}
