"""`t`, the threads of a batch: what a kernel's text talks to.

Every method acts on the active threads of all CTAs in the batch at once and records what each warp would issue. Two
global rules stand for what a compiler adds, taken from the PTX that nvcc and clang emit (docs/instruction-counts.md):
  addressing  `a[i]` costs a `mul.wide` once per index and element size and an `add.s64` once per index and array;
              a constant displacement is free; a constant index costs nothing; the address of a loop counter is
              advanced by one add per iteration and array (strength reduction)
  loops       entry: compare and branch; every further iteration: increment, compare, branch
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from warpsift.simt.alu_classes import ADD, COMPARE, CONTROL, LOGIC, MAD, MINMAX
from warpsift.simt.recorder import Recorder
from warpsift.simt.registers import KernelError, Register, Value, Variable
from warpsift.simt.scope import Batch, Scope
from warpsift.simt.stream import SLOTS
from warpsift.simt.unrolling import Group, is_innermost, unrolled

LONGEST_RUN = 60_000  # OP.count has 16 bits


class _Inside:
    """The body of a condition: entered with the threads for which it holds, left with those that were there before."""

    __slots__ = ("_condition", "_otherwise", "_outer", "_threads")

    def __init__(self, threads: Threads, condition: Register, otherwise: bool) -> None:
        self._threads = threads
        self._condition = condition
        self._otherwise = otherwise

    def __enter__(self) -> None:
        t, condition = self._threads, self._condition
        if not self._otherwise:
            t._branch_on(condition)
        outer = self._outer = t.scope
        holds = condition.at(outer)
        inner = outer.narrow(~holds if self._otherwise else holds)
        t._flush()
        t.scope = inner
        t._depth += 1

    def __exit__(self, *_: object) -> None:
        t = self._threads
        t._flush()
        t._depth -= 1
        t.scope = self._outer


class Threads:
    """The `t` of a kernel. See also `collectives` for shared memory, barriers, ballots and scans."""

    unroll = 1  # iterations of an innermost loop that the compiler puts side by side
    bindings: Mapping[str, Any] = MappingProxyType({})  # what the commands to special units work on, by unit

    def __init__(self, batch: Batch, recorder: Recorder) -> None:
        self.batch = batch
        self.root = Scope(batch.shape.positions, batch)
        self.scope = self.root
        self._recorder = recorder
        self._loads = 0  # serial number of the next load
        self._run = 0  # serial number of the current ALU run
        self._depth = 0  # of the conditions and loops around the statement that runs
        self._abandoned = ""  # the loop that the kernel's text left before its end
        self._alu = self._nothing = recorder.programs.nothing  # the current ALU run
        self._alu_wait = 0  # slots that it waits for
        self._group: Group | None = None  # the iterations of an unrolled loop that run

    # ------------------------------------------------------------------ identity
    # Special registers; cached, so that address arithmetic on one is paid once, as a compiler would.
    @cached_property
    def id(self) -> Register:
        """Global thread number (blockIdx.x * blockDim.x + threadIdx.x)."""
        batch = self.batch
        ids = batch.cta_numbers[:, None] * batch.threads_per_cta + np.arange(batch.threads_per_cta)
        return Register(self, ids.reshape(-1).astype(np.int32), self.root)

    @cached_property
    def lane(self) -> Register:
        return Register(self, self.batch.shape.lane, self.root)

    @cached_property
    def in_cta(self) -> Register:
        """Thread number inside its CTA (threadIdx.x)."""
        return Register(self, self.batch.shape.in_cta, self.root)

    @cached_property
    def cta(self) -> Register:
        """CTA number (blockIdx.x)."""
        return Register(self, self.batch.cta_numbers.astype(np.int32)[self.batch.shape.cta], self.root)

    def finish(self) -> None:
        """`ret`."""
        if self._abandoned:
            raise KernelError(
                f"a 't.{self._abandoned}' loop was left before its end, which ends it for all threads: carry the "
                "decision in a variable, 'going = t.var(1)', and write 'for _ in t.loop_while(lambda: going == 1):'"
            )
        self.spend(1, classes=(CONTROL,))
        self._flush()

    # ------------------------------------------------------------------ arithmetic
    def alu(self, values: np.ndarray | None, *operands: Value, op: int) -> Any:
        """Record one ALU instruction and wrap its result; `op` is its class or family (alu_classes)."""
        wait, depth, needs = self._dependences(operands)
        run = self._alu
        if run.count and (wait & ~self._alu_wait or run.count >= LONGEST_RUN):
            self._flush()
            run, depth, needs = self._nothing, 0, ()
        self._alu_wait |= wait
        if values is None:
            self._alu = run.then(op, None, needs, depth)
            return None
        self._alu = run.then(op, values.dtype, needs, depth)
        result = Register(self, values, self.scope)
        result.run, result.place, result.chain = self._run, run.count, depth + 1
        return result

    def spend(self, instructions: int, chained: bool = True, classes: tuple[int, ...] = (ADD,)) -> None:
        """Record ALU instructions that produce no register of ours: branches, address arithmetic, shuffles.

        They are of the given classes in turn.
        """
        if self._alu.count + instructions > LONGEST_RUN:
            self._flush()
        self._alu = self._alu.spend(instructions, chained, classes)

    def _dependences(self, operands: tuple[Value, ...]) -> tuple[int, int, tuple[int, ...]]:
        """Slots to wait for, how deep in the current ALU run the operands stand, and their places in it."""
        wait = depth = 0
        needs: tuple[int, ...] = ()
        if self._group is not None:
            self._group.used(operands)
        scope, run, settled = self.scope, self._run, max(self._loads - SLOTS, -1)
        for operand in operands:
            if not isinstance(operand, Register):
                continue
            load = operand.load
            if load > settled and not scope.has_waited(load):
                wait |= 1 << operand.slot
                scope.waited.add(load)
            elif operand.run == run:
                if operand.chain > depth:
                    depth = operand.chain
                needs += (operand.place,)
        return wait, depth, needs

    def _flush(self) -> None:
        """End the current ALU run."""
        run = self._alu
        if run is not self._nothing:
            if run.count and self.scope.index.size:
                low, high = run.record or self._recorder.programs.record(run)
                self._recorder.plain(self.scope, low | self._alu_wait << 32, high)
            self._alu = self._nothing
            self._alu_wait = 0
        self._run += 1

    def var(self, value: Value, dtype: DTypeLike | None = None) -> Variable:
        """A variable that conditions and loops may assign."""
        if isinstance(value, Register):
            values = value.at(self.scope)
            dtype = dtype or values.dtype
        else:
            values = value
            dtype = dtype or (np.int32 if isinstance(value, (int, np.integer)) else np.float32)
        variable = Variable(self, np.zeros(self.batch.size, dtype))
        variable.set(value)
        return variable

    def select(self, condition: Register, yes: Value, no: Value) -> Register:
        """`condition ? yes : no`, without a branch."""
        scope = self.scope
        a = yes.at(scope) if isinstance(yes, Register) else yes
        b = no.at(scope) if isinstance(no, Register) else no
        if not isinstance(yes, Register) and isinstance(no, Register):
            a = b.dtype.type(a)
        if not isinstance(no, Register) and isinstance(yes, Register):
            b = a.dtype.type(b)
        return self.alu(np.where(condition.at(scope), a, b), condition, yes, no, op=COMPARE)

    def shift_left(self, value: int, by: Register, dtype: DTypeLike = np.uint32) -> Register:
        """A constant shifted by a register, in the given type (say, an unsigned bit mask)."""
        bits = by.at(self.scope).astype(dtype)
        return self.alu(np.left_shift(np.array(value, dtype), bits), by, op=LOGIC)

    def bits(self, value: Register) -> Register:
        """The same 32 bits read as an integer (no instruction: registers have no type)."""
        result = Register(self, value.at(self.scope).view(np.int32), self.scope)
        result.comes_from(value)
        return result

    def minimum(self, a: Register, b: Value) -> Register:
        return a._binary(b, np.minimum, MINMAX)

    def maximum(self, a: Register, b: Value) -> Register:
        return a._binary(b, np.maximum, MINMAX)

    def fma(self, a: Register, b: Value, c: Value) -> Register:
        """a * b + c in one instruction."""
        scope = self.scope
        x, y, z = (v.at(scope) if isinstance(v, Register) else v for v in (a, b, c))
        return self.alu(x * y + z, a, b, c, op=MAD)

    # ------------------------------------------------------------------ control
    def where(self, condition: Register) -> _Inside:
        """The body runs for the threads for which the condition holds (one branch instruction)."""
        return _Inside(self, condition, otherwise=False)

    def otherwise(self, condition: Register) -> _Inside:
        """The other side of a `where`: the branch is already paid."""
        return _Inside(self, condition, otherwise=True)

    def exit_where(self, condition: Register) -> None:
        """`if (condition) return;`, at the outermost level: inside a condition the threads would come back."""
        if self._depth:
            raise KernelError(
                "t.exit_where(condition) stands inside a condition or a loop, after which its threads would go on: "
                "write it at the outermost level of the kernel, or put the rest under 'with t.otherwise(condition):'"
            )
        self._branch_on(condition)
        self._flush()
        self.scope = self.scope.narrow(~condition.at(self.scope))

    def range(self, begin: Value, end: Value = None, step: int = 1) -> Iterator[Register]:
        """`for (i = begin; i < end; i += step)`, for as many iterations as the longest thread needs.

        Begin and end are registers or plain integers; `t.range(end)` begins at 0.
        """
        begin, end = (0, begin) if end is None else (begin, end)
        if not isinstance(step, (int, np.integer)) or step < 1:
            raise KernelError(f"the step of t.range must be a positive integer, not {step!r}")
        if self.unroll > 1 and self._group is None and is_innermost(sys._getframe(1)):
            return unrolled(self, begin, end, int(step), self.unroll)
        return self._one_by_one(begin, end, step)

    def _one_by_one(self, begin: Value, end: Value, step: int) -> Iterator[Register]:
        """The loop as its text has it."""
        outer = self.scope
        current, stop = self._bounds(begin, end)
        self.alu(None, begin, end, op=COMPARE)
        self.spend(1, classes=(CONTROL,))
        self._flush()
        scope = outer.narrow(current < stop)
        if scope.relative is not None and scope is not outer:
            current, stop = current.take(scope.relative), stop.take(scope.relative)
        first = True
        self._depth += 1
        try:
            while len(scope):
                self.scope = scope
                counter = Register(self, current, scope)
                counter.counts = not first  # the first iteration stands for the set-up in front of the loop
                first = False
                yield counter
                self._alu = self._alu.advance_loop()
                self._flush()
                current = current + current.dtype.type(step)
                keep = current < stop
                if np.count_nonzero(keep) < keep.size:
                    kept = keep.nonzero()[0]
                    current, stop = current.take(kept), stop.take(kept)
                    scope = outer.inner(kept if scope is outer else scope.positions_in(outer)[kept])
        except GeneratorExit:
            self._abandoned = "range"
            raise
        finally:
            self._flush()
            self._depth -= 1
            self.scope = outer

    def _bounds(self, begin: Value, end: Value) -> tuple[np.ndarray, np.ndarray]:
        """First and last value of a loop's counter, one per thread; plain integers take the other's type."""
        given = [bound.at(self.scope) if isinstance(bound, Register) else bound for bound in (begin, end)]
        for bound in given:
            integer = isinstance(bound, (int, np.integer)) or (
                isinstance(bound, np.ndarray) and bound.dtype.kind in "iu"
            )
            if not integer or isinstance(bound, bool):
                raise KernelError(f"t.range counts integers, not {getattr(bound, 'dtype', repr(bound))}")
        kind = next((bound.dtype for bound in reversed(given) if isinstance(bound, np.ndarray)), np.dtype(np.int32))
        full = [b if isinstance(b, np.ndarray) else np.full(len(self.scope), b, kind) for b in given]
        return full[0], full[1]

    def loop_while(self, condition: Callable[[], Register]) -> Iterator[None]:
        """`while (condition())`: the condition is evaluated, and counted, before every iteration."""
        outer = self.scope
        scope = outer
        self._depth += 1
        try:
            while len(scope):
                self.scope = scope
                holds = condition()
                self._branch_on(holds)
                self._flush()
                kept = holds.at(scope).nonzero()[0]
                if kept.size < len(scope):
                    scope = outer.inner(kept if scope is outer else scope.positions_in(outer)[kept])
                    self.scope = scope
                if len(scope):
                    yield
        except GeneratorExit:
            self._abandoned = "loop_while"
            raise
        finally:
            self._flush()
            self._depth -= 1
            self.scope = outer

    def _branch_on(self, condition: Register) -> None:
        if not isinstance(condition, Register):
            raise KernelError("a condition must be a register; for a launch-wide choice use a plain Python 'if'")
        self.alu(None, condition, op=CONTROL)
