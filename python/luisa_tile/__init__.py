# SPDX-License-Identifier: Apache-2.0
"""Luisa Tile kernels on the tensors of PyTorch, NumPy and others.

    kernel = luisa_tile.compile("softmax.tir", device="cuda")
    kernel(x, y)  # x and y are torch tensors on that GPU
"""

from luisa_tile import errors
from luisa_tile._kernel import (Device, Kernel, Parameter, RegisteredKernel, compile, compile_text, device,
                                kernel, load, registered)
from luisa_tile._library import raw as _raw
from luisa_tile.errors import Error

__version__: str = _raw("version")().decode()
__all__ = ["Device", "Error", "Kernel", "Parameter", "RegisteredKernel", "compile", "compile_text", "device",
           "errors", "kernel", "load", "registered"]
