# SPDX-License-Identifier: Apache-2.0
# How a run ends (catalogue F126, F132 to F134, F138): the exact status, at once, and nothing is left behind.
# shellcheck shell=bash disable=SC2154,SC2016 # what is in single quotes is for the shell inside

bats_require_minimum_version 1.5.0 # run -127
load ../lib

# within SECONDS COMMAND... : it ends in that time, with its own status.
within() {
	local seconds=$1
	shift
	run timeout -k 1 "$seconds" "$@"
	[ "$status" -ne 124 ] && [ "$status" -ne 137 ] || fail "not done within $seconds s: $*"
}

# leaves_nothing SCRIPT : the script starts something in the background that has $MARK on its command line; the run ends
# when the script does, not when that does, and takes it along.
leaves_nothing() {
	MARK=mark-$$-$RANDOM$RANDOM$RANDOM
	printf '%s' "$MARK" >"$SCRATCH/mark"
	MARK=$MARK within 3 "$PINFOLD" run --env MARK -- sh -c "$1
		until pgrep -f \"\$MARK\" >/dev/null; do sleep 0.02; done
		echo done"
	assert_status 0
	assert_equal "$output" "done"
	wait_for is_unmarked
}

@test "F126 every exit status comes through" {
	local code got
	for code in {0..255}; do
		"$PINFOLD" run -- sh -c "exit $code" && got=0 || got=$?
		[ "$got" -eq "$code" ] || fail "$got instead of $code"
	done
}

@test "F126 a death by signal is 128 and its number, also for those without a core" {
	local name
	for name in SEGV TERM KILL ABRT INT HUP QUIT PIPE USR1 BUS FPE ALRM; do
		run sh -c "ulimit -c 0; kill -$name \$\$"
		local outside=$status
		run "$PINFOLD" run -- sh -c "ulimit -c 0; kill -$name \$\$"
		assert_status "$outside"
		assert_equal "$status" "$((128 + $(kill -l "$name")))"
		assert_equal "$output" ""
	done
	# Of a grandchild, the shell tells it.
	run "$PINFOLD" run -- sh -c 'sh -c "kill -TERM \$\$"; exit $?'
	assert_status 143
}

@test "F126 the record tells a number of the command's from one of ours" {
	run "$PINFOLD" run --record "$SCRATCH/record" -- sh -c 'exit 125'
	assert_status 125
	run python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["ran"], r["exit"]["code"])' "$SCRATCH/record"
	assert_equal "$output" "True 125"
	run "$PINFOLD" run --record "$SCRATCH/record2" --worktree / -- true
	assert_status 125
	run python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["ran"], r["exit"]["reason"])' "$SCRATCH/record2"
	assert_equal "$output" "False refused"
	run "$PINFOLD" run --record "$SCRATCH/record3" -- sh -c 'kill -SEGV $$'
	run python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["exit"]["signal"])' "$SCRATCH/record3"
	[[ $output == 11 || $output == SIGSEGV ]] || fail "signal: $output"
	run -127 "$PINFOLD" run -- no-such-command-anywhere
	touch plain
	run -126 "$PINFOLD" run -- ./plain
}

@test "F132 a child in the background does not keep the run" {
	leaves_nothing 'sh -c "sleep 300; : $MARK" &'
	leaves_nothing 'setsid sh -c "sleep 300; : $MARK" &'
	leaves_nothing 'sh -c "sleep 300; : $MARK" >/dev/null &'
	leaves_nothing 'nohup sh -c "sleep 300; : $MARK" >/dev/null 2>&1 &'
	leaves_nothing '(trap "" HUP TERM INT; sh -c "trap \"\" TERM HUP; sleep 300; : $MARK" &)'
}

@test "F132 through the library, and no output is lost" {
	needs cc
	local library=${PINFOLD%/*}
	[ -e "$library/libpinfold.so" ] || skip "needs the shared library"
	cc -std=gnu11 -I "$PROJECT/include" "$PROJECT/examples/agent.c" -o "$SCRATCH/agent" -L "$library" -lpinfold -pthread
	export LD_LIBRARY_PATH=$library
	within 3 "$SCRATCH/agent" 'sleep 300 & echo done; exit 7'
	assert_equal "$output" $'done\n[exit status 7]'
	within 3 "$SCRATCH/agent" 'setsid sleep 300 & echo done'
	assert_equal "$output" $'done\n[exit status 0]'
	within 3 "$SCRATCH/agent" 'sleep 300 >/dev/null & echo done'
	assert_equal "$output" $'done\n[exit status 0]'
	within 5 "$SCRATCH/agent" 'sleep 300 & head -c 3000000 /dev/zero | tr "\0" x; exit 3'
	[[ $output == *$'x[exit status 3]' ]] || fail "the end: ${output: -60}"
	assert_equal "${#output}" 3000015
}

@test "F133 what is redirected in the background does not keep it either, and is killed" {
	leaves_nothing 'sh -c "sleep 300; : $MARK" </dev/null >/dev/null 2>&1 &'
	# A command substitution reads until the end of the pipe, which must come, too.
	within 2 bash -c 'said=$("$PINFOLD" run -- sh -c "sleep 300 & echo done"); echo "$said"'
	assert_equal "$output" "done"
}

# What outlives a limit that ends one process only: a child, one in a session of its own, one that lost its parent.
lingering=('(sleep 0.8; touch late) & wait' 'setsid sh -c "sleep 0.8; touch late" & wait'
	'sh -c "(sleep 0.8; touch late) & exit" & sleep 5')

@test "F134 the time limit ends every process, however it hides" {
	local i began
	for i in "${!lingering[@]}"; do
		mkdir "out$i"
		(cd "out$i" && timeout 0.2 setsid sh -c "${lingering[i]}" || true)
	done
	for i in "${!lingering[@]}"; do
		began=${EPOCHREALTIME/[.,]/}
		run pen --time 200ms -- sh -c "${lingering[i]}"
		assert_status 124
		[ $((${EPOCHREALTIME/[.,]/} - began)) -lt 700000 ] || fail "took too long: ${lingering[i]}"
	done
	for i in "${!lingering[@]}"; do
		wait_for test -e "out$i/late"
	done
	sleep 0.5 # those of the pen began before the last of the others was done
	refute_exists late
}

@test "F134 also where SIGTERM is ignored" {
	run "$PINFOLD" run --time 100ms --record "$SCRATCH/record" -- sh -c 'trap "" TERM; (trap "" TERM; sleep 3; touch late) & sleep 3; touch late'
	assert_status 124
	refute_exists late
	run python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["exit"]["timed_out"])' "$SCRATCH/record"
	assert_equal "$output" True
}

@test "F138 wait waits for the shell's own children only" {
	local option
	for option in --network=open --offline; do
		within 3 "$PINFOLD" run "$option" -- sh -c 'sleep 0.2 & wait; echo ok'
		assert_status 0
		assert_equal "$output" ok
		within 3 "$PINFOLD" run "$option" -- bash -c 'jobs; pgrep -P $$ || echo none; wait; ps -e -o pid=,comm= | grep -v " ps$"'
		assert_status 0
		# pgrep is a child of the shell and leaves itself out; the init and the command are all there is.
		assert_equal "${lines[0]}" none
		[ "${#lines[@]}" -le 4 ] || fail "more than the user's own processes:" "$output"
		[[ ${lines[1]} == *' 1 '* || ${lines[1]} == *'1 pinfold'* ]] || fail "no init: $output"
	done
}
