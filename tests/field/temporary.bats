# SPDX-License-Identifier: Apache-2.0
# Temporary directories (catalogue F115 to F121): each run has its own, every program finds it, nothing of it stays.
# shellcheck shell=bash disable=SC2154,SC2016 # what is in single quotes is for the shell inside

load ../lib

# A here-document with something to expand, and what became of it.
here_document() {
	printf 'cat <<END >out\n%s $(echo one)\ntwo\nEND\n' "$1"
}

@test "F115 here-documents in every shell" {
	needs bash zsh fish
	local shell
	for shell in bash dash zsh; do
		run pen -- "$shell" -c "$(here_document "$shell")"
		assert_status 0
		assert_content out "$shell one"$'\ntwo'
	done
	for shell in bash zsh; do
		run pen -- "$shell" -c 'cat <<<three >out'
		assert_status 0
		assert_content out three
	done
	# fish has none; what replaces it there is a file of psub.
	run pen -- fish --no-config -c 'cat (printf "one\ntwo\n" | psub --file) >out'
	assert_status 0
	assert_content out $'one\ntwo'
}

@test "F115 with the caller's variables pointing elsewhere" {
	needs zsh
	local shell
	mkdir "$SCRATCH/temporary"
	for shell in bash dash zsh; do
		TMPDIR=$SCRATCH/temporary TMPPREFIX=$SCRATCH/temporary/zsh TMP=/nowhere TEMP=/nowhere run pen -- "$shell" -c \
			"mktemp >/dev/null; $(here_document "$shell")"
		assert_status 0
		assert_content out "$shell one"$'\ntwo'
	done
	run ls -A "$SCRATCH/temporary"
	assert_equal "$output" ""
}

@test "F116 what is put into /tmp can be taken back, and the host's /tmp does not change" {
	local name=pinfold-test.$$.$RANDOM
	echo precious >file
	run pen -- sh -c "cp file /tmp/$name && rm file && cp /tmp/$name file && ls -ld /tmp /var/tmp"
	assert_status 0
	assert_content file precious
	assert_equal "$(grep -c '^drwxrwxrwt' <<<"$output")" 2
	refute_exists "/tmp/$name"
	refute_exists "/var/tmp/$name"
	# Nor is the host's content there.
	LEFTOVERS+=("/tmp/$name.host")
	echo host >"/tmp/$name.host"
	denied "cat /tmp/$name.host"
	run pen -- sh -c 'ls -A /tmp /var/tmp | grep -v :'
	assert_equal "${output//[$'\n']/}" ""
}

@test "F119 two runs at once have each their own" {
	in_background 'echo one >/tmp/name; echo one >$TMPDIR/other; meet; cat /tmp/name'
	wait_for test -e here
	run pen -- sh -c 'ls -A /tmp; echo two >/tmp/name; echo two >/dev/shm/name'
	assert_status 0
	assert_equal "$output" ""
	go && finished
	assert_content said one
}

@test "F119 a temporary directory that is not there is no reason to fail, and none is left" {
	TMPDIR=$SCRATCH/missing run pen -- sh -c 'd=$(mktemp -d) && echo a >"$d/f" && cat "$d/f" && echo "$TMPDIR"'
	assert_status 0
	assert_equal "$output" $'a\n/tmp'
	refute_exists "$SCRATCH/missing"
	# One that the user names is the user's business.
	mkdir temporary
	run pen --env "TMPDIR=$WORK/temporary" -- mktemp
	assert_status 0
	[[ $output == "$WORK/temporary/"* ]] || fail "not where it was asked for: $output"
	local name=pinfold-test.$$.$RANDOM left
	run pen -- sh -c "mktemp -t $name.XXXXXX; mktemp -p /var/tmp $name.XXXXXX; mktemp -p /dev/shm $name.XXXXXX"
	assert_status 0
	for left in "/tmp/$name"* "/var/tmp/$name"* "/dev/shm/$name"*; do
		refute_exists "$left"
	done
}

@test "F119 a directory of the caller's own, where it is asked for" {
	mkdir -m 700 "$SCRATCH/mine"
	run pen --tmp "$SCRATCH/mine" -- sh -c 'echo kept >/tmp/f; cat /var/tmp/f'
	assert_status 0
	assert_content "$SCRATCH/mine/f" kept
	run pen --tmp "$SCRATCH/mine" -- cat /tmp/f
	assert_equal "$output" kept
	chmod 755 "$SCRATCH/mine"
	run pen --tmp "$SCRATCH/mine" -- true
	assert_status 125
	chmod 700 "$SCRATCH/mine"
	ln -s mine "$SCRATCH/link"
	run pen --tmp "$SCRATCH/link" -- true
	assert_status 125
}

@test "F121 what was written there can be read back" {
	run pen -- sh -c 'echo a >"$TMPDIR/f" && cat "$TMPDIR/f" && mv "$TMPDIR/f" "$TMPDIR/g" && rm "$TMPDIR/g"'
	assert_status 0
	assert_equal "$output" a
	run pen --read-only -- sh -c 'echo a >"$TMPDIR/f" && cat "$TMPDIR/f"'
	assert_equal "$output" a
	run pen -- python3 -c 'import tempfile
with tempfile.TemporaryFile("w+") as f:
	f.write("a"); f.seek(0); print(f.read())
with tempfile.NamedTemporaryFile() as f:
	open(f.name).close()'
	assert_status 0
}
