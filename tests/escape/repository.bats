# SPDX-License-Identifier: Apache-2.0
# What a command leaves in the worktree for git outside to carry out.
# shellcheck shell=bash disable=SC2154

load ../lib

@test "E030 hooks and git's configuration cannot be changed, and a commit works" {
	new_repo
	[ -e .git/hooks/pre-commit.sample ] || echo exit >.git/hooks/pre-commit.sample
	local before
	before=$(cat .git/config; ls -A .git/hooks; cat .git/hooks/*)
	run pen -- sh -c 'echo "exit 1" >>.git/hooks/pre-commit.sample'
	assert_status 2
	run pen -- sh -c 'printf "[core]\n\tfsmonitor = touch marker\n" >>.git/config'
	assert_output_has "git's configuration: core.fsmonitor was not kept" # it was a copy
	try_denied 'EROFS|EACCES|EPERM' -- create "$WORK/.git/hooks/post-commit-@"
	rm .git/hooks/post-commit-out
	try_refused 'EROFS|EACCES|EPERM' -- mkdir "$WORK/.git/hooks/dir"
	try_refused 'EROFS|EACCES|EPERM|EBUSY' -- unlink "$WORK/.git/config"
	try_refused 'EROFS|EACCES|EPERM|EBUSY' -- rename "$WORK/.git/config" "$WORK/.git/other"
	run pen -- git config core.fsmonitor 'touch marker'
	assert_output_has "git's configuration: core.fsmonitor was not kept"
	assert_equal "$(cat .git/config; ls -A .git/hooks; cat .git/hooks/*)" "$before"
	allowed 'echo more >>file && git commit -q -a -m second && git switch -q -c other && git switch -q main'
	git status --porcelain && refute_exists marker
}

@test "E010 a parent of what is protected cannot be renamed away" {
	new_repo
	mkdir .vscode
	echo '{}' >.vscode/settings.json
	local path
	for path in .git .git/hooks .vscode; do
		try rename "$WORK/$path" "$WORK/away" && mv away "$path"
		try_refused 'EBUSY|EROFS|EACCES|EPERM|EXDEV' -- rename "$WORK/$path" "$WORK/away"
	done
	run pen -- sh -c 'mv .git away && cp -r away .git && echo "touch marker" >.git/hooks/pre-commit'
	[ "$status" -ne 0 ] || fail "moved"
	refute_exists away
	refute_exists .git/hooks/pre-commit
	# What nobody protects is the command's to move.
	mkdir -p plain/hooks
	try_allowed -- rename "$WORK/plain" "$WORK/plain-@"
}

@test "E011 a configuration of git's that the host writes meanwhile does not become the command's to write" {
	new_repo
	# The control: the command writes to the host's new file where nobody puts the cover back.
	local script="touch here; while [ ! -e go ]; do sleep 0.02; done; rm go
		printf '[core]\n\tfsmonitor = touch marker\n' >>.git/config; touch finished"
	spawn "${PINFOLD%/*}/tests/poorer" watch -- sh -c "$script"
	wait_for test -e here && git config core.editor one && go && finished
	assert_equal "$(git config core.fsmonitor)" 'touch marker'
	git config --unset core.fsmonitor
	rm -f finished marker
	spawn "$PINFOLD" run -- sh -c "$script"
	wait_for test -e here && git config core.editor two && sleep 0.3 && go && finished
	assert_equal "$(git config --get-regexp 'core\.(editor|fsmonitor)')" 'core.editor two'
	wait "$SPAWNED"
	git status --porcelain >/dev/null && refute_exists marker
}

@test "the check after the run: a directory that the command has closed keeps nothing" {
	own_home
	new_repo
	cp -r .git evil
	git config -f evil/config core.fsmonitor "touch $SCRATCH/marker; false"
	# The control: what git outside makes of it.
	echo ../evil >.git/commondir
	git status >"$SCRATCH/out" 2>&1 || true
	assert_exists "$SCRATCH/marker"
	rm "$SCRATCH/marker" .git/commondir
	run pen -- sh -c 'echo ../evil >.git/commondir && chmod 555 .git'
	assert_status 0
	refute_exists .git/commondir
	assert_equal "$(stat -c %a .git)" 555
	git status >"$SCRATCH/out" 2>&1 || true
	refute_exists "$SCRATCH/marker"
	chmod 755 .git
	run pen -- sh -c 'echo x >.envrc && chmod 0 .'
	chmod 755 .
	refute_exists .envrc
}
