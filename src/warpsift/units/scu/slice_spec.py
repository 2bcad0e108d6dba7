"""The `[scu_slice]` section of a machine file: what the SCU has at each L2 slice, if it filters and groups there.

No paper has these numbers; they are a design of ours. The rest of the unit is the section `[scu]`, as for the SCU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from warpsift.machines.bounds import LATENCY_OR_MORE, entries
from warpsift.machines.ranges import range_problems


class SliceSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A station at each slice. Four probes a cycle over 16 slices, or one over 4, are a quarter per clock and slice."""

    # Probes sent and not answered, per slice: a quarter per clock over 160 clocks (two hops, the slice's pipeline, the
    # decision) are 40; the rest is for slices that get more than their share for a while.
    probes_per_slice: Annotated[int, entries(1, 1024, "probes")] = 64
    # Sets that a station holds: a quarter per clock over the slice's 120 to 130 clocks are 32.
    sets_per_slice: Annotated[int, entries(1, 64, "sets", "the model keeps them in one 64-bit word")] = 32
    # From the set's arrival to the next probe of the same set: read, compare with the ways, replace. Another set's
    # probe may begin in the next clock.
    decision_cycles: Annotated[int, LATENCY_OR_MORE] = 3

    def problems(self, machine: Any = None) -> Iterator[str]:
        """Texts of what no hardware could have."""
        yield from range_problems(self, "scu_slice.")

    def host_bytes(self, machine: Any) -> dict[str, int]:
        """Bytes of the model's tables, by the key that decides: eight words for each probe of the trace, and queues."""
        queues = machine.l2.slices * (2 * 8 * 2 * self.probes_per_slice + 80 * self.sets_per_slice + 128)
        return {"scu_slice": (8 << 20) + queues}
