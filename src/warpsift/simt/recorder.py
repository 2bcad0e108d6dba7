"""The recorder of one wave: collects warp instructions as the kernel runs and lays them out as a `Chunk`.

A kernel runs on many warps at once, instruction by instruction; the stream wants warp after warp. While the kernel runs
an instruction is only written down: its scope, its fields and, for memory, the element numbers that its threads have.
Compiled code turns the log into records and transactions, many instructions per call, and sorts the records by warp
when the wave is complete. Buffers grow by doubling and are used again by the next wave.
"""

from __future__ import annotations

import numpy as np

from warpsift.simt import coalesce
from warpsift.simt.alu_runs import Programs
from warpsift.simt.coalesce import COMMANDS, LOG_COLUMNS, PLAIN
from warpsift.simt.scope import Batch, Scope
from warpsift.simt.stream import OP, Chunk
from warpsift.simt.warp_groups import group_scopes, order_by_warp

LOGGED_ELEMENTS = 1 << 18  # threads and element numbers after which the log is worked off
LOGGED_ROWS = 1 << 15


class Recorder:
    def __init__(self, events: int = 1 << 16, transactions: int = 1 << 17) -> None:
        self._warp = np.empty(events, np.int32)
        self._op = np.empty((events, 2), np.int64)
        self._tx = np.empty(transactions, np.int64)
        self._used = np.zeros(2, np.int64)
        self._commands: list[np.ndarray] = []
        self._command_entries = 0
        self.programs = Programs()
        self._log_number = 0
        self._open_log()

    def forget(self) -> None:
        """Begin anew, whatever is recorded."""
        self._used[:] = 0
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
            self._work_off()
        if scope.batch is not self._batch:
            self._batch = scope.batch
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
            self._work_off()
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

    def _work_off(self) -> None:
        """Turn the log into records and transactions."""
        if not self._rows:
            return
        log = np.array(self._rows, np.int64).reshape(-1, LOG_COLUMNS)
        scopes = np.array(self._scopes, np.int64).reshape(-1, 2)
        index, warp_numbers = np.concatenate(self._index, dtype=np.int32), np.concatenate(self._warp_numbers)
        begins, groups = group_scopes(scopes, index, warp_numbers)
        small = np.empty(0, np.int32)
        elements = np.concatenate([small, *self._elements])  # int32 unless one of them is larger
        # a line per lane, and behind those of a store the words that they cover
        self._reserve(int((begins[1:] - begins[:-1])[log[:, 3]].sum()), 2 * self._element_count)
        coalesce.replay((self._warp, self._op, self._tx, self._used), log, begins, groups, elements)
        self._open_log()

    def _reserve(self, events: int, transactions: int) -> None:
        """Make room; the compiled functions never check."""
        need_events, need_tx = int(self._used[0]) + events, int(self._used[1]) + transactions
        if need_events > self._warp.size:
            size = max(need_events, 2 * self._warp.size)
            self._warp, self._op = _grown(self._warp, size), _grown(self._op, size)
        if need_tx > self._tx.size:
            self._tx = _grown(self._tx, max(need_tx, 2 * self._tx.size))

    def finish(self, warps: int, ctas: int) -> Chunk:
        """Lay the wave out warp by warp and make the recorder ready for the next one."""
        self._work_off()
        events, transactions = int(self._used[0]), int(self._used[1])
        first, ops = order_by_warp(self._warp, self._op, events, warps)
        commands = np.concatenate(self._commands) if self._commands else np.empty(0, np.int64)
        self.forget()
        kept = self._tx[:transactions].copy()
        return Chunk(ops.reshape(-1).view(OP), first, kept, ctas, commands, self.programs.known)


def _grown(old: np.ndarray, rows: int) -> np.ndarray:
    new = np.empty((rows, *old.shape[1:]), old.dtype)
    new[: len(old)] = old
    return new
