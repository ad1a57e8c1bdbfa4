#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_exports.py LIBRARY: only the C API and names of luisa::tile leave the library, and all of the C API does."""

import pathlib
import re
import subprocess
import sys

HEADER = pathlib.Path(__file__).resolve().parents[2] / "include/luisa/tile/c_api.h"


def main():
    lines = subprocess.run(["nm", "-D", "--defined-only", "--demangle", sys.argv[1]], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.splitlines()
    names = {line.split(maxsplit=2)[2] for line in lines}
    declared = set(re.findall(r"\b(luisa_tile_\w+)\(", HEADER.read_text()))
    plain = {name for name in names if re.fullmatch(r"\w+", name)}
    missing, foreign = declared - plain, plain - declared
    foreign |= {name for name in names - plain if "luisa::tile" not in name}
    for name in sorted(missing):
        print(f"{name} is declared in c_api.h and does not leave the library")
    for name in sorted(foreign):
        print(f"{name} leaves the library and is none of its interface")
    print(f"{len(plain)} functions of the C API, {len(names) - len(plain)} names of C++")
    return 1 if missing or foreign else 0


if __name__ == "__main__":
    sys.exit(main())
