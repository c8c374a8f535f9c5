# SPDX-License-Identifier: Apache-2.0
# What README.md tells agents to do: each snippet is taken from the page, gets the input that the tool's documentation
# names, and what it answers is run. The tools themselves are not.
# shellcheck shell=bash disable=SC2154,SC2016,SC2089,SC2090 # status and output are bats' own; scripts expand later

bats_require_minimum_version 1.5.0 # run --separate-stderr
load ../lib

# The home of somebody who has followed the page, and pinfold where a shell finds it.
setup() {
	lib_setup && own_home || return 1
	mkdir -p "$SCRATCH/bin" "$HOME/.config/pinfold" && ln -s "$PINFOLD" "$SCRATCH/bin/pinfold-sh" || return 1
	# A copy of the program may lie where the pen does not show it; the link leads there from outside.
	ln -s "$PINFOLD" "$SCRATCH/bin/pinfold"
	PATH=$SCRATCH/bin:$PATH
	snippet hook >"$HOME/.config/pinfold/hook.py"
}

# snippet NAME : the code block of README.md that follows the comment of this name.
snippet() {
	awk -v start="<!-- snippet: $1 -->" '
		$0 == start { found = 1; next }
		found && /^```/ { if (inside) exit; inside = 1; next }
		inside { print }' "$PROJECT/README.md" | grep ''
}

# call EVENT TOOL COMMAND : what a tool writes to a hook, with a field that it must get back.
call() {
	python3 -c 'import json, os, sys
print(json.dumps({"session_id": "1", "transcript_path": "/dev/null", "cwd": os.getcwd(), "hook_event_name": sys.argv[1],
	"tool_name": sys.argv[2], "tool_input": {"command": sys.argv[3], "description": "a job", "timeout": 1000}}))' "$@"
}

# configured SNIPPET PATH : the command of the hook in a settings file, by the keys that lead to it.
configured() {
	snippet "$1" | python3 -c 'import json, sys
at = json.load(sys.stdin)
for key in sys.argv[1].split():
	at = at[int(key) if key.isdigit() else key]
print(at)' "$2"
}

# field JSON PATH : a value of an answer.
field() {
	python3 -c 'import json, sys
at = json.loads(sys.argv[1])
for key in sys.argv[2].split():
	at = at[key]
print(at)' "$@"
}

# A command that says whether it is confined, writes what it may, and tries what it may not. All kinds of quotes.
COMMAND='echo "it'\''s $((6 * 7))" >result.txt
case ${PINFOLD_STATUS:-no} in *\"confined\":true*) echo confined ;; *) echo bare ;; esac
cat <<"END"
a line with $HOME, `date` and \ in it
END
echo after >"$HOME/notes.txt" || echo refused'

# is_confined COMMAND : what an agent's answer does when its tool runs it. Bare, COMMAND writes to the home.
is_confined() {
	run bash -c "$COMMAND"
	assert_status 0
	assert_output_has bare
	assert_content "$HOME/notes.txt" after
	echo before >"$HOME/notes.txt"
	rm result.txt
	run bash -c "$1"
	assert_output_has confined
	assert_output_has refused
	assert_output_has 'a line with $HOME, `date` and \ in it'
	assert_content result.txt "it's 42"
	assert_content "$HOME/notes.txt" before
}

# hook SNIPPET PATH-OF-THE-COMMAND EVENT TOOL : as the tool would call it; the answer is in output.
hook() {
	local command
	command=$(configured "$1" "$2")
	run --separate-stderr sh -c "$command" <<<"$(call "$3" "$4" "$COMMAND")"
	assert_status 0
	[ "${#lines[@]}" -eq 1 ] || fail "more than the answer: $output"
	# Without its script it stops the command, and does not let it run as it is.
	mv "$HOME/.config/pinfold/hook.py" "$HOME/.config/pinfold/away"
	local answer=$output
	run sh -c "$command" <<<"$(call "$3" "$4" "$COMMAND")"
	assert_status 2
	mv "$HOME/.config/pinfold/away" "$HOME/.config/pinfold/hook.py"
	output=$answer
}

@test "Claude Code: the hook of the page confines a command" {
	needs python3
	hook claude-code "hooks PreToolUse 0 hooks 0 command" PreToolUse Bash
	assert_equal "$(configured claude-code "hooks PreToolUse 0 matcher")" Bash
	assert_equal "$(field "$output" "hookSpecificOutput hookEventName")" PreToolUse
	assert_equal "$(field "$output" "hookSpecificOutput permissionDecision")" allow
	# The answer replaces the whole input: what was not changed is there as well.
	assert_equal "$(field "$output" "hookSpecificOutput updatedInput timeout")" 1000
	is_confined "$(field "$output" "hookSpecificOutput updatedInput command")"
}

@test "Codex CLI: the hook of the page confines a command" {
	needs python3
	hook codex "hooks PreToolUse 0 hooks 0 command" PreToolUse Bash
	assert_equal "$(configured codex "hooks PreToolUse 0 matcher")" Bash
	# A changed command is taken together with this only.
	assert_equal "$(field "$output" "hookSpecificOutput permissionDecision")" allow
	is_confined "$(field "$output" "hookSpecificOutput updatedInput command")"
}

@test "Gemini CLI: the hook of the page confines a command" {
	needs python3
	hook gemini "hooks BeforeTool 0 hooks 0 command" BeforeTool run_shell_command
	assert_equal "$(configured gemini "hooks BeforeTool 0 matcher")" run_shell_command
	is_confined "$(field "$output" "hookSpecificOutput tool_input command")"
}

@test "Cursor: the hook of the page confines a command" {
	needs python3
	hook cursor "hooks preToolUse 0 command" preToolUse Shell
	assert_equal "$(configured cursor "hooks preToolUse 0 failClosed")" True
	assert_equal "$(field "$output" permission)" allow
	is_confined "$(field "$output" "updated_input command")"
}

@test "OpenCode: the plugin of the page confines a command, and nothing but commands" {
	needs node
	snippet opencode >"$SCRATCH/pinfold.mjs"
	cat >"$SCRATCH/call.mjs" <<-'END'
		import { Pinfold } from './pinfold.mjs'
		const before = (await Pinfold({}))['tool.execute.before']
		const output = { args: { command: process.argv[3], filePath: 'x' } }
		await before({ tool: process.argv[2], sessionID: '1', callID: '2' }, output)
		process.stdout.write(output.args.command)
	END
	run node "$SCRATCH/call.mjs" read "$COMMAND"
	assert_equal "$output" "$COMMAND"
	run node "$SCRATCH/call.mjs" bash "$COMMAND"
	assert_status 0
	is_confined "$output"
}

@test "the hook stops the command when it does not understand the question" {
	needs python3
	local question
	for question in '' '{' '[]' '{}' '{"hook_event_name": "PreToolUse"}' \
		'{"hook_event_name": "Stop", "tool_input": {"command": "true"}}' \
		'{"hook_event_name": "PreToolUse", "tool_input": {"command": 7}}'; do
		run --separate-stderr python3 "$HOME/.config/pinfold/hook.py" <<<"$question"
		assert_status 2
		assert_equal "$output" ""
		[[ $stderr == "pinfold: the hook failed: "* ]] || fail "no reason: $stderr"
	done
}

@test "pinfold-sh does for a tool that takes the path of a shell" {
	needs python3 make
	# As the page has it, with a tool that does what such tools do.
	printf '#!/bin/sh\nexec "$SHELL" -c "$COMMAND"\n' >"$SCRATCH/bin/some-agent"
	chmod +x "$SCRATCH/bin/some-agent"
	printf 'all:\n\t@echo after >"$(HOME)/notes.txt" || echo refused; echo "it is $$PINFOLD_STATUS"\n' >Makefile
	snippet shell >"$SCRATCH/lines"
	export COMMAND
	is_confined "$(sed -n 's/ *#.*//; /some-agent/p' "$SCRATCH/lines")"
	run sh -c "$(sed -n 's/ *#.*//; /^make/p' "$SCRATCH/lines")"
	assert_status 0
	assert_output_has '"confined":true'
	assert_output_has refused
	# And by another name of the program's own.
	run bash -c 'exec -a pinfold-sh "$0" -c "echo \$1 \${PINFOLD_STATUS:+confined}" name argument' "$PINFOLD"
	assert_equal "$output" "argument confined"
}

@test "an agent can see for itself" {
	run pen -- "$PINFOLD" status
	assert_status 0
	assert_equal "${lines[0]}" "confined: yes"
	run "$PINFOLD" status
	assert_status 1
	[[ ${lines[0]} == "not confined"* ]] || fail "$output"
}

@test "the configuration of the page is one" {
	snippet config >"$HOME/.config/pinfold/config.json"
	run "$PINFOLD" config check "$HOME/.config/pinfold/config.json"
	assert_status 0
	run "$PINFOLD" config show
	assert_output_has "$HOME/.config/pinfold/config.json"
	assert_output_has offline
}

@test "E036: the settings that the page makes in a project cannot be changed" {
	snippet settings >"$SCRATCH/settings"
	sh -e "$SCRATCH/settings"
	local made path
	made=$(find . -mindepth 1 | sort)
	for path in .claude/settings.json .claude/settings.local.json .claude/hooks/x .claude/commands/x .claude/agents/x \
		.claude/skills/x .codex/hooks.json .gemini/settings.json .cursor/hooks.json .opencode/plugins opencode.json \
		opencode.jsonc .mcp.json; do
		run pen -- sh -c 'echo after >"$1" || mkdir "$1" || mv "$1" away || mv "${1%/*}" away || rm -rf "$1"' sh "$path"
		[ "$status" -ne 125 ] || fail "$output"
		rm -rf away # where mv cannot move, it has copied
		assert_equal "$(find . -mindepth 1 | sort)" "$made"
		[ ! -f "$path" ] || ! grep -q after "$path" || fail "$path was changed"
	done
}
