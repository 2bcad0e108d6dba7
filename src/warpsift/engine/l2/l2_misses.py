"""Misses of the L2: MSHRs, sectors asked of DRAM, packets that wait for them, and what a fill sets free."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.array_traffic import count_array_l2
from warpsift.engine.core.cache_sets import ALL_SECTORS, line_row, victim_row
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.wheel import EV_DRAM_DONE, wheel_push
from warpsift.engine.core.words import load, popcount
from warpsift.engine.l2.address_map import dram_address
from warpsift.engine.l2.l2_dram_queue import room_for_miss, send_to_dram
from warpsift.engine.l2.l2_halves import FAR, far_copy, is_copy
from warpsift.engine.l2.l2_queue import slice_retry
from warpsift.engine.l2.l2_replies import queue_reply, reply_now
from warpsift.engine.l2.l2_state import l2, l2_mshr, l2_slice
from warpsift.engine.l2.l2_tags import replace_line
from warpsift.engine.noc.ports import ATOMIC_OP, SLICE_WRITE, UNIT_WRITE, WRITE, noc, packet, packet_new
from warpsift.hardware import SECTOR_BYTES


@compiled(i64, S_t, i64)
def widened(S, sectors):
    """The sectors that DRAM brings when these are asked for."""
    C = l2(S)
    if C.read_sectors == 4:
        return np.int64(ALL_SECTORS) if sectors != 0 else np.int64(0)
    if C.read_sectors == 2:
        both = (sectors | (sectors >> 1)) & 5
        return both | (both << 1)
    return sectors


@compiled(void, S_t, i64, i64, i64)
def l2_fetch(S, slice_index, row, missing):
    """Send the sectors of a miss to DRAM; the line's MSHR is set."""
    C = l2(S)
    L = line_row(C.p_lines, row)
    L.pending |= missing
    mine = l2_slice(C.p_slices, slice_index)
    mine.fills_in_flight += 1 if C.whole_line != 0 else popcount(missing)
    C.fetching += popcount(missing)
    line = load(C.p_tags, row)
    base = dram_address(S, line)
    for sector in range(0, 4, C.read_sectors):
        if (missing >> sector) & 1:
            token = (((slice_index * C.mshrs) + L.mshr) << 2) | sector
            if C.halves == 2 and far_copy(S, slice_index, line, token) != 0:
                continue
            send_to_dram(S, slice_index, base + sector * SECTOR_BYTES, token << 1)


@compiled(void, S_t, i64, i64, i64, i64)
def l2_wait(S, slice_index, index, row, missing):
    """Append a packet to the line's MSHR, reply for the sectors that are valid, and count."""
    C = l2(S)
    N = noc(S)
    P = packet(N.p_packets, index)
    L = line_row(C.p_lines, row)
    # Each term by its own mask, so that their sum is a check. A DRAM request wider than a sector also brings
    # sectors that a write has made valid: those are hits, and no misses.
    hits = P.sectors & L.valid
    lacking = P.sectors & (L.valid ^ ALL_SECTORS)
    misses = popcount(lacking & missing)
    C.l2_read_accesses += popcount(P.sectors)
    C.l2_read_hits += popcount(hits)
    C.l2_read_misses += misses
    C.l2_read_pending += popcount(lacking & L.pending & (missing ^ ALL_SECTORS))
    count_array_l2(S, P.array, popcount(P.sectors), misses)
    if hits != 0:
        copy = packet_new(S)
        Q = packet(N.p_packets, copy)
        Q.kind, Q.line, Q.port, Q.token, Q.array = P.kind, P.line, P.port, P.token, P.array
        Q.partial, Q.unit = P.partial, P.unit
        reply_now(S, slice_index, copy, hits)
    P.sectors ^= hits
    M = l2_mshr(C.p_mshrs, slice_index * C.mshrs + L.mshr)
    P.next = -1
    if M.last < 0:
        M.first = index
    else:
        packet(N.p_packets, M.last).next = index
    M.last = index
    M.waiters += 1
    if P.kind == ATOMIC_OP:
        L.dirty |= P.sectors


@compiled(i64, S_t, i64, i64)
def merges_full(S, first, sectors):
    """1 if as many packets as may wait on one sector wait on one of these; on the line, where lines come whole."""
    C = l2(S)
    if C.whole_line != 0:
        return np.int64(1)
    for sector in range(4):
        waiting = np.int64(0)
        index = first
        while index >= 0:
            P = packet(noc(S).p_packets, index)
            waiting += (sectors & P.sectors) >> sector & 1
            index = np.int64(P.next)
        if waiting >= C.merges:
            return np.int64(1)
    return np.int64(0)


@compiled(i64, S_t, i64, i64, i64)
def l2_reserve(S, slice_index, index, row):
    """A line for a packet that lacks valid sectors, `row` as found or -1; what is missing is asked of DRAM.

    Gives row << 4 | sectors asked for, or -1 if something is lacking.
    """
    C = l2(S)
    N = noc(S)
    P = packet(N.p_packets, index)
    mine = l2_slice(C.p_slices, slice_index)
    wanted = np.int64(ALL_SECTORS) if C.whole_line != 0 else widened(S, P.sectors)
    fresh = row < 0
    if fresh:
        row = victim_row(C.p_lines, np.int64(P.set_row), C.ways)
        if row < 0:
            return np.int64(-1)
    L = line_row(C.p_lines, row)
    valid = np.int64(0) if fresh else L.valid
    pending = np.int64(0) if fresh else L.pending
    missing = widened(S, wanted & (valid ^ ALL_SECTORS) & (pending ^ ALL_SECTORS))
    new_fills = np.int64(0)
    if missing != 0:
        new_fills = np.int64(1) if C.whole_line != 0 else popcount(missing)
    writes = P.kind == WRITE or P.kind == UNIT_WRITE or P.kind == SLICE_WRITE
    need = np.int64(C.miss_requests) if writes else np.int64(8)
    lacking = mine.fills_in_flight + new_fills > C.mshrs
    victim = row if fresh else np.int64(-1)
    lacking = lacking or ((missing != 0 or writes) and room_for_miss(S, slice_index, victim, need) == 0)
    if pending != 0:
        M = l2_mshr(C.p_mshrs, slice_index * C.mshrs + L.mshr)
        lacking = lacking or (M.waiters >= C.merges and merges_full(S, np.int64(M.first), np.int64(P.sectors)) != 0)
    else:
        lacking = lacking or mine.mshr_free < 0
    if lacking:
        return np.int64(-1)
    if fresh:
        replace_line(S, slice_index, row, P.line)
    if pending == 0:
        L.mshr = mine.mshr_free
        M = l2_mshr(C.p_mshrs, slice_index * C.mshrs + L.mshr)
        mine.mshr_free = M.next
        M.row = row
        M.first = -1
        M.last = -1
        M.waiters = 0
    if missing != 0:
        l2_fetch(S, slice_index, row, missing)
    C.stamp += 1
    L.used = C.stamp
    return (row << 4) | missing


@compiled(i64, S_t, i64, i64, i64)
def l2_miss(S, slice_index, index, row):
    """A read that needs sectors which are not valid; `row` as found or -1. 1, or 0 if something is lacking."""
    reserved = l2_reserve(S, slice_index, index, row)
    if reserved < 0:
        return np.int64(0)
    l2_wait(S, slice_index, index, reserved >> 4, reserved & ALL_SECTORS)
    return np.int64(1)


@compiled(void, S_t, i64)
def l2_fill(S, token):
    """EV_DRAM_DONE: a sector is here; every packet that waits for it gets a reply."""
    C = l2(S)
    N = noc(S)
    sector = ((np.int64(1) << C.read_sectors) - 1) << (token & 3)
    mshr_index = (token & (FAR - 1)) >> 2
    slice_index = mshr_index // C.mshrs
    mine = l2_slice(C.p_slices, slice_index)
    M = l2_mshr(C.p_mshrs, mshr_index)
    if C.halves == 2 and token & FAR == 0 and is_copy(S, slice_index, load(C.p_tags, M.row)) != 0:
        wheel_push(S, S.now + 2 * C.far_latency, EV_DRAM_DONE, token | FAR, 0)  # from a channel of the other half
        return
    L = line_row(C.p_lines, M.row)
    slice_retry(S, slice_index)
    C.l2_fills += C.read_sectors
    C.fetching -= C.read_sectors
    L.valid |= sector
    L.pending ^= sector
    if C.whole_line == 0:
        mine.fills_in_flight -= C.read_sectors
    elif L.pending == 0:
        mine.fills_in_flight -= 1
    if C.whole_line != 0 and L.pending != 0:
        return  # replies leave when the line is complete
    done = np.int64(ALL_SECTORS) if C.whole_line != 0 else sector
    previous = np.int64(-1)
    index = M.first
    while index >= 0:
        P = packet(N.p_packets, index)
        following = P.next
        ready = P.sectors & done
        if ready != 0:
            if ready == P.sectors:  # all of it: the packet itself becomes the reply
                if previous < 0:
                    M.first = following
                else:
                    packet(N.p_packets, previous).next = following
                if following < 0:
                    M.last = previous
                M.waiters -= 1
                reply = index
            else:
                reply = packet_new(S)
                Q = packet(N.p_packets, reply)
                Q.kind, Q.line, Q.port, Q.token, Q.array = P.kind, P.line, P.port, P.token, P.array
                Q.partial, Q.unit = P.partial, P.unit
                Q.sectors = ready
                P.sectors ^= ready
                previous = index
            queue_reply(S, slice_index, reply)
        else:
            previous = index
        index = following
    if L.pending == 0:
        M.next = mine.mshr_free
        mine.mshr_free = mshr_index - slice_index * C.mshrs
