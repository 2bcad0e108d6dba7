"""Memory as the machine sees it: element numbers into the log, then elements between memory and registers.

Addresses are those of the host, as in `value_loops`; `elements` is where an access finds the element numbers of its
threads, in the recorder's log.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from warpsift.simt.atomics import joined, largest, least, summed
from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine.thread_values import AT, OPTIONS, ints_at, longs_at, words_at


def _numbers(kind):
    at = AT[kind]

    @njit(**OPTIONS)
    def loop(source, elements, low, high, index, n, dense):
        numbers, written = at(source), ints_at(elements)
        outside = False
        if dense:
            for k in range(n):
                outside |= (numbers[k] < low) | (numbers[k] >= high)
                written[k] = numbers[k]
        else:
            threads = words_at(index)
            for k in range(n):
                element = numbers[threads[k]]
                outside |= (element < low) | (element >= high)
                written[k] = element
        return outside

    return loop


_numbers_int, _numbers_long = _numbers(i.INT32), _numbers(i.INT64)


@njit(**OPTIONS)
def element_numbers(kind, source, elements, limits, index, n, dense):
    """Write element numbers down; gives whether any lies outside of `limits`, from the first to below the second."""
    low, high = limits
    if kind == i.INT32:
        return _numbers_int(source, elements, low, high, index, n, dense)
    return _numbers_long(source, elements, low, high, index, n, dense)


@njit(**OPTIONS)
def wrong_element(kind, source, limits, index, n, first):
    """Of the threads whose elements lie outside: the first one's element number, or the largest of all threads."""
    low, high = limits
    threads = words_at(index)
    found = np.int64(-(1 << 62))
    for k in range(n):
        p = threads[k]
        element = np.int64(ints_at(source)[p]) if kind == i.INT32 else longs_at(source)[p]
        if first and (element < low or element >= high):
            return element
        found = max(found, element)
    return found


def _gather(kind):
    at = AT[kind]

    @njit(**OPTIONS)
    def loop(d, base, elements, index, n, dense):
        values, memory, numbers = at(d), at(base), ints_at(elements)
        if dense:
            for k in range(n):
                values[k] = memory[numbers[k]]
        else:
            threads = words_at(index)
            for k in range(n):
                values[threads[k]] = memory[numbers[k]]

    return loop


def _scatter(kind):
    at = AT[kind]

    @njit(**OPTIONS)
    def loop(b, base, elements, index, n, dense):
        values, memory, numbers = at(b), at(base), ints_at(elements)
        if dense:
            for k in range(n):
                memory[numbers[k]] = values[k]
        else:
            threads = words_at(index)
            for k in range(n):
                memory[numbers[k]] = values[threads[k]]

    return loop


def _by_size(kinds):
    """The same for elements of 1, 4 and 8 bytes."""
    byte, word, long = (kinds(kind) for kind in (i.BYTE, i.UINT32, i.INT64))

    @njit(**OPTIONS)
    def loop(size, values, base, elements, index, n, dense):
        if size == 4:
            word(values, base, elements, index, n, dense)
        elif size == 8:
            long(values, base, elements, index, n, dense)
        else:
            byte(values, base, elements, index, n, dense)

    return loop


gather = _by_size(_gather)  # values = memory[elements]
scatter = _by_size(_scatter)  # memory[elements] = values; of several threads on one element the last wins


@njit(**OPTIONS)
def of_each_cta(elements, moved, length, threads_per_cta, index, n):
    """Element numbers of an array per CTA as those of one array for all: `length` elements of each CTA in turn."""
    numbers, result, threads = ints_at(elements), ints_at(moved), words_at(index)
    last, base = np.int64(-1), np.int64(0)
    end = np.int64(0)
    for k in range(n):
        p = np.int64(threads[k])
        if p >= end:  # threads ascend, so that a CTA's stand together
            last = p // threads_per_cta
            base, end = last * length, (last + 1) * threads_per_cta
        result[k] = base + numbers[k]


@njit(**OPTIONS)
def exchange(size, d, b, base, elements, index, n):
    """Warp after warp: all lanes read, then all lanes write."""
    threads = words_at(index)
    k = 0
    while k < n:
        end = k + 1
        while end < n and threads[end] >> 5 == threads[k] >> 5:
            end += 1
        gather(size, d, base, elements + 4 * k, index + 4 * k, end - k, False)
        scatter(size, b, base, elements + 4 * k, index + 4 * k, end - k, False)
        k = end


def _atomic(changed, kind):
    at = AT[kind]

    @njit(**OPTIONS)
    def loop(d, b, base, elements, index, warps, order, first):
        values, memory, numbers, threads = at(b), at(base), ints_at(elements), words_at(index)
        old_values = at(d if d >= 0 else b)
        for turn in range(warps):
            w = order[turn]
            for k in range(first[w], first[w + 1]):
                p, where = threads[k], numbers[k]
                old = memory[where]
                memory[where] = changed(old, values[p])
                if d >= 0:
                    old_values[p] = old

    return loop


_add_int, _min_int, _max_int = (_atomic(each, i.INT32) for each in (summed, least, largest))
_add_float, _min_float, _max_float = (_atomic(each, i.FLOAT32) for each in (summed, least, largest))
_min_word, _max_word, _or_word = (_atomic(each, i.UINT32) for each in (least, largest, joined))
_add_long, _add_double = _atomic(summed, i.INT64), _atomic(summed, i.FLOAT64)


@njit(**OPTIONS)
def atomics(row, d, b, base, elements, index, warps, order, first):
    """Read-modify-write, warps in the given order, lanes of a warp in theirs; `first`: where each warp begins.

    Of `warps` warps; old values go to `d`, unless that is negative. The tracer knows which kinds there are.
    """
    kind, which = row[i.TYPE], row[i.Z]
    if which == i.ATOMIC_OR:
        _or_word(d, b, base, elements, index, warps, order, first)
    elif kind == i.INT64:
        _add_long(d, b, base, elements, index, warps, order, first)
    elif kind == i.FLOAT64:
        _add_double(d, b, base, elements, index, warps, order, first)
    elif kind == i.FLOAT32:
        if which == i.ATOMIC_ADD:
            _add_float(d, b, base, elements, index, warps, order, first)
        elif which == i.ATOMIC_MIN:
            _min_float(d, b, base, elements, index, warps, order, first)
        else:
            _max_float(d, b, base, elements, index, warps, order, first)
    elif which == i.ATOMIC_ADD:
        _add_int(d, b, base, elements, index, warps, order, first)
    elif kind == i.UINT32:
        if which == i.ATOMIC_MIN:
            _min_word(d, b, base, elements, index, warps, order, first)
        else:
            _max_word(d, b, base, elements, index, warps, order, first)
    elif which == i.ATOMIC_MIN:
        _min_int(d, b, base, elements, index, warps, order, first)
    else:
        _max_int(d, b, base, elements, index, warps, order, first)
