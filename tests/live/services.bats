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

@test "E056: abstract sockets of the host are not reached with the open network" {
	needs scopes
	listener abstract "pinfold-test-$$"
	try_denied 'EPERM|ECONNREFUSED' -- connect-abstract "pinfold-test-$$"
}

@test "E056: nor offline" {
	listener abstract "pinfold-test-$$"
	try_denied 'EPERM|ECONNREFUSED' --offline -- connect-abstract "pinfold-test-$$"
}

@test "E050 E056: datagrams, which need no connect" {
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

@test "E051: container engines below the home, and the variables that lead to them" {
	own_home
	local path
	for path in .docker/run/docker.sock .docker/desktop/docker.sock .colima/default/docker.sock .rd/docker.sock \
		.local/share/containers/podman/podman.sock; do
		mkdir -p "$HOME/${path%/*}"
		listener unix "$HOME/$path"
		try_denied 'EACCES|ECONNREFUSED|ENOENT' -- connect-unix "$HOME/$path"
	done
	export DOCKER_HOST=unix://$HOME/.docker/run/docker.sock CONTAINER_HOST=unix://$HOME/.rd/docker.sock
	denied 'test -n "$DOCKER_HOST$CONTAINER_HOST"'
}

@test "E052: the session's bus, where the variables say it is" {
	own_home
	mkdir -m 700 "$HOME/run"
	listener unix "$HOME/run/bus"
	export XDG_RUNTIME_DIR=$HOME/run DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/run/bus
	try_denied 'EACCES|ECONNREFUSED|ENOENT' -- connect-unix "$HOME/run/bus"
	denied 'test -n "$DBUS_SESSION_BUS_ADDRESS"'
	denied "test \"\$XDG_RUNTIME_DIR\" = '$HOME/run'"
}

@test "E053: a terminal multiplexer outside runs nothing for the command" {
	needs tmux
	spawn tmux -D -S "$SCRATCH/tmux" -f /dev/null
	wait_for tmux -S "$SCRATCH/tmux" run-shell true
	denied "tmux -S '$SCRATCH/tmux' run-shell true"
	export TMUX=$SCRATCH/tmux,$SPAWNED,0
	denied 'test -n "$TMUX"'
	run pen -- tmux -S "$SCRATCH/tmux" run-shell "touch '$SCRATCH/marker'"
	sleep 0.2
	refute_exists "$SCRATCH/marker"
	tmux -S "$SCRATCH/tmux" run-shell "touch '$SCRATCH/marker'"
	wait_for test -e "$SCRATCH/marker"
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

@test "--socket does not open the mode and the times of the socket (E002)" {
	listener unix "$SCRATCH/one"
	local script
	for script in "chmod 777 '$SCRATCH/one'" "touch -d 2001-01-01 '$SCRATCH/one'"; do
		denied "$script" --socket "$SCRATCH/one"
		chmod 700 "$SCRATCH/one"
		touch -d 2002-02-02 "$SCRATCH/one"
		run pen --socket "$SCRATCH/one" -- sh -c "$script"
		assert_equal "$(stat -c '%a %Y' "$SCRATCH/one")" "700 $(date -d 2002-02-02 +%s)"
	done
}

@test "--socket of a missing path is refused" {
	run pen --socket "$SCRATCH/missing" -- touch ran
	assert_status 125
	refute_exists ran
}

@test "E092: an end of a pair of sockets, which no socket() has made" {
	cat >receive.py <<-'END'
		import socket, sys, time
		server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		server.bind(sys.argv[1])
		open(sys.argv[2], "w").close()
		time.sleep(60)
	END
	local place
	for place in "$SCRATCH/service" "/tmp/pinfold-test-$$.datagrams"; do
		LEFTOVERS+=("$place")
		spawn python3 receive.py "$place" "$SCRATCH/ready"
		wait_for test -e "$SCRATCH/ready"
		rm "$SCRATCH/ready"
		try_denied 'EACCES|ECONNREFUSED|ENOENT|EPERM' -- pair-sendto-unix "$place"
		try_denied 'EACCES|ECONNREFUSED|ENOENT|EPERM' -- raw-pair-sendto-unix "$place"
	done
	allowed 'python3 -c "
import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.send(b\"x\")
assert b.recv(1) == b\"x\""'
}

@test "E058: what leads out of a Linux on Windows" {
	export WSL_INTEROP=/run/WSL/1_interop WSL_DISTRO_NAME=x WSLENV=PATH
	denied 'test -n "$WSL_INTEROP"'
	listener unix "$SCRATCH/1_interop"
	WSL_INTEROP=$SCRATCH/1_interop try_denied 'EACCES|ECONNREFUSED|ENOENT' -- connect-unix "$SCRATCH/1_interop"
	[ "$TEST_AS" = root ] && [ ! -e /run/WSL ] || return 0
	mkdir /run/WSL
	LEFTOVERS+=(/run/WSL)
	listener unix /run/WSL/1_interop
	try_denied ENOENT -- connect-unix /run/WSL/1_interop
}
