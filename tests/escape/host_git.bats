# SPDX-License-Identifier: Apache-2.0
# Each thing that git outside would carry out, planted in each layout, and a day with git outside afterwards: no program
# of the command's runs. Each plant is first shown to work without a pen, in the same place.
# shellcheck shell=bash disable=SC2154,SC2016

load ../lib
load ../layouts

setup() {
	layouts_setup
	MARKER=$SCRATCH/marker
	export MARKER TOP OWN COMMON MODULE
}

# ---- what is planted; the scripts run in $TOP ----

HOOKS='for hook in pre-commit post-commit post-checkout post-index-change reference-transaction post-rewrite; do
	printf "#!/bin/sh\ntouch \"$MARKER\"\n" >"$hooks/$hook"; chmod +x "$hooks/$hook"; done'
EVIL='printf "[core]\n\tfsmonitor = touch \"$MARKER\"; false\n"'
# A copy of the repository with a monitor of its own, in the worktree.
FAKE="cp -rL \"\$COMMON\" fake; rm -rf fake/config.worktree fake/worktrees; $EVIL >>fake/config; git config -f fake/config core.bare false
	git config -f fake/config core.worktree \"\$TOP\""

declare -gA PLANTS=( # global: bats reads this file in a function
	[hooks]="hooks=\$COMMON/hooks; mkdir -p \"\$hooks\"; $HOOKS"
	[hooks made anew]="hooks=\$COMMON/hooks; mv \"\$hooks\" \"\$COMMON/away\"; mkdir \"\$hooks\"; $HOOKS"
	[hooks below a new parent]="mv \"\$COMMON\" \"\$COMMON.away\" && cp -rL \"\$COMMON.away\" \"\$COMMON\"; hooks=\$COMMON/hooks; $HOOKS"
	[hooks elsewhere]="mkdir hooks; hooks=\$TOP/hooks; $HOOKS; git config core.hooksPath \"\$hooks\""
	[monitor]='git config core.fsmonitor "touch \"$MARKER\"; false"'
	[configuration appended]="$EVIL >>\"\$COMMON/config\""
	[configuration replaced]="cp \"\$COMMON/config\" new; $EVIL >>new; mv -f new \"\$COMMON/config\""
	[configuration of the worktree]="$EVIL >>\"\$OWN/config.worktree\""
	[configuration included]="$EVIL >more; git config include.path \"\$TOP/more\""
	[common directory]="$FAKE; git config -f fake/config --unset core.worktree; echo \"\$TOP/fake\" >\"\$OWN/commondir\""
	[pointer]="$FAKE; rm -f .git 2>/dev/null || mv .git away; echo \"gitdir: \$TOP/fake\" >.git"
	[alias]='git config alias.l "!touch \"$MARKER\""'
	[pager]='git config core.pager "touch \"$MARKER\"; cat"'
	[diff]='git config diff.external "touch \"$MARKER\"; true"'
	[filter]='git config filter.x.clean "touch \"$MARKER\"; cat"; echo "* filter=x" >.gitattributes'
	[signature]='git config commit.gpgSign true; git config gpg.program "$TOP/sign"; printf "#!/bin/sh\ntouch \"$MARKER\"\n" >sign; chmod +x sign'
	[rebase]='GIT_SEQUENCE_EDITOR="sed -i 1ibreak" git rebase -q -i HEAD~1
		echo "exec touch \"$MARKER\"" >>"$(git rev-parse --git-path rebase-merge/git-rebase-todo)"'
	[submodule]='git init -q s; cd s; git commit -q --allow-empty -m s; git config core.fsmonitor "touch \"$MARKER\"; false"; cd ..; git add s'
)

# What git on the host does that carries each of them out.
declare -gA TRIGGERS=(
	[hooks]='git commit -q --allow-empty -m x'
	[hooks made anew]='git commit -q --allow-empty -m x'
	[hooks below a new parent]='git commit -q --allow-empty -m x'
	[hooks elsewhere]='git commit -q --allow-empty -m x'
	[monitor]='git status'
	[configuration appended]='git status'
	[configuration replaced]='git status'
	[configuration of the worktree]='git status'
	[configuration included]='git status'
	[common directory]='git status'
	[pointer]='git status'
	[alias]='git l'
	[pager]='on_pty -- git log -1'
	[diff]='echo more >>file; git diff'
	[filter]='echo more >>file; git add file'
	[signature]='git commit -q --allow-empty -m x'
	[rebase]='git rebase --continue'
	[submodule]='git status'
)

# The same for a submodule, planted from the top of the superproject; its git directory is $MODULE.
declare -gA SUB_PLANTS=(
	[hooks of a submodule]="hooks=\$MODULE/hooks; mkdir -p \"\$hooks\"; $HOOKS"
	[configuration of a submodule]="$EVIL >>\"\$MODULE/config\""
	[the second one]="$EVIL >>\"\$MODULE/config.worktree\""
	[directory of a submodule]="mv \"\$MODULE\" \"\$MODULE.away\" && cp -rL \"\$MODULE.away\" \"\$MODULE\"; $EVIL >>\"\$MODULE/config\""
	[pointer of a submodule]="cp -rL \"\$MODULE\" fake; $EVIL >>fake/config; git config -f fake/config core.worktree \"\$TOP/lib/sub\"
		rm -f lib/sub/.git; echo \"gitdir: \$TOP/fake\" >lib/sub/.git"
	[common directory of a submodule]="cp -rL \"\$MODULE\" fake; $EVIL >>fake/config; echo \"\$TOP/fake\" >\"\$MODULE/commondir\""
	[place of a submodule]="mv lib/sub away; git init -q lib/sub; cd lib/sub; git commit -q --allow-empty -m x; $EVIL >>.git/config"
)
declare -gA SUB_TRIGGERS=()
for plant in "${!SUB_PLANTS[@]}"; do SUB_TRIGGERS[$plant]='git status; echo x >lib/sub/new; git -C lib/sub add new'; done

# A day with git; on a terminal, for pagers.
DAY='git status; git rebase --continue; echo more >>file; git diff; git log -1; git l; git add -A; git commit -m host
	git fsck; git switch -c host; git stash list; git submodule status'

# host SCRIPT : outside, in the worktree.
host() { (cd "$TOP" && PAGER=cat GIT_EDITOR=true eval "$1" >"$SCRATCH/host.out" 2>&1 </dev/null) || :; }

# A world with one layout, saved, so that every plant begins with the same one, at the same place.
make_world() {
	local layout=$1 top=$SCRATCH
	mkdir "$top/world" && cp -a "$top/source" "$top/world/source"
	SCRATCH=$top/world
	"$layout"
	SCRATCH=$top
	git -C "$TOP" commit -q --allow-empty -m second
	git -C "$COMMON" config extensions.worktreeConfig true
	[ -z "${MODULE:-}" ] || git --git-dir="$MODULE" config extensions.worktreeConfig true
	[ "$layout" != bare ] || { git -C "$COMMON" config --worktree core.bare true && git -C "$COMMON" config --unset core.bare; }
	git -C "$TOP" status --porcelain >/dev/null
	cp -a "$SCRATCH/world" "$SCRATCH/saved"
}

restore() { rm -rf "$SCRATCH/world" "$MARKER" && cp -a "$SCRATCH/saved" "$SCRATCH/world" && cd "$TOP"; }

nothing_ran() { [ ! -e "$MARKER" ] || fail "$1: was carried out" "$output" "$(cat "$SCRATCH/host.out")"; }

# nothing_runs LAYOUT [PLANTS TRIGGERS] : each plant alone, then as many as can be planted at once, and a whole day.
nothing_runs() {
	local layout=$1 plant all=
	local -n plants=${2:-PLANTS} triggers=${3:-TRIGGERS}
	make_world "$layout"
	[ "${#plants[@]}" -eq "${#triggers[@]}" ] && [ "${#plants[@]}" -gt 5 ] || fail "no plants"
	for plant in "${!plants[@]}"; do
		restore
		sh -c "${plants[$plant]}" >"$SCRATCH/plant.out" 2>&1 || :
		host "${triggers[$plant]}"
		[ -e "$MARKER" ] || fail "$layout, $plant: does nothing without a pen" "$(cat "$SCRATCH/plant.out" "$SCRATCH/host.out")"
		restore
		run pen -- sh -c "${plants[$plant]}"
		((status < 125 || status > 127)) || fail "$layout, $plant: $output"
		host "${triggers[$plant]}"
		nothing_ran "$layout, $plant"
		git status >/dev/null || fail "$layout, $plant: the repository is broken"
		all+="(${plants[$plant]})
"
	done
	restore
	run pen -- sh -c "$all"
	((status < 125 || status > 127)) || fail "$layout: $output"
	host "on_pty -- sh -c '$DAY'"
	nothing_ran "$layout, all at once"
	git fsck --strict --no-dangling || fail "$layout: git fsck"
	assert_equal "$(git log -1 --format=%s)" host
	cd "$SCRATCH" || return
}

@test "E030 E031 E033 E034 E10F F016 F017 nothing that was planted in a clone is carried out" {
	nothing_runs clone
}

@test "E030 E031 E033 E034 E10F F016 F017 nothing that was planted in a linked worktree is carried out" {
	nothing_runs linked
}

# bats test_tags=slow
@test "E030 E031 E033 E034 E10F F016 F017 nothing that was planted in a worktree of a bare repository is carried out" {
	nothing_runs bare
}

# bats test_tags=slow
@test "E030 E031 E033 E034 E10F F016 F017 nothing that was planted in a submodule is carried out" {
	nothing_runs submodule
}

# bats test_tags=slow
@test "E030 E031 E033 E034 E10F F016 F017 nothing that was planted in a submodule of a linked worktree is carried out" {
	nothing_runs submodule_in_linked
}

# bats test_tags=slow
@test "E030 E031 E033 E034 E10F F016 F017 nothing that was planted in a separate git directory is carried out" {
	nothing_runs separate
}

superproject() {
	submodule
	TOP=$SCRATCH/super OWN=$TOP/.git COMMON=$OWN MODULE=$OWN/modules/lib/sub
}

linked_superproject() {
	submodule_in_linked
	MODULE=$OWN TOP=$SCRATCH/copy OWN=$SCRATCH/super/.git/worktrees/copy COMMON=$SCRATCH/super/.git
}

@test "E030 E033 E034 nothing that was planted for a submodule is carried out, in a clone and in a linked worktree" {
	nothing_runs superproject SUB_PLANTS SUB_TRIGGERS
	rm -rf "$SCRATCH/world" "$SCRATCH/saved"
	nothing_runs linked_superproject SUB_PLANTS SUB_TRIGGERS
}
