"""Stream compaction in software: keep the flagged elements, in CTA-sized pieces, with a scan and one atomic each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpsift.algorithms.operators.gathering import reserve
from warpsift.simt import DeviceArray, Register, Threads, kernel


@dataclass(frozen=True)
class Destination:
    """A queue on the device: its counter, and the arrays with the register that goes into each."""

    counter: DeviceArray
    columns: tuple[tuple[DeviceArray, Register], ...]


def append(t: Threads, keep: Register, counter: DeviceArray, *columns: tuple[DeviceArray, Register]) -> None:
    """Append the elements of the threads with keep = 1 to a queue. All threads of the CTA must come here."""
    offset, total = t.cta_scan(keep)
    base = reserve(t, counter, total)
    with t.where(keep == 1):
        position = base + offset
        for array, value in columns:
            t.store(array, position, value)


def append_to_two(t: Threads, choice: Register, first: Destination, second: Destination) -> None:
    """Append the elements with choice = 1 to the first queue, those with choice = 2 to the second.

    A CTA keeps at most 1024 of each, so one scan sums both, 16 bits each; two threads reserve side by side.
    """
    is_first, is_second = t.select(choice == 1, 1, 0), t.select(choice == 2, 1, 0)
    offsets, totals = t.cta_scan(is_first | (is_second << 16))
    boxes = t.shared(np.int32, 2)
    with t.where(t.in_cta == 0):
        boxes.store(0, t.atomic_add(first.counter, 0, totals & 0xFFFF))
    with t.where(t.in_cta == 32):  # another warp, so that the two atomics overlap
        boxes.store(1, t.atomic_add(second.counter, 0, totals >> 16))
    t.barrier()
    for number, destination, offset in ((0, first, offsets & 0xFFFF), (1, second, offsets >> 16)):
        with t.where(choice == number + 1):
            position = boxes.load(number) + offset
            for array, value in destination.columns:
                t.store(array, position, value)


@kernel(guard=False)
def compact(t, values, flags, count, out, out_count):
    """out = values where flags, order kept inside a CTA."""
    keep, value = t.var(0), t.var(0)
    with t.where(t.id < count):
        keep.set(t.load(flags, t.id))
        value.set(t.load(values, t.id))
    append(t, keep, out_count, (out, value))
