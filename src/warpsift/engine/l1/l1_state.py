"""Tables of the L1 data caches: lines, MSHRs, accesses that wait for a line, and lines that have no place yet."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import HOST_LINE_BYTES, Arena, accessor, component
from warpsift.engine.core.cache_sets import LINE
from warpsift.engine.core.division import shift_of
from warpsift.engine.core.settings import SETTING
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
        ("sets", SETTING),
        ("sets_shift", SETTING),  # division.shift_of
        ("ways", SETTING),
        ("cached_loads", SETTING),
        ("tags_per_cycle", SETTING),
        ("whole_line", SETTING),
        ("hashed", SETTING),
        ("mshrs", SETTING),
        ("mshr_rows", SETTING),  # rows of the tables per SM: see sm_state.WARPS
        ("waiter_rows", SETTING),
        ("merges", SETTING),
        ("latency", SETTING),
        ("store_latency", SETTING),
        ("evict_on_write", SETTING),
        ("stamp", np.int64),
        ("p_sms", np.int64),
        ("p_tags", np.int64),
        ("p_lines", np.int64),
        ("p_mshrs", np.int64),
        ("p_waiters", np.int64),
        ("at_fill", SETTING),
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
