"""Frontiers in device memory, which the host makes larger before a launch could overflow them."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from warpsift.simt import DeviceArray, Gpu


class Queue:
    """A frontier: arrays side by side with one device counter, regrown by the host before they could overflow."""

    def __init__(self, gpu: Gpu, name: str, capacity: int, **columns: DTypeLike) -> None:
        self._gpu = gpu
        self._name = name
        self._columns = columns
        self._capacity = 0
        self.counter = gpu.memory.empty(f"{name}.count", 1, np.int32)
        self.reserve(max(capacity, 1))

    def reserve(self, capacity: int) -> None:
        """Room for so many elements; what the queue held is kept."""
        if capacity <= self._capacity:
            return
        size = max(capacity, self._capacity * 3 // 2, 1)
        for column, dtype in self._columns.items():
            old = getattr(self, column, None)
            new = self._gpu.memory.empty(f"{self._name}.{column}", size, dtype)
            if old is not None:
                new.host[: len(self)] = old.host[: len(self)]
            setattr(self, column, new)
        self._capacity = size

    def __len__(self) -> int:
        return int(self.counter.host[0])

    def __getattr__(self, column: str) -> DeviceArray:
        raise AttributeError(f"queue has no column {column!r}")

    def clear(self) -> None:
        """The host resets the counter, as a cudaMemset between launches does."""
        self.counter.host[0] = 0

    def fill(self, **values: np.ndarray) -> None:
        """Put elements in from the host."""
        for column, data in values.items():
            self.reserve(len(data))
            getattr(self, column).host[: len(data)] = data
            self.counter.host[0] = len(data)
