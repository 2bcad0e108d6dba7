"""Atomic read-modify-write on device memory, in the order in which warps arrive; each thread gets the old value.

`warps` is that order, `first` where each warp's threads begin; lanes of a warp go in order. Nothing is done, and an
empty array given, if an element lies outside of the memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable


@njit(cache=True)
def _outside(memory, element):
    wrong = 0
    for k in range(element.size):
        wrong |= element[k] < 0 or element[k] >= memory.size
    return wrong != 0


def _atomic(name, changed):
    """The compiled atomic; by its own name, since Numba tells cached code of several processes apart by that alone."""

    def apply(memory, element, operand, warps, first):
        if _outside(memory, element):
            return np.empty(0, memory.dtype)
        old = np.empty(element.size, memory.dtype)
        for w in warps:
            for k in range(first[w], first[w + 1]):
                old[k] = memory[element[k]]
                memory[element[k]] = changed(old[k], operand[k])
        return old

    apply.__name__ = apply.__qualname__ = name
    return njit(cache=True)(apply)


# `register_jitable` leaves plain functions, which Numba's cache knows by their names; it would not find compiled ones
@register_jitable
def summed(old, operand):
    return old + operand


@register_jitable
def least(old, operand):
    return operand if operand < old else old


@register_jitable
def largest(old, operand):
    return operand if operand > old else old


@register_jitable
def joined(old, operand):
    return old | operand


add = _atomic("add", summed)
minimum = _atomic("minimum", least)
maximum = _atomic("maximum", largest)
bit_or = _atomic("bit_or", joined)
