"""Stream compaction in software: keep the flagged elements, in CTA-sized pieces, with a scan and one atomic each."""

from __future__ import annotations

from warpsift.algorithms.gathering import reserve
from warpsift.simt import DeviceArray, Register, Threads, kernel


def append(t: Threads, keep: Register, counter: DeviceArray, *columns: tuple[DeviceArray, Register]) -> None:
    """Append the elements of the threads with keep = 1 to a queue. All threads of the CTA must come here."""
    offset, total = t.cta_scan(keep)
    base = reserve(t, counter, total)
    with t.where(keep == 1):
        position = base + offset
        for array, value in columns:
            t.store(array, position, value)


@kernel(guard=False)
def compact(t, values, flags, count, out, out_count):
    """out = values where flags, order kept inside a CTA."""
    keep, value = t.var(0), t.var(0)
    with t.where(t.id < count):
        keep.set(t.load(flags, t.id))
        value.set(t.load(values, t.id))
    append(t, keep, out_count, (out, value))
