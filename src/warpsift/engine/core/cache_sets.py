"""What L1 and L2 have in common: the state of a line, looking a line up in its set, and the victim of a set.

Tags stand apart from the lines' states, so that a lookup reads consecutive words; states are small, since a model of
thousands of lines must stay in the host's own caches. A line with sectors on the way cannot
be replaced.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import HOST_LINE_BYTES, accessor
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, prefetch

ALL_SECTORS = 15  # of a 128-byte line, as a mask
WAY_BITS = 12  # of a number that has a time stamp above them
PENDING = 1 << 61  # above any such number

LINE = np.dtype(
    [
        ("used", np.int64),  # time stamp of the last use
        ("mshr", np.int32),
        ("valid", np.uint8),  # sector masks
        ("dirty", np.uint8),
        ("pending", np.uint8),  # on the way from below
    ],
    align=True,
)
line_row = accessor(LINE)
LINE_ROW_BYTES = LINE.itemsize


@compiled(i64, i64, i64, i64, i64)
def find_row(p_tags, base, ways, line):
    """Row of a line in the set that begins at row `base`, or -1."""
    found = np.int64(-1)
    for row in range(base, base + ways):  # no early exit: a branch that cannot be predicted costs more than the rest
        found = max(found, np.int64(row) if load(p_tags, row) == line else np.int64(-1))
    return found


@compiled(void, i64, i64, i64, i64)
def prefetch_set(p_tags, p_lines, base, ways):
    """The set will be searched soon: let the host fetch it meanwhile."""
    for first in range(base * 8, (base + ways) * 8, HOST_LINE_BYTES):
        prefetch(p_tags, first)
    for first in range(base * LINE_ROW_BYTES, (base + ways) * LINE_ROW_BYTES, HOST_LINE_BYTES):
        prefetch(p_lines, first)


@compiled(i64, i64, i64, i64)
def victim_row(p_lines, base, ways):
    """Least recently used line of a set that is not being filled, or -1; of equals the first."""
    best = np.int64(PENDING)
    for row in range(base, base + ways):  # by one number each, without branches, as above
        L = line_row(p_lines, row)
        best = min(best, ((L.used << WAY_BITS) | (row - base)) + (np.int64(PENDING) if L.pending != 0 else np.int64(0)))
    return base + (best & ((1 << WAY_BITS) - 1)) if best < PENDING else np.int64(-1)
