"""Load-store unit of an SM: takes memory instructions in order and handles one line transaction per cycle.

Cached loads go to the L1; stores, atomics and bypassing loads become packets to the L2, one per cycle. Shared-memory
accesses take as many cycles as their lanes need passes through the banks. When the L1 or the network refuses, the
unit stands still until a reply comes or a flit leaves; the time is counted by cause.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.array_traffic import ARRAYS, array_row
from warpsift.engine.core.cache_sets import ALL_SECTORS
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import mask_add, mask_remove
from warpsift.engine.core.wheel import EV_OP_DONE, wheel_push
from warpsift.engine.core.words import ctz, load, popcount, prefetch, store
from warpsift.engine.l1.l1 import l1_load, l1_still_refuses, l1_store
from warpsift.engine.l1.l1_places import l1_prefetch
from warpsift.engine.l1.l1_state import NO_NETWORK, l1
from warpsift.engine.l2.address_map import slice_near, slice_of
from warpsift.engine.l2.l2_state import WORDS, l2
from warpsift.engine.noc.ports import (
    ATOMIC_OP,
    READ,
    REQUESTS,
    WRITE,
    noc,
    noc_inject,
    noc_room,
    packet,
    packet_new,
    sector_flits,
)
from warpsift.engine.sm.sm_state import (
    MEMORY_OPS,
    SLOT_ROWS,
    UNUSED_RESULT,
    WARPS,
    memory_op,
    op_row,
    slot_row,
    sm_row,
    sms,
    warp_row,
)
from warpsift.engine.sm.warps import memory_op_check, memory_op_done, warp_ready
from warpsift.engine.unit_socket import SEND, call_unit
from warpsift.hardware import SECTORS_PER_LINE
from warpsift.simt.stream import ATOMIC, COMMAND, COMMAND_UNIT_SHIFT, LOAD, NO_SLOT, SHARED, STORE

GONE = -1  # in the queue: an instruction that has passed those in front of it


@compiled(i64, S_t, i64, i64)
def lsu_push(S, sm, slot):
    """Take the next instruction of a warp into the queue; 0 if there is no room."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    if M.lsu_tail - M.lsu_head - M.lsu_ahead >= C.lsu_queue or M.op_free < 0:
        return np.int64(0)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    op = op_row(W.p_ops, W.pc)
    index = M.op_free
    E = memory_op(C.p_memory_ops, sm * MEMORY_OPS + index)
    M.op_free = E.next
    M.ops_in_flight += 1
    E.kind = np.int64(op.kind)
    E.warp = slot
    E.slot = np.int64(op.slot)
    if C.atomics_block != 0 and op.kind == ATOMIC and E.slot == NO_SLOT:
        E.slot = UNUSED_RESULT
    E.p_transactions = W.p_transactions
    E.cursor = np.int64(op.first)
    E.end = np.int64(op.first) + np.int64(op.transactions)
    C.lines_taken += np.int64(op.transactions)
    E.sectors_left = 0
    E.repeats_left = 0
    E.remaining = 0
    E.issued = 0
    E.done_at = 0
    E.array = min(np.int64(op.array), ARRAYS - 1)
    E.passes = np.int64(op.count)
    if E.kind >= COMMAND:
        E.p_transactions = W.p_commands
        E.passes = np.int64(op.detail)  # which unit, and what it makes of the rest
    E.start = S.now
    E.keeps_warp = 1
    if C.waits_for_stores == 0 and (E.kind == STORE or (E.kind == ATOMIC and E.slot == NO_SLOT)):
        E.keeps_warp = 0
    W.outstanding += E.keeps_warp
    if E.slot != NO_SLOT:
        position = (sm * WARPS + slot) * SLOT_ROWS + E.slot
        slot_row(C.p_slots, position).count += 1
        bit = np.int64(1) << E.slot
        W.busy |= bit
        W.shared_slots &= bit ^ -1
        W.atomic_slots &= bit ^ -1
        if E.kind == SHARED:
            W.shared_slots |= bit
        elif E.kind == ATOMIC and C.atomics_block != 0:
            W.atomic_slots |= bit
    prefetch(E.p_transactions, E.cursor * 8)  # the queue in front of it gives the host time to fetch them
    store(M.p_lsu_ring, M.lsu_tail & C.lsu_ring_mask, index)
    M.lsu_tail += 1
    if M.lsu_blocked == 0 or M.pipeline_used < C.pipeline_lines:
        mask_add(C.p_lsu_active, sm)
    return np.int64(1)


@compiled(i64, S_t, i64, i64, i64)
def lsu_send(S, sm, op_index, transaction):
    """Send one packet of the present transaction past the L1; 0, or why it could not be sent."""
    C = sms(S)
    N = noc(S)
    E = memory_op(C.p_memory_ops, sm * MEMORY_OPS + op_index)
    left = np.int64(E.sectors_left)
    sectors = left if N.request_sectors == 4 else left & -left
    flits = sector_flits(S, np.int64(0) if E.kind == LOAD else popcount(sectors))
    if noc_room(S, REQUESTS, sm, flits) == 0:
        return np.int64(NO_NETWORK)
    index = packet_new(S)
    P = packet(N.p_packets, index)
    P.line = transaction >> 16
    P.sectors = sectors
    P.partial = 0
    P.port = sm
    P.token = op_index
    P.destination = slice_near(S, sm, P.line) if E.kind == LOAD else slice_of(S, P.line)
    P.flits = flits
    P.separate = 0
    P.ready = S.now + C.lsu_latency
    P.array = E.array
    if E.kind == LOAD:
        P.kind = READ
    elif E.kind == STORE:
        P.kind = WRITE
        P.ready += l1(S).store_latency
        P.partial = WORDS
        if l2(S).words_kept != 0 and (transaction >> 8) & ALL_SECTORS:
            back = E.end - 1 - E.cursor
            P.partial = (load(E.p_transactions, E.end + (back >> 1)) >> (32 * (back & 1))) & WORDS
    else:
        P.kind = ATOMIC_OP
        P.partial = 1 if l2(S).repeats_as_packets != 0 else E.repeats_left
    noc_inject(S, REQUESTS, sm, index)
    E.remaining += popcount(sectors)
    if E.kind == ATOMIC and l2(S).repeats_as_packets != 0 and E.repeats_left > 1:
        E.repeats_left -= 1
    else:
        E.sectors_left ^= sectors
    return np.int64(0)


@compiled(i64, S_t, i64, i64)
def lsu_step(S, sm, op_index):
    """One cycle of the first instruction: 0, or why it was refused."""
    C = sms(S)
    E = memory_op(C.p_memory_ops, sm * MEMORY_OPS + op_index)
    if E.kind >= COMMAND:
        return call_unit(S, np.int64(E.passes) >> COMMAND_UNIT_SHIFT, np.int64(SEND), sm, op_index)
    transaction = load(E.p_transactions, E.cursor)
    if E.kind == LOAD and l1(S).cached_loads != 0:
        refused = l1_load(S, sm, op_index, transaction)
        if refused == 0:
            E.cursor += 1
            array_row(S.p_arrays, E.array).l1_transactions += 1
            if E.cursor < E.end:
                l1_prefetch(S, sm, load(E.p_transactions, E.cursor) >> 16)
        return refused
    if E.sectors_left == 0:  # a new transaction
        E.sectors_left = transaction & ALL_SECTORS
        E.repeats_left = ((transaction >> 8) & 255) + l2(S).atomic_lanes - 1
        E.repeats_left //= l2(S).atomic_lanes
        array_row(S.p_arrays, E.array).l1_transactions += 1
        if E.kind == STORE:
            l1_store(S, sm, transaction >> 16)
        elif E.kind == LOAD:
            l1(S).l1_bypassed_accesses += 1
    refused = lsu_send(S, sm, op_index, transaction)
    if refused == 0 and E.sectors_left == 0:
        E.cursor += 1
    return refused


@compiled(void, S_t, i64)
def lsu_wake(S, sm):
    """The queue has room: one waiting warp tries again."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    waiting = M.lsu_waiting
    if waiting == 0:
        return
    above = waiting & (((np.int64(2) << M.lsu_woken) - 1) ^ -1)
    best = ctz(above) if C.lsu_in_turn != 0 and above != 0 else ctz(waiting)
    M.lsu_woken = best
    waiting &= waiting - 1
    while waiting != 0 and C.lsu_in_turn == 0:  # the oldest
        slot = ctz(waiting)
        waiting &= waiting - 1
        if warp_row(C.p_warps, sm * WARPS + slot).age < warp_row(C.p_warps, sm * WARPS + best).age:
            best = slot
    M.lsu_waiting ^= np.int64(1) << best
    warp_ready(S, sm, best)


@compiled(void, S_t, i64)
def lsu_pop(S, sm):
    """The first instruction is through: make room."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    M.lsu_head += 1
    M.lsu_started = 0
    if M.lsu_head == M.lsu_tail:
        mask_remove(C.p_lsu_active, sm)
    if M.lsu_ahead > 0:
        M.lsu_ahead -= 1  # the room was there when its last access entered the pipeline
    else:
        M.pipeline_cursor = 0
        lsu_wake(S, sm)


@compiled(i64, S_t, i64)
def lsu_advance(S, sm):
    """Put one more access into the pipeline in front of the tags, ahead of what they have seen; 0 if none could be.

    While the cache refuses, the unit goes on until `pipeline_lines` accesses wait there, so instructions leave its
    queue and warps run further ahead than they otherwise would. An access that is not refused passes the pipeline in
    a fixed time, which `l1_fill` and `l1_load` add at the end: then nothing is ahead, and nothing is done here.
    """
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    position = M.lsu_head + M.lsu_ahead
    if max(M.pipeline_used, M.lsu_ahead) >= C.pipeline_lines or position == M.lsu_tail:
        return np.int64(0)
    index = load(M.p_lsu_ring, position & C.lsu_ring_mask)
    E = memory_op(C.p_memory_ops, sm * MEMORY_OPS + index)
    if E.kind == SHARED or E.kind >= COMMAND:
        return np.int64(0)
    if E.kind == ATOMIC:  # does not go to the L1, and so passes what waits in front of it
        if lsu_step(S, sm, index) != 0:
            return np.int64(0)
        if E.cursor == E.end:
            E.issued = 1
            store(M.p_lsu_ring, position & C.lsu_ring_mask, np.int64(GONE))
    elif E.cursor < E.end:
        M.pipeline_cursor = max(M.pipeline_cursor, E.cursor) + 1
        M.pipeline_used += 1
    if E.cursor == E.end or M.pipeline_cursor == E.end:  # wholly on its way
        M.pipeline_cursor = 0
        M.lsu_ahead += 1
        lsu_wake(S, sm)
    return np.int64(1)


@compiled(void, S_t, i64, i64)
def lsu_more_tags(S, sm, op_index):
    """Further lines of a load that the L1 looks up in the same cycle; a refused one is tried again in the next."""
    E = memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + op_index)
    sectors = popcount(load(E.p_transactions, E.cursor - 1) & ALL_SECTORS)
    tags = np.int64(1)
    while E.cursor < E.end and tags < l1(S).tags_per_cycle:
        sectors += popcount(load(E.p_transactions, E.cursor) & ALL_SECTORS)
        if sectors > SECTORS_PER_LINE or lsu_step(S, sm, op_index) != 0:
            return
        tags += 1


@compiled(void, S_t, i64)
def lsu_tick(S, sm):
    """One core cycle of a load-store unit that has an instruction."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    if M.lsu_next > S.now:
        return
    if M.lsu_blocked != 0:
        if lsu_advance(S, sm) == 0:
            mask_remove(C.p_lsu_active, sm)
        return
    index = load(M.p_lsu_ring, M.lsu_head & C.lsu_ring_mask)
    while index == GONE:
        lsu_pop(S, sm)
        if M.lsu_head == M.lsu_tail:
            return
        index = load(M.p_lsu_ring, M.lsu_head & C.lsu_ring_mask)
    E = memory_op(C.p_memory_ops, sm * MEMORY_OPS + index)
    if E.kind == SHARED:
        M.lsu_next = S.now + E.passes
        C.shared_passes += E.passes
        wheel_push(S, S.now + E.passes - 1 + C.shared_latency, EV_OP_DONE, sm, index)
        lsu_pop(S, sm)
        return
    if M.lsu_started == 0:
        M.lsu_started = S.now
    if E.cursor < E.end:
        refused = lsu_step(S, sm, index)
        if refused != 0:
            M.lsu_blocked = refused
            M.lsu_blocked_since = S.now
            if lsu_advance(S, sm) == 0:
                mask_remove(C.p_lsu_active, sm)
            return
        if M.pipeline_used > 0 and E.sectors_left == 0:
            M.pipeline_used -= 1
            lsu_advance(S, sm)
        elif E.kind == LOAD and l1(S).tags_per_cycle > 1 and l1(S).cached_loads != 0:
            lsu_more_tags(S, sm, index)
    if E.cursor == E.end:
        E.issued = 1
        M.lsu_next = max(M.lsu_next, M.lsu_started + C.lsu_cycles)
        if E.remaining == 0:
            if E.done_at > S.now:
                wheel_push(S, E.done_at, EV_OP_DONE, sm, index)
            else:
                memory_op_done(S, sm, index)
        lsu_pop(S, sm)


@compiled(i64, S_t, i64)
def still_refused(S, sm):
    """1 if to try the blocked access again would be in vain. What needs the network needs a flit's room at least."""
    lacks = sm_row(sms(S).p_sms, sm).lsu_blocked
    if lacks == NO_NETWORK:
        return np.int64(noc_room(S, REQUESTS, sm, np.int64(1)) == 0)
    return l1_still_refuses(S, sm, lacks)


@compiled(void, S_t, i64)
def lsu_unblock(S, sm):
    """A reply has come or a flit has left: the blocked access may be tried again."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    if M.lsu_blocked == 0:
        return
    L = l1(S)
    waited = S.now - M.lsu_blocked_since  # 0 if this cycle has been counted
    if M.lsu_blocked == NO_NETWORK:
        L.l1_network_blocked_cycles += waited
    else:
        L.l1_reservation_fails += waited
    if still_refused(S, sm) != 0:
        M.lsu_blocked_since = S.now
        if C.pipeline_lines == 0:
            return
    else:
        M.lsu_blocked = 0
    mask_add(C.p_lsu_active, sm)


@compiled(void, S_t, i64, i64, i64)
def lsu_reply(S, sm, op_index, sectors):
    """A reply to a store, an atomic or a bypassing load."""
    C = sms(S)
    E = memory_op(C.p_memory_ops, sm * MEMORY_OPS + op_index)
    E.remaining -= popcount(sectors)
    memory_op_check(S, sm, op_index)
