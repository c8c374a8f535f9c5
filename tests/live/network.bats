# SPDX-License-Identifier: Apache-2.0
# network: open or offline, with a loopback of its own. Loopback is the only network that the tests use.
# shellcheck shell=bash disable=SC2154

load ../lib

# bats test_tags=core
@test "open: the host's loopback is reached; offline: it is not (E080)" {
	listener inet
	allowed "$(connects "$PORT")"
	denied "$(connects "$PORT")" --offline
	denied "$(connects "$PORT")" --network offline
}

@test "open and offline by IPv6" {
	needs ipv6
	listener inet6
	allowed "$(connects "$PORT" ::1)"
	denied "$(connects "$PORT" ::1)" --offline
}

@test "E081: services of the host by every name of loopback, offline" {
	listener inet
	local address
	for address in 127.0.0.1 0.0.0.0 127.1.2.3; do
		[ "$address" = 127.1.2.3 ] || try_denied 'ECONNREFUSED|ENETUNREACH' --offline -- connect-tcp "$address" "$PORT"
		try_refused 'ECONNREFUSED|ENETUNREACH' --offline -- connect-tcp "$address" "$PORT"
	done
	denied "$(connects "$PORT" localhost)" --offline
	try_refused 'ECONNREFUSED|ENETUNREACH' --offline -- connect-tcp ::ffff:127.0.0.1 "$PORT"
}

@test "E080 E082 E083: offline, by other ways of sending" {
	cat >receive.py <<-'END'
		import socket, sys
		server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		server.bind(("127.0.0.1", 0))
		open(sys.argv[1] + ".port", "w").write(str(server.getsockname()[1]))
		while True:
		    server.recv(16)
		    open(sys.argv[1], "a").write("x")
	END
	spawn python3 receive.py "$SCRATCH/received"
	wait_for test -s "$SCRATCH/received.port"
	local port
	port=$(cat "$SCRATCH/received.port")
	try udp-send 127.0.0.1 "$port"
	wait_for grep -qx x "$SCRATCH/received"
	# UDP knows no answer: what counts is that nothing arrives.
	run pen --offline -- "$ATTEMPT" udp-send 127.0.0.1 "$port"
	try udp-send 127.0.0.1 "$port"
	wait_for grep -qx xx "$SCRATCH/received"
	listener inet
	run try connect-mptcp 127.0.0.1 "$PORT"
	[ "$output" = OK ] || return 0 # a kernel without it
	try_denied 'ECONNREFUSED|ENETUNREACH|EPROTONOSUPPORT|EPERM' --offline -- connect-mptcp 127.0.0.1 "$PORT"
}

@test "E083: offline, a connection that is opened by sending" {
	listener inet
	run try fastopen 127.0.0.1 "$PORT"
	[ "$output" = OK ] || skip "needs tcp-fast-open"
	try_denied 'ECONNREFUSED|ENETUNREACH|EPERM' --offline -- fastopen 127.0.0.1 "$PORT"
}

@test "E082: SCTP and SMC, where the kernel has them" {
	# Neither is in most kernels: what counts is that the pen does not have more than the machine.
	run try sctp-socket
	[[ $output == @(OK|EPROTONOSUPPORT|ESOCKTNOSUPPORT|EAFNOSUPPORT) ]] || fail "outside: $output"
	try_refused 'EAFNOSUPPORT|EPERM' -- smc-socket
	[ "$(try sctp-socket)" = OK ] || skip "needs sctp"
	listener inet
	try_refused 'ECONNREFUSED|ENETUNREACH' --offline -- connect-sctp 127.0.0.1 "$PORT"
}

@test "offline: nothing but loopback" {
	run pen --offline -- sh -c 'cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d " "'
	assert_equal "$output" lo
	# Addresses for documentation: nobody would be reached outside either, and inside there is not even a route.
	try_refused 'ENETUNREACH' --offline -- connect-tcp 192.0.2.1 9
	try_refused 'ENETUNREACH|EADDRNOTAVAIL' --offline -- connect-tcp 2001:db8::1 9
	try_refused 'ENETUNREACH' --offline -- udp-send 192.0.2.1 9
}

@test "offline: a loopback of its own, by IPv4 and IPv6, by name and by address" {
	cat >serve.py <<-'END'
		import socket, sys
		for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
		    if family == socket.AF_INET6 and sys.argv[1] != "ipv6":
		        continue
		    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
		        server = socket.socket(family, kind)
		        server.bind((address, 0))
		        client = socket.socket(family, kind)
		        if kind == socket.SOCK_STREAM:
		            server.listen()
		            client.connect(server.getsockname()[:2])
		            client.send(b"hello")
		            server = server.accept()[0]
		        else:
		            client.sendto(b"hello", server.getsockname()[:2])
		        assert server.recv(5) == b"hello"
		with socket.create_server(("127.0.0.1", 0)) as server:
		    socket.create_connection(("localhost", server.getsockname()[1])).close()
	END
	local version=ipv4
	grep -qs '^0\{31\}1 ' /proc/net/if_inet6 && version=ipv6
	allowed "python3 serve.py $version"
	allowed "python3 serve.py $version" --offline
	try_allowed --offline -- bind-tcp 127.0.0.1
	try_allowed --offline -- bind-tcp 0.0.0.0
}

@test "offline: ports are the pen's own" {
	listener inet
	cat >bind.py <<-'END'
		import socket, sys
		socket.create_server(("127.0.0.1", int(sys.argv[1]))).close()
	END
	run python3 bind.py "$PORT"
	[ "$status" -ne 0 ] || fail "bound twice outside"
	allowed "python3 bind.py $PORT" --offline
}


@test "open: a server inside is reached from the host" {
	spawn "$PINFOLD" run -- python3 "$PROJECT/tests/listen.py" inet "$WORK/told"
	wait_for test -s told
	run sh -c "$(connects "$(cat told)")"
	assert_status 0
}

@test "E08E: offline: a server inside is not reached from the host" {
	spawn "$PINFOLD" run --offline -- python3 "$PROJECT/tests/listen.py" inet "$WORK/told"
	wait_for test -s told
	run sh -c "$(connects "$(cat told)")"
	[ "$status" -ne 0 ] || fail "reached"
}

@test "E084 E085 E086 E088 E089 E08A E08C: the filtered network is not built, and nothing runs in its place" {
	run pen --network filtered -- touch ran
	assert_status 125
	assert_output_has filtered
	refute_exists ran
}

@test "the guarantee is not asked when open, held when offline" {
	run pen --plan -- true
	[[ $output =~ network\ +not_asked ]] || fail "$output"
	run pen --offline --plan -- true
	[[ $output =~ network\ +held ]] || fail "$output"
}

# ---- what the caller hands in ----

@test "a socket on a standard descriptor is the caller's doing, and is told of; a stream between two processes is not" {
	local record=$SCRATCH/record
	run python3 - "$PINFOLD" "$record" <<-'END'
		import json, socket, subprocess, sys
		def notes(stdin):
		    subprocess.run([sys.argv[1], "run", "--offline", "--record", sys.argv[2], "--", "true"], stdin=stdin, check=True)
		    record = json.load(open(sys.argv[2]))
		    return [any("hands the command a socket" in note for note in record["guarantees"][name]["notes"])
		            for name in ("network", "services")]
		assert notes(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) == [True, True]
		assert notes(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) == [True, True]
		assert notes(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]) == [True, True]
		assert notes(socket.socketpair()[0]) == [False, False]
		assert notes(subprocess.DEVNULL) == [False, False]
	END
	assert_status 0
}
