"""The order in which warps reach L2: `numpy.random.Generator.permutation` for compiled code, number by number.

PCG64 (O'Neill 2014, XSL-RR output), and bounded numbers by rejection, as NumPy shuffles. Numba can call NumPy's
generator itself, but compiles seven seconds for it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from warpsift.simt.vector_machine.thread_values import OPTIONS

STATE_HIGH, STATE_LOW, STEP_HIGH, STEP_LOW, HELD, HOLDS = range(6)  # of a generator; the last: whether HELD is unused
WORDS = 6
_HIGH, _LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
_HALF, _LOW_HALF, _ROTATION = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(58)
_ONE, _ZERO, _ALL = np.uint64(1), np.uint64(0), np.uint64(63)


def words_of(generator: np.random.Generator) -> np.ndarray:
    """The state of a generator that has drawn nothing yet."""
    state = generator.bit_generator.state
    numbers = state["state"]["state"], state["state"]["inc"]
    halves = [half for number in numbers for half in (number >> 64, number & (1 << 64) - 1)]
    return np.array([*halves, state["uinteger"], state["has_uint32"]], np.uint64)


@njit(**OPTIONS)
def _product_high(x, y):
    """The upper half of a product of two 64-bit numbers."""
    x_low, x_high = x & _LOW_HALF, x >> _HALF
    y_low, y_high = y & _LOW_HALF, y >> _HALF
    middle = x_high * y_low + (x_low * y_low >> _HALF)
    other = x_low * y_high + (middle & _LOW_HALF)
    return x_high * y_high + (middle >> _HALF) + (other >> _HALF)


@njit(**OPTIONS)
def _next_64(g):
    low = g[STATE_LOW] * _LOW
    high = _product_high(g[STATE_LOW], _LOW) + g[STATE_HIGH] * _LOW + g[STATE_LOW] * _HIGH
    g[STATE_LOW] = low + g[STEP_LOW]
    carry = _ONE if g[STATE_LOW] < low else _ZERO
    g[STATE_HIGH] = high + g[STEP_HIGH] + carry
    by = g[STATE_HIGH] >> _ROTATION
    mixed = g[STATE_HIGH] ^ g[STATE_LOW]
    return mixed >> by | mixed << ((_ALL + _ONE - by) & _ALL)


@njit(**OPTIONS)
def _next_32(g):
    if g[HOLDS] != _ZERO:
        g[HOLDS] = _ZERO
        return g[HELD]
    found = _next_64(g)
    g[HOLDS] = _ONE
    g[HELD] = found >> _HALF
    return found & _LOW_HALF


@njit(**OPTIONS)
def _up_to(g, largest):
    """A number from 0 to `largest`: so many bits as it has, drawn until they are not above it."""
    mask = np.int64(1)
    while mask < largest:
        mask = 2 * mask + 1
    found = np.int64(_next_32(g)) & mask
    while found > largest:
        found = np.int64(_next_32(g)) & mask
    return found


@njit(**OPTIONS)
def shuffle(g, order, count):
    """Write 0 to count - 1 to `order`, shuffled."""
    for k in range(count):
        order[k] = k
    for k in range(count - 1, 0, -1):
        other = _up_to(g, k)
        order[k], order[other] = order[other], order[k]
