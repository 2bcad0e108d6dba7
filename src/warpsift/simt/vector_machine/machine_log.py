"""The log that the machine writes, in memory that is used again wave after wave."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warpsift.hardware import WARP_SIZE
from warpsift.simt import recorder as recording
from warpsift.simt.coalesce import LOG_COLUMNS
from warpsift.simt.recorder import Log
from warpsift.simt.vector_machine import run_records as r

ROWS = 1 << 13  # of a log
SPARE_BYTES = 100 << 20  # of logs whose memory is kept


class Buffers(NamedTuple):
    """Room for one log: see recorder.Log."""

    rows: np.ndarray
    begins: np.ndarray
    warps: np.ndarray
    lanes: np.ndarray
    first: np.ndarray
    elements: np.ndarray


class MachineLog:
    def __init__(self, words: np.ndarray, threads: int, group: tuple[int, int]) -> None:
        """For batches of up to so many threads; `words` are the machine's. A `group` of iterations fits into a log."""
        accesses, conditions = group
        self.most = threads, group
        self._rows = ROWS
        self._elements = max(recording.LOGGED_ELEMENTS, 2 * (accesses + 1) * threads)
        groups = max(recording.LOGGED_ELEMENTS, 2 * threads) // 8
        self._groups = groups + (conditions + 2) * (threads // WARP_SIZE)
        self._spare: list[Buffers] = []
        self._handed_on: list[Buffers] = []
        self.buffers = self._new()
        words[[r.MOST_ROWS, r.MOST_SCOPES]] = self._rows
        words[r.MOST_ELEMENTS], words[r.MOST_GROUPS] = self._elements, self._groups
        self.empty(words)

    def _new(self) -> Buffers:
        if self._spare:
            return self._spare.pop()
        return Buffers(
            np.empty((self._rows, LOG_COLUMNS), np.int64),
            np.zeros(self._rows + 1, np.int64),
            np.empty(self._groups, np.int32),
            np.empty(self._groups, np.uint8),
            np.empty(self._groups + self._rows + 1, np.int32),
            np.empty(self._elements, np.int32),
        )

    @staticmethod
    def empty(words: np.ndarray) -> None:
        words[[r.LOG_ROWS, r.LOG_ELEMENTS, r.LOG_SCOPES, r.LOG_GROUPS]] = 0
        words[r.LOGGED : r.LOGGED + r.LEVELS] = -1

    def hand_on(self, words: np.ndarray) -> Log | None:
        """What is written, or None if that is nothing; the next rows go elsewhere."""
        rows, scopes = int(words[r.LOG_ROWS]), int(words[r.LOG_SCOPES])
        groups, elements = int(words[r.LOG_GROUPS]), int(words[r.LOG_ELEMENTS])
        self.empty(words)
        if not rows:
            return None
        full, self.buffers = self.buffers, self._new()
        self._handed_on.append(full)
        parts = (full.warps[:groups], full.lanes[:groups], full.first[: groups + scopes])
        return Log(full.rows[:rows], full.begins[: scopes + 1], parts, full.elements[:elements])

    def recycle(self) -> None:
        """Nobody needs what was handed on any more."""
        most = SPARE_BYTES // sum(part.nbytes for part in self.buffers)
        self._spare = (self._spare + self._handed_on)[:most]
        self._handed_on = []
