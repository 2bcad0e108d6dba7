"""What a program says to the reorder unit: configure it for an index array, and load from it inside a kernel.

    with iru_stream(gpu, edges, count, spec=spec, parts=parts, values=costs, merge="min") as stream:
        gpu.launch(relax, stream.threads, edges, distance, phase="relax")

    @kernel
    def relax(t, edges, distance):
        node, cost, position, present = t.iru_load(edges)
        with t.where(present == 1):
            t.atomic_min(distance, node, cost)

Thread i gets some element of the index array, not element i: elements that address one memory block come to one warp.
`position` is the element's number in the array. With `merge`, elements of one index may be one: the first of them, with
the smallest value (min), the sum (add), or its own (first); then the last threads get none, and `present` is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpsift.hardware import WARP_SIZE
from warpsift.simt.collectives import CollectiveThreads
from warpsift.simt.gpu import Gpu
from warpsift.simt.memory import DeviceArray
from warpsift.simt.registers import KernelError, Register
from warpsift.simt.stream import COMMAND, COMMAND_UNIT_SHIFT, pack, pack_high
from warpsift.units.iru.iru_reorder import MERGES, MOST_ELEMENTS, Reordered, reorder
from warpsift.units.iru.iru_spec import IruSpec
from warpsift.units.registry import socket_of

NAME = "iru"
WORD_BYTES = 4


@dataclass(frozen=True)
class IruStream:
    """An index array as the unit hands it out in one launch."""

    index: DeviceArray
    values: DeviceArray | None
    count: int  # elements of the array
    order: Reordered

    @property
    def threads(self) -> int:
        """How many threads a launch needs, so that every element finds one."""
        return self.count

    @property
    def kept(self) -> int:
        """Elements that are left by merging."""
        return len(self.order.element)

    @property
    def lane_bytes(self) -> int:
        """What a lane gets: index, position, and value."""
        return WORD_BYTES * (2 if self.values is None else 3)


def _check(index: DeviceArray, values: DeviceArray | None, count: int, merge: str, target_bytes: int) -> None:
    if merge not in MERGES:
        raise KernelError(f"iru_stream: merge={merge!r}; write one of {', '.join(MERGES)}")
    if target_bytes not in (1, 2, 4, 8):
        raise KernelError(f"iru_stream: target_bytes={target_bytes}; write 1, 2, 4 or 8")
    if index.dtype.kind not in "iu" or index.itemsize != WORD_BYTES:
        raise KernelError(f"iru_stream: index '{index.name}' is {index.dtype}; write 4-byte integers")
    if not 0 <= count <= min(len(index), MOST_ELEMENTS):
        raise KernelError(f"iru_stream: {count} elements of '{index.name}', which has {len(index)}")
    if values is None and merge in ("min", "add"):
        raise KernelError(f"iru_stream: merge={merge!r} needs values=")
    if values is not None and (values.itemsize != WORD_BYTES or len(values) < count):
        raise KernelError(f"iru_stream: values '{values.name}' is {values.dtype}[{len(values)}]; write 4 bytes each")
    if count and index.host[:count].min() < 0:
        raise KernelError(f"iru_stream: index '{index.name}' holds {index.host[:count].min()}; write 0 or more")


@contextmanager
def iru_stream(
    gpu: Gpu,
    index: DeviceArray,
    count: int,
    *,
    spec: IruSpec,
    parts: int,
    values: DeviceArray | None = None,
    merge: str = "none",
    target_bytes: int = WORD_BYTES,
) -> Iterator[IruStream]:
    """Configure the unit for the launches inside: elements 0 to count of `index`, which address `target_bytes` each."""
    _check(index, values, count, merge, target_bytes)
    chosen = None if values is None else values.host[:count]
    order = reorder(index.host[:count], chosen, merge, target_bytes, parts, spec.hash_entries)
    stream = IruStream(index, values, count, order)
    gpu.extend(IruThreads)
    gpu.bind(NAME, stream)
    try:
        yield stream
    finally:
        gpu.bind(NAME, None)


class IruThreads(CollectiveThreads):
    """The `t` of a kernel with the call of the reorder unit."""

    def iru_load(self, index_array: DeviceArray) -> tuple[Register, Any, Register, Register]:
        """Index, value (None without values), position and presence of the thread's element; once in a launch."""
        stream: IruStream | None = self.bindings.get(NAME)
        if stream is None or stream.index is not index_array:
            raise KernelError(
                f"t.iru_load({getattr(index_array, 'name', index_array)}): the unit is not configured for it: launch "
                "inside 'with iru_stream(gpu, index_array, ...)'"
            )
        scope = self.scope
        slot = self.id.at(scope).astype(np.int64)
        if slot.size and slot.max() >= stream.threads:
            raise KernelError(
                f"t.iru_load() by thread {slot.max()}; the stream has {stream.threads} elements: guard it"
            )
        place = self._ask(slot // WARP_SIZE, stream.index.tag)
        present = slot < stream.kept
        element = stream.order.element[np.where(present, slot, 0)] if stream.kept else np.zeros_like(slot)
        found = [stream.index.storage[element], None, element.astype(np.int32), present.astype(np.int32)]
        if stream.values is not None:
            assert stream.order.value is not None
            merged = stream.order.value
            found[1] = merged[np.where(present, slot, 0)] if stream.kept else np.zeros(slot.size, merged.dtype)
        index, value, position, here = (None if f is None else self._brought(f, place) for f in found)
        assert index is not None and position is not None and here is not None
        return index, value, position, here

    def _brought(self, values: np.ndarray, place: int) -> Register:
        result = Register(self, values, self.scope)
        result.slot, result.load = place, self._loads
        return result

    def _ask(self, packs: np.ndarray, tag: int) -> int:
        """Record the warp's command; gives its scoreboard slot."""
        slot, wait = self.take_slot(True, ())
        if packs.size:
            low, high = pack(COMMAND, slot, wait), pack_high(tag, socket_of(NAME) << COMMAND_UNIT_SHIFT)
            self._recorder.command(self.scope, packs, np.ones(packs.size, bool), low, high)
        return slot
