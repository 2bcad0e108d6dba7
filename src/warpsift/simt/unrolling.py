"""Unrolled loops: what nvcc and ptxas make of an innermost `t.range` loop whose trip count is known only at run time.

A group of `factor` iterations runs while a thread has as many left; then a second loop does the rest, one by one, for
all threads of the warp. The kernel's text stays one text: the loop still yields every iteration. Of a group, compare,
branch and the advance of addresses are paid once. If its iterations only load and compute, and no load needs what an
iteration before it has computed, the loads of all iterations are issued side by side, stage by stage:

    A1 A2 A3 A4   addresses from A1 to A4   B1 B2 B3 B4   sum += B1, B2, B3, B4

Otherwise (stores, atomics, conditions, a chain of pointers) the iterations keep their order. Loops with loops, barriers
or votes in their text are not unrolled: compilers leave outer loops and convergent operations alone.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Generator, Iterator, Sequence
from functools import lru_cache
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from warpsift.simt.alu_classes import ADD, BESIDE, COMPARE, CONTROL, LOGIC, Program
from warpsift.simt.registers import Register, Value
from warpsift.simt.stream import ALU, LOAD, NO_SLOT, SHARED, SLOTS, pack, pack_high

if TYPE_CHECKING:
    from warpsift.simt.threads import Threads

CONVERGENT = {"barrier", "ballot", "shuffle", "warp_any", "warp_scan", "warp_sum", "warp_max", "cta_any", "cta_scan"}
COMMANDS = {"pc_gather", "pc_scatter_set", "pc_wait"}
LONGEST_MERGED = 60_000  # OP.count has 16 bits


def is_innermost(frame: FrameType) -> bool:
    """Whether the `for` statement that asks for a loop holds no other loop and nothing convergent in its text."""
    return _innermost(frame.f_code, frame.f_lineno)


@lru_cache(maxsize=1024)
def _innermost(code: CodeType, line: int) -> bool:
    try:
        lines, start = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return False  # no text to look at, say in code made by exec
    first = max(start, 1)
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    mine = [node for node in loops if node.lineno <= line - first + 1 <= (node.iter.end_lineno or node.lineno)]
    if len(mine) != 1:
        return False
    inside = [node for statement in mine[0].body for node in ast.walk(statement)]
    if any(isinstance(node, ast.For | ast.While | ast.comprehension) for node in inside):
        return False
    return not any(isinstance(node, ast.Attribute) and node.attr in CONVERGENT | COMMANDS for node in inside)


class Group:
    """Stands in for the recorder while the iterations of a group run, and hands on what they have recorded."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._recorder = threads._recorder
        self._iterations: list[list[tuple[str, tuple[Any, ...]]]] = []
        self._scope = threads.scope
        self._first_run, self._first_load = threads._run, threads._loads
        self._run = self._load = 0  # the present iteration's first
        self._stage = 0  # loads of the present iteration so far
        self._early: list[tuple[int, int]] = []  # (iteration, stage) of uses of what an earlier iteration has made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._recorder, name)

    def begin_iteration(self) -> None:
        self._iterations.append([])
        self._run, self._load, self._stage = self._threads._run, self._threads._loads, 0

    def plain(self, *arguments: Any) -> None:
        self._iterations[-1].append(("plain", arguments))

    def memory(self, *arguments: Any) -> None:
        self._stage += 1
        self._iterations[-1].append(("memory", arguments))

    def command(self, *arguments: Any) -> None:
        self._iterations[-1].append(("command", arguments))

    def used(self, operands: Sequence[Value]) -> None:
        """Note the operands of an instruction."""
        for operand in operands:
            if isinstance(operand, Register) and (
                self._first_run <= operand.run < self._run or self._first_load < operand.load <= self._load
            ):
                self._early.append((len(self._iterations) - 1, self._stage))

    def hand_on(self) -> None:
        """Give the recorder what was recorded, loads side by side where that is allowed."""
        for name, arguments in self._side_by_side() or [entry for each in self._iterations for entry in each]:
            getattr(self._recorder, name)(*arguments)

    def _side_by_side(self) -> list[tuple[str, tuple[Any, ...]]] | None:
        loads = [sum(name == "memory" for name, _ in each) for each in self._iterations]
        if len(set(loads)) != 1 or not 0 < loads[0] * len(loads) <= SLOTS:
            return None
        if any(stage < loads[0] for _, stage in self._early):
            return None
        if not all(self._moves(*entry) for each in self._iterations for entry in each):
            return None
        stages = [_stages(each) for each in self._iterations]
        order: list[tuple[str, tuple[Any, ...]]] = []
        for stage in range(loads[0] + 1):
            runs = [each[stage][0] for each in stages]
            for k in range(max(map(len, runs))):
                order += self._merged([run[k] for run in runs if k < len(run)], serial=stage == loads[0])
            order += [entry for each in stages for entry in each[stage][1]]
        return order

    def _moves(self, name: str, arguments: tuple[Any, ...]) -> bool:
        """Whether an instruction is a load or computes, for all threads of the loop."""
        low = _fields(arguments)[0]
        kind, slot = low & 255, (low >> 16) & 255
        same_threads = arguments[1 if name == "memory" else 0] is self._scope
        return same_threads and (kind == ALU or (kind in (LOAD, SHARED) and slot != NO_SLOT))

    def _merged(self, runs: list[tuple[str, tuple[Any, ...]]], serial: bool) -> list[tuple[str, tuple[Any, ...]]]:
        """Runs of different iterations as one: side by side, or one after the other where they carry a value on."""
        fields = [_fields(arguments) for _, arguments in runs]
        count = sum((low >> 48) & 0xFFFF for low, _ in fields)
        if len(runs) < 2 or count > LONGEST_MERGED:
            return runs
        wait = 0
        for low, _ in fields:
            wait |= (low >> 32) & 0xFFFF
        floats, chains = ([(high >> shift) & 0xFFFF for _, high in fields] for shift in (32, 48))
        known = self._recorder.programs
        programs = [known.known[high & 0xFFFFFFFF] for _, high in fields]
        number = known.number(in_turn(programs) if serial else interleaved(programs))
        chain = sum(chains) if serial else max(chains)
        low, high = pack(ALU, NO_SLOT, wait, count), pack_high(sum(floats), chain, number)
        return [("plain", (runs[0][1][0], low, high))]


def _fields(arguments: tuple[Any, ...]) -> tuple[int, int]:
    """The two halves of the record that an instruction will have: what every call of the recorder ends with."""
    return arguments[-2], arguments[-1]


def _stages(entries: list[tuple[str, tuple[Any, ...]]]) -> list[tuple[list[Any], list[Any]]]:
    """(ALU runs, the load behind them), and what follows the last load."""
    stages: list[tuple[list[Any], list[Any]]] = [([], [])]
    for entry in entries:
        if entry[0] == "plain":
            stages[-1][0].append(entry)
        else:
            stages[-1][1].append(entry)
            stages.append(([], []))
    return stages


def interleaved(programs: Sequence[Program]) -> Program:
    """Independent programs in one, an instruction of each in turn."""
    place: dict[tuple[int, int], int] = {}
    merged: list[tuple[int, ...]] = []
    for k in range(max(map(len, programs))):
        for which, program in enumerate(programs):
            if k < len(program):
                place[which, k] = len(merged)
                kind, *needs = program[k]
                merged.append((kind, *(need if need == BESIDE else place[which, need] for need in needs)))
    return tuple(merged)


def in_turn(programs: Sequence[Program]) -> Program:
    """Programs of which each needs the last result of the one before it."""
    merged: list[tuple[int, ...]] = []
    for program in programs:
        begin = len(merged)
        for kind, *needs in program:
            moved = tuple(need if need == BESIDE else need + begin for need in needs)
            merged.append((kind, *(moved or ((begin - 1,) if begin else ()))))
    return tuple(merged)


def unrolled(t: Threads, begin: Value, end: Value, step: int, factor: int) -> Iterator[Register]:
    """The counters of `for (i = begin; i < end; i += step)`: groups of `factor` iterations, then the rest."""
    outer = t.scope
    first, stop = t._bounds(begin, end)
    t.alu(None, begin, end, op=COMPARE)
    t.spend(1, classes=(CONTROL,))
    t.spend(4, classes=(ADD, LOGIC, COMPARE, CONTROL))  # iterations, how many are over, whether there is a group
    t._flush()
    left = np.maximum(-((first.astype(np.int64) - stop) // step), 0)
    left[first >= stop] = 0
    t._depth += 1
    try:
        started = yield from _groups(t, outer, (first, left), step, factor)
        t.scope = outer
        if (left % factor).any():
            t.spend(2, classes=(COMPARE, CONTROL))
            t._flush()
        yield from _rest(t, outer, (first, left), step, factor, started)
    except GeneratorExit:
        t._abandoned = "range"
        raise
    finally:
        t._flush()
        t._depth -= 1
        t.scope = outer


def _groups(
    t: Threads, outer: Any, numbers: tuple[np.ndarray, np.ndarray], step: int, factor: int
) -> Generator[Register, None, bool]:
    """The loop over whole groups; gives whether there was one."""
    first, left = numbers
    groups = left // factor
    recorder = t._recorder
    number = 0
    while (active := groups > number).any():
        t.scope = outer.narrow(active)
        base = first[active] + first.dtype.type(number * factor * step)
        addressed: set[int] = set()
        group = Group(t)
        t._recorder, t._group = group, group  # type: ignore[assignment]
        try:
            for k in range(factor):
                group.begin_iteration()
                counter = Register(t, base + base.dtype.type(k * step), t.scope)
                counter.counts, counter.addressed = number > 0, addressed
                yield counter
                if k < factor - 1:
                    t._flush()
            t._alu = t._alu.advance_loop()
            t._flush()
        finally:
            t._recorder, t._group = recorder, None
        group.hand_on()
        number += 1
    return number > 0


def _rest(
    t: Threads, outer: Any, numbers: tuple[np.ndarray, np.ndarray], step: int, factor: int, started: bool
) -> Iterator[Register]:
    """The loop over what the groups have left."""
    first, left = numbers
    done = left - left % factor
    for k in range(factor - 1):
        active = left - done > k
        if not active.any():
            return
        t.scope = outer.narrow(active)
        counter = Register(t, (first[active] + (done[active] + k) * step).astype(first.dtype), t.scope)
        counter.counts = started or k > 0
        yield counter
        t._alu = t._alu.advance_loop()
        t._flush()
