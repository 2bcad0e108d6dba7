"""Compiled functions of this package, cached so that an edit in any file they are made of is never ignored.

Numba's cache looks only at the file of the function itself, but a trace is converted by functions of several files
(the coalescing rules are `simt/coalesce.py`'s). So the cache lies in a folder named by the hash of all of them.
Signatures are given, so that no function is compiled twice for a literal argument.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from warpsift.simt.cells import cells_at
from warpsift.simt.kept_code import folder_of, kept_in
from warpsift.simt.stream import OP

_HERE = Path(__file__).parent
_OTHERS = ("hardware.py", "engine/core/words.py", "simt/cells.py", "simt/coalesce.py", "simt/stream.py")
_SOURCES = (*sorted(_HERE.glob("*.py")), *(_HERE.parent / name for name in _OTHERS))


DIRECTORY = folder_of("traces", _SOURCES)
_announced = False


def _announce() -> None:
    """Say on stderr, once, that code is being compiled and not loaded."""
    global _announced
    if not _announced:
        print("warpsift: compiling the code for kernel traces (once, about 20 s)", file=sys.stderr, flush=True)
    _announced = True


i64, void = types.int64, types.void
BYTES = types.uint8[::1]
INTS = types.int64[::1]
TABLE = types.int64[:, ::1]
PAIR = types.UniTuple(types.int64, 2)
SCRATCH = types.Tuple(  # simt/coalesce.py: of loads and stores, of atomics, of shared memory
    (types.Tuple((BYTES, BYTES, INTS)), types.Tuple((BYTES, INTS, BYTES)), types.Tuple((INTS, INTS)))
)
TABLES = types.Tuple((INTS, TABLE, TABLE, SCRATCH))  # convert.py: warp, registers, slots
LINE_TABLES = types.Tuple((INTS, INTS, TABLE, INTS, INTS))  # reader.py: row, addresses, opcodes seen, hashes, codes
BUFFERS = types.Tuple((types.int32[::1], TABLE, INTS, INTS))  # stream_buffers.py
OPS = numba.from_dtype(OP)[::1]
ONE_OP = numba.from_dtype(OP)


def compiled(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` for one signature, with the cache folder above."""

    def compile_it(function: Callable[..., Any]) -> Any:
        with kept_in(DIRECTORY):
            result = numba.njit(signature, cache=True, nogil=True, error_model="numpy", **options)(function)
            if getattr(result, "stats", None) and result.stats.cache_misses:
                _announce()
            return result

    return compile_it


def inlined(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """The same for what is done for every line: inlined, so that arrays are not handed from function to function.

    It has no wrapper for Python, which takes long to compile: a test writes `numba.njit(function.py_func)`.
    """
    return compiled(signature, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _bytes_at(bits: int) -> Any:
    """A function (bytes, position) -> so many bits from there on: no sign, no check, no wrapping around."""

    @intrinsic
    def read(typing_context, text, at):
        def codegen(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            where = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(bits).as_pointer())
            found = builder.load(where, align=1)
            return found if bits == 64 else builder.zext(found, ir.IntType(64))

        return types.int64(text, types.int64), codegen

    return read


byte, eight_bytes = _bytes_at(8), _bytes_at(64)  # the first byte is the lowest: hosts are little endian


# Addresses of host memory as numba.carray wants them. An array made so has no owner, and so nothing counts who uses it:
# counting would take longer than reading (the memory belongs to the caller, who waits).
bytes_pointer, narrow_pointer, int_pointer = cells_at(types.uint8), cells_at(types.int32), cells_at(i64)
