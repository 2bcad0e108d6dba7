"""Addresses of host memory as arrays, for compiled code.

An array made so has no owner, and so nothing counts who uses it; handed from function to function it is one number. The
memory belongs to the caller, who waits.
"""

from __future__ import annotations

from typing import Any

from numba import carray, types
from numba.extending import intrinsic, register_jitable


def pointer_to(kind: Any) -> Any:
    """A function from an address to what numba.carray takes."""

    @intrinsic
    def pointer(typing_context, address):
        def codegen(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), codegen

    return pointer


def array_at(kind: Any) -> Any:
    """A function (address, length) -> array."""
    pointer = pointer_to(kind)

    @register_jitable
    def at(address, length):
        return carray(pointer(address), length)

    return at
