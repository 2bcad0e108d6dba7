"""A station beside an L2 slice: it takes probes, holds their sets, decides and answers (docs/scu-slice.md).

    packet of probes -> queue -> sets on their way or here -> decision -> answer
                                   |  ^                        |
                                   v  |                        v
                                 L2 slice: set read, set written back; for grouping, group read, element written

Every access to the slice passes its pipeline and its port as any other; a station makes one per L2 clock. A set is read
once for all probes that come while it is here, decided one after the other, `decision_cycles` apart; it is written back
when nobody wants it any more. A set read later finds what was written, since the slice serves in order. Elements of
groups lie at the slice of their set.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import FOREVER, S_t
from warpsift.engine.core.array_traffic import ARRAYS
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import WORD_SHIFT, mask_add, mask_remove
from warpsift.engine.core.words import ctz, load, popcount, store
from warpsift.engine.l2.l2_queue import l2_full
from warpsift.engine.l2.l2_state import l2
from warpsift.engine.l2.slice_client import slice_packet, to_slice
from warpsift.engine.noc.ports import (
    REPLIES,
    SLICE_READ,
    SLICE_WRITE,
    flits_of,
    noc,
    noc_inject,
    noc_room,
    packet,
    packet_free,
)
from warpsift.engine.noc.unit_packet import unit_packet
from warpsift.hardware import SECTOR_BYTES
from warpsift.units.scu.scu_state import HASH, PROBES, TO_PART, TO_PROBES, coalescer, probe_row, scu
from warpsift.units.scu.scu_state import SOCKET as UNIT
from warpsift.units.scu.slice_state import (
    DECIDING,
    FOR_GROUP,
    FOR_SET,
    FOR_WRITE,
    IDLE,
    MUST_READ,
    MUST_WRITE,
    NOBODY,
    SOCKET,
    scu_slice,
    set_row,
    station_row,
)


# ---- packets ----------------------------------------------------------------------------------------------------
@compiled(void, S_t, i64, i64)
def accept_probes(S, index, first):
    """A packet has come out of the request network: its probes join the queue (credits say that there is room)."""
    B = scu_slice(S)
    T = station_row(B.p_stations, index)
    row = first
    while row != NOBODY:
        store(T.p_queue, T.queue_tail & B.ring_mask, row)
        T.queue_tail += 1
        row = load(B.p_packet_next, row)
    B.scu_slice_packets += 1
    mask_add(B.p_active, index)


@compiled(i64, S_t, i64)
def probe_evicts(S, row):
    """Sectors of the groups that a probe evicts."""
    return probe_row(scu(S).p_probes, row).evict_sectors


@compiled(void, S_t, i64, i64)
def probe_done(S, index, row):
    """A probe is decided, and its group read: if it is the last of its packet, the answer may go."""
    B = scu_slice(S)
    T = station_row(B.p_stations, index)
    first = load(B.p_packet_first, row)
    store(B.p_packet_groups, first, load(B.p_packet_groups, first) + popcount(probe_evicts(S, row)))
    store(B.p_packet_left, first, load(B.p_packet_left, first) - 1)
    if load(B.p_packet_left, first) == 0:
        store(T.p_answers, T.answer_tail & B.ring_mask, first)
        T.answer_tail += 1


@compiled(void, S_t, i64)
def send_answer(S, index):
    """A packet of answers enters the reply network, if it has room: a bit per probe in the header, and a group.

    An answer with several groups is as many packets; the last one tells the SCU that all are there.
    """
    B = scu_slice(S)
    T = station_row(B.p_stations, index)
    if T.answer_head == T.answer_tail:
        return
    first = load(T.p_answers, T.answer_head & B.ring_mask)
    groups = load(B.p_packet_groups, first)
    flits = flits_of(S, np.int64(SECTOR_BYTES) if groups > 0 else np.int64(0))
    if noc_room(S, REPLIES, index, flits) == 0:
        B.scu_slice_stall_answer_cycles += 1
        return
    last = groups <= 1
    store(B.p_packet_groups, first, groups - 1)
    C = coalescer(scu(S).p_coalescers, HASH)
    port = C.port + index % C.ports
    made = unit_packet(S, np.int64(REPLIES), np.int64(UNIT), port, index, flits)
    packet(noc(S).p_packets, made).token = (first << 3) | (TO_PROBES if last else TO_PART)
    noc_inject(S, REPLIES, index, made)
    if last:
        T.answer_head += 1
        B.scu_slice_answers += 1


# ---- decisions --------------------------------------------------------------------------------------------------
@compiled(void, S_t, i64, i64)
def decided(S, index, place):
    """A set's present probe is decided: note what it changes; a group that it evicts is still to be read."""
    B = scu_slice(S)
    E = set_row(B.p_sets, place)
    P = probe_row(scu(S).p_probes, E.present)
    store(B.p_decided, B.decided & (PROBES - 1), E.present)
    B.decided += 1
    B.scu_slice_probes += 1
    E.dirty |= P.write_sectors
    if P.evict_sectors != 0:
        E.stage = MUST_READ
    elif P.second_sectors != 0:
        E.stage = MUST_WRITE
    else:
        E.stage = IDLE
    if P.evict_sectors == 0:
        probe_done(S, index, E.present)


@compiled(void, S_t, i64, i64)
def release(S, index, which):
    """A set leaves its station; the SCU's operation ends when none is held."""
    B = scu_slice(S)
    T = station_row(B.p_stations, index)
    T.used &= (np.int64(1) << which) ^ -1
    T.here &= (np.int64(1) << which) ^ -1
    B.held -= 1
    if B.held == 0:
        scu(S).awake = 1


@compiled(void, S_t, i64)
def decide(S, index):
    """End the decisions that are due, let go of clean sets that nobody wants, and begin one decision, the oldest."""
    B = scu_slice(S)
    T = station_row(B.p_stations, index)
    now = l2(S).cycle
    best = np.int64(-1)
    oldest = np.int64(FOREVER)
    here = T.here
    while here != 0:
        which = ctz(here)
        here &= here - 1
        place = index * B.sets_per_slice + which
        E = set_row(B.p_sets, place)
        if E.stage == DECIDING and E.done_at <= now:
            decided(S, index, place)
        if E.stage != IDLE:
            continue
        if E.first == NOBODY:
            if E.dirty == 0:
                release(S, index, which)
        else:
            age = (E.first - scu(S).probes_evaluated) & (PROBES - 1)
            if age < oldest:
                oldest = age
                best = place
    if best < 0:
        return
    E = set_row(B.p_sets, best)
    E.present = E.first
    E.first = load(B.p_set_next, E.present)
    E.stage = DECIDING
    E.done_at = now + B.decision


# ---- the slice --------------------------------------------------------------------------------------------------
@compiled(void, S_t, i64, i64, i64, i64, i64)
def ask_slice(S, index, kind, line, sectors, token):
    """Hand an access to the slice, whose queue has room."""
    made = slice_packet(S, np.int64(SOCKET), kind, line)
    P = packet(noc(S).p_packets, made)
    P.sectors = sectors
    P.token = token
    P.array = ARRAYS - 1
    to_slice(S, index, made)


@compiled(i64, S_t, i64)
def serve_group(S, index):
    """Read the group that a decided probe evicts, then write its element; 1 if an access was made."""
    B = scu_slice(S)
    here = station_row(B.p_stations, index).here
    while here != 0:
        E = set_row(B.p_sets, index * B.sets_per_slice + ctz(here))
        here &= here - 1
        if E.stage < MUST_READ:
            continue
        P = probe_row(scu(S).p_probes, E.present)
        if E.stage == MUST_READ:
            store(B.p_group_left, E.present, P.evict_sectors)
            ask_slice(S, index, np.int64(SLICE_READ), P.evict_line, P.evict_sectors, (E.present << 2) | FOR_GROUP)
            B.scu_slice_group_reads += 1
            E.stage = MUST_WRITE if P.second_sectors != 0 else IDLE
        else:
            ask_slice(S, index, np.int64(SLICE_WRITE), P.second_line, P.second_sectors, np.int64(FOR_WRITE))
            B.scu_slice_group_writes += 1
            E.stage = IDLE
        return np.int64(1)
    return np.int64(0)


@compiled(i64, S_t, i64)
def write_back(S, index):
    """Write back a set that nobody wants any more; 1 if there was one."""
    B = scu_slice(S)
    here = station_row(B.p_stations, index).here
    while here != 0:
        which = ctz(here)
        here &= here - 1
        E = set_row(B.p_sets, index * B.sets_per_slice + which)
        if E.dirty != 0 and E.stage == IDLE and E.first == NOBODY:
            ask_slice(S, index, np.int64(SLICE_WRITE), E.line, E.dirty, np.int64(FOR_WRITE))
            B.scu_slice_set_writes += 1
            release(S, index, which)
            return np.int64(1)
    return np.int64(0)


@compiled(i64, S_t, i64, i64)
def find_set(S, index, row):
    """The place that holds a probe's set, or -1."""
    B = scu_slice(S)
    P = probe_row(scu(S).p_probes, row)
    used = station_row(B.p_stations, index).used
    while used != 0:
        place = index * B.sets_per_slice + ctz(used)
        used &= used - 1
        E = set_row(B.p_sets, place)
        if E.line == P.line and E.sectors == P.sectors:
            return place
    return np.int64(-1)


@compiled(i64, S_t, i64, i64, i64)
def hold_new_set(S, index, row, room):
    """Make a place for a probe's set and ask the slice for it; the place, or -1 if that must wait."""
    B = scu_slice(S)
    T = station_row(B.p_stations, index)
    which = np.int64(0)
    while which < B.sets_per_slice and (T.used >> which) & 1 != 0:
        which += 1
    if which == B.sets_per_slice:
        B.scu_slice_stall_sets_cycles += 1
        return np.int64(-1)
    if room == 0:
        return np.int64(-1)
    P = probe_row(scu(S).p_probes, row)
    place = index * B.sets_per_slice + which
    E = set_row(B.p_sets, place)
    E.line = P.line
    E.sectors = P.sectors
    E.left = P.sectors
    E.first = NOBODY
    E.stage = IDLE
    E.dirty = 0
    if P.sectors != 0:  # a probe that flushes more of a set needs no words of it
        ask_slice(S, index, np.int64(SLICE_READ), P.line, P.sectors, (place << 2) | FOR_SET)
        B.scu_slice_set_reads += 1
    else:
        T.here |= np.int64(1) << which
    T.used |= np.int64(1) << which
    B.held += 1
    return place


@compiled(void, S_t, i64, i64)
def take_probe(S, index, room):
    """The first probe of the queue finds its set here, or makes the slice bring it."""
    B = scu_slice(S)
    T = station_row(B.p_stations, index)
    if T.queue_head == T.queue_tail:
        return
    row = load(T.p_queue, T.queue_head & B.ring_mask)
    place = find_set(S, index, row)
    if place >= 0:
        B.scu_slice_sets_found += 1
    else:
        place = hold_new_set(S, index, row, room)
        if place < 0:
            return
    E = set_row(B.p_sets, place)
    store(B.p_set_next, row, np.int64(NOBODY))
    if E.first == NOBODY:
        E.first = row
    else:
        store(B.p_set_next, E.last, row)
    E.last = row
    T.queue_head += 1


@compiled(void, S_t, i64)
def station_tick(S, index):
    """One L2 clock of a station: one answer, one decision begun, one access to the slice, one probe taken."""
    B = scu_slice(S)
    T = station_row(B.p_stations, index)
    send_answer(S, index)
    decide(S, index)
    room = np.int64(1) if l2_full(S, index) == 0 else np.int64(0)
    if room != 0 and (serve_group(S, index) != 0 or write_back(S, index) != 0):
        room = np.int64(0)  # this clock's access is made
    elif room == 0:
        B.scu_slice_stall_slice_cycles += 1
    take_probe(S, index, room)
    if T.here == 0 and T.queue_head == T.queue_tail and T.answer_head == T.answer_tail:
        mask_remove(B.p_active, index)


@compiled(void, S_t)
def stations_tick(S):
    B = scu_slice(S)
    for word in range(B.words):
        active = load(B.p_active, word)
        while active != 0:
            station_tick(S, (word << WORD_SHIFT) | ctz(active))
            active &= active - 1


@compiled(void, S_t, i64, i64)
def slice_answers(S, index, which):
    """The slice brings sectors of a set or of a group, or has taken a write."""
    B = scu_slice(S)
    P = packet(noc(S).p_packets, which)
    kind = P.token & 3
    number = P.token >> 2
    if kind == FOR_SET:
        E = set_row(B.p_sets, number)
        E.left &= np.int64(P.sectors) ^ -1
        if E.left == 0:
            station_row(B.p_stations, index).here |= np.int64(1) << (number - index * B.sets_per_slice)
    elif kind == FOR_GROUP:
        left = load(B.p_group_left, number) & (np.int64(P.sectors) ^ -1)
        store(B.p_group_left, number, left)
        if left == 0:
            probe_done(S, index, number)
    packet_free(S, which)
    mask_add(B.p_active, index)
