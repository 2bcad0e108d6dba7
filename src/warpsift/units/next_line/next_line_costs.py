"""Energy events, area and analytic floor of the next-line prefetcher."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from warpsift.costs.area import AreaReport, Array, gate_counts, gates_mm2
from warpsift.costs.events import Event
from warpsift.machines import Machine
from warpsift.units.next_line.next_line_spec import NextLineSpec

EVENTS = (
    Event("next_line_queue", "next_line.queues", {"next_line_prefetches": 1}),
    Event("next_line_tag", "next_line.tags", {"next_line_lookups": 1, "next_line_prefetches": 1}),
)
LINE_NUMBER_BYTES = 4  # 32 bits of line number: 512 GB


def area(spec: NextLineSpec, slices: int, node_nm: int = 32) -> AreaReport:
    """A queue, tags and an adder at each slice."""
    gates = gate_counts(Path(__file__).parent)
    queues = Array("fifo", spec.queue_entries * LINE_NUMBER_BYTES, 64, slices)
    tags = Array("ram", spec.tag_entries * LINE_NUMBER_BYTES, 32, slices)
    parts = {
        "queues": queues.part(node_nm, gates_mm2(gates["queue_control"], node_nm, copies=slices)),
        "tags": tags.part(node_nm, gates_mm2(gates["comparison"], node_nm, copies=slices)),
    }
    return AreaReport("next_line", node_nm, parts, note="logic: gate counts; storage: CACTI (docs/area.md)")


def floor_cycles(machine: Machine, counters: Mapping[str, int]) -> dict[str, float]:
    """Prefetches over what the slices take, one in an L2 clock each, in core cycles."""
    per_slice = counters["next_line_prefetches"] / machine.l2.slices
    cycles = per_slice * machine.clocks.core_mhz / machine.clocks.l2_mhz
    return {"cycles": cycles, "slices": cycles}
