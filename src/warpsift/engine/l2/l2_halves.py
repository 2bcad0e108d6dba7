"""An L2 in two halves: lines are written in the half of their channel, and read through copies in the reader's half.

NVIDIA's A100 whitepaper: each half caches data for the SMs directly connected to it, and hardware keeps the two
coherent. A copy that misses is filled from the line's own half if that holds it, else from the channel, in either case
by a way that is longer by `far_latency_cycles` per direction. A write or an atomic, which goes to the line's own half,
takes the copy away. Not modelled: the bandwidth between the halves, and that a read through a copy leaves the line in
its own half as well.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import ALL_SECTORS, find_row, line_row
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.wheel import EV_DRAM_DONE, wheel_push
from warpsift.engine.l2.address_map import first_row, slice_of
from warpsift.engine.l2.l2_state import l2

FAR = 1 << 40  # of a fill's token: the longer way is behind it


@compiled(i64, S_t, i64, i64)
def is_copy(S, slice_index, line):
    """1 if this slice is not the line's own."""
    return np.int64(1) if slice_of(S, line) != slice_index else np.int64(0)


@compiled(i64, S_t, i64, i64, i64)
def far_copy(S, slice_index, line, token):
    """Fill sectors of a copy from the line's own half, if they are there: 1, else 0."""
    C = l2(S)
    home = slice_of(S, line)
    if home == slice_index:
        return np.int64(0)
    row = find_row(C.p_tags, first_row(S, home, line), C.ways, line)
    wanted = ((np.int64(1) << C.read_sectors) - 1) << (token & 3)
    if row < 0 or (wanted & (line_row(C.p_lines, row).valid ^ ALL_SECTORS)) != 0:
        return np.int64(0)
    C.l2_far_fills += C.read_sectors
    wheel_push(S, S.now + 2 * C.far_latency, EV_DRAM_DONE, token | FAR, 0)
    return np.int64(1)


@compiled(void, S_t, i64, i64, i64)
def drop_copy(S, slice_index, line, sectors):
    """A line changes in its own half: the copy in the other one is void."""
    C = l2(S)
    other = slice_index + C.half_slices if slice_index < C.half_slices else slice_index - C.half_slices
    row = find_row(C.p_tags, first_row(S, other, line), C.ways, line)
    if row >= 0:
        line_row(C.p_lines, row).valid &= sectors ^ ALL_SECTORS
