# SPDX-License-Identifier: Apache-2.0
# What is tried on pinfold itself: to be replaced, talked around, starved, or to start something bare.
# shellcheck shell=bash disable=SC2154,SC2016 # what is in single quotes is for the shell inside

load ../lib

# Programs in the worktree with the names of what a launcher might run; each leaves a mark beside the worktree.
fakes() {
	local name
	mkdir bin
	printf '#!/bin/sh\ntouch "%s"\n' "$SCRATCH/marker" >bin/fake
	chmod +x bin/fake
	for name in bwrap git sh bash newuidmap newgidmap ip mount umount nsenter unshare pinfold pinfold-init; do
		ln -s fake "bin/$name"
		ln -s bin/fake "$name"
	done
}

@test "E039 E104 programs of the worktree that are named like ours, first in PATH" {
	fakes
	PATH="$WORK/bin:$PATH" sh -c 'git; true' # the control: a launcher that trusts PATH runs it
	assert_exists "$SCRATCH/marker"
	rm "$SCRATCH/marker"
	local path
	for path in "$WORK/bin:$PATH" ".:$PATH" "bin:$PATH" ":$PATH" "$WORK/bin"; do
		run env PATH="$path" "$PINFOLD" run -- /bin/echo ran
		assert_status 0
		assert_equal "$output" ran
		run env PATH="$path" "$PINFOLD" run --offline --backend namespaces -- /bin/echo ran
		assert_equal "$output" ran
		run env PATH="$path" "$PINFOLD" config show
		run env PATH="$path" "$PINFOLD" status
		refute_exists "$SCRATCH/marker"
	done
	# The command gets the PATH that its caller has; what it finds there runs inside.
	run env PATH="$WORK/bin:$PATH" "$PINFOLD" run -- git
	[ "$status" -ne 0 ] || fail "the fake could leave its mark"
	refute_exists "$SCRATCH/marker"
}

@test "E039 the check after the run starts none of them, whatever it finds" {
	needs git
	new_repo
	fakes
	run env PATH="$WORK/bin:$PATH" "$PINFOLD" run -- /usr/bin/env PATH="$PATH" sh -c \
		'git switch -q -c other; git config a.b c; echo x >.mcp.json; mkdir sub; cd sub; git init -q .'
	assert_status 0
	refute_exists .mcp.json # the check took place
	refute_exists "$SCRATCH/marker"
}

@test "E099 a program that is hidden runs by no detour; no other refusal to execute is offered" {
	cp "$ATTEMPT" "$SCRATCH/program"
	local copy=$WORK/copy
	for way in "'$SCRATCH/program' create '$WORK/new-\$\$'" \
		"cp '$SCRATCH/program' '$copy' && '$copy' create '$WORK/new-\$\$'" \
		"ln -sf '$SCRATCH/program' '$WORK/link' && '$WORK/link' create '$WORK/new-\$\$'" \
		"cat '$SCRATCH/program' >'$copy.2' && chmod +x '$copy.2' && '$copy.2' create '$WORK/new-\$\$'" \
		"python3 -c 'import os, sys; fd = os.memfd_create(\"x\"); os.write(fd, open(\"$SCRATCH/program\", \"rb\").read())
os.execve(fd, [\"x\", \"create\", \"$WORK/new-memfd\" + str(os.getpid())], {})'"; do
		denied "$way || exit 1" --hide "$SCRATCH/program" # sh says 127
		rm -f copy copy.2 link new-*
	done
	# What can be read can be run: by a copy, by memory, by an interpreter. So nothing here forbids execution alone.
	allowed "cp '$SCRATCH/program' '$copy' && '$copy' create '$WORK/new-\$\$'"
	run "$PINFOLD" run --help
	[[ ! $output =~ --[a-z-]*exec ]] || fail "an option about execution"
}

# no_namespaces COMMAND... : as on a machine that gives out none (max_user_namespaces is each user namespace's own).
no_namespaces() {
	run unshare --user --map-current-user --keep-caps sh -c \
		'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' - "$@"
}

@test "E100 E10B where no namespace can be had, nothing runs, and the refusal says how to go on" {
	needs userns
	no_namespaces touch control
	assert_exists control
	no_namespaces "$PINFOLD" run -- touch ran
	assert_status 125
	refute_exists ran
	assert_output_has "pinfold: "
	assert_output_has "--accept"
	no_namespaces env PATH=/nonexistent "$PINFOLD" run --backend namespaces -- /usr/bin/touch ran
	assert_status 125
	refute_exists ran
	# Accepting them weaker does not accept them absent; and nothing weaker is chosen in silence.
	no_namespaces "$PINFOLD" run --backend namespaces --accept writes,secrets,repository,services,processes,terminal,privileges,cleanup -- touch ran
	assert_status 125
	refute_exists ran
	no_namespaces "$PINFOLD" run --mode auto -- touch ran # by Landlock alone, where it is there
	assert_status 0
	assert_output_has 'pinfold: writes: '
	assert_exists ran
}

@test "E107 one forbidden thing in many spellings" {
	needs git
	local target=$SCRATCH/beside way count=0
	export target
	cat >spelled.sh <<-'END'
		touch "$target"
	END
	chmod +x spelled.sh
	while IFS= read -r way; do
		rm -rf "$target"
		run sh -c "$way" # the control
		assert_exists "$target"
		rm -rf "$target"
		run pen -- sh -c "$way"
		refute_exists "$target"
		count=$((count + 1))
	done <<-'END'
		touch "$target"
		t''ou"ch" "$target"
		/usr/bin/env touch "$target"
		$(command -v touch) "$target"
		IFS=,; set -- touch,"$target"; $*
		echo "$target" | xargs touch
		find . -maxdepth 0 -exec touch "$target" \;
		sh -c 'eval "$(printf "\\164\\157uch") \"\$target\""'
		bash -c 'exec 3>"$target"'
		git -c alias.x='!touch "$target"' x
		python3 -c 'import os; open(os.environ["target"], "w")'
		perl -e 'open(my $f, ">", $ENV{target}) or exit 1'
		awk 'BEGIN { print "x" >ENVIRON["target"] }'
		./spelled.sh
		cp spelled.sh "$target"
		ln -s x "$target"
		dd if=spelled.sh of="$target" 2>/dev/null
		true; true; true; true; true; true; true; true; true; true; true; true; true; true; true; true; touch "$target"
	END
	[ "$count" -eq 18 ] || fail "$count spellings"
}

# The most memory that pinfold's own processes (the caller's and the supervisor) have had, in kB.
peak() {
	local pid most=0 peak
	for pid in "$1" $(pgrep -P "$1"); do
		peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2>/dev/null)
		((${peak:-0} > most)) && most=$peak
	done
	echo "$most"
}

@test "E111 a flood of output to a slow reader fills no memory" {
	mkfifo "$SCRATCH/pipe"
	spawn python3 -c 'import os, sys, time
fd, total = os.open(sys.argv[1], os.O_RDONLY), 0
while data := os.read(fd, 1 << 16):
    total += len(data)
    time.sleep(0.002)
    open(sys.argv[2], "w").write(str(total))' "$SCRATCH/pipe" "$SCRATCH/total"
	spawn sh -c 'exec "$0" run -- head -c 64M /dev/zero >"$1"' "$PINFOLD" "$SCRATCH/pipe"
	local pid=$SPAWNED most=0 now
	wait_for test -s "$SCRATCH/total"
	while kill -0 "$pid" 2>/dev/null; do
		now=$(peak "$pid")
		((now > most)) && most=$now
		sleep 0.1
	done
	assert_content "$SCRATCH/total" $((64 << 20))
	# AddressSanitizer takes some of its own.
	((most > 0 && most < (64 << 10))) || fail "$most kB"
}

@test "E111 a status like one of ours is told from one of ours" {
	run pen --record "$SCRATCH/record" -- sh -c 'exit 125'
	assert_status 125
	grep -q '"ran": *true' "$SCRATCH/record"
	grep -q '"code": *125' "$SCRATCH/record"
	run pen --record "$SCRATCH/record.2" --worktree / -- touch ran
	assert_status 125
	grep -q '"ran": *false' "$SCRATCH/record.2"
	refute_exists ran
}

@test "E111 stopping everybody, and children that nobody waits for, do not hold the run" {
	run pen --time 1s -- sh -c 'kill -STOP -1; kill -STOP 1; kill -STOP $$; sleep 60'
	assert_status 124
	# On a terminal the shell gets its job back, and the clock runs on.
	run on_pty -- bash -ic '"$PINFOLD" run --time 1s -- sh -c "kill -STOP \$\$; sleep 60"; sleep 4; jobs; wait %1; echo "status $?"'
	assert_output_has 'Exit 124'
	cat >orphans.py <<-'END'
		import os, time
		for _ in range(200):
		    if os.fork() == 0:
		        if os.fork() == 0:
		            os._exit(0)
		        os._exit(0)
		    os.wait()
		for _ in range(100):
		    zombies = 0
		    for pid in filter(str.isdigit, os.listdir("/proc")):
		        try:
		            zombies += open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
		        except OSError:
		            pass
		    if not zombies:
		        break
		    time.sleep(0.05)
		print(zombies)
	END
	run pen -- python3 orphans.py
	assert_status 0
	assert_equal "$output" 0
}
