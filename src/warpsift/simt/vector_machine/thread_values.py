"""Values of threads for compiled code: their addresses as cells, copies of them, and the code of stretches."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from warpsift.simt.cells import cells_at
from warpsift.simt.vector_machine import instruction_set as i

OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "boundscheck": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
bytes_at, ints_at, words_at = (cells_at(kind) for kind in (types.uint8, types.int32, types.uint32))
longs_at, floats_at, doubles_at = (cells_at(kind) for kind in (types.int64, types.float32, types.float64))
AT = {
    i.BYTE: bytes_at, i.INT32: ints_at, i.UINT32: words_at, i.INT64: longs_at,
    i.FLOAT32: floats_at, i.FLOAT64: doubles_at,
}  # fmt: skip


@njit(**OPTIONS)
def clear(address, count):
    """So many bytes."""
    cells = bytes_at(address)
    for k in range(count):
        cells[k] = 0


@intrinsic
def _compute(typing_context, address, values, stride, index, n, places):
    """Run the code of a stretch (value_code.SIGNATURE) at this address."""

    def codegen(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * 5)
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), codegen


compute: Any = _compute


def _copy(kind):
    at = AT[kind]

    @njit(**OPTIONS)
    def loop(d, a, index, n):
        result, values, threads = at(d), at(a), words_at(index)
        for k in range(n):
            result[threads[k]] = values[threads[k]]

    return loop


_copy_word, _copy_long = _copy(i.UINT32), _copy(i.INT64)


@njit(**OPTIONS)
def copy(size, d, a, index, n):
    """Values of 4 or 8 bytes as they are; `index`: the active threads, n of them."""
    if size == 4:
        _copy_word(d, a, index, n)
    else:
        _copy_long(d, a, index, n)
