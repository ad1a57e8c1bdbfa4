#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_bench.py PROGRAM: luisa-tile-bench writes the JSON that readers rely on, and refuses what it cannot do."""

import contextlib
import io
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
    "unknown device 'cuda:x'": ["rows", "--device", "cuda:x"],
    "suite 'model' is measured on the CPU only": ["rows", "model", "--device", "cuda-emulator"],
    "--peers and --clock are of the CPU": ["rows", "--device", "cuda-emulator", "--clock", "cpu"],
    "--case 'nothing' leaves no case;": ["rows", "--device", "cuda-emulator", "--case", "nothing"],
}
GPU_SUITES = ["rows", "fused", "reduce", "scan", "sort", "topk", "transpose", "gemm", "whole"]
problems = []


def check(truth, message):
    if not truth:
        problems.append(message)


def run(program, arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def check_gpu_row(row):
    where = f"{row.get('suite')} {row.get('case')} on the emulator"
    check(list(row) == KEYS, f"{where}: keys {list(row)}")
    check(row["device"] == "cuda-emulator" and row["mode"] == "check" and row["ours_us"] is None, where)
    check(row["peer"] is None and row["limit_fraction"] is None, where)
    bound = 2e-2 if row["dtype"] == "bf16" else 1e-4
    check(0 <= row["max_error"] < bound, f"{where}: max_error {row['max_error']}")


def check_row(row):
    where = f"{row.get('suite')} {row.get('case')}"
    if list(row) != KEYS:
        problems.append(f"{where}: keys {list(row)}")
        return
    types = ("f32", "bf16", "int8") if row["suite"] == "gemm" else ("f32",)
    check(row["device"] == "cpu" and row["dtype"] in types and row["mode"] is None, where)
    check(row["ours_us"] > 0 and row["compile_ms"] > 0, f"{where}: times")
    check(row["limit"] in ("fma", "memory", "l2", "latency"), f"{where}: {row['limit']}")
    check(row["limit_fraction"] > 0, f"{where}: limit_fraction {row['limit_fraction']}")
    check(0 <= row["max_error"] < 1e-4, f"{where}: max_error {row['max_error']}")
    check(re.fullmatch("[0-9a-f]{16}", row["plan"]), f"{where}: plan {row['plan']}")


def measure(program, arguments, check_one=check_row):
    """The rows that a run writes, and what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "out.json"
        done = run(program, [*arguments, "--quick", "--json", str(path)])
        check(done.returncode == 0, f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        check_one(row)
    return rows, done.stdout


def check_suites(program):
    rows, text = measure(program, ["gemm", "rows"])
    names = [(r["suite"], r["case"], r["dtype"]) for r in rows]
    check(len(set(names)) == len(names), "a case was measured twice")
    check({r["dtype"] for r in rows if r["suite"] == "gemm"} == {"f32", "bf16", "int8"}, "types of products")
    for name in (("gemm", "256x256x256"), ("gemm", "1024x1024x1024-swapped"),
                 ("rows", "1024x4097-layernorm")):
        check((*name, "f32") in names, f"{name} was not measured")
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


def check_gpu(program):
    """Every suite that is measured on GPUs, as far as the emulator goes; a peer's function for each case."""
    rows, text = measure(program, [*GPU_SUITES, "--device", "cuda-emulator"], check_gpu_row)
    check({row["suite"] for row in rows} == set(GPU_SUITES), f"suites {sorted({r['suite'] for r in rows})}")
    check("cases are too large for the emulator" in text, "large cases were not named")
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
    import gpu_peers
    lines = [dict(row, mode=mode, ours_us=2.0) for row in rows for mode in ("burst", "sustained")]
    times = {(row["suite"], row["case"], name, row["mode"]): us
             for row in lines for name, us in (("eager", 3.0), ("copy", 1.0)) if row["suite"] != "scan"}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "all.json"
        gpu_peers.write_json(path, lines, times, "2.0")
        joined = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        gpu_peers.print_table(lines, times)
    check("rows against eager, burst: geometric mean 1.50, minimum 1.50, 0 of 9 lose" in printed.getvalue(),
          f"table:\n{printed.getvalue()}")
    alone = [row for row in joined if row["suite"] == "scan"]
    check(all(list(row) == KEYS for row in joined), "keys of joined lines")
    check(alone and all(row["peer"] is None for row in alone), "a case without peers is not alone")
    check(len(joined) == len(alone) + 2 * (len(lines) - len(alone)), f"{len(joined)} joined lines")
    check({row["ratio"] for row in joined if row["peer"] == "copy"} == {0.5}, "ratios to the copy")
    check_peer_functions(gpu_peers, rows)


def check_peer_functions(gpu_peers, rows):
    """Each case has a function of PyTorch, which is tried where that is installed."""
    try:
        import torch
    except ImportError as error:
        print(f"functions of peers are not tried: {error}")
        return
    peers = gpu_peers.Peers(torch, "cpu", ["eager"])
    for row in rows:
        work = peers.work(row["suite"], row["case"])
        check(work is not None, f"{row['suite']} {row['case']}: no function of PyTorch")
        if work:
            function, arguments = work
            function(*arguments)


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
    check_gpu(program)
    check_peer(program)
    for message, arguments in REFUSED.items():
        done = run(program, arguments)
        check(done.returncode == 2 and message in done.stderr,
              f"{arguments}: status {done.returncode}, expected 2 and '{message}':\n{done.stderr}")
    print("\n".join(problems) if problems else "bench: rows and refusals are as documented")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
