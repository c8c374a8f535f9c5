#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Hosts that lack something: on each row of tests/core/hosts.tsv the core's cases (tests/core/cases.tsv) are tried, outside and
# in the pen, and record, doctor, explain, the refusal and the exit statuses must agree with what the kernel let through.
# shellcheck disable=SC2154,SC2015

load ../lib

setup() {
	lib_setup
	[ -z "${PINFOLD_TEST_BACKEND:-}" ] || skip "the backend is chosen by what the host has"
	needs landlock scopes userns bwrap
	CASES=$PROJECT/tests/core/cases.tsv
	export CASES
	WITHOUT=$(dirname "$ATTEMPT")/without
}

# host NAME : the row of the table.
host() {
	local name calls backend user root refusals wrapper=() tries=1
	IFS=$'\t' read -r name calls backend user root refusals _ < <(
		awk -F '\t' -v name="$1" '$1 == name' "$PROJECT/tests/core/hosts.tsv")
	[ "$name" = "$1" ] || fail "no row: $1"
	[ "$calls" = - ] || wrapper=("$WITHOUT" "$calls")
	[ "$TEST_AS" = root ] && refusals=${refusals#*,} || root=$user refusals=${refusals%,*}
	# Without the overlay bubblewrap binds the home's entries one by one, and gives up where these come and go all the time,
	# as the folders of other tests do: what it then falls back to is the next backend.
	[ "$backend" != bwrap ] || tries=4
	status=1
	for (( ; status && tries; tries--)); do
		"$PROJECT/tests/core/try" "$SCRATCH/core" ${wrapper[@]+"${wrapper[@]}"} >"$SCRATCH/found" 2>"$SCRATCH/error"
		run "$PROJECT/tests/core/judge.py" "$CASES" "$backend" "$root" "$refusals" <"$SCRATCH/found"
	done
	[ "$status" -eq 0 ] || fail "$output" "$(cat "$SCRATCH/error")"
}

@test "every host of the table is tried" {
	run grep -v '^#' "$PROJECT/tests/core/hosts.tsv"
	local row
	while read -r row; do
		grep -qF "	host \"${row%%	*}\"" "$BATS_TEST_FILENAME" || fail "not tried: ${row%%	*}"
	done <<<"$output"
}

@test "a core that is judged wrongly is found" {
	"$PROJECT/tests/core/try" "$SCRATCH/core" >"$SCRATCH/found"
	judge() { run "$PROJECT/tests/core/judge.py" "$CASES" namespaces "$@"; }
	judge - 0 <"$SCRATCH/found"
	assert_status 0
	judge writes 0 <"$SCRATCH/found"
	assert_status 1
	judge - 1 <"$SCRATCH/found"
	assert_status 1
	judge - 0 < <(sed 's/^inside E.*/inside OK/' "$SCRATCH/found")
	assert_status 1
	assert_output_has 'OK inside, and secrets is said to be held'
	judge - 0 < <(sed 's/^inside OK/inside EPERM/' "$SCRATCH/found")
	assert_status 1
	assert_output_has 'and it must be possible'
	judge - 0 < <(sed 's/^alive inside no/alive inside yes/; s/^status signal 143/status signal 1/' "$SCRATCH/found")
	assert_status 1
	assert_output_has 'something of the run is alive'
	assert_output_has 'signal: status 1 instead of 143'
	judge - 0 < <(sed '/^doctor/s/"state":"held"/"state":"weaker"/; /^file/s/"proved":true/"proved":false/' "$SCRATCH/found")
	assert_status 1
	assert_output_has 'is weaker for doctor, and held in the record'
	assert_output_has 'explain /'
}

@test "E070 no descriptor of the caller's is left open where close_range is refused" {
	echo it >"$SCRATCH/file"
	local host
	for host in close_range close_range=EPERM,namespaces; do
		run sh -c 'exec 7<"$1" && shift && exec "$@"' sh "$SCRATCH/file" "$ATTEMPT" fd-open 7
		assert_status 0
		run sh -c 'exec 7<"$1" && shift && exec "$@"' sh "$SCRATCH/file" \
			"$WITHOUT" "$host" "$PINFOLD" run --quiet --mode auto -- "$ATTEMPT" fd-open 7
		assert_equal "$status $output" '1 EBADF'
	done
}

@test "host: as it is" {
	host "as it is"
}

@test "host: Docker's own profile" {
	host "Docker's own profile"
}

@test "host: an older Docker" {
	host "an older Docker"
}

@test "host: an older filter" {
	host "an older filter"
}

@test "host: no user namespaces" {
	host "no user namespaces"
}

@test "host: no user namespaces left" {
	host "no user namespaces left"
}

@test "host: namespaces denied" {
	host "namespaces denied"
}

@test "host: no pid namespaces" {
	host "no pid namespaces"
}

@test "host: no network namespaces" {
	host "no network namespaces"
}

@test "host: no mounts" {
	host "no mounts"
}

@test "host: mounts denied" {
	host "mounts denied"
}

@test "host: no mount" {
	host "no mount"
}

@test "host: older than Linux 5.12" {
	host "older than Linux 5.12"
}

@test "host: older than Linux 5.13" {
	host "older than Linux 5.13"
}

@test "host: Landlock off" {
	host "Landlock off"
}

@test "host: Landlock refused" {
	host "Landlock refused"
}

@test "host: Landlock refused, no user namespaces" {
	host "Landlock refused, no user namespaces"
}

@test "host: no mount_setattr" {
	host "no mount_setattr"
}

@test "host: no open_tree" {
	host "no open_tree"
}

@test "host: no fsopen" {
	host "no fsopen"
}

@test "host: no openat2" {
	host "no openat2"
}

@test "host: no seccomp" {
	host "no seccomp"
}

@test "host: no seccomp, no user namespaces" {
	host "no seccomp, no user namespaces"
}

@test "host: no small calls" {
	host "no small calls"
}
