"""The `[mff]` section of a machine file: a memory fast-forward unit between the interconnect and the memory units.

Defaults are the configuration of the MFF paper, section 6.1, for its GTX 480; the other machines have the same unit,
with tags and lines for each of their own L2 slices. What the paper leaves open is an option here, with our answer as
the default and the reason beside it. Cycles are L2 clocks.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from warpsift.machines.bounds import LATENCY_OR_MORE, entries
from warpsift.machines.ranges import Bounds

_PORTS = Bounds(1, 64, "per cycle", "ports of one structure; more than some are not built")


class Mff(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One unit; tags and lines are those of each memory unit (L2 slice)."""

    # section 6.1
    issue_engines: Annotated[int, Bounds(1, 64, "engines", "they are the bits of one 64-bit word")] = 32
    jobs_per_engine: Annotated[int, entries(1, 4096, "jobs")] = 8  # section 6.1
    work_registers: Annotated[int, entries(1, 1 << 20, "registers")] = 8192  # section 6.1
    tags_per_memory_unit: Annotated[int, entries(1, 65536, "tags")] = 256  # section 6.1
    lines_per_memory_unit: Annotated[int, entries(1, 65536, "lines")] = 20  # section 6.1
    line_allocation: Literal["fill", "issue"] = "fill"  # 20 lines for 256 tags: a line per outstanding read is too few
    fetch_bytes: Literal[32, 128] = 128  # what a tag miss reads; the paper's Line Data holds cache blocks of 128 bytes
    # Left open by the paper; one port of each structure per memory unit is the least.
    lookups_per_cycle: Annotated[int, _PORTS] = 1
    updates_per_cycle: Annotated[int, _PORTS] = 1
    replies_per_cycle: Annotated[int, _PORTS] = 1
    # words of one line and warp that may share a packet; the paper sends them one by one
    words_per_reply: Annotated[int, Bounds(1, 32, "words", "a line of 128 bytes has 32")] = 1
    # from a register's update to the tag unit of another memory unit
    crossing_cycles: Annotated[int, LATENCY_OR_MORE] = 1
