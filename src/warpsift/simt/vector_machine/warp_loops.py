"""What the threads of a warp or a CTA do together: votes, scans, sums, shuffles, over the active threads.

Addresses as in `value_loops`; `threads` are the positions of the active threads, which ascend.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from warpsift.hardware import WARP_SIZE
from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine.thread_values import AT, OPTIONS, bytes_at, ints_at, longs_at, words_at


@njit(**OPTIONS)
def end_of_warp(threads, n, k):
    """Where the warp of the k-th active thread ends."""
    end = k + 1
    while end < n and threads[end] >> 5 == threads[k] >> 5:
        end += 1
    return end


@njit(**OPTIONS)
def warps_of(index, n, first):
    """Where each warp begins among the active threads, and one more; gives how many there are."""
    threads = words_at(index)
    k, count = 0, 0
    while k < n:
        first[count] = k
        count += 1
        k = end_of_warp(threads, n, k)
    first[count] = n
    return count


def _scan(kind):
    """Inclusive prefix sums, as differences of sums over all threads: what NumPy is asked for, to the last bit."""
    at, zeros = AT[kind], i.TYPES[kind]

    @njit(**OPTIONS)
    def loop(d, a, threads, n):
        result, values = at(d), at(a)
        k = 0
        sums = np.zeros(2, zeros)  # over all so far, and before this warp
        while k < n:
            end = end_of_warp(threads, n, k)
            sums[1] = sums[0]
            for m in range(k, end):
                p = threads[m]
                sums[0] = sums[0] + values[p] if m > 0 else values[p]
                result[p] = sums[0] - sums[1]
            k = end

    return loop


@njit(**OPTIONS)
def _pairwise(held, n):
    """The sum of n values in NumPy's order: eight sums side by side, then those, then the rest; held[0] is it."""
    if n < 8:
        for m in range(1, n):
            held[0] += held[m]
        return
    whole = n - n % 8
    for m in range(8, whole):
        held[m % 8] += held[m]
    held[0] = ((held[0] + held[1]) + (held[2] + held[3])) + ((held[4] + held[5]) + (held[6] + held[7]))
    for m in range(whole, n):
        held[0] += held[m]


def _sum(kind):
    at, zeros = AT[kind], i.TYPES[kind]

    @njit(**OPTIONS)
    def loop(d, a, threads, n):
        result, values = at(d), at(a)
        held = np.zeros(WARP_SIZE + 1, zeros)
        k = 0
        while k < n:
            end = end_of_warp(threads, n, k)
            for m in range(k + 1, end):
                held[m - k - 1] = values[threads[m]]
            if end - k > 1:
                _pairwise(held, end - k - 1)
                held[0] = values[threads[k]] + held[0]
            else:
                held[0] = values[threads[k]]
            for m in range(k, end):
                result[threads[m]] = held[0]
            k = end

    return loop


def _largest(kind):
    at = AT[kind]

    @njit(**OPTIONS)
    def loop(d, a, threads, n):
        result, values = at(d), at(a)
        k = 0
        while k < n:
            end = end_of_warp(threads, n, k)
            found = values[threads[k]]
            for m in range(k + 1, end):
                other = values[threads[m]]
                found = found if found >= other or found != found else other
            for m in range(k, end):
                result[threads[m]] = found
            k = end

    return loop


def _shuffle(kind):
    """The value of a lane of the same warp, 0 if it is not active."""
    at, zeros = AT[kind], i.TYPES[kind]

    @njit(**OPTIONS)
    def loop(d, a, wanted, threads, n):
        result, values, lanes = at(d), at(a), longs_at(wanted)
        held = np.zeros(WARP_SIZE, zeros)
        k = 0
        while k < n:
            end = end_of_warp(threads, n, k)
            held[:] = 0
            for m in range(k, end):
                held[threads[m] & (WARP_SIZE - 1)] = values[threads[m]]
            for m in range(k, end):
                result[threads[m]] = held[lanes[threads[m]] & (WARP_SIZE - 1)]
            k = end

    return loop


_scan_ints, _scan_longs = _scan(i.INT32), _scan(i.INT64)
_sum_ints, _sum_floats = _sum(i.INT32), _sum(i.FLOAT32)
_largest_int, _largest_float = _largest(i.INT32), _largest(i.FLOAT32)
_shuffle_word, _shuffle_long = _shuffle(i.UINT32), _shuffle(i.INT64)


@njit(**OPTIONS)
def _ballot(d, a, threads, n):
    words, truth = words_at(d), bytes_at(a)
    k = 0
    while k < n:
        end = end_of_warp(threads, n, k)
        bits = np.int64(0)
        for m in range(k, end):
            bits |= np.int64(truth[threads[m]]) << np.int64(threads[m] & (WARP_SIZE - 1))
        for m in range(k, end):
            words[threads[m]] = bits
        k = end


@njit(**OPTIONS)
def _count_bits(d, a, threads, n):
    ints, words = ints_at(d), words_at(a)
    for k in range(n):
        bits, count = np.int64(words[threads[k]]), 0
        while bits:
            bits &= bits - 1
            count += 1
        ints[threads[k]] = count


@njit(**OPTIONS)
def _any(d, a, threads, n, group):
    """Whether any active thread of a group of so many says so."""
    result, truth = bytes_at(d), bytes_at(a)
    k = 0
    while k < n:
        end, found = k, False
        beyond = (np.int64(threads[k]) // group + 1) * group
        while end < n and threads[end] < beyond:
            found |= truth[threads[end]] != 0
            end += 1
        for m in range(k, end):
            result[threads[m]] = found
        k = end


@njit(**OPTIONS)
def together(row, places, index, n, threads_per_cta):
    """An instruction of the kind WARP."""
    d, a, b, _ = places
    kind, which = row[i.TYPE], row[i.X]
    threads = words_at(index)
    if which == i.BALLOT:
        _ballot(d, a, threads, n)
    elif which == i.POPCOUNT:
        _count_bits(d, a, threads, n)
    elif which == i.ANY:
        _any(d, a, threads, n, np.int64(WARP_SIZE))
    elif which == i.CTA_ANY:
        _any(d, a, threads, n, threads_per_cta)
    elif which == i.SHUFFLE:
        if i.SIZE_OF[kind] == 4:
            _shuffle_word(d, a, b, threads, n)
        else:
            _shuffle_long(d, a, b, threads, n)
    elif which == i.SCAN:
        if kind == i.INT32:
            _scan_ints(d, a, threads, n)
        else:
            _scan_longs(d, a, threads, n)
    elif which == i.SUM:
        if kind == i.INT32:
            _sum_ints(d, a, threads, n)
        else:
            _sum_floats(d, a, threads, n)
    elif kind == i.INT32:
        _largest_int(d, a, threads, n)
    else:
        _largest_float(d, a, threads, n)
