"""The SCU's end of the parts: elements out, packet by packet, and groups in, to the Data Store (docs/iscu.md).

An element joins the open packet of its part. A packet goes when it is full, has waited for `gather_cycles`, or no
element may join it any more; of those that may go, in turn, one per port and cycle. A part has as many elements at once
as it has given credits for, and sends back what the SCU has room for. Both kinds of credit ride in the headers of
packets; half of them owed, they get one of their own.

What lands is taken group by group: the Data Store stays with a part until its group is complete.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import mask_add, mask_next, mask_remove
from warpsift.engine.core.words import load, store
from warpsift.engine.noc.ports import REQUESTS, flits_of, noc, noc_inject, noc_room, packet
from warpsift.engine.noc.unit_packet import unit_packet
from warpsift.units.scu.iscu.iscu_hash import PART_MASK
from warpsift.units.scu.iscu.iscu_state import NOBODY, SOCKET, iscu, part_row
from warpsift.units.scu.scu_state import (
    BUFFER_FULL,
    HASH,
    NETWORK,
    NO_REPLY,
    NOTHING,
    PROBES,
    coalescer,
    scu,
)

# Tokens, low to high. To a part: whether the stream ends (1 bit), elements (15), credits. Back: part (8), whether a
# group ends (1), elements (15), credits.
COUNT_MASK = (1 << 15) - 1
CREDIT_SHIFT = 16
BACK_LAST, BACK_COUNT, BACK_CREDIT = 8, 9, 24


@compiled(i64, S_t)
def send_element(S):
    """Put one element into the open packet of its part; NOTHING, or why that cannot be."""
    U = scu(S)
    B = iscu(S)
    word = load(B.p_trace, U.probes_issued & (PROBES - 1))
    T = part_row(B.p_parts, word & PART_MASK)
    if T.credits == 0:
        return np.int64(BUFFER_FULL)
    if T.open == B.packet_elements:  # its packet waits for the port
        return np.int64(NETWORK)
    store(T.p_queue, T.sent & B.queue_mask, word)
    if T.sent == 0:
        B.active += 1
    if T.open == 0:
        T.opened_at = S.now
        B.opened += 1
    T.sent += 1
    T.open += 1
    T.credits -= 1
    U.probes_issued += 1
    U.probes_evaluated += 1
    U.probes_taken += 1
    return np.int64(NOTHING)


@compiled(i64, S_t, i64, i64)
def packet_due(S, index, ending):
    """1 if a packet for a part should go now."""
    B = iscu(S)
    T = part_row(B.p_parts, index)
    if T.sent == 0 or T.ended != 0:
        return np.int64(1) if T.owed > 0 and 2 * T.owed >= B.landing_share else np.int64(0)
    if ending != 0 or (T.owed > 0 and 2 * T.owed >= B.landing_share):
        return np.int64(1)
    if T.open == 0:
        return np.int64(0)
    full = T.open == B.packet_elements or T.credits == 0
    return np.int64(1) if full or S.now - T.opened_at >= B.gather else np.int64(0)


@compiled(i64, S_t, i64, i64)
def send_packet(S, index, ending):
    """Send what there is for a part; 0 if its port is taken or has no room."""
    B = iscu(S)
    C = coalescer(scu(S).p_coalescers, HASH)
    way = index % C.ports
    if load(B.p_port_sent, way) == S.now:
        return np.int64(0)
    T = part_row(B.p_parts, index)
    flits = flits_of(S, T.open * B.element_bytes)
    port = C.port + way
    if noc_room(S, REQUESTS, port, flits) == 0:
        return np.int64(0)
    made = unit_packet(S, np.int64(REQUESTS), np.int64(SOCKET), port, index, flits)
    packet(noc(S).p_packets, made).token = (T.owed << CREDIT_SHIFT) | (T.open << 1) | ending
    noc_inject(S, np.int64(REQUESTS), port, made)
    store(B.p_port_sent, way, S.now)
    if T.open != 0:
        B.iscu_packets += 1
        B.opened -= 1
    else:
        B.iscu_credit_packets += 1
    T.open = 0
    T.owed = 0
    T.ended |= ending
    return np.int64(1)


@compiled(i64, S_t)
def send_packets(S):
    """Send the packets that are due, in turn; 1 if any went or waits to go."""
    U = scu(S)
    B = iscu(S)
    ending = np.int64(1) if U.final != 0 and U.probes_issued == U.probe_tail else np.int64(0)
    waits = np.int64(0)
    index = B.turn
    for _ in range(B.parts):
        if packet_due(S, index, ending) != 0:
            T = part_row(B.p_parts, index)
            last = ending if T.sent != 0 and T.ended == 0 else np.int64(0)
            waits = np.int64(1)
            if send_packet(S, index, last) == 0:
                U.hash_cause = NETWORK
            else:
                B.turn = index + 1 if index + 1 < B.parts else np.int64(0)
        index = index + 1 if index + 1 < B.parts else np.int64(0)
    return waits


@compiled(i64, S_t, i64)
def store_landed(S, budget):
    """The Data Store takes words of elements that have landed, `budget` at most; 1 if any."""
    U = scu(S)
    B = iscu(S)
    moved = np.int64(0)
    while budget > 0:
        if B.taking == NOBODY:
            B.taking = mask_next(B.p_landed, B.words_of_mask, B.turn)
            if B.taking == NOBODY:
                break
        T = part_row(B.p_parts, B.taking)
        if T.land_head == T.land_tail:  # the rest of the group is on its way
            break
        if T.land_left == 0:
            T.land_left = load(T.p_landed, T.land_head & B.land_mask) >> 1
        budget -= 1
        moved = np.int64(1)
        U.scu_elements_stored += 1
        B.words += 1
        if B.words < B.columns:
            continue
        B.words = 0
        B.stored += 1
        T.owed += 1
        T.land_left -= 1
        if T.land_left == 0:
            last = load(T.p_landed, T.land_head & B.land_mask) & 1
            T.land_head += 1
            if T.land_head == T.land_tail:
                mask_remove(B.p_landed, B.taking)
            if last != 0:
                B.taking = NOBODY
    return moved


@compiled(i64, S_t, i64)
def serve_parts(S, blocked):
    """One core cycle of the SCU's end; 1 if anything moved or must be looked at again in the next one."""
    U = scu(S)
    B = iscu(S)
    U.hash_cause = NOTHING
    moved = np.int64(0) if blocked != 0 else store_landed(S, U.width)
    moved |= send_packets(S)
    if B.opened > 0:
        return np.int64(1)
    if moved == 0 and B.active > 0:
        U.hash_cause = NO_REPLY
    return moved


@compiled(i64, S_t)
def parts_busy(S):
    """1 while elements are with the parts, or on their way there or back."""
    B = iscu(S)
    return np.int64(1) if B.active > 0 or B.opened > 0 or B.stored < B.returned else np.int64(0)


@compiled(void, S_t, i64)
def landed(S, number):
    """A packet of a part has come: elements of a group, and credits."""
    B = iscu(S)
    index = number & 255
    T = part_row(B.p_parts, index)
    T.credits += number >> BACK_CREDIT
    count = (number >> BACK_COUNT) & COUNT_MASK
    if count != 0:
        store(T.p_landed, T.land_tail & B.land_mask, (count << 1) | ((number >> BACK_LAST) & 1))
        T.land_tail += 1
        mask_add(B.p_landed, index)
