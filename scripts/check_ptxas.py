#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_ptxas.py FOLDER [JOBS]: assembles every NAME.ARCHITECTURE.ptx of a folder with NVIDIA's ptxas.

The assembler is on the path, in /usr/local/cuda, or in the package nvidia-cuda-nvcc of the Python that runs this.
Equal files are assembled once. Names what is refused, and what spills registers to memory. Fails if anything is
refused; 77, with a line that says so, where there is no assembler.
"""

import collections
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

SPILL = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")


def assembler():
    found = shutil.which("ptxas")
    if found:
        return found
    places = [pathlib.Path("/usr/local/cuda/bin/ptxas")]
    for folder in map(pathlib.Path, sys.path):
        places += sorted(folder.glob("nvidia/*/bin/ptxas")) if folder.is_dir() else []
    return next((str(place) for place in places if os.access(place, os.X_OK)), None)


def assemble(ptxas, path):
    architecture = path.name.split(".")[-2]
    done = subprocess.run([ptxas, "-v", f"-arch={architecture}", "-o", "/dev/null", path],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    said = done.stdout.decode("utf-8", "replace")
    spilled = max((int(a) + int(b) for a, b in SPILL.findall(said)), default=0)
    return path.name, architecture, None if done.returncode == 0 else said.strip(), spilled


def main():
    folder = pathlib.Path(sys.argv[1])
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count() or 1
    ptxas = assembler()
    if not ptxas:
        print("skipped: no ptxas here; `pip install nvidia-cuda-nvcc` brings one")
        return 77
    different = {}
    files = sorted(folder.glob("*.ptx"))
    for path in files:
        key = hashlib.sha256(path.read_bytes() + path.name.split(".")[-2].encode()).digest()
        different.setdefault(key, path)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda path: assemble(ptxas, path), different.values()))
    counts = collections.Counter(architecture for _, architecture, _, _ in results)
    refused = [(name, said) for name, _, said, _ in results if said]
    spilling = [(name, spilled) for name, _, said, spilled in results if not said and spilled]
    print(f"{ptxas}: {len(files)} files, {len(results)} different ("
          + ", ".join(f"{n} {a}" for a, n in sorted(counts.items()))
          + f"), {len(refused)} refused, {len(spilling)} spill registers")
    for name, spilled in spilling:
        print(f"  {name} spills {spilled} bytes")
    for name, said in refused:
        print(f"  {name} is refused:", said, sep="\n    ")
    return 1 if refused or not results else 0


if __name__ == "__main__":
    sys.exit(main())
