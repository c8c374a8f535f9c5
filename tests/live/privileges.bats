# SPDX-License-Identifier: Apache-2.0
# privileges: no new privileges, no capabilities, a small system-call surface, no new namespaces. The calls one by one:
# tests/escape/syscalls.bats.
# shellcheck shell=bash disable=SC2154

load ../lib

# bats test_tags=core
@test "no_new_privs, no capabilities, a filter; a build's calls work" {
	run pen -- cat /proc/self/status
	local line
	for line in $'NoNewPrivs:\t1' $'Seccomp:\t2' $'CapPrm:\t0000000000000000' $'CapEff:\t0000000000000000' \
		$'CapBnd:\t0000000000000000' $'CapAmb:\t0000000000000000'; do
		assert_output_has "$line"
	done
	needs cc
	printf 'int main(void) { return 7; }\n' >main.c
	run pen -- sh -c 'cc -o main main.c && ./main'
	assert_status 7
}

@test "no new namespaces" {
	needs userns
	denied 'unshare --user true'
	denied 'unshare --user --map-root-user --mount true'
}

@test "no mounts (root)" {
	only_as root
	mkdir point
	denied 'mount -t tmpfs none point && umount point'
}

@test "E09A: a set-uid program gives nothing" {
	[ -u "$(command -v su)" ] || skip "needs su"
	run pen -- sh -c 'grep " / / " /proc/self/mountinfo | grep -c nosuid'
	assert_equal "$output" 1
	run pen -- awk '/NoNewPrivs/ { print $2 }' /proc/self/status
	assert_equal "$output" 1
}

@test "files that set an id cannot be made; ordinary modes can" {
	touch file
	denied 'chmod 4755 file'
	chmod 644 file
	allowed 'chmod 755 file && chmod 1777 . && install -m 600 file other'
}

@test "threads, processes, pipes, memory maps, timers, signals" {
	cat >work.py <<-'END'
		import mmap, multiprocessing, os, signal, socket, subprocess, tempfile, threading
		threads = [threading.Thread(target=lambda: None) for _ in range(4)]
		[t.start() for t in threads]; [t.join() for t in threads]
		with multiprocessing.Pool(2) as pool:
		    assert pool.map(abs, [-1, -2]) == [1, 2]
		assert subprocess.check_output(["echo", "x"]) == b"x\n"
		mmap.mmap(-1, 4096).write(b"x")
		signal.setitimer(signal.ITIMER_REAL, 10)
		a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
		os.memfd_create("x"); os.eventfd(0); os.pidfd_open(os.getpid())
		with tempfile.TemporaryFile() as f: f.write(b"x")
	END
	allowed 'python3 work.py'
}
