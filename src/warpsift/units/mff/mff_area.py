"""Area of the MFF (MFF paper, section 6): issue engines with job entries, work registers and, per memory unit, tags
and lines. The fields are those that timing reads; what the paper leaves open is a constant here."""

from __future__ import annotations

from pathlib import Path

from warpsift.costs.area import AreaReport, Array, Part, gate_counts, gates_mm2, possible
from warpsift.costs.cost_errors import CostNameError, unknown
from warpsift.hardware import LINE_BYTES
from warpsift.units.mff.mff_spec import MffSpec

JOB_BYTES = 155  # 32 threads x (32-bit C index + 6-bit size), remaining counter, warp number
REGISTER_BYTES = 8  # state, warp, thread, A and C offsets, 13-bit pointer, and room for an address
TAG_POINTER_BYTES = 4  # work-register pointer, line number, state, beside the 32-bit tag in the CAM


# The register file. Timing lets every issue engine allocate registers and every memory unit update one in the same
# clock, which one array of one port cannot do: a bank per issue engine, with a read and a write port (8192 = 32 x 256).
# `single` is one array with one port, the least that could hold the bits.
REGISTERS = ("banked", "single")
MEMORY_UNITS = ("slices", "paper")  # one per L2 slice, as timing has them, or the six of the paper's GTX 480
PAPER_MEMORY_UNITS = 6


def area(
    spec: MffSpec, slices: int, registers: str = "banked", memory_units: str = "slices", node_nm: int = 32
) -> AreaReport:
    """The unit's area, part by part."""
    possible(spec)
    for what, chosen, known in (("registers", registers, REGISTERS), ("memory_units", memory_units, MEMORY_UNITS)):
        if chosen not in known:
            raise CostNameError(unknown(what, chosen, known))
    units = slices if memory_units == "slices" else PAPER_MEMORY_UNITS
    return _area(spec, units, registers == "banked", node_nm)


def _area(spec: MffSpec, memory_units: int, banked: bool, node_nm: int) -> AreaReport:
    gates = gate_counts(Path(__file__).parent)
    jobs = Array("fifo", spec.jobs_per_engine * JOB_BYTES, 256, spec.issue_engines)
    if banked:
        per_bank = -(-spec.work_registers // spec.issue_engines)
        registers = Array("fifo", per_bank * REGISTER_BYTES, 64, spec.issue_engines)
    else:
        registers = Array("ram", spec.work_registers * REGISTER_BYTES, 64)
    tags = Array("cam", 4 * spec.tags_per_memory_unit, 32, memory_units).part(node_nm)
    pointers = Array("ram", TAG_POINTER_BYTES * spec.tags_per_memory_unit, 32, memory_units).part(node_nm)
    lines = Array("ram", spec.lines_per_memory_unit * LINE_BYTES, 256, memory_units)
    parts = {
        "issue_engines": jobs.part(node_nm, gates_mm2(gates["issue_engine"], node_nm, copies=spec.issue_engines)),
        "work_registers": registers.part(node_nm, gates_mm2(gates["work_registers"], node_nm)),
        "tag_units": Part(tags.storage_mm2 + pointers.storage_mm2, 0.0, tags.leakage_w + pointers.leakage_w, tags.note),
        "line_data": lines.part(node_nm, gates_mm2(gates["memory_unit"], node_nm, copies=memory_units)),
    }
    return AreaReport("mff", node_nm, parts, gates["paper"], "logic: gate counts; storage: CACTI (docs/area.md)")
