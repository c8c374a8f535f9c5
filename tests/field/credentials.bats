# SPDX-License-Identifier: Apache-2.0
# Identity, environment and other processes (catalogue F168, F173 to F176).
# shellcheck shell=bash disable=SC2154,SC2016 # what is in single quotes is for the shell inside

bats_require_minimum_version 1.5.0 # run -1
load ../lib

@test "F168 ssh takes the system's configuration, and own files are one's own" {
	needs ssh
	run ssh -G host.invalid
	assert_status 0
	run pen -- ssh -G host.invalid
	assert_status 0
	refute_output_has 'Bad owner'
	touch own
	run pen -- sh -c 'test "$(stat -c %u own)" = "$(id -u)" && touch new && test "$(stat -c %u new)" = "$(id -u)"'
	assert_status 0
	assert_equal "$(stat -c %u new)" "$EUID"
	run pen -- sh -c 'id -u; id -g; id -un; echo ~; whoami'
	assert_equal "${lines[0]} ${lines[1]} ${lines[2]}" "$(id -u) $(id -g) $(id -un)"
}

@test "F168 git takes the worktree for the user's own" {
	needs git
	new_repo
	run pen -- git status --porcelain
	assert_status 0
	assert_equal "$output" ""
	run pen -- git log -1 --format=%s
	assert_equal "$output" first
}

@test "F168 root in a checkout of somebody else's" {
	needs git
	only_as root
	local dir=$SCRATCH/checkout user
	user=$(id -nu 1 2>/dev/null) || user=daemon
	new_repo "$dir"
	chown -R "$user" "$dir"
	# git outside calls it dubious; in the pen it is the command's own, and on the disk it stays the owner's.
	cd "$dir"
	run -128 git status --porcelain
	run pen -- git status --porcelain
	assert_status 0
	run pen -- touch new
	assert_status 0
	assert_equal "$(stat -c %U new)" "$user"
}

@test "F168 sudo and su lead nowhere" {
	needs sudo
	run pen -- sudo -n id
	[ "$status" -ne 0 ] || fail "sudo works: $output"
	[ "$status" -ne 125 ] || fail "$output"
}

# The names are well known, the values alike: without shape, so that the name alone has to do.
secret_names=(OPENAI_API_KEY ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN GEMINI_API_KEY MISTRAL_API_KEY GROQ_API_KEY HF_TOKEN
	GITHUB_TOKEN GH_TOKEN GITLAB_TOKEN BITBUCKET_TOKEN NPM_TOKEN NODE_AUTH_TOKEN PYPI_TOKEN TWINE_PASSWORD CARGO_REGISTRY_TOKEN
	AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AZURE_CLIENT_SECRET GOOGLE_APPLICATION_CREDENTIALS
	DIGITALOCEAN_ACCESS_TOKEN CLOUDFLARE_API_TOKEN VERCEL_TOKEN HEROKU_API_KEY DOCKER_PASSWORD SENTRY_AUTH_TOKEN SLACK_BOT_TOKEN
	STRIPE_SECRET_KEY DB_PASSWORD PGPASSWORD MYSQL_PWD SSHPASS VAULT_TOKEN KUBE_TOKEN SECRET_KEY_BASE JWT_SECRET)

@test "F173 no secret of the parent is in the environment" {
	local name
	for name in "${secret_names[@]}"; do
		export "$name=canary-$name"
	done
	assert_equal "$(env | grep -c '=canary-')" "${#secret_names[@]}"
	run pen -- sh -c 'env | grep canary-'
	assert_equal "$output" ""
	assert_status 1
	run pen --env-mode list -- sh -c 'env | grep canary-'
	assert_status 1
	# The names are told in the record, the values never.
	run pen --record "$SCRATCH/record" -- true
	grep -q '"STRIPE_SECRET_KEY"' "$SCRATCH/record" || fail "not named: $(cat "$SCRATCH/record")"
	! grep -q canary- "$SCRATCH/record" || fail "a value is in the record"
	# The control: untouched on request.
	run pen --env-mode all --accept environment=absent -- sh -c 'env | grep -c canary-'
	assert_equal "$output" "${#secret_names[@]}"
}

@test "F173 what programs need is there" {
	export LANG=C.UTF-8 LC_TIME=C TERM=xterm EDITOR=vi HTTP_PROXY=http://127.0.0.1:9 NO_PROXY=localhost JAVA_HOME=/opt/jdk \
		CC=clang CFLAGS=-O1 GOPATH=$HOME/go CARGO_HOME=$HOME/.cargo NODE_ENV=test VIRTUAL_ENV=/opt/venv CI=1
	local mode
	for mode in scrub list; do
		run pen --env-mode "$mode" -- sh -c 'for name in PATH HOME USER LANG LC_TIME TERM EDITOR HTTP_PROXY NO_PROXY JAVA_HOME CC CFLAGS GOPATH \
			CARGO_HOME NODE_ENV VIRTUAL_ENV CI; do eval "echo $name=\$$name"; done'
		assert_status 0
		assert_equal "$output" "$(for name in PATH HOME USER LANG LC_TIME TERM EDITOR HTTP_PROXY NO_PROXY JAVA_HOME CC CFLAGS GOPATH \
			CARGO_HOME NODE_ENV VIRTUAL_ENV CI; do echo "$name=${!name}"; done)"
	done
}

@test "F173 an empty list of passed variables passes nothing" {
	export GITHUB_TOKEN=canary-token
	echo '{"env": []}' >"$SCRATCH/config.json"
	run -1 pen --config "$SCRATCH/config.json" -- sh -c 'env | grep canary-'
}

@test "F174 a secret under a name of the user's own choice" {
	export COMPANY_LLM=sk-live0123456789abcdefABCDEF COMPANY_REPO=ghp_0123456789abcdefghijABCDEFGHIJ012345 \
		MIRROR=https://bob:hunter22@mirror.invalid/simple PLAIN=harmless
	run pen -- sh -c 'env'
	refute_output_has sk-live
	refute_output_has ghp_
	refute_output_has hunter22
	assert_output_has PLAIN=harmless
	run pen --env COMPANY_LLM -- sh -c 'echo "$COMPANY_LLM,$COMPANY_REPO"'
	assert_equal "$output" "$COMPANY_LLM,"
	run pen --env COMPANY_LLM=other -- sh -c 'echo "$COMPANY_LLM"'
	assert_equal "$output" other
	# What has no shape at all is for the allow-list.
	export COMPANY_THING=opensesame
	run pen --env-mode list -- sh -c 'echo "<$COMPANY_THING><$PLAIN>"'
	assert_equal "$output" '<><>'
	run pen --env-mode list --env COMPANY_THING -- sh -c 'echo "$COMPANY_THING"'
	assert_equal "$output" opensesame
}

@test "F175 no process of the pen shows a removed value, or the policy" {
	export COMPANY_TOKEN=canary-$RANDOM$RANDOM
	run pen --hide "$HOME/not-for-your-eyes" --write "$SCRATCH" -- sh -c '
		tr "\0" "\n" </proc/1/environ; echo; tr "\0" " " </proc/1/cmdline; echo
		for file in /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do tr "\0" "\n" <"$file"; done
		cat /proc/[0-9]*/comm
		for pid in /proc/[0-9]*; do ls -l "$pid/fd" "$pid/cwd" "$pid/exe" "$pid/root"; done' 2>&1
	[ "$status" -ne 125 ] || fail "$output"
	refute_output_has "$COMPANY_TOKEN"
	# The command's own line holds the word once: it must not have it twice.
	refute_output_has not-for-your-eyes
	refute_output_has --hide
	refute_output_has --write
	run pen -- sh -c 'cat /proc/1/maps /proc/1/mem /proc/1/auxv /proc/1/fd/* 2>/dev/null | grep -a -c .'
	assert_equal "$output" 0
	run pen -- sh -c 'cat /proc/1/environ'
	[[ $status -ne 0 || -z $output ]] || fail "$output"
}

@test "F176 other processes are neither seen nor touched" {
	victim
	# Neither by its command line nor by its environment (bats' own MARK is in that of the victim, too).
	local search='cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr "\0" "\n" | grep -c "^mark-\|^MARK="'
	run sh -c "$search"
	[ "$output" -ge 1 ] || fail "not seen outside either"
	run pen -- sh -c "$search"
	assert_equal "$output" 0
	denied "kill -0 $VICTIM"
	run pen -- sh -c 'ls -d /proc/[0-9]* | wc -l'
	[ "$output" -le 5 ] || fail "$output processes"
	try_refused ESRCH -- ptrace-attach "$VICTIM"
	try_refused ESRCH -- vm-read "$VICTIM"
	try_refused ENOENT -- proc-mem "$VICTIM"
	try_denied ESRCH -- kill "$VICTIM" 0
	kill -0 "$VICTIM" || fail "the victim is gone"
}
