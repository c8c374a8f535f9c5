#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What users ran into on hosts where a sandbox does not start, or starts and protects nothing: sysctls, AppArmor,
# containers, versions of bubblewrap, and sandboxes in sandboxes.

bats_require_minimum_version 1.5.0 # run -126
load ../lib

# without WORDS COMMAND... : where the kernel refuses that.
without() { "$(dirname "$ATTEMPT")/without" "$@"; }

# one_line : the output is one message, with at most one hint.
one_line() {
	[ "$(grep -c '^pinfold: ' <<<"$output")" -le 2 ] && ! grep -qv '^pinfold: ' <<<"$output" || fail "$output"
}

@test "F054 F056 F073 where namespaces get no rights, one line names the step that failed, and nothing runs" {
	local words step
	while read -r words step; do
		run without "$words" "$PINFOLD" run --backend namespaces --record "$SCRATCH/record" -- touch ran
		assert_status 125
		one_line
		assert_output_has "$step"
		refute_exists ran
		# a script can tell: the status is nobody else's, the record has the reason
		assert_equal "$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["ran"], r["exit"]["reason"] in ("unavailable", "refused"))' "$SCRATCH/record")" \
			'False True'
		run without "$words" sh -ec '"$PINFOLD" run --backend namespaces -- true 2>/dev/null; echo went on'
		refute_output_has 'went on'
	done <<-'END'
		namespaces make
		mounts copy the mount of
		mounts=EACCES open
		old-mount mount
	END
}

@test "F058 in a repository and out of one a host that lacks something says the same" {
	mkdir "$SCRATCH/plain" "$SCRATCH/repo"
	new_repo "$SCRATCH/repo"
	local words said
	for words in namespaces mounts old-mount; do
		cd "$SCRATCH/plain" || return 1
		run without "$words" "$PINFOLD" run --backend namespaces -- true
		said="$status ${output//plain/repo}"
		cd "$SCRATCH/repo" || return 1
		run without "$words" "$PINFOLD" run --backend namespaces -- true
		assert_equal "$status $output" "$said"
	done
}

@test "F060 F061 F067 odd places: a parent that cannot be listed, links at protected names, mounts in odd places" {
	needs unshare
	own_home
	mkdir -p "$SCRATCH/closed/work" "$SCRATCH/elsewhere"
	new_repo "$SCRATCH/closed/work"
	cd "$SCRATCH/closed/work" || return 1
	echo '{}' >"$SCRATCH/elsewhere/mcp.json"
	ln -s "$SCRATCH/elsewhere/mcp.json" .mcp.json
	ln -s ../nowhere .envrc
	chmod 711 "$SCRATCH/closed"
	run pen -- sh -c 'echo x >inside && cat .mcp.json'
	assert_status 0
	assert_content inside x
	chmod 755 "$SCRATCH/closed"
	# a tmpfs and a bind below the home, the worktree and /mnt
	local words=(unshare --mount)
	[ "$TEST_AS" = root ] || words=(unshare --user --map-current-user --keep-caps --mount)
	mkdir -p "$HOME/odd" mounted
	# shellcheck disable=SC2016 # for the inner shell
	run "${words[@]}" sh -c 'mount -t tmpfs none "$HOME/odd" && mount -t tmpfs none /mnt && mkdir /mnt/wslg &&
		mount --bind "$SCRATCH/elsewhere" /mnt/wslg && mount --bind "$SCRATCH/elsewhere" mounted || exit 99
		"$PINFOLD" run -- sh -c "echo y >again && ls mounted >/dev/null && ! touch /mnt/x 2>/dev/null"'
	assert_status 0
	assert_content again y
}

@test "F063 F065 F074 whether bubblewrap is there changes nothing by itself, and PATH never decides" {
	mkdir "$SCRATCH/bin"
	printf '#!/bin/sh\necho ran >"%s/fake"\nexec "$@"\n' "$SCRATCH" >"$SCRATCH/bin/bwrap"
	chmod 755 "$SCRATCH/bin/bwrap"
	local path record
	for path in /usr/bin:/bin "$SCRATCH/bin:/usr/bin:/bin" "$SCRATCH/bin"; do
		PATH=$path "$PINFOLD" run --record "$SCRATCH/record" -- /bin/true
		record+=$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["backend"], sorted((n, g["state"]) for n, g in r["guarantees"].items()))' "$SCRATCH/record")$'\n'
	done
	assert_equal "$(sort -u <<<"${record%$'\n'}" | wc -l)" 1
	refute_exists "$SCRATCH/fake"
}

@test "F064 in the root directory the refusal is about the worktree, not about something missing" {
	cd / || return 1
	run "$PINFOLD" run -- true
	assert_status 125
	assert_output_has "'/'"
	refute_output_has 'not installed'
	run "$PINFOLD" doctor
	refute_output_has 'not installed'
	assert_output_has 'proved'
}

@test "F066 with /proc/sys closed it works, or the message names what could not be read" {
	needs unshare
	local words=(unshare --mount)
	[ "$TEST_AS" = root ] || words=(unshare --user --map-current-user --keep-caps --mount)
	mkdir "$SCRATCH/empty"
	# shellcheck disable=SC2016 # for the inner shell
	run "${words[@]}" sh -c 'mount --bind "$SCRATCH/empty" /proc/sys || exit 99; "$PINFOLD" run -- touch ran'
	if [ "$status" -eq 0 ]; then
		assert_exists ran
	else
		assert_status 125
		assert_output_has /proc
	fi
}

@test "F069 root without CAP_SYS_ADMIN, and a user, in a container: it runs, or what is weaker is asked for by name" {
	needs setpriv
	[ "$TEST_AS" = root ] || skip "only as root"
	run setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$PINFOLD" run --record "$SCRATCH/record" -- touch ran
	if [ "$status" -eq 0 ]; then
		assert_exists ran
	else
		assert_status 125
		assert_output_has 'to run anyway: pinfold run --accept'
		run setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$PINFOLD" run --mode auto --quiet --record "$SCRATCH/record" -- touch ran
		assert_status 0
		assert_exists ran
	fi
	# and nothing of the host changed hands
	run setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$PINFOLD" run --mode auto --quiet -- \
		sh -c 'echo x >/proc/sys/kernel/hostname'
	[ "$status" -ne 0 ] || fail "a sysctl of the host was written"
}

@test "F070 where no fresh /proc can be had, that is found out, said, and asked for by name" {
	needs unshare
	local words=(unshare --mount --pid --fork)
	[ "$TEST_AS" = root ] || words=(unshare --user --map-root-user --mount --pid --fork)
	mkdir "$SCRATCH/empty"
	# shellcheck disable=SC2016 # for the inner shell
	local covered='mount -t proc proc /proc && mount --bind "$SCRATCH/empty" /proc/bus && mount -t tmpfs none /proc/acpi || exit 99; '
	run "${words[@]}" sh -c "$covered"'"$PINFOLD" run --backend namespaces -- touch ran'
	[ "$status" -ne 99 ] || fail "$output"
	assert_status 125
	assert_output_has 'processes'
	assert_output_has 'in /proc'
	refute_exists ran
	run "${words[@]}" sh -c "$covered"'"$PINFOLD" run --backend namespaces --mode auto --record "$SCRATCH/record" -- touch ran'
	assert_status 0
	assert_equal "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["guarantees"]["processes"]["state"])' "$SCRATCH/record")" weaker
}

@test "F076 under a first process that reaps nobody a hundred runs leave no zombie" {
	needs unshare
	local words=(unshare --pid --fork --mount-proc)
	[ "$TEST_AS" = root ] || words=(unshare --user --map-current-user --keep-caps --pid --fork --mount-proc)
	# python is the first process, and waits for its own children alone
	cat >"$SCRATCH/first" <<-'END'
		import os, sys
		for _ in range(int(sys.argv[1])):
		    child = os.spawnv(os.P_NOWAIT, os.environ["PINFOLD"], ["pinfold", "run", "--mode", "auto", "--quiet", "--", "/bin/true"])
		    if os.waitpid(child, 0)[1]:
		        sys.exit("a run failed")
		left = [pid for pid in os.listdir("/proc") if pid.isdigit() and pid != "1" and
		        open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] in "ZX"]
		sys.exit(f"zombies: {left}" if left else 0)
	END
	run "${words[@]}" python3 "$SCRATCH/first" 100
	assert_status 0
	run "${words[@]}" env PINFOLD="$PINFOLD" sh -c 'exec python3 "$0" 1' "$SCRATCH/first"
	assert_status 0
}

@test "F077 a call that containers refuse to supervisors is not needed" {
	without pidfd "$PINFOLD" run --offline -- touch ran
	assert_exists ran
	without pidfd,close_range,clone3 "$PINFOLD" run -- touch again
	assert_exists again
}

@test "F078 F079 programs that take another's rights are refused inside, with a word of why where it is asked for" {
	local words
	while IFS= read -r words; do
		printf '#!/bin/sh\necho "%s" >&2\nexit 1\n' "$words" >program
		chmod 755 program
		run pen --hints human -- ./program
		assert_status 1
		assert_output_has 'pinfold: hint: '
	done <<-'END'
		sudo: effective uid is not 0, is sudo installed setuid root?
		newuidmap: write to uid_map failed: Operation not permitted
	END
	run pen -- "$ATTEMPT" setuid-0
	[ "$output" != OK ] || [ "$TEST_AS" = root ] || fail "$output"
}

@test "F080 in a pen a second one knows where it is, and nobody is told to take the first away" {
	run pen -- "$PINFOLD" run -- true
	assert_status 125
	refute_output_has '--mode off'
	assert_output_has 'this is a pen already'
	run pen -- "$PINFOLD" status
	assert_status 0
	assert_output_has 'confined: yes'
	# nothing is remembered of it outside
	run pen -- true
	assert_status 0
}

@test "F039 without mounts a denial inside what is allowed is named, and refused until it is accepted" {
	mkdir -p allowed/secret
	echo s >allowed/secret/file
	run pen --backend landlock --accept writes,repository,processes,terminal,privileges --hide allowed/secret -- cat allowed/secret/file
	assert_status 125
	assert_output_has "allowed/secret"
	assert_output_has '--accept'
	run pen --backend landlock --mode auto --hide allowed/secret --record "$SCRATCH/record" -- true
	assert_equal "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["guarantees"]["secrets"]["state"])' "$SCRATCH/record")" weaker
}

@test "F112 without mounts an interpreter in an odd place works, and a missing one is named" {
	cp /bin/sh "$WORK/interpreter"
	printf '#!%s\necho it works\n' "$WORK/interpreter" >script
	printf '#!/nowhere/interpreter\n' >broken
	chmod 755 script broken
	local accept=(--backend landlock --mode auto --quiet)
	run pen "${accept[@]}" -- ./script
	assert_equal "$output" 'it works'
	run -127 pen "${accept[@]}" -- ./broken
	assert_output_has "'./broken'"
}

@test "F199 for each path that was denied the rule and the option can be asked for" {
	own_home
	canary "$HOME/.ssh/id"
	echo p >protected
	mkdir "$SCRATCH/outside"
	local path rule
	while IFS='|' read -r path rule; do
		run "$PINFOLD" explain --protect protected "${path/OUT/$SCRATCH/outside}"
		assert_output_has "$rule"
	done <<-'END'
		~/.ssh/id|hide ~/.ssh (built in)
		./protected|protect protected (command line)
		OUT/new|everything else read-only (built in)
		/etc/new|everything else read-only (built in)
		/root/x|(
	END
	run pen --hints human -- sh -c 'echo x >"$1"' sh "$SCRATCH/outside/new"
	assert_output_has '--write'
}

@test "F202 a hidden file that looks missing gets a line that says so, where hints are asked for" {
	own_home
	canary "$HOME/.ssh/id"
	run pen --hints human -- cat "$HOME/.ssh/id"
	[ "$status" -ne 0 ]
	assert_output_has 'pinfold: hint: '
	refute_output_has "$CANARY"
	run pen -- cat "$HOME/.ssh/id"
	refute_output_has 'pinfold: '
}
