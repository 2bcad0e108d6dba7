"""How long a run of ALU instructions takes, class by class: issue in order, results after their class's latency.

A run is a program (`simt/alu_classes.py`). A warp that has its scheduler to itself issues the program's instructions
in order, each when the instruction before it has left the issue port and the results that it needs are there. An
instruction keeps the port for the initiation interval of its class. Two numbers follow: for how long the run occupies
the port in all, and when the last result that anything waits for is there. Kernels have few programs, so this is done
once for each.

Where kinds of instructions have pipes of their own, an instruction keeps its pipe for that interval and the port for a
cycle. A run then leaves pipes busy behind it, for whichever warp comes next: the scheduler keeps their times
(`warp_scheduler.pipes_taken`), and a program says how long it takes each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpsift.errors import WarpsiftError
from warpsift.hardware import WARP_SIZE
from warpsift.machines.alu_spec import ALU_CLASSES
from warpsift.machines.spec import Sm
from warpsift.simt.alu_classes import BESIDE, Program
from warpsift.simt.stream import ALU, Chunk

Pipes = tuple[int, ...]  # those that an instruction may take
INTEGERS, FLOATS, DOUBLES, SPECIALS, OTHERS = range(5)
PIPES = 5
ONE_PIPE: tuple[Pipes, ...] = ()  # every instruction keeps the port for as long as its lanes take


def _pipes_of(name: str) -> Pipes:
    """Volta's (and later) pipes: multiply-add of integers runs on the floating-point lanes, and an add on either."""
    if name == "int_add":
        return (INTEGERS, FLOATS)
    if name in ("int_mul", "int_mad") or name.startswith("float"):
        return (FLOATS,)
    if name.startswith("double"):
        return (DOUBLES,)
    if name in ("special", "int_div", "convert"):
        return (SPECIALS,)
    return (OTHERS,) if name in ("control", "shuffle") else (INTEGERS,)


TWO_PIPES = tuple(map(_pipes_of, ALU_CLASSES))


def run_cycles(
    program: Program, latency: Sequence[int], initiation: Sequence[int], pipes: Sequence[Pipes] = ONE_PIPE
) -> tuple[int, int]:
    """Cycles of the issue port, and cycles from the first issue to the last result."""
    independent = tuple((which,) for which, *_ in program)
    return _issued(independent, latency, initiation, pipes)[0], _issued(program, latency, initiation, pipes)[1]


def _issued(
    program: Program, latency: Sequence[int], initiation: Sequence[int], pipes: Sequence[Pipes]
) -> tuple[int, int]:
    """When the port takes the next instruction, and when the last result that anything waits for is there."""
    port = 0
    free = [0] * PIPES  # when each pipe takes the next instruction
    ready: list[int] = []
    for which, *needs in program:
        issue = max(port, *(ready[place] for place in needs if place != BESIDE), 0)
        if not pipes:
            port = issue + initiation[which]
        else:
            issue, pipe = min((max(issue, free[pipe]), pipe) for pipe in pipes[which])
            free[pipe] = issue + initiation[which]
            port = issue + 1
        ready.append(0 if BESIDE in needs else issue + latency[which])
    return port, max(ready, default=0)


def pipe_cycles(program: Program, initiation: Sequence[int], pipes: Sequence[Pipes]) -> tuple[int, ...]:
    """Of each pipe in turn: cycles that a run keeps it, and how many of them lie before its last instruction there."""
    port = 0
    free = [0] * PIPES
    kept, last = [0] * PIPES, [0] * PIPES
    for which, *_ in program:
        port, pipe = min((max(port, free[pipe]), pipe) for pipe in pipes[which])
        free[pipe] = port + initiation[which]
        port += 1
        kept[pipe] += initiation[which]
        last[pipe] = initiation[which]
    return tuple(cycles for each in zip(kept, last, strict=True) for cycles in (each[0], each[0] - each[1]))


class AluTimes:
    """The programs of a machine's chunks, timed."""

    def __init__(self, sm: Sm) -> None:
        classes = [getattr(sm.alu, name) for name in ALU_CLASSES]
        cycles = WARP_SIZE // sm.lanes_per_scheduler  # fewer lanes: an instruction passes the port in parts
        self._by_class = sm.alu_by_class
        self._latency = [each.latency_cycles or sm.alu_latency_cycles for each in classes]
        self._initiation = [each.initiation_cycles * cycles for each in classes]
        self._pipes = TWO_PIPES if sm.pipes == 2 else ONE_PIPE
        self._programs: tuple[Program, ...] = ()
        self._times: list[tuple[int, ...]] = []

    def table(self, chunk: Chunk) -> np.ndarray:
        """A row per program of the chunk: cycles of the port, cycles until the last result; with pipes, theirs."""
        if not self._by_class:
            return np.zeros(2, np.int64)
        runs = chunk.ops["first"][chunk.ops["kind"] == ALU]
        if runs.size and int(runs.max()) >= len(chunk.programs):
            raise WarpsiftError(
                f"an ALU record names program {int(runs.max())}, but the chunk has {len(chunk.programs)}: "
                "give Chunk.programs, or 0 where the classes are not known"
            )
        if chunk.programs is not self._programs:
            known = len(self._times) if chunk.programs[: len(self._times)] == self._programs else 0
            fresh = [self._row(program) for program in chunk.programs[known:]]
            self._programs, self._times = chunk.programs, self._times[:known] + fresh
        return np.array(self._times, np.int64)

    def _row(self, program: Program) -> tuple[int, ...]:
        found = run_cycles(program, self._latency, self._initiation, self._pipes)
        return found + pipe_cycles(program, self._initiation, self._pipes) if self._pipes else found
