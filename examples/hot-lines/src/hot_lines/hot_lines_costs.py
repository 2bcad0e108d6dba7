"""Energy events, area and analytic floor of the monitor."""

from __future__ import annotations

from pathlib import Path

from warpsift.costs.area import AreaReport, Array, gate_counts, gates_mm2
from warpsift.costs.events import Event

EVENTS = (Event("hot_lines_search", "hot_lines.tables", {"hot_lines_reads": 1}),)
TAG_BYTES, COUNT_BYTES = 4, 4


def area(spec, slices, node_nm=32):
    """An associative table of line numbers and a RAM of counts at each slice."""
    gates = gate_counts(Path(__file__).parent)
    tags = Array("cam", TAG_BYTES * spec.entries, 32, slices).part(node_nm)
    counts = Array("ram", COUNT_BYTES * spec.entries, 32, slices)
    logic = gates_mm2(gates["smallest"], node_nm, lanes=spec.entries, copies=slices)
    parts = {"tags": tags, "counts": counts.part(node_nm, logic)}
    return AreaReport("hot_lines", node_nm, parts, note="logic: gate counts; storage: CACTI")


def floor_cycles(machine, counters):
    """One read in an L2 clock at each slice, in core cycles."""
    cycles = counters["hot_lines_reads"] / machine.l2.slices * machine.clocks.core_mhz / machine.clocks.l2_mhz
    return {"cycles": cycles, "reads": cycles}
