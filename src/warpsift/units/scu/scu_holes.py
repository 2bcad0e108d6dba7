"""An operation with pieces left out of its middle, as the unit sees it: the rest closes up.

A sampled run times some pieces and touches the others. Numbers in a trace count from the operation's begin: inputs,
outputs, elements, probes, evictions. Behind a hole they are less by what it held. Vectors are read on from where they
were, as lines that are as new to the L2; for what is left out, as many are touched at their ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from warpsift.hardware import LINE_BYTES
from warpsift.units.scu.scu_trace import (
    BY_EVICTED,
    BY_FETCHED,
    BY_INPUT,
    BY_OUTPUT,
    BY_PROBED,
    BY_SURVIVOR,
    ScuChunk,
    Vector,
)

LINE_BITS = 8 * LINE_BYTES


@dataclass
class Holes:
    """How much of an operation was left out so far."""

    follows: int  # whose progress releases its writes
    vectors: list[Vector]
    any: bool = False
    left_out: dict[int, int] = field(default_factory=lambda: dict.fromkeys((BY_FETCHED, BY_PROBED, BY_EVICTED), 0))
    inputs: int = 0  # left out
    outputs: int = 0
    survivors: int = 0  # pushed
    last_input: int = 0  # of the piece before, as the trace counts
    last_output: int = 0
    probes: int = 0  # of all pieces so far
    resumed_at: int = 0  # the first probe behind the last hole
    skipped_lines: list[int] = field(default_factory=list)  # of each vector, from its end

    def leave_out(self, piece: ScuChunk) -> np.ndarray:
        """Count a piece as left out; gives lines that stand for what would have been read of the vectors."""
        self.any = True
        passed = {
            BY_FETCHED: int(piece.runs["outputs"].sum()),
            BY_PROBED: len(piece.probes),
            BY_EVICTED: piece.evictions,
        }
        for follows, count in passed.items():
            self.left_out[follows] += count
        before = (self.last_input, self.last_output)
        self._pass(piece)
        self.inputs += self.last_input - before[0]
        self.outputs += self.last_output - before[1]
        self.resumed_at = self.probes
        return np.concatenate([np.empty(0, np.int64), *map(self._lines_left_out, range(len(self.vectors)))])

    def _lines_left_out(self, number: int) -> np.ndarray:
        """Of one vector, those that were not given before."""
        vector = self.vectors[number]
        self.skipped_lines += [0] * (number + 1 - len(self.skipped_lines))
        passed = {BY_INPUT: self.inputs, BY_OUTPUT: self.outputs, BY_SURVIVOR: self.left_out[BY_FETCHED]}
        before, now = self.skipped_lines[number], passed[vector.by] * vector.bits // LINE_BITS
        self.skipped_lines[number] = now
        return vector.address // LINE_BYTES + vector.lines - 1 - np.arange(before, now)

    def close(self, piece: ScuChunk) -> ScuChunk:
        """The piece as if nothing had been left out before it."""
        self.survivors += int(piece.runs["outputs"].sum())
        self._pass(piece)
        if not self.any:
            return piece
        runs, writes, probes = piece.runs.copy(), piece.writes.copy(), piece.probes.copy()
        runs["input"] -= self.inputs
        runs["output"] -= self.outputs
        writes["after"] -= self.left_out[self.follows]
        known = probes["previous"] >= self.resumed_at
        probes["previous"] = np.where(known, probes["previous"] - self.left_out[BY_PROBED], -1)
        return replace(piece, runs=runs, writes=writes, probes=probes)

    def _pass(self, piece: ScuChunk) -> None:
        if len(piece.runs):
            self.last_input, self.last_output = int(piece.runs["input"][-1]), int(piece.runs["output"][-1])
        self.probes += len(piece.probes)

    def shorten(self, vectors: Any) -> None:
        """Nobody reads the ends of the vectors: their lines end with the last element, or what was asked for."""
        if not self.any:
            return
        last = {
            BY_INPUT: self.last_input - self.inputs,
            BY_OUTPUT: self.last_output - self.outputs,
            BY_SURVIVOR: self.survivors - 1,
        }
        for row in vectors:
            needed = (int(row.bit_offset) + (last[int(row.by)] + 1) * int(row.bits) - 1) // LINE_BITS + 1
            row.lines = min(int(row.lines), max(needed, int(row.requested)))
