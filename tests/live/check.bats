# SPDX-License-Identifier: Apache-2.0
# The check after the run: what is moved, what is named, what the record and the status say.
# shellcheck shell=bash disable=SC2154

load ../lib
bats_require_minimum_version 1.5.0

setup() {
	lib_setup
	own_home
	REMOVED=$HOME/.local/state/pinfold/removed
}

# field FILE EXPRESSION : of the record r.
field() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }

# The directory of the one run that has moved something.
removed() {
	set -- "$REMOVED"/*
	[ $# -eq 1 ] && [ -d "$1" ] && echo "$1"
}

@test "what appears at a protected name is moved away whole, and named in one line" {
	run pen -- sh -c 'mkdir -p .vscode/sub && echo one >.vscode/sub/a; echo two >.envrc; echo work >file'
	assert_status 0
	assert_equal "$(grep -c . <<<"$output")" 2
	assert_output_has "pinfold: '.vscode' appeared at a protected name: moved to '$(removed)/.vscode'"
	assert_content "$(removed)/.vscode/sub/a" one
	assert_content "$(removed)/.envrc" two
	assert_equal "$(stat -c %a "$(removed)")" 700
	assert_equal "$(ls -A)" file
}

@test "the record names what was found" {
	run pen --record "$SCRATCH/record" -- sh -c 'echo x >.envrc; exit 5'
	assert_status 5
	assert_equal "$(field "$SCRATCH/record" 'r["check"]')" "{'kind': 'set', 'complete': True}"
	assert_equal "$(field "$SCRATCH/record" '[(v["path"], v["action"]) for v in r["violations"]]')" \
		"[('$WORK/.envrc', 'moved')]"
	assert_exists "$(field "$SCRATCH/record" 'r["violations"][0]["moved_to"]')"
	assert_equal "$(field "$SCRATCH/record" 'r["exit"]["reason"]')" None
}

@test "report leaves it, and the plan says so" {
	run pen --on-violation report -- touch .envrc
	assert_status 0
	assert_output_has "'.envrc'"
	assert_exists .envrc
	refute_exists "$REMOVED"
	run pen --on-violation report --plan -- true
	assert_output_has 'only named (on_violation report)'
}

@test "fail moves it and makes the status 123, where it was 0" {
	run pen --on-violation fail --record "$SCRATCH/record" -- touch .envrc
	assert_status 123
	refute_exists .envrc
	assert_equal "$(field "$SCRATCH/record" 'r["exit"]["code"], r["exit"]["reason"]')" "(123, 'violation')"
	run pen --on-violation fail -- sh -c 'touch .envrc; exit 7'
	assert_status 7
	refute_exists .envrc
	run pen --on-violation fail -- true
	assert_status 0
}

@test "a project's file cannot make it report" {
	echo '{ "on_violation": "report" }' >.pinfold.json
	run pen -- touch .envrc
	refute_exists .envrc
	echo '{ "on_violation": "fail" }' >.pinfold.json
	run pen -- touch .envrc
	assert_status 123
	refute_exists .envrc
}

@test "what was there, what is granted and what is no protected name stays" {
	mkdir .claude && echo '{}' >.claude/settings.json && echo x >.envrc
	run pen --write .vscode/ -- sh -c 'touch .vscode/a .claude/notes .envrc2; mkdir deep; touch deep/.mcp.json'
	assert_status 0
	assert_equal "$output" ""
	assert_exists .vscode/a
	assert_exists .claude/notes
	assert_exists deep/.mcp.json
	assert_exists .envrc
}

@test "a read-only worktree, a bare run and one that never took place are not checked" {
	run pen --read-only --record "$SCRATCH/record" -- true
	assert_equal "$(field "$SCRATCH/record" 'r["check"]["kind"]')" none
	run pen --mode off --record "$SCRATCH/record" -- touch .envrc
	assert_equal "$(field "$SCRATCH/record" 'r["check"]["kind"]')" none
	assert_exists .envrc
	run -127 pen --record "$SCRATCH/record" -- ./missing
	assert_equal "$(field "$SCRATCH/record" 'r["check"]["kind"]')" none
}

@test "on another file system it is copied" {
	[ "$(stat -c %d /dev/shm)" != "$(stat -c %d .)" ] || skip "one file system"
	XDG_STATE_HOME=$(mktemp -d /dev/shm/pinfold-test.XXXXXX)
	export XDG_STATE_HOME
	LEFTOVERS+=("$XDG_STATE_HOME")
	run pen -- sh -c 'mkdir -p .vscode/d; echo one >.vscode/d/a; ln -s /etc/passwd .vscode/link; mkfifo .vscode/fifo; echo x >.envrc'
	assert_status 0
	assert_equal "$(ls -A)" ""
	assert_content "$(echo "$XDG_STATE_HOME"/pinfold/removed/*/.vscode/d/a)" one
	assert_equal "$(readlink "$XDG_STATE_HOME"/pinfold/removed/*/.vscode/link)" /etc/passwd
}

@test "what cannot be copied gets another name where it is" {
	[ "$(stat -c %d /dev/shm)" != "$(stat -c %d .)" ] || skip "one file system"
	XDG_STATE_HOME=$(mktemp -d /dev/shm/pinfold-test.XXXXXX)
	export XDG_STATE_HOME
	LEFTOVERS+=("$XDG_STATE_HOME")
	run pen --record "$SCRATCH/record" -- sh -c 'head -c 20000000 /dev/zero >.envrc'
	assert_status 0
	refute_exists .envrc
	assert_equal "$(field "$SCRATCH/record" 'r["violations"][0]["action"]')" renamed
	assert_equal "$(echo .envrc.removed-by-pinfold-*)" "$(field "$SCRATCH/record" 'r["violations"][0]["moved_to"]')"
}

@test "a directory that its owner may not write, either" {
	run pen -- sh -c 'mkdir .vscode && touch .vscode/a && chmod 0 .vscode'
	assert_status 0
	refute_exists .vscode
	assert_output_has "moved to"
}

@test "what cannot be looked at leaves the check incomplete" {
	local other=$SCRATCH/other
	# The worktree is not the one any more that the run began with: nothing is touched in another one.
	in_background 'meet' --record "$SCRATCH/record" --on-violation fail
	wait_for test -e here && mv "$WORK" "$other" && mkdir "$WORK" && touch "$WORK/.envrc" "$other/go"
	wait_for test -s "$SCRATCH/record"
	assert_equal "$(field "$SCRATCH/record" 'r["check"]["complete"], r["violations"], r["exit"]["code"]')" "(False, [], 123)"
	assert_exists "$WORK/.envrc"
}

@test "E011 a protected file that the host changes during the run is named, and kept" {
	needs git
	new_repo
	local before
	in_background 'meet' --record "$SCRATCH/record"
	wait_for test -e here && git config core.editor other && go && finished
	wait_for test -s "$SCRATCH/record"
	assert_equal "$(field "$SCRATCH/record" '[(v["path"], v["action"]) for v in r["violations"]]')" \
		"[('$WORK/.git/config', 'reported')]"
	assert_equal "$(git config core.editor)" other
}

@test "F012 a checkout that brings a protected name ends with it moved, and git brings it back" {
	needs git
	new_repo
	git switch -q -c other && mkdir .vscode && echo '{}' >.vscode/settings.json && git add . && git commit -q -m settings
	git switch -q main
	run pen -- git switch -q other
	assert_status 0
	assert_output_has "'.vscode'"
	assert_equal "$(git status --porcelain)" " D .vscode/settings.json"
	git restore .vscode && assert_equal "$(git status --porcelain)" ""
	# There, it is protected like any other.
	run pen -- true
	assert_equal "$output" ""
}

@test "a lock that a killed command leaves is in the record, not on the terminal" {
	needs git
	new_repo
	run pen --record "$SCRATCH/record" -- touch .git/index.lock
	assert_equal "$output" ""
	[[ $(field "$SCRATCH/record" 'r["warnings"]') == *index.lock* ]] || fail "not in the record"
	assert_exists .git/index.lock
}

@test "a large index is read only after a run that has written it" {
	needs git
	git init -q .
	blob=$(git hash-object -w --stdin </dev/null)
	seq 12000 | sed "s|.*|100644 $blob	some/longer/directory/name/to/fill/the/index/file&|" | git update-index --index-info
	[ "$(stat -c %s .git/index)" -gt 1048576 ] || fail 'the index is too small for this test'
	sleep 0.05 # older than the run, also by a coarse clock
	run pen --record "$SCRATCH/still" -- true
	assert_status 0
	field "$SCRATCH/still" 'r["warnings"]' | grep -q "index' is large and has not changed"
	run pen --record "$SCRATCH/written" -- sh -c 'git init -q sub && git -C sub -c user.name=t -c user.email=t@example.org commit -q --allow-empty -m x &&
		git -C sub config core.fsmonitor false && git add sub 2>/dev/null'
	assert_status 0
	assert_output_has "'sub/.git/config'"
	! field "$SCRATCH/written" 'r["warnings"]' | grep -q 'has not changed'
}

@test "E012 E036 E038 a name that only a wildcard protects" {
	mkdir -p .claude sub/deep there && echo mine | tee .claude/settings.mine.json >.autoenv.mine
	cd sub
	local plant='cd ..; touch my.code-workspace sub/my.code-workspace sub/deep/my.code-workspace .windsurf-x .claude/settings.x.json
		mkdir .cargo; touch .cargo/config.x .autoenv.mine2 plain'
	run pen --worktree "$WORK" --on-violation report -- sh -c "$plant"
	assert_status 0
	assert_equal "$(grep -c "appeared at a protected name" <<<"$output")" 6
	cd "$WORK" && rm -r my.code-workspace sub/*.code-workspace .windsurf-x .claude/settings.x.json .cargo .autoenv.mine2
	cd sub
	run pen --worktree "$WORK" --write "$WORK/.windsurf-x/" --record "$SCRATCH/record" -- sh -c "$plant; touch .windsurf-x/work"
	assert_status 0
	cd "$WORK"
	assert_equal "$(cd "$(removed)" && find . -type f | sort | tr '\n' ' ')" \
		'./.autoenv.mine2 ./.cargo/config.x ./.claude/settings.x.json ./my.code-workspace ./sub/my.code-workspace '
	assert_exists .windsurf-x/work
	assert_exists sub/deep/my.code-workspace
	# What was there is held by a mount.
	denied 'echo x >.claude/settings.mine.json'
	run pen --record "$SCRATCH/record" -- true
	assert_equal "$output" ""
	assert_equal "$(field "$SCRATCH/record" 'r["check"]["complete"]')" True
}

@test "a directory with very many names is not searched for those of a wildcard, and the check is not complete" {
	run pen --record "$SCRATCH/record" -- python3 -c 'for i in range(66000): open("f%d" % i, "w").close()'
	assert_status 0
	assert_output_has 'not everything that is protected could be looked at'
	field "$SCRATCH/record" 'r["warnings"]' | grep -q 'too many names'
	# Where nothing was added there is nothing to be searched.
	sleep 0.05
	run pen --record "$SCRATCH/record" -- true
	assert_equal "$output" ""
	assert_equal "$(field "$SCRATCH/record" 'r["check"]["complete"]')" True
}

@test "E037 E039 instructions, pins and files of CI may change, and the record says which did" {
	mkdir -p .github/workflows sub && echo x | tee CLAUDE.md .github/workflows/ci.yml .env >sub/.gitattributes
	cd sub
	run pen --worktree "$WORK" --record "$SCRATCH/record" -- sh -c 'cd ..; echo more >>CLAUDE.md; echo more >>.github/workflows/ci.yml; rm .env
		touch AGENTS.md .gitattributes Makefile package.json; echo "* text" >>sub/.gitattributes'
	assert_status 0
	assert_equal "$output" ""
	assert_equal "$(field "$SCRATCH/record" '"\n".join(sorted(r["warnings"]))')" "\
'$WORK/.env' is gone: can move an agent's home
'$WORK/.gitattributes' was made: picks filters and diff programs
'$WORK/.github/workflows' was changed: runs in CI
'$WORK/AGENTS.md' was made: instructions
'$WORK/CLAUDE.md' was changed: instructions
'$WORK/sub/.gitattributes' was changed: picks filters and diff programs"
	run pen --worktree "$WORK" --record "$SCRATCH/record" -- cat ../CLAUDE.md
	assert_equal "$(field "$SCRATCH/record" 'r["warnings"]')" "[]"
}
