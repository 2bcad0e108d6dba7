"""Unrolled loops in the machine: what `simt/unrolling.py` does, on rows of the log.

The iterations of a group write their rows down one after the other. At the group's end the rows change places where
that is allowed: runs of arithmetic side by side as one row, then the loads of all iterations, stage by stage.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from warpsift.simt.coalesce import LOG_COLUMNS, PLAIN
from warpsift.simt.stream import ALU, LOAD, NO_SLOT, SHARED, SLOTS
from warpsift.simt.unrolling import LONGEST_MERGED
from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine import run_records as r
from warpsift.simt.vector_machine.thread_levels import TRUTH, enter, keep, leave, level_at
from warpsift.simt.vector_machine.thread_values import OPTIONS, bytes_at, copy, ints_at, longs_at, words_at

MOST_PROGRAMS = 64  # that a group's end may add: a few for each of its stages, of which there are at most SLOTS + 1
ROWS_OF_AN_INSTRUCTION = 4  # of the log, at the most


@njit(**OPTIONS)
def _fits(w, group):
    """Whether the log has room for all rows of a group, twice: they are put in order behind themselves."""
    rows = 2 * ROWS_OF_AN_INSTRUCTION * (group[i.Y] + 4)
    n = w[r.THREADS + w[r.LEVEL]]
    warps = (group[i.FLOAT] + 2) * min(n, w[r.SIZE] >> 5)
    return (
        w[r.LOG_ROWS] + rows <= w[r.MOST_ROWS]
        and w[r.LOG_SCOPES] + group[i.FLOAT] + 4 <= w[r.MOST_SCOPES]
        and w[r.LOG_ELEMENTS] + 2 * (group[i.INDEX_TYPE] + 1) * n <= w[r.MOST_ELEMENTS]
        and w[r.LOG_GROUPS] + warps <= w[r.MOST_GROUPS]
    )


@njit(**OPTIONS)
def control(w, run, log, programs, host, row, places, classes):
    """The rows from GROUPS to END_GROUPS; gives whether a group waits for an empty log."""
    op, factor, left = row[i.OP], row[i.X], longs_at(places[3])
    if op == i.GROUP:
        if _narrow(w, host, row, left, (w[r.NUMBER] + 1) * factor, False):
            if not _fits(w, row):  # chosen again once the log is empty
                w[r.LEVEL] = w[r.FRAMES + w[r.FRAME] - 1]
                w[r.PC] -= 1
                return True
            _new_counter(w, row, w[r.NUMBER] > 0, np.int64(0))
            w[r.IN_GROUP], w[r.ITERATION], w[r.EARLY] = 1, 0, r.NEVER
            w[r.FIRST_RUN], w[r.FIRST_LOAD] = w[r.RUN], w[r.LOADS]
            _begin_iteration(w)
        return False
    if op == i.REST_STEP:
        if _narrow(w, host, row, left, w[r.NUMBER] + 1, True):
            _new_counter(w, row, w[r.STARTED] != 0 or w[r.NUMBER] > 0, np.int64(0))
        return False
    if op == i.GROUP_NEXT or op == i.REST_NEXT:
        r.advance_loop(w, run)
    r.flush(w, run, log, programs)
    if op == i.GROUPS:
        _count_iterations(w, host, row, places)
        enter(w)
        w[r.NUMBER] = w[r.STARTED] = 0
    elif op == i.GROUP_STEP:
        _advance(w, host, row, places[0])
        _new_counter(w, row, w[r.NUMBER] > 0, w[r.REGISTERS + row[i.DST_REG] * r.REGISTER_WORDS + r.ADDRESSED])
        w[r.ITERATION] += 1
        _begin_iteration(w)
    elif op == i.GROUP_NEXT:
        w[r.IN_GROUP] = 0
        w[r.BEGINS + factor] = w[r.LOG_ROWS]
        _hand_on(w, run, log[0], programs, factor)
        _advance(w, host, row, places[0])
        w[r.STARTED] = 1
        _again(w, row)
    elif op == i.REST:
        if _is_any_left(w, host, left, factor):
            r.spend(w, run, log, programs, np.int64(2), True, classes, row[i.Y])
            r.flush(w, run, log, programs)
        w[r.NUMBER] = 0
    elif op == i.REST_NEXT:
        _advance(w, host, row, places[0])
        _again(w, row)
    else:
        leave(w)
    return False


# ---------------------------------------------------------------------- iterations
@njit(**OPTIONS)
def _left(first, stop, left, step, threads, n):
    for k in range(n):
        p = threads[k]
        a, b = np.int64(first[p]), np.int64(stop[p])
        left[p] = (b - a + step - 1) // step if a < b else 0


@njit(**OPTIONS)
def _count_iterations(w, host, row, places):
    """How many iterations each thread has; its counter begins at the first."""
    level = w[r.LEVEL]
    index, n, size = level_at(host, level), w[r.THREADS + level], i.SIZE_OF[row[i.TYPE]]
    threads, left = words_at(index), longs_at(places[3])
    if size == 4:
        _left(ints_at(places[1]), ints_at(places[2]), left, row[i.Y], threads, n)
    else:
        _left(longs_at(places[1]), longs_at(places[2]), left, row[i.Y], threads, n)
    copy(size, places[0], places[1], index, n)


@njit(**OPTIONS)
def _narrow(w, host, row, left, least, of_the_rest):
    """The threads outside of the loop with as many iterations left; where there are none, the loop goes on at Z."""
    outer = w[r.FRAMES + w[r.FRAME] - 1]
    n = w[r.THREADS + outer]
    threads, truth = words_at(level_at(host, outer)), bytes_at(host[TRUTH])
    for k in range(n):
        p = threads[k]
        truth[p] = (left[p] % row[i.X] if of_the_rest else left[p]) >= least
    kept = keep(w, host, outer, outer + 1, host[TRUTH], True)
    if kept == 0:
        w[r.PC] = row[i.Z]
    elif kept < n:
        r.new_scope(w, outer + 1, kept)
        w[r.LEVEL] = outer + 1
    return kept > 0


@njit(**OPTIONS)
def _again(w, row):
    """The next group, or the next iteration of the rest, for threads chosen anew."""
    w[r.NUMBER] += 1
    w[r.LEVEL] = w[r.FRAMES + w[r.FRAME] - 1]
    w[r.PC] = row[i.Z]


@njit(**OPTIONS)
def _is_any_left(w, host, left, factor):
    level = w[r.LEVEL]
    threads = words_at(level_at(host, level))
    some = False
    for k in range(w[r.THREADS + level]):
        some |= left[threads[k]] % factor != 0
    return some


@njit(**OPTIONS)
def _add(numbers, step, threads, n):
    for k in range(n):
        numbers[threads[k]] += step


@njit(**OPTIONS)
def _advance(w, host, row, counter):
    """The counter of the active threads, by a step."""
    level = w[r.LEVEL]
    threads, n = words_at(level_at(host, level)), w[r.THREADS + level]
    if i.SIZE_OF[row[i.TYPE]] == 4:
        _add(ints_at(counter), row[i.Y], threads, n)
    else:
        _add(longs_at(counter), row[i.Y], threads, n)


@njit(**OPTIONS)
def _new_counter(w, row, counts, addressed):
    """The counter is a new register; what its address arithmetic has cost counts for a whole group."""
    r.forget_register(w, row[i.DST_REG])
    at = r.REGISTERS + row[i.DST_REG] * r.REGISTER_WORDS
    w[at + r.COUNTS], w[at + r.ADDRESSED] = counts, addressed


@njit(**OPTIONS)
def _begin_iteration(w):
    w[r.THIS_RUN], w[r.THIS_LOAD], w[r.STAGE] = w[r.RUN], w[r.LOADS], 0
    w[r.BEGINS + w[r.ITERATION]] = w[r.LOG_ROWS]


# ---------------------------------------------------------------------- rows of a group
@njit(**OPTIONS)
def _loads_of(w, rows, iteration):
    loads = 0
    for at in range(w[r.BEGINS + iteration], w[r.BEGINS + iteration + 1]):
        loads += rows[at * LOG_COLUMNS] != PLAIN
    return loads


@njit(**OPTIONS)
def _may_move(w, rows, factor):
    """How many loads an iteration has, if all load and compute alone, for the same threads and apart; otherwise 0."""
    loads = _loads_of(w, rows, np.int64(0))
    for k in range(1, factor):
        if _loads_of(w, rows, k) != loads:
            return 0
    if loads * factor > SLOTS or w[r.EARLY] < loads:
        return 0
    scope = w[r.LOGGED + w[r.LEVEL]]
    for at in range(w[r.BEGINS], w[r.LOG_ROWS]):
        low = rows[at * LOG_COLUMNS + 1]
        kind, slot = low & 255, (low >> 16) & 255
        moves = kind == ALU or (kind in (LOAD, SHARED) and slot != NO_SLOT)
        if not moves or rows[at * LOG_COLUMNS + 3] != scope:
            return 0
    return loads


@njit(**OPTIONS)
def _copy_row(rows, source, target):
    for column in range(LOG_COLUMNS):
        rows[target * LOG_COLUMNS + column] = rows[source * LOG_COLUMNS + column]


@njit(**OPTIONS)
def _hand_on(w, run, rows, programs, factor):
    """Put the rows of a group in order, behind themselves, and then in their place."""
    loads = _may_move(w, rows, factor)
    if loads == 0:
        return
    begin, end = w[r.BEGINS], w[r.LOG_ROWS]
    put = end
    for stage in range(loads + 1):
        number = 0
        while True:  # the first run of each iteration's stage, the second, ...
            before = put
            for k in range(factor):
                at = _run_of(w, rows, k, stage, number)
                if at >= 0:
                    _copy_row(rows, at, put)
                    put += 1
            if put == before:
                break
            put = _merged(w, run, rows, programs, before, put, stage == loads)
            number += 1
        for k in range(factor):
            at = _load_of(w, rows, k, stage)
            if at >= 0:
                _copy_row(rows, at, put)
                put += 1
    for at in range(end, put):
        _copy_row(rows, at, begin + at - end)
    w[r.LOG_ROWS] = begin + put - end


@njit(**OPTIONS)
def _run_of(w, rows, iteration, stage, number):
    """The row of the run of this number in a stage of an iteration, or -1."""
    seen, runs = 0, 0
    for at in range(w[r.BEGINS + iteration], w[r.BEGINS + iteration + 1]):
        if rows[at * LOG_COLUMNS] != PLAIN:
            seen += 1
        elif seen == stage:
            if runs == number:
                return at
            runs += 1
    return np.int64(-1)


@njit(**OPTIONS)
def _load_of(w, rows, iteration, stage):
    """The row of the load that ends a stage, or -1."""
    seen = 0
    for at in range(w[r.BEGINS + iteration], w[r.BEGINS + iteration + 1]):
        if rows[at * LOG_COLUMNS] != PLAIN:
            if seen == stage:
                return at
            seen += 1
    return np.int64(-1)


@njit(**OPTIONS)
def _merged(w, run, rows, programs, first, last, serial):
    """Runs of different iterations as one row; gives where the next row goes."""
    count = wait = floats = chain = np.int64(0)
    for at in range(first, last):
        low, high = rows[at * LOG_COLUMNS + 1], rows[at * LOG_COLUMNS + 2]
        count += (low >> 48) & 0xFFFF
        wait |= (low >> 32) & 0xFFFF
        floats += (high >> 32) & 0xFFFF
        length = (high >> 48) & 0xFFFF
        chain = chain + length if serial else max(chain, length)
    if last - first < 2 or count > LONGEST_MERGED:
        return last
    if serial:
        _in_turn(run, rows, programs, first, last)
    else:
        _interleaved(run, rows, programs, first, last)
    w[r.COUNT] = count
    number = r.program_number(w, run, programs)
    w[r.COUNT] = 0
    rows[first * LOG_COLUMNS + 1] = np.int64(ALU | NO_SLOT << 16) | wait << 32 | count << 48
    rows[first * LOG_COLUMNS + 2] = number | floats << 32 | chain << 48
    return first + 1


@njit(**OPTIONS)
def _program_of(rows, programs, at):
    """Where the words of a row's program begin, and how many there are."""
    starts = programs[1]
    number = rows[at * LOG_COLUMNS + 2] & 0xFFFFFFFF
    return starts[number], starts[number + 1] - starts[number]


@njit(**OPTIONS)
def _in_turn(run, rows, programs, first, last):
    """`unrolling.in_turn`: each program needs the last result of the one before it."""
    words, put = programs[0], np.int64(0)
    for at in range(first, last):
        begin, count = _program_of(rows, programs, at)
        moved = put
        for k in range(count):
            word = words[begin + k]
            needs = (word >> 5) & 7
            made = word & 31
            if needs == r.BESIDE:
                made = word
            elif needs == 0 and moved > 0:
                made |= (1 << 5) | (moved - 1) << 8
            else:
                made |= needs << 5
                for n in range(needs):
                    made |= (((word >> (8 + 16 * n)) & 0xFFFF) + moved) << (8 + 16 * n)
            run[put] = made
            put += 1


@njit(**OPTIONS)
def _interleaved(run, rows, programs, first, last):
    """`unrolling.interleaved`: independent programs, an instruction of each in turn."""
    words, put, longest = programs[0], np.int64(0), np.int64(0)
    for at in range(first, last):
        longest = max(longest, _program_of(rows, programs, at)[1])
    for k in range(longest):
        for at in range(first, last):
            begin, count = _program_of(rows, programs, at)
            if k >= count:
                continue
            word = words[begin + k]
            needs = (word >> 5) & 7
            made = word
            if needs != r.BESIDE:
                made = (word & 31) | needs << 5
                for n in range(needs):
                    need = (word >> (8 + 16 * n)) & 0xFFFF
                    made |= _place(rows, programs, first, last, at, need) << (8 + 16 * n)
            run[put] = made
            put += 1


@njit(**OPTIONS)
def _place(rows, programs, first, last, which, k):
    """Where instruction k of a program stands among the interleaved ones."""
    place = np.int64(0)
    for at in range(first, last):
        count = _program_of(rows, programs, at)[1]
        place += min(count, k)
        if at < which and count > k:
            place += 1
    return place
