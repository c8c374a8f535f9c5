# SPDX-License-Identifier: Apache-2.0
# git's layouts: what a developer does with git works in each of them, and what decides over git outside stays as it is.
# shellcheck shell=bash disable=SC2154

load ../lib
load ../layouts

setup() { layouts_setup; }

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

# The same layout twice at the same place, outside first.
save_world() { rm -rf "$SCRATCH/saved" && mkdir "$SCRATCH/saved" && cp -a "$SCRATCH/world" "$SCRATCH/saved/"; }
restore_world() { rm -rf "$SCRATCH/world" && cp -a "$SCRATCH/saved/world" "$SCRATCH/world" && cd "$TOP"; }

# All that git has written, but for the index, which holds inode numbers.
written() {
	(cd "$SCRATCH/world" && find . -path '*/.git/*' -o -path './store/*' -o -path './bare.git/*' | sort | while read -r file; do
		[ ! -f "$file" ] || [ "${file##*/}" = index ] || cksum "$file"
	done)
}

@test "F011 tracking in each layout leaves refs, logs and configuration byte for byte as outside" {
	export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
	local layout script outside top=$SCRATCH
	for script in 'git switch -q feature' 'git switch -q -c mine origin/feature' \
		'git switch -q -c new && git commit -q --allow-empty -m new && git push -q -u origin new' \
		'git switch -q feature && git switch -q -c mine origin/other && git branch -q -D feature && git branch -q -m renamed' \
		'git branch -q --set-upstream-to=origin/other && git branch -q --unset-upstream && git branch -q --track a origin/other'; do
		for layout in $LAYOUTS submodule_in_linked; do
			rm -rf "$top/world" && mkdir "$top/world" && cp -a "$top/source" "$top/world/source"
			git -C "$top/world/source" branch feature && git -C "$top/world/source" branch other
			SCRATCH=$top/world
			"$layout"
			SCRATCH=$top
			git -C "$COMMON" config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'
			# what is committed and checked out in the linked one of a bare repository has its branches there already
			[ "$layout" != bare ] || git -C "$COMMON" branch -q -D feature other
			git -C "$TOP" switch -q -c start && git -C "$TOP" fetch -q
			save_world
			cd "$TOP"
			sh -ec "$script" || fail "$layout: $script"
			outside=$(written)
			restore_world
			allowed "set -e; $script" --write "$SCRATCH/world/source"
			[ -z "$output" ] || fail "$layout, $script: $output"
			[ "$(written)" = "$outside" ] || fail "$layout: $script" "$(diff <(echo "$outside") <(written))"
			cd "$SCRATCH"
		done
	done
}

@test "a git directory that the environment names is ignored, and said" {
	new_repo "$SCRATCH/other"
	local layout before
	before=$(find "$SCRATCH/other" -type f -exec cksum {} + | sort)
	for layout in $LAYOUTS; do
		"$layout"
		cd "$TOP"
		# The control: git outside follows it.
		assert_equal "$(GIT_DIR=$SCRATCH/other/.git git rev-parse --absolute-git-dir)" "$SCRATCH/other/.git"
		GIT_DIR=$SCRATCH/other/.git GIT_WORK_TREE=$SCRATCH/other GIT_INDEX_FILE=$SCRATCH/other/.git/index \
			run pen --record "$SCRATCH/record" -- sh -c "git rev-parse --absolute-git-dir; git commit -q --allow-empty -m inside
				touch '$SCRATCH/other/.git/planted' '$SCRATCH/other/planted' 2>/dev/null; env | grep -E '^GIT_(DIR|WORK_TREE|INDEX_FILE)='"
		assert_equal "$output" "$OWN"
		grep -q 'GIT_DIR' "$SCRATCH/record"
		assert_equal "$(git log -1 --format=%s)" inside
		assert_equal "$(find "$SCRATCH/other" -type f -exec cksum {} + | sort)" "$before"
	done
}

@test "E012 F018 F019 each layout is clean while a run lasts and after it, and what appears at a protected name is moved" {
	local layout before
	for layout in $LAYOUTS submodule_in_linked; do
		cd "$SCRATCH" && rm -rf super
		"$layout"
		cd "$TOP"
		before=$(find "$TOP" "$COMMON" | sort)
		run pen -- git status --porcelain --ignored
		assert_equal "$output" ''
		run pen -- ls -A
		assert_equal "$output" "$(ls -A)"
		assert_equal "$(find "$TOP" "$COMMON" | sort)" "$before"
		run pen -- sh -c 'mkdir .vscode .claude; touch .envrc .vscode/tasks.json .claude/settings.json; git add -A 2>/dev/null; touch file'
		assert_status 0
		assert_equal "$(grep -c 'appeared at a protected name' <<<"$output")" 3
		assert_equal "$(ls -A)" '.claude
.git
file'
	done
}

@test "E018 in each layout no link of the command's stays where git writes" {
	local layout directory
	for layout in $LAYOUTS submodule_in_linked; do
		cd "$SCRATCH" && rm -rf clone main linked bare.git of-bare super copy apart store
		"$layout"
		cd "$TOP"
		for directory in "$OWN" "$COMMON"; do
			run pen -- sh -c 'git commit -q --allow-empty -m x; cd "$1" && mkdir -p logs && rm -f logs/HEAD FETCH_HEAD &&
				ln -s "$2" logs/HEAD && ln -s "$2" FETCH_HEAD' sh "$directory" "$HOME/.shellrc"
			assert_status 0
			assert_output_has "logs/HEAD' is a link"
			assert_output_has "FETCH_HEAD' is a link"
			[ ! -L "$directory/logs/HEAD" ] && [ ! -L "$directory/FETCH_HEAD" ] || fail "$layout: $directory"
		done
	done
}

@test "E018 links in the repositories of submodules, and where only a part of the common one is writable" {
	submodule
	cd "$SCRATCH/super"
	run pen -- sh -c 'rm -f .git/modules/lib/sub/logs/HEAD && ln -s "$HOME/.shellrc" .git/modules/lib/sub/logs/HEAD'
	assert_output_has ".git/modules/lib/sub/logs/HEAD' is a link"
	[ ! -L .git/modules/lib/sub/logs/HEAD ]
	bare
	cp -a "$SCRATCH/super" "$COMMON/more" # not git's alone
	cd "$TOP"
	run pen -- sh -c 'git commit -q --allow-empty -m x; rm "$1" && ln -s "$HOME/.shellrc" "$1"' sh "$COMMON/logs/refs/heads/work"
	assert_output_has "logs/refs/heads/work' is a link"
	[ ! -L "$COMMON/logs/refs/heads/work" ]
}
