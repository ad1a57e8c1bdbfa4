#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/functions.md: names and first comment sentences of the public headers.

What is listed: what carries a `///` comment at namespace or class scope, and functions that give a value.
With --check, says whether the page is current instead.
"""

import pathlib
import re
import sys

from generated_page import write_or_check

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/functions.md"
HEADERS = ROOT / "include/luisa/tile"
SCOPE = re.compile(r"^(?:template<.*>\s*)?(?:class|struct|enum class|enum) (\w+)\b(?!.*;)")
HIDDEN = {"core", "detail", "device_wide", "grid", "packing", "runtime"}
# Public for the library's own use: handles to its private side, and a macro's parameter.
INTERNAL = {"impl", "shared_impl", "region", "argument", "NAME", "tile_fields",
            "program_argument"}
MACRO = re.compile(r"^LUISA_TILE_(?:UNARY|BINARY_FUNCTION)\((\w+)\)$")


def first_sentence(comment):
    text = " ".join(comment)
    match = re.match(r"(.*?[.:])(?= [A-Z`[(0-9]|$)", text)
    return (match[1] if match else text).rstrip(":").replace("|", "\\|")


def declared(text):
    """The name that a declaration gives, or None; templates and attributes come first."""
    if "always_false" in text:
        return None# exists to reject
    text = re.split(r";|(?<!=) \{", text)[0] + ";"
    text = re.sub(r"\[\[\w+\]\]|\bexplicit\b|\bstatic\b|\binline\b|\bconstexpr\b", " ", text)
    while match := re.match(r"\s*(?:template<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>|requires\s*\()", text):
        if text[match.end() - 1] == "(":
            depth, end = 1, match.end()
            while depth and end < len(text):
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            text = text[end:]
        else:
            text = text[match.end():]
    if match := re.match(r"\s*(?:friend\s+)?(class|struct|enum class|enum) (\w+)", text):
        return match[2]
    if match := re.match(r"\s*using (\w+) =", text):
        return match[1]
    if match := re.search(r"(operator\s*(?:\(\)|\[\]|[^\s(\w]+|\w+)|~?\w+)\s*\(", text):
        return re.sub(r"operator (?=\W)", "operator", match[1]) + "()"
    match = re.match(r"\s*[\w:<>, ]+?\b(\w+)\s*[{=;]", text)
    return match[1] if match else None


def entries(path):
    """[(qualified name, sentence)] of one header, hidden namespaces left out."""
    found, comment, scopes, private = [], [], [], False
    lines = path.read_text().splitlines()
    for number, raw in enumerate(lines):
        line = raw.strip()
        hidden = any(name in HIDDEN for _, name in scopes)
        if line.startswith("///") and not line.startswith("///<"):
            comment.append(line[3:].strip())
            continue
        if line in ("private:", "protected:", "public:", "};"):
            private = line[:2] == "pr"
        hidden |= private or any(kind == "body" for kind, _ in scopes)
        macro = MACRO.match(line)
        if macro and not hidden:
            found.append((macro[1] + "()", "Elementwise; see docs/numerics.md."))
        if not hidden and (line and comment or "[[nodiscard]]" in line):
            name = declared(" ".join(l.strip() for l in lines[number:number + 8]))
            owner = [n for kind, n in scopes if kind == "class"]
            known = "::".join(owner + [name or ""]) in dict(found)
            if name and name.rstrip("()") not in INTERNAL and (comment or not known):
                found.append(("::".join(owner + [name]), first_sentence(comment)))
        if line:
            comment = []
        code = re.sub(r'"(?:[^"\\]|\\.)*"|\'.\'|//.*', "", line)
        opened = code.count("{") - code.count("}")
        if opened > 0:
            namespace, scope = re.match(r"namespace ([\w:]+)", code), SCOPE.match(code)
            kind = ("namespace", namespace[1]) if namespace else (
                ("class", scope[1]) if scope else ("body", ""))
            scopes += [kind] + [("body", "")] * (opened - 1)
        elif opened < 0:
            del scopes[opened:]
    return list(dict(reversed(found)).items())[::-1]


def page():
    out = ["# Names of the public headers", "",
           "Made by `scripts/generate_functions.py` from `include/luisa/tile`; do not edit. The first",
           "sentence of each comment; the headers have the rest: shapes, units and errors."]
    for path in sorted(HEADERS.rglob("*.h")):
        rows = [] if "detail" in path.parts else entries(path)
        if rows:
            out += ["", f"## {path.relative_to(HEADERS.parent.parent)}", "", "| Name | Meaning |",
                    "|---|---|"]
            out += [f"| `{name}` | {sentence} |" for name, sentence in rows]
    return "\n".join(out) + "\n"


def main():
    text = page()
    if bare := re.findall(r"^\| `(.*)` \|  \|$", text, re.M):
        print("public names without a comment: " + ", ".join(bare))
        return 1
    return write_or_check(PAGE, text)


if __name__ == "__main__":
    sys.exit(main())
