"""Moving elements between registers and memory, and the check that every access stays inside of its array.

Values are moved as words of their size, whatever they mean. Element numbers come as int32 or int64. A function that
meets one outside of the array gives fewer elements than it was asked for, and has written nothing.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def gather(memory, element, offset):
    """memory[element + offset]."""
    found = np.empty(element.size, memory.dtype)
    size = memory.size
    for k in range(element.size):
        at = np.int64(element[k]) + offset
        if at < 0 or at >= size:
            return found[:k]
        found[k] = memory[at]
    return found


@njit(cache=True)
def inside(element, offset, size):
    """How many leading elements lie in an array of this size."""
    for k in range(element.size):
        at = np.int64(element[k]) + offset
        if at < 0 or at >= size:
            return k
    return element.size


@njit(cache=True)
def scatter(memory, element, offset, values):
    """memory[element + offset] = values; of several on one element the last wins. Gives how many lay inside."""
    count = inside(element, offset, memory.size)
    if count == element.size:
        for k in range(count):
            memory[np.int64(element[k]) + offset] = values[k]
    return count


@njit(cache=True)
def shared_gather(memory, length, cta, index, element):
    """`gather` from the array of each thread's own CTA: `length` elements per CTA, `index` the threads."""
    found = np.empty(element.size, memory.dtype)
    for k in range(element.size):
        at = np.int64(element[k])
        if at < 0 or at >= length:
            return found[:k]
        found[k] = memory[cta[index[k]] * length + at]
    return found


@njit(cache=True)
def shared_scatter(memory, length, cta, index, element, values):
    """`scatter` to the array of each thread's own CTA."""
    count = inside(element, 0, length)
    if count == element.size:
        for k in range(count):
            memory[cta[index[k]] * length + element[k]] = values[k]
    return count


@njit(cache=True)
def shared_exchange(memory, length, cta, index, element, values, first):
    """Per warp: all lanes read, then all lanes write. `first` is where each warp begins."""
    old = np.empty(element.size, memory.dtype)
    count = inside(element, 0, length)
    if count < element.size:
        return old[:count]
    for w in range(first.size - 1):
        for k in range(first[w], first[w + 1]):
            old[k] = memory[cta[index[k]] * length + element[k]]
        for k in range(first[w], first[w + 1]):
            memory[cta[index[k]] * length + element[k]] = values[k]
    return old
