"""The machine's main loop: a batch of CTAs through the code of a kernel, row by row, as `Threads` would run its text.

It stops when the kernel is through, when the log is full (it goes on where it stopped once the log is empty), when
there is no room for another program of ALU instructions, or when a thread does what no GPU can do.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from warpsift.simt.cells import cells, offset
from warpsift.simt.coalesce import ATOMICS, LINES, PLAIN, SHARED_WORDS, STORES
from warpsift.simt.stream import ATOMIC, BARRIER, LOAD, NO_SLOT, SHARED, STORE
from warpsift.simt.threads import LONGEST_RUN
from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine import memory_loops, unrolled_loops, warp_loops, warp_order
from warpsift.simt.vector_machine import run_records as r
from warpsift.simt.vector_machine.thread_levels import (
    CTA_THREADS,
    CTAS,
    ELEMENTS,
    MEMORY,
    MOVED,
    SHARED_MEMORY,
    STRETCH_PLACES,
    STRIDE,
    TRUTH,
    VALUES,
    enter,
    leave,
    level_at,
    narrow,
    shrink,
)
from warpsift.simt.vector_machine.thread_values import (
    OPTIONS,
    bytes_at,
    clear,
    compute,
    copy,
    ints_at,
    longs_at,
    words_at,
)

DONE, LOG_FULL, PROGRAMS_FULL, OUTSIDE, OUTSIDE_SHARED, PART_OF_A_CTA = range(6)
ROWS_AT_ONCE = 8  # of the log, that one instruction writes at the most
RUNS_AT_ONCE = 4


@njit(**OPTIONS)
def _next_number(numbers, ends, step, truth, threads, n):
    for k in range(n):
        p = threads[k]
        numbers[p] += step
        truth[p] = numbers[p] < ends[p]


@njit(**OPTIONS)
def _count_up(w, host, row, places, step):
    """Advance a loop's counter and note whether it is below its end."""
    level = w[r.LEVEL]
    n = w[r.THREADS + level]
    threads, truth = words_at(level_at(host, level)), bytes_at(host[TRUTH])
    if i.SIZE_OF[row[i.TYPE]] == 4:
        _next_number(ints_at(places[0]), ints_at(places[3]), step, truth, threads, n)
    else:
        _next_number(longs_at(places[0]), longs_at(places[3]), step, truth, threads, n)
    r.forget_register(w, row[i.DST_REG])


@njit(**OPTIONS)
def _begin_range(w, host, row, places):
    """The first iteration of a loop, for the threads whose counter begins below its end."""
    level = w[r.LEVEL]
    index, n, size = level_at(host, level), w[r.THREADS + level], i.SIZE_OF[row[i.TYPE]]
    copy(size, places[3], places[2], index, n)
    copy(size, places[0], places[1], index, n)
    enter(w)
    _count_up(w, host, row, places, np.int64(0))
    narrow(w, host, host[TRUTH], True)


@njit(**OPTIONS)
def _record(kind, slot, wait, count):
    return np.int64(kind) | slot << 16 | wait << 32 | np.int64(count) << 48


@njit(**OPTIONS)
def _global_access(w, run, log, programs, host, row, places, arrays, generator, orders):
    """LOAD, STORE, ATOMIC; gives DONE or what is wrong."""
    d, a, b, _ = places
    array, shift, op, level = offset(arrays, row[i.X] * i.ARRAY_COLUMNS), row[i.Y], row[i.OP], w[r.LEVEL]
    index, n, size = level_at(host, level), w[r.THREADS + level], array[i.ITEM_BYTES]
    dense = n == w[r.SIZE]
    returns = row[i.DST_REG] >= 0
    slot, wait = r.take_slot(w, run, log, programs, (row[i.A_REG], row[i.B_REG]), returns)
    elements = host[ELEMENTS] + 4 * w[r.LOG_ELEMENTS]
    limits = (-shift, array[i.LENGTH] - shift)
    if memory_loops.element_numbers(row[i.INDEX_TYPE], a, elements, limits, index, n, dense):
        w[r.WRONG] = memory_loops.wrong_element(row[i.INDEX_TYPE], a, limits, index, n, True) + shift
        return OUTSIDE
    place = array[i.PLACE] + shift * size
    base = host[MEMORY] + place
    if n > 0:
        way, kind = (LINES, LOAD) if op == i.LOAD else (STORES, STORE) if op == i.STORE else (ATOMICS, ATOMIC)
        w[r.LOG_ELEMENTS] += n
        low = _record(kind, slot, wait, 1)
        r.write_row(w, log, way, low, array[i.TAG] << 32, w[r.LOG_ELEMENTS], place, size)
        w[r.STAGE] += 1
    if op == i.LOAD:
        memory_loops.gather(size, d, base, elements, index, n, dense)
    elif op == i.STORE:
        memory_loops.scatter(size, b, base, elements, index, n, dense)
    else:
        order, first = orders
        warps = warp_loops.warps_of(index, n, first)
        order[0] = 0
        if n > 1:
            warp_order.shuffle(generator, order, warps)
        memory_loops.atomics(row, d if returns else np.int64(-1), b, base, elements, index, warps, order, first)
    if returns:
        r.comes_from_load(w, row[i.DST_REG], slot)
    return DONE


@njit(**OPTIONS)
def _shared_access(w, run, log, programs, host, row, places, arrays):
    """SHARED_LOAD, SHARED_STORE, SHARED_EXCHANGE; gives DONE or what is wrong."""
    d, a, b, _ = places
    array, op, level = offset(arrays, row[i.X] * i.ARRAY_COLUMNS), row[i.OP], w[r.LEVEL]
    index, n, size = level_at(host, level), w[r.THREADS + level], array[i.ITEM_BYTES]
    dense = n == w[r.SIZE]
    returns = op != i.SHARED_STORE
    used = np.int64(-1) if op == i.SHARED_EXCHANGE else row[i.B_REG]  # an exchange first loads: it needs the index
    slot, wait = r.take_slot(w, run, log, programs, (row[i.A_REG], used), returns)
    elements, limits = host[ELEMENTS] + 4 * w[r.LOG_ELEMENTS], (np.int64(0), array[i.LENGTH])
    if memory_loops.element_numbers(row[i.INDEX_TYPE], a, elements, limits, index, n, dense):
        w[r.WRONG] = memory_loops.wrong_element(row[i.INDEX_TYPE], a, limits, index, n, False)
        return OUTSIDE_SHARED
    if n > 0:
        w[r.LOG_ELEMENTS] += n
        low = _record(SHARED, slot, wait, 0)
        r.write_row(w, log, SHARED_WORDS, low, 0, w[r.LOG_ELEMENTS], array[i.PLACE], size)
        w[r.STAGE] += 1
    if op == i.SHARED_EXCHANGE:
        _, wait = r.take_slot(w, run, log, programs, (row[i.A_REG], row[i.B_REG]), False)
        if n > 0:
            more = host[ELEMENTS] + 4 * w[r.LOG_ELEMENTS]
            again, numbers = ints_at(more), ints_at(elements)
            for k in range(n):
                again[k] = numbers[k]
            w[r.LOG_ELEMENTS] += n
            low = _record(SHARED, np.int64(NO_SLOT), wait, 0)
            r.write_row(w, log, SHARED_WORDS, low, 0, w[r.LOG_ELEMENTS], array[i.PLACE], size)
            w[r.STAGE] += 1
    base, moved = host[SHARED_MEMORY] + array[i.TAG] * 8 * host[CTAS], host[MOVED]
    memory_loops.of_each_cta(elements, moved, array[i.LENGTH], host[CTA_THREADS], index, n)
    if op == i.SHARED_LOAD:
        memory_loops.gather(size, d, base, moved, index, n, dense)
    elif op == i.SHARED_STORE:
        memory_loops.scatter(size, b, base, moved, index, n, dense)
    else:
        memory_loops.exchange(size, d, b, base, moved, index, n)
    if returns:
        r.comes_from_load(w, row[i.DST_REG], slot)
    return DONE


@njit(**OPTIONS)
def _parts_of_ctas(index, n, threads_per_cta):
    """Whether a CTA has some of its threads active and others not."""
    threads = words_at(index)
    k = 0
    while k < n:
        cta = threads[k] // threads_per_cta
        end = k + 1
        while end < n and threads[end] // threads_per_cta == cta:
            end += 1
        if end - k != threads_per_cta:
            return True
        k = end
    return False


@njit(**OPTIONS)
def _full(w):
    """Whether the next instruction may find no room in the log or among the programs."""
    if w[r.PROGRAM_WORDS] + RUNS_AT_ONCE * (LONGEST_RUN + 8) > w[r.MOST_PROGRAM_WORDS]:
        return PROGRAMS_FULL
    if w[r.PROGRAMS] + RUNS_AT_ONCE > w[r.MOST_PROGRAMS]:
        return PROGRAMS_FULL
    if w[r.LOG_ROWS] + ROWS_AT_ONCE > w[r.MOST_ROWS] or w[r.LOG_SCOPES] + 2 > w[r.MOST_SCOPES]:
        return LOG_FULL
    n = w[r.THREADS + w[r.LEVEL]]  # an instruction of few threads asks for little, however many the batch has
    if w[r.LOG_ELEMENTS] + 2 * n > w[r.MOST_ELEMENTS] or w[r.LOG_GROUPS] + min(n, w[r.SIZE] >> 5) > w[r.MOST_GROUPS]:
        return LOG_FULL
    return DONE


@njit(**OPTIONS)
def _assign(w, row, places):
    """NEW_VARIABLE, SET, RENAME: what is known of the register that they make or change."""
    size, register = i.SIZE_OF[row[i.TYPE]], row[i.DST_REG]
    if row[i.OP] == i.NEW_VARIABLE:
        clear(places[0], w[r.SIZE] * size)
        r.forget_register(w, register)
        return
    if row[i.OP] == i.RENAME:
        r.forget_register(w, register)
    if row[i.A_REG] >= 0:
        r.comes_from(w, register, row[i.A_REG])
    else:
        r.comes_from_nowhere(w, register)


@njit(**OPTIONS)
def _control(w, run, log, programs, host, row, places, n):
    """Conditions and loops."""
    op = row[i.OP]
    if op == i.WHILE_NEXT:
        w[r.PC] = row[i.Z]
        return
    if op == i.WHILE:
        enter(w)
        if n == 0:
            w[r.PC] = row[i.Z]
        return
    if op == i.RANGE_NEXT:
        r.advance_loop(w, run)
    r.flush(w, run, log, programs)
    if op == i.WHERE:
        enter(w)
        narrow(w, host, places[1], row[i.X] != 0)
    elif op == i.EXIT:
        narrow(w, host, places[1], False)
    elif op == i.RANGE:
        _begin_range(w, host, row, places)
    elif op == i.RANGE_NEXT:
        _count_up(w, host, row, places, row[i.Y])
        w[r.REGISTERS + row[i.DST_REG] * r.REGISTER_WORDS + r.COUNTS] = 1
        shrink(w, host, host[TRUTH])
    elif op == i.WHILE_TEST:
        shrink(w, host, places[1])
    else:
        leave(w)
    nobody = w[r.THREADS + w[r.LEVEL]] == 0
    if (nobody and (op == i.RANGE or op == i.WHILE_TEST)) or (not nobody and op == i.RANGE_NEXT):
        w[r.PC] = row[i.Z]


def execute(code, w, run, written, programs, host, tables, generator):
    """Go on with the batch that `w` stands in; gives DONE or why it stops."""
    code, w, run, host, generator = cells(code), cells(w), cells(run), cells(host), cells(generator)
    rows, begins, (warps, lanes, first, warp_numbers), elements, pool = written
    log = (
        cells(rows),
        cells(begins),
        (cells(warps), cells(lanes), cells(first), cells(warp_numbers)),
        cells(elements),
        cells(pool),
    )
    words, starts, table = programs
    known = (cells(words), cells(starts), cells(table))
    classes, arrays, shared_arrays = cells(tables[0]), cells(tables[1]), cells(tables[2])
    orders, stretches = (cells(tables[3]), cells(tables[4])), cells(tables[5])
    values, stride = host[VALUES], host[STRIDE]
    while True:
        status = _full(w)
        if status != DONE:
            return status
        row = offset(code, w[r.PC] * i.COLUMNS)
        op, level = row[i.OP], w[r.LEVEL]
        if op == i.GROUP_NEXT and w[r.PROGRAMS] + unrolled_loops.MOST_PROGRAMS > w[r.MOST_PROGRAMS]:
            return PROGRAMS_FULL
        w[r.PC] += 1
        places = (
            values + row[i.DST] * stride,
            values + row[i.A] * stride,
            values + row[i.B] * stride,
            values + row[i.C] * stride,
        )
        index, n = level_at(host, level), w[r.THREADS + level]
        if row[i.STRETCH] >= 0:
            stretch = offset(stretches, 3 * row[i.STRETCH])
            code_at, places_at = stretch[np.int64(n == w[r.SIZE])], host[STRETCH_PLACES] + 8 * stretch[2]
            compute(code_at, values, stride, index, n, places_at)
        if op <= i.LAST_VALUE:
            if op == i.WARP:
                warp_loops.together(row, places, index, n, host[CTA_THREADS])
            if row[i.CLASS] >= 0:
                r.count_instruction(w, run, log, known, row, row[i.DST_REG])
        elif op == i.SPEND:
            r.spend(w, run, log, known, row[i.Y], row[i.Z] != 0, classes, row[i.X])
        elif op == i.ADDRESS:
            r.pay_address(w, run, log, known, row)
        elif op <= i.RENAME:
            _assign(w, row, places)
        elif op < i.GROUPS:
            _control(w, run, log, known, host, row, places, n)
        elif op < i.FINISH:
            if unrolled_loops.control(w, run, log, known, host, row, places, classes):
                return LOG_FULL
        elif op == i.FINISH:
            r.flush(w, run, log, known)
            return DONE
        elif op <= i.ATOMIC:
            status = _global_access(w, run, log, known, host, row, places, arrays, generator, orders)
        elif op <= i.SHARED_EXCHANGE:
            status = _shared_access(w, run, log, known, host, row, places, shared_arrays)
        elif op == i.BARRIER:
            r.flush(w, run, log, known)
            if n > 0:
                r.write_row(w, log, PLAIN, _record(BARRIER, np.int64(NO_SLOT), np.int64(0), 1), 0, 0, 0, 0)
        elif level > 0 and _parts_of_ctas(index, n, host[CTA_THREADS]):
            w[r.WRONG] = row[i.X]
            return PART_OF_A_CTA
        if status != DONE:
            return status
