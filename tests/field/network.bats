# SPDX-License-Identifier: Apache-2.0
# Names, servers on the loopback and lists of interfaces (catalogue F149 to F156, F184).
# shellcheck shell=bash disable=SC2154

load ../lib

# with_etc SCRIPT : runs it where /etc, /run and /var/opt are the test's own, and so is the network.
with_etc() {
	needs unshare ip
	mkdir -p "$SCRATCH/etc"
	cp /etc/passwd /etc/group /etc/hosts "$SCRATCH/etc/"
	cp -d /etc/ld.so.cache "$SCRATCH/etc/" || true
	cp -rd /etc/alternatives "$SCRATCH/etc/" || true
	echo 'hosts: files dns' >"$SCRATCH/etc/nsswitch.conf"
	local words=(unshare --net --mount)
	[ "$TEST_AS" = root ] || words=(unshare --user --map-current-user --keep-caps --net --mount)
	# shellcheck disable=SC2016 # for the inner shell
	run "${words[@]}" bash -c '
		mount --bind "$SCRATCH/etc" /etc && mount -t tmpfs none /run && mount -t tmpfs none /var/opt &&
			ip link set lo up || exit 99
		mkdir -p /run/systemd/resolve /var/opt/names || exit 99
		'"$1"
	assert_status 0
}

# A name server that knows every name below "there.example", and writes down what it was asked.
name_server() {
	cat >"$SCRATCH/names.py" <<-'END'
		import socket, sys
		server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		server.bind((sys.argv[1], 53))
		open(sys.argv[2], "w").close()
		while True:
		    asked, client = server.recvfrom(512)
		    with open(sys.argv[2], "ab") as out:
		        out.write(asked[12:] + b"\n")
		    end = asked.index(b"\0", 12) + 5
		    is_a = asked[end - 4:end - 2] == b"\0\1" and b"\5there\7example\0" in asked
		    answer = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4\x7f\0\0\x07" if is_a else b""
		    head = asked[:2] + (b"\x81\x80" if is_a or b"\5there\7example\0" in asked else b"\x81\x83")
		    server.sendto(head + b"\0\1\0" + bytes([is_a]) + b"\0\0\0\0" + asked[12:end] + answer, client)
	END
}

# quick COMMAND... : let try, it ends soon, and not well. Two tries of five seconds are what a resolver usually waits.
quick() {
	local start=$SECONDS
	run pen --offline --word-check off -- "$@"
	((status != 0 && (status < 125 || status > 127))) || fail "status $status: $output"
	((SECONDS - start < 4)) || fail "$((SECONDS - start)) seconds: $*"
}

@test "F149 F150 a resolv.conf that is a link, wherever it leads" {
	# shellcheck disable=SC2016
	with_etc 'for target in /run/systemd/resolve/stub-resolv.conf ../run/resolv.conf /var/opt/names/resolv.conf; do
			ln -sfn "$target" /etc/resolv.conf
			echo "nameserver 127.0.0.53 # $target" >"$(realpath -m "/etc/resolv.conf")" || exit 98
			"$PINFOLD" run -- cat /etc/resolv.conf | cmp - /etc/resolv.conf || exit 97
			"$PINFOLD" run --offline -- grep -qx "options timeout:0 attempts:1" /etc/resolv.conf || exit 96
		done
		for target in /run/missing /var/opt/missing/resolv.conf resolv.conf; do
			ln -sfn "$target" /etc/resolv.conf
			"$PINFOLD" run -- true || exit 95
			"$PINFOLD" run --offline -- grep -qx "options timeout:0 attempts:1" /etc/resolv.conf || exit 94
		done
		rm /etc/resolv.conf
		"$PINFOLD" run --offline -- sh -c "! test -e /etc/resolv.conf" || exit 93'
}

@test "F151 a name server on the loopback: asked with the open network, and not a word offline" {
	name_server
	# shellcheck disable=SC2016
	with_etc 'echo "nameserver 127.0.0.53" >/run/systemd/resolve/stub-resolv.conf
		ln -sfn /run/systemd/resolve/stub-resolv.conf /etc/resolv.conf
		python3 "$SCRATCH/names.py" 127.0.0.53 "$SCRATCH/asked" >/dev/null 2>&1 3>&- &
		trap "kill $!" EXIT
		while [ ! -e "$SCRATCH/asked" ]; do sleep 0.05; done
		getent hosts one.there.example | grep -q 127.0.0.7 || exit 98
		"$PINFOLD" run -- getent hosts two.there.example | grep -q 127.0.0.7 || exit 97
		"$PINFOLD" run --offline -- getent hosts three.there.example && exit 96
		"$PINFOLD" run --offline -- python3 -c "
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"four\", (\"127.0.0.53\", 53))"
		grep -aq two "$SCRATCH/asked" || exit 95
		! grep -aqE "three|four" "$SCRATCH/asked"'
}

@test "F151 offline, a name fails at once: getent, python, node, curl" {
	needs node
	quick getent hosts name.example.com
	quick python3 -c 'import socket; socket.getaddrinfo("name.example.com", 80)'
	quick node -e 'require("dns").lookup("name.example.com", e => process.exit(e ? 1 : 0))'
	quick node -e 'require("dns").resolve4("name.example.com", e => process.exit(e ? 1 : 0))'
	if command -v curl >/dev/null; then quick curl -sS http://name.example.com/; fi
	allowed 'getent hosts localhost && getent ahosts 127.0.0.1' --offline
}

# It asks all servers without connecting, so that nothing tells it that nobody is there.
@test "F151 offline, a name fails at once with musl's resolver" {
	needs musl-gcc
	cat >ask.c <<-'END'
		#include <netdb.h>
		int main(int argc, char **argv)
		{
			struct addrinfo *list;
			return argc != 2 || getaddrinfo(argv[1], "80", 0, &list) != 0;
		}
	END
	musl-gcc -static -o ask ask.c
	quick ./ask name.example.com
	allowed './ask localhost' --offline
}

@test "F151 the services that know names are not there" {
	local path
	for path in /run/nscd/socket /var/run/nscd/socket /run/systemd/resolve/io.systemd.Resolve \
		/run/avahi-daemon/socket /run/dbus/system_bus_socket; do
		try_refused ENOENT --offline -- connect-unix "$path"
		try_refused ENOENT -- connect-unix "$path"
	done
}

@test "F152 F155 offline, servers at every address of the loopback, and their clients, in one command" {
	needs ipv6
	cat >serve.py <<-'END'
		import socket, threading

		def meet(listen_at, ask_at, dual=False):
		    family = socket.AF_INET6 if ":" in listen_at else socket.AF_INET
		    with socket.socket(family) as server:
		        if dual:
		            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
		        server.bind((listen_at, 0))
		        server.listen()
		        for address in ask_at:
		            client = socket.create_connection((address, server.getsockname()[1]), 5)
		            accepted = server.accept()[0]
		            client.sendall(b"hello")
		            assert accepted.recv(5, socket.MSG_WAITALL) == b"hello", (listen_at, address)
		            accepted.close(), client.close()

		meet("127.0.0.1", ["127.0.0.1", "localhost", "::ffff:127.0.0.1"])
		meet("127.9.9.9", ["127.9.9.9"])
		meet("0.0.0.0", ["127.0.0.1", "127.0.0.2", "0.0.0.0"])
		meet("::1", ["::1"])
		meet("::ffff:127.0.0.1", ["127.0.0.1", "::ffff:127.0.0.1"], True)
		meet("::", ["::1", "127.0.0.1", "::ffff:127.0.0.1"], True)
	END
	allowed 'python3 serve.py'
	allowed 'python3 serve.py' --offline
}

@test "F152 offline, a server of node's and its client in one command" {
	needs node ipv6
	cat >serve.js <<-'END'
		const http = require("http");
		const places = [["127.0.0.1"], ["::1"], [undefined, "127.0.0.1"], [undefined, "::1"], ["localhost"]];
		const next = () => {
			const [host, ask = host] = places.shift() || process.exit(0);
			const server = http.createServer((_, answer) => answer.end("hello")).listen({ port: 0, host }, () =>
				http.get({ host: ask, port: server.address().port }, (got) => {
					got.resume().on("end", () => server.close(next));
				}).on("error", (error) => { console.error(host, error); process.exit(1); }));
		};
		next();
	END
	allowed 'node serve.js'
	allowed 'node serve.js' --offline
}

@test "F155 F156 offline, what a Java program does on the loopback" {
	needs java ipv6
	cat >Serve.java <<-'END'
		import java.net.*;

		class Serve {
		    static void meet(ServerSocket server, String ask) throws Exception {
		        try (server; Socket client = new Socket(ask, server.getLocalPort()); Socket accepted = server.accept()) {
		            client.getOutputStream().write(7);
		            if (accepted.getInputStream().read() != 7)
		                throw new Exception(ask);
		        }
		    }

		    public static void main(String[] words) throws Exception {
		        for (String at : new String[] { "127.0.0.1", "::1", "::ffff:127.0.0.1" })
		            meet(new ServerSocket(0, 1, InetAddress.getByName(at)), at);
		        meet(new ServerSocket(0), "localhost");
		        meet(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()), "127.0.0.1");
		        if (NetworkInterface.networkInterfaces().noneMatch(i -> i.getName().equals("lo")))
		            throw new Exception("no interface");
		    }
		}
	END
	allowed 'java -Xint Serve.java'
	allowed 'java -Xint Serve.java' --offline
}

@test "F153 a port that is taken on the host is free offline, and what is refused is not called taken" {
	cat >bind.py <<-'END'
		import errno, socket, sys
		try:
		    socket.create_server(("127.0.0.1", int(sys.argv[1]))).close()
		    print("bound")
		except OSError as error:
		    print(errno.errorcode[error.errno])
	END
	listener inet
	run python3 bind.py "$PORT"
	assert_equal "$output" EADDRINUSE
	run pen --offline -- python3 bind.py "$PORT"
	assert_equal "$output" bound
	# Where there is no loopback the error is another one, and the readout says why.
	run pen --backend landlock --mode auto --quiet --offline -- python3 bind.py 0
	[[ $output != EADDRINUSE && $output != bound ]] || fail "$output"
	run pen --backend landlock --offline --plan --reach 1 -- true
	assert_output_has 'there is no loopback: a server on 127.0.0.1 cannot be started'
	assert_output_has 'no port is reached or published: there is no loopback to carry them to'
}

@test "F156 the list of interfaces, open and offline" {
	needs ip node
	local list='python3 -c "import socket; assert \"lo\" in [name for _, name in socket.if_nameindex()]" &&
		node -e "process.exit(require(\"os\").networkInterfaces().lo ? 0 : 1)" && ip addr >/dev/null && ip route >/dev/null'
	allowed "$list"
	allowed "$list" --offline
}

@test "F184 the managers of services and buses start nothing outside" {
	needs systemd-run busctl
	cat >count.py <<-'END'
		import os, select, socket, sys
		servers = []
		for path in sys.argv[2:]:
		    os.makedirs(os.path.dirname(path), exist_ok=True)
		    servers.append(socket.socket(socket.AF_UNIX))
		    servers[-1].bind(path)
		    servers[-1].listen()
		open(sys.argv[1], "w").close()
		while True:
		    for server in select.select(servers, [], [])[0]:
		        server.accept()[0].close()
		        open(sys.argv[1], "a").write("x")
	END
	own_home
	mkdir -m 700 "$HOME/run"
	export XDG_RUNTIME_DIR=$HOME/run DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/run/bus
	spawn python3 count.py "$SCRATCH/count" "$HOME/run/bus" "$HOME/run/systemd/private"
	wait_for test -e "$SCRATCH/count"
	local line lines=('systemd-run --user --collect true' 'systemctl --user start x' 'busctl --user list')
	! command -v gdbus >/dev/null || lines+=('gdbus call -e -d a.b -o / -m a.b.c')
	for line in "${lines[@]}"; do
		: >"$SCRATCH/count"
		run sh -c "$line"
		wait_for test -s "$SCRATCH/count" || fail "outside, nobody was spoken to: $line"
		: >"$SCRATCH/count"
		run pen --env XDG_RUNTIME_DIR --env DBUS_SESSION_BUS_ADDRESS -- sh -c "$line"
		[ "$status" -ne 0 ] || fail "$line: $output"
		[ ! -s "$SCRATCH/count" ] || fail "spoken to: $line"
	done
}
