"""Which unit suits which graph? A study of our own, on three GPUs, against the strongest software we have.

Ten kinds of graph (those of both papers), four algorithms. Every contender has the same extra area
(`which_unit_area.py`). The plain GPU runs the best of its software styles: BFS also direction-optimising, PageRank by
pushing and by pulling, WCC also by pointer jumping; loops are unrolled by four, as ptxas does. Times are those of whole
runs, vertex scheduling included, since styles are compared with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from warpsift.algorithms import ALGORITHMS
from warpsift.report.figures import COMMAND, Chart, Figure
from warpsift.report.provenance import command_of
from warpsift.run.request import Request, make_request
from warpsift.store.store import Record
from warpsift.studies import which_unit_why
from warpsift.studies.scale import FULL, Scale
from warpsift.studies.stored_runs import StoredRuns
from warpsift.studies.which_unit_area import CONTENDERS, GPUS, area_note, machine_of
from warpsift.studies.which_unit_map import Cell, Figures, cell_of, heat_figure, joules_of, seconds_of
from warpsift.studies.which_unit_sizes import largest, nearest
from warpsift.sweep import Results

Case = tuple[str, str, str]  # GPU, algorithm, graph
TITLE = "Which unit suits which graph?"
GRAPHS = (
    "ca", "cond", "delaunay", "human", "kron", "msdoor", "dblp-2010", "cnr-2000", "amazon-2008", "dewiki-2013",
)  # fmt: skip
NAMES = ("bfs", "sssp", "pagerank", "wcc")
MAIN_GPU = "gtx980"
CONTROLLED = ("bfs", "pagerank")  # a traversal and a sweep over all edges
# Of the medium scale: 0.4 to 2.3 million arcs, the whole graph where it is no larger. SSSP and WCC go over a graph many
# times: where its ways are long, a smaller part.
PARTS = {
    "ca": (4, 16), "cond": (1, 1), "delaunay": (4, 8), "human": (8, 16), "kron": (8, 16), "msdoor": (16, 32),
    "dblp-2010": (1, 1), "cnr-2000": (2, 8), "amazon-2008": (4, 16), "dewiki-2013": (32, 64),
}  # fmt: skip
LONGER = ("sssp", "wcc")
DENOMINATORS = (1, 2, 4, 8, 16, 32, 64)  # of the sizes that are looked for in stores, the whole graph first
SAMPLE = 20  # of sampled runs (docs/sampling.md)
# On the GTX 980 SSSP by a thread per vertex takes 1.2 to 11.6 times as long as near-far (all ten graphs, these sizes),
# and WCC's label propagation 4.8 to 6.3 times as long as pointer jumping (cond, human, kron): no contenders.
STYLES = {"sssp": ("frontier",), "wcc": ("jumping",)}
_COMPILED = {"compiler.unroll": "4"}  # docs/instruction-counts.md: as nvcc and ptxas compile loops
# Filters that live as long as the run: only so does the SCU remove what its paper says (docs/scu-slice.md)
_SSSP_FILTERS = {"scu.other_life": "persistent"}


def graph_name(graph: str, algorithm: str, scale: Scale) -> str:
    """What to load: at the medium scale the part that this study can afford."""
    if graph in scale.files or scale.name != "medium":
        return scale.graph(graph)
    part = PARTS[graph][algorithm in LONGER]
    return graph if part == 1 else f"{graph}@1/{part}"


def size(scale: Scale) -> str:
    """How large the graphs are, in words."""
    return "the parts named in the figure" if scale.name == "medium" else scale.size(GRAPHS)


def request(case: Case, choices: Mapping[str, Any], scale: Scale, order: str = "") -> Request:
    gpu, algorithm, graph = case
    limit = {"max_iterations": scale.iterations} if algorithm == "pagerank" else {}
    name = graph_name(graph, algorithm, scale) + (f"~{order}" if order else "")
    return make_request(algorithm, name, {"gpu": gpu, **choices, **limit})


def software(gpu: str, algorithm: str) -> dict[str, dict[str, Any]]:
    """The plain GPU's contenders: every style, with the whole area in L2 ways."""
    machine = {**machine_of(None, gpu), **_COMPILED}
    styles = STYLES.get(algorithm) or tuple(ALGORITHMS[algorithm].styles)
    return {style: {"style": style, "overrides": machine} for style in styles}


def hardware(gpu: str, algorithm: str) -> dict[str, dict[str, Any]]:
    """The units that have the algorithm."""
    found = {}
    for name, contender in CONTENDERS.items():
        if algorithm in contender.algorithms:
            life = _SSSP_FILTERS if algorithm == "sssp" and contender.unit.startswith("scu") else {}
            settings = {**machine_of(name, gpu), **_COMPILED, **life}
            found[name] = {"unit": contender.unit_for(algorithm), "overrides": settings}
    return found


def wanted(case: Case, scale: Scale, order: str = "") -> dict[str, Request]:
    """Every contender's request."""
    gpu, algorithm, _ = case
    contenders = {**software(gpu, algorithm), **hardware(gpu, algorithm)}
    return {name: request(case, choices, scale, order) for name, choices in contenders.items()}


def cases(gpus: Sequence[str] = GPUS, names: Sequence[str] = NAMES) -> Iterator[Case]:
    """One GPU after the other."""
    return ((gpu, algorithm, graph) for gpu in gpus for algorithm in names for graph in GRAPHS)


def stored_cells(
    runs: StoredRuns, denominators: Sequence[int] = DENOMINATORS, value: Figures = seconds_of
) -> list[Cell]:
    """Every pair of which a store has runs, at the largest size that may stand for it, the smaller ones behind it."""
    find = runs.priced if value is joules_of else runs.record
    cells = []
    for case in cases():
        sizes = []
        for possible, found in stored_records(runs, case, denominators, find):
            if {name in CONTENDERS for name in found} == {True, False}:  # a run of software and one of a unit
                sizes.append(cell_of(case, found, value, possible))
        if sizes:
            cells.append(largest(sizes))
    return cells


def stored_records(
    runs: StoredRuns, case: Case, denominators: Sequence[int], find: Callable[[Request], Record | None]
) -> Iterator[tuple[int, dict[str, Record]]]:
    """Of each size of a pair, the larger first: how many contenders there are, and the stored runs by contender.

    A run in full goes before a sampled one.
    """
    for each in denominators:
        scale = Scale(f"1/{each}", each, (1,))
        if scale.graph(case[2]) in runs.graphs:
            asked = wanted(case, scale)
            found = {n: find(request) or find(replace(request, sample=SAMPLE)) for n, request in asked.items()}
            yield len(asked), {name: record for name, record in found.items() if record is not None}


def whole_graphs(cells: Sequence[Cell]) -> list[Request]:
    """The runs that would tell whether the answers of parts hold: their nearest contenders on the whole graph."""
    asked = []
    for cell in cells:
        if cell.part:
            possible = wanted((cell.gpu, cell.algorithm, cell.graph), FULL)
            asked += [possible[name] for name in nearest(cell)]
    return asked


def _cells(results: Results, scale: Scale, value: Any, chosen: Sequence[Case], order: str = "") -> list[Cell]:
    return [
        cell_of(case, {name: results[asked] for name, asked in wanted(case, scale, order).items()}, value)
        for case in chosen
    ]


class _Map:
    """One map: the units against the best software on the plain GPU, at equal area."""

    def __init__(self, title: str, name: str, value: Any, order: str = "") -> None:
        self.title, self.name, self.value, self.order = title, name, value, order

    def _cases(self) -> list[Case]:
        """The control by another numbering is for one GPU."""
        return list(cases((MAIN_GPU,), CONTROLLED) if self.order else cases())

    def matrix(self, scale: Scale) -> list[Request]:
        return [asked for case in self._cases() for asked in wanted(case, scale, self.order).values()]

    def figure(self, results: Results, scale: Scale) -> Figure:
        chosen = self._cases()
        found = _cells(results, scale, self.value, chosen, self.order)
        notes = [area_note(gpu) for gpu in dict.fromkeys(case[0] for case in chosen)]
        if self.order:
            notes += _numbering(found, _cells(results, scale, self.value, chosen), self.order)
        if self.value is joules_of:
            notes.append("SMs are power-gated while the SCU works, the most favourable of three ways to count them.")
        return heat_figure(found, self.name, self.title, notes)


def _numbering(renumbered: Sequence[Cell], before: Sequence[Cell], order: str) -> list[str]:
    """What the numbering alone does for the best software."""
    gains: dict[str, list[float]] = {}
    for new, old in zip(renumbered, before, strict=True):
        gain = old.values[old.best_software] / new.values[new.best_software]
        gains.setdefault(new.algorithm, []).append(gain)
    return [
        f"{name}: numbered by {order}, the best software is {min(g):.2f} to {max(g):.2f} x as fast."
        for name, g in gains.items()
    ]


class _Software:
    """What the best software is."""

    name = "which-unit-software"

    def matrix(self, scale: Scale) -> list[Request]:
        return []  # all of them are contenders above

    def figure(self, results: Results, scale: Scale) -> Figure:
        rows: list[dict[str, Any]] = []
        chosen = list(cases((MAIN_GPU,)))
        for cell in _cells(results, scale, seconds_of, chosen):
            case = (cell.gpu, cell.algorithm, cell.graph)
            for style in software(cell.gpu, cell.algorithm):
                row = {"algorithm": cell.algorithm, "graph": cell.graph, "style": style, "value": cell.gain(style)}
                rows.append(row | {COMMAND: command_of(wanted(case, scale)[style])})
        chart = Chart("bars", x="graph", y="value", series="style", facet="algorithm", y_label="best = 1", reference=1)
        return Figure(f"Software on the plain {MAIN_GPU}", chart, rows, "our own question", name=self.name)


EXPERIMENTS = (
    _Map("Which unit suits which graph? Time", "which-unit", seconds_of),
    _Map("Which unit suits which graph? Energy", "which-unit-energy", joules_of),
    _Software(),
    which_unit_why.Why("SCU", "frontier"),
    which_unit_why.Why("MFF", "vertex"),
    _Map("Control: time with nodes numbered by degree", "which-unit-degree", seconds_of, "degree"),
)
