"""The `[iru]` section of a machine file: numbers of the Irregular accesses Reorder Unit.

The paper's abstract has no numbers of its parts; these are a design of ours, with the reason beside each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from warpsift.hardware import WARP_SIZE
from warpsift.machines.bounds import LATENCY, entries
from warpsift.machines.ranges import Bounds, range_problems

LINE_ELEMENTS = 32  # of 4 bytes
SPARE_ELEMENTS = 4 * LINE_ELEMENTS  # in prefetched lines: what one more line and its elements' packs may need


class IruSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part at each L2 slice, joined by a ring."""

    # entries of the reordering hash, per part, each of 32 elements of one memory block; 64 x 32 x 12 B are 24 KB
    hash_entries: Annotated[int, entries(1, 4096)] = 64
    # packs of 32 elements that wait for their warp, per part: as many as replies are under way at once
    ready_packs: Annotated[int, entries(1, 1024, "packs")] = 8
    # lines of the index array asked for and not yet classified, per part: a line every 32 clocks over 350 clocks of
    # DRAM are 11
    prefetch_lines: Annotated[int, entries(1, 256, "lines")] = 16
    # elements that a part sends on their way to the hash per L2 clock: 16 parts then keep up with a line per two clocks
    classified_per_cycle: Annotated[int, Bounds(1, 32, "elements", "a line has 32")] = 4
    # banks of a part's hash, by block, each with a queue and a port of its own: it takes an element per clock and bank.
    # One is what a hash of one port can do; docs/iru.md says what two and four give.
    hash_banks: Annotated[int, Bounds(1, 4, "banks", "the trace has two bits for it", (1, 2, 4))] = 1
    # elements that wait in front of a bank
    ring_queue: Annotated[int, entries(1, 256, "elements")] = 16
    hop_cycles: Annotated[int, LATENCY] = 1  # L2 clocks from one part to the next of the ring

    def capacity(self, parts: int) -> int:
        """Elements in the hash, in packs, and in lines under way, of all parts."""
        return parts * WARP_SIZE * (self.hash_entries + self.ready_packs) + SPARE_ELEMENTS

    def problems(self, machine: Any = None) -> Iterator[str]:
        """Texts of what no hardware could have."""
        yield from range_problems(self, "iru.")
        if self.hash_banks > self.hash_entries:
            yield f"iru.hash_banks = {self.hash_banks}: a bank has an entry at least; write {self.hash_entries} or less"

    def host_bytes(self, machine: Any) -> dict[str, int]:
        """Bytes of the model's tables, by the key that decides; those of a stream come and go with it."""
        lines = machine.l2.slices * 2 * 8 * (4 * self.prefetch_lines + 2)
        return {"iru.prefetch_lines": lines + machine.sm.count * 256 * 8 * 4 + 256 * machine.l2.slices}
