# SPDX-License-Identifier: Apache-2.0
# terminal: nothing can be typed into the user's terminal; job control, Ctrl-C and resize work as they do outside.
# shellcheck shell=bash disable=SC2154

load ../lib

# shell_on_pty STEP... : an interactive shell on a terminal, ended by the last step.
shell_on_pty() { run on_pty "$@" --send 'exit 0\n' -- env PS1='ready> ' bash --norc --noprofile --noediting -i; }

# bats test_tags=core
@test "E077: nothing is typed into the terminal" {
	needs tiocsti
	run on_pty -- bash -c '"$@"; read -r -t 1 line; echo "read <$line>"' - "$ATTEMPT" tiocsti
	assert_output_has 'read <echo TYPED>'
	run on_pty -- bash -c '"$@"; read -r -t 1 line; echo "read <$line>"' - "$PINFOLD" run -- "$ATTEMPT" tiocsti
	assert_output_has 'read <>'
}

@test "what was typed and not read is not left for the next program" {
	local ahead='stty -echo; echo typing; "$@"; read -r -t 1 line; echo "read <$line>"'
	run on_pty --expect typing --send 'evil\n' -- bash -c "$ahead" - sleep 0.3
	assert_output_has 'read <evil>'
	run on_pty --expect typing --send 'evil\n' -- bash -c "$ahead" - "$PINFOLD" run -- sleep 0.3
	assert_output_has 'read <>'
}

@test "F126: exit statuses and deaths by signal come through" {
	local command
	for command in 'exit 0' 'exit 7' 'kill -TERM $$' 'kill -KILL $$' 'kill -INT $$'; do
		run on_pty -- bash -c "$command"
		local outside=$status
		run on_pty -- "$PINFOLD" run -- bash -c "$command"
		assert_equal "$status" "$outside"
		assert_equal "$output" ''
	done
}

@test "the command reads from the terminal, and sees it as one" {
	run on_pty --send 'word\n' -- "$PINFOLD" run -- sh -c 'read -r x; echo "got <$x>"; test -t 0 && test -t 1 && tty'
	assert_status 0
	assert_output_has 'got <word>'
	refute_output_has 'not a tty'
	run on_pty -- "$PINFOLD" run -- sh -c 'echo by its name >/dev/tty; stty size </dev/tty'
	assert_status 0
	assert_output_has 'by its name'
	assert_output_has '24 80'
}

@test "Ctrl-C ends the command, and the shell goes on" {
	shell_on_pty --expect 'ready> ' --send '"$PINFOLD" run -- sh -c "echo up; exec sleep 60"\n' --expect 'up\r\n' \
		--send '\x03' --expect 'ready> ' --send 'echo "status $?"\n' --expect 'status 130'
	assert_status 0
}

@test "Ctrl-C reaches a command that handles it, once" {
	run on_pty --expect up --send '\x03' --expect caught -- "$PINFOLD" run -- bash -c \
		'n=0; trap "n=\$((n + 1)); echo caught" INT; echo up; sleep 0.5 & wait; wait; echo "times $n"; exit 3'
	assert_status 3
	assert_output_has 'times 1'
}

@test "Ctrl-Z stops the run, fg continues it" {
	shell_on_pty --expect 'ready> ' --send '"$PINFOLD" run -- cat\n' --foreground cat --send 'one\n' \
		--expect 'one\r\none\r\n' --send '\x1a' --expect 'Stopped' --expect 'ready> ' --send 'jobs\n' \
		--expect 'Stopped' --send 'fg\n' --foreground cat --send 'two\n' --expect 'two\r\ntwo\r\n' --send '\x04' \
		--expect 'ready> ' --send 'echo "status $?"\n' --expect 'status 0'
	assert_status 0
}

@test "a command that stops itself stops the run" {
	shell_on_pty --expect 'ready> ' --send '"$PINFOLD" run -- sh -c "kill -STOP \\$\\$; echo again"\n' \
		--expect 'Stopped' --expect 'ready> ' --send 'fg\n' --expect 'again\r\n' --expect 'ready> '
	assert_status 0
}

@test "in the background: a write passes, bg continues a stopped run" {
	shell_on_pty --expect 'ready> ' --send '"$PINFOLD" run -- sh -c "sleep 0.2; echo written" &\n' --expect 'written\r\n' \
		--send '"$PINFOLD" run -- sh -c "sleep 0.4; echo finished"\n' --sleep 0.15 --send '\x1a' --expect 'Stopped' \
		--send 'bg\n' --expect 'finished\r\n'
	assert_status 0
}

@test "in the background: a read of the terminal stops it, as it stops any program" {
	shell_on_pty --expect 'ready> ' --send '"$PINFOLD" run -- cat &\n' --sleep 0.2 --send '\n' \
		--expect 'Stopped' --expect 'ready> ' --send 'fg\n' --foreground cat --send '\x04' --expect 'ready> '
	assert_status 0
	# One that runs, and reads only after it has come to the foreground.
	shell_on_pty --expect 'ready> ' --send '"$PINFOLD" run -- sh -c "sleep 0.4; cat; stty size" &\n' --expect 'ready> ' \
		--sleep 0.2 --send 'fg\n' --foreground sh --send 'word\n' --expect 'word\r\nword\r\n' \
		--send '\x1a' --expect 'Stopped' --expect 'ready> ' --sleep 0.1 --send 'fg\n' --foreground sh \
		--send '\x04' --expect '24 80' --expect 'ready> '
	assert_status 0
}

@test "the size of the window, and its changes" {
	run on_pty --size 33x101 --expect '33 101' --resize 40x120 --expect '40 120' --send '\x03' -- \
		"$PINFOLD" run -- sh -c 'trap "stty size" WINCH; stty size; while :; do sleep 0.05; done'
	assert_status 130
	run on_pty --expect up --resize 40x120 --expect '40 120' --send '\x03' -- \
		bash -c '"$PINFOLD" run -- sh -c '\''trap "stty size" WINCH; echo up; while :; do sleep 0.05; done'\'' | cat'
	assert_output_has '40 120'
}

@test "F124: a full-screen program gets the terminal in raw mode, and gives it back" {
	cat >screen.py <<-'END'
		import curses
		def main(screen):
		    curses.raw()
		    screen.addstr(0, 0, "full screen")
		    screen.refresh()
		    key = screen.getch()
		    screen.addstr(1, 0, "key %d" % key)
		    screen.refresh()
		curses.wrapper(main)
	END
	shell_on_pty --expect 'ready> ' --send '"$PINFOLD" run -- python3 screen.py\n' --expect 'full screen' \
		--send '\x03' --expect 'key 3' --expect 'ready> ' --send 'stty -a\n' --expect ' icanon' --expect 'ready> '
	assert_status 0
}

@test "F123: a shell in the pen has job control of its own" {
	run on_pty --expect 'in> ' --send 'sleep 60\n' --foreground sleep --send '\x1a' --expect 'Stopped' --expect 'in> ' \
		--send 'fg\n' --foreground sleep --send '\x03' --expect 'in> ' --send 'exit 5\n' -- \
		"$PINFOLD" run -- env PS1='in> ' bash --norc --noprofile --noediting -i
	assert_status 5
	refute_output_has 'no job control'
	refute_output_has 'cannot set terminal process group'
}

@test "F123: pipelines with a terminal on one side only" {
	run on_pty -- bash -c '"$PINFOLD" run -- seq 3 | cat; echo "status ${PIPESTATUS[*]}"'
	assert_output_has $'1\r\n2\r\n3\r\n'
	assert_output_has 'status 0 0'
	run on_pty -- bash -c 'echo text | "$PINFOLD" run -- cat; echo "status ${PIPESTATUS[*]}"'
	assert_output_has 'text'
	assert_output_has 'status 0 0'
	run on_pty -- bash -c 'seq 100000 | "$PINFOLD" run -- cat | head -n 1; echo "status ${PIPESTATUS[2]}"'
	assert_output_has $'1\r\nstatus 0'
	run on_pty -- bash -c '"$PINFOLD" run -- yes | head -n 1; echo "status ${PIPESTATUS[*]}"'
	assert_output_has $'y\r\nstatus 141 0'
	run on_pty -- bash -c 'x=$("$PINFOLD" run -- echo inner); echo "x <$x>"'
	assert_output_has 'x <inner>'
	run on_pty -- bash -c '"$PINFOLD" run -- sh -c "exit 9" 2>/dev/null; echo "status $?"'
	assert_output_has 'status 9'
}

@test "F123: Ctrl-C in a pipeline ends all of it" {
	shell_on_pty --expect 'ready> ' --send '"$PINFOLD" run -- sh -c "echo up; exec sleep 60" | cat\n' --expect 'up\r\n' \
		--send '\x03' --expect 'ready> ' --send 'echo again\n' --expect '\nagain'
	assert_status 0
}

@test "F123: in a pipeline a reader of the terminal works, and Ctrl-Z stops all of it" {
	run on_pty --send 'word\n' -- bash -c '"$PINFOLD" run -- sh -c "read -r x; echo \"got <\$x>\"" | cat'
	assert_output_has 'got <word>'
	shell_on_pty --expect 'ready> ' --send '"$PINFOLD" run -- sh -c "echo up; sleep 0.5; echo end" | cat\n' \
		--expect 'up\r\n' --sleep 0.1 --send '\x1a' --expect 'Stopped' --expect 'ready> ' --send 'fg\n' --expect '\nend' \
		--expect 'ready> '
	assert_status 0
}

@test "without a terminal nothing is different" {
	run setsid -w "$PINFOLD" run -- sh -c 'echo fine; exit 4' </dev/null
	assert_status 4
	assert_equal "$output" fine
	run setsid -w "$PINFOLD" run -- sh -c 'exec 3</dev/tty' </dev/null
	[ "$status" -ne 0 ] || fail "a terminal out of nowhere"
}
