"""Device memory: one address space, in which arrays have real addresses.

The memory is a single NumPy buffer of the GPU's size (a machine's `dram.size_mib`) that the operating system backs with
pages only where it is touched; where it refuses so many, half as many, and so on. Units that chase pointers
dereference this buffer, so an address in a register is an address here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from warpsift.errors import WarpsiftError

ALIGNMENT_BYTES = 256  # cudaMalloc: "suitably aligned for any kind of variable", 256 bytes on every GPU so far
MIB, GIB = 1 << 20, 1 << 30


class DeviceMemoryError(WarpsiftError):
    """An array does not fit, or an access leaves its array."""


class Running:
    """Which kernel runs now: meanwhile the host has no access.

    Arrays share this, and not the memory itself, so that a run's gigabytes are free as soon as nobody holds the memory.
    """

    kernel: str | None = None


def address_of(tag: int, itemsize: int) -> int:
    """What a register that has been turned into an address of an array's element remembers it by."""
    return tag << 8 | itemsize


class DeviceArray:
    """A one-dimensional array in device memory. The host reads and writes it by `host`; kernels by `t.load`.

    `storage` is the same view for the simulator itself: the instructions of `t` and of special units, which count
    what they do.
    """

    __slots__ = ("_running", "address", "addressing", "itemsize", "name", "storage", "tag", "words")

    def __init__(self, name: str, address: int, storage: np.ndarray, tag: int, running: Running) -> None:
        self.name = name
        self.address = address
        self.storage = storage  # a view of the device memory itself
        self.itemsize = storage.itemsize
        self.words = storage.view(f"u{storage.itemsize}")  # the same bytes without their meaning, to be moved about
        self.tag = tag  # index into LaunchInfo.arrays
        self.addressing = address_of(tag, self.itemsize)
        self._running = running

    @property
    def host(self) -> np.ndarray:
        """The values, for the host to read and write between launches."""
        if self._running.kernel is not None:
            raise DeviceMemoryError(
                f"kernel '{self._running.kernel}' reads '{self.name}.host', the host's view, which is not counted: "
                f"write t.load({self.name}, index) and t.store({self.name}, index, value)"
            )
        return self.storage

    def __len__(self) -> int:
        return self.storage.size

    @property
    def dtype(self) -> np.dtype:
        return self.storage.dtype

    @property
    def size_bytes(self) -> int:
        return self.storage.nbytes

    def __repr__(self) -> str:
        return f"DeviceArray({self.name!r}, {self.dtype}[{len(self)}] at {self.address:#x})"


class DeviceMemory:
    """The address space and its arrays."""

    def __init__(self, size_bytes: int = 4 * GIB) -> None:
        self._bytes = _reserved(size_bytes)
        self.size_bytes = size_bytes
        self.arrays: list[DeviceArray] = []
        self._running = Running()
        self._next = ALIGNMENT_BYTES  # address 0 stays free, as a null pointer

    @property
    def running(self) -> str | None:
        """The kernel that runs now."""
        return self._running.kernel

    @running.setter
    def running(self, kernel: str | None) -> None:
        self._running.kernel = kernel

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
        if end > self._bytes.size:
            raise self._full(name, int(length) * dtype.itemsize)
        start = self._next
        storage = self._bytes[start : start + int(length) * dtype.itemsize].view(dtype)
        self._next = -(-end // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        array = DeviceArray(name, start, storage, len(self.arrays), self._running)
        self.arrays.append(array)
        return array

    def _full(self, name: str, wanted: int) -> DeviceMemoryError:
        what = f"array '{name}' of {wanted / MIB:.1f} MiB does not fit the device: {self._next / MIB:.1f}"
        if self._next + wanted <= self.size_bytes:
            return DeviceMemoryError(
                f"{what} of {self._bytes.size / MIB:.0f} MiB are taken, and this computer's memory holds no more. "
                "Use a smaller graph, or a computer with more memory."
            )
        enough = 1 << (self._next + wanted - 1).bit_length()
        return DeviceMemoryError(
            f"{what} of {self.size_bytes / MIB:.0f} MiB are taken. Use a smaller graph, or a machine with more memory, "
            f"such as --set dram.size_mib={enough // MIB}"
        )

    def array(self, name: str, values: ArrayLike, dtype: DTypeLike | None = None) -> DeviceArray:
        """Copy values from the host; `dtype` converts them, if it can hold them."""
        values = np.asarray(values)
        if values.ndim > 1:
            raise DeviceMemoryError(
                f"array '{name}' has {values.ndim} dimensions; device arrays have one: give values.ravel()"
            )
        _refuse_loss(name, values, np.dtype(dtype or values.dtype))
        device = self.empty(name, values.size, dtype or values.dtype)
        device.storage[:] = values
        return device

    def full(self, name: str, length: int, value: float, dtype: DTypeLike = np.int32) -> DeviceArray:
        _refuse_loss(name, np.asarray(value), np.dtype(dtype))
        device = self.empty(name, length, dtype)
        device.storage.fill(value)
        return device


def _reserved(size_bytes: int) -> np.ndarray:
    """Zeros, of which pages appear when touched (calloc); fewer, where the host has no room for all."""
    while size_bytes > GIB:
        try:
            return np.zeros(size_bytes, np.uint8)
        except MemoryError:
            size_bytes //= 2
    return np.zeros(size_bytes, np.uint8)


def _refuse_loss(name: str, values: np.ndarray, dtype: np.dtype) -> None:
    """Integers that do not fit, and fractions where integers are kept, would become other numbers without a word."""
    if values.dtype.kind not in "iufb":
        raise DeviceMemoryError(
            f"array '{name}': {values.dtype} values; device arrays hold integers, floats or booleans"
        )
    if not values.size or values.dtype == dtype or dtype.kind not in "iu" or values.dtype.kind == "b":
        return
    limits = np.iinfo(dtype)
    low, high = values.min(), values.max()
    wrong = low if not low >= limits.min else high if not high <= limits.max else None  # "not": also for nan
    if wrong is not None:
        raise DeviceMemoryError(
            f"array '{name}': {wrong} does not fit {dtype}, which holds {limits.min} to {limits.max}; "
            f"give a wider type, such as dtype={'np.int64' if values.dtype.kind in 'iu' else 'np.float32'}"
        )
    if values.dtype.kind == "f" and (broken := values[values != np.trunc(values)]).size:
        raise DeviceMemoryError(
            f"array '{name}': {broken.flat[0]} is no integer and {dtype} would cut it off; give dtype=np.float32, "
            "or round the values first"
        )
