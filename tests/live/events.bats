#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The stream of events, and the sentences for an agent's tool description.

bats_require_minimum_version 1.5.0 # run -127
load ../lib

# events EXPRESSION : of the list in $SCRATCH/events, as `e`.
events() {
	python3 -c 'import json, sys; e = [json.loads(line) for line in open(sys.argv[1])]; print(eval(sys.argv[2]))' \
		"$SCRATCH/events" "$1"
}

@test "events: status, start and finish, each once, event and time first" {
	pen --events "$SCRATCH/events" -- sh -c 'exit 7' || [ $? -eq 7 ]
	assert_equal "$(events '[x["event"] for x in e]')" "['sandbox_status', 'start', 'finish']"
	assert_equal "$(events '{tuple(list(x)[:2]) for x in e}')" "{('event', 'time')}"
	assert_equal "$(events 'e[0]["applied"], e[0]["backend"], e[0]["guarantees"]["secrets"], e[0]["reason"]')" \
		"(True, 'namespaces', 'held', None)"
	assert_equal "$(events 'e[1]["command"], e[1]["cwd"] == e[1]["worktree"]')" "(['sh', '-c', 'exit 7'], True)"
	assert_equal "$(events 'e[2]["ran"], e[2]["code"], e[2]["signal"]')" '(True, 7, None)'
	assert_equal "$(events 'sorted(x["time"] for x in e) == [x["time"] for x in e]')" True
	assert_equal "$(stat -c %a "$SCRATCH/events")" 600
}

@test "events: the status is there before the command has done anything" {
	mkfifo "$SCRATCH/stream"
	spawn "$PINFOLD" run --events fd:4 -- touch started 4<>"$SCRATCH/stream"
	exec 5<"$SCRATCH/stream"
	IFS= read -r -t 10 first <&5
	[[ "$first" == '{"event":"sandbox_status"'* ]] || fail "$first"
	wait "$SPAWNED"
	assert_exists started
	exec 5<&-
	# A reader that does not read holds up nobody for long, and the run is none the worse.
	python3 - "$PINFOLD" <<-'END'
		import os, subprocess, sys, fcntl
		r, w = os.pipe()
		fcntl.fcntl(w, fcntl.F_SETPIPE_SZ, 4096)
		os.set_blocking(w, False)
		while True:
		    try: os.write(w, b"x" * 4096)
		    except BlockingIOError: break
		os.set_blocking(w, True)
		run = subprocess.Popen([sys.argv[1], "run", "--events", f"fd:{w}", "--", "touch", "late"], pass_fds=[w])
		for _ in range(200):
		    if os.path.exists("late"): break
		    try: run.wait(0.1)
		    except subprocess.TimeoutExpired: pass
		assert os.path.exists("late")
		os.close(w)
		while os.read(r, 65536): pass # then its last words are taken, too
		assert run.wait(20) == 0
	END
}

@test "events: a refusal, a bad option and a bare run say so" {
	run pen --events "$SCRATCH/events" --backend landlock -- true
	assert_status 125
	assert_equal "$(events '[x["event"] for x in e], e[0]["applied"], e[0]["reason"] is not None, e[1]["ran"], e[1]["reason"]')" \
		"(['sandbox_status', 'finish'], False, True, False, 'refused')"
	run pen --events "$SCRATCH/events" --network nowhere -- true
	assert_status 125
	assert_equal "$(events '[x["event"] for x in e], e[0]["applied"], e[1]["reason"]')" \
		"(['sandbox_status', 'finish'], False, 'usage')"
	run pen --events "$SCRATCH/events" --mode off -- true
	assert_status 0
	assert_equal "$(events 'e[0]["applied"], e[0]["reason"]')" "(False, 'the command runs without a pen (mode off)')"
	run -127 pen --events "$SCRATCH/events" -- no-such-command-here
	assert_equal "$(events '[x["event"] for x in e], e[-1]["reason"]')" "(['sandbox_status', 'start', 'finish'], 'not_found')"
}

@test "events: limits and violations" {
	new_repo
	run pen --events "$SCRATCH/events" --time 300ms -- sleep 20
	assert_status 124
	assert_equal "$(events '[x["event"] for x in e][2:], e[2]["limit"]')" "(['limit', 'finish'], 'time')"
	run pen --events "$SCRATCH/events" -- mkdir .vscode
	assert_equal "$(events '[(x["event"], x["action"]) for x in e if x["event"] == "violation"]')" \
		"[('violation', 'moved')]"
}

@test "events: on the landlock backend the command waits as well" {
	pen --backend landlock --mode auto --quiet --events "$SCRATCH/events" -- true
	assert_equal "$(events '[x["event"] for x in e], e[0]["backend"], e[0]["guarantees"]["repository"]')" \
		"(['sandbox_status', 'start', 'finish'], 'landlock', 'weaker')"
}

@test "events: the command cannot reach the stream" {
	run pen --events "$WORK/events" -- true
	assert_status 125
	assert_output_has "option '--events'"
	run pen --events fd:1 -- true
	assert_status 125
	pen --events fd:9 -- sh -c 'ls /proc/self/fd; echo forged >&9' 9>"$SCRATCH/events" || true
	assert_equal "$(events '[x["event"] for x in e]')" "['sandbox_status', 'start', 'finish']"
	run pen --plan --events "$SCRATCH/events" -- true
	assert_status 125
}

@test "events: a supervisor that is killed before it lets the command go leaves nothing that runs" {
	mkfifo "$SCRATCH/full"
	exec 6<>"$SCRATCH/full"
	# full: the supervisor waits for its reader
	python3 -c 'import os; os.set_blocking(6, False)
try:
    while True: os.write(6, b"x" * 4096)
except BlockingIOError: os.set_blocking(6, True)'
	spawn "$PINFOLD" run --events fd:6 -- touch started
	local pen=$SPAWNED
	wait_for pgrep -P "$pen"
	sleep 0.3
	local inside
	inside=$(pgrep -P "$pen")
	kill -9 "$pen"
	is_gone() { [ ! -e "/proc/$1" ]; }
	wait_for is_gone "$inside"
	exec 6>&-
	refute_exists started
}

@test "status --notice says what the plan holds, and no more" {
	new_repo
	run "$PINFOLD" status --notice
	assert_status 0
	assert_output_has "Commands can change files in /tmp and $WORK."
	assert_output_has 'The network is open.'
	run "$PINFOLD" status --notice --offline --time 10m
	assert_output_has 'There is no network'
	assert_output_has 'reached by that same command only'
	assert_output_has 'A command is ended after 10m.'
	run "$PINFOLD" status --notice --read-only
	assert_output_has "Commands can read $WORK, and change nothing but files in /tmp."
	assert_output_has 'The git repository can be read and not be changed.'
	run "$PINFOLD" status --notice --backend landlock --mode auto --offline
	assert_output_has 'There is no loopback either'
	refute_output_has 'git commit'
	run "$PINFOLD" status --notice --mode off
	assert_equal "$output" 'Commands run without a sandbox: they can do all that the user can.'
	run "$PINFOLD" status --notice --json
	python3 -c 'import json, sys; assert json.loads(sys.argv[1])["notice"].endswith("command.\n")' "$output"
}
