"""The memory fast-forward unit, cycle by cycle: issue engines, work registers, lookups, words (MFF paper, section 5).

In each L2 clock
  - every issue engine with a job allocates the registers of one thread in one line of C, in order, while there are
    enough free ones, and hands them to the tag unit of that line's memory unit (with `ports = "engine"` it is then
    busy for a clock per register);
  - every memory unit takes one packet from its L2 slice into Line Data, updates `updates_of_unit` registers that
    wait for data (C state: read the C entry, become V state, go to the tag unit of the word wanted; V state: send
    the word to the core, or set the bit), sends waiting completion messages, and makes `lookups_of_unit` tag lookups.
Whoever lacks a register, a tag, a line or room waits, and those behind wait too. The C entries, the words and the bits
are those of the device memory itself.

    mff_state.py  records            mff_command.py  the SM's side       mff_tags.py  Tag Unit and Line Data
    mff_issue.py  issue engines      mff_words.py    registers with data
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import ALL_SECTORS
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import WORD_SHIFT, mask_add, mask_remove
from warpsift.engine.core.words import ctz, load, popcount
from warpsift.engine.l2.l2_state import l2
from warpsift.engine.noc.ports import SLICE_WRITE, noc, packet, packet_free
from warpsift.units.mff.mff_issue import count_occupancy, issue_tick
from warpsift.units.mff.mff_state import (
    C_STATE,
    NO_L2,
    NO_LINE_DATA,
    NO_STALL,
    NO_TAG,
    V_STATE,
    command_row,
    mff,
    register_row,
    tag_row,
    unit_row,
)
from warpsift.units.mff.mff_tags import (
    evict_one,
    find_tag,
    l2_takes,
    may_not_be_evicted,
    new_tag,
    read_sectors,
    take_line,
)
from warpsift.units.mff.mff_words import send_messages, serve


@compiled(void, S_t, i64, i64)
def queue_serve(S, unit, tag):
    """A tag whose data is there and for which registers wait."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    T = tag_row(M.p_tags, tag)
    if T.queued != 0 or T.first < 0:
        return
    T.queued = 1
    T.serve_next = -1
    if U.serve_last < 0:
        U.serve_first = tag
    else:
        tag_row(M.p_tags, U.serve_last).serve_next = tag
    U.serve_last = tag


@compiled(void, S_t, i64, i64)
def mff_arrival(S, unit, index):
    """The slice hands over a packet."""
    M = mff(S)
    N = noc(S)
    P = packet(N.p_packets, index)
    if P.kind == SLICE_WRITE:
        packet_free(S, index)
        return
    U = unit_row(M.p_units, unit)
    P.next = -1
    if U.arrival_last < 0:
        U.arrival_first = index
    else:
        packet(N.p_packets, U.arrival_last).next = index
    U.arrival_last = index
    mask_add(M.p_active, unit)


@compiled(i64, S_t, i64)
def sector_of_held_line(S, unit):
    """No line is free: the packet in front of the first one that belongs to a line already begun, or -1.

    Such a packet must pass those that wait for a line, or lines begun would never become complete and free.
    """
    M = mff(S)
    N = noc(S)
    previous = unit_row(M.p_units, unit).arrival_first
    index = packet(N.p_packets, previous).next
    while index >= 0:
        if tag_row(M.p_tags, packet(N.p_packets, index).token).holds_line != 0:
            return previous
        previous = index
        index = packet(N.p_packets, index).next
    return np.int64(-1)


@compiled(void, S_t, i64)
def take_arrival(S, unit):
    """One packet goes into Line Data, if there is a line for it."""
    M = mff(S)
    N = noc(S)
    U = unit_row(M.p_units, unit)
    index = U.arrival_first
    if index < 0:
        return
    previous = np.int64(-1)
    if tag_row(M.p_tags, packet(N.p_packets, index).token).holds_line == 0:
        if U.lines_used < M.line_entries or evict_one(S, unit) != 0:
            take_line(S, unit, packet(N.p_packets, index).token)
        else:
            M.mff_stall_line_cycles += 1
            U.stalled = NO_LINE_DATA
            previous = sector_of_held_line(S, unit)
            if previous < 0:
                return
            index = packet(N.p_packets, previous).next
    P = packet(N.p_packets, index)
    if previous < 0:
        U.arrival_first = P.next
    else:
        packet(N.p_packets, previous).next = P.next
    if P.next < 0:
        U.arrival_last = previous
    tag = P.token
    T = tag_row(M.p_tags, tag)
    T.arrived |= P.sectors
    M.mff_line_accesses += popcount(P.sectors)
    packet_free(S, index)
    if T.arrived == T.requested:
        queue_serve(S, unit, tag)


@compiled(i64, S_t, i64, i64, i64)
def tag_for_miss(S, unit, register, sectors):
    """A tag for a line that has none, with its read sent; -1 if something is lacking."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    R = register_row(M.p_registers, register)
    K = command_row(M.p_commands, R.command)
    if U.tag_free < 0 and evict_one(S, unit) == 0:
        M.mff_stall_tag_cycles += 1
        U.stalled = NO_TAG
        return np.int64(-1)
    if M.at_issue != 0 and U.lines_used >= M.line_entries and evict_one(S, unit) == 0:
        M.mff_stall_line_cycles += 1
        U.stalled = NO_LINE_DATA
        return np.int64(-1)
    if l2_takes(S, unit) == 0:
        M.mff_stall_l2_cycles += 1
        U.stalled = NO_L2
        return np.int64(-1)
    tag = new_tag(S, unit, R.address >> 7)
    tag_row(M.p_tags, tag).warp = K.warp
    if M.at_issue != 0:
        take_line(S, unit, tag)
    array = K.array
    if R.state == C_STATE:
        M.mff_c_reads += 1
    elif K.scatter != 0:
        M.mff_active_reads += 1
        array = M.active_array
    else:
        M.mff_v_reads += 1
        array = M.values_array
    read_sectors(S, unit, tag, sectors | (array << 4))
    return tag


@compiled(i64, S_t, i64, i64, i64, i64)
def tag_for_hit(S, unit, tag, register, sectors):
    """A tag that a lookup has found, with sectors that it lacks sent for; -1 if the L2 cannot take that."""
    M = mff(S)
    T = tag_row(M.p_tags, tag)
    R = register_row(M.p_registers, register)
    K = command_row(M.p_commands, R.command)
    lacking = sectors & (T.requested ^ ALL_SECTORS)
    idle = T.first < 0  # a line of active bits that may be evicted
    if lacking != 0:
        if l2_takes(S, unit) == 0:
            M.mff_stall_l2_cycles += 1
            unit_row(M.p_units, unit).stalled = NO_L2
            return np.int64(-1)
        array = K.array
        if R.state == V_STATE:
            array = M.active_array if K.scatter != 0 else M.values_array
        read_sectors(S, unit, tag, lacking | (array << 4))
    if idle:
        may_not_be_evicted(S, unit, tag)
        M.mff_hits_resident += 1
    elif T.warp == K.warp:
        M.mff_hits_same_warp += 1
    else:
        M.mff_hits_other_warp += 1
    return tag


@compiled(i64, S_t, i64)
def look_up(S, unit):
    """One tag lookup: the first group of registers joins its line. 0 if it must wait."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    register = U.lookup_first
    if register < 0:
        return np.int64(0)
    R = register_row(M.p_registers, register)
    if R.ready > l2(S).cycle:
        return np.int64(0)
    sectors = np.int64(ALL_SECTORS)
    if M.whole_line == 0:
        low = (R.address >> 5) & 3
        high = (register_row(M.p_registers, R.last).address >> 5) & 3
        sectors = ((np.int64(2) << high) - 1) & (np.int64(-1) << low)
    tag = find_tag(S, unit, R.address >> 7)
    if tag < 0:
        tag = tag_for_miss(S, unit, register, sectors)
    else:
        tag = tag_for_hit(S, unit, tag, register, sectors)
    if tag < 0:
        return np.int64(0)
    M.mff_tag_searches += 1
    if R.state == C_STATE:
        M.mff_c_lookups += 1
    else:
        M.mff_v_lookups += 1
    U.lookup_first = R.queue
    if U.lookup_first < 0:
        U.lookup_last = -1
    T = tag_row(M.p_tags, tag)
    if T.last < 0:
        T.first = register
    else:
        register_row(M.p_registers, T.last).next = register
    T.last = R.last
    if T.arrived == T.requested:
        queue_serve(S, unit, tag)
    return np.int64(1)


@compiled(void, S_t, i64)
def unit_tick(S, unit):
    """One L2 cycle of one memory unit."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    U.stalled = NO_STALL
    take_arrival(S, unit)
    send_messages(S, unit, serve(S, unit))
    lookups = M.lookups
    while lookups > 0 and look_up(S, unit) != 0:
        lookups -= 1
    if M.flushing != 0:
        evict_one(S, unit)
    busy = max(U.arrival_first, U.serve_first, U.message_first, U.lookup_first)
    if M.flushing != 0:
        busy = max(busy, U.evict_oldest)
    if busy < 0:
        mask_remove(M.p_active, unit)


@compiled(void, S_t)
def mff_tick(S):
    """One L2 cycle."""
    M = mff(S)
    count_occupancy(S)
    issue_tick(S)
    for word in range(M.words):
        active = load(M.p_active, word)
        while active != 0:
            unit_tick(S, (word << WORD_SHIFT) | ctz(active))
            active &= active - 1


@compiled(i64, S_t)
def mff_drained(S):
    """At the end of a kernel: 1 if nothing is left; otherwise lines of active bits begin to be written back."""
    M = mff(S)
    if M.commands_used != 0:
        return np.int64(0)
    if M.tags_used == 0:
        M.flushing = 0
        return np.int64(1)
    if M.flushing == 0:
        M.flushing = 1
        for unit in range(M.units):
            if unit_row(M.p_units, unit).evict_oldest >= 0:
                mask_add(M.p_active, unit)
    return np.int64(0)
