"""From an operation of the API to the command of the hardware: what a driver writes into the unit's registers.

The hash table's geometry, epoch and clearing are decided by the table when an operation begins; so an operation is
lowered with the `ScuSetup` of its first chunk. Arithmetic is on integers: costs and sums of floating-point numbers are
refused, comparisons of them are not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from warpsift.hardware import LINE_BYTES
from warpsift.hdl.interfaces import COMPARE, FILTER, FLOAT, GROUP, SIGNED, STORE, UNSIGNED
from warpsift.simt import DeviceArray
from warpsift.units.scu.filtering import FilterTable
from warpsift.units.scu.scu_api import COMPARISONS
from warpsift.units.scu.scu_checks import ScuError
from warpsift.units.scu.scu_operation import ScuOperation
from warpsift.units.scu.scu_trace import ScuSetup

NAMES = {function: name for name, function in COMPARISONS.items()}
NUMBERS = {name: number for number, name in enumerate(COMPARISONS)}


def number_kind(dtype: np.dtype) -> int:
    return {"u": UNSIGNED, "i": SIGNED, "f": FLOAT, "b": UNSIGNED}[dtype.kind]


def lower(operation: ScuOperation, setup: ScuSetup) -> dict[str, int]:
    """The fields of the command."""
    access, target = operation.access, operation.target
    fields: dict[str, Any] = {"inputs": access.inputs, "size": access.data.itemsize.bit_length() - 1}
    mask, keep = access.mask, access.filter.words if access.filter is not None else None
    if keep is not None and mask is None and access.count is None:
        mask, keep = keep, None  # every input is one element: the filter is a mask, and masks are skipped faster
    vectors = {
        "mask": mask,
        "index": access.index,
        "count": access.count,
        "keep": keep,
        "order": access.order.places if access.order is not None and target.group is None else None,
        "base": target.cost_base,
    }
    for name, array in vectors.items():
        if array is not None:
            if array.address % LINE_BYTES:
                raise ScuError(f"the {name} vector '{array.name}' must begin at a multiple of {LINE_BYTES} bytes")
            fields |= {f"has_{name}": 1, f"{name}_address": array.address}
    if keep is not None and access.filter is not None:
        fields["keep_words"] = -(-access.filter.elements // 32)
    if access.order is not None:
        fields["order_words"] = access.order.elements
    fields |= {"repeats": access.repeats, "data_address": access.data.address}
    fields["out_address"] = target.out.address + target.first * target.out.itemsize
    if target.compare is not None:
        return fields | {"target": COMPARE} | comparison(access.data, NAMES[target.compare], target.reference)
    if target.filter is not None or target.group is not None:
        return fields | _table(operation, setup)
    if target.add:
        _integers("accumulating", access.data)
    return fields | {"target": STORE, "add": target.add}


def _integers(what: str, *arrays: DeviceArray | None) -> None:
    for array in arrays:
        if array is not None and array.dtype.kind not in "iu":
            raise ScuError(f"{what} needs integers in hardware; '{array.name}' is {array.dtype}")


def _table(operation: ScuOperation, setup: ScuSetup) -> dict[str, int]:
    """Registers of the hash table."""
    target = operation.target
    table = operation.table
    assert table is not None
    fields = {
        "sets": table.sets,
        "ways": table.ways.bit_length() - 1,
        "key_mask": (1 << table.key_bits) - 1,
        "epoch": table.epoch << table.key_bits,
        "clear": int(setup.clear_bytes > 0),
    }
    if isinstance(table, FilterTable):
        fields |= {"target": FILTER, "table_address": table.array.address}
        if table.cost_dtype is not None:
            fields |= {"best": 1, "cost_kind": number_kind(table.cost_dtype)}
            if target.cost is not None and target.cost_base is not None:
                _integers("a cost made of two", target.cost)
        if target.cost is not None:
            fields |= {"has_cost": 1, "cost_address": target.cost.address}
        return fields
    addresses = {"table_address": table.tags.address, "slots_address": table.slots.address}
    return fields | addresses | {"target": GROUP, "group": table.group}


def comparison(data: DeviceArray, name: str, reference: float) -> dict[str, int]:
    """Comparison and reference as bits of the data's type; what no element could equal becomes its neighbour."""
    dtype = data.dtype
    kind = number_kind(dtype)
    if kind != FLOAT:
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        never, always = ("<", low), (">=", low)
        if isinstance(reference, float) and math.isnan(reference):
            name, reference = always if name == "!=" else never
        elif reference > high or reference < low:
            above = reference > high
            holds = {"==": False, "!=": True, "<": above, "<=": above, ">": not above, ">=": not above}[name]
            name, reference = always if holds else never
        elif reference != int(reference):
            below = math.floor(reference)
            name, reference = {
                "==": never,
                "!=": always,
                "<": ("<=", below),
                "<=": ("<=", below),
                ">": (">", below),
                ">=": (">", below),
            }[name]
        reference = int(reference)
    bits = int.from_bytes(np.array([reference]).astype(dtype).tobytes(), "little")
    return {"comparison": NUMBERS[name], "kind": kind, "reference": bits}
