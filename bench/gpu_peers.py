#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpu_peers.py SUITE…: our kernels on a GPU beside PyTorch's (eager and compiled) and Triton's, in a table of ratios.

Runs luisa-tile-bench on the device, then times the peers on the same shapes by the same protocol: events of the device;
`burst` in shuffled order after idle gaps, `sustained` back to back; other data read through the cache before each call.
A ratio is the peer's time ÷ ours: above 1 we are faster. Without PyTorch our figures stand alone.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

FLUSH = (8192, 4096)
FLUSH_PASSES = 8  # longer than a call takes to be submitted from Python after an idle gap
IDLE_GAP = 5e-3
BURST_ROUNDS, QUICK_ROUNDS = 15, 3
SUSTAINED_US = 1e5
LEAST_CALLS, MOST_CALLS = 10, 200
PEERS = ["eager", "compile", "triton", "copy"]
SUITES = ["rows", "fused", "reduce", "scan", "sort", "topk", "transpose", "gemm", "whole"]


def parse():
    """The command line."""
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", default=SUITES, metavar="SUITE", help=f"default: {' '.join(SUITES)}")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--case", default="", help="only cases whose names contain this regular expression")
    parser.add_argument("--bench", default=str(here / "luisa-tile-bench"),
                        help="the program, by default beside this file")
    parser.add_argument("--ours", help="lines that luisa-tile-bench has written, instead of running it")
    parser.add_argument("--json", help="write one object a line, as luisa-tile-bench does, to this file")
    parser.add_argument("--peers", default=",".join(PEERS), help="which, such as eager,copy")
    parser.add_argument("--quick", action="store_true", help="few rounds: a check, not a measurement")
    options = parser.parse_args()
    unknown = set(options.peers.split(",")) - set(PEERS)
    if unknown:
        parser.error(f"--peers has {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    return options


def our_lines(options):
    """What luisa-tile-bench measured, and whether all of it went well."""
    if options.ours:
        return [json.loads(line) for line in open(options.ours, encoding="utf-8")], True
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "ours.json"
        command = [options.bench, *options.suites, "--device", options.device, "--json", str(path)]
        command += ["--case", options.case] if options.case else []
        command += ["--quick"] if options.quick else []
        done = subprocess.run(command, check=False)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines], done.returncode == 0


class Peers:
    """The same work by other libraries: a function of the tensors for each case."""

    def __init__(self, torch, device, wanted):
        self.torch, self.device, self.wanted = torch, device, wanted
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.manual_seed(1)
        self.failed = collections.Counter()
        self.triton = None
        if "triton" not in wanted:
            return
        try:
            import gpu_triton
            self.triton = gpu_triton
        except Exception as error:  # Triton may be missing, or fail for want of a compiler.
            print(f"no Triton: {error}".splitlines()[0])

    def tensor(self, *extents):
        return self.torch.rand(*extents, device=self.device) * 2 - 1

    def work(self, suite, case):
        """(function, arguments) in PyTorch's words; None for a case that it has no function for."""
        torch, functional = self.torch, self.torch.nn.functional
        extents = [int(n) for n in re.match(r"\d+(x\d+)*", case)[0].split("x")]
        kind = case.partition("-")[2]
        if suite == "gemm":
            m, n, k = extents
            return torch.mm, (self.tensor(m, k), self.tensor(k, n))
        if suite == "whole":
            x = self.tensor(*extents)
            return {"sum": (torch.sum, (x,)), "scan": (lambda x: torch.cumsum(x, 0), (x,)),
                    "sort": (lambda x: torch.sort(x, stable=True), (x,)),
                    "histogram": (lambda x: torch.bincount(x, minlength=4096),
                                  (torch.randint(4096, extents, device=self.device, dtype=torch.int32),)),
                    }.get(kind)
        rows, columns = extents
        if suite == "fused":
            return self.fused(rows, columns, *kind.partition("-bf16")[:2])
        x = self.tensor(rows, columns)
        weights = (self.tensor(columns), self.tensor(columns)) if suite == "rows" else ()
        table = {
            ("rows", "softmax"): (lambda x: torch.softmax(x, 1), (x,)),
            ("rows", "layernorm"): (lambda x, g, s: functional.layer_norm(x, (columns,), g, s, 1e-5), (x, *weights)),
            ("rows", "rmsnorm"): (lambda x, g: functional.rms_norm(x, (columns,), g, 1e-5), (x, *weights[:1])),
            ("reduce", "sum"): (lambda x: torch.sum(x, 1), (x,)),
            ("reduce", "sum-columns"): (lambda x: torch.sum(x, 0), (x,)),
            ("reduce", "maximum"): (lambda x: torch.amax(x, 1), (x,)),
            ("scan", "rows"): (lambda x: torch.cumsum(x, 1), (x,)),
            ("scan", "columns"): (lambda x: torch.cumsum(x, 0), (x,)),
            ("transpose", ""): (lambda x: x.t().contiguous(), (x,)),
            ("sort", ""): (lambda x: torch.sort(x, dim=1, stable=True), (x,)),
        }
        if suite == "topk":
            return lambda x: torch.topk(x, int(kind), 1), (x,)
        return table.get((suite, kind))

    def fused(self, rows, columns, kind, narrow):
        """What lies between products, in f32 or bf16."""
        torch, functional = self.torch, self.torch.nn.functional
        half = columns // 2

        def rope(x, z):
            low, high, c, s = x[:, :half], x[:, half:], z[:, :half], z[:, half:]
            return torch.cat((low * c - high * s, high * c + low * s), 1)

        x, z = (4 * self.tensor(rows, columns).to(torch.bfloat16 if narrow else torch.float32) for _ in range(2))
        labels = torch.arange(rows, device=self.device) * 7919 % columns
        table = {
            "softmax": (lambda x: torch.softmax(x, 1), (x,)),
            "masked-softmax": (lambda x, z: torch.softmax(x.masked_fill(z <= 0, -math.inf), 1), (x, z)),
            "layernorm": (lambda x, w, b: functional.layer_norm(x, (columns,), w, b, 1e-5), (x, z[0], z[1])),
            "rmsnorm": (lambda x, w: functional.rms_norm(x, (columns,), w, 1e-5), (x, z[0])),
            "gelu-residual": (lambda x, z: functional.gelu(x) + z, (x, z)),
            "swiglu": (lambda x, z: functional.silu(x) * z, (x, z)),
            "rope": (rope, (x, z)),
            "cross-entropy": (lambda x, l: functional.cross_entropy(x.float(), l, reduction="none"), (x, labels)),
        }
        return table.get(kind)

    def calls(self, suite, case):
        """Peer's name -> what runs the case once."""
        work = self.work(suite, case)
        if not work:
            return {}
        function, arguments = work
        calls = {"eager": lambda: function(*arguments)}
        if "compile" in self.wanted and suite not in ("gemm", "sort", "topk", "whole"):
            compiled = self.torch.compile(function, dynamic=False)
            calls["compile"] = lambda: compiled(*arguments)
        if suite != "gemm":
            target = self.torch.empty_like(arguments[0])
            calls["copy"] = lambda: target.copy_(arguments[0])
        if self.triton:
            run = self.triton.call(suite, case.partition("-")[2], arguments)
            if run:
                calls["triton"] = run
        return {name: call for name, call in calls.items()
                if name in self.wanted and self.runs(suite, case, name, call, function, arguments)}

    def bounds(self, got):
        """How far a peer may be from PyTorch's eager function, which rounds bf16 where others do not."""
        narrow = got.dtype == self.torch.bfloat16
        return {"rtol": 5e-2 if narrow else 1e-3, "atol": 5e-2 if narrow else 1e-4}

    def runs(self, suite, case, name, call, function, arguments):
        """Whether a peer works here, and gives what PyTorch's eager function gives."""
        torch = self.torch
        try:
            for _ in range(3):
                got = call()
            torch.cuda.synchronize()
            if name in ("compile", "triton"):
                torch.testing.assert_close(got, function(*arguments), **self.bounds(got))
            return True
        except Exception as error:
            if not self.failed[name]:
                print(f"{name} fails on {suite} {case}: {type(error).__name__}: {str(error).strip()[:300]}")
            self.failed[name] += 1
            return False


class Clock:
    """Times calls on the device."""

    def __init__(self, torch, device):
        self.torch = torch
        self.source = torch.rand(*FLUSH, device=device)
        self.sink = torch.empty(FLUSH[0], device=device)

    def submit(self, call):
        torch = self.torch
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(FLUSH_PASSES):
            torch.amax(self.source, 1, out=self.sink)
        start.record()
        call()
        end.record()
        return start, end

    def burst(self, calls, rounds):
        """Medians in microseconds of calls by any key."""
        times = collections.defaultdict(list)
        order = list(calls)
        shuffle = random.Random(2026)
        for turn in range(-1, rounds):
            shuffle.shuffle(order)
            for key in order:
                time.sleep(IDLE_GAP)
                start, end = self.submit(calls[key])
                self.torch.cuda.synchronize()
                if turn >= 0:
                    times[key].append(1e3 * start.elapsed_time(end))
        return {key: statistics.median(found) for key, found in times.items()}

    def sustained(self, call, count):
        events = [self.submit(call) for _ in range(count)]
        self.torch.cuda.synchronize()
        return statistics.median(1e3 * start.elapsed_time(end) for start, end in events)


def time_peers(options, lines):
    """(suite, case, peer, mode) -> microseconds, and the version of the peers."""
    try:
        import torch
    except ImportError as error:
        print(f"no peers: {error}")
        return {}, ""
    if not torch.cuda.is_available():
        print("no peers: PyTorch sees no GPU")
        return {}, ""
    peers = Peers(torch, options.device, options.peers.split(","))
    cases = list(dict.fromkeys((line["suite"], line["case"]) for line in lines))
    # Variants of ours are one case of a peer's.
    calls = {}
    for suite, case in cases:
        for name, call in peers.calls(suite, case).items():
            calls[suite, case, name] = call
    clock = Clock(torch, options.device)
    rounds = QUICK_ROUNDS if options.quick else BURST_ROUNDS
    found = {}
    for key, us in clock.burst(calls, rounds).items():
        found[(*key, "burst")] = us
        wanted = QUICK_ROUNDS if options.quick else min(max(int(SUSTAINED_US / max(us, 1)), LEAST_CALLS), MOST_CALLS)
        found[(*key, "sustained")] = clock.sustained(calls[key], wanted)
    for name, count in peers.failed.items():
        print(f"{name} failed on {count} cases")
    return found, torch.__version__


def print_table(lines, times):
    names = sorted({key[2] for key in times}, key=PEERS.index)
    print(f"\n{'suite':<10}{'case':<26}{'mode':<10}{'ours us':>10}" + "".join(f"{n:>10}{'ratio':>7}" for n in names))
    ratios = collections.defaultdict(list)
    for line in lines:
        text = f"{line['suite']:<10}{line['case']:<26}{line['mode']:<10}{line['ours_us']:>10.1f}"
        for name in names:
            us = times.get((line["suite"], line["case"], name, line["mode"]))
            text += f"{us:>10.1f} {us / line['ours_us']:>6.2f}" if us else f"{'-':>10}{'-':>7}"
            if us:
                ratios[line["suite"], line["mode"], name].append(us / line["ours_us"])
        print(text)
    print()
    for (suite, mode, name), values in ratios.items():
        mean = math.exp(statistics.fmean(math.log(v) for v in values))
        print(f"{suite} against {name}, {mode}: geometric mean {mean:.2f}, minimum {min(values):.2f}, "
              f"{sum(v < 1 for v in values)} of {len(values)} lose")


def write_json(path, lines, times, version):
    with open(path, "w", encoding="utf-8") as file:
        for line in lines:
            found = {name: us for (suite, case, name, mode), us in times.items()
                     if (suite, case, mode) == (line["suite"], line["case"], line["mode"])}
            for name, us in found.items() or [(None, None)]:
                joined = dict(line, peer=name, peer_version=version if name else None, peer_us=us,
                              ratio=us / line["ours_us"] if us else None)
                file.write(json.dumps(joined) + "\n")


def main():
    options = parse()
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    lines, good = our_lines(options)
    lines = [line for line in lines if line["ours_us"] is not None]
    if not lines:
        print("no figures of ours: nothing to compare")
        return 1
    times, version = time_peers(options, lines)
    print_table(lines, times)
    if options.json:
        write_json(options.json, lines, times, version)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
