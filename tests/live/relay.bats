# SPDX-License-Identifier: Apache-2.0
# --reach and --publish: ports of the loopback, between the host and a pen that is offline.
# shellcheck shell=bash disable=SC2154

load ../lib

# server KIND [ADDRESS [PORT]] : a server of the host's; its port in PORT, its file in TOLD.
server() {
	TOLD=$SCRATCH/server.$RANDOM
	spawn python3 "$PROJECT/tests/peer.py" serve "$1" "${2:-127.0.0.1}" "${3:-0}" "$TOLD"
	wait_for test -s "$TOLD" && PORT=$(cat "$TOLD")
}

# asks KIND PORT [ADDRESS [WORD...]] : a shell script for allowed and denied.
asks() {
	printf 'python3 %q ask %q %q %q' "$PROJECT/tests/peer.py" "$1" "${3:-127.0.0.1}" "$2"
	shift $(($# < 3 ? $# : 3))
	[ $# -eq 0 ] || printf ' %q' "$@"
}

# ask KIND PORT [ADDRESS [WORD...]] : the same here and now, from the host.
ask() {
	run sh -c "$(asks "$@")"
	assert_status 0
}

# A run that publishes: a server inside, that is waited for.
server_inside() { # HOST-PORT KIND [ADDRESS [OPTION...]]
	local publish=$1 kind=$2 address=${3:-127.0.0.1}
	shift $(($# < 3 ? $# : 3))
	rm -f told
	spawn "$PINFOLD" run --offline --publish "$publish" "$@" -- \
		python3 "$PROJECT/tests/peer.py" serve "$kind" "$address" "${publish#*:}" "$WORK/told"
	wait_for test -s told
}

# A port that nobody has now.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# relays PID : the relays of this run.
relays() {
	local status
	for status in /proc/[0-9]*/status; do
		grep -qs '^Name:.pinfold-relay$' "$status" && grep -qs "^PPid:.$1\$" "$status" &&
			status=${status%/status} && printf '%s\n' "${status#/proc/}"
	done
	return 0
}

has_relay() { [ -n "$(relays "$1")" ]; }
wait_long() { wait_for "$@" || wait_for "$@" || wait_for "$@" || wait_for "$@"; }
field_of() { sed -n "s/^$2:[[:blank:]]*//p" "/proc/$1/status"; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }

# bats test_tags=core
@test "F161 reach: this port of the host's loopback, at the same address" {
	listener inet
	denied "$(connects "$PORT")" --offline
	allowed "$(connects "$PORT")" --offline --reach "$PORT"
	allowed "$(connects "$PORT" localhost)" --offline --reach "$PORT"
	allowed "$(connects "$PORT" ::ffff:127.0.0.1)" --offline --reach "$PORT"
}

# bats test_tags=core
@test "E081 reach: no other port, and no other address of the host's loopback" {
	local reached other
	listener inet
	reached=$PORT
	listener inet
	denied "$(connects "$PORT")" --offline --reach "$reached"
	# The same number at another address.
	server echo 127.0.0.2 "$reached"
	denied "$(asks echo "$reached" 127.0.0.2)" --offline --reach "$reached"
	# What listens at another address only is not what the port leads to.
	server echo 127.0.0.2
	other=$PORT
	denied "$(asks echo "$other" 127.0.0.2)" --offline --reach "$other"
	allowed "$(asks closed "$other")" --offline --reach "$other"
	try_refused ECONNREFUSED --offline --reach "$other" -- connect-tcp 127.0.0.3 "$other"
	try_refused 'ECONNREFUSED|ENETUNREACH' --offline --reach "$other" -- connect-tcp 192.0.2.1 "$other"
}

@test "reach: nothing but TCP passes (E083)" {
	server echo
	run pen --offline --reach "$PORT" -- python3 -c '
import socket, sys
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.connect(("127.0.0.1", int(sys.argv[1])))
client.send(b"x")
try:
    client.recv(1)
except ConnectionRefusedError:
    print("refused")' "$PORT"
	assert_equal "$output" refused
}

@test "reach: the host's port first, and the pen's may be one that is root's" {
	server echo
	allowed "$(asks echo 80)" --offline --reach "$PORT:80"
	try_refused ECONNREFUSED --offline --reach "$PORT:80" -- connect-tcp 127.0.0.1 "$PORT"
	local first=$PORT
	server count
	allowed "$(asks echo 1) && $(asks count 2 127.0.0.1 1000)" --offline --reach "$first:1" --reach "$PORT:2"
}

@test "reach by IPv6: the host's ::1, else its 127.0.0.1, as a client without a relay would have it" {
	needs ipv6
	server echo
	allowed "$(asks echo "$PORT" ::1)" --offline --reach "$PORT"
	server echo ::1
	allowed "$(asks echo "$PORT" ::1)" --offline --reach "$PORT"
	# Not the other way round: somebody else may sit at ::1.
	allowed "$(asks closed "$PORT")" --offline --reach "$PORT"
}

@test "reach: a port where nobody listens ends the connection at once; a server that comes later is found" {
	local port
	port=$(free_port)
	allowed "$(asks closed "$port")" --offline --reach "$port"
	in_background "meet; $(asks echo "$port") && echo reached" --offline --reach "$port"
	server echo 127.0.0.1 "$port"
	go
	finished
	assert_equal "$(cat said)" reached
}

@test "F154 publish: a server inside, from the host, wherever it listens" {
	local port address
	port=$(free_port)
	for address in 127.0.0.1 0.0.0.0 ::1 ::; do
		[[ "$address" != *:* ]] || grep -qs '^0\{31\}1 ' /proc/net/if_inet6 || continue
		server_inside "$port" echo "$address"
		ask echo "$port"
		kill "$SPAWNED" && wait "$SPAWNED" || true
	done
	server_inside "$port:8080" echo
	ask echo "$port"
}

@test "E08E publish: bound to 127.0.0.1 and to nothing else" {
	local port hex
	port=$(free_port)
	server_inside "$port" echo 0.0.0.0
	ask echo "$port"
	try connect-tcp 127.0.0.1 "$port"
	run try connect-tcp 127.0.0.2 "$port"
	assert_equal "$output" ECONNREFUSED
	# By the kernel's own list, where 0A is a socket that listens.
	hex=$(printf ':%04X' "$port")
	run awk -v port="$hex\$" '$2 ~ port && $4 == "0A" { print $2 }' /proc/net/tcp /proc/net/tcp6
	assert_equal "$output" "0100007F$hex"
}

@test "publish: a busy port is an error before anything runs" {
	server echo
	run pen --offline --publish "$PORT:80" -- touch ran
	assert_status 125
	assert_equal "$output" "pinfold: cannot publish port '$PORT:80': Address already in use"
	[ ! -e ran ] || fail "the command ran"
	# What was opened before it is open no longer.
	local port
	port=$(free_port)
	run pen --offline --publish "$port" --publish "$PORT" -- touch ran
	assert_status 125
	run try connect-tcp 127.0.0.1 "$port"
	assert_equal "$output" ECONNREFUSED
}

@test "publish: where nobody listens inside the connection ends at once" {
	local port
	port=$(free_port)
	in_background meet --offline --publish "$port"
	wait_for test -e here
	ask closed "$port"
	go
	finished
}

@test "half-closes and resets are passed on, both ways" {
	server echo
	allowed "$(asks echo "$PORT")" --offline --reach "$PORT"
	server reset
	allowed "$(asks reset "$PORT")" --offline --reach "$PORT"
	server keep
	allowed "$(asks rude "$PORT")" --offline --reach "$PORT"
	wait_for test -s "$TOLD.got"
	assert_equal "$(cat "$TOLD.got")" reset
	local port
	port=$(free_port)
	server_inside "$port" reset
	ask reset "$port"
	port=$(free_port)
	server_inside "$port:8080" keep
	ask rude "$port"
	wait_for test -s told.got
	assert_equal "$(cat told.got)" reset
}

@test "what was sent before the end of the run arrives, however much that is" {
	server keep
	local i
	for i in 1 2 3 4 5; do
		allowed "$(asks say "$PORT" 127.0.0.1 "$i")" --offline --reach "$PORT"
	done
	wait_for test "$(cat "$TOLD.got")" = 12345
	# All that fits into the buffers on the way.
	spawn python3 "$PROJECT/tests/peer.py" serve late 127.0.0.1 0 "$WORK/late"
	wait_for test -s late
	PORT=$(cat late)
	allowed "$(asks fill "$PORT" 127.0.0.1 late)" --offline --reach "$PORT"
	wait_for test -s late.got
	assert_equal "$(cat late.got)" "$(cat late.sent)"
}

# Not so many in the kernel's own queues that all of it would fit there.
@test "back-pressure: a reader that does not read stops its writer, and nobody else" {
	server deaf
	local deaf=$PORT memory
	server echo
	run pen --offline --reach "$deaf" --reach "$PORT" -- sh -c "
		$(asks full "$deaf") && $(asks echo "$PORT")"
	assert_status 0
	((output < 64 << 20)) || fail "$output bytes are on their way"
	in_background "$(asks full "$deaf"); meet" --offline --reach "$deaf"
	wait_for test -e here
	memory=$(field_of "$(relays "$SPAWNED")" RssAnon)
	((${memory% kB} < 8192)) || fail "$memory"
	go
	finished
}

@test "a thousand connections at once, by a small process" {
	local memory
	(($(ulimit -Hn) >= 4096)) || skip "needs 4096 descriptors"
	ulimit -n 4096
	server echo
	in_background "$(asks many "$PORT" 127.0.0.1 1000) && echo all; meet" --offline --reach "$PORT"
	wait_long test -e here
	memory=$(field_of "$(relays "$SPAWNED")" VmHWM)
	((${memory% kB} < 24576)) || fail "$memory"
	go
	finished
	assert_equal "$(cat said)" all
}

@test "a gigabyte passes, and the relay does not grow" {
	local memory
	server count
	in_background "$(asks count "$PORT" 127.0.0.1 $((1 << 30))) && echo all; meet" --offline --reach "$PORT"
	wait_long test -e here
	memory=$(field_of "$(relays "$SPAWNED")" RssAnon)
	((${memory% kB} < 8192)) || fail "$memory"
	go
	finished
	assert_equal "$(cat said)" all
}

@test "few descriptors: who connects waits for one, and nothing spins" {
	local relay ticks
	server echo
	# Of 40 it needs 18 itself, and two for each connection: 11 at once, of 20.
	spawn sh -c 'ulimit -n 40 && exec "$@"' sh "$PINFOLD" run --offline --reach "$PORT" -- sh -c "
		{ $(asks queue "$PORT" 127.0.0.1 20) && echo all && $(asks hold "$PORT" 127.0.0.1 20)
		} >said 2>&1; touch finished"
	wait_for test -e holding
	relay=$(relays "$SPAWNED")
	ticks=$(awk '{ print $14 + $15 }' "/proc/$relay/stat")
	sleep 1
	((ticks = $(awk '{ print $14 + $15 }' "/proc/$relay/stat") - ticks)) || true
	((ticks < 20)) || fail "$ticks ticks of CPU in a second"
	finished
	assert_equal "$(cat said)" all
}

@test "the relays end with the run, and leave nothing" {
	local port relay
	port=$(free_port)
	server echo
	in_background meet --offline --publish "$port" --reach "$PORT"
	wait_for test -e here
	relay=$(relays "$SPAWNED")
	assert_equal "$(wc -w <<<"$relay")" 2
	go
	finished
	wait "$SPAWNED"
	for relay in $relay; do
		is_gone "$relay" || fail "$relay is still there"
	done
	run try connect-tcp 127.0.0.1 "$port"
	assert_equal "$output" ECONNREFUSED
}

@test "the relays end when pinfold is killed, and the port is free again" {
	local port relay
	port=$(free_port)
	server_inside "$port" echo
	relay=$(relays "$SPAWNED")
	[ -n "$relay" ] || fail "no relay"
	kill -KILL "$SPAWNED"
	wait "$SPAWNED" || true
	wait_for is_gone "$relay"
	server_inside "$port" echo
	ask echo "$port"
}

@test "a run without ports has no relay" {
	in_background meet --offline
	wait_for test -e here
	! has_relay "$SPAWNED" || fail "a relay"
	go
	finished
}

@test "the relays can do nothing else, and the command cannot reach them" {
	local port relay
	port=$(free_port)
	server echo
	in_background "ls -d /proc/[0-9]* | wc -l; cat /proc/[0-9]*/comm | grep -c relay; meet" \
		--offline --publish "$port:80" --reach "$PORT"
	wait_for test -e here
	for relay in $(relays "$SPAWNED"); do
		assert_equal "$(field_of "$relay" NoNewPrivs)" 1
		assert_equal "$(field_of "$relay" Seccomp)" 2
		assert_equal "$(field_of "$relay" CapEff)" 0000000000000000
		assert_equal "$(field_of "$relay" CapPrm)" 0000000000000000
		[ "$TEST_AS" = user ] || [ "$(field_of "$relay" Uid | cut -f1)" != 0 ] || fail "root's"
		# Not dumpable: its files belong to root.
		assert_equal "$(stat -c %u "/proc/$relay/status")" 0
		[ "$TEST_AS" = user ] || assert_equal "$(readlink "/proc/$relay/cwd")" /
	done
	go
	finished
	grep -qx 0 said || fail "$(cat said)"
}

@test "a limit of processes does not count the relay" {
	local port
	port=$(free_port)
	allowed 'sleep 0 & sleep 0 & wait' --offline --processes 3 --publish "$port"
}

@test "with the open network they change nothing, and config show says so" {
	server echo
	allowed "$(asks echo "$PORT")" --reach "$PORT" --publish "$PORT:80"
	run "$PINFOLD" config show --reach 5432 --publish 8080:80
	[[ $output =~ reach\ +5432\ +command\ line\ +\(no\ effect:\ the\ network\ is\ open\) ]] || fail "$output"
	[[ $output =~ publish\ +8080:80\ +command\ line\ +\(no\ effect:\ the\ network\ is\ open\) ]] || fail "$output"
	run "$PINFOLD" config show --offline --reach 5432 --publish 8080:80
	[[ $output =~ reach\ +5432\ +command\ line$'\n' ]] || fail "$output"
	run "$PINFOLD" config show --mode off --reach 5432
	assert_output_has '(no effect: mode is off)'
}

@test "a project's file opens no port, until it is trusted" {
	own_home
	server echo
	printf '{ "network": "offline", "reach": [%s] }\n' "$PORT" >.pinfold.json
	try_refused ECONNREFUSED -- connect-tcp 127.0.0.1 "$PORT"
	run "$PINFOLD" config show
	[[ $output =~ reach\ +\[$PORT\].*\(no\ effect:\ a\ project\'s\ file\ may\ only\ tighten ]] || fail "$output"
	"$PINFOLD" trust
	allowed "$(asks echo "$PORT")"
}

@test "wrong ports are one line each" {
	local words
	for words in '--reach 0' '--reach 65536' '--reach 80:' '--publish http' '--publish 127.0.0.1:80' '--publish -1'; do
		# shellcheck disable=SC2086
		run pen --offline $words -- touch ran
		assert_status 125
		assert_output_has "option '${words%% *}': '${words##* }' is"
	done
	run pen --offline --reach 80 --reach 81:80 -- touch ran
	assert_status 125
	assert_output_has "option '--reach': '81:80': port 80 inside is taken by reach '80'"
	run pen --offline --publish 80 --publish 80 -- touch ran
	assert_status 125
	assert_output_has "option '--publish': '80' stands here twice"
	[ ! -e ran ] || fail "the command ran"
}

@test "the readouts name the ports" {
	local port
	port=$(free_port)
	run pen --plan --offline --reach 5432:80 --publish "$port" -- true
	[[ $output =~ network\ +held\ +network\ namespace,\ port\ relay ]] || fail "$output"
	[[ $output =~ reach\ +5432:80 ]] || fail "$output"
	assert_output_has "port $port inside is reachable at the host's 127.0.0.1:$port, as asked"
	run pen --offline --reach 5432:80 --publish "$port" --record fd:4 -- "$PINFOLD" status 4>"$SCRATCH/record"
	assert_status 0
	assert_output_has 'reachable ports of the host (host:inside): 5432:80'
	assert_output_has "published ports (host:inside): $port"
	run python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["reach"], r["publish"])' "$SCRATCH/record"
	assert_equal "$output" "['5432:80'] ['$port']"
	run pen --offline --reach 5432:80 -- sh -c 'printf %s "$PINFOLD_STATUS"'
	assert_output_has '"reach":["5432:80"]'
}

@test "explain knows what is reached" {
	run "$PINFOLD" explain 127.0.0.1:80 --offline --reach 5432:80
	assert_status 0
	assert_output_has 'reach 5432:80 (command line)'
	local place
	for place in 127.0.0.1:5432 127.0.0.2:80 192.0.2.1:80; do
		run "$PINFOLD" explain "$place" --offline --reach 5432:80
		assert_status 1
	done
}
