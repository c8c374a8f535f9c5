#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what tests/run has gathered.

    tally.py unit LOG.json        Meson's test log as TAP: the cases that cmocka reports, or one for the whole program
    tally.py sum FOLDER NEEDS     all FOLDER/*.tap: prints failures in full, what was not run by name, and the counts

A set of results is wrong when its plan was not carried out, whatever its lines say: a test file that dies on the way
must not pass. Status 1 when something failed.
"""
import glob
import json
import os
import re
import sys

RESULT = re.compile(r"(not )?ok\b\s*(\d+)?\s*(?:-\s+)?(.*)$")
# Both make system calls of their own, or none that a filter sees: what forbids them has run without, in the same test run.
APART = {"valgrind": "needs a run without valgrind", "aarch64": "needs a kernel for aarch64"}
SKIP = re.compile(r"(.*?)\s*#\s*skip\b\s*(.*)$", re.IGNORECASE)
OTHER_PASS = re.compile(r"only as (user|root)$")


def cases_of_program(entry):
    """(ok, name, skipped, output) for each case of one test program of Meson's log."""
    text = entry.get("stdout", "") + entry.get("stderr", "")
    cases = []
    for line in text.splitlines():
        match = RESULT.match(line)
        if match:
            skip = SKIP.match(match.group(3))
            # cmocka writes "not ok 2 # SKIP name".
            name = " ".join(filter(None, skip.groups())) if skip else match.group(3)
            cases.append((not match.group(1) or bool(skip), name, bool(skip)))
    is_good = entry["result"] in ("OK", "SKIP")
    if is_good and cases and all(ok for ok, _, _ in cases):
        return cases, ""
    if not is_good and any(not ok for ok, _, _ in cases):
        return cases, text
    # No case said so: it crashed, a sanitizer spoke, it ran out of time, or it counts nothing.
    what = "whole program" if is_good else f"whole program: {entry['result']}, status {entry.get('returncode')}"
    return cases + [(is_good, what, False)], "" if is_good else text


def unit(logs):
    lines = []
    for log in logs:
        reason = next((reason for name, reason in APART.items() if os.path.basename(log).startswith(name)),
                      "the program says so")
        with open(log, encoding="utf-8", errors="replace") as entries:
            for entry in map(json.loads, entries):
                cases, text = cases_of_program(entry)
                for ok, name, is_skipped in cases:
                    end = f" # skip {reason}" if is_skipped else ""
                    lines.append(f"{'ok' if ok else 'not ok'} {len(lines) + 1} {entry['name']}: {name}{end}")
                    if not ok:
                        lines[-1] += "".join("\n# " + line for line in text.splitlines())
    print(f"1..{len(lines)}")
    print("\n".join(lines))
    return 0


class Tally:
    def __init__(self, known, must_work):
        self.known = known
        self.must_work = must_work
        self.passed = 0
        self.failed = []   # (title, name, lines)
        self.skipped = []  # (title, name, reason)

    def skip(self, title, name, reason):
        if OTHER_PASS.match(reason):
            return  # it ran, in the other pass
        words = reason.split()[1:] if reason.startswith("needs ") else []
        if self.must_work and all(word in self.known for word in words):
            self.failed.append((title, name, [f"# skipped here, where it must run: {reason or 'no reason given'}"]))
        else:
            self.skipped.append((title, name, reason))

    def add(self, path):
        title, planned, seen, status = os.path.basename(path), None, 0, 0
        stray = []   # what came before any test
        tail = stray  # takes the lines that follow a result
        with open(path, encoding="utf-8", errors="replace") as results:
            for line in results.read().splitlines():
                match = RESULT.match(line)
                if line.startswith("# title: "):
                    title = line[len("# title: "):]
                elif line.startswith("# status: "):
                    status = int(line[len("# status: "):])
                elif re.match(r"1\.\.\d+$", line):
                    planned = int(line[3:])
                elif match:
                    seen += 1
                    tail = self.result(title, bool(match.group(1)), match.group(3))
                else:
                    tail.append(line)
        if tail is not stray:
            stray += tail
        if planned != seen:
            self.failed.append((title, f"ran {seen} of {planned} tests", stray))
        elif status and not any(failure[0] == title for failure in self.failed):
            self.failed.append((title, f"ended with status {status}", stray))

    def result(self, title, is_bad, name):
        """Counts one; returns the list that takes what follows it."""
        if is_bad:
            self.failed.append((title, name, []))
            return self.failed[-1][2]
        skip = SKIP.match(name)
        if skip:
            self.skip(title, *skip.groups())
        else:
            self.passed += 1
        return []

    def print(self):
        for title, name, reason in self.skipped:
            print(f"not run: {title}: {name} ({reason or 'no reason given'})")
        for title, name, lines in self.failed:
            print(f"FAILED: {title}: {name}")
            print("".join(f"    {line}\n" for line in lines), end="")
        end = f", {len(self.skipped)} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {len(self.failed)} failed{end}")


def total(folder, needs):
    with open(needs, encoding="utf-8") as lines:
        known = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
    tally = Tally(known, os.environ.get("PINFOLD_MUST_WORK") == "1")
    paths = sorted(glob.glob(os.path.join(glob.escape(folder), "*.tap")))
    for path in paths:
        tally.add(path)
    if not paths:
        tally.failed.append(("tests/run", "no results at all", []))
    tally.print()
    return 1 if tally.failed else 0


def main(words):
    if len(words) >= 2 and words[0] == "unit":
        return unit(words[1:])
    if len(words) == 3 and words[0] == "sum":
        return total(*words[1:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
