"""Atomic read-modify-write on device memory, in the order in which warps arrive; each thread gets the old value.

`warps` is that order, `first` where each warp's threads begin; lanes of a warp go in order. Nothing is done, and an
empty array given, if an element lies outside of the memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _outside(memory, element):
    wrong = 0
    for k in range(element.size):
        wrong |= element[k] < 0 or element[k] >= memory.size
    return wrong != 0


@njit(cache=True)
def add(memory, element, operand, warps, first):
    if _outside(memory, element):
        return np.empty(0, memory.dtype)
    old = np.empty(element.size, memory.dtype)
    for w in warps:
        for k in range(first[w], first[w + 1]):
            old[k] = memory[element[k]]
            memory[element[k]] += operand[k]
    return old


@njit(cache=True)
def minimum(memory, element, operand, warps, first):
    if _outside(memory, element):
        return np.empty(0, memory.dtype)
    old = np.empty(element.size, memory.dtype)
    for w in warps:
        for k in range(first[w], first[w + 1]):
            old[k] = memory[element[k]]
            if operand[k] < old[k]:
                memory[element[k]] = operand[k]
    return old


@njit(cache=True)
def maximum(memory, element, operand, warps, first):
    if _outside(memory, element):
        return np.empty(0, memory.dtype)
    old = np.empty(element.size, memory.dtype)
    for w in warps:
        for k in range(first[w], first[w + 1]):
            old[k] = memory[element[k]]
            if operand[k] > old[k]:
                memory[element[k]] = operand[k]
    return old


@njit(cache=True)
def bit_or(memory, element, operand, warps, first):
    if _outside(memory, element):
        return np.empty(0, memory.dtype)
    old = np.empty(element.size, memory.dtype)
    for w in warps:
        for k in range(first[w], first[w + 1]):
            old[k] = memory[element[k]]
            memory[element[k]] |= operand[k]
    return old
