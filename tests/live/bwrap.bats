#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The backend that bubblewrap makes the pen for: what it holds, what it keeps from others, how it ends, and what happens
# where bubblewrap fails.
# shellcheck shell=bash disable=SC2154,SC2016

load ../lib

bats_require_minimum_version 1.5.0

setup() {
	lib_setup
	needs bwrap userns
	BY=(--backend bwrap)
	((EUID)) || BY+=(--accept privileges)
	WITHOUT=$(dirname "$ATTEMPT")/without
}

# field FILE EXPRESSION : of a record, as r.
field() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

# Everything of a run has MARK on its command line.
new_mark() {
	MARK=mark-$$-$RANDOM$RANDOM$RANDOM
	printf '%s' "$MARK" >"$SCRATCH/mark"
}

# of_run NAME : the pid of the process of that name below the run in SPAWNED.
of_run() {
	local pid parent
	for pid in $(pgrep -x -- "$1"); do
		for ((parent = pid; parent > 1; )); do
			parent=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$parent/stat" 2>/dev/null) || break
			[ "$parent" != "$SPAWNED" ] || { echo "$pid" && return; }
		done
	done
	return 1
}

# ---- what it holds ----

@test "bwrap: the worktree can be changed, and nothing outside" {
	touch "$SCRATCH/outside"
	mkfifo "$SCRATCH/fifo"
	allowed 'echo x > a && mkdir d && mv a d/b && ln d/b d/c && ln -s d/b l && rm -r d l' "${BY[@]}"
	denied "echo x >> '$SCRATCH/outside'" "${BY[@]}"
	try_denied EROFS "${BY[@]}" -- create "$SCRATCH/new.@"
	try_denied EROFS "${BY[@]}" -- mkdir "$SCRATCH/directory.@"
	denied "chmod 600 '$SCRATCH/outside'" "${BY[@]}"
	denied "touch -d 2001-01-01 '$SCRATCH/outside'" "${BY[@]}"
	try_denied 'EROFS|EACCES' "${BY[@]}" -- truncate "$SCRATCH/outside"
	allowed 'echo x > /tmp/a && echo x > /var/tmp/a && echo x > /dev/shm/a && [ "$(stat -c %a /tmp)" = 1777 ]' "${BY[@]}"
	refute_exists /tmp/a
	denied 'echo x > b' "${BY[@]}" --read-only
	mkdir "$SCRATCH/more"
	denied "echo x > '$SCRATCH/more/a'" "${BY[@]}"
	allowed "echo y > '$SCRATCH/more/a'" "${BY[@]}" --write "$SCRATCH/more"
}

@test "bwrap: hidden files are not there, in the home and in the worktree, nor one that is made during the run" {
	own_home
	mkdir -p "$HOME/.config" "$HOME/work"
	canary "$HOME/.ssh/id_ed25519"
	echo visible >"$HOME/.profile"
	cd "$HOME/work" || return 1
	echo "TOKEN=$CANARY" >.env
	allowed '[ "$(cat ~/.profile)" = visible ]' "${BY[@]}"
	denied "cat ~/.ssh/id_ed25519" "${BY[@]}"
	denied "grep -q $CANARY .env" "${BY[@]}" --hide .env
	allowed '[ -f .env ] && [ ! -s .env ]' "${BY[@]}" --hide .env
	WORK=$HOME/work in_background 'meet; cat ~/.netrc' "${BY[@]}"
	WORK=$HOME/work wait_for test -e here
	canary "$HOME/.netrc"
	WORK=$HOME/work go
	WORK=$HOME/work finished
	run cat said
	refute_output_has "$CANARY"
	assert_output_has 'No such file'
}

@test "bwrap: what is protected cannot be changed, nor reached by renaming a parent" {
	new_repo
	mkdir -p .vscode
	echo '{}' >.vscode/settings.json
	denied 'echo x >> .git/config' "${BY[@]}"
	git checkout -q -- . 2>/dev/null || true
	denied 'echo x >> .vscode/settings.json' "${BY[@]}"
	denied 'mv .git .hg && mv .hg .git' "${BY[@]}"
	denied 'mv .vscode .v && mv .v .vscode' "${BY[@]}"
	allowed 'echo two > file && git commit -qam second' "${BY[@]}"
	assert_equal "$(git log --format=%s -1)" second
}

@test "bwrap: processes of the host are not seen, and no signal reaches them" {
	victim
	denied "kill -0 $VICTIM" "${BY[@]}"
	allowed "! grep -qsFf '$SCRATCH/mark' /proc/[0-9]*/cmdline" "${BY[@]}"
	allowed '[ "$(cat /proc/1/comm)" = pinfold-init ] && ! cat /proc/1/environ && ! readlink /proc/1/fd/3' "${BY[@]}"
}

@test "bwrap: no capability, no way to one, a filter, and no new namespace" {
	allowed '[ "$(grep -cE "^Cap(Inh|Prm|Eff|Bnd|Amb):.0*$" /proc/self/status)" = 5 ] &&
		grep -q "^NoNewPrivs:.1" /proc/self/status && grep -q "^Seccomp:.2" /proc/self/status' "${BY[@]}"
	denied 'unshare --user true' "${BY[@]}"
	allowed 'pinfold=$1; [ -n "$PINFOLD_STATUS" ] && '"'$PINFOLD'"' status' "${BY[@]}"
}

@test "bwrap: offline there is a loopback, and no way out" {
	listener inet
	denied "$(connects "$PORT")" "${BY[@]}" --offline
	listener abstract "bwrap-$$-$RANDOM"
	denied "$(connects "$PORT" abstract)" "${BY[@]}" --offline
	allowed 'python3 -c "
import socket
s = socket.create_server((\"127.0.0.1\", 0)); c = socket.create_connection(s.getsockname())"' "${BY[@]}" --offline
}

# ---- what others see ----

@test "bwrap: nothing of the policy stands on a command line, and the environment is empty" {
	local pid secret=secret-$RANDOM$RANDOM
	mkdir "$SCRATCH/granted-$secret"
	printf '{"env": ["NAME=%s"]}' "$secret" >"$SCRATCH/config.json"
	in_background 'meet' "${BY[@]}" --config "$SCRATCH/config.json" --write "$SCRATCH/granted-$secret" --hide "*.$secret"
	wait_for test -e here
	pid=$(of_run bwrap)
	assert_equal "$(tr '\0' ' ' <"/proc/$pid/cmdline" | sed 's/[0-9]\+/N/g')" 'bwrap --args N /run/pinfold/enter N '
	assert_equal "$(tr '\0' ' ' <"/proc/$(of_run pinfold-init)/cmdline" | tr -d '\0 ')" ''
	assert_equal "$(wc -c <"/proc/$pid/environ")" 0
	go
	finished
}

@test "bwrap: its own words never mix with the command's, and what fails is one line" {
	run --separate-stderr pen "${BY[@]}" -- sh -c 'echo out; echo err >&2'
	assert_equal "$output|$stderr" 'out|err'
	run "$WITHOUT" namespaces "$PINFOLD" run "${BY[@]}" -- touch ran
	assert_status 125
	assert_output_has "pinfold: the backend 'bwrap' is not possible here: cannot make the pen with bubblewrap: "
	assert_equal "$(wc -l <<<"$output")" 1
	refute_exists ran
}

# ---- how it ends ----

@test "bwrap: the exit status is the command's own" {
	local status_wanted
	for status_wanted in 0 1 2 7 125 255; do
		run pen "${BY[@]}" -- sh -c "exit $status_wanted"
		assert_status "$status_wanted"
	done
	run pen "${BY[@]}" -- sh -c 'kill -TERM $$'
	assert_status 143
	run pen "${BY[@]}" -- sh -c 'kill -KILL $$'
	assert_status 137
	run -127 pen "${BY[@]}" -- no-such-command
	touch not-executable
	run pen "${BY[@]}" -- ./not-executable
	assert_status 126
	run pen "${BY[@]}" --time 1s -- sleep 30
	assert_status 124
	run pen "${BY[@]}" --record "$SCRATCH/record" -- sh -c 'exit 3'
	assert_equal "$(field "$SCRATCH/record" 'r["backend"], r["ran"], r["exit"]["code"]')" "('bwrap', True, 3)"
}

@test "bwrap: signals, input and output reach the command" {
	assert_equal "$(echo hello | pen "${BY[@]}" -- cat)" hello
	spawn "$PINFOLD" run "${BY[@]}" -- sh -c 'trap "touch got; exit 5" TERM; touch ready; while :; do sleep 0.05; done'
	wait_for test -e ready
	kill -TERM "$SPAWNED"
	run wait "$SPAWNED"
	wait_for test -e got
	run pen "${BY[@]}" --events "$SCRATCH/events" -- true
	assert_status 0
	assert_equal "$(grep -c '"event"' "$SCRATCH/events")" 3
}

@test "bwrap: whoever of them is killed, nothing is left" {
	local who
	for who in pinfold pinfold-keeper bwrap pinfold-init; do
		new_mark
		spawn "$PINFOLD" run "${BY[@]}" -- sh -c "setsid '$ATTEMPT' wait $MARK & touch up; '$ATTEMPT' wait $MARK"
		wait_for test -e up
		rm up
		# Under load the name may come later than the command.
		[ "$who" = pinfold ] || wait_for of_run "$who"
		if [ "$who" = pinfold ]; then kill -KILL "$SPAWNED"; else kill -KILL "$(of_run "$who")"; fi
		wait_for is_unmarked || fail "$who was killed, and something lives on"
	done
}

@test "bwrap: the end of a run is the end of all it started" {
	new_mark
	run pen "${BY[@]}" -- sh -c "setsid '$ATTEMPT' wait $MARK >/dev/null 2>&1 & sleep 0.1; grep -qsa $MARK /proc/\$!/cmdline"
	assert_status 0
	run is_unmarked
	assert_status 0
}

# ---- descriptors ----

@test "bwrap: a file that is only read cannot be changed through its descriptor" {
	echo read >"$SCRATCH/visible"
	denied "chmod 600 /dev/stdin <'$SCRATCH/visible'" "${BY[@]}"
	run pen "${BY[@]}" -- sh -c 'read -r line; [ "$line" = read ] && ! chmod 600 /proc/self/fd/0 && ! (: >/proc/self/fd/0)' <"$SCRATCH/visible"
	assert_status 0
	exec 7<"$SCRATCH/visible"
	run pen "${BY[@]}" --pass-fd 7 -- sh -c 'read -r line <&7; [ "$line" = read ] && ! chmod 600 /proc/self/fd/7 && ! (: >/proc/self/fd/7)'
	exec 7<&-
	assert_status 0
	assert_content "$SCRATCH/visible" read
}

@test "bwrap: a hidden file is not passed; on standard input it is weaker, and said" {
	own_home
	canary "$HOME/.netrc"
	exec 7<"$HOME/.netrc"
	run pen "${BY[@]}" --pass-fd 7 -- touch ran
	exec 7<&-
	assert_status 125
	assert_output_has 'the file on descriptor 7 is not shown inside'
	run pen "${BY[@]}" -- touch ran <"$HOME/.netrc"
	assert_status 125
	assert_output_has 'writes is weaker here: mode and times of the file that the command reads from'
	refute_exists ran
}

# ---- which bubblewrap ----

# not_used WHY : the one in $SCRATCH/bin/bwrap would be found by its marks.
not_used() {
	run pen "${BY[@]}" --bwrap "$SCRATCH/bin/bwrap" -- touch ran
	assert_status 125
	assert_output_has "the backend 'bwrap' is not possible here: $1"
	refute_exists ran
	refute_exists "$SCRATCH/called"
}

fake_bwrap() {
	mkdir -p "$SCRATCH/bin"
	printf '#!/bin/sh\n%s\n' "$1" >"$SCRATCH/bin/bwrap"
	chmod 755 "$SCRATCH/bin/bwrap"
}

@test "bwrap: one that others could have changed is not used, nor one in the worktree, nor one of PATH" {
	chmod go-w "$SCRATCH"
	fake_bwrap "touch '$SCRATCH/called'; exit 1"
	chmod 777 "$SCRATCH/bin/bwrap"
	not_used "cannot use $SCRATCH/bin/bwrap: Operation not permitted"
	chmod 755 "$SCRATCH/bin/bwrap"
	chmod 777 "$SCRATCH/bin"
	not_used "cannot use $SCRATCH/bin/bwrap: Operation not permitted"
	chmod 755 "$SCRATCH/bin"
	mv "$SCRATCH/bin/bwrap" "$SCRATCH/bin/real" && mkdir "$SCRATCH/bin/bwrap"
	not_used "cannot use $SCRATCH/bin/bwrap: Permission denied"
	rmdir "$SCRATCH/bin/bwrap"
	not_used "cannot use $SCRATCH/bin/bwrap: No such file or directory"
	mkdir bin && cp "$SCRATCH/bin/real" bin/bwrap && ln -s "$WORK/bin/bwrap" "$SCRATCH/bin/bwrap"
	not_used "cannot use $SCRATCH/bin/bwrap: Operation not permitted"
	PATH=$WORK/bin:$PATH run pen "${BY[@]}" -- true
	assert_status 0
	refute_exists "$SCRATCH/called"
	if [ "$TEST_AS" = root ]; then
		rm "$SCRATCH/bin/bwrap" && mv "$SCRATCH/bin/real" "$SCRATCH/bin/bwrap" && chown 12345 "$SCRATCH/bin/bwrap"
		not_used "cannot use $SCRATCH/bin/bwrap: Operation not permitted"
	fi
}

@test "bwrap: a project's file does not name one" {
	fake_bwrap "touch '$SCRATCH/called'; exit 1"
	printf '{"bwrap": "%s"}' "$SCRATCH/bin/bwrap" >.pinfold.json
	run pen "${BY[@]}" -- true
	assert_status 0
	refute_exists "$SCRATCH/called"
}

@test "bwrap: one that fails, lies or says nothing: the command is not run, and its words are the reason" {
	chmod go-w "$SCRATCH"
	fake_bwrap 'echo "bwrap: Unknown option --as-pid-1" >&2; exit 1'
	not_used 'cannot make the pen with bubblewrap: Unknown option --as-pid-1: '
	fake_bwrap 'exit 1'
	not_used 'cannot make the pen with bubblewrap: it ended: '
	# it leaves its arguments out and runs what comes after them
	for lie in 'exec "$PROJECT_ENTER" "$4"' 'exit 0' 'kill -9 $$'; do
		fake_bwrap "${lie/\$PROJECT_ENTER/$(dirname "${PINFOLD_ON_BACKEND:-$PINFOLD}")/pinfold-enter}"
		run pen "${BY[@]}" --bwrap "$SCRATCH/bin/bwrap" -- touch ran
		assert_status 125
		refute_exists ran
	done
	# the environment is empty, and 0, 1 and 2 are not the command's
	fake_bwrap "exec >'$SCRATCH/said'; /usr/bin/env; echo; ls -l /proc/\$\$/fd/0 /proc/\$\$/fd/2; exit 1"
	run pen "${BY[@]}" --bwrap "$SCRATCH/bin/bwrap" -- true <"$PROJECT/meson.build"
	run cat "$SCRATCH/said"
	refute_output_has HOME
	refute_output_has meson
}

@test "bwrap: auto goes on to landlock where it fails" {
	needs landlock
	chmod go-w "$SCRATCH"
	fake_bwrap 'echo "bwrap: No permissions to create new namespace" >&2; exit 1'
	run "$WITHOUT" namespaces "$PINFOLD" run --mode auto --bwrap "$SCRATCH/bin/bwrap" --record "$SCRATCH/record" -- true
	assert_status 0
	assert_equal "$(field "$SCRATCH/record" 'r["backend"], r["ran"]')" "('landlock', True)"
}

# ---- when it is chosen ----

@test "bwrap: it takes the place of namespaces where those are refused to us alone" {
	run pen --backend bwrap --mode auto --record "$SCRATCH/record" -- true
	assert_equal "$(field "$SCRATCH/record" 'r["backend"], r["ran"]')" "('bwrap', True)"
	run pen --record "$SCRATCH/record" -- true
	assert_equal "$(field "$SCRATCH/record" 'r["backend"]')" namespaces
	# what is refused to root is refused to what root starts; a user has to try
	run "$WITHOUT" namespaces,landlock "$PINFOLD" run -- touch ran
	assert_status 125
	[ "$TEST_AS" = root ] || assert_output_has 'no bwrap (cannot make the pen with bubblewrap: '
	assert_output_has 'no bwrap (cannot make '
	refute_exists ran
}

@test "bwrap: bubblewrap that is killed while it makes the pen leaves nobody waiting" {
	run python3 - "$PINFOLD" <<-'END'
		import os, subprocess, sys, time
		def children(pid):
		    try: return [int(word) for word in open(f"/proc/{pid}/task/{pid}/children").read().split()]
		    except OSError: return []
		def name(pid):
		    try: return open(f"/proc/{pid}/comm").read().strip()
		    except OSError: return ""
		def bubblewrap(pid):
		    return [b for k in children(pid) if name(k) == "pinfold-keeper" for b in children(k) if name(b) == "bwrap"]
		for turn in range(20):
		    run = subprocess.Popen([sys.argv[1], "run", "--backend", "bwrap", "--mode", "auto", "--quiet", "--", "sleep", "3"],
		                           stderr=subprocess.DEVNULL)
		    while run.poll() is None and not bubblewrap(run.pid):
		        pass
		    time.sleep(turn % 10 * 0.0006)
		    for pid in bubblewrap(run.pid)[:1]:
		        os.kill(pid, 9)
		    run.wait(20)
	END
	assert_status 0
}
