"""Lane addresses that coalesce to given transactions: what a trace needs and the stream no longer has.

Every sector of every line gets a lane, in order, and the lanes left over fill the words of the sectors one after the
other; a warp that read 32 neighbouring words gets exactly its addresses back. Which lane touched which word, and
where in its word an access began, is lost; lines, sectors, their order, atomics' repeats and the words that a store
covers are not.
"""

from __future__ import annotations

import numpy as np

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


@compiled(void(i64, INTS, i64, i64, INTS))
def store_addresses(lanes, transactions, lines, width, out):
    """The same for a store of so many lines, whose word masks may follow them: lanes on the words that it covers."""
    at = 0
    for k in range(lines):
        entry, back = transactions[k], lines - 1 - k
        partial = (entry >> s.REPEAT_SHIFT) & s.SECTOR_MASK
        words = transactions[lines + (back >> 1)] >> (32 * (back & 1)) if partial else np.int64(-1)
        for sector in range(SECTORS_PER_LINE):
            if not (entry >> sector) & 1:
                continue
            begin = ((entry >> s.LINE_SHIFT) << coalesce.LINE_BITS) + (sector << coalesce.SECTOR_BITS)
            mask = (words >> (8 * sector)) & 255 if (partial >> sector) & 1 else np.int64(255)
            if width < 4 and (partial >> sector) & 1:
                mask = np.int64(0)  # which bytes of its words are covered is lost
            found = 0
            for place in range(0, SECTOR_BYTES, width):
                if (mask >> (place >> 2)) & 1 and at < lanes:
                    out[at] = begin + place
                    at += 1
                    found += 1
            if found == 0 and at < lanes:
                out[at] = begin
                at += 1
    for k in range(at, lanes):  # several wrote the same
        out[k] = out[k - at]


@compiled(void(i64, i64, INTS))
def shared_addresses(lanes, passes, out):
    """Fill out[:lanes] so that the busiest bank must deliver `passes` different words."""
    for k in range(lanes):
        if k < passes:
            out[k] = 4 * coalesce.BANKS * k  # all in bank 0
        else:
            out[k] = 4 * (k % coalesce.BANKS)  # a bank of its own; k = 0 is among the above
