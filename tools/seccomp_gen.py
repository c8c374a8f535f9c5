#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the system-call filters of one architecture as a C header.

data/seccomp.tsv says which call is refused, when, and why; data/syscalls.tsv knows the numbers. docs/seccomp.md
explains the shape of the programs and how to add a row.

The whole range of call numbers is cut into intervals with one verdict each, and a search tree over the intervals is
built that is optimal for the weights in data/syscalls.tsv: hot calls end up near its root.
Only instructions that the kernel's seccomp_is_const_allow() can follow are used (load of nr and arch, JEQ, JGE, JSET,
AND, RET) until an argument must be looked at. So a call whose verdict does not depend on its arguments is found in the
kernel's bitmap (5.11) and never runs the program at all.
"""

import argparse
import itertools
import re
import sys
from typing import NamedTuple

ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_*
PROGRAMS = ("base", "closed", "root", "shared", "offline", "no_unix")
ANSWERS = {
    "allow": "SECCOMP_RET_ALLOW",
    "EPERM": "SECCOMP_RET_ERRNO | EPERM",
    "ENOSYS": "SECCOMP_RET_ERRNO | ENOSYS",
    "EAFNOSUPPORT": "SECCOMP_RET_ERRNO | EAFNOSUPPORT",
}
WORD = 0xFFFFFFFF
JUMP_MAX = 255
LENGTH_MAX = 4096  # BPF_MAXINSNS

# offsetof(struct seccomp_data, …)
OFFSET_NR = 0
OFFSET_ARCH = 4
OFFSET_ARGS = 16

TERM = re.compile(r"arg([0-5])(?:&(\S+))? (==|!=|in|not-in|has|outside|outside64) (\S+)")


class DataError(Exception):
    pass


class Term(NamedTuple):
    """One comparison of the low 32 bits of an argument, or of all 64 where the operator says so."""

    arg: int
    mask: int  # applied before the comparison
    op: str
    values: tuple


class Check(NamedTuple):
    """The answer when all terms hold; a verdict is a tuple of checks, the first that holds decides, else allow."""

    terms: tuple
    answer: str


class Interval(NamedTuple):
    first: int
    verdict: tuple
    weight: int


class Instruction(NamedTuple):
    kind: str  # ld, and, ret, jeq, jge, jset, or label
    k: object
    yes: int = 0  # labels, for jumps
    no: int = 0
    comment: str = ""


ALLOW = ()
UNKNOWN = (Check((), "ENOSYS"),)


# ---- reading the tables ---------------------------------------------------------------------------------------------


def rows(path, columns):
    """The fields of each line that is neither empty nor a comment."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip("\n").split("\t")
            if not fields[0] or fields[0].startswith("#"):
                continue
            if fields[0] != "const" and len(fields) != columns:
                raise DataError(f"{path}:{number}: {len(fields)} columns, not {columns}")
            yield f"{path}:{number}", fields


def load_syscalls(path, arch):
    """name -> (number or None, weight)."""
    calls = {}
    column = 1 + list(ARCHES).index(arch)
    for where, fields in rows(path, 4):
        if fields[0] in calls:
            raise DataError(f"{where}: '{fields[0]}' stands twice")
        number = None if fields[column] == "-" else int(fields[column])
        calls[fields[0]] = (number, int(fields[3]))
    return calls


def number(text, constants):
    """The value of `A|B|0x10`."""
    value = 0
    for part in text.split("|"):
        value |= constants[part] if part in constants else int(part, 0)
    return value & WORD


def parse_term(text, constants):
    match = TERM.fullmatch(text)
    if not match:
        raise ValueError(f"'{text}' is no condition")
    arg, mask, op, values = match.groups()
    if ("," in values and op not in ("in", "not-in")) or (mask and op == "outside64"):
        raise ValueError(f"'{text}': the operator takes one value, and outside64 no mask")
    return Term(
        int(arg),
        number(mask, constants) if mask else WORD,
        {"==": "in", "!=": "not-in"}.get(op, op),
        tuple(number(value, constants) for value in values.split(",")),
    )


def parse_check(condition, answer, constants):
    if answer not in ANSWERS or answer == "allow":
        raise ValueError(f"'{answer}' is no answer")
    terms = () if condition == "-" else condition.split(" and ")
    return Check(tuple(parse_term(term, constants) for term in terms), answer)


def load_rules(path, calls):
    """program -> name of a call -> its verdict."""
    constants = {}
    rules = {program: {} for program in PROGRAMS}
    for where, fields in rows(path, 5):
        try:
            if fields[0] == "const":
                constants[fields[1]] = int(fields[2], 0)
                continue
            name, condition, answer, program, reason = fields
            if name not in calls or not reason:
                raise ValueError(f"'{name}' has no number, or no reason")
            add_check(rules[program], name, parse_check(condition, answer, constants))
        except (ValueError, KeyError, IndexError) as error:
            raise DataError(f"{where}: {error}") from error
    return rules


def add_check(verdicts, name, check):
    verdict = verdicts.get(name, ALLOW)
    if any(not earlier.terms for earlier in verdict):
        raise ValueError(f"an earlier row decides '{name}' already")
    verdicts[name] = verdict + (check,)


# ---- from verdicts to a tree ----------------------------------------------------------------------------------------


def make_intervals(verdicts, calls):
    """Cuts 0 to 2^32-1 where the verdict changes; above the highest known number every call is unknown (E095), and the
    x32 bit is above it, too (E093)."""
    by_number = {nr: (verdicts.get(name, ALLOW), weight) for name, (nr, weight) in calls.items() if nr is not None}
    known = ((nr, *by_number.get(nr, (ALLOW, 0))) for nr in range(max(by_number) + 1))
    intervals = []
    for verdict, group in itertools.groupby(known, key=lambda entry: entry[1]):
        members = list(group)
        # Each number counts once: the kernel walks the program for all of them when it fills its bitmap.
        intervals.append(Interval(members[0][0], verdict, sum(1 + weight for _, _, weight in members)))
    return intervals + [Interval(max(by_number) + 1, UNKNOWN, 1)]


def is_island(intervals, at):
    """Whether one number stands alone between two intervals of equal verdict: one JEQ tells them apart."""
    left, middle, right = intervals[at : at + 3]
    return left.verdict == right.verdict and right.first == middle.first + 1


def best_trees(intervals):
    """The optimal tree for each run of intervals: (first, last) -> (cost, how), how being None for a leaf, "island",
    or the index of the interval that begins the right half."""
    n = len(intervals)
    total = [0, *itertools.accumulate(interval.weight for interval in intervals)]
    best = {(i, i): (0, None) for i in range(n)}
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            weight = total[j + 1] - total[i]
            if span == 2 and is_island(intervals, i):
                best[i, j] = (weight, "island")
                continue
            cost, split = min((best[i, m - 1][0] + best[m, j][0], m) for m in range(i + 1, j + 1))
            best[i, j] = (cost + weight, split)
    return best


# ---- from the tree to instructions ----------------------------------------------------------------------------------


class Emitter:
    """Makes instructions whose jumps go to labels: the tree of jumps first, then each different look at the arguments
    once, then each answer once. The kernel compiles the program at every start, so that its length is paid for too."""

    def __init__(self, intervals, names):
        self.intervals = intervals
        self.names = names
        self.best = best_trees(intervals)
        self.count = itertools.count(1)
        self.leaves = {}
        self.answers = {}

    def label(self):
        return next(self.count)

    def answer(self, name):
        return self.answers.setdefault(name, self.label())

    def program(self):
        code = self.tree(0, len(self.intervals) - 1)[1]
        for label, leaf in self.leaves.values():
            code += [Instruction("label", label), *leaf]
        for name, label in self.answers.items():
            code += [Instruction("label", label), Instruction("ret", name)]
        return code

    def tree(self, first, last):
        """The label to jump to, and the code that must be put there, if it is not elsewhere."""
        how = self.best[first, last][1]
        if how is None:
            return self.leaf(self.intervals[first].verdict), []
        if how == "island":
            middle = self.intervals[first + 1]
            return self.branch("jeq", middle.first, self.tree(first + 1, first + 1), self.tree(first, first))
        return self.branch("jge", self.intervals[how].first, self.tree(how, last), self.tree(first, how - 1))

    def branch(self, kind, k, yes, no):
        label = self.label()
        jump = Instruction(kind, k, yes[0], no[0], self.names.get(k, ""))
        return label, [Instruction("label", label), jump, *no[1], *yes[1]]

    def leaf(self, verdict):
        """Where the checks with terms stand, in their order; or the answer, where there are none."""
        checks = [check for check in verdict if check.terms]
        default = self.answer(verdict[-1].answer if len(checks) < len(verdict) else "allow")
        if not checks:
            return default
        if verdict not in self.leaves:
            self.leaves[verdict] = self.label(), self.checks(checks, default)
        return self.leaves[verdict][0]

    def checks(self, checks, default):
        code, held = [], None
        for check in checks:
            following = default if check is checks[-1] else self.label()
            part, held = self.check(check, held, self.answer(check.answer), following)
            code += part
            if following != default:
                code.append(Instruction("label", following))
        return code

    def check(self, check, held, yes, no):
        """`held` is the operand in the accumulator; returned is what it holds where a check has failed."""
        code, on_failure = [], set()
        for index, term in enumerate(check.terms):
            is_last = index == len(check.terms) - 1
            target = yes if is_last else self.label()
            part, held = self.term(term, held, target, no)
            code += part
            on_failure.add(held)
            if not is_last:
                code.append(Instruction("label", target))
                held = None if term.op == "outside64" else held
        return code, on_failure.pop() if len(on_failure) == 1 else None

    def term(self, term, held, yes, no):
        code = []
        if term.op == "outside64":
            low = self.label()
            code = [load(OFFSET_ARGS + 8 * term.arg + 4), Instruction("jset", WORD, yes, low)]
            code.append(Instruction("label", low))
            held = None
        operand = (term.arg, term.mask)
        if held != operand:
            code.append(load(OFFSET_ARGS + 8 * term.arg))
            code += [Instruction("and", term.mask)] if term.mask != WORD else []
        return code + self.compare(term, yes, no), operand

    def compare(self, term, yes, no):
        if term.op == "has":
            return [Instruction("jset", term.values[0], yes, no)]
        if term.op in ("outside", "outside64"):
            return [Instruction("jset", ~term.values[0] & WORD, yes, no)]
        hit, miss = (yes, no) if term.op == "in" else (no, yes)
        code = []
        for value in term.values:
            further = self.label()
            code += [Instruction("jeq", value, hit, further), Instruction("label", further)]
        code[-2] = code[-2]._replace(no=miss)
        return code[:-1]


def load(offset):
    names = {OFFSET_NR: "nr", OFFSET_ARCH: "arch"}
    arg, high = divmod(offset - OFFSET_ARGS, 8)
    return Instruction("ld", offset, comment=names.get(offset) or f"arg{arg}" + (" high" if high else ""))


def make_program(arch, verdicts, calls):
    """The architecture is looked at first: another one's numbers mean other calls (E093)."""
    names = {nr: name for name, (nr, _) in calls.items()}
    emitter = Emitter(make_intervals(verdicts, calls), names)
    known = emitter.label()
    return resolve([
        load(OFFSET_ARCH),
        Instruction("jeq", ARCHES[arch], known, emitter.answer("ENOSYS"), arch),
        Instruction("label", known),
        load(OFFSET_NR),
        *emitter.program(),
    ])


def resolve(code):
    """Labels become distances."""
    places, program = {}, []
    for instruction in code:
        if instruction.kind == "label":
            places[instruction.k] = len(program)
        else:
            program.append(instruction)
    if len(program) >= LENGTH_MAX:
        raise DataError(f"{len(program)} instructions are too many")
    for at, instruction in enumerate(program):
        if instruction.kind.startswith("j"):
            distances = [places[label] - at - 1 for label in (instruction.yes, instruction.no)]
            if not all(0 <= distance <= JUMP_MAX for distance in distances):
                raise DataError("a jump is too long")
            program[at] = instruction._replace(yes=distances[0], no=distances[1])
    return program


# ---- writing it down ------------------------------------------------------------------------------------------------

FORMATS = {
    "ld": "BPF_STMT(BPF_LD | BPF_W | BPF_ABS, {k})",
    "and": "BPF_STMT(BPF_ALU | BPF_AND | BPF_K, {k})",
    "jeq": "BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, {k}, {yes}, {no})",
    "jge": "BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, {k}, {yes}, {no})",
    "jset": "BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, {k}, {yes}, {no})",
}


def render_instruction(instruction):
    if instruction.kind == "ret":
        return f"\tBPF_STMT(BPF_RET | BPF_K, {ANSWERS[instruction.k]}),\n"
    comment = f" /* {instruction.comment} */" if instruction.comment else ""
    k = instruction.k if instruction.k < 1024 else hex(instruction.k)
    text = FORMATS[instruction.kind].format(k=k, yes=instruction.yes, no=instruction.no)
    return f"\t{text},{comment}\n"


def render(arch, prefix, calls, programs):
    highest = max(nr for nr, _ in calls.values() if nr is not None)
    parts = [
        f"/* Made by tools/seccomp_gen.py from data/seccomp.tsv and data/syscalls.tsv for {arch}: change those. */\n",
        "#include <errno.h>\n#include <linux/filter.h>\n#include <linux/seccomp.h>\n",
        f"\n/* Calls above this number are answered with ENOSYS. */\nenum {{ {prefix}highest = {highest} }};\n",
    ]
    for program, code in programs.items():
        parts.append(f"\nstatic const struct sock_filter {prefix}{program}[] = {{\n")
        parts += [render_instruction(instruction) for instruction in code]
        parts.append("};\n")
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description="Write the system-call filters of one architecture as a C header.")
    parser.add_argument("--arch", choices=ARCHES, required=True)
    parser.add_argument("--data", required=True, help="data/seccomp.tsv")
    parser.add_argument("--syscalls", required=True, help="data/syscalls.tsv")
    parser.add_argument("--output", required=True)
    parser.add_argument("--prefix", default="seccomp_filter_", help="of the C names")
    options = parser.parse_args()
    try:
        calls = load_syscalls(options.syscalls, options.arch)
        rules = load_rules(options.data, calls)
        programs = {name: make_program(options.arch, rules[name], calls) for name in PROGRAMS}
    except (DataError, OSError) as error:
        sys.exit(f"seccomp_gen.py: {error}")
    with open(options.output, "w", encoding="ascii") as file:
        file.write(render(options.arch, options.prefix, calls, programs))


if __name__ == "__main__":
    main()
