"""The `[next_line]` section of a machine file. The numbers are a modest design of ours; no paper prescribes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec


class NextLineSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A prefetcher at each L2 slice; the slices' prefetchers hand each other lines over wires of their own."""

    degree: int = 1  # lines asked for behind one that missed
    queue_entries: int = 8  # per slice: lines that wait for a free L2 clock
    tag_entries: int = 64  # per slice, direct mapped: lines prefetched and not yet used
    crossing_cycles: int = 2  # L2 clocks from one slice's prefetcher to another's
    page_bytes: int = 4096  # a prefetch does not leave its page: the next one may be anybody's

    def problems(self, machine: Any = None) -> Iterator[str]:
        """What no hardware could have, with the key and what it may be."""
        for name, least, most in (
            ("degree", 1, 32),
            ("queue_entries", 1, 1024),
            ("tag_entries", 1, 1 << 16),
            ("crossing_cycles", 0, 1000),
            ("page_bytes", 256, 1 << 30),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                yield f"next_line.{name} = {value} must lie between {least} and {most}"
        if self.page_bytes & (self.page_bytes - 1):
            yield f"next_line.page_bytes = {self.page_bytes} must be a power of two"
