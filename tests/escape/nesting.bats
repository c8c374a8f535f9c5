# SPDX-License-Identifier: Apache-2.0
# --nesting: the command is root in namespaces of its own, and what the pen's mounts hold stays held.
# shellcheck shell=bash disable=SC2154,SC2016 # what is in single quotes is for the shell inside

load ../lib

setup() {
	lib_setup
	needs userns unshare
	own_home
}

# inside SCRIPT [OPTION...] : as root of a new user and mount namespace in the pen.
inside() {
	local script=$1
	shift
	run timeout 120 "$PINFOLD" run --nesting "$@" -- unshare --user --map-root-user --mount sh -c "$script"
}

@test "E097 --nesting: programs that confine themselves work, and only with it" {
	only_as user
	needs bwrap
	local how='bwrap --unshare-all --die-with-parent --ro-bind / / --dev /dev --proc /proc --bind "$PWD" "$PWD" sh -c "touch here && echo in"'
	run sh -c "$how"
	assert_output_has in
	rm here
	run pen -- sh -c "$how"
	[ "$status" -ne 0 ] || fail "nested without --nesting"
	allowed "$how" --nesting
	assert_output_has in
	assert_exists here
	allowed 'unshare --user --map-root-user --mount --pid --fork --net --ipc --uts --cgroup sh -c "mount -t tmpfs none /tmp && id -u"' --nesting
	assert_output_has 0
}

@test "E097 E101 --nesting is refused for uid 0, which could give files capabilities" {
	only_as root
	run pen --nesting -- touch ran
	assert_status 125
	assert_output_has "--nesting"
	refute_exists ran
}

@test "E097 --nesting is read as weaker, and a project's file cannot ask for it" {
	only_as user
	run pen --nesting --plan -- true
	[[ $output =~ privileges\ +weaker && $output =~ processes\ +weaker && $output =~ writes\ +held ]] || fail "$output"
	[[ $output =~ secrets\ +held && $output =~ repository\ +held && $output =~ services\ +held ]] || fail "$output"
	# What Landlock alone would hold, a file on standard input that nothing shows inside, is a refusal.
	echo text >"$SCRATCH/gone"
	run sh -c 'exec <"$1"; rm "$1"; exec "$0" run --nesting -- touch ran' "$PINFOLD" "$SCRATCH/gone"
	assert_status 125
	assert_output_has 'writes'
	refute_exists ran
	echo '{ "nesting": true }' >.pinfold.json
	denied 'unshare --user true'
}

# Everything by which a mount could be taken off, made writable, or passed by, on each place; then what shows.
UNDO='
	mkdir -p /tmp/at /tmp/new /tmp/upper /tmp/old
	attack() {
		for place in "$HOME" "$HOME/.netrc" "$PWD" "$PWD/.env" "$PWD/.envrc" "$PWD/.git" "$PWD/.git/hooks" / /tmp /run /proc /dev /etc; do
			for how in "umount $place" "umount -l $place" "mount -o remount,rw,bind $place" "mount -o remount,rw $place" \
				"mount --move $place /tmp/at" "mount --bind $place /tmp/at" "mount --rbind $place /tmp/at" \
				"mount --make-rprivate $place" "$ATTEMPT open_tree $place" \
				"mount -t overlay -o lowerdir=$place:/tmp/new none /tmp/at" \
				"mount -t overlay -o lowerdir=$place,upperdir=/tmp/upper/u,workdir=/tmp/upper/w none /tmp/at"; do
				mkdir -p /tmp/upper/u /tmp/upper/w
				$how >/dev/null 2>&1 && [ -d /tmp/at ] && look /tmp/at "$how"
				for below in /tmp/at/.netrc /tmp/at/.env /tmp/at/.envrc /tmp/at/.git/hooks /tmp/at/hooks; do
					umount "$below" 2>/dev/null && echo "TAKEN OFF $below by $how"
				done
				mv /tmp/at/.git/hooks /tmp/at/.git/moved 2>/dev/null && echo "MOVED hooks by $how"
				umount -l /tmp/at 2>/dev/null
				look "$PWD" "$how"
				look "$HOME" "$how"
			done
		done
	}
	# look ROOT HOW : is what is hidden or protected in reach?
	look() {
		grep -hs "$SECRET" "$1/.netrc" "$1/.env" && echo "READ below $1 by $2"
		case $2 in *upperdir*) return ;; esac # writes go to the upper one
		[ -e "$1/.marked" ] || return # a tmpfs of its own
		for file in "$1/.envrc" "$1/.git/hooks/planted" "$1/in-home/notes"; do
			(echo evil >>"$file") 2>/dev/null && echo "WROTE $file by $2"
		done
	}
	attack'

@test "E015 E010 E022 --nesting: no mount of the pen is taken off, made writable or passed by" {
	only_as user
	needs git
	new_repo
	SECRET=canary-$RANDOM$RANDOM
	export SECRET
	echo "$SECRET" >.env
	echo "$SECRET" >"$HOME/.netrc"
	mkdir "$HOME/in-home"
	echo safe | tee .envrc "$HOME/in-home/notes" "$HOME/.marked" >.marked
	# The control: in a namespace of the same kind, but without a pen, all of it shows.
	run unshare --user --map-root-user --mount sh -c 'cat .env "$HOME/.netrc"; echo x >>"$HOME/in-home/notes"'
	assert_equal "$output" "$SECRET"$'\n'"$SECRET"
	echo safe >"$HOME/in-home/notes"
	inside "$UNDO; echo finished" --hide .env
	assert_output_has finished
	local word
	for word in READ WROTE MOVED 'TAKEN OFF'; do
		refute_output_has "$word"
	done
	assert_content "$HOME/in-home/notes" safe
	assert_content .envrc safe
	refute_exists .git/hooks/planted
	assert_exists .git/hooks
}

@test "E015 --nesting: a new root does not bring the old one back" {
	only_as user
	canary "$HOME/.netrc"
	inside 'mkdir /tmp/new && mount -t tmpfs none /tmp/new && mkdir /tmp/new/old /tmp/new/bin &&
		cd /tmp/new && mount --rbind / old && cd old && umount -l "$PWD$HOME" 2>/dev/null && echo TAKEN OFF
		cat "/tmp/new/old$HOME/.netrc" "/proc/1/root$HOME/.netrc" 2>&1; echo finished'
	assert_output_has finished
	refute_output_has "$CANARY"
	refute_output_has TAKEN
}

@test "E001 E002 E005 E050 E060 E077 --nesting: and the rest is refused as without" {
	only_as user
	victim
	echo text >"$SCRATCH/file"
	listener unix "$SCRATCH/service"
	local words before
	while read -r words; do
		# shellcheck disable=SC2086 # words
		run try ${words//@/out}
		[ "$output" = OK ] || fail "outside: $words: $output"
		before=$(cat "$SCRATCH/file")
		inside "'$ATTEMPT' ${words//@/in}"
		[[ $output == @(EROFS|EACCES|EPERM|ESRCH|EXDEV|ENOENT|ECONNREFUSED|ENOSYS|EINVAL) ]] || fail "inside: $words: $output"
	done <<-END
		create $SCRATCH/new-@
		append $SCRATCH/file
		chmod 0755 $SCRATCH/file
		link $SCRATCH/file $WORK/alias-@
		connect-unix $SCRATCH/service
		kill $VICTIM 0
		ptrace-attach $VICTIM
		stat /proc/$VICTIM/root
		clone3
	END
	inside "'$ATTEMPT' tiocsti"
	assert_equal "$output" EPERM
	inside "'$ATTEMPT' chmod 04755 '$WORK'"
	assert_equal "$output" EPERM
	kill -0 "$VICTIM"
	refute_exists "$SCRATCH/new-in"
	assert_content "$SCRATCH/file" "$before"
}

@test "E066 --nesting: what a nested init has left dies with the run" {
	only_as user
	run pen --nesting -- sh -c 'unshare --user --map-root-user --pid --fork sh -c "setsid sh -c \"sleep 0.6; touch late\" & sleep 0.1" &
		sleep 0.2'
	assert_status 0
	sleep 0.9
	refute_exists late
}
