# SPDX-License-Identifier: Apache-2.0
# limits: time, memory, processes and temp size, as asked. Small and bounded loads only.
# shellcheck shell=bash disable=SC2154

load ../lib

# bats test_tags=core
@test "E110 --time: 124, and the tree is dead" {
	run pen --time 300ms -- sh -c '(sleep 0.8; touch late) & setsid sh -c "sleep 0.8; touch late" & sleep 60'
	assert_status 124
	sleep 0.8
	refute_exists late
	run pen --time 10s -- sh -c 'exit 5'
	assert_status 5
}

@test "E110 --time: a command that ends in time on the signal is still told from one that did not" {
	run pen --time 200ms --record "$SCRATCH/record" -- sh -c 'trap "exit 0" TERM; sleep 60 & wait'
	assert_status 124
	grep -q '"timed_out": *true' "$SCRATCH/record"
}

@test "E110 --time: one that ignores the signal is killed two seconds later" {
	SECONDS=0
	run pen --time 100ms -- sh -c 'trap "" TERM; sleep 10 & sleep 10; sleep 10'
	assert_status 124
	[ "$SECONDS" -le 4 ] || fail "after $SECONDS seconds"
}

@test "E110 --processes" {
	cat >many.py <<-'END'
		import subprocess, sys
		started = []
		try:
		    for _ in range(40):
		        started.append(subprocess.Popen(["sleep", "5"]))
		except OSError:
		    pass
		for process in started:
		    process.kill()
		sys.exit(len(started) < 40)
	END
	denied 'python3 many.py' --processes 20 --accept limits
	allowed 'python3 many.py' --processes 100 --accept limits
	allowed 'true | true | true' --processes 20 --accept limits
}

@test "E110 --tmp-size: one size for all temporary places" {
	denied 'dd if=/dev/zero of=/tmp/pinfold-test.'$$' bs=64k count=32 2>/dev/null && rm /tmp/pinfold-test.'$$ --tmp-size 1M
	rm -f "/tmp/pinfold-test.$$"
	allowed 'dd if=/dev/zero of=/tmp/file bs=64k count=8' --tmp-size 1M
	denied 'd=$(mktemp -d) e=$(mktemp -d -p /dev/shm); dd if=/dev/zero of=$d/x bs=64k count=12 2>/dev/null &&
		dd if=/dev/zero of=$e/x bs=64k count=12 2>/dev/null; s=$?; rm -r $d $e; exit $s' --tmp-size 1M
}

@test "E110 --memory" {
	local much='python3 -c "x = bytearray(200 << 20)"'
	denied "$much" --memory 100M --accept limits
	allowed "$much" --memory 1G --accept limits
	allowed 'python3 -c "x = bytearray(10 << 20)"' --memory 100M --accept limits
}

@test "a limit that is only held in part has to be accepted; none takes it back" {
	run pen --memory 100M -- true
	# Held by a cgroup where there is one of our own, else weaker.
	[[ $status == @(0|125) ]] || fail "status $status: $output"
	[ "$status" -eq 0 ] || assert_output_has limits
	run pen --time 1s --time none -- sleep 1.2
	assert_status 0
}
