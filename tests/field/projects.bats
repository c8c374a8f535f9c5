# SPDX-License-Identifier: Apache-2.0
# What a checkout may say about its own pen: nothing that opens it. And which directory a run is about.
# shellcheck shell=bash disable=SC2154

load ../lib

setup() {
	lib_setup
	own_home
	RECORD=$SCRATCH/record
}

# user TEXT, project TEXT : the two files.
user() {
	mkdir -p "$HOME/.config/pinfold"
	printf '%s\n' "$1" >"$HOME/.config/pinfold/config.json"
}

project() {
	printf '%s\n' "$1" >.pinfold.json
	chmod 644 .pinfold.json
}

# field FILE EXPRESSION : a value of a readout, by a Python expression over r.
field() {
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# ignored KEY SCRIPT : the project's file asks for this key; the script still fails inside, and the record names the key
# in one warning, while a run that works prints nothing.
ignored() {
	local key=$1 script=$2
	run pen --record "$RECORD" -- sh -c "$script"
	[ "$status" -ne 0 ] && [ "$status" -ne 125 ] || fail "status $status: $key" "$output"
	assert_equal "$(field "$RECORD" "sum('$key' in w and '.pinfold.json' in w for w in r['warnings'])")" 1
	pen --record "$RECORD" -- true
}

# ---- F094: one process, two worktrees ----

@test "F094 two runs of one process, each with its own worktree" {
	needs cc
	local library=${PINFOLD%/*}
	[ -e "$library/libpinfold.so" ] || skip "needs the shared library"
	cc -std=gnu11 -Wall -Wextra -Werror -I "$PROJECT/include" "$PROJECT/tests/live/two_worktrees.c" \
		-o "$SCRATCH/two" -L "$library" -lpinfold
	mkdir "$SCRATCH/first" "$SCRATCH/second"
	export LD_LIBRARY_PATH=$library
	# by --worktree, by the working directory; one after the other, and both at once
	local way
	for way in 'set after' 'load after' 'set together' 'load together'; do
		# shellcheck disable=SC2086 # words
		run "$SCRATCH/two" $way "$SCRATCH/first" "$SCRATCH/second"
		assert_status 0
		assert_exists "$SCRATCH/first/own" && rm "$SCRATCH/first/own"
		assert_exists "$SCRATCH/second/own" && rm "$SCRATCH/second/own"
		refute_exists "$SCRATCH/first/foreign"
		refute_exists "$SCRATCH/second/foreign"
	done
}

# ---- F095: the working directory grants nothing ----

@test "F095 a working directory outside the worktree is not writable" {
	denied "touch '$HOME/new' && rm '$HOME/new'"
	run pen -C "$HOME" --worktree "$WORK" -- sh -c "pwd; touch '$WORK/inside'; touch new"
	[ "$status" -ne 0 ]
	refute_exists "$HOME/new"
	# Either the run is refused, or it starts there and grants nothing.
	if [ "$status" -ne 125 ]; then
		assert_output_has "$HOME"
		assert_exists "$WORK/inside"
	fi
	mkdir "$SCRATCH/other"
	run pen -C "$SCRATCH/other" --worktree "$WORK" -- touch new
	[ "$status" -ne 0 ]
	refute_exists "$SCRATCH/other/new"
}

@test "F095 the home, and what holds it, is no worktree" {
	local dir
	for dir in "$HOME" "$SCRATCH" / /usr /tmp; do
		run pen -C "$dir" -- touch ran
		assert_status 125
		refute_exists "$dir/ran"
	done
	cd "$HOME"
	run pen -- touch ran
	assert_status 125
	refute_exists ran
}

@test "F095 a working directory that does not exist is an error, and no other is taken" {
	run pen -C "$SCRATCH/missing" -- sh -c "pwd; touch '$WORK/ran'"
	assert_status 125
	refute_exists "$WORK/ran"
	mkdir gone
	cd gone
	rmdir ../gone
	run pen -- sh -c "pwd; touch '$WORK/ran'"
	assert_status 125
	refute_exists "$WORK/ran"
	cd "$WORK"
}

# ---- F096, F098: the project's file ----

@test "F096 a project cannot switch the pen off, nor add what may be written" {
	local outside="touch '$SCRATCH/outside'" key
	mkdir "$SCRATCH/extra"
	project '{ "mode": "off" }'
	ignored mode "$outside"
	project '{ "mode": "auto" }'
	ignored mode "$outside"
	project "{ \"write\": [\"$SCRATCH/extra\"] }"
	ignored write "touch '$SCRATCH/extra/file'"
	project "{ \"write\": [\"../extra\"] }"
	ignored write "touch '$SCRATCH/extra/file'"
	project "{ \"write\": [\"$SCRATCH/made/\"] }"
	ignored write "touch '$SCRATCH/made/file'"
	refute_exists "$SCRATCH/made"
	project '{ "write": [".pinfold.json", ".vscode/"] }'
	ignored write 'echo x >>.pinfold.json'
	user '{ "read_only": true }'
	project '{ "read_only": false }'
	ignored read_only 'touch file'
	for key in '"accept": ["writes"]' '"accept": ["writes=absent"]'; do
		project "{ $key }"
		run pen --record "$RECORD" -- sh -c "$outside"
		[ "$status" -ne 0 ]
	done
	refute_exists "$SCRATCH/outside"
}

@test "F096 a project cannot uncover what is hidden" {
	mkdir -p "$HOME/.ssh"
	canary "$HOME/.ssh/id"
	project '{ "read": ["~/.ssh"] }'
	ignored read "cat '$HOME/.ssh/id'"
	project "{ \"write\": [\"$HOME/.ssh\"] }"
	ignored write "cat '$HOME/.ssh/id'"
	user '{ "home": "hidden" }'
	project '{ "home": "masked" }'
	echo text >"$HOME/file"
	ignored home "cat '$HOME/file'"
}

@test "F096 a project cannot open the network, a socket, a device or its repository" {
	needs git
	new_repo
	listener inet
	user '{ "network": "offline" }'
	project '{ "network": "open" }'
	denied "$(connects "$PORT")"
	ignored network "$(connects "$PORT")"
	listener unix "$SCRATCH/socket"
	project "{ \"socket\": [\"$SCRATCH/socket\"] }"
	ignored socket "$ATTEMPT connect-unix '$SCRATCH/socket'"
	project '{ "device": ["/dev/kmsg"] }'
	ignored device 'test -e /dev/kmsg'
	project '{ "git": "open" }'
	ignored git 'echo x >.git/hooks/planted'
}

@test "F096 a project cannot lift a limit, nor choose the temp" {
	user '{ "time": "300ms" }'
	project '{ "time": "1h" }'
	run pen --record "$RECORD" -- sleep 5
	assert_status 124
	project '{ "time": "none" }'
	run pen --record "$RECORD" -- sleep 5
	assert_status 124
	rm "$HOME/.config/pinfold/config.json"
	mkdir -m 700 "$SCRATCH/temp"
	touch "$SCRATCH/temp/mark"
	project "{ \"tmp\": \"$SCRATCH/temp\" }"
	ignored tmp 'test -e /tmp/mark'
}

@test "F096 what tightens needs no trust, and is named nowhere" {
	mkdir "$SCRATCH/extra"
	listener inet
	echo text | tee a.txt b.txt >/dev/null
	project '{ "network": "offline", "hide": ["a.txt"], "protect": ["b.txt"], "time": "1h" }'
	denied "$(connects "$PORT")"
	denied 'grep -q text a.txt'
	denied 'echo text >>b.txt'
	run pen --record "$RECORD" -- true
	assert_equal "$output" ""
	assert_equal "$(field "$RECORD" 'r["warnings"]')" '[]'
	project '{ "read_only": true }'
	denied 'touch new && rm new'
}

@test "F097 whatever a project says, no file can be read, written or made that could not before" {
	user '{ "network": "offline" }'
	mkdir -p sub "$SCRATCH/out" "$HOME/.ssh" "$HOME/.aws" "$HOME/data"
	local file files=()
	for file in "$WORK/a" "$WORK/sub/b" "$WORK/.env" "$WORK/.mcp.json" "$SCRATCH/out/c" "$HOME/.ssh/d" "$HOME/.aws/e" \
		"$HOME/data/f" "$HOME/.netrc"; do
		echo text >"$file"
		files+=("$file")
	done
	run python3 "$PROJECT/tests/field/random_projects.py" "$SCRATCH" "${files[@]}"
	assert_status 0
	assert_output_has 'compared '
}

@test "F098 a project cannot have the user's secrets passed in, nor set variables" {
	export AWS_SECRET_ACCESS_KEY=secret-$$-value AWS_PROFILE=prod-$$ GITHUB_TOKEN=token-$$-value
	run pen -- env
	refute_output_has "secret-$$-value"
	run pen --env AWS_SECRET_ACCESS_KEY -- env # the user may
	assert_output_has "secret-$$-value"
	local env
	for env in '"AWS_SECRET_ACCESS_KEY"' '"GITHUB_TOKEN", "AWS_PROFILE", "AWS_SECRET_ACCESS_KEY"' '"PATH=/evil"' \
		'"LD_PRELOAD=/evil.so"'; do
		project "{ \"env\": [$env] }"
		ignored env 'env | grep "secret-\|token-\|evil"'
	done
	project '{ "env_mode": "all" }'
	ignored env_mode "env | grep 'secret-\|token-'"
}
