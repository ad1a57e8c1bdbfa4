#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every #include against the layers: a folder may use what its row names, and what those use."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder of src/ -> the folders that it uses directly; those they use come with them.
USES = {
    "core": [],
    "types": ["core"],
    "layout": ["core"],
    "math": ["types"],
    "ir": ["types", "layout"],
    "frontend": ["ir"],
    "interpreter": ["ir", "math"],
    "analysis": ["ir"],
    "transform": ["analysis"],
    "target": ["core", "types"],
    "plan": ["analysis", "target"],
    "realize/cpu": ["plan", "transform", "math"],
    "realize/simt": ["realize/cpu"],
    "cache": ["core"],
    "emit/llvm": ["ir", "target"],
    "compile": ["frontend", "interpreter", "realize/cpu", "realize/simt", "cache", "emit/llvm"],
    "runtime": ["compile"],
    "fuzz": ["runtime"],
    "c_api": ["runtime"],
    "library": [],
    "ops": [],
}
# These see the public headers and their own files only.
PUBLIC_ONLY = ["src/library", "src/ops", "examples", "bench", "tools/luisa-tile", "tests/package"]
# External headers that one folder alone may use.
CONFINED = {"llvm": ["emit/llvm"], "llvm-c": [], "mlir": [], "clang": [],
            "hwloc.h": ["target", "runtime"], "sqlite3.h": ["cache"],
            "boost": ["runtime"], "cuda.h": []}
# What the one public header includes that C reads.
C_HEADERS = {"stddef.h", "stdint.h"}
# Standard headers that cost every user's translation unit too much.
SLOW = {"iostream", "regex", "ranges", "format", "algorithm"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def reachable(folder):
    """The folders that `folder` may include: itself and the transitive closure of its row."""
    seen, todo = set(), [folder]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo += USES[current]
    return seen


def folder_of(path_in_src):
    """The row of a path under src/, longest name first: "realize/cpu/x.h" is in "realize/cpu"."""
    for folder in sorted(USES, key=len, reverse=True):
        if path_in_src.startswith(folder + "/"):
            return folder
    return None


def sources(*tops):
    for top in tops:
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".h", ".cpp", ".def"):
                yield path


def includes(path):
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        yield line, match.group(1) == '"', match.group(2)


def header_owners():
    """Public header -> the folder that implements it, known where just one has a .cpp of that name."""
    owners = {}
    for header in (ROOT / "include/luisa/tile").rglob("*.h"):
        found = {folder_of(str(p.relative_to(ROOT / "src")))
                 for p in (ROOT / "src").rglob(header.stem + ".cpp")} - {None}
        if len(found) == 1:
            owners["luisa/tile/" + header.name] = found.pop()
    return owners


def check_public_header(quoted, name):
    if quoted:
        return "public headers include each other as <luisa/tile/…>"
    if name in SLOW:
        return f"<{name}> is too slow to compile for a public header"
    if ("/" in name or name.endswith(".h")) and not (name.startswith("luisa/") or name in C_HEADERS):
        return f"<{name}>: a public header may use the standard library only"
    return None


def check_public_only(path, quoted, name):
    if not quoted:
        return "internal header" if folder_of(name) else None
    beside = [path.parent, *[ROOT / top for top in PUBLIC_ONLY]]
    if not any((folder / name).exists() for folder in beside):
        return "only public headers and this folder's own files may be used here"
    return None


def check_internal(folder, quoted, name, owners):
    allowed = reachable(folder)
    if quoted:
        target = folder_of(name)
        if target is None:
            return 'write "folder/file.h", relative to src/'
        if target not in allowed:
            return f"{folder} may not use {target}"
        return None
    owner = owners.get(name)
    if owner is not None and owner not in allowed:
        return f"{folder} may not use {owner}, which implements <{name}>"
    only = CONFINED.get(name.split("/")[0])
    if only is not None and folder not in only:
        return f"<{name}> may only be used in {', '.join(only) or 'no folder'}"
    return None


def main():
    problems = []

    def report(path, line, message):
        if message:
            problems.append(f"{path.relative_to(ROOT)}:{line}: {message}")

    owners = header_owners()
    for path in sources("include"):
        for line, quoted, name in includes(path):
            report(path, line, check_public_header(quoted, name))
    for path in sources(*PUBLIC_ONLY):
        for line, quoted, name in includes(path):
            report(path, line, check_public_only(path, quoted, name))
    for path in sources("src"):
        inside = str(path.relative_to(ROOT / "src"))
        folder = folder_of(inside)
        if folder is None and "/" in inside:
            report(path, 1, "this folder has no row in the table of layers")
        if folder is None or f"src/{folder}" in PUBLIC_ONLY:
            continue
        for line, quoted, name in includes(path):
            report(path, line, check_internal(folder, quoted, name, owners))

    print("\n".join(problems) if problems else "layering: every #include respects it")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
