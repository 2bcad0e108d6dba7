"""Filtering/Grouping, step 1, when the hash table is probed at the L2 slices: the SCU's end (docs/scu-slice.md).

A probe is a few words: ID, set, and cost or element number. It goes to the slice that holds its set; probes of one
cycle for one slice share a packet while they fit a flit. A slice has so many probes at once as it has given credits
for. Answers come in any order and are taken in the order of the elements: the decision, or the group that the probe has
evicted, for which room was set aside when the probe was sent.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, popcount, store
from warpsift.engine.l2.address_map import slice_of
from warpsift.engine.noc.ports import REQUESTS, flits_of, noc, noc_inject, noc_room, packet
from warpsift.engine.noc.unit_packet import unit_packet
from warpsift.units.scu.scu_state import (
    BUFFER_FULL,
    CLEARING,
    HASH,
    NETWORK,
    NO_REPLY,
    NOTHING,
    PROBES,
    coalescer,
    probe_row,
    scu,
)
from warpsift.units.scu.scu_trace import BY_EVICTED
from warpsift.units.scu.slice_state import NOBODY, scu_slice
from warpsift.units.scu.slice_state import SOCKET as STATIONS

FLUSH_ROWS = 4  # a probe that flushes a set brings back a line of entries


@compiled(i64, S_t, i64)
def rows_wanted(S, row):
    """Rows of the answer buffer that a probe may need."""
    U = scu(S)
    P = probe_row(U.p_probes, row)
    flushes = U.follows == BY_EVICTED and P.write_sectors == 0
    return np.int64(FLUSH_ROWS) if flushes else np.int64(1)


@compiled(void, S_t, i64, i64)
def open_packet(S, owner, number):
    """Send a packet with one probe to a slice (the port has room); probes of the same cycle may join it."""
    B = scu_slice(S)
    C = coalescer(scu(S).p_coalescers, HASH)
    port = C.port + owner % C.ports  # by slice, so that probes of one set stay in order
    index = unit_packet(S, np.int64(REQUESTS), np.int64(STATIONS), port, owner, flits_of(S, B.probe_bytes))
    packet(noc(S).p_packets, index).token = number & (PROBES - 1)
    noc_inject(S, REQUESTS, port, index)
    store(B.p_open_at, owner, S.now)
    store(B.p_open_first, owner, number & (PROBES - 1))
    store(B.p_open_last, owner, number & (PROBES - 1))
    store(B.p_open_probes, owner, np.int64(1))
    store(B.p_packet_left, number & (PROBES - 1), np.int64(1))
    store(B.p_packet_groups, number & (PROBES - 1), np.int64(0))


@compiled(void, S_t, i64, i64)
def join_packet(S, owner, number):
    B = scu_slice(S)
    first = load(B.p_open_first, owner)
    store(B.p_packet_next, load(B.p_open_last, owner), number & (PROBES - 1))
    store(B.p_open_last, owner, number & (PROBES - 1))
    store(B.p_open_probes, owner, load(B.p_open_probes, owner) + 1)
    store(B.p_packet_left, first, load(B.p_packet_left, first) + 1)


@compiled(i64, S_t)
def send_probe(S):
    """Send one element's probe to its slice; NOTHING, or why that cannot be."""
    U = scu(S)
    B = scu_slice(S)
    if U.cleared < U.clear_lines:
        return np.int64(CLEARING)
    row = U.probes_issued & (PROBES - 1)
    rows = rows_wanted(S, row)
    if B.rows_held > 0 and B.rows_held + rows > B.answer_rows:
        return np.int64(BUFFER_FULL)
    owner = slice_of(S, probe_row(U.p_probes, row).line)
    if load(B.p_credits, owner) == 0:
        return np.int64(BUFFER_FULL)
    joins = load(B.p_open_at, owner) == S.now and load(B.p_open_probes, owner) < B.packet_probes
    if not joins:
        C = coalescer(U.p_coalescers, HASH)
        if noc_room(S, REQUESTS, C.port + owner % C.ports, flits_of(S, B.probe_bytes)) == 0:
            return np.int64(NETWORK)
    store(B.p_packet_next, row, np.int64(NOBODY))
    store(B.p_answered, row, np.int64(0))
    if joins:
        join_packet(S, owner, U.probes_issued)
    else:
        open_packet(S, owner, U.probes_issued)
    store(B.p_packet_first, row, load(B.p_open_first, owner))
    store(B.p_credits, owner, load(B.p_credits, owner) - 1)
    B.rows_held += rows
    U.probes_issued += 1
    U.probes_taken += 1
    U.scu_hash_probes += 1
    return np.int64(NOTHING)


@compiled(void, S_t, i64)
def answers_arrived(S, first):
    """The answer to a packet has come: its probes are decided, and its slice may have as many more."""
    U = scu(S)
    B = scu_slice(S)
    owner = slice_of(S, probe_row(U.p_probes, first).line)
    row = first
    while row != NOBODY:
        store(B.p_answered, row, np.int64(1))
        store(B.p_credits, owner, load(B.p_credits, owner) + 1)
        row = load(B.p_packet_next, row)


@compiled(i64, S_t)
def take_answers(S):
    """Take the answers of up to `probe_rate` probes, in order; 1 if any."""
    U = scu(S)
    B = scu_slice(S)
    moved = np.int64(0)
    U.hash_cause = NOTHING
    for _ in range(U.probe_rate):
        if U.probes_evaluated >= U.probes_issued:
            break
        row = U.probes_evaluated & (PROBES - 1)
        if load(B.p_answered, row) == 0:
            U.hash_cause = NO_REPLY
            break
        P = probe_row(U.p_probes, row)
        if P.evict_sectors != 0:
            groups = popcount(P.evict_sectors)
            if U.groups_held + groups > U.evicted_groups:
                U.hash_cause = NETWORK  # the Data Store must place earlier groups first
                break
            store(U.p_evictions, U.evictions_sent & (PROBES - 1), groups << 4)
            U.evictions_sent += 1
            U.evictions_read += 1
            U.groups_held += groups
            U.scu_hash_evictions += 1
        B.rows_held -= rows_wanted(S, row)
        U.probes_evaluated += 1
        moved = np.int64(1)
    return moved
