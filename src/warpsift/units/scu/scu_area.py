"""Area of the SCU (SCU paper, table 1): vector buffers, request FIFO, hash request buffer, and the pipeline's logic.

Logic is what synthesis made of it (`synthesis_table`), or estimated from gate counts. Storage is priced in three ways,
since the paper does not say which it used (docs/area.md; none explains its 13.27 mm2):
    sram            compiled arrays, as CACTI has them
    flip_flop       bits in flip-flops, with the multiplexers that read any word
    shift_register  the same without multiplexers: words leave in the order in which they came
Whether there is one set of buffers or one per lane is the spec's (`resources`), as in timing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warpsift.costs import cacti_table
from warpsift.costs.area import AreaReport, Part, flip_flops_mm2, gate_counts, gates_mm2, possible
from warpsift.costs.coefficients import prices_in
from warpsift.costs.cost_errors import CostNameError, unknown
from warpsift.units.scu import synthesis_table
from warpsift.units.scu.scu_buffers import FetchFifo, Resources
from warpsift.units.scu.scu_spec import ScuSpec

STORAGE = ("sram", "flip_flop", "shift_register")
LOGIC = ("synthesised", "estimated")
HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Built:
    """How a unit of some spec is built; the spec itself says how large everything is."""

    enhanced: bool = True  # with filtering and grouping
    storage: str = "sram"
    logic: str = "synthesised"  # or "estimated": textbook gate counts (gates.toml)
    node_nm: int = 32

    def __post_init__(self) -> None:
        if self.storage not in STORAGE:
            raise CostNameError(unknown("storage", self.storage, STORAGE))
        if self.logic not in LOGIC:
            raise CostNameError(unknown("logic", self.logic, LOGIC))


def _buffer(size_bytes: int, spec: ScuSpec, built: Built) -> Part:
    """A FIFO, as a two-ported array or as flip-flops; as often as the unit has it."""
    copies = spec.copies
    if built.storage != "sram":
        bits = 8 * size_bytes * copies
        mm2 = flip_flops_mm2(bits, built.node_nm)
        if built.storage == "flip_flop":
            per_bit = gate_counts(HERE)["read_multiplexer"]["gates_per_bit"]
            mm2 += gates_mm2({"gates_fixed": per_bit * bits}, built.node_nm)
        per_mm2 = prices_in(HERE, "scu").coefficients["logic_leakage_per_mm2"].value
        kind = built.storage.replace("_", " ")
        return Part(storage_mm2=mm2, leakage_w=mm2 * per_mm2, note=f"{size_bytes} B x {copies}, {kind}")
    # One buffer for all lanes has words of an element of every lane, 64 bit each; a lane's own has 64.
    word_bits = 64 if copies > 1 else {1: 64, 2: 128}.get(spec.width, 256)
    found = cacti_table.figures("fifo", size_bytes, word_bits, built.node_nm)
    note = f"{size_bytes} B x {copies}, {word_bits} bit, 1R1W"
    return Part(copies * found.area_mm2, leakage_w=copies * found.leakage_mw / 1e3, note=note)


def hash_buffer(spec: ScuSpec, built: Built) -> Part:
    """The buffer of Filtering/Grouping alone, for a unit that uses it for something else."""
    return _buffer(spec.hash_buffer_bytes, spec, built)


def _synthesised_mm2(block: str, width: int, node_nm: int) -> float:
    """Logic of a part as Yosys made it. The second coalescing unit is the associative search of Filtering/Grouping and
    counted there; the top level's sequence and ports are counted with the Address Generator."""
    names = {"coalescing_unit": ("coalescing_units",), "address_generator": ("address_generator", "control")}
    return sum(synthesis_table.logic_mm2(width, name, node_nm) or 0.0 for name in names.get(block, (block,)))


def _logic_mm2(block: str, width: int, built: Built, copies: int = 1) -> float:
    """Logic of a part; a width that was not synthesised is the estimate, scaled to meet the nearest that was."""
    gates = gate_counts(HERE)[block]
    estimate = gates_mm2(gates, built.node_nm, width, copies)
    known = synthesis_table.nearest_width(width) if built.logic == "synthesised" else None
    if known is None:
        return estimate
    if synthesis_table.neighbours(width) is not None:
        return _synthesised_mm2(block, width, built.node_nm)
    synthesised = _synthesised_mm2(block, known, built.node_nm)
    return estimate * synthesised / gates_mm2(gates, built.node_nm, known, copies)


def area(spec: ScuSpec, built: Built | None = None) -> AreaReport:
    """The unit's area, part by part."""
    possible(spec)
    built = built or Built()

    def part(block: str, size_bytes: int) -> Part:
        storage = _buffer(size_bytes, spec, built)
        return Part(storage.storage_mm2, _logic_mm2(block, spec.width, built), storage.leakage_w, storage.note)

    requests = Resources.of(spec).inflight_requests or FetchFifo.of(spec).ring_sectors  # 0: as the FIFO holds
    units = 2 if built.enhanced else 1  # the second serves filtering and grouping (paper, Fig. 8)
    coalescers = _logic_mm2("coalescing_unit", spec.width, built, units) * requests / 32  # counts are for 32 entries
    parts = {
        "address_generator": part("address_generator", spec.vector_buffer_bytes),
        "data_fetch": part("data_fetch", spec.fetch_fifo_bytes),
        "coalescing_units": Part(logic_mm2=coalescers, note=f"{units} of {requests} requests in flight"),
        "bitmask_constructor": Part(logic_mm2=_logic_mm2("bitmask_constructor", spec.width, built)),
        "data_store": Part(logic_mm2=_logic_mm2("data_store", spec.width, built)),
    }
    if built.enhanced:
        parts["filtering_grouping"] = part("filtering_grouping", spec.hash_buffer_bytes)
    logic = synthesis_table.source_of(spec.width) if built.logic == "synthesised" else "gate counts"
    storage = "CACTI" if built.storage == "sram" else f"{built.storage.replace('_', ' ')}s"
    storage += f", {spec.copies} copies" if spec.copies > 1 else ""
    note = f"logic: {logic}; storage: {storage} (docs/area.md, docs/hdl.md); the paper's figure is unresolved"
    return AreaReport("scu", built.node_nm, parts, gate_counts(HERE)["paper"], note)
