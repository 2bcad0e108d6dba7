"""What the threads of a warp or a CTA do together: shared memory, barriers, votes, shuffles, scans.

Warp collectives are single instructions (vote, shuffle) or the usual five-step shuffle networks; the CTA scan is
written in terms of them, shared memory and barriers, so its cost is what its text does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import DTypeLike

from warpsift.hardware import WARP_SIZE
from warpsift.simt import coalesce
from warpsift.simt.alu_classes import ADD, LOGIC, MINMAX, SHUFFLE, SPECIAL, typed
from warpsift.simt.memory import DeviceMemoryError
from warpsift.simt.recorder import pack, pack_high
from warpsift.simt.registers import KernelError, Register, Value
from warpsift.simt.stream import BARRIER, NO_SLOT, SHARED, SLOTS
from warpsift.simt.threads import Threads as BasicThreads

SHUFFLE_STEPS = 5  # log2 of the warp size
INSTRUCTIONS_PER_STEP = 2  # shfl.sync and a (predicated) operation


@njit(cache=True)
def exchange(memory, position, values, first):
    """Per warp: all lanes read, then all lanes write."""
    old = np.empty(position.size, memory.dtype)
    for w in range(first.size - 1):
        for k in range(first[w], first[w + 1]):
            old[k] = memory[position[k]]
        for k in range(first[w], first[w + 1]):
            memory[position[k]] = values[k]
    return old


class SharedArray:
    """An array in shared memory, one instance per CTA."""

    def __init__(self, threads: CollectiveThreads, dtype: DTypeLike, length: int, address: int) -> None:
        ctas = threads.batch.cta_numbers.size
        self.values = np.zeros(ctas * length, dtype)
        self.length = length
        self.address = address
        self._threads = threads

    def load(self, index: Value) -> Register:
        position = self._access(index, returns=True)
        result = Register(self._threads, self.values[position], self._threads.scope)
        result.slot, result.load = self._threads.newest_slot, self._threads.newest_load
        return result

    def store(self, index: Value, value: Value) -> None:
        """Of several threads on one element, the highest lane wins."""
        scope = self._threads.scope
        position = self._access(index, returns=False, value=value)
        self.values[position] = value.at(scope) if isinstance(value, Register) else value

    def look_and_put(self, index: Register, value: Register) -> Register:
        """Load, then store, warp after warp: a thread finds what the warps before its own have put.

        Shared memory answers within tens of cycles, while the warps of a CTA stand hundreds apart once they have
        waited for global memory, so they do not look all at once as two separate accesses here would.
        """
        scope = self._threads.scope
        position = self._access(index, returns=True)
        slot, load = self._threads.newest_slot, self._threads.newest_load
        self._access(index, returns=False, value=value)
        _, _, first = scope.groups
        result = Register(self._threads, exchange(self.values, position, value.at(scope), first), scope)
        result.slot, result.load = slot, load
        return result

    def _access(self, index: Value, *, returns: bool, value: Value = None) -> np.ndarray:
        t = self._threads
        scope = t.scope
        if isinstance(index, Register):
            t.charge_address(index, self.values.itemsize, -1 - self.address)
            local = index.at(scope).astype(np.int64)
        else:
            local = np.full(len(scope), index, np.int64)
        if local.size and (local.min() < 0 or local.max() >= self.length):
            raise DeviceMemoryError(f"index {int(local.max())} is outside of a shared array of {self.length} elements")
        t.issue_shared(self.address + local * self.values.itemsize, self.values.itemsize, returns, (index, value))
        return (scope.index // t.batch.threads_per_cta) * self.length + local


class CollectiveThreads(BasicThreads):
    """The complete `t`: threads with shared memory and collectives."""

    shared_bytes = 0  # taken so far by this CTA

    @property
    def newest_slot(self) -> int:
        return self._loads % SLOTS

    @property
    def newest_load(self) -> int:
        return self._loads

    def issue_shared(self, address: np.ndarray, itemsize: int, returns: bool, uses: tuple[Any, ...]) -> None:
        wait, _, _ = self._dependences(uses)
        self._flush()
        slot = NO_SLOT
        if returns:
            self._loads += 1
            slot = self._loads % SLOTS
            if self._loads > SLOTS:
                wait |= 1 << slot
        if len(self.scope):
            fields = (pack(SHARED, slot, wait, 0), pack_high(0))
            self._recorder.memory(coalesce.emit_shared, self.scope.groups, address, itemsize, fields)

    # ------------------------------------------------------------------ shared memory and barriers
    def shared(self, dtype: DTypeLike, length: int) -> SharedArray:
        """Reserve shared memory for `length` elements per CTA."""
        address = -(-self.shared_bytes // 128) * 128
        self.shared_bytes = address + length * np.dtype(dtype).itemsize
        return SharedArray(self, dtype, length, address)

    def barrier(self) -> None:
        """__syncthreads()."""
        self._flush()
        self._require_whole_ctas("t.barrier()")
        if len(self.scope):
            self._recorder.plain(self.scope.groups, pack(BARRIER), 0)

    def _require_whole_ctas(self, what: str) -> None:
        if self.scope is self.root:
            return
        size = self.batch.threads_per_cta
        per_cta = np.bincount(self.scope.index // size, minlength=1)
        if ((per_cta != 0) & (per_cta != size)).any():
            raise KernelError(
                f"{what} is reached by only some threads of a CTA, which hangs a GPU: make the condition around it "
                "the same for the whole CTA, or write the kernel with @kernel(guard=False)"
            )

    # ------------------------------------------------------------------ warp
    def _per_warp(self, reduced: np.ndarray) -> np.ndarray:
        _, lanes, _ = self.scope.groups
        return np.repeat(reduced, lanes)

    def ballot(self, condition: Register) -> Register:
        """A word per warp: bit i = the condition of lane i (0 for inactive lanes)."""
        scope = self.scope
        bits = condition.at(scope).astype(np.uint32) << (scope.index & (WARP_SIZE - 1)).astype(np.uint32)
        _, _, first = scope.groups
        words = np.bitwise_or.reduceat(bits, first[:-1]) if len(scope) else bits
        return self.alu(self._per_warp(words), condition, op=SHUFFLE)

    def popcount(self, word: Register) -> Register:
        return self.alu(np.bitwise_count(word.at(self.scope)).astype(np.int32), word, op=SPECIAL)

    def warp_scan(self, value: Register) -> Register:
        """Inclusive prefix sum over the active lanes of each warp."""
        scope = self.scope
        values = value.at(scope)
        total = np.cumsum(values, dtype=values.dtype)
        _, _, first = scope.groups
        before = np.concatenate([np.zeros(1, values.dtype), total])[first[:-1]]
        self._spend_network(value, ADD)
        return self.alu(total - self._per_warp(before), op=ADD)

    def _spend_network(self, value: Register, op: int) -> None:
        """All but the last instruction of a shuffle network; 8-byte values move and add in two halves."""
        values = value.at(self.scope)
        halves = -(-values.itemsize // 4)
        self.alu(None, value, op=SHUFFLE)
        self.spend(SHUFFLE_STEPS * INSTRUCTIONS_PER_STEP * halves - 2, classes=(typed(op, values.dtype), SHUFFLE))

    def warp_sum(self, value: Register) -> Register:
        return self._warp_reduce(value, np.add, ADD)

    def warp_max(self, value: Register) -> Register:
        return self._warp_reduce(value, np.maximum, MINMAX)

    def _warp_reduce(self, value: Register, function: np.ufunc, op: int) -> Register:
        values = value.at(self.scope)
        _, _, first = self.scope.groups
        self._spend_network(value, op)
        reduced = function.reduceat(values, first[:-1], dtype=values.dtype) if values.size else values
        return self.alu(self._per_warp(reduced), op=op)

    def shuffle(self, value: Register, lane: Value) -> Register:
        """The value that the given lane of the same warp holds (one `shfl.idx`); that lane must be active."""
        scope = self.scope
        wanted = lane.at(scope) if isinstance(lane, Register) else np.full(len(scope), lane)
        held = np.zeros(self.batch.size, value.at(scope).dtype)
        held[scope.index] = value.at(scope)
        return self.alu(held[(scope.index & ~(WARP_SIZE - 1)) + wanted], value, lane, op=SHUFFLE)

    def warp_any(self, condition: Register) -> Register:
        """Whether the condition holds in any active lane of the warp (one `vote`)."""
        scope = self.scope
        _, _, first = scope.groups
        holds = condition.at(scope)
        any_of = np.logical_or.reduceat(holds, first[:-1]) if len(scope) else holds
        return self.alu(self._per_warp(any_of), condition, op=SHUFFLE)

    # ------------------------------------------------------------------ CTA
    def cta_any(self, condition: Register) -> Register:
        """__syncthreads_or(): a barrier that also tells whether the condition holds anywhere in the CTA."""
        holds = condition.at(self.scope)
        self.alu(None, condition, op=LOGIC)
        self.barrier()
        cta = self.scope.index // self.batch.threads_per_cta
        any_of = np.bincount(cta, weights=holds, minlength=self.batch.cta_numbers.size) > 0
        return self.alu(any_of[cta], op=LOGIC)

    def cta_scan(self, value: Register) -> tuple[Register, Register]:
        """Exclusive prefix sum over the CTA, and the CTA's total, for every thread."""
        self._require_whole_ctas("t.cta_scan()")
        warps = self.batch.threads_per_cta // WARP_SIZE
        totals = self.shared(value.at(self.scope).dtype, WARP_SIZE)  # own words: no barrier before the next scan
        warp = self.in_cta >> 5
        lane = self.lane
        inclusive = self.warp_scan(value)
        with self.where(lane == WARP_SIZE - 1):
            totals.store(warp, inclusive)
        self.barrier()
        with self.where(self.in_cta < warps):
            totals.store(lane, self.warp_scan(totals.load(lane)))
        self.barrier()
        base = self.var(0, inclusive.values.dtype)
        with self.where(warp > 0):
            base.set(totals.load(warp - 1))
        total = totals.load(warps - 1)
        return base + (inclusive - value), total
