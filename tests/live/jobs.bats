# SPDX-License-Identifier: Apache-2.0
# Real jobs in the default policy. The name of a test is its row in the table of README.md (tools/jobs-table).
# shellcheck shell=bash disable=SC2154,SC2016 # status and output are bats' own; scripts expand inside the pen

bats_require_minimum_version 1.5.0 # run --separate-stderr
load ../lib

JOBS=$PROJECT/tests/live/jobs

# Jobs run with a home of their own, so that caches are cold and the tester's are left alone.
setup() {
	lib_setup && own_home || return 1
	unset NPM_CONFIG_CACHE npm_config_cache npm_config_registry CARGO_HOME PIP_CACHE_DIR
	git config --global user.name 'A Tester' && git config --global user.email tester@example.invalid &&
		git config --global init.defaultBranch main
}

# job SCRIPT : passes, and pinfold has nothing to say about it.
job() {
	run --separate-stderr pen -- sh -ec "$1"
	[ "$status" -eq 0 ] || fail "status $status" "$output" "$stderr"
	[[ $stderr != *pinfold:* ]] || fail "pinfold spoke: $stderr"
}

# All names, kinds, modes, times and contents below a directory.
tree() { tar -C "$1" --sort=name -cf - . | sha256sum; }

# A repository of the project's own files, with a history: a clone of the checkout, or a copy without one.
real_repository() {
	if [ -e "$PROJECT/.git" ]; then
		git -c safe.directory='*' clone -q --no-hardlinks "$PROJECT" "$1"
	else
		mkdir "$1" && tar -C "$PROJECT" --exclude=./build --exclude='./build-*' -cf - . | tar -C "$1" -xf - &&
			git -C "$1" init -q && git -C "$1" add -A && git -C "$1" commit -q -m "the project"
	fi
}

# ---- git ----

@test "git clone of this project, log, grep, fsck" {
	real_repository "$SCRATCH/source"
	job "git clone -q '$SCRATCH/source' project && cd project
		test -z \"\$(git status --porcelain)\"
		git log -1 --format=%s && git grep -q pinfold_plan -- include && git fsck --no-progress"
	assert_exists project/include/pinfold.h
	assert_equal "$(git -C project rev-parse HEAD)" "$(git -C "$SCRATCH/source" rev-parse HEAD)"
}

@test "git commit, switch, stash, merge, rebase, tag" {
	cd "$SCRATCH" && rm -rf "$WORK" && real_repository "$WORK" && cd "$WORK"
	local main
	main=$(git symbolic-ref --short HEAD)
	cp .git/config "$SCRATCH/config"
	job "
		git switch -q -c one && echo one >one.txt && git add one.txt && git commit -q -m one
		git switch -q $main && echo two >two.txt && git add two.txt && git commit -q -m two
		git switch -q -c three && echo three >three.txt && git add three.txt && git commit -q -m three
		git switch -q $main && git merge -q --no-edit one
		git switch -q three && git rebase -q $main
		echo change >>LICENSE && git stash -q && test -z \"\$(git status --porcelain)\"
		git stash pop -q && git commit -q -a -m change
		git tag -a v9 -m nine"
	assert_equal "$(git log --format=%s -3 | tr '\n' ' ')" "change three Merge branch 'one' "
	assert_equal "$(git tag --points-at HEAD)" v9
	[ -z "$(git status --porcelain)" ] || fail "$(git status)"
	git fsck --no-progress
	cmp .git/config "$SCRATCH/config"
}

# ---- compilers and scripts ----

@test "make -j4 of a C project" {
	needs make cc
	cp -r "$JOBS/c" . && cd c
	job 'make -s -j4 check'
	assert_equal "$(./powers 2)" "2 4 8 14"
	job 'touch powers.h && make -j4 check && make -q powers'
}

@test "gcc: compile, link, run" {
	needs gcc
	printf '#include <stdio.h>\n#include <math.h>\nint main(int c, char **v) { printf("%%.0f", pow(c + 1, 10)); }\n' >p.c
	job 'gcc -O2 -flto -pipe -o p p.c -lm && ./p'
	assert_equal "$output" 1024
}

@test "bash: jobs in the background, stopped and continued" {
	run on_pty -- "$PINFOLD" run -- bash -ic 'set +H; sleep 60 & sleep 60 & kill -STOP %1
		until jobs | grep -q Stopped; do sleep 0.05; done; bg %1 >/dev/null; echo "$(jobs -r | grep -c sleep) run"
		kill %1 %2; wait; sleep 0.1 & fg >/dev/null && echo in the foreground'
	assert_status 0
	assert_output_has "2 run"
	assert_output_has "in the foreground"
}

@test "perl: a pipe, a child, a temporary file" {
	needs perl
	job 'perl -MFile::Temp=tempfile -e "
		my (\$handle, \$name) = tempfile(); print \$handle qq(one\n); close \$handle;
		open(my \$pipe, q(-|), qw(cat), \$name) or die; print <\$pipe>; close \$pipe or die;
		my \$child = fork; exit 7 unless \$child; waitpid \$child, 0; print \$? >> 8, qq(\n)"'
	assert_equal "$output" $'one\n7'
}

@test "cargo build and test of a crate" {
	needs cargo
	# With its own home rustup would not find the toolchain, which lies in the real one.
	cp -r "$JOBS/crate" . && cd crate
	CARGO_HOME=$SCRATCH/home/.cargo RUSTUP_HOME=${RUSTUP_HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)/.rustup} \
		job 'cargo build -q --offline && cargo test -q --offline && cargo run -q --offline'
	assert_output_has "the sum is 55"
	assert_equal "$(target/debug/job)" "the sum is 55"
}

@test "java: compile and run" {
	needs javac java
	cp "$JOBS/Hello.java" .
	job 'javac Hello.java && java Hello'
	assert_equal "$output" "the sum is 55"
}

@test "java: a server and its client, in threads" {
	needs javac java
	cp "$JOBS/Server.java" .
	job 'javac Server.java && java Server'
	assert_equal "$output" "four answers"
	run pen --offline -- java Server
	assert_equal "$output" "four answers"
}

@test "go: build, test and run a module without dependencies" {
	needs go
	cp -r "$JOBS/module" . && cd module
	# Nothing but the tool that is installed, whatever the module asks for.
	export GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPROXY=off
	job 'go vet ./... && go test ./... >/dev/null && go build -o job . && ./job'
	assert_equal "$output" "the sum is 55"
	job 'go run .'
	assert_equal "$output" "the sum is 55"
}

@test "ruby: threads, a child and a socket" {
	needs ruby
	job 'ruby -rsocket -e "
		server = TCPServer.new(%q(127.0.0.1), 0)
		answer = Thread.new { client = server.accept; client.puts %q(hello); client.close }
		puts TCPSocket.new(%q(127.0.0.1), server.addr[1]).gets
		answer.join
		puts IO.popen([%q(echo), %q(from a child)]).read
		Process.wait(fork { exit 7 }); puts \$?.exitstatus"'
	assert_equal "$output" $'hello\nfrom a child\n7'
}

# ---- debuggers: what a command starts is its own to look at ----

@test "strace of a child, and of its threads and children" {
	needs strace python3
	job 'strace -f -o trace sh -c "echo one; cat /dev/null; exit 7" || test $? = 7
		grep -q "exited with 7" trace && grep -q execve trace && grep -q cat trace'
	# One that runs already: any process of the pen is the command's own.
	job 'sleep 60 & child=$!; strace -qo attached -p $child & sleep 0.5; kill $child; wait; grep -q SIGTERM attached'
}

@test "gdb: a breakpoint, a variable, a backtrace" {
	needs gdb gcc
	printf 'int twice(int n) { return 2 * n; }\nint main(void) { return twice(21) == 42 ? 7 : 1; }\n' >p.c
	job 'gcc -g -O0 -o p p.c
		gdb -nx -batch -ex "break twice" -ex run -ex "print n * 2" -ex bt -ex continue ./p >log 2>&1
		grep -q "= 42" log && grep -q "main ()" log && grep -q "exited with code 07" log'
}

@test "valgrind: a leak is found" {
	needs valgrind gcc
	printf '#include <stdlib.h>\nint main(void) { return malloc(10) == 0; }\n' >p.c
	job 'gcc -g -o p p.c && valgrind -q --leak-check=full --error-exitcode=9 ./p 2>log || test $? = 9
		grep -q "definitely lost" log && valgrind -q --error-exitcode=9 true'
}

# ---- node ----

# An npm registry on loopback, and a project that wants its package.
npm_project() {
	mkdir "$SCRATCH/registry"
	spawn python3 "$JOBS/registry.py" "$SCRATCH/registry"
	wait_for test -s "$SCRATCH/registry/port"
	PORT=$(cat "$SCRATCH/registry/port")
	cp "$JOBS"/npm/* .
	python3 "$JOBS/registry.py" --lock "$PORT" >package-lock.json
	printf 'registry=http://127.0.0.1:%s/\naudit=false\nfund=false\nupdate-notifier=false\n' "$PORT" >.npmrc
}

requests() { cat "$SCRATCH/registry/log" 2>/dev/null | wc -l; }

@test "npm ci and npm test from a registry" {
	needs node npm python3
	npm_project
	mkdir "$HOME/.npm" && echo before >"$HOME/.npm/file"
	local before
	before=$(tree "$HOME/.npm")
	job 'npm ci --silent && npm test --silent'
	assert_content report.txt tested
	grep -q 'GET .*\.tgz' "$SCRATCH/registry/log"
	assert_equal "$(tree "$HOME/.npm")" "$before"
}

@test "npm ci again downloads nothing, and ~/.npm is as before" {
	needs node npm python3
	npm_project
	mkdir "$HOME/.npm" && echo before >"$HOME/.npm/file"
	local before cold
	before=$(tree "$HOME/.npm")
	job 'npm ci --silent'
	cold=$(requests)
	[ "$cold" -ge 1 ] || fail "nothing was downloaded the first time"
	rm -rf node_modules
	job 'npm ci --silent && npm test --silent'
	assert_equal "$(requests)" "$cold"
	assert_equal "$(tree "$HOME/.npm")" "$before"
	# Another project has the cache too.
	mkdir "$SCRATCH/other" && cp package.json package-lock.json .npmrc test.js "$SCRATCH/other" && cd "$SCRATCH/other"
	job 'npm ci --silent && npm test --silent'
	assert_equal "$(requests)" "$cold"
}

@test "node: an HTTP server and its client" {
	needs node
	cp "$JOBS/http.js" .
	job 'node http.js'
	assert_equal "$output" "you asked for /page"
	run pen --offline -- node http.js
	assert_status 0
	assert_equal "$output" "you asked for /page"
}

@test "node: worker threads" {
	needs node
	cp "$JOBS/workers.js" .
	job 'node workers.js'
	assert_equal "$output" "the sum is 55"
}

@test "npm pack, and an install from the package" {
	needs node npm
	mkdir greeting user
	printf '{ "name": "greeting", "version": "1.0.0", "main": "index.js" }\n' >greeting/package.json
	echo 'module.exports = () => "hello"' >greeting/index.js
	printf '{ "name": "user", "version": "1.0.0" }\n' >user/package.json
	job 'cd greeting && npm pack --silent >/dev/null && cd ../user
		npm install --silent --offline --no-audit --no-fund ../greeting/greeting-1.0.0.tgz >/dev/null
		node -p "require(\"greeting\")()"'
	assert_equal "$output" hello
}

# ---- Python ----

@test "python: threads that wait for each other" {
	needs python3
	job 'python3 -c "
import concurrent.futures, queue, threading
q, barrier = queue.Queue(), threading.Barrier(8)
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    done = [pool.submit(lambda n: (barrier.wait(10), q.put(n)), n) for n in range(8)]
    [d.result() for d in done]
print(sum(q.get() for _ in range(8)))"'
	assert_equal "$output" 28
}

@test "python: venv and pip install of a wheel" {
	needs venv
	python3 "$JOBS/wheel.py" "$WORK"
	job 'python3 -m venv env && env/bin/pip install -q --no-index --disable-pip-version-check ./*.whl
		env/bin/python -c "import pinfold_greeting; print(pinfold_greeting.greet(\"pen\"))"'
	assert_equal "$output" "hello, pen"
}

@test "F128 python multiprocessing: fork, spawn, forkserver" {
	needs python3
	cp "$JOBS/processes.py" .
	job 'for method in fork spawn forkserver; do python3 processes.py $method; done'
	assert_equal "$output" $'fork works\nspawn works\nforkserver works'
}

@test "F128 python shared memory, which the host does not see" {
	needs python3
	cp "$JOBS/processes.py" .
	# Outside it lies in /dev/shm for everybody to see.
	mkfifo "$SCRATCH/input"
	spawn sh -c 'exec python3 processes.py segment outside <"$1"' sh "$SCRATCH/input"
	exec 9>"$SCRATCH/input"
	wait_for test -s outside
	assert_exists "/dev/shm/$(cat outside)"
	exec 9>&-
	wait "$SPAWNED"
	# The shell waits for the host between the two lines that look at it from inside.
	in_background 'mkfifo input; python3 processes.py segment inside <input & exec 9>input
		until test -s inside; do sleep 0.02; done
		test -e "/dev/shm/$(cat inside)" && meet && exec 9>&- && wait $! && echo "and it works"'
	wait_for test -e here
	refute_exists "/dev/shm/$(cat inside)"
	go
	finished
	assert_content said "and it works"
}

# ---- tools ----

@test "sqlite3: a database with a write-ahead log" {
	needs sqlite3
	job 'sqlite3 data.db "PRAGMA journal_mode=WAL; CREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT); BEGIN;
		INSERT INTO t (s) VALUES (\"one\"), (\"two\"); COMMIT; PRAGMA integrity_check; SELECT count(*) FROM t;"'
	assert_equal "$output" $'wal\nok\n2'
	assert_equal "$(sqlite3 data.db 'SELECT max(n) FROM t')" 2
}

@test "tmux: a session, keys typed, the screen read" {
	needs tmux
	job 'shows() { for try in $(seq 100); do tmux capture-pane -p -t work | grep -qx "$1" && return; sleep 0.05; done; exit 1; }
		tmux new-session -d -s work -x 80 -y 24 "PS1=\"ready> \" exec sh"
		shows "ready> *"
		tmux send-keys -t work "echo \$((6 * 7)); touch typed" Enter
		shows 42
		tmux kill-server'
	assert_exists typed
}

@test "script: a command on a terminal of its own" {
	needs script
	job 'script -qec "tty; stty size >/dev/null && test -t 0 && test -t 1 && echo a terminal" /dev/null </dev/null'
	assert_output_has /dev/pts/
	assert_output_has "a terminal"
}
