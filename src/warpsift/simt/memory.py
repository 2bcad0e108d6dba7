"""Device memory: one address space, in which arrays have real addresses.

The memory is a single NumPy buffer of the GPU's size that the operating system backs with pages only where it is
touched. Units that chase pointers dereference this buffer, so an address in a register is an address here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from warpsift.errors import WarpsiftError

ALIGNMENT_BYTES = 256  # cudaMalloc: "suitably aligned for any kind of variable", 256 bytes on every GPU so far
GIB = 1 << 30


class DeviceMemoryError(WarpsiftError):
    """An array does not fit, or an access leaves its array."""


class DeviceArray:
    """A one-dimensional array in device memory. The host reads and writes it by `host`; kernels by `t.load`."""

    __slots__ = ("address", "host", "name", "tag")

    def __init__(self, name: str, address: int, host: np.ndarray, tag: int) -> None:
        self.name = name
        self.address = address
        self.host = host  # a view of the device memory itself
        self.tag = tag  # index into LaunchInfo.arrays

    def __len__(self) -> int:
        return self.host.size

    @property
    def dtype(self) -> np.dtype:
        return self.host.dtype

    @property
    def itemsize(self) -> int:
        return self.host.itemsize

    @property
    def size_bytes(self) -> int:
        return self.host.nbytes

    def __repr__(self) -> str:
        return f"DeviceArray({self.name!r}, {self.dtype}[{len(self)}] at {self.address:#x})"


class DeviceMemory:
    """The address space and its arrays."""

    def __init__(self, size_bytes: int = 4 * GIB) -> None:
        self.size_bytes = size_bytes
        self.arrays: list[DeviceArray] = []
        self._bytes = np.zeros(size_bytes, np.uint8)  # calloc: pages appear when touched
        self._next = ALIGNMENT_BYTES  # address 0 stays free, as a null pointer

    @property
    def bytes(self) -> np.ndarray:
        """The whole address space: address a is element a."""
        return self._bytes

    @property
    def used_bytes(self) -> int:
        return self._next

    def empty(self, name: str, length: int, dtype: DTypeLike = np.int32) -> DeviceArray:
        """Reserve an array of zeros."""
        dtype = np.dtype(dtype)
        end = self._next + max(int(length), 1) * dtype.itemsize
        if end > self.size_bytes:
            wanted = int(length) * dtype.itemsize
            raise DeviceMemoryError(
                f"array '{name}' of {wanted / 2**20:.1f} MiB does not fit the device: "
                f"{self._next / 2**20:.1f} of {self.size_bytes / 2**20:.0f} MiB are taken. "
                "Use a smaller graph or a machine with more memory (--set memory.size_bytes=...)."
            )
        start = self._next
        host = self._bytes[start : start + int(length) * dtype.itemsize].view(dtype)
        self._next = -(-end // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        array = DeviceArray(name, start, host, len(self.arrays))
        self.arrays.append(array)
        return array

    def array(self, name: str, values: np.ndarray, dtype: DTypeLike | None = None) -> DeviceArray:
        """Copy values from the host."""
        values = np.asarray(values)
        device = self.empty(name, values.size, dtype or values.dtype)
        device.host[:] = values
        return device

    def full(self, name: str, length: int, value: float, dtype: DTypeLike = np.int32) -> DeviceArray:
        device = self.empty(name, length, dtype)
        device.host.fill(value)
        return device
