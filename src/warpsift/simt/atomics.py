"""Atomic read-modify-write on device memory, in the order in which warps arrive; each thread gets the old value."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def expand_order(warp_order, lanes, first, n):
    """From an order of warps to an order of threads."""
    order = np.empty(n, np.int64)
    at = 0
    for w in warp_order:
        for k in range(first[w], first[w] + lanes[w]):
            order[at] = k
            at += 1
    return order


@njit(cache=True)
def add(memory, position, operand, order):
    old = np.empty(position.size, memory.dtype)
    for k in order:
        old[k] = memory[position[k]]
        memory[position[k]] += operand[k]
    return old


@njit(cache=True)
def minimum(memory, position, operand, order):
    old = np.empty(position.size, memory.dtype)
    for k in order:
        old[k] = memory[position[k]]
        if operand[k] < old[k]:
            memory[position[k]] = operand[k]
    return old


@njit(cache=True)
def maximum(memory, position, operand, order):
    old = np.empty(position.size, memory.dtype)
    for k in order:
        old[k] = memory[position[k]]
        if operand[k] > old[k]:
            memory[position[k]] = operand[k]
    return old


@njit(cache=True)
def bit_or(memory, position, operand, order):
    old = np.empty(position.size, memory.dtype)
    for k in order:
        old[k] = memory[position[k]]
        memory[position[k]] |= operand[k]
    return old
