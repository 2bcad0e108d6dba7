"""Runs an operation of the API in hardware too, on a copy of the memory, and compares every byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpsift.hdl.driver import lower
from warpsift.simt import Counter, Gpu
from warpsift.simt.stream import UnitOperation
from warpsift.units.scu.scu_operation import ScuOperation
from warpsift.units.scu.scu_trace import ScuSetup

# (command, memory) -> elements kept; the memory is changed in place
Execute = Callable[[dict[str, int], np.ndarray], int]


@dataclass(frozen=True)
class Vector:
    """One operation: what goes in and what must come out."""

    name: str
    command: dict[str, int]
    before: np.ndarray
    after: np.ndarray
    kept: int


class RecordingSink(Counter):
    """A sink that keeps every unit operation as a test vector."""

    def __init__(self) -> None:
        super().__init__()
        self.gpu: Gpu | None = None
        self.vectors: list[Vector] = []

    def operation(self, operation: UnitOperation) -> None:
        assert isinstance(operation, ScuOperation) and self.gpu is not None
        memory = self.gpu.memory
        before = memory.bytes[: memory.used_bytes].copy()
        setup: ScuSetup | None = None
        for chunk in operation.chunks():
            setup = setup or chunk.setup
        assert setup is not None
        after = memory.bytes[: memory.used_bytes].copy()
        self.vectors.append(Vector(operation.info.operation, lower(operation, setup), before, after, operation.kept))


def recording_gpu(memory_bytes: int = 1 << 24) -> tuple[Gpu, RecordingSink]:
    sink = RecordingSink()
    gpu = Gpu(sink, memory_bytes=memory_bytes)
    sink.gpu = gpu
    return gpu, sink


def difference(vector: Vector, kept: int, memory: np.ndarray) -> str:
    """What the hardware did otherwise; empty if nothing."""
    if kept != vector.kept:
        return f"{vector.name}: kept {kept} elements, the API {vector.kept}"
    wrong = np.flatnonzero(memory != vector.after)
    if wrong.size:
        at = int(wrong[0])
        return (
            f"{vector.name}: {wrong.size} bytes differ, the first at {at:#x}: {memory[at]}, the API {vector.after[at]}"
        )
    return ""
