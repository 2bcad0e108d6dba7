"""A part beside an L2 slice, L2 clock by L2 clock: queue, filter and hash, groups on their way back (docs/iscu.md).

    packet of elements -> queue -> filter -> hash -> emptied entries -> packets to the SCU

The hash takes one element per clock. One that empties an entry waits until that has room among the groups, and takes a
clock more for each word of values that is read; merging without values reads none. Which elements are dropped, merged
or push out what is known (iscu_hash.py). No access to the slice is made: all storage is the part's own.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import WORD_SHIFT, mask_add, mask_remove
from warpsift.engine.core.words import ctz, load, store
from warpsift.engine.l2.l2_state import l2
from warpsift.engine.noc.ports import REPLIES, flits_of, noc, noc_inject, noc_room, packet
from warpsift.engine.noc.unit_packet import unit_packet
from warpsift.units.scu.iscu.iscu_hash import EMPTIED_MASK, EMPTIED_SHIFT, FILTERED_SHIFT, MERGED_SHIFT, WORDS_SHIFT
from warpsift.units.scu.iscu.iscu_sender import BACK_COUNT, BACK_CREDIT, BACK_LAST, COUNT_MASK, CREDIT_SHIFT
from warpsift.units.scu.iscu.iscu_state import iscu, part_row
from warpsift.units.scu.scu_state import HASH, TO_GROUP, coalescer, scu
from warpsift.units.scu.scu_state import SOCKET as UNIT


@compiled(void, S_t, i64, i64)
def packet_came(S, index, token):
    """A packet has come out of the request network: elements (credits say that there is room), credits, or the end."""
    B = iscu(S)
    T = part_row(B.p_parts, index)
    T.arrived += (token >> 1) & COUNT_MASK
    T.landing += token >> CREDIT_SHIFT
    T.end_came |= token & 1
    mask_add(B.p_busy, index)


# ---- the way back -----------------------------------------------------------------------------------------------
@compiled(i64, S_t, i64, i64, i64)
def send_back(S, index, count, last):
    """A packet of so many elements, 0: of credits alone, enters the reply network; 0 if that has no room."""
    B = iscu(S)
    T = part_row(B.p_parts, index)
    flits = flits_of(S, count * B.element_bytes)
    if noc_room(S, REPLIES, index, flits) == 0:
        B.iscu_stall_reply_cycles += 1
        return np.int64(0)
    C = coalescer(scu(S).p_coalescers, HASH)
    made = unit_packet(S, np.int64(REPLIES), np.int64(UNIT), C.port + index % C.ports, index, flits)
    number = ((T.taken - T.told) << BACK_CREDIT) | (count << BACK_COUNT) | (last << BACK_LAST) | index
    packet(noc(S).p_packets, made).token = (number << 3) | TO_GROUP
    noc_inject(S, np.int64(REPLIES), index, made)
    T.told = T.taken
    return np.int64(1)


@compiled(void, S_t, i64)
def answer(S, index):
    """Send a packet of the first group, or of credits if half of the queue is owed."""
    B = iscu(S)
    T = part_row(B.p_parts, index)
    if T.ready_head == T.ready_tail:
        if T.taken > T.told and 2 * (T.taken - T.told) >= B.queue_elements and send_back(S, index, 0, 0) != 0:
            B.iscu_credit_packets += 1
        return
    if T.group_left == 0:
        T.group_left = load(T.p_ready, T.ready_head & B.ready_mask)
    count = min(T.group_left, B.packet_elements)
    if T.landing < count:
        if 2 * T.landing < B.landing_share:  # more than half is with the SCU, which will say so when it is free
            B.iscu_stall_landing_cycles += 1
            return
        count = T.landing
    last = np.int64(1) if count == T.group_left else np.int64(0)
    if send_back(S, index, count, last) == 0:
        return
    B.iscu_group_packets += 1
    B.iscu_returned += count
    B.returned += count
    T.landing -= count
    T.group_left -= count
    T.ready_head += last


# ---- the hash ---------------------------------------------------------------------------------------------------
@compiled(i64, S_t, i64, i64)
def empty_entry(S, index, word):
    """An entry becomes a group, if there is room; 0 if there is none."""
    B = iscu(S)
    T = part_row(B.p_parts, index)
    count = (word >> EMPTIED_SHIFT) & EMPTIED_MASK
    if count == 0:
        return np.int64(1)
    if T.ready_tail - T.ready_head >= B.ready_groups:
        B.iscu_stall_ready_cycles += 1
        return np.int64(0)
    store(T.p_ready, T.ready_tail & B.ready_mask, count)
    T.ready_tail += 1
    B.iscu_groups += 1
    return np.int64(1)


@compiled(void, S_t, i64)
def work(S, index):
    """The hash takes the next element; behind the last one, it empties the next entry."""
    B = iscu(S)
    T = part_row(B.p_parts, index)
    now = l2(S).cycle
    if T.hash_free_at > now:
        return
    if T.taken < T.arrived:
        word = load(T.p_queue, T.taken & B.queue_mask)
        if empty_entry(S, index, word) == 0:
            return
        T.taken += 1
        T.hash_free_at = now + 1 + (word >> WORDS_SHIFT)
        B.iscu_elements += 1
        B.iscu_filter_probes += B.filters
        B.iscu_filtered += (word >> FILTERED_SHIFT) & 1
        B.iscu_merged += (word >> MERGED_SHIFT) & 1
    elif T.end_came != 0 and T.flush_at < T.flush_end:
        word = load(B.p_flush, T.flush_at)
        if empty_entry(S, index, word) != 0:
            T.flush_at += 1
            T.hash_free_at = now + max(np.int64(1), word >> WORDS_SHIFT)


@compiled(void, S_t, i64)
def part_tick(S, index):
    """One L2 clock of a part: a packet back, an element taken or an entry emptied."""
    B = iscu(S)
    T = part_row(B.p_parts, index)
    answer(S, index)
    work(S, index)
    if T.taken < T.arrived or T.ready_head != T.ready_tail:
        return
    if T.end_came != 0:
        if T.flush_at < T.flush_end:
            return
        T.end_came = 0
        B.active -= 1
        scu(S).awake = 1
    elif 2 * (T.taken - T.told) >= B.queue_elements:
        return
    mask_remove(B.p_busy, index)


@compiled(void, S_t)
def parts_tick(S):
    B = iscu(S)
    for word in range(B.words_of_mask):
        busy = load(B.p_busy, word)
        while busy != 0:
            part_tick(S, (word << WORD_SHIFT) | ctz(busy))
            busy &= busy - 1
