"""The test bench of cosimulate.py, inside the simulator's process: clock, command port, and a memory in Python.

Inputs change after the falling edge of the clock; what is valid and ready before the next rising edge goes at it.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

from warpsift.hdl.memory_model import MOST_CYCLES, MemoryModel, Request


class Bench:
    def __init__(self, dut: Any, job: dict[str, Any]) -> None:
        self.dut = dut
        self.fields = job["fields"]
        self.dice = random.Random(job["seed"])
        self.ports = [
            tuple(getattr(dut, f"{port}_{stream}__{wire}") for stream in ("request", "reply") for wire in WIRES)
            for port in job["ports"]
        ]
        self.models: list[MemoryModel] = []
        self.cycle = 0

    async def reset(self) -> None:
        dut = self.dut
        dut.command__valid.value = dut.result__ready.value = 0
        for _, _, request_ready, _, reply_valid, _ in self.ports:
            request_ready.value = reply_valid.value = 0
        dut.rst.value = 1
        for _ in range(3):
            await FallingEdge(dut.clk)
        dut.rst.value = 0

    async def run(self, command: int, memory: np.ndarray) -> int:
        """Execute one command; gives the number of elements kept."""
        dut = self.dut
        self.models = [MemoryModel.random(self.dice.randrange(1 << 30)) for _ in self.ports]
        dut.command__payload.value = command
        dut.command__valid.value = 1
        begin = self.cycle
        while self.cycle - begin < MOST_CYCLES:
            dut.result__ready.value = self.dice.randrange(2)
            self._offer()
            await ReadOnly()
            self._exchange(memory)
            accepted = bool(dut.command__valid.value) and bool(dut.command__ready.value)
            done = bool(dut.result__valid.value) and bool(dut.result__ready.value)
            kept = int(dut.result__payload.value) if done else 0
            await FallingEdge(dut.clk)
            self.cycle += 1
            if accepted:
                dut.command__valid.value = 0
            if done:
                return kept
        raise AssertionError(f"the hardware did not finish in {MOST_CYCLES} cycles")

    def _offer(self) -> None:
        """Ready or not, and a reply that is due."""
        for (_, _, request_ready, payload, reply_valid, _), model in zip(self.ports, self.models, strict=True):
            request_ready.value = int(not model.refuse())
            answer = model.reply(self.cycle)
            reply_valid.value = int(answer is not None)
            if answer is not None:
                fields = zip(("tag", "sector", "data"), answer, strict=True)
                payload.value = sum(value << self.fields["reply"][name][0] for name, value in fields)

    def _exchange(self, memory: np.ndarray) -> None:
        """Requests that go at the coming edge."""
        for (payload, valid, ready, _, reply_valid, reply_ready), model in zip(self.ports, self.models, strict=True):
            assert not reply_valid.value or reply_ready.value, "the unit refused a reply"
            if valid.value and ready.value:
                bits = int(payload.value)
                places = self.fields["request"]
                fields = {name: bits >> places[name][0] & (1 << places[name][1]) - 1 for name in NAMES}
                model.accept(self.cycle, memory, Request(**fields))


WIRES = ("payload", "valid", "ready")
NAMES = tuple(Request.__dataclass_fields__)


@cocotb.test()
async def vectors(dut: Any) -> None:
    from warpsift.hdl.cosimulate import AFTER, BEFORE, JOB

    job = json.loads(Path(JOB).read_text())
    bench = Bench(dut, job)
    Clock(dut.clk, 10, unit="ns").start()
    await bench.reset()
    results: dict[str, Any] = {}
    kept = []
    with np.load(BEFORE) as before:
        for number, command in enumerate(job["commands"]):
            memory = before[f"arr_{number}"]
            kept.append(await bench.run(command, memory))
            results[f"memory{number}"] = memory
    np.savez(AFTER, kept=np.array(kept), **results)
