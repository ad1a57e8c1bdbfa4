#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes unicode_tables.cpp from Python's Unicode data: what the tokeniser must know of characters."""

import pathlib
import unicodedata

IDEOGRAPHS = [(0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]  # the tokeniser stores none of their canonical forms
HANGUL = (0xAC00, 0xD7A3)  # decomposed by arithmetic


def inside(code, ranges):
    return any(first <= code <= last for first, last in ranges)


def folded(code):
    parts = unicodedata.normalize("NFD", chr(code))
    return "".join(c for c in parts if unicodedata.category(c) != "Mn").lower()


def fold_runs():
    """[first, last, step, delta]: code points first, first + step, … last become themselves plus delta."""
    runs = []
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000 or inside(code, IDEOGRAPHS + [HANGUL]):
            continue
        text = folded(code)
        # Scripts whose letters fall into two spacing characters are left as they are.
        if len(text) != 1 or text == chr(code):
            continue
        delta = ord(text) - code
        last = runs[-1] if runs else None
        gap = code - last[1] if last else 0
        if last and last[3] == delta and gap in (1, 2) and (last[0] == last[1] or gap == last[2]):
            last[1], last[2] = code, gap
        else:
            runs.append([code, code, 1, delta])
    return runs


def ranges(wanted):
    runs = []
    for code in range(0x110000):
        if wanted(unicodedata.category(chr(code))):
            if runs and runs[-1][1] == code - 1:
                runs[-1][1] = code
            else:
                runs.append([code, code])
    return runs


def table(name, kind, rows, per_line):
    lines = [f"const std::vector<{kind}> {name}{{"]
    items = ["{" + ", ".join(str(x) if x < 0 else hex(x) if i < 2 else str(x) for i, x in enumerate(row)) + "}"
             for row in rows]
    for i in range(0, len(items), per_line):
        lines.append("    " + ", ".join(items[i:i + per_line]) + ",")
    return lines + ["};"]


def main():
    lines = ["// SPDX-License-Identifier: Apache-2.0",
             f"// Written by unicode_tables.py from Unicode {unicodedata.unidata_version}.",
             '#include "unicode_tables.h"', "", "namespace minilm {", "", "// clang-format off"]
    lines += table("letter_folds", "FoldRun", fold_runs(), 3)
    lines += table("accents", "CodeRange", ranges(lambda c: c == "Mn"), 4)
    lines += table("punctuation", "CodeRange", ranges(lambda c: c[0] == "P"), 4)
    lines += table("controls", "CodeRange", ranges(lambda c: c in ("Cc", "Cf", "Co")), 4)
    lines += ["// clang-format on", "", "}// namespace minilm"]
    pathlib.Path(__file__).with_name("unicode_tables.cpp").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
