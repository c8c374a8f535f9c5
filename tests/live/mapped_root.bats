# SPDX-License-Identifier: Apache-2.0
# uid 0 of a user namespace that is another uid outside, as in a rootless container: a plain user in all but name.
# shellcheck shell=bash disable=SC2154

load ../lib

setup() {
	lib_setup
	only_as user # root's uid 0 would be mapped to itself
	needs userns unshare
}

# as_root COMMAND... : in such a namespace, with a network of its own.
as_root() { run unshare --user --map-root-user --net "$@"; }

@test "the root of a user namespace runs commands without accepting anything" {
	as_root "$PINFOLD" run --record "$SCRATCH/record" -- sh -c 'id -u; echo text >file'
	assert_status 0
	assert_equal "$output" 0
	assert_content file text
	assert_equal "$(stat -c %u file)" "$EUID"
	as_root "$PINFOLD" run -- "$ATTEMPT" create "$SCRATCH/outside"
	assert_status 1
	refute_exists "$SCRATCH/outside"
}

@test "it cannot write the kernel's settings of its network, which are its own" {
	local setting=/proc/sys/net/ipv4/ip_forward
	as_root sh -c "echo 1 >$setting"
	assert_status 0
	as_root "$PINFOLD" run -- sh -c "echo 1 >$setting"
	[ "$status" -ne 0 ] && [ "$status" -ne 125 ] || fail "status $status:" "$output"
}

@test "it gets no capability and no namespace in which it would have some" {
	as_root "$PINFOLD" run -- grep CapEff /proc/self/status
	assert_output_has 0000000000000000
	as_root "$PINFOLD" run -- "$ATTEMPT" unshare-user
	assert_output_has EPERM
	as_root "$PINFOLD" run -- "$ATTEMPT" mount-tmpfs "$WORK"
	assert_output_has EPERM
}
