"""The `[next_line]` section of a machine file. The numbers are a modest design of ours; no paper prescribes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from warpsift.machines.bounds import GIB, LATENCY, entries
from warpsift.machines.ranges import Bounds, powers, range_problems


class NextLineSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A prefetcher at each L2 slice; the slices' prefetchers hand each other lines over wires of their own."""

    # lines asked for behind one that missed
    degree: Annotated[int, Bounds(1, 32, "lines", "further ahead than a page of lines is not asked for")] = 1
    # per slice: lines that wait for a free L2 clock
    queue_entries: Annotated[int, entries(1, 1024, "lines")] = 8
    # per slice, direct mapped: lines prefetched and not yet used
    tag_entries: Annotated[int, entries(1, 65536, "tags")] = 64
    crossing_cycles: Annotated[int, LATENCY] = 2  # L2 clocks from one slice's prefetcher to another's
    # a prefetch does not leave its page: the next one may be anybody's
    page_bytes: Annotated[int, Bounds(256, GIB, "bytes", "pages of a memory", powers(256, GIB))] = 4096

    def problems(self, machine: Any = None) -> Iterator[str]:
        """Texts of what no hardware could have."""
        yield from range_problems(self, "next_line.")

    def host_bytes(self, machine: Any) -> dict[str, int]:
        """Bytes of the model's tables, by the key that decides."""
        return {"next_line.tag_entries": machine.l2.slices * 8 * (self.tag_entries + 4 * self.queue_entries)}
