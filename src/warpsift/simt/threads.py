"""`t`, the threads of a batch: what a kernel's text talks to.

Every method acts on the active threads of all CTAs in the batch at once and records what each warp would issue. Two
global rules stand for what a compiler adds, taken from the PTX that nvcc and clang emit (docs/instruction-counts.md):
  addressing  `a[i]` costs a `mul.wide` once per index and element size and an `add.s64` once per index and array;
              a constant displacement is free; a constant index costs nothing; the address of a loop counter is
              advanced by one add per iteration and array (strength reduction)
  loops       entry: compare and branch; every further iteration: increment, compare, branch
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from warpsift.hardware import WARP_SIZE
from warpsift.simt import atomics, coalesce
from warpsift.simt.alu_classes import ADD, BESIDE, COMPARE, CONTROL, LOGIC, MAD, MINMAX, MUL, typed
from warpsift.simt.memory import DeviceArray, DeviceMemoryError
from warpsift.simt.recorder import Recorder, pack, pack_high
from warpsift.simt.registers import KernelError, NoSuchCallError, Register, Value, Variable
from warpsift.simt.scope import Scope
from warpsift.simt.stream import ALU, ATOMIC, LOAD, NO_SLOT, SLOTS, STORE

LONGEST_RUN = 60_000  # OP.count has 16 bits


class Batch:
    """Which CTAs run together: their numbers in the grid and their places in the wave's chunk."""

    def __init__(self, cta_numbers: np.ndarray, places: np.ndarray, threads_per_cta: int, seed: int) -> None:
        warps = threads_per_cta // WARP_SIZE
        self.cta_numbers = cta_numbers
        self.threads_per_cta = threads_per_cta
        self.size = cta_numbers.size * threads_per_cta
        self.warp_numbers = (places[:, None] * warps + np.arange(warps)).reshape(-1).astype(np.int32)
        self.rng = np.random.default_rng(seed)


class Threads:
    """The `t` of a kernel. See also `collectives` for shared memory, barriers, ballots and scans."""

    bindings: Mapping[str, Any] = MappingProxyType({})  # what the commands to special units work on, by unit

    def __init__(self, batch: Batch, recorder: Recorder) -> None:
        self.batch = batch
        self.root = Scope(np.arange(batch.size), batch.warp_numbers)
        self.scope = self.root
        self._recorder = recorder
        self._loads = 0  # serial number of the next load
        self._run = 0  # serial number of the current ALU run
        self._depth = 0  # of the conditions and loops around the statement that runs
        self._abandoned = ""  # the loop that the kernel's text left before its end
        self._run_count = self._run_floats = self._run_chain = self._run_wait = 0
        self._program: list[tuple[int, ...]] = []  # of the current ALU run: class and places of what it needs
        self._deepest = -1  # place in the run of the instruction that ends its longest chain

    if not TYPE_CHECKING:  # else every misspelt call of our own would pass the type checker

        def __getattr__(self, name: str) -> Any:
            raise NoSuchCallError(
                f"t.{name}: kernels have no such call; a special unit adds its calls when its arrays are bound, "
                "before the launch"
            )

    # ------------------------------------------------------------------ identity
    # Special registers; cached, so that address arithmetic on one is paid once, as a compiler would.
    @cached_property
    def id(self) -> Register:
        """Global thread number (blockIdx.x * blockDim.x + threadIdx.x)."""
        batch = self.batch
        ids = batch.cta_numbers[:, None] * batch.threads_per_cta + np.arange(batch.threads_per_cta)
        return self._special(ids.reshape(-1))

    @cached_property
    def lane(self) -> Register:
        return self._special(np.arange(self.batch.size) & (WARP_SIZE - 1))

    @cached_property
    def in_cta(self) -> Register:
        """Thread number inside its CTA (threadIdx.x)."""
        return self._special(np.arange(self.batch.size) % self.batch.threads_per_cta)

    @cached_property
    def cta(self) -> Register:
        """CTA number (blockIdx.x)."""
        return self._special(np.repeat(self.batch.cta_numbers, self.batch.threads_per_cta))

    def _special(self, values: np.ndarray) -> Register:
        return Register(self, values.astype(np.int32), self.root)

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
        if (wait & ~self._run_wait and self._run_count) or self._run_count >= LONGEST_RUN:
            self._flush()
            depth, needs = 0, ()
        self._run_wait |= wait
        self._run_count += 1
        if depth >= self._run_chain:
            self._run_chain = depth + 1
            self._deepest = len(self._program)
        self._program.append((op if values is None else typed(op, values.dtype), *needs))
        if values is None:
            return None
        if values.dtype.kind == "f":
            self._run_floats += 1
        result = Register(self, values, self.scope)
        result.run, result.place = self._run, len(self._program) - 1
        result.chain = depth + 1
        return result

    def spend(self, instructions: int, chained: bool = True, classes: tuple[int, ...] = (ADD,)) -> None:
        """Record ALU instructions that produce no register of ours: branches, address arithmetic, shuffles.

        They are of the given classes in turn.
        """
        if self._run_count + instructions > LONGEST_RUN:
            self._flush()
        for k in range(instructions):
            needs: tuple[int, ...] = () if chained else (BESIDE,)
            if chained:
                needs = (self._deepest,) if self._deepest >= 0 else ()
                self._deepest = len(self._program)
            self._program.append((classes[k % len(classes)], *needs))
        self._run_count += instructions
        if chained:
            self._run_chain += instructions

    def _dependences(self, operands: tuple[Value, ...]) -> tuple[int, int, tuple[int, ...]]:
        """Slots to wait for, how deep in the current ALU run the operands stand, and their places in it."""
        wait = depth = 0
        needs: tuple[int, ...] = ()
        scope = self.scope
        for operand in operands:
            if not isinstance(operand, Register):
                continue
            if operand.slot >= 0 and operand.load > self._loads - SLOTS and not scope.has_waited(operand.load):
                wait |= 1 << operand.slot
                scope.waited.add(operand.load)
            elif operand.run == self._run:
                depth = max(depth, operand.chain)
                needs += (operand.place,)
        return wait, depth, needs

    def _flush(self) -> None:
        """End the current ALU run."""
        if self._run_count:
            if len(self.scope):
                low = pack(ALU, NO_SLOT, self._run_wait, self._run_count)
                chain = max(1, min(self._run_chain, self._run_count))
                program = self._recorder.program_number(tuple(self._program))
                self._recorder.plain(self.scope.groups, low, pack_high(self._run_floats, chain, program))
            self._run_count = self._run_floats = self._run_chain = self._run_wait = 0
            self._program.clear()
            self._deepest = -1
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
    @contextmanager
    def _inside(self, scope: Scope) -> Iterator[None]:
        self._flush()
        outer, self.scope = self.scope, scope
        self._depth += 1
        try:
            yield
        finally:
            self._flush()
            self._depth -= 1
            self.scope = outer

    @contextmanager
    def where(self, condition: Register) -> Iterator[None]:
        """The body runs for the threads for which the condition holds (one branch instruction)."""
        self._branch_on(condition)
        keep = condition.at(self.scope)
        inner = self.scope if keep.all() else self.scope.narrow(keep)
        with self._inside(inner):
            yield

    @contextmanager
    def otherwise(self, condition: Register) -> Iterator[None]:
        """The other side of a `where`: the branch is already paid."""
        keep = ~condition.at(self.scope)
        with self._inside(self.scope if keep.all() else self.scope.narrow(keep)):
            yield

    def exit_where(self, condition: Register) -> None:
        """`if (condition) return;`, at the outermost level: inside a condition the threads would come back."""
        if self._depth:
            raise KernelError(
                "t.exit_where(condition) stands inside a condition or a loop, after which its threads would go on: "
                "write it at the outermost level of the kernel, or put the rest under 'with t.otherwise(condition):'"
            )
        self._branch_on(condition)
        self._flush()
        keep = ~condition.at(self.scope)
        if not keep.all():
            self.scope = self.scope.narrow(keep)

    def range(self, begin: Value, end: Value = None, step: int = 1) -> Iterator[Register]:
        """`for (i = begin; i < end; i += step)`, for as many iterations as the longest thread needs.

        Begin and end are registers or plain integers; `t.range(end)` begins at 0.
        """
        begin, end = (0, begin) if end is None else (begin, end)
        if not isinstance(step, (int, np.integer)) or step < 1:
            raise KernelError(f"the step of t.range must be a positive integer, not {step!r}")
        outer = self.scope
        current, stop = self._bounds(begin, end)
        self.alu(None, begin, end, op=COMPARE)
        self.spend(1, classes=(CONTROL,))
        self._flush()
        keep = current < stop
        scope = outer if keep.all() else outer.narrow(keep)
        current, stop = current[keep], stop[keep]
        first = True
        self._depth += 1
        try:
            while len(scope):
                self.scope = scope
                counter = Register(self, current, scope)
                counter.counts = not first  # the first iteration stands for the set-up in front of the loop
                first = False
                yield counter
                self._advance_loop()
                current = current + current.dtype.type(step)
                keep = current < stop
                if not keep.all():
                    current, stop = current[keep], stop[keep]
                    positions = scope.positions_in(outer)[keep] if scope is not outer else np.flatnonzero(keep)
                    scope = Scope(outer.index[positions], outer.warp_numbers, outer, positions)
        except GeneratorExit:
            self._abandoned = "range"
            raise
        finally:
            self._flush()
            self._depth -= 1
            self.scope = outer

    def _advance_loop(self) -> None:
        """Increment, compare and branch: they need the counter only, so they stand beside the body's chain."""
        place = len(self._program)
        self._program += [(ADD,), (COMPARE, place), (CONTROL, place + 1)]
        self._run_count += 3
        self._run_chain = max(self._run_chain, 2)
        self._flush()

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
                keep = holds.at(scope)
                if not keep.all():
                    positions = np.flatnonzero(keep) if scope is outer else scope.positions_in(outer)[keep]
                    scope = Scope(outer.index[positions], outer.warp_numbers, outer, positions)
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

    # ------------------------------------------------------------------ global memory
    def load(self, array: DeviceArray, index: Value, offset: int = 0) -> Register:
        """array[index + offset]."""
        position, address = self._address(array, index, offset)
        slot = self._issue(LOAD, coalesce.emit_lines, array, address, True, (index,))
        result = Register(self, array.storage[position], self.scope)
        result.slot, result.load = slot, self._loads
        return result

    def store(self, array: DeviceArray, index: Value, value: Value, offset: int = 0) -> None:
        """array[index + offset] = value. Of several threads on one element, one wins."""
        position, address = self._address(array, index, offset)
        self._issue(STORE, coalesce.emit_stores, array, address, False, (index, value))
        array.storage[position] = value.at(self.scope) if isinstance(value, Register) else value

    def _atomic(self, function: Callable[..., Any], array: DeviceArray, index: Value, value: Value, used: bool) -> Any:
        position, address = self._address(array, index, 0)
        slot = self._issue(ATOMIC, coalesce.emit_atomics, array, address, used, (index, value))
        scope = self.scope
        operand = value.at(scope) if isinstance(value, Register) else value
        operands = np.broadcast_to(np.asarray(operand, array.dtype), position.shape)
        old = function(array.storage, position, operands, self._atomic_order(position.size))
        if not used:
            return None
        result = Register(self, old, scope)
        result.slot, result.load = slot, self._loads
        return result

    def _atomic_order(self, n: int) -> np.ndarray:
        """Warps reach L2 in no particular order: a seeded shuffle of warps, lanes of a warp in order."""
        if n < 2:
            return np.arange(n)
        warps, lanes, first = self.scope.groups
        order = self.batch.rng.permutation(warps.size)
        return atomics.expand_order(order, lanes, first, n)

    def atomic_add(self, array: DeviceArray, index: Value, value: Value, *, used: bool = True) -> Any:
        """Add; gives the old value (say used=False where the kernel ignores it)."""
        return self._atomic(atomics.add, array, index, value, used)

    def atomic_min(self, array: DeviceArray, index: Value, value: Value, *, used: bool = True) -> Any:
        return self._atomic(atomics.minimum, array, index, value, used)

    def atomic_max(self, array: DeviceArray, index: Value, value: Value, *, used: bool = True) -> Any:
        return self._atomic(atomics.maximum, array, index, value, used)

    def atomic_or(self, array: DeviceArray, index: Value, value: Value, *, used: bool = True) -> Any:
        return self._atomic(atomics.bit_or, array, index, value, used)

    def _address(self, array: DeviceArray, index: Value, offset: int) -> tuple[np.ndarray, np.ndarray]:
        """Element positions and byte addresses, after charging for the address arithmetic."""
        if not isinstance(array, DeviceArray):
            raise KernelError(
                f"t.load, t.store and atomics work on device arrays, not on a {type(array).__name__}: "
                "make one with gpu.memory.array(name, values), and use a shared array by its own load and store"
            )
        if isinstance(index, Register):
            self.charge_address(index, array.itemsize, array.tag)
            position = index.at(self.scope).astype(np.int64)
        else:
            position = np.full(len(self.scope), index, np.int64)
        if offset:
            position += offset
        if position.size and (position.min() < 0 or position.max() >= len(array)):
            wrong = int(position[(position < 0) | (position >= len(array))][0])
            raise DeviceMemoryError(
                f"index {wrong} is outside of array '{array.name}', which has {len(array)} elements"
            )
        return position, position * array.itemsize + array.address

    def address(self, array: DeviceArray, index: Register) -> None:
        """Compute &array[index] here, and so wait for the index here, not where the element is first used."""
        self.charge_address(index, array.itemsize, array.tag)

    def charge_address(self, index: Register, itemsize: int, tag: int) -> None:
        """Count the address arithmetic that this index has not paid for yet."""
        known = index.addressed
        if known is None:
            known = index.addressed = {}
        if itemsize not in known:
            known[itemsize] = set()
            if not index.counts:
                self.alu(None, index, op=MUL)  # mul.wide
        if tag not in known[itemsize]:
            known[itemsize].add(tag)
            self.spend(1, chained=not index.counts)  # add.s64; of a loop counter: off the critical path

    def _issue(
        self,
        kind: int,
        emit: Callable[..., Any],
        array: DeviceArray,
        address: np.ndarray,
        returns: bool,
        uses: tuple[Any, ...],
    ) -> int:
        """Record a memory instruction; gives the scoreboard slot that its result occupies."""
        wait, _, _ = self._dependences(uses)
        self._flush()
        slot = NO_SLOT
        if returns:
            self._loads += 1
            slot = self._loads % SLOTS
            if self._loads > SLOTS:
                wait |= 1 << slot  # the slot's last user must have returned
        if len(self.scope):
            fields = (pack(kind, slot, wait), pack_high(array.tag))
            self._recorder.memory(emit, self.scope.groups, address, array.itemsize, fields)
        return slot
