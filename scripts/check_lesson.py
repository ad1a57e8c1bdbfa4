#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_lesson.py PROGRAM PAGE [--write]: runs a lesson and holds what it prints to the page's ```text block.

The block follows the line `<!-- output -->`. With --write, the block is replaced instead.
"""

import difflib
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"(<!-- output -->\n```text\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)


def main():
    program, page = sys.argv[1], pathlib.Path(sys.argv[2])
    run = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=False)
    text = page.read_text()
    shown = BLOCK.search(text)
    if not shown:
        sys.exit(f"{page}: no ```text block after `<!-- output -->`")
    if "--write" in sys.argv:
        page.write_text(BLOCK.sub(lambda m: m[1] + run.stdout + m[3], text))
        return run.returncode
    for line in difflib.unified_diff(shown[2].splitlines(), run.stdout.splitlines(), page.name,
                                     "printed", lineterm=""):
        print(line)
    return run.returncode or int(shown[2] != run.stdout)


if __name__ == "__main__":
    sys.exit(main())
