"""The Stream Compaction Unit, cycle by cycle (SCU paper, sections 3.2 and 4.1, Figs. 7 and 8).

    Address Generator -> Data Fetch FIFO -> Bitmask Constructor or Data Store      (basic)
                                         -> Filtering/Grouping -> Data Store       (enhanced, step 1)
                                         -> parts at the L2 slices -> Data Store   (units/scu/iscu)

A tick is one core clock (the paper clocks the unit with the GPU). Stages run back to front, so that an element spends
at least a cycle in each. Each stage moves up to `width` elements. The FIFO is strictly in order: an element waits for
the data of the one before it. All reads pass one of two coalescing units, all writes the Data Store; everything goes
through the crossbar to the L2. At both ports reads go before writes, which can wait where they are: a read that waits
holds up everything behind it, and under a stream of writes it would wait for their end.

The FIFO's bytes (units/scu/scu_buffers.py) are rows and sectors: what the Address Generator puts in during a cycle is a
row of its own, two if it needs two requests, and every sector asked for has its place in a ring until no element that
may still come can want it.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, store
from warpsift.units.scu.iscu.iscu_sender import parts_busy, send_element, serve_parts
from warpsift.units.scu.iscu.iscu_state import iscu
from warpsift.units.scu.scu_memory import (
    coalesce_read,
    fetch_vectors,
    request_done,
    unit_send,
    vector_wanted,
    vectors_ready,
    window_place,
)
from warpsift.units.scu.scu_probes import clear_tick, evaluate_tick, issue_probe
from warpsift.units.scu.scu_state import (
    BUFFER_FULL,
    CLEARING,
    DATA,
    FIFO_FULL,
    IN_FLIGHT,
    NETWORK,
    NO_DATA,
    NO_REPLY,
    NOTHING,
    PROBES,
    RUNS,
    STORE_FULL,
    TO_STORE,
    VECTOR,
    WRITES,
    run_row,
    scu,
    write_row,
)
from warpsift.units.scu.scu_trace import BY_FETCHED, BY_LANDED, BY_PROBED
from warpsift.units.scu.slice_state import scu_slice


# ---- Data Store -------------------------------------------------------------------------------------------------
@compiled(i64, S_t)
def released(S):
    """How far the stage that feeds the Data Store has come."""
    U = scu(S)
    if U.follows == BY_FETCHED:
        return U.outputs
    if U.follows == BY_LANDED:
        return iscu(S).stored
    return U.probes_evaluated if U.follows == BY_PROBED else U.evictions_read


@compiled(void, S_t)
def place_evictions(S):
    """Let go of evicted groups whose places the Data Store has taken."""
    U = scu(S)
    while U.evictions_placed < U.evictions_read and U.evictions_placed < U.evictions_sent:
        waiting = U.write_head < U.write_tail
        if waiting and write_row(U.p_writes, U.write_head & (WRITES - 1)).after <= U.evictions_placed + 1:
            break
        U.groups_held -= load(U.p_evictions, U.evictions_placed & (PROBES - 1)) >> 4
        U.evictions_placed += 1


@compiled(i64, S_t)
def store_tick(S):
    """Send the lines that are complete; 1 if any went."""
    U = scu(S)
    limit = released(S)
    moved = np.int64(0)
    U.store_waits = 0
    while U.write_head < U.write_tail:
        W = write_row(U.p_writes, U.write_head & (WRITES - 1))
        if W.after > limit:
            break
        if U.data_waits != 0 or unit_send(S, np.int64(DATA), W.line, W.sectors, W.partial, np.int64(TO_STORE)) == 0:
            U.store_waits = 1
            break
        U.write_head += 1
        U.writes_pending += 1
        U.scu_write_requests += 1
        moved = np.int64(1)
    place_evictions(S)
    return moved


@compiled(i64, S_t)
def store_blocked(S):
    """1 if as many complete lines wait for the crossbar as the Data Store has buffers."""
    U = scu(S)
    last = U.write_head + U.open_lines - 1
    if last >= U.write_tail:
        return np.int64(0)
    return np.int64(1) if write_row(U.p_writes, last & (WRITES - 1)).after <= released(S) else np.int64(0)


# ---- Data Fetch -------------------------------------------------------------------------------------------------
@compiled(i64, S_t, i64)
def hand_on(S, elements):
    """Give up to so many elements to the next stage; how many it took. The cause is left in U.fetch_cause."""
    U = scu(S)
    if U.follows == BY_FETCHED:
        if store_blocked(S) != 0:
            U.fetch_cause = STORE_FULL
            return np.int64(0)
        if U.compares != 0:
            U.scu_elements_compared += elements
        else:
            U.scu_elements_stored += elements
        return elements
    taken = np.int64(0)
    while taken < elements and U.probes_taken < U.probe_rate:
        cause = send_element(S) if U.follows == BY_LANDED else issue_probe(S)
        if cause != NOTHING:
            U.fetch_cause = cause
            U.hash_waits = 1 if cause == NETWORK else 0
            break
        taken += 1
    return taken


@compiled(i64, S_t)
def fetch_tick(S):
    """Forward up to `width` elements from the head of the FIFO; 1 if any."""
    U = scu(S)
    budget = U.width
    U.fetch_cause = NOTHING
    U.probes_taken = 0
    U.hash_waits = 0
    moved = np.int64(0)
    while budget > 0:
        if U.head_run > U.address_run or (U.head_run == U.address_run and U.address_begun == 0):
            break
        R = run_row(U.p_runs, U.head_run & (RUNS - 1))
        here = R.elements
        if U.head_run == U.address_run:
            here -= U.elements_left
        here -= U.head_done
        if here == 0:
            if U.head_run == U.address_run:
                break
            U.head_run += 1  # a run without elements
            continue
        row = U.head_run & (RUNS - 1)
        arrived = request_done(S, np.int64(DATA), load(U.p_run_request, row))
        if arrived == 0 or request_done(S, np.int64(DATA), load(U.p_run_second, row)) == 0:
            U.fetch_cause = NO_DATA
            break
        taken = min(here, budget)
        if R.outputs != 0:
            taken = hand_on(S, taken)
            U.outputs += taken
            U.scu_elements += taken
        if taken == 0:
            break
        moved = np.int64(1)
        budget -= taken
        U.scu_elements_fetched += taken
        U.fetched += taken
        U.ring_free = load(U.p_run_free, row)
        U.head_done += taken
        if U.head_done == R.elements:
            U.head_done = 0
            U.head_run += 1
    while U.row_head < U.row_tail and load(U.p_row_end, U.row_head & U.row_mask) <= U.fetched:
        U.row_head += 1
    return moved


# ---- Address Generator ------------------------------------------------------------------------------------------
@compiled(i64, S_t)
def begin_run(S):
    """Start on the next run if the vectors that it needs are there."""
    U = scu(S)
    R = run_row(U.p_runs, U.address_run & (RUNS - 1))
    if vectors_ready(S, R.input, R.output, U.address_outputs + R.outputs - 1) == 0:
        return np.int64(0)
    U.address_begun = 1
    U.address_requested = 0
    U.slots_left = R.slots
    U.elements_left = R.elements
    U.address_outputs += R.outputs
    operand = np.int64(1) if R.outputs == 0 else np.int64(0)
    if operand != U.row_operands:  # a row holds second operands or data
        U.row_operands = operand
        U.row_open = 0
        U.row_asks = 0
    return np.int64(1)


@compiled(i64, S_t, i64)
def request_second(S, row):
    """Ask for the second operands that are fetched beside a run's elements; 0 if that must wait."""
    U = scu(S)
    R = run_row(U.p_runs, row)
    serial = np.int64(-1)
    if R.second_sectors != 0:
        serial = coalesce_read(S, R.second_line, R.second_sectors)
        if serial < 0:
            U.address_cause = -1 - serial
            U.data_waits |= 1 if U.address_cause == NETWORK else 0
            return np.int64(0)
    store(U.p_run_second, row, serial)
    store(U.p_run_free, row, window_place(S))
    U.address_requested = 2
    return np.int64(1)


@compiled(i64, S_t)
def request_run(S):
    """Ask for the lines of the present run; 0 if that must wait (the cause is left in U.address_cause)."""
    U = scu(S)
    row = U.address_run & (RUNS - 1)
    if U.address_requested == 1:
        return request_second(S, row)
    R = run_row(U.p_runs, row)
    serial = np.int64(-1)
    if R.sectors != 0:
        if U.row_open == 0 and U.row_tail - U.row_head >= U.fifo_rows:
            U.address_cause = FIFO_FULL
            return np.int64(0)
        before = U.ring_tail
        serial = coalesce_read(S, R.line, R.sectors)
        if serial < 0:
            U.address_cause = -1 - serial
            U.data_waits |= 1 if U.address_cause == NETWORK else 0
            return np.int64(0)
        if U.ring_tail != before:  # a row makes one request; the next one's elements are a row of their own
            U.row_open &= U.row_asks ^ 1
            U.row_asks = 1
    store(U.p_run_request, row, serial)
    U.address_requested = 1
    return request_second(S, row)


@compiled(i64, S_t, i64)
def enter_fifo(S, elements):
    """Put elements of the present run into the FIFO; 0 if it has no row for them."""
    U = scu(S)
    if U.row_open == 0:
        if U.row_tail - U.row_head >= U.fifo_rows:
            return np.int64(0)
        U.row_tail += 1
        U.row_open = 1
    U.addressed += elements
    U.scu_addresses += elements
    store(U.p_row_end, (U.row_tail - 1) & U.row_mask, U.addressed)
    return np.int64(1)


@compiled(i64, S_t)
def address_tick(S):
    """Spend up to `width` slots; 1 if any."""
    U = scu(S)
    budget = U.width
    U.address_cause = NOTHING
    U.row_open = 0
    U.row_asks = 0
    while budget > 0 and U.address_run < U.run_tail:
        if U.address_begun == 0 and begin_run(S) == 0:
            U.address_cause = VECTOR
            break
        if U.slots_left > 0:
            spent = min(U.slots_left, budget)
            U.slots_left -= spent
            budget -= spent
            continue
        if U.elements_left > 0:
            if U.address_requested != 2 and request_run(S) == 0:
                break
            taken = min(budget, U.elements_left)
            if enter_fifo(S, taken) == 0:
                U.address_cause = FIFO_FULL
                break
            U.elements_left -= taken
            budget -= taken
        if U.elements_left == 0:
            U.address_run += 1
            U.address_begun = 0
    return np.int64(1) if budget < U.width else np.int64(0)


# ---- the unit ---------------------------------------------------------------------------------------------------
@compiled(i64, S_t)
def finished(S):
    U = scu(S)
    if U.final == 0 or U.address_run < U.run_tail or U.fetched < U.addressed or U.cleared < U.clear_lines:
        return np.int64(0)
    if U.probes_evaluated < U.probe_tail or U.groups_held > 0:
        return np.int64(0)
    if U.stations != 0 and scu_slice(S).held > 0:
        return np.int64(0)
    if U.follows == BY_LANDED and parts_busy(S) != 0:
        return np.int64(0)
    return np.int64(1) if U.write_head == U.write_tail and U.writes_pending == 0 else np.int64(0)


@compiled(void, S_t, i64)
def count_stalls(S, cycles):
    """Book cycles in which a stage stood still under what it waited for."""
    U = scu(S)
    cause = U.address_cause
    if cause == VECTOR:
        U.scu_stall_vector_cycles += cycles
    elif cause == FIFO_FULL:
        U.scu_stall_fifo_cycles += cycles
    elif cause == IN_FLIGHT:
        U.scu_stall_inflight_cycles += cycles
    elif cause == NETWORK:
        U.scu_stall_network_cycles += cycles
    cause = U.fetch_cause
    if cause == NO_DATA:
        U.scu_stall_data_cycles += cycles
    elif cause == STORE_FULL:
        U.scu_stall_store_cycles += cycles
    elif cause == CLEARING:
        U.scu_stall_clear_cycles += cycles
    elif cause == BUFFER_FULL or cause == NETWORK:  # noqa: SIM109 (a tuple costs time when compiled)
        U.scu_stall_buffer_cycles += cycles
    if U.hash_cause == NO_REPLY:
        U.scu_stall_probe_cycles += cycles
    elif U.hash_cause == NETWORK:
        U.scu_stall_hash_network_cycles += cycles


@compiled(void, S_t)
def scu_tick(S):
    """One cycle of the unit, back to front."""
    U = scu(S)
    moved = store_tick(S) | clear_tick(S)
    if U.follows == BY_LANDED:
        moved |= serve_parts(S, store_blocked(S))
    elif U.follows != BY_FETCHED:
        moved |= evaluate_tick(S)
    fetched = fetch_tick(S)
    U.data_waits = 0
    moved |= fetch_vectors(S)  # before data, of which there is always more: without its vectors the unit stands still
    addressed = address_tick(S)
    U.scu_fetch_busy_cycles += fetched
    U.scu_address_busy_cycles += addressed
    if fetched != 0:
        U.fetch_cause = NOTHING
    if addressed != 0:
        U.address_cause = NOTHING
    count_stalls(S, np.int64(1))
    U.done = finished(S)
    # Asleep only when every stage waits for a reply; room in the crossbar is not announced, so that is polled. The
    # Address Generator may just have let go of vector lines, after this tick's vectors were asked for.
    waits = U.address_cause == NETWORK or U.fetch_cause == NETWORK or U.hash_cause == NETWORK
    waits = waits or U.cleared < U.clear_lines or U.store_waits != 0 or U.data_waits != 0
    waits = waits or vector_wanted(S) >= 0
    U.awake = 1 if (moved | fetched | addressed) != 0 or waits else 0
