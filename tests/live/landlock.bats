# SPDX-License-Identifier: Apache-2.0
# The backend without namespaces: what it holds of each guarantee, how it ends, and when it is chosen.
# shellcheck shell=bash disable=SC2154,SC2016

load ../lib

setup() {
	lib_setup
	needs landlock
	PINFOLD=${PINFOLD_ON_BACKEND:-$PINFOLD} # says itself what it wants
	ACCEPT=writes,repository,processes,terminal
	((EUID)) || ACCEPT+=,privileges
	[ "$(landlock_abi)" -ge 6 ] || ACCEPT+=,cleanup
	ALONE=(--backend landlock --accept "$ACCEPT")
	POORER=$(dirname "$ATTEMPT")/poorer
	WITHOUT=$(dirname "$ATTEMPT")/without
}

alone() { pen "${ALONE[@]}" "$@"; }

# field FILE EXPRESSION : of a record, as r.
field() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

# The command has written the name of its temporary directory into the worktree's `temp`.
refute_temp() { [[ $(cat "$WORK/temp") == /tmp/pinfold-?????? ]] && [ ! -e "$(cat "$WORK/temp")" ]; }

# ---- writes ----

@test "landlock: the worktree can be changed, and nothing outside" {
	touch "$SCRATCH/outside"
	mkfifo "$SCRATCH/fifo"
	allowed 'echo x > a && mkdir d && mv a d/b && ln d/b d/c && ln -s d/b l && rm -r d l' "${ALONE[@]}"
	mkdir one two && touch one/file
	try_allowed "${ALONE[@]}" -- rename "$WORK/one/file" "$WORK/two/file"
	try_allowed "${ALONE[@]}" -- link "$WORK/two/file" "$WORK/one/again"
	denied "echo x >> '$SCRATCH/outside'" "${ALONE[@]}"
	try_denied EACCES "${ALONE[@]}" -- create "$SCRATCH/new.@"
	try_denied EACCES "${ALONE[@]}" -- mkdir "$SCRATCH/directory.@"
	try_denied EACCES "${ALONE[@]}" -- mkfifo "$SCRATCH/fifo.@"
	try_denied EACCES "${ALONE[@]}" -- truncate "$SCRATCH/outside"
	try_denied EACCES "${ALONE[@]}" -- symlink x "$SCRATCH/link.@"
	touch "$SCRATCH/moved.out" "$SCRATCH/moved.in"
	try_denied 'EACCES|EXDEV' "${ALONE[@]}" -- rename "$SCRATCH/moved.@" "$SCRATCH/gone.@"
	try_denied 'EACCES|EXDEV' "${ALONE[@]}" -- link "$SCRATCH/outside" "$WORK/linked.@"
}

@test "landlock: --read-only and --write" {
	mkdir "$SCRATCH/more"
	if python3 -c 'import multiprocessing; multiprocessing.Lock()' 2>/dev/null; then
		run alone -- python3 -c 'import multiprocessing; multiprocessing.Lock()'
		assert_status 1
		allowed 'python3 -c "import multiprocessing; multiprocessing.Lock()"' "${ALONE[@]}" --write /dev/shm \
			--accept writes=absent
	fi
	denied 'echo x > a' "${ALONE[@]}" --read-only
	allowed 'ls . && cat a && echo y > "$TMPDIR/a" && cat "$TMPDIR/a"' "${ALONE[@]}" --read-only
	denied "echo x > '$SCRATCH/more/a'" "${ALONE[@]}"
	allowed "echo y > '$SCRATCH/more/a'" "${ALONE[@]}" --write "$SCRATCH/more"
	assert_content "$SCRATCH/more/a" y
}

@test "landlock: what it cannot hold of writes is said, and is so" {
	touch "$SCRATCH/outside"
	run pen --backend landlock --accept "${ACCEPT#writes,}" -- touch ran
	assert_status 125
	assert_output_has "writes is weaker here: mode, times and attributes of all the caller's files can be changed"
	refute_exists ran
	allowed "chmod 600 '$SCRATCH/outside'" "${ALONE[@]}"
}

@test "landlock: F095 a worktree that is too wide is not accepted along with the rest" {
	own_home
	cd "$HOME"
	run alone -- touch ran
	assert_status 125
	assert_output_has "writes is absent here"
	assert_output_has "the worktree '$HOME' is too wide"
	refute_exists ran
	run pen --backend landlock --accept "writes=absent,secrets,${ACCEPT#writes,}" -- touch ran
	assert_status 0
}

@test "landlock: files of the kernel that root owns are closed" {
	only_as root
	try_denied EACCES "${ALONE[@]}" -- open-write /proc/sys/kernel/core_pattern
	[ ! -e /proc/sysrq-trigger ] || try_denied EACCES "${ALONE[@]}" -- open-write /proc/sysrq-trigger
	[ ! -b /dev/vda ] || ! head -c 1 /dev/vda >/dev/null 2>&1 || try_denied EACCES "${ALONE[@]}" -- open-read /dev/vda
}

# ---- secrets ----

@test "landlock: E040, E043, E044 secrets of the home are closed, what lies beside them is open" {
	own_home
	canary "$HOME/.ssh/id_test"
	echo host >"$HOME/.ssh/known_hosts"
	mkdir -p "$HOME/.config/nano" "$HOME/notes"
	echo set >"$HOME/.config/nano/rc"
	echo plain >"$HOME/notes/a"
	denied "grep '$CANARY' '$HOME/.ssh/id_test'" "${ALONE[@]}"
	denied "ls '$HOME/.ssh'" "${ALONE[@]}"
	allowed "cat '$HOME/notes/a' '$HOME/.config/nano/rc' '$HOME/.ssh/known_hosts' /etc/passwd" "${ALONE[@]}"
	# made, and replaced, while the run lasts
	in_background "meet; cat '$HOME/.netrc' '$HOME/.ssh/id_test' '$HOME/.config/gh/hosts.yml' '$HOME/.aws/credentials'" \
		"${ALONE[@]}"
	wait_for test -e "$WORK/here"
	canary "$HOME/.netrc"
	canary "$HOME/.aws/credentials"
	canary "$HOME/.config/gh/hosts.yml"
	rm "$HOME/.ssh/id_test" && canary "$HOME/.ssh/id_test"
	go
	finished
	run grep -c canary "$WORK/said"
	assert_equal "$output" 0
	run grep -c 'Permission denied' "$WORK/said"
	assert_equal "$output" 4
}

@test "landlock: a secret in the worktree is named as open, and is closed where the worktree is read-only" {
	canary "$WORK/keys"
	run pen "${ALONE[@]}" --hide keys -- true
	assert_status 125
	assert_output_has "secrets is weaker here: '$WORK/keys' can be read"
	touch other
	denied 'cat keys' "${ALONE[@]}" --hide keys --read-only
	allowed 'cat other' "${ALONE[@]}" --hide keys --read-only
}

@test "landlock: the host's temporary files are not the command's; its own are, wherever it is told to look" {
	local file
	file=$(mktemp /tmp/pinfold-test.XXXXXX)
	LEFTOVERS+=("$file")
	denied "cat '$file'" "${ALONE[@]}"
	denied "touch '$file.new' && rm '$file.new'" "${ALONE[@]}"
	allowed 'for t in "$TMPDIR" "$TMP" "$TEMP"; do [ "$t" = "$TMPDIR" ] && [ -d "$t" ] && [ -O "$t" ] || exit 1; done
		[ "$(stat -c %a "$TMPDIR")" = 700 ] && f=$(mktemp) && [ "${f%/*}" = "$TMPDIR" ]' "${ALONE[@]}"
	mkdir -m 700 "$SCRATCH/temp"
	allowed 'echo kept > "$TMPDIR/a"' "${ALONE[@]}" --tmp "$SCRATCH/temp"
	assert_content "$SCRATCH/temp/a" kept
}

# ---- repository ----

@test "landlock: what is changed in git's directory is named after the run; what a branch tracks may be kept in git's configuration" {
	needs git
	new_repo
	git config remote.origin.url "$SCRATCH/nowhere"
	run alone -- sh -c 'printf "#!/bin/sh\n" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit'
	assert_output_has "'.git/hooks/pre-commit' is protected and was changed"
	refute_exists .git/hooks/pre-commit
	# one that was there, overwritten in place, with its old times
	echo old >.git/hooks/post-merge && touch -d 2001-01-01 .git/hooks/post-merge
	run alone -- sh -c 'echo evil > .git/hooks/post-merge; touch -d 2001-01-01 .git/hooks/post-merge'
	assert_output_has .git/hooks/post-merge
	refute_exists .git/hooks/post-merge
	run --separate-stderr alone -- git config branch.main.remote origin
	assert_status 0
	assert_equal "$stderr" ''
	assert_equal "$(git config branch.main.remote)" origin
	run alone -- sh -c 'git config core.fsmonitor ./evil && git config branch.main.merge refs/heads/main && touch .git/config.lock'
	assert_output_has "'.git/config' is protected and was changed"
	run git config core.fsmonitor
	assert_status 1
	assert_equal "$(git config branch.main.merge)" refs/heads/main
	run alone -- sh -c 'rm .git/config && mkdir .git/config'
	assert_equal "$(git config branch.main.remote)" origin
	# the directory itself exchanged for another one
	run alone -- sh -c 'mv .git/hooks .git/away && mkdir .git/hooks && echo evil >.git/hooks/pre-commit'
	refute_exists .git/hooks/pre-commit
	# git led elsewhere
	run alone -- sh -c 'git init -q other && git -C other config core.fsmonitor ./evil &&
		mv .git away && echo "gitdir: other/.git" >.git'
	assert_output_has "'.git' is protected and was changed"
	refute_exists .git
	mv away .git
	run alone --on-violation report -- git config core.fsmonitor ./evil
	assert_equal "$(git config core.fsmonitor)" ./evil
	git config --unset core.fsmonitor
	run pen --backend landlock --accept "${ACCEPT/repository,/}" -- true
	assert_status 125
	assert_output_has 'repository is weaker here: protected files of the worktree can be changed'
}

@test "landlock: git commits, switches and reads its configuration" {
	needs git
	new_repo
	allowed 'echo two > file && git commit -qam second && git switch -qc other && git status --porcelain' "${ALONE[@]}"
	assert_equal "$(git log --format=%s -1 other)" second
}

# ---- network ----

@test "landlock: E080, E082, E083, E087, E08D offline no socket leads out" {
	needs python3
	listener inet
	denied "$(connects "$PORT")" "${ALONE[@]}" --offline
	allowed "$(connects "$PORT")" "${ALONE[@]}"
	try_denied EAFNOSUPPORT "${ALONE[@]}" --offline -- connect-mptcp 127.0.0.1 "$PORT"
	try_denied EAFNOSUPPORT "${ALONE[@]}" --offline -- udp-send 127.0.0.1 "$PORT"
	try_denied EAFNOSUPPORT "${ALONE[@]}" --offline -- bind-tcp 127.0.0.1
	try_denied EAFNOSUPPORT "${ALONE[@]}" --offline -- netlink-generic
	try_refused EAFNOSUPPORT "${ALONE[@]}" --offline -- vsock
	try_refused 'EAFNOSUPPORT|EPERM' "${ALONE[@]}" --offline -- raw-socket
	try_refused 'EAFNOSUPPORT|EPERM' "${ALONE[@]}" --offline -- packet-socket
	try_refused ENOSYS "${ALONE[@]}" --offline -- io_uring
	# Fast Open, and listening without a bind
	denied 'python3 -c "
import socket
s = socket.socket(); s.sendto(b\"x\", 0x20000000, (\"127.0.0.1\", '"$PORT"'))"' "${ALONE[@]}" --offline
	denied 'python3 -c "import socket; socket.socket().listen()"' "${ALONE[@]}" --offline
	allowed 'python3 -c "import socket; a, b = socket.socketpair(); a.send(b\"x\"); b.recv(1)"' "${ALONE[@]}" --offline
	run alone --offline --record "$SCRATCH/record" -- true
	assert_equal "$(field "$SCRATCH/record" 'r["backend"], r["guarantees"]["network"]["state"]')" "('landlock', 'held')"
}

# ---- services ----

@test "landlock: E050, E056, E092 no socket of the host is reached, by name, abstract or from an end of a pair" {
	needs python3
	[ "$(landlock_abi)" -lt 9 ] || skip "needs a kernel before ABI 9"
	listener unix "$SCRATCH/socket"
	try_denied EPERM "${ALONE[@]}" -- connect-unix "$SCRATCH/socket"
	listener abstract "pinfold-test-$$"
	try_denied EPERM "${ALONE[@]}" -- connect-abstract "pinfold-test-$$"
	spawn python3 -c 'import socket, sys, time
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1])
time.sleep(60)' "$SCRATCH/datagrams"
	wait_for test -S "$SCRATCH/datagrams"
	try_denied EPERM "${ALONE[@]}" -- pair-sendto-unix "$SCRATCH/datagrams"
	try_denied EPERM "${ALONE[@]}" -- raw-pair-sendto-unix "$SCRATCH/datagrams"
	allowed 'python3 -c "import socket; socket.socketpair(); socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)"' \
		"${ALONE[@]}"
	# whoever accepts that they are reached gets them
	try_allowed "${ALONE[@]}" --accept services=absent -- connect-unix "$SCRATCH/socket"
	run pen "${ALONE[@]}" --socket "$SCRATCH/socket" -- true
	assert_status 125
	assert_output_has 'services is absent here: with unix sockets, which are asked for, those of the host are reached, too'
}

# ---- processes, terminal, environment, privileges ----

@test "landlock: E055, E060, E061 other processes are seen, and not touched" {
	needs scopes
	victim
	allowed "grep -qsFf '$SCRATCH/mark' /proc/[0-9]*/cmdline" "${ALONE[@]}"
	try_denied EPERM "${ALONE[@]}" -- kill "$VICTIM" 0
	try_denied EPERM "${ALONE[@]}" -- tgkill "$VICTIM" 0
	try_denied EPERM "${ALONE[@]}" -- pidfd-signal "$VICTIM" 0
	try_denied EPERM "${ALONE[@]}" -- ptrace-seize "$VICTIM"
	try_denied EPERM "${ALONE[@]}" -- setpriority "$VICTIM"
	try_denied EPERM "${ALONE[@]}" -- ioprio "$VICTIM"
	try_denied EPERM "${ALONE[@]}" -- scheduler "$VICTIM"
	try_denied EPERM "${ALONE[@]}" -- scheduling "$VICTIM"
	allowed 'chrt -i 0 true' "${ALONE[@]}"
	denied "cat /proc/$VICTIM/environ" "${ALONE[@]}"
	denied "ls /proc/$VICTIM/root/" "${ALONE[@]}"
	denied "readlink /proc/$VICTIM/fd/0" "${ALONE[@]}"
	allowed 'sleep 60 & kill -0 $! && kill -9 $! && ! wait $!' "${ALONE[@]}"
	local key=$((0x50000000 + RANDOM * 32768 + RANDOM))
	try shm-create "$key"
	try_denied ENOSYS "${ALONE[@]}" -- shm-attach "$key"
	try shm-remove "$key"
	kill -0 "$VICTIM"
}

@test "landlock: E077 nothing is typed into the terminal; a terminal of the command's own works" {
	needs python3
	run on_pty -- "$PINFOLD" run "${ALONE[@]}" -- "$ATTEMPT" tiocsti
	assert_output_has EPERM
	allowed 'python3 -c "
import os, pty
pid, fd = pty.fork()
if pid == 0: os.execvp(\"tty\", [\"tty\"])
print(os.read(fd, 99)); os.waitpid(pid, 0)" | grep /dev/pts/' "${ALONE[@]}"
}

@test "landlock: no capabilities, no new privileges, no namespaces" {
	run alone -- sh -c 'grep -E "^(CapEff|CapPrm|CapInh|CapAmb|NoNewPrivs|Seccomp):" /proc/self/status | tr -s "\t\n" " "'
	assert_equal "$output" 'CapInh: 0000000000000000 CapPrm: 0000000000000000 CapEff: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 '
	try_refused EPERM "${ALONE[@]}" -- clone-userns
	try_refused EPERM "${ALONE[@]}" -- unshare-user
}

@test "landlock: inside, status knows the pen; a variable alone makes none" {
	run alone -- "$PINFOLD" status
	assert_status 0
	assert_output_has 'confined: yes'
	PINFOLD_STATUS='{"pinfold":1,"confined":true}' run "$PINFOLD" status
	assert_output_has 'the variable is not believed'
}

# ---- cleanup and limits ----

@test "landlock: E066, F018 nothing that the command has started outlives it, and its temporary directory is gone" {
	victim
	run alone -- sh -c 'echo "$TMPDIR" >temp; mkdir -p "$TMPDIR/a/b/c" && touch "$TMPDIR/a/b/f" && ln -s / "$TMPDIR/root" && chmod 0 "$TMPDIR/a/b"
		exec >/dev/null 2>&1 # else a process that is left would keep this test waiting
		'"'$ATTEMPT'"' wait '"left-$MARK"' & setsid '"'$ATTEMPT'"' wait '"left-$MARK"' & sleep 0.1; exit 4'
	assert_status 4
	! grep -qsF "left-$MARK" /proc/[0-9]*/cmdline || fail "a process is left"
	refute_temp
	kill -0 "$VICTIM" || fail "a process of the host was ended"
}

@test "landlock: a deep and closed tree in the temporary directory is removed" {
	run alone -- python3 -c '
import os
open("temp", "w").write(os.environ["TMPDIR"])
os.chdir(os.environ["TMPDIR"])
for i in range(3000):
    os.mkdir("deep-directory-name"); open("file", "w").close()
    os.chdir("deep-directory-name")
    if i % 10 == 0: os.chmod("..", 0o100)
os.chmod(os.environ["TMPDIR"], 0)'
	assert_status 0
	refute_temp
}

@test "landlock: E066 a command that forks and forks is ended with all it has forked" {
	needs scopes
	MARK=storm-$$-$RANDOM$RANDOM
	SECONDS=0
	run alone -- sh -c 'for i in 1 2 3 4 5 6; do
		setsid sh -c ": '"$MARK"'; while :; do (sleep 0.01 &) ; done" >/dev/null 2>&1 & done; sleep 0.3'
	assert_status 0
	[ "$SECONDS" -lt 20 ] || fail "it took $SECONDS seconds"
	! grep -qsF "$MARK" /proc/[0-9]*/cmdline || fail "a process is left"
}

@test "landlock: E066, F021 a pinfold that is killed, alone or with its group, takes the run along" {
	local signal
	for signal in alone group; do
		MARK=left-$$-$RANDOM$RANDOM
		printf '%s' "$MARK" >"$SCRATCH/mark"
		setsid "$PINFOLD" run "${ALONE[@]}" -- sh -c "echo \"\$TMPDIR\" >temp; touch \"\$TMPDIR/f\" started
			'$ATTEMPT' wait $MARK & setsid '$ATTEMPT' wait $MARK & wait" 3>&- </dev/null &
		local pid=$!
		PIDS+=("$pid")
		wait_for test -e started
		wait_for is_marked
		if [ "$signal" = alone ]; then kill -9 "$pid"; else kill -9 -- "-$pid"; fi
		wait_for is_unmarked
		rm -f started
		wait_for refute_temp
	done
}

@test "landlock: the command cannot reach the reaper" {
	needs scopes
	run alone -- sh -c 'kill -9 $PPID; kill -STOP $PPID; cat /proc/$PPID/comm; exit 3'
	assert_status 3
	assert_output_has pinfold-reaper
}

@test "landlock: exit statuses, signals, the time limit" {
	run alone -- sh -c 'exit 7'
	assert_status 7
	run alone -- sh -c 'kill -TERM $$'
	assert_status 143
	run alone -- no-such-command-anywhere
	assert_status 127
	touch plain
	run alone -- ./plain
	assert_status 126
	run alone --time 300ms -- sh -c '(sleep 0.8; touch late) & setsid sh -c "sleep 0.8; touch late" & sleep 60'
	assert_status 124
	sleep 0.8
	refute_exists late
	run alone --processes 100 -- true
	assert_status 125
	assert_output_has 'limits is absent here: the number of processes is not limited'
}

# ---- the choice ----

@test "landlock: F071, F074 it is what auto takes where namespaces are refused, after asking" {
	"$WITHOUT" namespaces true || skip "needs a filter"
	for options in '' '--network offline'; do
		# shellcheck disable=SC2086
		run "$WITHOUT" namespaces "$PINFOLD" run $options -- touch ran
		assert_status 125
		assert_output_has 'writes is weaker here'
		assert_output_has "run $options${options:+ }--accept $ACCEPT"
		refute_exists ran
		# shellcheck disable=SC2086
		run "$WITHOUT" namespaces "$PINFOLD" run $options --accept "$ACCEPT" --record "$SCRATCH/record" -- touch ran
		assert_status 0
		assert_equal "$output" ''
		assert_exists ran
		assert_equal "$(field "$SCRATCH/record" 'r["backend"], r["ran"]')" "('landlock', True)"
		rm ran
	done
	run "$WITHOUT" mounts "$PINFOLD" run --accept "$ACCEPT" --record "$SCRATCH/record" -- true
	assert_status 0
	assert_equal "$(field "$SCRATCH/record" 'r["backend"]')" landlock
	run "$WITHOUT" network "$PINFOLD" run --accept network=absent --offline --record "$SCRATCH/record" -- true
	assert_equal "$(field "$SCRATCH/record" 'r["backend"]')" namespaces
}

@test "landlock: F072, F083 where neither is possible one message names both" {
	run "$WITHOUT" namespaces,landlock "$PINFOLD" run -- touch ran
	assert_status 125
	[[ $output =~ 'no namespaces (cannot make '[^\(]*': Operation not permitted)' ]] || fail "$output"
	assert_output_has 'no landlock (cannot create a Landlock ruleset: Function not implemented)'
	refute_exists ran
}

@test "landlock: a backend that is named is taken, or the run is refused with the reason" {
	run alone --record "$SCRATCH/record" -- true
	assert_equal "$(field "$SCRATCH/record" 'r["backend"]')" landlock
	run "$WITHOUT" landlock "$PINFOLD" run --backend landlock --mode auto -- touch ran
	assert_status 125
	assert_output_has "the backend 'landlock' is not possible here: cannot create a Landlock ruleset: Function not implemented"
	run "$WITHOUT" namespaces "$PINFOLD" run --backend namespaces --mode auto -- touch ran
	assert_status 125
	[[ $output =~ "the backend 'namespaces' is not possible here: cannot make "[^:]*': Operation not permitted' ]] ||
		fail "$output"
	refute_exists ran
}

@test "landlock: F084 older kernels, level by level: each runs, holds what it says and says what it does not" {
	local abi
	touch "$SCRATCH/outside"
	for ((abi = 1; abi <= $(landlock_abi); abi++)); do
		[ "$abi" -lt 9 ] || break
		run "$POORER" "landlock=$abi" backend=landlock "accept=$ACCEPT,cleanup" network=offline -- sh -c "
			echo x > a && mkdir -p d && mv a d/ && cat d/a >/dev/null || exit 20
			(echo x > '$SCRATCH/outside') 2>/dev/null && exit 21
			'$ATTEMPT' connect-tcp 127.0.0.1 1 | grep -q EAFNOSUPPORT || exit 22
			setsid sleep 60 & exit 0"
		assert_status 0
		rm -r d
		run "$POORER" "landlock=$abi" backend=landlock "accept=${ACCEPT%,cleanup}" -- true
		[ "$abi" -ge 6 ] || assert_status 125
		[ "$abi" -ge 6 ] || assert_output_has 'cleanup is weaker here'
		# below ABI 3 outside files are emptied, and that is what is said
		run "$POORER" "landlock=$abi" backend=landlock "accept=${ACCEPT#writes,},cleanup" -- true
		assert_status 125
		if [ "$abi" -lt 3 ]; then
			assert_output_has 'outside can be emptied (Landlock before ABI 3)'
		else
			refute_output_has 'can be emptied'
		fi
	done
}
