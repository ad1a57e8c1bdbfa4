#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the GPU of this machine with what make_device_check.sh packed into the check.tar.xz beside this file.

Runs kernels from text on device "cuda" and on the interpreter, then the conformance tests on "cuda" against the
interpreter, some at a time in a process of their own: a kernel that breaks its process spoils no other test. Prints
a summary; the whole log goes to the folder $OUT if that is set. Arguments: [SECONDS [FILTER [JOBS]]].
"""

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


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 400
    chosen = sys.argv[2] if len(sys.argv) > 2 else "*"
    jobs = int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count() or 1
    start = time.monotonic()
    work = pathlib.Path(tempfile.mkdtemp())
    subprocess.run(["tar", "-xJf", HERE / "check.tar.xz", "-C", work, "--strip-components=1"],
                   check=True)
    environment = dict(os.environ, LUISA_TILE_CACHE="off", LUISA_TILE_TEST_DEVICES="cuda")
    environment["LD_LIBRARY_PATH"] = f"{work / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    print(run([work / "bin" / "luisa-tile", "devices"], environment, 60)[1].strip())
    check_tool(work / "bin", work / "tests" / "tool", environment)
    sys.stdout.flush()
    program = work / "bin" / "conformance"
    names = list_tests(program, environment, chosen)
    suite = Suite(program, environment, start + seconds)
    some = [names[i:i + TESTS_A_PROCESS] for i in range(0, len(names), TESTS_A_PROCESS)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(suite.run_some, some))
    log = summarise(suite, names, time.monotonic() - start)
    if os.environ.get("OUT"):
        with lzma.open(pathlib.Path(os.environ["OUT"]) / "conformance.log.xz", "wt") as file:
            file.write(log)
    bad = suite.broken or "FAILED" in suite.outcomes.values()
    return 1 if bad or len(suite.outcomes) < len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
