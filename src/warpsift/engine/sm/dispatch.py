"""CTA dispatch: gives each SM, in turn, at most one CTA per cycle while its resources allow.

Resources are threads, warp slots, CTA slots, shared memory and registers. CTAs come in the order of the stream, from a
ring of chunks that the host fills; when an SM has room and no CTA is left, the run stops and asks for more.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import mask_add, mask_empty, mask_next, mask_remove
from warpsift.engine.core.wheel import EV_WARP_READY, wheel_push
from warpsift.engine.core.words import ctz, load, popcount, store
from warpsift.engine.sm.sm_state import (
    CHUNKS,
    CTAS,
    DELAYED,
    FINISHED,
    NO_WARP,
    SLOT_ROWS,
    WARPS,
    chunk_row,
    cta_row,
    slot_row,
    sm_row,
    sms,
    warp_row,
)
from warpsift.engine.sm.warps import count_residency, slots_needed, warp_finish, warp_ready


@compiled(void, S_t, i64, i64, i64)
def start_warp(S, sm, slot, cta):
    """Put the next warp of the stream into a slot; its ops have been set by the caller."""
    C = sms(S)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    W.busy = 0
    W.shared_slots = 0
    W.atomic_slots = 0
    W.outstanding = 0
    W.cta = cta
    W.age = C.age
    W.cause = NO_WARP
    C.age += 1
    for index in range(SLOT_ROWS):
        slot_row(C.p_slots, (sm * WARPS + slot) * SLOT_ROWS + index).count = 0
    if W.pc == W.end:
        W.state = FINISHED
        warp_finish(S, sm, slot)
    else:
        W.wait = slots_needed(S, sm, slot)
        if C.cta_start > 0:
            W.state = DELAYED
            wheel_push(S, S.now + C.cta_start, EV_WARP_READY, sm, slot)
        else:
            warp_ready(S, sm, slot)


@compiled(void, S_t, i64)
def start_cta(S, sm):
    """Start the next CTA of the stream on an SM that has room."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    chunk = load(C.p_chunk_queue, C.chunk_head & (CHUNKS - 1))
    H = chunk_row(C.p_chunks, chunk)
    cta = ctz(M.free_ctas)
    A = cta_row(C.p_ctas, sm * CTAS + cta)
    count_residency(S, sm)
    M.free_ctas ^= np.int64(1) << cta
    M.threads_free -= C.threads_per_cta
    M.shared_free -= C.shared_per_cta
    M.registers_free -= C.registers_per_cta
    M.ctas_resident += 1
    M.warps_resident += C.warps_per_cta
    A.warps = C.warps_per_cta
    A.arrived = 0
    A.at_barrier = 0
    A.chunk = chunk
    A.threads = C.threads_per_cta
    A.shared_bytes = C.shared_per_cta
    A.registers = C.registers_per_cta
    C.live_ctas += 1
    C.ctas_dispatched += 1
    H.live_ctas += 1
    first = H.next_cta * C.warps_per_cta
    H.next_cta += 1
    if H.next_cta == H.ctas:
        C.chunk_head += 1
    for warp in range(first, first + C.warps_per_cta):
        slot = ctz(M.free_warps)
        M.free_warps ^= np.int64(1) << slot
        W = warp_row(C.p_warps, sm * WARPS + slot)
        W.p_ops = H.p_ops
        W.p_transactions = H.p_transactions
        W.p_commands = H.p_commands
        W.pc = load(H.p_warp_first, warp)
        W.end = load(H.p_warp_first, warp + 1)
        start_warp(S, sm, slot, cta)


@compiled(i64, S_t, i64)
def fits(S, sm):
    """1 if an SM has room for a CTA of the present launch."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    if M.free_ctas == 0 or M.threads_free < C.threads_per_cta or M.shared_free < C.shared_per_cta:
        return np.int64(0)
    if M.registers_free < C.registers_per_cta:
        return np.int64(0)
    return np.int64(1) if popcount(M.free_warps) >= C.warps_per_cta else np.int64(0)


@compiled(i64, S_t)
def dispatch_tick(S):
    """One core cycle: at most one CTA per SM. 1 if an SM has room and the stream has run dry."""
    C = sms(S)
    if C.dispatch_cycle != S.now:  # the run may come back to the same cycle with more work
        C.dispatch_cycle = S.now
        mask_empty(C.p_dispatched, C.words)
    for word in range(C.words):
        store(C.p_candidates, word, load(C.p_room, word) & (load(C.p_dispatched, word) ^ -1))
    sm = mask_next(C.p_candidates, C.words, C.next_sm)
    while sm >= 0:
        mask_remove(C.p_candidates, sm)
        if fits(S, sm) == 0:
            mask_remove(C.p_room, sm)
        elif C.chunk_head == C.chunk_tail:
            return np.int64(1)
        else:
            start_cta(S, sm)
            mask_add(C.p_dispatched, sm)
            C.next_sm = sm + 1 if sm + 1 < C.sms else 0
        sm = mask_next(C.p_candidates, C.words, C.next_sm)
    return np.int64(0)
