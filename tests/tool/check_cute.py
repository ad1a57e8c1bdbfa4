#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Layout functions beside CuTe's own Python, `pycute` of the package nvidia-cutlass, on random layouts.

usage: check_cute.py UNIT_LAYOUT [--count N] [--seed S]

Writes operands as CuTe's text and, of what pycute makes of them, the images one by one, the first coordinate fastest; the test
CuteOracle of UNIT_LAYOUT computes its own from the texts and compares. Of pycute's answers only those count that have the law of
their function, since it does not refuse all operands without an answer. Ends with 77 where pycute is absent.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

try:
    import pycute
except ImportError:
    print("skipped: no module pycute; python3 -m pip install --no-deps nvidia-cutlass brings it")
    sys.exit(77)

MOST = 512  # elements of a layout
Layout = pycute.Layout


def images(layout):
    return [layout(i) for i in range(pycute.size(layout))]


def text(layout):
    return str(layout).replace(" ", "").replace(",)", ")")


def some_shape(rng, nested=True):
    """An integer or a tuple, of few elements."""
    if nested and rng.random() < 0.5:
        return tuple(some_shape(rng, rng.random() < 0.3) for _ in range(rng.randint(1, 3)))
    return rng.choice((1, 2, 2, 3, 4, 4, 5, 6, 8))


def some_layout(rng, most=MOST):
    """Compact ones with their digits in any order, such ones with holes, and any strides at all."""
    while True:
        shape = some_shape(rng)
        if pycute.product(shape) <= most:
            break
    extents = list(pycute.flatten(shape))
    strides = [0] * len(extents)
    order = list(range(len(extents)))
    if rng.random() < 0.6:
        rng.shuffle(order)
    step = rng.choice((1, 1, 1, 2, 3))
    for k in order:
        strides[k] = step
        step *= extents[k] * (rng.choice((2, 3)) if rng.random() < 0.15 else 1)
    if rng.random() < 0.25:
        strides = [rng.randint(0, 12) for _ in extents]
    left = iter(strides)
    nest = lambda s: tuple(nest(x) for x in s) if isinstance(s, tuple) else next(left)
    return Layout(shape, nest(shape))


def flat_tiler(rng, size):
    """A layout of one mode, such as divides a layout of `size` elements."""
    divisors = [d for d in range(1, size + 1) if size % d == 0]
    stride = rng.choice(divisors)
    return Layout(rng.choice([d for d in divisors if size // stride % d == 0]), stride)


def composition(rng):
    a = some_layout(rng)
    b = flat_tiler(rng, pycute.size(a)) if rng.random() < 0.4 else some_layout(rng, pycute.size(a))
    r = pycute.composition(a, b)
    good = pycute.cosize(b) <= pycute.size(a) and images(r) == [a(x) for x in images(b)]
    return good, [a, b], None, r


def coalesce(rng):
    a = some_layout(rng)
    r = pycute.coalesce(a)
    return images(r) == images(a), [a], None, r


def free_places(a, size, c):
    """Whether c has complement's law: images that meet those of a in 0 only, in ascending order, and with them fill [0, size)."""
    own, free = images(a), images(c)
    if len(set(own)) < len(own) or len(own) * len(free) > 4 * MOST:
        return False
    sums = {x + y for x in own for y in free}
    return free == sorted(free) and len(sums) == len(own) * len(free) and sums >= set(range(size))


def complement(rng):
    a = some_layout(rng, 64)
    size = pycute.cosize(a) * rng.choice((1, 1, 2, 3, 4))
    r = pycute.complement(a, size)
    return free_places(a, size, r), [a], size, r


def logical_divide(rng):
    a = some_layout(rng)
    b = flat_tiler(rng, pycute.size(a))
    r = pycute.logical_divide(a, b)
    rest = pycute.complement(b, pycute.size(a))
    law = [a(x + y) for y in images(rest) for x in images(b)] if pycute.size(b) * pycute.size(rest) == pycute.size(a) else None
    return images(r) == law, [a, b], None, r


def zipped_divide(rng):
    shape = [some_layout(rng, 24) for _ in range(2)]
    a = pycute.make_layout(*shape)
    tilers = [flat_tiler(rng, pycute.size(s)) for s in shape]
    r = pycute.zipped_divide(a, tuple(tilers))
    return sorted(images(r)) == sorted(images(a)), [a, *tilers], None, r


def logical_product(rng):
    a, b = some_layout(rng, 24), some_layout(rng, 16)
    r = pycute.logical_product(a, b)
    rest = pycute.complement(a, pycute.size(a) * pycute.cosize(b))
    law = [x + rest(y) for y in images(b) for x in images(a)]
    return images(r) == law and free_places(a, pycute.cosize(a), pycute.complement(a, pycute.cosize(a))), [a, b], None, r


def right_inverse(rng):
    a = some_layout(rng)
    r = pycute.right_inverse(a)
    # Of a layout with repeated images pycute's need not be the largest.
    return len(set(images(a))) == pycute.size(a) and all(a(x) == i for i, x in enumerate(images(r))), [a], None, r


FUNCTIONS = (composition, coalesce, complement, logical_divide, zipped_divide, logical_product, right_inverse)


def cases(rng, count):
    found = {f.__name__: 0 for f in FUNCTIONS}
    lines = []
    while len(lines) < count:
        function = rng.choice(FUNCTIONS)
        try:
            good, operands, size, result = function(rng)
        except (AssertionError, ZeroDivisionError, TypeError):
            continue  # pycute refuses, or fails on what has no answer
        if good and pycute.size(result) <= 4 * MOST:
            found[function.__name__] += 1
            fields = [function.__name__, str(size or 0), " ".join(text(x) for x in operands)]
            lines.append("\t".join([*fields, " ".join(str(x) for x in images(result))]))
    print(", ".join(f"{n} of {name}" for name, n in found.items()))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("unit_layout")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(cases(random.Random(options.seed), options.count))
        file.flush()
        environment = {**os.environ, "LUISA_TILE_CUTE_CASES": file.name}
        command = [options.unit_layout, "--gtest_filter=CuteOracle.*"]
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
