# SPDX-License-Identifier: Apache-2.0
"""The Python package on PyTorch's tensors: on the CPU, and on a GPU where there is one."""

import pathlib
import unittest

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"PyTorch is not installed: {error}")

import luisa_tile

KERNELS = pathlib.Path(__file__).resolve().parents[1] / "tool"
COPY = """kernel @copy(%0: view<const {t}, 3 x 4>, %1: view<{t}, 3 x 4>) {{
  %2 = constant 3 : i64
  parallel %2 {{dims = [#0]}} {{ %3: i64 ->
    %4 = constant 0 : i64
    %5 = load %0, %3, %4 : tile<{t}, #1:1 c:4>
    store %1, %5, %3, %4 {{box = [#1:1 c:4]}}
    yield
  }}
}}
"""


class OnTheCpu(unittest.TestCase):
    def test_softmax(self):
        kernel = luisa_tile.compile(KERNELS / "softmax.tir", device="cpu")
        x = torch.randn(6, 64)
        y = torch.empty_like(x)
        kernel(x, y)
        torch.testing.assert_close(y, torch.softmax(x, 1))

    def test_every_type(self):
        for name, code in (("bool", "bool"), ("int8", "i8"), ("int64", "i64"), ("uint8", "u8"), ("float16", "f16"),
                           ("bfloat16", "bf16"), ("float64", "f64"), ("float8_e4m3fn", "e4m3fn"),
                           ("float8_e5m2", "e5m2")):
            with self.subTest(name):
                x = torch.arange(12).reshape(3, 4).to(torch.float32).to(getattr(torch, name))
                y = torch.zeros_like(x)
                luisa_tile.compile_text(COPY.format(t=code))(x, y)
                self.assertTrue(torch.equal(y.view(torch.uint8), x.view(torch.uint8)))

    def test_tensors_that_need_gradients_are_refused(self):
        kernel = luisa_tile.compile(KERNELS / "softmax.tir")
        x = torch.randn(6, 64, requires_grad=True)
        with self.assertRaisesRegex(luisa_tile.errors.InteropError, "gradient"):
            kernel(x, torch.empty(6, 64))


@unittest.skipUnless(torch.cuda.is_available(), "PyTorch sees no GPU")
class OnAGpu(unittest.TestCase):
    def test_runs_on_the_current_stream(self):
        # [torch]
        kernel = luisa_tile.compile(KERNELS / "softmax.tir", device="cuda")
        x = torch.randn(6, 64, device="cuda")
        y = torch.empty_like(x)
        kernel(x, y)  # on torch.cuda.current_stream()
        # [end]
        torch.testing.assert_close(y, torch.softmax(x, 1))

    def test_is_ordered_with_what_the_stream_does(self):
        kernel = luisa_tile.compile(KERNELS / "softmax.tir", device="cuda")
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(50):
                x = torch.randn(6, 64, device="cuda")
                y = torch.empty_like(x)
                slow = torch.randn(2048, 2048, device="cuda")
                for _ in range(3):
                    slow = slow @ slow.T / 2048
                x += slow[0, 0] * 0
                kernel(x, y)
                z = y * 2
                stream.synchronize()
                torch.testing.assert_close(z, 2 * torch.softmax(x, 1))

    def test_tensors_elsewhere_are_refused(self):
        kernel = luisa_tile.compile(KERNELS / "softmax.tir", device="cuda")
        with self.assertRaisesRegex(luisa_tile.errors.DeviceError, "the tensor is on the CPU, device 'cuda' takes "
                                                                   "tensors on CUDA device 0"):
            kernel(torch.zeros(6, 64), torch.zeros(6, 64))

    def test_costs_little_beside_torch(self):
        kernel = luisa_tile.compile(KERNELS / "softmax.tir", device="cuda")
        x, y = torch.randn(6, 64, device="cuda"), torch.empty(6, 64, device="cuda")
        for _ in range(2000):
            kernel(x, y)
        kernel.device.synchronize(torch.cuda.current_stream().cuda_stream)


if __name__ == "__main__":
    unittest.main()
