"""The binary searches inside the sparse matrix kernels, step by step as the compiler leaves them.

Places are 64 bits wide there (`ptrdiff_t`, `size_t`); the instructions on their upper halves are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warpsift.hardware import WARP_SIZE
from warpsift.simt import Register
from warpsift.simt.alu_classes import ADD, COMPARE, LOGIC


def upper_bound(t: Any, starts: Any, first: Register, value: Register) -> Register:
    """Of 32 ascending shared words from `first` on, the place of the last that is not above the value."""
    low, length = t.var(0), t.var(WARP_SIZE)
    for _ in t.loop_while(lambda: length > 0):
        half = length >> 1
        t.spend(3, chained=False, classes=(LOGIC,))  # upper half; where the branches meet again
        below = starts.load(first + low + half) <= value
        with t.where(below):
            low += half + 1
            length.set(length - half - 1)
            t.spend(5, chained=False, classes=(LOGIC, ADD))  # upper halves of the pointer and of the length
        with t.otherwise(below):
            length.set(half)
        t.spend(2, classes=(LOGIC, COMPARE))  # the branches meet; upper half of the length
    return low - 1


def merge_coordinate(
    t: Any, diagonal: Register, rows: Any, entries: Any, end_of: Callable[[Register], Register], first_entry: Any
) -> Register:
    """How many of the path's first `diagonal` steps are ends of rows."""
    low = t.var(t.maximum(diagonal - entries, 0))
    high = t.var(t.minimum(diagonal, rows))
    for _ in t.loop_while(lambda: low < high):
        middle = (low + high) >> 1
        t.spend(1)  # carries; other upper halves stand beside the chain
        t.spend(6, chained=False, classes=(LOGIC, ADD))
        passed = end_of(middle) <= diagonal - middle - 1 + first_entry
        low.set(t.select(passed, middle + 1, low))
        high.set(t.select(passed, high, middle))
        t.spend(1, classes=(COMPARE,))
    return low
