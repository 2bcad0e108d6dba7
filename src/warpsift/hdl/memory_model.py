"""A memory behind the unit's ports, for simulations.

`MemoryModel` accepts at most one beat per port and cycle, keeps the order of requests to a line by acting at once,
and answers after a latency: a fixed one in order (bounded by one reply beat per cycle), or a random one in any order,
with random refusals.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from warpsift.hardware import LINE_BYTES, SECTOR_BYTES

MOST_CYCLES = 2_000_000  # of an operation in simulation


@dataclass
class Request:
    """The fields of a beat (interfaces.request_layout)."""

    write: int
    last: int
    tag: int
    sector: int
    sectors: int
    mask: int
    data: int


@dataclass
class MemoryModel:
    """See the module. `latency` gives the cycles of a request; `refuse` says whether the port takes nothing now."""

    latency: Callable[[], int] = lambda: 20
    refuse: Callable[[], bool] = lambda: False
    shuffle: bool = False
    reads: int = 0
    read_sectors: int = 0
    writes: int = 0
    write_sectors: int = 0
    waiting: list[tuple[int, float, int, int, int]] = field(default_factory=list)
    _count: int = 0

    @classmethod
    def random(cls, seed: int, longest: int = 60, refusals: float = 0.3) -> MemoryModel:
        dice = random.Random(seed)
        return cls(lambda: dice.randint(1, longest), lambda: dice.random() < refusals, shuffle=True)

    @classmethod
    def fixed(cls, cycles: int) -> MemoryModel:
        return cls(lambda: cycles)

    def accept(self, now: int, memory: np.ndarray, request: Request) -> None:
        """Act on a request and queue its replies."""
        due = now + self.latency()
        if request.write:
            at = request.sector * SECTOR_BYTES
            new = np.frombuffer(request.data.to_bytes(SECTOR_BYTES, "little"), np.uint8)
            chosen = np.array([request.mask >> k & 1 for k in range(SECTOR_BYTES)], bool)
            memory[at : at + SECTOR_BYTES][chosen] = new[chosen]
            self.write_sectors += 1
            if request.last:
                self.writes += 1
                self._push(due, request.tag, 0, 0)
            return
        self.reads += 1
        at = request.sector * SECTOR_BYTES
        assert at % LINE_BYTES == 0, "a read must name the first sector of its line"
        for sector in range(LINE_BYTES // SECTOR_BYTES):
            if request.sectors >> sector & 1:
                self.read_sectors += 1
                begin = at + sector * SECTOR_BYTES
                data = int.from_bytes(memory[begin : begin + SECTOR_BYTES].tobytes(), "little")
                self._push(due if not self.shuffle else now + self.latency(), request.tag, sector, data)

    def _push(self, due: int, tag: int, sector: int, data: int) -> None:
        self._count += 1
        heapq.heappush(self.waiting, (due, self._count, tag, sector, data))

    def reply(self, now: int) -> tuple[int, int, int] | None:
        if self.waiting and self.waiting[0][0] <= now:
            return heapq.heappop(self.waiting)[2:]
        return None
