"""The recorder of one wave: collects warp instructions as the kernel runs and lays them out as a `Chunk`.

A kernel runs on many warps at once, instruction by instruction; the stream wants warp after warp. While the kernel runs
an instruction is only written down: its scope, its fields and, for memory, the element numbers that its threads have.
From time to time what is written down becomes a `Log`, a few arrays. When the wave is complete, compiled code counts
the records of every warp, so that it knows where each begins, and turns the logs into records and transactions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warpsift.simt import coalesce
from warpsift.simt.alu_runs import Programs
from warpsift.simt.coalesce import COMMANDS, LOG_COLUMNS, PLAIN, STORES
from warpsift.simt.scope import Batch, Scope
from warpsift.simt.stream import OP, Chunk
from warpsift.simt.warp_groups import group_scopes

LOGGED_ELEMENTS = 1 << 18  # threads and element numbers after which a log is closed
LOGGED_ROWS = 1 << 15


class Log(NamedTuple):
    """Instructions in program order, each of some scope of threads."""

    rows: np.ndarray  # coalesce.LOG_COLUMNS integers per instruction
    begins: np.ndarray  # where the warps of each scope begin in ...
    groups: tuple[np.ndarray, np.ndarray, np.ndarray]  # ... warps, lanes, first threads: warp_groups.group_scopes
    elements: np.ndarray  # element numbers of the memory instructions, one after the other


class Recorder:
    def __init__(self) -> None:
        self._logs: list[Log] = []
        self._most_transactions = 0  # that the logs can become
        self._tx = np.empty(0, np.int64)  # where they do: used again by the next wave
        self._longest = 0  # threads of the largest batch
        self._scratch = coalesce.new_scratch(0)
        self._commands: list[np.ndarray] = []
        self._command_entries = 0
        self.programs = Programs()
        self._log_number = 0
        self._open_log()

    def forget(self) -> None:
        """Begin anew, whatever is recorded."""
        self._logs, self._most_transactions = [], 0
        self._commands, self._command_entries = [], 0
        if self._rows:
            self._open_log()

    def _open_log(self) -> None:
        self._log_number += 1
        self._rows: list[int] = []  # coalesce.LOG_COLUMNS integers per instruction
        self._elements: list[np.ndarray] = []
        self._element_count = 0
        self._scopes: list[int] = []  # two integers per scope, see group_scopes
        self._index: list[np.ndarray] = []
        self._index_count = 0
        self._batch: Batch | None = None
        self._warp_numbers: list[np.ndarray] = []
        self._batch_begin = self._batch_end = 0

    def _number_of(self, scope: Scope) -> int:
        """The scope's number in this log."""
        if scope.log == self._log_number:
            return scope.number
        if len(self._rows) > LOGGED_ROWS * LOG_COLUMNS or self._index_count + self._element_count > LOGGED_ELEMENTS:
            self._close_log()
        if scope.batch is not self._batch:
            self._batch = scope.batch
            self.expect(scope.batch.size)
            self._warp_numbers.append(scope.batch.warp_numbers)
            self._batch_begin, self._batch_end = self._batch_end, self._batch_end + scope.batch.warp_numbers.size
        scope.log, scope.number = self._log_number, len(self._index)
        self._index.append(scope.index)
        self._index_count += scope.index.size
        self._scopes += (self._index_count, self._batch_begin)
        return scope.number

    def plain(self, scope: Scope, low: int, high: int) -> None:
        """An instruction without addresses: ALU run, barrier."""
        number = scope.number if scope.log == self._log_number else self._number_of(scope)
        self._rows += (PLAIN, low, high, number, 0, 0, 0)

    def memory(self, way: int, scope: Scope, elements: np.ndarray, place: tuple[int, int], low: int, high: int) -> None:
        """A memory instruction on these elements of an array; `place`: address of element 0, bytes per element."""
        if self._element_count > LOGGED_ELEMENTS or len(self._rows) > LOGGED_ROWS * LOG_COLUMNS:
            self._close_log()
        number = scope.number if scope.log == self._log_number else self._number_of(scope)
        self._elements.append(elements)
        self._element_count += elements.size
        self._rows += (way, low, high, number, self._element_count, *place)

    def command(self, scope: Scope, entries: np.ndarray, wanted: np.ndarray, low: int, high: int) -> None:
        """A command to a special unit: an entry per thread that wants something of it."""
        per_warp = np.add.reduceat(wanted, scope.groups[2][:-1], dtype=np.int64)
        self.memory(COMMANDS, scope, per_warp, (self._command_entries, 0), low, high)
        kept = entries[wanted]
        self._commands.append(kept)
        self._command_entries += kept.size

    def _close_log(self) -> None:
        """Put what is written down into arrays."""
        if not self._rows:
            return
        rows = np.array(self._rows, np.int64).reshape(-1, LOG_COLUMNS)
        scopes = np.array(self._scopes, np.int64).reshape(-1, 2)
        index, warp_numbers = np.concatenate(self._index, dtype=np.int32), np.concatenate(self._warp_numbers)
        small = np.empty(0, np.int32)
        elements = np.concatenate([small, *self._elements])  # int32 unless one of them is larger
        begins, groups = group_scopes(scopes, index, warp_numbers)
        self.keep(Log(rows, begins, groups, elements))
        self._open_log()

    def keep(self, log: Log) -> None:
        """Add a log to those of the wave."""
        self._logs.append(log)
        # a line per lane, and behind those of a store the words that they cover
        self._most_transactions += log.elements.size * (2 if (log.rows[:, 0] == STORES).any() else 1)

    def expect(self, threads: int) -> None:
        """No instruction has more threads than those seen so far, or these."""
        self._longest = max(self._longest, threads)

    def finish(self, warps: int, ctas: int) -> Chunk:
        """Lay the wave out warp by warp and make the recorder ready for the next one."""
        self._close_log()
        if self._most_transactions > self._tx.size:
            self._tx = np.empty(max(self._most_transactions, 2 * self._tx.size), np.int64)
        if self._longest > self._scratch[0].size:
            self._scratch = coalesce.new_scratch(self._longest)
        first = np.zeros(warps + 1, np.int64)
        for log in self._logs:
            coalesce.count_records(first[1:], log.rows, log.begins, log.groups[0])
        first = first.cumsum()
        ops, used = np.empty((first[-1], 2), np.int64), np.zeros(1, np.int64)
        buffers = (ops, first[:-1].copy(), self._tx, used)
        for log in self._logs:
            coalesce.replay(buffers, *log, self._scratch)
        commands = np.concatenate(self._commands) if self._commands else np.empty(0, np.int64)
        self.forget()
        transactions = self._tx[: used[0]].copy()
        return Chunk(ops.reshape(-1).view(OP), first, transactions, ctas, commands, self.programs.known)
