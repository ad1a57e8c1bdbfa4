#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each source file names its licence in the first line (the second after a #! line)."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE = "SPDX-License-Identifier: Apache-2.0"
TOPS = ["include", "src", "tests", "examples", "tools", "bench", "scripts", "cmake", "python"]
SUFFIXES = {".h", ".c", ".cpp", ".def", ".py", ".sh", ".cmake"}


def names_licence(path):
    with path.open(encoding="utf-8") as file:
        first = file.readline()
        return LINE in (file.readline() if first.startswith("#!") else first)


def main():
    files = [ROOT / "CMakeLists.txt", ROOT / "dev", ROOT / ".ci/run"]
    for top in TOPS:
        files += [p for p in (ROOT / top).rglob("*")
                  if p.suffix in SUFFIXES or p.name == "CMakeLists.txt"]
    missing = [str(p.relative_to(ROOT)) for p in sorted(files) if not names_licence(p)]
    for name in missing:
        print(f"{name}:1: the first line must be '{LINE}'")
    if not missing:
        print(f"licence: {len(files)} files name it")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
