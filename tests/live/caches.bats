# SPDX-License-Identifier: Apache-2.0
# Caches: each tool finds a private one of the user's, which stays for the next run; the host's is neither changed nor
# trusted.
# shellcheck shell=bash disable=SC2154

load ../lib

setup() {
	lib_setup
	own_home
}

# bats test_tags=core
@test "a cache is kept for the next run, and the host's own does not change" {
	mkdir -p "$HOME/.npm" "$HOME/.cache/pip"
	echo hosts >"$HOME/.npm/hosts"
	denied "test -e '$HOME/.npm/hosts'"
	allowed "echo x >'$HOME/.npm/kept' && mkdir -p '$HOME/.cache/pip' && echo y >'$HOME/.cache/pip/kept'"
	allowed "grep -q x '$HOME/.npm/kept' && grep -q y '$HOME/.cache/pip/kept'"
	refute_exists "$HOME/.npm/kept"
	refute_exists "$HOME/.cache/pip/kept"
	assert_content "$HOME/.npm/hosts" hosts
	assert_content "$HOME/.cache/pinfold/npm/kept" x
	assert_equal "$(stat -c %a:%u "$HOME/.cache/pinfold/npm")" "700:$(id -u)"
}

@test "every place of the table is writable inside, and untouched outside" {
	local place
	for place in .npm .cache .cargo/registry .cargo/git go/pkg .ccache .yarn/berry .local/share/pnpm/store; do
		mkdir -p "$HOME/$place"
		touch "$HOME/$place/hosts"
		denied "test -e '$HOME/$place/hosts'"
		allowed "touch '$HOME/$place/inside'"
		refute_exists "$HOME/$place/inside"
	done
}

@test "a variable that moves the cache is followed" {
	mkdir "$SCRATCH/moved"
	export npm_config_cache=$SCRATCH/moved
	allowed "echo x >'$SCRATCH/moved/kept'"
	refute_exists "$SCRATCH/moved/kept"
	assert_content "$HOME/.cache/pinfold/npm/kept" x
	export XDG_CACHE_HOME=$SCRATCH/caches
	mkdir "$XDG_CACHE_HOME"
	allowed "echo y >'$SCRATCH/caches/kept'"
	refute_exists "$SCRATCH/caches/kept"
	assert_content "$SCRATCH/caches/pinfold/xdg/kept" y
}

@test "the rest of the home stays as it is" {
	mkdir -p "$HOME/.cargo/bin"
	denied "touch '$HOME/.cargo/bin/tool'"
	denied "touch '$HOME/go' && test -f '$HOME/go'"
	allowed "touch '$HOME/.cargo/registry/index'"
}

@test "pinfold's caches cannot be reached past the binds, nor pinfold's own files" {
	pen -- true
	mkdir -p "$HOME/.config/pinfold" "$HOME/.local/state/pinfold"
	echo '{}' >"$HOME/.config/pinfold/config.json"
	denied "echo >>'$HOME/.config/pinfold/config.json'"
	printf '{}\n' >"$HOME/.config/pinfold/config.json"
	denied "touch '$HOME/.local/state/pinfold/trust.json'"
	rm "$HOME/.local/state/pinfold/trust.json"
	denied "ls '$HOME/.cache/pinfold/npm'"
}

@test "a cache directory that is a link is not followed" {
	mkdir -p "$HOME/.cache/pinfold" "$SCRATCH/precious"
	ln -s "$SCRATCH/precious" "$HOME/.cache/pinfold/npm"
	run pen -- sh -c "touch '$HOME/.npm/file'"
	refute_exists "$SCRATCH/precious/file"
}

@test "--read-only: caches stay writable, so that a tool that only reads the worktree works" {
	allowed "touch '$HOME/.npm/file'" --read-only
}

# one_warning TEXT : the run works without caches, and its record and --plan say why, once.
one_warning() {
	run pen --record "$SCRATCH/record" -- touch "$HOME/.npm/file"
	assert_status 0
	assert_equal "$(grep -o "$1" "$SCRATCH/record" | wc -l)" 1
	run "$PINFOLD" run --plan -- true
	assert_equal "$(grep -c "$1" <<<"$output")" 1
	rm -rf "$HOME/.cache/pinfold"
}

@test "where no cache can be kept the run goes on, and the record and --plan say so" {
	mkdir -p "$HOME/.cache" "$SCRATCH/elsewhere"
	ln -s "$SCRATCH/elsewhere" "$HOME/.cache/pinfold"
	one_warning 'is no directory that can be used'
	assert_equal "$(ls "$SCRATCH/elsewhere")" ''
	touch "$HOME/.cache/pinfold"
	one_warning 'is no directory that can be used'
	only_as user
	mkdir "$HOME/.cache/pinfold"
	chmod 555 "$HOME/.cache/pinfold"
	one_warning 'cannot be written'
	chmod 555 "$HOME/.cache"
	one_warning 'cannot be made'
	chmod 755 "$HOME/.cache"
}
