# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # for the tests
# git's layouts, for the tests that a claim holds in each of them. A file loads this after ../lib, and calls layouts_setup
# in its setup.
#
# One function for each; it leaves the worktree in TOP, its own git directory in OWN, the common one in COMMON.

LAYOUTS='clone linked bare submodule separate'

layouts_setup() {
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

# A submodule of a superproject that is itself a linked worktree.
submodule_in_linked() {
	submodule
	git -C "$SCRATCH/super" worktree add -q -b copy "$SCRATCH/copy"
	git -C "$SCRATCH/copy" submodule --quiet update --init
	TOP=$SCRATCH/copy/lib/sub OWN=$SCRATCH/super/.git/worktrees/copy/modules/lib/sub COMMON=$OWN
}
