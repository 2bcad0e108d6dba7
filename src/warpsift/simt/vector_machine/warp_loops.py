"""What the threads of a warp or a CTA do together: votes, scans, sums, shuffles, over the active threads."""

from __future__ import annotations

import numpy as np
from numba import njit

from warpsift.hardware import WARP_SIZE
from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine.value_loops import OPTIONS


@njit(**OPTIONS)
def end_of_warp(index, n, k):
    """Where the warp of the k-th active thread ends."""
    end = k + 1
    while end < n and index[end] >> 5 == index[k] >> 5:
        end += 1
    return end


@njit(**OPTIONS)
def warps_of(index, n, first):
    """Where each warp begins among the active threads, and one more; gives how many there are."""
    k, count = 0, 0
    while k < n:
        first[count] = k
        count += 1
        k = end_of_warp(index, n, k)
    first[count] = n
    return count


@njit(**OPTIONS)
def _scan(view, d, a, index, n):
    """Inclusive prefix sums, as the difference of sums over all threads, which is how NumPy is asked for them."""
    if n == 0:
        return
    k = 0
    total = view[a + index[0]]
    started = False
    while k < n:
        end = end_of_warp(index, n, k)
        before = view.dtype.type(0) if not started else total
        for m in range(k, end):
            p = index[m]
            total = view.dtype.type(total + view[a + p]) if started else view[a + p]
            started = True
            view[d + p] = total - before
        k = end


@njit(**OPTIONS)
def _pairwise(view, a, index, begin, end):
    """The sum of some active threads' values in NumPy's order: eight sums side by side, then those, then the rest."""
    n = end - begin
    zero = view.dtype.type(0)
    if n < 8:
        total = view.dtype.type(-zero)
        for m in range(begin, end):
            total = view.dtype.type(total + view[a + index[m]])
        return total
    r0, r1 = view[a + index[begin]], view[a + index[begin + 1]]
    r2, r3 = view[a + index[begin + 2]], view[a + index[begin + 3]]
    r4, r5 = view[a + index[begin + 4]], view[a + index[begin + 5]]
    r6, r7 = view[a + index[begin + 6]], view[a + index[begin + 7]]
    whole = n - n % 8
    for m in range(begin + 8, begin + whole, 8):
        r0 += view[a + index[m]]
        r1 += view[a + index[m + 1]]
        r2 += view[a + index[m + 2]]
        r3 += view[a + index[m + 3]]
        r4 += view[a + index[m + 4]]
        r5 += view[a + index[m + 5]]
        r6 += view[a + index[m + 6]]
        r7 += view[a + index[m + 7]]
    total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    for m in range(begin + whole, end):
        total += view[a + index[m]]
    return view.dtype.type(total)


@njit(**OPTIONS)
def _sum(view, d, a, index, n):
    k = 0
    while k < n:
        end = end_of_warp(index, n, k)
        total = view[a + index[k]]
        if end > k + 1:
            total = view.dtype.type(total + _pairwise(view, a, index, k + 1, end))
        for m in range(k, end):
            view[d + index[m]] = total
        k = end


@njit(**OPTIONS)
def _largest(view, d, a, index, n):
    k = 0
    while k < n:
        end = end_of_warp(index, n, k)
        found = view[a + index[k]]
        for m in range(k + 1, end):
            other = view[a + index[m]]
            found = found if found >= other or found != found else other
        for m in range(k, end):
            view[d + index[m]] = found
        k = end


@njit(**OPTIONS)
def _network(view, which, d, a, index, n):
    if which == i.SCAN:
        _scan(view, d, a, index, n)
    elif which == i.SUM:
        _sum(view, d, a, index, n)
    else:
        _largest(view, d, a, index, n)


@njit(**OPTIONS)
def _ballot(words, d, truth, a, index, n):
    k = 0
    while k < n:
        end = end_of_warp(index, n, k)
        bits = np.uint32(0)
        for m in range(k, end):
            if truth[a + index[m]]:
                bits |= np.uint32(1) << np.uint32(index[m] & (WARP_SIZE - 1))
        for m in range(k, end):
            words[d + index[m]] = bits
        k = end


@njit(**OPTIONS)
def _count_bits(ints, d, words, a, index, n):
    for k in range(n):
        bits = np.int64(words[a + index[k]])
        count = 0
        while bits:
            bits &= bits - 1
            count += 1
        ints[d + index[k]] = count


@njit(**OPTIONS)
def _any(truth, d, a, index, n, group):
    """Whether any active thread of a group of so many says so."""
    k = 0
    while k < n:
        end, found = k, False
        while end < n and index[end] // group == index[k] // group:
            found |= truth[a + index[end]] != 0
            end += 1
        for m in range(k, end):
            truth[d + index[m]] = found
        k = end


@njit(**OPTIONS)
def _shuffle(view, d, a, longs, lanes, index, n, held):
    """The value of a lane of the same warp, 0 if it is not active; `held`: room for a value per lane."""
    k = 0
    while k < n:
        end = end_of_warp(index, n, k)
        for lane in range(WARP_SIZE):
            held[lane] = 0
        for m in range(k, end):
            held[index[m] & (WARP_SIZE - 1)] = m + 1
        for m in range(k, end):
            source = held[longs[lanes + index[m]] & (WARP_SIZE - 1)]
            view[d + index[m]] = view[a + index[source - 1]] if source > 0 else view.dtype.type(0)
        k = end


@njit(**OPTIONS)
def together(values, row, places, index, n, threads_per_cta, held):
    """An instruction of the kind WARP; `places` in bytes."""
    truth, ints, words, longs, floats, doubles = values
    d, a, b, _ = places
    kind, which = row[i.TYPE], row[i.X]
    if which == i.BALLOT:
        _ballot(words, d >> 2, truth, a, index, n)
    elif which == i.POPCOUNT:
        _count_bits(ints, d >> 2, words, a >> 2, index, n)
    elif which == i.ANY:
        _any(truth, d, a, index, n, WARP_SIZE)
    elif which == i.CTA_ANY:
        _any(truth, d, a, index, n, threads_per_cta)
    elif which == i.SHUFFLE:
        if i.SIZE_OF[kind] == 4:
            _shuffle(words, d >> 2, a >> 2, longs, b >> 3, index, n, held)
        else:
            _shuffle(longs, d >> 3, a >> 3, longs, b >> 3, index, n, held)
    elif kind == i.INT32:
        _network(ints, which, d >> 2, a >> 2, index, n)
    elif kind == i.INT64:
        _network(longs, which, d >> 3, a >> 3, index, n)
    elif kind == i.FLOAT32:
        _network(floats, which, d >> 2, a >> 2, index, n)
    else:
        _network(doubles, which, d >> 3, a >> 3, index, n)
