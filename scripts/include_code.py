#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the code in docs/ equal to the tested sources.

A line `<!-- code: examples/lessons/01_first_kernel.cpp kernel -->` precedes a block of code that shows the
region between `// [kernel]` and `// [end]` (in Python, `# [kernel]` and `# [end]`) of that file. Without arguments, says which blocks differ;
with --write, replaces them.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- code: (\S+) (\S+) -->\n```(?:cpp|c|python)\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!-- code:")
REGION = re.compile(r"^[ \t]*(?://|#) \[(\w+)\]\n(.*?)^[ \t]*(?://|#) \[end\]$", re.MULTILINE | re.DOTALL)


def region(path, name):
    """The lines of one region, without their common indentation; fails when there is none."""
    found = [text for label, text in REGION.findall((ROOT / path).read_text()) if label == name]
    if len(found) != 1:
        sys.exit(f"{path}: {len(found)} regions are called [{name}]; one is needed")
    return textwrap.dedent(found[0])


def updated(page):
    """The text of a page with its blocks as the sources have them."""
    text = page.read_text()
    if len(BLOCK.findall(text)) != len(MARK.findall(text)):
        sys.exit(f"{page}: a `<!-- code: file region -->` line is not followed by a block of code")
    return BLOCK.sub(lambda m: m[1] + region(m[2], m[3]) + m[5], text)


def main():
    stale = 0
    for page in sorted((ROOT / "docs").rglob("*.md")):
        new = updated(page)
        if new != page.read_text():
            if "--write" in sys.argv:
                page.write_text(new)
            else:
                stale += 1
                print(f"{page.relative_to(ROOT)}: code differs from its source; run ./dev format")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
