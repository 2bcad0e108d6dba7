"""The SCU's side of the crossbar: packets, the coalescing units, the vector buffers, and replies."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.array_traffic import ARRAYS
from warpsift.engine.core.cache_sets import ALL_SECTORS
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, popcount, store
from warpsift.engine.l2.address_map import slice_of
from warpsift.engine.noc.ports import (
    REQUESTS,
    UNIT_READ,
    UNIT_WRITE,
    flits_of,
    noc,
    noc_inject,
    noc_room,
    packet,
    packet_new,
)
from warpsift.units.scu.iscu.iscu_sender import landed
from warpsift.units.scu.scu_remote import answers_arrived
from warpsift.units.scu.scu_state import (
    DATA,
    FIFO_FULL,
    HASH,
    IN_FLIGHT,
    NETWORK,
    PROBES,
    REQUESTS_KEPT,
    SOCKET,
    TO_DATA,
    TO_EVICTION,
    TO_GROUP,
    TO_HASH,
    TO_PROBES,
    TO_STORE,
    TO_VECTOR,
    VECTOR_RING,
    coalescer,
    request_row,
    scu,
    vector_row,
)
from warpsift.units.scu.scu_trace import BY_INPUT, BY_OUTPUT

READING = -1  # in place of a mask of partly written sectors


@compiled(i64, S_t, i64, i64, i64, i64, i64)
def unit_send(S, unit, line, sectors, partial, token):
    """Send a read (`partial` = READING) or a write through a coalescing unit's port; 0 if the port has no room."""
    C = coalescer(scu(S).p_coalescers, unit)
    port = C.port if C.ports == 1 else C.port + line % C.ports
    data_bytes = np.int64(0) if partial == READING else 32 * popcount(sectors)
    flits = flits_of(S, data_bytes)
    if noc_room(S, REQUESTS, port, flits) == 0:
        return np.int64(0)
    index = packet_new(S)
    P = packet(noc(S).p_packets, index)
    P.kind = UNIT_READ if partial == READING else UNIT_WRITE
    P.line = line
    P.sectors = sectors
    P.partial = np.int64(0) if partial == READING else partial
    P.port = port
    P.token = token
    P.destination = slice_of(S, line)
    P.flits = flits
    P.separate = 0
    P.ready = S.now + 1
    P.array = ARRAYS - 1
    P.unit = SOCKET
    noc_inject(S, REQUESTS, port, index)
    return np.int64(1)


@compiled(i64, S_t, i64, i64, i64)
def request_read(S, unit, line, sectors):
    """Serial number of a new request for these sectors; or -(1 + why there is none)."""
    U = scu(S)
    C = coalescer(U.p_coalescers, unit)
    if C.in_flight >= C.limit:
        return np.int64(-1 - IN_FLIGHT)
    serial = C.issued
    if unit_send(S, unit, line, sectors, np.int64(READING), (serial << 3) | C.reply_kind) == 0:
        return np.int64(-1 - NETWORK)
    Q = request_row(C.p_requests, serial & (REQUESTS_KEPT - 1))
    Q.line = line
    Q.sectors = sectors
    Q.left = sectors
    Q.place = U.ring_tail
    C.issued += 1
    C.in_flight += 1
    U.scu_coalescer_lookups += 1
    if unit == HASH:
        U.scu_hash_reads += 1
    else:
        U.scu_read_requests += 1
        U.ring_tail += popcount(sectors)
    return serial


@compiled(i64, S_t, i64, i64)
def coalesce_read(S, line, sectors):
    """Serial number of the request that brings these sectors of data, new or pending; or -(1 + why there is none).

    Each sector asked for takes the next place in Data Fetch's ring. Requests that may be merged with keep theirs; one
    that began further back than `window_sectors` has given them up.
    """
    U = scu(S)
    C = coalescer(U.p_coalescers, DATA)
    if U.whole_lines != 0:
        sectors = np.int64(ALL_SECTORS)
    oldest = max(U.first_request, C.issued - C.window)
    free = U.ring_sectors - (U.ring_tail - U.ring_free)
    serial = C.issued - 1
    while serial >= oldest:
        Q = request_row(C.p_requests, serial & (REQUESTS_KEPT - 1))
        if U.ring_tail - Q.place > U.window_sectors:
            break
        if Q.line == line and Q.left != 0:
            missing = sectors & (Q.sectors ^ ALL_SECTORS)
            if missing != 0:  # the same entry asks for more of its line
                if popcount(missing) > free:
                    return np.int64(-1 - FIFO_FULL)
                if unit_send(S, np.int64(DATA), line, missing, np.int64(READING), (serial << 3) | C.reply_kind) == 0:
                    return np.int64(-1 - NETWORK)
                Q.sectors |= missing
                Q.left |= missing
                U.ring_tail += popcount(missing)
            U.scu_reads_merged += 1
            U.scu_coalescer_lookups += 1
            return serial
        serial -= 1
    if popcount(sectors) > free:
        return np.int64(-1 - FIFO_FULL)
    return request_read(S, np.int64(DATA), line, sectors)


@compiled(i64, S_t)
def window_place(S):
    """Where in Data Fetch's ring the sectors begin that later elements may still want."""
    U = scu(S)
    C = coalescer(U.p_coalescers, DATA)
    oldest = C.issued - C.window
    begin = np.int64(0)
    if oldest >= U.first_request:
        begin = request_row(C.p_requests, oldest & (REQUESTS_KEPT - 1)).place
    return max(begin, U.ring_tail - U.window_sectors)


@compiled(i64, S_t, i64, i64)
def request_done(S, unit, serial):
    """1 if a request (or none, -1) has brought all its sectors."""
    if serial < 0:
        return np.int64(1)
    C = coalescer(scu(S).p_coalescers, unit)
    return np.int64(1) if request_row(C.p_requests, serial & (REQUESTS_KEPT - 1)).left == 0 else np.int64(0)


@compiled(i64, S_t, i64, i64, i64)
def vectors_ready(S, which_input, which_output, survivor):
    """1 if every vector's entry for an element has arrived; lines of which the Address Generator has all are let go."""
    U = scu(S)
    ready = np.int64(1)
    for index in range(U.vectors):
        V = vector_row(U.p_vectors, index)
        number = survivor
        if V.by == BY_INPUT:
            number = which_input
        elif V.by == BY_OUTPUT:
            number = which_output
        if number < 0 or V.lines == 0:
            continue
        needed = min((V.bit_offset + (number + 1) * V.bits - 1) >> 10, V.lines - 1)
        V.consumed = max(V.consumed, min(V.arrived, (V.bit_offset + (number + 1 + V.ahead) * V.bits - 1) >> 10))
        if V.arrived <= needed:
            ready = np.int64(0)
    return ready


@compiled(i64, S_t)
def vector_wanted(S):
    """The vector whose next line may be asked for now, of several the one with the fewest lines ahead; -1: none."""
    U = scu(S)
    C = coalescer(U.p_coalescers, DATA)
    best = np.int64(-1)
    if C.in_flight >= C.limit:
        return best
    fewest = U.vector_share
    for index in range(U.vectors):
        V = vector_row(U.p_vectors, index)
        ahead = V.requested - V.consumed
        if V.requested < V.lines and ahead < fewest:
            fewest = ahead
            best = np.int64(index)
    return best


@compiled(i64, S_t)
def fetch_vectors(S):
    """Ask for at most one line of one vector; 1 if one was sent."""
    U = scu(S)
    best = vector_wanted(S)
    if best < 0:
        return np.int64(0)
    V = vector_row(U.p_vectors, best)
    sectors = np.int64(ALL_SECTORS)
    if V.requested == 0:
        sectors &= ALL_SECTORS << (V.bit_offset >> 8)
    if V.requested == V.lines - 1:
        sectors &= ALL_SECTORS >> (3 - (((V.end_bit - 1) >> 8) & 3))
    token = (((V.requested << 3) | best) << 3) | TO_VECTOR
    if unit_send(S, np.int64(DATA), V.first_line + V.requested, sectors, np.int64(READING), token) == 0:
        U.data_waits = 1
        return np.int64(0)
    store(V.p_left, V.requested & (VECTOR_RING - 1), sectors)
    V.requested += 1
    coalescer(U.p_coalescers, DATA).in_flight += 1
    U.scu_vector_requests += 1
    return np.int64(1)


@compiled(void, S_t, i64, i64)
def vector_arrived(S, number, sectors):
    U = scu(S)
    V = vector_row(U.p_vectors, number & 7)
    line = number >> 3
    left = load(V.p_left, line & (VECTOR_RING - 1)) & (sectors ^ ALL_SECTORS)
    store(V.p_left, line & (VECTOR_RING - 1), left)
    if left == 0:
        coalescer(U.p_coalescers, DATA).in_flight -= 1
    while V.arrived < V.requested and load(V.p_left, V.arrived & (VECTOR_RING - 1)) == 0:
        V.arrived += 1


@compiled(void, S_t, i64, i64)
def eviction_arrived(S, number, sectors):
    """Evicted groups come back in any order, in parts; they are placed in the output in the order of eviction."""
    U = scu(S)
    store(U.p_evictions, number, load(U.p_evictions, number) & ~sectors)
    while U.evictions_read < U.evictions_sent:
        if load(U.p_evictions, U.evictions_read & (PROBES - 1)) & ALL_SECTORS != 0:
            break
        U.evictions_read += 1


@compiled(void, S_t, i64, i64)
def scu_reply(S, token, sectors):
    """A reply has come out of the crossbar."""
    U = scu(S)
    kind = token & 7
    number = token >> 3
    if kind == TO_DATA or kind == TO_HASH:  # noqa: SIM109 (a tuple costs time when compiled)
        C = coalescer(U.p_coalescers, DATA if kind == TO_DATA else HASH)
        Q = request_row(C.p_requests, number & (REQUESTS_KEPT - 1))
        Q.left &= sectors ^ ALL_SECTORS
        if Q.left != 0:
            return  # nobody waits for a part of it
        C.in_flight -= 1
    elif kind == TO_VECTOR:
        vector_arrived(S, number, sectors)
    elif kind == TO_EVICTION:
        eviction_arrived(S, number, sectors)
    elif kind == TO_STORE:
        U.writes_pending -= 1
    elif kind == TO_PROBES:
        answers_arrived(S, number)
    elif kind == TO_GROUP:
        landed(S, number)
    U.awake = 1
