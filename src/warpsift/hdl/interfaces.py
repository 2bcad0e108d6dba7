"""Interfaces: the command, the memory port, and the bundles that stages hand on.

Memory port. A request is one beat of at most 32 bytes. A read names a line and the sectors wanted and is answered by
one beat per sector, in any order. A write carries one sector with a byte mask; the beats of one write end with `last`,
and the write is answered once. Two requests for one line take effect in the order in which they were accepted. The
unit has room for every reply it asked for, so it always accepts one.
"""

from __future__ import annotations

from amaranth.hdl import Shape
from amaranth.lib import data, stream

from warpsift.hdl.parameters import ADDRESS_BITS, COUNT_BITS, SET_BITS, SIDE_BITS, ScuParameters

SECTOR_ADDRESS_BITS = ADDRESS_BITS - 5
LINE_ADDRESS_BITS = ADDRESS_BITS - 7

# Targets of an operation
STORE, COMPARE, FILTER, GROUP = range(4)
# Number kinds
UNSIGNED, SIGNED, FLOAT = range(3)
# Comparisons, in the order of warpsift.units.scu.scu_api.COMPARISONS
EQUAL, DIFFERENT, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = range(6)
# Kinds of tags
TAG_READ, TAG_VECTOR, TAG_WRITE = 0, 1, 2  # data port
TAG_SET, TAG_EVICTION = 0, 1  # hash port; its writes are TAG_WRITE too

_ADDRESSES = ("data", "mask", "index", "count", "keep", "order", "base", "cost", "out", "table", "slots")
_FLAGS = ("has_mask", "has_index", "has_count", "repeats", "has_keep", "has_order", "has_base", "has_cost", "add")

COMMAND = data.StructLayout(
    dict.fromkeys(_FLAGS, 1)
    | {f"{name}_address": ADDRESS_BITS for name in _ADDRESSES}
    | {
        "target": 2,
        "size": 2,  # log2 of an element's bytes
        "kind": 2,
        "comparison": 3,
        "reference": 64,
        "inputs": COUNT_BITS,
        "keep_words": COUNT_BITS,
        "order_words": COUNT_BITS,
        # registers of the hash table
        "best": 1,  # entries have costs
        "cost_kind": 2,
        "sets": SET_BITS,
        "ways": 3,  # log2
        "key_mask": 28,
        "epoch": 28,  # in its place above the key
        "group": 4,  # elements of a full group
        "clear": 1,
    }
)
RESULT = data.StructLayout({"kept": COUNT_BITS})


def request_layout(p: ScuParameters, extra_tag_bits: int = 0) -> data.StructLayout:
    return data.StructLayout(
        {
            "write": 1,
            "last": 1,
            "tag": p.tag_bits + extra_tag_bits,
            "sector": SECTOR_ADDRESS_BITS,  # of a read: the line's first
            "sectors": 4,
            "mask": 32,
            "data": 256,
        }
    )


def reply_layout(p: ScuParameters, extra_tag_bits: int = 0) -> data.StructLayout:
    return data.StructLayout({"tag": p.tag_bits + extra_tag_bits, "sector": 2, "data": 256})


def read_layout(p: ScuParameters) -> data.StructLayout:
    """A read inside the unit, before it gets its place in the memory port."""
    return data.StructLayout({"line": LINE_ADDRESS_BITS, "sectors": 4, "tag": p.tag_bits - 2})


def lanes(p: ScuParameters, layout: data.StructLayout) -> data.StructLayout:
    """Up to `width` elements in neighbouring lanes."""
    return data.StructLayout({"mask": p.width, "lanes": data.ArrayLayout(layout, p.width)})


def input_layout(p: ScuParameters) -> data.StructLayout:
    """`end`: without lists, the last input that is known to be kept, for asking ahead."""
    return lanes(p, data.StructLayout({"first": 32, "length": 32, "end": 32, "base": SIDE_BITS}))


def element_layout(p: ScuParameters) -> data.StructLayout:
    """`end`: the last element of the same stretch of neighbours, for asking ahead."""
    return lanes(p, data.StructLayout({"source": 32, "end": 32, "side": SIDE_BITS}))


def address_layout(p: ScuParameters) -> data.StructLayout:
    lane = data.StructLayout({"address": ADDRESS_BITS, "wanted": 4, "side": SIDE_BITS})
    return data.StructLayout({"operand": 1, "bundle": lanes(p, lane)})


def row_layout(p: ScuParameters) -> data.StructLayout:
    """`free`: up to this place, the sector ring is not needed once the row has gone."""
    lane = data.StructLayout({"slot": p.slot_bits, "offset": 5, "side": SIDE_BITS})
    return data.StructLayout({"operand": 1, "free": p.slot_bits, "bundle": lanes(p, lane)})


def fetched_layout(p: ScuParameters) -> data.StructLayout:
    return lanes(p, data.StructLayout({"value": 64, "operand": 64, "side": SIDE_BITS}))


def store_layout(p: ScuParameters) -> data.StructLayout:
    return lanes(p, data.StructLayout({"value": 64, "place": 32}))


def bits_layout(p: ScuParameters) -> data.StructLayout:
    """Up to `width` bits for a mask, from bit 0."""
    return data.StructLayout({"bits": p.width, "count": Shape.cast(range(p.width + 1)).width})


def stream_of(layout: data.StructLayout) -> stream.Signature:
    return stream.Signature(layout)
