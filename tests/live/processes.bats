# SPDX-License-Identifier: Apache-2.0
# processes: other processes are invisible and untouchable. Attacks: tests/escape/processes.bats.
# shellcheck shell=bash disable=SC2154

load ../lib

# bats test_tags=core
@test "a process of the host is not in /proc, and gets no signal; our own do" {
	victim
	denied "grep -qsFf '$SCRATCH/mark' /proc/[0-9]*/cmdline"
	try_denied 'ESRCH|EPERM' -- kill "$VICTIM" 0
	kill -0 "$VICTIM"
	allowed 'sleep 60 & kill -0 $! && kill -9 $! && ! wait $!'
}

@test "the command sees itself, its children and the pen's init, and nobody else" {
	run pen -- sh -c 'sleep 60 & ls -d /proc/[0-9]* | wc -l; kill $!'
	assert_status 0
	[ "$output" -le 5 ] || fail "$output processes are visible"
}

@test "tools that list processes work" {
	needs ps
	allowed 'ps aux | grep -q "[p]s aux"'
}

@test "System V and POSIX IPC: the host's is out of reach, our own works" {
	local key=$((0x50000000 + RANDOM * 32768 + RANDOM)) queue=/pinfold-test-$$-$RANDOM
	try shm-create "$key"
	try mq-create "$queue"
	try_denied ENOENT -- shm-attach "$key"
	try_denied 'ENOENT|ENOSYS|EACCES' -- mq-open "$queue"
	try shm-remove "$key"
	try mq-remove "$queue"
	allowed "'$ATTEMPT' shm-create $key && '$ATTEMPT' shm-attach $key"
	allowed "'$ATTEMPT' mq-create $queue && '$ATTEMPT' mq-open $queue"
	run try shm-attach "$key"
	assert_equal "$output" ENOENT
}

@test "debugging our own children works" {
	needs strace
	allowed 'strace -f -o trace true && grep -q execve trace'
}
