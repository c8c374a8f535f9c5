# SPDX-License-Identifier: Apache-2.0
# What a command is started with: descriptors, variables, words.
# shellcheck shell=bash disable=SC2154

load ../lib

@test "E070 inherited descriptors: a file and a directory" {
	echo text >"$SCRATCH/file"
	exec 9<"$SCRATCH/file" 8<"$SCRATCH"
	try_denied EBADF -- fd-open 9
	try_denied EBADF -- fd-openat 8 file
	try_denied EBADF -- fd-createat 8 new-@
	try_denied EBADF -- fd-chdir 8
	run pen -- sh -c 'ls /proc/self/fd | tr "\n" " "'
	assert_equal "$output" '0 1 2 3 ' # 3 is the directory that ls reads
	exec 9>&- 8>&-
	refute_exists "$SCRATCH/new-in"
}

@test "E070 --pass-fd leaves one open, and no other" {
	echo text >"$SCRATCH/file"
	exec 9<"$SCRATCH/file" 8<"$SCRATCH"
	try_allowed --pass-fd 9 -- fd-open 9
	try_refused EBADF --pass-fd 9 -- fd-open 8
	allowed 'grep -q text <&9' --pass-fd 9
	exec 9>&- 8>&-
}

@test "E070 --pass-fd of a directory is refused" {
	exec 8<"$SCRATCH"
	run "$ATTEMPT" fd-createat 8 new-out
	assert_equal "$output" OK
	run pen --pass-fd 8 -- touch ran
	assert_status 125
	refute_exists ran
	exec 8>&-
}

@test "E070 a directory as standard input" {
	echo text >"$SCRATCH/file"
	run "$ATTEMPT" fd-createat 0 new-out <"$SCRATCH"
	assert_equal "$output" OK
	run pen -- "$ATTEMPT" fd-createat 0 new-in <"$SCRATCH"
	[ "$output" != OK ] || fail "made by the descriptor of a directory outside"
	refute_exists "$SCRATCH/new-in"
}

@test "E072 a connected socket of the caller" {
	cat >with_socket.py <<-'END'
		import os, socket, sys
		mine, theirs = socket.socketpair()
		os.dup2(theirs.fileno(), 7)
		mine.set_inheritable(True)
		os.execvp(sys.argv[1], sys.argv[1:])
	END
	run python3 with_socket.py "$ATTEMPT" fd-send 7
	assert_equal "$output" OK
	run python3 with_socket.py "$PINFOLD" run -- "$ATTEMPT" fd-send 7
	assert_equal "$output" EBADF
	export LISTEN_FDS=1 LISTEN_PID=1 LISTEN_FDNAMES=x
	denied 'test -n "$LISTEN_FDS$LISTEN_PID$LISTEN_FDNAMES"'
}

@test "E110a a file on standard input that was opened for reading only" {
	cp "$ATTEMPT" "$SCRATCH/bystander" # some content
	local what name
	for what in fd-reopen fd-retruncate; do
		echo text >"$SCRATCH/out"
		echo text >"$SCRATCH/in"
		run "$ATTEMPT" "$what" 0 <"$SCRATCH/out"
		assert_equal "$output" OK
		run pen -- "$ATTEMPT" "$what" 0 <"$SCRATCH/in"
		[[ $output == @(EACCES|EROFS|EPERM|ENOENT) ]] || fail "$what inside: $output"
		assert_content "$SCRATCH/in" text
	done
	run pen -- truncate -s 0 /proc/self/fd/0 <"$SCRATCH/in"
	[ "$status" -ne 0 ] || fail "truncate passed"
	assert_content "$SCRATCH/in" text
	run pen -- cat <"$SCRATCH/in"
	assert_equal "$output" text
}

@test "E110a its metadata" {
	echo text >"$SCRATCH/file"
	local what before
	for what in fd-chmod fd-utimes; do
		run "$ATTEMPT" "$what" 0 <"$SCRATCH/file"
		assert_equal "$output" OK
		chmod 640 "$SCRATCH/file"
		before=$(stat -c '%a %Y' "$SCRATCH/file")
		run pen -- "$ATTEMPT" "$what" 0 <"$SCRATCH/file"
		[[ $output == @(EACCES|EROFS|EPERM) ]] || fail "$what inside: $output"
		assert_equal "$(stat -c '%a %Y' "$SCRATCH/file")" "$before"
	done
}

@test "E110a its metadata, where the file is hidden" {
	only_as user # as root the command has another id, and no file of root's is its own
	own_home
	echo text >"$HOME/.netrc"
	chmod 600 "$HOME/.netrc"
	local what before
	before=$(stat -c '%a %Y' "$HOME/.netrc")
	for what in fd-chmod fd-utimes fd-reopen fd-retruncate; do
		run pen -- "$ATTEMPT" "$what" 0 <"$HOME/.netrc"
		[[ $output == @(EACCES|EROFS|EPERM|ENOENT) ]] || fail "$what inside: $output"
		assert_equal "$(stat -c '%a %Y' "$HOME/.netrc")" "$before"
	done
	run pen -- sh -c 'read -r line; cat; echo "$line"' <"$HOME/.netrc"
	assert_equal "$output" text
}

@test "E110a a file that --pass-fd leaves open, which was opened for reading only" {
	echo text >"$SCRATCH/file"
	chmod 640 "$SCRATCH/file"
	local what before
	before=$(stat -c '%a %Y' "$SCRATCH/file")
	for what in fd-chmod fd-utimes fd-reopen fd-retruncate; do
		echo text >"$SCRATCH/control"
		run "$ATTEMPT" "$what" 9 9<"$SCRATCH/control"
		assert_equal "$output" OK
		run pen --pass-fd 9 -- "$ATTEMPT" "$what" 9 9<"$SCRATCH/file"
		[[ $output == @(EACCES|EROFS|EPERM|ENOENT) ]] || fail "$what inside: $output"
		assert_equal "$(stat -c '%a %Y' "$SCRATCH/file")" "$before"
	done
	assert_content "$SCRATCH/file" text
	printf 'first\nsecond\n' >"$SCRATCH/in"
	run sh -c '{ read -r line <&9; "$PINFOLD" run --pass-fd 9 -- cat <&9; } 9<"$SCRATCH/in"'
	assert_equal "$output" second
	run pen --pass-fd 9 -- sh -c 'echo more >&9' 9>>"$SCRATCH/in"
	assert_status 0
	assert_equal "$(tail -n 1 "$SCRATCH/in")" more
	rm "$SCRATCH/in"
	run sh -c 'exec 9<"$0"; rm "$0"; "$PINFOLD" run --pass-fd 9 -- cat <&9' "$SCRATCH/file"
	assert_equal "$output" text
}

@test "E110a what was opened for writing stays writable, at its place" {
	pen -- sh -c 'echo one; echo two >&2' >"$SCRATCH/out" 2>"$SCRATCH/err"
	assert_content "$SCRATCH/out" one
	assert_content "$SCRATCH/err" two
	pen -- echo three >>"$SCRATCH/out"
	assert_content "$SCRATCH/out" $'one\nthree'
	# The position is kept: two readers of one open file.
	printf 'first\nsecond\n' >"$SCRATCH/in"
	run sh -c '{ read -r line; "$PINFOLD" run -- cat; } <"$SCRATCH/in"'
	assert_equal "$output" second
}

@test "E075 variables that would make the launcher run code" {
	mkdir "$SCRATCH/evil"
	cat >"$SCRATCH/evil/program" <<-END
		#!/bin/sh
		touch '$SCRATCH/marker'
	END
	chmod +x "$SCRATCH/evil/program"
	local name
	for name in git bwrap newuidmap newgidmap sh fusermount ip mount; do
		ln -s program "$SCRATCH/evil/$name"
	done
	PATH="$SCRATCH/evil:$PATH" sh -c 'git; true'
	assert_exists "$SCRATCH/marker"
	rm "$SCRATCH/marker"
	BASH_ENV=$SCRATCH/evil/program bash -c true
	assert_exists "$SCRATCH/marker"
	rm "$SCRATCH/marker"

	printf 'not a library' >"$SCRATCH/evil/lib.so"
	run env PATH="$SCRATCH/evil:$PATH" BASH_ENV="$SCRATCH/evil/program" ENV="$SCRATCH/evil/program" \
		LD_PRELOAD="$SCRATCH/evil/lib.so" LD_AUDIT="$SCRATCH/evil/lib.so" LD_LIBRARY_PATH="$SCRATCH/evil" \
		GCONV_PATH="$SCRATCH/evil" TMPDIR="$SCRATCH/evil" GIT_DIR="$SCRATCH/evil" GIT_EXEC_PATH="$SCRATCH/evil" \
		GIT_SSH_COMMAND="$SCRATCH/evil/program" SHELL="$SCRATCH/evil/program" PAGER="$SCRATCH/evil/program" \
		"$PINFOLD" run -- bash -c 'touch ran'
	refute_exists "$SCRATCH/marker"
	assert_exists ran
}

@test "E103 no variable opens the pen" {
	local name value
	for name in PINFOLD_OFF PINFOLD_MODE PINFOLD_DISABLE PINFOLD_ACCEPT PINFOLD_CONFIG PINFOLD_BACKEND IS_SANDBOX \
		CLAUDE_CODE_SANDBOX SANDBOX; do
		for value in off 0 1; do
			export "$name=$value"
		done
	done
	export PINFOLD_MODE=off PINFOLD_STATUS='{"confined":true}' PINFOLD_CONFIG=/dev/null
	denied "touch '$SCRATCH/beside'"
	run pen -- sh -c "PINFOLD_MODE=off touch '$SCRATCH/beside.in'"
	refute_exists "$SCRATCH/beside.in"
}

@test "E103 a project's file cannot switch anything off" {
	echo '{"mode": "off", "accept": ["writes"], "write": ["/"], "env_mode": "all"}' >.pinfold.json
	export MY_TOKEN=canary
	denied "touch '$SCRATCH/beside'"
	denied 'test -n "$MY_TOKEN"'
	denied 'echo >>.pinfold.json'
}

@test "E106 words that look like options, and odd ones, are words" {
	printf '#!/bin/sh\nprintf "<%%s>" "$@"\n' >--bind
	chmod +x -- --bind
	run env PATH="$WORK:$PATH" "$PINFOLD" run -- --bind --write / $'a\nb' 'c d' '' "'" '"' "\$(touch ran)"
	assert_status 0
	assert_equal "$output" $'<--write></><a\nb><c d><><\'><"><$(touch ran)>'
	refute_exists ran
	run pen -- ./--bind -- -x
	assert_equal "$output" '<--><-x>'
	run sh -c '"$PINFOLD" run -- --worktree / touch ran || echo "status $?"'
	assert_output_has 'status 127'
	refute_exists ran
}

@test "E106 a worktree with blanks, quotes, a newline and bytes that are not UTF-8 in its name" {
	local dir=$SCRATCH/$'--bind a\'b"c,d\ne\\f:g\xff'
	mkdir -- "$dir"
	cd -- "$dir"
	allowed 'touch here'
	assert_exists here
	run pen -- sh -c 'touch ../beside'
	refute_exists "$SCRATCH/beside"
	run pen -- pwd
	assert_equal "$output" "$dir"
}
