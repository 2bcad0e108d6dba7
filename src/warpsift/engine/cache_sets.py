"""What L1 and L2 have in common: the state of a line, looking a line up in its set, and the victim of a set.

Tags stand apart from the lines' states, so that a lookup reads consecutive words. A line with sectors on the way cannot
be replaced.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.layout import accessor, i64, kernel, load

ALL_SECTORS = 15  # of a 128-byte line, as a mask

LINE = np.dtype(
    [
        ("used", np.int64),  # time stamp of the last use
        ("valid", np.int64),  # sector masks
        ("dirty", np.int64),
        ("pending", np.int64),  # on the way from below
        ("mshr", np.int64),
    ],
    align=True,
)
line_row = accessor(LINE)


@kernel(i64, i64, i64, i64, i64)
def find_row(p_tags, base, ways, line):
    """Row of a line in the set that begins at row `base`, or -1."""
    for row in range(base, base + ways):
        if load(p_tags, row) == line:
            return row
    return np.int64(-1)


@kernel(i64, i64, i64, i64)
def victim_row(p_lines, base, ways):
    """Least recently used line of a set that is not being filled, or -1."""
    best = np.int64(-1)
    oldest = np.int64(0)
    for row in range(base, base + ways):
        L = line_row(p_lines, row)
        if L.pending == 0 and (best < 0 or L.used < oldest):
            best = np.int64(row)
            oldest = L.used
    return best
