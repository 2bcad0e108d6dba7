"""Registers while a kernel is traced: a type and a number, no values. Their arithmetic becomes instructions.

Which type a result has is asked of NumPy, once per operation and types, so that it is the one that `Register` would
have. Where the machine computes in another type (bytes as 32-bit integers, say), casts stand around the instruction;
they are not counted, since a GPU has no such instructions either.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from warpsift.simt import alu_classes
from warpsift.simt.registers import Register, Value
from warpsift.simt.vector_machine import instruction_set as i

if TYPE_CHECKING:
    from warpsift.simt.vector_machine.kernel_tracer import Tracer

ARITHMETIC: dict[Any, int] = {
    operator.add: i.ADD, operator.sub: i.SUB, operator.mul: i.MUL, operator.truediv: i.DIVIDE,
    operator.floordiv: i.FLOOR_DIVIDE, operator.mod: i.MODULO, np.minimum: i.MIN, np.maximum: i.MAX,
}  # fmt: skip
BITWISE: dict[Any, int] = {
    operator.and_: i.AND, operator.or_: i.OR, operator.xor: i.XOR,
    operator.lshift: i.SHIFT_LEFT, operator.rshift: i.SHIFT_RIGHT,
}  # fmt: skip
COMPARISONS: dict[Any, int] = {
    operator.eq: i.EQUAL, operator.ne: i.NOT_EQUAL, operator.lt: i.LESS, operator.le: i.LESS_EQUAL,
    operator.gt: i.GREATER, operator.ge: i.GREATER_EQUAL,
}  # fmt: skip
WIDER = {i.BOOL: i.INT32, i.BYTE: i.INT32, i.UINT32: i.INT64}  # in which small unsigned types are computed


class UntraceableError(Exception):
    """The kernel's text cannot be written down; it runs batch by batch."""


def type_number(kind: DTypeLike) -> int:
    """The machine's number of a type."""
    found = i.TYPE_OF.get(np.dtype(kind))
    if found is None:
        raise UntraceableError(f"values of type {np.dtype(kind)}")
    return found


@lru_cache(maxsize=4096)
def types_of(function: Callable[..., Any], left: Any, right: Any) -> tuple[np.dtype, np.dtype]:
    """The types in which NumPy computes and answers; `left` and `right` are dtypes, or types of plain numbers."""
    x, y = (np.ones(1, side) if isinstance(side, np.dtype) else side(1) for side in (left, right))
    return np.result_type(x, y), np.asarray(function(x, y)).dtype


def side_of(value: Value) -> Any:
    """What NumPy's rules ask of an operand: its dtype, or the type of a plain number."""
    if isinstance(value, TracedRegister):
        return value.dtype
    if isinstance(value, (bool, int, float)):
        return type(value)
    if isinstance(value, np.generic):
        return type(value)
    raise UntraceableError(f"an operand of type {type(value).__name__}")


class TracedRegister(Register):
    """A value that every active thread will have."""

    __slots__ = ("block", "number", "type")

    threads: Tracer

    def __init__(self, threads: Tracer, number: int) -> None:
        super().__init__(threads, None, None)  # type: ignore[arg-type]
        self.number = number
        self.type = threads.trace.type_of(number)
        self.block = threads.block

    @property
    def dtype(self) -> np.dtype:
        return i.TYPES[self.type]

    def at(self, scope: Any) -> np.ndarray:
        raise UntraceableError("the text asks for the values of a register")

    def _binary(self, other: Value, function: Callable[..., Any], op: int, swapped: bool = False) -> Register:
        left, right = (other, self) if swapped else (self, other)
        return binary(self.threads, function, (left, right), op, (self, other))

    def astype(self, dtype: DTypeLike) -> Register:
        t, wanted = self.threads, type_number(dtype)
        values = t.trace.cast(t.value_of(self), wanted)
        if values == self.number:
            values = t.trace.copy(values)
        return t.counted(values, (self,), alu_classes.CONVERT)

    def __neg__(self) -> Register:
        return unary(self, operator.neg, i.NEGATE, alu_classes.ADD)

    def __invert__(self) -> Register:
        return unary(self, operator.invert, i.NOT if self.type == i.BOOL else i.INVERT, alu_classes.LOGIC)

    def __abs__(self) -> Register:
        return unary(self, np.abs, i.ABSOLUTE, alu_classes.ADD)


class TracedVariable(TracedRegister):
    """A register that may be assigned."""

    __slots__ = ()

    def set(self, value: Value) -> None:
        self.threads.assign(self, value)

    def __iadd__(self, other: Value) -> TracedVariable:
        self.set(self + other)
        return self

    def __isub__(self, other: Value) -> TracedVariable:
        self.set(self - other)
        return self

    def __ior__(self, other: Value) -> TracedVariable:
        self.set(self | other)
        return self


def binary(t: Tracer, function: Any, sides: tuple[Value, Value], op: int, needs: tuple[Value, ...]) -> Register:
    """The instruction `function(*sides)`, counted as one of class or family `op` that needs `needs`."""
    return t.counted(binary_values(t, function, *sides), needs, op)


def binary_values(t: Tracer, function: Any, left: Value, right: Value) -> int:
    """The values of `function(left, right)`, not counted."""
    among, answer = (type_number(kind) for kind in types_of(function, side_of(left), side_of(right)))
    computed = among if function in COMPARISONS else answer
    if function in BITWISE:
        if computed == i.UINT32 and function is operator.rshift:
            computed = i.INT64
        elif computed == i.UINT32:
            computed = i.INT32  # the same bits
        elif computed == i.BYTE and function in (operator.lshift, operator.rshift):
            computed = i.INT32
        elif computed not in (i.BOOL, i.BYTE, i.INT32, i.INT64):
            raise UntraceableError(f"{function.__name__} of {i.TYPES[computed]}")
        kind, which = i.BITWISE, BITWISE[function]
    elif function in COMPARISONS:
        computed = WIDER.get(computed, computed)
        kind, which = i.COMPARE, COMPARISONS[function]
    else:
        if computed == i.BOOL:
            raise UntraceableError("arithmetic of booleans")
        computed = WIDER.get(computed, computed)
        kind, which = i.ARITHMETIC, ARITHMETIC[function]
        floating = computed in (i.FLOAT32, i.FLOAT64)
        if floating != (which == i.DIVIDE) and which in (i.DIVIDE, i.FLOOR_DIVIDE, i.MODULO):
            raise UntraceableError(f"{function.__name__} of {i.TYPES[computed]}")
    trace = t.trace
    a, b = (t.value_in(side, among if among in WIDER else computed, computed) for side in (left, right))
    made = trace.new(i.BOOL if kind == i.COMPARE else computed)
    trace.emit(kind, computed, dst=made, a=a, b=b, x=which)
    return trace.cast(made, answer)


def unary(register: TracedRegister, function: Any, which: int, op: int) -> Register:
    t = register.threads
    answer = type_number(function(np.ones(1, register.dtype)).dtype)
    if answer != register.type or (answer != i.BOOL and answer not in (i.INT32, i.INT64, i.FLOAT32, i.FLOAT64)):
        raise UntraceableError(f"{function.__name__} of {register.dtype}")
    if (which == i.NOT) != (answer == i.BOOL) or (which == i.INVERT and answer not in (i.INT32, i.INT64)):
        raise UntraceableError(f"{function.__name__} of {register.dtype}")
    made = t.trace.new(answer)
    t.trace.emit(i.UNARY, answer, dst=made, a=t.value_of(register), x=which)
    return t.counted(made, (register,), op)
