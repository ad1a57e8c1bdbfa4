#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_wheel.py: the back end of `pip install .` packs the library of LUISA_TILE_LIBRARY into a wheel that works from where
it is unpacked, and whose list of files is right."""

import base64
import csv
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
USE = """import sys, luisa_tile
kernel = luisa_tile.compile(sys.argv[1], device="cpu")
print(luisa_tile.__file__, kernel.name, len(kernel.parameters))"""


def check_record(wheel):
    """Problems of the list of files."""
    problems = []
    record = next(name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
    rows = {row[0]: row[1:] for row in csv.reader(wheel.read(record).decode().splitlines())}
    if set(rows) != set(wheel.namelist()):
        problems.append(f"RECORD lists {sorted(rows)}, the wheel has {sorted(wheel.namelist())}")
    for name, (digest, size) in rows.items():
        data = wheel.read(name)
        right = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        if name != record and (digest, size) != (f"sha256={right}", str(len(data))):
            problems.append(f"{name} is listed with a wrong hash or size")
    return problems


def main():
    sys.path.insert(0, str(ROOT / "python" / "build"))
    import wheel_of_build
    with tempfile.TemporaryDirectory() as work:
        path = pathlib.Path(work) / wheel_of_build.build_wheel(work)
        with zipfile.ZipFile(path) as wheel:
            problems = check_record(wheel)
            wheel.extractall(pathlib.Path(work) / "site")
        environment = {k: v for k, v in os.environ.items() if k != "LUISA_TILE_LIBRARY"}
        environment["PYTHONPATH"] = f"{work}/site"
        done = subprocess.run([sys.executable, "-c", USE, str(ROOT / "tests/tool/softmax.tir")], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=work, check=False)
        if done.stdout.split() != [f"{work}/site/luisa_tile/__init__.py", "softmax", "2"]:
            problems.append(f"status {done.returncode}: {done.stdout}")
    print("\n".join(problems) if problems else f"{path.name} works")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
