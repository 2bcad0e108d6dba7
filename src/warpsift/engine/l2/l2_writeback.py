"""What is written in the L2 goes to DRAM: the sectors of a line, or with them those of its DRAM rows.

NVIDIA's patents (US 8,341,358, 8,060,700 and 8,464,001) sort what is dirty in the L2 by DRAM page, and the memory
controller takes a page at a time. Here, as in Lee et al., "DRAM-aware last-level cache writeback" (UT Austin, 2010), a
line that is replaced begins: the written lines of its rows follow as the queue has room, and stay in the L2, clean.
Consecutive lines of a channel lie in rows of several bank groups in turn; these rows are written together, since bursts
to one group alone cannot fill the data bus (tCCD_L). A slice writes its own lines, one set of rows at a time.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import find_row, line_row
from warpsift.engine.core.division import quotient, remainder
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import popcount
from warpsift.engine.l2.address_map import dram_address, first_row, line_at, local_line, slice_of
from warpsift.engine.l2.l2_dram_queue import room_for_written_line, send_to_dram
from warpsift.engine.l2.l2_state import l2, l2_slice
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


@compiled(void, S_t, i64, i64)
def _write_mate(S, slice_index, line):
    """Send the written sectors of a line that stays; one that is written in part keeps waiting for the rest."""
    C = l2(S)
    row = find_row(C.p_tags, first_row(S, slice_index, line), C.ways, line)
    if row < 0:
        return
    L = line_row(C.p_lines, row)
    sectors = np.int64(L.dirty & L.valid)
    L.dirty ^= sectors
    C.l2_row_writebacks += popcount(sectors)
    write_sectors(S, slice_index, line, sectors)


@compiled(void, S_t, i64)
def write_row_on(S, slice_index):
    """Go on with the rows that a slice is writing, as far as there is room."""
    C = l2(S)
    L = l2_slice(C.p_slices, slice_index)
    channel = quotient(slice_index, C.slices_per_channel, C.slices_per_channel_shift)
    while L.row_next != L.row_end and room_for_written_line(S, slice_index) != 0:
        line = line_at(S, channel, L.row_next)
        L.row_next += 1
        if slice_of(S, line) == slice_index:
            _write_mate(S, slice_index, line)


@compiled(void, S_t, i64, i64)
def write_row(S, slice_index, line):
    """A written line has gone: the others of its rows follow."""
    C = l2(S)
    L = l2_slice(C.p_slices, slice_index)
    local = local_line(S, line)
    L.row_next = local - remainder(local, C.row_lines, C.row_lines_shift)
    L.row_end = L.row_next + C.row_lines
    write_row_on(S, slice_index)
