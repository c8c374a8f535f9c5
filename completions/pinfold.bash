# SPDX-License-Identifier: Apache-2.0
# bash completion for pinfold: the program answers, so that this file never lags behind it.
#
# `pinfold __complete WORD...` gets the words after the program's name, the last being the one that is completed, and
# prints one candidate a line, with its description after a tab. No line at all means: a file.

_pinfold() {
	local IFS=$'\n' word=${COMP_WORDS[COMP_CWORD]} candidate
	COMPREPLY=()
	while read -r candidate; do
		COMPREPLY+=("${candidate%%$'\t'*}")
	done < <("$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	# bash takes `=` for a word of its own: `--mode=au` is completed as `au` after it.
	[[ $word == = ]] && COMPREPLY=("${COMPREPLY[@]#*=}")
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
	return 0
}

complete -o default -F _pinfold pinfold
