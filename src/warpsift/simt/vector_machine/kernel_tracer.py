"""`t` while a kernel is traced: the vocabulary of `Threads`, each call written down instead of done.

A text that runs through is the same for every batch: it has seen no values, so it cannot have decided anything by
them. The body of a loop runs twice. If the second time gives other rows (the text carries something from iteration to
iteration in Python's own variables), the kernel is not traced.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from warpsift.simt.alu_classes import ADD, COMPARE, CONTROL, LOGIC, MAD, typed
from warpsift.simt.collectives import CollectiveThreads
from warpsift.simt.registers import Register, Value
from warpsift.simt.unrolling import is_innermost
from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine.trace_writer import TraceWriter
from warpsift.simt.vector_machine.traced_registers import (
    TracedRegister,
    TracedVariable,
    UntraceableError,
    binary_values,
    type_number,
)


class _Unknown:
    """What is known only when a batch runs."""

    def __getattr__(self, name: str) -> NoReturn:
        raise UntraceableError(f"the text asks for '{name}' of a batch or a scope")

    def __len__(self) -> NoReturn:
        raise UntraceableError("the text asks how many threads are active")


class _AnyBatch(_Unknown):
    def __init__(self, threads_per_cta: int) -> None:
        self.threads_per_cta = threads_per_cta


class Block:
    """A stretch of the text whose registers nobody outside may use."""

    def __init__(self, outer: Block | None) -> None:
        self.outer = outer
        self.open = True


class Tracer(CollectiveThreads):
    """Values, conditions and loops; `traced_threads` has memory and what threads do together."""

    def __init__(self, threads_per_cta: int) -> None:
        self.trace = TraceWriter()
        self.block = Block(None)
        self.batch = _AnyBatch(threads_per_cta)  # type: ignore[assignment]
        self.root = self.scope = _Unknown()  # type: ignore[assignment]
        self._recorder = _Unknown()  # type: ignore[assignment]
        self._depth = 0
        self._levels = 1
        self._abandoned = ""

    # ------------------------------------------------------------------ values
    def value_of(self, register: Register) -> int:
        """The number of a register's values, which must be seen from here."""
        if not isinstance(register, TracedRegister) or register.threads is not self:
            raise UntraceableError("a register of another launch")
        if not register.block.open:
            raise UntraceableError("a register is used outside of the condition or loop that made it")
        return register.number

    def value_in(self, value: Value, common: int, computed: int) -> int:
        """An operand in the type in which an instruction computes; plain numbers are first of type `common`."""
        if isinstance(value, Register):
            return self.trace.cast(self.value_of(value), computed)
        return self.trace.constant(value, common, computed)

    def _register_of(self, value: Value) -> int:
        return self.value_of(value) if isinstance(value, Register) else -1

    def counted(self, values: int, needs: tuple[Value, ...], op: int) -> TracedRegister:
        """One ALU instruction that makes these values; the row that made them counts it."""
        kind = i.TYPES[self.trace.type_of(values)]
        self._count(self._maker(values), needs, typed(op, kind), kind.kind == "f", values)
        return TracedRegister(self, values)

    def _maker(self, values: int) -> list[int]:
        row = self.trace.rows[-1]
        if row[i.DST] != values or row[i.CLASS] >= 0 or row[i.OP] > i.LAST_VALUE:
            raise AssertionError("an instruction is counted where its values are made")
        return row

    def _count(self, row: list[int], needs: tuple[Value, ...], cls: int, floating: bool, result: int) -> None:
        row[i.CLASS], row[i.FLOAT], row[i.DST_REG] = cls, int(floating), result
        registers = [self._register_of(each) for each in needs if isinstance(each, Register)]
        for column, number in zip((i.A_REG, i.B_REG, i.C_REG), registers, strict=False):
            row[column] = number

    def alu(self, values: np.ndarray | None, *operands: Value, op: int) -> Any:
        if values is not None:
            raise UntraceableError("values that the text computes by itself")
        self._count(self.trace.emit(i.NOTHING), operands, op, False, -1)

    def spend(self, instructions: int, chained: bool = True, classes: tuple[int, ...] = (ADD,)) -> None:
        self.trace.emit(i.SPEND, x=self.trace.classes(classes), y=instructions, z=int(chained))

    def _flush(self) -> None:
        raise UntraceableError("the text ends a run of instructions by itself")

    # ------------------------------------------------------------------ identity
    def _special(self, name: str) -> TracedRegister:
        number = self.trace.special[name] = self.trace.new_pinned(i.INT32)
        register = TracedRegister(self, number)
        while register.block.outer is not None:  # it is the whole kernel's, wherever the text first asks for it
            register.block = register.block.outer
        return register

    @cached_property
    def id(self) -> Register:
        return self._special("id")

    @cached_property
    def lane(self) -> Register:
        return self._special("lane")

    @cached_property
    def in_cta(self) -> Register:
        return self._special("in_cta")

    @cached_property
    def cta(self) -> Register:
        return self._special("cta")

    def finish(self) -> None:
        if self._abandoned:
            raise UntraceableError("a loop that is left before its end")
        self.spend(1, classes=(CONTROL,))
        self.trace.emit(i.FINISH)

    # ------------------------------------------------------------------ arithmetic
    def var(self, value: Value, dtype: DTypeLike | None = None) -> Any:
        if dtype is None:
            dtype = np.float32
            if isinstance(value, TracedRegister):
                dtype = value.dtype
            elif isinstance(value, (int, np.integer)):
                dtype = np.int32
        number = self.trace.new(type_number(dtype))
        self.trace.emit(i.NEW_VARIABLE, self.trace.type_of(number), dst=number, dst_reg=number)
        variable = TracedVariable(self, number)
        variable.set(value)
        return variable

    def assign(self, variable: TracedVariable, value: Value) -> None:
        """variable = value, for the active threads."""
        target = self.value_of(variable)
        given = self.value_in(value, variable.type, variable.type)
        if not isinstance(value, Register):
            self.alu(None, op=LOGIC)  # mov
        self.trace.emit(i.SET, variable.type, dst=target, a=given, dst_reg=target, a_reg=self._register_of(value))

    def select(self, condition: Register, yes: Value, no: Value) -> Register:
        kind = _type_of_choice(yes, no)
        a, b = self.value_in(yes, kind, kind), self.value_in(no, kind, kind)
        chosen = self.trace.cast(self.value_of(condition), i.BOOL)
        made = self.trace.new(kind)
        self.trace.emit(i.SELECT, kind, dst=made, a=chosen, b=a, c=b)
        return self.counted(made, (condition, yes, no), COMPARE)

    def shift_left(self, value: int, by: Register, dtype: DTypeLike = np.uint32) -> Register:
        kind = type_number(dtype)
        bits = TracedRegister(self, self.trace.cast(self.value_of(by), kind))
        made = binary_values(self, operator.lshift, i.TYPES[kind].type(value), bits)
        return self.counted(made, (by,), LOGIC)

    def bits(self, value: Register) -> Register:
        number = self.value_of(value)
        if i.SIZE_OF[self.trace.type_of(number)] != 4:
            raise UntraceableError("the bits of values that have not 4 bytes")
        made = self.trace.new(i.INT32)
        self.trace.emit(i.RENAME, i.INT32, dst=made, a=number, dst_reg=made, a_reg=number)
        return TracedRegister(self, made)

    def fma(self, a: Register, b: Value, c: Value) -> Register:
        product = TracedRegister(self, binary_values(self, operator.mul, a, b))
        return self.counted(binary_values(self, operator.add, product, c), (a, b, c), MAD)

    # ------------------------------------------------------------------ control
    @contextmanager
    def _inside(self) -> Iterator[None]:
        """A block, one level further in."""
        self.block = Block(self.block)
        self._depth += 1
        self._levels += 1
        self.trace.levels = max(self.trace.levels, self._levels)
        try:
            yield
        finally:
            self._levels -= 1
            self._depth -= 1
            self.block.open = False
            assert self.block.outer is not None
            self.block = self.block.outer

    def _truth(self, condition: Any) -> int:
        if not isinstance(condition, TracedRegister):
            raise UntraceableError("a condition that is no register")
        return self.value_of(condition)

    @contextmanager
    def _where(self, condition: Register, otherwise: bool) -> Iterator[None]:
        holds = self._truth(condition)
        if otherwise and self.trace.type_of(holds) != i.BOOL:
            raise UntraceableError("the other side of a condition that is no boolean")
        if not otherwise:
            self.alu(None, condition, op=CONTROL)
        self.trace.emit(i.WHERE, a=self.trace.cast(holds, i.BOOL), x=int(not otherwise))
        with self._inside():
            yield
        self.trace.emit(i.END_WHERE)

    def where(self, condition: Register) -> Any:
        return self._where(condition, otherwise=False)

    def otherwise(self, condition: Register) -> Any:
        return self._where(condition, otherwise=True)

    def exit_where(self, condition: Register) -> None:
        holds = self._truth(condition)
        if self._depth or self.trace.type_of(holds) != i.BOOL:
            raise UntraceableError("t.exit_where where it does not belong")
        self.alu(None, condition, op=CONTROL)
        self.trace.emit(i.EXIT, a=holds)
        self._levels += 1
        self.trace.levels = max(self.trace.levels, self._levels)

    def _twice(self, body: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        """A loop's body, written down once and run a second time to see that it is the same text."""
        passes = []
        begin = len(self.trace.rows)
        for _ in range(2):
            first_row, first_value = len(self.trace.rows), len(self.trace.types)
            try:
                with self._inside():
                    yield from body()
            except GeneratorExit:
                self._abandoned = "loop"
                raise
            passes.append([_relative(row, first_row, first_value) for row in self.trace.rows[first_row:]])
        if passes[0] != passes[1]:
            raise UntraceableError("a loop whose text differs from iteration to iteration")
        del self.trace.rows[begin + len(passes[0]) :]

    def range(self, begin: Value, end: Value = None, step: int = 1) -> Iterator[Any]:
        begin, end = (0, begin) if end is None else (begin, end)
        if not isinstance(step, (int, np.integer)) or step < 1:
            raise UntraceableError("an odd step")
        if self.unroll > 1 and is_innermost(sys._getframe(1)):
            return self._unrolled(begin, end, int(step))
        return self._range(begin, end, int(step))

    def _bounds_of(self, begin: Value, end: Value) -> tuple[int, int, int]:
        """The type of a loop's counter, and its bounds in it."""
        kinds = [each.type for each in (end, begin) if isinstance(each, TracedRegister)] or [i.INT32]
        plain = [each for each in (begin, end) if not isinstance(each, Register)]
        odd = any(isinstance(each, bool) or not isinstance(each, (int, np.integer)) for each in plain)
        if odd or len(set(kinds)) > 1 or kinds[0] not in (i.INT32, i.INT64):
            raise UntraceableError("a range whose bounds have other or different types")
        return kinds[0], self.value_in(begin, kinds[0], kinds[0]), self.value_in(end, kinds[0], kinds[0])

    def _range(self, begin: Value, end: Value, step: int) -> Iterator[Any]:
        kind, first, stop = self._bounds_of(begin, end)
        self.alu(None, begin, end, op=COMPARE)
        self.spend(1, classes=(CONTROL,))
        counter, kept = self.trace.new(kind), self.trace.new(kind)
        head = self.trace.emit(i.RANGE, kind, dst=counter, a=first, b=stop, c=kept, dst_reg=counter)
        start = len(self.trace.rows)

        def body() -> Iterator[Any]:
            yield TracedRegister(self, counter)

        yield from self._twice(body)
        self.trace.emit(i.RANGE_NEXT, kind, dst=counter, c=kept, dst_reg=counter, y=step, z=start)
        head[i.Z] = len(self.trace.rows)
        self.trace.emit(i.END_RANGE)

    def _unrolled(self, begin: Value, end: Value, step: int) -> Iterator[Any]:
        """`simt/unrolling.py`'s `unrolled`: the body once for each iteration of a group, and once for the rest."""
        factor, rows = self.unroll, self.trace.rows
        kind, first, stop = self._bounds_of(begin, end)
        self.alu(None, begin, end, op=COMPARE)
        self.spend(1, classes=(CONTROL,))
        self.spend(4, classes=(ADD, LOGIC, COMPARE, CONTROL))
        counter, left = self.trace.new(kind), self.trace.new(i.INT64)
        of_loop = {"dst": counter, "c": left, "dst_reg": counter, "x": factor}
        head = self.trace.emit(i.GROUPS, kind, a=first, b=stop, y=step, **of_loop)
        texts: list[list[tuple[int, ...]]] = []

        def body() -> Iterator[Any]:
            first_row, first_value = len(rows), len(self.trace.types)
            try:
                with self._inside():
                    yield TracedRegister(self, counter)
            except GeneratorExit:
                self._abandoned = "loop"
                raise
            texts.append([_relative(row, first_row, first_value) for row in rows[first_row:]])

        group_row = len(rows)
        group = self.trace.emit(i.GROUP, kind, **of_loop)
        for k in range(factor):
            if k:
                self.trace.emit(i.GROUP_STEP, kind, y=step, **of_loop)
            yield from body()
        self.trace.emit(i.GROUP_NEXT, kind, y=step, z=group_row, **of_loop)
        group[i.Z] = len(rows)
        self._weigh(group, rows[group_row:])
        self.trace.emit(i.REST, kind, y=self.trace.classes((COMPARE, CONTROL)), **of_loop)
        rest_row = len(rows)
        rest = self.trace.emit(i.REST_STEP, kind, **of_loop)
        yield from body()
        self.trace.emit(i.REST_NEXT, kind, y=step, z=rest_row, **of_loop)
        rest[i.Z] = head[i.Z] = len(rows)
        self.trace.emit(i.END_GROUPS)
        if any(text != texts[0] for text in texts):
            raise UntraceableError("a loop whose text differs from iteration to iteration")

    @staticmethod
    def _weigh(group: list[int], rows: list[list[int]]) -> None:
        """Note how much of a log a group may take: its rows stay in one log, since they change places."""
        if len(rows) > i.LONGEST_GROUP:
            raise UntraceableError("an unrolled loop with a very long body")
        group[i.Y] = len(rows)
        group[i.INDEX_TYPE] = sum(i.LOAD <= row[i.OP] <= i.SHARED_EXCHANGE for row in rows)
        group[i.FLOAT] = sum(row[i.OP] == i.WHERE for row in rows)

    def loop_while(self, condition: Callable[[], Register]) -> Iterator[None]:
        head = self.trace.emit(i.WHILE)
        start = len(self.trace.rows)

        def body() -> Iterator[None]:
            holds = condition()
            truth = self._truth(holds)
            self.alu(None, holds, op=CONTROL)
            self.trace.emit(i.WHILE_TEST, a=self.trace.cast(truth, i.BOOL))
            tests.append(self.trace.rows[-1])
            yield

        tests: list[list[int]] = []
        yield from self._twice(body)
        self.trace.emit(i.WHILE_NEXT, z=start)
        head[i.Z] = tests[0][i.Z] = len(self.trace.rows)
        self.trace.emit(i.END_WHILE)


def _type_of_choice(yes: Value, no: Value) -> int:
    """The type of `t.select`: of the one that is a register, or what NumPy makes of both."""
    given = [np.ones(1, each.dtype) if isinstance(each, TracedRegister) else each for each in (yes, no)]
    if isinstance(yes, Register) != isinstance(no, Register):
        return type_number((yes if isinstance(yes, Register) else no).dtype)
    return type_number(np.where(np.ones(1, bool), *given).dtype)


def _relative(row: list[int], first_row: int, first_value: int) -> tuple[int, ...]:
    """A row of a loop's body, with its own values and rows numbered from the body's begin."""
    moved = list(row)
    for column in (*i.VALUES, *i.REGISTERS):
        if first_value <= row[column] < i.PINNED:
            moved[column] = first_value - row[column] - 2  # below -1: no value has such a number
    if row[i.OP] in i.JUMPS and row[i.Z]:
        moved[i.Z] = row[i.Z] - first_row
    return tuple(moved)
