# SPDX-License-Identifier: Apache-2.0
# Toolchains that live in the home (catalogue F108 to F110): they are found and they run, whatever PATH holds.
# shellcheck shell=bash disable=SC2154,SC2016 # what is in single quotes is for the shell inside

bats_require_minimum_version 1.5.0 # run -127
load ../lib

setup() {
	lib_setup
	own_home
	PATH=/usr/local/bin:/usr/bin:/bin
}

# version_manager DIR TOOL : a shim in DIR/shims that looks for its root as pyenv does, and the program behind it.
version_manager() {
	mkdir -p "$HOME/$1/shims" "$HOME/$1/versions/1/bin"
	printf '#!/bin/sh\nexec "${SHIM_ROOT:-$HOME/%s}/versions/1/bin/%s" "$@"\n' "$1" "$2" >"$HOME/$1/shims/$2"
	printf '#!/bin/sh\necho "%s one, home $HOME"\n' "$2" >"$HOME/$1/versions/1/bin/$2"
	chmod +x "$HOME/$1/shims/$2" "$HOME/$1/versions/1/bin/$2"
}

# The programs that a version manager would have installed are those of the system; only their places are in the home.
real_toolchains() {
	mkdir -p "$HOME/.nvm/versions/node/v1/bin" "$HOME/.pyenv/shims" "$HOME/.pyenv/versions/3/bin" "$HOME/.cargo/bin" \
		"$HOME/.rustup/toolchains/stable/bin"
	ln -s "$(command -v node)" "$HOME/.nvm/versions/node/v1/bin/node"
	ln -s "$(command -v python3)" "$HOME/.pyenv/versions/3/bin/python"
	printf '#!/bin/sh\nexec "$HOME/.pyenv/versions/3/bin/python" "$@"\n' >"$HOME/.pyenv/shims/python"
	# rustup's shim takes its place from RUSTUP_HOME, else from HOME.
	printf '#!/bin/sh\nexec "${RUSTUP_HOME:-$HOME/.rustup}/toolchains/stable/bin/cargo" "$@"\n' >"$HOME/.cargo/bin/cargo"
	printf '#!/bin/sh\necho cargo 1\n' >"$HOME/.rustup/toolchains/stable/bin/cargo"
	chmod +x "$HOME/.pyenv/shims/python" "$HOME/.cargo/bin/cargo" "$HOME/.rustup/toolchains/stable/bin/cargo"
	PATH=$HOME/.cargo/bin:$HOME/.pyenv/shims:$HOME/.nvm/versions/node/v1/bin:$PATH
}

toolchains_work() {
	run pen "$@" -- sh -c 'cargo --version && python -V && node -v'
	assert_status 0
	assert_output_has 'cargo 1'
	assert_output_has 'Python 3'
	assert_output_has $'\nv'
}

@test "F108 tools behind shims in the home are found" {
	version_manager .pyenv tool
	PATH=$HOME/.pyenv/shims:$PATH
	run pen -- tool
	assert_status 0
	assert_equal "$output" "tool one, home $HOME"
	run pen -- sh -c tool
	assert_equal "$output" "tool one, home $HOME"
	run pen --home hidden -- tool
	assert_equal "$output" "tool one, home $HOME"
}

@test "F108 so are those of a place that no list knows, read-only" {
	version_manager .odd-manager tool
	PATH=$HOME/.odd-manager/shims:$PATH
	run pen -- tool
	assert_equal "$output" "tool one, home $HOME"
	denied 'touch ~/.odd-manager/shims/new && rm ~/.odd-manager/shims/new'
}

@test "F108 what a private home leaves out can be named" {
	version_manager .odd-manager tool
	PATH=$HOME/.odd-manager/shims:$PATH
	run -127 pen --home hidden -- tool
	run pen --home hidden --read "$HOME/.odd-manager" -- tool
	assert_equal "$output" "tool one, home $HOME"
}

@test "F109 a directory of PATH that cannot be entered stops no search" {
	needs node
	mkdir -p "$HOME/.aws/bin" "$SCRATCH/closed"
	chmod 0 "$SCRATCH/closed"
	PATH=$HOME/.aws/bin:$SCRATCH/closed:$SCRATCH/missing:$PATH
	printf 'require("child_process").spawn("git", ["--version"], {stdio: "inherit"})
		.on("error", e => { console.log("error", e.code); process.exit(1) })\n' >spawn.js
	# A directory of mode 0 stops node outside, too (not root, who enters it); one that is hidden must not.
	run pen -- git --version
	assert_status 0
	PATH=$HOME/.aws/bin:$SCRATCH/missing:/usr/local/bin:/usr/bin:/bin
	run pen -- node spawn.js
	assert_status 0
	assert_output_has 'git version'
	run pen --hide "$SCRATCH/masked" -- true
	assert_status 0
}

@test "F109 a hidden directory in PATH outside the home, too" {
	needs node
	mkdir "$SCRATCH/masked" "$HOME/.kube"
	printf 'require("child_process").spawn("git", ["--version"], {stdio: "inherit"})
		.on("error", e => { console.log("error", e.code); process.exit(1) })\n' >spawn.js
	PATH=$SCRATCH/masked:$HOME/.kube:$PATH
	run pen --hide "$SCRATCH/masked" -- node spawn.js
	assert_status 0
	assert_output_has 'git version'
	run pen --hide "$SCRATCH/masked" -- python3 -c 'import subprocess; subprocess.run(["git", "--version"], check=True)'
	assert_status 0
	run pen --hide "$SCRATCH/masked" -- sh -c 'git --version && env git --version'
	assert_status 0
}

@test "F110 toolchains work with the real home and with a private one" {
	needs node python3
	real_toolchains
	toolchains_work
	toolchains_work --home hidden
	RUSTUP_HOME=$HOME/.rustup PYENV_ROOT=$HOME/.pyenv NVM_DIR=$HOME/.nvm toolchains_work --env-mode list
}

@test "F110 a write to the home fails and leaves the toolchain as it was" {
	needs node python3
	real_toolchains
	denied 'echo changed >~/.rustup/settings.toml'
	rm ~/.rustup/settings.toml
	run pen -- sh -c 'cargo --version; echo x >~/.rustup/settings.toml; python -c "open(\"$HOME/.pyenv/version\", \"w\")"'
	[ "$status" -ne 0 ] || fail "the home was written to"
	assert_output_has 'cargo 1'
	refute_exists "$HOME/.rustup/settings.toml"
	refute_exists "$HOME/.pyenv/version"
}
