# SPDX-License-Identifier: Apache-2.0
# What a run leaves on the machine: nothing. Reports of files that other sandboxes made to hold their mounts, and of
# writes that went nowhere.
# shellcheck shell=bash disable=SC2154

load ../lib

# entries DIR... : everything in these directories, by name.
entries() { find "$@" -printf '%p %y\n' 2>/dev/null | sort; }

# lasting COMMAND... : a run that lasts, and is inside by now; the run's own process is SPAWNED.
lasting() {
	spawn bash -c 'exec "$PINFOLD" run -- sh -c "echo up; exec sleep 30" >"$SCRATCH/up"'
	wait_for grep -q up "$SCRATCH/up"
}

killed() {
	kill -KILL "$SPAWNED"
	wait "$SPAWNED" || true
}

@test "F018 an empty directory stays empty, while a run lasts and after it was killed" {
	lasting
	assert_equal "$(entries .)" ". d"
	killed
	assert_equal "$(entries .)" ". d"
}

@test "F018 a repository and the home show nothing of a run, while it lasts and after it was killed" {
	needs git
	own_home
	new_repo
	mkdir -p .vscode "$HOME/.ssh" && echo '{}' >.vscode/settings.json
	git add . && git commit -q -m second
	pen -- true # the private caches are made once, and stay
	local before
	before=$(entries "$SCRATCH/home" .)
	lasting
	assert_equal "$(git status --porcelain --ignored)" ""
	assert_equal "$(entries "$SCRATCH/home" .)" "$before"
	killed
	assert_equal "$(git status --porcelain --ignored)" ""
	assert_equal "$(entries "$SCRATCH/home" .)" "$before"
}

@test "F018 a run that is killed at any moment of its start leaves nothing" {
	own_home
	pen -- true
	local before delay
	before=$(entries "$SCRATCH")
	for delay in 0 1 2 3 4 5 6 7 8 9 11 13 15 20; do
		"$PINFOLD" run -- sleep 5 >/dev/null 2>&1 3>&- </dev/null &
		sleep "0.0$((delay / 10))$((delay % 10))"
		kill -KILL $! 2>/dev/null
		wait $! 2>/dev/null || true
	done
	assert_equal "$(entries "$SCRATCH")" "$before"
}

@test "F022 two hundred runs leave nothing in the temp, the runtime directory and the home" {
	own_home
	export TMPDIR=$SCRATCH/temp XDG_RUNTIME_DIR=$SCRATCH/runtime
	mkdir -m 700 "$TMPDIR" "$XDG_RUNTIME_DIR"
	pen -- true
	local before
	before=$(entries "$SCRATCH")
	seq 200 | xargs -P 10 -I {} "$PINFOLD" run -- true
	assert_equal "$(entries "$SCRATCH")" "$before"
	run grep -F "$SCRATCH" /proc/self/mountinfo
	assert_equal "$output" ""
}

@test "F022 nor anything in a /tmp, /var/tmp, /dev/shm and /run that nobody else uses" {
	only_as root
	needs unshare
	local new
	new=$(unshare --mount bash -c '
		for dir in /tmp /var/tmp /dev/shm /run; do mount -t tmpfs none "$dir"; done
		seq 200 | xargs -P 10 -I {} "$PINFOLD" run -- true
		find /tmp /var/tmp /dev/shm /run -mindepth 1')
	assert_equal "$new" ""
}

@test "F024 a write grant for a file that does not exist is an error before the run, and makes nothing" {
	local name
	for name in LICENSE Makefile .env new.txt; do
		run pen --write "$SCRATCH/$name" -- sh -c "touch ran; echo x >'$SCRATCH/$name'"
		assert_status 125
		assert_output_has "$SCRATCH/$name"
		refute_exists "$SCRATCH/$name"
		refute_exists ran
	done
	printf '{ "write": ["%s"] }\n' "$SCRATCH/LICENSE" >"$SCRATCH/config.json"
	run pen --config "$SCRATCH/config.json" -- touch ran
	assert_status 125
	refute_exists ran
	refute_exists "$SCRATCH/LICENSE"
}

@test "F024 a grant for a file that exists is for that file, and a slash makes a directory" {
	echo old >"$SCRATCH/LICENSE"
	allowed "echo new >'$SCRATCH/LICENSE'" --write "$SCRATCH/LICENSE"
	assert_content "$SCRATCH/LICENSE" new
	denied "echo x >'$SCRATCH/beside'" --write "$SCRATCH/LICENSE"
	allowed "echo x >'$SCRATCH/out/file'" --write "$SCRATCH/out/"
	assert_content "$SCRATCH/out/file" x
	allowed 'echo x >LICENSE'
	[ -f LICENSE ]
}

# lost PATH [OPTION...] : writing there fails, says so, and changes nothing on the host. The same for a new file.
lost() {
	local path=$1
	kept "$@"
	shift
	rm "$path"
	run pen "$@" -- sh -c "echo inside >'$path'"
	[ "$status" -ne 0 ] && [ "$status" -ne 125 ] || fail "status $status, new: $path" "$output"
	refute_exists "$path"
}

kept() {
	local path=$1 before
	shift
	run sh -c "echo outside >>'$path'"
	assert_status 0
	before=$(cat "$path")
	run pen "$@" -- sh -c "echo inside >>'$path'"
	[ "$status" -ne 0 ] && [ "$status" -ne 125 ] || fail "status $status: $path" "$output"
	assert_equal "$(cat "$path")" "$before"
}

@test "F027 a write into a hidden directory fails, and does not vanish" {
	own_home
	mkdir -p "$HOME/.ssh" "$HOME/.aws" "$SCRATCH/hidden" private
	lost "$HOME/.ssh/config"
	lost "$HOME/.aws/credentials"
	lost "$HOME/.netrc"
	lost "$SCRATCH/hidden/file" --hide "$SCRATCH/hidden"
	lost "$WORK/private/file" --hide private/
	kept "$WORK/private/file" --hide private/file
	run pen -- mkdir "$HOME/.gnupg"
	[ "$status" -ne 0 ]
	refute_exists "$HOME/.gnupg"
}
