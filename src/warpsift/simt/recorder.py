"""The recorder of one wave: collects warp instructions as the kernel runs and lays them out as a `Chunk`.

A kernel runs on many warps at once, instruction by instruction; the stream wants warp after warp. So instructions
are appended as they happen, tagged with their warp, and sorted by warp when the wave is complete. Buffers grow by
doubling and are used again by the next wave.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from warpsift.simt import coalesce
from warpsift.simt.alu_classes import UNTOLD, Program
from warpsift.simt.stream import NO_SLOT, OP, Chunk

Groups = tuple[np.ndarray, np.ndarray, np.ndarray]  # (warp numbers, active lanes, first position) of a scope


def pack(kind: int, slot: int = NO_SLOT, wait: int = 0, count: int = 1) -> int:
    """The low half of an OP as a signed 64-bit integer; lanes and transactions are filled in per warp."""
    value = kind | slot << 16 | wait << 32 | count << 48
    return value - (1 << 64) if value >> 63 else value


def pack_high(array: int, detail: int = 0, first: int = 0) -> int:
    value = first | array << 32 | detail << 48
    return value - (1 << 64) if value >> 63 else value


class Recorder:
    def __init__(self, events: int = 1 << 16, transactions: int = 1 << 17) -> None:
        self._warp = np.empty(events, np.int32)
        self._op = np.empty((events, 2), np.int64)
        self._tx = np.empty(transactions, np.int64)
        self._used = np.zeros(2, np.int64)
        self._commands: list[np.ndarray] = []
        self._command_entries = 0
        self._programs: dict[Program, int] = {UNTOLD: 0}  # in order of their numbers
        self._known: tuple[Program, ...] = (UNTOLD,)
        self._buffers = (self._warp, self._op, self._tx, self._used)

    def _reserve(self, events: int, transactions: int) -> None:
        """Make room; the compiled functions never check."""
        need_events, need_tx = int(self._used[0]) + events, int(self._used[1]) + transactions
        if need_events > self._warp.size:
            size = max(need_events, 2 * self._warp.size)
            self._warp = np.resize(self._warp, size)
            grown = np.empty((size, 2), np.int64)
            grown[: len(self._op)] = self._op
            self._op = grown
        if need_tx > self._tx.size:
            self._tx = np.resize(self._tx, max(need_tx, 2 * self._tx.size))
        self._buffers = (self._warp, self._op, self._tx, self._used)

    def program_number(self, program: Program) -> int:
        """The number of an ALU run's program in the chunks of this recorder."""
        return self._programs.setdefault(program, len(self._programs))

    def plain(self, groups: Groups, low: int, high: int) -> None:
        """An instruction without addresses: ALU run, barrier."""
        if self._used[0] + len(groups[0]) > self._warp.size:
            self._reserve(len(groups[0]), 0)
        coalesce.emit(self._buffers, groups, low, high)

    def memory(
        self, emit: Callable[..., Any], groups: Groups, address: np.ndarray, itemsize: int, fields: tuple[int, int]
    ) -> None:
        """A memory instruction; `emit` is the coalescing rule for its kind."""
        entries = 2 * len(address)  # a line per lane, and behind those of a store the words that they cover
        if self._used[0] + len(groups[0]) > self._warp.size or self._used[1] + entries > self._tx.size:
            self._reserve(len(groups[0]), entries)
        emit(self._buffers, groups, address, itemsize, fields)

    def command(self, groups: Groups, entries: np.ndarray, wanted: np.ndarray, fields: tuple[int, int]) -> None:
        """A command to the memory fast-forward unit: an entry per thread that wants words."""
        warps, _, first = groups
        if self._used[0] + len(warps) > self._warp.size:
            self._reserve(len(warps), 0)
        counts = np.add.reduceat(wanted, first[:-1], dtype=np.int64)
        coalesce.emit_commands(self._buffers, groups, counts, self._command_entries, fields)
        kept = entries[wanted]
        self._commands.append(kept)
        self._command_entries += kept.size

    def finish(self, warps: int, ctas: int) -> Chunk:
        """Lay the wave out warp by warp and make the recorder ready for the next one."""
        events, transactions = int(self._used[0]), int(self._used[1])
        first, ops = coalesce.order_by_warp(self._warp, self._op, events, warps)
        self._used[:] = 0
        commands = np.concatenate(self._commands) if self._commands else np.empty(0, np.int64)
        self._commands, self._command_entries = [], 0
        if len(self._known) < len(self._programs):
            self._known = tuple(self._programs)
        return Chunk(ops.reshape(-1).view(OP), first, self._tx[:transactions].copy(), ctas, commands, self._known)
