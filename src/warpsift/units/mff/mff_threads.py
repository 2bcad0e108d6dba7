"""What a kernel says to the memory fast-forward unit: PC_gather, PC_scatter_set and PC_wait (MFF paper, section 5).

    target = t.pc_target(np.float32)             # 32 x 32 words of shared memory per warp
    t.pc_gather(target, first, size)             # target[k] = V[C[first + k]] for k < size, at most 32
    t.pc_wait()                                  # the warp stalls until all its words have come
    value = target.load(k)

    t.pc_scatter_set(first, size)                # active[C[first + k]] = 1; nobody waits for it

The calls of the 32 threads of a warp are one warp-level command. C (of the in-edges and of the out-edges), V and the
active vertices are globals in the paper; here they are bound before the launch by `bind_fast_forward(gpu, ...)`. A
gather reads the in-edges unless told otherwise, a scatter the out-edges (one bit of the command chooses).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import DTypeLike

from warpsift.hardware import WARP_SIZE
from warpsift.simt.alu_classes import CONTROL
from warpsift.simt.collectives import CollectiveThreads
from warpsift.simt.gpu import Gpu
from warpsift.simt.memory import DeviceArray, DeviceMemoryError
from warpsift.simt.registers import KernelError, Register, Value
from warpsift.simt.stream import COMMAND, COMMAND_UNIT_SHIFT, POST, pack, pack_high
from warpsift.units.registry import socket_of

MOST_WORDS = 32  # per thread and call (MFF paper, section 5: "the maximum size is 32")
WORD_BYTES = 4
IN_EDGES, OUT_EDGES = 0, 1  # OP.detail, low bit
NAME = "mff"
# A thread's part of a command is one int64: first index into C << 16 | lane << 8 | number of words, 1 to 32.
COMMAND_INDEX_SHIFT = 16
COMMAND_LANE_SHIFT = 8


@dataclass(frozen=True)
class FastForward:
    """The unit's globals. `active` holds a bit per vertex (uint32 words) or a byte per vertex (uint8)."""

    in_edges: DeviceArray | None = None
    out_edges: DeviceArray | None = None
    values: DeviceArray | None = None
    active: DeviceArray | None = None
    memory: np.ndarray | None = None  # the device memory's bytes: address a of the device is memory[a]

    def __post_init__(self) -> None:
        for name in ("in_edges", "out_edges", "values"):
            array = getattr(self, name)
            if array is not None and array.itemsize != WORD_BYTES:
                raise KernelError(
                    f"bind_fast_forward: {name} = '{array.name}' holds {array.itemsize}-byte elements; "
                    "the fast-forward unit moves 4-byte words"
                )
        if self.active is not None and self.active.dtype not in (np.uint32, np.uint8):
            raise KernelError(
                f"bind_fast_forward: active = '{self.active.name}' holds {self.active.dtype} elements; "
                "give bits in uint32 words or one uint8 per vertex"
            )

    @property
    def vertices(self) -> int:
        """How many vertices the active list has room for."""
        if self.active is None:
            return 0
        return len(self.active) * (32 if self.active.itemsize == WORD_BYTES else 1)


@njit(cache=True)
def _gather(columns, values, index, size, target, base):
    """target[base + 32 k] = values[columns[index + k]]; the first C entry outside of V, or -1."""
    for n in range(index.size):
        for k in range(size[n]):
            vertex = columns[index[n] + k]
            if vertex < 0 or vertex >= values.size:
                return np.int64(vertex)
            target[base[n] + k * WARP_SIZE] = values[vertex]
    return np.int64(-1)


@njit(cache=True)
def _scatter(columns, active, bits, vertices, index, size):
    """Set the bit or byte of every named vertex; the first C entry outside of the list, or -1."""
    for n in range(index.size):
        for k in range(size[n]):
            vertex = columns[index[n] + k]
            if vertex < 0 or vertex >= vertices:
                return np.int64(vertex)
            if bits:
                active[vertex >> 5] |= np.uint32(1) << np.uint32(vertex & 31)
            else:
                active[vertex] = 1
    return np.int64(-1)


def bind_fast_forward(
    gpu: Gpu,
    *,
    in_edges: DeviceArray | None = None,
    out_edges: DeviceArray | None = None,
    values: DeviceArray | None = None,
    active: DeviceArray | None = None,
) -> None:
    """Set the unit's globals for the launches that follow, and give kernels its instructions."""
    gpu.extend(FastForwardThreads)
    gpu.bind(NAME, FastForward(in_edges, out_edges, values, active, gpu.memory.bytes))


class Target:
    """Where gathered words arrive: `words` rows of 32 words per warp in shared memory.

    Word k of a thread lies in row k, column lane, so that the 32 lanes read their word k without bank conflicts.
    """

    def __init__(self, threads: FastForwardThreads, dtype: DTypeLike, words: int) -> None:
        warps = threads.batch.threads_per_cta // WARP_SIZE
        self.words = words
        self.array = threads.shared(dtype, warps * words * WARP_SIZE)
        self.pending = np.zeros(threads.batch.size, bool)  # threads with words under way
        self.slots = 0  # scoreboard slots of the gathers under way
        self._threads = threads
        self._base = threads.fma(threads.in_cta >> 5, words * WARP_SIZE, threads.lane)

    def load(self, k: Value) -> Register:
        """The k-th gathered word of each thread."""
        t = self._threads
        if self.pending[t.scope.index].any():
            raise KernelError("the target of t.pc_gather() is read before its words have come: call t.pc_wait() first")
        row = t.fma(k, WARP_SIZE, self._base) if isinstance(k, Register) else self._base + k * WARP_SIZE
        return self.array.load(row)

    def positions(self) -> np.ndarray:
        """Where word 0 of each active thread lies in the shared array of all CTAs."""
        t = self._threads
        cta = t.scope.index // t.batch.threads_per_cta
        return cta * self.array.length + self._base.at(t.scope).astype(np.int64)


class FastForwardThreads(CollectiveThreads):
    """The `t` of a kernel with the calls of the memory fast-forward unit."""

    _targets: list[Target]

    def pc_target(self, dtype: DTypeLike = np.float32, words: int = MOST_WORDS) -> Target:
        """Reserve a target of `words` words per thread: 4 KB of shared memory per warp when words is 32."""
        if np.dtype(dtype).itemsize != WORD_BYTES:
            raise KernelError(f"t.pc_target({np.dtype(dtype)}): the fast-forward unit moves 4-byte words")
        if not 1 <= words <= MOST_WORDS:
            raise KernelError(f"t.pc_target(words={words}): a target holds 1 to {MOST_WORDS} words per thread")
        target = Target(self, dtype, words)
        self._targets = [*getattr(self, "_targets", []), target]
        return target

    def pc_gather(self, target: Target, c_index: Value, size: Value, over: str = "in") -> None:
        """target[k] = V[C[c_index + k]] for k < size; the words may be read after `pc_wait`."""
        bound, columns = self._bound("t.pc_gather()", over)
        if bound.values is None:
            raise KernelError("t.pc_gather() without vertex values: call bind_fast_forward(gpu, values=...)")
        if not isinstance(target, Target):
            raise KernelError("t.pc_gather() needs a target in shared memory made by t.pc_target(dtype)")
        if target.array.values.dtype != bound.values.dtype:
            raise KernelError(
                f"t.pc_gather(): the target holds {target.array.values.dtype}, but values = '{bound.values.name}' "
                f"holds {bound.values.dtype}: make it with t.pc_target(np.{bound.values.dtype})"
            )
        index, sizes = self._request("t.pc_gather()", columns, c_index, size)
        if sizes.size and sizes.max() > target.words:
            raise KernelError(
                f"t.pc_gather() of {int(sizes.max())} words into a target of {target.words} words per thread: "
                f"make it with t.pc_target(dtype, words={int(sizes.max())}) or gather less at a time"
            )
        threads = self.scope.index
        if target.pending[threads].any():
            raise KernelError("t.pc_gather() into a target whose words are still under way: call t.pc_wait() first")
        slot = self._command(COMMAND, columns, (index, sizes), over, (c_index, size))
        wrong = _gather(columns.storage, bound.values.storage, index, sizes, target.array.values, target.positions())
        if wrong >= 0:
            raise DeviceMemoryError(
                f"t.pc_gather(): '{columns.name}' names vertex {wrong}, but '{bound.values.name}' "
                f"has {len(bound.values)} elements"
            )
        target.pending[threads[sizes > 0]] = True
        target.slots |= 1 << slot

    def pc_scatter_set(self, c_index: Value, size: Value, over: str = "out") -> None:
        """active[C[c_index + k]] = 1 for k < size; does not block."""
        bound, columns = self._bound("t.pc_scatter_set()", over)
        if bound.active is None:
            raise KernelError("t.pc_scatter_set() without an active list: call bind_fast_forward(gpu, active=...)")
        index, sizes = self._request("t.pc_scatter_set()", columns, c_index, size)
        self._command(POST, columns, (index, sizes), over, (c_index, size))
        bits = bound.active.itemsize == WORD_BYTES
        wrong = _scatter(columns.storage, bound.active.storage, bits, bound.vertices, index, sizes)
        if wrong >= 0:
            raise DeviceMemoryError(
                f"t.pc_scatter_set(): '{columns.name}' names vertex {wrong}, but '{bound.active.name}' "
                f"has room for {bound.vertices}"
            )

    def pc_wait(self) -> None:
        """The warp stalls until all words that its threads have asked for are in their targets (one instruction)."""
        warps = np.unique(self.scope.index // WARP_SIZE)
        threads = (warps[:, None] * WARP_SIZE + np.arange(WARP_SIZE)).reshape(-1)
        wait = 0
        for target in getattr(self, "_targets", []):
            if target.pending[threads].any():
                wait |= target.slots
                target.pending[threads] = False
                if not target.pending.any():
                    target.slots = 0
        self._flush()
        self._alu_wait |= wait
        self.spend(1, classes=(CONTROL,))

    def finish(self) -> None:
        if any(target.pending.any() for target in getattr(self, "_targets", [])):
            raise KernelError("the kernel ends while words of t.pc_gather() are under way: call t.pc_wait() before")
        super().finish()

    # ------------------------------------------------------------------ parts
    def _bound(self, what: str, over: str) -> tuple[FastForward, DeviceArray]:
        if over not in ("in", "out"):
            raise KernelError(f"{what}: over must be 'in' or 'out' (which edges to follow), not {over!r}")
        bound: FastForward | None = self.bindings.get(NAME)
        columns = None
        if bound is not None:
            columns = bound.in_edges if over == "in" else bound.out_edges
        if bound is None or columns is None:
            raise KernelError(
                f"{what} over {over}-edges, but no {over}-edge CSR is bound: "
                f"call bind_fast_forward(gpu, {over}_edges=...) before the launch"
            )
        return bound, columns

    def _request(self, what: str, columns: DeviceArray, c_index: Value, size: Value) -> tuple[np.ndarray, np.ndarray]:
        """First C index and size of every active thread, checked."""
        scope = self.scope
        index, sizes = (
            v.at(scope).astype(np.int64) if isinstance(v, Register) else np.full(len(scope), v, np.int64)
            for v in (c_index, size)
        )
        if sizes.size == 0:
            return index, sizes
        if sizes.max() > MOST_WORDS or sizes.min() < 0:
            wrong = int(sizes.max()) if sizes.max() > MOST_WORDS else int(sizes.min())
            raise KernelError(
                f"{what}: size {wrong} is not in 0..{MOST_WORDS}; longer lists take several calls: "
                "for first in t.range(begin, end, step=32)"
            )
        outside = (sizes > 0) & ((index < 0) | (index + sizes > len(columns)))
        if outside.any():
            n = int(np.flatnonzero(outside)[0])
            raise DeviceMemoryError(
                f"{what}: elements {int(index[n])} to {int(index[n] + sizes[n]) - 1} are outside of array "
                f"'{columns.name}', which has {len(columns)} elements"
            )
        return index, sizes

    def _command(
        self, kind: int, columns: DeviceArray, request: tuple[np.ndarray, ...], over: str, uses: tuple[Any, ...]
    ) -> int:
        """Record the warp-level command; gives its scoreboard slot."""
        slot, wait = self.take_slot(kind == COMMAND, uses)
        scope = self.scope
        if len(scope):
            index, sizes = request
            lane = scope.index & (WARP_SIZE - 1)
            entries = index << COMMAND_INDEX_SHIFT | lane << COMMAND_LANE_SHIFT | sizes
            detail = socket_of(NAME) << COMMAND_UNIT_SHIFT | (IN_EDGES if over == "in" else OUT_EDGES)
            low, high = pack(kind, slot, wait), pack_high(columns.tag, detail)
            self._recorder.command(scope, entries, sizes > 0, low, high)
        return slot
