"""Area of the units, part by part: storage from CACTI, logic from documented gate counts, beside the papers' figures.

The SCU's logic is what synthesis made of it (`synthesis_table`), the MFF's is estimated.

SCU (paper, table 1): 5 KB of vector buffer, a 38 KB request FIFO, an 18 KB hash request buffer, and the pipeline's
logic, which grows with the width. MFF (paper, section 6): 32 issue engines of 8 job entries, 8192 work registers and,
per memory unit, 256 tags and 20 lines. The SCU's storage is priced in two ways, since the paper does not say which
it used: `sram` (compiled arrays, as CACTI has them) and `flip_flop` (what synthesis makes of a buffer written in
Verilog without a memory compiler, one copy per lane). See docs/area.md for what that explains.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, field, fields, replace
from importlib import resources
from typing import Any

from warpsift.costs import cacti_table, scaling, synthesis_table
from warpsift.costs.coefficients import gpu_table, unit_table
from warpsift.costs.energy import UnitInstance
from warpsift.costs.errors import CostError, CostNameError, unknown
from warpsift.machines.scu_buffers import FetchFifo

STORAGE = ("sram", "flip_flop")
LOGIC = ("synthesised", "estimated")


@dataclass(frozen=True, kw_only=True)
class ScuHardware:
    """What an SCU is built of."""

    width: int = 4  # elements per cycle
    vector_buffer_bytes: int = 5 * 1024
    fetch_fifo_bytes: int = 38 * 1024
    hash_buffer_bytes: int = 18 * 1024
    coalescing_units: int = 2  # the second serves filtering and grouping (paper, Fig. 8)
    inflight_requests: int = 32  # of each coalescing unit
    enhanced: bool = True  # with filtering and grouping
    storage: str = "sram"
    logic: str = "synthesised"  # or "estimated": textbook gate counts (tables/area.toml)
    node_nm: int = 32

    @classmethod
    def of(cls, spec: Any, **changes: Any) -> ScuHardware:
        """The hardware of an SCU section of a machine file; 0 requests in flight means as many as the FIFO holds."""
        hardware = replace(cls(), **_same_fields(cls, spec), **changes)
        if hardware.inflight_requests == 0:
            return replace(hardware, inflight_requests=FetchFifo.of(spec).ring_sectors)
        return hardware


@dataclass(frozen=True, kw_only=True)
class MffHardware:
    """What an MFF is built of."""

    issue_engines: int = 32
    jobs_per_engine: int = 8
    work_registers: int = 8192
    memory_units: int = 6
    tags_per_memory_unit: int = 256
    lines_per_memory_unit: int = 20
    line_bytes: int = 128
    job_bytes: int = 155  # 32 threads x (32-bit C index + 6-bit size), remaining counter, warp number
    register_bytes: int = 8  # state, warp, thread, A and C offsets, 13-bit pointer, and room for an address
    tag_pointer_bytes: int = 4  # work-register pointer, line number, state, beside the 32-bit tag in the CAM
    node_nm: int = 32

    @classmethod
    def of(cls, spec: Any, memory_units: int, **changes: Any) -> MffHardware:
        """The hardware of an MFF section of a machine file, with so many memory units (L2 slices)."""
        return replace(cls(), **_same_fields(cls, spec), memory_units=memory_units, **changes)


def _same_fields(hardware: type, spec: Any) -> dict[str, Any]:
    names = [f.name for f in fields(hardware) if f.name != "memory_units"]
    return {name: getattr(spec, name) for name in names if hasattr(spec, name)}


@dataclass(frozen=True)
class Part:
    """One block: its storage and its logic."""

    storage_mm2: float = 0.0
    logic_mm2: float = 0.0
    leakage_w: float = 0.0  # of the storage; logic leaks by its area
    note: str = ""

    @property
    def mm2(self) -> float:
        return self.storage_mm2 + self.logic_mm2


@dataclass(frozen=True)
class AreaReport:
    """The parts of a unit; the total is their sum."""

    unit: str
    node_nm: int
    parts: dict[str, Part] = field(default_factory=dict)

    @property
    def total_mm2(self) -> float:
        return sum(part.mm2 for part in self.parts.values())

    @property
    def storage_mm2(self) -> float:
        return sum(part.storage_mm2 for part in self.parts.values())

    @property
    def logic_mm2(self) -> float:
        return sum(part.logic_mm2 for part in self.parts.values())

    def against(self, machine: str) -> dict[str, Any]:
        """The total beside the paper's figure for a machine, as shares of its die.

        The papers divide millimetres at 32 nm by a die at another node; `share_as_paper` does the same,
        `share_scaled` first scales the unit to the die's node.
        """
        table = gpu_table(machine)
        die_mm2 = table.limits["die_mm2"]
        paper = _data()["paper"][self.unit].get(f"{machine}_mm2")
        scaled = scaling.scale_area(self.total_mm2, self.node_nm, table.node_nm)
        return {
            "machine": machine,
            "total_mm2": self.total_mm2,
            "paper_mm2": paper,
            "die_mm2": die_mm2,
            "share_as_paper": self.total_mm2 / die_mm2,
            "share_scaled": scaled / die_mm2,
            "paper_share": paper / die_mm2 if paper else None,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "unit": self.unit,
            "node_nm": self.node_nm,
            "total_mm2": self.total_mm2,
            "storage_mm2": self.storage_mm2,
            "logic_mm2": self.logic_mm2,
            "parts": {
                name: {"mm2": p.mm2, "storage_mm2": p.storage_mm2, "logic_mm2": p.logic_mm2, "note": p.note}
                for name, p in self.parts.items()
            },
        }


@functools.cache
def _data() -> dict[str, Any]:
    return tomllib.loads(resources.files("warpsift.costs").joinpath("tables/area.toml").read_text())


def _positive(hardware: ScuHardware | MffHardware) -> None:
    for name, value in vars(hardware).items():
        if not isinstance(value, bool | str) and value < 1:
            raise CostError(f"{name} = {value} of a {type(hardware).__name__} must be at least 1.")


def _logic_mm2(unit: str, block: str, node_nm: int, lanes: int = 1, copies: int = 1) -> float:
    cells, counts = _data()["cells"], _data()[unit][block]
    gates = counts.get("gates_per_lane", 0) * lanes + counts["gates_fixed"]
    at_library = copies * gates * cells["nand2_um2"] / cells["utilisation"] / 1e6
    return scaling.scale_area(at_library, cells["node_nm"], node_nm)


def _buffer(size_bytes: int, hardware: ScuHardware) -> Part:
    """A FIFO of the SCU, as a two-ported array or as flip-flops (then one copy per lane)."""
    if hardware.storage == "flip_flop":
        cells = _data()["cells"]
        at_library = 8 * size_bytes * hardware.width * cells["flip_flop_um2"] / 1e6
        mm2 = scaling.scale_area(at_library, cells["node_nm"], hardware.node_nm)
        per_mm2 = unit_table("scu").coefficients["logic_leakage_per_mm2"].value
        return Part(storage_mm2=mm2, leakage_w=mm2 * per_mm2, note=f"{size_bytes} B x {hardware.width}, flip-flops")
    # One word holds an element of every lane, 64 bit each: wider units have wider, not more, buffers.
    word_bits = {1: 64, 2: 128}.get(hardware.width, 256)
    found = cacti_table.figures("fifo", size_bytes, word_bits, hardware.node_nm)
    return Part(found.area_mm2, leakage_w=found.leakage_mw / 1e3, note=f"{size_bytes} B, {word_bits} bit, 1R1W")


def _synthesised_mm2(block: str, width: int, node_nm: int) -> float:
    """Logic of a part as Yosys made it. The second coalescing unit is the associative search of Filtering/Grouping and
    counted there; the top level's sequence and ports are counted with the Address Generator."""
    names = {"coalescing_unit": ("coalescing_units",), "address_generator": ("address_generator", "control")}
    return sum(synthesis_table.logic_mm2(width, name, node_nm) or 0.0 for name in names.get(block, (block,)))


def scu_area(hardware: ScuHardware) -> AreaReport:
    """The SCU's area, part by part."""
    _positive(hardware)
    if hardware.storage not in STORAGE:
        raise CostNameError(unknown("storage", hardware.storage, STORAGE))
    if hardware.logic not in LOGIC:
        raise CostNameError(unknown("logic", hardware.logic, LOGIC))
    node, width = hardware.node_nm, hardware.width

    def logic(block: str, copies: int = 1) -> float:
        estimate = _logic_mm2("scu", block, node, width, copies)
        known = synthesis_table.nearest_width(width) if hardware.logic == "synthesised" else None
        if known is None:
            return estimate
        if synthesis_table.neighbours(width) is not None:
            return _synthesised_mm2(block, width, node)
        synthesised = _synthesised_mm2(block, known, node)
        return estimate * synthesised / _logic_mm2("scu", block, node, known, copies)

    def part(block: str, size_bytes: int) -> Part:
        storage = _buffer(size_bytes, hardware)
        return Part(storage.storage_mm2, logic(block), storage.leakage_w, storage.note)

    units = hardware.coalescing_units if hardware.enhanced else 1
    parts = {
        "address_generator": part("address_generator", hardware.vector_buffer_bytes),
        "data_fetch": part("data_fetch", hardware.fetch_fifo_bytes),
        "coalescing_units": Part(
            logic_mm2=logic("coalescing_unit", units) * hardware.inflight_requests / 32,  # counts are for 32 entries
            note=f"{units} of {hardware.inflight_requests} requests in flight",
        ),
        "bitmask_constructor": Part(logic_mm2=logic("bitmask_constructor")),
        "data_store": Part(logic_mm2=logic("data_store")),
    }
    if hardware.enhanced:
        parts["filtering_grouping"] = part("filtering_grouping", hardware.hash_buffer_bytes)
    return AreaReport("scu", node, parts)


def mff_area(hardware: MffHardware) -> AreaReport:
    """The MFF's area, part by part."""
    _positive(hardware)
    node, units = hardware.node_nm, hardware.memory_units

    def array(kind: str, size_bytes: int, word_bits: int, copies: int) -> tuple[float, float]:
        priced = max(size_bytes, cacti_table.smallest_bytes(kind, word_bits))  # an upper bound for smaller ones
        found = cacti_table.figures(kind, priced, word_bits, node)
        return copies * found.area_mm2, copies * found.leakage_mw / 1e3

    jobs = array("fifo", hardware.jobs_per_engine * hardware.job_bytes, 256, hardware.issue_engines)
    registers = array("ram", hardware.work_registers * hardware.register_bytes, 64, 1)
    tags = array("cam", 4 * hardware.tags_per_memory_unit, 32, units)
    pointers = array("ram", hardware.tag_pointer_bytes * hardware.tags_per_memory_unit, 32, units)
    lines = array("ram", hardware.lines_per_memory_unit * hardware.line_bytes, 256, units)
    return AreaReport(
        "mff",
        node,
        {
            "issue_engines": Part(
                jobs[0], _logic_mm2("mff", "issue_engine", node, copies=hardware.issue_engines), jobs[1]
            ),
            "work_registers": Part(registers[0], _logic_mm2("mff", "work_registers", node), registers[1]),
            "tag_units": Part(tags[0] + pointers[0], 0.0, tags[1] + pointers[1]),
            "line_data": Part(lines[0], _logic_mm2("mff", "memory_unit", node, copies=units), lines[1]),
        },
    )


def unit_instance(hardware: ScuHardware | MffHardware) -> UnitInstance:
    """What `energy` needs to know of a built unit: its name and what it leaks."""
    report = scu_area(hardware) if isinstance(hardware, ScuHardware) else mff_area(hardware)
    per_mm2 = unit_table(report.unit).coefficients["logic_leakage_per_mm2"].value
    leakage_w = sum(part.leakage_w for part in report.parts.values()) + report.logic_mm2 * per_mm2
    return UnitInstance(report.unit, leakage_w)
