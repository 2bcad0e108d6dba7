"""How long a run of ALU instructions takes, class by class: issue in order, results after their class's latency.

A run is a program (`simt/alu_classes.py`). A warp that has its scheduler to itself issues the program's instructions
in order, each when the instruction before it has left the issue port and the results that it needs are there. An
instruction keeps the port for the initiation interval of its class. Two numbers follow: for how long the run occupies
the port in all, and when the last result that anything waits for is there. Kernels have few programs, so this is done
once for each.
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


def run_cycles(program: Program, latency: Sequence[int], initiation: Sequence[int]) -> tuple[int, int]:
    """Cycles of the issue port, and cycles from the first issue to the last result."""
    free = 0  # when the port takes the next instruction
    ready: list[int] = []  # when each result is there, if anything waits for it
    for which, *needs in program:
        issue = max(free, *(ready[place] for place in needs if place != BESIDE), 0)
        ready.append(0 if BESIDE in needs else issue + latency[which])
        free = issue + initiation[which]
    return sum(initiation[which] for which, *_ in program), max(ready, default=0)


class AluTimes:
    """The programs of a machine's chunks, timed."""

    def __init__(self, sm: Sm) -> None:
        classes = [getattr(sm.alu, name) for name in ALU_CLASSES]
        cycles = WARP_SIZE // sm.lanes_per_scheduler  # fewer lanes: an instruction passes the port in parts
        self._by_class = sm.alu_by_class
        self._latency = [each.latency_cycles or sm.alu_latency_cycles for each in classes]
        self._initiation = [each.initiation_cycles * cycles for each in classes]
        self._programs: tuple[Program, ...] = ()
        self._times: list[tuple[int, int]] = []

    def table(self, chunk: Chunk) -> np.ndarray:
        """A row per program of the chunk: cycles of the port, cycles until the last result."""
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
            fresh = [run_cycles(program, self._latency, self._initiation) for program in chunk.programs[known:]]
            self._programs, self._times = chunk.programs, self._times[:known] + fresh
        return np.array(self._times, np.int64)
