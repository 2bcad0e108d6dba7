"""Area of the hardware: Yosys maps the logic onto library cells, memories stay macros and are priced by CACTI.

Cells are those of the OSU 0.18 µm library (Oklahoma State University; Debian package qflow-tech-osu018), the only
standard cells that Debian offers; their area is scaled to another node by Stillmaker and Baas (costs/scaling.py), from
180 to 32 nm a factor of 0.46 / 19. A cell library at 32 nm would give other ratios between cells; the scaling is what
can be published. Every stage is synthesised as a module of its own, so nothing is optimised across their borders.
"""

from __future__ import annotations

import csv
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpsift.costs import cacti_table, scaling
from warpsift.costs.cost_errors import CactiError
from warpsift.errors import WarpsiftError
from warpsift.hdl import yosys
from warpsift.hdl.verilog import to_rtlil
from warpsift.units.scu import synthesis_table
from warpsift.units.scu.scu_spec import ScuSpec
from warpsift.units.scu.synthesis_table import LIBRARY_NODE_NM as LIBRARY_NODE_NM
from warpsift.units.scu.synthesis_table import UTILISATION

LIBRARY = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
FLIP_FLOP = re.compile(r"DFF|LATCH")

TABLE = Path(synthesis_table.__file__).parent / "synthesis.csv"
COLUMNS = ("width", "part", "cells", "flip_flops", "library_um2", "memories")

# The parts of costs/area.py, by the names of the top level's submodules
PARTS = {
    "address_generator": ("vectors", "mask_bits", "keep_bits", "walker", "expander", "address"),
    "data_fetch": ("fetch",),
    "coalescing_units": ("coalescer",),
    "bitmask_constructor": ("bitmask", "packer"),
    "data_store": ("store",),
    "filtering_grouping": ("hashing",),
    "control": ("",),  # the top level itself: sequence, ports, connections
}


@dataclass(frozen=True)
class MemoryMacro:
    name: str
    bits: int  # of a word
    words: int

    @property
    def size_bytes(self) -> float:
        return self.bits * self.words / 8


@dataclass(frozen=True)
class PartArea:
    """One part: cells of the library, and memories."""

    cells: int
    flip_flops: int
    library_um2: float
    memories: tuple[MemoryMacro, ...]

    def logic_mm2(self, node_nm: int = 32) -> float:
        return scaling.scale_area(self.library_um2 / UTILISATION / 1e6, LIBRARY_NODE_NM, node_nm)

    def memory_mm2(self, node_nm: int = 32) -> float:
        return sum(macro_mm2(m, node_nm) for m in self.memories)


def macro_mm2(macro: MemoryMacro, node_nm: int) -> float:
    """CACTI's area of a two-ported array with the nearest word; arrays below its range scale down from the smallest."""
    word = next((w for w in (64, 128) if macro.bits <= w), 256)
    size = macro.size_bytes
    try:
        return cacti_table.figures("fifo", size, word, node_nm).area_mm2
    except CactiError:
        known = [a.size_bytes for a, _ in cacti_table.arrays() if (a.kind, a.word_bits) == ("fifo", word)]
        at = min(known) if size < min(known) else max(known)
        return cacti_table.figures("fifo", at, word, node_nm).area_mm2 * size / at


def memories_of(rtlil: str) -> Iterator[tuple[str, MemoryMacro]]:
    """(module, memory) of every memory in a design."""
    module = ""
    for line in rtlil.splitlines():
        if line.startswith("module "):
            module = line.split()[1].lstrip("\\")
        elif found := re.match(r"\s*memory width (\d+) size (\d+) (\S+)", line):
            yield module, MemoryMacro(found[3].lstrip("\\"), int(found[1]), int(found[2]))


def synthesise(spec: ScuSpec, library: Path = LIBRARY) -> dict[str, PartArea]:
    """Map the unit onto the library; gives the parts."""
    if not library.exists():
        raise yosys.HdlToolError(
            f"no cell library at {library}; on Debian: apt install qflow-tech-osu018, or name one with --library"
        )
    yosys.pyosys()
    rtlil = to_rtlil(spec)
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "scu.il", Path(folder) / "stat.json"
        source.write_text(rtlil)
        yosys.run(
            f"read_rtlil {source}",
            "hierarchy -top scu",
            "proc",
            "opt_expr",
            "opt_clean",
            "wreduce",
            "memory_dff",
            "memory_collect",
            "opt -fast",
            "alumacc",
            "opt -fast",
            "techmap",
            "opt -fast",
            "dffunmap",  # enables and resets become multiplexers: the library's flip-flops have neither
            "opt -fast",
            f"dfflibmap -liberty {library}",
            f"abc -liberty {library} -script +strash;dc2;map",
            "opt_clean",
            f"tee -q -o {result} stat -json -liberty {library}",
            what=f"synthesis, width {spec.width} (minutes)",
        )
        report = json.loads(result.read_text())
    return parts_of(report["modules"], cell_areas_um2(library.read_text()), list(memories_of(rtlil)))


def cell_areas_um2(liberty: str) -> dict[str, float]:
    """Area of every cell of a Liberty file."""
    pattern = r"^\s*cell\s*\(\s*\"?(\w+)\"?\s*\)\s*\{.*?\barea\s*:\s*([\d.]+)"
    return {name: float(area) for name, area in re.findall(pattern, liberty, re.DOTALL | re.MULTILINE)}


def parts_of(
    modules: dict[str, Any], cell_areas: dict[str, float], memories: list[tuple[str, MemoryMacro]]
) -> dict[str, PartArea]:
    """Sum modules into parts: a module `scu.hashing.buffer` belongs to the part of `hashing`."""
    part_of = {submodule: part for part, submodules in PARTS.items() for submodule in submodules}
    cells: Counter[str] = Counter()
    flops: Counter[str] = Counter()
    area = dict.fromkeys(PARTS, 0.0)
    kept: dict[str, list[MemoryMacro]] = {part: [] for part in PARTS}
    for name, module in modules.items():
        part = part_of[_submodule(name)]
        for kind, count in module.get("num_cells_by_type", {}).items():
            if not kind.startswith(("$", "scu")):
                number = count if isinstance(count, int) else count["count"]
                cells[part] += number
                flops[part] += number if FLIP_FLOP.search(kind) else 0
                area[part] += number * cell_areas[kind]
    for name, memory in memories:
        kept[part_of[_submodule(name)]].append(memory)
    return {part: PartArea(cells[part], flops[part], area[part], tuple(kept[part])) for part in PARTS}


def main() -> None:
    """Write the shipped table for the widths given (default 1, 2, 4, 8, 16); rows of other widths stay."""
    widths = [int(text) for text in sys.argv[1:]] or [1, 2, 4, 8, 16]
    rows = {}
    if TABLE.exists():
        with TABLE.open() as file:
            rows = {(int(row["width"]), row["part"]): row for row in csv.DictReader(file)}
    for width in widths:
        for name, part in synthesise(ScuSpec(width=width)).items():
            memories = " ".join(f"{m.words}x{m.bits}" for m in part.memories)
            values = (width, name, part.cells, part.flip_flops, round(part.library_um2), memories)
            rows[width, name] = dict(zip(COLUMNS, values, strict=True))
        with TABLE.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            order = list(PARTS)
            writer.writerows(rows[key] for key in sorted(rows, key=lambda k: (k[0], order.index(k[1]))))
        print(f"width {width}: written to {TABLE}", flush=True)


def _submodule(name: str) -> str:
    pieces = name.lstrip("\\").split(".")
    return pieces[1] if len(pieces) > 1 else ""


if __name__ == "__main__":
    try:
        main()
    except WarpsiftError as error:
        sys.exit(f"error: {error}")
