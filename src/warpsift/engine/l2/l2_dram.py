"""From a slice to its DRAM channel: the first request of its queue is offered until it is taken."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import mask_add, mask_any, mask_empty, mask_remove
from warpsift.engine.core.wheel import EV_DRAM_DONE, wheel_push
from warpsift.engine.core.words import load
from warpsift.engine.dram.dram_controller import dram_accept
from warpsift.engine.dram.dram_state import dram
from warpsift.engine.l2.address_map import CHANNEL_SHIFT
from warpsift.engine.l2.l2_queue import slice_retry
from warpsift.engine.l2.l2_state import l2, l2_slice
from warpsift.engine.l2.l2_writeback import write_row_on


@compiled(void, S_t)
def forget_refusals(S):
    """What DRAM has refused it may take once it has done something since."""
    C = l2(S)
    if mask_any(C.p_refused, C.words) != 0:
        D = dram(S)
        done = D.dram_reads + D.dram_writes + D.dram_forwarded_reads + D.dram_merged_writes
        if done != C.refused_at:
            mask_empty(C.p_refused, C.words)
            C.refused_at = done


@compiled(i64, S_t, i64)
def dram_candidates(S, word):
    """Slices whose next request DRAM might take, one word of the mask: not those it has refused."""
    C = l2(S)
    return load(C.p_to_dram, word) & (load(C.p_refused, word) ^ -1)


@compiled(i64, S_t, i64, i64, i64)
def _offer(S, slice_index, address, word):
    """Offer a request to its channel: 1 if that has taken it."""
    C = l2(S)
    channel = slice_index // C.slices_per_channel
    if C.halves == 2:
        channel = address >> CHANNEL_SHIFT
        address ^= channel << CHANNEL_SHIFT
    if C.ideal_dram != 0:
        if word & 1 == 0:
            wheel_push(S, S.now + C.ideal_dram_latency, EV_DRAM_DONE, word >> 1, channel)
        return np.int64(1)
    return dram_accept(S, channel, address, word & 1, word >> 1)


@compiled(void, S_t, i64)
def l2_to_dram(S, slice_index):
    """Offer the first request of a slice to its channel; where writes have their own queue, reads go first."""
    C = l2(S)
    L = l2_slice(C.p_slices, slice_index)
    taken = np.int64(0)
    if L.dram_head != L.dram_tail:
        place = L.dram_head & C.dram_ring_mask
        taken = _offer(S, slice_index, load(L.p_dram_address, place), load(L.p_dram_token, place))
        L.dram_head += taken
    if taken == 0 and L.write_head != L.write_tail:
        place = L.write_head & C.dram_ring_mask
        taken = _offer(S, slice_index, load(L.p_write_address, place), np.int64(1))
        L.write_head += taken
        if taken != 0 and L.row_next != L.row_end:
            write_row_on(S, slice_index)
    if taken == 0:
        mask_add(C.p_refused, slice_index)
        return
    slice_retry(S, slice_index)
    if L.dram_head == L.dram_tail and L.write_head == L.write_tail:
        mask_remove(C.p_to_dram, slice_index)
