# SPDX-License-Identifier: Apache-2.0
# Links, odd files, odd mounts and odd names (catalogue F187 to F196): none of them stops a run, and none opens a way.
# shellcheck shell=bash disable=SC2154,SC2016 # what is in single quotes is for the shell inside

load ../lib

setup() {
	lib_setup
	own_home
	MOUNTS=()
}

teardown() {
	local i
	cd / || return 1
	for ((i = ${#MOUNTS[@]} - 1; i >= 0; i--)); do umount -l "${MOUNTS[i]}"; done
	lib_teardown
}

# quiet COMMAND... : it runs, at once, and says nothing of its own.
quiet() {
	run timeout 5 "$PINFOLD" run "$@"
	assert_status 0
	assert_equal "$output" ""
}

# ---- links ----

@test "F187 a linked directory of the worktree that holds something to be masked" {
	mkdir real && ln -s real/ relative && ln -s "$WORK/real" absolute && ln -s relative chained
	canary "$WORK/real/.env"
	quiet --hide .env -- true
	quiet --hide 'real/.env' -- true
	local name
	for name in real relative absolute chained; do
		run sh -c "cat $name/.env"
		assert_equal "$output" "$CANARY"
		run pen --hide .env -- sh -c "cat $name/.env; cat $name/../$name/.env"
		assert_equal "$output" ""
		# Named through the link, it is the same file.
		run pen --hide "$name/.env" -- sh -c 'cat real/.env relative/.env absolute/.env chained/.env'
		refute_output_has "$CANARY"
		[ "$status" -ne 125 ] || fail "$output"
	done
	run pen --hide .env -- sh -c 'mv real moved; mv relative other; cat moved/.env other/.env real/.env'
	refute_output_has "$CANARY"
	assert_content real/.env "$CANARY"
}

# A home whose files are links into a store: relative, absolute, by two links, to nothing, and out of the home.
linked_home() {
	mkdir -p "$HOME/dotfiles/config/tool" "$SCRATCH/store/abc"
	printf '[user]\n\tname = Linked\n' >"$HOME/dotfiles/gitconfig"
	echo 'alias x=y' >"$SCRATCH/store/abc/bashrc"
	echo setting >"$HOME/dotfiles/config/tool/rc"
	ln -s dotfiles/gitconfig "$HOME/.gitconfig"
	ln -s "$HOME/dotfiles/config" "$HOME/.config"
	ln -s "$SCRATCH/store/abc/bashrc" "$HOME/dotfiles/bashrc"
	ln -s dotfiles/bashrc "$HOME/.bashrc"
	ln -s dotfiles/missing "$HOME/.profile"
	ln -s "$HOME/nowhere/at/all" "$HOME/.zshrc"
	ln -s .inputrc "$HOME/.inputrc"
}

@test "F188 dotfiles that are links work, and neither end can be written to" {
	needs git
	linked_home
	quiet -- true
	run pen -- git config user.name
	assert_equal "$output" Linked
	run pen -- sh -c 'cat ~/.bashrc ~/.config/tool/rc'
	assert_equal "$output" $'alias x=y\nsetting'
	local path
	for path in ~/.gitconfig ~/dotfiles/gitconfig ~/.bashrc "$SCRATCH/store/abc/bashrc" ~/.config/tool/rc ~/dotfiles/config/tool/rc; do
		denied "echo x >>'$path'"
	done
	for path in .profile .zshrc .config/new dotfiles/missing; do
		run pen -- sh -c "echo x >~/$path; rm -f ~/$path; ln -sfn /tmp ~/$path"
		[ "$status" -ne 0 ] && [ "$status" -ne 125 ] || fail "status $status: $path: $output"
	done
	refute_exists "$HOME/dotfiles/missing"
	[ -L "$HOME/.profile" ] || fail "the dangling link is gone"
}

@test "F188 what is hidden is hidden at both ends of its link" {
	linked_home
	local one two three four
	canary "$HOME/dotfiles/aws/credentials"
	one=$CANARY
	ln -s dotfiles/aws "$HOME/.aws"
	canary "$SCRATCH/store/netrc"
	two=$CANARY
	ln -s "$SCRATCH/store/netrc" "$HOME/.netrc"
	canary "$HOME/.config/gh/hosts.yml" # through a link that holds it
	three=$CANARY
	canary "$HOME/dotfiles/ssh/id"
	four=$CANARY
	ln -s dotfiles/keys "$HOME/.ssh" && ln -s ssh "$HOME/dotfiles/keys"
	run sh -c 'cat ~/.aws/credentials ~/.netrc ~/.config/gh/hosts.yml ~/.ssh/id'
	assert_equal "$output" "$one"$'\n'"$two"$'\n'"$three"$'\n'"$four"
	quiet -- true
	run pen -- sh -c 'cat ~/.aws/credentials ~/dotfiles/aws/* ~/.netrc '"$SCRATCH"'/store/netrc ~/.config/gh/* ~/dotfiles/config/gh/* \
		~/.ssh/id ~/dotfiles/keys/id ~/dotfiles/ssh/id; cat '"$SCRATCH"'/home/.netrc; grep -r canary- ~ '"$SCRATCH"
	refute_output_has "$one"
	refute_output_has "$two"
	refute_output_has "$three"
	refute_output_has "$four"
}

@test "F188 links to the home itself, or to the root, take nothing away" {
	mkdir "$HOME/plain" && echo text >"$HOME/plain/file"
	ln -s . "$HOME/.aws"
	ln -s / "$HOME/.ssh"
	ln -s "$SCRATCH" "$HOME/.gnupg"
	run pen -- sh -c 'cat ~/plain/file; echo text >file'
	assert_status 0
	assert_equal "$output" text
	assert_content file text
}

@test "F189 a protected name that is a link to a directory, or to a file" {
	mkdir -p other/.agents shared && echo old >other/.agents/file && echo old >shared/mcp.json && echo old >shared/envrc
	ln -s other/.agents .agents
	ln -s "$WORK/shared/mcp.json" .mcp.json
	ln -s shared/link .envrc && ln -s envrc shared/link
	quiet -- true
	local script
	for script in 'echo x >>.agents/file' 'echo x >>other/.agents/file' 'echo x >other/.agents/new' 'echo x >.mcp.json' \
		'echo x >shared/mcp.json' 'echo x >.envrc' 'echo x >shared/envrc' 'mv other moved' 'mv shared moved' \
		'rm .agents' 'rm .mcp.json' 'ln -sfn /tmp .agents' 'mv .envrc moved' 'rm shared/link' 'mv other/.agents moved' \
		'ln -s /tmp x && mv -fT x .agents'; do
		cp -a "$WORK" "$SCRATCH/copy"
		# The control, on a copy; absolute links lead out of it, which makes no difference to whether it works.
		(cd "$SCRATCH/copy" && sh -c "$script") || fail "fails outside: $script"
		rm -rf "$SCRATCH/copy"
		echo old >shared/mcp.json
		run pen -- sh -c "$script"
		[ "$status" -ne 0 ] && [ "$status" -ne 125 ] || fail "status $status: $script: $output"
		rm -f x
	done
	assert_equal "$(readlink .agents) $(readlink .envrc) $(readlink shared/link)" 'other/.agents shared/link envrc'
	assert_content .agents/file old
	assert_content .mcp.json old
	assert_content .envrc old
	# The rest of where they lead stays free.
	run pen -- sh -c 'echo x >other/free && echo x >shared/free && rm other/free shared/free'
	assert_status 0
}

# ---- odd files ----

@test "F192 links that lead nowhere, round and round, or outside" {
	local name
	for name in .env .envrc .mcp.json .agents .vscode .husky .npmrc .cargo; do
		ln -s missing "$name"
	done
	quiet --hide .env -- true
	for name in .env .envrc .mcp.json .agents .vscode .husky .npmrc .cargo; do
		ln -sfn "$name" "$name"
	done
	quiet --hide .env -- true
	ln -sfn .envrc .env && ln -sfn .env .envrc
	quiet --hide .env -- true
	for name in .env .envrc .mcp.json .agents .vscode .husky .npmrc .cargo; do
		ln -sfn /etc/passwd "$name"
	done
	quiet --hide .env -- true
	for name in .env .envrc .mcp.json .agents .vscode .husky .npmrc .cargo; do
		ln -sfn /proc/self/fd/0 "$name"
	done
	quiet --hide .env -- true
	# (Not .config: a configuration that cannot be read is an error, since it might tighten.)
	for name in .ssh .aws .netrc .npmrc .cache .gitconfig .cargo; do
		ln -s "$name" "$HOME/$name"
	done
	quiet -- true
}

@test "F192 a FIFO, a socket and a device with such names" {
	local name
	mkfifo fifo && ln -s fifo .env && mkfifo .mcp.json .npmrc .agents
	python3 -c 'import socket
for name in ".envrc", "socket": socket.socket(socket.AF_UNIX).bind(name)'
	ln -s socket .vscode
	ln -s /dev/zero .gdbinit
	ln -s /dev/tty .exrc
	mkfifo "$HOME/.npmrc" "$HOME/.netrc" "$HOME/.ssh" "$HOME/.gitconfig" "$HOME/.yarnrc.yml"
	mkdir -p "$HOME/.config/pip" && mkfifo "$HOME/.config/pip/pip.conf" "$HOME/.config/gh"
	quiet --hide .env --hide fifo --hide socket -- true
	run pen -- sh -c 'rm .mcp.json || rm .agents || rm .envrc'
	[ "$status" -ne 0 ] && [ "$status" -ne 125 ] || fail "status $status: $output"
	[ -p .mcp.json ] && [ -p .agents ] && [ -S .envrc ] || fail "one of them is gone"
}

@test "F192 a device of root's" {
	only_as root
	mknod .npmrc c 1 5
	mknod .envrc b 7 200
	mknod "$HOME/.npmrc" c 1 5
	quiet -- true
	run pen -- head -c 1 .npmrc
	[ "$status" -ne 0 ] || fail "a device of the worktree can be read"
}

# ---- odd mounts ----

# a_user COMMAND... : as a plain user who has a home and a worktree in the current directory.
a_user() { setpriv --reuid=12345 --regid=12345 --clear-groups env -i HOME="$PWD/home" PATH="$PATH" "$@"; }

@test "F193 mounts that a user may not enter, a dead one and one of root only" {
	only_as root
	needs python3
	[ -c /dev/fuse ] || skip "needs fuse"
	local dir
	dir=$(mktemp -d /srv/pinfold-test.XXXXXX)
	LEFTOVERS+=("$dir")
	chmod 755 "$dir" && cd "$dir" || return 1
	mkdir -p home/away home/nas home/.aws work closed zero stale home/mine && cp "$PINFOLD" pinfold
	canary "$dir/home/.aws/credentials"
	echo plain >home/file
	chown -R 12345:12345 home work
	mount -t tmpfs -o mode=0700 none "$dir/closed" && MOUNTS+=("$dir/closed")
	mkdir closed/mnt && mount -t tmpfs none "$dir/closed/mnt" && MOUNTS+=("$dir/closed/mnt")
	mount -t tmpfs -o mode=0 none "$dir/zero" && MOUNTS+=("$dir/zero")
	mount -t tmpfs -o mode=0 none "$dir/home/away" && MOUNTS+=("$dir/home/away")
	mount -t tmpfs -o mode=0755 none "$dir/home/nas" && MOUNTS+=("$dir/home/nas")
	echo far >home/nas/file
	local place
	for place in stale home/mine; do
		spawn python3 "$PROJECT/tests/live/dead_mount.py" "$dir/$place" 12345
		wait_for grep -q " $dir/$place " /proc/self/mountinfo
		MOUNTS+=("$dir/$place")
	done
	# The server of one of them dies: its mount is there and answers with an error.
	kill -KILL "${PIDS[0]}" && wait "${PIDS[0]}" 2>/dev/null || true
	wait_for sh -c "! stat '$dir/stale' 2>/dev/null"
	run a_user timeout 3 ./pinfold run -C work -- sh -c 'echo text >file'
	assert_status 0
	assert_equal "$output" ""
	assert_content work/file text
	# The home is there, with what is mounted in it, and without its secrets; nothing of it can be written.
	run a_user timeout 3 ./pinfold run -C work -- sh -c 'cat ~/file ~/nas/file; cat ~/.aws/credentials; echo x >~/file; echo x >~/nas/file; ls -d ~/.aws'
	[[ $output == $'plain\nfar\n'* ]] || fail "$output"
	refute_output_has "$CANARY"
	assert_content home/file plain
	assert_content home/nas/file far
	run a_user timeout 3 ./pinfold run -C work -- sh -c "ls '$dir/closed' || ls '$dir/zero' || ls '$dir/home/away' || ls '$dir/stale'"
	[ "$status" -ne 0 ] && [ "$status" -ne 125 ] && [ "$status" -ne 124 ] || fail "status $status: $output"
	# Only where the worktree is such a place it is an error, and that is told.
	run a_user timeout 3 ./pinfold run --worktree "$dir/zero" -- true
	assert_status 125
	assert_output_has "$dir/zero"
}

@test "F193 a stale mount beside the worktree, in the home and above a grant" {
	only_as root
	[ -c /dev/fuse ] || skip "needs fuse"
	mkdir "$SCRATCH/stale" "$HOME/stale" "$WORK/stale"
	local dir
	for dir in "$SCRATCH/stale" "$HOME/stale" "$WORK/stale"; do
		spawn python3 "$PROJECT/tests/live/dead_mount.py" "$dir" 0
		wait_for grep -q " $dir " /proc/self/mountinfo
		MOUNTS+=("$dir")
		kill -KILL "$SPAWNED" && wait "$SPAWNED" 2>/dev/null || true
		wait_for sh -c "! stat '$dir' 2>/dev/null"
	done
	quiet -- sh -c 'echo text >file'
	assert_content file text
	quiet --home hidden -- true
	quiet --read "$HOME" -- true
	quiet --read "$SCRATCH/stale" --record "$SCRATCH/record" -- true
	grep -q "read '$SCRATCH/stale'" "$SCRATCH/record" || fail "not told: $(cat "$SCRATCH/record")"
	run pen --write "$SCRATCH/stale" -- true
	assert_status 125
	assert_output_has "$SCRATCH/stale"
}

@test "F194 nothing is made outside of the pen's own scratch" {
	needs strace
	only_as user # strace cannot follow into what root sets up, and the calls are the same
	mkdir "$HOME/p" && cd "$HOME/p" || return 1
	quiet -- true # the private caches are made once
	find "$HOME" | sort >"$SCRATCH/before"
	# a sanitizer's search for leaks traces, too, and there can be only one
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -y -o "$SCRATCH/trace" -e \
		trace=mkdir,mkdirat,mknod,mknodat,creat,open,openat,openat2,symlink,symlinkat,link,linkat,rename,renameat,renameat2,fsmount \
		"$PINFOLD" run -- true
	assert_status 0
	find "$HOME" | sort >"$SCRATCH/after"
	cmp "$SCRATCH/before" "$SCRATCH/after"
	# What makes something does so by the descriptor of the private tmpfs, and by no other.
	local tmpfs
	tmpfs=$(sed -n 's/.*fsmount(.* = \([0-9]*\).*/\1/p' "$SCRATCH/trace")
	[ -n "$tmpfs" ] || fail "no private tmpfs"
	run sh -c "grep -E 'O_CREAT|(mkdir|mknod|creat|symlink|link|rename)(at2?)?\\(' '$SCRATCH/trace' | grep -vE '(\\(|, )$tmpfs<[^>]*>, \"[^/]'"
	assert_equal "$output" ""
}

@test "F194 nor in /home, when the project lies right below it" {
	only_as root
	local dir
	dir=$(mktemp -d /home/pinfold-test.XXXXXX)
	LEFTOVERS+=("$dir")
	cd "$dir" || return 1
	local before
	before=$(ls -A /home)
	quiet -- sh -c 'touch made'
	assert_equal "$(ls -A /home)" "$before"
	assert_equal "$(ls -A)" made
}

# ---- odd names ----

odd_names=('a b' ' lead' "it's" 'a"b' 'back\slash' $'new\nline' '(paren)' '-dash' $'\xff\xfe' '%s%n' '$(touch evil)' 'a:b,c=d' '#x' 'ünï'
	"$(printf 'x%.0s' {1..250})")

@test "F196 odd names are granted, protected and hidden as any other" {
	local name quoted pattern
	for name in "${odd_names[@]}"; do
		printf -v quoted %q "$name"
		pattern=${name//\\/\\\\} # what is protected and hidden is a pattern, in which a backslash quotes
		mkdir -p -- "$HOME/.aws/$name" "$WORK/guarded/$name" "$WORK/veiled/$name"
		echo secret-text >"$HOME/.aws/$name/file"
		echo old >"$WORK/guarded/$name/file"
		echo secret-text >"$WORK/veiled/$name/file"
		run pen -- cat "$HOME/.aws/$name/file"
		refute_output_has secret-text
		run pen --read "$HOME/.aws/$name" -- cat "$HOME/.aws/$name/file"
		[ "$output" = secret-text ] || fail "not opened: $quoted: $output"
		run pen --protect "$WORK/guarded/$pattern" -- sh -c 'echo x >"guarded/$0/file" || rm -r "guarded/$0" || mv guarded moved' "$name"
		[ "$status" -ne 0 ] && [ "$status" -ne 125 ] || fail "not protected: $quoted: $output"
		run pen --hide "$WORK/veiled/$pattern" -- sh -c 'cat "veiled/$0/file"' "$name"
		[ "$status" -ne 0 ] && [ "$status" -ne 125 ] || fail "not hidden: $quoted: $output"
		refute_output_has secret-text
		assert_content "$WORK/guarded/$name/file" old
		# A record and a status that hold such a name are JSON still.
		run pen --write "$HOME/.aws/$name" --record "$SCRATCH/record" -- sh -c 'printf %s "$PINFOLD_STATUS"'
		assert_status 0
		[ "${#output}" -le 1024 ] || fail "a status of ${#output} bytes"
		printf %s "$output" | python3 -c 'import json, sys; json.load(sys.stdin.buffer)' || fail "no JSON: $output"
		python3 -c 'import json, sys; json.load(open(sys.argv[1], "rb"))' "$SCRATCH/record" || fail "no JSON: $quoted"
		rm -f "$SCRATCH/record"
	done
	refute_exists "$WORK/evil"
}

@test "F192 a .git that leads nowhere, or is no repository, is left as it is" {
	local target
	needs git
	for target in missing .git "$SCRATCH/missing" /etc/passwd; do
		ln -sfn "$target" .git
		quiet -- true
		assert_equal "$(readlink .git)" "$target"
	done
	rm .git && mkfifo .git
	quiet -- true
	rm .git && printf 'gitdir: nowhere\n' >.git
	quiet -- true
	assert_equal "$(cat .git)" 'gitdir: nowhere'
	# What is made where it leads is the command's, and git would take it.
	ln -sfn missing .git
	run pen -- git init -q missing
	assert_output_has "'missing'"
	refute_exists missing
	[ -L .git ]
}
