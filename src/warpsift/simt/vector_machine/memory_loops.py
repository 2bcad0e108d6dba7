"""Memory as the machine sees it: element numbers into the log, then elements between memory and registers.

`values`, `memory` and `shared` are each the same bytes in six types, as in `value_loops`. Every access writes the element
numbers of its threads to the recorder's log first, and takes them from there.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine.value_loops import OPTIONS, convert


@njit(**OPTIONS)
def _numbers(source, a, elements, at, limits, index, n, dense):
    """Write element numbers down; gives the place of the first thread whose element lies outside, or n."""
    low, high = limits
    for k in range(n):
        element = np.int64(source[a + (np.int64(k) if dense else np.int64(index[k]))])
        if element < low or element >= high:
            return np.int64(k)
        elements[at + k] = element
    return np.int64(n)


@njit(**OPTIONS)
def element_numbers(values, row, a, elements, at, limits, index, n, dense):
    if row[i.INDEX_TYPE] == i.INT32:
        return _numbers(values[1], a >> 2, elements, at, limits, index, n, dense)
    return _numbers(values[3], a >> 3, elements, at, limits, index, n, dense)


@njit(**OPTIONS)
def largest(values, row, a, index, n, dense):
    """The largest element number of the active threads."""
    found = np.int64(-(1 << 62))
    for k in range(n):
        p = np.int64(k) if dense else np.int64(index[k])
        element = np.int64(values[1][(a >> 2) + p]) if row[i.INDEX_TYPE] == i.INT32 else values[3][(a >> 3) + p]
        found = max(found, element)
    return found


@njit(**OPTIONS)
def wrong_element(values, row, a, place, index, dense):
    """The element number of the thread at this place."""
    p = np.int64(place) if dense else np.int64(index[place])
    return np.int64(values[1][(a >> 2) + p]) if row[i.INDEX_TYPE] == i.INT32 else values[3][(a >> 3) + p]


@njit(**OPTIONS)
def _gather(view, d, memory, base, elements, at, index, n, dense):
    if dense:
        for k in range(n):
            view[d + k] = memory[base + elements[at + k]]
    else:
        for k in range(n):
            view[d + index[k]] = memory[base + elements[at + k]]


@njit(**OPTIONS)
def gather(values, size, d, memory, base, elements, at, index, n, dense):
    """values = memory[elements], elements of `size` bytes; `d` and `base` in bytes."""
    if size == 4:
        _gather(values[2], d >> 2, memory[2], base >> 2, elements, at, index, n, dense)
    elif size == 8:
        _gather(values[3], d >> 3, memory[3], base >> 3, elements, at, index, n, dense)
    else:
        _gather(values[0], d, memory[0], base, elements, at, index, n, dense)


@njit(**OPTIONS)
def _scatter(view, b, memory, base, elements, at, index, n, dense):
    if dense:
        for k in range(n):
            memory[base + elements[at + k]] = view[b + k]
    else:
        for k in range(n):
            memory[base + elements[at + k]] = view[b + index[k]]


@njit(**OPTIONS)
def scatter(values, size, b, memory, base, elements, at, index, n, dense):
    """memory[elements] = values; of several threads on one element the last wins."""
    if size == 4:
        _scatter(values[2], b >> 2, memory[2], base >> 2, elements, at, index, n, dense)
    elif size == 8:
        _scatter(values[3], b >> 3, memory[3], base >> 3, elements, at, index, n, dense)
    else:
        _scatter(values[0], b, memory[0], base, elements, at, index, n, dense)


@njit(**OPTIONS)
def _shared_gather(view, d, memory, base, elements, at, per_cta, index, n):
    threads, length = per_cta
    for k in range(n):
        p = np.int64(index[k])
        view[d + p] = memory[base + (p // threads) * length + elements[at + k]]


@njit(**OPTIONS)
def shared_gather(values, size, d, memory, base, elements, at, per_cta, index, n):
    """`gather` from the array of each thread's own CTA; `per_cta`: threads, elements."""
    if size == 4:
        _shared_gather(values[2], d >> 2, memory[2], base >> 2, elements, at, per_cta, index, n)
    elif size == 8:
        _shared_gather(values[3], d >> 3, memory[3], base >> 3, elements, at, per_cta, index, n)
    else:
        _shared_gather(values[0], d, memory[0], base, elements, at, per_cta, index, n)


@njit(**OPTIONS)
def _shared_scatter(view, b, memory, base, elements, at, per_cta, index, n):
    threads, length = per_cta
    for k in range(n):
        p = np.int64(index[k])
        memory[base + (p // threads) * length + elements[at + k]] = view[b + p]


@njit(**OPTIONS)
def shared_scatter(values, size, b, memory, base, elements, at, per_cta, index, n):
    if size == 4:
        _shared_scatter(values[2], b >> 2, memory[2], base >> 2, elements, at, per_cta, index, n)
    elif size == 8:
        _shared_scatter(values[3], b >> 3, memory[3], base >> 3, elements, at, per_cta, index, n)
    else:
        _shared_scatter(values[0], b, memory[0], base, elements, at, per_cta, index, n)


@njit(**OPTIONS)
def shared_exchange(values, size, places, memory, base, elements, at, per_cta, index, n):
    """Warp after warp: all lanes read into the first place, then all write from the second."""
    d, b = places
    k = 0
    while k < n:
        end = k + 1
        while end < n and index[end] >> 5 == index[k] >> 5:
            end += 1
        warp = index[k:end]
        shared_gather(values, size, d, memory, base, elements, at + k, per_cta, warp, end - k)
        shared_scatter(values, size, b, memory, base, elements, at + k, per_cta, warp, end - k)
        k = end


def _atomic(changed):
    @njit(**OPTIONS)
    def apply(view, places, memory, base, elements, at, index, n, order, first):
        d, b = places
        for w in order:
            for k in range(first[w], first[w + 1]):
                p = np.int64(index[k])
                where = base + elements[at + k]
                old = memory[where]
                memory[where] = changed(old, view[b + p])
                if d >= 0:
                    view[d + p] = old

    return apply


@register_jitable
def _sum(old, operand):
    return old + operand


@register_jitable
def _least(old, operand):
    return operand if operand < old else old


@register_jitable
def _largest(old, operand):
    return operand if operand > old else old


@register_jitable
def _bits(old, operand):
    return old | operand


_atomic_add, _atomic_min, _atomic_max, _atomic_or = (_atomic(each) for each in (_sum, _least, _largest, _bits))


@njit(**OPTIONS)
def _ordered(view, which, places, memory, base, elements, at, index, n, order, first):
    if which == i.ATOMIC_ADD:
        _atomic_add(view, places, memory, base, elements, at, index, n, order, first)
    elif which == i.ATOMIC_MIN:
        _atomic_min(view, places, memory, base, elements, at, index, n, order, first)
    else:
        _atomic_max(view, places, memory, base, elements, at, index, n, order, first)


@njit(**OPTIONS)
def _scaled(places, shift):
    d, b = places
    return (d >> shift if d >= 0 else d, b >> shift)


@njit(**OPTIONS)
def atomics(values, row, places, memory, base, elements, at, index, n, order, first):
    """Read-modify-write, warps in the given order, lanes of a warp in theirs; `first`: where each warp begins."""
    kind, which = row[i.TYPE], row[i.Z]
    half, full = _scaled(places, 2), _scaled(places, 3)
    if which == i.ATOMIC_OR:
        if i.SIZE_OF[kind] == 4:
            _atomic_or(values[2], half, memory[2], base >> 2, elements, at, index, n, order, first)
        else:
            _atomic_or(values[3], full, memory[3], base >> 3, elements, at, index, n, order, first)
    elif kind == i.INT32:
        _ordered(values[1], which, half, memory[1], base >> 2, elements, at, index, n, order, first)
    elif kind == i.UINT32:
        _ordered(values[2], which, half, memory[2], base >> 2, elements, at, index, n, order, first)
    elif kind == i.INT64:
        _ordered(values[3], which, full, memory[3], base >> 3, elements, at, index, n, order, first)
    elif kind == i.FLOAT32:
        _ordered(values[4], which, half, memory[4], base >> 2, elements, at, index, n, order, first)
    else:
        _ordered(values[5], which, full, memory[5], base >> 3, elements, at, index, n, order, first)


@njit(**OPTIONS)
def copy(values, size, d, a, index, n, dense):
    """values = other values of the same size."""
    if size == 4:
        convert(values[2], d >> 2, values[2], a >> 2, index, n, dense)
    elif size == 8:
        convert(values[3], d >> 3, values[3], a >> 3, index, n, dense)
    else:
        convert(values[0], d, values[0], a, index, n, dense)
