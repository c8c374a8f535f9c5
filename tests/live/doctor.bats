#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# doctor: what it says is held was tried in a real run, and what is missing is named with its cause and its cure.

load ../lib

# said EXPRESSION : of the JSON in $SCRATCH/said, as `d`.
said() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$SCRATCH/said" "$1"; }

@test "doctor proves all that is asked here, and leaves nothing" {
	run "$PINFOLD" doctor --offline
	assert_status 0
	assert_output_has 'all that is asked is proved'
	refute_output_has FAILED
	local name
	for name in writes secrets repository network services processes environment terminal privileges cleanup; do
		grep -Eq "^  $name +held +proved" <<<"$output" || fail "not proved: $name" "$output"
	done
	refute_exists "$(echo "$HOME"/.pinfold-doctor.*)"
}

@test "doctor --json says the same" {
	"$PINFOLD" doctor --offline --json >"$SCRATCH/said"
	assert_equal "$(said 'd["pinfold"], d["refused"], d["proved"]')" '(1, False, True)'
	assert_equal "$(said 'sorted({k for b in d["backends"].values() for g in b["guarantees"].values() for k in g})')" \
		"['cause', 'errno', 'fix', 'not_possible', 'proved', 'state', 'step', 'through', 'why']"
	assert_equal "$(said 'all(g["proved"] for n, g in d["backends"][d["backend"]]["guarantees"].items() if g["state"] == "held")')" True
	# no state but the plan's own
	"$PINFOLD" run --plan --json --offline -- true >"$SCRATCH/plan"
	assert_equal "$(said '[g["state"] for g in d["backends"][d["backend"]]["guarantees"].values()]')" \
		"$(python3 -c 'import json, sys; print([g["state"] for g in json.load(open(sys.argv[1]))["guarantees"].values()])' "$SCRATCH/plan")"
}

@test "doctor: what gets through is called FAILED, by name, and the status is 1" {
	run "$PINFOLD" doctor --env PINFOLD_DOCTOR_API_TOKEN
	assert_status 1
	assert_output_has 'FAILED (see-token)'
	assert_output_has 'NOT all that is asked is proved'
	"$PINFOLD" doctor --json --env PINFOLD_DOCTOR_API_TOKEN >"$SCRATCH/said" || true
	assert_equal "$(said 'd["proved"], d["backends"]["namespaces"]["guarantees"]["environment"]["through"]')" \
		"(False, 'see-token')"
}

# without_namespaces COMMAND... : where no user namespace can be made: a chroot for root, the limit of a namespace for
# a user, who has another cause.
without_namespaces() {
	if [ "$TEST_AS" = root ]; then
		unshare --mount sh -c 'd=$1 && shift && mount --rbind / "$d" && exec chroot "$d" "$@"' sh "$SCRATCH/root" "$@"
	else
		unshare --user --map-current-user --keep-caps sh -c \
			'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "$@"
	fi
}

@test "F088 doctor names the step that failed, its cause and the narrowest fix" {
	needs unshare
	mkdir -p "$SCRATCH/root"
	cd / || return 1
	run without_namespaces "$PINFOLD" doctor -C "$WORK" --json
	printf '%s\n' "$output" | grep '^{' >"$SCRATCH/said"
	assert_status 1
	local expected='sysctl sysctl -w user.max_user_namespaces=15000'
	[ "$TEST_AS" != root ] || expected="container enter it with pivot_root instead"
	run without_namespaces "$PINFOLD" doctor -C "$WORK"
	assert_status 1
	assert_output_has 'namespaces: cannot make '
	assert_output_has "cause: ${expected%% *}: "
	assert_output_has "fix: ${expected#* }"
	# The chroot was made in a directory of the home that is granted: Landlock would look beyond it.
	[ "$TEST_AS" != root ] || assert_output_has 'cause: container: the root directory lies in one that is granted'
}
