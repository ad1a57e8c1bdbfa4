#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_bench.py PROGRAM: luisa-tile-bench writes the JSON that readers rely on, and refuses what it cannot do."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

KEYS = ["suite", "case", "dtype", "device", "threads", "mode", "ours_us", "peer", "peer_version",
        "peer_us", "ratio", "limit", "limit_fraction", "max_error", "compile_ms", "plan"]
REFUSED = {
    "unknown suite 'gem'": ["gem"],
    "unknown peer 'blas'": ["gemm", "--peers", "blas"],
    "unknown device 'tpu'": ["gemm", "--device", "tpu"],
    "unknown dtype 'f8'": ["gemm", "--dtype", "f8"],
    "--threads 0: expected 1 to": ["gemm", "--threads", "0"],
    "--threads 100000: expected 1 to": ["gemm", "--threads", "100000"],
    "cannot write '/nowhere/x.json'": ["gemm", "--json", "/nowhere/x.json"],
    "not a regular expression": ["gemm", "--case", "["],
    "leaves no case of gemm, rows": ["gemm", "rows", "--case", "nothing"],
    "SUITE is required": [],
}
problems = []


def check(truth, message):
    if not truth:
        problems.append(message)


def run(program, arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def check_row(row):
    where = f"{row.get('suite')} {row.get('case')}"
    if list(row) != KEYS:
        problems.append(f"{where}: keys {list(row)}")
        return
    check(row["device"] == "cpu" and row["dtype"] == "f32" and row["mode"] is None, where)
    check(row["ours_us"] > 0 and row["compile_ms"] > 0, f"{where}: times")
    check(row["limit"] in ("fma", "memory", "l2", "latency"), f"{where}: {row['limit']}")
    check(row["limit_fraction"] > 0, f"{where}: limit_fraction {row['limit_fraction']}")
    check(0 <= row["max_error"] < 1e-4, f"{where}: max_error {row['max_error']}")
    check(re.fullmatch("[0-9a-f]{16}", row["plan"]), f"{where}: plan {row['plan']}")


def measure(program, arguments):
    """The rows that a run writes, and what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "out.json"
        done = run(program, [*arguments, "--quick", "--json", str(path)])
        check(done.returncode == 0, f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        check_row(row)
    return rows, done.stdout


def check_suites(program):
    rows, text = measure(program, ["gemm", "rows"])
    names = [(r["suite"], r["case"]) for r in rows]
    check(len(set(names)) == len(names), "a case was measured twice")
    for name in (("gemm", "256x256x256"), ("gemm", "1024x1024x1024-swapped"),
                 ("rows", "1024x4097-layernorm")):
        check(name in names, f"{name} was not measured")
        check(name[1] in text, f"the table lacks {name[1]}")
    for row in rows:
        check(row["peer"] is None and row["ratio"] is None, f"{row['case']}: a peer nobody asked for")


def check_lines(program):
    """Suites over lines of a matrix: their small cases."""
    rows, _ = measure(program, ["reduce", "scan", "sort", "topk", "transpose", "--case", "^(7x5|257x)"])
    names = {(r["suite"], r["case"]) for r in rows}
    for name in (("reduce", "257x1538-sum-columns"), ("scan", "7x5-rows"), ("sort", "257x1000"),
                 ("topk", "7x5-2"), ("transpose", "257x1538")):
        check(name in names, f"{name} was not measured")


def check_peer(program):
    """An installed peer is compared with; for another one the command that brings it is printed."""
    rows, text = measure(program, ["gemm", "--case", "^7x5x3$", "--peers", "openblas"])
    check(len(rows) == 1, f"{len(rows)} rows for one case")
    if rows and rows[0]["peer"] is None:
        check("./dev setup peers" in text, f"no word on how to get the peer:\n{text}")
    elif rows:
        check(rows[0]["peer"] == "openblas" and rows[0]["ratio"] > 0 and rows[0]["peer_us"] > 0
              and rows[0]["peer_version"], f"peer row {rows[0]}")
        check("gemm against openblas on 1 thread: geometric mean" in text, "no summary")


def main():
    program = sys.argv[1]
    check_suites(program)
    check_lines(program)
    check_peer(program)
    for message, arguments in REFUSED.items():
        done = run(program, arguments)
        check(done.returncode == 2 and message in done.stderr,
              f"{arguments}: status {done.returncode}, expected 2 and '{message}':\n{done.stderr}")
    print("\n".join(problems) if problems else "bench: rows and refusals are as documented")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
