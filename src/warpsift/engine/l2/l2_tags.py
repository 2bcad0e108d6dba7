"""Tags of the L2: giving a row to another line."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import line_row
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, store
from warpsift.engine.l2.l2_state import l2
from warpsift.engine.l2.l2_writeback import write_row, write_sectors


@compiled(void, S_t, i64, i64, i64)
def replace_line(S, slice_index, row, line):
    """Give a row to a new line; the dirty sectors of the old one go to DRAM."""
    C = l2(S)
    L = line_row(C.p_lines, row)
    old = load(C.p_tags, row)
    if old >= 0:
        C.l2_evictions += 1
        write_sectors(S, slice_index, old, np.int64(L.dirty))
    written = old >= 0 and L.dirty != 0
    store(C.p_tags, row, line)
    if C.words_kept != 0:
        store(C.p_written_words, row, np.int64(0))
    L.valid = 0
    L.dirty = 0
    L.pending = 0
    if C.row_writeback != 0 and written:
        write_row(S, slice_index, old)
