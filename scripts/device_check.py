#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the GPU of this machine with what make_device_check.sh packed into the check.tar.xz beside this file.

Runs kernels from text on device "cuda" and on the interpreter, then the conformance tests on "cuda" against the
interpreter, some at a time in a process of their own: a kernel that breaks its process spoils no other test. Prints
a summary; the whole log goes to the folder $OUT if that is set.
"""

import argparse
import collections
import concurrent.futures
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TESTS_A_PROCESS = 40
SECONDS_A_PROCESS = 120
SANITIZED_TESTS = 30
EXAMPLES = ("attention", "convolution", "cross_entropy", "gemm", "rows", "whole_array")

OUTCOME = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] ([\w/.]+)(?:,.*)? \(\d+ ms\)$", re.M)
STARTED = re.compile(r"^\[ RUN +\] ([\w/.]+)$", re.M)


def run(command, environment, seconds):
    """Exit status, or a text for one that ran too long, and what was said."""
    try:
        done = subprocess.run(command, env=environment, timeout=seconds, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired as error:
        return "out of time", (error.stdout or b"").decode("utf-8", "replace")


def check_tool(bin_folder, tests, environment):
    """Equal texts, with checksums of all that is written, whatever the device."""
    options = {"gemm": ["--input", "0=random", "--input", "1=random", "--extent", "k=64",
                        "--scalar", "3=2"], "softmax": ["--input", "0=random"]}
    for kernel, inputs in options.items():
        said = [run([bin_folder / "luisa-tile", "run", tests / f"{kernel}.tir", "--device", device,
                     "--print", "4"] + inputs, environment, 60) for device in ("interpreter", "cuda")]
        same = said[0] == said[1] and said[0][0] == 0
        print(f"tool {kernel}: {'equal to the interpreter' if same else said}")


def check_examples(bin_folder, environment):
    """Those that were packed, with the sizes of their tests. Whether all are right."""
    right = True
    for name in EXAMPLES:
        if (bin_folder / name).exists():
            start = time.monotonic()
            status, said = run([bin_folder / name, "--quick", "--device", "cuda"], environment, 120)
            right &= status == 0
            print(f"example {name}, {time.monotonic() - start:.0f} s:",
                  "right" if status == 0 else f"WRONG ({status})")
            print("   ", *said.strip().splitlines()[1:], sep="\n    ")
    return right


def check_programs(bin_folder, environment, count, seed, jobs, seconds):
    """Random programs against the interpreter. Whether all agree."""
    start = time.monotonic()
    command = [bin_folder / "luisa-tile", "fuzz", "--device", "cuda", "--seed", str(seed),
               "--count", str(count), "--jobs", str(jobs), "--reduce", "20"]
    status, said = run(command, environment, seconds)
    print(f"random programs on cuda, {time.monotonic() - start:.0f} s, status {status}:")
    print(*[line for line in said.splitlines()
            if line.startswith(("seed", "FAILED", "unsupported", "  reduced"))][:40], sep="\n")
    if os.environ.get("OUT"):
        (pathlib.Path(os.environ["OUT"]) / "programs.log").write_text(said, encoding="utf-8")
    return status == 0


def check_memory(work, environment, names, jobs):
    """compute-sanitizer on a sample of the conformance tests, one after the other. Whether it finds nothing."""
    tool = work / "sanitizer" / "bin" / "compute-sanitizer"
    sample = names[::max(len(names) // SANITIZED_TESTS, 1)][:SANITIZED_TESTS]
    inside = dict(environment)
    inside["LD_LIBRARY_PATH"] = f"{work / 'sanitizer' / 'lib'}:{environment['LD_LIBRARY_PATH']}"
    clean = True
    for kind in ("memcheck", "racecheck", "initcheck", "synccheck"):
        def one(name, kind=kind):
            return name, *run([tool, "--tool", kind, "--error-exitcode", "9",
                               work / "bin" / "conformance", f"--gtest_filter={name}"], inside, 120)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            said = list(pool.map(one, sample))
        found = [(name, status, text) for name, status, text in said
                 if status != 0 or "ERROR SUMMARY: 0 errors" not in text
                 and "RACECHECK SUMMARY: 0 hazards" not in text]
        # Memory that a launch left unwritten is copied back with what was written: said, and no failure.
        clean &= not found or kind == "initcheck"
        print(f"compute-sanitizer {kind}: {len(sample)} tests, {len(found)} not clean")
        for name, status, text in found[:5]:
            print(f"  {name} ({status})",
                  *[line for line in text.splitlines() if line.startswith("=====")][:12],
                  sep="\n    ")
    return clean


def list_tests(program, environment, chosen):
    names, suite = [], ""
    for line in run([program, "--gtest_list_tests", f"--gtest_filter={chosen}"], environment,
                    60)[1].splitlines():
        line = line.split("#")[0].rstrip()
        if line.startswith("  "):
            names.append(suite + line.strip())
        elif line.endswith("."):
            suite = line
    return names


class Suite:
    """The tests of one program, run until a time."""

    def __init__(self, program, environment, deadline):
        self.program, self.environment, self.deadline = program, environment, deadline
        self.outcomes, self.broken, self.log = {}, [], []
        self.lock = threading.Lock()

    def run_some(self, names):
        while names and time.monotonic() < self.deadline:
            seconds = min(SECONDS_A_PROCESS, self.deadline - time.monotonic())
            status, text = run([self.program, "--gtest_filter=" + ":".join(names)],
                               self.environment, max(seconds, 1))
            outcomes = {name: what for what, name in OUTCOME.findall(text)}
            started = STARTED.findall(text)
            unfinished = [name for name in started if name not in outcomes]
            with self.lock:
                self.outcomes.update(outcomes)
                self.log.append(text)
                if status not in (0, 1):
                    self.broken.append((unfinished[-1] if unfinished else "?", status,
                                        text.strip().splitlines()[-3:]))
            if status in (0, 1) or not started:
                return
            names = [name for name in names if name not in started]


def summarise(suite, names, seconds):
    counts = collections.Counter(suite.outcomes.values())
    print(f"conformance on cuda, {seconds:.0f} s: {len(names)} tests, {counts['OK']} passed, "
          f"{counts['FAILED']} failed, {counts['SKIPPED']} skipped, {len(suite.broken)} broke their "
          f"process, {len(names) - len(suite.outcomes) - len(suite.broken)} not run")
    log = "\n".join(suite.log)
    unsupported = re.findall(r"^cuda: (?:[^:]+: )?(.*)$", log, re.M)
    print(f"kernels that are not realized for GPUs: {len(unsupported)}")
    for text, count in collections.Counter(re.sub(r"\d+", "N", text)
                                           for text in unsupported).most_common(12):
        print(f"  {count} {text[:160]}")
    for name, status, last in suite.broken[:20]:
        print(f"broke: {name} ({status})", *last, sep="\n    ")
    failed = sorted(name for name, what in suite.outcomes.items() if what == "FAILED")
    print("failed:", *failed[:80], sep="\n  ")
    for block in re.findall(r"(?:Failure\n|exception with)(?:.*\n){1,5}", log)[:12]:
        print(block[:600])
    return log


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("seconds", nargs="?", type=float, default=400, help="for the tests")
    parser.add_argument("filter", nargs="?", default="*", help="of the tests; - for none")
    parser.add_argument("jobs", nargs="?", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--programs", type=int, default=0, help="random programs to run first")
    parser.add_argument("--seed", type=int, default=1, help="of them")
    parser.add_argument("--examples", action="store_true", help="run the examples")
    parser.add_argument("--sanitize", action="store_true",
                        help="a sample of the tests under compute-sanitizer, if that was packed")
    return parser.parse_args()


def unpack():
    work = pathlib.Path(tempfile.mkdtemp())
    subprocess.run(["tar", "-xJf", HERE / "check.tar.xz", "-C", work, "--strip-components=1"],
                   check=True)
    return work


def main():
    given = arguments()
    work = unpack()
    environment = dict(os.environ, LUISA_TILE_CACHE="off", LUISA_TILE_TEST_DEVICES="cuda")
    environment["LD_LIBRARY_PATH"] = f"{work / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    print(run([work / "bin" / "luisa-tile", "devices"], environment, 60)[1].strip())
    check_tool(work / "bin", work / "tests" / "tool", environment)
    right = not given.examples or check_examples(work / "bin", environment)
    sys.stdout.flush()
    if given.programs:
        right &= check_programs(work / "bin", environment, given.programs, given.seed, given.jobs,
                                max(given.seconds, 240))
        sys.stdout.flush()
    program = work / "bin" / "conformance"
    if given.sanitize:
        right &= check_memory(work, environment, list_tests(program, environment, "*"), given.jobs)
    if given.filter == "-":
        return 0 if right else 1
    names = list_tests(program, environment, given.filter)
    start = time.monotonic()
    suite = Suite(program, environment, start + given.seconds)
    some = [names[i:i + TESTS_A_PROCESS] for i in range(0, len(names), TESTS_A_PROCESS)]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(suite.run_some, some))
    log = summarise(suite, names, time.monotonic() - start)
    if os.environ.get("OUT"):
        with lzma.open(pathlib.Path(os.environ["OUT"]) / "conformance.log.xz", "wt") as file:
            file.write(log)
    bad = suite.broken or "FAILED" in suite.outcomes.values()
    return 1 if bad or not right or len(suite.outcomes) < len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
