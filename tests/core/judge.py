#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges what tests/core/try found on one machine, as one user.

usage: judge.py CASES BACKEND NOT_HELD REFUSALS <FOUND
           is it what the tables say, and do record, doctor, explain and kernel agree?
       judge.py CASES --show <FOUND
           the same three, as they were found

BACKEND is that of a run that starts whatever is missing. NOT_HELD names what is less than held there, by commas, with =absent
where it is absent; `-` for nothing, `all` for a run without a backend. REFUSALS: how many there are until what each says has been accepted. Each disagreement is
a line on standard output, and the status is 1.
"""
import json
import sys

STATUSES = {"outside": 0, "inside": 0, "seven": 7, "missing": 127, "signal": 143, "time": 124, "left": 0}
# Nothing is held where there is no backend; the environment is still scrubbed, and the clock still runs.
ALL = ",".join(f"{name}=absent" for name in ("writes", "secrets", "repository", "network", "services", "processes")) + (
    ",environment,terminal=absent,privileges=absent,cleanup=absent,limits")
# What the built-in policy accepts, and what nothing is asked of in the run that is refused.
ACCEPTED = ("-", "services", "limits", "limits=absent")
READOUTS = ("file", "work", "key")


def rows(path):
    """The table's cases: guarantee, wanted, on, words."""
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]


class Found:
    """What was found: results of attempts in order, exit statuses, documents, and what was said."""

    def __init__(self, lines):
        self.results = {"outside": [], "inside": []}
        self.status, self.alive, self.documents, self.said = {}, {}, {}, {}
        self.required = []  # statuses: of the plain run, and of those that follow the refusals' lines
        for line in lines:
            word, _, rest = line.rstrip("\r\n").partition(" ")
            if word in self.results:
                self.results[word].append(rest)
            elif word in ("status", "alive", "said"):
                name, _, value = rest.partition(" ")
                if (word, name) == ("status", "required"):
                    self.required.append(int(value))
                elif word == "said":
                    self.said[name] = self.said.get(name, "") + value + "\n"
                else:
                    getattr(self, word)[name] = int(value) if word == "status" else value
            elif word in ("record", "doctor") + READOUTS:
                self.documents[word] = json.loads(rest) if rest else {}

    def states(self):
        return {name: row["state"] for name, row in self.documents["record"]["guarantees"].items()}

    def backend(self):
        return self.documents["record"]["backend"]

    def refusals(self):
        return len(self.required) - 1

    def not_held(self):
        words = {"weaker": "", "absent": "=absent"}
        names = ",".join(name + words[state] for name, state in self.states().items() if state in words)
        return "all" if names == ALL else names or "-"


def is_on(found, on):
    """Is the case for this backend, and this Landlock?"""
    level = found.documents["record"]["host"]["landlock_abi"]
    for word in on.split(","):
        name = word.rstrip("0123456789")
        if name in ("all", found.backend()) and level >= int(word[len(name):] or 0):
            return True
    return False


def judge_attempts(found, cases):
    """Never a command that runs less confined than the record says, nor one that cannot work."""
    states = found.states()
    for where, results in found.results.items():
        if len(results) != len(cases):
            yield f"{len(results)} results {where} instead of {len(cases)}: {found.said}"
            return
    for (guarantee, wanted, on, words), outside, inside in zip(cases, found.results["outside"], found.results["inside"]):
        if wanted == "allowed" and is_on(found, on) and inside != "OK":
            yield f"{words}: {inside}, and it must be possible"
        if wanted == "denied" and outside != "OK" and on != "maybe":
            yield f"{words}: {outside} outside already: nothing was tried"
        if wanted == "denied" and inside == "OK" and states[guarantee] == "held":
            yield f"{words}: OK inside, and {guarantee} is said to be held"
    if found.alive.get("outside") != "yes":
        yield "what was left in the background outside is gone: nothing was tried"
    if found.alive.get("inside") != "no" and states["cleanup"] == "held":
        yield "something of the run is alive, and cleanup is said to be held"


def judge_statuses(found, not_held):
    """The exit statuses, and the refusal: it names what is missing, and its line is enough."""
    for name, wanted in STATUSES.items():
        if found.status.get(name) != wanted:
            yield f"{name}: status {found.status.get(name)} instead of {wanted}: {found.said.get(name)}"
    words = (ALL if not_held == "all" else not_held).split(",")
    names = [word.partition("=")[0] for word in words if word not in ACCEPTED]
    said = found.said.get("required", "")
    refusals = "".join(line for line in said.splitlines() if "refused:" in line)
    if found.required[-1:] != [0] or any(status != 125 for status in found.required[:-1]):
        yield f"required: statuses {found.required}: {said}"
    for name in names:
        if name not in refusals:
            yield f"the refusal does not name {name}: {refusals}"


def judge_doctor(found):
    """It says what the record says, and nothing that is said to be held got through, on any backend."""
    doctor, states, backend = found.documents["doctor"], found.states(), found.backend()
    if (doctor["backend"], doctor["refused"]) != (backend, found.required[0] == 125):
        yield f"doctor: backend {doctor['backend']}, refused {doctor['refused']}; the record: {backend}"
    for name, exam in doctor["backends"].items():
        for guarantee, row in exam["guarantees"].items():
            if exam["available"] and row["state"] == "held" and guarantee != "limits" and row["proved"] is not True:
                yield f"doctor: {guarantee} is held on {name}, and {row['through'] or 'nothing'} got through"
            if name == backend and guarantee != "limits" and row["state"] != states[guarantee]:
                yield f"{guarantee} is {row['state']} for doctor, and {states[guarantee]} in the record"


def judge_explain(found):
    for name in READOUTS:
        answer = found.documents[name]
        if not answer:
            yield f"explain {name}: status {found.status.get(name)}: {found.said.get(name)}"
        for right in ("read", "write", "create", "execute"):
            # before Linux 6.14 nobody can ask whether a file may be executed without doing it
            if answer and answer[right].get("proved", right == "execute") is not True:
                yield f"explain {answer['path']}: {right}: {answer[right]}"


def main():
    cases, found = rows(sys.argv[1]), Found(sys.stdin)
    if "record" not in found.documents or not found.documents["record"]:
        print("there is no record:", found.status, found.said)
        return 1
    if sys.argv[2] == "--show":
        print(found.backend(), found.not_held(), found.refusals(), sep="\t")
        return 0
    wrong = [] if found.backend() == sys.argv[2] else [f"the backend is {found.backend()} instead of {sys.argv[2]}"]
    if found.not_held() != sys.argv[3]:
        wrong.append(f"not held: {found.not_held()} instead of {sys.argv[3]}")
    if str(found.refusals()) != sys.argv[4]:
        wrong.append(f"{found.refusals()} refusals instead of {sys.argv[4]}: {found.said.get('required')}")
    wrong += judge_attempts(found, cases)
    wrong += judge_statuses(found, found.not_held())
    wrong += judge_doctor(found)
    wrong += judge_explain(found)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
