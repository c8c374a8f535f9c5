# SPDX-License-Identifier: Apache-2.0
# The same places through other mounts. Each test mounts in a namespace of its own, as root or in a user namespace in which
# the caller is then itself again.
# shellcheck shell=bash disable=SC2154,SC2016 # the scripts' own dollars

load ../lib

setup() {
	lib_setup
	own_home
	ALIAS=$SCRATCH/alias
	export ALIAS
	mkdir "$ALIAS"
	canary "$HOME/.ssh/id_ed25519"
	canary "$HOME/.config/gh/hosts.yml"
	echo ordinary >"$HOME/notes"
}

# mounted SCRIPT COMMAND... : the command in a mount namespace in which the script has mounted something.
mounted() {
	local script=$1
	shift
	if ((EUID == 0)); then
		run unshare --mount --propagation private bash -c "$script"' && exec "$@"' mounted "$@"
	else
		run unshare --user --map-root-user --mount bash -c "$script"' && exec unshare --user --map-user="$0" \
			--map-group="$1" "${@:2}"' "$(id -u)" "$(id -g)" "$@"
	fi
}

# is_hidden MOUNTS FILE [OPTION...] : shown without pinfold, and not by a run in the current directory.
is_hidden() {
	local mounts=$1 file=$2
	shift 2
	mounted "$mounts" cat "$file"
	assert_status 0
	assert_output_has canary-
	mounted "$mounts" "$PINFOLD" run "$@" -- sh -c '[ -d . ] && echo ran; cat "$0"' "$file"
	assert_output_has ran
	refute_output_has canary-
}

# is_shown MOUNTS FILE TEXT [OPTION...] : the run sees this in it.
is_shown() {
	local mounts=$1 file=$2 text=$3
	shift 3
	mounted "$mounts" "$PINFOLD" run "$@" -- cat "$file"
	assert_status 0
	assert_equal "$output" "$text"
}

bind_home='mount --bind "$HOME" "$ALIAS"'

@test "E040 a home that another mount shows once more" {
	needs userns unshare
	is_hidden "$bind_home" "$ALIAS/.ssh/id_ed25519"
	mounted "$bind_home" "$PINFOLD" run -- ls -A "$ALIAS"
	assert_status 0
	assert_equal "$output" ''
	is_shown "$bind_home" "$HOME/notes" ordinary
}

@test "E040 a home that is itself a mount of a place which can be seen" {
	needs userns unshare
	local real=$SCRATCH/data/home
	mkdir -p "$SCRATCH/data" && mv "$HOME" "$real" && mkdir "$HOME"
	is_hidden "mount --bind '$real' \"\$HOME\"" "$real/.ssh/id_ed25519"
	is_hidden "mount --bind '$real' \"\$HOME\"" "$HOME/.ssh/id_ed25519"
	is_shown "mount --bind '$real' \"\$HOME\"" "$HOME/notes" ordinary
}

@test "E040 a mount of what lies above the home" {
	needs userns unshare
	is_hidden 'mount --bind "$SCRATCH" "$ALIAS"' "$ALIAS/home/.ssh/id_ed25519"
	is_shown 'mount --bind "$SCRATCH" "$ALIAS"' "$HOME/notes" ordinary
}

@test "E040 a mount of a part of the home, of a hidden directory and of a hidden file" {
	needs userns unshare
	echo ordinary >"$HOME/.config/settings"
	is_hidden 'mount --bind "$HOME/.config" "$ALIAS"' "$ALIAS/gh/hosts.yml"
	is_shown 'mount --bind "$HOME/.config" "$ALIAS"' "$ALIAS/settings" ordinary
	is_hidden 'mount --bind "$HOME/.ssh" "$ALIAS"' "$ALIAS/id_ed25519"
	canary "$HOME/.netrc"
	touch "$SCRATCH/file"
	is_hidden 'mount --bind "$HOME/.netrc" "$SCRATCH/file"' "$SCRATCH/file"
	mounted 'mount --bind "$HOME/.config" "$ALIAS"' "$PINFOLD" run --plan -- true
	assert_output_has "in '$ALIAS', which shows a part of the home once more"
}

@test "E040 a home that is mounted in the home, and one in the worktree" {
	needs userns unshare
	mkdir "$HOME/loop" "$WORK/loop"
	is_hidden 'mount --bind "$HOME" "$HOME/loop"' "$HOME/loop/.ssh/id_ed25519"
	is_hidden 'mount --bind "$HOME" "$WORK/loop"' "$WORK/loop/.ssh/id_ed25519"
}

@test "E040 a worktree in the other mount of the home can be worked in, and the rest is masked" {
	needs userns unshare
	mkdir "$HOME/project"
	local inside='cd "$ALIAS/project" && "$PINFOLD" run -- sh -c '
	mounted "$bind_home" bash -c "$inside"'"pwd; echo text >file; cat ../.ssh/id_ed25519; cat ../notes; ls -a .."'
	assert_status 0
	assert_output_has "$ALIAS/project"
	refute_output_has canary-
	refute_output_has ordinary
	assert_content "$HOME/project/file" text
	canary "$HOME/project/.env"
	mounted "$bind_home" bash -c 'cd "$ALIAS/project" && "$PINFOLD" run --hide .env -- cat "$HOME/project/.env" .env'
	refute_output_has canary-
	is_shown "$bind_home" "$HOME/project/file" text
}

@test "E040 the other mount of the home is opened by name, and its secrets stay hidden" {
	needs userns unshare
	is_shown "$bind_home" "$ALIAS/notes" ordinary --read "$ALIAS" --accept secrets
	is_hidden "$bind_home" "$ALIAS/.ssh/id_ed25519" --read "$ALIAS" --accept secrets
	mounted "$bind_home" "$PINFOLD" run --read "$ALIAS" -- touch ran
	assert_status 125
	assert_output_has "'$ALIAS' shows the home once more"
	refute_exists ran
}

@test "E040 a hidden file of the worktree and one of elsewhere" {
	needs userns unshare
	canary "$WORK/.env"
	canary "$SCRATCH/place/secret"
	mkdir place
	is_hidden 'mount --bind "$WORK" "$ALIAS"' "$ALIAS/.env" --hide '.env'
	is_hidden 'mount --bind "$SCRATCH/place" "$ALIAS"' "$ALIAS/secret" --hide "$SCRATCH/place/secret"
	is_hidden 'mount --bind "$SCRATCH/place" "$WORK/place"' "$WORK/place/secret" --hide "$SCRATCH/place/secret"
}

@test "a protected path of the worktree by another mount" {
	needs userns unshare git
	new_repo
	mkdir inner
	local change='echo x >>"$0/hooks/pre-commit"'
	mounted 'mount --bind "$WORK/.git" "$ALIAS"' sh -c "$change" "$ALIAS"
	assert_status 0
	rm .git/hooks/pre-commit
	mounted 'mount --bind "$WORK/.git" "$ALIAS"' "$PINFOLD" run -- sh -c "$change" "$ALIAS"
	assert_status 2
	mounted 'mount --bind "$WORK/.git" "$WORK/inner"' "$PINFOLD" run -- sh -c "$change" "$WORK/inner"
	assert_status 2
	refute_exists .git/hooks/pre-commit
}

@test "a file of the home that is a mount, as containers have it, is seen" {
	needs userns unshare
	echo given >"$SCRATCH/given"
	touch "$HOME/.gitconfig"
	is_shown 'mount --bind "$SCRATCH/given" "$HOME/.gitconfig"' "$HOME/.gitconfig" given
}

@test "E040 a private home, and a home that is mounted below /tmp with the worktree in it" {
	needs userns unshare
	local place=/tmp/pinfold-test-$$
	is_hidden "$bind_home" "$ALIAS/.ssh/id_ed25519" --home hidden
	mkdir "$HOME/project" "$place"
	LEFTOVERS+=("$place")
	mounted "mount --bind \"\$HOME\" '$place'" bash -c 'cd "$0/project" && "$PINFOLD" run -- sh -c "$1"' "$place" \
		'pwd; touch made; ls -A ..; cat ../.ssh/id_ed25519; cat "$HOME/.ssh/id_ed25519"'
	assert_equal "${lines[0]}" "$place/project"
	assert_equal "${lines[1]}" project
	refute_output_has canary-
	assert_exists "$HOME/project/made"
}
