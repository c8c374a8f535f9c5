# SPDX-License-Identifier: Apache-2.0
# services: no service of the host is reached by a unix socket; our own sockets work.
# shellcheck shell=bash disable=SC2154

load ../lib

# bats test_tags=core
@test "a socket in the home is not reached, one of our own is" {
	listener unix "$SCRATCH/service"
	try_denied 'EACCES|ECONNREFUSED|ENOENT' -- connect-unix "$SCRATCH/service"
	cat >own.py <<-END
		import socket
		for name in ("own.sock", "/tmp/own.sock", "\0own"):
		    server = socket.socket(socket.AF_UNIX); server.bind(name); server.listen()
		    client = socket.socket(socket.AF_UNIX); client.connect(name); client.send(b"hello")
		    assert server.accept()[0].recv(5) == b"hello"
	END
	allowed 'python3 own.py'
	rm own.sock
	allowed 'python3 own.py' --offline
}

@test "E050: sockets in /tmp and /var/tmp are not there" {
	local place
	for place in /tmp /var/tmp; do
		LEFTOVERS+=("$place/pinfold-test-$$.sock")
		listener unix "$place/pinfold-test-$$.sock"
		try_denied ENOENT -- connect-unix "$place/pinfold-test-$$.sock"
	done
}

@test "E050: sockets in /run are not there (root)" {
	only_as root
	LEFTOVERS+=("/run/pinfold-test-$$.sock")
	listener unix "/run/pinfold-test-$$.sock"
	try_denied ENOENT -- connect-unix "/run/pinfold-test-$$.sock"
	try_denied 'ENOENT' -- connect-unix "/var/run/pinfold-test-$$.sock"
	run pen -- find /run -type s
	assert_equal "$output" ''
}

@test "E044: a socket that the host binds during the run in the home" {
	in_background "meet; '$ATTEMPT' connect-unix '$SCRATCH/service'"
	wait_for test -e here
	listener unix "$SCRATCH/service"
	run try connect-unix "$SCRATCH/service"
	assert_equal "$output" OK
	go && finished
	[[ $(cat said) == @(EACCES|ECONNREFUSED|ENOENT) ]] || fail "inside: $(cat said)"
}

@test "E051: abstract sockets of the host are not reached with the open network" {
	needs scopes
	listener abstract "pinfold-test-$$"
	try_denied 'EPERM|ECONNREFUSED' -- connect-abstract "pinfold-test-$$"
}

@test "E051: nor offline" {
	listener abstract "pinfold-test-$$"
	try_denied 'EPERM|ECONNREFUSED' --offline -- connect-abstract "pinfold-test-$$"
}

@test "E052: datagrams, which need no connect" {
	cat >receive.py <<-'END'
		import socket, sys, time
		held = []
		for name in sys.argv[1:3]:
		    held.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
		    held[-1].bind(name.replace("@", "\0"))
		open(sys.argv[3], "w").close()
		time.sleep(60)
	END
	spawn python3 receive.py "$SCRATCH/log" "@pinfold-test-$$" "$SCRATCH/bound"
	wait_for test -e "$SCRATCH/bound"
	try_denied 'EACCES|ECONNREFUSED|ENOENT' -- sendto-unix "$SCRATCH/log"
	needs scopes
	try_denied 'EPERM|ECONNREFUSED' -- sendto-abstract "pinfold-test-$$"
}

@test "--socket opens this socket, and no other; the record names it" {
	listener unix "$SCRATCH/one"
	listener unix "$SCRATCH/two"
	try_denied 'EACCES|ECONNREFUSED|ENOENT' --socket "$SCRATCH/one" -- connect-unix "$SCRATCH/two"
	try_allowed --socket "$SCRATCH/one" -- connect-unix "$SCRATCH/one"
	LEFTOVERS+=("/tmp/pinfold-test-$$.sock")
	listener unix "/tmp/pinfold-test-$$.sock"
	try_allowed --socket "/tmp/pinfold-test-$$.sock" -- connect-unix "/tmp/pinfold-test-$$.sock"
}

@test "--socket of a missing path is refused" {
	run pen --socket "$SCRATCH/missing" -- touch ran
	assert_status 125
	refute_exists ran
}
