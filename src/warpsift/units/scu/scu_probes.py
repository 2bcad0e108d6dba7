"""Filtering/Grouping, step 1: probes of a hash table in memory (SCU paper, sections 4.1 to 4.3, Fig. 8).

The request buffer holds a probe until its set has come; probes are evaluated in order. The buffer is searched by set
number, as it must be so that no probe sees a set before an earlier probe's update; a probe whose set is in the buffer,
or on its way, uses that copy and reads nothing. The copy stays until its last probe is evaluated.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64
from warpsift.engine.core.words import load, popcount, store
from warpsift.units.scu.scu_memory import (
    READING,
    request_done,
    request_read,
    unit_send,
)
from warpsift.units.scu.scu_remote import send_probe, take_answers
from warpsift.units.scu.scu_state import (
    BUFFER_FULL,
    CLEARING,
    HASH,
    IN_FLIGHT,
    NETWORK,
    NO_REPLY,
    NOTHING,
    PROBES,
    TO_EVICTION,
    TO_STORE,
    probe_row,
    scu,
)


@compiled(i64, S_t)
def clear_tick(S):
    """Clear the hash table line by line before its first probe; 1 if a line was sent."""
    U = scu(S)
    moved = np.int64(0)
    while U.cleared < U.clear_lines:
        line = U.clear_line + U.cleared
        if unit_send(S, np.int64(HASH), line, np.int64(15), np.int64(0), np.int64(TO_STORE)) == 0:
            break
        U.cleared += 1
        U.writes_pending += 1
        U.scu_cleared_lines += 1
        moved = np.int64(1)
    return moved


@compiled(i64, S_t, i64, i64)
def write_set(S, line, sectors):
    """Write changed sectors of a set, if there are any; 0 if the crossbar has no room."""
    U = scu(S)
    if sectors == 0:
        return np.int64(1)
    if unit_send(S, np.int64(HASH), line, sectors, sectors, np.int64(TO_STORE)) == 0:
        return np.int64(0)
    U.writes_pending += 1
    U.scu_hash_writes += 1
    return np.int64(1)


@compiled(i64, S_t)
def hash_write(S):
    """Write back what the first probe changed and read what it evicts, one packet at a time; 1 when all are sent."""
    U = scu(S)
    if U.hash_waits != 0:
        return np.int64(0)
    row = U.probes_evaluated & (PROBES - 1)
    P = probe_row(U.p_probes, row)
    if U.hash_step == 0:  # first, so that the evicted entry is read before its place is written
        if P.evict_sectors != 0:
            groups = popcount(P.evict_sectors)
            if U.groups_held + groups > U.evicted_groups:
                return np.int64(0)
            eviction = U.evictions_sent & (PROBES - 1)
            token = (eviction << 3) | TO_EVICTION
            if unit_send(S, np.int64(HASH), P.evict_line, P.evict_sectors, np.int64(READING), token) == 0:
                return np.int64(0)
            store(U.p_evictions, eviction, (groups << 4) | P.evict_sectors)
            U.evictions_sent += 1
            U.groups_held += groups
            U.scu_hash_evictions += 1
        U.hash_step = 1
    if U.hash_step == 1:
        if write_set(S, P.line, P.write_sectors) == 0:
            return np.int64(0)
        U.hash_step = 2
    if write_set(S, P.second_line, P.second_sectors) == 0:
        return np.int64(0)
    U.hash_step = 0
    return np.int64(1)


@compiled(i64, S_t)
def evaluate_tick(S):
    """Evaluate up to `probe_rate` probes, in order, whose sets have come; 1 if any."""
    U = scu(S)
    if U.stations != 0:
        return take_answers(S)
    moved = np.int64(0)
    U.hash_cause = NOTHING
    for _ in range(U.probe_rate):
        if U.probes_evaluated >= U.probes_issued:
            break
        row = U.probes_evaluated & (PROBES - 1)
        P = probe_row(U.p_probes, row)
        if U.ideal_hash != 0:
            if P.evict_sectors != 0:
                U.evictions_read += 1
        else:
            serial = load(U.p_probe_request, row)
            if U.hash_step == 0 and request_done(S, np.int64(HASH), serial) == 0:
                U.hash_cause = NO_REPLY
                break
            if hash_write(S) == 0:
                U.hash_cause = NETWORK
                break
            if P.sectors != 0 and load(U.p_probe_passed, row) == 0:
                U.sets_held -= 1
        U.probes_evaluated += 1
        moved = np.int64(1)
    return moved


@compiled(i64, S_t, i64)
def hold_set(S, row):
    """The request that brings a probe's set (-1: it is there); or -(2 + why the probe cannot be taken)."""
    U = scu(S)
    P = probe_row(U.p_probes, row)
    if P.sectors == 0 or U.ideal_hash != 0:
        return np.int64(-1)
    if P.previous >= U.probes_evaluated:
        before = P.previous & (PROBES - 1)
        store(U.p_probe_passed, before, 1)
        U.scu_hash_reads_merged += 1
        U.scu_coalescer_lookups += 1
        serial = load(U.p_probe_request, before)
        return np.int64(-1) if request_done(S, np.int64(HASH), serial) != 0 else serial
    if U.sets_held >= U.probe_entries:
        return np.int64(-2 - BUFFER_FULL)
    serial = request_read(S, np.int64(HASH), P.line, P.sectors)
    if serial < 0:
        return np.int64(-2 - (BUFFER_FULL if -1 - serial == IN_FLIGHT else NETWORK))
    U.sets_held += 1
    return serial


@compiled(i64, S_t)
def issue_probe(S):
    """Take one element into the request buffer and ask for its set; NOTHING, or why that cannot be."""
    U = scu(S)
    if U.stations != 0:
        return send_probe(S)
    if U.cleared < U.clear_lines:
        return np.int64(CLEARING)
    if U.probes_issued - U.probes_evaluated >= U.probe_rows:
        return np.int64(BUFFER_FULL)
    row = U.probes_issued & (PROBES - 1)
    serial = hold_set(S, row)
    if serial < -1:
        return -2 - serial
    store(U.p_probe_request, row, serial)
    store(U.p_probe_passed, row, 0)
    U.probes_issued += 1
    U.probes_taken += 1
    U.scu_hash_probes += 1
    return np.int64(NOTHING)
