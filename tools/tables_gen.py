# SPDX-License-Identifier: Apache-2.0
"""Writes tables.c (declared in src/base/tables.h) from data/*.tsv.

Strict: a wrong number of columns, an unknown word, a row given twice, or a table that contradicts another one is an
error that names file and line, and nothing is written. Rows keep the order of the files.
"""
import argparse
import fnmatch
import os
import re
import sys

BASES = {  # prefix in the files: (enum table_base, default place below a home)
    "~": ("TABLE_HOME", ""),
    "$CONFIG": ("TABLE_CONFIG", ".config"),
    "$DATA": ("TABLE_DATA", ".local/share"),
    "$STATE": ("TABLE_STATE", ".local/state"),
    "$CACHE": ("TABLE_CACHE", ".cache"),
    "$RUNTIME": ("TABLE_RUNTIME", None),
}
KINDS = {"D": "TABLE_DIRECTORY", "F": "TABLE_FILE", "C": "TABLE_SETTINGS"}
VARIABLE_KINDS = [  # in the order of enum table_variable_kind
    "keep", "harmless", "word", "ending", "name", "vendor", "vendor-secret", "hint", "identifier", "address", "dsn",
    "proxy", "cut", "service", "repository", "loader",
]
WORD_KINDS = {"word", "ending", "hint", "identifier", "address", "dsn"}
EVIDENCE = {  # word: (enum table_evidence, has an argument, has words, names a path)
    "pen": ("EVIDENCE_PEN", False, True, False),
    "offline": ("EVIDENCE_OFFLINE", False, True, False),
    "loopback": ("EVIDENCE_LOOPBACK", False, True, False),
    "git": ("EVIDENCE_GIT", False, True, False),
    "removed": ("EVIDENCE_REMOVED", True, True, False),
    "socket": ("EVIDENCE_SOCKET", True, True, False),
    "secret": ("EVIDENCE_SECRET", True, True, True),
    "hidden": ("EVIDENCE_HIDDEN", False, True, True),
    "protected": ("EVIDENCE_PROTECTED", False, True, True),
    "pinned": ("EVIDENCE_PINNED", False, True, True),
    "registered": ("EVIDENCE_REGISTERED", False, True, True),
    "read-only": ("EVIDENCE_READ_ONLY", False, True, True),
    "closed": ("EVIDENCE_CLOSED", False, True, False),
    "outside": ("EVIDENCE_OUTSIDE", False, True, False),
    "temp": ("EVIDENCE_TEMP", False, True, False),
    "processes": ("EVIDENCE_PROCESSES", False, True, False),
    "memory": ("EVIDENCE_MEMORY", False, True, False),
    "time": ("EVIDENCE_TIME", False, False, False),
    "violation": ("EVIDENCE_VIOLATION", False, False, False),
    "kept": ("EVIDENCE_KEPT", False, False, False),
}
CHARSETS = {"token": "CHARSET_TOKEN", "upper": "CHARSET_UPPER", "jwt": "CHARSET_JWT"}
GUARANTEES = [
    "writes", "secrets", "repository", "network", "services", "processes", "environment", "terminal", "privileges",
    "cleanup", "limits",
]


class BadRow(Exception):
    pass


class Row(list):
    """The columns of one line, which knows where it stands."""

    def __init__(self, columns, place):
        super().__init__(columns)
        self.place = place

    def fail(self, text):
        raise BadRow(f"{self.place}: {text}")

    def word(self, index, allowed):
        if self[index] not in allowed:
            self.fail(f"'{self[index]}' is none of: {', '.join(allowed)}")
        return self[index]

    def optional(self, index):
        return None if self[index] == "-" else self[index]


class Table:
    """One file: its rows, with the number of columns and the uniqueness of the first `unique` of them checked."""

    read = []  # the paths of all of them, for ninja

    def __init__(self, directory, name, columns, unique):
        self.path = os.path.join(directory, name)
        Table.read.append(self.path)
        self.rows = []
        seen = {}
        with open(self.path, encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                row = self.row(line, number, columns)
                if row is None:
                    continue
                key = tuple(row[:unique])
                if key in seen:
                    row.fail(f"'{' '.join(key)}' stands already in line {seen[key]}")
                seen[key] = number
                self.rows.append(row)
        if not self.rows:
            raise BadRow(f"{self.path}:1: no row")

    def row(self, line, number, columns):
        if not line.endswith("\n"):
            raise BadRow(f"{self.path}:{number}: the last line does not end in a newline")
        text = line[:-1]
        if not text or text.startswith("#"):
            return None
        row = Row(text.split("\t"), f"{self.path}:{number}")
        if len(row) != columns:
            row.fail(f"{len(row)} columns, not {columns}")
        for cell in row:
            if not cell or cell != cell.strip():
                row.fail("an empty column, or blanks around one ('-' stands for none)")
            if any(ord(c) < 32 or c == "\x7f" for c in cell):
                row.fail("a control character")
        return row


def c_string(text):
    if text is None:
        return "NULL"
    out = []
    for byte in text.encode("utf-8"):
        c = chr(byte)
        out.append(f"\\{byte:03o}" if byte > 126 or c in '"\\?' else c)
    return '"' + "".join(out) + '"'


def c_bool(value):
    return "true" if value else "false"


def is_glob(path):
    return any(c in path for c in "*?[")


def check_normal(row, path):
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        row.fail(f"'{path}' is not a normal path")
    if "?" in path or "[" in path or sum(part.count("*") for part in parts) > 1:
        row.fail("the only wildcard is one *")


def split_base(row, text):
    """The enum value and what is below it."""
    if text.startswith("/"):
        check_normal(row, text[1:])
        return "TABLE_ROOT", text
    base, _, below = text.partition("/")
    if base not in BASES or (text.endswith("/")):
        row.fail(f"'{text}' begins with none of: / {' '.join(BASES)}")
    if below:
        check_normal(row, below)
    return BASES[base][0], below


def c_path(row, text):
    base, below = split_base(row, text)
    return f"{{ {c_string(text)}, {c_string(below)}, {base}, {c_bool(is_glob(below))} }}"


def in_home(text):
    """The usual spelling of a path below the home, or None: $DATA/x and ~/.local/share/x are one place."""
    base, _, below = text.partition("/")
    if base not in BASES or BASES[base][1] is None:
        return None
    return "/".join(part for part in (BASES[base][1], below) if part)


def check_one_place(table):
    seen = {}
    for row in table.rows:
        place = in_home(row[0]) or row[0]
        if place in seen:
            row.fail(f"the same place as line {seen[place]}")
        seen[place] = row.place.rsplit(":", 1)[1]


def check_globs(table):
    """A wildcard is matched once, at the start; only literal names are held when they appear later (E012, E043)."""
    literal = [row[0].rstrip("/") for row in table.rows if not is_glob(row[0])]
    for row in table.rows:
        if is_glob(row[0]) and not fnmatch.filter(literal, row[0]):
            row.fail("no literal name stands beside the wildcard")


def write_hidden(out, table):
    check_one_place(table)
    check_globs(table)
    for row in table.rows:
        kind = row.word(1, KINDS)
        keep = row.optional(3)
        if keep and kind != "D":
            row.fail("only a directory keeps names")
        if kind == "C" and is_glob(row[0]):
            row.fail("a settings file needs its literal name")
        cut = in_home(row[0]) if kind == "C" else None
        cells = [c_path(row, row[0]), KINDS[kind], c_string(cut), c_string(row[2]), c_string(keep)]
        out.append(f"\t{{ {', '.join(cells)} }},")


def write_hidden_variables(out, table, hidden):
    settings = {in_home(row[0]) for row in hidden.rows if row[1] == "C"}
    for row in table.rows:
        kind = row.word(2, KINDS)
        cut = row.optional(4)
        if (kind == "C") != (cut in settings):
            row.fail("kind C, and only it, needs a settings file of hidden.tsv")
        below = row.optional(1) or ""
        if below:
            check_normal(row, below)
        is_list = row.word(3, ("one", "list")) == "list"
        cells = [c_string(row[0]), c_string(below), KINDS[kind], c_bool(is_list), c_string(cut)]
        out.append(f"\t{{ {', '.join(cells)} }},")


def write_caches(out, table):
    done = []
    for row in table.rows:
        if row[0] in done[:-1]:
            row.fail(f"the rows of '{row[0]}' do not stand together")
        if row[0] not in done:
            done.append(row[0])
        if not re.fullmatch(r"[a-z0-9-]+", row[0]):
            row.fail("a name is made of small letters, digits and dashes")
        default = row.optional(3)
        if not default and not row.optional(1):
            row.fail("neither a variable nor a default")
        path = c_path(row, default) if default else '{ "", "", TABLE_ROOT, false }'
        cells = [c_string(row[0]), c_string(row.optional(1)), c_string(row.optional(2) or ""), c_bool(default), path]
        out.append(f"\t{{ {', '.join(cells)} }},")


def write_sockets(out, table):
    for row in table.rows:
        if split_base(row, row[0])[0] != "TABLE_ROOT" or is_glob(row[0]):
            row.fail("not an absolute path")
        out.append(f"\t{{ {c_string(row[0])}, {c_string(row[1])} }},")


def holds(directory, pattern):
    """Does the directory hold, or is it, something that the pattern names?"""
    parts, wanted = directory.split("/"), pattern.split("/")
    return all(fnmatch.fnmatchcase(a, b) or fnmatch.fnmatchcase(b, a) for a, b in zip(parts, wanted))


def write_toolchains(out, table, hidden):
    check_one_place(table)
    secret = [(row[0], in_home(row[0])) for row in hidden.rows if in_home(row[0])]
    for row in table.rows:
        place = in_home(row[0])
        if not place or is_glob(place):
            row.fail("a toolchain is a literal path of the home")
        for text, other in secret:
            if holds(place, other):
                row.fail(f"holds, or lies in, the hidden path '{text}'")
        out.append(f"\t{{ {c_path(row, row[0])}, {c_string(row[1])} }},")


def write_protected(out, table):
    check_globs(table)
    for row in table.rows:
        path = row[0].rstrip("/")
        check_normal(row, path)
        cells = [
            c_string(path),
            c_bool(is_glob(path)),
            c_bool(row[0].endswith("/")),
            c_bool(row.word(1, ("top", "each")) == "each"),
            c_bool(row.word(2, ("always", "git")) == "git"),
            c_bool(row.word(3, ("ro", "report")) == "report"),
            c_string(row[4]),
        ]
        out.append(f"\t{{ {', '.join(cells)} }},")


def write_variables(out, table):
    kinds = {kind: [] for kind in VARIABLE_KINDS}
    for row in table.rows:
        if row[0] == "value":
            continue
        kind = row.word(0, VARIABLE_KINDS)
        if not re.fullmatch(r"[A-Z0-9_]*\*?[A-Z0-9_]*", row[1]) or row[1] == "*":
            row.fail("a pattern is upper case, with at most one *")
        if kind in WORD_KINDS and "*" in row[1]:
            row.fail("a word has no *")
        kinds[kind].append(row[1])
    first, initials = [0], ""
    for kind in VARIABLE_KINDS:
        if not kinds[kind]:
            raise BadRow(f"{table.path}:1: no row of kind '{kind}'")
        out.append(f"\t/* {kind} */")
        out.extend(f"\t{c_string(pattern)}," for pattern in kinds[kind])
        first.append(first[-1] + len(kinds[kind]))
        initials += "".join(pattern[0] for pattern in kinds[kind])
    return first, initials


def write_key_shapes(out, table):
    for row in table.rows:
        if row[0] != "value":
            continue
        cells = row[1].split(" ")
        if len(cells) != 3 or not cells[1].isdigit() or cells[2] not in CHARSETS:
            row.fail("a value is: its beginning, the least length after it, a set of characters")
        out.append(f"\t{{ {c_string(cells[0])}, {int(cells[1])}, {CHARSETS[cells[2]]} }},")


def write_guarantees(out, table):
    names = [row[0] for row in table.rows]
    if names != GUARANTEES:
        raise BadRow(f"{table.path}:1: the guarantees are, in this order: {', '.join(GUARANTEES)}")
    for row in table.rows:
        probes = row[2].split(" ")
        for probe in probes:
            if not re.fullmatch(r"E[0-9A-F]{3}a?|F[0-9]{3}", probe) or probes.count(probe) > 1:
                row.fail(f"'{probe}' is no number of a catalogue, or stands twice")
        cells = [c_string(cell) for cell in row]
        out.append(f"\t[GUARANTEE_{row[0].upper()}] = {{ {', '.join(cells)} }},")


def write_hints(out, table):
    for row in table.rows:
        if not re.fullmatch(r"[a-z_]+", row[0]):
            row.fail("a cause is made of small letters")
        if any("{" in cell.replace("{path}", "") for cell in row[1:]):
            row.fail("the only thing that is filled in is {path}")
        if "--" in row[2] or "config" in row[2] or re.search(r"[a-z]_[a-z]", row[2]):
            row.fail("an agent is told no option and no key")
        out.append(f"\t{{ {', '.join(c_string(cell) for cell in row)} }},")


def write_hint_words(out, table, hints, hidden):
    causes = [row[0] for row in hints.rows]
    order = [causes.index(row.word(0, causes)) for row in table.rows]
    for row, index, before in zip(table.rows, order, [0] + order):
        if index - before not in (0, 1):
            row.fail("the causes stand in the order of hints.tsv, and none is left out")
        evidence, has_argument, has_words, has_path = EVIDENCE[row.word(1, EVIDENCE)]
        argument, words = row.optional(2), row.optional(3)
        if bool(argument) != has_argument or bool(words) != has_words:
            row.fail("this evidence has an argument, or words, or has none")
        if evidence == "EVIDENCE_SECRET" and argument not in [other[0] for other in hidden.rows]:
            row.fail(f"'{argument}' is no path of hidden.tsv")
        if words and (words != words.lower() or not words.isascii()):
            row.fail("words are small letters")
        if not has_path and any("{path}" in cell for cell in hints.rows[index]):
            row.fail("the text of this cause needs a path")
        out.append(f"\t{{ {index}, {evidence}, {c_string(argument)}, {c_string(words)} }},")
    if order[-1] != len(causes) - 1:
        raise BadRow(f"{table.path}:1: no row for '{causes[-1]}'")


def write_words(out, table):
    for row in table.rows:
        needs = row.word(2, ("always", "url", "address", "host", "at", "git"))
        words = row[1].split(" ")
        if any(not re.fullmatch(r"[a-z-]+(\+[a-z-]+)?", word) or words.count(word) > 1 for word in words):
            row.fail("words are small letters, none twice, two of them joined by +")
        unless = row.optional(3)
        if unless and any(not option.startswith("-") for option in unless.split(" ")):
            row.fail("what keeps it off the network is an option")
        cells = [c_string(row[0]), c_string(row[1]), f"WORDS_{needs.upper()}", c_string(unless)]
        out.append(f"\t{{ {', '.join(cells)} }},")


def array(out, declaration, count, write, *arguments):
    out.append(f"\nconst {declaration} = {{")
    before = len(out)
    result = write(out, *arguments)
    if len(out) == before:
        raise BadRow(f"{arguments[0].path}:1: no row for '{declaration}'")
    out.append("};")
    if count:
        out.append(f"const size_t {count} = {len(out) - before - 1};")
    return result


def tables(data):
    hidden = Table(data, "hidden.tsv", 4, 1)
    variables = Table(data, "environment.tsv", 3, 2)
    out = [
        "/* Written by tools/tables_gen.py from data/; not to be edited. */",
        '#include "base/tables.h"',
        '#include "plan/plan.h"',
        "",
        "const char *const tables_base_default[TABLE_BASE_COUNT] = {",
    ]
    out.extend(f"\t[{base}] = {c_string(default)}," for base, default in BASES.values())
    out.append("};")
    array(out, "struct table_hidden tables_hidden[]", "tables_hidden_count", write_hidden, hidden)
    array(out, "struct table_hidden_variable tables_hidden_variables[]", "tables_hidden_variable_count",
          write_hidden_variables, Table(data, "hidden_variables.tsv", 5, 2), hidden)
    array(out, "struct table_cache tables_caches[]", "tables_cache_count", write_caches,
          Table(data, "caches.tsv", 4, 2))
    array(out, "struct table_sockets tables_sockets[]", "tables_socket_count", write_sockets,
          Table(data, "sockets.tsv", 2, 1))
    array(out, "struct table_toolchain tables_toolchains[]", "tables_toolchain_count", write_toolchains,
          Table(data, "toolchains.tsv", 2, 1), hidden)
    array(out, "struct table_protected tables_protected[]", "tables_protected_count", write_protected,
          Table(data, "protected.tsv", 5, 1))
    first, initials = array(out, "char *const tables_variables[]", None, write_variables, variables)
    out.append("const char tables_variables_initial[] =")
    out.extend(f"\t{c_string(initials[i:i + 100])}" for i in range(0, len(initials), 100))
    out[-1] += ";"
    kinds = [initials[begin:end] for begin, end in zip(first, first[1:])]
    out.append("const uint64_t tables_variables_letters[VARIABLE_KIND_COUNT] = {")
    out.extend(f"\tUINT64_C({sum(1 << (ord(c) & 63) for c in set(kind)):#x})," for kind in kinds)
    out.append("};")
    out.append("const unsigned short tables_variables_first[VARIABLE_KIND_COUNT + 1] = {")
    out.append("\t" + ", ".join(str(n) for n in first))
    out.append("};")
    array(out, "struct table_key_shape tables_key_shapes[]", "tables_key_shape_count", write_key_shapes, variables)
    out.append(f'\n_Static_assert(VARIABLE_KIND_COUNT == {len(VARIABLE_KINDS)}, "not the generator\'s kinds");')
    array(out, "struct table_words tables_words[]", "tables_words_count", write_words, Table(data, "words.tsv", 4, 2))
    hints = Table(data, "hints.tsv", 3, 1)
    array(out, "struct table_hint tables_hints[]", "tables_hint_count", write_hints, hints)
    array(out, "struct table_hint_words tables_hint_words[]", "tables_hint_words_count", write_hint_words,
          Table(data, "hint_words.tsv", 4, 4), hints, hidden)
    out.append(f'_Static_assert(TABLE_HINTS == {len(hints.rows)}, "a bit for each cause");')
    array(out, "struct guarantee_def guarantee_defs[GUARANTEE_COUNT]", None, write_guarantees,
          Table(data, "guarantees.tsv", 3, 1))
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description="write tables.c from data/*.tsv")
    parser.add_argument("--data", required=True, help="the folder with the .tsv files")
    parser.add_argument("--output", required=True, help="the C file to write")
    parser.add_argument("--depfile", help="where to write which files were read, for make and ninja")
    options = parser.parse_args()
    try:
        text = tables(options.data)
    except (BadRow, OSError, UnicodeDecodeError) as error:
        print(f"tables_gen: {error}", file=sys.stderr)
        return 1
    with open(options.output, "w", encoding="ascii") as file:
        file.write(text)
    if options.depfile:
        with open(options.depfile, "w", encoding="utf-8") as file:
            file.write(f"{options.output}: {' '.join(path.replace(' ', chr(92) + ' ') for path in Table.read)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
