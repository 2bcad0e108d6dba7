"""The queues in front of the banks: admission, the lists of each bank, and the write drain.

Three organisations that exist in controllers and in the simulators used for comparison are run-time choices:

* one pool that the scheduler sees whole (`bank_entries` 0), reads and writes together or in two queues; with two, the
  scheduler serves reads until the writes reach a high mark and then writes down to a low mark;
* a common queue in front of short queues per bank, into which one request per clock moves: the oldest that fits, or
* bank by bank, a request to the open row first (one-entry bank queues then give GPGPU-Sim's scheduler).

A bank has a list of waiting reads and one of waiting writes (`split`, no bank queues), or one list of both, always in
order of admission. It remembers the first read hit and the first write hit of its open row (`hit0`, `hit1`) and the
first request to another row (`other0`, `other1`), so that choosing a command does not walk the list.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import store
from warpsift.engine.dram.dram_state import B_t, C_t, D_t, Q_t, bank_row, request_row


@compiled(i64, D_t, B_t, i64)
def list_of(D, B, write):
    """Which of the bank's two lists holds a request: the second is for writes kept apart."""
    return write if D.split == 1 and D.bank_entries == 0 else 0


@compiled(i64, C_t, B_t, i64, i64)
def next_hit(C, B, start, write):
    """The first request from `start` on to the open row and of the given kind, or -1."""
    q = start
    while q >= 0:
        Q = request_row(C.p_requests, q)
        if Q.row == B.open_row and Q.write == write:
            return q
        q = Q.next
    return np.int64(-1)


@compiled(i64, C_t, B_t, i64)
def next_other(C, B, start):
    """The first request from `start` on to a row that is not open, or -1."""
    q = start
    while q >= 0:
        Q = request_row(C.p_requests, q)
        if Q.row != B.open_row:
            return q
        q = Q.next
    return np.int64(-1)


@compiled(void, D_t, C_t, B_t)
def rescan_bank(D, C, B):
    """After the open row changed: find hits and others anew."""
    first_write = B.first1 if list_of(D, B, 1) == 1 else B.first0
    B.hit0 = next_hit(C, B, B.first0, 0)
    B.hit1 = next_hit(C, B, first_write, 1)
    B.other0 = next_other(C, B, B.first0)
    B.other1 = next_other(C, B, B.first1)
    store(C.p_ready, B.index, 0)


@compiled(void, C_t, Q_t, i64, i64)
def link_behind(C, Q, q, last):
    """Put request `q` behind the last of a bank's list, -1 if it is empty; the caller moves the list's ends."""
    Q.next = -1
    Q.prev = last
    if last >= 0:
        request_row(C.p_requests, last).next = q


@compiled(void, C_t, Q_t)
def unlink(C, Q):
    """Close the gap that a request leaves in a bank's list; the caller moves the list's ends."""
    if Q.prev >= 0:
        request_row(C.p_requests, Q.prev).next = Q.next
    if Q.next >= 0:
        request_row(C.p_requests, Q.next).prev = Q.prev


@compiled(void, D_t, C_t, B_t, i64)
def append_to_bank(D, C, B, q):
    Q = request_row(C.p_requests, q)
    hit = Q.row == B.open_row
    if list_of(D, B, Q.write) == 1:
        link_behind(C, Q, q, B.last1)
        if B.last1 < 0:
            B.first1 = q
        B.last1 = q
        if not hit and B.other1 < 0:
            B.other1 = q
    else:
        link_behind(C, Q, q, B.last0)
        if B.last0 < 0:
            B.first0 = q
        B.last0 = q
        if not hit and B.other0 < 0:
            B.other0 = q
    if hit:
        if Q.write == 1 and B.hit1 < 0:
            B.hit1 = q
        if Q.write == 0 and B.hit0 < 0:
            B.hit0 = q
    B.queued += 1
    store(C.p_ready, B.index, 0)


@compiled(void, D_t, C_t, B_t, i64)
def remove_from_bank(D, C, B, q):
    """Take out a request of the bank's lists and forget what pointed to it."""
    Q = request_row(C.p_requests, q)
    if B.hit1 == q:
        B.hit1 = next_hit(C, B, Q.next, 1)
    if B.hit0 == q:
        B.hit0 = next_hit(C, B, Q.next, 0)
    if B.other0 == q:
        B.other0 = next_other(C, B, Q.next)
    if B.other1 == q:
        B.other1 = next_other(C, B, Q.next)
    unlink(C, Q)
    if list_of(D, B, Q.write) == 1:
        B.first1 = Q.next if Q.prev < 0 else B.first1
        B.last1 = Q.prev if Q.next < 0 else B.last1
    else:
        B.first0 = Q.next if Q.prev < 0 else B.first0
        B.last0 = Q.prev if Q.next < 0 else B.last0
    B.queued -= 1
    store(C.p_ready, B.index, 0)


@compiled(void, C_t, Q_t, i64)
def append_by_age(C, Q, q):
    """The channel's list of waiting requests of one kind, oldest first."""
    Q.younger = -1
    if Q.write == 1:
        Q.older = C.age_last1
        if C.age_last1 >= 0:
            request_row(C.p_requests, C.age_last1).younger = q
        else:
            C.age_first1 = q
        C.age_last1 = q
    else:
        Q.older = C.age_last0
        if C.age_last0 >= 0:
            request_row(C.p_requests, C.age_last0).younger = q
        else:
            C.age_first0 = q
        C.age_last0 = q


@compiled(void, C_t, Q_t)
def remove_by_age(C, Q):
    if Q.older >= 0:
        request_row(C.p_requests, Q.older).younger = Q.younger
    elif Q.write == 1:
        C.age_first1 = Q.younger
    else:
        C.age_first0 = Q.younger
    if Q.younger >= 0:
        request_row(C.p_requests, Q.younger).older = Q.older
    elif Q.write == 1:
        C.age_last1 = Q.older
    else:
        C.age_last0 = Q.older


@compiled(i64, D_t, C_t, i64)
def has_room(D, C, write):
    """Whether the common queue can take one more request of this kind."""
    if D.split == 0:
        return np.int64(C.waiting0 + C.waiting1 < D.queue_entries)
    if write:
        return np.int64(C.waiting1 < D.write_entries)
    return np.int64(C.waiting0 < D.queue_entries)


@compiled(i64, D_t, C_t)
def wants_drain(D, C):
    """Two queues: 1 if writes should be served now, 0 if reads should."""
    if D.split == 0:
        return np.int64(0)
    if C.draining == 0:
        only_writes = C.waiting1 > 0 and C.waiting1 == C.requests
        idle = C.waiting0 == 0 and C.waiting1 >= D.drain_idle
        return np.int64(C.waiting1 >= D.drain_high or idle or only_writes)
    if D.drain_batch == 1:
        return np.int64(C.drain_left > 0)
    return np.int64(C.waiting1 > D.drain_low or C.waiting0 == 0)


@compiled(void, D_t, C_t)
def update_drain(D, C):
    """Turn from reads to writes or back; all banks then offer something else."""
    if wants_drain(D, C) == C.draining:
        return
    C.draining = 1 - C.draining
    C.drain_left = C.waiting1
    C.fill_wanted = 1
    C.urgent = -1
    if D.bank_entries == 0:
        for b in range(D.banks):
            if bank_row(C.p_banks, b).queued > 0:
                store(C.p_ready, b, 0)


@compiled(i64, C_t, i64, i64)
def next_write_to(C, start, address):
    """The first write from `start` on to this address, or -1."""
    q = start
    while q >= 0:
        Q = request_row(C.p_requests, q)
        if Q.write == 1 and Q.address == address:
            return q
        q = Q.next
    return np.int64(-1)


@compiled(i64, D_t, C_t, B_t, i64)
def waiting_write_to(D, C, B, address):
    """A waiting write to this address, or -1: a later read takes its data, a later write takes its place."""
    if C.pending_writes == 0:
        return np.int64(-1)
    if B.promoted >= 0:
        P = request_row(C.p_requests, B.promoted)
        if P.write == 1 and P.address == address:
            return B.promoted
    q = next_write_to(C, B.first1 if list_of(D, B, 1) == 1 else B.first0, address)
    if q < 0 and D.bank_entries > 0:
        q = next_write_to(C, B.front_first, address)
    if q >= 0 or D.bank_entries == 0:
        return q
    q = C.age_first1
    while q >= 0:
        Q = request_row(C.p_requests, q)
        if Q.address == address:
            return q
        q = Q.younger
    return np.int64(-1)


@compiled(void, D_t, C_t, i64)
def enqueue(D, C, q):
    """Admit a decoded request to the common queue."""
    Q = request_row(C.p_requests, q)
    B = bank_row(C.p_banks, Q.bank)
    Q.order = C.sequence
    C.sequence += 1
    if Q.write == 1:
        C.waiting1 += 1
        C.pending_writes += 1
    else:
        C.waiting0 += 1
    if D.bank_entries == 0:
        append_by_age(C, Q, q)
        append_to_bank(D, C, B, q)
        return
    C.fill_wanted = 1
    if D.fill_row_hit == 0:
        append_by_age(C, Q, q)
        return
    link_behind(C, Q, q, B.front_last)
    if B.front_last < 0:
        B.front_first = q
    B.front_last = q


@compiled(i64, D_t, C_t)
def fill_oldest(D, C):
    """Move the oldest request whose bank queue has room (of the kind being served); 1 if one moved."""
    if D.split == 1:
        q = C.age_first1 if C.draining == 1 else C.age_first0
        partner = np.int64(-1)
    else:  # one queue: merge the two age lists by order of admission
        q = C.age_first0
        partner = C.age_first1
    while q >= 0 or partner >= 0:
        if q < 0 or (partner >= 0 and request_row(C.p_requests, partner).order < request_row(C.p_requests, q).order):
            swap = q
            q = partner
            partner = swap
        Q = request_row(C.p_requests, q)
        B = bank_row(C.p_banks, Q.bank)
        if B.queued < D.bank_entries:
            remove_by_age(C, Q)
            append_to_bank(D, C, B, q)
            if Q.write == 1:
                C.waiting1 -= 1
                C.drain_left -= 1
            else:
                C.waiting0 -= 1
            return np.int64(1)
        q = Q.younger
    return np.int64(0)


@compiled(i64, D_t, C_t)
def fill_row_hits(D, C):
    """Bank by bank in turn: move a waiting request to the open row, or the bank's oldest; 1 if one moved."""
    for i in range(D.banks):
        b = C.fill_turn + i
        if b >= D.banks:
            b -= D.banks
        B = bank_row(C.p_banks, b)
        if B.front_first < 0 or B.queued >= D.bank_entries:
            continue
        q = B.front_first
        while q >= 0 and request_row(C.p_requests, q).row != B.open_row:
            q = request_row(C.p_requests, q).next
        if q < 0:
            q = B.front_first
        Q = request_row(C.p_requests, q)
        unlink(C, Q)
        B.front_first = Q.next if Q.prev < 0 else B.front_first
        B.front_last = Q.prev if Q.next < 0 else B.front_last
        append_to_bank(D, C, B, q)
        if Q.write == 1:
            C.waiting1 -= 1
        else:
            C.waiting0 -= 1
        C.fill_turn = C.fill_turn + 1 if C.fill_turn + 1 < D.banks else 0
        return np.int64(1)
    return np.int64(0)
