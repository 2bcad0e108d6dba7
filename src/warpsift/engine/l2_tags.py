"""Tags of the L2: the set that a line belongs to, and giving a row to another line."""

from __future__ import annotations

import numpy as np

from warpsift.engine.address_map import local_line, mix_bits
from warpsift.engine.cache_sets import line_row
from warpsift.engine.division import quotient, remainder
from warpsift.engine.l2_dram import send_to_dram
from warpsift.engine.l2_state import RANDOM, l2
from warpsift.engine.layout import S_t, i64, kernel, load, popcount, store, void
from warpsift.machines.spec import LINE_BYTES


@kernel(i64, S_t, i64, i64)
def first_row(S, slice_index, line):
    """Row of the first way of the set that a line belongs to."""
    C = l2(S.p_l2, 0)
    inner = local_line(S, line)
    if C.mapping != RANDOM:  # slices of a channel take turns chunk by chunk: take that out as well
        chunk = quotient(inner, C.interleave_lines, C.interleave_shift)
        turn = quotient(chunk, C.slices_per_channel, C.slices_per_channel_shift)
        inner = turn * C.interleave_lines + (inner - chunk * C.interleave_lines)
    if C.hashed_index != 0:
        inner += mix_bits(quotient(inner, C.sets, C.sets_shift))
    return (slice_index * C.sets + remainder(inner, C.sets, C.sets_shift)) * C.ways


@kernel(void, S_t, i64, i64, i64)
def replace_line(S, slice_index, row, line):
    """Give a row to a new line; the dirty sectors of the old one go to DRAM."""
    C = l2(S.p_l2, 0)
    L = line_row(C.p_lines, row)
    old = load(C.p_tags, row)
    if old >= 0:
        C.l2_evictions += 1
        base = local_line(S, old) * LINE_BYTES
        C.l2_writebacks += popcount(L.dirty)
        burst = (np.int64(1) << C.write_sectors) - 1
        for sector in range(0, 4, C.write_sectors):  # sectors that share a burst are written together
            if (L.dirty >> sector) & burst:
                send_to_dram(S, slice_index, base + sector * 32, np.int64(1))
    store(C.p_tags, row, line)
    L.valid = 0
    L.dirty = 0
    L.pending = 0
