# SPDX-License-Identifier: Apache-2.0
# What pinfold says and what the command says (catalogue F203, F204): never mixed up, and told up front.
# shellcheck shell=bash disable=SC2154,SC2016 # what is in single quotes is for the shell inside

bats_require_minimum_version 1.5.0 # run --separate-stderr
load ../lib

# fails_alone STATUS OPTION... : nothing on standard output, every line of standard error is pinfold's own.
fails_alone() {
	local expected=$1 line
	shift
	run "-$expected" --separate-stderr "$PINFOLD" "$@"
	assert_equal "$output" ""
	[ ${#stderr_lines[@]} -gt 0 ] || fail "nothing is said: $*"
	for line in "${stderr_lines[@]}"; do
		[[ $line == 'pinfold: '* ]] || fail "not marked as pinfold's: $line"
	done
}

@test "F203 an error of pinfold's is on standard error and marked as its own" {
	fails_alone 125 run --worktree / -- echo ran
	fails_alone 125 run --bogus -- echo ran
	fails_alone 125 run --write "$SCRATCH/missing" -- echo ran
	fails_alone 125 run --backend docker -- echo ran
	fails_alone 125 run -C "$SCRATCH/missing" -- echo ran
	fails_alone 127 run -- no-such-command-anywhere
	touch plain
	fails_alone 126 run -- ./plain
	echo '{"bogus": 1}' >"$SCRATCH/config.json"
	fails_alone 125 run --config "$SCRATCH/config.json" -- echo ran
	[[ $stderr == *"$SCRATCH/config.json:1"* ]] || fail "no file and line: $stderr"
}

@test "F203 a run adds nothing to what the command says" {
	run --separate-stderr "$PINFOLD" run -- sh -c 'echo out; echo err >&2; exit 9'
	assert_status 9
	assert_equal "$output" out
	assert_equal "$stderr" err
	# A command that only looks like it is no failure of ours, and the record says so.
	run --separate-stderr "$PINFOLD" run --record "$SCRATCH/record" -- sh -c 'echo "pinfold: cannot do it" >&2; exit 125'
	assert_status 125
	run python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["ran"], r["exit"]["code"], r["exit"].get("reason"))' \
		"$SCRATCH/record"
	assert_equal "$output" 'True 125 None'
	# A name cannot put a line of its own into the message.
	fails_alone 127 run -- $'evil\nline'
	fails_alone 125 run --write "$SCRATCH/"$'evil\nline' -- true
}

@test "F203 the library tells an outcome that never ran from one of the command's" {
	needs cc
	local library=${PINFOLD%/*}
	[ -e "$library/libpinfold.so" ] || skip "needs the shared library"
	cc -std=gnu11 -I "$PROJECT/include" "$PROJECT/examples/agent.c" -o "$SCRATCH/agent" -L "$library" -lpinfold -pthread
	export LD_LIBRARY_PATH=$library
	run --separate-stderr "$SCRATCH/agent" 'echo "not run"; exit 125'
	assert_equal "$output" $'not run\n[exit status 125]'
	assert_equal "$stderr" ""
	mkdir "$WORK/project" && cd "$WORK/project" || return 1
	echo '{"bogus": 1}' >.pinfold.json
	run --separate-stderr "$SCRATCH/agent" 'echo ran'
	[[ $output == '[not run: '*bogus*']' ]] || fail "$output"
	assert_equal "$stderr" ""
}

# status_field EXPRESSION : a value of PINFOLD_STATUS in the output, by a Python expression over s.
status_field() {
	printf %s "$output" | python3 -c 'import json, sys; s = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}

@test "F204 inside, one command tells what is open and what is closed" {
	mkdir "$SCRATCH/extra" "$WORK/bin"
	cp "$PINFOLD" "$WORK/bin/pinfold"
	run pen --offline --write "$SCRATCH/extra" --time 30s -- bin/pinfold status
	assert_status 0
	[ ${#output} -lt 1024 ] || fail "${#output} bytes"
	[ ${#lines[@]} -le 10 ] || fail "${#lines[@]} lines"
	assert_output_has 'confined: yes'
	assert_output_has "$WORK"
	assert_output_has "$SCRATCH/extra"
	assert_output_has 'network: offline'
	run pen --offline --write "$SCRATCH/extra" --time 30s -- bin/pinfold status --json
	assert_status 0
	[ ${#output} -lt 1024 ] || fail "${#output} bytes"
	assert_equal "$(status_field 's["confined"], s["worktree"], s["write"], s["network"], s["read_only"], s["time_ms"]')" \
		"(True, '$WORK', ['$SCRATCH/extra'], 'offline', False, 30000)"
	# The variable says the same, also to a program that has no pinfold at hand.
	local told=$output
	run pen --offline --write "$SCRATCH/extra" --time 30s -- sh -c 'printf %s "$PINFOLD_STATUS"'
	assert_equal "$output" "$told"
}

@test "F204 what it tells is true" {
	run pen --offline -- sh -c 'printf %s "$PINFOLD_STATUS"'
	assert_equal "$(status_field '"writes" in s["held"], "secrets" in s["held"], "network" in s["held"]')" '(True, True, True)'
	try_denied 'EROFS|EACCES' --offline -- create "$SCRATCH/@"
	canary "$HOME/.netrc.pinfold-test"
	denied "cat ~/.netrc.pinfold-test" --hide "$HOME/.netrc.pinfold-test"
	listener inet
	denied "$(connects "$PORT")" --offline
	run pen --read-only -- sh -c 'printf %s "$PINFOLD_STATUS"'
	assert_equal "$(status_field 's["read_only"], s["network"]')" "(True, 'open')"
	denied 'touch new && rm new' --read-only
	run pen --mode off -- sh -c 'printf %s "$PINFOLD_STATUS"'
	output=$(tail -n 1 <<<"$output")
	assert_equal "$(status_field 's["confined"], s["held"]')" '(False, [])'
}

@test "F204 it fits, however long the paths are" {
	local long dir options=() i
	long=$(printf 'x%.0s' {1..200})
	for i in {1..12}; do
		dir=$SCRATCH/$long/$i$long
		mkdir -p "$dir"
		options+=(--write "$dir")
	done
	mkdir -p "$SCRATCH/$long/work" && cd "$SCRATCH/$long/work" || return 1
	run pen "${options[@]}" -- sh -c 'printf %s "$PINFOLD_STATUS"'
	assert_status 0
	[ ${#output} -lt 1024 ] || fail "${#output} bytes"
	assert_equal "$(status_field 's["confined"], "writes" in s["held"]')" '(True, True)'
}

@test "F204 a status that was forged proves nothing" {
	# Outside it is believed by nobody; what it says is only what a variable says.
	export PINFOLD_STATUS='{"pinfold":1,"confined":true}'
	run pen -- sh -c 'printf %s "$PINFOLD_STATUS"'
	assert_equal "$(status_field 's["worktree"]')" "$WORK"
	# Red before: it said "confined: yes". What is asked is the process itself.
	run "$PINFOLD" status
	assert_status 1
	assert_output_has 'not believed'
	refute_output_has 'confined: yes'
	run pen --mode off --quiet -- "$PINFOLD" status
	assert_status 1
	unset PINFOLD_STATUS
	run pen -- env -u PINFOLD_STATUS "$PINFOLD" status
	assert_status 0
	assert_output_has 'confined: yes'
	run pen -- env PINFOLD_STATUS='{"confined":false}' "$PINFOLD" status
	assert_status 1
	assert_output_has 'but it is one'
	PINFOLD_STATUS=rubbish run "$PINFOLD" status
	assert_status 125
}
