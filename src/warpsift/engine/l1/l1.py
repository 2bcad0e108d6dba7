"""L1 data cache of an SM: loads hit, merge with a line in flight, or ask the L2 for what they lack.

Write-through, and stores allocate nothing; one that finds its line updates or evicts it (`write_hit`).
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import ALL_SECTORS, find_row, line_row
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import store
from warpsift.engine.l1.l1_misses import l1_read_miss
from warpsift.engine.l1.l1_places import l1_first_row
from warpsift.engine.l1.l1_state import NO_LINE, NO_MSHR, l1, l1_sm
from warpsift.engine.sm.sm_state import MEMORY_OPS, memory_op, sms


@compiled(i64, S_t, i64, i64, i64)
def l1_load(S, sm, op_index, transaction):
    """One line transaction of a load: 0, or why it was refused."""
    C = l1(S)
    line = transaction >> 16
    row = find_row(C.p_tags, l1_first_row(S, sm, line), C.ways, line)
    if row >= 0:
        L = line_row(C.p_lines, row)
        if (transaction & ALL_SECTORS & (L.valid ^ ALL_SECTORS)) == 0:
            C.l1_read_accesses += 1
            C.l1_read_hits += 1
            C.stamp += 1
            L.used = C.stamp
            E = memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + op_index)
            E.done_at = S.now + C.latency + sms(S).lsu_latency
            return np.int64(0)
    refused = l1_read_miss(S, sm, op_index, transaction, row)
    if refused == 0:
        C.l1_read_accesses += 1
    return refused


@compiled(i64, S_t, i64, i64)
def l1_still_refuses(S, sm, reason):
    """1 if an access that was refused for this reason would certainly be refused again.

    A miss that found all lines of its set on their way, or no MSHR, stays one until that changes: while the load-store
    unit stands still, nobody else brings its line. Room to merge may have come; only looking tells.
    """
    C = l1(S)
    U = l1_sm(C.p_sms, sm)
    if reason == NO_MSHR:
        return np.int64(U.mshr_free < 0)
    if reason != NO_LINE:
        return np.int64(0)
    for row in range(U.full_set, U.full_set + C.ways):
        if line_row(C.p_lines, row).pending == 0:
            return np.int64(0)
    return np.int64(1)


@compiled(void, S_t, i64, i64)
def l1_store(S, sm, line):
    """A store passes by: update or evict the line if it is here."""
    C = l1(S)
    C.l1_write_accesses += 1
    row = find_row(C.p_tags, l1_first_row(S, sm, line), C.ways, line)
    if row < 0:
        return
    C.l1_write_hits += 1
    L = line_row(C.p_lines, row)
    if C.evict_on_write != 0 and L.pending == 0:
        store(C.p_tags, row, np.int64(-1))
        L.used = 0
        L.valid = 0
