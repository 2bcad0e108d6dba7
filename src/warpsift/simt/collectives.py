"""What the threads of a warp or a CTA do together: shared memory, barriers, votes, shuffles, scans.

Warp collectives are single instructions (vote, shuffle) or the usual five-step shuffle networks; the CTA scan is
written in terms of them, shared memory and barriers, so its cost is what its text does.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from warpsift.hardware import WARP_SIZE
from warpsift.simt import elements
from warpsift.simt.alu_classes import ADD, LOGIC, MINMAX, SHUFFLE, SPECIAL, typed
from warpsift.simt.coalesce import SHARED_WORDS
from warpsift.simt.global_memory import MemoryThreads
from warpsift.simt.memory import DeviceMemoryError
from warpsift.simt.registers import KernelError, Register, Value
from warpsift.simt.stream import BARRIER, SHARED, pack, pack_high

SHUFFLE_STEPS = 5  # log2 of the warp size
INSTRUCTIONS_PER_STEP = 2  # shfl.sync and a (predicated) operation


class SharedArray:
    """An array in shared memory, one instance per CTA."""

    def __init__(self, threads: CollectiveThreads, dtype: DTypeLike, length: int, address: int) -> None:
        ctas = threads.batch.cta_numbers.size
        self.values = np.zeros(ctas * length, dtype)
        self.length = length
        self.address = address
        self._words = self.values.view(f"u{self.values.itemsize}")
        self._threads = threads

    def load(self, index: Value) -> Register:
        t = self._threads
        element = self._element(index)
        slot, load = self._issue(element, True, (index,))
        words = elements.shared_gather(self._words, self.length, t.batch.shape.cta, t.scope.index, element)
        return self._register(words, element, slot, load)

    def store(self, index: Value, value: Value) -> None:
        """Of several threads on one element, the highest lane wins."""
        t = self._threads
        element = self._element(index)
        self._issue(element, False, (index, value))
        words = t.words_of(value, self.values.dtype, self._words.dtype)
        cta, scope = t.batch.shape.cta, t.scope
        if elements.shared_scatter(self._words, self.length, cta, scope.index, element, words) < element.size:
            self._refuse(element)

    def look_and_put(self, index: Register, value: Register) -> Register:
        """Load, then store, warp after warp: a thread finds what the warps before its own have put.

        Shared memory answers within tens of cycles, while the warps of a CTA stand hundreds apart once they have
        waited for global memory, so they do not look all at once as two separate accesses here would.
        """
        t = self._threads
        element = self._element(index)
        slot, load = self._issue(element, True, (index,))
        self._issue(element, False, (index, value))
        words = t.words_of(value, self.values.dtype, self._words.dtype)
        where = (self._words, self.length, t.batch.shape.cta, t.scope.index)
        return self._register(elements.shared_exchange(*where, element, words, t.scope.groups[2]), element, slot, load)

    def _element(self, index: Value) -> np.ndarray:
        """Element numbers of the active threads, after charging for the address arithmetic."""
        if isinstance(index, Register):
            self._threads.charge_address(index, self.values.itemsize, -1 - self.address)
        return self._threads.element_numbers(index)

    def _issue(self, element: np.ndarray, returns: bool, uses: tuple[Any, ...]) -> tuple[int, int]:
        """Record the access; gives the slot and the serial number of a load."""
        return self._threads.issue_shared(element, (self.address, self.values.itemsize), returns, uses)

    def _register(self, words: np.ndarray, element: np.ndarray, slot: int, load: int) -> Register:
        if words.size < element.size:
            self._refuse(element)
        result = Register(self._threads, words.view(self.values.dtype), self._threads.scope)
        result.slot, result.load = slot, load
        return result

    def _refuse(self, element: np.ndarray) -> NoReturn:
        refuse_shared_index(int(element.max()), self.length)


def refuse_shared_index(index: int, length: int) -> NoReturn:
    raise DeviceMemoryError(f"index {index} is outside of a shared array of {length} elements")


def refuse_part_of_a_cta(what: str) -> NoReturn:
    raise KernelError(
        f"{what} is reached by only some threads of a CTA, which hangs a GPU: make the condition around it "
        "the same for the whole CTA, or write the kernel with @kernel(guard=False)"
    )


class CollectiveThreads(MemoryThreads):
    """The complete `t`: threads with shared memory and collectives."""

    shared_bytes = 0  # taken so far by this CTA

    def issue_shared(
        self, element: np.ndarray, place: tuple[int, int], returns: bool, uses: tuple[Any, ...]
    ) -> tuple[int, int]:
        """Record an access to these elements of a shared array; `place`: its address, bytes per element."""
        slot, wait = self.take_slot(returns, uses)
        if element.size:
            self._recorder.memory(SHARED_WORDS, self.scope, element, place, pack(SHARED, slot, wait, 0), pack_high(0))
        return slot, self._loads

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
            self._recorder.plain(self.scope, pack(BARRIER), 0)

    def _require_whole_ctas(self, what: str) -> None:
        if self.scope is self.root:
            return
        size = self.batch.threads_per_cta
        per_cta = np.bincount(self.batch.shape.cta[self.scope.index], minlength=1)
        if ((per_cta != 0) & (per_cta != size)).any():
            refuse_part_of_a_cta(what)

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
        halves = -(-value.dtype.itemsize // 4)
        self.alu(None, value, op=SHUFFLE)
        self.spend(SHUFFLE_STEPS * INSTRUCTIONS_PER_STEP * halves - 2, classes=(typed(op, value.dtype), SHUFFLE))

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
        cta = self.batch.shape.cta[self.scope.index]
        any_of = np.zeros(self.batch.cta_numbers.size, bool)
        any_of[cta[holds.astype(bool, copy=False)]] = True
        return self.alu(any_of[cta], op=LOGIC)

    def cta_scan(self, value: Register) -> tuple[Register, Register]:
        """Exclusive prefix sum over the CTA, and the CTA's total, for every thread."""
        self._require_whole_ctas("t.cta_scan()")
        warps = self.batch.threads_per_cta // WARP_SIZE
        totals = self.shared(value.dtype, WARP_SIZE)  # own words: no barrier before the next scan
        warp = self.in_cta >> 5
        lane = self.lane
        inclusive = self.warp_scan(value)
        with self.where(lane == WARP_SIZE - 1):
            totals.store(warp, inclusive)
        self.barrier()
        with self.where(self.in_cta < warps):
            totals.store(lane, self.warp_scan(totals.load(lane)))
        self.barrier()
        base = self.var(0, inclusive.dtype)
        with self.where(warp > 0):
            base.set(totals.load(warp - 1))
        total = totals.load(warps - 1)
        return base + (inclusive - value), total
