# SPDX-License-Identifier: Apache-2.0
# The library from a program of its own: what include/pinfold.h promises.
# shellcheck shell=bash disable=SC2154

load ../lib

@test "E096 the library keeps the promises of its header, in a process with threads and a SIGCHLD handler" {
	needs cc
	own_home
	local library=${PINFOLD%/*}
	[ -e "$library/libpinfold.so" ] || skip "needs the shared library"
	cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -I "$PROJECT/include" "$PROJECT/tests/live/api_client.c" \
		-o "$SCRATCH/client" -L "$library" -lpinfold -pthread
	LD_LIBRARY_PATH=$library run timeout 60 "$SCRATCH/client" "$SCRATCH/notes"
	assert_status 0
	assert_equal "$output" "all kept"
}

@test "the header compiles as C++ and without GNU extensions" {
	needs cc
	cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$PROJECT/include/pinfold.h"
	command -v c++ >/dev/null || skip "needs c++"
	c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ "$PROJECT/include/pinfold.h"
}
