"""A long operation of a unit, timed in stretches of its pieces; those between are touched and left out.

    settling | window | trailing | leap | settling | window | ...
    timed      timed    timed      not    timed

A unit asks for a piece when it has gone through all but the last that it has. So the time from one question to another
is that of the pieces between, with those before and behind under way: a window needs one on either side.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from warpsift.engine.leap.sampled_launch import DRAM_SECTORS, INSTRUCTIONS, TRANSACTIONS, Leap, SampledLaunch, Window
from warpsift.engine.unit_socket import UnitComponent
from warpsift.simt.stream import UnitChunk, UnitOperation

RAMP, SETTLING, WINDOW, TRAILING = 2, 1, 2, 1  # pieces


class Timing(Protocol):
    """What is asked of the engine."""

    def state(self) -> dict[str, int]: ...

    def touch(self, lines: np.ndarray, accesses: np.ndarray) -> int: ...

    def leap_pieces(self, now: SampledLaunch, window: int) -> int: ...


class LeapingOperation:
    """Gives a unit some of an operation's pieces, and notes windows and leaps."""

    def __init__(self, operation: UnitOperation, unit: UnitComponent, engine: Timing, now: SampledLaunch) -> None:
        self.info = operation.info
        self._operation, self._unit, self._engine, self._now = operation, unit, engine, now

    def chunks(self) -> Iterator[UnitChunk]:
        pieces = iter(self._operation.chunks())
        before = RAMP
        while True:
            window: list[UnitChunk] = []
            opened: dict[str, int] = {}
            for place in range(before + WINDOW + TRAILING):
                piece = next(pieces, None)
                if piece is None:
                    return
                yield piece
                if place == before:  # settling is through
                    opened = self._engine.state()
                if before <= place < before + WINDOW:
                    window.append(piece)
            self._close(window, opened)
            leap = self._leap(pieces)
            if leap is not None:
                self._now.leaps.append(leap)
            before = SETTLING

    def _close(self, window: list[UnitChunk], opened: dict[str, int]) -> None:
        counters = {name: value - opened[name] for name, value in self._engine.state().items()}
        work = sum((_work(piece, len(self._unit.touched(piece)[0]), 0) for piece in window), np.zeros(4))
        work[DRAM_SECTORS] = counters["l2_fills"] + counters["l2_writebacks"]
        self._now.windows.append(Window(work, counters))

    def _leap(self, pieces: Iterator[UnitChunk]) -> Leap | None:
        """Leave some pieces out; None if there are no more."""
        total = np.zeros(4)
        for _ in range(self._engine.leap_pieces(self._now, WINDOW)):
            piece = next(pieces, None)
            if piece is None:
                break
            lines, accesses = self._unit.leave_out(piece)
            total += _work(piece, len(lines), self._engine.touch(lines, accesses))
        return Leap(total, len(self._now.windows)) if total.any() else None


def _work(piece: UnitChunk, lines: int, sectors: int) -> np.ndarray:
    """The features of a piece: lines that it asks for, all that it counts, sectors between L2 and DRAM."""
    work = np.zeros(4)
    work[TRANSACTIONS], work[INSTRUCTIONS], work[DRAM_SECTORS] = lines, sum(piece.counts().values()), sectors
    return work
