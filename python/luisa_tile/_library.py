# SPDX-License-Identifier: Apache-2.0
"""The shared library and its C API (luisa/tile/c_api.h), as ctypes sees it."""

import ctypes
import os
import pathlib
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p

from luisa_tile import errors

C_API = 1
MAX_RANK = 6

# The names of element types, by their numbers.
TYPE_NAMES = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32",
              "f64", "e4m3fn", "e5m2")


class DeviceOptions(ctypes.Structure):
    _fields_ = [("threads", c_int32), ("validate", c_int32), ("no_cache", c_int32),
                ("cache_directory", c_char_p)]


class ParameterRecord(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("is_view", c_int32), ("read_only", c_int32), ("type", c_int32),
                ("rank", c_int32), ("extents", c_int64 * MAX_RANK),
                ("extent_names", c_char_p * MAX_RANK)]


class Argument(ctypes.Structure):
    _fields_ = [("tensor", c_void_p), ("bits", c_uint64)]


_OUT = POINTER(c_void_p)
_EXTENTS = POINTER(c_int64)
# name: (result, arguments). A result of c_int32 is a status, but of luisa_tile_c_api.
_FUNCTIONS = {
    "version": (c_char_p, []),
    "c_api": (c_int32, []),
    "status_name": (c_char_p, [c_int32]),
    "last_error": (c_char_p, []),
    "device_create": (c_int32, [c_char_p, POINTER(DeviceOptions), _OUT]),
    "device_destroy": (None, [c_void_p]),
    "device_description": (c_int32, [c_void_p, POINTER(c_char_p)]),
    "device_dlpack": (c_int32, [c_void_p, POINTER(c_int32), POINTER(c_int32)]),
    "compile": (c_int32, [c_void_p, c_char_p, c_char_p, _OUT]),
    "shader_destroy": (None, [c_void_p]),
    "shader_name": (c_int32, [c_void_p, POINTER(c_char_p)]),
    "shader_plan": (c_int32, [c_void_p, POINTER(c_char_p)]),
    "shader_parameter_count": (c_int32, [c_void_p, POINTER(c_size_t)]),
    "shader_parameter": (c_int32, [c_void_p, c_size_t, POINTER(ParameterRecord)]),
    "tensor_wrap": (c_int32, [c_void_p, c_int32, c_int32, _EXTENTS, _EXTENTS, c_void_p, c_int32,
                              _OUT]),
    "tensor_from_dlpack": (c_int32, [c_void_p, c_void_p, _OUT]),
    "tensor_from_dlpack_versioned": (c_int32, [c_void_p, c_void_p, _OUT]),
    "tensor_destroy": (None, [c_void_p]),
    "scalar_from_double": (c_int32, [c_int32, c_double, POINTER(c_uint64)]),
    "scalar_from_int64": (c_int32, [c_int32, c_int64, POINTER(c_uint64)]),
    "dispatch": (c_int32, [c_void_p, c_void_p, POINTER(Argument), c_size_t]),
    "synchronize": (c_int32, [c_void_p, c_void_p]),
    "registered_count": (c_size_t, []),
    "registered_name": (c_char_p, [c_size_t]),
    "registered_parameter_count": (c_int32, [c_char_p, POINTER(c_size_t)]),
    "registered_parameter": (c_int32, [c_char_p, c_size_t, POINTER(ParameterRecord)]),
    "run_registered": (c_int32, [c_void_p, c_char_p, c_void_p, POINTER(Argument), c_size_t]),
}


def find_library() -> str:
    """LUISA_TILE_LIBRARY if set, else the library that was installed with this package."""
    named = os.environ.get("LUISA_TILE_LIBRARY")
    if named:
        return named
    inside = sorted((pathlib.Path(__file__).parent / "lib").glob("libluisa_tile.so*"))
    return str(inside[0]) if inside else "libluisa_tile.so"


def _open() -> ctypes.CDLL:
    path = find_library()
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"luisa_tile: {error}; install the package with `pip install .`, or let "
                          "LUISA_TILE_LIBRARY name libluisa_tile.so of a build") from None
    try:
        api = library.luisa_tile_c_api()
    except AttributeError:
        raise ImportError(f"luisa_tile: {path} has no C API; it is of another version") from None
    if api != C_API:
        raise ImportError(f"luisa_tile: {path} has version {api} of the C API, this package is "
                          f"for {C_API}; install them together")
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, "luisa_tile_" + name)
        function.restype = result
        function.argtypes = arguments
    return library


_library = _open()


def raw(name: str):
    """A function that cannot fail, or whose status the caller looks at."""
    return getattr(_library, "luisa_tile_" + name)


def call(name: str, *arguments) -> None:
    """Calls a function and raises what its status says."""
    status = raw(name)(*arguments)
    if status != 0:
        kind = raw("status_name")(status).decode()
        # The class says the kind already where no place precedes it.
        raise errors.of_kind(kind)(raw("last_error")().decode().removeprefix(kind + ": "))


def text(name: str, *arguments) -> str:
    """The text that a function gives through its last parameter."""
    out = c_char_p()
    call(name, *arguments, ctypes.byref(out))
    return (out.value or b"").decode()


def handle(name: str, *arguments) -> int:
    """The handle that a function gives through its last parameter."""
    out = c_void_p()
    call(name, *arguments, ctypes.byref(out))
    assert out.value is not None
    return out.value
