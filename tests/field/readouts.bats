# SPDX-License-Identifier: Apache-2.0
# What pinfold says about a run, against what a run does; and that nothing but a word of the caller's weakens one.
# shellcheck shell=bash disable=SC2154

bats_require_minimum_version 1.5.0 # run -127
load ../lib

# field FILE EXPRESSION : a value of a readout, by a Python expression over r.
field() {
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

user() {
	mkdir -p "$HOME/.config/pinfold"
	printf '%s\n' "$1" >"$HOME/.config/pinfold/config.json"
}

# confined [PROGRAM WORD...] : a run cannot write outside, also when started through these words.
confined() {
	rm -f "$SCRATCH/outside"
	run "$@" "$PINFOLD" run -- "$ATTEMPT" create "$SCRATCH/outside"
	[ "$status" -eq 1 ] && [[ $output == *EROFS || $output == *EACCES ]] || fail "status $status:" "$output"
	refute_exists "$SCRATCH/outside"
}

# ---- F043: the readout and the kernel ----

@test "F043 what the policy hides and protects is what the kernel refuses" {
	needs git
	own_home
	new_repo
	mkdir -p .vscode sub "$HOME/.ssh" "$HOME/.aws" "$HOME/.config/gh" "$HOME/notes" "$SCRATCH/extra"
	local file
	for file in "$HOME/.ssh/id" "$HOME/.aws/credentials" "$HOME/.config/gh/hosts.yml" "$HOME/.netrc" \
		"$HOME/notes/a" "$HOME/notes/b" .vscode/tasks.json .mcp.json sub/key.pem sub/open "$SCRATCH/extra/file"; do
		echo text >"$file"
	done
	user "{ \"hide\": [\"~/notes/a\", \"*.pem\"], \"protect\": [\"sub/open\"], \"write\": [\"$SCRATCH/extra\"],
		\"read\": [\"~/.config/gh\"] }"
	run python3 "$PROJECT/tests/field/probe_plan.py" "$PINFOLD" "$HOME" "$WORK" "$SCRATCH/extra"
	assert_status 0
	assert_output_has 'no difference'
}

# ---- F082, F085, F086, F092: nothing that is missing, broken or set switches it off ----

@test "F082 without a single tool on PATH the command is confined" {
	mkdir "$SCRATCH/bin"
	ln -s "$(command -v sh)" "$SCRATCH/bin/sh"
	confined env PATH="$SCRATCH/bin"
	confined env -i
	run -127 env PATH="$SCRATCH/bin" "$PINFOLD" run -- sh -c 'echo inside >file && exec ls' # which there is not
	assert_content file inside
}

# The kernel makes no user namespace: root is shut out by a chroot, a user by the limit of a namespace of the own.
@test "F085 after a start that failed the next one is refused as well" {
	needs userns
	cat >"$SCRATCH/steps" <<-'END'
		limit=/proc/sys/user/max_user_namespaces
		if [ "$TEST_AS" = root ]; then
			mkdir "$SCRATCH/root" && mount --rbind / "$SCRATCH/root" || exit 10
			broken() { chroot "$SCRATCH/root" sh -c 'cd "$WORK" && exec "$PINFOLD" run -- touch "$0"' "$1"; }
		else
			old=$(cat $limit)
			broken() { echo 0 >$limit; "$PINFOLD" run -- touch "$1"; set -- $?; echo "$old" >$limit; return $1; }
		fi
		"$PINFOLD" run -- touch one || exit 11
		for i in 1 2 3; do
			broken "two$i"
			[ $? -eq 125 ] || exit 12
			[ ! -e "two$i" ] || exit 13
		done
		"$PINFOLD" run -- touch three || exit 14
	END
	if [ "$TEST_AS" = root ]; then
		run unshare --mount bash "$SCRATCH/steps"
	else
		run unshare --user --map-current-user --keep-caps bash "$SCRATCH/steps"
	fi
	assert_status 0
	assert_exists one
	assert_exists three
	assert_output_has 'pinfold: '
}

@test "F085 nor does a pen inside a pen fall back" {
	local i
	for i in 1 2; do
		run pen -- "$PINFOLD" run -- touch ran
		assert_status 125
		assert_output_has 'hint: this is a pen already'
		refute_exists ran
	done
}

# There Landlock alone holds what it can. The first plan is one of namespaces; what is said in the end is what there is.
@test "F085 in a pen, mode auto names all that is weaker" {
	needs landlock
	local name names
	run pen -- "$PINFOLD" run --mode auto -- sh -c '"$0" status --json >status.json; exec "$1" create "$2"' \
		"$PINFOLD" "$ATTEMPT" "$SCRATCH/outside"
	assert_status 1
	refute_exists "$SCRATCH/outside"
	assert_equal "$(field status.json '[r["confined"], r["absent"]]')" '[True, {}]'
	names=$(field status.json '" ".join(r["weaker"])')
	[[ $names == *writes*repository*processes*terminal* ]] || fail "open: $names"
	for name in $names; do
		assert_output_has "pinfold: $name: weaker: "
	done
}

# What somebody might think is a switch, and what the manual names.
VARIABLES=(PINFOLD PINFOLD_MODE PINFOLD_DISABLE PINFOLD_OFF PINFOLD_STATUS PINFOLD_BACKEND PINFOLD_CONFIG PINFOLD_NETWORK
	PINFOLD_ACCEPT PINFOLD_NO_SANDBOX SANDBOX IS_SANDBOX NO_SANDBOX CI container)

@test "F086 no variable decides: the policy, its sources and the pen are the same with all of them" {
	own_home
	user '{ "network": "offline", "time": "7m" }'
	local value words=() name expected
	expected=$("$PINFOLD" config show --json)
	for value in off 0 1 none auto '{"confined":true}' "$SCRATCH/evil.json"; do
		words=()
		for name in "${VARIABLES[@]}"; do words+=("$name=$value"); done
		assert_equal "$(env "${words[@]}" "$PINFOLD" config show --json)" "$expected"
		confined env "${words[@]}"
	done
	run "$PINFOLD" config show
	assert_output_has "$HOME/.config/pinfold/config.json"
}

@test "F092 an empty variable is as none, and the switch wins" {
	local words=() name
	for name in "${VARIABLES[@]}" HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_RUNTIME_DIR TMPDIR; do
		words+=("$name=")
	done
	confined env "${words[@]}"
	listener inet
	run env "${words[@]}" "$PINFOLD" run -- sh -c "$(connects "$PORT")"
	assert_status 0
	run env "${words[@]}" "$PINFOLD" run --offline --read-only -- sh -c "$(connects "$PORT")"
	[ "$status" -ne 0 ] && [ "$status" -ne 125 ] || fail "status $status" "$output"
	run env "${words[@]}" "$PINFOLD" run --offline --read-only -- touch file
	[ "$status" -ne 0 ] && [ "$status" -ne 125 ]
	refute_exists file
}

# ---- F087, F093: every mode ----

@test "F087 a file of the home survives, whatever the mode and the backend" {
	own_home
	mkdir "$HOME/precious" "$SCRATCH/also"
	local options
	for options in '' '--mode required' '--mode auto' '--backend auto' '--backend namespaces' '--home hidden' \
		'--offline' '--read-only' '--git open' '--env-mode list' '--mode auto --home hidden --offline'; do
		canary "$HOME/precious/file"
		echo text >"$SCRATCH/also/file"
		# shellcheck disable=SC2086 # words
		run pen $options -- sh -c "rm -rf '$HOME/precious' '$SCRATCH/also' ~/* ~/.[!.]*; touch /tmp/ran && echo ran"
		assert_output_has ran
		assert_content "$HOME/precious/file" "$CANARY"
		assert_content "$SCRATCH/also/file" text
	done
	# Bare is bare, and says so on every run.
	run pen --mode off --quiet -- rm -rf "$HOME/precious"
	assert_output_has 'pinfold: warning: '
	refute_exists "$HOME/precious"
}

# cell OPTIONS WORKTREE TEMP HOME NETWORK : what a run with these options can change or reach, as four words.
cell() {
	local options=$1 got
	shift
	rm -f "$HOME/w" "$WORK/w"
	# shellcheck disable=SC2086 # words
	got=$(pen $options -- sh -c "
		touch '$WORK/w' 2>/dev/null && printf 'yes ' || printf 'no '
		touch /tmp/field-$$ 2>/dev/null && printf 'yes ' || printf 'no '
		touch '$HOME/w' 2>/dev/null && printf 'yes ' || printf 'no '
		$(connects "$PORT") >/dev/null 2>&1 && printf yes || printf no" 2>/dev/null)
	[ "$got" = "$*" ] || fail "with '$options': $got instead of $*"
	# What it could change is there, or was private.
	[ "$1" = yes ] && assert_exists "$WORK/w" || refute_exists "$WORK/w"
	[[ $options == *off ]] || refute_exists "/tmp/field-$$"
}

@test "F093 mode by mode: the worktree, the temp, the home, the network" {
	own_home
	listener inet
	LEFTOVERS+=("/tmp/field-$$")
	#    options                        worktree temp home network
	cell ''                             yes yes no yes
	cell '--mode required'              yes yes no yes
	cell '--mode auto'                  yes yes no yes
	cell '--read-only'                  no yes no yes
	cell '--offline'                    yes yes no no
	cell '--network offline'            yes yes no no
	cell '--read-only --offline'        no yes no no
	cell '--mode auto --read-only'      no yes no yes
	cell '--mode auto --offline'        yes yes no no
	cell '--git readonly'               yes yes no yes
	cell '--git open --offline'         yes yes no no
	cell '--env-mode all --accept environment=absent --offline' yes yes no no
	cell '--mode off'                   yes yes yes yes
}

# ---- F088, F089: what is said beforehand, and then happens ----

@test "F088 a resolv.conf that leads nowhere: the readout and the run agree" {
	needs unshare
	mkdir "$SCRATCH/etc"
	cp /etc/passwd /etc/group /etc/nsswitch.conf "$SCRATCH/etc/"
	cp -d /etc/ld.so.cache "$SCRATCH/etc/" || true
	cp -rd /etc/alternatives "$SCRATCH/etc/" || true
	local target words=(unshare --mount)
	[ "$TEST_AS" = root ] || words=(unshare --user --map-current-user --keep-caps --mount)
	for target in ../run/systemd/resolve/stub-resolv.conf /run/resolvconf/resolv.conf /nowhere/at/all resolv.conf; do
		ln -sfn "$target" "$SCRATCH/etc/resolv.conf"
		# shellcheck disable=SC2016 # for the inner shell
		run "${words[@]}" bash -c 'mount --bind "$SCRATCH/etc" /etc || exit 99
			"$PINFOLD" status >/dev/null 2>&1
			[ $? -eq 1 ] && before=0 || before=125
			"$PINFOLD" run --plan -- true >/dev/null || before=125
			"$PINFOLD" run -- sh -c "echo x >inside"
			after=$?
			echo "said $before, did $after"'
		assert_status 0
		assert_output_has 'said 0, did 0'
		rm -f inside
	done
}

@test "F089 a socket is named in the readout when it can be reached, and only then" {
	listener unix "$SCRATCH/host.socket"
	try_denied 'EACCES|EPERM|ECONNREFUSED|ENOENT' -- connect-unix "$SCRATCH/host.socket"
	"$PINFOLD" run --plan --json -- true >"$SCRATCH/plan"
	assert_equal "$(field "$SCRATCH/plan" 'r["guarantees"]["services"]["state"]')" held
	run "$PINFOLD" config show
	refute_output_has host.socket
	try_allowed --socket "$SCRATCH/host.socket" -- connect-unix "$SCRATCH/host.socket"
	run "$PINFOLD" config show --socket "$SCRATCH/host.socket"
	assert_output_has host.socket
	run "$PINFOLD" run --plan --socket "$SCRATCH/host.socket" -- true
	assert_output_has host.socket
	pen --socket "$SCRATCH/host.socket" --record "$SCRATCH/record" -- true
	assert_equal "$(field "$SCRATCH/record" '"host.socket" in json.dumps(r["guarantees"]["services"])')" True
}

# ---- F091: am I confined? ----

@test "F091 inside, a program can ask whether and how it is confined, and outside it is told that it is not" {
	run sh -c 'echo "${PINFOLD_STATUS-unset}"'
	assert_equal "$output" unset
	run "$PINFOLD" status
	assert_status 1
	run pen --offline -- "$PINFOLD" status
	assert_status 0
	pen --offline -- sh -c 'printf %s "$PINFOLD_STATUS"' >"$SCRATCH/status"
	assert_equal "$(field "$SCRATCH/status" 'r["confined"], r["network"], r["worktree"]')" "(True, 'offline', '$WORK')"
	assert_equal "$(field "$SCRATCH/status" '"writes" in r["held"] and "secrets" in r["held"] and not r["absent"]')" True
	# It says no more than the plan does.
	"$PINFOLD" run --plan --json --offline -- true >"$SCRATCH/plan"
	local state
	for state in held weaker absent; do
		assert_equal "$(field "$SCRATCH/status" "sorted(r['$state'])")" \
			"$(field "$SCRATCH/plan" "sorted(n for n, g in r['guarantees'].items() if g['state'] == '$state')")"
	done
}

@test "F091 a run that is bare says so" {
	pen --mode off --quiet -- sh -c 'printf %s "$PINFOLD_STATUS"' >"$SCRATCH/status" 2>/dev/null
	assert_equal "$(field "$SCRATCH/status" 'r["confined"], r["held"]')" '(False, [])'
	run pen --mode off -- "$PINFOLD" status
	assert_status 1
}
