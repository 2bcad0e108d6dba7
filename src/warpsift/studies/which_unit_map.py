"""The answer as a map: who wins on which graph with which algorithm, by how much, and what holds the units back."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpsift.report.figures import Chart, Figure
from warpsift.store.store import Record
from warpsift.studies.which_unit_area import CONTENDERS
from warpsift.studies.which_unit_limits import limit

Run = Mapping[str, Any]
SOFTWARE = "software"
LETTERS = {name: contender.letter for name, contender in CONTENDERS.items()} | {SOFTWARE: "p"}
GPU_TITLES = {"gtx980": "GTX 980", "tx1": "Tegra X1", "a100": "A100"}
ALGORITHM_TITLES = {"bfs": "BFS", "sssp": "SSSP", "pagerank": "PageRank", "wcc": "WCC"}
GOAL = 30  # pairs of 40 that a unit should win


def seconds_of(run: Run) -> float:
    return float(run["seconds"])


def joules_of(run: Run) -> float:
    """SMs are power-gated while an SCU works: the most favourable of the three ways to count them."""
    return float(run["energy_by_gpu_idle"]["power_gate"])


@dataclass(frozen=True)
class Cell:
    """One pair of graph and algorithm on one GPU: what each contender took, in seconds or joules."""

    gpu: str
    algorithm: str
    graph: str
    values: Mapping[str, float]  # styles of the plain GPU, and units
    limits: Mapping[str, str] = field(default_factory=dict)  # of units
    size: str = ""  # the part of the graph, as it is loaded
    facts: Mapping[str, Any] = field(default_factory=dict)  # nodes, arcs, origin

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
    def winner(self) -> str:
        return self.best_unit if self.best_gain > 1 else SOFTWARE


def cell_of(
    case: tuple[str, str, str], records: Mapping[str, Record], value: Callable[[Run], float] = seconds_of
) -> Cell:
    """A cell from the records of all its contenders."""
    runs = {name: dict(record.result or {}) for name, record in records.items()}
    best = min((run for name, run in runs.items() if name not in CONTENDERS), key=value)
    limits = {name: limit(run, best) for name, run in runs.items() if name in CONTENDERS}
    loaded = next(iter(records.values()))
    graph = loaded.graph
    facts = {"nodes": graph["nodes"], "arcs": graph["edges"], "origin": _origin(graph)}
    size = str(loaded.request["graph"])
    return Cell(*case, {name: value(run) for name, run in runs.items()}, limits, size, facts)


def _origin(graph: Mapping[str, Any]) -> str:
    return "stand-in" if graph.get("stand_in_for") else "generated" if graph.get("generated") else "real"


def labels_of(cells: Sequence[Cell]) -> dict[str, str]:
    """`ca 1/4, 1/8`, `cond, real`: what of each graph was run, a size for each that some algorithm has."""
    sizes: dict[str, dict[str, None]] = {}
    real: dict[str, str] = {}
    for cell in cells:
        _, _, part = cell.size.partition("@")
        sizes.setdefault(cell.graph, {})[part] = None
        real[cell.graph] = ", real" if cell.facts.get("origin") == "real" else ""
    return {graph: f"{graph} {', '.join(parts)}".strip() + real[graph] for graph, parts in sizes.items()}


def tally(cells: Sequence[Cell]) -> dict[str, int]:
    """How many pairs each wins, the most first."""
    return dict(Counter(cell.winner for cell in cells).most_common())


def ahead_of_software(cells: Sequence[Cell]) -> dict[str, int]:
    """How many pairs each unit wins against software alone, other units aside."""
    return {name: sum(cell.gain(name) > 1 for cell in cells if name in cell.values) for name in CONTENDERS}


def unit_rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """A row per GPU and unit: how often it beats the best software, and what holds it back where it does not."""
    rows = []
    for gpu in {cell.gpu: None for cell in cells}:
        for name in CONTENDERS:
            mine = [cell for cell in cells if cell.gpu == gpu and name in cell.values]
            if not mine:
                continue
            words = Counter(cell.limits[name] for cell in mine if cell.gain(name) <= 1).most_common()
            held = ", ".join(f"{word} {count}" for word, count in words)
            won = sum(cell.gain(name) > 1 for cell in mine)
            rows.append({"gpu": gpu, "unit": name, "pairs": len(mine), "ahead": won, "held back by": held})
    return rows


def heat_rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The map's cells: winner's letter and gain; where software wins, the nearest unit and what holds it back."""
    panels = {gpu: _panel_title(gpu, [c for c in cells if c.gpu == gpu]) for gpu in {c.gpu: None for c in cells}}
    labels = labels_of(cells)
    rows: list[dict[str, Any]] = []
    for cell in cells:
        mark = f"{LETTERS[cell.winner]} {cell.best_gain:.2f}"
        if cell.winner == SOFTWARE:
            mark += f"\n{LETTERS[cell.best_unit]}: {cell.limits.get(cell.best_unit, '')}"
        row: dict[str, Any] = {"GPU": panels[cell.gpu], "graph": labels[cell.graph]}
        row |= {"algorithm": ALGORITHM_TITLES[cell.algorithm]}
        row |= {"gain": cell.best_gain, "winner": cell.winner, "says": mark, "best software": cell.best_software}
        rows.append(row | {f"{name}, gain": cell.gain(name) for name in cell.units})
    return rows


def _panel_title(gpu: str, cells: Sequence[Cell]) -> str:
    units = sum(cell.winner != SOFTWARE for cell in cells)
    return f"{GPU_TITLES.get(gpu, gpu)}: a unit wins {units} of {len(cells)}"


def heat_figure(cells: Sequence[Cell], name: str, title: str, notes: Sequence[str] = ()) -> Figure:
    meanings = [f"{letter} {winner}" for winner, letter in LETTERS.items() if winner != SOFTWARE]
    chart = Chart(
        "heat",
        x="algorithm",
        y="gain",
        series="graph",
        facet="GPU",
        mark="says",
        x_label=", ".join([*meanings, "p plain GPU: software wins; below it the nearest unit and what holds it back"]),
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
    """The table behind the map: a row per pair, with every unit's gain and what holds it back."""
    rows = []
    for cell in cells:
        row: dict[str, Any] = {"gpu": cell.gpu, "graph": cell.graph, "loaded": cell.size, **cell.facts}
        row |= {"algorithm": cell.algorithm, "winner": cell.winner, "gain": round(cell.best_gain, 3)}
        row |= {"best software": cell.best_software}
        row["software us"] = round(1e6 * cell.values[cell.best_software], 2)
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
