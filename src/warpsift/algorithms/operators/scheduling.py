"""Vertex scheduling: which vertices a super-step works on.

Hong et al., PACT 2011: a bit per vertex says whether it is active. Before a super-step the bits are turned into a
list (phase "schedule", which the MFF paper does not measure and we report apart), or every vertex gets a thread that
tests its own bit (`active="all"`). A vertex is activated with atomicOr on a 32-bit word, or with a plain store of a
byte per vertex (`bit_setting="byte"`), which needs no atomic but eight times the space.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpsift.algorithms.operators.compaction import append
from warpsift.algorithms.style_options import VertexOptions
from warpsift.simt import DeviceArray, Gpu, Register, Threads, kernel

COMPUTE_PHASE = "compute"  # what the MFF paper measures; "schedule" and "commit" are reported apart


@dataclass(frozen=True)
class Scheme:
    """How kernels find their vertex and activate others; resolved before the launch."""

    compact: bool
    atomic: bool
    following: DeviceArray  # the bits (words) or bytes of the next super-step

    def vertex(self, t: Threads, vertices: DeviceArray, active: DeviceArray) -> Register:
        if self.compact:
            return t.load(vertices, t.id)
        t.exit_where(~self.is_active(t, active, t.id))
        return t.id

    def is_active(self, t: Threads, active: DeviceArray, vertex: Register) -> Register:
        if self.atomic:
            return (t.load(active, vertex >> 5) >> (vertex & 31)) & 1 != 0
        return t.load(active, vertex) != 0

    def activate(self, t: Threads, vertex: Register) -> None:
        if self.atomic:
            bit = t.shift_left(1, vertex & 31)
            t.atomic_or(self.following, vertex >> 5, bit, used=False)
        else:
            t.store(self.following, vertex, 1)


@kernel(guard=False)
def list_active(t, active, vertices, count, nodes, scheme):
    """From bits to a list."""
    keep = t.var(0)
    with t.where(t.id < nodes):
        keep.set(t.select(scheme.is_active(t, active, t.id), 1, 0))
    append(t, keep, count, (vertices, t.id))


@kernel
def clear(t, active):
    t.store(active, t.id, 0)


class ActiveSet:
    """The two bit vectors, the list, and the launches that turn one into the other."""

    def __init__(self, gpu: Gpu, nodes: int, options: VertexOptions) -> None:
        self._gpu = gpu
        self._nodes = nodes
        self._compact = options.active == "compact"
        self._atomic = options.bit_setting == "atomic"
        length, dtype = ((nodes + 31) // 32, np.uint32) if self._atomic else (nodes, np.uint8)
        self.current = gpu.memory.empty("active", length, dtype)
        self.following = gpu.memory.empty("active_next", length, dtype)
        self.list = gpu.memory.empty("active_list", nodes)
        self._count = gpu.memory.empty("active_count", 1)

    @property
    def scheme(self) -> Scheme:
        return Scheme(self._compact, self._atomic, self.following)

    def start(self, vertices: np.ndarray) -> None:
        """Activate from the host, for the first super-step."""
        flags = np.zeros(self._nodes, np.uint8)
        flags[vertices] = 1
        if self._atomic:
            padded = np.zeros(self.following.host.nbytes, np.uint8)
            packed = np.packbits(flags, bitorder="little")
            padded[: packed.size] = packed
            self.following.host[:] = padded.view(np.uint32)
        else:
            self.following.host[:] = flags

    def vertices(self) -> np.ndarray:
        """The vertices of this super-step (for the work ledger)."""
        if self._atomic:
            bits = np.unpackbits(self.current.host.view(np.uint8), bitorder="little", count=self._nodes)
            return np.flatnonzero(bits)
        return np.flatnonzero(self.current.host)

    @property
    def threads(self) -> int:
        return int(self._count.host[0]) if self._compact else self._nodes

    def schedule(self) -> bool:
        """Make the next super-step the current one; tells whether any vertex is active."""
        self.current, self.following = self.following, self.current
        gpu = self._gpu
        gpu.launch(clear, len(self.following), self.following, phase="schedule")
        if self._compact:
            self._list()
            return bool(self._count.host[0])
        return bool(self.current.host.any())

    def _list(self) -> None:
        """From bits to a list of vertices, and their number."""
        self._count.host[0] = 0
        arguments = (self.current, self.list, self._count, self._nodes, self.scheme)
        self._gpu.launch(list_active, self._nodes, *arguments, phase="schedule", compaction=True)
