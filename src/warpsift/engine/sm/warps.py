"""Warps of the SMs: their scoreboards, barriers and CTAs, and who is ready to issue.

A warp runs through its `OP` records (simt/stream.py). It is ready when its next instruction may issue; otherwise it
waits for an ALU chain, for scoreboard slots of instructions in flight, at a barrier, or for room in the load-store
queue. Its cause is kept, and the idle time that it ends is charged to that cause (the stall stack).
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.division import remainder
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import mask_add
from warpsift.engine.core.words import ctz
from warpsift.engine.sm.sm_state import (
    BLOCKED,
    CTAS,
    DELAYED,
    EMPTY,
    FINISHED,
    MEMORY_OPS,
    READY,
    SLOT_ROWS,
    WAIT_ALU,
    WAIT_BARRIER,
    WAIT_MEMORY,
    WAIT_SHARED,
    WARPS,
    chunk_row,
    cta_row,
    memory_op,
    op_row,
    scheduler_row,
    slot_row,
    sm_row,
    sms,
    warp_row,
)
from warpsift.simt.stream import NO_SLOT


@compiled(void, S_t, i64, i64)
def warp_ready(S, sm, slot):
    """The warp's next instruction may issue."""
    C = sms(S)
    warp_row(C.p_warps, sm * WARPS + slot).state = READY
    scheduler = sm * C.schedulers + remainder(slot, C.schedulers, C.schedulers_shift)
    scheduler_row(C.p_schedulers, scheduler).ready |= np.int64(1) << slot
    sm_row(C.p_sms, sm).next_time = S.now
    mask_add(C.p_issue_active, sm)


@compiled(void, S_t, i64, i64)
def cta_finish(S, sm, cta):
    """All warps are through: give back the CTA's resources."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    A = cta_row(C.p_ctas, sm * CTAS + cta)
    M.free_ctas |= np.int64(1) << cta
    M.threads_free += A.threads
    M.shared_free += A.shared_bytes
    M.registers_free += A.registers
    M.ctas_resident -= 1
    C.live_ctas -= 1
    C.ctas_completed += 1
    mask_add(C.p_room, sm)
    chunk_row(C.p_chunks, A.chunk).live_ctas -= 1


@compiled(void, S_t, i64)
def count_residency(S, sm):
    """Bring the integrals of resident warps and of an SM that has any up to now, before their number changes."""
    M = sm_row(sms(S).p_sms, sm)
    M.warp_cycles += M.warps_resident * (S.now - M.warps_since)
    if M.warps_resident > 0:
        M.active_cycles += S.now - M.warps_since
    M.warps_since = S.now


@compiled(void, S_t, i64, i64)
def barrier_release(S, sm, cta):
    """If every warp of the CTA that still runs has arrived, let them go on."""
    C = sms(S)
    A = cta_row(C.p_ctas, sm * CTAS + cta)
    if A.arrived < A.warps or A.arrived == 0:
        return
    mask = A.at_barrier
    A.at_barrier = 0
    A.arrived = 0
    while mask != 0:
        slot = ctz(mask)
        mask &= mask - 1
        W = warp_row(C.p_warps, sm * WARPS + slot)
        W.cause = WAIT_BARRIER
        if W.wait & W.busy:
            W.state = BLOCKED
            W.cause = WAIT_MEMORY
        else:
            warp_ready(S, sm, slot)


@compiled(void, S_t, i64, i64)
def warp_finish(S, sm, slot):
    """The warp has issued everything and nothing that it must wait for is in flight."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    A = cta_row(C.p_ctas, sm * CTAS + W.cta)
    count_residency(S, sm)
    W.state = EMPTY
    M.free_warps |= np.int64(1) << slot
    M.warps_resident -= 1
    A.warps -= 1
    if A.warps == 0:
        cta_finish(S, sm, W.cta)
    else:
        barrier_release(S, sm, W.cta)


@compiled(void, S_t, i64, i64)
def warp_unblock(S, sm, slot):
    """Something that the warp may have waited for is through: see whether it can go on or end."""
    C = sms(S)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    if W.state == FINISHED:
        if W.outstanding == 0:
            warp_finish(S, sm, slot)
    elif W.state == BLOCKED and (W.wait & W.busy) == 0:
        warp_ready(S, sm, slot)


@compiled(i64, S_t, i64, i64)
def slots_needed(S, sm, slot):
    """Scoreboard slots that the warp's next instruction waits for."""
    C = sms(S)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    op = op_row(W.p_ops, W.pc)
    return np.int64(op.wait) | W.atomic_slots


@compiled(void, S_t, i64, i64, i64)
def warp_advance(S, sm, slot, when):
    """The warp has issued an instruction; its next may issue at `when` at the earliest."""
    C = sms(S)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    W.pc += 1
    if W.pc == W.end:
        W.state = FINISHED
        return
    W.wait = slots_needed(S, sm, slot)
    if when > S.now + 1:
        W.state = DELAYED
        W.cause = WAIT_ALU
        return
    held = W.wait & W.busy
    if held:
        W.state = BLOCKED
        W.cause = WAIT_MEMORY if (held & (W.shared_slots ^ -1)) else WAIT_SHARED
    else:
        W.state = READY


@compiled(void, S_t, i64, i64)
def warp_delay_over(S, sm, slot):
    """EV_WARP_READY: the ALU chain is through."""
    C = sms(S)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    if W.state == FINISHED:
        W.outstanding -= 1
        if W.outstanding == 0:
            warp_finish(S, sm, slot)
        return
    held = W.wait & W.busy
    if held:
        W.state = BLOCKED
        W.cause = WAIT_MEMORY if (held & (W.shared_slots ^ -1)) else WAIT_SHARED
    else:
        warp_ready(S, sm, slot)


@compiled(void, S_t, i64, i64)
def memory_op_done(S, sm, index):
    """EV_OP_DONE, or the last reply: release the scoreboard slot and the record."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    E = memory_op(C.p_memory_ops, sm * MEMORY_OPS + index)
    W = warp_row(C.p_warps, sm * WARPS + E.warp)
    if E.kind == 1:  # LOAD
        C.load_latency_cycles += S.now - E.start
        C.loads_completed += 1
    if E.slot != NO_SLOT:
        position = (sm * WARPS + E.warp) * SLOT_ROWS + E.slot
        Z = slot_row(C.p_slots, position)
        Z.count -= 1
        if Z.count == 0:
            W.busy ^= np.int64(1) << E.slot
    if M.op_free < 0 and M.lsu_waiting != 0:  # the pool was empty: nobody else would wake the waiting warps
        slot = ctz(M.lsu_waiting)
        M.lsu_waiting ^= np.int64(1) << slot
        warp_ready(S, sm, slot)
    E.next = M.op_free
    M.op_free = index
    M.ops_in_flight -= 1
    if E.keeps_warp != 0:
        W.outstanding -= 1
        warp_unblock(S, sm, E.warp)


@compiled(void, S_t, i64, i64)
def memory_op_check(S, sm, index):
    """If nothing of a memory instruction is in flight, finish it (now, or when its latest hit returns)."""
    C = sms(S)
    E = memory_op(C.p_memory_ops, sm * MEMORY_OPS + index)
    if E.issued != 0 and E.remaining == 0 and E.done_at <= S.now:
        memory_op_done(S, sm, index)
