"""Global memory as kernels see it: loads, stores, atomics, and what their addresses cost.

What an instruction moves happens here at once; what its transactions are is left to the recorder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from warpsift.simt import atomics
from warpsift.simt.alu_classes import MUL
from warpsift.simt.coalesce import ATOMICS, LINES, STORES
from warpsift.simt.elements import gather, scatter
from warpsift.simt.memory import DeviceArray, DeviceMemoryError, address_of
from warpsift.simt.registers import KernelError, Register, Value, filled
from warpsift.simt.stream import ATOMIC, LOAD, NO_SLOT, SLOTS, STORE, pack
from warpsift.simt.threads import Threads

_INT32 = np.dtype(np.int32)
PRODUCT = 128  # with an element's size, what `Register.addressed` calls index x size (memory.address_of: the sum)


class MemoryThreads(Threads):
    """Threads with global memory."""

    def load(self, array: DeviceArray, index: Value, offset: int = 0) -> Register:
        """array[index + offset]."""
        element = self._element(array, index)
        slot = self._issue(LOAD, LINES, array, (element, offset), (index,))
        words = gather(array.words, element, offset)
        if words.size < element.size:
            _refuse(array, element, offset)
        result = Register(self, words.view(array.storage.dtype), self.scope)
        result.slot, result.load = slot, self._loads
        return result

    def store(self, array: DeviceArray, index: Value, value: Value, offset: int = 0) -> None:
        """array[index + offset] = value. Of several threads on one element, one wins."""
        element = self._element(array, index)
        self._issue(STORE, STORES, array, (element, offset), (index, value), returns=False)
        words = self.words_of(value, array.storage.dtype, array.words.dtype)
        if scatter(array.words, element, offset, words) < element.size:
            _refuse(array, element, offset)

    def words_of(self, value: Value, kind: np.dtype, word: np.dtype) -> np.ndarray:
        """A value per active thread, converted to what an array holds, as words."""
        if not isinstance(value, Register):
            return filled(self.scope.index.size, value, kind).view(word)
        values = value.at(self.scope)
        if values.dtype != kind:
            values = values.astype(kind)
        return values.view(word)

    def _atomic(self, function: Callable[..., Any], array: DeviceArray, index: Value, value: Value, used: bool) -> Any:
        element = self._element(array, index)
        slot = self._issue(ATOMIC, ATOMICS, array, (element, 0), (index, value), returns=used)
        kind, scope = array.storage.dtype, self.scope
        if isinstance(value, Register):
            operands = value.at(scope).astype(kind, copy=False)
        else:
            operands = filled(element.size, value, kind)
        # Warps reach L2 in no particular order: a seeded shuffle of warps, lanes of a warp in order.
        warps, _, first = scope.groups
        order = self.batch.rng.permutation(warps.size) if element.size > 1 else np.arange(warps.size)
        old = function(array.storage, element, operands, order, first)
        if old.size < element.size:
            _refuse(array, element, 0)
        if not used:
            return None
        result = Register(self, old, scope)
        result.slot, result.load = slot, self._loads
        return result

    def atomic_add(self, array: DeviceArray, index: Value, value: Value, *, used: bool = True) -> Any:
        """Add; gives the old value (say used=False where the kernel ignores it)."""
        return self._atomic(atomics.add, array, index, value, used)

    def atomic_min(self, array: DeviceArray, index: Value, value: Value, *, used: bool = True) -> Any:
        return self._atomic(atomics.minimum, array, index, value, used)

    def atomic_max(self, array: DeviceArray, index: Value, value: Value, *, used: bool = True) -> Any:
        return self._atomic(atomics.maximum, array, index, value, used)

    def atomic_or(self, array: DeviceArray, index: Value, value: Value, *, used: bool = True) -> Any:
        return self._atomic(atomics.bit_or, array, index, value, used)

    def _element(self, array: DeviceArray, index: Value) -> np.ndarray:
        """Element numbers of the active threads, after charging for the address arithmetic."""
        if not isinstance(array, DeviceArray):
            raise KernelError(
                f"t.load, t.store and atomics work on device arrays, not on a {type(array).__name__}: "
                "make one with gpu.memory.array(name, values), and use a shared array by its own load and store"
            )
        if isinstance(index, Register) and (index.addressed is None or array.addressing not in index.addressed):
            self.charge_address(index, array.itemsize, array.tag)
        return self.element_numbers(index)

    def element_numbers(self, index: Value) -> np.ndarray:
        """An index of the active threads as int32 or int64, which is what compiled code takes."""
        if not isinstance(index, Register):
            return filled(self.scope.index.size, index, np.int32 if abs(index) >> 31 == 0 else np.int64)
        values = index.at(self.scope)
        return values if values.dtype == _INT32 else values.astype(np.int64, copy=False)

    def address(self, array: DeviceArray, index: Register) -> None:
        """Compute &array[index] here, and so wait for the index here, not where the element is first used."""
        self.charge_address(index, array.itemsize, array.tag)

    def charge_address(self, index: Register, itemsize: int, tag: int) -> None:
        """Count the address arithmetic that this index has not paid for yet."""
        known = index.addressed
        if known is None:
            known = index.addressed = set()
        product, sum_ = itemsize | PRODUCT, address_of(tag, itemsize)
        if product not in known:
            known.add(product)
            if not index.counts:
                self.alu(None, index, op=MUL)  # mul.wide
        if sum_ not in known:
            known.add(sum_)
            self.spend(1, chained=not index.counts)  # add.s64; of a loop counter: off the critical path

    def take_slot(self, returns: bool, uses: tuple[Any, ...]) -> tuple[int, int]:
        """End the ALU run in front of a long-latency instruction: the slot that its result occupies, and its waits."""
        wait, _, _ = self._dependences(uses)
        self._flush()
        if not returns:
            return NO_SLOT, wait
        self._loads += 1
        slot = self._loads % SLOTS
        if self._loads > SLOTS:
            wait |= 1 << slot  # the slot's last user must have returned
        return slot, wait

    def _issue(
        self,
        kind: int,
        way: int,
        array: DeviceArray,
        elements_at: tuple[np.ndarray, int],
        uses: tuple[Any, ...],
        returns: bool = True,
    ) -> int:
        """Record a memory instruction that coalesces in this way; gives the scoreboard slot of its result."""
        slot, wait = self.take_slot(returns, uses)
        element, offset = elements_at
        if element.size:
            place = (array.address + offset * array.itemsize, array.itemsize)
            self._recorder.memory(way, self.scope, element, place, pack(kind, slot, wait), array.tag << 32)
        return slot


def _refuse(array: DeviceArray, element: np.ndarray, offset: int) -> NoReturn:
    position = element.astype(np.int64) + offset
    refuse_index(array.name, int(position[(position < 0) | (position >= len(array))][0]), len(array))


def refuse_index(name: str, index: int, length: int) -> NoReturn:
    raise DeviceMemoryError(f"index {index} is outside of array '{name}', which has {length} elements")
