"""One cycle of the machine, in parts, and the next cycle in which anything can happen.

Order within a cycle: dispatch, events that fall due, DRAM, L2 slices, special units, reply network,
request network, load-store units, warp schedulers. It is fixed, so that equal inputs give equal counters. Clock
domains: a pass runs as many L2 and network clocks as have gone by since the last one; DRAM keeps its own time.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import FOREVER, UNIT_SOCKETS, S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import WORD_SHIFT, mask_any
from warpsift.engine.core.wheel import (
    EV_DRAM_DONE,
    EV_L2_READY,
    EV_NOC_DELIVER,
    EV_OP_DONE,
    EV_PORT_READY,
    EV_UNIT,
    EV_UNIT_ARRIVE,
    EV_WARP_READY,
    event,
    wheel,
    wheel_next,
    wheel_pop,
)
from warpsift.engine.core.words import ctz, load
from warpsift.engine.dram.dram_controller import dram_pending, dram_wake
from warpsift.engine.l2.l2_dram import dram_candidates, forget_refusals, l2_to_dram
from warpsift.engine.l2.l2_misses import l2_fill
from warpsift.engine.l2.l2_queue import l2_wake, replies_left
from warpsift.engine.l2.l2_slice import l2_tick
from warpsift.engine.l2.l2_state import l2
from warpsift.engine.noc.crossbar import crossbar_tick, deliver, drain_outputs, wake_senders
from warpsift.engine.noc.ports import REPLIES, REQUESTS, network, noc, noc_raise
from warpsift.engine.sm.lsu import lsu_tick
from warpsift.engine.sm.sm_state import sm_row, sms
from warpsift.engine.sm.warp_scheduler import sm_tick
from warpsift.engine.sm.warps import memory_op_done, warp_delay_over
from warpsift.engine.unit_socket import (
    ARRIVE,
    EVENT,
    SOCKET_BITS,
    call_unit,
    sockets,
    tick_units,
)

NEED_WORK, DONE, FAILED, PAUSED = 0, 1, 2, 3  # what a loop over cycles answers
ERROR_DEADLOCK = 4


@compiled(void, S_t)
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
        elif kind == EV_UNIT_ARRIVE:
            call_unit(S, a & (UNIT_SOCKETS - 1), np.int64(ARRIVE), a >> SOCKET_BITS, b)
        elif kind == EV_UNIT:
            call_unit(S, a & (UNIT_SOCKETS - 1), np.int64(EVENT), a >> SOCKET_BITS, b)
        index = wheel_pop(S)


@compiled(i64, i64, i64, i64)
def clocks_until(now, khz, core_khz):
    """Clocks of another domain that have gone by at core cycle `now`; without a division where the two are one."""
    return now if khz == core_khz else now * khz // core_khz


@compiled(void, S_t)
def memory_cycle(S):
    """L2 slices and both networks, in their own clocks."""
    C = l2(S)
    N = noc(S)
    X = sockets(S)
    until = clocks_until(S.now, C.khz, C.core_khz)
    C.cycle = max(C.cycle, clocks_until(S.now - 1, C.khz, C.core_khz))
    while C.cycle < until:
        C.cycle += 1
        for word in range(C.words):
            slices = load(C.p_active, word)
            while slices != 0:
                l2_tick(S, (word << WORD_SHIFT) | ctz(slices))
                slices &= slices - 1
        forget_refusals(S)
        for word in range(C.words):
            slices = dram_candidates(S, word)
            while slices != 0:
                l2_to_dram(S, (word << WORD_SHIFT) | ctz(slices))
                slices &= slices - 1
        if X.awake != 0:
            tick_units(S)
    until = clocks_until(S.now, N.khz, N.core_khz)
    N.cycle = max(N.cycle, clocks_until(S.now - 1, N.khz, N.core_khz))
    while N.cycle < until:
        N.cycle += 1
        T = network(N.p_networks, REPLIES)
        if mask_any(T.p_active, T.output_words) != 0:
            crossbar_tick(S, np.int64(REPLIES))
            replies_left(S)
        T = network(N.p_networks, REQUESTS)
        if mask_any(T.p_draining, T.output_words) != 0:
            drain_outputs(S)
        if mask_any(T.p_active, T.output_words) != 0:
            crossbar_tick(S, np.int64(REQUESTS))
            wake_senders(S)


@compiled(void, S_t)
def core_cycle(S):
    """Load-store units and warp schedulers."""
    C = sms(S)
    for word in range(C.words):
        active = load(C.p_lsu_active, word)
        while active != 0:
            lsu_tick(S, (word << WORD_SHIFT) | ctz(active))
            active &= active - 1
    for word in range(C.words):
        active = load(C.p_issue_active, word)
        while active != 0:
            sm_tick(S, (word << WORD_SHIFT) | ctz(active))
            active &= active - 1


@compiled(i64, S_t)
def memory_busy(S):
    """Not 0 if an L2 slice or a network may have something to do in the next cycle."""
    N = noc(S)
    L = l2(S)
    T = network(N.p_networks, REPLIES)
    busy = mask_any(T.p_active, T.output_words)
    T = network(N.p_networks, REQUESTS)
    for word in range(L.words):
        busy |= load(T.p_active, word) | load(T.p_draining, word) | load(L.p_active, word)
    if busy != 0:
        return busy
    forget_refusals(S)
    for word in range(L.words):
        busy |= dram_candidates(S, word)
    return busy


@compiled(i64, S_t)
def next_cycle(S):
    """The next core cycle in which anything can happen, or FOREVER."""
    C = sms(S)
    soon = S.now + 1
    if memory_busy(S) != 0 or sockets(S).awake != 0:
        return soon
    if C.chunk_head != C.chunk_tail and mask_any(C.p_room, C.words) != 0:
        return soon
    following = np.int64(FOREVER)
    for word in range(C.words):
        active = load(C.p_lsu_active, word)
        while active != 0:
            sm = (word << WORD_SHIFT) | ctz(active)
            following = min(following, max(soon, sm_row(C.p_sms, sm).lsu_next))
            active &= active - 1
    if following == soon:
        return soon
    for word in range(C.words):
        active = load(C.p_issue_active, word)
        while active != 0:
            sm = (word << WORD_SHIFT) | ctz(active)
            following = min(following, max(soon, sm_row(C.p_sms, sm).next_time))
            active &= active - 1
    if following == soon:
        return soon
    following = min(following, wheel_next(S))
    if l2(S).ideal_dram == 0 and dram_pending(S) > 0:
        following = min(following, dram_wake(S))
    return max(following, soon)
