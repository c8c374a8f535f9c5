#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# In the containers that people really have: one as Docker and Podman make them (their seccomp profile, capabilities and
# masked /proc, started by crun), and one of bubblewrap's with no capability and no namespace to be had. pinfold runs
# there, holds what Landlock can, says what it cannot, and refuses the rest.

load ../lib

# by_crun docker|podman COMMAND... : in a container of its own, in which SCRATCH is writable.
by_crun() {
	python3 "$PROJECT/tests/oci.py" "$1" "$SCRATCH/bundle" "$PROJECT" "$SCRATCH" "${@:2}" || return 1
	# shellcheck disable=SC2016 # for the inner shell
	# crun takes no machine with both kinds of control groups: it gets one with the new kind alone.
	(cd "$SCRATCH/bundle" && exec unshare --mount sh -c \
		'umount -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec crun --cgroup-manager=disabled run "$1"' \
		sh "pinfold-test-$$-$RANDOM")
}

docker_like() { by_crun docker "$@"; }
podman_like() { by_crun podman "$@"; }

bwrap_like() {
	bwrap --ro-bind / / --dev /dev --proc /proc --bind "$SCRATCH" "$SCRATCH" \
		--tmpfs /proc/acpi --ro-bind /dev/null /proc/keys --unshare-pid --unshare-ipc --cap-drop ALL --tmpfs /tmp \
		"$PROJECT/build/tests/without" namespaces,mounts "$@"
}

readonly ACCEPT=writes,repository,processes,terminal,privileges,services,cleanup

# in_container STARTER BACKEND : what must hold in any of them.
in_container() {
	local start=$1 backend=$2 script
	own_home
	new_repo
	mkdir "$SCRATCH/outside"
	echo kept >"$SCRATCH/outside/file"
	canary "$HOME/.ssh/id"
	# As asked for by default: what is weaker is a refusal, with the line that accepts it, and nothing has run.
	run "$start" sh -c 'cd "$1" && "$PINFOLD" run -- touch ran' sh "$WORK"
	assert_status 125
	assert_output_has 'refused:'
	assert_output_has 'to run anyway: pinfold run --accept'
	refute_exists ran
	# Accepted, it runs, and what is held is held.
	# shellcheck disable=SC2016 # for the shells inside
	script='cd "$1" && "$PINFOLD" run --accept '$ACCEPT' --record "$2/record" -- sh -c "
		echo inside >inside && git add inside && git commit -q -m inside && echo committed
		echo changed >../outside/file && echo WROTE; cat ~/.ssh/id && echo READ
		exit 7" 2>/dev/null'
	run "$start" sh -c "$script" sh "$WORK" "$SCRATCH"
	assert_status 7
	assert_output_has committed
	refute_output_has WROTE
	refute_output_has READ
	assert_content "$SCRATCH/outside/file" kept
	assert_equal "$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["backend"], r["guarantees"]["secrets"]["state"], r["ran"])' "$SCRATCH/record")" \
		"$backend held True"
	# The doctor proves all that it calls held, and tells why there are no namespaces.
	run "$start" sh -c 'cd "$1" && "$PINFOLD" doctor --json' sh "$WORK"
	assert_status 1
	printf '%s\n' "$output" | grep '^{' | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["backends"]["namespaces"]["available"] == (sys.argv[1] == "namespaces") and d["refused"], d
for backend in d["backends"].values():
    held = {n: g["proved"] for n, g in backend["guarantees"].items() if g["state"] == "held"}
    assert all(held.values()), held
' "$backend" || fail "$output"
	run "$start" sh -c 'cd "$1" && "$PINFOLD" doctor' sh "$WORK"
	[ "$backend" = namespaces ] || assert_output_has '    cause: seccomp: '
	# Offline is offline there, too: what the container's own loopback has is not reached.
	# shellcheck disable=SC2016 # for the shells inside
	script='cd "$1" && listen="python3 $3/tests/listen.py"
		$listen inet "$2/port" & server=$!
		until [ -s "$2/port" ]; do sleep 0.05; done
		$listen --connect 127.0.0.1 "$(cat "$2/port")" && echo outside
		"$PINFOLD" run --offline --accept '$ACCEPT' -- $listen --connect 127.0.0.1 "$(cat "$2/port")" 2>/dev/null && echo INSIDE
		kill $server'
	run "$start" sh -c "$script" sh "$WORK" "$SCRATCH" "$PROJECT"
	assert_output_has outside
	refute_output_has INSIDE
}

@test "in a container as Docker makes them" {
	only_as root
	needs crun x86_64
	in_container docker_like landlock
}

@test "in a container as Podman makes them: namespaces can be had there" {
	only_as root
	needs crun x86_64
	in_container podman_like namespaces
}

@test "in a container of bubblewrap's without capabilities and namespaces" {
	needs bwrap
	in_container bwrap_like landlock
}
