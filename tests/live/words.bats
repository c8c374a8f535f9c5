#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The word check: offline, a command that is known to need the network is told so before it starts. A courtesy: what it
# does not know the kernel refuses.

load ../lib

# verdict WORD... : "refused" by the word check, or "ran". The programs are stand-ins, so that none is needed here.
verdict() {
	PATH=$SCRATCH/bin:$PATH run pen --offline -- "$@"
	case $status in
	125) [[ "$output" == *"needs the network, which is off"* ]] && verdict=refused || verdict="error: $output" ;;
	*) verdict=ran ;;
	esac
}

stand_ins() {
	local program
	mkdir -p "$SCRATCH/bin"
	printf '#!/bin/sh\nexit 0\n' >"$SCRATCH/bin/stand-in"
	chmod 755 "$SCRATCH/bin" "$SCRATCH/bin/stand-in"
	for program in $(cut -f1 "$PROJECT/data/words.tsv" | grep -v '^#' | sort -u) sudo python3.11; do
		[ "$program" = git ] || cp "$SCRATCH/bin/stand-in" "$SCRATCH/bin/$program"
	done
}

@test "word check: sixty commands, half of them pass" {
	stand_ins
	new_repo
	git remote add origin https://git.example.invalid/x.git
	git remote add near "$SCRATCH/near.git"
	local expected line words=0 wrong=()
	while IFS='|' read -r expected line; do
		[ -n "$line" ] || continue
		words=$((words + 1))
		# shellcheck disable=SC2294 # each line is a command line
		eval "verdict $line"
		[ "$verdict" = "$expected" ] || wrong+=("$line: $verdict instead of $expected")
	done <<-'END'
		refused|npm install
		refused|npm ci
		refused|npm i left-pad
		refused|npm --loglevel=warn install
		refused|npm install --save-dev x ./y
		refused|pnpm add x
		refused|pnpm dlx create-thing
		refused|yarn
		refused|yarn add x
		refused|bun install
		refused|pip install requests
		refused|pip3 install -r requirements.txt
		refused|python3 -m pip install requests
		refused|uv sync
		refused|uv pip install x
		refused|poetry install
		refused|pipx run x
		refused|cargo install ripgrep
		refused|cargo fetch
		refused|go get example.com/x
		refused|go mod download
		refused|go install example.com/x@latest
		refused|gem install rails
		refused|bundle install
		refused|composer require x/y
		refused|sudo apt-get install -y make
		refused|brew install jq
		refused|git clone https://example.invalid/x.git
		refused|git push origin main
		refused|git fetch
		refused|git ls-remote git@example.invalid:x.git
		refused|curl -fsSL https://example.invalid/x
		refused|wget -q http://user@example.invalid:8080/x
		refused|ssh somewhere
		refused|npx cowsay@latest
		refused|sh -c 'cd . && npm ci'
		refused|bash -lc 'make; pip install x | cat'
		refused|env CI=1 npm ci
		ran|npm test
		ran|npm run install-hooks
		ran|npm ci --offline
		ran|npm install ./vendor/x.tgz
		ran|npx eslint .
		ran|yarn build
		ran|yarn --version
		ran|pip install --no-index x
		ran|pip install -e .
		ran|pip list
		ran|python3.11 -m venv env
		ran|uv run pytest
		ran|cargo build
		ran|cargo install --path .
		ran|go build ./...
		ran|go install ./cmd/x
		ran|go mod edit -json
		ran|gem list
		ran|bundle exec rake
		ran|apt-get --version
		ran|git status
		ran|git commit --allow-empty -m 'npm install'
		ran|git fetch ./near.git
		ran|git push near main
		ran|git clone . copy
		ran|curl http://localhost:3000/health
		ran|curl -s http://127.0.0.1:8080/ http://[::1]:80/
		ran|wget file:///etc/hostname
		ran|ssh localhost true
		ran|sh -c 'echo "a; npm install"'
		ran|sh -c 'echo npm install'
		ran|echo npm install
		ran|./npm install
		ran|sh ./install.sh
	END
	[ ${#wrong[@]} -eq 0 ] || fail "${wrong[@]}"
	[ "$words" -ge 60 ]
}

@test "word check: refused before the start, by one line with a hint, and the record says blocked_offline" {
	stand_ins
	printf '#!/bin/sh\ntouch "%s/ran"\n' "$WORK" >"$SCRATCH/bin/npm"
	PATH=$SCRATCH/bin:$PATH run pen --offline --record "$SCRATCH/record" -- npm install
	assert_status 125
	assert_output_has "pinfold: 'npm install' needs the network, which is off"
	assert_output_has 'pinfold: hint: run it with --network open, or let it try: --word-check off'
	refute_exists ran
	PATH=$SCRATCH/bin:$PATH run "$PINFOLD" explain --offline -- npm install
	assert_status 1
	assert_output_has 'word_check refuse (built in): it needs the network, which is off'
	assert_equal "$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["ran"], r["exit"]["reason"])' "$SCRATCH/record")" \
		'False blocked_offline'
}

@test "word check: warn lets it try and says so, off says nothing, and with the network open nothing is asked" {
	stand_ins
	PATH=$SCRATCH/bin:$PATH run pen --offline --word-check warn -- npm install
	assert_status 0
	assert_equal "$output" "pinfold: warning: 'npm install' needs the network, which is off"
	PATH=$SCRATCH/bin:$PATH run pen --offline --word-check warn --record "$SCRATCH/record" --quiet -- npm install
	assert_equal "$output" ''
	grep -q "'npm install' needs the network" "$SCRATCH/record"
	PATH=$SCRATCH/bin:$PATH run pen --offline --word-check off -- npm install
	assert_status 0
	assert_equal "$output" ''
	PATH=$SCRATCH/bin:$PATH run pen -- npm install
	assert_status 0
	PATH=$SCRATCH/bin:$PATH run pen --offline --mode off -- npm install
	assert_status 0
	run "$PINFOLD" config show
	assert_output_has 'no effect: the network is open'
	run pen --word-check maybe -- true
	assert_status 125
}

@test "word check: what gets past the words the kernel refuses" {
	listener inet
	denied "x=cur; y=l; $(connects "$PORT")" --offline
}

@test "word check: a project's file may ask for it, and may not take it away" {
	stand_ins
	echo '{"word_check": "off"}' >.pinfold.json
	PATH=$SCRATCH/bin:$PATH run pen --offline -- npm install
	assert_status 125
	assert_output_has 'needs the network'
	echo '{"word_check": "refuse"}' >.pinfold.json
	PATH=$SCRATCH/bin:$PATH run pen --offline --config /dev/null -- true
}
