# SPDX-License-Identifier: Apache-2.0
# The cost of a start does not grow with the tree: not one system call more in a worktree of 300,000 files.
# shellcheck shell=bash disable=SC2154

load ../lib

# many FILES DIR : so many empty files, a hundred in a directory, three directories deep. One inode a directory: some
# file systems take a minute for 300,000.
many() {
	python3 - "$1" "$2" <<-'END'
		import os, sys
		files, top = int(sys.argv[1]), sys.argv[2]
		for number in range(files // 100):
		    path = f"{top}/d{number // 900}/d{number // 30 % 30}/d{number % 30}"
		    os.makedirs(path, exist_ok=True)
		    fd = os.open(path, os.O_DIRECTORY)
		    os.close(os.open("f0", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=fd))
		    for name in range(1, 100):
		        os.link("f0", f"f{name}", src_dir_fd=fd, dst_dir_fd=fd)
		    os.close(fd)
	END
}

# Calls that wait for another process: how often they are made is a matter of timing.
WAITING='poll|ppoll|read|rt_sigtimedwait|rt_sigreturn|restart_syscall|wait4|waitid|futex|sched_yield|total'

# calls DIR : system calls of a run there, all processes together, without those. The first run makes the caches.
calls() {
	cd "$1" && "$PINFOLD" run -- true &&
		ASAN_OPTIONS=detect_leaks=0 strace -f -c -o "$SCRATCH/counts" "$PINFOLD" run -- true || return 1
	awk -v waiting="^($WAITING)\$" '$4 ~ /^[0-9]+$/ && $NF !~ waiting { sum += $4 } END { print sum }' "$SCRATCH/counts"
}

# same_calls DIR OTHER : a run makes as many in both. Another test may mount something below the home meanwhile, which is
# a few calls more: only a figure that is the same before and after counts.
same_calls() {
	local one other after
	for _ in 1 2 3 4 5; do
		one=$(calls "$1")
		other=$(calls "$2")
		after=$(calls "$1")
		[ "$one" != "$after" ] || break
	done
	[ "$one" -gt 50 ] || fail "that is no number of calls: $one"
	assert_equal "$other" "$one"
}

# same_start FILES
same_start() {
	mkdir "$SCRATCH/small" "$SCRATCH/large"
	many "$1" "$SCRATCH/large"
	assert_equal "$(find "$SCRATCH/large" -type f | wc -l)" "$1"
	mkdir "$SCRATCH/small/d0" # as wide at the top, which is read
	same_calls "$SCRATCH/small" "$SCRATCH/large"
	cd "$SCRATCH/large"
	run timeout 5 "$PINFOLD" run -- sh -c 'echo text >d0/d0/d0/f0 && echo text >new'
	assert_status 0
	assert_content d0/d0/d0/f0 text
}

@test "the start makes the same system calls in a worktree of 20,000 files as in an empty one" {
	needs strace
	same_start 20000
}

# bats test_tags=slow
@test "the start makes the same system calls in a worktree of 300,000 files as in an empty one" {
	needs strace
	same_start 300000
}

# registered N : a clone in $SCRATCH/N with so many linked worktrees, of which only the first one has files.
registered() {
	local main=$SCRATCH/$1/main n
	new_repo "$main"
	git -C "$main" worktree add -q --detach "$SCRATCH/$1/linked"
	for ((n = 2; n <= $1; n++)); do
		cp -r "$main/.git/worktrees/linked" "$main/.git/worktrees/w$n"
		echo "$SCRATCH/$1/w$n/.git" >"$main/.git/worktrees/w$n/gitdir"
	done
	assert_equal "$(git -C "$main" worktree list | wc -l)" $(($1 + 1))
}

@test "the start makes the same system calls with 300 registered worktrees as with two" {
	needs git strace
	registered 2
	registered 300
	same_calls "$SCRATCH/2/linked" "$SCRATCH/300/linked"
	same_calls "$SCRATCH/2/main" "$SCRATCH/300/main"
	cd "$SCRATCH/300/linked"
	allowed 'echo more >>file && git commit -q -a -m more'
}

# A user's run makes some 1060 of them, root's, whose command gets the ids of another, 1310 (docs/speed.md). The bound
# leaves room for another kernel, home and C library, not for a look at each of some hundred names more.
@test "a start makes no more than 1500 system calls" {
	local count
	needs git strace
	[[ $PINFOLD != *asan* ]] || skip "needs unsanitized"
	new_repo "$SCRATCH/repo"
	count=$(calls "$SCRATCH/repo")
	echo "$count system calls"
	[ "$count" -gt 50 ] && [ "$count" -le 1500 ]
}
