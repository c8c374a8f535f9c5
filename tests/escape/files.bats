# SPDX-License-Identifier: Apache-2.0
# Ways out through the file system. Each is shown to succeed outside first, where it can.
# shellcheck shell=bash disable=SC2154

load ../lib

# The state of a file, to see that nothing changed.
state() { stat -c '%a %u %g %s %Y' -- "$@"; }

@test "E001 plain writes beside the worktree" {
	echo text >"$SCRATCH/file"
	mkdir "$SCRATCH/dir"
	local words
	while read -r words; do
		# shellcheck disable=SC2086 # words
		try_denied 'EROFS|EACCES|EPERM' -- $words
	done <<-END
		create $SCRATCH/new-@
		mkdir $SCRATCH/newdir-@
		symlink x $SCRATCH/soft-@
		mkfifo $SCRATCH/fifo-@
		bind-unix $SCRATCH/socket-@
		open-write $SCRATCH/file
		append $SCRATCH/file
		tmpfile $SCRATCH/dir
		rename $SCRATCH/soft-out $SCRATCH/moved
	END
	try_refused 'EROFS|EACCES|EPERM' -- unlink "$SCRATCH/file"
	try_refused 'EROFS|EACCES|EPERM' -- rmdir "$SCRATCH/dir"
	try_refused 'EROFS|EACCES|EPERM|EXDEV' -- rename "$SCRATCH/file" "$WORK/file"
	assert_equal "$(find "$SCRATCH" -name '*-in')" ''
	assert_exists "$SCRATCH/file"
}

@test "E001 a FIFO that a process of the host reads" {
	mkfifo -m 666 "$SCRATCH/pipe"
	spawn sh -c "exec cat '$SCRATCH/pipe' >'$SCRATCH/read'"
	exec 9>"$SCRATCH/pipe" # the reader stays until the end
	echo out >&9
	wait_for test -s "$SCRATCH/read"
	run timeout 5 "$PINFOLD" run -- "$ATTEMPT" append "$SCRATCH/pipe"
	[[ $output == @(EACCES|EROFS|EPERM|ENXIO) ]] || fail "inside: $output"
	exec 9>&-
	assert_content "$SCRATCH/read" out
}

@test "E001 a FIFO of the host outside the home (root)" {
	only_as root
	LEFTOVERS+=("/var/lib/pinfold-test-$$")
	mkfifo -m 666 "/var/lib/pinfold-test-$$"
	exec 9<>"/var/lib/pinfold-test-$$"
	try_denied 'EACCES|EPERM' -- append "/var/lib/pinfold-test-$$"
	exec 9>&-
}

@test "E002 metadata of files outside" {
	echo text >"$SCRATCH/file"
	mkdir "$SCRATCH/dir"
	local target words before
	for target in "$SCRATCH/file" "$SCRATCH/dir"; do
		for words in "chmod 0755 $target" "fchmodat2 0755 $target" "chown $target" "utimes $target" "setxattr $target"; do
			# shellcheck disable=SC2086 # words
			run try $words
			[ "$output" = OK ] || fail "outside: $words: $output"
			chmod 700 "$target"
			before=$(state "$target")
			# shellcheck disable=SC2086
			try_refused 'EROFS|EACCES|EPERM' -- $words
			assert_equal "$(state "$target")" "$before"
		done
	done
}

@test "E004 truncating by path" {
	echo text >"$SCRATCH/out"
	echo text >"$SCRATCH/in"
	try_denied 'EROFS|EACCES' -- truncate "$SCRATCH/@"
	assert_content "$SCRATCH/in" text
}

@test "E005 a hard link from outside into the worktree" {
	echo text >"$SCRATCH/file"
	try_denied 'EXDEV|EACCES|EPERM|EROFS' -- link "$SCRATCH/file" "$WORK/alias-@"
	refute_exists alias-in
}

@test "E006 a second name in the worktree that is there already: noted, and closed by --read-only" {
	echo text >"$SCRATCH/file"
	ln "$SCRATCH/file" alias
	denied 'echo changed >alias' --read-only
	echo text >"$SCRATCH/file"
	# No kernel tells one name of a file from another: what the note says is what happens.
	noted writes 'another name outside (a hard link) changes there too'
	allowed 'echo changed >alias'
	assert_content "$SCRATCH/file" changed
	# A new name for it is one in the worktree, never outside.
	try_denied 'EXDEV|EACCES|EPERM|EROFS' -- link "$WORK/alias" "$SCRATCH/third-@"
}

@test "E007 a link in the worktree that leads out, written through" {
	echo text >"$SCRATCH/file"
	ln -s "$SCRATCH/file" soft
	ln -s "$SCRATCH" dir
	try_denied 'EROFS|EACCES' -- open-write "$WORK/soft"
	try_denied 'EROFS|EACCES' -- create "$WORK/dir/new-@"
	denied 'echo changed >soft'
	refute_exists "$SCRATCH/new-in"
}

@test "E008 a link that an earlier run planted, named as a place to write" {
	mkdir "$SCRATCH/precious"
	allowed "ln -s '$SCRATCH/precious' cache"
	run pen --write cache -- touch cache/file
	refute_exists "$SCRATCH/precious/file"
	assert_status 125
	run pen --write cache/sub/ -- true
	assert_status 125
	refute_exists "$SCRATCH/precious/sub"
}

@test "E009 a directory and a link swapped while runs start" {
	mkdir "$SCRATCH/precious" place place.old
	ln -s "$SCRATCH/precious" place.link
	cat >swap <<-'END'
		while :; do
		    mv -T place place.old 2>/dev/null; mv -T place.link place 2>/dev/null
		    mv -T place place.link 2>/dev/null; mv -T place.old place 2>/dev/null
		done
	END
	rmdir place.old
	spawn sh ./swap
	local tries
	for ((tries = 0; tries < 20; tries++)); do
		run pen --write "$WORK/place" -- touch place/file
		[[ $status == @(0|1|125) ]] || fail "status $status: $output"
	done
	assert_equal "$(ls "$SCRATCH/precious")" ''
}

@test "E017 device nodes" {
	if [ "$TEST_AS" = user ]; then # nobody but root may outside
		try_refused 'EPERM|EACCES' -- mknod-char "$WORK/null-in"
		refute_exists null-in
		return 0
	fi
	try_denied 'EPERM|EACCES' -- mknod-char "$WORK/null-@"
	refute_exists null-in
	# One that is there already is none: nodev.
	mknod -m 666 disk c 1 3
	denied 'echo >disk'
}

@test "E018 what a run planted is not followed by the next one, nor by a record" {
	canary "$SCRATCH/canary"
	allowed "ln -s '$SCRATCH/canary' out; ln -s '$SCRATCH/canary' record; ln -s '$SCRATCH' .pinfold"
	run pen -- true
	run pen --record "$WORK/record" -- true
	assert_status 125
	ln -s "$SCRATCH/canary" "$SCRATCH/record"
	run pen --record "$SCRATCH/record" -- true
	assert_status 125
	assert_content "$SCRATCH/canary" "$CANARY"
}

@test "E018 a project file that is a link or a FIFO is not followed" {
	mkfifo "$SCRATCH/pipe"
	ln -s "$SCRATCH/pipe" .pinfold.json
	run timeout 5 "$PINFOLD" run -- true
	[ "$status" -ne 124 ] || fail "it waits for the FIFO"
	rm .pinfold.json
	mkfifo .pinfold.json
	run timeout 5 "$PINFOLD" run -- true
	[ "$status" -ne 124 ] || fail "it waits for the FIFO"
}

@test "E019 the shared temporary directories" {
	local place name=pinfold-test-$$-$RANDOM
	for place in /tmp /var/tmp /dev/shm; do
		canary "$place/$name"
		LEFTOVERS+=("$place/$name-out" "$place/$name-in")
		denied "cat $place/$name"
		try_denied ENOENT -- append "$place/$name"
		try_denied ENOENT -- chmod 0644 "$place/$name"
		try_allowed -- create "$place/$name-@"
		refute_exists "$place/$name-in"
	done
}

@test "E020 names that begin alike, and ways back" {
	mkdir -p "$SCRATCH/a/b" "$SCRATCH/ab" "$SCRATCH/work-evil"
	try_allowed --write "$SCRATCH/a" -- create "$SCRATCH/a/@"
	local path
	for path in "$SCRATCH/ab/@" "$SCRATCH/a/../b-@" "$SCRATCH/a/../ab//2-@" "$SCRATCH/work-evil/@" \
		"$WORK/../x-@" "$WORK/./..//y-@"; do
		try_denied 'EROFS|EACCES' --write "$SCRATCH/a" -- create "$path"
		try_denied 'EROFS|EACCES' --write "$SCRATCH/a/." -- create "$path-dot"
		try_denied 'EROFS|EACCES' --write "$SCRATCH//a//" -- create "$path-slashes"
	done
}

@test "E022 other ways to the same name" {
	echo text >"$SCRATCH/file"
	local path
	for path in "/proc/self/root$SCRATCH/file" "/proc/thread-self/cwd/../file" "/proc/self/cwd/../file" \
		"/dev/fd/../cwd/../file"; do
		try_denied 'EROFS|EACCES|ENOENT' -- append "$path"
	done
	try_refused 'EROFS|EACCES|ENOENT' -- append "/proc/1/root$SCRATCH/file"
	try_refused 'EROFS|EACCES|ENOENT' -- append "/proc/1/cwd/../file"
}

@test "E023 started from a directory that is hidden" {
	own_home
	mkdir -p "$HOME/.ssh/deep"
	canary "$HOME/.ssh/key"
	cd "$HOME/.ssh/deep"
	run pen --worktree "$WORK" -- touch "$WORK/ran"
	assert_status 125
	refute_exists "$WORK/ran"
	cd "$WORK"
	denied "ls /proc/self/cwd/../home/.ssh"
	run pen -- cat /proc/self/cwd/../home/.ssh/key
	refute_output_has "$CANARY"
}

@test "E025 set-uid bits" {
	echo text >file
	try_denied EPERM -- chmod 04755 "$WORK/file"
	try_denied EPERM -- fchmodat2 06755 "$WORK/file"
	try_denied EPERM -- create-mode 04755 "$WORK/suid-@"
	try_denied 'EPERM|ENOSYS' -- openat2-mode 04755 "$WORK/suid2-@"
	if [ "$TEST_AS" = root ]; then
		try_denied EPERM -- chmod 02755 "$WORK/file"
		try_denied EPERM -- create-mode 02755 "$WORK/sgid-@"
	else # setgid directories of shared repositories, tar, install -d
		try_allowed -- chmod 02755 "$WORK/file"
	fi
	try_allowed -- chmod 0755 "$WORK/file"
	rm -f suid-out suid2-out sgid-out
	assert_equal "$(find . -perm /4000)" ''
}

@test "E026 a worktree that holds too much is refused" {
	own_home
	local dir
	for dir in / /tmp /usr /etc /var "$HOME" "$SCRATCH"; do
		cd "$dir"
		run pen -- touch "$WORK/ran"
		assert_status 125
	done
	cd "$WORK"
	mkdir -p "$SCRATCH/own/bin"
	cp "$PINFOLD" "$SCRATCH/own/bin/pinfold"
	run "$SCRATCH/own/bin/pinfold" run --worktree "$SCRATCH/own" -- touch "$WORK/ran"
	assert_status 125
	mkdir -p "$HOME/.config/pinfold"
	run pen --worktree "$HOME/.config" -- touch "$WORK/ran"
	assert_status 125
	refute_exists ran
	run pen -- true
	assert_status 0
}

@test "E10C started by root: kernel settings and root's files (root)" {
	only_as root
	try_denied 'EACCES|EROFS|EPERM|ENOENT' -- open-write /proc/sys/kernel/core_pattern
	try_denied 'EACCES|ENOENT' -- open-read /etc/shadow
	[ ! -e /proc/sysrq-trigger ] || try_denied 'EACCES|EROFS|EPERM|ENOENT' -- open-write /proc/sysrq-trigger
	run pen -- sh -c 'find /proc/sys /proc/irq /proc/bus /proc/fs /proc/acpi /proc/scsi -type f 2>/dev/null |
		while read -r file; do (exec 3>>"$file") 2>/dev/null && echo "$file"; done'
	local file
	for file in $output; do
		case $file in
		# of the namespaces that are the pen's own
		/proc/sys/kernel/ns_last_pid | /proc/sys/kernel/msg* | /proc/sys/kernel/sem* | /proc/sys/kernel/shm*) ;;
		/proc/sys/fs/mqueue/* | /proc/sys/user/* | /proc/sys/kernel/auto_msgmni) ;;
		/proc/sys/kernel/pid_max) ;; # a pid namespace's own from Linux 6.14
		/proc/sys/kernel/hostname | /proc/sys/kernel/domainname | /proc/sys/net/*) ;;
		*) fail "can be opened for writing: $file" ;;
		esac
	done
	allowed 'cat /proc/sys/kernel/ostype'
}

@test "E10C started by a user: kernel settings" {
	only_as user
	try_refused 'EACCES|EROFS|EPERM|ENOENT' -- open-write /proc/sys/kernel/core_pattern
	try_refused 'EACCES|EROFS|EPERM|ENOENT' -- open-write /proc/sysrq-trigger
}

@test "E109 a path that is hidden below one that is writable stays hidden" {
	mkdir -p "$SCRATCH/open/closed"
	canary "$SCRATCH/open/closed/file"
	denied "cat '$SCRATCH/open/closed/file'" --write "$SCRATCH/open" --hide "$SCRATCH/open/closed"
	try_denied 'EBUSY|EROFS|EACCES|EPERM' --write "$SCRATCH/open" --hide "$SCRATCH/open/closed" -- \
		chmod 0755 "$SCRATCH/open/closed"
	cat >move <<-END
		cd '$SCRATCH/open' && mv closed moved
		cat moved/file; read=\$?
		mv moved closed
		exit \$read
	END
	denied 'sh ./move' --write "$SCRATCH/open" --hide "$SCRATCH/open/closed"
}
