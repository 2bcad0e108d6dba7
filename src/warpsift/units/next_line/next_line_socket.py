"""What the engine calls in the next-line prefetcher: a read at a slice, an L2 clock, an answer of a slice."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.array_traffic import ARRAYS
from warpsift.engine.core.cache_sets import ALL_SECTORS
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import WORD_SHIFT, mask_add, mask_any, mask_remove
from warpsift.engine.core.words import ctz, load, store
from warpsift.engine.l2.address_map import slice_of
from warpsift.engine.l2.l2_queue import l2_full
from warpsift.engine.l2.l2_state import l2
from warpsift.engine.l2.slice_client import slice_packet, to_slice
from warpsift.engine.noc.ports import SLICE_READ, noc, packet, packet_free
from warpsift.engine.unit_socket import ARRIVE, DRAINED, L2_READ, PENDING, TICK, sockets, unit_calls, with_bit
from warpsift.units.next_line.next_line_state import NO_LINE, SOCKET, next_line, slice_row


@compiled(i64, S_t, i64, i64)
def tag_place(S, slice_index, line):
    """Where the tag of a line lies in its slice's table (a hash, so that a slice's lines use all of it)."""
    return ((line >> 4) ^ line) % next_line(S).tag_entries


@compiled(void, S_t, i64, i64)
def ask_for(S, line, delay):
    """Put a line into the queue of its slice, unless it was prefetched a short time ago."""
    U = next_line(S)
    owner = slice_of(S, line)
    Q = slice_row(U.p_slices, owner)
    place = tag_place(S, owner, line)
    U.next_line_lookups += 1
    if load(Q.p_tags, place) == line:
        U.next_line_known += 1
        return
    if Q.tail - Q.head >= U.queue_entries:
        U.next_line_dropped += 1
        return
    store(Q.p_lines, Q.tail & U.ring_mask, line)
    store(Q.p_ready, Q.tail & U.ring_mask, l2(S).cycle + 1 + delay)
    Q.tail += 1
    store(Q.p_tags, place, line)
    mask_add(U.p_waiting, owner)


@compiled(void, S_t, i64, i64)
def observe(S, slice_index, line_and_missed):
    """A slice has served a read: a miss, or the first use of a prefetched line, asks for the lines behind it."""
    U = next_line(S)
    line = line_and_missed >> 1
    Q = slice_row(U.p_slices, slice_index)
    place = tag_place(S, slice_index, line)
    U.next_line_lookups += 1
    used = load(Q.p_tags, place) == line
    if used:
        U.next_line_useful += 1
        store(Q.p_tags, place, np.int64(NO_LINE))
    elif line_and_missed & 1 == 0:
        return
    U.next_line_triggers += 1
    for k in range(1, U.degree + 1):
        if (line + k) // U.page_lines != line // U.page_lines:
            return
        delay = np.int64(0) if slice_of(S, line + k) == slice_index else U.crossing
        ask_for(S, line + k, delay)


@compiled(void, S_t, i64)
def prefetch_one(S, index):
    """A slice with room takes the first line of its queue."""
    U = next_line(S)
    Q = slice_row(U.p_slices, index)
    if load(Q.p_ready, Q.head & U.ring_mask) > l2(S).cycle or l2_full(S, index) != 0:
        return
    request = slice_packet(S, np.int64(SOCKET), np.int64(SLICE_READ), load(Q.p_lines, Q.head & U.ring_mask))
    P = packet(noc(S).p_packets, request)
    P.sectors = ALL_SECTORS
    P.token = 0
    P.array = ARRAYS - 1
    to_slice(S, index, request)
    U.next_line_prefetches += 1
    U.in_flight += 4  # sectors
    Q.head += 1
    if Q.head == Q.tail:
        mask_remove(U.p_waiting, index)


@compiled(void, S_t)
def prefetch_tick(S):
    """One L2 clock of every slice that has lines to ask for."""
    U = next_line(S)
    for word in range(l2(S).words):
        waiting = load(U.p_waiting, word)
        while waiting != 0:
            prefetch_one(S, (word << WORD_SHIFT) | ctz(waiting))
            waiting &= waiting - 1


@unit_calls("the next-line prefetcher", SOCKET)
def next_line_calls(S, what, a, b):
    U = next_line(S)
    if what == L2_READ:
        observe(S, a, b)
    elif what == TICK:
        prefetch_tick(S)
    elif what == ARRIVE:
        sectors = np.int64(packet(noc(S).p_packets, b).sectors)
        U.in_flight -= (sectors & 1) + ((sectors >> 1) & 1) + ((sectors >> 2) & 1) + ((sectors >> 3) & 1)
        U.next_line_arrivals += 1
        packet_free(S, b)
    elif what == PENDING:
        return U.in_flight
    waiting = mask_any(U.p_waiting, l2(S).words)
    if what == DRAINED:
        return np.int64(1) if waiting == 0 and U.in_flight == 0 else np.int64(0)
    X = sockets(S)
    X.awake = with_bit(X.awake, np.int64(SOCKET), waiting)
    return np.int64(0)
