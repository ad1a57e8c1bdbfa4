#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Explains examples as a page and as JSON, and holds both to what a device says of the same kernels.

    check_explain.py LUISA_TILE EXAMPLE...
"""

import html
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SECTIONS = ["summary", "source", "nests", "plan", "steps", "values", "pipelines", "roofline",
            "alternatives", "rest"]
VOID = {"meta", "br", "hr", "img", "input", "link", "line", "rect", "circle", "polyline"}


class Page(html.parser.HTMLParser):
    """Checks that elements nest, and collects what the test compares."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.refs, self.headings = [], [], [], []
        self.problems, self.remote, self.text = [], [], []
        self.feed(text)
        if self.open:
            self.problems.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        self.refs += attributes.get("aria-labelledby", "").split()
        target = attributes.get("href", "") or attributes.get("src", "")
        if target.startswith("#"):
            self.refs.append(target[1:])
        elif target:
            self.remote.append(target)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "script":
            self.problems.append("a script")
        if tag == "svg" and attributes.get("role") != "img":
            self.problems.append("a picture without a role")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes something else")

    def handle_data(self, data):
        self.text.append(data)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_page(text, kernels, name):
    page = Page(text)
    assert not page.problems, (name, page.problems[:3])
    assert not page.remote, (name, page.remote)
    assert len(page.ids) == len(set(page.ids)), (name, "an id twice")
    assert not set(page.refs) - set(page.ids), (name, set(page.refs) - set(page.ids))
    assert "@import" not in text and "url(" not in text, name
    for before, after in zip(page.headings, page.headings[1:]):
        assert after <= before + 1, (name, "a level of headings is left out")
    words = "".join(page.text)
    for number, kernel in enumerate(kernels, 1):
        for section in SECTIONS:
            assert f"k{number}-{section}" in page.ids, (name, section)
        assert kernel["plan"] in words and kernel["tile_ir"] in words, name
        assert f"{kernel['scratch_bytes']} bytes a thread" in words, name
        assert f"{kernel['shared_bytes']} bytes a launch" in words, name
        for step in kernel["steps"]:
            assert f"k{number}-step{step['number']}" in page.ids, name
            assert step["title"] in words, (name, step["title"])
            for instruction in step["assembly"]:
                assert instruction in words, (name, instruction)
        for v in kernel["values"]:
            assert v["shares"] or f"{v['function']} at {v['offset']}" in words, (name, v)


def check_figures(kernels, printed, name):
    """Against the text that `explain` prints from the metadata of a compiled shader."""
    plans = re.findall(r"^plan @.*?^}\n", printed, re.MULTILINE | re.DOTALL)
    memory = re.findall(r"^scratch (\d+) bytes, shared (\d+) bytes$", printed, re.MULTILINE)
    assert [k["plan"] for k in kernels] == plans, name
    assert [(str(k["scratch_bytes"]), str(k["shared_bytes"])) for k in kernels] == memory, name


def check_example(tool, name, folder):
    page, data = folder / f"{name}.html", folder / f"{name}.json"
    limits = ["--peak", "100", "--bandwidth", "20"]
    run(tool, "explain", "--example", name, "--html", page, "--json", data, *limits)
    about = json.loads(data.read_text())
    kernels = about["kernels"]
    assert kernels and about["machine"]["flops"] == 100e9, name
    assert all(source["found"] for source in about["sources"]), (name, about["sources"])
    for kernel in kernels:
        # What LLVM sinks into a branch loses its place; of the rest each instruction has a step.
        lost = [step["title"] for step in kernel["steps"]
                if step["kind"] in ("group", "contraction") and not step["assembly"]]
        assert len(lost) <= 1 and (not lost or len(kernel["other_assembly"]) > 10), (name, lost)
        assert not lost or "LLVM moved its instructions" in page.read_text(), name
    check_figures(kernels, run(tool, "explain", "--example", name), name)
    check_page(page.read_text(), kernels, name)
    return len(kernels), sum(len(k["steps"]) for k in kernels)


def check_mistakes(tool, folder):
    for arguments, words in [
            (["--example", "no_such"], "there is no example 'no_such'"),
            (["--example", "../gemm"], "there is no example '../gemm'"),
            (["--example", "luisa_tile", "FILE.tir"], "one of the two"),
            ([], "one of the two"),
            (["--example", "gemm", "--html", folder / "no" / "page.html", "--peak", "1",
              "--bandwidth", "1"], "cannot write"),
            (["--example", "gemm", "--html", folder / "x.html", "--extent", "n=x"],
             "--extent n is x, expected a number >= 0")]:
        done = subprocess.run([tool, "explain", *arguments], capture_output=True, text=True)
        assert done.returncode == 1 and words in done.stderr, (arguments, done.stderr)


def main():
    tool, *examples = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in examples:
            kernels, steps = check_example(tool, name, folder)
            print(f"{name}: {kernels} kernels, {steps} steps")
        if "gemm" in examples:
            check_mistakes(tool, folder)


if __name__ == "__main__":
    main()
