# SPDX-License-Identifier: Apache-2.0
# The watch over the mounts: what the host replaces, moves or removes during a run is covered again (E011).
# shellcheck shell=bash disable=SC2154

load ../lib

setup() {
	lib_setup
	own_home
	needs git
	new_repo
}

# while_it_runs HOST SCRIPT [OPTION...] : the host's part is done while a run waits, the script afterwards inside. The
# pauses are hundreds of times what the watch needs.
while_it_runs() {
	local host=$1 script=$2
	shift 2
	rm -f finished "$SCRATCH/record"
	in_background "meet; $script" --record "$SCRATCH/record" "$@"
	wait_for test -e here
	sleep 0.4 # moves are seen when a run has lasted 0.2 seconds
	(eval "$host")
	sleep 0.6
	go && finished && wait_for test -s "$SCRATCH/record"
}

# without_watch HOST SCRIPT [KEY=VALUE...] : the same as if the mounts could not be watched here.
without_watch() {
	local host=$1 script=$2
	shift 2
	rm -f finished
	spawn "${PINFOLD%/*}/tests/poorer" watch "$@" -- \
		sh -c "touch here; while [ ! -e go ]; do sleep 0.02; done; rm -f go; $script; touch finished"
	wait_for test -e here
	(eval "$host")
	go && finished
}

field() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }
# The paths of the violations, below the worktree.
named() { field "$SCRATCH/record" 'sorted(v["path"][len(r["worktree"]) + 1:] for v in r["violations"])'; }

# exchange A B : both names in one step.
exchange() {
	python3 -c 'import ctypes, os, sys
names = [os.fsencode(name) for name in sys.argv[1:]]
sys.exit(ctypes.CDLL(None).renameat2(-100, names[0], -100, names[1], 2))' "$1" "$2"
}

@test "E011 a file that the host replaces is covered again, whatever way it takes" {
	local way
	for way in 'echo host >new && mv new f' 'rm f && echo host >f' 'rm f && sleep 0.3 && echo host >f' \
		'mv f f~ && echo host >f && rm f~' 'mv f f~ && echo host >f' 'echo host >g && exchange f g' \
		'ln f g && rm f && cp --remove-destination g f && echo host >f'; do
		echo "way: $way"
		rm -f f f~ g && echo old >f
		without_watch "$way" 'echo evil >>f' protect=f
		assert_content f $'host\nevil'
		rm -f f f~ g && echo old >f
		while_it_runs "$way" 'echo evil >>f; mv f away; rm -f f' --protect f
		assert_content f host
		assert_equal "$(named)" "['f']" # by the check after the run, as a change of whosoever
		assert_equal "$(field "$SCRATCH/record" 'r["exit"]["code"]')" 0
	done
}

@test "E011 a directory that the host moves away and makes anew is covered again, and so is what lies in it" {
	local host='mv .git git~ && cp -r git~ .git && mv .vscode vscode~ && mkdir .vscode && echo host >.vscode/a'
	local script='echo evil >>.vscode/a; echo evil >.vscode/b; echo evil >.git/hooks/post-commit; mv .git away'
	mkdir .vscode && echo old >.vscode/a
	# The control. The copy of .git is open as well.
	without_watch "$host" "$script"
	assert_content .vscode/a $'host\nevil'
	assert_exists away/hooks/post-commit
	rm -rf away .vscode vscode~ && mv git~ .git && mkdir .vscode && echo old >.vscode/a
	while_it_runs "$host" "$script; git commit -q --allow-empty -m inside"
	assert_content .vscode/a host
	refute_exists .vscode/b
	refute_exists .git/hooks/post-commit
	refute_exists away
	assert_equal "$(git log -1 --format=%s)" inside
}

@test "E011 several at once, and one a hundred times in a row" {
	local names='a b c d .envrc .mcp.json AGENTS.md' name
	for name in $names; do echo old >$name; done
	# shellcheck disable=SC2016 # for the host's shell
	while_it_runs 'for name in '"$names"'; do echo host >$name.new; done
		mv a.new a; mv b.new b; mv c.new c; mv d.new d; mv .envrc.new .envrc; mv AGENTS.md.new AGENTS.md
		rm .mcp.json; mv .mcp.json.new .mcp.json; git config core.editor host
		for i in $(seq 100); do echo $i >new && mv new a; done' \
		"for name in $names; do echo evil >>\$name; done; git config core.editor evil" \
		--protect a --protect b --protect c --protect d
	for name in b c d .envrc .mcp.json; do assert_content $name host; done
	assert_content a 100
	assert_equal "$(git config core.editor)" host
}

@test "E011 git's configuration that the host writes: the command goes on with its copy, also in other layouts" {
	local main=$WORK layout
	git clone -q --bare . "$SCRATCH/bare.git"
	git -C "$SCRATCH/bare.git" worktree add -q "$SCRATCH/of-bare"
	git worktree add -q "$SCRATCH/linked"
	new_repo "$SCRATCH/super"
	git -C "$SCRATCH/super" -c protocol.file.allow=always submodule --quiet add "$main" sub
	for layout in "$main" "$SCRATCH/linked" "$SCRATCH/of-bare" "$SCRATCH/super/sub"; do
		echo "layout: $layout"
		cd "$layout"
		WORK=$layout
		git config user.name 'A Tester' && git config user.email tester@example.invalid
		config=$(git rev-parse --path-format=absolute --git-common-dir)/config
		without_watch 'git config core.editor host' "printf '[core]\n\teditor = evil\n' >>'$config'"
		assert_equal "$(git config core.editor)" evil
		git config --unset-all core.editor
		while_it_runs 'git config core.editor host; git config core.editor again' \
			"printf '[core]\n\teditor = evil\n' >>'$config'; git config core.pager evil
			git switch -q -c new --track HEAD || git switch -q -c new; git commit -q --allow-empty -m inside; git branch -q --unset-upstream"
		assert_equal "$(git config core.editor)" again
		[ -z "$(git config core.pager)" ] || fail "$(cat "$config")"
		assert_equal "$(git log -1 --format=%s)" inside
	done
}

@test "E011 what the host removes is no reason to stop, and what it makes there later is covered" {
	echo old >.envrc
	while_it_runs 'rm .envrc' 'echo still here'
	assert_equal "$(field "$SCRATCH/record" 'r["exit"]["code"], r["violations"][0]["what"]')" \
		"(0, 'is protected and is gone')"
	assert_content said 'still here'
}

@test "E044 a masked file that the host replaces stays hidden" {
	echo old >token
	without_watch 'echo secret >new && mv new token' 'cat token >stolen' hide=token
	assert_content stolen secret
	while_it_runs 'echo secret >new && mv new token' 'cat token >stolen' --hide token
	assert_content stolen ''
}

@test "what cannot be covered again ends the run, and the record says so" {
	echo old >token
	in_background 'meet; echo too late >late' --record "$SCRATCH/record" --hide token
	wait_for test -e here
	rm token && mkdir token # a mask is a file or a directory
	wait_for test -s "$SCRATCH/record"
	touch go
	assert_equal "$(named)" "['token']"
	[[ $(field "$SCRATCH/record" 'r["exit"]["signal"], r["violations"][0]["what"]') == "(9, 'lost its cover"* ]] ||
		fail "$(cat "$SCRATCH/record")"
	refute_exists late
}

# watching FILE : system calls of the supervisor of a run that lasts half a second.
watching() {
	rm -f here go finished
	spawn env ASAN_OPTIONS=detect_leaks=0 strace -o "$1" "$PINFOLD" run -- sh -c 'touch here; sleep 0.7'
	wait_for test -e here
	sleep 0.3
}

@test "a quiet run wakes up once, and what is replaced beside the covers does not wake it" {
	needs strace
	echo old >.envrc
	watching "$SCRATCH/calls"
	for i in 1 2 3 4 5; do
		echo "$i" >new && mv new file && mkdir d && mv d e && rmdir e && git commit -q -a -m "$i"
	done
	wait "$SPAWNED"
	assert_equal "$(grep -c '^inotify_init1' "$SCRATCH/calls")" 1
	assert_equal "$(grep -c '^clone' "$SCRATCH/calls")" "$(grep -c CLONE_NEW "$SCRATCH/calls")"
	[ "$(sed -n '/^inotify_init1/,$p' "$SCRATCH/calls" | grep -c '^poll.*POLLPRI')" -le 4 ] || fail "$(cat "$SCRATCH/calls")"
	# The control: a cover does.
	watching "$SCRATCH/calls"
	echo host >new && mv new .envrc
	wait "$SPAWNED"
	grep -q '^clone(.*CLONE_VFORK' "$SCRATCH/calls" || fail "$(cat "$SCRATCH/calls")"
}

@test "nothing of the watch is within the command's reach" {
	echo old >.envrc
	while_it_runs 'for i in $(seq 50); do echo host >new; mv new .envrc; done' \
		'ls -l /proc/self/fd/ | grep -E "mnt:|mountinfo|inotify|socket:" || echo none
		ls /proc/1/fd /proc/1/ns 2>&1 | grep -c denied
		readlink /proc/1/ns/mnt || echo unreadable'
	assert_content said $'none\n2\nunreadable'
	# And the pen's init keeps none of it: pipes, and what tells of its children.
	only_as root
	in_background meet
	wait_for test -e here
	local init
	for init in $(cat "/proc/$SPAWNED/task/$SPAWNED/children"); do
		assert_equal "$(readlink "/proc/$init/fd/"* | sed 's/:.*//' | sort -u)" $'anon_inode\npipe'
		assert_equal "$(readlink "/proc/$init/fd/"* | grep -c anon_inode)" 1
	done
	go && finished
}
