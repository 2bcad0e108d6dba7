"""Small pieces of logic that several stages use."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value


def encode(one_hot: Value, n: int) -> Value:
    """Number of the set bit of a one-hot value of n bits (0 if none)."""
    width = max(1, (n - 1).bit_length())
    masks = [sum(1 << i for i in range(n) if i >> b & 1) for b in range(width)]
    return Cat(*((one_hot & mask).any() for mask in masks))


def lowest(value: Value, n: int) -> Value:
    """The lowest set bit, as one-hot."""
    return (value & (~value + 1))[:n]


def select_first(m: Module, bits: Value, n: int, count: int, name: str) -> tuple[list[Signal], Signal]:
    """One-hot choices of the first `count` set bits among n, and what is left."""
    left = bits
    chosen = []
    for j in range(count):
        pick = Signal(n, name=f"{name}_pick{j}")
        rest = Signal(n, name=f"{name}_rest{j}")
        m.d.comb += [pick.eq(lowest(left, n)), rest.eq(left & ~pick)]
        chosen.append(pick)
        left = rest
    return chosen, rest


def below(count: Value, n: int) -> Value:
    """A mask of the `count` lowest of n bits."""
    return ((1 << count) - 1)[:n]


def minimum(a: Value, b: Value) -> Value:
    return Mux(a < b, a, b)


def ordered(value: Value, kind: Value, bits: int) -> Value:
    """A number as an unsigned value of the same order: unsigned, signed or IEEE float (kinds as in interfaces)."""
    sign = value[bits - 1]
    top = 1 << (bits - 1)
    as_float = Mux(sign, ~value, value | top)[:bits]
    return Mux(kind == 2, as_float, Mux(kind == 1, value ^ top, value))[:bits]
