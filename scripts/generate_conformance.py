#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/conformance.md from tests/conformance/sentences.txt.

The data file has parts (`# title`), sections (`## title`) and entries: `- text`, continued by indented lines, then
lines of `= tests` that check it, and `! text` for what of it does not hold yet. Tests are named `Suite.test` with `*` and `?` as in
--gtest_filter, or `compile_fail/name` and `identity/name`. Names are those of the test macros in the sources, so that no build is needed.

A name without a test is an error, and so is an entry that has neither tests nor an open point, and a test in a file
`section_*.cpp` or `facts.cpp` that no entry names. With --check, says whether the page is current instead.
"""

import fnmatch
import pathlib
import re
import sys

from generated_page import write_or_check

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
DATA = TESTS / "conformance/sentences.txt"
PAGE = ROOT / "docs/conformance.md"
MACRO = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)


def program_of(path):
    """The test program that a source file belongs to, as cmake/tests.cmake names them."""
    folders = path.relative_to(TESTS).parts[:-1]
    return "unit_" + folders[1] if folders[0] == "unit" else folders[0]


def known_tests():
    """Suite.test -> (program, path)."""
    found = {}
    for path in sorted(p for p in TESTS.rglob("*") if p.suffix in (".cpp", ".h")):
        folder = path.relative_to(TESTS).parts[0]
        if folder in ("compile_fail", "identity"):
            found[f"{folder}/{path.stem}"] = (folder, path)
            continue
        for suite, test in MACRO.findall(path.read_text()):
            found[f"{suite}.{test}"] = (program_of(path), path)
    return found


class Entry:
    def __init__(self, text):
        self.text, self.tests, self.open = text, [], []

    def shown(self, known):
        """The cell of the page that names the tests: those of `conformance` first, others with their program."""
        programs = {}
        for name in self.tests:
            match = next(k for k in known if fnmatch.fnmatchcase(k, name))
            programs.setdefault(known[match][0], []).append(f"`{name}`")
        order = sorted(programs, key=lambda p: (p != "conformance", p))
        return "; ".join(("" if p == "conformance" else p + ": ") + ", ".join(programs[p]) for p in order)


def parsed():
    """[(part, text, [(section, text, [Entry])])]."""
    parts = []
    for number, line in enumerate(DATA.read_text().splitlines(), 1):
        if not line or line.startswith("//"):
            continue
        if line.startswith("# "):
            parts.append((line[2:], [], [("", [], [])]))
            continue
        section = parts[-1][2]
        if line.startswith("## "):
            section.append((line[3:], [], []))
        elif line.startswith("- "):
            section[-1][2].append(Entry(line[2:]))
        elif not line.startswith("  "):
            section[-1][1].append(line)
        elif not section[-1][2]:
            sys.exit(f"{DATA}:{number}: nothing precedes this line that it could belong to")
        elif line.startswith("  = "):
            section[-1][2][-1].tests += line[4:].split()
        elif line.startswith("  ! "):
            section[-1][2][-1].open.append(line[4:])
        else:
            section[-1][2][-1].text += " " + line.strip()
    return parts


def complaints(parts, known):
    used, wrong = set(), []
    for part, _, sections in parts:
        for section, _, entries in sections:
            for entry in entries:
                if not entry.tests and not entry.open:
                    wrong.append(f"no test: {section}: {entry.text}")
                for name in entry.tests:
                    matches = [k for k in known if fnmatch.fnmatchcase(k, name)]
                    used.update(matches)
                    if not matches:
                        wrong.append(f"there is no test {name}: {section}: {entry.text}")
    for name, (_, path) in known.items():
        if path.name.startswith(("section_", "facts")) and name not in used:
            wrong.append(f"{path.relative_to(ROOT)}: no sentence names {name}")
    return wrong


def cell(text):
    return text.replace("|", "\\|")


def page(parts, known):
    out = ["# What the language says, and what checks it", "",
           "Made by `scripts/generate_conformance.py` from `tests/conformance/sentences.txt`; do not edit.",
           "Tests of `conformance` run on the interpreter and the CPU and compare all bits unless they say otherwise;",
           "those of other programs stand behind the program's name. `*` is that of `--gtest_filter`.", ""]
    entries = [e for _, _, sections in parts for _, _, es in sections for e in es]
    waiting = [e for e in entries if e.open]
    out.append(f"{len(entries)} entries, {sum(1 for e in entries if e.tests)} with tests, "
               f"{len(waiting)} with open points (in bold).")
    for part, _, sections in parts:
        out += ["", f"## {part}"]
        for section, prose, entries in sections:
            if not prose and not entries:
                continue
            out += ["", f"### {section}"] if section else []
            out += [""] + prose if prose else []
            out += ["", "| Says | Checked by |", "|---|---|"] if entries else []
            for e in entries:
                checked = e.shown(known) + "".join(
                    ("; " if i or e.tests else "") + f"**open:** {o}" for i, o in enumerate(e.open))
                out.append(f"| {cell(e.text)} | {cell(checked)} |")
    return "\n".join(out) + "\n"


def main():
    known, parts = known_tests(), parsed()
    wrong = complaints(parts, known)
    if wrong:
        sys.exit("tests/conformance/sentences.txt:\n  " + "\n  ".join(wrong))
    text = page(parts, known)
    return write_or_check(PAGE, text)


if __name__ == "__main__":
    sys.exit(main())
