"""Warp schedulers of an SM: choose a ready warp, issue its next instruction, count why a scheduler stood idle.

Greedy-then-oldest keeps to the warp that issued last and falls back to the oldest that is ready (Rogers et al., MICRO
2012); loose round robin takes the next ready one. A run of ALU instructions occupies the issue port for `count`
instructions and the warp until its dependent chain is through; on machines that tell classes of instructions apart,
for as long as its program says (`alu_timing`).
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import FOREVER, S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import mask_remove
from warpsift.engine.core.wheel import EV_WARP_READY, wheel_push
from warpsift.engine.core.words import ctz, load, store
from warpsift.engine.sm.alu_timing import PIPES
from warpsift.engine.sm.lsu import lsu_push
from warpsift.engine.sm.sm_state import (
    AT_BARRIER,
    CTAS,
    DELAYED,
    FINISHED,
    LSU_FULL,
    READY,
    WAIT_ALU,
    WAIT_BARRIER,
    WAIT_LSU,
    WAIT_MEMORY,
    WAIT_SHARED,
    WARPS,
    chunk_row,
    cta_row,
    op_row,
    scheduler_row,
    sm_row,
    sms,
    warp_row,
)
from warpsift.engine.sm.warps import barrier_release, warp_advance, warp_finish
from warpsift.engine.unit_socket import sockets
from warpsift.simt.stream import ALU, ATOMIC, BARRIER, COMMAND, COMMAND_UNIT_SHIFT, LOAD, POST, SHARED, STORE

ERROR_NO_UNIT = 3


@compiled(i64, S_t, i64, i64)
def pick(S, sm, scheduler):
    """The warp slot to issue from, of those that are ready; `scheduler`: its row."""
    C = sms(S)
    Q = scheduler_row(C.p_schedulers, scheduler)
    ready = Q.ready
    if C.lrr != 0:
        above = ready & (((np.int64(2) << Q.last) - 1) ^ -1)
        return ctz(above) if above != 0 else ctz(ready)
    if (ready >> Q.last) & 1:
        return Q.last
    best = ctz(ready)
    ready &= ready - 1
    oldest = warp_row(C.p_warps, sm * WARPS + best).age
    while ready != 0:
        slot = ctz(ready)
        ready &= ready - 1
        age = warp_row(C.p_warps, sm * WARPS + slot).age
        if age < oldest:
            oldest = age
            best = slot
    return best


@compiled(void, S_t, i64, i64)
def count_stall(S, cause, cycles):
    """Charge an idle interval of a scheduler to the cause that ended it."""
    C = sms(S)
    if cause == WAIT_MEMORY:
        C.stall_memory_cycles += cycles
    elif cause == WAIT_ALU:
        C.stall_alu_cycles += cycles
    elif cause == WAIT_LSU:
        C.stall_lsu_cycles += cycles
    elif cause == WAIT_SHARED:
        C.stall_shared_cycles += cycles
    elif cause == WAIT_BARRIER:
        C.stall_barrier_cycles += cycles
    else:
        C.stall_no_warp_cycles += cycles


@compiled(void, S_t, i64, i64)
def count_memory_kind(S, kind, lanes):
    C = sms(S)
    C.warp_instructions += 1
    C.thread_instructions += lanes
    if kind == LOAD:
        C.load_instructions += 1
    elif kind == STORE:
        C.store_instructions += 1
    elif kind == ATOMIC:
        C.atomic_instructions += 1
    elif kind == SHARED:
        C.shared_instructions += 1
    elif kind == BARRIER:
        C.barrier_instructions += 1
    else:
        C.unit_instructions += 1


@compiled(i64, S_t, i64, i64, i64, i64)
def pipes_taken(S, scheduler, p_runs, run, port):
    """A run takes its pipes when the runs before it leave them; for how much longer it keeps the issue port."""
    C = sms(S)
    needed = port
    for pipe in range(PIPES):
        kept = load(p_runs, run + 2 + 2 * pipe)
        if kept != 0:
            begin = max(load(C.p_pipes, scheduler * PIPES + pipe), S.now)
            store(C.p_pipes, scheduler * PIPES + pipe, begin + kept)
            needed = max(needed, begin - S.now + load(p_runs, run + 3 + 2 * pipe) + 1)
    return needed - port


@compiled(i64, S_t, i64, i64, i64)
def issue_alu(S, sm, slot, scheduler):
    """Issue a run of ALU instructions; cycles of the issue port."""
    C = sms(S)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    op = op_row(W.p_ops, W.pc)
    count = np.int64(op.count)
    C.warp_instructions += count
    C.thread_instructions += count * np.int64(op.lanes)
    C.alu_instructions += count
    C.float_instructions += np.int64(op.array)
    port = count * C.issue_cycles_per_instruction
    chain = np.int64(op.detail) * C.alu_latency
    if C.alu_classes != 0 and op.first != 0:
        H = chunk_row(C.p_chunks, cta_row(C.p_ctas, sm * CTAS + W.cta).chunk)
        run = C.alu_columns * np.int64(op.first)
        port = load(H.p_alu_runs, run)
        chain = load(H.p_alu_runs, run + 1)
        if C.alu_columns > 2:
            waits = pipes_taken(S, scheduler, H.p_alu_runs, run, port)
            port += waits
            chain += waits
    if chain > port:
        warp_advance(S, sm, slot, S.now + chain)
        if W.state == DELAYED:
            wheel_push(S, S.now + chain, EV_WARP_READY, sm, slot)
    else:
        warp_advance(S, sm, slot, S.now + 1)
        W.cause = WAIT_ALU if W.state == READY else W.cause
    if W.state == FINISHED:  # the warp ends with this run, not before it
        W.outstanding += 1
        wheel_push(S, S.now + max(port, chain), EV_WARP_READY, sm, slot)
    return port


@compiled(void, S_t, i64, i64)
def issue_barrier(S, sm, slot):
    C = sms(S)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    A = cta_row(C.p_ctas, sm * CTAS + W.cta)
    warp_advance(S, sm, slot, S.now + 1)
    if W.state != FINISHED:  # a barrier at the very end: leaving is as good as arriving
        W.state = AT_BARRIER
        A.arrived += 1
        A.at_barrier |= np.int64(1) << slot
        barrier_release(S, sm, W.cta)


@compiled(i64, S_t, i64, i64, i64)
def issue(S, sm, slot, scheduler):
    """Issue the next instruction of a warp; cycles of the issue port, 0 if the load-store queue is full."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    bit = np.int64(1) << slot
    Q = scheduler_row(C.p_schedulers, scheduler)
    op = op_row(W.p_ops, W.pc)
    kind = np.int64(op.kind)
    lanes = np.int64(op.lanes)
    cause = W.cause
    port = np.int64(1)
    if kind == ALU:
        Q.ready ^= bit
        port = issue_alu(S, sm, slot, scheduler)
        M.instructions += np.int64(op.count)
        if W.state == READY:
            Q.ready |= bit
    elif kind == BARRIER:
        Q.ready ^= bit
        count_memory_kind(S, kind, lanes)
        M.instructions += 1
        issue_barrier(S, sm, slot)
    elif kind > POST or (kind >= COMMAND and (sockets(S).attached >> (op.detail >> COMMAND_UNIT_SHIFT)) & 1 == 0):
        S.error = ERROR_NO_UNIT
        return np.int64(1)
    else:
        if lsu_push(S, sm, slot) == 0:
            Q.ready ^= bit
            W.state = LSU_FULL
            W.cause = WAIT_LSU
            M.lsu_waiting |= bit
            return np.int64(0)
        Q.ready ^= bit
        count_memory_kind(S, kind, lanes)
        M.instructions += 1
        warp_advance(S, sm, slot, S.now + 1)
        if W.state == READY:
            Q.ready |= bit
    if Q.busy_until < S.now:
        count_stall(S, cause, S.now - Q.busy_until)
    C.issue_cycles += port
    Q.last = slot
    Q.busy_until = S.now + port
    if W.state == FINISHED and W.outstanding == 0:
        warp_finish(S, sm, slot)
    return port


@compiled(void, S_t, i64)
def sm_tick(S, sm):
    """One core cycle of an SM that has ready warps."""
    C = sms(S)
    M = sm_row(C.p_sms, sm)
    if M.next_time > S.now:
        return
    first = sm * C.schedulers
    for index in range(first, first + C.schedulers):
        Q = scheduler_row(C.p_schedulers, index)
        if Q.busy_until <= S.now:
            while Q.ready != 0 and issue(S, sm, pick(S, sm, np.int64(index)), np.int64(index)) == 0:
                pass
    following = np.int64(FOREVER)  # asked last, since an issue may have released warps of other schedulers at a barrier
    for index in range(first, first + C.schedulers):
        Q = scheduler_row(C.p_schedulers, index)
        if Q.ready != 0:
            following = min(following, max(Q.busy_until, S.now + 1))
    M.next_time = following
    if following == FOREVER:
        mask_remove(C.p_issue_active, sm)
