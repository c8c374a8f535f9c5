# SPDX-License-Identifier: Apache-2.0
# git in its layouts: what users of other sandboxes could not do, and what could be turned against them.
# shellcheck shell=bash disable=SC2154

bats_require_minimum_version 1.5.0 # run --separate-stderr
load ../lib

setup() {
	lib_setup
	needs git
	own_home
	git config --global user.name 'A Tester'
	git config --global user.email tester@example.invalid
	git config --global protocol.file.allow always
}

# The repository in DIR with the linked worktree LINKED beside it.
with_linked() {
	MAIN=$SCRATCH/main LINKED=$SCRATCH/linked
	new_repo "$MAIN"
	git -C "$MAIN" worktree add -q -b topic "$LINKED"
}

# fails SCRIPT [OPTION...] : the command says no. (Status 125 to 127 would be a run that never took place.)
fails() {
	local script=$1
	shift
	run pen "$@" -- sh -c "$script"
	[[ $status -ne 0 && ($status -lt 125 || $status -gt 127) ]] || fail "status $status: $script" "$output"
}

# warned TEXT : the last run with --record "$SCRATCH/record" says this, and in one warning.
warned() {
	python3 - "$SCRATCH/record" "$1" <<-'END'
		import json, sys
		warnings = json.load(open(sys.argv[1]))["warnings"]
		assert len(warnings) == 1 and sys.argv[2] in warnings[0], warnings
	END
}

@test "F001 a commit in a linked worktree" {
	with_linked
	local before
	before=$(cksum "$MAIN"/.git/config "$MAIN"/.git/HEAD "$MAIN"/.git/index "$MAIN"/.git/hooks/*)
	cd "$LINKED"
	allowed 'echo more >>file && git add file && git commit -q -m more'
	assert_equal "$(git -C "$MAIN" log -1 --format=%s topic)" more
	assert_equal "$(git -C "$MAIN" fsck --strict 2>&1)" ''
	assert_equal "$(cksum "$MAIN"/.git/config "$MAIN"/.git/HEAD "$MAIN"/.git/index "$MAIN"/.git/hooks/*)" "$before"
}

@test "F003 one command starts in every kind of checkout" {
	with_linked
	git clone -q --bare "$MAIN" "$SCRATCH/bare.git"
	git -C "$SCRATCH/bare.git" worktree add -q "$SCRATCH/of-bare" topic
	new_repo "$SCRATCH/super"
	git -C "$SCRATCH/super" submodule --quiet add "$MAIN" sub
	mkdir "$SCRATCH/none"
	local dir
	for dir in "$MAIN" "$LINKED" "$SCRATCH/of-bare" "$SCRATCH/super/sub" "$SCRATCH/bare.git" "$SCRATCH/none"; do
		cd "$dir"
		run pen -- date
		[ "$status" -eq 0 ] || fail "$dir: $output"
	done
}

@test "F004 a grant of the main repository's git directory is honoured" {
	with_linked
	cd "$LINKED"
	allowed 'echo more >>file && git add file && git commit -q -m more' --write "$MAIN/.git"
	# what git protects stays so under the user's grant, and the plan shows it
	try_denied 'EROFS|EACCES|EPERM' --write "$MAIN/.git" -- create "$MAIN/.git/hooks/new-@"
	run "$PINFOLD" run --plan --write "$MAIN/.git" -- true
	assert_output_has "$MAIN/.git/hooks (ro,"
	# without a way back it is the user's word that counts
	git clone -q --separate-git-dir="$SCRATCH/store" "$MAIN" "$SCRATCH/apart"
	cd "$SCRATCH/apart"
	fails 'echo more >>file && git add file'
	allowed 'git add file && git commit -q -m more' --write "$SCRATCH/store"
	try_denied 'EROFS|EACCES|EPERM' --write "$SCRATCH/store" -- create "$SCRATCH/store/hooks/new-@"
}

@test "F005 git works in an ordinary clone, and hooks and configuration are refused" {
	new_repo "$SCRATCH/source"
	git clone -q "$SCRATCH/source" "$WORK/clone"
	git -C "$SCRATCH/source" commit -q --allow-empty -m newer
	cd "$WORK/clone"
	allowed 'echo a >a && git add a && git commit -q -m a'
	allowed 'echo wip >>a && git stash -q && git stash pop -q && git commit -q -a -m b'
	allowed 'git switch -q -c side HEAD~1 && echo c >c && git add c && git commit -q -m c && git switch -q main'
	allowed 'git merge -q -m merged side && git switch -q side && git rebase -q main && git fetch -q'
	assert_equal "$(git log -1 --format=%s origin/main)" newer
	try_denied 'EROFS|EACCES|EPERM' -- create "$PWD/.git/hooks/new-@"
	local before
	before=$(cksum .git/config)
	run pen -- sh -c 'echo "[core] fsmonitor = ./plant" >>.git/config'
	assert_equal "$(cksum .git/config)" "$before"
}

# The `repo` tool: .git is a link into a shared tree, whose objects/ is a link once more.
@test "F006 a submodule, and a checkout whose .git is a link" {
	new_repo "$SCRATCH/source"
	new_repo "$SCRATCH/super"
	git -C "$SCRATCH/super" submodule --quiet add "$SCRATCH/source" sub
	cd "$SCRATCH/super/sub"
	allowed 'git status --porcelain && echo more >>file && git commit -q -a -m more'

	git clone -q "$SCRATCH/source" "$SCRATCH/tree/app"
	mkdir -p "$SCRATCH/tree/.repo/projects" "$SCRATCH/tree/.repo/objects"
	cd "$SCRATCH/tree/app"
	mv .git ../.repo/projects/app.git
	ln -s ../.repo/projects/app.git .git
	git config core.worktree "$PWD"
	allowed 'git status --porcelain && echo more >>file && git commit -q -a -m linked'
	mv .git/objects ../.repo/objects/app
	ln -s ../../objects/app .git/objects
	git status --porcelain
	run pen --record "$SCRATCH/record" -- git status --porcelain
	assert_status 0
	warned "$SCRATCH/tree/.repo/projects/app.git"
	fails 'git commit -q --allow-empty -m shared'
	allowed 'git commit -q --allow-empty -m shared' --write "$SCRATCH/tree/.repo"
	assert_equal "$(git fsck --strict 2>&1)" ''
}

@test "F007 the host's git works while a command runs, and no lock appears" {
	with_linked
	WORK=$LINKED
	cd "$LINKED"
	in_background 'meet; git commit -q --allow-empty -m inside'
	wait_for test -e here
	assert_equal "$(find "$MAIN/.git" -name '*.lock')" ''
	git config x.y z
	git -C "$MAIN" worktree add -q -b other "$SCRATCH/other"
	git -C "$MAIN" commit -q --allow-empty -m host
	go
	finished
	assert_content said ''
	assert_equal "$(git log -1 --format=%s)" inside
	assert_equal "$(git config x.y)" z
	assert_equal "$(find "$MAIN/.git" -name '*.lock')" ''
	assert_equal "$(git fsck --strict 2>&1)" ''
}

@test "F008 a sparse checkout's configuration of its own is read, and not written" {
	with_linked
	local top
	for top in "$MAIN" "$LINKED"; do
		cd "$top"
		git sparse-checkout init --cone
		assert_exists "$(git rev-parse --git-dir)/config.worktree"
		allowed 'git status --porcelain && git commit -q --allow-empty -m sparse'
		denied 'echo >>"$(git rev-parse --git-dir)/config.worktree"'
	done
}

@test "F009 a worktree that is made later, in a protected directory" {
	new_repo
	mkdir .vscode
	echo '{}' >.vscode/settings.json
	allowed true
	git worktree add -q -b later .vscode/later
	cd .vscode/later
	allowed 'echo more >>file && git commit -q -a -m later'
}

@test "F011 writes of the configuration end well, and what is not kept is named" {
	with_linked
	git -C "$MAIN" branch upstream
	cd "$LINKED"
	allowed 'git config user.name x && git branch --set-upstream-to=upstream'
	assert_output_has 'user.name was not kept'
	assert_equal "$(git config branch.topic.merge)" refs/heads/upstream
	allowed 'git commit -q --allow-empty -m more'
	assert_equal "$(find "$MAIN/.git" -name '*.lock' -o -name 'tmp_*')" ''
	assert_equal "$(git config user.name)" 'A Tester'
}

# with_settings : a repository in the worktree with a protected file that differs between main and other, and that is
# gone in gone. The line that is said before the start is in BEFORE.
with_settings() {
	new_repo "$WORK"
	mkdir .vscode sub && echo one >.vscode/settings.json && echo one >sub/file
	git add . && git commit -q -m settings
	git switch -q -c other && echo two >.vscode/settings.json && echo two >sub/file && git commit -q -a -m two
	git switch -q -c gone main && git rm -q .vscode/settings.json && git commit -q -m gone
	git switch -q main
	BEFORE="pinfold: '.vscode/settings.json' is protected, and git tracks it"
}

# says_half COMMAND... : it ends as git says, and its last line is what git could not do; the command in it, which mends
# it, is in MEND.
says_half() {
	run --separate-stderr "$PINFOLD" run --record "$SCRATCH/record" "$@"
	assert_status 0
	MEND=$(sed -n "\$s/^pinfold: git could not .*: outside, '\(.*\)' does$/\1/p" <<<"$stderr")
	[ -n "$MEND" ] || fail "not said: $stderr"
	[[ $(cat "$SCRATCH/record") == *'"git could not '* ]] || fail "not in the record"
}

@test "F012 a switch that git leaves half done is told before and after, with what mends it" {
	with_settings
	says_half -- git switch -q other
	[[ ${stderr_lines[0]} == "$BEFORE"* ]] || fail "not told before: $stderr"
	# The control: git itself has noticed nothing, and would stumble over it.
	assert_equal "$(git status --porcelain)" ' M .vscode/settings.json'
	run git switch -q main
	[ "$status" -ne 0 ] || fail "git goes on by itself"
	eval "$MEND"
	assert_equal "$(git status --porcelain)" ''
	assert_content .vscode/settings.json two
	git switch -q main
	assert_content .vscode/settings.json one
}

@test "F012 also from a script, from below the top, and for a checkout that detaches" {
	with_settings
	echo 'git switch -q other' >"$SCRATCH/script"
	cp "$SCRATCH/script" script && cd sub
	says_half -- sh ../script
	[ "${#stderr_lines[@]}" -eq 2 ] || fail "more than git's error and the line after: $stderr"
	eval "$MEND" && cd .. && rm script
	assert_equal "$(git status --porcelain)" ''
	git switch -q main
	says_half -- git checkout -q --detach other
	eval "$MEND"
	assert_equal "$(git status --porcelain)" ''
	assert_content .vscode/settings.json two
}

@test "F012 a pull, a merge and a reset that meet a protected file fail by themselves, told before" {
	with_settings
	local words before
	before=$(git rev-parse HEAD)
	for words in 'pull -q --no-rebase . other' 'merge -q other' 'reset -q --hard other'; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr pen -- git $words
		[ "$status" -ne 0 ] || fail "git $words says that all is well"
		[[ ${stderr_lines[0]} == "$BEFORE"* && $stderr != *'git could not'* ]] || fail "$stderr"
		assert_equal "$(git rev-parse HEAD)" "$before"
		git reset -q --hard
	done
}

@test "F012 a protected file that the new commit does not have" {
	with_settings
	says_half -- git switch -q gone
	assert_equal "$(git status --porcelain)" '?? .vscode/'
	eval "$MEND"
	assert_equal "$(git status --porcelain)" ''
}

@test "F012 in a linked worktree, and with names that a shell would read" {
	with_settings
	git worktree add -q "$WORK/it's linked" other && cd "$WORK/it's linked"
	says_half -- git switch -q --detach main
	eval "$MEND"
	assert_equal "$(git status --porcelain)" ''
}

@test "F012 nothing is said where git has done all, and of what the user has changed" {
	with_settings
	git switch -q -c same && echo two >sub/file && git commit -q -a -m same && git switch -q main
	run --separate-stderr pen -- git switch -q same
	assert_status 0
	[[ ${#stderr_lines[@]} -eq 1 && $stderr == "$BEFORE"* ]] || fail "$stderr"
	run --separate-stderr pen --quiet -- git switch -q main
	assert_equal "$stderr" ''
	# A change of the user's own is no work of git's.
	echo own >.vscode/settings.json
	run --separate-stderr pen -- sh -c 'echo more >sub/file && git add sub && git commit -q -m more'
	assert_equal "$status $stderr" '0 '
	git restore .vscode
	# Words alone do not make a line: what is not tracked, other words, another policy.
	for words in 'git status' 'git log --oneline' 'echo github switch' 'echo switch'; do
		run --separate-stderr pen -- sh -c "$words"
		assert_equal "$stderr" ''
	done
	run --separate-stderr pen --write .vscode/ -- git switch -q other
	assert_equal "$status $stderr" '0 '
	assert_equal "$(git status --porcelain)" ''
	git switch -q main && git rm -q -r --cached .vscode && git commit -q -m untracked
	run --separate-stderr pen -- git switch -q -c new
	assert_equal "$status $stderr" '0 '
}

@test "F013 what cannot be undone: .git can be emptied but for what decides over git" {
	new_repo
	local before
	before=$(cksum .git/config)
	fails 'rm -rf .git'
	assert_equal "$(cksum .git/config)" "$before"
	assert_exists .git/hooks
	# with --git readonly nothing of it goes
	rm -rf .git && new_repo
	fails 'rm -rf .git' --git readonly
	assert_equal "$(git fsck --strict 2>&1)" ''
}

@test "F014 a directory of another owner that holds repositories is no repository" {
	only_as root
	mkdir "$SCRATCH/outer"
	chmod 755 "$SCRATCH" "$SCRATCH/outer"
	new_repo "$SCRATCH/outer/inner"
	chown -R 12345:12345 "$SCRATCH/outer/inner"
	cd "$SCRATCH/outer"
	allowed true
	assert_equal "$(ls -A)" inner
}

# refused_pointer : the run of the worktree says in one warning that nothing is granted, and nothing is: with git or
# without, commands work.
refused_pointer() {
	local place=$1
	run pen --record "$SCRATCH/record" -- true
	assert_status 0
	warned 'not write to it'
	try_denied 'EROFS|EACCES|EPERM|ENOENT' -- create "$place/new-@"
	rm "$place/new-out"
}

@test "F015 a forged pointer grants nothing" {
	with_linked
	mkdir -p "$HOME/.ssh"
	echo key >"$HOME/.ssh/id"
	# to the keys
	echo "gitdir: $HOME/.ssh" >.git
	refused_pointer "$HOME/.ssh"
	ln -sfn "$HOME/.ssh" .git
	refused_pointer "$HOME/.ssh"
	# to somebody else's repository, and to somebody else's registration
	rm .git
	echo "gitdir: $MAIN/.git" >.git
	refused_pointer "$MAIN/.git"
	echo "gitdir: $MAIN/.git/worktrees/linked" >.git
	refused_pointer "$MAIN/.git"
	# to a registration of the command's own, whose commondir leads there
	mkdir -p fake/worktrees/x
	cp "$MAIN/.git/HEAD" fake/worktrees/x/HEAD
	echo "$MAIN/.git" >fake/worktrees/x/commondir
	echo "$WORK/.git" >fake/worktrees/x/gitdir
	echo "gitdir: fake/worktrees/x" >.git
	refused_pointer "$MAIN/.git"
	# to a git directory of the right shape in the worktree, whose objects are the keys
	rm -rf fake
	mkdir -p fake/refs
	cp "$MAIN/.git/HEAD" fake/HEAD
	printf '[core]\n\tworktree = %s\n' "$WORK" >fake/config
	ln -s "$HOME/.ssh" fake/objects
	echo "gitdir: fake" >.git
	try_denied 'EROFS|EACCES|EPERM|ENOENT' -- create "$HOME/.ssh/new-@"
	rm "$HOME/.ssh/new-out"
	assert_equal "$(ls "$HOME/.ssh")" id
}

@test "F016 a linked worktree's repository cannot be moved away from under its hooks" {
	with_linked
	git clone -q --bare "$MAIN" "$LINKED/hub"
	cd "$LINKED"
	fails "mv '$MAIN/.git' '$MAIN/away'"
	fails "mv '$MAIN/.git/hooks' '$MAIN/.git/away'"
	fails "mv '$MAIN/.git/worktrees' '$MAIN/.git/away'"
	fails 'mv .git away && git init -q'
	refute_exists "$MAIN/.git/away"
	git status --porcelain
}

@test "F017 E034 nothing that a run plants is carried out by git outside" {
	with_linked
	git -C "$MAIN" branch base
	cd "$LINKED"
	local mark=$SCRATCH/mark git=$MAIN/.git own=$MAIN/.git/worktrees/linked
	printf '#!/bin/sh\ntouch %q\n' "$mark" >plant.sh
	chmod +x plant.sh
	run pen -- sh -c "
		for hooks in '$git/hooks' '$own/hooks' hooks; do
			for hook in pre-commit post-commit post-checkout post-index-change reference-transaction; do
				mkdir -p \$hooks; cp plant.sh \$hooks/\$hook
			done
		done
		git config core.hooksPath '$LINKED/hooks'
		git config core.fsmonitor '$LINKED/plant.sh'
		git config filter.evil.clean '$LINKED/plant.sh'; echo '* filter=evil' >.gitattributes
		git config alias.status '!$LINKED/plant.sh'
		for config in '$git/config' '$git/config.worktree' '$own/config.worktree' '$own/config'; do
			printf '[core]\n\tfsmonitor = $LINKED/plant.sh\n\thooksPath = $LINKED/hooks\n' >>\$config
		done
		cp -r '$git' fake; printf '[core]\n\tfsmonitor = $LINKED/plant.sh\n' >>fake/config
		echo '$LINKED/fake' >'$own/commondir'; echo '$LINKED/fake' >'$git/commondir'
		echo 'gitdir: $LINKED/fake' >.git
		mv .git away; mv '$git/worktrees' '$git/away'
		exit 0"
	assert_status 0
	git status
	echo more >>file
	git commit -q -a -m outside
	git switch -q base
	git -C "$MAIN" status
	git -C "$MAIN" commit -q --allow-empty -m outside
	refute_exists "$mark"
	# each of them would have been enough
	git config core.fsmonitor "$LINKED/plant.sh"
	git status
	assert_exists "$mark"
}
