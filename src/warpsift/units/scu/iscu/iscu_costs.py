"""Energy events, area and analytic floor of the parts of the IRU-enhanced SCU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from warpsift.costs.area import AreaReport, Array, Part, gate_counts, gates_mm2, possible
from warpsift.costs.events import Event
from warpsift.hardware import LINE_BYTES
from warpsift.machines import Machine
from warpsift.units.scu.iscu.iscu_spec import WORD_BYTES, IscuSpec
from warpsift.units.scu.scu_buffers import Resources
from warpsift.units.scu.scu_floor import bounds

TABLES = Path(__file__).parent
EVENTS = (
    Event("iscu_gather", "iscu.sender", {"iscu_elements": 1}),
    Event("iscu_queue", "iscu.queues", {"iscu_elements": 1}),
    Event("iscu_filter", "iscu.filters", {"iscu_filter_probes": 1}),
    # what the filter drops does not reach the hash
    Event("iscu_hash", "iscu.hashes", {"iscu_merged": 1, "iscu_returned": 1}),
    Event("iscu_return", "iscu.groups", {"iscu_returned": 1}),
)
ELEMENT_BYTES = 2 * WORD_BYTES  # node and value
TAG_BYTES = 2 * WORD_BYTES  # a block's number and 32 bits
PART_BOUNDS = ("width", "in_flight", "dram", "packets", "parts", "store")


def area(spec: IscuSpec, parts: int, width: int, node_nm: int = 32) -> AreaReport:
    """Packets at the SCU; a queue, a filter, a hash and groups at each slice."""
    possible(spec)
    gates = gate_counts(TABLES)

    def logic(block: str, lanes: int = 1) -> float:
        return gates_mm2(gates[block], node_nm, lanes, parts)

    tags = Array("ram", spec.hash_entries * TAG_BYTES, 64, parts).part(node_nm)
    values = Array("ram", spec.hash_entries * LINE_BYTES, 256, parts).part(node_nm)
    leakage_w = tags.leakage_w + values.leakage_w
    note = f"{tags.note}; {values.note}"
    found = {
        "sender": Part(logic_mm2=logic("sender", width), note=f"{parts} packets of 32 B"),
        "queues": Array("fifo", spec.queue_elements * ELEMENT_BYTES, 64, parts).part(node_nm, logic("queue")),
        "filters": Array("ram", spec.filter_entries * TAG_BYTES, 64, parts).part(node_nm, logic("filter")),
        "hashes": Part(tags.storage_mm2 + values.storage_mm2, logic("hash"), leakage_w, note),
        "groups": Array("ram", spec.ready_groups * (LINE_BYTES + TAG_BYTES), 256, parts).part(node_nm, logic("reply")),
    }
    return AreaReport("iscu", node_nm, found, note="logic: gate counts; storage: CACTI (docs/area.md)")


def part_bounds(machine: Machine, counters: Mapping[str, int]) -> dict[str, float]:
    """Least core cycles of one operation: the SCU's bounds, with packets, parts and Data Store for its hash port."""
    found = {name: cycles for name, cycles in bounds(machine, counters).items() if name in PART_BOUNDS}
    spec = machine.unit("scu")
    ports = max(1, Resources.of(spec).hash_ports)
    per_noc_clock = machine.clocks.core_mhz / machine.clocks.noc_mhz
    per_l2_clock = machine.clocks.core_mhz / machine.clocks.l2_mhz
    found["packets"] = 0.0 if machine.ideal.noc else counters["iscu_packets"] / ports * per_noc_clock
    found["parts"] = counters["iscu_elements"] / machine.l2.slices * per_l2_clock  # one per clock
    found["store"] = counters["scu_elements_stored"] / spec.width
    return found


def floor_cycles(machine: Machine, operations: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """The floor of a run, `cycles`, and how much of it each bound decides."""
    total = dict.fromkeys(("cycles", *PART_BOUNDS), 0.0)
    for counters in operations:
        found = part_bounds(machine, counters)
        deciding = max(found, key=lambda name: found[name])
        total["cycles"] += found[deciding]
        total[deciding] += found[deciding]
    return total
