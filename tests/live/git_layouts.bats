# SPDX-License-Identifier: Apache-2.0
# git's layouts: what a developer does with git works in each of them, and what decides over git outside stays as it is.
# shellcheck shell=bash disable=SC2154

load ../lib

setup() {
	lib_setup
	needs git
	own_home # git's own settings of whoever runs the tests are none of this
	cat >"$HOME/.gitconfig" <<-'END'
		[user]
			name = A Tester
			email = tester@example.invalid
		[protocol "file"]
			allow = always
	END
	new_repo "$SCRATCH/source"
	git -C "$SCRATCH/source" switch -q -c topic
}

# ---- the layouts; each leaves the worktree in TOP, its own git directory in OWN, the common one in COMMON ----

clone() {
	TOP=$SCRATCH/clone
	git clone -q "$SCRATCH/source" "$TOP"
	OWN=$TOP/.git COMMON=$OWN
}

linked() {
	local main=$SCRATCH/main
	git clone -q "$SCRATCH/source" "$main"
	TOP=$SCRATCH/linked COMMON=$main/.git OWN=$main/.git/worktrees/linked
	git -C "$main" worktree add -q -b work "$TOP"
}

bare() {
	COMMON=$SCRATCH/bare.git TOP=$SCRATCH/of-bare OWN=$SCRATCH/bare.git/worktrees/of-bare
	git clone -q --bare "$SCRATCH/source" "$COMMON"
	git -C "$COMMON" worktree add -q -b work "$TOP"
}

submodule() {
	local super=$SCRATCH/super
	new_repo "$super"
	git -C "$super" submodule --quiet add "$SCRATCH/source" lib/sub
	git -C "$super" commit -q -m submodule
	TOP=$super/lib/sub OWN=$super/.git/modules/lib/sub COMMON=$OWN
}

# git leaves no way back to the worktree here, unless core.worktree is set.
separate() {
	TOP=$SCRATCH/apart OWN=$SCRATCH/store COMMON=$OWN
	git clone -q --separate-git-dir="$OWN" "$SCRATCH/source" "$TOP"
	git -C "$TOP" config core.worktree "$TOP"
}

LAYOUTS='clone linked bare submodule separate'

# fails SCRIPT [OPTION...] : git inside says no. (Status 125 to 127 would be a run that never took place.)
fails() {
	local script=$1
	shift
	run pen "$@" -- sh -c "$script"
	[[ $status -ne 0 && ($status -lt 125 || $status -gt 127) ]] || fail "status $status: $script" "$output"
}

# ---- what is looked at ----

# What decides over git outside, and what is another worktree's.
decisive() {
	(
		cd "$COMMON" || exit
		find hooks config config.worktree commondir info/attributes modules worktrees/*/{commondir,gitdir,config.worktree} \
			-type f -exec cksum {} + 2>/dev/null
		[ "$OWN" = "$COMMON" ] || cksum HEAD index
		[ -d "$TOP/.git" ] || cksum "$TOP/.git"
	) | sort
}

# Nothing half done: no lock, no temporary file, all objects there.
is_sound() {
	run git -C "$TOP" fsck --strict --no-dangling
	assert_status 0
	assert_equal "$output" ''
	assert_equal "$(find "$COMMON" "$OWN" -name '*.lock' -o -name 'tmp_*' -o -name 'gc.pid')" ''
}

# jobs : a day with git, run as one command.
jobs() {
	cat <<-END
		set -e
		save() { echo "\$1" >>"\$1"; git add "\$1"; git commit -q -m "\$1"; }
		git switch -q -c day
		save file
		echo wip >>file; git stash -q; git stash pop -q; git checkout -q -- file
		git switch -q -c feature; save feature
		git switch -q day; save other
		git merge -q -m merged feature
		git switch -q -c rebased HEAD~1; save third; git rebase -q feature
		git switch -q -c picked day; git cherry-pick rebased >/dev/null
		git switch -q --detach day; git switch -q day
		git reset -q --hard HEAD~1; git reset -q --hard day@{1}
		git rm -q feature; git commit -q -m removed; git commit -q --amend -m gone; git revert --no-edit HEAD >/dev/null
		git branch spare; git update-ref -d refs/heads/spare
		git tag light; git tag -a -m heavy heavy
		git fetch -q "$SCRATCH/source" main:fetched
		git notes add -m note HEAD
		git pack-refs --all
		git repack -q -a -d
		git status --porcelain; git log --oneline -3 >/dev/null; git worktree list >/dev/null
	END
}

@test "F001 F005 the jobs of a day work in each layout, and what decides over git stays as it is" {
	local layout before
	for layout in $LAYOUTS; do
		"$layout"
		cd "$TOP"
		before=$(decisive)
		[ -n "$before" ]
		run pen -- sh -c "$(jobs)"
		[ "$status" -eq 0 ] && [ -z "$output" ] || fail "$layout: status $status: $output"
		assert_equal "$(decisive)" "$before"
		is_sound
		assert_equal "$(git status --porcelain)" ''
		assert_equal "$(git rev-parse -q --verify heavy^{commit})" "$(git rev-parse light)"
		git switch -q -c outside && git commit -q --allow-empty -m outside
	done
}

@test "submodules, from the top and in them, in a clone and in a linked worktree" {
	submodule
	local super=$SCRATCH/super top first
	first=$(git -C "$TOP" rev-parse HEAD)
	git -C "$super" worktree add -q -b copy "$SCRATCH/copy"
	git -C "$SCRATCH/copy" submodule --quiet update --init
	for top in "$super" "$SCRATCH/copy"; do
		cd "$top"
		allowed 'git submodule foreach -q "echo more >>file && git commit -q -a -m from-the-top"'
		allowed 'git submodule status && git add lib/sub && git commit -q -m further && git status --porcelain'
		cd lib/sub
		allowed 'echo more >>file && git commit -q -a -m inside && git pack-refs --all'
		assert_equal "$(git log --format=%s -2)" "inside
from-the-top"
		git fsck --strict
		cd "$top"
		git commit -q -a -m inside
		git -C lib/sub switch -q --detach "$first"
		allowed 'git submodule --quiet update'
		assert_equal "$(git -C lib/sub log -1 --format=%s)" inside
	done
}

@test "E033 E034 the checkout of a submodule leads nowhere else" {
	submodule
	cd "$SCRATCH/super"
	local path
	for path in .git/modules/lib/sub/config .git/modules/lib/sub/hooks lib/sub/.git; do
		try rename "$PWD/$path" "$PWD/$path.away" && mv "$path.away" "$path"
		try_refused 'EBUSY|EROFS|EACCES|EPERM|EXDEV' -- rename "$PWD/$path" "$PWD/away"
	done
	try_denied 'EROFS|EACCES|EPERM' -- create "$PWD/.git/modules/lib/sub/hooks/post-checkout-@"
}

@test "the main checkout and the sibling worktrees of a linked one are read-only" {
	linked
	local main=$SCRATCH/main path
	git -C "$main" worktree add -q -b sibling "$SCRATCH/sibling"
	cd "$TOP"
	for path in "$main/new-@" "$SCRATCH/sibling/new-@" "$main/.git/hooks/new-@" "$main/.git/worktrees/new-@" \
		"$main/.git/worktrees/sibling/new-@"; do
		try_denied 'EROFS|EACCES|EPERM' -- create "$path"
		rm "${path%@}out"
	done
	for path in HEAD index config worktrees hooks worktrees/linked worktrees/linked/commondir worktrees/linked/gitdir; do
		try_refused 'EBUSY|EROFS|EACCES|EPERM|EXDEV' -- rename "$main/.git/$path" "$main/.git/away"
	done
	try_refused 'EBUSY|EROFS|EACCES|EPERM' -- unlink "$TOP/.git"
	for path in HEAD index worktrees/linked/commondir worktrees/linked/gitdir worktrees/sibling/HEAD; do
		denied "echo >>'$main/.git/$path.tried'; : >>'$main/.git/$path'"
		rm "$main/.git/$path.tried"
	done
	git -C "$main" status --porcelain
	git -C "$SCRATCH/sibling" status --porcelain
}

@test "what a linked worktree refuses by nature ends with an error and nothing half done" {
	linked
	cd "$TOP"
	fails 'git worktree add -q -b new inner'
	refute_exists "$COMMON/worktrees/inner"
	is_sound
	git switch -q -c afterwards
}

@test "--git readonly and open, in each layout" {
	local layout
	for layout in linked bare submodule separate; do
		"$layout"
		cd "$TOP"
		echo more >>file
		fails 'git add file' --git readonly
		fails 'git add file' --read-only
		allowed 'git status --porcelain' --git readonly
		allowed 'git commit -q -a -m more && git config x.y z && git branch -m renamed' --git open
		assert_equal "$(git config x.y)" z
	done
}

@test "a bare repository with its worktrees in it opens no sibling" {
	COMMON=$SCRATCH/hub TOP=$COMMON/work
	git clone -q --bare "$SCRATCH/source" "$COMMON"
	git -C "$COMMON" worktree add -q -b work "$TOP"
	git -C "$COMMON" worktree add -q -b next "$COMMON/next"
	cd "$TOP"
	allowed 'echo more >>file && git commit -q -a -m more && git switch -q -c other && git merge -q work && git stash list'
	try_denied 'EROFS|EACCES|EPERM' -- create "$COMMON/next/new-@"
	try_denied 'EROFS|EACCES|EPERM' -- create "$COMMON/new-@"
	fails 'git branch gone && git branch -q -D gone'
	allowed 'git branch -q -D gone' --write "$COMMON"
	git fsck --strict
}

@test "a repository above the worktree" {
	clone
	mkdir "$TOP/deep"
	echo one >"$TOP/deep/one"
	cd "$TOP/deep"
	allowed 'git add one && git commit -q -m one' --worktree "$TOP/deep"
	try_denied 'EROFS|EACCES|EPERM' --worktree "$TOP/deep" -- create "$TOP/new-@"
	try_denied 'EROFS|EACCES|EPERM' --worktree "$TOP/deep" -- create "$TOP/.git/hooks/new-@"
	assert_equal "$(git log -1 --format=%s)" one
}

@test "another owner's repository, run by root" {
	only_as root
	local layout
	for layout in linked separate; do
		"$layout"
		chown -R 12345:23456 "$COMMON"
		cd "$TOP"
		git config --global --replace-all safe.directory '*'
		allowed 'echo more >>file && git commit -q -a -m more'
		assert_equal "$(find "$COMMON" ! -user 12345 -o ! -group 23456)" ''
		assert_equal "$(find "$TOP" ! -user 0)" ''
	done
}

@test "a moved worktree is named, and works again after git worktree repair" {
	linked
	mv "$TOP" "$SCRATCH/moved"
	cd "$SCRATCH/moved"
	run pen --record "$SCRATCH/record" -- git status --porcelain
	assert_status 0
	grep -q 'git worktree repair' "$SCRATCH/record"
	fails 'git commit -q --allow-empty -m more'
	git -C "$SCRATCH/main" worktree repair "$SCRATCH/moved"
	allowed 'git commit -q --allow-empty -m more'
}
