"""Touching caches without time: what instructions that are not timed leave behind in the tags of L1 and L2.

Functional warming as in SMARTS (Wunderlich et al., ISCA 2003): a touched line is valid at once, least recently used
lines make room, no request is sent. Counted are the sectors that would have moved between L2 and DRAM, nothing else.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import ALL_SECTORS, find_row, line_row, victim_row
from warpsift.engine.core.jit import compiled, entry, i64, void
from warpsift.engine.core.words import load, popcount, store
from warpsift.engine.l1.l1_places import l1_first_row
from warpsift.engine.l1.l1_state import l1
from warpsift.engine.l2.address_map import first_row, slice_near, slice_of
from warpsift.engine.l2.l2_halves import drop_copy
from warpsift.engine.l2.l2_misses import widened
from warpsift.engine.l2.l2_state import l2
from warpsift.engine.sm.sm_state import chunk_row, op_row, sms
from warpsift.engine.unit_socket import SKIP, call_unit
from warpsift.simt.stream import ATOMIC, COMMAND, COMMAND_UNIT_SHIFT, LOAD, STORE

WRITES = 16  # beside the sectors of a touch: they are written
NO_SM = -1


@compiled(i64, S_t, i64, i64)
def touched_row(S, slice_index, line):
    """Row of a line at an L2 slice, where it takes the place of another if it was not there; -1: there is no place."""
    C = l2(S)
    base = first_row(S, slice_index, line)
    row = find_row(C.p_tags, base, C.ways, line)
    if row >= 0:
        return row
    row = victim_row(C.p_lines, base, C.ways)
    if row >= 0:
        store(C.p_tags, row, line)
        if C.words_kept != 0:
            store(C.p_written_words, row, np.int64(0))
        L = line_row(C.p_lines, row)
        C.touched_sectors += popcount(L.dirty)
        L.valid = 0
        L.dirty = 0
    return row


@compiled(void, S_t, i64, i64)
def touch_row(S, row, access):
    """An access to a line of the L2; `access`: sectors, and WRITES."""
    C = l2(S)
    if row < 0:
        return
    sectors = access & ALL_SECTORS
    L = line_row(C.p_lines, row)
    C.stamp += 1
    L.used = C.stamp
    wanted = np.int64(ALL_SECTORS) if C.whole_line != 0 else widened(S, sectors)
    if access & WRITES != 0:
        if C.fetch_written == 0 or sectors & (L.valid ^ ALL_SECTORS) == 0:
            L.valid |= sectors
            L.dirty |= sectors
            return
        C.touched_sectors += popcount(sectors)  # goes on to DRAM; its line is fetched, as for a read
    if sectors & ((L.valid | L.pending) ^ ALL_SECTORS):
        C.touched_sectors += popcount(wanted & (L.valid ^ ALL_SECTORS))
        L.valid |= wanted


@compiled(void, S_t, i64, i64, i64)
def touch_l2(S, port, line, access):
    """An access of a client of the interconnect: at the slice that it would go to."""
    if l2(S).ideal_l2 != 0:
        return
    if access & WRITES == 0:
        touch_row(S, touched_row(S, slice_near(S, port, line), line), access)
        return
    home = slice_of(S, line)
    if l2(S).halves == 2:
        drop_copy(S, home, line, access & ALL_SECTORS)
    touch_row(S, touched_row(S, home, line), access)


@compiled(void, S_t, i64, i64, i64)
def touch_changed(S, port, line, sectors):
    """An atomic reads what it changes."""
    if l2(S).ideal_l2 != 0 or l2(S).halves == 2:
        touch_l2(S, port, line, sectors)
        touch_l2(S, port, line, sectors | WRITES)
        return
    row = touched_row(S, slice_of(S, line), line)
    touch_row(S, row, sectors)
    touch_row(S, row, sectors | WRITES)


@compiled(i64, S_t, i64, i64, i64)
def touch_l1(S, sm, line, sectors):
    """A load at the L1 of an SM; the sectors that it asks the L2 for."""
    C = l1(S)
    base = l1_first_row(S, sm, line)
    row = find_row(C.p_tags, base, C.ways, line)
    wanted = np.int64(ALL_SECTORS) if C.whole_line != 0 else sectors
    C.stamp += 1
    if row >= 0:
        L = line_row(C.p_lines, row)
        L.used = C.stamp
        if sectors & (L.valid ^ ALL_SECTORS) == 0:
            return np.int64(0)
        wanted &= (L.valid | L.pending) ^ ALL_SECTORS
        L.valid |= wanted
        return wanted
    row = victim_row(C.p_lines, base, C.ways)
    if row >= 0:
        L = line_row(C.p_lines, row)
        store(C.p_tags, row, line)
        L.valid = wanted
        L.used = C.stamp
    return wanted


@compiled(void, S_t, i64, i64)
def touch_l1_written(S, sm, line):
    """A store passes the L1 of an SM: where stores evict, its line is gone."""
    C = l1(S)
    if C.evict_on_write == 0:
        return
    row = find_row(C.p_tags, l1_first_row(S, sm, line), C.ways, line)
    if row >= 0 and line_row(C.p_lines, row).pending == 0:
        store(C.p_tags, row, np.int64(-1))
        L = line_row(C.p_lines, row)
        L.used = 0
        L.valid = 0


@compiled(void, S_t, i64, i64, i64)
def touch_op(S, sm, chunk, pc):
    """All that a memory instruction touches, on an SM (or past all L1s: NO_SM)."""
    H = chunk_row(sms(S).p_chunks, chunk)
    op = op_row(H.p_ops, pc)
    kind = np.int64(op.kind)
    if kind >= COMMAND:
        call_unit(S, np.int64(op.detail) >> COMMAND_UNIT_SHIFT, np.int64(SKIP), chunk, pc)
        return
    first = np.int64(op.first)
    cached = sm != NO_SM and l1(S).cached_loads != 0
    port = max(sm, np.int64(0))
    for index in range(first, first + np.int64(op.transactions)):
        transaction = load(H.p_transactions, index)
        line = transaction >> 16
        sectors = transaction & ALL_SECTORS
        if kind == LOAD:
            wanted = touch_l1(S, sm, line, sectors) if cached else sectors
            if wanted != 0:
                touch_l2(S, port, line, wanted)
        else:
            if kind == STORE and sm != NO_SM:
                touch_l1_written(S, sm, line)
            if kind == ATOMIC:
                touch_changed(S, port, line, sectors)
            else:
                touch_l2(S, port, line, sectors | WRITES)


@entry("warming of caches", i64, S_t, i64, i64)
def touch_ops(S, chunk, records):
    """The memory instructions of a chunk, warp after warp, at the L2."""
    H = chunk_row(sms(S).p_chunks, chunk)
    for pc in range(records):
        kind = op_row(H.p_ops, pc).kind
        if (kind >= LOAD and kind < 4) or kind >= COMMAND:
            touch_op(S, np.int64(NO_SM), chunk, np.int64(pc))
    return np.int64(0)


@entry("warming of caches by units", i64, S_t, i64, i64, i64)
def touch_lines(S, p_lines, p_accesses, count):
    """Lines that a unit's operation reads or writes, in its order; accesses: sectors, and WRITES."""
    for index in range(count):
        touch_l2(S, np.int64(0), load(p_lines, index), load(p_accesses, index))
    return np.int64(0)
