"""Registers: values of all active threads, whose arithmetic is recorded as ALU instructions.

A `Register` is immutable and opaque: it cannot be turned into a NumPy array, so no work escapes the count. A `Variable`
is what a CUDA local variable is when it is assigned under a condition or carried around a loop.

Rule for instructions: one per operation, as PTX has it (an integer division is one PTX instruction too). Nothing is
counted for giving a result a name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from warpsift.errors import WarpsiftError
from warpsift.simt.alu_classes import ADD, COMPARE, CONVERT, DIV, LOGIC, MUL
from warpsift.simt.scope import Scope

if TYPE_CHECKING:
    from warpsift.simt.threads import Threads

Value = Any  # a Register, a Python number or a NumPy scalar
NOWHERE: Any = None  # the scope of a variable, whose values only `at` knows


class KernelError(WarpsiftError):
    """A kernel does something that a GPU kernel cannot do."""


class NoSuchCallError(KernelError, AttributeError):
    """A kernel asks its threads for what they do not have."""


def filled(size: int, value: Value, kind: DTypeLike) -> np.ndarray:
    """np.full, which is slower."""
    values = np.empty(size, kind)
    values.fill(value)
    return values


class Register:
    __array_ufunc__ = None  # `numpy_scalar + register` comes to us

    __slots__ = (
        "addressed", "chain", "counts", "load", "place", "run", "scope", "slot", "threads", "values",
    )  # fmt: skip

    def __init__(self, threads: Threads, values: np.ndarray, scope: Scope) -> None:
        self.threads = threads
        self.values = values
        self.scope = scope
        self.slot = -1  # scoreboard slot of the load that produced it, or -1
        self.load = -1  # that load's serial number
        self.run = -1  # the ALU run that produced it
        self.chain = 0  # its place in the dependent chain of that run
        self.place = 0  # and among all its instructions
        self.counts = False  # whether it is the counter of a loop
        self.addressed: set[int] | None = None  # address arithmetic already done with this register

    @property
    def dtype(self) -> np.dtype:
        """The type of its values."""
        return self.values.dtype

    def comes_from(self, other: Register) -> None:
        """Wait for what the other waits for: this is the same value under another name."""
        self.slot, self.load = other.slot, other.load
        self.run, self.chain, self.place = other.run, other.chain, other.place

    def at(self, scope: Scope) -> np.ndarray:
        """The values of the threads of `scope`."""
        if self.scope is scope:
            return self.values
        try:
            positions = scope.positions_in(self.scope)
        except LookupError:
            raise KernelError(
                "a register made under a condition or inside a loop is used outside of it; "
                "carry the value in a variable made by t.var(...)"
            ) from None
        return self.values.take(positions)

    def _binary(self, other: Value, function: Callable[..., Any], op: int, swapped: bool = False) -> Register:
        threads = self.threads
        scope = threads.scope
        # What `at` would give, without the call where the scope is the register's own: the usual case, by the million.
        mine = self.values if self.scope is scope else self.at(scope)
        theirs = other
        if isinstance(other, Register):
            theirs = other.values if other.scope is scope else other.at(scope)
        return threads.alu(function(theirs, mine) if swapped else function(mine, theirs), self, other, op=op)

    def __add__(self, other: Value) -> Register:
        return self._binary(other, operator.add, ADD)

    def __radd__(self, other: Value) -> Register:
        return self._binary(other, operator.add, ADD, swapped=True)

    def __sub__(self, other: Value) -> Register:
        return self._binary(other, operator.sub, ADD)

    def __rsub__(self, other: Value) -> Register:
        return self._binary(other, operator.sub, ADD, swapped=True)

    def __mul__(self, other: Value) -> Register:
        return self._binary(other, operator.mul, MUL)

    def __rmul__(self, other: Value) -> Register:
        return self._binary(other, operator.mul, MUL, swapped=True)

    def __truediv__(self, other: Value) -> Register:
        return self._binary(other, operator.truediv, DIV)

    def __rtruediv__(self, other: Value) -> Register:
        return self._binary(other, operator.truediv, DIV, swapped=True)

    def __floordiv__(self, other: Value) -> Register:
        return self._binary(other, operator.floordiv, DIV)

    def __rfloordiv__(self, other: Value) -> Register:
        return self._binary(other, operator.floordiv, DIV, swapped=True)

    def __mod__(self, other: Value) -> Register:
        return self._binary(other, operator.mod, DIV)

    def __rmod__(self, other: Value) -> Register:
        return self._binary(other, operator.mod, DIV, swapped=True)

    def __lshift__(self, other: Value) -> Register:
        return self._binary(other, operator.lshift, LOGIC)

    def __rlshift__(self, other: Value) -> Register:
        return self._binary(other, operator.lshift, LOGIC, swapped=True)

    def __rshift__(self, other: Value) -> Register:
        return self._binary(other, operator.rshift, LOGIC)

    def __rrshift__(self, other: Value) -> Register:
        return self._binary(other, operator.rshift, LOGIC, swapped=True)

    def __and__(self, other: Value) -> Register:
        return self._binary(other, operator.and_, LOGIC)

    def __rand__(self, other: Value) -> Register:
        return self._binary(other, operator.and_, LOGIC, swapped=True)

    def __or__(self, other: Value) -> Register:
        return self._binary(other, operator.or_, LOGIC)

    def __ror__(self, other: Value) -> Register:
        return self._binary(other, operator.or_, LOGIC, swapped=True)

    def __xor__(self, other: Value) -> Register:
        return self._binary(other, operator.xor, LOGIC)

    def __rxor__(self, other: Value) -> Register:
        return self._binary(other, operator.xor, LOGIC, swapped=True)

    def __eq__(self, other: Value) -> Register:  # type: ignore[override]
        return self._binary(other, operator.eq, COMPARE)

    def __ne__(self, other: Value) -> Register:  # type: ignore[override]
        return self._binary(other, operator.ne, COMPARE)

    def __lt__(self, other: Value) -> Register:
        return self._binary(other, operator.lt, COMPARE)

    def __le__(self, other: Value) -> Register:
        return self._binary(other, operator.le, COMPARE)

    def __gt__(self, other: Value) -> Register:
        return self._binary(other, operator.gt, COMPARE)

    def __ge__(self, other: Value) -> Register:
        return self._binary(other, operator.ge, COMPARE)

    def astype(self, dtype: DTypeLike) -> Register:
        """Convert (one `cvt`)."""
        return self.threads.alu(self.at(self.threads.scope).astype(dtype), self, op=CONVERT)

    def __neg__(self) -> Register:
        return self.threads.alu(-self.at(self.threads.scope), self, op=ADD)

    def __invert__(self) -> Register:
        return self.threads.alu(~self.at(self.threads.scope), self, op=LOGIC)

    def __abs__(self) -> Register:
        return self.threads.alu(np.abs(self.at(self.threads.scope)), self, op=ADD)

    def __bool__(self) -> bool:
        raise KernelError(
            "a register has a value per thread and cannot decide an 'if' or 'while': "
            "use 'with t.where(condition):' or 'for i in t.range(...)'"
        )

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise KernelError(
            "a register cannot become a NumPy array: that work would not be counted. "
            "Store it to a device array and read that on the host"
        )

    def __iter__(self) -> NoReturn:
        raise KernelError("a register cannot be iterated over: use 'for i in t.range(begin, end)'")

    __hash__ = None  # type: ignore[assignment]


class Variable(Register):
    """A register that may be assigned: `v.set(x)` changes it for the active threads only.

    What was last read or assigned is held for the scope in which that happened, and goes back to `storage` when another
    scope asks: a loop whose threads stay the same neither gathers nor scatters its variables.
    """

    __slots__ = ("_held", "_held_at", "_newer", "storage")

    def __init__(self, threads: Threads, storage: np.ndarray) -> None:
        super().__init__(threads, storage, NOWHERE)
        self.storage = storage  # one value per thread of the batch
        self._held_at: Scope | None = None
        self._held = storage
        self._newer = False  # what is held has not been stored

    def at(self, scope: Scope) -> np.ndarray:
        if scope is not self._held_at:
            self._store()
            self._held = self.storage.copy() if scope is self.threads.root else self.storage.take(scope.index)
            self._held_at = scope
        return self._held

    def _store(self) -> None:
        if self._newer and self._held_at is not None:
            self.storage[self._held_at.index] = self._held
            self._newer = False

    def set(self, value: Value) -> None:
        """Assign for the active threads. A constant costs a `mov`; a register is only renamed."""
        scope = self.threads.scope
        kind = self.storage.dtype
        if isinstance(value, Register):
            values = value.at(scope)
            if values.dtype != kind:
                values = values.astype(kind)
            self.comes_from(value)
        else:
            values = filled(scope.index.size, value, kind)
            self.threads.alu(None, op=LOGIC)  # mov
            self.slot = self.load = -1
        self.addressed = None
        if scope is not self._held_at:
            self._store()
            self._held_at = scope
        self._held = values
        self._newer = True

    def __iadd__(self, other: Value) -> Variable:
        self.set(self + other)
        return self

    def __isub__(self, other: Value) -> Variable:
        self.set(self - other)
        return self

    def __ior__(self, other: Value) -> Variable:
        self.set(self | other)
        return self
