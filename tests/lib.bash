# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034,SC2015 # status and output are bats' own; CANARY, PORT … are for the tests
# Helpers of the live tests. Every file starts with `load ../lib`; tests/run gives the environment, and a file run by
# hand (bats tests/live/x.bats) finds the program of the checkout.
#
#   PINFOLD    the program                      PROJECT   the project's files (a copy, when tests/run made one)
#   TEST_AS    user or root                     ATTEMPT   the program of tests/attempt
#   GIT_TESTS  git's own test suite (tools/git-tests)
#   SCRATCH    a fresh folder in the home       WORK      an empty worktree in it, and the current directory
#
# The scratch folder lies in the home, where real projects are: /tmp is private inside the pen, so a test there is a
# test of that.

PROJECT=${PROJECT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
PINFOLD=${PINFOLD:-$PROJECT/build/pinfold}
ATTEMPT=${ATTEMPT:-$PROJECT/build/tests/attempt}
GIT_TESTS=${GIT_TESTS:-$PROJECT/build/git-tests}
TEST_AS=${TEST_AS:-$( ((EUID)) && echo user || echo root)}
export PROJECT PINFOLD ATTEMPT GIT_TESTS TEST_AS

# All tests on one backend: PINFOLD_TEST_BACKEND=landlock tests/run live.
if [ -n "${PINFOLD_TEST_BACKEND:-}" ] && [ -z "${PINFOLD_ON_BACKEND:-}" ]; then
	PINFOLD_ON_BACKEND=$PINFOLD
	PINFOLD=$PROJECT/tests/on_backend
	PINFOLD_TEST_ACCEPT=writes,repository,processes,terminal
	[ "$PINFOLD_TEST_BACKEND" != bwrap ] || PINFOLD_TEST_ACCEPT=services
	((EUID)) || PINFOLD_TEST_ACCEPT+=,privileges
	export PINFOLD_ON_BACKEND PINFOLD_TEST_BACKEND PINFOLD_TEST_ACCEPT
fi

setup() { lib_setup; }
teardown() { lib_teardown; }

# For files with a setup of their own: call these first and last.
lib_setup() {
	[ -z "${PINFOLD_TEST_BACKEND:-}" ] || skip_on_backend
	SCRATCH=$(mktemp -d "$HOME/pinfold-test.XXXXXX") || return 1
	SCRATCH=$(cd "$SCRATCH" && pwd -P)
	WORK=$SCRATCH/work
	export SCRATCH WORK
	PIDS=()
	LEFTOVERS=()
	mkdir "$WORK" && cd "$WORK" || return 1
}

# What a backend does not do, or not in the way that a test looks for, stands in tests/backends.tsv.
skip_on_backend() {
	local backend file name reason
	while IFS=$'\t' read -r backend file name reason; do
		[ "$backend" != "$PINFOLD_TEST_BACKEND" ] || [ "$file" != "$(basename "$BATS_TEST_FILENAME")" ] ||
			[ "$name" != "$BATS_TEST_DESCRIPTION" ] || skip "not on $backend: $reason"
	done <"$PROJECT/tests/backends.tsv"
}

lib_teardown() {
	local pid
	for pid in ${PIDS[@]+"${PIDS[@]}"}; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	cd / || return 1
	[ -n "${SCRATCH:-}" ] || return 0
	chmod -R u+rwX -- "$SCRATCH" 2>/dev/null
	rm -rf -- "$SCRATCH" ${LEFTOVERS[@]+"${LEFTOVERS[@]}"}
	return 0
}

# ---- what a test needs ----

# needs WORD... : a command, or one of the capabilities below. What is missing skips the test; tests/run decides whether
# that may be (tests/needs).
needs() {
	local word missing=()
	for word; do
		case $word in
		root) [ "$EUID" -eq 0 ] ;;
		userns) unshare --user true 2>/dev/null ;;
		ipv6) grep -qs '^0\{31\}1 ' /proc/net/if_inet6 ;;
		x86_64) [ "$(uname -m)" = x86_64 ] ;;
		landlock) [ "$(landlock_abi)" -ge 1 ] ;;
		scopes) [ "$(landlock_abi)" -ge 6 ] ;; # signals and abstract sockets (Linux 6.12)
		tiocsti) [ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 1 ] ;;
		git-tests) [ "git version $(cat "$GIT_TESTS/version")" = "$(git version)" ] 2>/dev/null ;; # tools/git-tests
		venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
		*) command -v "$word" >/dev/null ;;
		esac || missing+=("$word")
	done
	[ ${#missing[@]} -eq 0 ] || skip "needs ${missing[*]}"
}

# The kernel's Landlock, asked without pinfold; 0 where there is none.
landlock_abi() {
	python3 -c 'import ctypes; print(max(0, ctypes.CDLL(None).syscall(444, None, 0, 1)))'
}

# For a test that means something in one of the two passes only; the other one does not count it.
only_as() {
	[ "$TEST_AS" = "$1" ] || skip "only as $1"
}

# ---- pens and what they are tried with ----

# pen [OPTION...] -- COMMAND... : one run in the current directory.
pen() { "$PINFOLD" run "$@"; }

# allowed SCRIPT [OPTION...] : the pen lets this shell script pass.
allowed() {
	local script=$1
	shift
	run pen "$@" -- sh -c "$script"
	assert_status 0
}

# denied SCRIPT [OPTION...] : succeeds outside, which proves that the test tests something, and fails inside.
denied() {
	local script=$1
	shift
	run sh -c "$script"
	assert_status 0
	run pen "$@" -- sh -c "$script"
	[ "$status" -ne 0 ] || fail "passed inside the pen: $script"
	# 125 to 127 would be a run that never took place, which denies everything.
	((status < 125 || status > 127)) || fail "pinfold did not run it: $output"
}

# try WORD... : one attempt of tests/attempt, outside.
try() { "$ATTEMPT" "$@"; }

# attempts_inside [OPTION...] -- WORD... : the same inside; OPTIONS and WORDS are those of the next three.
attempts_inside() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	run pen ${options[@]+"${options[@]}"} -- "$ATTEMPT" "${@//@/in}"
}

# try_allowed [OPTION...] -- WORD... : the attempt succeeds inside.
try_allowed() {
	attempts_inside "$@"
	[ "$output" = OK ] || fail "inside: $output (status $status): ${*}"
}

# try_refused ERRNO[|ERRNO...] [OPTION...] -- WORD... : it ends inside with one of these errors. For what nobody may do
# outside either (without being root), so that there is no control.
try_refused() {
	local errors=$1
	shift
	attempts_inside "$@"
	# another backend refuses in other words
	[ -z "${PINFOLD_TEST_BACKEND:-}" ] || [[ ! $output =~ ^E[A-Z0-9]+$ ]] || errors+="|$output"
	[[ "$status" -eq 1 && "|$errors|" == *"|$output|"* ]] ||
		fail "inside: $output (status $status) instead of $errors: $*"
}

# try_denied ERRNO[|ERRNO...] [OPTION...] -- WORD... : it succeeds outside, which proves that the test tests something, and
# ends inside with one of these errors. An @ in the words is "out" outside and "in" inside, for what can be done once only.
try_denied() {
	local errors=$1 words=("$@")
	while [ "${words[0]}" != -- ]; do
		words=("${words[@]:1}")
	done
	words=("${words[@]:1}")
	run try "${words[@]//@/out}"
	[ "$output" = OK ] || fail "outside: $output (status $status): ${words[*]}"
	try_refused "$@"
}

# noted GUARANTEE TEXT [OPTION...] : the guarantee is held, and says this of what it leaves open.
noted() {
	local guarantee=$1 text=$2
	shift 2
	run pen --plan --json "$@" -- true
	assert_status 0
	run python3 -c 'import json, sys
plan = json.load(sys.stdin)["guarantees"][sys.argv[1]]
sys.exit(not (plan["state"] == "held" and any(sys.argv[2] in note for note in plan["notes"])))' \
		"$guarantee" "$text" <<<"$output"
	[ "$status" -eq 0 ] || fail "$guarantee is not held with the note: $text"
}

# victim : a process of the host that waits, in VICTIM; MARK is a word on its command line that exists once in the world.
victim() {
	MARK=mark-$$-$RANDOM$RANDOM$RANDOM
	printf '%s' "$MARK" >"$SCRATCH/mark"
	spawn "$ATTEMPT" wait "$MARK"
	VICTIM=$SPAWNED
	wait_for is_marked
}

# Is there a process with MARK on its command line? The word comes from a file, so that grep is none itself.
is_marked() { grep -qsFf "$SCRATCH/mark" /proc/[0-9]*/cmdline; }
is_unmarked() { ! is_marked; }

# in_background SCRIPT [OPTION...] : a run that lasts; the script waits for what the host does with `meet`: it says that
# it is there, and goes on after `go`. Its end is waited for with `finished`; then its output is in $WORK/said.
in_background() {
	local script=$1
	shift
	spawn "$PINFOLD" run "$@" -- sh -c "
		meet() { touch here; while [ ! -e go ]; do sleep 0.02; done; rm -f go; }
		{ $script
		} >said 2>&1
		touch finished"
}

go() { wait_for test -e "$WORK/here" && rm -f "$WORK/here" && touch "$WORK/go"; }
finished() { wait_for test -e "$WORK/finished"; }

# A home of the test's own, so that the real one is never touched.
own_home() {
	HOME=$SCRATCH/home
	export HOME
	unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_HOME
	mkdir -p "$HOME"
}

# canary PATH : makes a file with a secret that exists once in the world, left in CANARY; removed at the end.
canary() {
	CANARY=canary-$$-$RANDOM$RANDOM$RANDOM
	mkdir -p -- "$(dirname -- "$1")" && printf '%s\n' "$CANARY" >"$1" && chmod 600 -- "$1" || return 1
	case $1 in "$SCRATCH"/*) ;; *) LEFTOVERS+=("$1") ;; esac
}

# A repository with one commit in DIR (default: the worktree), without the caller's own git settings.
new_repo() {
	local dir=${1:-$WORK}
	mkdir -p -- "$dir" && git -C "$dir" init -q -b main || return 1
	git -C "$dir" config user.name 'A Tester' && git -C "$dir" config user.email tester@example.invalid
	echo one >"$dir/file" && git -C "$dir" add file && git -C "$dir" commit -q -m first
}

# spawn COMMAND... : in the background until the end of the test, its process id in SPAWNED. Without bats' own
# descriptor 3, which would keep the test from ending.
spawn() {
	"$@" 3>&- </dev/null &
	SPAWNED=$!
	PIDS+=("$SPAWNED")
}

# listener inet|inet6|unix|abstract [ADDRESS] : somebody who accepts connections and says hello; PORT holds the port
# (or the name) that it got.
listener() {
	local told=$SCRATCH/listener.$RANDOM
	spawn python3 "$PROJECT/tests/listen.py" "$@" "$told"
	wait_for test -s "$told" || return 1
	PORT=$(cat "$told")
}

# connects PORT [HOST] : a shell script for allowed and denied that ends well when somebody says hello there.
connects() {
	printf 'python3 %q --connect %q %q' "$PROJECT/tests/listen.py" "${2:-127.0.0.1}" "$1"
}

# on_pty ARG... : see tests/pty.py.
on_pty() { python3 "$PROJECT/tests/pty.py" "$@"; }

# wait_for COMMAND... : until it succeeds, at most ten seconds.
wait_for() {
	local tries
	for ((tries = 0; tries < 200; tries++)); do
		"$@" 2>/dev/null && return 0
		sleep 0.05
	done
	echo "waited in vain for: $*" >&2
	return 1
}

# ---- assertions ----

fail() {
	printf '%s\n' "$@" >&2
	return 1
}

assert_status() {
	[ "$status" -eq "$1" ] || fail "status $status instead of $1, output:" "$output"
}

assert_output_has() {
	[[ $output == *"$1"* ]] || fail "not in the output: $1" "the output:" "$output"
}

refute_output_has() {
	[[ $output != *"$1"* ]] || fail "in the output: $1" "the output:" "$output"
}

assert_equal() {
	[ "$1" = "$2" ] || fail "instead of: $2" "it is:      $1"
}

assert_exists() {
	[ -e "$1" ] || [ -L "$1" ] || fail "does not exist: $1"
}

refute_exists() {
	[ ! -e "$1" ] && [ ! -L "$1" ] || fail "exists: $1"
}

# assert_content FILE TEXT
assert_content() {
	assert_equal "$(cat -- "$1")" "$2"
}
