# SPDX-License-Identifier: Apache-2.0
# --check tree: one walk after the run over all that the command could write to.
# shellcheck shell=bash disable=SC2154,SC2016

load ../lib

setup() {
	lib_setup
	own_home
	REMOVED=$HOME/.local/state/pinfold/removed
	RECORD=$SCRATCH/record
}

tree() { pen --check tree --record "$RECORD" "$@"; }

# field EXPRESSION : of the record r.
field() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$RECORD" "$1"; }

# warned TEXT [PATH] : one warning of the record has both.
warned() {
	python3 - "$RECORD" "$@" <<-'END' || fail "not in the record: $*" "$(field 'r["warnings"]')"
		import json, sys
		warnings = json.load(open(sys.argv[1]))["warnings"]
		sys.exit(not any(all(word in w for word in sys.argv[2:]) for w in warnings))
	END
}

is_complete() { assert_equal "$(field 'r["check"]')" "{'kind': 'tree', 'complete': $1}"; }

# The actions of the violations below the worktree, sorted.
found() { field '" ".join(sorted(v["action"] + ":" + v["path"][len(r["worktree"]) + 1:] for v in r["violations"]))'; }

PLANT='mkdir -p a/b/.vscode a/c; echo x >a/b/.vscode/tasks.json; touch a/c/my.code-workspace a/c/.pinfold.json'

@test "E012 a protected name at any depth is moved away, and what was there stays" {
	mkdir -p old/.vscode old/.idea && echo mine >old/.vscode/tasks.json && touch old/mine.code-workspace
	run tree -- sh -c "$PLANT; touch old/new.code-workspace a/.envrc a/.npmrc"
	assert_status 0
	is_complete True
	assert_equal "$(found)" 'moved:a/b/.vscode moved:a/c/.pinfold.json moved:a/c/my.code-workspace moved:old/new.code-workspace'
	assert_equal "$(cd "$REMOVED"/* && find . -type f | sort | tr '\n' ' ')" \
		'./a/b/.vscode/tasks.json ./a/c/.pinfold.json ./a/c/my.code-workspace ./old/new.code-workspace '
	assert_content old/.vscode/tasks.json mine
	assert_exists old/.idea
	assert_exists old/mine.code-workspace
	# names that mean something at the top only
	assert_exists a/.envrc
	# The set does not look there.
	run pen --record "$RECORD" -- sh -c "$PLANT"
	assert_equal "$output" ""
	assert_equal "$(field 'r["check"]["kind"]')" set
	assert_exists a/b/.vscode/tasks.json
}

@test "a run that changes nothing of it prints nothing" {
	mkdir -p old/.vscode src && echo mine >old/.vscode/tasks.json
	git init -q .
	run tree -- sh -c 'cat old/.vscode/tasks.json >src/copy; ln src/copy src/again; git add . && git status --short >/dev/null; mkdir -p .git/hooks2'
	assert_status 0
	assert_equal "$output" ""
	is_complete True
	assert_equal "$(found)$(field 'r["warnings"]')" "[]"
}

@test "what was changed or renamed to a protected name is named, and stays" {
	mkdir -p a/.vscode b/.vscode/deep c/code d && echo one | tee a/.vscode/tasks.json b/.vscode/deep/x >c/code/tasks.json
	run tree -- sh -c 'echo two >a/.vscode/more; echo two >b/.vscode/deep/x; mv c/code c/.vscode; mv c/.vscode/tasks.json d/my.code-workspace'
	assert_status 0
	assert_equal "$(found)" 'reported:a/.vscode reported:b/.vscode reported:c/.vscode reported:d/my.code-workspace'
	assert_output_has "'b/.vscode' is a protected name, and what is in it was changed"
	assert_output_has "'c/.vscode' is a protected name, and was made or changed"
	refute_exists "$REMOVED"
}

@test "what only reports is in the record" {
	mkdir -p a/.github b && touch a/.github/copilot-instructions.md b/.gitattributes
	run tree -- sh -c 'echo x >a/.github/copilot-instructions.md; cat b/.gitattributes; touch a/.gitattributes'
	assert_equal "$output" ""
	warned 'decides over other programs' a/.github/copilot-instructions.md
	warned 'decides over other programs' a/.gitattributes
	[[ $(field 'r["warnings"]') != *b/.gitattributes* ]] || fail "it has not changed"
}

@test "a pattern of the user's and a grant hold at any depth" {
	mkdir -p a
	run tree --protect '*.pem' --write .vscode/ --write "$WORK/a/.idea/" -- sh -c 'touch a/key.pem .vscode/x a/.idea/x; mkdir a/.vscode'
	assert_equal "$(found)" 'moved:a/.vscode moved:a/key.pem'
	assert_exists a/.idea/x
}

@test "on_violation: remove, report and fail" {
	mkdir -p a/.idea
	run tree --on-violation report -- sh -c "$PLANT; touch a/.idea/x"
	assert_status 0
	assert_equal "$(found)" 'reported:a/.idea reported:a/b/.vscode reported:a/c/.pinfold.json reported:a/c/my.code-workspace'
	refute_exists "$REMOVED"
	rm -r a/b a/c
	run tree --on-violation fail -- sh -c "$PLANT"
	assert_status 123
	assert_equal "$(found)" 'moved:a/b/.vscode moved:a/c/.pinfold.json moved:a/c/my.code-workspace'
	run tree --on-violation fail -- sh -c 'touch a/.idea/y'
	assert_status 123
	assert_equal "$(found)" reported:a/.idea
	run tree --on-violation fail -- sh -c 'touch a/.idea/z; exit 7'
	assert_status 7
	run tree --on-violation fail -- true
	assert_status 0
}

@test "a project's file may ask for the tree, and cannot take it back" {
	echo '{ "check": "tree" }' >.pinfold.json
	run pen --record "$RECORD" -- sh -c "$PLANT"
	is_complete True
	refute_exists a/b/.vscode
	echo '{ "check": "set" }' >.pinfold.json
	mkdir -p "$HOME/.config/pinfold" && echo '{ "check": "tree" }' >"$HOME/.config/pinfold/config.json"
	run pen --record "$RECORD" -- sh -c "$PLANT"
	is_complete True
	run pen --check other -- true
	assert_status 125
	assert_output_has "tree"
}

@test "E033 repositories that were made, and what git would carry out in them" {
	needs git
	git init -q old
	# The control: git, called in it, carries it out.
	git init -q control && git -C control config core.fsmonitor "touch '$SCRATCH/marker'; false"
	git -C control status >/dev/null 2>&1 || :
	assert_exists "$SCRATCH/marker"
	rm -r control "$SCRATCH/marker"
	run tree -- sh -c "git init -q a/plain; git -C old config user.name x; git init -q a/evil
		git -C a/evil config core.fsmonitor \"touch '$SCRATCH/marker'; false\"; mkdir -p a/evil/.git/hooks; echo x >a/evil/.git/hooks/pre-commit"
	assert_status 0
	is_complete True
	assert_equal "$(found)" 'reported:a/evil/.git/config reported:a/evil/.git/hooks/pre-commit'
	assert_output_has "'a/evil/.git/config' sets core.fsmonitor in a repository that was made during the run"
	warned 'repositories were made' a/plain/.git
	warned 'repositories were made' a/evil/.git
	[[ $(field 'r["warnings"]') != *old/.git* ]] || fail "it was there"
}

@test "E032 the shape of a bare repository anywhere" {
	needs git
	git init -q --bare old.git
	git init -q --bare there.git && rm there.git/HEAD
	sleep 0.02
	run tree -- sh -c 'git init -q --bare a/b/new.git; echo "ref: refs/heads/main" >there.git/HEAD; mkdir -p a/refs a/objects; git -C old.git branch -a'
	assert_status 0
	assert_equal "$(found)" 'reported:a/b/new.git reported:there.git'
	# The control: git takes both for repositories.
	assert_equal "$(git -C there.git rev-parse --is-bare-repository)" true
}

@test "E025 a set-id file that was made during the run, by whomever" {
	cp /bin/true old && chmod 4755 old
	cp /bin/true new
	WORK=$PWD in_background 'meet' --check tree --record "$RECORD"
	wait_for test -e here && chmod 4755 new && mkdir deep && cp -p old deep/other && chmod 2755 deep/other && go && finished
	wait_for test -s "$RECORD"
	assert_equal "$(found)" 'reported:deep/other reported:new'
}

@test "F192 FIFOs and sockets that are left are in the record, others are not" {
	mkfifo old
	run tree -- sh -c 'mkdir a; mkfifo a/new; python3 -c "
import socket; socket.socket(socket.AF_UNIX).bind(\"a/socket\")"'
	assert_equal "$output" ""
	warned 'FIFOs, sockets or devices' "$PWD/a/new" "$PWD/a/socket"
	[[ $(field 'r["warnings"]') != *work/old* ]] || fail "it was there"
}

@test "E006 a file with another name outside that was written to is named, links within are not" {
	echo one >"$SCRATCH/outside"
	ln "$SCRATCH/outside" inside
	run tree -- sh -c 'cat inside; echo x >a; ln a b; mkdir d; ln a d/c'
	assert_equal "$(field 'r["warnings"]')" "[]"
	run tree -- sh -c 'echo two >>inside'
	assert_equal "$(tail -1 "$SCRATCH/outside")" two
	warned 'another name outside' "$PWD/inside"
	is_complete True
}

@test "a directory that the command has closed is looked into, and closed again" {
	run tree -- sh -c 'mkdir -p a/b/.vscode c/.idea; chmod 0 a/b; chmod 500 a; chmod 444 c'
	assert_status 0
	is_complete True
	assert_equal "$(found)" 'moved:a/b/.vscode moved:c/.idea'
	assert_equal "$(stat -c %a a c | tr '\n' ' ')" '500 444 '
	chmod 700 a
	refute_exists a/b/.vscode
}

@test "E018 no link is followed" {
	mkdir -p "$SCRATCH/victim/.vscode"
	run tree -- sh -c "ln -s '$SCRATCH/victim' link; mkdir a; ln -s '$SCRATCH/victim' a/.vscode; ln -s . loop"
	assert_equal "$(found)" moved:a/.vscode
	assert_exists "$SCRATCH/victim/.vscode"
	is_complete True
}

@test "a tree that is too deep leaves the check incomplete, and fail says so" {
	local deep='import os
for i in range(200): os.mkdir("d"); os.chdir("d")
os.mkdir(".vscode")'
	run tree --on-violation fail -- python3 -c "$deep"
	assert_status 123
	is_complete False
	warned 'too deep'
	rm -rf d
	run tree -- python3 -c "$deep"
	assert_status 0
	assert_output_has 'not everything that is protected could be looked at'
}

@test "another mount in the worktree is not entered, and said" {
	only_as root
	needs unshare
	mkdir -p m/x src
	run unshare -m sh -c "mount --bind src m && '$PINFOLD' run --check tree --record '$RECORD' -- mkdir m/.vscode"
	assert_status 0
	is_complete False
	warned 'another mount' "$PWD/m"
}

@test "write paths and git's directory outside are looked through as well" {
	needs git
	new_repo "$SCRATCH/main" && git -C "$SCRATCH/main" worktree add -q "$SCRATCH/linked" && mkdir "$SCRATCH/more"
	cd "$SCRATCH/linked"
	run tree --write "$SCRATCH/more" -- sh -c "mkfifo '$SCRATCH/main/.git/left'; git init -q '$SCRATCH/more/evil'; mkdir '$SCRATCH/more/.vscode'
		git -C '$SCRATCH/more/evil' config core.fsmonitor x; git commit -q --allow-empty -m x"
	assert_status 0
	is_complete True
	warned 'FIFOs' "$SCRATCH/main/.git/left"
	warned 'repositories were made' "$SCRATCH/more/evil"
	assert_equal "$(field '[v["path"] for v in r["violations"]]')" "['$SCRATCH/more/evil/.git/config']"
	assert_exists "$SCRATCH/more/.vscode"
}
