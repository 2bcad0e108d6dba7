"""From rows of a trace to the instruction stream: kinds, ALU runs, and dependences from register numbers.

A trace names the registers that an instruction writes and reads. A register that a load writes is in flight until an
instruction reads or overwrites it; that instruction waits for the load's scoreboard slot. Slots are given out as a
compiler would: one that nothing is in flight on, or else the one used longest ago, which two loads then share.

Consecutive ALU instructions with the same number of active lanes become one run, whose dependent chain follows from
the registers. A branch ends the run: it needs its predicate, and predicates are not in the trace.
"""

from __future__ import annotations

import numpy as np

from warpsift.hardware import WARP_SIZE
from warpsift.simt import coalesce
from warpsift.simt import stream as s
from warpsift.traces.compiled import BUFFERS, INTS, PAIR, TABLES, compiled, i64, void
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
    FIRST_ADDRESS,
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


def new_state() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """State of a warp, its registers and its scoreboard slots."""
    return np.zeros(STATE, np.int64), np.zeros((REGISTERS, 4), np.int64), np.zeros((s.SLOTS, 2), np.int64)


@compiled(void(TABLES, i64, i64))
def start_warp(tables, warp, grid_warp):
    """A new warp begins: nothing is in flight."""
    W, R, Q = tables
    W[:] = 0
    W[WARP] = warp
    W[GRID_WARP] = grid_warp
    W[RUN] = 1
    R[:, SLOT] = -1
    R[:, IN_RUN] = 0
    Q[:, :] = 0


@compiled(void(BUFFERS, INTS, i64, i64, i64))
def emit_plain(buffers, W, lanes, low, high):
    """An instruction without transactions."""
    warp_buffer, op_buffer, _, used = buffers
    warp_buffer[used[0]] = W[WARP]
    op_buffer[used[0], 0] = low | (lanes << 8)
    op_buffer[used[0], 1] = high
    used[0] += 1


@compiled(void(BUFFERS, INTS))
def flush(buffers, W):
    """End the current ALU run."""
    if W[RUN_COUNT] > 0:
        low = np.int64(s.ALU) | (np.int64(s.NO_SLOT) << 16) | (W[RUN_WAIT] << 32) | (W[RUN_COUNT] << 48)
        emit_plain(buffers, W, W[RUN_LANES], low, (W[RUN_FLOATS] << 32) | (max(W[RUN_CHAIN], 1) << 48))
    W[RUN_COUNT] = W[RUN_FLOATS] = W[RUN_CHAIN] = W[RUN_WAIT] = 0
    W[RUN] += 1


@compiled(i64(TABLES, i64))
def in_flight(tables, register):
    """The slot that a register waits for, as a mask; 0 if its value is there."""
    _, R, Q = tables
    slot = R[register, SLOT]
    if slot < 0 or R[register, LOAD_NUMBER] <= Q[slot, CLEARED_AT]:
        return np.int64(0)
    return np.int64(1) << slot


@compiled(i64(INTS, i64))
def source_span(row, k):
    """Registers that source k stands for: 64-bit addresses take two, wide data as many as it has words."""
    if row[CODE] < FIRST_MEMORY:
        return np.int64(1)
    if k == 0:
        return np.int64(2) if row[EXTENDED] != 0 else np.int64(1)
    return row[DEST_SPAN]


@compiled(i64(TABLES, INTS))
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


@compiled(void(TABLES, i64))
def waited(tables, wait):
    """Nothing is in flight on these slots any more."""
    W, _, Q = tables
    W[PENDING] &= ~wait
    W[ASYNC] &= ~wait
    for slot in range(s.SLOTS):
        if (wait >> slot) & 1:
            Q[slot, CLEARED_AT] = W[LOADS]


@compiled(i64(TABLES, INTS))
def take_slot(tables, row):
    """A scoreboard slot for an instruction that returns something: a free one, or the one used longest ago."""
    W, R, Q = tables
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


@compiled(void(BUFFERS, TABLES, INTS, i64, i64))
def add_alu(buffers, tables, row, lanes, wait):
    """One more ALU instruction, in the current run if it can be."""
    W, R, _ = tables
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


@compiled(i64(INTS, i64, PAIR))
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


@compiled(void(INTS, INTS, INTS, i64))
def localise(W, row, address, local_base):
    """Where a thread's local memory lies: word by word, the 32 lanes of a warp side by side, warp after warp."""
    k = 0
    for lane in range(WARP_SIZE):
        if (row[MASK] >> lane) & 1:
            offset = (address[k] - local_base) & (LOCAL_BYTES_PER_THREAD - 1)
            word = (W[GRID_WARP] * (LOCAL_BYTES_PER_THREAD >> 2) + (offset >> 2)) * WARP_SIZE + lane
            address[k] = local_base + word * 4 + (offset & 3)
            k += 1


@compiled(i64(INTS, i64))
def shared_passes(address, width):
    """Passes of a shared-memory access: wide ones go through in parts of at most 8 bytes x 32 lanes."""
    lanes_at_once = 32 if width <= 8 else 8
    passes = np.int64(0)
    one = np.zeros(1, np.int32)
    lanes = np.ones(1, np.uint8)
    op = np.zeros((1, 2), np.int64)
    unused = np.zeros(1, np.int64)
    first = np.zeros(2, np.int32)
    used = np.zeros(2, np.int64)
    for begin in range(0, address.size, lanes_at_once):
        part = address[begin : begin + lanes_at_once]
        first[1] = part.size
        used[:] = 0
        coalesce.emit_shared((one, op, unused, used), (one, lanes, first), part, width, (np.int64(0), np.int64(0)))
        passes += (op[0, 0] >> 48) & 0xFFFF
    return passes


@compiled(void(BUFFERS, TABLES, INTS, INTS, PAIR))
def add_memory(buffers, tables, row, address, bases):
    """A memory instruction: its transactions by the rules of simt/coalesce.py."""
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
    groups = (np.empty(1, np.int32), np.empty(1, np.uint8), np.zeros(2, np.int32))
    groups[0][0] = W[WARP]
    groups[1][0] = groups[2][1] = address.size
    if space == SHARED:
        low = np.int64(s.SHARED) | fields | (shared_passes(address, row[WIDTH]) << 48)
        emit_plain(buffers, W, np.int64(address.size), low, np.int64(0))
        return
    array = np.int64(0)
    while (1 << array) < row[WIDTH] and array < LOCAL_ARRAY - 1:
        array += 1
    if space in (LOCAL_LOAD, LOCAL_STORE):
        array = np.int64(LOCAL_ARRAY)
        localise(W, row, address, bases[1])
    high = array << 32
    one = np.int64(1) << 48
    if space == ATOMIC:
        coalesce.emit_atomics(buffers, groups, address, row[WIDTH], (np.int64(s.ATOMIC) | fields | one, high))
    elif space in (STORE, LOCAL_STORE):
        coalesce.emit_stores(buffers, groups, address, row[WIDTH], (np.int64(s.STORE) | fields | one, high))
    else:
        coalesce.emit_lines(buffers, groups, address, row[WIDTH], (np.int64(s.LOAD) | fields | one, high))


@compiled(void(BUFFERS, TABLES, INTS, INTS, PAIR))
def add_instruction(buffers, tables, row, addresses, bases):
    """Append one instruction of the current warp to the stream."""
    lanes = np.int64(0)
    for lane in range(WARP_SIZE):
        lanes += (row[MASK] >> lane) & 1
    if row[CODE] >= FIRST_MEMORY and lanes > 0:
        begin = row[FIRST_ADDRESS]
        add_memory(buffers, tables, row, addresses[begin : begin + lanes], bases)
    elif row[CODE] == BARRIER:
        flush(buffers, tables[0])
        low = np.int64(s.BARRIER) | (np.int64(s.NO_SLOT) << 16) | (np.int64(1) << 48)
        emit_plain(buffers, tables[0], lanes, low, np.int64(0))
    else:
        add_alu(buffers, tables, row, lanes, slots_to_wait_for(tables, row))


@compiled(void(BUFFERS, TABLES))
def end_warp(buffers, tables):
    flush(buffers, tables[0])
