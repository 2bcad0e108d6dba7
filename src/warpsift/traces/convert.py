"""From rows of a trace to the instruction stream: kinds, ALU runs, and dependences from register numbers.

A trace names the registers that an instruction writes and reads. A register that a load writes is in flight until an
instruction reads or overwrites it; that instruction waits for the load's scoreboard slot. Slots are given out as a
compiler would: one that nothing is in flight on, or else the one used longest ago, which two loads then share.

Consecutive ALU instructions with the same number of active lanes become one run, whose dependent chain follows from
the registers. A branch ends the run: it needs its predicate, and predicates are not in the trace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpsift.engine.core.words import popcount
from warpsift.hardware import WARP_SIZE
from warpsift.simt import coalesce
from warpsift.simt import stream as s
from warpsift.traces.compiled import BUFFERS, INTS, PAIR, TABLES, i64, inlined, void
from warpsift.traces.opcodes import (
    ASYNC_LOAD,
    ASYNC_WAIT,
    ATOMIC,
    BARRIER,
    BRANCH,
    FENCE,
    FIRST_MEMORY,
    FLOAT,
    GENERIC_LOAD,
    GENERIC_STORE,
    LOAD,
    LOCAL_LOAD,
    LOCAL_STORE,
    SHARED,
    STORE,
)
from warpsift.traces.scan_text import (
    CODE,
    DEST,
    DEST_SPAN,
    EXTENDED,
    MASK,
    SOURCE,
    SOURCES,
    WIDTH,
)

LONGEST_RUN = 60_000  # OP.count has 16 bits
LOCAL_BYTES_PER_THREAD = 1 << 14  # GPGPU-Sim's limit, LOCAL_MEM_SIZE_MAX in abstract_hardware_model.h
WINDOW_BYTES = 1 << 24  # of shared and of local memory in generic addresses; NVBit reports bases 32 MB apart
LOCAL_ARRAY = 5  # index into header.ARRAYS
REGISTERS = 256 + 4  # the last may be one of four

# Columns of the warp's state `W`.
WARP, PENDING, LOADS, ASYNC, RUN, RUN_COUNT, RUN_FLOATS, RUN_CHAIN, RUN_WAIT, RUN_LANES, GRID_WARP = range(11)
STATE = 11
# Columns of the register table `R`.
SLOT, LOAD_NUMBER, IN_RUN, DEPTH = range(4)
# Columns of the slot table `Q`.
LAST_LOAD, CLEARED_AT = range(2)


def new_state() -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[Any, ...]]:
    """State of a warp, its registers and its scoreboard slots; scratch of the coalescing rules."""
    scratch = (coalesce.store_scratch(), coalesce.atomic_scratch(), coalesce.bank_scratch())
    return np.zeros(STATE, np.int64), np.zeros((REGISTERS, 4), np.int64), np.zeros((s.SLOTS, 2), np.int64), scratch


@inlined(void(TABLES, i64, i64))
def start_warp(tables, warp, grid_warp):
    """A new warp begins: nothing is in flight."""
    W, R, Q, _ = tables
    W[:] = 0
    W[WARP] = warp
    W[GRID_WARP] = grid_warp
    W[RUN] = 1
    R[:, SLOT] = -1
    R[:, IN_RUN] = 0
    Q[:, :] = 0


@inlined(void(BUFFERS, INTS, i64, i64, i64))
def emit_plain(buffers, W, lanes, low, high):
    """An instruction without transactions."""
    warp_buffer, op_buffer, _, used = buffers
    warp_buffer[used[0]] = W[WARP]
    op_buffer[used[0], 0] = low | (lanes << 8)
    op_buffer[used[0], 1] = high
    used[0] += 1


@inlined(void(BUFFERS, INTS))
def flush(buffers, W):
    """End the current ALU run."""
    if W[RUN_COUNT] > 0:
        low = np.int64(s.ALU) | (np.int64(s.NO_SLOT) << 16) | (W[RUN_WAIT] << 32) | (W[RUN_COUNT] << 48)
        emit_plain(buffers, W, W[RUN_LANES], low, (W[RUN_FLOATS] << 32) | (max(W[RUN_CHAIN], 1) << 48))
    W[RUN_COUNT] = W[RUN_FLOATS] = W[RUN_CHAIN] = W[RUN_WAIT] = 0
    W[RUN] += 1


@inlined(i64(TABLES, i64))
def in_flight(tables, register):
    """The slot that a register waits for, as a mask; 0 if its value is there."""
    _, R, Q, _ = tables
    slot = R[register, SLOT]
    if slot < 0 or R[register, LOAD_NUMBER] <= Q[slot, CLEARED_AT]:
        return np.int64(0)
    return np.int64(1) << slot


@inlined(i64(INTS, i64))
def source_span(row, k):
    """Registers that source k stands for: 64-bit addresses take two, wide data as many as it has words."""
    if row[CODE] < FIRST_MEMORY:
        return np.int64(1)
    if k == 0:
        return np.int64(2) if row[EXTENDED] != 0 else np.int64(1)
    return row[DEST_SPAN]


@inlined(i64(TABLES, INTS))
def slots_to_wait_for(tables, row):
    """Slots of loads whose results the instruction reads or overwrites."""
    W = tables[0]
    wait = np.int64(0)
    for k in range(row[SOURCES]):
        register = row[SOURCE + k]
        if register >= 0:
            for part in range(source_span(row, k)):
                wait |= in_flight(tables, register + part)
    if row[DEST] >= 0:
        for part in range(row[DEST_SPAN]):
            wait |= in_flight(tables, row[DEST] + part)
    if row[CODE] == FENCE:
        wait |= W[PENDING]
    elif row[CODE] == ASYNC_WAIT:
        wait |= W[ASYNC]
    return wait


@inlined(void(TABLES, i64))
def waited(tables, wait):
    """Nothing is in flight on these slots any more."""
    if wait == 0:
        return
    W, _, Q, _ = tables
    W[PENDING] &= ~wait
    W[ASYNC] &= ~wait
    for slot in range(s.SLOTS):
        if (wait >> slot) & 1:
            Q[slot, CLEARED_AT] = W[LOADS]


@inlined(i64(TABLES, INTS))
def take_slot(tables, row):
    """A scoreboard slot for an instruction that returns something: a free one, or the one used longest ago."""
    W, R, Q, _ = tables
    chosen = 0
    for slot in range(s.SLOTS):
        busy, best_busy = (W[PENDING] >> slot) & 1, (W[PENDING] >> chosen) & 1
        if busy < best_busy or (busy == best_busy and Q[slot, LAST_LOAD] < Q[chosen, LAST_LOAD]):
            chosen = slot
    W[LOADS] += 1
    W[PENDING] |= np.int64(1) << chosen
    Q[chosen, LAST_LOAD] = W[LOADS]
    if row[CODE] == ASYNC_LOAD:
        W[ASYNC] |= np.int64(1) << chosen
    if row[DEST] >= 0:
        for part in range(row[DEST_SPAN]):
            R[row[DEST] + part, SLOT] = chosen
            R[row[DEST] + part, LOAD_NUMBER] = W[LOADS]
    return np.int64(chosen)


@inlined(void(BUFFERS, TABLES, INTS, i64, i64))
def add_alu(buffers, tables, row, lanes, wait):
    """One more ALU instruction, in the current run if it can be."""
    W, R, _, _ = tables
    if W[RUN_COUNT] > 0 and (lanes != W[RUN_LANES] or wait != 0 or W[RUN_COUNT] >= LONGEST_RUN):
        flush(buffers, W)
    waited(tables, wait)
    depth = np.int64(0)
    for k in range(row[SOURCES]):
        for register in range(row[SOURCE + k], row[SOURCE + k] + source_span(row, k)):
            if row[SOURCE + k] >= 0 and R[register, IN_RUN] == W[RUN]:
                depth = max(depth, R[register, DEPTH])
    W[RUN_LANES] = lanes
    W[RUN_WAIT] |= wait
    W[RUN_COUNT] += 1
    W[RUN_FLOATS] += row[CODE] == FLOAT
    W[RUN_CHAIN] = max(W[RUN_CHAIN], depth + 1)
    if row[DEST] >= 0:
        for part in range(row[DEST_SPAN]):
            R[row[DEST] + part, SLOT] = -1
            R[row[DEST] + part, IN_RUN] = W[RUN]
            R[row[DEST] + part, DEPTH] = depth + 1
    if row[CODE] == BRANCH:
        flush(buffers, W)


@inlined(i64(INTS, i64, PAIR))
def memory_space(row, address, bases):
    """The class of a memory instruction; generic accesses are what the window of their first address says."""
    code = row[CODE]
    if code != GENERIC_LOAD and code != GENERIC_STORE:
        return code
    shared_base, local_base = bases
    if shared_base == 0 or local_base == 0 or shared_base <= address < shared_base + WINDOW_BYTES:
        return np.int64(SHARED)  # without bases: as Accel-Sim takes it
    if local_base <= address < local_base + WINDOW_BYTES:
        return np.int64(LOCAL_LOAD if code == GENERIC_LOAD else LOCAL_STORE)
    return np.int64(LOAD if code == GENERIC_LOAD else STORE)


@inlined(void(INTS, INTS, INTS, i64))
def localise(W, row, address, local_base):
    """Where a thread's local memory lies: word by word, the 32 lanes of a warp side by side, warp after warp."""
    k = 0
    for lane in range(WARP_SIZE):
        if (row[MASK] >> lane) & 1:
            offset = (address[k] - local_base) & (LOCAL_BYTES_PER_THREAD - 1)
            word = (W[GRID_WARP] * (LOCAL_BYTES_PER_THREAD >> 2) + (offset >> 2)) * WARP_SIZE + lane
            address[k] = local_base + word * 4 + (offset & 3)
            k += 1


@inlined(i64(TABLES, INTS, i64, i64))
def shared_passes(tables, address, lanes, width):
    """Passes of a shared-memory access: wide ones go through in parts of at most 8 bytes x 32 lanes."""
    lanes_at_once = 32 if width <= 8 else 8
    passes = np.int64(0)
    for begin in range(0, lanes, lanes_at_once):
        end = min(begin + lanes_at_once, lanes)
        passes += coalesce.warp_passes(address, begin, end, width, tables[3][2])
    return passes


@inlined(void(BUFFERS, TABLES, INTS, i64, i64, PAIR))
def add_transactions(buffers, tables, address, lanes, width, record):
    """A record, given without lanes and transactions, with its transactions by the rules of simt/coalesce.py."""
    W, _, _, scratch = tables
    low, high = record
    kind = low & 255
    _, _, tx_buffer, used = buffers
    start = used[1]
    if kind == s.ATOMIC:
        used[1] = coalesce.warp_atomics(tx_buffer, start, address, (np.int64(0), lanes), scratch[1])
        count = used[1] - start
    elif kind == s.STORE:
        end, count = coalesce.warp_stores(tx_buffer, start, address, (np.int64(0), lanes), width, scratch[0])
        used[1] = end
    else:
        used[1] = coalesce.warp_lines(tx_buffer, start, address, np.int64(0), lanes, scratch[0][0])
        count = used[1] - start
    emit_plain(buffers, W, lanes, low | (count << 24), high | start)


@inlined(void(BUFFERS, TABLES, INTS, INTS, i64, PAIR))
def add_memory(buffers, tables, row, address, lanes, bases):
    """A memory instruction: what it waits for, its slot, its transactions or its passes."""
    W = tables[0]
    wait = slots_to_wait_for(tables, row)
    flush(buffers, W)
    waited(tables, wait)
    space = memory_space(row, address[0], bases)
    slot = np.int64(s.NO_SLOT)
    if space == ASYNC_LOAD or (row[DEST] >= 0 and space != STORE and space != LOCAL_STORE):
        slot = take_slot(tables, row)
    elif space in (LOAD, LOCAL_LOAD):
        slot = take_slot(tables, row)  # a prefetch: nobody reads it, but it is in flight
    fields = (slot << 16) | (wait << 32)
    if space == SHARED:
        low = np.int64(s.SHARED) | fields | (shared_passes(tables, address, lanes, row[WIDTH]) << 48)
        emit_plain(buffers, W, lanes, low, np.int64(0))
        return
    array = np.int64(0)
    while (1 << array) < row[WIDTH] and array < LOCAL_ARRAY - 1:
        array += 1
    if space in (LOCAL_LOAD, LOCAL_STORE):
        array = np.int64(LOCAL_ARRAY)
        localise(W, row, address, bases[1])
    kind = np.int64(s.LOAD)
    if space == ATOMIC:
        kind = np.int64(s.ATOMIC)
    elif space in (STORE, LOCAL_STORE):
        kind = np.int64(s.STORE)
    record = (kind | fields | (np.int64(1) << 48), array << 32)
    add_transactions(buffers, tables, address, lanes, row[WIDTH], record)


@inlined(void(BUFFERS, TABLES, INTS, INTS, PAIR))
def add_instruction(buffers, tables, row, addresses, bases):
    """Append one instruction of the current warp to the stream."""
    lanes = popcount(row[MASK])
    if row[CODE] >= FIRST_MEMORY and lanes > 0:
        add_memory(buffers, tables, row, addresses, lanes, bases)
    elif row[CODE] == BARRIER:
        flush(buffers, tables[0])
        low = np.int64(s.BARRIER) | (np.int64(s.NO_SLOT) << 16) | (np.int64(1) << 48)
        emit_plain(buffers, tables[0], lanes, low, np.int64(0))
    else:
        add_alu(buffers, tables, row, lanes, slots_to_wait_for(tables, row))


@inlined(void(BUFFERS, TABLES))
def end_warp(buffers, tables):
    flush(buffers, tables[0])
