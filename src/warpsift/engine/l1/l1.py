"""L1 data cache of an SM: loads hit, merge with a line in flight, or reserve a line and ask the L2.

Write-through without allocation; a store that finds its line updates or evicts it (`write_hit`). A lack of MSHRs, of
merge room or of room in the network refuses a miss: the load-store unit then stands still. When a line gets its place
is the machine's choice (`allocate`):

- "miss": at once. A set whose lines are all in flight refuses further misses, and what it held is gone before the new
  data is there. The line in flight is found through the tags, so the MSHR needs no search.
- "fill": when its first data comes. Until then the old data stays, and only the MSHR knows of the line.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import HOST_LINE_BYTES, Arena, S_t, accessor, component
from warpsift.engine.core.array_traffic import array_row
from warpsift.engine.core.cache_sets import ALL_SECTORS, LINE, find_row, line_row, prefetch_set, victim_row
from warpsift.engine.core.division import remainder, shift_of
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.wheel import EV_OP_DONE, wheel_push
from warpsift.engine.core.words import load, popcount, store
from warpsift.engine.l2.address_map import slice_near
from warpsift.engine.noc.ports import (
    READ_CACHED,
    REQUESTS,
    noc,
    noc_inject,
    noc_room,
    packet,
    packet_new,
    sector_flits,
)
from warpsift.engine.sm.sm_state import MEMORY_OPS, memory_op, sms
from warpsift.hardware import LINE_BYTES
from warpsift.machines.spec import Machine

SMALLEST_SHARED = 8192  # part of the array that shared memory takes, if any

BUCKETS = 256  # of an SM, in which a line without a place is looked for

# Why an access was refused (0 = accepted).
NO_LINE, NO_MSHR, NO_MERGE, NO_NETWORK = 1, 2, 3, 4

L1MSHR = np.dtype(
    [
        ("next", np.int32),  # among the free ones, or in a bucket of lines without a place
        ("row", np.int32),  # the line's place, or -1
        ("first", np.int32),
        ("waiters", np.int16),
        ("pending", np.uint8),  # sectors on the way to a line without a place; else the line itself knows
    ],
    align=True,
)
WAITER = np.dtype([("next", np.int32), ("op", np.int16), ("sectors", np.uint8)], align=True)  # that it still lacks
L1SM = np.dtype(
    [
        ("mshr_free", np.int64),
        ("waiter_free", np.int64),
        ("mshrs_used", np.int64),
        ("full_set", np.int64),  # first row of the set in which the last refused miss found no line
    ],
    align=True,
)

COUNTERS = {
    "l1_read_accesses": "line transactions of loads (bypassing loads are not counted)",
    "l1_read_hits": "of these, data found",
    "l1_read_misses": "of these, a request was sent",
    "l1_read_merged": "of these, waited for a line that was in flight",
    "l1_write_accesses": "line transactions of stores",
    "l1_write_hits": "of these, line found",
    "l1_bypassed_accesses": "line transactions of loads that bypassed L1",
    "l1_reservation_fails": "SM-cycles in which an access was refused for lack of a line, an MSHR or merge room",
    "l1_network_blocked_cycles": "SM-cycles in which a request found no room in the network",
    "l1_fills": "sectors that came from the L2",
    "l1_mshr_peak": "largest number of MSHRs in use in one SM",
}
L1 = np.dtype(
    [
        ("sets", np.int64),
        ("sets_shift", np.int64),  # division.shift_of
        ("ways", np.int64),
        ("cached_loads", np.int64),
        ("tags_per_cycle", np.int64),
        ("whole_line", np.int64),
        ("hashed", np.int64),
        ("mshrs", np.int64),
        ("mshr_rows", np.int64),  # rows of the tables per SM: see sm_state.WARPS
        ("waiter_rows", np.int64),
        ("merges", np.int64),
        ("latency", np.int64),
        ("store_latency", np.int64),
        ("evict_on_write", np.int64),
        ("stamp", np.int64),
        ("p_sms", np.int64),
        ("p_tags", np.int64),
        ("p_lines", np.int64),
        ("p_mshrs", np.int64),
        ("p_waiters", np.int64),
        ("at_fill", np.int64),
        ("p_buckets", np.int64),  # with at_fill: first MSHR of a line without a place, by the line's last bits
        ("p_mshr_lines", np.int64),  # with at_fill: the line of an MSHR
        *[(name, np.int64) for name in COUNTERS],
    ],
    align=True,
)
l1 = component("l1", L1)
l1_sm = accessor(L1SM)
l1_mshr = accessor(L1MSHR)
l1_waiter = accessor(WAITER)


def allocate(arena: Arena, machine: Machine) -> None:
    spec, count = machine.l1, machine.sm.count
    C = arena.record("l1", L1)
    C.ways, C.sets = spec.ways, spec.size_bytes // (spec.ways * LINE_BYTES)
    C.sets_shift = shift_of(int(C.sets))
    C.cached_loads, C.whole_line = spec.cached_loads, spec.fill_bytes == LINE_BYTES
    C.tags_per_cycle = spec.tags_per_cycle
    C.hashed, C.mshrs, C.merges = spec.hashed_index, spec.mshrs, spec.mshr_merges
    waiters = spec.mshrs * spec.mshr_merges
    C.mshr_rows = spec.mshrs + HOST_LINE_BYTES // L1MSHR.itemsize
    C.waiter_rows = waiters + HOST_LINE_BYTES // WAITER.itemsize
    C.store_latency = spec.latency_cycles if spec.stores_take_pipeline and spec.cached_loads else 0
    C.latency, C.evict_on_write = spec.latency_cycles, spec.write_hit == "evict"
    C.p_sms = arena.table("l1.sms", L1SM, count)
    rows = count * C.sets * spec.ways
    C.p_tags = arena.table("l1.tags", np.int64, rows)
    arena.arrays["l1.tags"][:] = -1
    C.p_lines = arena.table("l1.lines", LINE, rows)
    C.p_mshrs = arena.table("l1.mshrs", L1MSHR, count * C.mshr_rows)
    C.p_waiters = arena.table("l1.waiters", WAITER, count * C.waiter_rows)
    C.at_fill = spec.allocate == "fill"
    if C.at_fill:
        C.p_buckets = arena.table("l1.buckets", np.int64, count * BUCKETS)
        arena.arrays["l1.buckets"][:] = -1
        C.p_mshr_lines = arena.table("l1.mshr_lines", np.int64, count * C.mshr_rows)
    for name, used in (("l1.mshrs", spec.mshrs), ("l1.waiters", waiters)):
        free = arena.arrays[name]["next"].reshape(count, -1)
        free[:, :used] = np.append(np.arange(1, used), -1)


def ways_beside(machine: Machine, shared_bytes: int) -> int:
    """Ways that are left to the cache where the CTAs on an SM take so much shared memory out of its array.

    CUDA C++ programming guide, compute capability 7.0: shared memory is 0, 8, 16, 32, 64 or 96 KB, and the driver
    chooses. Here it takes the smallest that holds the CTAs. Later GPUs have other steps above 64 KB (8.0: 100, 132,
    164); their largest is right.
    """
    spec = machine.l1
    if not spec.holds_shared or shared_bytes == 0:
        return spec.ways
    taken = min(max(SMALLEST_SHARED, 1 << (shared_bytes - 1).bit_length()), machine.sm.shared_bytes)
    return max(1, spec.ways * (spec.size_bytes - taken) // spec.size_bytes)


@compiled(i64, S_t, i64, i64)
def l1_first_row(S, sm, line):
    """Row of the first way of a line's set. The hash is Fermi's (Nugteren et al., HPCA 2014)."""
    C = l1(S)
    index = line
    if C.hashed != 0:
        index ^= ((line >> 6) & 7) | (((line >> 10) & 1) << 3) | (((line >> 12) & 1) << 4)
    return (sm * C.sets + remainder(index, C.sets, C.sets_shift)) * C.ways


@compiled(void, S_t, i64, i64)
def l1_prefetch(S, sm, line):
    """The load-store unit will ask for this line next."""
    C = l1(S)
    prefetch_set(C.p_tags, C.p_lines, l1_first_row(S, sm, line), C.ways)


@compiled(i64, S_t, i64, i64)
def l1_without_place(S, sm, line):
    """MSHR of a line that is on its way and has no place yet, or -1."""
    C = l1(S)
    mshr = load(C.p_buckets, sm * BUCKETS + (line & (BUCKETS - 1)))
    while mshr >= 0 and load(C.p_mshr_lines, sm * C.mshr_rows + mshr) != line:
        mshr = np.int64(l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr).next)
    return mshr


@compiled(void, S_t, i64, i64, i64)
def l1_enter_bucket(S, sm, mshr, line):
    """A line without a place is on its way."""
    C = l1(S)
    bucket = sm * BUCKETS + (line & (BUCKETS - 1))
    M = l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr)
    M.pending = 0
    M.next = load(C.p_buckets, bucket)
    store(C.p_buckets, bucket, mshr)
    store(C.p_mshr_lines, sm * C.mshr_rows + mshr, line)


@compiled(void, S_t, i64, i64)
def l1_leave_bucket(S, sm, mshr):
    """The line has its place, or needs none any more."""
    C = l1(S)
    base = sm * C.mshr_rows
    bucket = sm * BUCKETS + (load(C.p_mshr_lines, base + mshr) & (BUCKETS - 1))
    following = np.int64(l1_mshr(C.p_mshrs, base + mshr).next)
    at = load(C.p_buckets, bucket)
    if at == mshr:
        store(C.p_buckets, bucket, following)
        return
    while l1_mshr(C.p_mshrs, base + at).next != mshr:
        at = np.int64(l1_mshr(C.p_mshrs, base + at).next)
    l1_mshr(C.p_mshrs, base + at).next = following


@compiled(void, S_t, i64, i64)
def l1_give_place(S, sm, mshr):
    """The first data of a line is here: it takes the place of the least recently used one, unless all are on the way."""
    C = l1(S)
    M = l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr)
    line = load(C.p_mshr_lines, sm * C.mshr_rows + mshr)
    row = victim_row(C.p_lines, l1_first_row(S, sm, line), C.ways)
    if row < 0:
        return
    l1_leave_bucket(S, sm, mshr)
    M.row = row
    store(C.p_tags, row, line)
    L = line_row(C.p_lines, row)
    L.valid = 0
    L.pending = M.pending
    L.mshr = mshr
    C.stamp += 1
    L.used = C.stamp


@compiled(i64, S_t, i64)
def l1_request_flits(S, sectors):
    """Flits that the request for some sectors takes: they enter the network together, in one packet or one for each."""
    packets = np.int64(1) if noc(S).request_sectors == 4 else popcount(sectors)
    return packets * sector_flits(S, np.int64(0))


@compiled(void, S_t, i64, i64, i64, i64)
def l1_request(S, sm, mshr, line, sectors_and_array):
    """Send the read request of a miss: one packet, or one per sector."""
    N = noc(S)
    left = sectors_and_array & ALL_SECTORS
    while left != 0:
        part = left if N.request_sectors == 4 else left & -left
        left ^= part
        index = packet_new(S)
        P = packet(N.p_packets, index)
        P.kind = READ_CACHED
        P.line = line
        P.sectors = part
        P.partial = 0
        P.port = sm
        P.token = mshr
        P.destination = slice_near(S, sm, line)
        P.flits = sector_flits(S, np.int64(0))
        P.separate = 0
        P.ready = S.now + 1  # the pipeline in front of the tags is charged when the data is back: see l1_fill
        P.array = sectors_and_array >> 4
        noc_inject(S, REQUESTS, sm, index)


@compiled(void, S_t, i64, i64, i64, i64)
def l1_add_waiter(S, sm, mshr, op_index, sectors):
    C = l1(S)
    U = l1_sm(C.p_sms, sm)
    M = l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr)
    node = U.waiter_free
    W = l1_waiter(C.p_waiters, sm * C.waiter_rows + node)
    U.waiter_free = W.next
    W.op = op_index
    W.sectors = sectors
    W.next = M.first
    M.first = node
    M.waiters += 1
    memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + op_index).remaining += 1


@compiled(i64, S_t, i64, i64, i64)
def l1_in_flight(S, sm, line, row):
    """MSHR of a line of which sectors are on the way, or -1; `row` as found, or -1."""
    C = l1(S)
    if row >= 0:
        L = line_row(C.p_lines, row)
        return np.int64(L.mshr) if L.pending != 0 else np.int64(-1)
    return l1_without_place(S, sm, line) if C.at_fill != 0 else np.int64(-1)


@compiled(i64, S_t, i64, i64, i64)
def l1_merges_full(S, sm, mshr, asked):
    """1 if as many accesses as may wait on one sector wait on one of these; on the line, where lines come whole."""
    C = l1(S)
    if C.whole_line != 0:
        return np.int64(1)
    for sector in range(4):
        waiting = np.int64(0)
        node = np.int64(l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr).first)
        while node >= 0:
            W = l1_waiter(C.p_waiters, sm * C.waiter_rows + node)
            waiting += (asked & W.sectors) >> sector & 1
            node = np.int64(W.next)
        if waiting >= C.merges:
            return np.int64(1)
    return np.int64(0)


@compiled(void, S_t, i64, i64, i64)
def l1_take_mshr(S, sm, line, row):
    """The free MSHR is now this line's, whose place is `row`, or -1."""
    C = l1(S)
    U = l1_sm(C.p_sms, sm)
    mshr = np.int64(U.mshr_free)
    M = l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr)
    U.mshr_free = M.next
    U.mshrs_used += 1
    if U.mshrs_used > C.l1_mshr_peak:
        C.l1_mshr_peak = U.mshrs_used
    M.row = row
    M.first = -1
    M.waiters = 0
    if row < 0:
        l1_enter_bucket(S, sm, mshr, line)
        return
    L = line_row(C.p_lines, row)
    L.pending = 0
    L.mshr = mshr


@compiled(i64, S_t, i64, i64, i64, i64)
def l1_read_miss(S, sm, op_index, transaction, row):
    """A load whose sectors are not all valid; `row` as found, or -1. 0, or why it was refused."""
    C = l1(S)
    U = l1_sm(C.p_sms, sm)
    line = transaction >> 16
    asked = transaction & ALL_SECTORS
    valid = np.int64(line_row(C.p_lines, row).valid) if row >= 0 else np.int64(0)
    mshr = l1_in_flight(S, sm, line, row)
    if U.waiter_free < 0:
        return np.int64(NO_MERGE)
    if mshr >= 0:
        M = l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr)
        if M.waiters >= C.merges and l1_merges_full(S, sm, mshr, asked) != 0:
            return np.int64(NO_MERGE)
        pending = np.int64(line_row(C.p_lines, row).pending) if row >= 0 else np.int64(M.pending)
        new = asked & ((valid | pending) ^ ALL_SECTORS)
        # A merged miss asks for room as if each sector were a packet, also where one packet carries them all.
        if new != 0 and noc_room(S, REQUESTS, sm, max(popcount(new), l1_request_flits(S, new))) == 0:
            return np.int64(NO_NETWORK)
    else:
        fresh = row < 0
        if fresh and C.at_fill == 0:
            first = l1_first_row(S, sm, line)
            row = victim_row(C.p_lines, first, C.ways)
            if row < 0:
                U.full_set = first
                return np.int64(NO_LINE)
        mshr = np.int64(U.mshr_free)
        if mshr < 0:
            return np.int64(NO_MSHR)
        new = (np.int64(ALL_SECTORS) if C.whole_line != 0 else asked) & (valid ^ ALL_SECTORS)
        if noc_room(S, REQUESTS, sm, l1_request_flits(S, new)) == 0:
            return np.int64(NO_NETWORK)
        if fresh and row >= 0:
            store(C.p_tags, row, line)
            line_row(C.p_lines, row).valid = 0
        l1_take_mshr(S, sm, line, row)
    array = memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + op_index).array
    if new != 0:
        C.l1_read_misses += 1
        array_row(S.p_arrays, array).l1_read_misses += 1
        if row >= 0:
            line_row(C.p_lines, row).pending |= new
        else:
            l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr).pending |= new
        l1_request(S, sm, mshr, line, new | (array << 4))
    else:
        C.l1_read_merged += 1
    if row >= 0:
        C.stamp += 1
        line_row(C.p_lines, row).used = C.stamp
    l1_add_waiter(S, sm, mshr, op_index, asked & (valid ^ ALL_SECTORS))
    return np.int64(0)


@compiled(i64, S_t, i64, i64)
def l1_still_refuses(S, sm, reason):
    """1 if an access that was refused for this reason would certainly be refused again.

    A miss that found all lines of its set on their way, or no MSHR, stays one until that changes: while the load-store
    unit stands still, nobody else brings its line. Room to merge may have come; only looking tells.
    """
    C = l1(S)
    U = l1_sm(C.p_sms, sm)
    if reason == NO_MSHR:
        return np.int64(U.mshr_free < 0)
    if reason != NO_LINE:
        return np.int64(0)
    for row in range(U.full_set, U.full_set + C.ways):
        if line_row(C.p_lines, row).pending == 0:
            return np.int64(0)
    return np.int64(1)


@compiled(i64, S_t, i64, i64, i64)
def l1_load(S, sm, op_index, transaction):
    """One line transaction of a load: 0, or why it was refused."""
    C = l1(S)
    line = transaction >> 16
    row = find_row(C.p_tags, l1_first_row(S, sm, line), C.ways, line)
    if row >= 0:
        L = line_row(C.p_lines, row)
        if (transaction & ALL_SECTORS & (L.valid ^ ALL_SECTORS)) == 0:
            C.l1_read_accesses += 1
            C.l1_read_hits += 1
            C.stamp += 1
            L.used = C.stamp
            E = memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + op_index)
            E.done_at = S.now + C.latency + sms(S).lsu_latency
            return np.int64(0)
    refused = l1_read_miss(S, sm, op_index, transaction, row)
    if refused == 0:
        C.l1_read_accesses += 1
    return refused


@compiled(void, S_t, i64, i64)
def l1_store(S, sm, line):
    """A store passes by: update or evict the line if it is here."""
    C = l1(S)
    C.l1_write_accesses += 1
    row = find_row(C.p_tags, l1_first_row(S, sm, line), C.ways, line)
    if row < 0:
        return
    C.l1_write_hits += 1
    L = line_row(C.p_lines, row)
    if C.evict_on_write != 0 and L.pending == 0:
        store(C.p_tags, row, np.int64(-1))
        L.used = 0
        L.valid = 0


@compiled(void, S_t, i64, i64, i64)
def l1_fill(S, sm, mshr, sectors):
    """A reply: sectors arrive; loads that have all they asked for go on.

    An access looks at the tags in the cycle in which it leaves the load-store unit, and spends the pipeline's
    latency at the end: the total is the same, and an MSHR is held only while its line is in flight.
    """
    C = l1(S)
    done_at = S.now + C.latency + sms(S).lsu_latency
    U = l1_sm(C.p_sms, sm)
    M = l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr)
    if M.row < 0:
        l1_give_place(S, sm, mshr)
    if M.row >= 0:
        L = line_row(C.p_lines, M.row)
        L.valid |= sectors
        L.pending &= sectors ^ ALL_SECTORS
        left = np.int64(L.pending)
    else:  # handed on, not kept
        M.pending &= sectors ^ ALL_SECTORS
        left = np.int64(M.pending)
    C.l1_fills += popcount(sectors)
    if C.whole_line != 0:
        if left != 0:
            return  # a whole-line cache hands data on when the line is complete
        sectors = np.int64(ALL_SECTORS)
    previous = np.int64(-1)
    node = M.first
    base = sm * C.waiter_rows
    while node >= 0:
        W = l1_waiter(C.p_waiters, base + node)
        following = W.next
        W.sectors &= sectors ^ ALL_SECTORS
        if W.sectors == 0:
            if previous < 0:
                M.first = following
            else:
                l1_waiter(C.p_waiters, base + previous).next = following
            M.waiters -= 1
            W.next = U.waiter_free
            U.waiter_free = node
            E = memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + W.op)
            E.remaining -= 1
            E.done_at = done_at
            if E.issued != 0 and E.remaining == 0:
                wheel_push(S, done_at, EV_OP_DONE, sm, W.op)
        else:
            previous = node
        node = following
    if left == 0:
        if M.row < 0:
            l1_leave_bucket(S, sm, mshr)
        M.next = U.mshr_free
        U.mshr_free = mshr
        U.mshrs_used -= 1
