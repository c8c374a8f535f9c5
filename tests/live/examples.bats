# SPDX-License-Identifier: Apache-2.0
# The examples of a tool for an agent: each streams the output, and tells an ending, a time-out and a refusal apart.
# shellcheck shell=bash disable=SC2154

load ../lib

setup() {
	lib_setup
	mkdir "$SCRATCH/bin"
}

# tells COMMAND... : what an example says of a success, a failure, a signal, a time-out, a write to the outside and a
# policy that makes no sense. The words are the same for all of them.
tells() {
	run "$@" 'echo one; echo two >&2'
	assert_status 0
	assert_output_has one
	assert_output_has two
	assert_output_has '[exit status 0]'
	run "$@" 'exit 3'
	assert_output_has '[exit status 3]'
	run "$@" 'echo > ../outside'
	refute_output_has '[exit status 0]'
	refute_exists "$SCRATCH/outside"
	run "$@" 'echo > inside'
	assert_output_has '[exit status 0]'
	assert_exists inside
}

time_is_up() {
	run timeout 20 "$@"
	assert_status 0
	assert_output_has begun
	assert_output_has '[time is up]'
}

# A worktree that is refused: the command is never run, and it is no failure of the command.
is_refused() {
	cd "$HOME"
	run "$@" 'echo ran'
	assert_status 0
	assert_output_has '[not run: '
	refute_output_has $'\nran'
	cd "$WORK"
}

streams() {
	"$@" 'echo begun; sleep 3' >"$SCRATCH/out" &
	wait_for grep -q begun "$SCRATCH/out"
	refute_output_has 'exit status'
	wait $!
}

@test "agent.py" {
	needs python3
	tells python3 "$PROJECT/examples/agent.py"
	time_is_up python3 "$PROJECT/examples/agent.py" 'echo begun; sleep 20' 500ms
	is_refused python3 "$PROJECT/examples/agent.py"
	streams python3 "$PROJECT/examples/agent.py"
}

@test "agent.mjs" {
	needs node
	tells node "$PROJECT/examples/agent.mjs"
	time_is_up node "$PROJECT/examples/agent.mjs" 'echo begun; sleep 20' 500ms
	is_refused node "$PROJECT/examples/agent.mjs"
	streams node "$PROJECT/examples/agent.mjs"
}

@test "agent.c, from a process with threads" {
	needs cc
	local library=${PINFOLD%/*}
	[ -e "$library/libpinfold.so" ] || skip "needs the shared library"
	cc -std=gnu11 -Wall -Wextra -Werror -I "$PROJECT/include" "$PROJECT/examples/agent.c" -o "$SCRATCH/bin/agent" \
		-L "$library" -lpinfold -pthread
	export LD_LIBRARY_PATH=$library
	tells "$SCRATCH/bin/agent"
	is_refused "$SCRATCH/bin/agent"
	streams "$SCRATCH/bin/agent"
}

@test "the library shows its own functions and nothing else" {
	needs cc
	local library=${PINFOLD%/*}/libpinfold.so
	[ -e "$library" ] || skip "needs the shared library"
	run bash -c 'nm -D --defined-only "$1" | sed "s/.* //; s/@.*//" | grep -v "^pinfold_\|^PINFOLD_"' - "$library"
	assert_equal "$output" ""
	# Every function of the header is there.
	local name
	for name in $(sed -n 's/^PINFOLD_PUBLIC .*[ *]\(pinfold_[a-z_]*\)(.*/\1/p' "$PROJECT/include/pinfold.h"); do
		nm -D --defined-only "$library" | grep -q " $name\(@\|\$\)" || fail "not in the library: $name"
	done
}
