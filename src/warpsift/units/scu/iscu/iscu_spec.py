"""The `[iscu]` section of a machine file: what the IRU-enhanced SCU has at each L2 slice.

The paper's abstract has no numbers of its parts; these are a design of ours, with the reason beside each. The rest of
the unit is the section `[scu]`, as for the SCU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from warpsift.machines.bounds import LATENCY, entries
from warpsift.machines.ranges import range_problems
from warpsift.units.scu.scu_buffers import Resources
from warpsift.units.scu.scu_spec import ScuSpec

WORD_BYTES = 4  # a node, or its value


class IscuSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part at each slice. Four elements a cycle over 16 slices, or one over 4, are a quarter per clock and part."""

    # Memory blocks that a part collects elements of, 32 nodes each: as many as the IRU's. A node's place in its entry
    # says which it is, so an entry is 32 bits and 32 values: 8 KB of values, where the IRU's elements take 24.
    hash_entries: Annotated[int, entries(1, 4096)] = 64
    # Blocks of which a part remembers the nodes that have passed, a bit each: over 16 slices 262,144 nodes, as many as
    # the SCU's table of 1 MB for the GTX 980 has IDs (SCU paper, table 2), in 64 KB.
    filter_entries: Annotated[int, entries(1, 65536)] = 512
    # Emptied entries that wait for the way back, per part; as many as the IRU's packs.
    ready_groups: Annotated[int, entries(1, 1024, "groups")] = 8
    # Elements sent to a part and not yet taken by its hash: a quarter per clock over 40 clocks there and back are 10;
    # the rest is for parts that get more than their share for a while (as at the stations of scu-slice).
    queue_elements: Annotated[int, entries(1, 1024, "elements")] = 64
    # Core cycles that a packet waits to be filled: 8 nodes of 4 bytes for one of 16 parts at 4 elements a cycle, or for
    # one of 4 parts at one, take 32.
    gather_cycles: Annotated[int, LATENCY] = 32

    def problems(self, machine: Any = None) -> Iterator[str]:
        """Texts of what no hardware could have."""
        yield from range_problems(self, "iscu.")

    def host_bytes(self, machine: Any) -> dict[str, int]:
        """Bytes of the model's tables, by the key that decides: a word for each element of the trace, and queues."""
        parts = machine.l2.slices
        queues = parts * 8 * (2 * self.queue_elements + 2 * self.ready_groups + 32)
        landing = parts * 8 * 2 * landing_elements(machine.unit("scu"), parts, WORD_BYTES)
        return {"iscu": (1 << 20) + queues + landing}


def landing_elements(spec: ScuSpec, parts: int, element_bytes: int) -> int:
    """Elements of one part that the SCU has room for: its hash request buffer holds what comes back, shared evenly."""
    return max(1, Resources.of(spec).hash_bytes // element_bytes // parts)
