"""Lane addresses that coalesce to given transactions: what a trace needs and the stream no longer has.

Every sector of every line gets a lane, in order, and the lanes left over fill the words of the sectors one after the
other; a warp that read 32 neighbouring words gets exactly its addresses back. Which lane touched which word, and
where in its word an access began, is lost; lines, sectors, their order and atomics' repeats are not.
"""

from __future__ import annotations

from warpsift.hardware import SECTOR_BYTES, SECTORS_PER_LINE
from warpsift.simt import coalesce
from warpsift.simt import stream as s
from warpsift.traces.compiled import INTS, compiled, i64, void


@compiled(void(i64, i64, INTS, i64, INTS))
def lane_addresses(kind, lanes, transactions, width, out):
    """Fill out[:lanes] so that the coalescer makes `transactions` of it."""
    sectors = 0
    for entry in transactions:
        for sector in range(SECTORS_PER_LINE):
            if (entry >> sector) & 1:
                sectors += (entry >> s.REPEAT_SHIFT) & 255 if kind == s.ATOMIC else 1
    spare = lanes - sectors
    words = max(1, SECTOR_BYTES // width)
    at = 0
    for entry in transactions:
        repeat = (entry >> s.REPEAT_SHIFT) & 255 if kind == s.ATOMIC else 1
        line = (entry >> s.LINE_SHIFT) << coalesce.LINE_BITS
        for sector in range(SECTORS_PER_LINE):
            if not (entry >> sector) & 1:
                continue
            extra = min(max(spare, 0), repeat * (words - 1))
            spare -= extra
            for k in range(repeat + extra):
                if at < lanes:
                    out[at] = line + (sector << coalesce.SECTOR_BITS) + (k // repeat) * width
                    at += 1
    while at < lanes:  # more lanes than words: several read the same
        out[at] = out[at - sectors] if at >= sectors else out[0]
        at += 1


@compiled(void(i64, i64, INTS))
def shared_addresses(lanes, passes, out):
    """Fill out[:lanes] so that the busiest bank must deliver `passes` different words."""
    for k in range(lanes):
        if k < passes:
            out[k] = 4 * coalesce.BANKS * k  # all in bank 0
        else:
            out[k] = 4 * (k % coalesce.BANKS)  # a bank of its own; k = 0 is among the above
