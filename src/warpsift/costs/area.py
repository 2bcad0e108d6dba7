"""Area of a unit, part by part: storage from CACTI, logic from documented gate counts, beside its paper's figure.

What a unit consists of is the unit's business (`units/*/..._area.py`); here is what they are all built of.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from warpsift.costs import cacti_table, scaling
from warpsift.costs.coefficients import CostTable, gpu_table
from warpsift.costs.cost_errors import CostError, CostTableError


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
    paper: Mapping[str, Any] = field(default_factory=dict)  # `MACHINE_mm2`: what its paper says
    note: str = ""  # where the figures come from

    @property
    def total_mm2(self) -> float:
        return sum(part.mm2 for part in self.parts.values())

    @property
    def storage_mm2(self) -> float:
        return sum(part.storage_mm2 for part in self.parts.values())

    @property
    def logic_mm2(self) -> float:
        return sum(part.logic_mm2 for part in self.parts.values())

    def against(self, table: CostTable | str) -> dict[str, Any]:
        """The total beside the paper's figure for a machine, as shares of the die that its cost table states.

        The papers divide millimetres at 32 nm by a die at another node; `share_as_paper` does the same,
        `share_scaled` first scales the unit to the die's node.
        """
        table = gpu_table(table) if isinstance(table, str) else table
        if "die_mm2" not in table.limits:
            raise CostTableError(f"{table.name}.toml, [limits]: die_mm2 is missing; a share needs the die's area.")
        die_mm2 = table.limits["die_mm2"]
        paper = self.paper.get(f"{table.name}_mm2")
        scaled = scaling.scale_area(self.total_mm2, self.node_nm, table.node_nm)
        return {
            "machine": table.name,
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
def cells() -> dict[str, Any]:
    """Areas of library cells."""
    return tomllib.loads(resources.files("warpsift.costs").joinpath("tables/cells.toml").read_text())["cells"]


@functools.cache
def gate_counts(folder: Path) -> dict[str, Any]:
    """A unit's `gates.toml`: gates of its blocks, and what its paper says (`paper`)."""
    return tomllib.loads((folder / "gates.toml").read_text(encoding="utf-8"))


def possible(spec: Any) -> None:
    """Refuse a unit that no hardware could be, with the words of its spec."""
    for problem in spec.problems():
        raise CostError(f"{problem}.")


def gates_mm2(counts: Mapping[str, Any], node_nm: int, lanes: int = 1, copies: int = 1) -> float:
    """Placed area of a block: `gates_fixed`, and `gates_per_lane` for each lane."""
    gates = counts.get("gates_per_lane", 0) * lanes + counts["gates_fixed"]
    at_library = copies * gates * cells()["nand2_um2"] / cells()["utilisation"] / 1e6
    return scaling.scale_area(at_library, cells()["node_nm"], node_nm)


def flip_flops_mm2(bits: int, node_nm: int) -> float:
    """Bits kept in flip-flops, as synthesis without a memory compiler makes them."""
    return scaling.scale_area(bits * cells()["flip_flop_um2"] / 1e6, cells()["node_nm"], node_nm)


@dataclass(frozen=True)
class Array:
    """Memory arrays of one kind (`ram`, `fifo` with a read and a write port, `cam`)."""

    kind: str
    size_bytes: int
    word_bits: int
    copies: int = 1

    def part(self, node_nm: int, logic_mm2: float = 0.0) -> Part:
        """Area and leakage as CACTI has them; one smaller than CACTI's smallest is priced as that, an upper bound."""
        if self.size_bytes < 1:
            raise CostError(f"an array of {self.size_bytes} bytes has no area; give at least 1 byte.")
        priced = max(self.size_bytes, cacti_table.smallest_bytes(self.kind, self.word_bits))
        found = cacti_table.figures(self.kind, priced, self.word_bits, node_nm)
        note = f"{self.copies} x {self.size_bytes} B {self.kind}, {self.word_bits} bit"
        return Part(self.copies * found.area_mm2, logic_mm2, self.copies * found.leakage_mw / 1e3, note)
