# SPDX-License-Identifier: Apache-2.0
"""Errors of the library, one class a kind, all of them `luisa_tile.Error`."""

from typing import Dict, Type


class Error(Exception):
    """What the library refuses or fails at; the text is its own, with a place where one is known."""


_BASES: Dict[str, tuple] = {
    "ShapeError": (ValueError,),
    "TypeError": (TypeError,),
    "ValueError": (ValueError,),
    "IndexError": (IndexError,),
    "CallError": (TypeError,),
    "OutOfMemoryError": (MemoryError,),
    "UnsupportedError": (NotImplementedError,),
    "AssertionError": (AssertionError,),
}
_KINDS = ("ShapeError", "TypeError", "ValueError", "IndexError", "BoundsError", "OwnershipError",
          "ScopeError", "AliasError", "AlignmentError", "DeviceError", "LifetimeError", "CallError",
          "ConstraintError", "CaptureError", "ParseError", "VerifyError", "TargetError",
          "UnsupportedError", "CompileError", "ResourceError", "DeviceUnavailable", "StateError",
          "RaceError", "AssertionError", "InteropError", "OutOfMemoryError", "InternalError")

# Such as `errors.ShapeError`; where Python has a class for the mistake, it is a base, too.
_classes: Dict[str, Type[Error]] = {
    name: type(name, (Error, *_BASES.get(name, ())), {"__module__": __name__}) for name in _KINDS
}
globals().update(_classes)


def of_kind(name: str) -> Type[Error]:
    """The class for a kind; `Error` itself for one that a newer library has."""
    return _classes.get(name, Error)


def __getattr__(name: str) -> Type[Error]:
    raise AttributeError(f"luisa_tile.errors has no {name}; it has Error, {', '.join(_KINDS)}")
