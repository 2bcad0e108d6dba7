"""Places of lines in the L1: the set of a line, the line that makes room, and lines on their way without a place.

When a line gets its place is the machine's choice (`allocate`):

- "miss": at once. A set whose lines are all in flight refuses further misses, and what it held is gone before the new
  data is there. The line in flight is found through the tags, so the MSHR needs no search.
- "fill": when its first data comes. Until then the old data stays, and only the MSHR knows of the line.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import find_row, line_row, prefetch_set, victim_row
from warpsift.engine.core.division import remainder
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, store
from warpsift.engine.l1.l1_state import BUCKETS, l1, l1_mshr


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


@compiled(i64, S_t, i64, i64, i64)
def l1_in_flight(S, sm, line, row):
    """MSHR of a line of which sectors are on the way, or -1; `row` as found, or -1."""
    C = l1(S)
    if row >= 0:
        L = line_row(C.p_lines, row)
        return np.int64(L.mshr) if L.pending != 0 else np.int64(-1)
    return l1_without_place(S, sm, line) if C.at_fill != 0 else np.int64(-1)


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
    """The first data of a line is here: it takes a place, unless all are on their way."""
    C = l1(S)
    M = l1_mshr(C.p_mshrs, sm * C.mshr_rows + mshr)
    line = load(C.p_mshr_lines, sm * C.mshr_rows + mshr)
    first = l1_first_row(S, sm, line)
    row = find_row(C.p_tags, first, C.ways, line)
    if row >= 0 and line_row(C.p_lines, row).pending != 0:
        return  # another MSHR fills it
    held = row >= 0  # a leap has touched the line meanwhile
    if not held:
        row = victim_row(C.p_lines, first, C.ways)
    if row < 0:
        return
    l1_leave_bucket(S, sm, mshr)
    M.row = row
    L = line_row(C.p_lines, row)
    if not held:
        store(C.p_tags, row, line)
        L.valid = 0
    L.pending = M.pending
    L.mshr = mshr
    C.stamp += 1
    L.used = C.stamp
