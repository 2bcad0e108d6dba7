"""The hardware in Amaranth's simulator, with a memory behind its ports.

`HardwareScu.run` executes one command on a memory; the unit keeps its state from one to the next.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from warpsift.hdl.interfaces import COMMAND
from warpsift.hdl.memory_model import MOST_CYCLES, MemoryModel, Request
from warpsift.hdl.parameters import ScuParameters
from warpsift.hdl.scu import Scu
from warpsift.units.scu.scu_spec import ScuSpec


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
