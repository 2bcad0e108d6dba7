"""The machine's main loop: a batch of CTAs through the code of a kernel, row by row, as `Threads` would run its text.

It stops when the kernel is through, when the log is full (it goes on where it stopped once the log is empty), when there
is no room for another program of ALU instructions, or when a thread does what no GPU can do.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from warpsift.simt.coalesce import ATOMICS, LINES, SHARED_WORDS, STORES
from warpsift.simt.stream import ATOMIC, BARRIER, LOAD, NO_SLOT, SHARED, STORE
from warpsift.simt.threads import LONGEST_RUN
from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine import memory_loops, run_records as r, warp_loops
from warpsift.simt.vector_machine.value_loops import OPTIONS, compute

DONE, LOG_FULL, PROGRAMS_FULL, OUTSIDE, OUTSIDE_SHARED, PART_OF_A_CTA = range(6)
ROWS_AT_ONCE = 8  # of the log, that one instruction writes at the most
RUNS_AT_ONCE = 4


@njit(**OPTIONS)
def _level(w, pool, level):
    """The active threads of a level."""
    begin = level * (pool.size // r.LEVELS)
    return pool[begin : begin + w[r.THREADS + level]]


@njit(**OPTIONS)
def _keep(w, pool, outer, inner, truth, at, wanted):
    """The threads of level `outer` for which the truth is as wanted, at level `inner`; gives how many."""
    source, begin = _level(w, pool, outer), inner * (pool.size // r.LEVELS)
    kept = 0
    for k in range(source.size):
        p = source[k]
        if (truth[at + p] != 0) == wanted:
            pool[begin + kept] = p
            kept += 1
    return kept


@njit(**OPTIONS)
def _narrow(w, pool, truth, at, wanted):
    """Go one level further in, unless all threads stay active."""
    level = w[r.LEVEL]
    kept = _keep(w, pool, level, level + 1, truth, at, wanted)
    if kept < w[r.THREADS + level]:
        r.new_scope(w, level + 1, kept)
        w[r.LEVEL] = level + 1


@njit(**OPTIONS)
def _enter(w):
    """Open a condition or loop: its frame notes the level outside of it."""
    at = r.FRAMES + w[r.FRAME] * r.FRAME_WORDS
    w[at] = w[r.LEVEL]
    w[at + 1] = 1
    w[r.FRAME] += 1


@njit(**OPTIONS)
def _leave(w):
    w[r.FRAME] -= 1
    w[r.LEVEL] = w[r.FRAMES + w[r.FRAME] * r.FRAME_WORDS]


@njit(**OPTIONS)
def _shrink(w, pool, truth, at):
    """The threads of a loop for which the truth holds; those of the level outside stay as they are."""
    level, outer = w[r.LEVEL], w[r.FRAMES + (w[r.FRAME] - 1) * r.FRAME_WORDS]
    inner = level + 1 if level == outer else level
    kept = _keep(w, pool, level, inner, truth, at, True)
    if kept < w[r.THREADS + level]:
        r.new_scope(w, inner, kept)
        w[r.LEVEL] = inner


@njit(**OPTIONS)
def _below(view, a, b, truth, at, index, n):
    for k in range(n):
        p = index[k]
        truth[at + p] = view[a + p] < view[b + p]


@njit(**OPTIONS)
def _count_up(view, a, step, index, n):
    for k in range(n):
        p = index[k]
        view[a + p] += step


@njit(**OPTIONS)
def _range(w, run, log, programs, values, row, places, scratch):
    """Begin a loop; its first iteration has the threads whose counter lies below the end."""
    d, a, b, c = places
    pool = log[4]
    index = _level(w, pool, w[r.LEVEL])
    n, size = index.size, i.SIZE_OF[row[i.TYPE]]
    dense = n == w[r.SIZE]
    r.flush(w, run, log, programs)
    memory_loops.copy(values, size, c, b, index, n, dense)
    memory_loops.copy(values, size, d, a, index, n, dense)
    _enter(w)
    _test_range(values, size, d, c, scratch, index, n)
    _narrow(w, pool, values[0], scratch, True)
    r.forget_register(w, row[i.DST_REG])


@njit(**OPTIONS)
def _test_range(values, size, d, c, scratch, index, n):
    if size == 4:
        _below(values[1], d >> 2, c >> 2, values[0], scratch, index, n)
    else:
        _below(values[3], d >> 3, c >> 3, values[0], scratch, index, n)


@njit(**OPTIONS)
def _range_next(w, run, log, programs, values, row, places, scratch):
    """The next iteration of a loop, for the threads that have one."""
    d, _, _, c = places
    pool, size = log[4], i.SIZE_OF[row[i.TYPE]]
    r.advance_loop(w, run)
    r.flush(w, run, log, programs)
    index = _level(w, pool, w[r.LEVEL])
    if size == 4:
        _count_up(values[1], d >> 2, row[i.Y], index, index.size)
    else:
        _count_up(values[3], d >> 3, row[i.Y], index, index.size)
    _test_range(values, size, d, c, scratch, index, index.size)
    _shrink(w, pool, values[0], scratch)
    r.forget_register(w, row[i.DST_REG])
    w[r.REGISTERS + row[i.DST_REG] * r.REGISTER_WORDS + r.COUNTS] = 1


@njit(**OPTIONS)
def _record(kind, slot, wait, count):
    return np.int64(kind) | slot << 16 | wait << 32 | np.int64(count) << 48


@njit(**OPTIONS)
def _global_access(w, run, log, programs, values, memory, row, places, arrays, generator, first):
    """LOAD, STORE, ATOMIC; gives DONE or what is wrong."""
    rows, scopes, log_index, elements, pool = log
    d, a, b, _ = places
    array, offset, op = arrays[row[i.X]], row[i.Y], row[i.OP]
    index = _level(w, pool, w[r.LEVEL])
    n, size = index.size, array[i.ITEM_BYTES]
    dense = n == w[r.SIZE]
    returns = row[i.DST_REG] >= 0
    slot, wait = r.take_slot(w, run, log, programs, (row[i.A_REG], row[i.B_REG]), returns)
    at = w[r.LOG_ELEMENTS]
    limits = (-offset, array[i.LENGTH] - offset)
    inside = memory_loops.element_numbers(values, row, a, elements, at, limits, index, n, dense)
    if inside < n:
        w[r.WRONG] = memory_loops.wrong_element(values, row, a, inside, index, dense) + offset
        return OUTSIDE
    place = array[i.PLACE] + offset * size
    if n > 0:
        way, kind = (LINES, LOAD) if op == i.LOAD else (STORES, STORE) if op == i.STORE else (ATOMICS, ATOMIC)
        w[r.LOG_ELEMENTS] = at + n
        r.write_row(w, log, way, _record(kind, slot, wait, 1), array[i.TAG] << 32, at + n, place, size)
    if op == i.LOAD:
        memory_loops.gather(values, size, d, memory, place, elements, at, index, n, dense)
    elif op == i.STORE:
        memory_loops.scatter(values, size, b, memory, place, elements, at, index, n, dense)
    else:
        warps = warp_loops.warps_of(index, n, first)
        order = generator.permutation(warps) if n > 1 else np.arange(warps)
        to = d if returns else np.int64(-1)
        memory_loops.atomics(values, row, (to, b), memory, place, elements, at, index, n, order, first)
    if returns:
        r.comes_from_load(w, row[i.DST_REG], slot)
    return DONE


@njit(**OPTIONS)
def _shared_access(w, run, log, programs, values, shared, row, places, arrays, per_batch):
    """SHARED_LOAD, SHARED_STORE, SHARED_EXCHANGE; `per_batch`: threads of a CTA, CTAs."""
    rows, scopes, log_index, elements, pool = log
    d, a, b, _ = places
    array, op = arrays[row[i.X]], row[i.OP]
    threads_per_cta, ctas = per_batch
    index = _level(w, pool, w[r.LEVEL])
    n, size, length = index.size, array[i.ITEM_BYTES], array[i.LENGTH]
    dense = n == w[r.SIZE]
    returns = op != i.SHARED_STORE
    used = np.int64(-1) if op == i.SHARED_EXCHANGE else row[i.B_REG]  # an exchange first loads: it needs the index
    slot, wait = r.take_slot(w, run, log, programs, (row[i.A_REG], used), returns)
    at = w[r.LOG_ELEMENTS]
    inside = memory_loops.element_numbers(values, row, a, elements, at, (0, length), index, n, dense)
    if inside < n:
        w[r.WRONG] = memory_loops.largest(values, row, a, index, n, dense)
        return OUTSIDE_SHARED
    if n > 0:
        w[r.LOG_ELEMENTS] = at + n
        r.write_row(w, log, SHARED_WORDS, _record(SHARED, slot, wait, 0), 0, at + n, array[i.PLACE], size)
    if op == i.SHARED_EXCHANGE:
        _, wait = r.take_slot(w, run, log, programs, (row[i.A_REG], row[i.B_REG]), False)
        if n > 0:
            for k in range(n):
                elements[at + n + k] = elements[at + k]
            w[r.LOG_ELEMENTS] = at + 2 * n
            low = _record(SHARED, np.int64(NO_SLOT), wait, 0)
            r.write_row(w, log, SHARED_WORDS, low, 0, at + 2 * n, array[i.PLACE], size)
    per_cta, base = (threads_per_cta, length), array[i.TAG] * 8 * ctas
    if op == i.SHARED_LOAD:
        memory_loops.shared_gather(values, size, d, shared, base, elements, at, per_cta, index, n)
    elif op == i.SHARED_STORE:
        memory_loops.shared_scatter(values, size, b, shared, base, elements, at, per_cta, index, n)
    else:
        memory_loops.shared_exchange(values, size, (d, b), shared, base, elements, at, per_cta, index, n)
    if returns:
        r.comes_from_load(w, row[i.DST_REG], slot)
    return DONE


@njit(**OPTIONS)
def _parts_of_ctas(index, n, threads_per_cta):
    """Whether a CTA has some of its threads active and others not."""
    k = 0
    while k < n:
        cta = index[k] // threads_per_cta
        end = k + 1
        while end < n and index[end] // threads_per_cta == cta:
            end += 1
        if end - k != threads_per_cta:
            return True
        k = end
    return False


@njit(**OPTIONS)
def _full(w, log, programs):
    """Whether the next instruction may find no room in the log or among the programs."""
    rows, scopes, log_index, elements, pool = log
    words, starts, table = programs
    if w[r.PROGRAM_WORDS] + RUNS_AT_ONCE * (LONGEST_RUN + 8) > words.size:
        return PROGRAMS_FULL
    if w[r.PROGRAMS] + RUNS_AT_ONCE > starts.size - 2 or 2 * (w[r.PROGRAMS] + RUNS_AT_ONCE) > table.size:
        return PROGRAMS_FULL
    no_rows = w[r.LOG_ROWS] + ROWS_AT_ONCE > rows.shape[0] or w[r.LOG_SCOPES] + 2 > scopes.shape[0]
    if no_rows or w[r.LOG_ELEMENTS] + 2 * w[r.SIZE] > elements.size or w[r.LOG_INDEX] + w[r.SIZE] > log_index.size:
        return LOG_FULL
    return DONE


@njit(**OPTIONS)
def execute(code, w, run, log, programs, values, memory, shared, tables, batch, generator):
    classes, arrays, shared_arrays, first, held = tables
    threads_per_cta, ctas, stride, scratch = batch
    pool = log[4]
    while True:
        status = _full(w, log, programs)
        if status != DONE:
            return status
        row = code[w[r.PC]]
        op = row[i.OP]
        w[r.PC] += 1
        places = (row[i.DST] * stride, row[i.A] * stride, row[i.B] * stride, row[i.C] * stride)
        index = _level(w, pool, w[r.LEVEL])
        n = index.size
        if op <= i.LAST_VALUE:
            if op == i.WARP:
                warp_loops.together(values, row, places, index, n, threads_per_cta, held)
            elif op != i.NOTHING:
                compute(values, row, places, index, n, n == w[r.SIZE])
            if row[i.CLASS] >= 0:
                r.count_instruction(w, run, log, programs, row, row[i.DST_REG])
        elif op == i.SPEND:
            r.spend(w, run, log, programs, row[i.Y], row[i.Z] != 0, classes, row[i.X])
        elif op == i.ADDRESS:
            r.pay_address(w, run, log, programs, row)
        elif op >= i.LOAD and op <= i.ATOMIC:
            status = _global_access(
                w, run, log, programs, values, memory, row, places, arrays, generator, first
            )
            if status != DONE:
                return status
        elif op >= i.SHARED_LOAD and op <= i.SHARED_EXCHANGE:
            status = _shared_access(
                w, run, log, programs, values, shared, row, places, shared_arrays, (threads_per_cta, ctas)
            )
            if status != DONE:
                return status
        elif op == i.NEW_VARIABLE:
            size = i.SIZE_OF[row[i.TYPE]]
            values[0][places[0] : places[0] + w[r.SIZE] * size] = 0
            r.forget_register(w, row[i.DST_REG])
        elif op == i.SET:
            memory_loops.copy(values, i.SIZE_OF[row[i.TYPE]], places[0], places[1], index, n, n == w[r.SIZE])
            at = r.REGISTERS + row[i.DST_REG] * r.REGISTER_WORDS
            if row[i.A_REG] >= 0:
                r.comes_from(w, row[i.DST_REG], row[i.A_REG])
            else:
                w[at + r.SLOT] = w[at + r.LOAD] = -1
                w[at + r.ADDRESSED] = 0
        elif op == i.RENAME:
            memory_loops.copy(values, i.SIZE_OF[row[i.TYPE]], places[0], places[1], index, n, n == w[r.SIZE])
            r.forget_register(w, row[i.DST_REG])
            r.comes_from(w, row[i.DST_REG], row[i.A_REG])
        elif op == i.WHERE:
            r.flush(w, run, log, programs)
            _enter(w)
            _narrow(w, pool, values[0], places[1], row[i.X] != 0)
        elif op == i.END_WHERE:
            r.flush(w, run, log, programs)
            _leave(w)
        elif op == i.EXIT:
            r.flush(w, run, log, programs)
            _narrow(w, pool, values[0], places[1], False)
        elif op == i.RANGE:
            _range(w, run, log, programs, values, row, places, scratch)
            if w[r.THREADS + w[r.LEVEL]] == 0:
                w[r.PC] = row[i.Z]
        elif op == i.RANGE_NEXT:
            _range_next(w, run, log, programs, values, row, places, scratch)
            if w[r.THREADS + w[r.LEVEL]] > 0:
                w[r.PC] = row[i.Z]
        elif op == i.WHILE:
            _enter(w)
            if n == 0:
                w[r.PC] = row[i.Z]
        elif op == i.WHILE_TEST:
            r.flush(w, run, log, programs)
            _shrink(w, pool, values[0], places[1])
            if w[r.THREADS + w[r.LEVEL]] == 0:
                w[r.PC] = row[i.Z]
        elif op == i.WHILE_NEXT:
            w[r.PC] = row[i.Z]
        elif op == i.END_WHILE or op == i.END_RANGE:
            r.flush(w, run, log, programs)
            _leave(w)
        elif op == i.BARRIER:
            r.flush(w, run, log, programs)
            if n > 0:
                r.write_row(w, log, 0, _record(BARRIER, np.int64(NO_SLOT), np.int64(0), 1), 0, 0, 0, 0)
        elif op == i.WHOLE_CTAS:
            if w[r.LEVEL] > 0 and _parts_of_ctas(index, n, threads_per_cta):
                w[r.WRONG] = row[i.X]
                return PART_OF_A_CTA
        else:
            r.flush(w, run, log, programs)
            return DONE
