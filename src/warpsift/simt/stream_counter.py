"""Counting: what can be said of a launch from its stream alone, without timing."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numba import njit

from warpsift.hardware import LINE_BYTES, SECTORS_PER_LINE
from warpsift.simt.cells import cells
from warpsift.simt.stream import ALU, ATOMIC, KIND_NAMES, SHARED, Chunk, LaunchInfo, UnitInfo, UnitOperation

_EVENTS = 16  # columns of the compiled counter, see `_count`


@dataclass
class StreamCounters:
    """Sums over warp instructions. Events are past facts; `*_instructions` count warps, not threads."""

    warp_instructions: int = 0
    thread_instructions: int = 0  # active lanes summed over warp instructions
    alu_instructions: int = 0
    float_instructions: int = 0
    load_instructions: int = 0
    store_instructions: int = 0
    atomic_instructions: int = 0
    shared_instructions: int = 0
    shared_passes: int = 0
    barrier_instructions: int = 0
    unit_instructions: int = 0
    transactions: int = 0  # 128-byte line accesses of loads, stores and atomics after coalescing
    sectors: int = 0  # 32-byte sectors in them
    fewest_transactions: int = 0  # had all lanes of each instruction touched neighbouring elements

    @property
    def memory_instructions(self) -> int:
        return self.load_instructions + self.store_instructions + self.atomic_instructions

    @property
    def coalescing_efficiency(self) -> float:
        """Fewest possible over actual transactions: 1 when every warp touches neighbouring elements."""
        return self.fewest_transactions / self.transactions if self.transactions else 1.0

    @property
    def transactions_per_memory_instruction(self) -> float:
        return self.transactions / self.memory_instructions if self.memory_instructions else 0.0

    @property
    def active_lanes(self) -> float:
        return self.thread_instructions / self.warp_instructions if self.warp_instructions else 0.0

    def __iadd__(self, other: StreamCounters) -> StreamCounters:
        for f in fields(StreamCounters):
            setattr(self, f.name, getattr(self, f.name) + getattr(other, f.name))
        return self


@dataclass
class LaunchRecord:
    """One launch and its counters."""

    info: LaunchInfo
    counters: StreamCounters = field(default_factory=StreamCounters)


@dataclass
class OperationRecord:
    """One operation of a special unit and its counters."""

    info: UnitInfo
    counters: dict[str, int] = field(default_factory=dict)


@njit(cache=True)
def _count(ops, tx, element_bytes, totals):
    """totals[kind] = instructions; 8 threads, 9 floats, 10 shared passes, 11 transactions, 12 sectors, 13 fewest.

    `ops`: the two halves of each record (stream.OP).
    """
    records, lines, bytes_, found = cells(ops), cells(tx), cells(element_bytes), cells(totals)
    threads = floats = passes = transactions = sectors = fewest = np.int64(0)
    for k in range(ops.shape[0]):
        low, high = records[2 * k], records[2 * k + 1]
        kind, lanes, count = low & 255, (low >> 8) & 255, (low >> 48) & 0xFFFF
        n = count if kind == ALU else np.int64(1)
        found[kind] += n
        threads += n * lanes
        array = (high >> 32) & 0xFFFF
        if kind == ALU:
            floats += array
        elif kind == SHARED:
            passes += count
        elif kind <= ATOMIC:
            own, first = (low >> 24) & 255, high & 0xFFFFFFFF
            transactions += own
            fewest += (lanes * bytes_[array] + LINE_BYTES - 1) // LINE_BYTES
            for j in range(first, first + own):
                for s in range(SECTORS_PER_LINE):
                    sectors += (lines[j] >> s) & 1
    for place, sum_ in enumerate((threads, floats, passes, transactions, sectors, fewest)):
        found[8 + place] += sum_


class Counter:
    """A `Sink` that counts and keeps nothing of the stream."""

    def __init__(self) -> None:
        self.launches: list[LaunchRecord] = []
        self.operations: list[OperationRecord] = []
        self._element_bytes = np.ones(1, np.int64)
        self._totals = np.zeros(_EVENTS, np.int64)

    def begin(self, launch: LaunchInfo) -> None:
        self.launches.append(LaunchRecord(launch))
        self._element_bytes = np.asarray(launch.element_bytes or (4,), np.int64)
        self._totals[:] = 0

    def chunk(self, chunk: Chunk) -> None:
        _count(chunk.ops.view(np.int64).reshape(-1, 2), chunk.transactions, self._element_bytes, self._totals)

    def end(self) -> None:
        by_kind = dict(zip(KIND_NAMES, self._totals.tolist(), strict=False))
        threads, floats, passes, transactions, sectors, fewest = self._totals[8:14].tolist()
        self.launches[-1].counters = StreamCounters(
            warp_instructions=sum(by_kind.values()),
            thread_instructions=threads,
            alu_instructions=by_kind["alu"],
            float_instructions=floats,
            load_instructions=by_kind["load"],
            store_instructions=by_kind["store"],
            atomic_instructions=by_kind["atomic"],
            shared_instructions=by_kind["shared"],
            shared_passes=passes,
            barrier_instructions=by_kind["barrier"],
            unit_instructions=by_kind["command"] + by_kind["post"],
            transactions=transactions,
            sectors=sectors,
            fewest_transactions=fewest,
        )

    def operation(self, operation: UnitOperation) -> None:
        record = OperationRecord(operation.info)
        for chunk in operation.chunks():
            for name, value in chunk.counts().items():
                record.counters[name] = record.counters.get(name, 0) + value
        self.operations.append(record)
