"""The complete `t` while a kernel is traced: `kernel_tracer` with memory, shared memory, votes and scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from warpsift.simt import alu_classes, atomics
from warpsift.simt.alu_classes import ADD, LOGIC, MINMAX, MUL, SPECIAL
from warpsift.simt.global_memory import PRODUCT
from warpsift.simt.memory import DeviceArray, address_of
from warpsift.simt.registers import Register, Value
from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine.kernel_tracer import Tracer
from warpsift.simt.vector_machine.traced_registers import TracedRegister, UntraceableError, type_number

ATOMICS = {
    atomics.add: i.ATOMIC_ADD,
    atomics.minimum: i.ATOMIC_MIN,
    atomics.maximum: i.ATOMIC_MAX,
    atomics.bit_or: i.ATOMIC_OR,
}


NETWORKS = {i.SCAN: (i.INT32, i.INT64), i.SUM: (i.INT32, i.FLOAT32), i.LARGEST: (i.INT32, i.FLOAT32)}  # in warp_loops


class TracedSharedArray:
    """A shared array while a kernel is traced."""

    def __init__(self, threads: TracedThreads, dtype: DTypeLike, length: int, address: int) -> None:
        self.length = length
        self.address = address
        self._type = type_number(dtype)
        self._threads = threads
        self._number = threads.trace.shared_array(address, length, np.dtype(dtype).itemsize)

    def load(self, index: Value) -> Register:
        t = self._threads
        t.charge(index, i.SIZE_OF[self._type], -1 - self.address)
        made = t.trace.new(self._type)
        t.access(i.SHARED_LOAD, self._type, index, dst=made, dst_reg=made, x=self._number)
        return TracedRegister(t, made)

    def store(self, index: Value, value: Value) -> None:
        t = self._threads
        t.charge(index, i.SIZE_OF[self._type], -1 - self.address)
        t.access(i.SHARED_STORE, self._type, index, value, x=self._number)

    def look_and_put(self, index: Register, value: Register) -> Register:
        t = self._threads
        t.charge(index, i.SIZE_OF[self._type], -1 - self.address)
        made = t.trace.new(self._type)
        t.access(i.SHARED_EXCHANGE, self._type, index, value, dst=made, dst_reg=made, x=self._number)
        return TracedRegister(t, made)


class TracedThreads(Tracer):
    """The `t` of a kernel that is traced."""

    def charge(self, index: Value, itemsize: int, tag: int) -> None:
        """Count the address arithmetic that this index has not paid for when it comes here."""
        if isinstance(index, Register):
            bits = {"x": self.trace.address(itemsize | PRODUCT), "y": self.trace.address(address_of(tag, itemsize))}
            self.trace.emit(i.ADDRESS, cls=MUL, a_reg=self.value_of(index), **bits)

    charge_address = charge

    def access(self, op: int, type: int, index: Value, value: Value = None, **more: int) -> None:
        """A memory instruction; the value is converted to what the array holds."""
        if isinstance(index, Register):
            number = self.value_of(index)
            element = self.trace.cast(number, i.INT32 if self.trace.type_of(number) == i.INT32 else i.INT64)
        else:
            element = self.trace.constant(index, i.INT64, i.INT64 if abs(index) >> 31 else i.INT32)
        given = -1 if value is None else self.value_in(value, type, type)
        registers = {"a_reg": self._register_of(index), "b_reg": self._register_of(value)}
        self.trace.emit(op, type, a=element, b=given, index_type=self.trace.type_of(element), **registers, **more)

    def _array(self, array: DeviceArray, index: Value) -> tuple[int, int]:
        if not isinstance(array, DeviceArray):
            raise UntraceableError("memory that is no device array")
        self.charge(index, array.itemsize, array.tag)
        return type_number(array.dtype), self.trace.array(array)

    def load(self, array: DeviceArray, index: Value, offset: int = 0) -> Register:
        kind, number = self._array(array, index)
        made = self.trace.new(kind)
        self.access(i.LOAD, kind, index, dst=made, dst_reg=made, x=number, y=int(offset))
        return TracedRegister(self, made)

    def store(self, array: DeviceArray, index: Value, value: Value, offset: int = 0) -> None:
        kind, number = self._array(array, index)
        self.access(i.STORE, kind, index, value, x=number, y=int(offset))

    def _atomic(self, function: Callable[..., Any], array: DeviceArray, index: Value, value: Value, used: bool) -> Any:
        kind, number = self._array(array, index)
        which = ATOMICS[function]
        floating = kind in (i.FLOAT32, i.FLOAT64)
        wide = kind in (i.INT64, i.FLOAT64) and which != i.ATOMIC_ADD
        if kind in (i.BOOL, i.BYTE) or wide or (floating and which == i.ATOMIC_OR):
            raise UntraceableError(f"atomics on {array.dtype}")
        made = self.trace.new(kind)
        result = {"dst": made, "dst_reg": made} if used else {}
        self.access(i.ATOMIC, kind, index, value, x=number, z=which, **result)
        return TracedRegister(self, made) if used else None

    def shared(self, dtype: DTypeLike, length: int) -> Any:
        address = -(-self.shared_bytes // 128) * 128
        self.shared_bytes = address + length * np.dtype(dtype).itemsize
        return TracedSharedArray(self, dtype, length, address)

    def barrier(self) -> None:
        self.trace.whole_ctas("t.barrier()")
        self.trace.emit(i.BARRIER)

    def _require_whole_ctas(self, what: str) -> None:
        self.trace.whole_ctas(what)

    # ------------------------------------------------------------------ warp and CTA
    def _together(self, which: int, kind: int, value: int, needs: tuple[Value, ...], op: int, **more: int) -> Register:
        made = self.trace.new(kind)
        self.trace.emit(i.WARP, self.trace.type_of(value), dst=made, a=value, x=which, **more)
        return self.counted(made, needs, op)

    def ballot(self, condition: Register) -> Register:
        holds = self.trace.cast(self.value_of(condition), i.BOOL)
        if holds != self.value_of(condition):
            raise UntraceableError("a ballot of what is no boolean")
        return self._together(i.BALLOT, i.UINT32, holds, (condition,), alu_classes.SHUFFLE)

    def popcount(self, word: Register) -> Register:
        number = self.value_of(word)
        if self.trace.type_of(number) not in (i.UINT32, i.INT64):
            raise UntraceableError("a count of bits of another type")
        if self.trace.type_of(number) == i.INT64:
            raise UntraceableError("a count of the bits of 8 bytes")
        return self._together(i.POPCOUNT, i.INT32, number, (word,), SPECIAL)

    def _network(self, which: int, value: Register, op: int) -> Register:
        number = self.value_of(value)
        kind = self.trace.type_of(number)
        if kind not in NETWORKS[which]:
            raise UntraceableError(f"a shuffle network of {i.TYPES[kind]}")
        self._spend_network(value, op)
        return self._together(which, kind, number, (), op)

    def warp_scan(self, value: Register) -> Register:
        return self._network(i.SCAN, value, ADD)

    def warp_sum(self, value: Register) -> Register:
        return self._network(i.SUM, value, ADD)

    def warp_max(self, value: Register) -> Register:
        return self._network(i.LARGEST, value, MINMAX)

    def shuffle(self, value: Register, lane: Value) -> Register:
        number = self.value_of(value)
        if i.SIZE_OF[self.trace.type_of(number)] == 1:
            raise UntraceableError("a shuffle of bytes")
        lanes = self.value_in(lane, i.INT64, i.INT64)
        made = self.trace.type_of(number)
        return self._together(i.SHUFFLE, made, number, (value, lane), alu_classes.SHUFFLE, b=lanes)

    def warp_any(self, condition: Register) -> Register:
        holds = self.trace.cast(self.value_of(condition), i.BOOL)
        return self._together(i.ANY, i.BOOL, holds, (condition,), alu_classes.SHUFFLE)

    def cta_any(self, condition: Register) -> Register:
        holds = self.trace.cast(self.value_of(condition), i.BOOL)
        self.alu(None, condition, op=LOGIC)
        self.barrier()
        return self._together(i.CTA_ANY, i.BOOL, holds, (), LOGIC)
