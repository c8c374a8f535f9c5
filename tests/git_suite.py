#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what a script of git's own test suite says outside and inside the pen.

    git_suite.py KNOWN SCRIPT AS OUTSIDE INSIDE

KNOWN is tests/git-suite.tsv, AS is user or root, and the other two are folders: TAP in `tap`, the log of each test in
test-results/SCRIPT.out. Test by test the results must be the same, but for the differences that KNOWN lists, each of
which must occur. A test that is skipped outside, because it needs somebody who may not read everything and root may,
may run inside, and then has to pass. Outside nothing may fail: a script that does not work there would show nothing.
"""
import os
import re
import sys

RESULT = re.compile(r"(ok|not ok) (\d+) (.*)$")
SKIPPED = re.compile(r"# skip (.*) \((.*?)\)$")
UNPRIVILEGED = "SANITY"  # the suite's own word for it


class Run:
    """The results of one run of a script: {number: (result, name)}."""

    def __init__(self, folder, script):
        self.results, self.plan, self.for_root = {}, None, set()
        with open(os.path.join(folder, "tap"), encoding="utf-8", errors="replace") as tap:
            for line in tap.read().splitlines():
                self.read(line)
        self.log = os.path.join(folder, "test-results", script + ".out")

    def read(self, line):
        match = RESULT.match(line)
        if not match:
            plan = re.match(r"1\.\.(\d+)", line)
            self.plan = int(plan.group(1)) if plan else self.plan
            return
        verdict, number, rest = match.group(1), int(match.group(2)), match.group(3)
        skipped = SKIPPED.match(rest)
        if skipped:
            verdict, rest = "skipped", "- " + skipped.group(1)
            if UNPRIVILEGED in skipped.group(2):
                self.for_root.add(number)
        elif rest.endswith("# TODO known breakage"):
            verdict = "known breakage"
        self.results[number] = (verdict, rest.removeprefix("- "))

    def is_whole(self):
        return self.plan == len(self.results) and self.plan > 0

    def said(self, number):
        """What the log has between the result before this one and this one."""
        lines = []
        with open(self.log, encoding="utf-8", errors="replace") as log:
            for line in log.read().splitlines():
                match = RESULT.match(line)
                if match and int(match.group(2)) == number:
                    return lines[-40:]
                lines = [] if match else lines + [line]
        return lines[-40:]


def known_differences(path, script, who):
    """{name: result inside} of this script and this user; the reasons are for the reader."""
    with open(path, encoding="utf-8") as table:
        rows = [line.rstrip("\n").split("\t") for line in table if line.strip() and not line.startswith("#")]
    return {name: inside for of, users, name, inside, _ in rows if of == script and users in (who, "both")}


def compare(outside, inside, known):
    """The sentences that say what is wrong, and the numbers of the tests whose log is worth reading."""
    wrong, numbers, occurred = [], [], set()
    for number in sorted(outside.results | inside.results):
        expected, name = outside.results.get(number, ("missing", ""))
        result, name_inside = inside.results.get(number, ("missing", name))
        if expected == "not ok":
            wrong.append(f"{number} fails outside: {name}")
        if (result, name_inside) == (expected, name) or (number in outside.for_root and result == "ok"):
            continue
        if known.get(name) == result:
            occurred.add(name)
            continue
        wrong.append(f"{number} is {expected} outside and {result} inside: {name_inside}")
        numbers.append(number)
    wrong += [f"is listed as a difference, and is none: {name}" for name in known if name not in occurred]
    return wrong, numbers


def main(words):
    if len(words) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    table, script, who = words[:3]
    outside, inside = (Run(folder, script) for folder in words[3:])
    wrong, numbers = compare(outside, inside, known_differences(table, script, who))
    wrong += [f"did not end {where}" for where, run in (("outside", outside), ("inside", inside)) if not run.is_whole()]
    for sentence in wrong:
        print(f"{script}: {sentence}")
    for number in numbers[:5]:
        print(f"inside, {number}:", *inside.said(number), sep="\n    ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
