# SPDX-License-Identifier: Apache-2.0
# fish completion for pinfold: the program answers, so that this file never lags behind it.
# The protocol is described in pinfold.bash; fish understands the tab before the description itself.

function __pinfold_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end

# Files only where the program has no answer.
complete -c pinfold -f -n 'count (__pinfold_complete) >/dev/null' -a '(__pinfold_complete)'
