"""The cells of an array, for compiled functions that hand arrays on by the million.

Numba counts who uses an array each time one is passed, unpacked or sliced, and a negative index counts from the end;
both cost more than many a loop over the 32 lanes of a warp. Cells are the bare memory of a contiguous array: they are
not counted, have no length, and are numbered from 0 whatever the array's shape. Whoever makes them keeps the array.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic


@intrinsic
def _cells(typing_context: Any, array: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), codegen


def cells_at(kind: Any) -> Any:
    """A function from an address of host memory to the cells there, of this type; for compiled code only."""

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), codegen

    return at


@intrinsic
def _offset(typing_context: Any, first: Any, count: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_data_type(signature.args[0].dtype)
        return builder.gep(arguments[0], [arguments[1]], source_etype=kind)

    return first(first, types.int64), codegen


def _plain_offset(first: np.ndarray, count: int) -> np.ndarray:
    return first[count:]


def _plain(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1)


# cells(array), offset(cells, count): the cells from there on; plain Python without the JIT.
_WITHOUT_JIT: bool = numba.config.DISABLE_JIT  # type: ignore[attr-defined]
cells: Any = _plain if _WITHOUT_JIT else _cells
offset: Any = _plain_offset if _WITHOUT_JIT else _offset
