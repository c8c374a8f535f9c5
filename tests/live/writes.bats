# SPDX-License-Identifier: Apache-2.0
# writes: nothing outside the worktree, the private temp and the listed write paths changes. What is tried against it in
# earnest stands in tests/escape/files.bats.
# shellcheck shell=bash disable=SC2154

load ../lib

# bats test_tags=core
@test "the worktree may change in every way, and the host sees it" {
	echo old >file
	try_allowed -- create "$WORK/new"
	try_allowed -- append "$WORK/file"
	try_allowed -- mkdir "$WORK/dir"
	try_allowed -- rename "$WORK/new" "$WORK/dir/moved"
	try_allowed -- link "$WORK/file" "$WORK/alias"
	try_allowed -- symlink file "$WORK/soft"
	try_allowed -- chmod 0750 "$WORK/file"
	try_allowed -- utimes "$WORK/file"
	try_allowed -- setxattr "$WORK/file"
	try_allowed -- mkfifo "$WORK/fifo"
	try_allowed -- bind-unix "$WORK/socket"
	try_allowed -- tmpfile "$WORK"
	assert_exists dir/moved
	assert_equal "$(cat alias)" "$(printf 'old\nattempt')"
	assert_equal "$(stat -c %a.%Y file)" 750.1
	try_allowed -- truncate "$WORK/file"
	try_allowed -- unlink "$WORK/dir/moved"
	try_allowed -- rmdir "$WORK/dir"
	assert_equal "$(stat -c %s alias)" 0
	refute_exists dir
}

@test "a file beside the worktree cannot be made, the worktree's own can" {
	denied "touch '$SCRATCH/beside'"
	rm "$SCRATCH/beside"
	run pen -- touch "$SCRATCH/beside"
	refute_exists "$SCRATCH/beside"
	allowed "touch '$WORK/inside'"
}

@test "the git top is the worktree, from a directory below it" {
	new_repo
	mkdir -p deep/er && cd deep/er
	allowed 'touch ../../top'
	assert_exists "$WORK/top"
	denied "touch '$SCRATCH/beside'"
}

@test "--worktree names another one; the directory of the start is then read-only" {
	mkdir "$SCRATCH/other"
	allowed "touch '$SCRATCH/other/file'" --worktree "$SCRATCH/other"
	assert_exists "$SCRATCH/other/file"
	denied "touch '$WORK/file'" --worktree "$SCRATCH/other"
}

@test "-C changes the directory first" {
	mkdir "$SCRATCH/other"
	allowed "touch file" -C "$SCRATCH/other"
	assert_exists "$SCRATCH/other/file"
	refute_exists file
}

@test "--write opens a directory, a file, and makes a directory that ends in a slash" {
	mkdir "$SCRATCH/dir"
	echo old >"$SCRATCH/file"
	denied "echo new >'$SCRATCH/file'"
	allowed "echo inside >'$SCRATCH/file'; touch '$SCRATCH/dir/new' '$SCRATCH/made/new'" \
		--write "$SCRATCH/file" --write "$SCRATCH/dir" --write "$SCRATCH/made/"
	assert_content "$SCRATCH/file" inside
	assert_exists "$SCRATCH/dir/new"
	assert_exists "$SCRATCH/made/new"
	denied "touch '$SCRATCH/other'" --write "$SCRATCH/dir"
}

@test "temporary places are private and empty, and writable" {
	local name=pinfold-test-$$-$RANDOM place
	for place in /tmp /var/tmp /dev/shm; do
		LEFTOVERS+=("$place/$name" "$place/$name.inside")
		echo host >"$place/$name"
		denied "cat $place/$name"
		allowed "echo >$place/$name.inside && test \"\$(ls $place)\" = $name.inside"
		refute_exists "$place/$name.inside"
	done
	run pen -- sh -c 'd=$(mktemp -d) && touch "$d/file" && echo "$d"'
	assert_status 0
	refute_exists "$output"
}

@test "--tmp DIR keeps /tmp and /var/tmp for the next run, and refuses a directory that is not fit" {
	mkdir -m 700 "$SCRATCH/temp"
	allowed 'echo one >/tmp/kept && echo two >/var/tmp/kept.too' --tmp "$SCRATCH/temp"
	allowed 'grep -q one /tmp/kept && grep -q two /var/tmp/kept.too' --tmp "$SCRATCH/temp"
	canary "/tmp/pinfold-test-$$"
	denied "cat /tmp/pinfold-test-$$" --tmp "$SCRATCH/temp"
	denied "echo >>/tmp/pinfold-test-$$ && grep -q canary /tmp/pinfold-test-$$" --tmp "$SCRATCH/temp"

	mkdir -m 755 "$SCRATCH/open"
	ln -s temp "$SCRATCH/link"
	local dir
	for dir in "$SCRATCH/open" "$SCRATCH/link" "$SCRATCH/missing"; do
		run pen --tmp "$dir" -- touch ran
		assert_status 125
		refute_exists ran
	done
}

@test "the system's directories do not change (root)" {
	only_as root
	local dir
	for dir in /usr /etc /var/lib /opt /root; do
		LEFTOVERS+=("$dir/pinfold-test-out" "$dir/pinfold-test-in")
		try_denied 'EROFS|EACCES|EPERM' -- create "$dir/pinfold-test-@"
		refute_exists "$dir/pinfold-test-in"
	done
}

@test "started by root, the files of a worktree of somebody else stay theirs (root)" {
	only_as root
	chown 12345:12345 "$WORK"
	allowed 'touch mine && mkdir dir && test "$(id -u)" = 0 && test "$(stat -c %u mine)" = 0'
	assert_equal "$(stat -c %u:%g mine dir | sort -u)" 12345:12345
}

@test "the caller's own user and group are inside what they are outside" {
	run pen -- id -u
	assert_equal "$output" "$(id -u)"
	run pen -- id -un
	assert_equal "$output" "$(id -un)"
	run pen -- sh -c 'touch file; stat -c %u:%g file'
	assert_equal "$output" "$(id -u):$(id -g)"
	assert_equal "$(stat -c %u:%g file)" "$(id -u):$(id -g)"
}

@test "/dev has what a shell needs, and nothing of the machine" {
	allowed 'echo >/dev/null && head -c 4 /dev/zero /dev/urandom /dev/random >/dev/null && ! echo >/dev/full'
	run pen -- ls /dev
	local name
	for name in $output; do
		case $name in
		null | zero | full | random | urandom | tty | pts | ptmx | shm | fd | stdin | stdout | stderr | console | mqueue) ;;
		*) fail "in /dev: $name" ;;
		esac
	done
}

@test "--device NODE, and no other" {
	# One that anybody may open; which there are depends on the machine.
	local node found=
	for node in /dev/autofs /dev/net/tun /dev/fuse /dev/hwrng /dev/udmabuf /dev/dri/renderD128 /dev/kvm; do
		[ -c "$node" ] && [ -n "$(find "$node" -perm -o=r)" ] || continue
		run try open-read "$node"
		[ "$output" != OK ] || found=$node
	done
	[ -n "$found" ] || skip "needs a device that anybody can open"
	node=$found
	try_denied ENOENT -- open-read "$node"
	try_allowed --device "$node" -- open-read "$node"
	allowed 'test ! -e /dev/tty0' --device "$node"
}
