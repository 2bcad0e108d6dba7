"""Tag Unit and Line Data of one memory unit: which lines are outstanding or held, and who waits for them.

A lookup that finds its line joins the list of registers there: temporal coalescing, across the threads of a warp and
across warps. A miss takes a tag and reads the line from the L2. Lines of active bits stay after they were served, as
further bits may be set in them, and are written back when their tag or line is needed, or at the end of the kernel.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import ALL_SECTORS
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, or32, popcount, store
from warpsift.engine.l2.l2_queue import l2_full
from warpsift.engine.l2.l2_state import l2
from warpsift.engine.l2.slice_client import slice_packet, to_slice
from warpsift.engine.noc.ports import SLICE_READ, SLICE_WRITE, noc, packet
from warpsift.units.mff.mff_state import SOCKET, mff, tag_row, unit_row

LINE_BITS = 7


@compiled(i64, S_t, i64, i64)
def bucket_of(S, unit, line):
    M = mff(S)
    return unit * (M.hash_mask + 1) + ((line ^ (line >> 9)) & M.hash_mask)


@compiled(i64, S_t, i64, i64)
def find_tag(S, unit, line):
    """The tag of a line, or -1. The hardware compares all tags at once; the hash is the model's alone."""
    M = mff(S)
    tag = load(M.p_buckets, bucket_of(S, unit, line))
    while tag >= 0 and tag_row(M.p_tags, tag).line != line:
        tag = tag_row(M.p_tags, tag).next
    return tag


@compiled(i64, S_t, i64, i64)
def new_tag(S, unit, line):
    """Take a free tag (there is one) for a line."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    tag = unit * M.tags + U.tag_free
    T = tag_row(M.p_tags, tag)
    U.tag_free = T.next
    U.tags_used += 1
    M.tags_used += 1
    if U.tags_used > M.mff_tag_peak:
        M.mff_tag_peak = U.tags_used
    bucket = bucket_of(S, unit, line)
    T.next = load(M.p_buckets, bucket)
    store(M.p_buckets, bucket, tag)
    T.line = line
    T.requested = 0
    T.arrived = 0
    T.dirty = 0
    T.holds_line = 0
    T.queued = 0
    T.first = -1
    T.last = -1
    return tag


@compiled(void, S_t, i64, i64)
def take_line(S, unit, tag):
    """Give a tag a Line Data entry (there is one)."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    tag_row(M.p_tags, tag).holds_line = 1
    U.lines_used += 1
    M.lines_used += 1
    if U.lines_used > M.mff_line_peak:
        M.mff_line_peak = U.lines_used


@compiled(void, S_t, i64, i64)
def release_tag(S, unit, tag):
    """Free a tag and its Line Data entry."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    T = tag_row(M.p_tags, tag)
    bucket = bucket_of(S, unit, T.line)
    other = load(M.p_buckets, bucket)
    if other == tag:
        store(M.p_buckets, bucket, T.next)
    else:
        while tag_row(M.p_tags, other).next != tag:
            other = tag_row(M.p_tags, other).next
        tag_row(M.p_tags, other).next = T.next
    if T.holds_line != 0:
        U.lines_used -= 1
        M.lines_used -= 1
    T.next = U.tag_free
    U.tag_free = tag - unit * M.tags
    U.tags_used -= 1
    M.tags_used -= 1


@compiled(void, S_t, i64, i64)
def may_be_evicted(S, unit, tag):
    """Append a line of active bits, now idle, to those that may be evicted (the oldest goes first)."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    T = tag_row(M.p_tags, tag)
    T.newer = -1
    T.older = U.evict_newest
    if U.evict_newest >= 0:
        tag_row(M.p_tags, U.evict_newest).newer = tag
    else:
        U.evict_oldest = tag
    U.evict_newest = tag


@compiled(void, S_t, i64, i64)
def may_not_be_evicted(S, unit, tag):
    """Take a line out of that list again: it is in use."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    T = tag_row(M.p_tags, tag)
    if T.older >= 0:
        tag_row(M.p_tags, T.older).newer = T.newer
    else:
        U.evict_oldest = T.newer
    if T.newer >= 0:
        tag_row(M.p_tags, T.newer).older = T.older
    else:
        U.evict_newest = T.older


@compiled(i64, S_t, i64)
def l2_takes(S, unit):
    """1 if the slice can take a packet of ours in this L2 cycle (one per cycle)."""
    if unit_row(mff(S).p_units, unit).l2_injected == l2(S).cycle or l2_full(S, unit) != 0:
        return np.int64(0)
    return np.int64(1)


@compiled(void, S_t, i64, i64, i64, i64)
def send_to_l2(S, unit, tag, kind_and_sectors, array):
    """Send a read or a write of a tag's line to the slice (it takes it)."""
    M = mff(S)
    N = noc(S)
    index = slice_packet(S, np.int64(SOCKET), kind_and_sectors >> 4, tag_row(M.p_tags, tag).line)
    P = packet(N.p_packets, index)
    P.sectors = kind_and_sectors & ALL_SECTORS
    P.token = tag
    P.array = array
    unit_row(M.p_units, unit).l2_injected = l2(S).cycle
    to_slice(S, unit, index)


@compiled(void, S_t, i64, i64, i64)
def read_sectors(S, unit, tag, sectors_and_array):
    """Ask the L2 for sectors of a tag's line."""
    sectors = sectors_and_array & ALL_SECTORS
    tag_row(mff(S).p_tags, tag).requested |= sectors
    send_to_l2(S, unit, tag, (np.int64(SLICE_READ) << 4) | sectors, sectors_and_array >> 4)


@compiled(i64, S_t, i64)
def evict_one(S, unit):
    """Write the oldest idle line of active bits back and free it; 0 if there is none, or the L2 cannot take it."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    tag = U.evict_oldest
    if tag < 0 or l2_takes(S, unit) == 0:
        return np.int64(0)
    T = tag_row(M.p_tags, tag)
    may_not_be_evicted(S, unit, tag)
    for word in range(32):
        bits = load(M.p_line_bits, tag * 32 + word)
        if bits != 0:
            or32(M.memory + (T.line << LINE_BITS) + 4 * word, bits)
            store(M.p_line_bits, tag * 32 + word, np.int64(0))
    M.mff_lines_written += 1
    M.mff_line_accesses += popcount(T.dirty)
    send_to_l2(S, unit, tag, (np.int64(SLICE_WRITE) << 4) | T.dirty, M.active_array)
    release_tag(S, unit, tag)
    return np.int64(1)
