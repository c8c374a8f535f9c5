# SPDX-License-Identifier: Apache-2.0
# The command line itself: bad input is one line and 125, exit statuses, readouts, the record, completion.
# shellcheck shell=bash disable=SC2154

bats_require_minimum_version 1.5.0 # run -127
load ../lib

# refused WORD... : pinfold says one line (and at most a hint), exits 125, and nothing ran.
refused() {
	run "$PINFOLD" "$@"
	assert_status 125
	[[ ${lines[0]} == 'pinfold: '* ]] || fail "no message: $output"
	[ "${#lines[@]}" -le 2 ] || fail "more than a line and a hint:" "$output"
	[ "${#lines[@]}" -eq 1 ] || [[ ${lines[1]} == 'pinfold: hint: '* ]] || fail "no hint: ${lines[1]}"
	refute_exists ran
}

# field FILE EXPRESSION : a value of a record, by a Python expression over r.
field() {
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# ---- bad input ----

@test "bad input is one line and 125" {
	refused run
	refused run --
	refused run --bogus -- touch ran
	refused run --time -- touch ran
	refused run --offline=yes -- touch ran
	refused run --mode sometimes -- touch ran
	refused run --backend none -- touch ran
	refused run --network filtered -- touch ran
	refused run --accept everything -- touch ran
	refused run --pass-fd x -- touch ran
	refused run --pass-fd 99 -- touch ran
	refused run --config fd:77 -- touch ran
	refused run --config fd:x -- touch ran
	refused run --config "$SCRATCH/missing.json" -- touch ran
	refused run --config "$SCRATCH" -- touch ran
	assert_output_has 'this is a directory, not a regular file'
	ln -s "$SCRATCH" link
	refused run --tmp link -- touch ran
	assert_output_has 'is a symbolic link, not a directory'
	refused run --record fd:77 -- touch ran
	refused run --json -- touch ran
	refused run -C "$SCRATCH/missing" -- touch ran
	refused run --worktree / -- touch ran
	refused run --worktree "$HOME" -- touch ran
	refused run --write "$SCRATCH/missing" -- touch ran
	refused bogus
	refused config bogus
	refused config show one
	refused status one
	refused trust "$SCRATCH/missing"
	refused help bogus
	refused --bogus
}

@test "an empty word is told as one" {
	local option
	for option in --worktree --write --read --hide --protect --socket --device --env --tmp --config --record -C; do
		refused run "$option" "" -- touch ran
		assert_output_has "option '$option'"
	done
	run -127 "$PINFOLD" run -- ""
	assert_equal "$output" "pinfold: cannot execute '': No such file or directory"
}

@test "bad sizes and durations are told apart from good ones" {
	local word
	for word in 0 -1 1.5M 64MB 99999999999999999999 '' ' 1M'; do
		refused run --tmp-size "$word" -- touch ran
	done
	for word in 0s 10 10d s 1h30m; do
		refused run --time "$word" -- touch ran
	done
	run pen --time 1h --tmp-size 64M -- true
	assert_status 0
}

@test "an option that was mistyped gets a hint" {
	refused run --nework offline -- touch ran
	assert_output_has "did you mean '--network'?"
	refused stats
	assert_output_has "did you mean 'pinfold status'?"
}

@test "an option before the command is shown its place" {
	refused -C / run -- touch ran
	assert_output_has 'options come after the command'
}

@test "a refusal's line is complete" {
	mkdir sub
	refused run -C sub --no-accept --offline --hide '*.pem' --memory 1G -- touch ran
	assert_output_has 'to run anyway: pinfold run -C sub --no-accept --network offline --hide '"'*.pem'"' --memory 1G --accept limits'
	run "$PINFOLD" run -C sub --no-accept --network offline --hide '*.pem' --memory 1G --accept limits -- pwd
	assert_status 0
	assert_equal "$output" "$PWD/sub"
}

@test "a message cannot be forged by a name" {
	run -127 pen -- "$(printf 'no\npinfold: \033[2Jgood')/x"
	[[ $output != *$'\033'* ]] || fail "an escape sequence reached the terminal"
	[[ $output == *'\x0a'* ]] || fail "a newline reached the terminal: $output"
}

# ---- options ----

@test "options end at the command or at --" {
	run pen -- printf '%s\n' --offline --bogus
	assert_status 0
	assert_equal "$output" $'--offline\n--bogus'
	run pen printf '%s\n' --offline -- -C
	assert_status 0
	assert_equal "$output" $'--offline\n--\n-C'
}

@test "a value follows as a word or after an equals sign, and the last one decides" {
	run "$PINFOLD" config show --json --time=5s --mode auto --mode=required --read-only --no-read-only
	assert_status 0
	printf '%s' "$output" >"$SCRATCH/show"
	run "$PINFOLD" config show --time=5s
	assert_output_has 5s
	run "$PINFOLD" config show --time=5s --time none
	refute_output_has 5s
}

@test "-C comes first, whatever its place" {
	mkdir "$SCRATCH/other" "$SCRATCH/other/sub"
	run pen --worktree sub -C "$SCRATCH/other/sub" -- pwd
	assert_status 125
	run pen --worktree . -C "$SCRATCH/other/sub" -- pwd
	assert_status 0
	assert_equal "$output" "$SCRATCH/other/sub"
}

# ---- exit statuses ----

@test "F203: the exit status is the command's own" {
	local code
	for code in 0 1 7 126 255; do
		run pen -- sh -c "exit $code"
		assert_status "$code"
		assert_equal "$output" ""
	done
}

@test "started with SIGCHLD ignored, the status is the command's own, and the command finds it ignored" {
	local mode
	for mode in required off; do
		run timeout -k 1 20 env --ignore-signal=CHLD "$PINFOLD" run --quiet --mode "$mode" -- python3 -c '
import signal, sys
sys.exit(3 if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN else 4)'
		assert_status 3
	done
}

@test "124, 126, 127 and 128 + the signal" {
	run pen --time 300ms -- sleep 20
	assert_status 124
	echo text >data
	run pen -- ./data
	assert_status 126
	run -127 pen -- ./missing
	printf '#!/no/such/interpreter\n' >script
	chmod +x script
	run -127 pen -- ./script
	assert_output_has 'the interpreter or loader that it names'
	# A directory of PATH that cannot be searched would make it 126, as it does for a shell.
	PATH=/usr/bin:/bin run -127 pen -- no-such-command-anywhere
	run pen -- sh -c 'kill -KILL $$'
	assert_status 137
}

@test "what pinfold says goes to standard error only" {
	run bash -c '"$PINFOLD" run --bogus -- true 2>/dev/null'
	assert_status 125
	assert_equal "$output" ""
	run bash -c '"$PINFOLD" run --mode off -- echo inside 2>/dev/null'
	assert_status 0
	assert_equal "$output" inside
}

@test "called pinfold-sh it is a shell" {
	ln -s "$PINFOLD" "$SCRATCH/pinfold-sh"
	run "$SCRATCH/pinfold-sh" -c 'echo "$0 $1"; exit 3' name argument
	assert_status 3
	assert_equal "$output" "name argument"
}

# ---- modes ----

@test "mode off says so in one line and in the record" {
	run pen --mode off --record "$SCRATCH/record" -- true
	assert_status 0
	[ "${#lines[@]}" -eq 1 ]
	assert_output_has 'pinfold: warning: '
	assert_equal "$(field "$SCRATCH/record" 'r["mode"], r["backend"], r["ran"]')" "('off', 'none', True)"
}

@test "verbose names every guarantee before the command starts" {
	run bash -c '"$PINFOLD" run --verbose -- true 2>&1'
	assert_status 0
	assert_output_has 'pinfold: writes: held'
	assert_output_has 'pinfold: limits: '
}

# ---- the record ----

@test "the record says what happened" {
	run pen --record "$SCRATCH/record" -- sh -c 'exit 3'
	assert_status 3
	assert_equal "$(stat -c %a "$SCRATCH/record")" 600
	assert_equal "$(field "$SCRATCH/record" 'r["pinfold"], r["ran"], r["exit"]["code"], r["exit"]["reason"]')" \
		"(1, True, 3, None)"
	assert_equal "$(field "$SCRATCH/record" 'r["command"]')" "['sh', '-c', 'exit 3']"
	assert_equal "$(field "$SCRATCH/record" 'r["worktree"]')" "$WORK"
	assert_equal "$(field "$SCRATCH/record" 'r["guarantees"]["writes"]["state"]')" held
	assert_equal "$(field "$SCRATCH/record" 'len(r["guarantees"])')" 11
	assert_equal "$(field "$SCRATCH/record" 'r["check"]["kind"], r["check"]["complete"], r["violations"]')" "('set', True, [])"
}

@test "a refusal and a usage error have a record, too" {
	run pen --record "$SCRATCH/record" --bogus -- true
	assert_status 125
	assert_equal "$(field "$SCRATCH/record" 'r["ran"], r["exit"]["code"], r["exit"]["reason"]')" \
		"(False, 125, 'usage')"
	run pen --worktree / --record "$SCRATCH/record" -- true
	assert_status 125
	assert_equal "$(field "$SCRATCH/record" 'r["ran"], r["exit"]["code"]')" "(False, 125)"
	run -127 pen --record "$SCRATCH/record" -- ./missing
	assert_equal "$(field "$SCRATCH/record" 'r["ran"], r["exit"]["reason"]')" "(False, 'not_found')"
}

@test "a record by descriptor, which the command does not get" {
	run bash -c '"$PINFOLD" run --record fd:9 -- sh -c "ls /proc/self/fd" 9>"$SCRATCH/record"'
	assert_status 0
	refute_output_has 9
	assert_equal "$(field "$SCRATCH/record" 'r["ran"]')" True
}

@test "a record's descriptor is looked at before anything runs" {
	refused run --record fd:1 -- touch ran
	refused run --record fd:8 -- touch ran 8</dev/null
	refused run --plan --record fd:8 -- touch ran 8>"$SCRATCH/record"
	run "$PINFOLD" run --record fd:8 -- echo hi 8>/dev/full
	assert_status 0
	assert_output_has "option '--record': cannot write to 'fd:8': No space left on device"
}

@test "a record is never kept where the command can write, nor through a link or a FIFO" {
	refused run --record record -- touch ran
	refute_exists record
	ln -s "$SCRATCH/elsewhere" "$SCRATCH/link"
	refused run --record "$SCRATCH/link" -- touch ran
	refute_exists "$SCRATCH/elsewhere"
	mkfifo "$SCRATCH/fifo"
	refused run --record "$SCRATCH/fifo" -- touch ran
}

# Red before: the link was followed, and the record written outside by a pinfold that nothing confines.
@test "E008 a record is not led elsewhere by a link that lies in the worktree" {
	mkdir "$SCRATCH/outside" real
	ln -s "$SCRATCH/outside" planted
	ln -s "$WORK/planted" "$SCRATCH/first"
	local target
	for target in planted/r.json ./planted/r.json "$WORK/planted/r.json" real/../planted/r.json "$SCRATCH/first/r.json"; do
		refused run --record "$target" -- touch ran
		assert_output_has 'decide where it leads'
	done
	run "$PINFOLD" run --bogus --record planted/r.json -- touch ran
	assert_status 125
	assert_output_has 'out of the current directory'
	assert_equal "$(ls "$SCRATCH/outside")" ''
	# The user's own link outside leads where it leads.
	ln -s outside "$SCRATCH/own"
	run pen --record ../own/r.json -- true
	assert_status 0
	assert_exists "$SCRATCH/outside/r.json"
}

# Red before: SIGXFSZ ended pinfold, and the status was lost.
@test "a record that is larger than the caller's file limit is an error that keeps the command's status" {
	run bash -c 'ulimit -f 1
		"$PINFOLD" run --record "$SCRATCH/record" -- sh -c "exit 7" 2>&1 | cat
		exit "${PIPESTATUS[0]}"'
	assert_status 7
	assert_output_has "option '--record': cannot write to"
	assert_output_has 'File too large'
	# Where the message itself is past the limit, the status is still told.
	run bash -c 'ulimit -f 0; "$PINFOLD" run --bogus -- true 2>"$SCRATCH/messages"'
	assert_status 125
}

# Red before: SIGPIPE, likewise.
@test "a record or a message whose reader is gone is an error that keeps the command's status" {
	run bash -c '{ "$PINFOLD" run --record fd:9 -- sh -c "sleep 0.3; exit 7" 9>&1 >"$SCRATCH/out" 2>&1; echo $? >"$SCRATCH/status"; } | true'
	assert_content "$SCRATCH/status" 7
	grep -q 'Broken pipe' "$SCRATCH/out"
	run bash -c '{ sleep 0.3; "$PINFOLD" run --bogus -- true 2>&1; echo $? >"$SCRATCH/status"; } | true'
	assert_content "$SCRATCH/status" 125
}

# Red before: the network namespace was taken for missing, and accepting it advised.
@test "a limit of the caller's is no fact about the machine" {
	local count
	for count in 6 8 10 12 16; do
		run bash -c "ulimit -n $count; exec \"\$PINFOLD\" run --offline -- true"
		[ "$status" -eq 0 ] || [ "$status" -eq 125 ] || fail "status $status: $output"
		refute_output_has 'absent here'
		refute_output_has '--accept'
	done
}

@test "--verbose and --quiet on one line contradict each other" {
	refused run --verbose --quiet -- touch ran
	assert_output_has 'contradict'
	run pen --verbose --no-verbose --quiet -- true
	assert_status 0
}

@test "a name that is not UTF-8 comes back from the record as it was" {
	run pen --record "$SCRATCH/record" -- printf '' $'\xff\xfe'
	assert_status 0
	assert_equal "$(field "$SCRATCH/record" 'r["command"][2]')" "{'bytes': '//4='}"
}

# ---- readouts ----

@test "--plan runs nothing and changes nothing" {
	run pen --plan --write "$SCRATCH/new/" -- touch ran
	assert_status 0
	assert_output_has writes
	refute_exists ran
	refute_exists "$SCRATCH/new"
	"$PINFOLD" run --plan --json -- touch ran >"$SCRATCH/plan"
	assert_equal "$(field "$SCRATCH/plan" 'r["guarantees"]["writes"]["state"], r["command"]')" "('held', ['touch', 'ran'])"
	refute_exists ran
}

@test "the values of variables are in no readout" {
	export HARMLESS_NAME=harmless-value-$$
	run pen --plan -- true
	refute_output_has "harmless-value-$$"
	run pen --plan --json -- true
	assert_status 0
	refute_output_has "harmless-value-$$"
}

@test "status: inside yes, outside no" {
	run "$PINFOLD" status
	assert_status 1
	assert_output_has 'not confined'
	refute_output_has 'confined: yes' # the line that an agent looks for
	run pen -- "$PINFOLD" status
	assert_status 0
	assert_output_has 'confined: yes'
	assert_output_has "$WORK"
	run pen --offline -- "$PINFOLD" status --json
	assert_status 0
	printf '%s' "$output" >"$SCRATCH/status"
	assert_equal "$(field "$SCRATCH/status" 'r["confined"], r["network"]')" "(True, 'offline')"
	"$PINFOLD" status --json >"$SCRATCH/status" || [ $? -eq 1 ]
	assert_equal "$(field "$SCRATCH/status" 'r["confined"], r["run"]["confined"]')" "(False, True)"
}

@test "what a run is told stays below a kilobyte, however long the names are" {
	local dir=$SCRATCH i
	for i in 1 2 3 4 5 6; do dir=$dir/$(printf 'x%.0s' {1..200}); done
	mkdir -p "$dir" && cd "$dir"
	run pen -- sh -c 'printf %s "$PINFOLD_STATUS"'
	assert_status 0
	[ "${#output}" -lt 1024 ] && [ "${#output}" -gt 100 ]
	run pen -- "$PINFOLD" status
	assert_status 0
}

@test "a status that is nonsense is an error" {
	PINFOLD_STATUS='{' run "$PINFOLD" status
	assert_status 125
	PINFOLD_STATUS='["confined"]' run "$PINFOLD" status
	assert_status 125
}

@test "config paths names the list of trusted files, in JSON as well" {
	own_home
	"$PINFOLD" config paths --json >"$SCRATCH/paths"
	assert_equal "$(field "$SCRATCH/paths" '[(f["path"], f["exists"]) for f in r if f["layer"] == "trust"]')" \
		"[('$HOME/.local/state/pinfold/trust.json', False)]"
}

@test "an option that would make the policy writable is named as the option" {
	own_home
	mkdir -p "$HOME/.config/pinfold"
	echo '{}' >"$HOME/.config/pinfold/config.json"
	refused run --write / -- touch ran
	assert_output_has "option '--write'"
}

@test "config show: value, source, and why it has no effect" {
	own_home
	mkdir -p "$HOME/.config/pinfold"
	echo '{ "time": "7m", /* a comment */ "tmp_size": "64M", }' >"$HOME/.config/pinfold/config.json"
	run "$PINFOLD" config show
	assert_status 0
	assert_output_has 7m
	assert_output_has "$HOME/.config/pinfold/config.json"
	run "$PINFOLD" config show --mode off
	assert_output_has '(no effect: mode is off)'
	mkdir -m 700 "$SCRATCH/tmp"
	run "$PINFOLD" config show --tmp "$SCRATCH/tmp"
	assert_output_has '(no effect: the temp is a directory of the host)'
	run "$PINFOLD" config paths
	assert_status 0
	assert_output_has "$HOME/.config/pinfold/config.json"
	run "$PINFOLD" config paths --json
	assert_status 0
}

@test "config check: 0 valid, 1 invalid, with file, line and key" {
	echo '{ "time": "7m" }' >"$SCRATCH/good.json"
	printf '{\n "tiem": "7m"\n}\n' >"$SCRATCH/bad.json"
	run "$PINFOLD" config check "$SCRATCH/good.json"
	assert_status 0
	assert_equal "$output" ""
	run "$PINFOLD" config check "$SCRATCH/bad.json"
	assert_status 1
	assert_output_has "$SCRATCH/bad.json:2: "
	assert_output_has tiem
	run bash -c '"$PINFOLD" config check --json "$SCRATCH/bad.json" 2>/dev/null'
	assert_status 1
	printf '%s' "$output" >"$SCRATCH/verdict"
	assert_equal "$(field "$SCRATCH/verdict" 'r["valid"]')" False
}

@test "config schema is JSON" {
	"$PINFOLD" config schema >"$SCRATCH/schema"
	assert_equal "$(field "$SCRATCH/schema" '"tmp_size" in r["properties"]')" True
}

@test "trust lets a project's file loosen until it changes" {
	own_home
	echo '{ "git": "open" }' >.pinfold.json
	chmod 644 .pinfold.json
	run "$PINFOLD" config show --json
	assert_status 0
	run pen --record "$SCRATCH/record" -- true
	assert_status 0
	assert_equal "$output" ""
	assert_equal "$(field "$SCRATCH/record" 'any("git" in w and "not trusted" in w for w in r["warnings"])')" True
	run "$PINFOLD" trust
	assert_status 0
	run "$PINFOLD" config show
	assert_output_has "$WORK/.pinfold.json"
	run pen --record "$SCRATCH/record" -- true
	assert_equal "$(field "$SCRATCH/record" 'any("not trusted" in w for w in r["warnings"])')" False
	echo '{ "git": "open" } ' >.pinfold.json
	run pen --record "$SCRATCH/record" -- true
	assert_equal "$(field "$SCRATCH/record" 'any("not trusted" in w for w in r["warnings"])')" True
}

@test "a readout that cannot be written is an error" {
	run bash -c '"$PINFOLD" config schema >/dev/full'
	assert_status 125
	assert_output_has 'cannot write'
}

# ---- help and its relatives ----

@test "help comes from the tables, and every option stands in the manual" {
	local option page=$PROJECT/man/pinfold.1
	run "$PINFOLD" --help
	assert_status 0
	assert_output_has 'pinfold run'
	run "$PINFOLD" run --help
	assert_status 0
	assert_output_has '--tmp-size SIZE'
	while IFS=$'\t' read -r option _; do
		grep -q -- "Fl Fl ${option#--}\b" "$page" || fail "not in the manual: $option"
		assert_output_has "$option"
	done < <("$PINFOLD" __complete run --)
	for option in $("$PINFOLD" config schema | python3 -c 'import json, sys; print(*json.load(sys.stdin)["properties"])'); do
		grep -q "\b${option#\$}\b" "$PROJECT/man/pinfold-config.5" || fail "not in the manual: $option"
	done
}

@test "the manual names no option that there is not" {
	local option command
	for option in $(sed -n 's/^\.It Fl Fl \([a-z-]*\).*/\1/p' "$PROJECT/man/pinfold.1"); do
		for command in run explain status; do
			"$PINFOLD" __complete "$command" "--$option"
		done | grep -q "^--$option\b" || fail "no such option: --$option"
	done
}

@test "the manual passes mandoc" {
	needs mandoc
	run mandoc -T lint -W warning "$PROJECT"/man/*.[135]
	assert_status 0
}

@test "version" {
	run "$PINFOLD" version
	assert_status 0
	[[ $output =~ ^pinfold\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	run "$PINFOLD" --version
	assert_status 0
	run "$PINFOLD" version --json
	assert_status 0
}

@test "completion is answered from the tables" {
	run "$PINFOLD" __complete r
	assert_output_has run
	run "$PINFOLD" __complete run --mode ''
	assert_equal "$output" $'required\nauto\noff'
	run "$PINFOLD" __complete run --mode=a
	assert_equal "$output" --mode=auto
	run "$PINFOLD" __complete run --mode = a
	assert_equal "$output" auto
	run "$PINFOLD" __complete run -- --mo
	assert_equal "$output" ""
	run "$PINFOLD" __complete run make --mo
	assert_equal "$output" ""
	run "$PINFOLD" __complete config ''
	assert_equal "$output" $'show\ncheck\nschema\npaths'
	run "$PINFOLD" __complete
	assert_status 0
}
