# SPDX-License-Identifier: Apache-2.0
# What a command plants at names that were free, for git, agents and editors outside to believe. Each is first shown to
# work without a pen.
# shellcheck shell=bash disable=SC2154

load ../lib

setup() {
	lib_setup
	own_home
	needs git
	new_repo
	git config --global user.name tester
	git config --global user.email tester@example.invalid
	MARKER=$SCRATCH/marker
	export MARKER
}

REMOVED() { echo "$HOME"/.local/state/pinfold/removed/*; }

# works SCRIPT HOST : in a copy without a pen, the host's command carries out what the script has planted.
works() {
	local below=${PWD#"$WORK"}
	cp -a "$WORK" "$SCRATCH/control"
	(cd "$SCRATCH/control$below" && sh -c "$1" && sh -c "$2") >/dev/null 2>&1 || :
	assert_exists "$MARKER"
	rm -rf "$MARKER" "$SCRATCH/control"
}

# harmless SCRIPT HOST NAME : planted in the pen, it is named, and the host's command carries out nothing.
harmless() {
	works "$1" "$2"
	run pen -- sh -c "$1"
	assert_status 0
	assert_output_has "'$3'"
	sh -c "$2" >/dev/null 2>&1 || :
	refute_exists "$MARKER"
}

# held SCRIPT HOST : what the script would have changed is there, and cannot be changed.
held() {
	works "$1" "$2"
	run pen -- sh -c "$1"
	sh -c "$2" >/dev/null 2>&1 || :
	refute_exists "$MARKER"
}

HOOK='printf "#!/bin/sh\ntouch \"$MARKER\"\n"'

@test "E030 F017 a hook where there is no directory of hooks" {
	rm -rf .git/hooks
	harmless "mkdir .git/hooks; $HOOK >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit" \
		'git commit -q --allow-empty -m x' .git/hooks
	rm -rf .git/hooks
	harmless "mkdir .git/h; $HOOK >.git/h/pre-commit; chmod +x .git/h/pre-commit; ln -s h .git/hooks" \
		'git commit -q --allow-empty -m x' .git/hooks
	rm -rf .git/hooks
	# Made elsewhere and renamed into its place.
	harmless "mkdir new; $HOOK >new/pre-commit; chmod +x new/pre-commit; mv new .git/hooks" \
		'git commit -q --allow-empty -m x' .git/hooks
	assert_exists "$(REMOVED | tr ' ' '\n' | tail -1)/.git/hooks/pre-commit"
	git fsck --no-progress && git commit -q --allow-empty -m after
}

@test "E030 a configuration of the worktree's own" {
	git config extensions.worktreeConfig true
	harmless 'printf "[core]\n\tfsmonitor = touch \"$MARKER\"; false\n" >.git/config.worktree' 'git status' \
		.git/config.worktree
	harmless 'printf "[core]\n\tfsmonitor = touch \"$MARKER\"; false\n" >c; ln -s ../c .git/config.worktree' \
		'git status' .git/config.worktree
}

@test "E030 attributes that pick a filter" {
	git config filter.evil.clean 'touch "$MARKER"; cat'
	rm -rf .git/info
	harmless 'mkdir .git/info; echo "* filter=evil" >.git/info/attributes; echo changed >>file' 'git add file' \
		.git/info/attributes
}

@test "E035 hooks that lie in the project, where git uses them" {
	mkdir .husky .hooks
	echo true >.husky/pre-commit
	chmod +x .husky/pre-commit
	printf '[core]\n\tabbrev = 12\n' >.gitconfig-project
	git add -A && git commit -q -m hooks
	git config core.hooksPath .husky
	git config include.path ../.gitconfig-project
	local plant commit='git commit -q --allow-empty -m x'
	for plant in "$HOOK >.husky/pre-commit" "$HOOK >.husky/post-commit; chmod +x .husky/post-commit" \
		"rm -rf .husky; mkdir .husky; $HOOK >.husky/pre-commit; chmod +x .husky/pre-commit" \
		"mv .husky old; cp -r old .husky; $HOOK >.husky/pre-commit" \
		'printf "[core]\n\tfsmonitor = touch \"$MARKER\"; false\n" >>.gitconfig-project'; do
		works "$plant" "$commit"
		run pen -- sh -c "$plant"
		sh -c "$commit" >/dev/null 2>&1 || :
		refute_exists "$MARKER"
		assert_equal "$(git status --porcelain)" ''
	done
	# One that is not there yet is taken away after the run.
	git config core.hooksPath .githooks
	harmless "mkdir .githooks; $HOOK >.githooks/pre-commit; chmod +x .githooks/pre-commit" "$commit" .githooks
}

@test "E037 E039 instructions and build files stay the command's to change, noted" {
	printf 'x:\n\ttrue\n' >Makefile
	echo 'be careful' >AGENTS.md
	noted repository 'what the project itself runs or reads'
	allowed 'printf "x:\n\tfalse\n" >Makefile; echo "be careless" >AGENTS.md; mkdir -p node_modules/.bin'
	assert_content AGENTS.md 'be careless'
	# Whoever wants them held says so.
	denied 'echo x >>AGENTS.md' --protect AGENTS.md
	denied 'echo x >>Makefile' --protect Makefile
}

@test "E031 a commondir file" {
	harmless 'cp -r .git other; printf "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch \"$MARKER\"; false\n" >other/config
		echo ../other >.git/commondir' 'git status' .git/commondir
	git status --porcelain
}

@test "E035 hooks, included files and programs in the worktree, where git's configuration names them" {
	local plant="$HOOK >tools/hooks/pre-commit; chmod +x tools/hooks/pre-commit" commit='git commit -q --allow-empty -m x'
	git config core.hooksPath tools/hooks
	harmless "mkdir -p tools/hooks; $plant" "$commit" tools/hooks
	mkdir -p tools/hooks && touch tools/work
	held "$plant" "$commit"
	held "mv tools old; mkdir -p tools/hooks; $plant" "$commit"
	allowed 'echo more >tools/work'
	mv tools/hooks real && ln -s ../real tools/hooks
	held "$plant" "$commit"
	held "rm tools/hooks; mkdir tools/hooks; $plant" "$commit"
	git config --unset core.hooksPath
	# the user's own, for all of his repositories
	git config --global core.hooksPath .my-hooks
	harmless "mkdir .my-hooks; $HOOK >.my-hooks/pre-commit; chmod +x .my-hooks/pre-commit" "$commit" .my-hooks
	git config --global --unset core.hooksPath

	local config='printf "[core]\n\tfsmonitor = touch \"$MARKER\"; false\n"'
	git config include.path ../more.gitconfig
	harmless "$config >more.gitconfig" 'git status' more.gitconfig
	touch more.gitconfig
	held "$config >more.gitconfig" 'git status'
	printf '[include]\n\tpath = deep/most\n' >more.gitconfig
	harmless "mkdir -p deep; $config >deep/most" 'git status' deep/most
	rm more.gitconfig && git config --unset include.path

	mkdir -p tools && printf '#!/bin/sh\nexit 1\n' >tools/monitor && chmod +x tools/monitor
	git config core.fsmonitor './tools/monitor --quick'
	held "$HOOK >tools/monitor" 'git status'
	git config --unset core.fsmonitor
	git config filter.own.clean 'sh "tools/monitor" %f' && echo '* filter=own' >.gitattributes
	held "$HOOK >tools/monitor; echo x >>file" 'git add file'
	# a directory that would take the worktree along is left, and said
	git config core.hooksPath .
	run pen --record "$SCRATCH/record" -- touch new
	assert_status 0
	grep -q 'it is too wide' "$SCRATCH/record"
}

# The shape of a git directory in DIR, with a program in its configuration.
bare() {
	printf 'mkdir -p %s && cd %s && cp -r "$(git rev-parse --git-dir)/objects" "$(git rev-parse --git-dir)/refs" "$(git rev-parse --git-dir)/index" . &&
		printf "[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = touch \\"$MARKER\\"; false\\n" >config &&
		echo "ref: refs/heads/main" >HEAD' "$1" "$1"
}

@test "E032 the shape of a bare repository" {
	mkdir sub && cd sub || return
	# In the directory that the command was started in, which is nearer than the top.
	harmless "$(bare .)" 'git status' sub/HEAD
	refute_exists HEAD
	find . -mindepth 1 -delete
	harmless "$(bare ../bare); cd ../sub; cp -r ../bare/* ." 'git status' sub/HEAD
	cd ..
	# At the top, once .git is no repository any more. HEAD is renamed, which no mount forbids: it is named.
	run pen -- sh -c "$(bare .); rm .git/HEAD"
	assert_output_has "'HEAD'"
	assert_output_has "'.git/HEAD' is no HEAD of git any more"
	git status || :
	refute_exists "$MARKER"
}

@test "E033 a repository that is nearer than the one at the top" {
	mkdir sub && cd sub || return
	harmless 'git init -q . && printf "[core]\n\tfsmonitor = touch \"$MARKER\"; false\n" >>.git/config' 'git status' sub/.git
	harmless 'git init -q ../deep && printf "[core]\n\tfsmonitor = touch \"$MARKER\"; false\n" >>../deep/.git/config
		printf "gitdir: ../deep/.git\n" >.git' 'git status' sub/.git
}

# A command that makes git, where it is started, carry out a program: a line of configuration, and a hook.
FSMONITOR='git config core.fsmonitor "touch \"$MARKER\"; false"'
INDEX_HOOK="mkdir -p .git/hooks; $HOOK >.git/hooks/post-index-change; chmod +x .git/hooks/post-index-change"
REPOSITORY='git init -q . && git commit -q --allow-empty -m x'

@test "E033 a submodule that the command has made and added" {
	local add='cd ..; git add sub; git commit -q -m y'
	harmless "mkdir sub; cd sub; $REPOSITORY; $FSMONITOR; $add" 'git status' sub/.git/config
	rm -rf sub && git reset -q --hard HEAD~1
	harmless "mkdir sub; cd sub; $REPOSITORY; $add; cd sub; $INDEX_HOOK" 'echo x >sub/new; git -C sub add new' \
		sub/.git/hooks/post-index-change
	rm -rf sub && git reset -q --hard HEAD~1
	# by a pointer, in a configuration that is included, in an index that is split, in a submodule of the submodule
	harmless "git init -q --separate-git-dir deep sub; cd sub; git commit -q --allow-empty -m x; $FSMONITOR; $add" 'git status' \
		deep/config
	rm -rf sub deep && git reset -q --hard HEAD~1
	harmless "mkdir sub; cd sub; $REPOSITORY; git config include.path ../../inc; cd ..
		printf '[core]\n\tfsmonitor = touch \"%s\"; false\n' \"\$MARKER\" >inc; git add sub; git commit -q -m y" 'git status' \
		sub/.git/config
	rm -rf sub && git reset -q --hard HEAD~1
	harmless "mkdir sub; cd sub; $REPOSITORY; $FSMONITOR; cd ..; git add sub; git update-index --split-index" 'git status' \
		sub/.git/config
	rm -rf sub && git reset -q --hard
	harmless "mkdir -p sub/in; cd sub; git init -q .; cd in; $REPOSITORY; $FSMONITOR; cd ..; git add in; git commit -q -m x; $add" \
		'git status' sub/in/.git/config
}

@test "E033 the place of a submodule that nobody has cloned" {
	git init -q "$SCRATCH/origin" && git -C "$SCRATCH/origin" commit -q --allow-empty -m x
	git -c protocol.file.allow=always submodule --quiet add "$SCRATCH/origin" sub
	git commit -q -m sub && git submodule --quiet deinit -f sub && rm -rf .git/modules
	harmless "cd sub; $REPOSITORY; $FSMONITOR" 'git status' sub/.git/config
	rm -rf sub && mkdir sub
	# What `git submodule update` outside would take into use.
	run pen -- sh -c "mkdir -p .git/modules; git init -q --separate-git-dir .git/modules/sub x; rm -rf x; git -C .git/modules/sub config core.fsmonitor evil"
	assert_output_has "'.git/modules/sub/config'"
	refute_exists .git/modules/sub/config
}

@test "E033 a repository where there was none" {
	rm -rf .git && mkdir -p a/b
	harmless "$REPOSITORY; $FSMONITOR" 'git status' .git/config
	rm -rf .git
	harmless "$REPOSITORY; $INDEX_HOOK" 'git add file' .git/hooks/post-index-change
	rm -rf .git && cd a/b || return
	run pen --worktree "$WORK" -- sh -c "cd ..; $REPOSITORY; $FSMONITOR"
	assert_output_has "'a/.git/config'"
	git status
	refute_exists "$MARKER"
}

@test "E033 a repository that carries nothing out stays as the command has made it" {
	run pen -- sh -c 'git init -q sub; cd sub; git config user.name x; git remote add origin https://host.example/a.git
		git commit -q --allow-empty -m x; git config branch.main.remote origin; cd ..; git add sub; git commit -q -m y'
	assert_status 0
	refute_output_has pinfold:
	assert_equal "$(git -C sub config user.name)" x
	git clone -q . "$SCRATCH/clone"
	rm -rf .git
	run pen -- sh -c 'git init -q; git add file; git commit -q -m x'
	assert_status 0
	assert_equal "$output" ""
	git status
}

@test "E10F a rebase with commands, begun for the host to go on with" {
	git commit -q --allow-empty -m second
	local begin='GIT_SEQUENCE_EDITOR="sed -i 1ibreak" git rebase -q -i HEAD~1'
	harmless "$begin; "'echo "exec touch \"$MARKER\"" >>.git/rebase-merge/git-rebase-todo' 'git rebase --continue' \
		.git/rebase-merge
	git switch -q main
	harmless "$begin; "'printf "  x\ttouch \"$MARKER\"\n" >.git/t; ln -sf ../t .git/rebase-merge/git-rebase-todo' \
		'git rebase --continue' .git/rebase-merge
	git switch -q main
	# One that was begun before: the list alone is taken.
	sh -c "$begin"
	harmless 'echo "exec touch \"$MARKER\"" >>.git/rebase-merge/git-rebase-todo' 'git rebase --continue' \
		.git/rebase-merge/git-rebase-todo
	git rebase --abort
}

@test "E10F a rebase without commands goes on, in the next run and outside" {
	git commit -q --allow-empty -m second
	run pen -- sh -c 'GIT_SEQUENCE_EDITOR="sed -i 1ibreak" git rebase -q -i HEAD~1'
	assert_status 0
	refute_output_has pinfold:
	run pen -- git rebase --continue
	assert_status 0
	refute_output_has pinfold:
	# and one whose commands the user has put there himself
	GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i -x true HEAD~1
	run pen -- true
	assert_equal "$output" ""
	git rebase --continue
}

# A reader of agents' and editors' files, as those are outside: it runs what the file names.
reader() { printf 'f=%s; [ -f "$f" ] && sh "$f"' "$1"; }

@test "E012 E036 E038 names of agents and editors that are free" {
	local name
	for name in .mcp.json .claude/settings.json .claude/hooks/stop .vscode/tasks.json .envrc .cursor/mcp.json .idea/x \
		.codex/config.toml .devcontainer/devcontainer.json .cargo/config.toml .pinfold.json; do
		harmless "mkdir -p $(dirname "$name"); echo 'touch \"\$MARKER\"' >$name" "$(reader "$name")" \
			"$(case $name in .claude/hooks/*) echo .claude/hooks ;; .claude/* | .cargo/*) echo $name ;;
				*/*) echo "${name%%/*}" ;; *) echo $name ;; esac)"
		find . -mindepth 1 -maxdepth 1 ! -name .git ! -name file -exec rm -rf {} +
	done
}

@test "E013 links and directories in place of files" {
	echo 'touch "$MARKER"' >payload
	harmless 'ln -s payload .mcp.json' "$(reader .mcp.json)" .mcp.json
	harmless 'mkdir tools; cp payload tools/settings.json; ln -s tools .claude' "$(reader .claude/settings.json)" .claude
	rm -rf tools
	run pen -- sh -c 'mkdir .envrc; mkfifo .exrc; mkdir .mcp.json && chmod 0 .mcp.json'
	assert_status 0
	refute_exists .envrc
	refute_exists .exrc
	refute_exists .mcp.json
	# What a link led to stays where it was.
	assert_content payload 'touch "$MARKER"'
	# No name that was free is taken by us, while the command runs or afterwards.
	run pen -- ls -A
	assert_equal "$output" "$(ls -A)"
}

@test "E018 a link on the way leads the check nowhere" {
	mkdir "$SCRATCH/victim" && echo keep >"$SCRATCH/victim/settings.json"
	run pen -- ln -s "$SCRATCH/victim" .claude
	assert_status 0
	assert_output_has "'.claude'"
	refute_exists .claude
	assert_content "$SCRATCH/victim/settings.json" keep
	# Nor does one in a directory that is taken as a whole.
	run pen -- sh -c "mkdir .vscode; ln -s '$SCRATCH/victim' .vscode/away"
	assert_content "$SCRATCH/victim/settings.json" keep
}

@test "E034 F016 the git file and the directories on the way are held" {
	git init -q "$SCRATCH/sep" && rm -rf "$SCRATCH/wt"
	git worktree add -q "$SCRATCH/wt" && cd "$SCRATCH/wt" || return
	run pen -- sh -c 'echo "gitdir: ../evil" >.git'
	[ "$status" -ne 0 ] || fail "written"
	run pen -- sh -c 'rm -f .git'
	[ "$status" -ne 0 ] || fail "removed"
	cd "$WORK" || return
	run pen -- sh -c 'mv .git away'
	[ "$status" -ne 0 ] || fail "moved"
	run pen -- sh -c 'mkdir -p .claude; mv .claude x'
	assert_status 0
}

@test "F018 F019 a clean repository is clean after a run, and while it lasts" {
	run pen -- sh -c 'git status --porcelain --ignored; ls -A'
	assert_status 0
	assert_equal "$output" "$(ls -A)"
	run pen -- true
	assert_equal "$output$(git status --porcelain --ignored)" ""
	run pen -- sh -c 'echo new >new; git add .; git status --porcelain'
	assert_equal "$output" "A  new"
	refute_exists "$HOME/.local/state/pinfold"
}

@test "F021 a run leaves no stray file in a temp that it may write, when it is killed, either" {
	mkdir "$SCRATCH/temp"
	spawn bash -c 'exec "$PINFOLD" run --write "$SCRATCH/temp" -- sh -c "echo up; exec sleep 30" >"$SCRATCH/up"'
	wait_for grep -q up "$SCRATCH/up"
	assert_equal "$(ls -A "$SCRATCH/temp")" ""
	kill -KILL "$SPAWNED"
	wait "$SPAWNED" || true
	run pen --write "$SCRATCH/temp" -- true
	assert_equal "$output$(ls -A "$SCRATCH/temp")" ""
	git status --porcelain && refute_exists "$HOME/.local/state/pinfold"
}

# What git on the host does in a day: each of these writes, or removes, through one of the links below.
DAY='git commit -q --allow-empty -m "touch $MARKER"; git fetch -q .; git switch -q -c "day$RANDOM"; git tag -a -m t "t$RANDOM"
	git pack-refs --all; git worktree prune; git gc -q --prune=now'

# precious_files : outside of every pen, as whoever lives in this home has them.
precious_files() {
	mkdir -p "$HOME/documents/letters"
	echo precious >"$HOME/documents/letters/file"
	echo rc >"$HOME/.shellrc"
	rm -f "$HOME/.missingrc"
}

are_precious() {
	[ "$(cat "$HOME/documents/letters/file" "$HOME/.shellrc")" = "precious"$'\n'"rc" ] && [ ! -e "$HOME/.missingrc" ]
}

# through_link LINK TARGET : in git's directory GIT, which is below or beside the worktree.
through_link() {
	local plant="mkdir -p '$(dirname "$GIT/$1")'; rm -rf '$GIT/$1'; ln -s '$2' '$GIT/$1'"
	precious_files
	run pen -- sh -c "$plant"
	assert_status 0
	assert_output_has "${GIT##*/}/$1' "
	[ ! -L "$GIT/$1" ] || fail "$1 is still there"
	bash -c "$DAY" >/dev/null 2>&1 || :
	are_precious || fail "git outside has written through $1"
}

@test "E018 git outside writes and removes nothing through links in its directory" {
	local name
	GIT=$WORK/.git
	# The control: without a pen it does.
	precious_files
	cp -a "$WORK" "$SCRATCH/control"
	cd "$SCRATCH/control"
	mkdir .git/worktrees && ln -s "$HOME/documents" .git/worktrees/x
	ln -sf "$HOME/.shellrc" .git/logs/HEAD
	ln -s "$HOME/.missingrc" .git/packed-refs
	bash -c "$DAY" >/dev/null 2>&1 || :
	refute_exists "$HOME/documents/letters"
	assert_exists "$HOME/.missingrc"
	[ "$(wc -l <"$HOME/.shellrc")" -gt 1 ]
	cd "$WORK"
	for name in logs/HEAD FETCH_HEAD COMMIT_EDITMSG TAG_EDITMSG logs/refs/heads/main MERGE_MSG rebase-merge/message; do
		through_link "$name" "$HOME/.shellrc"
	done
	through_link packed-refs "$HOME/.missingrc"
	for name in worktrees/x worktrees rebase-merge rebase-apply sequencer logs/refs objects/ab; do
		through_link "$name" "$HOME/documents"
	done
}

@test "E018 links in git's directory: closed, moved in from elsewhere, and those that were there" {
	GIT=$WORK/.git
	precious_files
	ln -s "$HOME/.shellrc" old && mkdir moved && ln -s "$HOME/.shellrc" moved/HEAD
	# As git itself makes them, and as other tools do before the run.
	git branch topic && ln -sf refs/heads/topic .git/refs/heads/link && ln -s "$SCRATCH" .git/shared
	run pen -- sh -c 'git commit -q --allow-empty -m x && ln -s refs/heads/topic .git/refs/heads/new'
	assert_status 0
	[ -z "$output" ] || fail "$output"
	run pen -- sh -c 'rm .git/logs/HEAD; mv old .git/logs/HEAD; chmod 300 .git/logs'
	assert_output_has "'.git/logs/HEAD' is a link"
	[ ! -L .git/logs/HEAD ]
	run pen -- sh -c 'chmod 700 .git/logs; rm -rf .git/logs; mv moved .git/logs'
	assert_output_has "'.git/logs/HEAD' is a link"
	[ -L .git/shared ]
}

@test "E030 an index that names files of git's own directory" {
	# Added under another name of that length, since git would not add it; the sum at the end is put right.
	echo 'import hashlib; b = open(".git/index", "rb").read()[:-20].replace(b"-git/hooks", b".git/hooks")
open(".git/index", "wb").write(b + hashlib.sha1(b).digest())' >"$SCRATCH/forge.py"
	harmless "mkdir -p ./-git/hooks; $HOOK >./-git/hooks/post-checkout; chmod +x ./-git/hooks/post-checkout; git add ./-git
		rm -r ./-git; python3 '$SCRATCH/forge.py'" 'git checkout .; git checkout -b other' .git/index
	git status >/dev/null
}

@test "E10F a rebase or a cherry-pick whose merge strategy is a program of the worktree" {
	local program='mkdir git-merge-..; printf "#!/bin/sh\ntouch \"$MARKER\"\n" >x; chmod +x x'
	echo 1 >a && git add a && git commit -q -m one && git switch -q -c side && echo 2 >b && git add b &&
		git commit -q -m two && git switch -q - && echo 3 >c && git add c && git commit -q -m three
	harmless "$program; git switch -q --detach side; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i main
		echo ../../x >.git/rebase-merge/strategy" 'git rebase --continue' .git/rebase-merge
	rm -rf git-merge-.. x && git switch -q -f main
	# What a strategy of git's own begins goes on.
	run pen -- sh -c "git switch -q --detach side; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -s resolve -i main"
	refute_output_has pinfold:
	run pen -- git rebase --continue
	assert_status 0
	git switch -q -f main
	harmless "$program; git switch -q --detach main~1; echo 4 >b; git add b; git commit -q -m four; git cherry-pick side main
		printf '[options]\n\tstrategy = ../../x\n' >.git/sequencer/opts" \
		'git add b; git -c core.editor=true cherry-pick --continue' .git/sequencer
}
