# SPDX-License-Identifier: Apache-2.0
"""The Python package on NumPy arrays, on the CPU, the interpreter and the emulator of GPUs."""

import os
import pathlib
import unittest

try:
    import numpy as np
except ImportError as error:
    raise unittest.SkipTest(f"NumPy is not installed: {error}")

import luisa_tile

KERNELS = pathlib.Path(__file__).resolve().parents[1] / "tool"
DEVICES = ("cpu", "interpreter", "cuda-emulator")

SCALE = """kernel @scale(%0: view<const {t}, ?n x 4>, %1: view<{t}, ?n x 4>, %2: {t}) {{
  %3 = extent %0 {{index = 0}} : i64
  parallel %3 {{dims = [#0]}} {{ %4: i64 ->
    %5 = constant 0 : i64
    %6 = load %0, %4, %5 : tile<{t}, #1:1 c:4>
    %7 = mul %6, %2 : tile<{t}, #1:1 c:4>
    store %1, %7, %4, %5 {{box = [#1:1 c:4]}}
    yield
  }}
}}
"""


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


class Softmax(unittest.TestCase):
    def test_runs_on_every_device(self):
        x = np.random.default_rng(1).normal(size=(6, 64)).astype(np.float32)
        for device in DEVICES:
            with self.subTest(device):
                # [numpy]
                kernel = luisa_tile.compile(KERNELS / "softmax.tir", device=device)
                y = np.empty_like(x)
                kernel(x, y)
                # [end]
                np.testing.assert_allclose(y, softmax(x), rtol=1e-5)

    def test_says_what_it_is(self):
        kernel = luisa_tile.compile(KERNELS / "softmax.tir")
        self.assertEqual(kernel.name, "softmax")
        self.assertEqual([p.extents for p in kernel.parameters], [(6, 64), (6, 64)])
        self.assertEqual([p.read_only for p in kernel.parameters], [True, False])
        self.assertEqual(repr(kernel), "<kernel softmax(const f32 6 x 64, f32 6 x 64) on cpu>")
        self.assertIn("plan @softmax cpu", kernel.plan)
        self.assertTrue(kernel.device.description.startswith("cpu: "))

    def test_takes_read_only_inputs_and_none_as_output(self):
        kernel = luisa_tile.compile(KERNELS / "softmax.tir")
        x, y = np.ones((6, 64), np.float32), np.zeros((6, 64), np.float32)
        x.flags.writeable = False
        kernel(x, y)
        np.testing.assert_allclose(y, 1 / 64)
        y.flags.writeable = False
        with self.assertRaisesRegex(luisa_tile.errors.TypeError, "argument 1 is read only"):
            kernel(x, y)

    def test_mistakes_raise_our_messages(self):
        kernel = luisa_tile.compile(KERNELS / "softmax.tir")
        x = np.zeros((6, 64), np.float32)
        with self.assertRaisesRegex(luisa_tile.errors.ShapeError, "has extent 63 in dimension 1, the "
                                                                  "kernel was captured for 64"):
            kernel(np.zeros((6, 63), np.float32), x)
        with self.assertRaisesRegex(luisa_tile.errors.ShapeError, "stride"):
            kernel(np.zeros((64, 6), np.float32).T, x)
        with self.assertRaisesRegex(TypeError, "of f64, the kernel expects rank 2 of f32"):
            kernel(np.zeros((6, 64)), x)
        with self.assertRaisesRegex(TypeError, "argument 0 is a list, the kernel expects a tensor of f32"):
            kernel([[0.0]], x)
        with self.assertRaisesRegex(luisa_tile.Error, r"takes 2 arguments \(const f32 6 x 64, f32 6 x "
                                                      r"64\), got 1"):
            kernel(x)
        with self.assertRaisesRegex(luisa_tile.errors.InteropError, "0 dimensions"):
            kernel(np.float32(1).reshape(()), x)
        with self.assertRaises(luisa_tile.errors.TypeError):
            kernel(np.zeros((6, 64), np.complex64), x)
        with self.assertRaisesRegex(luisa_tile.errors.ParseError, "x.tir:1"):
            luisa_tile.compile_text("kernel", name="x.tir")
        with self.assertRaisesRegex(luisa_tile.errors.TargetError, "no device called 'gpu'"):
            luisa_tile.compile_text("kernel", device="gpu")
        with self.assertRaisesRegex(luisa_tile.errors.ValueError, "pass null"):
            kernel(x, np.zeros_like(x), stream=8)

    def test_arrays_live_as_long_as_they_are_used(self):
        import sys
        kernel = luisa_tile.compile(KERNELS / "softmax.tir")
        x, y = np.ones((6, 64), np.float32), np.zeros((6, 64), np.float32)
        before = sys.getrefcount(x)
        for _ in range(5):
            kernel(x, y)
        with self.assertRaises(luisa_tile.Error):
            kernel(x, np.zeros((6, 63), np.float32))
        self.assertEqual(sys.getrefcount(x), before)


class Types(unittest.TestCase):
    def test_every_type_of_numpy(self):
        for name, code in (("int8", "i8"), ("int16", "i16"), ("int32", "i32"), ("int64", "i64"), ("uint8", "u8"),
                           ("uint16", "u16"), ("uint32", "u32"), ("uint64", "u64"), ("float16", "f16"),
                           ("float32", "f32"), ("float64", "f64")):
            with self.subTest(name):
                kernel = luisa_tile.compile_text(SCALE.format(t=code))
                x = np.arange(12).reshape(3, 4).astype(name)
                y = np.zeros_like(x)
                kernel(x, y, 3)
                np.testing.assert_array_equal(y, x * np.array(3, name))

    def test_extents_are_set_by_each_call(self):
        kernel = luisa_tile.compile_text(SCALE.format(t="f32"))
        self.assertEqual(kernel.parameters[0].extents, ("n", 4))
        for rows in (0, 1, 7, 1000):
            x = np.random.default_rng(rows).normal(size=(rows, 4)).astype(np.float32)
            y = np.zeros_like(x)
            kernel(x, y, 0.5)
            np.testing.assert_array_equal(y, x * np.float32(0.5))
        with self.assertRaisesRegex(luisa_tile.errors.CallError, "extent 'n' is 2 .* and 3"):
            kernel(np.zeros((2, 4), np.float32), np.zeros((3, 4), np.float32), 1)

    def test_numbers_are_checked(self):
        kernel = luisa_tile.compile_text(SCALE.format(t="i8"))
        x = np.zeros((1, 4), np.int8)
        with self.assertRaisesRegex(luisa_tile.errors.ValueError, "128 is no value of i8"):
            kernel(x, np.zeros_like(x), 128)
        with self.assertRaisesRegex(luisa_tile.errors.ValueError, "0.5"):
            kernel(x, np.zeros_like(x), 0.5)
        with self.assertRaisesRegex(luisa_tile.errors.TypeError, "argument 2 is a str, the kernel expects a "
                                                                 "number of type i8"):
            kernel(x, np.zeros_like(x), "3")
        big = luisa_tile.compile_text(SCALE.format(t="u64"))
        y = np.zeros((1, 4), np.uint64)
        big(np.ones((1, 4), np.uint64), y, 2**64 - 1)
        self.assertEqual(int(y[0, 0]), 2**64 - 1)


class Registered(unittest.TestCase):
    def test_lists_and_runs_kernels_of_a_library(self):
        # [registered]
        luisa_tile.load(os.environ["LUISA_TILE_TEST_KERNELS"])
        rmsnorm = luisa_tile.kernel("rows.rmsnorm", device="cpu")
        x = np.random.default_rng(3).normal(size=(5, 33)).astype(np.float32)
        y = np.empty_like(x)
        rmsnorm(x, y, 1e-5)
        # [end]
        self.assertEqual(luisa_tile.registered(), ["rows.rmsnorm"])
        expected = x / np.sqrt((x.astype(np.float64)**2).mean(axis=1, keepdims=True) + 1e-5)
        np.testing.assert_allclose(y, expected, rtol=1e-5)
        with self.assertRaisesRegex(luisa_tile.errors.ValueError, "no kernel is registered as 'x'; there are "
                                                                  "'rows.rmsnorm'"):
            luisa_tile.kernel("x")

    def test_strides_and_extents_are_those_of_each_call(self):
        luisa_tile.load(os.environ["LUISA_TILE_TEST_KERNELS"])
        wide = np.random.default_rng(4).normal(size=(8, 40)).astype(np.float32)
        special = np.array([[np.inf, 1, 2], [np.nan, 1, 2], [0, -0.0, 0]], np.float32)
        for device in DEVICES:
            rmsnorm = luisa_tile.kernel("rows.rmsnorm", device=device)
            for x in (wide, wide[::2, 3:20], wide[::-1, ::-1], wide.T, wide[:1, :1], wide[:0], wide[:, :0], special,
                      np.broadcast_to(wide[:1], (5, 40))):
                with self.subTest(device, shape=x.shape, strides=x.strides):
                    y = np.full((x.shape[1], x.shape[0]), 7, np.float32).T
                    rmsnorm(x, y, 1e-5)
                    with np.errstate(all="ignore"):
                        mean = (x.astype(np.float64)**2).sum(axis=1, keepdims=True) / max(x.shape[1], 1)
                        np.testing.assert_allclose(y, x / np.sqrt(mean + 1e-5), rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
