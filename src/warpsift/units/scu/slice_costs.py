"""Energy events, area and analytic floor of the SCU's stations at the L2 slices; the rest of the unit has its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from warpsift.costs.area import AreaReport, Array, Part, gate_counts, gates_mm2, possible
from warpsift.costs.events import Event
from warpsift.hardware import LINE_BYTES
from warpsift.machines import Machine
from warpsift.units.scu.scu_buffers import Resources
from warpsift.units.scu.scu_floor import bounds
from warpsift.units.scu.slice_spec import SliceSpec

TABLES = Path(__file__).parent / "slices"
EVENTS = (
    Event("scu_slice_queue", "scu_slice.queues", {"scu_slice_probes": 1}),
    Event("scu_slice_search", "scu_slice.sets", {"scu_slice_set_reads": 1, "scu_slice_sets_found": 1}),
    Event("scu_slice_decision", "scu_slice.sets", {"scu_slice_probes": 1}),
    Event("scu_slice_set", "scu_slice.sets", {"scu_slice_set_reads": 1, "scu_slice_set_writes": 1}),
)
PROBE_BYTES = 16  # ID, set, cost or element number, and the packet it came in
SET_NUMBER_BYTES = 4
STATION_BOUNDS = ("width", "in_flight", "dram", "packets", "stations")


def area(spec: SliceSpec, slices: int, node_nm: int = 32) -> AreaReport:
    """A queue of probes, room for sets with their numbers, and comparators, at each slice."""
    possible(spec)
    gates = gate_counts(TABLES)
    queues = Array("fifo", spec.probes_per_slice * PROBE_BYTES, 128, slices)
    sets = Array("ram", spec.sets_per_slice * LINE_BYTES, 256, slices)  # a set with costs is a line
    numbers = Array("cam", spec.sets_per_slice * SET_NUMBER_BYTES, 32, slices).part(node_nm)
    parts = {
        "queues": queues.part(node_nm, gates_mm2(gates["queue_control"], node_nm, copies=slices)),
        "sets": sets.part(node_nm, gates_mm2(gates["decision"], node_nm, copies=slices)),
        "set_numbers": Part(numbers.storage_mm2, 0.0, numbers.leakage_w, numbers.note),
    }
    return AreaReport("scu_slice", node_nm, parts, note="logic: gate counts; storage: CACTI (docs/area.md)")


def station_bounds(machine: Machine, counters: Mapping[str, int]) -> dict[str, float]:
    """Least core cycles of one operation: the SCU's bounds, with packets and stations in place of its hash port."""
    found = {name: cycles for name, cycles in bounds(machine, counters).items() if name in STATION_BOUNDS}
    ports = max(1, Resources.of(machine.unit("scu")).hash_ports)
    per_noc_clock = machine.clocks.core_mhz / machine.clocks.noc_mhz
    per_l2_clock = machine.clocks.core_mhz / machine.clocks.l2_mhz
    found["packets"] = 0.0 if machine.ideal.noc else counters["scu_slice_packets"] / ports * per_noc_clock
    found["stations"] = counters["scu_slice_probes"] / machine.l2.slices * per_l2_clock  # one begun per clock
    return found


def floor_cycles(machine: Machine, operations: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """The floor of a run, `cycles`, and how much of it each bound decides."""
    total = dict.fromkeys(("cycles", *STATION_BOUNDS), 0.0)
    for counters in operations:
        found = station_bounds(machine, counters)
        deciding = max(found, key=lambda name: found[name])
        total["cycles"] += found[deciding]
        total[deciding] += found[deciding]
    return total
