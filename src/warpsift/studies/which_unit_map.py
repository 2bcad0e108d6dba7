"""The answer as a map: who wins on which graph with which algorithm, by how much, and what holds the units back."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpsift.report.figures import Chart, Figure
from warpsift.run.sampling.relative_error import relative_half
from warpsift.store.store import Record
from warpsift.store.stored_energy import machine_of_stored
from warpsift.studies.which_unit_area import CONTENDERS
from warpsift.studies.which_unit_limits import Places, limit

Run = Mapping[str, Any]
SOFTWARE = "software"
TIE = "tie"  # of sampled runs: the intervals hold 1
LETTERS = {name: contender.letter for name, contender in CONTENDERS.items()} | {SOFTWARE: "p", TIE: "="}
GPU_TITLES = {"gtx980": "GTX 980", "tx1": "Tegra X1", "a100": "A100"}
ALGORITHM_TITLES = {"bfs": "BFS", "sssp": "SSSP", "pagerank": "PageRank", "wcc": "WCC"}
GOAL = 30  # pairs of 40 that a unit should win


Figures = Callable[[Run], Any]  # a number of a run, or its [low, high] of a sampled run's intervals


def seconds_of(run: Run) -> Any:
    return run["seconds"]


def joules_of(run: Run) -> Any:
    """SMs are power-gated while an SCU works: the most favourable of the three ways to count them."""
    return run["energy_by_gpu_idle"]["power_gate"]


@dataclass(frozen=True)
class Cell:
    """One pair of graph and algorithm on one GPU: what each contender took, in seconds or joules."""

    gpu: str
    algorithm: str
    graph: str
    values: Mapping[str, float]  # styles of the plain GPU, and units
    limits: Mapping[str, str] = field(default_factory=dict)  # of units; of their time, so none where joules are asked
    size: str = ""  # the part of the graph, as it is loaded
    facts: Mapping[str, Any] = field(default_factory=dict)  # nodes, arcs, origin
    halves: Mapping[str, float] = field(default_factory=dict)  # half of the 95 % interval of a sampled run, as a share
    possible: int = 0  # contenders of this pair, whether they were run at this size or not
    smaller: tuple[Cell, ...] = ()  # the same pair at smaller sizes, the larger first
    millionths: str = "us"  # of the values

    @property
    def units(self) -> dict[str, float]:
        return {name: value for name, value in self.values.items() if name in CONTENDERS}

    @property
    def best_software(self) -> str:
        styles = {name: value for name, value in self.values.items() if name not in CONTENDERS}
        return min(styles, key=lambda name: styles[name])

    @property
    def best_unit(self) -> str:
        units = self.units
        return min(units, key=lambda name: units[name])

    def gain(self, unit: str) -> float:
        """Times as fast, or as frugal, as the best software."""
        return self.values[self.best_software] / self.values[unit]

    @property
    def best_gain(self) -> float:
        return self.gain(self.best_unit)

    @property
    def part(self) -> str:
        """`1/4`; nothing for the whole graph."""
        return self.size.partition("@")[2]

    def half(self, unit: str) -> float:
        """Half of the 95 % interval of a unit's gain, as a share of it; 0 where nothing was sampled."""
        return math.hypot(self.halves.get(unit, 0.0), self.halves.get(self.best_software, 0.0))

    def is_ahead(self, unit: str) -> bool:
        """Faster than the best software, by more than sampling leaves open."""
        return self.gain(unit) * (1 - self.half(unit)) > 1

    @property
    def winner(self) -> str:
        if self.is_ahead(self.best_unit):
            return self.best_unit
        return TIE if self.best_gain * (1 + self.half(self.best_unit)) > 1 else SOFTWARE

    def of_unit(self, unit: str) -> Cell | None:
        """The largest size at which a unit has been run."""
        return next((cell for cell in (self, *self.smaller) if unit in cell.values), None)


def cell_of(
    case: tuple[str, str, str],
    records: Mapping[str, Record],
    value: Figures = seconds_of,
    possible: int = 0,
) -> Cell:
    """A cell from the records of its contenders, out of so many possible ones."""
    runs = {name: dict(record.result or {}) for name, record in records.items()}
    best = min((run for name, run in runs.items() if name not in CONTENDERS), key=value)
    units = [name for name in runs if name in CONTENDERS and value is seconds_of]
    limits = {name: limit(runs[name], best, _places(records[name])) for name in units}
    loaded = next(iter(records.values()))
    graph = loaded.graph
    facts = {"nodes": graph["nodes"], "arcs": graph["edges"], "origin": _origin(graph)}
    size = str(loaded.request["graph"])
    values = {name: float(value(run)) for name, run in runs.items()}
    halves = {name: relative_half(value(run["intervals"])) for name, run in runs.items() if "intervals" in run}
    millionths = "uJ" if value is joules_of else "us"
    return Cell(*case, values, limits, size, facts, halves, possible or len(records), millionths=millionths)


def _places(record: Record) -> Places:
    machine = machine_of_stored(record.request)
    return Places(machine.l2.slices, machine.unit("mff").issue_engines)


def _origin(graph: Mapping[str, Any]) -> str:
    return "stand-in" if graph.get("stand_in_for") else "generated" if graph.get("generated") else "real"


def labels_of(cells: Sequence[Cell]) -> dict[str, str]:
    """`cond, real`: the graphs, and whether their whole is the real one."""
    real = {cell.graph for cell in cells if cell.facts.get("origin") == "real"}
    return {cell.graph: cell.graph + (", real" if cell.graph in real else "") for cell in cells}


def tally(cells: Sequence[Cell]) -> dict[str, int]:
    """How many pairs each wins, the most first."""
    return dict(Counter(cell.winner for cell in cells).most_common())


def ahead_of_software(cells: Sequence[Cell]) -> dict[str, int]:
    """How many pairs each unit wins against software alone, other units aside."""
    return {name: sum(cell.is_ahead(name) for cell in _sizes_of(name, cells)) for name in CONTENDERS}


def _sizes_of(unit: str, cells: Sequence[Cell]) -> list[Cell]:
    """Each pair at the largest size at which the unit has been run."""
    return [found for cell in cells if (found := cell.of_unit(unit)) is not None]


def unit_rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """A row per GPU and unit: how often it beats the best software, and what holds it back where it does not."""
    rows = []
    for gpu in {cell.gpu: None for cell in cells}:
        for name in CONTENDERS:
            mine = _sizes_of(name, [cell for cell in cells if cell.gpu == gpu])
            if not mine:
                continue
            words = Counter(cell.limits[name] for cell in mine if name in cell.limits and not cell.is_ahead(name))
            held = ", ".join(f"{word} {count}" for word, count in words.most_common())
            won = sum(cell.is_ahead(name) for cell in mine)
            rows.append({"gpu": gpu, "unit": name, "pairs": len(mine), "ahead": won, "held back by": held})
    return rows


def heat_rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The map's cells: winner's letter and gain; where software wins, the nearest unit and what holds it back."""
    panels = {gpu: _panel_title(gpu, [c for c in cells if c.gpu == gpu]) for gpu in {c.gpu: None for c in cells}}
    labels = labels_of(cells)
    rows: list[dict[str, Any]] = []
    for cell in cells:
        mark = f"{LETTERS[cell.winner]} {cell.best_gain:.2f}" + (f" ({cell.part})" if cell.part else "")
        if cell.winner in (SOFTWARE, TIE):
            held = cell.limits.get(cell.best_unit)
            mark += f"\n{LETTERS[cell.best_unit]}" + (f": {held}" if held else "")
        row: dict[str, Any] = {"GPU": panels[cell.gpu], "graph": labels[cell.graph]}
        row |= {"algorithm": ALGORITHM_TITLES[cell.algorithm]}
        row |= {"gain": cell.best_gain, "winner": cell.winner, "says": mark, "best software": cell.best_software}
        rows.append(row | {f"{name}, gain": cell.gain(name) for name in cell.units})
    return rows


def _panel_title(gpu: str, cells: Sequence[Cell]) -> str:
    units = sum(cell.winner in CONTENDERS for cell in cells)
    return f"{GPU_TITLES.get(gpu, gpu)}: a unit wins {units} of {len(cells)}"


def heat_figure(cells: Sequence[Cell], name: str, title: str, notes: Sequence[str] = ()) -> Figure:
    meanings = [f"{contender.letter} {name}" for name, contender in CONTENDERS.items()]
    if any(cell.winner == TIE for cell in cells):
        meanings.append("= a tie, within the intervals of sampled runs")
    explained = "p plain GPU: software wins; below it the nearest unit"
    if any(cell.limits for cell in cells):
        explained += " and what holds it back"
    parts = "in brackets the part of the graph, a stand-in; without, it is whole"
    chart = Chart(
        "heat",
        x="algorithm",
        y="gain",
        series="graph",
        facet="GPU",
        mark="says",
        x_label="; ".join([", ".join([*meanings, explained]), parts]),
        y_label="best unit over best software",
        reference=1,
    )
    return Figure(title, chart, heat_rows(cells), "our own question", (), [*sentences(cells), *notes], name=name)


def sentences(cells: Sequence[Cell]) -> list[str]:
    """Who wins on each GPU, and whether one unit alone reaches the goal."""
    said = []
    for gpu in {cell.gpu: None for cell in cells}:
        mine = [cell for cell in cells if cell.gpu == gpu]
        wins = ", ".join(f"{name} {count}" for name, count in tally(mine).items())
        alone = ahead_of_software(mine)
        best = max(alone, key=lambda name: alone[name])
        verdict = "more" if alone[best] > GOAL else "not more"
        said.append(
            f"{GPU_TITLES.get(gpu, gpu)}, {len(mine)} pairs: {wins} win. {best} alone beats the best software in "
            f"{alone[best]}, {verdict} than {GOAL}."
        )
    return said


def table_rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The table behind the map: a row per pair and size, with every unit's gain and what holds it back."""
    rows = []
    shown = {id(cell) for cell in cells}
    for cell in [each for largest in cells for each in (largest, *largest.smaller)]:
        row: dict[str, Any] = {"gpu": cell.gpu, "graph": cell.graph, "loaded": cell.size, **cell.facts}
        row |= {"in the map": "yes" if id(cell) in shown else "no"}
        row |= {"algorithm": cell.algorithm, "winner": cell.winner, "gain": round(cell.best_gain, 3)}
        row |= {"interval": f"{cell.half(cell.best_unit):.1%}" if cell.halves else ""}
        row |= {"contenders": f"{len(cell.values)} of {cell.possible}", "best software": cell.best_software}
        row[f"software {cell.millionths}"] = round(1e6 * cell.values[cell.best_software], 2)
        for name in CONTENDERS:
            row[name] = round(cell.gain(name), 3) if name in cell.values else ""
            row[f"{name}, limit"] = cell.limits.get(name, "")
        rows.append(row)
    return rows


def write_csv(cells: Sequence[Cell], path: Path) -> None:
    rows = table_rows(cells)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
