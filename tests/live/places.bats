# SPDX-License-Identifier: Apache-2.0
# Where a project may lie, and what it may be called: the pen is the same everywhere.
# shellcheck shell=bash disable=SC2154

load ../lib

setup() {
	lib_setup
	MOUNTS=()
}

teardown() {
	local i
	cd / || return 1
	for ((i = ${#MOUNTS[@]} - 1; i >= 0; i--)); do umount -l "${MOUNTS[i]}"; done
	lib_teardown
}

mounted() {
	mount "$@" && MOUNTS+=("${!#}")
}

# good_place DIR : a project is made there and behaves as any: the command starts in it by the same name, what it writes
# is there, git works, nothing outside changes, and nothing is left but what the command wrote.
good_place() {
	local dir=$1 outside
	outside=$HOME/outside-${SCRATCH##*/}
	LEFTOVERS+=("$outside")
	mkdir -p -- "$dir/sub" && cd -- "$dir" || return 1
	git init -q -b main . && git -c user.name=A -c user.email=a@example.invalid commit -q --allow-empty -m first
	run sh -c "touch '$outside' && rm '$outside'"
	assert_status 0
	run pen --record "$SCRATCH/record" -- sh -c '[ "$(pwd -P)" = "$1" ] || exit 3
		[ "$PWD" = "$1" ] || exit 4
		echo text >file && mkdir made && mv file made && cat made/file >sub/copy || exit 5
		git status --porcelain >sub/status || exit 6
		git add made && git -c user.name=A -c user.email=a@example.invalid commit -q -m second || exit 7
		touch "$0" 2>/dev/null && exit 8
		touch ../beside 2>/dev/null # below /tmp that may succeed, in the private one
		exit 0' "$outside" "$(pwd -P)"
	[ "$status" -eq 0 ] || fail "status $status in $(printf %q "$dir"):" "$output"
	assert_equal "$output" ""
	assert_content made/file text
	refute_exists "$outside"
	refute_exists ../beside
	assert_equal "$(git status --porcelain | tr '\n' ' ')" '?? sub/ '
	assert_equal "$(git log --format=%s | tr '\n' ' ')" 'second first '
	# also from below, and by --worktree from elsewhere
	run pen -C "$dir/sub" -- sh -c 'echo more >../more && [ "$(git rev-parse --show-toplevel)" = "$0" ]' "$(pwd -P)"
	assert_status 0
	cd "$SCRATCH"
	run pen --worktree "$dir" -C "$dir/sub" -- rm ../more
	assert_status 0
	refute_exists "$dir/more"
}

@test "a project in the home, and one below a hidden name of it" {
	needs git
	good_place "$SCRATCH/plain"
	own_home
	good_place "$HOME/project"
	good_place "$HOME/a/b/c/d/e/f/project"
	good_place "$HOME/.hidden/project"
}

@test "a project inside a hidden directory sees itself and nothing beside it" {
	needs git
	own_home
	local dir
	for dir in .config/gcloud .ssh .aws .local/share/keyrings .docker/contexts .cache/some; do
		canary "$HOME/$dir/secret"
		echo ours >"$HOME/$dir/other"
		good_place "$HOME/$dir/proj"
		cd "$HOME/$dir/proj"
		case $dir in .cache/*) continue ;; esac # a private cache, no secret
		run pen -- sh -c 'cat ../secret; ls ..'
		refute_output_has "$CANARY"
		refute_output_has other
		run pen -- sh -c 'mv ../proj ../moved || rmdir ../proj || echo x >../new'
		[ "$status" -ne 0 ]
	done
}

@test "a project in a home that is a link" {
	needs git
	mkdir "$SCRATCH/real"
	ln -s real "$SCRATCH/link"
	HOME=$SCRATCH/link
	unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_HOME
	canary "$SCRATCH/real/.ssh/id"
	good_place "$SCRATCH/real/project"
	mkdir "$HOME/second"
	cd "$HOME/second" # the name that the shell shows goes through the link
	run pen -- sh -c 'echo text >file; cat ~/.ssh/id; cat "$0"; touch ~/new' "$SCRATCH/real/.ssh/id"
	[ "$status" -ne 0 ]
	refute_output_has "$CANARY"
	assert_content "$SCRATCH/real/second/file" text
	refute_exists "$SCRATCH/real/new"
}

@test "a project below /tmp and below /var/tmp, where else everything is private" {
	needs git
	local base dir
	for base in /tmp /var/tmp; do
		dir=$(mktemp -d "$base/pinfold-place.XXXXXX")
		LEFTOVERS+=("$dir" "$base/beside-$$")
		mkdir "$dir/p"
		echo text >"$dir/other"
		good_place "$dir/p/project"
		cd "$dir/p/project"
		run pen -- sh -c "cat '$dir/other'; touch '$base/beside-$$' && echo made"
		refute_output_has text
		assert_output_has made
		refute_exists "$base/beside-$$"
		cd "$SCRATCH"
	done
}

@test "a project on a mount of its own, and one that a mount lies in" {
	only_as root
	needs git
	mkdir "$SCRATCH/mnt" "$SCRATCH/bound" "$SCRATCH/from"
	mounted -t tmpfs none "$SCRATCH/mnt"
	good_place "$SCRATCH/mnt/project"
	mounted -t tmpfs none "$SCRATCH/mnt/project/sub"
	cd "$SCRATCH/mnt/project"
	allowed 'echo text >sub/inner && cat sub/inner'
	assert_content sub/inner text
	good_place "$SCRATCH/from/project"
	mounted --bind "$SCRATCH/from" "$SCRATCH/bound"
	cd "$SCRATCH/bound/project"
	allowed 'git status && echo text >file'
	try_denied 'EROFS|EACCES' -- create "$SCRATCH/bound/@"
	try_denied 'EROFS|EACCES' -- create "$SCRATCH/from/second-@"
	assert_content "$SCRATCH/from/project/file" text
}

@test "the top of a mount is a project as any other" {
	only_as root
	needs git
	mkdir "$SCRATCH/mnt"
	mounted -t tmpfs none "$SCRATCH/mnt"
	good_place "$SCRATCH/mnt"
}

@test "a project outside of every home" {
	only_as root
	needs git
	local dir
	dir=$(mktemp -d /srv/pinfold-place.XXXXXX)
	LEFTOVERS+=("$dir")
	good_place "$dir/project"
}

@test "F193 a mount that does not answer holds nobody up, and one that may not be read neither" {
	only_as root
	needs python3
	[ -c /dev/fuse ] || skip "needs fuse"
	local dir
	mkdir "$SCRATCH/dead" "$SCRATCH/foreign" "$SCRATCH/away"
	# The server takes no request: whoever asks waits.
	for dir in dead:0 foreign:12345 away:0; do
		spawn python3 "$PROJECT/tests/live/dead_mount.py" "$SCRATCH/${dir%:*}" "${dir#*:}"
		wait_for grep -q " $SCRATCH/${dir%:*} " /proc/self/mountinfo
		MOUNTS+=("$SCRATCH/${dir%:*}")
	done
	run timeout 5 "$PINFOLD" run -- sh -c 'echo text >file'
	assert_status 0
	assert_equal "$output" ""
	assert_content file text
	run timeout 5 "$PINFOLD" run --plan -- true
	assert_status 0
	# outside of the home
	dir=$(mktemp -d /srv/pinfold-place.XXXXXX)
	LEFTOVERS+=("$dir")
	spawn python3 "$PROJECT/tests/live/dead_mount.py" "$dir" 0
	wait_for grep -q " $dir " /proc/self/mountinfo
	MOUNTS+=("$dir")
	run timeout 5 "$PINFOLD" run -- true
	assert_status 0
}

# Red before: the clock began when the command had been executed.
@test "E110 --time: a command that hangs in execve on a dead file system is ended as well" {
	only_as root
	needs python3
	[ -c /dev/fuse ] || skip "needs /dev/fuse"
	mkdir "$SCRATCH/dead"
	# The id that the command has on the host, since FUSE lets nobody else in.
	spawn python3 "$PROJECT/tests/live/dead_mount.py" "$SCRATCH/dead" "$(pen -- awk '{ print $2 }' /proc/self/uid_map)"
	wait_for grep -q " $SCRATCH/dead " /proc/self/mountinfo # a look at the mount itself would wait for ever
	MOUNTS+=("$SCRATCH/dead")
	SECONDS=0
	run timeout 20 "$PINFOLD" run --time 500ms --record "$SCRATCH/record" -- "$SCRATCH/dead/program"
	assert_status 124
	[ "$SECONDS" -le 5 ] || fail "after $SECONDS seconds"
	assert_output_has 'before the command was started'
	grep -q '"timed_out": *true' "$SCRATCH/record"
}

@test "F196 names with blanks, quotes, newlines, a dash in front, bytes that are no text" {
	needs git
	local name long
	long=$(printf 'x%.0s' {1..250})
	for name in 'a b' ' lead' 'trail ' "it's" 'a"b' 'back\slash' $'new\nline' $'tab\there' '(paren)' '-dash' '--' '-rf' \
		'$(touch evil)' '`id`' 'a;b' 'a:b,c=d' '*?[x]' '#hash' '~' '%s%n' '\040' $'\xff\xfe' $'\x01\x7f' '...' 'ünïcödé' \
		"$long"; do
		good_place "$SCRATCH/in/$name/$name"
		rm -rf -- "${SCRATCH:?}/in"
	done
}

@test "F196 such names as paths of rules, and in the readouts" {
	local name
	for name in 'a b' "it's" 'a"b' 'a:b,c=d' $'new\nline' '-dash' $'\xff\xfe' '(paren)'; do
		mkdir -p -- "$SCRATCH/extra/$name"
		echo text >"$SCRATCH/extra/$name/old"
		run pen -- sh -c 'echo x >"$0/new"' "$SCRATCH/extra/$name"
		[ "$status" -ne 0 ]
		run pen --write "$SCRATCH/extra/$name" -- sh -c 'echo x >"$0/new"' "$SCRATCH/extra/$name"
		assert_status 0
		assert_content "$SCRATCH/extra/$name/new" x
		echo secret-$$ >"$WORK/$name.txt"
		assert_equal "$(pen -- cat "./$name.txt")" "secret-$$"
		run pen --hide "$WORK/$name.txt" -- sh -c 'cat "./$0.txt"; cat ./*.txt' "$name"
		refute_output_has "secret-$$"
		run pen --plan --json --write "$SCRATCH/extra/$name" --hide "$WORK/$name.txt" -- true
		assert_status 0
		printf '%s' "$output" | python3 -c 'import json, sys; json.load(sys.stdin)'
		rm -f -- "$WORK/$name.txt"
	done
}

@test "a path that is longer than the kernel takes at once" {
	local dir=$SCRATCH/deep i name
	name=$(printf 'y%.0s' {1..200})
	mkdir "$dir" && cd "$dir"
	for i in {1..25}; do mkdir "$name" && cd -P "$name" 2>/dev/null || break; done
	# Either it works, or it is an error before the command; never another directory.
	run pen -- sh -c 'echo text >file && pwd -P'
	if [ "$status" -eq 0 ]; then
		assert_content file text
	else
		assert_status 125
		refute_exists "$SCRATCH/deep/file"
	fi
	cd "$SCRATCH"
}

@test "the umask is the command's; what the pen makes of its own has its modes whatever it is" {
	local mask
	mkdir "$SCRATCH/project" && cd "$SCRATCH/project" && git init -q || return 1
	for mask in 0077 0027 0002; do
		umask $mask
		run pen --offline -- sh -c 'umask; touch file /tmp/file
			stat -c "%a %n" /tmp /var/tmp /dev/shm /dev /run /run/pinfold /etc/resolv.conf'
		assert_status 0
		assert_equal "$output" "$mask
1777 /tmp
1777 /var/tmp
1777 /dev/shm
755 /dev
755 /run
755 /run/pinfold
444 /etc/resolv.conf"
		assert_equal "$(stat -c %a file)" "$(printf %o $((0666 & ~mask)))"
		rm file
	done
}
