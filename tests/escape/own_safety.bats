# SPDX-License-Identifier: Apache-2.0
# What decides about the next run, pinfold's program, its configuration and its state, is changed from inside on no
# backend; and what this run holds stands on no command line.
# shellcheck shell=bash disable=SC2154

load ../lib

# A program, a configuration and a state of the test's own, in a home of its own.
own_pinfold() {
	own_home
	OWN=$SCRATCH/bin/pinfold
	mkdir -p "$SCRATCH/bin" "$HOME/.config/pinfold" "$HOME/.local/state/pinfold/removed"
	cp "$PINFOLD" "$OWN"
	echo '{ "hide": ["/opt/word-of-the-policy"] }' >"$HOME/.config/pinfold/config.json"
	echo '{ "trusted": [] }' >"$HOME/.local/state/pinfold/trust.json"
	echo kept >"$HOME/.local/state/pinfold/removed/kept"
	FILES=("$OWN" "$HOME/.config/pinfold/config.json" "$HOME/.local/state/pinfold/trust.json"
		"$HOME/.local/state/pinfold/removed/kept")
}

digest() { sha256sum "${FILES[@]}"; }

# stays_as_it_is OPTION... : each way to change each file works outside, on a copy, and not inside.
stays_as_it_is() {
	local file way before
	before=$(digest)
	for file in "${FILES[@]}"; do
		for way in 'echo x >>"$1"' ': >"$1"' 'rm "$1"' 'mv "$1" "$1.old"' \
			'echo x >new; mv -f new "$1"' 'ln -sf /dev/null "$1"' 'echo x >"${1%/*}/beside"' \
			'mv "${1%/*}" "${1%/*}.old"'; do
			mkdir "$SCRATCH/copy" && cp "$file" "$SCRATCH/copy/file"
			run sh -c "$way" - "$SCRATCH/copy/file" # the control
			assert_status 0
			rm -rf "$SCRATCH/copy" "$SCRATCH/copy.old"
			run "$OWN" run "$@" -- sh -c "$way" - "$file"
			[ "$status" -ne 0 ] && [ "$status" -lt 125 ] || fail "$file: $way: $status $output"
			assert_equal "$(digest)" "$before"
			refute_exists "${file%/*}/beside"
		done
	done
}

@test "E102 pinfold's own program, configuration and state are not changed from inside" {
	own_pinfold
	stays_as_it_is
}

@test "E102 pinfold's own program, configuration and state are not changed by Landlock alone, either" {
	needs landlock
	own_pinfold
	stays_as_it_is --backend landlock --accept writes,secrets,repository,services,processes,terminal,privileges,cleanup
}

@test "E102 E026 what would make them writable is refused, by a worktree and by a write path" {
	own_pinfold
	local place
	for place in "$SCRATCH/bin" "$HOME/.config" "$HOME/.config/pinfold" "$HOME/.local/state" \
		"$HOME/.local/state/pinfold" "$HOME/.local/state/pinfold/removed" "$HOME/.local"; do
		run "$OWN" run --write "$WORK" -- true # the control
		assert_status 0
		run "$OWN" run --write "$place" -- touch "$WORK/ran"
		assert_status 125
		run "$OWN" run --worktree "$place" -C "$place" -- touch "$WORK/ran"
		assert_status 125
		ln -sfn "$place" "$SCRATCH/link"
		run "$OWN" run --write "$SCRATCH/link/" -- touch "$WORK/ran"
		assert_status 125
		refute_exists ran
	done
}

@test "E076 nothing of the policy stands on a command line" {
	own_pinfold
	# Asked for on the command line, which the host sees as the caller has written it, the pen does not.
	run sh -c 'cat /proc/$$/cmdline' - word-of-the-caller # the control
	assert_output_has word-of-the-caller
	run "$OWN" run --hide /opt/word-of-the-caller --offline -- sh -c 'cat /proc/[0-9]*/cmdline; cat /proc/[0-9]*/comm'
	refute_output_has word-of-the-caller
	# In the configuration, nobody does: no process of ours, inside or outside, is told by its words what it holds.
	spawn "$OWN" run --offline --reach 1 -- sh -c 'touch here; sleep 20'
	wait_for test -e here
	printf '%s' word-of-the-policy >"$SCRATCH/mark"
	run "$OWN" config show
	assert_output_has word-of-the-policy # it is in force
	run is_marked
	[ "$status" -ne 0 ] || fail "$(grep -asFf "$SCRATCH/mark" /proc/[0-9]*/cmdline | tr '\0' ' ')"
}
