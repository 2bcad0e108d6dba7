"""Whose turn it is in a leap: on every SM the oldest warps first, as far as its load-store unit keeps up.

A warp goes on up to the instruction that would wait for memory, shared memory or a unit, and is then out of turn for as
long as a load takes, or a command. A memory instruction takes the load-store unit for as many cycles as it has lines,
times the `PACE` of the window before (which is above one where caches and network refuse). While the unit is behind,
nobody gets in, and then the oldest warp is the first, as in `lsu_wake` (or another in every turn, where that is fair).
So where memory is the bottleneck few warps move at a time, which find their lines in the caches, as they do when they
are timed; with turns for all alike they would not.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import FOREVER, S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, store
from warpsift.engine.leap.leap_order import (
    COMMAND_LATENCY,
    COMMANDS,
    INSTRUCTIONS,
    LATENCY,
    MOST_OPS,
    OPS,
    P_COMMANDS,
    P_FREE,
    P_NEXT,
    P_RANKED,
    P_WAKE,
    PACE,
    PACE_ONE,
    REACHED,
    TRANSACTIONS,
    tally,
)
from warpsift.engine.leap.touch import touch_op
from warpsift.engine.sm.sm_state import (
    AT_BARRIER,
    CTAS,
    EMPTY,
    WARPS,
    cta_row,
    op_row,
    sm_row,
    sms,
    warp_row,
)
from warpsift.engine.sm.warps import barrier_release, warp_finish
from warpsift.simt.stream import ALU, BARRIER, COMMAND, NO_SLOT, SHARED

QUANTUM = 32  # cycles of a leap's time between two looks at an SM: about a shared-memory access
COUNT = WARPS - 1  # where a ranking has its length; no warp is ever resident there
STALE = -1  # a ranking that must be made again


@compiled(void, S_t, i64, i64)
def rank_warps(S, p_ranked, sm):
    """The warps of an SM by age (insertion: most stand right already)."""
    C = sms(S)
    first = sm * WARPS
    count = np.int64(0)
    for slot in range(WARPS - 1):
        W = warp_row(C.p_warps, first + slot)
        if W.state == EMPTY:
            continue
        place = count
        while place > 0 and warp_row(C.p_warps, first + load(p_ranked, first + place - 1)).age > W.age:
            store(p_ranked, first + place, load(p_ranked, first + place - 1))
            place -= 1
        store(p_ranked, first + place, np.int64(slot))
        count += 1
    store(p_ranked, first + COUNT, count)


@compiled(void, S_t, i64)
def forget_ranks(S, p):
    """CTAs may have come: every SM is looked at again."""
    for sm in range(sms(S).sms):
        store(load(p, np.int64(P_RANKED)), sm * WARPS + COUNT, np.int64(STALE))
        store(load(p, np.int64(P_NEXT)), np.int64(sm), np.int64(0))


@compiled(void, i64, i64, i64, i64)
def note_command(p, row, bit, kind):
    """Whether a scoreboard slot of a warp is held by a command to a unit from now on."""
    p_commands = load(p, np.int64(P_COMMANDS))
    before = load(p_commands, row)
    if kind == COMMAND:
        tally(p, np.int64(COMMANDS), np.int64(1))
        store(p_commands, row, before | bit)
    elif before & bit != 0:
        store(p_commands, row, before ^ bit)


@compiled(i64, S_t, i64, i64, i64)
def wait_for(S, p, row, held):
    """Cycles that a warp waits for what holds these scoreboard slots."""
    C = sms(S)
    if load(load(p, np.int64(P_COMMANDS)), row) & held != 0:
        return load(p, np.int64(COMMAND_LATENCY))
    shared = np.int64(warp_row(C.p_warps, row).shared_slots)
    return load(p, np.int64(LATENCY)) if held & (shared ^ -1) else np.int64(C.shared_latency)


@compiled(void, S_t, i64, i64, i64)
def leap_over(S, p, sm, slot):
    """A memory instruction of a warp, whose next record is behind it already."""
    C = sms(S)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    op = op_row(W.p_ops, np.int64(W.pc) - 1)
    tally(p, np.int64(OPS), np.int64(1))
    tally(p, np.int64(TRANSACTIONS), np.int64(op.transactions))
    if op.slot != NO_SLOT:
        bit = np.int64(1) << np.int64(op.slot)
        W.busy |= bit
        W.shared_slots = W.shared_slots | bit if op.kind == SHARED else W.shared_slots & (bit ^ -1)
        note_command(p, sm * WARPS + slot, bit, np.int64(op.kind))
    taken = np.int64(op.count) * PACE_ONE
    if op.kind != SHARED:
        taken = max(np.int64(op.transactions), np.int64(1)) * load(p, np.int64(PACE))
    p_free = load(p, np.int64(P_FREE))
    begun = max(load(p_free, sm), load(p, np.int64(REACHED)) * PACE_ONE)
    store(p_free, sm, begun + taken)
    if load(p, np.int64(MOST_OPS)) == 0:
        touch_op(S, sm, cta_row(C.p_ctas, sm * CTAS + W.cta).chunk, np.int64(W.pc) - 1)


@compiled(i64, S_t, i64, i64, i64)
def leap_warp(S, p, sm, slot):
    """A warp's turn; for how many cycles it is busy and waits."""
    C = sms(S)
    W = warp_row(C.p_warps, sm * WARPS + slot)
    full = (load(p, np.int64(REACHED)) + QUANTUM) * PACE_ONE
    cycles = np.int64(0)
    while W.pc < W.end:
        op = op_row(W.p_ops, W.pc)
        held = np.int64(op.wait) & W.busy
        if held != 0:
            W.busy &= held ^ -1
            return cycles + wait_for(S, p, sm * WARPS + slot, held)
        if op.kind == ALU:
            W.pc += 1
            tally(p, np.int64(INSTRUCTIONS), np.int64(op.count))
            cycles += np.int64(op.detail) * C.alu_latency
            continue
        if op.kind != BARRIER and load(load(p, np.int64(P_FREE)), sm) >= full:
            return cycles
        W.pc += 1
        tally(p, np.int64(INSTRUCTIONS), np.int64(1))
        cycles += 1
        if op.kind != BARRIER:
            leap_over(S, p, sm, slot)
        elif W.pc < W.end:
            A = cta_row(C.p_ctas, sm * CTAS + W.cta)
            W.state = AT_BARRIER
            W.wait = 0
            A.arrived += 1
            A.at_barrier |= np.int64(1) << slot
            barrier_release(S, sm, np.int64(W.cta))
            return cycles
    W.busy = 0
    warp_finish(S, sm, slot)
    store(load(p, np.int64(P_RANKED)), sm * WARPS + COUNT, np.int64(STALE))
    return cycles


@compiled(i64, S_t, i64, i64)
def leap_sm(S, p, sm):
    """The turns of an SM's warps whose time has come; when it has to be looked at again."""
    C = sms(S)
    now = load(p, np.int64(REACHED))
    p_wake = load(p, np.int64(P_WAKE))
    p_ranked = load(p, np.int64(P_RANKED))
    p_free = load(p, np.int64(P_FREE))
    if load(p_ranked, sm * WARPS + COUNT) == STALE:
        rank_warps(S, p_ranked, sm)
    following = np.int64(FOREVER)
    count = load(p_ranked, sm * WARPS + COUNT)
    turned = now // QUANTUM if C.lsu_in_turn != 0 else np.int64(0)
    for place in range(turned, turned + count):
        slot = load(p_ranked, sm * WARPS + place % count)
        row = sm * WARPS + slot
        W = warp_row(C.p_warps, row)
        if W.state == EMPTY or W.state == AT_BARRIER:
            continue
        if load(p_wake, row) <= now:
            store(p_wake, row, now + leap_warp(S, p, sm, slot))
        following = min(following, load(p_wake, row))
        if load(p_free, sm) >= (now + QUANTUM) * PACE_ONE:  # nobody else gets in
            return max(load(p_free, sm) // PACE_ONE - QUANTUM + 1, now + QUANTUM)
    if load(p_ranked, sm * WARPS + COUNT) == STALE:  # room for another CTA
        return now + QUANTUM
    return max(following, now + QUANTUM)


@compiled(void, S_t, i64)
def leap_round(S, p):
    """The turns of all SMs whose time has come; then time goes on to the next of them."""
    C = sms(S)
    now = load(p, np.int64(REACHED))
    p_next = load(p, np.int64(P_NEXT))
    following = np.int64(FOREVER)
    for sm in range(C.sms):
        if sm_row(C.p_sms, sm).warps_resident == 0:
            continue
        if load(p_next, np.int64(sm)) <= now:
            store(p_next, np.int64(sm), leap_sm(S, p, np.int64(sm)))
        following = min(following, load(p_next, np.int64(sm)))
    store(p, np.int64(REACHED), max(now + QUANTUM, following) if following != FOREVER else now + QUANTUM)
