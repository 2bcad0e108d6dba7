"""The hardware in Amaranth's simulator, with a memory behind its ports.

`MemoryModel` accepts at most one beat per port and cycle, keeps the order of requests to a line by acting at once,
and answers after a latency: a fixed one in order (bounded by one reply beat per cycle), or a random one in any order,
with random refusals. `HardwareScu.run` executes one command on a memory; the unit keeps its state from one to the next.
"""

from __future__ import annotations

import heapq
import random
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warpsift.hdl.interfaces import COMMAND
from warpsift.hdl.parameters import ScuParameters
from warpsift.hdl.scu import Scu
from warpsift.machines.scu_spec import ScuSpec
from warpsift.simt.stream import LINE_BYTES, SECTOR_BYTES

MOST_CYCLES = 2_000_000


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

    def accept(self, now: int, memory: np.ndarray, request: Any) -> None:
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


@dataclass
class Request:
    write: int
    last: int
    tag: int
    sector: int
    sectors: int
    mask: int
    data: int


class HardwareScu:
    """One elaborated unit in simulation."""

    def __init__(self, spec: ScuSpec) -> None:
        from amaranth.sim import Simulator

        self.parameters = ScuParameters.of(spec)
        self.unit = Scu(self.parameters)
        self.pending: deque[dict[str, int]] = deque()
        self.memory: np.ndarray = np.zeros(0, np.uint8)
        self.models: list[MemoryModel] = []
        self.cycle = 0
        self.accept_result: Callable[[], bool] = lambda: True
        self.result: int | None = None
        self.watched: dict[str, Any] = {}  # signals by name; `trace` gets a row of their values per cycle
        self.trace: list[tuple[int, ...]] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.simulator = Simulator(self.unit)
        self.simulator.add_clock(1e-9)
        self.simulator.add_testbench(self._bench, background=True)

    async def _bench(self, context: Any) -> None:
        unit = self.unit
        ports = [(unit.data_request, unit.data_reply)]
        if self.parameters.ports == 2:
            ports.append((unit.hash_request, unit.hash_reply))
        loaded = False
        while True:
            # Drive what this cycle offers
            if self.pending and not loaded:
                context.set(unit.command.payload, COMMAND.const(self.pending.popleft()))
                context.set(unit.command.valid, 1)
                loaded = True
            context.set(unit.result.ready, int(self.accept_result()))
            for (request, reply), model in zip(ports, self.models, strict=True):
                context.set(request.ready, int(not model.refuse()))
                answer = model.reply(self.cycle)
                context.set(reply.valid, int(answer is not None))
                if answer is not None:
                    tag, sector, data = answer
                    context.set(reply.payload, {"tag": tag, "sector": sector, "data": data})
            # Look at what happens in it
            for (request, _), model in zip(ports, self.models, strict=True):
                if context.get(request.valid) and context.get(request.ready):
                    payload = context.get(request.payload)
                    fields = (payload[name] for name in Request.__dataclass_fields__)
                    model.accept(self.cycle, self.memory, Request(*fields))
            if self.watched:
                self.trace.append(tuple(context.get(signal) for signal in self.watched.values()))
            accepted = loaded and context.get(unit.command.ready)
            if context.get(unit.result.valid) and context.get(unit.result.ready):
                self.result = context.get(unit.result.payload.kept)
            await context.tick()
            self.cycle += 1
            if accepted:
                context.set(unit.command.valid, 0)
                loaded = False

    def run(
        self, command: dict[str, int], memory: np.ndarray, models: list[MemoryModel] | None = None
    ) -> tuple[int, int]:
        """Execute a command on a memory (bytes, in place); gives (elements kept, cycles)."""
        self.memory = memory
        self.models = models or [MemoryModel() for _ in range(self.parameters.ports)]
        self.result = None
        self.pending.append({name: int(value) for name, value in command.items()})
        begin = self.cycle
        while self.result is None:
            self.simulator.advance()
            if self.cycle - begin > MOST_CYCLES:
                raise RuntimeError(f"the hardware did not finish in {MOST_CYCLES} cycles")
        return self.result, self.cycle - begin
