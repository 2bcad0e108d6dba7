"""Misses of the L1: MSHRs, requests to the L2, loads that wait, and what a reply sets free.

A lack of MSHRs, of merge room or of room in the network refuses a miss: the load-store unit then stands still.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.array_traffic import array_row
from warpsift.engine.core.cache_sets import ALL_SECTORS, line_row, victim_row
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.wheel import EV_OP_DONE, wheel_push
from warpsift.engine.core.words import popcount, store
from warpsift.engine.l1.l1_places import (
    l1_enter_bucket,
    l1_first_row,
    l1_give_place,
    l1_in_flight,
    l1_leave_bucket,
)
from warpsift.engine.l1.l1_state import (
    NO_LINE,
    NO_MERGE,
    NO_MSHR,
    NO_NETWORK,
    l1,
    l1_mshr,
    l1_sm,
    l1_waiter,
)
from warpsift.engine.l2.address_map import slice_near
from warpsift.engine.noc.ports import (
    READ_CACHED,
    REQUESTS,
    noc,
    noc_inject,
    noc_room,
    packet,
    packet_new,
    sector_flits,
)
from warpsift.engine.sm.sm_state import MEMORY_OPS, memory_op, sms


@compiled(i64, S_t, i64)
def l1_request_flits(S, sectors):
    """Flits that the request for some sectors takes: they enter the network together, in one packet or one for each."""
    packets = np.int64(1) if noc(S).request_sectors == 4 else popcount(sectors)
    return packets * sector_flits(S, np.int64(0))


@compiled(void, S_t, i64, i64, i64, i64)
def l1_request(S, sm, mshr, line, sectors_and_array):
    """Send the read request of a miss: one packet, or one per sector."""
    N = noc(S)
    left = sectors_and_array & ALL_SECTORS
    while left != 0:
        part = left if N.request_sectors == 4 else left & -left
        left ^= part
        index = packet_new(S)
        P = packet(N.p_packets, index)
        P.kind = READ_CACHED
        P.line = line
        P.sectors = part
        P.partial = 0
        P.port = sm
        P.token = mshr
        P.destination = slice_near(S, sm, line)
        P.flits = sector_flits(S, np.int64(0))
        P.separate = 0
        P.ready = S.now + 1  # the pipeline in front of the tags is charged when the data is back: see l1_fill
        P.array = sectors_and_array >> 4
        noc_inject(S, REQUESTS, sm, index)


@compiled(void, S_t, i64, i64, i64, i64)
def l1_add_waiter(S, sm, mshr, op_index, sectors):
    C = l1(S)
    U = l1_sm(C.p_sms, sm)
    M = l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr)
    node = U.waiter_free
    W = l1_waiter(C.p_waiters, sm * C.waiter_rows + node)
    U.waiter_free = W.next
    W.op = op_index
    W.sectors = sectors
    W.next = M.first
    M.first = node
    M.waiters += 1
    memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + op_index).remaining += 1


@compiled(i64, S_t, i64, i64, i64)
def l1_merges_full(S, sm, mshr, asked):
    """1 if as many accesses as may wait on one sector wait on one of these; on the line, where lines come whole."""
    C = l1(S)
    if C.whole_line != 0:
        return np.int64(1)
    for sector in range(4):
        waiting = np.int64(0)
        node = np.int64(l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr).first)
        while node >= 0:
            W = l1_waiter(C.p_waiters, sm * C.waiter_rows + node)
            waiting += (asked & W.sectors) >> sector & 1
            node = np.int64(W.next)
        if waiting >= C.merges:
            return np.int64(1)
    return np.int64(0)


@compiled(void, S_t, i64, i64, i64)
def l1_take_mshr(S, sm, line, row):
    """The free MSHR is now this line's, whose place is `row`, or -1."""
    C = l1(S)
    U = l1_sm(C.p_sms, sm)
    mshr = np.int64(U.mshr_free)
    M = l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr)
    U.mshr_free = M.next
    U.mshrs_used += 1
    if U.mshrs_used > C.l1_mshr_peak:
        C.l1_mshr_peak = U.mshrs_used
    M.row = row
    M.first = -1
    M.waiters = 0
    if row < 0:
        l1_enter_bucket(S, sm, mshr, line)
        return
    L = line_row(C.p_lines, row)
    L.pending = 0
    L.mshr = mshr


@compiled(i64, S_t, i64, i64, i64, i64)
def l1_read_miss(S, sm, op_index, transaction, row):
    """A load whose sectors are not all valid; `row` as found, or -1. 0, or why it was refused."""
    C = l1(S)
    U = l1_sm(C.p_sms, sm)
    line = transaction >> 16
    asked = transaction & ALL_SECTORS
    valid = np.int64(line_row(C.p_lines, row).valid) if row >= 0 else np.int64(0)
    mshr = l1_in_flight(S, sm, line, row)
    if U.waiter_free < 0:
        return np.int64(NO_MERGE)
    if mshr >= 0:
        M = l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr)
        if M.waiters >= C.merges and l1_merges_full(S, sm, mshr, asked) != 0:
            return np.int64(NO_MERGE)
        pending = np.int64(line_row(C.p_lines, row).pending) if row >= 0 else np.int64(M.pending)
        new = asked & ((valid | pending) ^ ALL_SECTORS)
        # A merged miss asks for room as if each sector were a packet, also where one packet carries them all.
        if new != 0 and noc_room(S, REQUESTS, sm, max(popcount(new), l1_request_flits(S, new))) == 0:
            return np.int64(NO_NETWORK)
    else:
        fresh = row < 0
        if fresh and C.at_fill == 0:
            first = l1_first_row(S, sm, line)
            row = victim_row(C.p_lines, first, C.ways)
            if row < 0:
                U.full_set = first
                return np.int64(NO_LINE)
        mshr = np.int64(U.mshr_free)
        if mshr < 0:
            return np.int64(NO_MSHR)
        new = (np.int64(ALL_SECTORS) if C.whole_line != 0 else asked) & (valid ^ ALL_SECTORS)
        if noc_room(S, REQUESTS, sm, l1_request_flits(S, new)) == 0:
            return np.int64(NO_NETWORK)
        if fresh and row >= 0:
            store(C.p_tags, row, line)
            line_row(C.p_lines, row).valid = 0
        l1_take_mshr(S, sm, line, row)
    array = memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + op_index).array
    if new != 0:
        C.l1_read_misses += 1
        array_row(S.p_arrays, array).l1_read_misses += 1
        if row >= 0:
            line_row(C.p_lines, row).pending |= new
        else:
            l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr).pending |= new
        l1_request(S, sm, mshr, line, new | (array << 4))
    else:
        C.l1_read_merged += 1
    if row >= 0:
        C.stamp += 1
        line_row(C.p_lines, row).used = C.stamp
    l1_add_waiter(S, sm, mshr, op_index, asked & (valid ^ ALL_SECTORS))
    return np.int64(0)


@compiled(void, S_t, i64, i64, i64)
def l1_fill(S, sm, mshr, sectors):
    """A reply: sectors arrive; loads that have all they asked for go on.

    An access looks at the tags in the cycle in which it leaves the load-store unit, and spends the pipeline's
    latency at the end: the total is the same, and an MSHR is held only while its line is in flight.
    """
    C = l1(S)
    done_at = S.now + C.latency + sms(S).lsu_latency
    U = l1_sm(C.p_sms, sm)
    M = l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr)
    if M.row < 0:
        l1_give_place(S, sm, mshr)
    if M.row >= 0:
        L = line_row(C.p_lines, M.row)
        L.valid |= sectors
        L.pending &= sectors ^ ALL_SECTORS
        left = np.int64(L.pending)
    else:  # handed on, not kept
        M.pending &= sectors ^ ALL_SECTORS
        left = np.int64(M.pending)
    C.l1_fills += popcount(sectors)
    if C.whole_line != 0:
        if left != 0:
            return  # a whole-line cache hands data on when the line is complete
        sectors = np.int64(ALL_SECTORS)
    previous = np.int64(-1)
    node = M.first
    base = sm * C.waiter_rows
    while node >= 0:
        W = l1_waiter(C.p_waiters, base + node)
        following = W.next
        W.sectors &= sectors ^ ALL_SECTORS
        if W.sectors == 0:
            if previous < 0:
                M.first = following
            else:
                l1_waiter(C.p_waiters, base + previous).next = following
            M.waiters -= 1
            W.next = U.waiter_free
            U.waiter_free = node
            E = memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + W.op)
            E.remaining -= 1
            E.done_at = done_at
            if E.issued != 0 and E.remaining == 0:
                wheel_push(S, done_at, EV_OP_DONE, sm, W.op)
        else:
            previous = node
        node = following
    if left == 0:
        if M.row < 0:
            l1_leave_bucket(S, sm, mshr)
        M.next = U.mshr_free
        U.mshr_free = mshr
        U.mshrs_used -= 1
