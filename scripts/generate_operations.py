#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/operations.md from src/ir/ops.def, payload.h and operations.txt beside this file.

With --check, says whether the page is current instead.
"""

import pathlib
import re
import sys

from generated_page import write_or_check

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/operations.md"
ROW = re.compile(r'OP\((\w+), "([^"]+)", (\w+), (\w+), (\w+), (\w+)\)')
RULES = {
    "OWN": "its own",
    "SAME_NUMBER": "all agree: integers, f16, bf16, f32, f64",
    "SAME_ORDERED": "all agree: any but bool",
    "SAME_SIGNABLE": "all agree: any but bool",
    "SAME_INTEGER": "all agree: integers",
    "SAME_FLOAT": "all agree: f16, bf16, f32, f64",
    "SAME_BITS": "all agree: bool, integers",
    "COMPARE": "operands agree, result bool",
    "SELECT": "bool, then two that agree with the result",
    "FREE": "result given by the operation",
}


def meanings():
    """name -> one line, from a file of `name: meaning` lines."""
    lines = (ROOT / "scripts/operations.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def payload_fields():
    """Struct of payload.h -> [(declaration, comment)]."""
    text, fields = (ROOT / "src/ir/payload.h").read_text(), {}
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.MULTILINE | re.DOTALL):
        rows = re.findall(r"^    (?!friend)([^/\n]+);\s*(?:///< ?(.*))?$", body, re.MULTILINE)
        fields[name] = [(" ".join(declaration.split()), comment) for declaration, comment in rows]
    return fields


def sections():
    """[(title, rows)] in the order of ops.def."""
    result = []
    for line in (ROOT / "src/ir/ops.def").read_text().split("\n\n", 1)[1].splitlines():
        if line.startswith("// ") and (not result or result[-1][1]):
            result.append((line[3:], []))
        elif match := ROW.match(line):
            result[-1][1].append(match.groups())
    return [section for section in result if section[1]]


def page():
    known, fields, used = meanings(), payload_fields(), []
    out = ["# Operations of TileIR", "",
           "Made by `scripts/generate_operations.py` from `src/ir/ops.def`; do not edit.",
           "An operation has operands, results, regions and, where its row says so, a payload."]
    missing = []
    for title, rows in sections():
        out += ["", f"## {title}", "", "| Operation | Operands | Element types | Payload | Meaning |",
                "|---|---|---|---|---|"]
        for _, name, _, arity, rule, payload in rows:
            if name not in known:
                missing.append(name)
                continue
            used.append(payload)
            count = "any" if arity == "VARIADIC" else arity
            shown = "" if payload == "None" else f"[{payload}](#{payload.lower()})"
            out.append(f"| `{name}` | {count} | {RULES[rule]} | {shown} | {known.pop(name)} |")
    out += ["", "## Payloads"]
    for payload in dict.fromkeys(used):
        if payload != "None":
            out += ["", f"### {payload}", ""]
            out += [f"- `{d}`" + (f": {c}" if c else "") for d, c in fields[payload]]
    if missing:
        sys.exit(f"scripts/operations.txt has no line for: {', '.join(missing)}")
    if known:
        sys.exit(f"scripts/operations.txt describes what ops.def lacks: {', '.join(known)}")
    return "\n".join(out) + "\n"


def main():
    return write_or_check(PAGE, page())


if __name__ == "__main__":
    sys.exit(main())
