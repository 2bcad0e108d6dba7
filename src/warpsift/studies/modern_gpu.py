"""Do the units still pay on a GPU of today? Software, SCU and MFF on one graph, and what the units take of its die.

The papers' units met GPUs of 15 and 16 SMs. Here each runs as its paper has it, and once enlarged, beside every
software style of the plain GPU; areas are scaled to the GPU's process (`costs/scaling.py`). `over_graphs` asks the same
of the stored runs of `which_unit.py`: many graphs, units and caches at equal area.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpsift.algorithms import ALGORITHMS
from warpsift.costs.scaling import scale_area
from warpsift.errors import WarpsiftError
from warpsift.graph import CsrGraph
from warpsift.machines import load_machine
from warpsift.run.execute import simulate
from warpsift.studies.which_unit_area import CONTENDERS, unit_mm2
from warpsift.studies.which_unit_map import Cell
from warpsift.units import unit_named

Row = dict[str, Any]


@dataclass(frozen=True)
class Die:
    """A chip as its maker states it."""

    mm2: float
    node_nm: int


DIES = {
    "a100": Die(826.0, 7),  # NVIDIA, A100 Tensor Core GPU architecture, 2020: 826 mm2, TSMC 7 nm
    "v100": Die(
        815.0, 16
    ),  # NVIDIA, Tesla V100 GPU architecture, 2017: 815 mm2, TSMC 12 nm, a process of the 16 nm class
    "gtx980": Die(398.0, 28),  # NVIDIA, GTX 980 whitepaper, 2014
}


@dataclass(frozen=True)
class System:
    """A contender: a unit with its settings, or a style of the plain GPU."""

    name: str
    unit: str = "none"
    style: str | None = None
    overrides: dict[str, Any] = field(default_factory=dict)


# The widest that the hardware description is built for, with table 1's buffers for each lane (the FIFO at its bound)
WIDE_SCU = {"scu.width": 16, "scu.resources": "lane", "scu.fetch_fifo_bytes": 32768, "noc.unit_ports": 17}
QUICK_MFF = {"mff.ports": "engine", "mff.words_per_reply": 4}  # a bank of registers per engine, four words a reply


def systems(algorithm: str) -> Iterator[System]:
    """Software first; PageRank neither filters nor groups."""
    for style in ALGORITHMS[algorithm].styles:
        yield System(f"plain, {style}", style=style)
    scu = "scu-basic" if algorithm == "pagerank" else "scu"
    yield System("SCU", scu)
    yield System("SCU, 16 wide", scu, overrides=WIDE_SCU)
    yield System("MFF", "mff")
    yield System("MFF, a bank per engine", "mff", overrides=QUICK_MFF)


def area_mm2(gpu: str, system: System) -> float:
    """What a unit takes at the GPU's node; 0 for software."""
    if system.unit == "none":
        return 0.0
    area = unit_named(system.unit).area(load_machine(gpu, system.overrides))
    return scale_area(area.total_mm2, area.node_nm, DIES[gpu].node_nm)


def study(
    graph: CsrGraph, algorithms: Iterable[str], gpu: str, note: Callable[[str], None] = lambda text: None
) -> list[Row]:
    """A row per algorithm and system: time, speed over the best software, area, share of the die."""
    if gpu not in DIES:
        raise WarpsiftError(f"the die of {gpu!r} is not known here; write one of {', '.join(DIES)}")
    rows: list[Row] = []
    for name in algorithms:
        limit = {"max_iterations": 1} if name == "pagerank" else {}  # all are alike
        times: list[tuple[System, float]] = []
        for system in systems(name):
            note(f"{name}, {system.name}")
            choices: dict[str, Any] = {"gpu": gpu, "unit": system.unit, "overrides": system.overrides, **limit}
            if system.style is not None:
                choices["style"] = system.style
            times.append((system, simulate(name, graph, **choices).timing["seconds"]))
        best = min(seconds for system, seconds in times if system.unit == "none")
        for system, seconds in times:
            mm2 = area_mm2(gpu, system)
            rows.append(
                {
                    "algorithm": name,
                    "system": system.name,
                    "us": 1e6 * seconds,
                    "speedup": best / seconds,
                    "mm2": mm2,
                    "die_percent": 100 * mm2 / DIES[gpu].mm2,
                }
            )
    return rows


def over_graphs(cells: Iterable[Cell], gpu: str) -> list[Row]:
    """A row per algorithm and unit: on how many graphs it beats the best software, and by how much."""
    mine = [cell for cell in cells if cell.gpu == gpu]
    rows: list[Row] = []
    for name in dict.fromkeys(cell.algorithm for cell in mine):
        pairs = [cell for cell in mine if cell.algorithm == name]
        rows.append({"algorithm": name, "system": "plain, best style"} | _gains([1.0] * len(pairs)) | _share(gpu, 0.0))
        for unit in CONTENDERS:
            gains = [found.gain(unit) for cell in pairs if (found := cell.of_unit(unit)) is not None]
            if gains:
                rows.append({"algorithm": name, "system": unit} | _gains(gains) | _share(gpu, unit_mm2(unit, gpu)))
    return rows


def _gains(gains: list[float]) -> Row:
    ahead = sum(gain > 1 for gain in gains)
    spread = {"median": statistics.median(gains), "least": min(gains), "most": max(gains)}
    return {"graphs": len(gains), "ahead": ahead, **spread}


def _share(gpu: str, mm2_at_32: float) -> Row:
    """At the GPU's node, and of its die."""
    mm2 = scale_area(mm2_at_32, 32, DIES[gpu].node_nm)
    return {"mm2": mm2, "die_percent": 100 * mm2 / DIES[gpu].mm2}


def write_csv(rows: list[Row], path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()} for row in rows)
