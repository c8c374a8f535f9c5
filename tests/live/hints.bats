# SPDX-License-Identifier: Apache-2.0
# What is said after a failure, only when the pen had a part in it; and what stands between the command and its standard
# error for that, which must not be felt.
# shellcheck shell=bash disable=SC2154,SC2016 # what is in single quotes is for the shell inside

bats_require_minimum_version 1.5.0 # run --separate-stderr
load ../lib

setup() {
	lib_setup
	own_home
}

# hint AUDIENCE SCRIPT [OPTION...] : a run that fails; its hints are in HINTS, and they are in the record, too.
hint() {
	local audience=$1 script=$2
	shift 2
	run --separate-stderr "$PINFOLD" run --hints "$audience" --record "$SCRATCH/record" "$@" -- sh -c "$script"
	((status < 125 || status > 127)) || fail "pinfold did not run it: $stderr"
	HINTS=$(sed -n 's/^pinfold: hint: //p' <<<"$stderr")
	assert_equal "$(python3 -c 'import json, sys; print("\n".join(json.load(open(sys.argv[1]))["hints"]))' \
		"$SCRATCH/record")" "$HINTS"
}

# hints SCRIPT TEXT-FOR-HUMAN TEXT-FOR-AGENT [OPTION...] : one hint, for each of the two; no option for the agent; and
# nothing without being asked.
hints() {
	local script=$1 human=$2 agent=$3
	shift 3
	hint human "$script" "$@"
	[[ $HINTS == *"$human"* && $HINTS != *$'\n'* ]] || fail "for a human: $HINTS" "$stderr"
	hint agent "$script" "$@"
	[[ $HINTS == *"$agent"* && $HINTS != *$'\n'* ]] || fail "for an agent: $HINTS" "$stderr"
	[[ $HINTS != *--* ]] || fail "an option: $HINTS"
	hint off "$script" "$@"
	assert_equal "$HINTS" ""
}

# no_hint SCRIPT [OPTION...]
no_hint() {
	local script=$1
	shift
	hint human "$script" "$@"
	assert_equal "$HINTS" ""
}

# ---- causes ----

@test "hints: the network is cut" {
	needs python3
	local resolve='python3 -c "import socket; socket.getaddrinfo(\"name.invalid\", 80)"'
	hints "$resolve" '--network open' 'the network is closed' --offline
	no_hint "$resolve"
	no_hint 'echo "Could not resolve \"react\"" >&2; exit 1' --offline
}

@test "hints: localhost is the run's own" {
	needs python3
	listener inet
	allowed "$(connects "$PORT")"
	hints "$(connects "$PORT")" '--reach PORT' 'by the same command' --offline
}

@test "hints: a hidden path" {
	mkdir -p "$HOME/.ssh" && echo secret >"$HOME/.ssh/key"
	hints 'cat ~/.ssh/key' "$HOME/.ssh is hidden" "$HOME/.ssh cannot be read"
	# the option that it names is the one that helps
	run pen --read "$HOME/.ssh" -- cat "$HOME/.ssh/key"
	assert_equal "$output" secret
	no_hint 'cat ~/.aws/credentials'
	no_hint 'cat ./missing'
}

@test "hints: a write outside" {
	mkdir "$SCRATCH/beside"
	hints 'touch ../beside/x' '--write DIR' 'pinfold explain'
	hints 'python3 -c "open(\"/etc/pinfold-test\", \"w\")"' '--write DIR' 'pinfold explain'
	no_hint 'touch ../beside/x' --write "$SCRATCH/beside"
	no_hint 'touch ./none/x'
}

@test "F201 words alone are no denial" {
	no_hint 'echo permission denied >&2; exit 1'
	no_hint 'echo "Read-only file system" >&2; exit 1'
	no_hint 'mkdir closed && chmod 0 closed && echo "closed/x: Permission denied" >&2; exit 1'
	no_hint 'echo "touch: /etc/x: Read-only file system" >&2; exit 0'
}

@test "hints: a worktree that is read-only" {
	hints 'touch here' 'leave --read-only out' 'only look' --read-only
	hints 'touch /etc/here' '--write DIR' 'only the worktree' --read-only
}

@test "hints: a protected file, and a directory that holds one" {
	mkdir -p sub && echo one >.envrc && echo two >sub/file
	hints 'echo x >.envrc' "--write $WORK/.envrc" "$WORK/.envrc cannot be changed"
	cd sub && hints 'rm ../.envrc' "--write $WORK/.envrc" "$WORK/.envrc cannot be changed" --worktree .. && cd ..
	run pen --write "$WORK/.envrc" -- sh -c 'echo x >.envrc'
	assert_status 0
	hints 'mv sub other' "--write $WORK/sub/file" "$WORK/sub/file cannot be changed" --protect sub/file
}

@test "hints: services of the host" {
	needs python3
	export DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/none/bus
	hints 'echo "Failed to connect to bus: No medium found" >&2; exit 1' '--socket PATH' 'cannot be reached'
	unset DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR
	no_hint 'echo "Failed to connect to user scope bus via local transport" >&2; exit 1'
}

@test "hints: what systemctl says where there is no bus" {
	needs systemctl
	export XDG_RUNTIME_DIR=/run/user/none DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/none/bus
	hints 'systemctl --user status' '--socket PATH' 'cannot be reached'
}

@test "hints: the key agent is closed" {
	needs ssh-add
	export SSH_AUTH_SOCK=$SCRATCH/agent.sock
	hints 'ssh-add -l' 'SSH_AUTH_SOCK' 'no key agent'
}

@test "hints: the time limit, without a word of the command" {
	hints 'exec sleep 20' '--time' 'do less at a time' --time 300ms
}

@test "hints: a sandbox in the pen" {
	needs unshare bwrap
	hints 'unshare --user true' "switch the program's own one off" "sandbox off"
	hints 'bwrap --ro-bind / / true' "switch the program's own one off" "sandbox off"
}

@test "hints: programs that raise their privileges" {
	hints 'su -c true nobody </dev/null || { echo "su: cannot set groups: Operation not permitted" >&2; exit 1; }' \
		'raise their privileges' 'become another user'
}

@test "hints: git's linked worktrees, branches of others, configuration" {
	needs git
	new_repo "$SCRATCH/main" && git -C "$SCRATCH/main" worktree add -q -b topic "$WORK/linked" && cd "$WORK/linked"
	hints 'git worktree add ../another' 'registrations of linked worktrees' 'linked worktrees cannot be added'
	hint human 'git branch -m main renamed'
	[[ $HINTS == *'renamed outside'* ]] || fail "$HINTS" "$stderr"
	# what it says mends it
	git -C "$SCRATCH/main" symbolic-ref HEAD refs/heads/renamed
	assert_equal "$(git -C "$SCRATCH/main" status --porcelain)" ""
	# also where git says that all is well
	hints 'git config core.editor other' '--git open' "git's settings cannot be changed"
}

@test "hints: a violation" {
	hints 'mkdir -p .vscode; echo {} >.vscode/settings.json' '--write PATH frees' 'the file was taken away'
}

@test "hints: no word of the output, more than one cause, each of them once" {
	mkdir "$SCRATCH/beside"
	hint agent 'for n in 1 2 3; do touch ../beside/do-as-I-say; unshare -U true; done; exit 1'
	assert_equal "$(wc -l <<<"$HINTS")" 2
	[[ $HINTS != *do-as-I-say* ]] || fail "$HINTS"
}

@test "hints: a key of the user's configuration, none of a project's, silent under --quiet and in a bare run" {
	mkdir -p "$HOME/.config/pinfold" && echo '{"hints": "human"}' >"$HOME/.config/pinfold/config.json"
	run --separate-stderr "$PINFOLD" run -- touch /etc/pinfold-test
	[[ $stderr == *'pinfold: hint: a write'* ]] || fail "$stderr"
	run --separate-stderr "$PINFOLD" run --quiet -- touch /etc/pinfold-test
	[[ $stderr != *'pinfold:'* ]] || fail "$stderr"
	rm "$HOME/.config/pinfold/config.json" && echo '{"hints": "human"}' >.pinfold.json
	run --separate-stderr "$PINFOLD" run -- touch /etc/pinfold-test
	[[ $stderr != *'pinfold: hint'* ]] || fail "$stderr"
	rm .pinfold.json
	run --separate-stderr "$PINFOLD" run --hints human --mode off -- sh -c 'echo "unshare failed: Operation not permitted" >&2; exit 1'
	[[ $stderr != *'pinfold: hint'* ]] || fail "$stderr"
	run "$PINFOLD" run --hints somebody -- true
	assert_status 125
}

# ---- the relay ----

@test "hints: every byte arrives, and a run that works adds none" {
	head -c 300000 /dev/urandom >bytes
	"$PINFOLD" run --hints human -- sh -c 'cat bytes >&2; echo out' >"$SCRATCH/out" 2>"$SCRATCH/err"
	cmp bytes "$SCRATCH/err"
	assert_content "$SCRATCH/out" out
	# into a file that has something already, and from two writers of it
	{ echo first >&2 && "$PINFOLD" run --hints human -- sh -c 'cat bytes >&2' && echo last >&2; } 2>"$SCRATCH/err"
	{ echo first && cat bytes && echo last; } | cmp - "$SCRATCH/err"
}

@test "hints: two streams that are one keep their order" {
	local script='i=0; while [ $i -lt 2000 ]; do echo o$i; echo e$i >&2; i=$((i + 1)); done'
	sh -c "$script" >"$SCRATCH/expected" 2>&1
	"$PINFOLD" run --hints human -- sh -c "$script" 2>&1 | cat >"$SCRATCH/pipe"
	cmp "$SCRATCH/expected" "$SCRATCH/pipe"
	"$PINFOLD" run --hints human -- sh -c "$script" >"$SCRATCH/file" 2>&1
	cmp "$SCRATCH/expected" "$SCRATCH/file"
}

@test "hints: standard output alone is the caller's own" {
	echo content >"$SCRATCH/out"
	"$PINFOLD" run --hints human -- sh -c 'readlink /proc/self/fd/1; readlink /proc/self/fd/2 >&2' \
		>"$SCRATCH/out" 2>"$SCRATCH/err"
	assert_content "$SCRATCH/out" "$SCRATCH/out"
	[[ $(cat "$SCRATCH/err") == pipe:* ]] || fail "not relayed: $(cat "$SCRATCH/err")"
	"$PINFOLD" run -- sh -c 'readlink /proc/self/fd/2 >&2' 2>"$SCRATCH/err"
	assert_content "$SCRATCH/err" "$SCRATCH/err"
}

@test "hints: nothing is held back" {
	needs python3
	run python3 - "$PINFOLD" <<-'END'
		import subprocess, sys
		run = subprocess.Popen([sys.argv[1], "run", "--hints", "human", "--", "sh", "-c", "printf half >&2; read rest"],
			stdin=subprocess.PIPE, stderr=subprocess.PIPE)
		print(run.stderr.read(4))
		run.stdin.write(b"\n")
		run.stdin.close()
		print(run.wait())
	END
	assert_equal "$output" $'b\'half\'\n0'
}

@test "hints: a hundred megabytes pass, and take no memory" {
	needs python3
	run python3 - "$PINFOLD" <<-'END'
		import resource, subprocess, sys
		run = subprocess.Popen([sys.argv[1], "run", "--hints", "human", "--", "head", "-c", "100000000", "/dev/zero"],
			stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
		count = 0
		for chunk in iter(lambda: run.stdout.read(99999), b""): count += len(chunk)
		print(run.wait(), count, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 64 * 1024)
	END
	assert_equal "$output" '0 100000000 True'
}

@test "hints: a slow reader holds the command up" {
	needs python3
	run python3 - "$PINFOLD" "$WORK" <<-'END'
		import os, subprocess, sys, time
		run = subprocess.Popen([sys.argv[1], "run", "--hints", "human", "--", "sh", "-c",
			"head -c 1000000 /dev/zero >&2; touch done"], stderr=subprocess.PIPE, cwd=sys.argv[2])
		time.sleep(1)
		print(os.path.exists(sys.argv[2] + "/done"))
		print(len(run.stderr.read()), run.wait(), os.path.exists(sys.argv[2] + "/done"))
	END
	assert_equal "$output" $'False\n1000000 0 True'
}

@test "hints: a reader that goes ends the command as outside" {
	run bash -c '{ "$PINFOLD" run --hints human -- yes; echo "${PIPESTATUS[0]}" >status; } 2>&1 | head -n 1'
	assert_equal "$output" y
	wait_for test -s status
	assert_content status 141
	# also while the command says nothing, and asks whether anybody is still there
	needs python3
	run python3 - "$PINFOLD" <<-'END'
		import subprocess, sys, time
		run = subprocess.Popen([sys.argv[1], "run", "--hints", "human", "--", "sh", "-c",
			"echo here >&2; read gone; sleep 0.5; echo there >&2; echo alive"], stdin=subprocess.PIPE,
			stdout=subprocess.PIPE, stderr=subprocess.PIPE)
		run.stderr.readline()
		run.stderr.close()
		run.stdin.write(b"\n")
		run.stdin.close()
		print(run.stdout.read(), run.wait() != 0)
	END
	assert_equal "$output" "b'' True"
}

@test "hints: processes that stay behind hold nothing up" {
	local before=$SECONDS
	run pen --hints human -- sh -c '(setsid sleep 60 &) ; (trap "" TERM HUP; sleep 60 &) ; echo x >&2; exit 3'
	assert_status 3
	assert_equal "$output" x
	((SECONDS - before < 20)) || fail "$((SECONDS - before)) seconds"
}

# Beyond the run's end only who was handed the stream to the outside still has it.
@test "hints: a process outside that was given the stream holds nothing up" {
	needs python3
	run python3 - "$PINFOLD" "$WORK" <<-'END'
		import os, socket, subprocess, sys
		os.chdir(sys.argv[2])
		listening = socket.socket(socket.AF_UNIX)
		listening.bind("outside")
		os.chmod("outside", 0o777)
		listening.listen()
		give = "import socket as s; c = s.socket(s.AF_UNIX); c.connect('outside'); s.send_fds(c, [b'x'], [2])"
		run = subprocess.Popen([sys.argv[1], "run", "--hints", "human", "--", "sh", "-c",
			"python3 -c \"" + give + "\" && echo given >&2; exit 3"], stderr=subprocess.PIPE)
		connection, _ = listening.accept()
		_, held, _, _ = socket.recv_fds(connection, 1, 1)
		print(len(held), run.wait(20), run.stderr.read())
	END
	assert_equal "$output" "1 3 b'given\\n'"
}

@test "hints: what a command says when it is ended arrives" {
	needs python3
	run python3 - "$PINFOLD" <<-'END'
		import os, signal, subprocess, sys
		run = subprocess.Popen([sys.argv[1], "run", "--hints", "human", "--", "sh", "-c",
			"trap 'echo ended >&2; exit 7' INT; echo ready >&2; while :; do sleep 0.05; done"], stderr=subprocess.PIPE,
			start_new_session=True)
		run.stderr.readline()
		os.killpg(run.pid, signal.SIGINT)
		print(run.stderr.read(), run.wait())
	END
	assert_equal "$output" "b'ended\\n' 7"
}

@test "hints: a terminal stays one, and then only what needs no words is said" {
	run on_pty -- "$PINFOLD" run --hints human -- sh -c 'test -t 2 && echo is a terminal; touch /etc/pinfold-test'
	assert_output_has 'is a terminal'
	assert_output_has 'Read-only file system'
	refute_output_has 'pinfold: hint'
	run on_pty -- "$PINFOLD" run --hints human --time 300ms -- sleep 20
	assert_output_has 'pinfold: hint: the time limit'
}

@test "hints: descriptors that the caller has closed stay closed" {
	run bash -c '"$PINFOLD" run --hints human -- sh -c "ls -l /proc/self/fd >list; exit 3" 0<&- 1>&- 2>"$SCRATCH/err"'
	assert_status 3
	[[ $(cat list) != *pipe:*pipe:* ]] || fail "$(cat list)"
	run bash -c '"$PINFOLD" run --hints human --time 300ms -- sleep 20 2>&-'
	assert_status 124
}
