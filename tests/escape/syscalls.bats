# SPDX-License-Identifier: Apache-2.0
# System calls that undo a pen, or are nothing but kernel surface.
# shellcheck shell=bash disable=SC2154

load ../lib

# next_line COMMAND... : on a new terminal, the command and then what the shell that comes next on the terminal reads.
next_line() {
	run on_pty -- bash -c '"$@"; if read -r -t 1 line; then echo "read <$line>"; else echo "read nothing"; fi' - "$@"
}

@test "E077 TIOCSTI types nothing into the terminal" {
	needs tiocsti
	next_line "$ATTEMPT" tiocsti
	assert_output_has 'read <echo TYPED>'
	next_line "$PINFOLD" run -- "$ATTEMPT" tiocsti
	assert_output_has EPERM
	assert_output_has 'read nothing'
}

@test "E077 nor through /dev/tty, or with the standard descriptors elsewhere" {
	needs tiocsti
	next_line sh -c "'$ATTEMPT' tiocsti </dev/tty >out 2>&1"
	assert_output_has 'read <echo TYPED>'
	next_line sh -c "'$PINFOLD' run -- sh -c \"'$ATTEMPT' tiocsti </dev/tty\" </dev/null >out 2>&1"
	assert_output_has 'read nothing'
	assert_content out EPERM
}

@test "E078 TIOCSTI with high bits, which the kernel does not look at" {
	needs tiocsti
	next_line "$ATTEMPT" tiocsti64
	assert_output_has 'read <echo TYPED>'
	next_line "$PINFOLD" run -- "$ATTEMPT" tiocsti64
	assert_output_has EPERM
	assert_output_has 'read nothing'
}

@test "E079 TIOCLINUX, TIOCSETD, TIOCCONS: refused before the kernel looks at the terminal" {
	run on_pty -- "$ATTEMPT" tiocsetd
	assert_output_has OK
	local words
	for words in 'tioclinux 2' 'tioclinux 3' tiocsetd tioccons; do
		# shellcheck disable=SC2086 # words
		run on_pty -- "$PINFOLD" run -- "$ATTEMPT" $words
		assert_output_has EPERM
		# shellcheck disable=SC2086
		try_refused EPERM -- $words
	done
}

@test "E07A what is printed reaches the terminal as it is, noted" {
	local copy='printf "\033]52;c;Y2FuYXJ5\a"' # asks the terminal to put a text into the clipboard
	run on_pty -- sh -c "$copy"
	assert_output_has ']52;c;Y2FuYXJ5'
	run on_pty -- "$PINFOLD" run -- sh -c "$copy"
	assert_output_has ']52;c;Y2FuYXJ5'
	noted terminal 'the terminal itself answers some escape sequences'
	# An answer that nobody has read is not typed into the shell that comes next.
	next_line sh -c 'printf "\033[6n"; sleep 0.2'
	run on_pty --expect ready --send 'echo TYPED\n' -- bash -c \
		'"$@"; if read -r -t 1 line; then echo "read <$line>"; else echo "read nothing"; fi' - sh -c 'echo ready; sleep 0.3'
	assert_output_has 'read <echo TYPED>'
	run on_pty --expect ready --send 'echo TYPED\n' -- bash -c \
		'"$@"; if read -r -t 1 line; then echo "read <$line>"; else echo "read nothing"; fi' - \
		"$PINFOLD" run -- sh -c 'echo ready; sleep 0.3'
	assert_output_has 'read nothing'
}

@test "E087 AF_VSOCK leaves every network namespace" {
	run try vsock
	[[ $output == @(OK|EAFNOSUPPORT) ]] || fail "outside: $output"
	try_refused 'EAFNOSUPPORT|EPERM' -- vsock
	try_refused 'EAFNOSUPPORT|EPERM' --offline -- vsock
}

@test "E08D socket families and types that are kernel surface" {
	try_denied 'EAFNOSUPPORT|EPERM' -- netlink-generic
	try_refused 'EAFNOSUPPORT|EPERM' -- packet-socket
	try_refused 'EAFNOSUPPORT|EPERM' -- raw-socket
	try_refused 'EAFNOSUPPORT|EPERM' -- alg-socket
	try_allowed -- netlink-route # getaddrinfo and ip need it
}

@test "E090 a filter, and no new privileges" {
	run cat /proc/self/status
	[[ $output == *$'NoNewPrivs:\t0'* ]] || skip "needs a machine without a pen around the tests"
	run pen -- cat /proc/self/status
	assert_output_has $'Seccomp:\t2'
	assert_output_has $'NoNewPrivs:\t1'
}

@test "E090 rare calls" {
	run try perf
	[[ $output == @(OK|EACCES|EPERM) ]] || fail "outside: $output"
	local what
	for what in bpf perf userfaultfd; do
		try_refused 'EPERM|ENOSYS' -- "$what"
	done
	[ "$TEST_AS" = user ] || try_denied 'EPERM|ENOSYS' -- bpf
}

@test "E091 io_uring" {
	run try io_uring
	[[ $output == @(OK|ENOSYS|EPERM) ]] || fail "outside: $output"
	try_refused 'ENOSYS|EPERM' -- io_uring
}

@test "E093 the 32-bit entry and x32" {
	needs x86_64
	run try int80
	[ "$output" = OK ] || skip "needs the 32-bit entry"
	run pen -- "$ATTEMPT" int80
	# Refused, or killed (SIGSYS).
	[[ $status -eq 159 || $output == @(ENOSYS|EPERM) ]] || fail "inside: $output (status $status)"
	run pen -- "$ATTEMPT" x32
	[[ $status -eq 159 || $output == @(ENOSYS|EPERM) ]] || fail "inside: $output (status $status)"
}

@test "E094 clone3, whose flags no filter can read" {
	needs userns
	try_denied ENOSYS -- clone3-userns
	try_denied ENOSYS -- clone3
	try_denied EPERM -- clone-userns
	allowed 'python3 -c "import threading as t; x = t.Thread(target=print); x.start(); x.join()"'
}

@test "E095 calls that came later" {
	try_refused ENOSYS -- syscall 9999
	try_refused ENOSYS -- syscall 700
	try_refused 'ENOSYS|EPERM' -- open_tree "$WORK"
	try_refused 'ENOSYS|EPERM' -- fsopen
	[ "$TEST_AS" = user ] || try_denied 'ENOSYS|EPERM' -- open_tree "$WORK"
	[ "$TEST_AS" = user ] || try_denied 'ENOSYS|EPERM' -- fsopen
}

@test "E097 no new namespaces, by any call" {
	needs userns
	try_denied 'EPERM|ENOSPC' -- unshare-user
	try_denied 'EPERM|ENOSPC' -- clone-userns
	try_refused EPERM -- unshare-mount
	try_refused 'EPERM|EACCES' -- setns /proc/self/ns/user
	denied 'unshare --user --map-root-user --mount true'
}

@test "E015 E101 what mounts hide is not undone" {
	own_home
	canary "$HOME/.netrc"
	local path
	for path in / "$HOME" /tmp /etc /proc "$WORK"; do
		try_refused 'EPERM' -- umount "$path"
		try_refused 'EPERM' -- remount-rw "$path"
		try_refused 'EPERM' -- mount-tmpfs "$path"
	done
	try_refused EPERM -- chroot "$WORK"
	denied "cat '$HOME/.netrc'"
}

@test "E101 started by root: no capability, another id on the host (root)" {
	only_as root
	run pen -- cat /proc/self/status
	local set
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		assert_output_has "$set:"$'\t0000000000000000'
	done
	try_denied EPERM -- chroot "$WORK"
	# On the host the command is somebody who owns nothing.
	MARK=mark-$$-$RANDOM$RANDOM
	printf '%s' "$MARK" >"$SCRATCH/mark"
	spawn "$PINFOLD" run -- sh -c "touch here; exec '$ATTEMPT' wait $MARK"
	wait_for test -e here
	local pid seen=0
	for pid in $(grep -lsFf "$SCRATCH/mark" /proc/[0-9]*/cmdline | cut -d/ -f3); do
		[ "$(readlink "/proc/$pid/exe")" != "$(readlink -f "$PINFOLD")" ] || continue
		run sed -n 's/^Uid://p' "/proc/$pid/status"
		[[ "$output " != *$'\t0'[$'\t ']* ]] || fail "ids on the host: $output"
		seen=1
	done
	[ $seen = 1 ] || fail "the command was not found"
}
