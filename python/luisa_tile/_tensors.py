# SPDX-License-Identifier: Apache-2.0
"""Tensors of other libraries as arguments: through DLPack, and by address where a library's DLPack refuses."""

import ctypes
import sys
from ctypes import c_char_p, c_int, c_int64, c_void_p, py_object
from typing import Any, Optional, Tuple

from luisa_tile import errors
from luisa_tile._library import TYPE_NAMES, handle, raw

CPU, CUDA = 1, 2
_DEFAULT_STREAM = 1  # as DLPack numbers the default stream of CUDA

_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = c_int, [py_object, c_char_p]
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = c_void_p, [py_object, c_char_p]
_set_name = ctypes.pythonapi.PyCapsule_SetName
_set_name.restype, _set_name.argtypes = c_int, [py_object, c_char_p]

# name of the capsule: (its name when it was taken, the function that takes what it has)
_FORMS = {b"dltensor_versioned": (b"used_dltensor_versioned", "tensor_from_dlpack_versioned"),
          b"dltensor": (b"used_dltensor", "tensor_from_dlpack")}
# NumPy's and PyTorch's names of types.
_TYPES = {"bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
          "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float16": "f16",
          "bfloat16": "bf16", "float32": "f32", "float64": "f64", "float8_e4m3fn": "e4m3fn",
          "float8_e5m2": "e5m2"}


def is_tensor(x: Any) -> bool:
    return hasattr(x, "__dlpack__") or hasattr(x, "__array_interface__")


def current_stream(tensor: Any) -> int:
    """The address of the stream that the tensor's library submits to now; 0 is CUDA's default one."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        return torch.cuda.current_stream(tensor.device).cuda_stream if tensor.is_cuda else 0
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(tensor, cupy.ndarray):
        return cupy.cuda.get_current_stream().ptr
    return 0


def _capsule(x: Any, on_cuda: bool, stream: int) -> Any:
    """What `x.__dlpack__` gives, in the newest form that it knows."""
    where = {"stream": stream or _DEFAULT_STREAM} if on_cuda else {}
    try:
        return x.__dlpack__(max_version=(1, 1), **where)
    except TypeError as error:
        if "max_version" not in str(error):
            raise
    return x.__dlpack__(**where)


def _import(device: int, capsule: Any) -> int:
    for name, (used, function) in _FORMS.items():
        if _is_valid(capsule, name):
            managed = _get_pointer(capsule, name)
            # The function takes the tensor over also when it fails.
            _set_name(capsule, used)
            return handle(function, device, managed)
    raise errors.InteropError("__dlpack__ gave something that is no DLPack tensor, or one that was "
                              "taken before")


def _address_of(x: Any) -> Tuple[str, int, bool, Tuple[int, ...], Tuple[int, ...]]:
    """Type, address, whether it is read-only, extents, and strides in elements."""
    if hasattr(x, "data_ptr"):
        return (str(x.dtype).replace("torch.", ""), x.data_ptr(), False, tuple(x.shape),
                tuple(x.stride()))
    interface = x.__array_interface__
    size = x.dtype.itemsize
    strides = tuple(x.strides)
    if any(s % size for s in strides):
        raise errors.InteropError(f"an array of {x.dtype} has strides of {strides} bytes, which are "
                                  f"no multiples of its {size}; copy it to memory of its own")
    if not x.dtype.isnative:
        raise errors.InteropError(f"an array of {x.dtype} has another byte order than this machine; "
                                  "convert it with x.astype(x.dtype.newbyteorder('='))")
    address, read_only = interface["data"]
    return x.dtype.name, address, read_only, tuple(x.shape), tuple(s // size for s in strides)


def _wrap(device: int, x: Any) -> int:
    name, address, read_only, extents, strides = _address_of(x)
    if name not in _TYPES:
        raise errors.TypeError(f"no element type is {name}; there are {', '.join(_TYPES)}")
    rank = len(extents)
    if rank == 0:
        raise errors.InteropError("the tensor has 0 dimensions, views have 1 to 6; reshape it to one "
                                  "element")
    numbers = c_int64 * rank
    return handle("tensor_wrap", device, TYPE_NAMES.index(_TYPES[name]), rank, numbers(*extents),
                  numbers(*strides), address, int(read_only))


def _lies_on(x: Any) -> Tuple[int, int]:
    if hasattr(x, "__dlpack_device__"):
        kind, number = x.__dlpack_device__()
        return int(kind), int(number)
    return CPU, 0


def take(device: int, place: Tuple[int, int], x: Any, stream: int) -> int:
    """A handle for a tensor, to be destroyed by the caller. `place` is where the device's memory is."""
    kind, number = _lies_on(x)
    on_cuda = kind == CUDA
    refused: Optional[Exception] = None
    if hasattr(x, "__dlpack__"):
        try:
            return _import(device, _capsule(x, on_cuda, stream))
        except errors.Error:
            raise
        except (BufferError, TypeError, RuntimeError, ValueError) as error:
            # NumPy before 2.1 exports neither read-only arrays nor bool, PyTorch before 2.9 no 8-bit floats.
            refused = error
    by_address = hasattr(x, "__array_interface__") or (hasattr(x, "data_ptr") and
                                                       not getattr(x, "requires_grad", False))
    if not by_address or (kind, number) != place:
        assert refused is not None
        raise errors.InteropError(f"a {type(x).__name__} gives no DLPack tensor: {refused}") from refused
    return _wrap(device, x)


def destroy(tensors: list) -> None:
    for tensor in tensors:
        raw("tensor_destroy")(tensor)
