# SPDX-License-Identifier: Apache-2.0
# --read-only: the worktree may not change either.
# shellcheck shell=bash disable=SC2154

load ../lib

@test "--read-only: nothing in the worktree changes, everything can be read" {
	mkdir dir empty
	echo text >file
	echo text >dir/file
	allowed 'grep -q text file dir/file && ls dir' --read-only
	local words
	while read -r words; do
		# shellcheck disable=SC2086 # words
		try_denied EROFS --read-only -- $words
	done <<-END
		create $WORK/new-@
		mkdir $WORK/newdir-@
		open-write $WORK/file
		append $WORK/file
		truncate $WORK/dir/file
		chmod 0600 $WORK/file
		utimes $WORK/file
		setxattr $WORK/file
		symlink file $WORK/soft-@
		link $WORK/file $WORK/hard-@
		mkfifo $WORK/fifo-@
		bind-unix $WORK/socket-@
		tmpfile $WORK
	END
	assert_equal "$(find . -name '*-in')" ''
	try_denied EROFS --read-only -- rename "$WORK/hard-out" "$WORK/renamed"
	mv renamed hard-out
	try_refused EROFS --read-only -- rename "$WORK/hard-out" "$WORK/renamed"
	try_refused EROFS --read-only -- unlink "$WORK/file"
	try_refused EROFS --read-only -- rmdir "$WORK/empty"
	assert_exists file
}

@test "--read-only: a reader on the host is not reached through a FIFO" {
	mkfifo pipe
	exec 9<>pipe
	try_denied 'EACCES|EROFS' --read-only -- open-write "$WORK/pipe"
	exec 9>&-
}

@test "--read-only: private temp stays writable, and so does what --write names" {
	mkdir out
	allowed 'echo >/tmp/file && d=$(mktemp) && test -w "$d"' --read-only
	allowed 'echo x >out/file' --read-only --write "$WORK/out"
	assert_content out/file x
	denied 'echo x >file' --read-only --write "$WORK/out"
}

@test "--no-read-only takes it back" {
	allowed 'touch file' --read-only --no-read-only
	assert_exists file
}
