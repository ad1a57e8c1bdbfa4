# SPDX-License-Identifier: Apache-2.0
"""What the scripts have in common that write a page of docs/ from the sources."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def write_or_check(page, text):
    """Writes `text` to `page`; with --check, says whether it is current. Returns the exit status."""
    if "--check" not in sys.argv:
        page.parent.mkdir(exist_ok=True)
        page.write_text(text)
    elif not page.exists() or page.read_text() != text:
        print(f"{page.relative_to(ROOT)} is not current; run ./dev format")
        return 1
    return 0
