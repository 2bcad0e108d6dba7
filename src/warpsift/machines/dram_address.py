"""Which bank, row and column a channel-local byte address names.

A memory controller cuts the address into bit fields. The order decides whether a stream walks along a row or hops over
the banks, so it is data: "row14 bank2 group2 col7 burst5", most significant field first. A field may come in pieces
("row12 bank3 col4 bank1 col2 burst6": the low bank bit sits between column bits, as in GPGPU-Sim's GTX480 file).

A memory may be larger than its map (`dram.size_mib`): bits above the map count further rows.
"""

from __future__ import annotations

import re

from warpsift.errors import WarpsiftError

FIELDS = ("row", "rank", "group", "bank", "col", "burst")
MAX_PIECES = 4  # pieces that one field may come in
MAX_BITS = 60  # of an address in all: it is computed in signed 64-bit words

Pieces = dict[str, list[tuple[int, int]]]


def log2(value: int, what: str) -> int:
    """The exponent of a power of two, or an error that names the key."""
    if value < 1 or value & (value - 1):
        raise WarpsiftError(f"{what} = {value} is not a power of two; write 1, 2, 4, 8, ...")
    return value.bit_length() - 1


def parse_address_map(text: str) -> Pieces:
    """Field -> pieces (shift in the address, width), least significant piece first."""
    pieces: Pieces = {name: [] for name in FIELDS}
    shift = 0
    for word in reversed(text.split()):
        match = re.fullmatch(r"([a-z]+)([0-9]{1,3})", word)
        if match is None or match[1] not in FIELDS:
            raise WarpsiftError(
                f"dram.address_map: {word!r} is not a field; write a name and a width such as 'row14', "
                f"with the names {', '.join(FIELDS)}, most significant first"
            )
        width = int(match[2])
        if width:
            pieces[match[1]].append((shift, width))
        shift += width
    if shift > MAX_BITS:
        raise WarpsiftError(f"dram.address_map: {shift} bits; write at most {MAX_BITS}, addresses are 64-bit words")
    for name, parts in pieces.items():
        if len(parts) > MAX_PIECES:
            raise WarpsiftError(
                f"dram.address_map: {name} comes in {len(parts)} pieces; at most {MAX_PIECES} are possible"
            )
    return pieces


def width_of(pieces: Pieces, field: str) -> int:
    return sum(width for _, width in pieces[field])


def field_value(address: int, parts: list[tuple[int, int]]) -> int:
    """One field of an address, in plain Python (set-up, tests and tools)."""
    value = position = 0
    for shift, width in parts:
        value |= ((address >> shift) & ((1 << width) - 1)) << position
        position += width
    return value
