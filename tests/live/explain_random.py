#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain_random.py SCRATCH ROUNDS [OPTION...]

Random trees, policies and paths: what explain works out for each path and right is what the kernel does in a run. The
kernel is asked by the attempt program, one system call each. SCRATCH/work is the worktree and the current directory,
SCRATCH/home the home. The OPTIONs go to every run. The seed is fixed, so that a failure comes again.
"""
import json
import os
import random
import shutil
import socket
import subprocess
import sys

PINFOLD, ATTEMPT = os.environ["PINFOLD"], os.environ["ATTEMPT"]
RIGHTS = ("read", "write", "create", "rename", "execute", "connect")
SOCKETS = []  # listening as long as their round lasts

# For each line of standard input, six answers: OK, or the name of an errno.
SCRIPT = """
a=$1
while IFS= read -r path; do
	read=$("$a" open-read "$path")
	write=$("$a" open-write "$path")
	if [ -d "$path" ]; then new=$path/.new-$$; elif [ -e "$path" ] || [ -L "$path" ]; then
		case $path in */*) new=${path%/*}/.new-$$;; *) new=.new-$$;; esac
	else new=$path; fi
	create=$("$a" create "$new")
	[ "$create" != OK ] || rm -f -- "$new"
	plain=${path%/}
	rename=$("$a" rename "$plain" "$plain.moved")
	[ "$rename" != OK ] || mv -T -- "$plain.moved" "$plain"
	connect=-
	[ ! -S "$path" ] || connect=$("$a" connect-unix "$path")
	echo "$read $write $create $rename $("$a" may-execute "$path") $connect"
done
"""


def make_tree(dice, top):
    """Returns every name made, with some that were not."""
    os.makedirs(top, exist_ok=True)
    names, directories = [], [top]
    for _ in range(dice.randint(4, 9)):
        parent = dice.choice(directories)
        path = os.path.join(parent, dice.choice(["a", "b", "c d", ".e", "f\u00e4"]) + str(len(names)))
        kind = dice.choice(["file", "file", "directory", "directory", "link", "socket"])
        if kind == "directory":
            os.mkdir(path)
            directories.append(path)
        elif kind == "file":
            with open(path, "w") as file:
                file.write("x\n")
        elif kind == "socket" and len(path) < 100:
            SOCKETS.append(socket.socket(socket.AF_UNIX))
            SOCKETS[-1].bind(path)
            SOCKETS[-1].listen(8)
        else:
            target = dice.choice(names + [top, "nowhere", "..", "../.."])
            os.symlink(target if dice.random() < 0.5 or not target.startswith("/") else
                       os.path.relpath(target, parent), path)
        names.append(path)
    for path in reversed(names):
        if not os.path.islink(path) and dice.random() < 0.3:
            os.chmod(path, dice.choice([0o755, 0o700, 0o644, 0o555, 0o444, 0o400, 0o111]) |
                     (0o700 if os.path.isdir(path) and dice.random() < 0.7 else 0))
    return names + [dice.choice(directories) + "/missing", dice.choice(directories) + "/missing/deep"]


def options(dice, names):
    existing = [name for name in names if os.path.exists(name)]
    real = [name for name in existing if not os.path.islink(name)]
    result = []
    for option, of in (("--hide", existing), ("--protect", existing), ("--read", real), ("--write", real)):
        for name in dice.sample(of, dice.randint(0, min(2, len(of)))):
            result += [option, name]
    for extra in (["--read-only"], ["--home", "hidden"], ["--git", "readonly"], ["--git", "open"], ["--offline"]):
        if dice.random() < 0.2:
            result += extra
    return result


FIXED = ("/etc/passwd", "/etc", "/tmp", "/tmp/new", "/dev/null", "/dev", "/run", "/proc", "/usr/bin/env", "/var/tmp",
         "/dev/shm/new", ".", ".git", ".git/config", ".git/hooks", ".git/hooks/new", ".git/HEAD", ".vscode", "~", "~/.ssh",
         "~/.ssh/id", "~/.netrc", "~/.config/gh", "~/.npm", "~/.cache/x", "/root", "/nowhere/at/all")


def lines_of(text):
    return text.splitlines()


def compare(path, answer, kernel):
    wrong = []
    for right, said in zip(RIGHTS, kernel):
        if right not in answer and said == "-":
            continue
        if answer[right]["allowed"] != (said == "OK"):
            wrong.append(f"{path}: {right}: explain {json.dumps(answer[right])}, the kernel {said}")
    return wrong


def one_round(dice, scratch, given):
    home, work = scratch + "/home", scratch + "/work"
    for top in (home, work, scratch + "/outside"):
        subprocess.run(["chmod", "-R", "u+rwX", top], stderr=subprocess.DEVNULL)
        shutil.rmtree(top, ignore_errors=True)
        os.makedirs(top)
    os.chdir(work)
    SOCKETS.clear()
    os.makedirs(home + "/.ssh")
    for secret in (".ssh/id", ".netrc"):
        with open(f"{home}/{secret}", "w") as file:
            file.write("secret\n")
    subprocess.run(["git", "init", "-q"], check=True)
    names = make_tree(dice, work + "/t") + make_tree(dice, home + "/t") + make_tree(dice, scratch + "/outside/t")
    words = options(dice, names) + given
    paths = [*names, *FIXED]
    asked = []
    for path in paths:
        done = subprocess.run([PINFOLD, "explain", "--json", *words, path], capture_output=True, text=True)
        if done.returncode > 1:
            return [] if "explain" not in done.stderr and "internal" not in done.stderr and \
                done.returncode == 125 and not asked else [f"{words}: {path}: {done.stderr}"]
        asked.append(json.loads(done.stdout))
    spelled = [path.replace("~", home, 1) if path[0] == "~" else path for path in paths]
    ran = subprocess.run([PINFOLD, "run", *words, "--", "sh", "-c", SCRIPT, "sh", ATTEMPT],
                         input="\n".join(spelled) + "\n", capture_output=True, text=True)
    if ran.returncode == 125:
        return []
    said = [line.split() for line in ran.stdout.splitlines()]
    if len(said) != len(paths):
        return [f"{words}: the attempts: status {ran.returncode}, {len(said)} of {len(paths)}: {ran.stderr}"]
    wrong = [text for path, answer, kernel in zip(paths, asked, said) for text in compare(path, answer, kernel)]
    one_round.compared += len(paths) * len(RIGHTS)
    return [f"{words}:", *wrong] if wrong else []


one_round.compared = 0


def main():
    scratch, rounds, given = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    os.environ["HOME"] = scratch + "/home"
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        os.environ.pop(name, None)
    dice, wrong = random.Random(20), []
    for number in range(rounds):
        found = one_round(dice, scratch, given)
        wrong += [f"round {number}: {text}" for text in found]
    print("\n".join(wrong[:40]))
    print(f"{one_round.compared} answers compared, {len(wrong)} lines of disagreement")
    return 1 if wrong or one_round.compared < 300 * rounds // 4 else 0


sys.exit(main())
