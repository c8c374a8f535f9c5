#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""random_projects.py SCRATCH FILE...

Random configurations of a user and of a project, and what really can be read, written and made inside with the user's
alone and with both: the second is never more than the first (F097). The directory SCRATCH/work is the worktree and the
current directory, SCRATCH/home the home. The seed is fixed, so that a failure comes again.
"""
import json
import os
import random
import subprocess
import sys

ROUNDS = 40
PINFOLD = os.environ["PINFOLD"]
SCRIPT = """
for file; do
	read -r line <"$file" && echo "read $file"
	true >>"$file" && echo "write $file"
	new=${file%/*}/new
	true >"$new" && echo "make $new" && rm -f "$new"
done 2>/dev/null
[ -e /tmp/mark ] && echo temp
[ -n "$AWS_SECRET_ACCESS_KEY" ] && echo environment
[ "$(wc -l </proc/net/dev)" -gt 3 ] && echo network
exit 0
"""


def paths(files):
    """Words that rules are made of: the files, their directories, and patterns that match some."""
    words = {"*", "sub/", "**/b", "~/.ssh", "~/data", "~/d*", ".mcp.json", ".env"}
    for file in files:
        words.update((file, os.path.dirname(file)))
    return sorted(words)


def some(dice, words, most=3):
    return dice.sample(words, dice.randint(0, min(most, len(words))))


def configuration(dice, files, temp):
    words = paths(files)
    existing = [word for word in words if word.startswith("/")]
    makers = {
        "hide": lambda: some(dice, words),
        "protect": lambda: some(dice, words),
        "read": lambda: some(dice, existing),
        "write": lambda: some(dice, existing),
        "read_only": lambda: dice.random() < 0.5,
        "mode": lambda: dice.choice(["required", "auto", "off"]),
        "network": lambda: dice.choice(["open", "offline"]),
        "home": lambda: dice.choice(["masked", "hidden"]),
        "git": lambda: dice.choice(["commit", "readonly", "open"]),
        "env": lambda: ["AWS_SECRET_ACCESS_KEY"],
        "env_mode": lambda: dice.choice(["scrub", "list", "all"]),
        "accept": lambda: ["writes", "secrets", "environment"],
        "tmp": lambda: temp,
    }
    return {key: makers[key]() for key in dice.sample(sorted(makers), dice.randint(1, 5))}


def rights(files):
    """What is possible inside; None where the run is refused."""
    done = subprocess.run([PINFOLD, "run", "--", "sh", "-c", SCRIPT, "sh", *files], capture_output=True, text=True)
    if done.returncode == 125:
        return None
    if done.returncode != 0:
        sys.exit(f"status {done.returncode}: {done.stderr}")
    return set(done.stdout.splitlines())


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)


def main():
    scratch, *files = sys.argv[1:]
    user, project = f"{scratch}/home/.config/pinfold/config.json", f"{scratch}/work/.pinfold.json"
    temp = f"{scratch}/temp"
    os.mkdir(temp, 0o700)
    open(f"{temp}/mark", "w", encoding="utf-8").close()
    os.environ["AWS_SECRET_ACCESS_KEY"] = "secret"
    dice = random.Random(97)
    compared = 0
    for number in range(ROUNDS):
        users = configuration(dice, files, temp)
        if users.get("mode") == "off":
            users["mode"] = "auto"
        projects = configuration(dice, files, temp)
        if os.path.exists(project):
            os.remove(project)
        write(user, users)
        alone = rights(files)
        write(project, projects)
        both = rights(files)
        if alone is None or both is None:
            continue
        compared += 1
        # What the project's file adds to the directory is itself, no right.
        if not both <= alone:
            sys.exit(f"round {number}: more than before: {sorted(both - alone)}\n{users}\n{projects}")
    if compared < ROUNDS // 4:
        sys.exit(f"only {compared} of {ROUNDS} rounds could be compared")
    print(f"compared {compared} of {ROUNDS}")


main()
