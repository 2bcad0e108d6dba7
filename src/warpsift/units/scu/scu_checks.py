"""What an operation of the SCU cannot take: wrong kinds, overlap, lists that overrun. Nothing is written before."""

from __future__ import annotations

import numpy as np

from warpsift.errors import WarpsiftError
from warpsift.simt import DeviceArray
from warpsift.units.scu import scu_walk
from warpsift.units.scu.scu_operation import Access


class ScuError(WarpsiftError):
    """An operation of the SCU with arguments that it cannot take."""


def length(array: object) -> int:
    return len(array) if isinstance(array, DeviceArray) else 0  # `check_arrays` says what is wrong with others


def check_arrays(name: str, **arrays: object) -> None:
    for role, array in arrays.items():
        if array is not None and not isinstance(array, DeviceArray):
            raise ScuError(
                f"{name}: {role} is a {type(array).__name__}; "
                f"write a DeviceArray, such as gpu.memory.array(name, values)"
            )


def refuse_input(name: str, access: Access, i: int) -> None:
    """Say what is wrong with input i, which reaches out of the data."""
    count = int(access.count.host[i]) if access.count is not None else 1
    if count < 0:
        raise ScuError(f"{name}: count[{i}] = {count} of '{access.count.name}' is negative")  # type: ignore[union-attr]
    first = int(access.index.host[i]) if access.index is not None else i
    last = first if access.repeats else first + count - 1
    data = access.fetched
    raise ScuError(f"{name}: input {i} takes elements {first} to {last} of '{data.name}', which has {len(data)}")


def check_ids(name: str, access: Access, keys: int, table: str) -> None:
    """Every element can be a key of the table."""
    data = access.fetched
    if data.dtype.kind not in "iu" or data.itemsize > 4:
        raise ScuError(
            f"{name}: '{data.name}' is {data.dtype}; filtering and grouping work on integers of 4 bytes or less"
        )
    a = access
    none = np.zeros(1, np.int32)
    low, high = scu_walk.extremes(
        a.inputs,
        a.flags(False),
        a.mask.host if a.mask is not None else np.zeros(1, np.uint32),
        a.index.host if a.index is not None else none,
        a.count.host if a.count is not None else none,
        data.host,
    )
    if low < 0 or high >= keys:
        wrong = low if low < 0 else high
        raise ScuError(f"{name}: '{data.name}' holds {wrong}, table '{table}' was made for IDs 0 to {keys - 1}")


def check_overlap(name: str, access: Access, out: DeviceArray, written: tuple[int, int]) -> None:
    """No input lies where the operation writes, bytes written[0] .. written[1] of `out`."""
    begin, end = out.address + written[0], out.address + written[1]
    columns = [access.data, access.mask, access.index, access.count]
    columns += [access.filter.words if access.filter else None, access.order.places if access.order else None]
    for column in columns:
        if column is not None and begin < end and begin < column.address + column.size_bytes and column.address < end:
            raise ScuError(f"{name}: output '{out.name}' overlaps the input '{column.name}'; write to another array")
