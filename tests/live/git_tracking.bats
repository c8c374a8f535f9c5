# SPDX-License-Identifier: Apache-2.0
# git's configuration: tracking works as outside, and nothing else of it arrives.
# shellcheck shell=bash disable=SC2154,SC2016 # status and output are bats' own; scripts expand inside the pen

load ../lib

# A clone with the branches main and feature on its remote, which the command may write.
setup() {
	lib_setup || return 1
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	new_repo "$SCRATCH/seed" && git -C "$SCRATCH/seed" branch feature && mkdir "$SCRATCH/remote" &&
		git clone -q --bare "$SCRATCH/seed" "$SCRATCH/remote/r.git" &&
		git clone -q "$SCRATCH/remote/r.git" . &&
		git config user.name 'A Tester' && git config user.email tester@example.invalid || return 1
	cp -a .git/config "$SCRATCH/before"
	INODE=$(stat -c %i .git/config)
}

unchanged() {
	cmp .git/config "$SCRATCH/before" || fail "$(diff "$SCRATCH/before" .git/config)"
	assert_equal "$(stat -c '%i %a %u' .git/config)" "$INODE $(stat -c '%a %u' "$SCRATCH/before")"
	no_locks
}

no_locks() { assert_equal "$(find .git "$SCRATCH/remote" -name '*.lock' -o -name 'gc.pid' -o -name 'tmp_*')" ''; }

# The same commands in a copy outside, and in the pen: the configurations are the same afterwards.
as_outside() {
	cp -a "$WORK" "$SCRATCH/outside" && cp -a "$SCRATCH/remote" "$SCRATCH/remote.saved"
	(cd "$SCRATCH/outside" && sh -ec "$1") || return 1
	rm -rf "$SCRATCH/remote" && mv "$SCRATCH/remote.saved" "$SCRATCH/remote"
	allowed "set -e; $1" --write "$SCRATCH/remote"
	refute_output_has pinfold:
	assert_equal "$(git config -f .git/config --list | sort)" "$(git config -f "$SCRATCH/outside/.git/config" --list | sort)"
	assert_equal "$(stat -c '%a %u %g' .git/config)" "$(stat -c '%a %u %g' "$SCRATCH/before")"
	no_locks
}

@test "git switch of a remote branch tracks it" {
	as_outside 'git switch feature && git rev-parse @{u}'
	assert_equal "$(git rev-parse --abbrev-ref '@{u}')" origin/feature
}

@test "git switch -c of a remote branch under another name tracks it" {
	as_outside 'git switch -c topic/#1 origin/feature && git pull'
	assert_equal "$(git rev-parse --abbrev-ref '@{u}')" origin/feature
	git pull -q
}

@test "F011 git push -u, branch --set-upstream-to" {
	as_outside 'git switch -c new && git commit -q --allow-empty -m new && git push -u origin new
		git branch --set-upstream-to=origin/feature main && git branch --set-upstream-to=main new'
	assert_equal "$(git -C "$SCRATCH/remote/r.git" rev-parse new)" "$(git rev-parse new)"
	assert_equal "$(git config branch.main.merge)" refs/heads/feature
	assert_equal "$(git config branch.new.remote)" .
}

@test "a branch that is new is appended: the file stays the same one, and covered in other runs" {
	in_background 'test -L .git/config; meet; test -L .git/config && git config core.fsmonitor x; echo $?'
	wait_for test -e here
	allowed 'git switch -q feature'
	go && finished
	wait "$SPAWNED" || true
	assert_equal "$(cat said)" 0
	assert_equal "$(stat -c %i .git/config)" "$INODE"
	assert_equal "$(git config branch.feature.merge) $(git config core.fsmonitor)" 'refs/heads/feature '
}

@test "git branch -d, -D and -m" {
	git branch -q --track one origin/feature && git branch -q --track two origin/feature
	as_outside 'git branch -d one && git branch -D two && git branch -m main trunk'
	assert_equal "$(git config branch.trunk.merge)" refs/heads/main
	run git config branch.main.merge
	assert_status 1
}

@test "E030 of the rest of the configuration nothing arrives, and one line says so" {
	run pen --record "$SCRATCH/record" -- sh -ec '
		git config core.fsmonitor "touch marker"
		git config core.hooksPath hooks
		git config alias.status "!touch marker"
		git config include.path /tmp/x
		git config remote.origin.url "ext::sh -c touch% marker"
		git config remote.origin.uploadpack "touch marker"
		git config url."https://user:canary@example.invalid/".insteadOf https://example.invalid/
		git remote add evil /tmp
		git config branch.main.remote evil
		git config branch.feature.remote "ext::sh -c touch% marker"
		test "$(git config core.hooksPath)" = hooks'
	assert_status 0
	assert_equal "$(grep -c pinfold: <<<"$output")" 1
	assert_output_has "pinfold: git's configuration: alias.status, branch.feature.remote, branch.main.remote, core.fsmonitor,"
	assert_output_has 'were not kept'
	refute_output_has canary
	python3 - "$SCRATCH/record" <<-'END'
		import json, sys
		warnings = json.load(open(sys.argv[1]))["warnings"]
		assert any("alias.status" in w and "were not kept" in w for w in warnings), warnings
	END
	unchanged
	git status --porcelain && git fetch -q && refute_exists marker
}

@test "E030 what the command leaves in the place of its copy is not followed" {
	local left
	for left in 'rm $c' 'ln -sf /etc/passwd $c' 'rm $c && mkfifo $c' 'rm $c && mkdir $c' 'printf "[branch \"x" >$c' \
		'head -c 300000 /dev/zero >$c' 'yes "[a]" | head -n 60000 >$c' 'chmod 0 $c'; do
		run timeout 20 "$PINFOLD" run -- sh -c "c=\$(readlink .git/config) && $left"
		assert_status 0
		[[ $left == chmod* ]] || assert_output_has "git's configuration: what was changed was not kept"
		unchanged
	done
}

@test "E030 the place of the configuration cannot be taken, and what lies there is no file of the host" {
	local words
	for words in "unlink $WORK/.git/config" "rename $WORK/.git/config $WORK/.git/other" "rename $WORK/.git $WORK/away"; do
		# shellcheck disable=SC2086 # words
		try_refused 'EBUSY|EROFS|EACCES|EPERM' -- $words
	done
	run pen -- sh -c 'test -L .git/config && touch .git/config.new && mv -f .git/config.new .git/config'
	[ "$status" -ne 0 ] || fail "replaced"
	rm -f .git/config.new
	run pen -- sh -c 'echo "[core] fsmonitor = touch marker" >>.git/config'
	assert_status 0
	unchanged
}

@test "a run that changes nothing leaves the file alone, and one of --read-only or --git readonly has no copy" {
	allowed 'git status && git commit -q --allow-empty -m x && git config user.name "A Tester"'
	unchanged
	denied 'git config a.b c && git config --unset a.b' --read-only
	denied 'git config a.b c && git config --unset a.b' --git readonly
}

@test "F007 git on the host writes its configuration during a run, and both stay" {
	in_background 'git switch -q feature; meet'
	wait_for test -e here
	git config a.b c
	refute_exists .git/config.lock
	go && finished
	wait "$SPAWNED"
	assert_equal "$(git config a.b)" c
	assert_equal "$(git config branch.feature.merge)" refs/heads/feature
	no_locks
}

@test "runs of one repository side by side track their branches and find nothing wrong" {
	local i
	for i in 1 2 3 4 5 6 7 8; do
		spawn sh -c '"$1" run -- sh -c "touch ready.$2; while [ ! -e start ]; do sleep 0.02; done
			git branch -q --track topic$2 origin/feature" >"said.$2" 2>&1; echo "status $?" >>"said.$2"' \
			x "$PINFOLD" "$i"
	done
	for i in 1 2 3 4 5 6 7 8; do wait_for test -e "ready.$i"; done
	touch start
	for i in "${PIDS[@]}"; do wait "$i"; done
	assert_equal "$(cat said.* | sort | uniq -c | tr -s ' ')" ' 8 status 0'
	assert_equal "$(git config --get-regexp 'branch\.topic.*\.merge' | sort)" \
		"$(for i in 1 2 3 4 5 6 7 8; do echo "branch.topic$i.merge refs/heads/feature"; done)"
	git fsck --no-progress
	no_locks
}

@test "F007 a lock of the host's git is respected, and said" {
	touch .git/config.lock
	run pen -- git switch -q feature
	assert_status 0
	assert_output_has "pinfold: git's configuration: branch.feature.merge and branch.feature.remote were not kept: '$WORK/.git/config.lock' exists"
	rm .git/config.lock
	unchanged
}

@test "F007 a run whose pinfold is killed changes nothing and leaves no lock" {
	in_background 'git switch -q feature; meet'
	wait_for test -e here
	kill -KILL "$SPAWNED"
	wait "$SPAWNED" || true
	unchanged
}

@test "a run that is ended by its time limit keeps what git did before" {
	run pen --time 2s -- sh -c 'git switch -q feature; sleep 20'
	assert_status 124
	assert_equal "$(git config branch.feature.merge)" refs/heads/feature
	no_locks
}

@test "a configuration that is too large stays read-only, and the record says so" {
	head -c 300000 /dev/zero | tr '\0' '#' >>.git/config
	denied 'git config a.b c && git config --unset a.b' --record "$SCRATCH/record"
	grep -q 'config. is read-only, and git commands that write to it fail: it is too large' "$SCRATCH/record"
}

@test "files that the configuration includes by a relative path are found" {
	git config include.path extra
	printf '[a]\n\tb = c\n' >.git/extra
	allowed 'test "$(git config a.b)" = c && git switch -q feature'
	assert_equal "$(git config branch.feature.merge)" refs/heads/feature
	assert_equal "$(git config a.b)" c
}

@test "tracking works in a linked worktree and in a submodule" {
	git worktree add -q "$SCRATCH/linked" feature 2>/dev/null && git branch -q --unset-upstream feature
	cd "$SCRATCH/linked"
	allowed 'git branch -u origin/main'
	assert_equal "$(git config branch.feature.merge)" refs/heads/main
	cd "$WORK" && git -c protocol.file.allow=always submodule add -q "$SCRATCH/remote/r.git" sub && git commit -q -m sub
	allowed 'cd sub && git switch -q feature && git config core.fsmonitor "touch marker"'
	assert_output_has "git's configuration: core.fsmonitor was not kept"
	assert_equal "$(git -C sub config branch.feature.merge)" refs/heads/feature
	git -C sub status --porcelain && refute_exists sub/marker
}

@test "root keeps the owner of the repository" {
	only_as root
	chown -R 1234:1234 "$WORK"
	chmod 640 .git/config
	run pen -- git switch -q feature
	assert_status 0
	assert_equal "$(stat -c '%a %u %g' .git/config)" '640 1234 1234'
	assert_equal "$(git config -f .git/config branch.feature.merge)" refs/heads/feature
}
