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
from warpsift.engine.core.words import ctz, load, prefetch, store
from warpsift.engine.leap.leap_order import (
    COMMAND_LATENCY,
    COMMANDS,
    INSTRUCTIONS,
    LATENCY,
    LET_GO,
    MOST_OPS,
    OPS,
    P_AGES,
    P_COMMANDS,
    P_FREE,
    P_NEXT,
    P_PLACES,
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
UNRANKED = -1  # in the ages of the warps that are ranked: nobody is in that slot
ABSENT = 1 << 61  # in the time at which a slot goes on: it is empty, or its warp waits at a barrier


@compiled(void, S_t, i64, i64)
def note_presence(S, p_wake, row):
    """Mark the time at which a slot goes on if nobody in it can."""
    state = warp_row(sms(S).p_warps, row).state
    wake = load(p_wake, row) & (ABSENT ^ -1)
    store(p_wake, row, wake | ABSENT if state in (EMPTY, AT_BARRIER) else wake)


@compiled(i64, S_t, i64, i64)
def still_ranked(S, p, sm):
    """Close up the ranking of an SM where warps have gone: how many are left. They still stand by age."""
    C = sms(S)
    p_ranked = load(p, np.int64(P_RANKED))
    p_ages = load(p, np.int64(P_AGES))
    first = sm * WARPS
    count = np.int64(0)
    for rank in range(load(p_ages, first + COUNT)):
        slot = load(p_ranked, first + rank)
        W = warp_row(C.p_warps, first + slot)
        if W.state != EMPTY and W.age == load(p_ages, first + slot):
            store(p_ranked, first + count, slot)
            count += 1
        else:
            store(p_ages, first + slot, np.int64(UNRANKED))
    return count


@compiled(void, S_t, i64, i64)
def rank_warps(S, p, sm):
    """The warps of an SM by age (insertion: those that are new are few, and nearly always the youngest)."""
    C = sms(S)
    p_ranked = load(p, np.int64(P_RANKED))
    p_ages = load(p, np.int64(P_AGES))
    first = sm * WARPS
    count = still_ranked(S, p, sm)
    for slot in range(WARPS - 1):
        W = warp_row(C.p_warps, first + slot)
        note_presence(S, load(p, np.int64(P_WAKE)), first + slot)
        if W.state == EMPTY or W.age == load(p_ages, first + slot):
            continue
        place = count
        while place > 0 and warp_row(C.p_warps, first + load(p_ranked, first + place - 1)).age > W.age:
            store(p_ranked, first + place, load(p_ranked, first + place - 1))
            place -= 1
        store(p_ranked, first + place, np.int64(slot))
        store(p_ages, first + slot, W.age)
        count += 1
    store(p_ranked, first + COUNT, count)
    store(p_ages, first + COUNT, count)
    for rank in range(count):
        store(load(p, np.int64(P_PLACES)), first + load(p_ranked, first + rank), np.int64(rank))


@compiled(void, S_t, i64)
def forget_ranks(S, p):
    """CTAs may have come: every SM is looked at again."""
    for sm in range(sms(S).sms):
        store(load(p, np.int64(P_RANKED)), sm * WARPS + COUNT, np.int64(STALE))
        store(load(p, np.int64(P_NEXT)), np.int64(sm), np.int64(0))


@compiled(void, i64, i64, i64)
def let_go(p, sm, slots):
    """A barrier has let the warps in these slots go."""
    p_wake = load(p, np.int64(P_WAKE))
    store(p, np.int64(LET_GO), np.int64(1))
    while slots != 0:
        row = sm * WARPS + ctz(slots)
        store(p_wake, row, load(p_wake, row) & (ABSENT ^ -1))
        slots &= slots - 1


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
            prefetch(W.p_transactions, np.int64(op.first) * 8)  # the host has time until the warp's next turn
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
            waited = A.at_barrier
            barrier_release(S, sm, np.int64(W.cta))
            if A.at_barrier == 0:
                let_go(p, sm, waited)
            return cycles
    W.busy = 0
    A = cta_row(C.p_ctas, sm * CTAS + W.cta)
    waited = A.at_barrier
    warp_finish(S, sm, slot)
    if waited != 0 and A.at_barrier == 0:
        let_go(p, sm, waited)
    store(load(p, np.int64(P_RANKED)), sm * WARPS + COUNT, np.int64(STALE))
    return cycles


@compiled(i64, i64, i64, i64, i64)
def due_places(p, sm, turned, count):
    """The warps of an SM whose time has come: a bit for each of `count` places by age, from place `turned` on."""
    now = load(p, np.int64(REACHED))
    p_wake = load(p, np.int64(P_WAKE))
    p_places = load(p, np.int64(P_PLACES))
    slots = np.int64(0)
    for slot in range(WARPS - 1):  # no branches: the compiler takes several slots at once
        slots |= np.int64(load(p_wake, sm * WARPS + slot) <= now) << slot
    places = np.int64(0)
    while slots != 0:
        place = load(p_places, sm * WARPS + ctz(slots)) - turned
        places |= np.int64(1) << (place if place >= 0 else place + count)
        slots &= slots - 1
    return places


@compiled(i64, i64, i64)
def next_due(p, sm):
    """When the next warp of an SM goes on, FOREVER if none does."""
    p_wake = load(p, np.int64(P_WAKE))
    soonest = np.int64(FOREVER)
    for slot in range(WARPS - 1):
        soonest = min(soonest, load(p_wake, sm * WARPS + slot))
    return soonest if soonest < ABSENT else np.int64(FOREVER)


@compiled(i64, S_t, i64, i64)
def leap_sm(S, p, sm):
    """The turns of an SM's warps whose time has come; when it has to be looked at again."""
    C = sms(S)
    now = load(p, np.int64(REACHED))
    p_wake = load(p, np.int64(P_WAKE))
    p_ranked = load(p, np.int64(P_RANKED))
    p_free = load(p, np.int64(P_FREE))
    if load(p_ranked, sm * WARPS + COUNT) == STALE:
        rank_warps(S, p, sm)
    count = load(p_ranked, sm * WARPS + COUNT)
    turned = now // QUANTUM % count if C.lsu_in_turn != 0 else np.int64(0)
    behind = (now + QUANTUM) * PACE_ONE
    if load(p_free, sm) >= behind:  # nobody gets in
        return max(load(p_free, sm) // PACE_ONE - QUANTUM + 1, now + QUANTUM)
    places = due_places(p, sm, turned, count)
    store(p, np.int64(LET_GO), np.int64(0))
    while places != 0:
        turn = ctz(places)
        place = turn + turned
        row = sm * WARPS + load(p_ranked, sm * WARPS + (place if place < count else place - count))
        store(p_wake, row, now + leap_warp(S, p, sm, row - sm * WARPS))
        note_presence(S, p_wake, row)
        if load(p_free, sm) >= behind:  # nobody else gets in
            return max(load(p_free, sm) // PACE_ONE - QUANTUM + 1, now + QUANTUM)
        places &= places - 1
        if load(p, np.int64(LET_GO)) != 0:  # those behind it have their turn now
            store(p, np.int64(LET_GO), np.int64(0))
            places = due_places(p, sm, turned, count) & (np.int64(-2) << turn)
    if load(p_ranked, sm * WARPS + COUNT) == STALE:  # room for another CTA
        return now + QUANTUM
    return max(next_due(p, sm), now + QUANTUM)


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
