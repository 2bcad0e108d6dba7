"""Memory controllers and DRAM, cycle by cycle: the bottom of the memory system.

One channel is a controller with its queues, a command bus that carries one command per command clock, a data bus, and
ranks of banks with open rows. It sits under the L2 slices; a request is one column command for `request_bytes`.
Channels are independent. A channel is simulated only in the clocks in which something can happen (`wake`): a command
whose timing rules have expired, a request arriving, a refresh falling due. A channel without requests is caught up
with (refreshes, power-down) when the next request arrives.

    dram_address.py  address bits      dram_queue.py    queues, write drain
    dram_state.py    records           dram_sched.py    which command next (FR-FCFS)
    dram_timing.py   timing rules      dram_refresh.py  refresh
    dram_harness.py  one channel alone, driven by an address pattern
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpsift.engine.core.arena import FOREVER, Arena, S_t
from warpsift.engine.core.jit import compiled, entry, i64, void
from warpsift.engine.core.wheel import EV_DRAM_DONE, wheel_push
from warpsift.engine.core.words import store
from warpsift.engine.dram.dram_queue import (
    enqueue,
    fill_oldest,
    fill_row_hits,
    has_room,
    update_drain,
    waiting_write_to,
    wants_drain,
)
from warpsift.engine.dram.dram_refresh import refresh_step, start_refresh
from warpsift.engine.dram.dram_sched import (
    ACTIVATE,
    COLUMN,
    choose,
    evaluate_bank,
    issue_chosen,
    next_starvation,
    raise_closed,
    raise_columns,
    retire,
    soonest_bank,
    update_urgent,
)
from warpsift.engine.dram.dram_state import (
    COUNTERS,
    C_t,
    D_t,
    Q_t,
    bank_row,
    build,
    channel,
    dram,
    rank_row,
    request_row,
)
from warpsift.engine.dram.dram_timing import leave_power_down

__all__ = ["COUNTERS", "allocate", "dram_accept", "dram_pending", "dram_tick", "dram_wake", "finish_at"]


def allocate(arena: Arena, machine: Any) -> None:
    """Build all channels of a machine (`machine.dram`, `machine.clocks.core_mhz`); finished reads become events."""
    build(arena, machine.dram, machine.clocks.core_mhz).events = 1


@compiled(i64, i64, i64, i64, i64)
def _piece(address, shift, mask, at):
    return ((address >> shift) & mask) << at


@compiled(void, D_t, Q_t)
def decode(D, Q):
    """Row and bank of the request's address; the group is the low part of the bank's number."""
    a = Q.address
    Q.row = (
        _piece(a, D.row_shift0, D.row_mask0, D.row_at0)
        | _piece(a, D.row_shift1, D.row_mask1, D.row_at1)
        | _piece(a, D.row_shift2, D.row_mask2, D.row_at2)
        | _piece(a, D.row_shift3, D.row_mask3, D.row_at3)
        | ((a >> D.above_shift) << D.above_at)
    )
    bank = (
        _piece(a, D.bank_shift0, D.bank_mask0, D.bank_at0)
        | _piece(a, D.bank_shift1, D.bank_mask1, D.bank_at1)
        | _piece(a, D.bank_shift2, D.bank_mask2, D.bank_at2)
        | _piece(a, D.bank_shift3, D.bank_mask3, D.bank_at3)
    )
    if D.group_in_bank == 0:
        bank = bank * D.groups + (
            _piece(a, D.group_shift0, D.group_mask0, D.group_at0)
            | _piece(a, D.group_shift1, D.group_mask1, D.group_at1)
        )
    if D.bank_hash == 1:
        bank ^= Q.row & (D.banks_per_rank - 1)
    rank = _piece(a, D.rank_shift0, D.rank_mask0, D.rank_at0) | _piece(a, D.rank_shift1, D.rank_mask1, D.rank_at1)
    Q.bank = rank * D.banks_per_rank + bank


@compiled(void, S_t, D_t, Q_t, i64)
def _deliver(S, D, Q, done):
    """The data of a request is complete at DRAM clock `done`."""
    if Q.write == 1:
        D.dram_write_latency_clocks += done - Q.accepted
        return
    D.dram_read_latency_clocks += done - Q.accepted
    if D.events == 1:
        when = (done * D.core_khz + D.dram_khz - 1) // D.dram_khz + D.back_latency
        wheel_push(S, when, EV_DRAM_DONE, Q.token, Q.channel)


@compiled(i64, D_t, C_t, i64)
def offer_request(D, C, write):
    """Whether the channel takes a request now."""
    if D.own_way == 1:
        if write:
            return np.int64(C.waiting1 + C.transit1 < D.write_entries)
        return np.int64(C.requests - C.pending_writes - C.transit1 < max(D.inflight_entries, D.queue_entries))
    if D.inflight_entries > 0:
        return np.int64(C.requests < D.inflight_entries)
    if D.split == 0:
        return np.int64(C.waiting0 + C.waiting1 + C.transit0 + C.transit1 < D.queue_entries)
    if write:
        return np.int64(C.waiting1 + C.transit1 < D.write_entries)
    return np.int64(C.waiting0 + C.transit0 < D.queue_entries)


@compiled(void, D_t, i64)
def set_next_wake(D, clk):
    """No channel has anything to do before this clock, nor before the core cycle in which it begins."""
    D.next_wake = clk
    D.next_wake_cycle = (clk * D.core_khz + D.dram_khz - 1) // D.dram_khz if clk < FOREVER else FOREVER


@compiled(void, D_t, C_t, i64, i64, i64, i64, i64)
def put_request(D, C, address, write, token, accepted, arrive):
    """Take a request (there is room); it reaches the controller at clock `arrive`."""
    q = C.free
    Q = request_row(C.p_requests, q)
    C.free = Q.next
    Q.address = address
    Q.write = write
    Q.token = token
    Q.channel = C.index
    Q.accepted = accepted
    Q.arrive = max(arrive, C.clock + 1)
    Q.next = -1
    Q.order = C.sequence
    C.sequence += 1
    decode(D, Q)
    if D.own_way == 1 and write == 1:
        if C.transit_last1 >= 0:
            request_row(C.p_requests, C.transit_last1).next = q
        else:
            C.transit_first1 = q
        C.transit_last1 = q
    else:
        if C.transit_last0 >= 0:
            request_row(C.p_requests, C.transit_last0).next = q
        else:
            C.transit_first0 = q
        C.transit_last0 = q
    if write == 1:
        C.transit1 += 1
    else:
        C.transit0 += 1
    if C.requests == 0:
        C.waking = 1
    C.requests += 1
    D.active += 1
    C.wake = min(C.wake, Q.arrive)
    if C.wake < D.next_wake:
        set_next_wake(D, C.wake)


@compiled(void, D_t, C_t, i64)
def _wake_up(D, C, clk):
    """The first request after an idle time: account for power-down."""
    C.waking = 0
    if D.powerdown_idle == 0:
        return
    idle = clk - C.idle_since - D.powerdown_idle
    if idle > 0:
        D.dram_powered_down_clocks += max(idle - C.powerdown_lost, 0)
        leave_power_down(D, C, clk)
    C.powerdown_lost = 0


@compiled(i64, D_t, C_t, i64)
def _arrival(D, C, q):
    """The clock from which the first request of a way can enter its queue, FOREVER if that has no room."""
    if q < 0:
        return np.int64(FOREVER)
    Q = request_row(C.p_requests, q)
    return Q.arrive if has_room(D, C, Q.write) == 1 else np.int64(FOREVER)


@compiled(i64, D_t, C_t, i64)
def _take_arrived(D, C, clk):
    """Take the request off its way that can enter a queue now, the older of two; -1 if there is none."""
    q = C.transit_first0 if _arrival(D, C, C.transit_first0) <= clk else np.int64(-1)
    if _arrival(D, C, C.transit_first1) <= clk and (
        q < 0 or request_row(C.p_requests, C.transit_first1).order < request_row(C.p_requests, q).order
    ):
        q = C.transit_first1
        C.transit_first1 = request_row(C.p_requests, q).next
        if C.transit_first1 < 0:
            C.transit_last1 = -1
    elif q >= 0:
        C.transit_first0 = request_row(C.p_requests, q).next
        if C.transit_first0 < 0:
            C.transit_last0 = -1
    return q


@compiled(void, S_t, D_t, C_t, i64)
def _admit(S, D, C, clk):
    """Requests that have arrived enter the common queue, in order, while it has room."""
    while True:
        q = _take_arrived(D, C, clk)
        if q < 0:
            return
        Q = request_row(C.p_requests, q)
        if C.waking == 1:
            _wake_up(D, C, clk)
        if Q.write == 1:
            C.transit1 -= 1
        else:
            C.transit0 -= 1
        if waiting_write_to(D, C, bank_row(C.p_banks, Q.bank), Q.address) < 0:
            enqueue(D, C, q)
            continue
        if Q.write == 1:
            D.dram_merged_writes += 1
        else:
            D.dram_forwarded_reads += 1
        _deliver(S, D, Q, clk + 1)
        C.last_done = max(C.last_done, clk + 1)
        Q.next = C.free
        C.free = q
        C.requests -= 1
        D.active -= 1


@compiled(void, S_t, D_t, C_t, i64, i64)
def _finish_column(S, D, C, clk, q):
    """The column command of request q was issued: its data follows."""
    Q = request_row(C.p_requests, q)
    done = clk + (D.write_latency if Q.write == 1 else D.read_latency)
    C.last_done = max(C.last_done, done)
    _deliver(S, D, Q, done)
    retire(D, C, q)
    D.active -= 1
    if C.requests == 0:
        C.idle_since = done


@compiled(i64, S_t, D_t, C_t, i64)
def _schedule(S, D, C, clk):
    """Choose and issue a command; return the clock of the next one (a lower bound)."""
    soonest = choose(D, C, clk)
    if C.chosen_command == 0:
        return soonest
    b = C.chosen_bank
    command = C.chosen_command
    q = issue_chosen(D, C, clk)
    if q >= 0:
        _finish_column(S, D, C, clk, q)
    store(C.p_ready, b, evaluate_bank(D, C, bank_row(C.p_banks, b), clk))
    if command == ACTIVATE:
        raise_closed(D, C)
    elif command == COLUMN:
        raise_columns(D, C)
    return soonest_bank(D, C)


@compiled(i64, D_t, C_t, i64)
def _fill_bank_queues(D, C, clk):
    """One request moves from the common queue to a bank's queue; return the clock at which to look again."""
    update_drain(D, C)
    if C.fill_wanted == 0:
        return np.int64(FOREVER)
    moved = fill_row_hits(D, C) if D.fill_row_hit == 1 else fill_oldest(D, C)
    if moved == 0:
        C.fill_wanted = 0
        return np.int64(FOREVER)
    return clk + 1


@compiled(void, S_t, D_t, C_t, i64)
def channel_clock(S, D, C, clk):
    """One command clock of a channel: admit, refresh or schedule one command, fill the bank queues."""
    C.clock = clk
    _admit(S, D, C, clk)
    start_refresh(D, C, clk)
    wake = refresh_step(D, C, clk)
    if D.bank_entries == 0:
        update_drain(D, C)
        update_urgent(D, C, clk)
    if C.refresh_issued == 1:
        wake = clk + 1
    else:
        wake = min(wake, _schedule(S, D, C, clk))
        if C.refresh_pending >= 0 and C.chosen_command != 0:
            wake = clk + 1  # the refresh may have waited for this command
    if D.bank_entries > 0:
        wake = min(wake, _fill_bank_queues(D, C, clk))
    else:
        wake = min(wake, next_starvation(D, C))
    if wants_drain(D, C) != C.draining:
        wake = clk + 1
    wake = min(wake, min(_arrival(D, C, C.transit_first0), _arrival(D, C, C.transit_first1)))
    C.wake = max(wake, clk + 1)


@compiled(void, S_t, D_t, C_t, i64)
def run_channel(S, D, C, until):
    """Simulate a channel up to and including clock `until`."""
    while C.wake <= until:
        channel_clock(S, D, C, C.wake)


@compiled(i64, S_t, i64, i64, i64, i64)
def dram_accept(S, index, address, write, token):
    """Offer a request at the channel-local byte address; 1 if taken, 0 if the queue is full."""
    D = dram(S)
    C = channel(D.p_channels, index)
    if offer_request(D, C, write) == 0:
        D.dram_queue_full_stalls += 1
        return np.int64(0)
    accepted = S.now * D.dram_khz // D.core_khz
    arrive = (S.now + D.front_latency) * D.dram_khz // D.core_khz
    put_request(D, C, address, write, token, accepted, arrive)
    return np.int64(1)


@compiled(void, S_t)
def dram_tick(S):
    """Run all channels up to the present core cycle."""
    D = dram(S)
    if D.next_wake_cycle > S.now:
        return
    until = S.now * D.dram_khz // D.core_khz
    soonest = np.int64(FOREVER)
    for index in range(D.channels):
        C = channel(D.p_channels, index)
        if C.requests > 0:
            if C.wake <= until:
                run_channel(S, D, C, until)
            if C.requests > 0:
                soonest = min(soonest, C.wake)
    set_next_wake(D, soonest)


@compiled(i64, S_t)
def dram_wake(S):
    """The next core cycle in which dram_tick has something to do, or FOREVER."""
    D = dram(S)
    return max(D.next_wake_cycle, S.now + 1)


@compiled(i64, S_t)
def dram_pending(S):
    """Requests accepted whose column command has not been issued (a read then comes back by an event)."""
    return dram(S).active


@entry("the memory channels", void, S_t, i64)
def finish_at(S, clk):
    """Bring the time-based counters up to DRAM clock `clk` (end of a run, or of an interval)."""
    D = dram(S)
    for index in range(D.channels):
        C = channel(D.p_channels, index)
        run_channel(S, D, C, clk)
        for r in range(D.ranks):
            R = rank_row(C.p_ranks, r)
            if R.open_banks > 0:
                D.dram_row_open_clocks += clk - R.open_since
                R.open_since = clk
        idle = clk - C.idle_since - D.powerdown_idle
        if C.requests == 0 and D.powerdown_idle > 0 and idle > 0:
            D.dram_powered_down_clocks += max(idle - C.powerdown_lost, 0)
            C.powerdown_lost = 0
            C.idle_since = clk - D.powerdown_idle
