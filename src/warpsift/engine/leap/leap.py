"""A leap: warps go on without time, so that what follows can be timed again.

Warps take turns (`leap_turns.py`), each up to the instruction that would wait, and are then out of turn for as long as
that takes: so a leap has a time of its own, `REACHED`, and warps go on about as far as they would have. Barriers hold,
CTAs end and others take their place; but the clock stands still and nothing is counted. Caches are touched
(`touch.py`), all of the time: where only its end did so, the contraction of a BFS was 6 % too slow behind it.

What is in flight when a leap begins stays in flight and comes back behind it. The warp that then lies in the slot of
the one that asked waits for it in its place. So queues are as full and as many warps wait behind a leap as before it.

How long a timed stretch would have been in a leap's time is found by a rehearsal: from its begin, a leap of as many
line transactions (`MOST_LINES`) on a copy of the SMs; of as many memory instructions, where they have none. Not of as
many instructions in any case: where the load-store units are behind, a leap and a timed stretch of equal instructions
end with other ones waiting, say atomics of 30 lines instead of loads of one.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, entry, i64, void
from warpsift.engine.core.masks import mask_any
from warpsift.engine.core.wheel import (
    BUCKETS,
    EV_NOTHING,
    EV_WARP_READY,
    bucket_row,
    event,
    wheel,
)
from warpsift.engine.core.words import load, store
from warpsift.engine.leap.leap_order import (
    FEW,
    FINAL,
    FLOOR,
    FRESH,
    LEAPT,
    MOST_LINES,
    MOST_OPS,
    OPS,
    P_BUSY,
    P_COUNTS,
    REACHED,
    TRANSACTIONS,
    UNTIL,
)
from warpsift.engine.leap.leap_turns import forget_ranks, leap_round
from warpsift.engine.machine_cycle import NEED_WORK
from warpsift.engine.sm.dispatch import dispatch_tick
from warpsift.engine.sm.sm_state import (
    AT_BARRIER,
    BLOCKED,
    EMPTY,
    FINISHED,
    MEMORY_OPS,
    SLOT_ROWS,
    WAIT_MEMORY,
    WARPS,
    memory_op,
    scheduler_row,
    slot_row,
    sm_row,
    sms,
    warp_row,
)
from warpsift.engine.sm.warps import slots_needed, warp_finish, warp_ready
from warpsift.simt.stream import NO_SLOT

BUSY_MASK = (1 << 32) - 1  # of a word that holds what a warp slot has in flight, and above that what it waits for
NOBODY = WARPS - 1  # the row of an SM's table in which no warp is ever resident


@compiled(void, S_t)
def forget_delays(S):
    """Warps that wait for an ALU chain are moved on: they must not be woken."""
    W = wheel(S)
    for bucket in range(BUCKETS):
        index = np.int64(bucket_row(W.p_buckets, bucket).first)
        while index >= 0:
            E = event(W.p_events, index)
            if E.kind == EV_WARP_READY:
                E.kind = EV_NOTHING
            index = np.int64(E.next)


@compiled(void, S_t, i64)
def lend_scoreboards(S, p):
    """Put away what every warp slot has in flight and waits for: warps go on as if all of it had come."""
    C = sms(S)
    in_earnest = load(p, np.int64(MOST_OPS)) == 0
    if in_earnest:
        forget_delays(S)
    for sm in range(C.sms):
        M = sm_row(C.p_sms, sm)
        M.lsu_waiting = 0
        if M.ops_in_flight != 0 and in_earnest:
            for index in range(MEMORY_OPS):  # those that hold no slot let their warp end
                E = memory_op(C.p_memory_ops, sm * MEMORY_OPS + index)
                if E.slot == NO_SLOT:
                    E.keeps_warp = 0
        for slot in range(WARPS - 1):
            row = sm * WARPS + slot
            W = warp_row(C.p_warps, row)
            waits = W.busy if W.state == FINISHED else np.int64(W.wait & W.busy)
            store(load(p, np.int64(P_BUSY)), row, np.int64(W.busy) | (waits << 32))
            for index in range(row * SLOT_ROWS, (row + 1) * SLOT_ROWS):
                Z = slot_row(C.p_slots, index)
                slot_row(load(p, np.int64(P_COUNTS)), index).count = Z.count
                Z.count = 0
            W.busy = 0
            W.outstanding = 0
            W.atomic_slots = 0
            W.wait = 0
            if W.state == FINISHED:
                warp_finish(S, np.int64(sm), np.int64(slot))


@compiled(void, S_t, i64, i64)
def disown(S, sm, slot):
    """No warp is left in a slot: what it has in flight will end without telling one."""
    C = sms(S)
    for index in range(MEMORY_OPS):
        E = memory_op(C.p_memory_ops, sm * MEMORY_OPS + index)
        if E.warp == slot:
            E.warp = NOBODY
            E.slot = NO_SLOT
            E.keeps_warp = 0


@compiled(void, S_t, i64, i64, i64)
def take_back(S, p, sm, slot):
    """A warp waits for what its slot has had in flight, as if it were its own."""
    C = sms(S)
    row = sm * WARPS + slot
    W = warp_row(C.p_warps, row)
    saved = load(load(p, np.int64(P_BUSY)), row)
    for index in range(row * SLOT_ROWS, (row + 1) * SLOT_ROWS):
        count = slot_row(load(p, np.int64(P_COUNTS)), index).count
        slot_row(C.p_slots, index).count = count
        W.outstanding += count
    W.busy = saved & BUSY_MASK
    W.wait = slots_needed(S, sm, slot) | (saved >> 32)
    if W.state == AT_BARRIER:
        return
    W.cause = WAIT_MEMORY
    if W.wait & W.busy:
        W.state = BLOCKED
    else:
        warp_ready(S, sm, slot)


@compiled(void, S_t, i64)
def go_on(S, p):
    """Time goes on."""
    C = sms(S)
    for sm in range(C.sms):
        for index in range(sm * C.schedulers, (sm + 1) * C.schedulers):
            scheduler_row(C.p_schedulers, index).ready = 0
        for slot in range(WARPS - 1):
            row = sm * WARPS + slot
            if warp_row(C.p_warps, row).state != EMPTY:
                take_back(S, p, np.int64(sm), np.int64(slot))
            elif load(load(p, np.int64(P_BUSY)), row) != 0:
                disown(S, np.int64(sm), np.int64(slot))


@compiled(i64, S_t)
def fill_sms(S):
    """Dispatch as many CTAs as there is room for; 1 if there is room and the stream has run dry."""
    C = sms(S)
    if mask_any(C.p_room, C.words) == 0:
        return np.int64(0)
    while True:
        C.dispatch_cycle = -1
        before = C.ctas_dispatched
        if dispatch_tick(S) != 0:
            return np.int64(1)
        if C.ctas_dispatched == before:
            return np.int64(0)


@compiled(i64, S_t)
def live_warps(S):
    C = sms(S)
    live = np.int64(0)
    for sm in range(C.sms):
        live += sm_row(C.p_sms, sm).warps_resident
    return live


@compiled(i64, i64)
def rehearsed(p):
    """1 if a rehearsal has done as much as it should."""
    if load(p, np.int64(MOST_OPS)) == 0:
        return np.int64(0)
    if load(p, np.int64(MOST_LINES)) != 0:
        return np.int64(1) if load(p, np.int64(TRANSACTIONS)) >= load(p, np.int64(MOST_LINES)) else np.int64(0)
    return np.int64(1) if load(p, np.int64(OPS)) >= load(p, np.int64(MOST_OPS)) else np.int64(0)


@entry("leaps of sampled runs", i64, S_t, i64)
def leap(S, p):
    """Rounds up to the time that is ordered (LEAPT), until few warps are left at the end (FEW), or CTAs lack."""
    C = sms(S)
    if load(p, np.int64(FRESH)) != 0:
        lend_scoreboards(S, p)
    forget_ranks(S, p)
    start_delay = C.cta_start
    C.cta_start = 0
    status = np.int64(LEAPT)
    most_ops = load(p, np.int64(MOST_OPS))
    while rehearsed(p) == 0 and load(p, np.int64(REACHED)) < load(p, np.int64(UNTIL)):
        if fill_sms(S) != 0:
            if load(p, np.int64(FINAL)) == 0:
                status = np.int64(NEED_WORK)
                break
            if live_warps(S) <= load(p, np.int64(FLOOR)):
                status = np.int64(FEW)
                break
        leap_round(S, p)
    C.cta_start = start_delay
    if status != NEED_WORK and most_ops == 0:
        go_on(S, p)
    return status
