"""The `[mff]` section of a machine file: a memory fast-forward unit between the interconnect and the memory units.

Defaults are the configuration of the MFF paper, section 6.1, for its GTX 480; the other machines have the same unit,
with tags and lines for each of their own L2 slices. What the paper leaves open is an option here, with our answer as
the default and the reason beside it. Cycles are L2 clocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec


class MffSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One unit; tags and lines are those of each memory unit (L2 slice)."""

    issue_engines: int = 32  # section 6.1
    jobs_per_engine: int = 8  # section 6.1
    work_registers: int = 8192  # section 6.1
    tags_per_memory_unit: int = 256  # section 6.1
    lines_per_memory_unit: int = 20  # section 6.1
    line_allocation: Literal["fill", "issue"] = "fill"  # 20 lines for 256 tags: a line per outstanding read is too few
    fetch_bytes: Literal[32, 128] = 128  # what a tag miss reads; the paper's Line Data holds cache blocks of 128 bytes
    # Left open by the paper; one port of each structure per memory unit is the least.
    lookups_per_cycle: int = 1
    updates_per_cycle: int = 1
    replies_per_cycle: int = 1
    words_per_reply: int = 1  # words of one line and warp that may share a packet; the paper sends them one by one
    crossing_cycles: int = 1  # from a register's update to the tag unit of another memory unit

    def problems(self, machine: Any = None) -> Iterator[str]:
        """What no hardware could have, with the key and what it may be."""
        for field in msgspec.structs.fields(type(self)):
            value = getattr(self, field.name)
            if isinstance(value, int) and not isinstance(value, bool) and value < 1:
                yield f"mff.{field.name} = {value} must be positive"
        if self.issue_engines > 64:
            yield f"mff.issue_engines = {self.issue_engines}: at most 64 are modelled"
