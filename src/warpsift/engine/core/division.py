"""Division by run-time geometry: a shift where the divisor is a power of two, which it nearly always is.

A 64-bit division takes the host 20 to 40 clocks and an access needs a dozen of them; a shift and a branch that always
goes the same way take two.
"""

from __future__ import annotations

from warpsift.engine.core.jit import compiled, i64


def shift_of(divisor: int) -> int:
    """log2 of a power of two, -1 for every other number."""
    return divisor.bit_length() - 1 if divisor & (divisor - 1) == 0 else -1


@compiled(i64, i64, i64, i64)
def quotient(value, divisor, shift):
    return value >> shift if shift >= 0 else value // divisor


@compiled(i64, i64, i64, i64)
def remainder(value, divisor, shift):
    return value & (divisor - 1) if shift >= 0 else value % divisor
