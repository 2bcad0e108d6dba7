"""Which unit suits which graph? A study of our own, on one GPU, against the stronger software a reviewer would ask for.

Ten kinds of graph (those of both papers), four algorithms. Every contender has the same extra area, that of the largest
unit: the plain GPU spends it on L2 ways and runs the best of its software styles (BFS also direction-optimising,
PageRank by pushing and by pulling), the SCU spends what it leaves on L2 ways, the MFF takes it all. A control runs BFS
and PageRank on graphs numbered by degree, to tell a unit's gain from one that a better numbering gives for nothing.

Times are those of whole runs, vertex scheduling included, since styles are compared with each other.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from warpsift.algorithms import ALGORITHMS
from warpsift.costs.cacti_table import figures as cacti_figures
from warpsift.machines import load_machine
from warpsift.report.figures import COMMAND, Chart, Figure
from warpsift.report.provenance import command_of
from warpsift.run.request import Request, make_request
from warpsift.studies import which_unit_why
from warpsift.studies.scale import Scale
from warpsift.sweep import Results
from warpsift.units import unit_named

TITLE = "Which unit suits which graph?"
GRAPHS = (
    "ca", "cond", "delaunay", "human", "kron", "msdoor", "dblp-2010", "cnr-2000", "amazon-2008", "dewiki-2013",
)  # fmt: skip
GPU = "gtx980"
NAMES = ("bfs", "sssp", "pagerank", "wcc")
STYLE_NAMES = {
    "frontier": "frontiers (PageRank: push)",
    "vertex": "a thread per vertex (PageRank: pull)",
    "direction": "direction-optimising",
    "jumping": "hooking and pointer jumping",
}
CONTROLLED = ("bfs", "pagerank")  # a traversal and a sweep over all edges
SCU, MFF = "SCU", "MFF"


@functools.cache
def areas() -> dict[str, float]:
    """mm2 at 32 nm of the two units and of one way of this GPU's L2 (CACTI 7)."""
    machine = load_machine(GPU)
    l2 = machine.l2
    slice_mm2 = cacti_figures("cache", l2.size_bytes // l2.slices, 256, 32, l2.ways).area_mm2
    return {
        SCU: unit_named("scu").area(machine).total_mm2,
        MFF: unit_named("mff").area(machine).total_mm2,
        "way": slice_mm2 * l2.slices / l2.ways,
    }


def extra_ways(taken_mm2: float) -> int:
    """L2 ways that fit beside what a contender takes of the common area."""
    return round((areas()[MFF] - taken_mm2) / areas()["way"])


def _l2(ways_more: int) -> dict[str, str]:
    l2 = load_machine(GPU).l2
    ways = l2.ways + ways_more
    return {"l2.ways": str(ways), "l2.size_bytes": str(l2.size_bytes // l2.ways * ways)}


def software(algorithm: str) -> dict[str, dict[str, Any]]:
    """The plain GPU's contenders: every style, with the whole area in L2 ways."""
    return {
        STYLE_NAMES.get(style, style): {"style": style, "overrides": _l2(extra_ways(0.0))}
        for style in ALGORITHMS[algorithm].styles
    }


def hardware(algorithm: str) -> dict[str, dict[str, Any]]:
    unit = "scu-basic" if algorithm == "pagerank" else "scu"  # PageRank neither filters nor groups
    return {SCU: {"unit": unit, "overrides": _l2(extra_ways(areas()[SCU]))}, MFF: {"unit": "mff"}}


def request(algorithm: str, graph: str, choices: dict[str, Any], scale: Scale, order: str = "") -> Request:
    limit = {"max_iterations": scale.iterations} if algorithm == "pagerank" else {}
    name = scale.graph(graph) + (f"~{order}" if order else "")
    return make_request(algorithm, name, {"gpu": GPU, **choices, **limit})


def cases(names: Sequence[str] = NAMES) -> Iterator[tuple[str, str]]:
    return ((algorithm, graph) for algorithm in names for graph in GRAPHS)


class Measured:
    """What all systems of one algorithm and graph took, in seconds or joules."""

    def __init__(self, results: Results, case: tuple[str, str], scale: Scale, column: str, order: str = "") -> None:
        algorithm, graph = case
        self.case = {"algorithm": algorithm, "graph": graph}
        self.wanted = {
            system: request(algorithm, graph, choices, scale, order)
            for system, choices in {**software(algorithm), **hardware(algorithm)}.items()
        }
        self.values = {system: _value(results[wanted].result, column) for system, wanted in self.wanted.items()}
        self.best_software = min(software(algorithm), key=lambda system: self.values[system])
        self.winner = min(self.values, key=lambda system: self.values[system])

    @property
    def best(self) -> float:
        return self.values[self.best_software]

    def row(self, system: str) -> dict[str, Any]:
        """One bar: a system against the best software, with the command that runs it."""
        value = self.best / self.values[system]
        return {**self.case, "system": system, "value": value, COMMAND: command_of(self.wanted[system])}


def _value(run: Any, column: str) -> float:
    """SMs are power-gated while an SCU works: the most favourable of the three ways to count them."""
    return run["energy_by_gpu_idle"]["power_gate"] if column == "energy" else run["seconds"]


def _tally(measured: list[Measured]) -> str:
    wins: dict[str, int] = {}
    for each in measured:
        kind = each.winner if each.winner in (SCU, MFF) else "software on the plain GPU"
        wins[kind] = wins.get(kind, 0) + 1
    return ", ".join(f"{name} {count}" for name, count in sorted(wins.items(), key=lambda item: -item[1]))


def _numbering(results: Results, scale: Scale, order: str) -> list[str]:
    """What the numbering alone does for the best software."""
    notes = []
    for algorithm in CONTROLLED:
        gains = [
            Measured(results, (algorithm, graph), scale, "time").best
            / Measured(results, (algorithm, graph), scale, "time", order).best
            for graph in GRAPHS
        ]
        low, high = min(gains), max(gains)
        notes.append(
            f"{algorithm}: the numbering by {order} alone makes the best software {low:.2f} to {high:.2f} x as fast."
        )
    return notes


BARS = Chart(
    "bars",
    x="graph",
    y="value",
    series="system",
    facet="algorithm",
    y_label="best software = 1",
    reference=1,
    better="higher",
)


class _Units:
    """One figure: the two units against the best software on the plain GPU, at equal area."""

    def __init__(self, title: str, name: str, column: str, order: str = "") -> None:
        self.title, self.name, self.column, self.order = title, name, column, order
        self.algorithms = CONTROLLED if order else NAMES

    def matrix(self, scale: Scale) -> list[Request]:
        return [
            request(algorithm, graph, choices, scale, self.order)
            for algorithm, graph in cases(self.algorithms)
            for choices in {**software(algorithm), **hardware(algorithm)}.values()
        ]

    def figure(self, results: Results, scale: Scale) -> Figure:
        rows: list[dict[str, Any]] = []
        found = []
        for algorithm, graph in cases(self.algorithms):
            mine = Measured(results, (algorithm, graph), scale, self.column, self.order)
            found.append(mine)
            for system in (SCU, MFF):
                rows.append(mine.row(system) | {"best software": mine.best_software, "winner": mine.winner})
        return Figure(
            self.title,
            BARS,
            rows,
            "our own question",
            (),
            [
                f"Who wins, of {len(found)} pairs of graph and algorithm: {_tally(found)}.",
                *self._notes(),
                *(_numbering(results, scale, self.order) if self.order else []),
            ],
            name=self.name,
        )

    def _notes(self) -> list[str]:
        area = areas()
        ways = {what: extra_ways(taken) for what, taken in (("plain", 0.0), (SCU, area[SCU]))}
        notes = [
            f"Equal area, about {area[MFF]:.1f} mm2 at 32 nm: the MFF ({area[MFF]:.2f}), the SCU ({area[SCU]:.2f}) "
            f"with {ways[SCU]} more L2 ways, or {ways['plain']} such ways ({area['way']:.2f} each) for the plain GPU. "
            "Their leakage is not added: under 0.3 % of what the board draws."
        ]
        if self.column == "energy":
            notes.append(
                "SMs are power-gated while the SCU works, the most favourable of the three ways to count them."
            )
        return notes


class _Software:
    """What the best software is."""

    name = "which-unit-software"

    def matrix(self, scale: Scale) -> list[Request]:
        return []  # all of them are contenders above

    def figure(self, results: Results, scale: Scale) -> Figure:
        rows: list[dict[str, Any]] = []
        for algorithm, graph in cases():
            mine = Measured(results, (algorithm, graph), scale, "time")
            for system in software(algorithm):
                rows.append(mine.row(system))
        return Figure(
            "Software on the plain GPU",
            BARS,
            rows,
            "our own question",
            name=self.name,
        )


EXPERIMENTS = (
    _Units("Speed with each unit, best software on the plain GPU = 1", "which-unit-time", "time"),
    _Units("Energy efficiency with each unit, best software = 1", "which-unit-energy", "energy"),
    _Software(),
    which_unit_why.Why(SCU, "frontier"),
    which_unit_why.Why(MFF, "vertex"),
    _Units("Control: speed with nodes numbered by degree", "which-unit-degree", "time", "degree"),
)
