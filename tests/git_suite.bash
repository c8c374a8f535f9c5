# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A script of git's own test suite, outside and in the pen, with the same results (docs/git-suite.md).

# What runs one: SUITE SCRIPT FOLDER. The repositories that it makes, their homes included, are below FOLDER.
# shellcheck disable=SC2016 # for the shell that runs it
GIT_SUITE='cd "$1/t" && GIT_TEST_INSTALLED=${2%/*} TEST_OUTPUT_DIRECTORY=$4 &&
	export GIT_TEST_INSTALLED TEST_OUTPUT_DIRECTORY &&
	exec sh "./$3.sh" --root="$4" --verbose-log --no-chain-lint'

# suite SCRIPT : in the pen its repositories lie below a worktree that is a repository itself.
suite() {
	needs git-tests perl python3
	local words=(sh -c "$GIT_SUITE" sh "$GIT_TESTS" "$(command -v git)" "$1") outside=$SCRATCH/outside inside=$WORK/inside
	new_repo
	mkdir "$outside" "$inside"
	"${words[@]}" "$outside" >"$outside/tap" 2>"$outside/errors" || true
	pen -- "${words[@]}" "$inside" >"$inside/tap" 2>"$inside/errors" || true
	python3 "$PROJECT/tests/git_suite.py" "$PROJECT/tests/git-suite.tsv" "$1" "$TEST_AS" "$outside" "$inside" || {
		cat "$outside/errors" "$inside/errors"
		return 1
	}
	# A run that works prints nothing, whatever became of the repositories in it.
	run cat "$inside/errors"
	refute_output_has pinfold:
}
