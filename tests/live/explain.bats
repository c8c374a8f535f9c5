#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# explain: what it says is what the kernel does.

load ../lib

# answer RIGHT PATH [OPTION...] : of explain --json.
answer() {
	local right=$1 path=$2
	shift 2
	"$PINFOLD" explain --json "$@" "$path" | python3 -c "
import json, sys
a = json.load(sys.stdin)['$right']
print('yes' if a['allowed'] else 'no', a['rule'], '|', a['source'], '|', 'held' if a['held'] else 'not held')"
}

@test "explain and the kernel agree on random trees, policies and paths" {
	run python3 "$PROJECT/tests/live/explain_random.py" "$SCRATCH" "${EXPLAIN_ROUNDS:-16}"
	[ "$status" -eq 0 ] || fail "$output"
}

@test "explain and the kernel agree on the landlock backend, too" {
	run python3 "$PROJECT/tests/live/explain_random.py" "$SCRATCH" "${EXPLAIN_ROUNDS:-16}" \
		--backend landlock --mode auto
	[ "$status" -eq 0 ] || fail "$output"
}

@test "explain names the rule and its source, each right for itself" {
	own_home
	new_repo
	canary "$HOME/.ssh/id_ed25519"
	mkdir kept && echo x >kept/file && echo y >plain
	echo '{"hide": ["plain"]}' >"$SCRATCH/config.json"
	assert_equal "$(answer read ~/.ssh/id_ed25519)" 'no hide ~/.ssh | built in | held'
	assert_equal "$(answer write ./file)" 'yes worktree | built in | held'
	assert_equal "$(answer write ./kept/file --protect kept)" 'no protect kept | command line | held'
	assert_equal "$(answer read ./kept/file --protect kept)" 'yes worktree | built in | held'
	assert_equal "$(answer rename ./kept --protect kept/file)" 'no worktree | built in | held'
	assert_equal "$(answer write /etc/hostname)" 'no everything else read-only | built in | held'
	assert_equal "$(answer write ./file --read-only)" 'no read_only | command line | held'
	mkdir "$SCRATCH/other"
	assert_equal "$(answer create "$SCRATCH/other/new" --write "$SCRATCH/other")" \
		"yes write $SCRATCH/other | command line | held"
	assert_equal "$(answer write ./plain --config "$SCRATCH/config.json")" "no hide plain | $SCRATCH/config.json:1 | held"
	# what only the check after the run holds is not called held
	assert_equal "$(answer create ./.vscode)" 'yes protect .vscode | built in | not held'
}

@test "explain: status 0 for yes, 1 for no, 125 with one line for what is no question" {
	own_home
	new_repo
	canary "$HOME/.netrc"
	run "$PINFOLD" explain ./file
	assert_status 0
	run "$PINFOLD" explain '~/.netrc'
	assert_status 1
	assert_output_has 'hide ~/.netrc (built in)'
	run "$PINFOLD" explain -- ls -l
	assert_status 0
	assert_output_has "$(command -v ls)"
	run "$PINFOLD" explain -- no-such-program-here
	assert_status 1
	run "$PINFOLD" explain 127.0.0.1:1 --offline
	assert_status 1
	assert_output_has 'network offline (command line)'
	run "$PINFOLD" explain 127.0.0.1:1
	assert_status 0
	local words
	for words in '' file 'file file' 127.0.0.1:0 127.0.0.1:70000 '--prove 127.0.0.1:1' '--prove -- ls'; do
		# shellcheck disable=SC2086 # words
		run "$PINFOLD" explain $words
		assert_status 125
		[[ "$output" == pinfold:* ]] || fail "$words: $output"
	done
	ln -s loop loop
	run "$PINFOLD" explain ./loop
	assert_status 125
	assert_output_has 'Too many levels of symbolic links'
}

@test "explain makes nothing and starts nothing; --prove lets the kernel answer and changes nothing" {
	own_home
	new_repo
	canary "$HOME/.ssh/id"
	cp "$PINFOLD" "$SCRATCH/pinfold" && chmod 755 "$SCRATCH/pinfold"
	rm -rf "$HOME/.cache"
	run "$PINFOLD" explain ./file
	assert_status 0
	[ ! -e "$HOME/.cache" ]
	local path
	for path in . ./file ./new ./.git/config ./.git/hooks /tmp/new /dev/null /etc/passwd '~/.ssh/id' '~/.npm'; do
		run "$PINFOLD" explain --json --prove "$path"
		[[ "$output" == *'"proved":true'* && "$output" != *'"proved":false'* ]] || fail "$path: $output"
	done
	run git status --porcelain
	assert_equal "$output" ''
	assert_equal "$(cat "$HOME/.ssh/id")" "$CANARY"
}

@test "F089 a socket that explain calls closed is closed, and one it calls open is open" {
	own_home
	mkdir -p "$SCRATCH/elsewhere"
	local path options said
	for path in "$HOME/host" "$WORK/own" "$SCRATCH/elsewhere/host"; do
		listener unix "$path"
	done
	for path in "$HOME/host" "$WORK/own" "$SCRATCH/elsewhere/host"; do
		for options in '' "--socket $path" --offline; do
			[[ "$options" != --socket* || "$path" != "$WORK/own" ]] || continue
			# shellcheck disable=SC2086 # words
			said=$(answer connect "$path" $options)
			run try connect-unix "$path"
			[ "$output" = OK ] || fail "outside: $output"
			# shellcheck disable=SC2086 # words
			run pen $options -- "$ATTEMPT" connect-unix "$path"
			[[ ("$said" == yes* && "$output" == OK) || ("$said" == no* && "$output" != OK) ]] ||
				fail "$path $options: explain says $said, the kernel $output"
			# open against the rule: never called held
			[[ "$said" != yes\ everything* || "$said" == *'not held' ]] || fail "$path: $said"
		done
	done
}
