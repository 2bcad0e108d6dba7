"""Energy events, area and analytic floor of the reorder unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from warpsift.costs.area import AreaReport, Array, gate_counts, gates_mm2, possible
from warpsift.costs.events import Event
from warpsift.hardware import LINE_BYTES, WARP_SIZE
from warpsift.machines import Machine
from warpsift.units.iru.iru_spec import IruSpec

TABLES = Path(__file__).parent
EVENTS = (
    Event("iru_classify", "iru.read_ahead", {"iru_elements": 1}),
    Event("iru_ring_hop", "iru.ring", {"iru_ring_hops": 1}),
    Event("iru_insert", "iru.hash", {"iru_elements": 1}),
    Event("iru_lane", "iru.hash", {"iru_lanes": 1}),
)
ELEMENT_BYTES = 12  # index, value, position


def area(spec: IruSpec, parts: int, node_nm: int = 32) -> AreaReport:
    """Lines read ahead, a queue, the hash and its packs, at each slice."""
    possible(spec)
    gates = gate_counts(TABLES)
    lines = Array("ram", 2 * spec.prefetch_lines * LINE_BYTES, 256, parts)  # indices and values
    banks = parts * spec.hash_banks
    queue = Array("fifo", spec.ring_queue * ELEMENT_BYTES, 128, banks)
    bank_entries = -(-spec.hash_entries // spec.hash_banks)
    table = Array("ram", bank_entries * WARP_SIZE * ELEMENT_BYTES, 256, banks)
    packs = Array("ram", (spec.ready_packs + 1) * WARP_SIZE * ELEMENT_BYTES, 256, parts)
    parts_of = {
        "read_ahead": lines.part(node_nm, gates_mm2(gates["classifier"], node_nm, spec.classified_per_cycle, parts)),
        "ring": queue.part(node_nm, gates_mm2(gates["ring_stop"], node_nm, copies=banks)),
        "hash": table.part(node_nm, gates_mm2(gates["hash"], node_nm, copies=banks)),
        "packs": packs.part(node_nm, gates_mm2(gates["reply"], node_nm, copies=parts)),
    }
    note = "logic: gate counts; storage: CACTI (docs/area.md); the paper's 5.6 % cannot be compared part by part"
    return AreaReport("iru", node_nm, parts_of, note=note)


def floor_cycles(machine: Machine, launches: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """Core cycles of each launch below which no such unit could be: elements over hashes, flits over reply ports."""
    slices = machine.l2.slices
    l2_clock = machine.clocks.core_mhz / machine.clocks.l2_mhz
    noc_clock = machine.clocks.core_mhz / machine.clocks.noc_mhz
    total = {"cycles": 0.0, "hash": 0.0, "replies": 0.0}
    for counters in launches:
        found = {
            "hash": counters["iru_elements"] / (slices * machine.unit("iru").hash_banks) * l2_clock,
            "replies": 0.0 if machine.ideal.noc else counters["iru_reply_flits"] / slices * noc_clock,
        }
        deciding = max(found, key=lambda name: found[name])
        total["cycles"] += found[deciding]
        total[deciding] += found[deciding]
    return total
