# SPDX-License-Identifier: Apache-2.0
# secrets: hidden paths cannot be read or listed, by any spelling, also when made or replaced during the run.
# shellcheck shell=bash disable=SC2154,SC2016,SC2088 # the scripts' and tables' own dollars and tildes

load ../lib

setup() {
	lib_setup
	own_home
}

# The home of the account, which is masked although $HOME is another.
account_home() { getent passwd "$(id -u)" | cut -d: -f6; }

# bats test_tags=core
@test "a credential reads as absent, an ordinary file of the home is readable" {
	canary "$HOME/.ssh/id_ed25519"
	canary "$HOME/.netrc"
	echo ordinary >"$HOME/notes"
	denied "cat '$HOME/.ssh/id_ed25519'"
	denied "cat '$HOME/.netrc'"
	denied "test -e '$HOME/.netrc'"
	denied "ls -a '$HOME' | grep -q netrc"
	allowed "grep -q ordinary '$HOME/notes'"
}

@test "E040 E048: every path of the table of hidden paths, made as a canary, is out of reach" {
	local path kind rest file count=0
	while IFS=$'\t' read -r path kind rest; do
		case $path in
		'~/'*) file=$HOME/${path#'~/'} ;;
		'$CONFIG/'*) file=$HOME/.config/${path#'$CONFIG/'} ;;
		'$DATA/'*) file=$HOME/.local/share/${path#'$DATA/'} ;;
		'$STATE/'*) file=$HOME/.local/state/${path#'$STATE/'} ;;
		'$CACHE/'*) file=$HOME/.cache/${path#'$CACHE/'} ;;
		*) continue ;;
		esac
		[ "$kind" != C ] || continue # shown as a copy
		file=${file//\*/x}
		[ "$kind" != D ] || file=$file/canary-file
		mkdir -p "$(dirname "$file")" 2>/dev/null && [ ! -d "$file" ] || continue # below another row, a file
		echo a-canary >"$file"
		count=$((count + 1))
	done <"$PROJECT/data/hidden.tsv"
	[ "$count" -gt 100 ] || fail "only $count canaries"
	assert_equal "$(grep -rl a-canary "$HOME" | wc -l)" "$count"
	run pen -- grep -rl a-canary "$HOME"
	assert_equal "$output" ''
	run pen -- find "$HOME" -name canary-file
	assert_equal "$output" ''
}

@test "E040: the home of the account is masked too, where HOME is another one" {
	local file
	file=$(account_home)/.vault-token
	[ "$(account_home)" != "$HOME" ] && [ ! -e "$file" ] || skip "needs an account without a vault token"
	canary "$file"
	denied "cat '$file'"
}

@test "E040: what the variables of other programs point to is hidden" {
	canary "$SCRATCH/elsewhere/kube"
	KUBECONFIG=$SCRATCH/elsewhere/kube denied "cat '$SCRATCH/elsewhere/kube'"
	allowed "cat '$SCRATCH/elsewhere/kube'"
}

@test "E040: the machine's own secrets (root)" {
	only_as root
	local file
	for file in /etc/shadow /etc/gshadow; do
		denied "grep -q . $file"
	done
	allowed 'grep -q root /etc/passwd'
}

@test "E048: logs, crashes, core dumps and mail of the machine (root)" {
	only_as root
	local place
	for place in /var/log /var/crash /var/lib/systemd/coredump /var/mail; do
		[ -d "$place" ] || { mkdir -p "$place" && LEFTOVERS+=("$place"); }
		canary "$place/pinfold-test-$$"
		chmod 644 "$place/pinfold-test-$$"
		denied "grep -q '$CANARY' '$place/pinfold-test-$$'"
		run pen -- ls -A "$(readlink -f "$place")"
		refute_output_has "pinfold-test-$$"
	done
}

@test "E043: a secret that the host makes during the run" {
	in_background 'meet; cat ~/.aws/credentials; ls -a ~; cat ~/ordinary'
	wait_for test -e here
	canary "$HOME/.aws/credentials"
	echo plain >"$HOME/ordinary"
	go && finished
	assert_equal "$(cat "$HOME/.aws/credentials")" "$CANARY"
	output=$(cat said)
	refute_output_has "$CANARY"
	run grep -x .aws said
	assert_status 1
	grep -qx plain said
}

@test "E044: a secret that the host replaces during the run, and its directory" {
	canary "$HOME/.netrc"
	canary "$HOME/.aws/credentials"
	in_background 'meet; cat ~/.netrc ~/.aws/credentials ~/.aws.old/credentials; meet; cat ~/.netrc ~/.aws/credentials'
	wait_for test -e here
	echo "$CANARY" >"$HOME/.netrc.new" && mv "$HOME/.netrc.new" "$HOME/.netrc"
	echo "$CANARY" >"$HOME/.aws/new" && mv "$HOME/.aws/new" "$HOME/.aws/credentials"
	go
	wait_for test -e here
	mv "$HOME/.aws" "$SCRATCH/aws" && mkdir "$HOME/.aws" && echo "$CANARY" >"$HOME/.aws/credentials"
	go && finished
	output=$(cat said)
	assert_output_has .netrc
	refute_output_has "$CANARY"
}

@test "E044: the same for a mask outside the home's overlay" {
	mkdir -p "$SCRATCH/hidden"
	canary "$SCRATCH/hidden/file"
	denied "cat '$SCRATCH/hidden/file'" --hide "$SCRATCH/hidden"
	in_background "meet; cat '$SCRATCH/hidden/file' '$SCRATCH/hidden/new'" --hide "$SCRATCH/hidden"
	wait_for test -e here
	echo "$CANARY" >"$SCRATCH/hidden/new"
	mv "$SCRATCH/hidden/new" "$SCRATCH/hidden/file"
	go && finished
	output=$(cat said)
	refute_output_has "$CANARY"
}

@test "E022: a hidden name by other spellings" {
	canary "$HOME/.netrc"
	local spelling
	for spelling in "$HOME/./.netrc" "$HOME//.netrc" "$HOME/.ssh/../.netrc" "/proc/self/root$HOME/.netrc" \
		"/proc/thread-self/root$HOME/.netrc" "/proc/self/cwd/../home/.netrc" '/proc/self/cwd/../home//.netrc'; do
		mkdir -p "$HOME/.ssh"
		denied "grep -q canary $spelling"
	done
	run pen -- cat "/proc/1/root$HOME/.netrc"
	refute_output_has "$CANARY"
}

@test "E007: a link in the worktree that leads to a secret" {
	canary "$HOME/.ssh/id_rsa"
	ln -s "$HOME/.ssh/id_rsa" soft
	ln -s "$HOME/.ssh" dir
	denied 'cat soft'
	denied 'cat dir/id_rsa'
}

@test "E024: what is hidden cannot be written into or made either" {
	canary "$HOME/.ssh/id_rsa"
	mkdir -p "$HOME/.aws"
	try_denied 'EROFS|EACCES|ENOENT' -- create "$HOME/.ssh/new-@"
	try_denied 'EROFS|EACCES|ENOENT' -- create "$HOME/.aws/new-@"
	try_denied 'EROFS|EACCES' -- mkdir "$HOME/.gnupg-@"
	try_refused 'EROFS|EACCES' -- mkdir "$HOME/.gnupg"
	refute_exists "$HOME/.gnupg"
	refute_exists "$HOME/.ssh/new-in"
}

@test "settings beside secrets are shown without the secrets" {
	cat >"$HOME/.npmrc" <<-END
		registry=https://registry.example.invalid/
		//registry.example.invalid/:_authToken=abcdefghij
	END
	denied "grep -q abcdefghij '$HOME/.npmrc'"
	allowed "grep -q registry=https://registry.example.invalid '$HOME/.npmrc'"
}

@test "known hosts stay readable beside the keys" {
	mkdir -p "$HOME/.ssh"
	echo 'host.example.invalid ssh-ed25519 AAAA' >"$HOME/.ssh/known_hosts"
	canary "$HOME/.ssh/id_rsa"
	allowed "grep -q host.example.invalid '$HOME/.ssh/known_hosts'"
	denied "cat '$HOME/.ssh/id_rsa'"
}

@test "--read opens what the built-in list hides, read-only, and nothing else" {
	canary "$HOME/.netrc"
	canary "$HOME/.pgpass"
	allowed "grep -q canary '$HOME/.netrc'" --read "$HOME/.netrc"
	denied "echo >>'$HOME/.netrc'" --read "$HOME/.netrc"
	denied "cat '$HOME/.pgpass'" --read "$HOME/.netrc"
}

@test "E027 E046: --hide hides more: in the home, by an absolute path, in the worktree" {
	canary "$HOME/diary"
	canary "$SCRATCH/elsewhere/file"
	canary "$WORK/deploy.pem"
	canary "$WORK/sub/deploy.pem"
	denied "cat '$HOME/diary'" --hide '~/diary'
	denied "cat '$SCRATCH/elsewhere/file'" --hide "$SCRATCH/elsewhere"
	denied 'grep -q canary deploy.pem' --hide deploy.pem
	denied 'grep -q canary sub/deploy.pem' --hide '**/deploy.pem'
	# Programs stumble over a file of the worktree that is missing: it is there, and empty.
	allowed 'test -f deploy.pem && test ! -s deploy.pem' --hide deploy.pem
	grep -q "$CANARY" sub/deploy.pem
}

@test "E046: one that the host replaces is hidden again, also after its directory was renamed inside" {
	mkdir sub
	canary .env
	cp .env sub/.env
	denied 'cat .env | grep -q canary' --hide .env
	in_background 'meet; sleep 0.5; cat .env sub/.env; mv sub moved; cat moved/.env; mv moved sub; echo end' --hide .env
	wait_for test -e here
	local path
	for path in .env sub/.env; do
		cp "$path" "$path.new" && mv "$path.new" "$path"
	done
	go
	finished
	run cat said
	assert_output_has end
	refute_output_has "$CANARY"
}

@test "--home hidden: only the toolchains of the home are left" {
	echo ordinary >"$HOME/notes"
	allowed "cat '$HOME/notes'"
	denied "cat '$HOME/notes'" --home hidden
	allowed 'touch file' --home hidden
	assert_exists file
}
