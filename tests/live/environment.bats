# SPDX-License-Identifier: Apache-2.0
# environment: no secret and no pointer to a host service in the environment, in /proc, or on a command line.
# shellcheck shell=bash disable=SC2154

load ../lib

# bats test_tags=core
@test "E073: variables with secrets do not go in, ordinary ones do" {
	local name names=(
		API_KEY APIKEY SERVICE_TOKEN token MY_SECRET secret_key DB_PASSWORD passwd PASSPHRASE ACCESS_KEY
		PRIVATE_KEY SIGNING_KEY ENCRYPTION_KEY RAILS_MASTER_KEY CREDENTIALS APP_CREDS HTTP_AUTH COOKIE
		SESSION_COOKIE BEARER JWT GH_PAT SENTRY_DSN SLACK_WEBHOOK AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
		AWS_PROFILE AZURE_CLIENT_ID GOOGLE_APPLICATION_CREDENTIALS GCP_PROJECT VAULT_ADDR OP_ACCOUNT
		GITHUB_TOKEN GITLAB_TOKEN NPM_TOKEN PGPASSWORD MYSQL_PWD OPENAI_API_KEY ANTHROPIC_API_KEY
		HF_TOKEN DOCKER_AUTH_CONFIG
	)
	for name in "${names[@]}"; do
		export "$name=canary-$name"
	done
	export ORDINARY=kept MONKEY=kept KEYBOARD=kept AUTHOR=kept
	denied 'env | grep -q canary-'
	run pen -- env
	refute_output_has canary-
	for name in ORDINARY MONKEY KEYBOARD AUTHOR; do
		assert_output_has "$name=kept"
	done
	assert_output_has "PATH=$PATH"
	assert_output_has "HOME=$HOME"
}

@test "E073: a secret is known by its value, too" {
	export INNOCENT=ghp_abcdefghijklmnopqrstuvwxyz0123456789
	export SOME_URL=https://user:hunter22@example.invalid/
	export HARMLESS_URL=https://example.invalid/
	denied 'env | grep -q ghp_'
	denied 'env | grep -q hunter22'
	allowed 'test "$HARMLESS_URL" = https://example.invalid/'
}

@test "pointers to services of the host do not go in" {
	export SSH_AUTH_SOCK=/tmp/agent DBUS_SESSION_BUS_ADDRESS=unix:path=/x DISPLAY=:0 DOCKER_HOST=unix:///x TMUX=/tmp/x,1,0
	export WAYLAND_DISPLAY=w XDG_RUNTIME_DIR=/run/user/1 GPG_AGENT_INFO=x VSCODE_IPC_HOOK_CLI=/x NOTIFY_SOCKET=/x
	local name
	for name in SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS DISPLAY DOCKER_HOST TMUX WAYLAND_DISPLAY GPG_AGENT_INFO \
		VSCODE_IPC_HOOK_CLI NOTIFY_SOCKET; do
		denied "env | grep -q ^$name="
	done
	run pen -- printenv XDG_RUNTIME_DIR
	[ "$output" != /run/user/1 ] || fail "the runtime directory of the host is named"
}

@test "E076: the canary is not in any environment or command line that can be read" {
	export MY_TOKEN=canary-$RANDOM$RANDOM$RANDOM
	cat >scan <<-'END'
		cat /proc/[0-9]*/environ /proc/self/task/*/environ 2>/dev/null | tr '\0' '\n' | grep -q '^MY_TOKEN='
	END
	denied 'sh ./scan'
	printf '%s' "$MY_TOKEN" >"$SCRATCH/token"
	run pen --env "OTHER_TOKEN=$MY_TOKEN" -- sh -c 'cat /proc/[0-9]*/cmdline'
	refute_output_has "$MY_TOKEN"
}

@test "--env NAME passes it, --env NAME=VALUE sets it, whatever the mode" {
	export MY_TOKEN=secret OTHER=x
	allowed 'test "$MY_TOKEN" = secret' --env MY_TOKEN
	allowed 'test "$MY_TOKEN" = given' --env MY_TOKEN=given
	allowed 'test "$MY_TOKEN" = secret' --env MY_TOKEN --env-mode list
	denied 'test -n "$MY_TOKEN"' --env OTHER
	allowed 'test "$NEW" = "a b=c"' --env 'NEW=a b=c'
}

@test "--env-mode list passes the list only, all passes everything" {
	export ORDINARY=x MY_TOKEN=secret
	denied 'test -n "$ORDINARY"' --env-mode list
	allowed 'test -n "$PATH" && test -n "$HOME"' --env-mode list
	# On the command line it says for itself that the guarantee is not wanted; the record keeps that.
	allowed 'test "$MY_TOKEN" = secret && test "$ORDINARY" = x' --env-mode all --record "$SCRATCH/record"
	assert_equal "$(python3 -c 'import json, sys; print(json.load(sys.stdin)["guarantees"]["environment"]["state"])' \
		<"$SCRATCH/record")" absent
}

@test "the record names what was removed, never a value" {
	export MY_TOKEN=canary-value
	run pen --record "$SCRATCH/record" -- true
	assert_status 0
	grep -q MY_TOKEN "$SCRATCH/record"
	run grep canary-value "$SCRATCH/record"
	assert_status 1
}
