"""The main loop: one pass per core cycle in which something can happen, jumps over those in which nothing can.

Order within a cycle: dispatch, events that fall due, DRAM, L2 slices, memory fast-forward unit, reply network,
request network, load-store units, warp schedulers. It is fixed, so that equal inputs give equal counters. Clock
domains: a pass runs as many L2 and network clocks as have gone by since the last one; DRAM keeps its own time.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.crossbar import crossbar_tick, deliver, drain_outputs, wake_senders
from warpsift.engine.dispatch import dispatch_tick
from warpsift.engine.dram import dram_pending, dram_tick, dram_wake
from warpsift.engine.l2 import l2_tick
from warpsift.engine.l2_dram import dram_candidates, l2_to_dram
from warpsift.engine.l2_misses import l2_fill
from warpsift.engine.l2_queue import l2_wake, replies_left
from warpsift.engine.l2_state import l2
from warpsift.engine.layout import FOREVER, S_t, ctz, entry, i64, kernel, void
from warpsift.engine.lsu import lsu_tick
from warpsift.engine.mff import mff_arrival, mff_drained, mff_tick
from warpsift.engine.mff_state import mff
from warpsift.engine.noc import REPLIES, REQUESTS, network, noc, noc_raise
from warpsift.engine.sampling import sample, sampler
from warpsift.engine.sm import sm_tick
from warpsift.engine.sm_state import sm_row, sms
from warpsift.engine.warps import memory_op_done, warp_delay_over
from warpsift.engine.wheel import (
    EV_DRAM_DONE,
    EV_L2_READY,
    EV_MFF,
    EV_NOC_DELIVER,
    EV_OP_DONE,
    EV_PORT_READY,
    EV_WARP_READY,
    event,
    wheel,
    wheel_next,
    wheel_pop,
)

NEED_WORK, DONE, FAILED, PAUSED = 0, 1, 2, 3
ERROR_DEADLOCK = 4


@kernel(void, S_t)
def handle_events(S):
    """Everything that falls due in this cycle."""
    W = wheel(S)
    index = wheel_pop(S)
    while index >= 0:
        E = event(W.p_events, index)
        kind = E.kind
        a = E.a
        b = E.b
        if kind == EV_WARP_READY:
            warp_delay_over(S, a, b)
        elif kind == EV_OP_DONE:
            memory_op_done(S, a, b)
        elif kind == EV_PORT_READY:
            noc_raise(S, a, b)
        elif kind == EV_L2_READY:
            l2_wake(S, a)
        elif kind == EV_DRAM_DONE:
            l2_fill(S, a)
        elif kind == EV_NOC_DELIVER:
            deliver(S, a, b)
        elif kind == EV_MFF:
            mff_arrival(S, a, b)
        index = wheel_pop(S)


@kernel(i64, i64, i64, i64)
def clocks_until(now, khz, core_khz):
    """Clocks of another domain that have gone by at core cycle `now`; without a division where the two are one."""
    return now if khz == core_khz else now * khz // core_khz


@kernel(void, S_t)
def memory_cycle(S):
    """L2 slices and both networks, in their own clocks."""
    C = l2(S)
    N = noc(S)
    F = mff(S)
    until = clocks_until(S.now, C.khz, C.core_khz)
    C.cycle = max(C.cycle, clocks_until(S.now - 1, C.khz, C.core_khz))
    while C.cycle < until:
        C.cycle += 1
        mask = C.active
        while mask != 0:
            index = ctz(mask)
            mask &= mask - 1
            l2_tick(S, index)
        mask = dram_candidates(S)
        while mask != 0:
            index = ctz(mask)
            mask &= mask - 1
            l2_to_dram(S, index)
        if (F.active | F.engines_active) != 0:
            mff_tick(S)
    until = clocks_until(S.now, N.khz, N.core_khz)
    N.cycle = max(N.cycle, clocks_until(S.now - 1, N.khz, N.core_khz))
    while N.cycle < until:
        N.cycle += 1
        if network(N.p_networks, REPLIES).active != 0:
            crossbar_tick(S, np.int64(REPLIES))
            replies_left(S)
        T = network(N.p_networks, REQUESTS)
        if T.draining != 0:
            drain_outputs(S)
        if T.active != 0:
            crossbar_tick(S, np.int64(REQUESTS))
            wake_senders(S)


@kernel(void, S_t)
def core_cycle(S):
    """Load-store units and warp schedulers."""
    C = sms(S)
    mask = C.lsu_active
    while mask != 0:
        sm = ctz(mask)
        mask &= mask - 1
        lsu_tick(S, sm)
    mask = C.issue_active
    while mask != 0:
        sm = ctz(mask)
        mask &= mask - 1
        sm_tick(S, sm)


@kernel(i64, S_t)
def next_cycle(S):
    """The next core cycle in which anything can happen, or FOREVER."""
    C = sms(S)
    N = noc(S)
    L = l2(S)
    F = mff(S)
    soon = S.now + 1
    T = network(N.p_networks, REQUESTS)
    if (T.active | T.draining | network(N.p_networks, REPLIES).active | L.active) != 0 or dram_candidates(S) != 0:
        return soon
    if (F.active | F.engines_active) != 0:
        return soon
    if C.room != 0 and C.chunk_head != C.chunk_tail:
        return soon
    following = np.int64(FOREVER)
    mask = C.lsu_active
    while mask != 0:
        following = min(following, max(soon, sm_row(C.p_sms, ctz(mask)).lsu_next))
        mask &= mask - 1
    if following == soon:
        return soon
    mask = C.issue_active
    while mask != 0:
        following = min(following, max(soon, sm_row(C.p_sms, ctz(mask)).next_time))
        mask &= mask - 1
    if following == soon:
        return soon
    following = min(following, wheel_next(S))
    if L.ideal_dram == 0 and dram_pending(S) > 0:
        following = min(following, dram_wake(S))
    return max(following, soon)


@entry("the timing engine", i64, S_t, i64, i64)
def run(S, final, pause_at):
    """Simulate until the stream runs dry (NEED_WORK), all work is done (DONE, only if final), or `pause_at`."""
    C = sms(S)
    N = noc(S)
    F = mff(S)
    Z = sampler(S)
    while True:
        dry = np.int64(0)
        if C.room != 0:
            dry = dispatch_tick(S)
        if dry != 0 and final == 0:
            return np.int64(NEED_WORK)
        idle = C.live_ctas == 0 and C.chunk_head == C.chunk_tail and N.in_use == 0
        if final != 0 and idle and mff_drained(S) != 0:  # asking sends what is left, so it comes last
            return np.int64(DONE)
        handle_events(S)
        dram_tick(S)
        memory_cycle(S)
        core_cycle(S)
        if S.error != 0:
            return np.int64(FAILED)
        following = next_cycle(S)
        if following >= FOREVER:
            if C.live_ctas == 0 and C.chunk_head == C.chunk_tail and N.in_use == 0 and F.commands_used == 0:
                continue
            S.error = ERROR_DEADLOCK
            return np.int64(FAILED)
        if Z.interval != 0:
            while Z.next_at <= following:
                sample(S)
        S.now = following
        if S.now >= pause_at:
            return np.int64(PAUSED)
