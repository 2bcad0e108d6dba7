"""The queue of a slice towards its DRAM channel; or one for reads and one for writes (`writeback` "row"), so that
neither waits behind the other."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import line_row
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import mask_add
from warpsift.engine.core.words import store
from warpsift.engine.l2.l2_state import l2, l2_slice
from warpsift.hardware import SECTORS_PER_LINE


@compiled(i64, S_t, i64)
def dram_queue_room(S, slice_index):
    C = l2(S)
    L = l2_slice(C.p_slices, slice_index)
    return C.dram_queue - (L.dram_tail - L.dram_head)


@compiled(i64, S_t, i64)
def room_for_written_line(S, slice_index):
    """Whether the queue for writes holds the sectors of one more line."""
    C = l2(S)
    L = l2_slice(C.p_slices, slice_index)
    return np.int64(C.dram_queue - (L.write_tail - L.write_head) >= SECTORS_PER_LINE)


@compiled(i64, S_t, i64, i64, i64)
def room_for_miss(S, slice_index, victim, requests):
    """Whether so many requests have room; with a queue for writes, also what the victim (or -1) sends there."""
    C = l2(S)
    if dram_queue_room(S, slice_index) < requests:
        return np.int64(0)
    if C.row_writeback == 0 or victim < 0 or line_row(C.p_lines, victim).dirty == 0:
        return np.int64(1)
    L = l2_slice(C.p_slices, slice_index)
    if L.row_next != L.row_end:  # one set of rows at a time
        return np.int64(0)
    return room_for_written_line(S, slice_index)


@compiled(void, S_t, i64, i64, i64)
def send_to_dram(S, slice_index, address, word):
    """Queue one sector request (word = token << 1 | is_write) towards the channel. Room has been checked."""
    C = l2(S)
    L = l2_slice(C.p_slices, slice_index)
    mask_add(C.p_to_dram, slice_index)
    if C.row_writeback != 0 and word & 1:
        store(L.p_write_address, L.write_tail & C.dram_ring_mask, address)
        L.write_tail += 1
        return
    store(L.p_dram_token, L.dram_tail & C.dram_ring_mask, word)
    store(L.p_dram_address, L.dram_tail & C.dram_ring_mask, address)
    L.dram_tail += 1
