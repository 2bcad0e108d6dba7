"""Traffic per named array of a launch: which data structure causes the misses."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import Arena, S_t, accessor
from warpsift.engine.core.jit import compiled, i64, void

ARRAYS = 256  # arrays beyond this share the last row
FIELDS = {
    "l1_transactions": "line transactions of loads, stores and atomics",
    "l1_read_misses": "of its loads, those that sent a request",
    "l2_sectors": "sectors read or written at L2",
    "dram_reads": "sectors fetched from DRAM",
}
ARRAY = np.dtype([(name, np.int64) for name in FIELDS], align=True)
array_row = accessor(ARRAY)


def allocate(arena: Arena) -> None:
    arena.root.p_arrays = arena.table("arrays", ARRAY, ARRAYS)


@compiled(void, S_t, i64, i64, i64)
def count_array_l2(S, array, sectors, misses):
    A = array_row(S.p_arrays, array)
    A.l2_sectors += sectors
    A.dram_reads += misses
