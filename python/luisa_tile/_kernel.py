# SPDX-License-Identifier: Apache-2.0
"""Devices, compiled kernels and registered kernels."""

import ctypes
import dataclasses
import os
import pathlib
from ctypes import byref, c_int32, c_size_t, c_uint64
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from luisa_tile import _tensors, errors
from luisa_tile._library import (Argument, DeviceOptions, ParameterRecord, TYPE_NAMES, call, handle, raw,
                                 text)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel, in the order of a call."""
    name: str
    """May be empty."""
    is_view: bool
    """A tensor; otherwise a number."""
    read_only: bool
    type: str
    """As TileIR names it, such as "f32"."""
    extents: Tuple[Union[int, str, None], ...]
    """Of a view: a number, the name of an extent that each call sets, or None where it has no name."""


def _parameter(record: ParameterRecord) -> Parameter:
    def extent(d: int) -> Union[int, str, None]:
        if record.extents[d] >= 0:
            return record.extents[d]
        return record.extent_names[d].decode() or None

    return Parameter(record.name.decode(), bool(record.is_view), bool(record.read_only),
                     TYPE_NAMES[record.type], tuple(extent(d) for d in range(record.rank)))


def _parameters(count_of: str, parameter_of: str, key: Any) -> Tuple[Parameter, ...]:
    count = c_size_t()
    call(count_of, key, byref(count))
    found = []
    for i in range(count.value):
        record = ParameterRecord()
        call(parameter_of, key, i, byref(record))
        found.append(_parameter(record))
    return tuple(found)


class Device:
    """A place to run kernels: "cpu", "cuda", "cuda:1", "cuda-emulator" or "interpreter"."""

    def __init__(self, name: str, *, threads: int = 0, validate: bool = False,
                 cache: bool = True) -> None:
        """`threads` of the CPU (0: all cores); `validate` checks promises, bounds and races where the device can;
        without `cache`, compiled kernels are neither kept on disk nor found there."""
        options = DeviceOptions(threads, int(validate), int(not cache), None)
        self._handle = handle("device_create", name.encode(), byref(options))
        self.name = name
        kind, number = c_int32(), c_int32()
        call("device_dlpack", self._handle, byref(kind), byref(number))
        self._place = kind.value, number.value

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            raw("device_destroy")(self._handle)

    def __repr__(self) -> str:
        return f"luisa_tile.Device({self.name!r})"

    @property
    def description(self) -> str:
        """One line: processor or GPU, cores, caches, memory."""
        return text("device_description", self._handle)

    def synchronize(self, stream: int = 0) -> None:
        """Waits for what was submitted to a stream, by its address, and raises what went wrong there."""
        call("synchronize", self._handle, stream or None)


_devices: Dict[str, Device] = {}


def device(which: Union[str, Device]) -> Device:
    """The device of a name, opened once a process."""
    if isinstance(which, Device):
        return which
    if which not in _devices:
        _devices[which] = Device(which)
    return _devices[which]


def _bits(parameter: Parameter, value: Any, position: int) -> int:
    """A number as the argument's bits."""
    kind = TYPE_NAMES.index(parameter.type)
    if parameter.type == "u64" and isinstance(value, int) and 0 <= value < 1 << 64:
        return value
    bits = c_uint64()
    if hasattr(value, "__index__") and not parameter.type.startswith(("f", "bf")):
        number = value.__index__()
        if not -(1 << 63) <= number < 1 << 63:
            raise errors.ValueError(f"argument {position} is {number}, which is no value of {parameter.type}")
        call("scalar_from_int64", kind, number, byref(bits))
        return bits.value
    try:
        # Text that says a number is none.
        number = float(value.__float__())
    except (AttributeError, TypeError, ValueError):
        raise errors.TypeError(f"argument {position} is a {type(value).__name__}, the kernel expects a number "
                               f"of type {parameter.type}") from None
    call("scalar_from_double", kind, number, byref(bits))
    return bits.value


class _Callable:
    """What compiled and registered kernels have in common."""

    name: str
    """The kernel's name."""
    parameters: Tuple[Parameter, ...]
    """What a call takes, in order."""
    device: Device

    def __call__(self, *arguments: Any, stream: Optional[int] = None) -> None:
        """Runs the kernel on tensors (of PyTorch, NumPy, CuPy, JAX, …) and numbers; results go to its writable views.
        On CUDA it is submitted to the current stream of the first tensor's library, or to `stream`, an address; errors
        of the device are raised by a later call or `Device.synchronize`. On other devices it has run when this
        returns."""
        if len(arguments) != len(self.parameters):
            raise errors.CallError(f"kernel '{self.name}' takes {len(self.parameters)} arguments "
                                   f"({', '.join(self._signature())}), got {len(arguments)}")
        tensors = [x for x, p in zip(arguments, self.parameters) if p.is_view and _tensors.is_tensor(x)]
        on_cuda = self.device._place[0] == _tensors.CUDA
        if stream is None:
            stream = _tensors.current_stream(tensors[0]) if on_cuda and tensors else 0
        block = (Argument * max(len(arguments), 1))()
        taken: List[int] = []
        try:
            for i, (x, p) in enumerate(zip(arguments, self.parameters)):
                if not p.is_view:
                    block[i].bits = _bits(p, x, i)
                    continue
                if not _tensors.is_tensor(x):
                    raise errors.TypeError(f"argument {i} is a {type(x).__name__}, the kernel expects a tensor of "
                                           f"{p.type} with {len(p.extents)} dimensions")
                taken.append(_tensors.take(self.device._handle, self.device._place, x, stream))
                block[i].tensor = taken[-1]
            self._dispatch(stream or None, block, len(arguments))
        finally:
            _tensors.destroy(taken)

    def _dispatch(self, stream: Optional[int], block: Any, count: int) -> None:
        raise NotImplementedError

    def _signature(self) -> Sequence[str]:
        def one(p: Parameter) -> str:
            if not p.is_view:
                return p.type
            extents = " x ".join("?" if e is None else str(e) for e in p.extents)
            return f"{'const ' if p.read_only else ''}{p.type} {extents}"

        return [f"{p.name}: {one(p)}" if p.name else one(p) for p in self.parameters]

    def __repr__(self) -> str:
        return f"<kernel {self.name}({', '.join(self._signature())}) on {self.device.name}>"


class Kernel(_Callable):
    """A kernel from TileIR, compiled for a device; `compile` and `compile_text` make them."""

    def __init__(self, source: str, name: str, where: Device) -> None:
        self.device = where
        self._handle = handle("compile", where._handle, source.encode(), name.encode())
        self.name = text("shader_name", self._handle)
        self.parameters = _parameters("shader_parameter_count", "shader_parameter", self._handle)

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            raw("shader_destroy")(self._handle)

    @property
    def plan(self) -> str:
        """What the planner decided, as `luisa-tile explain` prints it; empty on the interpreter."""
        return text("shader_plan", self._handle)

    def _dispatch(self, stream: Optional[int], block: Any, count: int) -> None:
        call("dispatch", self._handle, stream, block, count)


class RegisteredKernel(_Callable):
    """A kernel that C++ has registered by name; it is compiled when the extents of a call are new."""

    def __init__(self, name: str, where: Device) -> None:
        self.device = where
        self.name = name
        self.parameters = _parameters("registered_parameter_count", "registered_parameter",
                                      name.encode())

    def _dispatch(self, stream: Optional[int], block: Any, count: int) -> None:
        call("run_registered", self.device._handle, self.name.encode(), stream, block, count)


def compile(path: Union[str, "os.PathLike[str]"], device: Union[str, Device] = "cpu") -> Kernel:
    """Compiles the kernel of a TileIR file for a device."""
    where = _device(device)
    return Kernel(pathlib.Path(path).read_text(encoding="utf-8"), os.fspath(path), where)


def compile_text(source: str, device: Union[str, Device] = "cpu", name: str = "<text>") -> Kernel:
    """Compiles a kernel from TileIR text; `name` stands for the file in errors."""
    return Kernel(source, name, _device(device))


def load(path: Union[str, "os.PathLike[str]"]) -> None:
    """Loads a shared library that registers kernels (luisa/tile/registry.h)."""
    ctypes.CDLL(os.fspath(path))


def registered() -> List[str]:
    """The names of the kernels that C++ has registered in this process."""
    return [raw("registered_name")(i).decode() for i in range(raw("registered_count")())]


def kernel(name: str, device: Union[str, Device] = "cpu") -> RegisteredKernel:
    """The kernel that is registered as `name`, on a device."""
    return RegisteredKernel(name, _device(device))


_device = device
