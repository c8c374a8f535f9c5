# SPDX-License-Identifier: Apache-2.0
# Path rules: which one decides, and that none undoes another. Most reports behind these are about the order of mounts.
# shellcheck shell=bash disable=SC2154

load ../lib

# config TEXT : the user's configuration, in a home of the test's own.
config() {
	own_home
	mkdir -p "$HOME/.config/pinfold"
	printf '%s\n' "$1" >"$HOME/.config/pinfold/config.json"
}

# field FILE EXPRESSION : a value of a readout, by a Python expression over r.
field() {
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# secret FILE [OPTION...] : no way of reading this file inside shows what stands in it. A way may fail or see nothing.
secret() {
	local file=$1 way
	shift
	canary "$file"
	run cat "$file"
	assert_output_has "$CANARY"
	for way in 'cat "$0"' 'cp "$0" copy; cat copy' 'ln "$0" name; cat name' 'ln -s "$0" link; cat link' \
		'mv "$0" moved; cat moved' 'tar -cf - "$0"' 'cd "$(dirname "$0")" && cat "./$(basename "$0")"' \
		'cat "$(dirname "$0")"/*' 'grep -r canary "$(dirname "$0")"'; do
		run pen "$@" -- sh -c "$way" "$file"
		[ "$status" -ne 125 ] || fail "pinfold did not run it: $output"
		refute_output_has "$CANARY"
		rm -f copy name link moved
	done
	assert_content "$file" "$CANARY"
}

@test "F025 one denied file inside an allowed directory" {
	secret "$WORK/secret.txt" --hide secret.txt
	secret "$WORK/conf/secret.txt" --hide 'conf/secret.*'
	mkdir "$SCRATCH/extra"
	secret "$SCRATCH/extra/secret.txt" --write "$SCRATCH/extra" --hide "$SCRATCH/extra/secret.txt"
	allowed "echo x >'$SCRATCH/extra/other'; echo x >other" --write "$SCRATCH/extra" \
		--hide "$SCRATCH/extra/secret.txt" --hide secret.txt
}

@test "F025 the same by the user's and by the project's file" {
	config '{ "hide": ["secret.txt"] }'
	secret "$WORK/secret.txt"
	own_home && rm "$HOME/.config/pinfold/config.json"
	echo '{ "hide": ["secret.txt"] }' >.pinfold.json
	secret "$WORK/secret.txt"
}

@test "F026 a writable project inside a hidden home" {
	own_home
	mkdir -p "$HOME/src/mine/sub" "$HOME/src/other"
	canary "$HOME/src/other/file"
	cd "$HOME/src/mine/sub"
	# The grant is asked for: without it, a rule of the user's that hides the worktree is a contradiction.
	run pen --hide "$HOME/src" --worktree "$HOME/src/mine" -- touch x
	assert_status 125
	assert_output_has "--read '$HOME/src/mine'"
	local options
	for options in "--hide $HOME --write $HOME/src/mine" "--write $HOME/src/mine --hide $HOME/src" \
		"--hide ~/src --read $HOME/src/mine" '--home hidden'; do
		# shellcheck disable=SC2086 # words
		run pen $options --worktree "$HOME/src/mine" -- sh -c "touch x ../y; cat ../../other/file; ls '$HOME/src'"
		[ -e x ] && [ -e ../y ] || fail "not written with $options:" "$output"
		refute_output_has "$CANARY"
		refute_output_has other$'\n'
		rm x ../y
	done
}

@test "F028 a relative rule that covers the project never moves the command elsewhere" {
	mkdir sub
	cd sub
	local rule
	for rule in .. . ./ ../ "$SCRATCH" "$WORK" "$WORK/.." '*' '**' "$WORK/sub"; do
		run pen --worktree "$WORK" --hide "$rule" -- pwd
		[ "$status" -eq 125 ] && [[ $output == *"$rule"* || $output == *"$WORK"* ]] && continue
		[ "$status" -eq 0 ] && [ "$output" = "$WORK/sub" ] || fail "--hide $rule: status $status" "$output"
	done
}

@test "F029 a file that is hidden in a protected directory stays hidden, and the readout says both" {
	mkdir secrets && echo open >secrets/other
	secret "$WORK/secrets/file" --hide secrets/file --protect secrets
	secret "$WORK/secrets/file" --protect secrets --hide secrets/file
	denied 'echo x >secrets/other' --hide secrets/file --protect secrets
	allowed 'test "$(cat secrets/other)" = x' --hide secrets/file --protect secrets
	"$PINFOLD" config show --json --hide secrets/file --protect secrets >"$SCRATCH/show"
	assert_equal "$(field "$SCRATCH/show" '[r["keys"][k]["items"][0]["value"] for k in ("hide", "protect")]')" \
		"['secrets/file', 'secrets']"
}

@test "F030 what is hidden by the user is not uncovered by a built-in protection" {
	needs git
	new_repo
	mkdir -p .idea
	local file
	for file in .vscode/settings.json .vscode/deep/er/file .idea/file .mcp.json .git/hooks/notes .git/info/attributes; do
		secret "$WORK/$file" --hide "$file"
		secret "$WORK/$file" --hide "${file%/*}"
	done
	run pen --hide .vscode/ -- ls .vscode
	refute_output_has settings.json
}

@test "F033 a mount below the home is seen, and read-only" {
	only_as root
	mkdir "$SCRATCH/mounted" "$WORK/inner"
	mount -t tmpfs none "$SCRATCH/mounted"
	mount -t tmpfs none "$WORK/inner"
	mkdir "$SCRATCH/mounted/deep"
	mount --bind "$SCRATCH/mounted" "$SCRATCH/mounted/deep"
	echo text | tee "$SCRATCH/mounted/file" >"$WORK/inner/file"
	allowed "test \$(cat '$SCRATCH/mounted/file') = text"
	allowed "test \$(cat '$SCRATCH/mounted/deep/file') = text"
	try_denied EROFS -- create "$SCRATCH/mounted/@"
	try_denied EROFS -- create "$SCRATCH/mounted/deep/more-@"
	# What is mounted inside the worktree belongs to it.
	allowed 'test $(cat inner/file) = text && echo more >inner/file'
	assert_content inner/file more
}

teardown() {
	umount "$SCRATCH/mounted/deep" "$SCRATCH/mounted" "$WORK/inner" 2>/dev/null || true
	lib_teardown
}

@test "F035 the lists of the user and of the project add up, and each rule names its file" {
	config '{ "hide": ["a.txt"], "protect": ["p.txt"] }'
	echo '{ "hide": ["b.txt"], "protect": ["q.txt"] }' >.pinfold.json
	secret "$WORK/a.txt"
	secret "$WORK/b.txt"
	touch p.txt q.txt
	denied 'echo x >p.txt'
	denied 'echo x >q.txt'
	"$PINFOLD" config show --json >"$SCRATCH/show"
	assert_equal "$(field "$SCRATCH/show" \
		'[(i["value"], i["source"]["file"]) for k in ("hide", "protect") for i in r["keys"][k]["items"]]')" \
		"$(printf "[('a.txt', '%s'), ('b.txt', '%s'), ('p.txt', '%s'), ('q.txt', '%s')]" \
			"$HOME/.config/pinfold/config.json" "$WORK/.pinfold.json" \
			"$HOME/.config/pinfold/config.json" "$WORK/.pinfold.json")"
}

@test "F036 an empty list of writable paths opens nothing" {
	config '{ "write": [] }'
	denied "touch '$SCRATCH/outside' && rm '$SCRATCH/outside'"
	allowed 'touch inside'
	config '{ "write": [], "read_only": true }'
	denied "touch '$SCRATCH/outside' && rm '$SCRATCH/outside'"
	denied 'touch here && rm here'
}

@test "F037 one key leaves all others as they were" {
	local key
	for key in '"time": "7m"' '"hide": ["nothing-*"]' '"env": ["A=b"]' '"network": "offline"' '"projects": {}' ''; do
		config "{ $key }"
		allowed 'echo x >file; test "$(cat file)" = x'
		denied "touch '$SCRATCH/outside' && rm '$SCRATCH/outside'"
	done
}

@test "F040 a read path takes nothing from the worktree, not even when it is the worktree" {
	mkdir "$SCRATCH/other" sub
	local path
	for path in "$SCRATCH/other" "$WORK" "$WORK/sub" . sub; do
		allowed 'echo a >f && test $(cat f) = a && echo b >sub/g && test $(cat sub/g) = b' --read "$path"
		rm f sub/g
	done
	allowed "echo a >'$SCRATCH/other/f' && test \$(cat '$SCRATCH/other/f') = a" \
		--write "$SCRATCH/other" --read "$SCRATCH/other"
	config "{ \"read\": [\"$WORK\"] }"
	allowed 'echo a >f && test $(cat f) = a'
}

@test "F041 a grant that holds the home is refused, so that no start-up file of it is writable" {
	own_home
	mkdir -p "$HOME/sub"
	cd "$HOME/sub"
	echo true | tee "$HOME/.bashrc" "$HOME/.profile" >"$HOME/.zshrc"
	local path own=(--protect "$HOME/.config/pinfold/config.json" --protect "$HOME/.local/state/pinfold/trust.json")
	for path in "$SCRATCH" "$HOME"; do
		run pen --write "$path" -- touch ran
		assert_status 125
		assert_output_has "'$path'"
		# What the first refusal advises opens nothing.
		run pen --write "$path" "${own[@]}" -- touch ran
		assert_status 125
		assert_output_has "'$path'"
		refute_exists ran
	done
	mkdir "$HOME/beside"
	for path in .bashrc .profile .zshrc; do
		denied "echo true >>'$HOME/$path'" --write "$HOME/beside"
	done
	allowed "touch '$HOME/beside/file'" --write "$HOME/beside"
}

@test "F042 an absolute pattern with a star starts at the root" {
	mkdir -p "$SCRATCH/x-1" "$SCRATCH/x-2" "$WORK$SCRATCH/x-1"
	secret "$SCRATCH/x-1/k" --hide "$SCRATCH/x-*/k"
	secret "$SCRATCH/x-2/k" --hide "$SCRATCH/x-?/k"
	# and does not match the same words below the worktree
	echo text >"$WORK$SCRATCH/x-1/k"
	allowed "test \$(cat '.$SCRATCH/x-1/k') = text" --hide "$SCRATCH/x-*/k"
	own_home
	mkdir -p "$HOME/keys-1"
	secret "$HOME/keys-1/k" --hide '~/keys-*/k'
}

@test "F042 a pattern that matches nothing is told once" {
	run pen --hide "$SCRATCH/no-such-*/k" --record "$SCRATCH/record" -- true
	assert_status 0
	assert_equal "$output" ""
	assert_equal "$(field "$SCRATCH/record" 'sum("no-such-" in w for w in r["warnings"])')" 1
}

@test "F044 the network does not change what files may be touched" {
	own_home
	mkdir "$HOME/.ssh"
	canary "$HOME/.ssh/id"
	echo text >"$SCRATCH/outside"
	local network
	for network in open offline; do
		denied "echo text >'$SCRATCH/outside'" --network $network
		denied "cat '$HOME/.ssh/id'" --network $network
		denied "touch '$HOME/new' && rm '$HOME/new'" --network $network
		allowed "test \$(cat '$SCRATCH/outside') = text && touch inside && touch /tmp/own" --network $network
	done
}
