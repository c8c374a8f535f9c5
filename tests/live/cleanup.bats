# SPDX-License-Identifier: Apache-2.0
# cleanup: when the run ends nothing of it is still alive, and no file of ours is left.
# shellcheck shell=bash disable=SC2154

load ../lib

# Everything of a test has MARK on its command line (victim in lib.bash looks for it).
new_mark() {
	MARK=mark-$$-$RANDOM$RANDOM$RANDOM
	printf '%s' "$MARK" >"$SCRATCH/mark"
}

# What a run could leave: names in the worktree, the home, and the places for temporary files, but for other tests'.
places() {
	find "$SCRATCH" | sort
	find /tmp /var/tmp /dev/shm /run -maxdepth 1 -user "$(id -u)" -name '*pinfold*' ! -name 'pinfold-test*' \
		! -name 'pinfold-policy-*' 2>/dev/null | sort
	cut -d ' ' -f 5 /proc/self/mountinfo
}

# bats test_tags=core
@test "E066: a daemon in its own session ends with the run, which does not wait for it" {
	new_mark
	setsid "$ATTEMPT" wait "$MARK" >pid 3>&- &
	wait_for is_marked && wait_for test -s pid
	kill "$(cut -d' ' -f2 pid)" && wait_for is_unmarked
	SECONDS=0
	run pen -- sh -c "setsid '$ATTEMPT' wait $MARK >/dev/null 2>&1 & sleep 0.1; grep -qsa $MARK /proc/\$!/cmdline"
	assert_status 0
	[ "$SECONDS" -lt 5 ] || fail "it waited"
	run is_unmarked
	assert_status 0
}

@test "E066: a daemon that forked twice, and one that ignores every signal" {
	new_mark
	cat >daemons.py <<-'END'
		import os, signal, sys
		for ignores in (False, True):
		    if os.fork() == 0:
		        os.setsid()
		        if os.fork() == 0:
		            if ignores:
		                for number in range(1, 32):
		                    try: signal.signal(number, signal.SIG_IGN)
		                    except OSError: pass
		            os.execv(sys.argv[1], [sys.argv[1], "wait", sys.argv[2]])
		        os._exit(0)
	END
	run pen -- python3 daemons.py "$ATTEMPT" "$MARK"
	assert_status 0
	run is_unmarked
	assert_status 0
}

@test "E066: a tree that goes on forking" {
	new_mark
	cat >tree.sh <<-'END'
		[ "$2" -gt 40 ] && exit
		sleep 0.02
		sh ./tree.sh "$1" $(($2 + 1)) &
		sh ./tree.sh "$1" $(($2 + 20)) &
		touch started
	END
	run pen -- sh -c "sh ./tree.sh $MARK 0 & while [ ! -e started ]; do sleep 0.01; done; sleep 0.1"
	assert_status 0
	run is_unmarked
	assert_status 0
}

@test "E066: SIGKILL of pinfold leaves no process and no file" {
	new_mark
	pen -- true # makes the private caches
	local before after
	cat >job.sh <<-END
		trap '' TERM HUP INT
		setsid '$ATTEMPT' wait $MARK &
		'$ATTEMPT' wait $MARK &
		echo >/tmp/file; echo >/dev/shm/file
		touch ready; wait
	END
	touch ready
	before=$(places)
	rm ready
	spawn "$PINFOLD" run -- sh ./job.sh
	wait_for test -e ready
	wait_for is_marked
	kill -KILL "$SPAWNED"
	wait_for is_unmarked
	after=$(places)
	assert_equal "$after" "$before"
}

@test "SIGTERM, SIGHUP and SIGINT of pinfold end the run with their status" {
	local name
	for name in TERM HUP INT; do
		new_mark
		rm -f ready
		# A shell's background job ignores SIGINT from birth, and so would the command.
		spawn env --default-signal=INT "$PINFOLD" run -- sh -c "touch ready; exec '$ATTEMPT' wait $MARK"
		wait_for test -e ready
		wait_for is_marked
		kill -"$name" "$SPAWNED"
		run wait "$SPAWNED"
		wait_for is_unmarked
	done
}

@test "no file is left behind, whatever ends the run" {
	new_repo
	mkdir .vscode
	pen -- true
	local before command
	before=$(places)
	for command in true 'exit 3' 'kill -9 $$' 'echo x >/tmp/x' 'exec missing-command' ./missing-command; do
		run sh -c '"$PINFOLD" run -- sh -c "$1"; true' - "$command"
	done
	run pen --worktree / -- true
	run pen --time 50ms -- sleep 5
	assert_equal "$(places)" "$before"
	assert_equal "$(git status --porcelain --ignored)" ''
}

@test "the output of the command is complete before pinfold ends" {
	run pen -- sh -c 'seq 20000; echo end >&2'
	assert_equal "$(printf '%s\n' "$output" | wc -l)" 20001
}

@test "a reader that waits for the end of the output is not kept by a daemon" {
	run timeout 5 sh -c '"$PINFOLD" run -- sh -c "sleep 60 & echo text" | cat'
	assert_status 0
	assert_equal "$output" text
}
