"""Tags of the L2: the set that a line belongs to, and giving a row to another line."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import line_row
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, popcount, store
from warpsift.engine.l2.address_map import dram_address
from warpsift.engine.l2.l2_dram import send_to_dram
from warpsift.engine.l2.l2_state import l2
from warpsift.hardware import SECTOR_BYTES


@compiled(void, S_t, i64, i64, i64)
def write_sectors(S, slice_index, line, sectors):
    """Send sectors of a line to DRAM; those that share a burst are written together."""
    C = l2(S)
    base = dram_address(S, line)
    C.l2_writebacks += popcount(sectors)
    burst = (np.int64(1) << C.write_sectors) - 1
    for sector in range(0, 4, C.write_sectors):
        if (sectors >> sector) & burst:
            send_to_dram(S, slice_index, base + sector * SECTOR_BYTES, np.int64(1))


@compiled(void, S_t, i64, i64, i64)
def replace_line(S, slice_index, row, line):
    """Give a row to a new line; the dirty sectors of the old one go to DRAM."""
    C = l2(S)
    L = line_row(C.p_lines, row)
    old = load(C.p_tags, row)
    if old >= 0:
        C.l2_evictions += 1
        write_sectors(S, slice_index, old, np.int64(L.dirty))
    store(C.p_tags, row, line)
    if C.words_kept != 0:
        store(C.p_written_words, row, np.int64(0))
    L.valid = 0
    L.dirty = 0
    L.pending = 0
