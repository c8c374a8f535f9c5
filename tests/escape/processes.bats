# SPDX-License-Identifier: Apache-2.0
# Other processes: seen, signalled, traced, changed; the pen's own init; what processes share.
# shellcheck shell=bash disable=SC2154

load ../lib

@test "E047 arguments and names of other programs" {
	victim
	denied "grep -qsFf '$SCRATCH/mark' /proc/[0-9]*/cmdline"
	denied "test -e /proc/$VICTIM/cmdline && grep -qFf '$SCRATCH/mark' /proc/$VICTIM/cmdline"
}

@test "E055 limits and priorities of other processes" {
	victim
	local what
	for what in prlimit affinity scheduler scheduling ioprio setpriority; do
		try_denied 'ESRCH|EPERM' -- "$what" "$VICTIM"
	done
	kill -0 "$VICTIM"
	allowed 'ulimit -c 0 && nice -n 5 true'
}

@test "E060 signals to other processes" {
	victim
	local what
	for what in kill tgkill sigqueue pidfd-signal; do
		try_denied 'ESRCH|EPERM' -- "$what" "$VICTIM" 0
	done
	# Everybody else that is in sight, by every number of the host.
	run pen -- sh -c "'$ATTEMPT' kill $VICTIM 9; '$ATTEMPT' kill -1 9"
	kill -0 "$VICTIM"
}

@test "E061 memory, descriptors and directories of other processes" {
	victim
	local what
	for what in ptrace-attach vm-read vm-write proc-mem; do
		try_denied 'ESRCH|EPERM|ENOENT|EACCES' -- "$what" "$VICTIM"
	done
	try_denied 'ESRCH|EPERM' -- pidfd-getfd "$VICTIM"
	for what in environ maps fd cwd root mem; do
		try_denied 'ENOENT|EACCES' -- stat "/proc/$VICTIM/$what"
	done
	allowed "'$ATTEMPT' wait x & '$ATTEMPT' ptrace-attach \$! && '$ATTEMPT' vm-read \$! && kill \$!"
}

@test "E063 the session's keyring" {
	run try with-key canary "$ATTEMPT" key-read canary
	[ "$output" = OK ] || fail "outside: $output"
	run try with-key canary "$PINFOLD" run -- "$ATTEMPT" key-read canary
	[[ $output == @(EPERM|ENOSYS|ENOKEY) ]] || fail "inside: $output"
	run try with-key canary "$PINFOLD" run -- "$ATTEMPT" key-request canary
	[[ $output == @(EPERM|ENOSYS|ENOKEY) ]] || fail "inside: $output"
}

@test "E064 cgroups" {
	local file
	for file in $(find /sys/fs/cgroup -maxdepth 2 \( -name cgroup.procs -o -name release_agent \) 2>/dev/null | head -n 20); do
		try_refused 'EROFS|EACCES|EPERM|ENOENT' -- open-write "$file"
	done
	run pen -- sh -c 'find /sys/fs/cgroup -type f -writable 2>/dev/null | while read -r file; do
		(exec 3>>"$file") 2>/dev/null && echo "$file"; done'
	assert_equal "$output" ''
}

@test "E067 two runs at once know nothing of each other" {
	MARK=mark-$$-$RANDOM$RANDOM
	printf '%s' "$MARK" >"$SCRATCH/mark"
	in_background "echo $MARK >/tmp/mark; echo $MARK >/dev/shm/mark; sleep 60 & '$ATTEMPT' wait $MARK & meet; kill %1 %2"
	wait_for test -e here
	run pen -- sh -c "ls -A /tmp /dev/shm; cat /tmp/mark /dev/shm/mark; grep -lsFf '$SCRATCH/mark' /proc/[0-9]*/cmdline"
	refute_output_has "$MARK"
	refute_output_has /proc/
	refute_output_has $'\nmark'
	go && finished
}

@test "E066 stragglers: a daemon that left its session, twice forked" {
	cat >daemon.py <<-'END'
		import os, sys, time
		if os.fork() == 0:
		    os.setsid()
		    if os.fork() == 0:
		        time.sleep(0.4)
		        open("late", "w").close()
		    os._exit(0)
	END
	python3 daemon.py
	wait_for test -e late
	rm late
	run pen -- python3 daemon.py
	assert_status 0
	sleep 0.7
	refute_exists late
}

@test "E066 stragglers after SIGKILL of pinfold" {
	spawn "$PINFOLD" run -- sh -c 'touch ready; (sleep 0.5; touch late) & setsid sh -c "sleep 0.5; touch late" & wait'
	wait_for test -e ready
	kill -KILL "$SPAWNED"
	sleep 0.8
	refute_exists late
}

@test "E076 the environment of the pen's init, and of everybody in sight" {
	export MY_TOKEN=canary-$RANDOM$RANDOM
	run sh -c 'tr "\0" "\n" </proc/$$/environ; tr "\0" "\n" </proc/self/environ'
	assert_output_has "$MY_TOKEN"
	run pen -- sh -c 'cat /proc/1/environ /proc/1/cmdline /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>&1'
	refute_output_has "$MY_TOKEN"
}

@test "E10D kill(0) does not reach the caller's process group" {
	cat >group <<-'END'
		sleep 60 & sibling=$!
		trap '' TERM USR1
		"$@"
		sleep 0.1 # until the shell has heard of the sibling's death
		kill -0 $sibling && echo alive
		kill $sibling
	END
	run setsid bash ./group sh -c 'trap "" TERM; kill -TERM 0'
	refute_output_has alive
	run setsid bash ./group "$PINFOLD" run -- sh -c 'kill -9 0'
	assert_output_has alive
	run setsid bash ./group "$PINFOLD" run -- "$ATTEMPT" kill 0 9
	assert_output_has alive
	# In the foreground of a terminal with something redirected, pinfold stays in the caller's group.
	run on_pty -- bash -c '. ./group | cat' group "$PINFOLD" run -- sh -c 'kill -9 0'
	assert_output_has alive
	run on_pty -- bash ./group "$PINFOLD" run -- sh -c 'kill -9 0'
	assert_output_has alive
}

@test "E10E the pen's init cannot be traced, read or entered" {
	victim
	try ptrace-attach "$VICTIM"
	try proc-mem "$VICTIM"
	try list "/proc/$VICTIM/fd"
	try_refused 'EPERM|EACCES' -- ptrace-attach 1
	try_refused 'EPERM|EACCES' -- ptrace-seize 1
	try_refused 'EPERM|EACCES' -- proc-mem 1
	try_refused 'EPERM|EACCES' -- vm-read 1
	try_refused 'EPERM|EACCES' -- pidfd-getfd 1
	try_refused 'EPERM|EACCES' -- list /proc/1/fd
	try_refused 'EPERM|EACCES' -- open-read /proc/1/environ
	try_refused 'EPERM|EACCES' -- open-read /proc/1/maps
	try_refused 'EPERM|EACCES' -- list /proc/1/root
	try_refused 'EPERM|EACCES' -- list /proc/1/cwd/
	try_refused 'EPERM|EACCES' -- open-read /proc/1/ns/mnt
}

@test "E10E the pen's init stands behind the same filter, without capabilities" {
	run pen -- cat /proc/1/status
	assert_output_has $'NoNewPrivs:\t1'
	assert_output_has $'Seccomp:\t2'
	assert_output_has $'CapEff:\t0000000000000000'
	assert_output_has $'CapBnd:\t0000000000000000'
}

@test "E10E the init of the pen takes no signal from the command" {
	run timeout 5 "$PINFOLD" run -- sh -c 'kill -9 1; kill -TERM 1; sleep 0.1; echo still'
	assert_status 0
	assert_output_has still
}
