# SPDX-License-Identifier: Apache-2.0
# Terminals and devices (catalogue F122 to F127): what makes or uses a terminal works as it does outside.
# shellcheck shell=bash disable=SC2154,SC2016 # what is in single quotes is for the shell inside

load ../lib

# Terminal output has CR LF.
plain() { output=${output//$'\r'/}; }

@test "F122 programs that make a pseudo terminal" {
	needs script python3 tmux
	run pen -- script -qec 'tty; echo typed' /dev/null
	assert_status 0
	plain
	[[ $output == /dev/pts/*$'\n'typed ]] || fail "$output"
	run pen -- python3 -c 'import os, pty, sys
a, b = pty.openpty()
os.write(b, b"through\n")
print(os.read(a, 99).decode().strip(), os.ttyname(b))
sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh", "-c", "test -t 0 && exit 7"])))'
	assert_status 7
	[[ $output == 'through /dev/pts/'* ]] || fail "$output"
	run pen -- sh -c 'tmux -L pen -f /dev/null new -d "echo from tmux >said; sleep 5" &&
		while [ ! -s said ]; do sleep 0.02; done; cat said; tmux -L pen kill-server'
	assert_status 0
	assert_equal "$output" 'from tmux'
}

@test "F122 offline and in a read-only worktree, too" {
	needs script
	run pen --offline --read-only -- script -qec 'test -t 0 && echo yes' /dev/null
	assert_status 0
	plain
	assert_equal "$output" yes
}

@test "F122 the terminals of the host cannot be reached" {
	needs python3
	# Somebody else's terminal, of the same user: it can be opened and written to outside.
	spawn python3 "$PROJECT/tests/pty.py" --timeout 15 --expect ready -- sh -c "tty >'$SCRATCH/tty'; echo ready; cat >/dev/null"
	wait_for test -s "$SCRATCH/tty"
	local tty
	tty=$(cat "$SCRATCH/tty")
	denied "test -w $tty && printf x >$tty"
	run pen -- sh -c 'ls /dev/pts'
	assert_equal "$output" ptmx
	# The pen's own numbers begin again; they are another device.
	run pen -- script -qec 'tty' /dev/null
	plain
	assert_equal "$output" /dev/pts/0
}

@test "F123 an interactive shell says nothing about process groups" {
	needs python3
	local shell
	for shell in 'sh -i' 'bash --norc -i' 'zsh -f -i'; do
		# shellcheck disable=SC2086
		run on_pty -- "$PINFOLD" run -- $shell -c 'exec </dev/null; echo works'
		plain
		assert_status 0
		assert_equal "$output" works
	done
}

@test "F123 in a pipeline the terminal stays with the whole job" {
	needs python3
	# dash would say that it cannot set the group of the pipeline, which has no number inside: no -i here.
	run on_pty -- sh -c '"$PINFOLD" run -- sh -c "echo works; echo heard >/dev/tty" | cat'
	plain
	assert_status 0
	[[ $'\n'$output$'\n' == *$'\nworks\n'* && $output == *heard* ]] || fail "$output"
	run on_pty -- sh -c 'echo input | "$PINFOLD" run -- sh -c "cat; exit 3"'
	plain
	assert_status 3
	assert_equal "$output" input
	# The reader is not stopped when it reads the terminal, and Ctrl-C ends all of it.
	run on_pty --expect ready --send 'answer\n' --expect 'got answer' --send '\x03' -- \
		sh -c '"$PINFOLD" run -- sh -c "echo ready; exec sleep 77" | { read -r x; echo $x; read -r y </dev/tty; echo "got $y"; sleep 77; }'
	assert_status 130
}

@test "F123 jobs of a shell inside can be stopped, continued and ended" {
	needs python3
	run on_pty --expect '<1>' --send 'sleep 77\n' --foreground sleep --send '\x1a' --expect 'Stopped.*<2>' \
		--send 'fg\n' --foreground sleep --send '\x03' --expect '<3>' --send 'echo st$((1+1))ll; exit 5\n' --expect st2ll \
		-- env PS1='<\#> ' "$PINFOLD" run -- bash --norc --noprofile -i
	assert_status 5
	refute_output_has 'no job control'
	refute_output_has 'cannot set terminal'
}

@test "F123 pinfold itself is a job that can be stopped and continued" {
	needs python3
	# A builtin that waits: dash forks by vfork, and a stop in the middle of that is not seen by anybody.
	run on_pty --expect '<1>' --send '"$PINFOLD" run -- sh -c "echo be\\gun; read x"\n' --expect begun --foreground sh \
		--send '\x1a' --expect 'Stopped.*<2>' --send 'fg\n' --foreground sh --send '\x03' --expect '<3>' \
		--send 'echo status $?; exit\n' --expect 'status 130' \
		-- env PS1='<\#> ' bash --norc --noprofile -i
	assert_status 0
}

raw_program() {
	cat >"$WORK/raw.py" <<'END'
import os, signal, sys, termios, tty

def resized(*_):
    size = os.get_terminal_size(0)
    os.write(1, f"size {size.lines}x{size.columns}\r\n".encode())

signal.signal(signal.SIGWINCH, resized)
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"ready\r\n")
key = b""
while key != b"q":
    key = os.read(0, 1)
    os.write(1, b"key %r\r\n" % key)
termios.tcsetattr(0, termios.TCSADRAIN, before)
sys.exit(4)
END
}

@test "F124 a program in raw mode reads the terminal and gets its resize" {
	needs python3
	raw_program
	run on_pty --size 24x80 --expect ready --send x --expect "key b'x'" --resize 30x100 --expect 'size 30x100' \
		--send '\x03' --expect 'x03' --resize 50x132 --expect 'size 50x132' --send q \
		-- "$PINFOLD" run -- python3 raw.py
	assert_status 4
	# Through a terminal that was made inside, as well.
	run on_pty --size 24x80 --expect ready --resize 30x100 --expect 'size 30x100' --send q \
		-- "$PINFOLD" run -- script -qec 'python3 raw.py' /dev/null
	assert_status 4
}

@test "F124 the terminal is as it was after a program that was killed in raw mode" {
	needs python3
	run on_pty --expect ready --expect 'speed.*-?icanon' -- bash -c '
		"$PINFOLD" run -- sh -c "stty raw -echo; echo ready; kill -KILL \$\$"; stty -a'
	assert_output_has ' icanon'
	assert_output_has ' echo '
}

@test "F124 a full-screen program runs" {
	needs python3 tmux
	run on_pty --expect 'in the pane' --send 'exit\r' --expect 'exited' -- "$PINFOLD" run -- \
		tmux -L pen -f /dev/null new 'echo in the pane; exec sh'
	assert_status 0
}

@test "F127 the devices that every program takes for granted" {
	local script='set -e
		echo x >/dev/null; : </dev/null
		: </dev/zero; [ "$(head -c 3 /dev/zero | od -An -tx1 | tr -d " ")" = 000000 ]
		if (echo >/dev/full) 2>/dev/null; then exit 1; fi
		test -c /dev/urandom; test -c /dev/random; [ "$(head -c 8 /dev/urandom | wc -c)" -eq 8 ]
		ls /dev/fd/ >/dev/null; echo in | cat /dev/stdin >/dev/null; echo err >/dev/stderr; echo out >/dev/stdout
		test -d /dev/shm; test -d /dev/pts; test -c /dev/ptmx'
	run sh -c "$script"
	assert_status 0
	local outside=$output
	run pen -- sh -c "$script"
	assert_status 0
	assert_equal "$output" "$outside"
	run pen -- bash -c 'cat <(echo substituted)'
	assert_equal "$output" substituted
	# No other device is there.
	run pen -- sh -c 'for f in /dev/* /dev/*/*; do [ -L "$f" ] || ! { [ -c "$f" ] || [ -b "$f" ]; } || echo "$f"; done | LC_ALL=C sort'
	assert_equal "${output//$'\n'/ }" '/dev/full /dev/null /dev/pts/ptmx /dev/random /dev/tty /dev/urandom /dev/zero'
}

@test "F127 git writes to the null device" {
	needs git
	new_repo
	run pen -- sh -c 'echo two >file; git diff --no-index /dev/null file >/dev/null; git commit -qam second 2>/dev/null && git log --oneline | wc -l'
	assert_status 0
	assert_equal "$output" 2
}

@test "F127 with a terminal there are its names, too" {
	needs python3
	run on_pty -- "$PINFOLD" run -- sh -c 'tty && echo typed >/dev/tty && test -c /dev/console && test -t 0 && ps -o tty= -p $$'
	plain
	assert_status 0
	assert_output_has typed
}

@test "F127 started by root: a node that only root may open stays closed, also to --device (root)" {
	only_as root
	local node=/dev/pinfold-test-$$
	LEFTOVERS+=("$node")
	mknod -m 600 "$node" c 1 3
	denied "echo >$node" --device "$node"
	chmod 666 "$node"
	allowed "echo >$node" --device "$node"
}

@test "F127 started by root: /dev/stdout leads to a pipe, and not to a file of root's; the descriptor itself does (root)" {
	only_as root
	run sh -c '"$0" run -- sh -c "echo one >/dev/stdout" | cat' "$PINFOLD"
	assert_equal "$output" one
	run sh -c '"$0" run -- sh -c "echo one; echo two >/dev/stdout" >"$1"' "$PINFOLD" "$SCRATCH/out"
	[ "$status" -ne 0 ] || fail "opened again by its name"
	assert_content "$SCRATCH/out" one
	chmod 666 "$SCRATCH/out"
	run sh -c '"$0" run -- sh -c "echo two >>/dev/stdout" >>"$1"' "$PINFOLD" "$SCRATCH/out"
	assert_status 0
	assert_equal "$(tail -n 1 "$SCRATCH/out")" two
}
