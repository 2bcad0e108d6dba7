"""The memory fast-forward unit, cycle by cycle: issue engines, work registers, lookups, words (MFF paper, section 5).

In each L2 clock
  - every issue engine with a job allocates the registers of one thread in one line of C, in order, while there are
    enough free ones, and hands them to the tag unit of that line's memory unit;
  - every memory unit takes one packet from its L2 slice into Line Data, updates `updates_per_cycle` registers that
    wait for data (C state: read the C entry, become V state, go to the tag unit of the word wanted; V state: send
    the word to the core, or set the bit), sends waiting completion messages, and makes `lookups_per_cycle` tag lookups.
Whoever lacks a register, a tag, a line or room waits, and those behind wait too. The C entries, the words and the bits
are those of the device memory itself.

    mff_state.py  records     mff_command.py  the SM's side     mff_tags.py  Tag Unit and Line Data
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.l2 import l2, slice_of
from warpsift.engine.layout import S_t, ctz, i64, kernel, load, popcount, store, void
from warpsift.engine.mff_command import command_free
from warpsift.engine.mff_state import (
    C_STATE,
    NO_L2,
    NO_LINE_DATA,
    NO_REPLY,
    NO_STALL,
    NO_TAG,
    THREADS,
    V_STATE,
    command_row,
    engine_row,
    load32,
    mff,
    register_row,
    tag_row,
    unit_row,
)
from warpsift.engine.mff_tags import (
    ALL_SECTORS,
    evict_one,
    find_tag,
    l2_takes,
    may_be_evicted,
    may_not_be_evicted,
    new_tag,
    read_sectors,
    release_tag,
    take_line,
)
from warpsift.engine.noc import (
    MFF_MESSAGE,
    MFF_WORD,
    MFF_WRITE,
    REPLIES,
    flits_of,
    noc,
    noc_inject,
    noc_room,
    packet,
    packet_free,
    packet_new,
)


@kernel(void, S_t)
def count_occupancy(S):
    """Bring the integrals of what is in use up to now, before it changes."""
    M = mff(S.p_mff, 0)
    elapsed = l2(S.p_l2, 0).cycle - M.counted_cycle
    M.counted_cycle = l2(S.p_l2, 0).cycle
    if elapsed <= 0 or M.jobs_used == 0:
        return
    M.mff_active_cycles += elapsed
    M.mff_job_cycles += elapsed * M.jobs_used
    M.mff_register_cycles += elapsed * M.registers_used
    M.mff_tag_cycles += elapsed * M.tags_used
    M.mff_line_cycles += elapsed * M.lines_used


# ---- job entries ------------------------------------------------------------------------------------------------
@kernel(i64, S_t)
def mff_full(S):
    """1 if a command would not find a free job entry."""
    M = mff(S.p_mff, 0)
    return np.int64(1) if M.jobs_used >= M.engines * M.jobs_per_engine or M.waiting_first >= 0 else np.int64(0)


@kernel(void, S_t, i64)
def start_job(S, command):
    """Give a command a job entry (there is one), in the next engine that has room."""
    M = mff(S.p_mff, 0)
    engine = M.next_engine
    while engine_row(M.p_engines, engine).jobs >= M.jobs_per_engine:
        engine = engine + 1 if engine + 1 < M.engines else np.int64(0)
    M.next_engine = engine + 1 if engine + 1 < M.engines else 0
    G = engine_row(M.p_engines, engine)
    K = command_row(M.p_commands, command)
    K.engine = engine
    K.next = -1
    G.jobs += 1
    M.jobs_used += 1
    M.mff_jobs += 1
    M.mff_words += K.words_left
    if K.scatter != 0:
        M.mff_scatter_commands += 1
    else:
        M.mff_gather_commands += 1
    if G.last < 0:
        G.first = command
    else:
        command_row(M.p_commands, G.last).next = command
    G.last = command
    M.engines_active |= np.int64(1) << engine


@kernel(void, S_t, i64)
def mff_accept(S, command):
    """A command has come out of the request network."""
    M = mff(S.p_mff, 0)
    count_occupancy(S)
    if mff_full(S) == 0:
        start_job(S, command)
        return
    command_row(M.p_commands, command).next = -1
    if M.waiting_last < 0:
        M.waiting_first = command
    else:
        command_row(M.p_commands, M.waiting_last).next = command
    M.waiting_last = command


@kernel(void, S_t, i64)
def end_job(S, command):
    """All words of a command are through: its job entry goes to the next."""
    M = mff(S.p_mff, 0)
    engine_row(M.p_engines, command_row(M.p_commands, command).engine).jobs -= 1
    M.jobs_used -= 1
    waiting = M.waiting_first
    if waiting >= 0:
        M.waiting_first = command_row(M.p_commands, waiting).next
        if M.waiting_first < 0:
            M.waiting_last = -1
        start_job(S, waiting)


# ---- issue engines ----------------------------------------------------------------------------------------------
@kernel(void, S_t, i64)
def queue_lookup(S, register):
    """Registers (a group linked by `next`) go to the tag unit of their line."""
    M = mff(S.p_mff, 0)
    R = register_row(M.p_registers, register)
    R.queue = -1
    R.ready = l2(S.p_l2, 0).cycle + M.crossing
    unit = slice_of(S, R.address >> 7)
    U = unit_row(M.p_units, unit)
    if U.lookup_last < 0:
        U.lookup_first = register
    else:
        register_row(M.p_registers, U.lookup_last).queue = register
    U.lookup_last = register
    M.active |= np.int64(1) << unit


@kernel(i64, S_t, i64)
def issue_thread(S, command):
    """Allocate the registers of the next thread of a job, up to the end of a line of C; 0 if they are too few."""
    M = mff(S.p_mff, 0)
    K = command_row(M.p_commands, command)
    entry = load(M.p_entries, command * THREADS + K.entry)
    words = (entry & 255) - K.offset
    address = K.edges_address + 4 * ((entry >> 16) + K.offset)
    count = min(words, (128 - (address & 127)) >> 2, M.registers)
    if M.registers - M.registers_used < count:
        return np.int64(0)
    group = M.register_free
    register = group
    for k in range(count):
        register = M.register_free
        R = register_row(M.p_registers, register)
        M.register_free = R.next
        R.state = C_STATE
        R.command = command
        R.lane = (entry >> 8) & 255
        R.a_offset = K.offset + k
        R.address = address + 4 * k
    register_row(M.p_registers, register).next = -1
    register_row(M.p_registers, group).last = register
    M.registers_used += count
    M.mff_register_accesses += count
    if M.registers_used > M.mff_register_peak:
        M.mff_register_peak = M.registers_used
    K.offset += count
    if K.offset == entry & 255:
        K.offset = 0
        K.entry += 1
    queue_lookup(S, group)
    return np.int64(1)


@kernel(void, S_t)
def issue_tick(S):
    """Every engine issues for one thread; when registers run out the engines behind wait as well."""
    M = mff(S.p_mff, 0)
    mask = M.engines_active
    while mask != 0:
        engine = ctz(mask)
        mask &= mask - 1
        G = engine_row(M.p_engines, engine)
        K = command_row(M.p_commands, G.first)
        if issue_thread(S, G.first) == 0:
            M.mff_stall_register_cycles += 1
            return
        if K.entry == K.entries:
            G.first = K.next
            if G.first < 0:
                G.last = -1
                M.engines_active ^= np.int64(1) << engine


# ---- memory units: data from the L2 -----------------------------------------------------------------------------
@kernel(void, S_t, i64, i64)
def mff_arrival(S, unit, index):
    """EV_MFF: the slice hands over a packet."""
    M = mff(S.p_mff, 0)
    N = noc(S.p_noc, 0)
    P = packet(N.p_packets, index)
    if P.kind == MFF_WRITE:
        packet_free(S, index)
        return
    U = unit_row(M.p_units, unit)
    P.next = -1
    if U.arrival_last < 0:
        U.arrival_first = index
    else:
        packet(N.p_packets, U.arrival_last).next = index
    U.arrival_last = index
    M.active |= np.int64(1) << unit


@kernel(void, S_t, i64, i64)
def queue_serve(S, unit, tag):
    """A tag whose data is there and for which registers wait."""
    M = mff(S.p_mff, 0)
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


@kernel(i64, S_t, i64)
def sector_of_held_line(S, unit):
    """No line is free: the packet in front of the first one that belongs to a line already begun, or -1.

    Such a packet must pass those that wait for a line, or lines begun would never become complete and free.
    """
    M = mff(S.p_mff, 0)
    N = noc(S.p_noc, 0)
    previous = unit_row(M.p_units, unit).arrival_first
    index = packet(N.p_packets, previous).next
    while index >= 0:
        if tag_row(M.p_tags, packet(N.p_packets, index).token).holds_line != 0:
            return previous
        previous = index
        index = packet(N.p_packets, index).next
    return np.int64(-1)


@kernel(void, S_t, i64)
def take_arrival(S, unit):
    """One packet goes into Line Data, if there is a line for it."""
    M = mff(S.p_mff, 0)
    N = noc(S.p_noc, 0)
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


# ---- memory units: registers ------------------------------------------------------------------------------------
@kernel(void, S_t, i64)
def chase(S, register):
    """C state to V state: the C entry says which word is wanted."""
    M = mff(S.p_mff, 0)
    R = register_row(M.p_registers, register)
    vertex = load32(M.memory + R.address)
    R.state = V_STATE
    R.next = -1
    R.last = register
    if command_row(M.p_commands, R.command).scatter == 0:
        R.address = M.vertex_values + 4 * vertex
    elif M.active_bits != 0:
        R.address = M.active_list + 4 * (vertex >> 5)
        R.bits = np.int64(1) << (vertex & 31)
    else:
        R.address = M.active_list + (vertex & -4)
        R.bits = np.int64(1) << (8 * (vertex & 3))
    queue_lookup(S, register)


@kernel(void, S_t, i64, i64)
def finish_word(S, unit, register):
    """A register's word is sent or its bit set: free it; the last one of a command ends the job."""
    M = mff(S.p_mff, 0)
    R = register_row(M.p_registers, register)
    command = R.command
    R.next = M.register_free
    M.register_free = register
    M.registers_used -= 1
    K = command_row(M.p_commands, command)
    K.words_left -= 1
    if K.words_left > 0:
        return
    if K.scatter != 0:
        end_job(S, command)
        command_free(S, command)
        return
    U = unit_row(M.p_units, unit)
    K.next = -1
    if U.message_last < 0:
        U.message_first = command
    else:
        command_row(M.p_commands, U.message_last).next = command
    U.message_last = command


@kernel(void, S_t, i64, i64, i64, i64)
def send_reply(S, unit, command, kind, register):
    """A word or a completion message enters the reply network at the memory unit's port (there is room)."""
    M = mff(S.p_mff, 0)
    N = noc(S.p_noc, 0)
    K = command_row(M.p_commands, command)
    index = packet_new(S)
    P = packet(N.p_packets, index)
    P.kind = kind
    P.line = 0
    P.sectors = 0
    P.partial = 0
    P.flits = flits_of(S, np.int64(0))
    if kind == MFF_WORD:
        R = register_row(M.p_registers, register)
        P.line = load32(M.memory + R.address)
        P.partial = (R.lane << 8) | R.a_offset
        P.flits = flits_of(S, np.int64(4))
        K.words_under_way += 1
    P.port = K.sm
    P.token = command
    P.destination = K.sm
    P.separate = 0
    P.ready = S.now + 1
    P.array = 0
    M.mff_reply_flits += P.flits
    noc_inject(S, REPLIES, unit, index)


@kernel(i64, S_t, i64, i64, i64)
def serve_register(S, unit, tag, may_reply):
    """Update the first register that waits for a tag's data: 1, 2 if it sent a word, 0 if it could not."""
    M = mff(S.p_mff, 0)
    T = tag_row(M.p_tags, tag)
    register = T.first
    R = register_row(M.p_registers, register)
    following = R.next
    result = np.int64(1)
    if R.state == C_STATE:
        chase(S, register)
    elif command_row(M.p_commands, R.command).scatter != 0:
        word = tag * 32 + ((R.address >> 2) & 31)
        store(M.p_line_bits, word, load(M.p_line_bits, word) | R.bits)
        T.dirty |= np.int64(1) << ((R.address >> 5) & 3)
        M.mff_scatter_bits += 1
        finish_word(S, unit, register)
    else:
        if may_reply == 0 or noc_room(S, REPLIES, unit, flits_of(S, np.int64(4))) == 0:
            return np.int64(0)
        send_reply(S, unit, R.command, np.int64(MFF_WORD), register)
        M.mff_words_sent += 1
        finish_word(S, unit, register)
        result = np.int64(2)
    T.first = following
    M.mff_register_accesses += 1
    M.mff_line_accesses += 1
    return result


@kernel(i64, S_t, i64)
def serve(S, unit):
    """Register updates of one cycle; gives the replies that are left."""
    M = mff(S.p_mff, 0)
    U = unit_row(M.p_units, unit)
    updates = M.updates
    replies = M.replies
    while updates > 0 and U.serve_first >= 0:
        tag = U.serve_first
        T = tag_row(M.p_tags, tag)
        if T.arrived != T.requested:  # a sector was asked for meanwhile: its arrival queues the tag again
            T.queued = 0
            U.serve_first = T.serve_next
            if U.serve_first < 0:
                U.serve_last = -1
            continue
        done = serve_register(S, unit, tag, replies)
        if done == 0:
            if replies > 0:
                M.mff_stall_reply_cycles += 1
                U.stalled = NO_REPLY
            break
        updates -= 1
        if done == 2:
            replies -= 1
        if T.first < 0:
            T.last = -1
            T.queued = 0
            U.serve_first = T.serve_next
            if U.serve_first < 0:
                U.serve_last = -1
            if T.dirty != 0:
                may_be_evicted(S, unit, tag)
            else:
                release_tag(S, unit, tag)
    return replies


@kernel(void, S_t, i64, i64)
def send_messages(S, unit, replies):
    """Completion messages, with what is left of the reply port."""
    M = mff(S.p_mff, 0)
    U = unit_row(M.p_units, unit)
    while replies > 0 and U.message_first >= 0:
        if noc_room(S, REPLIES, unit, flits_of(S, np.int64(0))) == 0:
            U.stalled = NO_REPLY
            return
        command = U.message_first
        U.message_first = command_row(M.p_commands, command).next
        if U.message_first < 0:
            U.message_last = -1
        send_reply(S, unit, command, np.int64(MFF_MESSAGE), np.int64(0))
        M.mff_completion_messages += 1
        end_job(S, command)
        replies -= 1


# ---- memory units: lookups --------------------------------------------------------------------------------------
@kernel(i64, S_t, i64, i64, i64)
def tag_for_miss(S, unit, register, sectors):
    """A tag for a line that has none, with its read sent; -1 if something is lacking."""
    M = mff(S.p_mff, 0)
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


@kernel(i64, S_t, i64, i64, i64, i64)
def tag_for_hit(S, unit, tag, register, sectors):
    """A tag that a lookup has found, with sectors that it lacks sent for; -1 if the L2 cannot take that."""
    M = mff(S.p_mff, 0)
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


@kernel(i64, S_t, i64)
def look_up(S, unit):
    """One tag lookup: the first group of registers joins its line. 0 if it must wait."""
    M = mff(S.p_mff, 0)
    U = unit_row(M.p_units, unit)
    register = U.lookup_first
    if register < 0:
        return np.int64(0)
    R = register_row(M.p_registers, register)
    if R.ready > l2(S.p_l2, 0).cycle:
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


@kernel(void, S_t, i64)
def unit_tick(S, unit):
    """One L2 cycle of one memory unit."""
    M = mff(S.p_mff, 0)
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
        M.active &= (np.int64(1) << unit) ^ -1


# ---- the whole unit ---------------------------------------------------------------------------------------------
@kernel(void, S_t)
def mff_tick(S):
    """One L2 cycle."""
    M = mff(S.p_mff, 0)
    count_occupancy(S)
    issue_tick(S)
    mask = M.active
    while mask != 0:
        unit = ctz(mask)
        mask &= mask - 1
        unit_tick(S, unit)


@kernel(i64, S_t)
def mff_drained(S):
    """At the end of a kernel: 1 if nothing is left; otherwise lines of active bits begin to be written back."""
    M = mff(S.p_mff, 0)
    if M.commands_used != 0:
        return np.int64(0)
    if M.tags_used == 0:
        M.flushing = 0
        return np.int64(1)
    if M.flushing == 0:
        M.flushing = 1
        for unit in range(M.units):
            if unit_row(M.p_units, unit).evict_oldest >= 0:
                M.active |= np.int64(1) << unit
    return np.int64(0)
