"""The papers' energy figures beside ours: under each reading, with waiting SMs counted in three ways, and the ceilings.

    warpsift claims --energy --store claims.db

A saving is the energy of the plain GPU over that with the unit. The ceiling beside it is what *any* unit could save at
the speedup that the paper states: meanwhile the GPU at least waits, which takes watts (`ceilings.least_joules`). No
model of a unit enters a ceiling. "Events" is what would be saved if nothing were paid by time: no board, leakage, clock
or standby. Means over graphs and algorithms are geometric; the MFF's "all four" is the sum of the runs, as in
its claim. The MFF is measured in the compute stage, as in its paper.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from warpsift.algorithms.operators.scheduling import COMPUTE_PHASE
from warpsift.costs.ceilings import least_joules, reduction_limit, replaced_share_needed, static_share_limit
from warpsift.costs.design import Design
from warpsift.costs.energy import GPU_IDLE
from warpsift.run.request import Request
from warpsift.run.run_energy import coefficients_of, prices_of
from warpsift.store.rows import geometric_mean
from warpsift.store.stored_energy import machine_of_stored
from warpsift.studies.claim import NEAR
from warpsift.studies.markdown_rows import head, line
from warpsift.studies.marked_page import as_list, put_between_marks
from warpsift.studies.mff import mff_claims, mff_runs
from warpsift.studies.mff import mff_fig10 as mff_speedups
from warpsift.studies.scu import scu_claims, scu_fig09, scu_fig11, scu_runs
from warpsift.studies.scu import scu_fig10 as scu_speedups
from warpsift.studies.stored_runs import Run, StoredRuns

MOST_FAVOURABLE = GPU_IDLE[-1]
ByIdle = Mapping[str, float]  # a number for each way to count waiting SMs
Wanted = Callable[[str, int], Sequence[Request]]


@dataclass(frozen=True)
class Pair:
    """A plain run and one with the unit, on one graph from one source: joules and seconds of what is compared."""

    graph: str
    plain: float
    static: float  # of the plain run, what is paid by time
    plain_seconds: float
    unit: ByIdle
    unit_seconds: float
    waiting: ByIdle  # joules of a GPU that waits for as long as the plain run takes
    unit_events: float  # of the run with the unit, what is not paid by time

    @property
    def plain_events(self) -> float:
        return self.plain - self.static


@dataclass(frozen=True)
class Savings:
    """What the stored runs of one reading say of a figure."""

    speedup: float
    saved: ByIdle
    ceiling: ByIdle | None  # at the paper's speedup, where it states one
    static_share: float  # of the plain runs' energy
    events: float  # saved of what is not paid by time
    graphs: tuple[str, ...]

    @classmethod
    def of(cls, pairs: Sequence[Pair], paper_speedup: float | None) -> Savings:
        def mean(of: Callable[[Pair], float]) -> float:
            return _mean_over_graphs(pairs, of)

        ceiling = None
        if paper_speedup is not None:
            share = {mode: mean(partial(_waiting_share, mode)) for mode in GPU_IDLE}
            ceiling = {mode: reduction_limit(share[mode], paper_speedup) for mode in GPU_IDLE}
        return cls(
            mean(lambda p: p.plain_seconds / p.unit_seconds),
            {mode: mean(partial(_saved, mode)) for mode in GPU_IDLE},
            ceiling,
            mean(lambda p: p.static / p.plain),
            mean(lambda p: p.plain_events / p.unit_events),
            tuple(dict.fromkeys(pair.graph for pair in pairs)),
        )


def _waiting_share(mode: str, pair: Pair) -> float:
    return pair.waiting[mode] / pair.plain


def _saved(mode: str, pair: Pair) -> float:
    return pair.plain / pair.unit[mode]


def _mean_over_graphs(pairs: Sequence[Pair], of: Callable[[Pair], float]) -> float:
    """Over the sources of a graph first, as the claims have it: a graph with three weighs no more than one with one."""
    by_graph: dict[str, list[float]] = {}
    for pair in pairs:
        by_graph.setdefault(pair.graph, []).append(of(pair))
    return geometric_mean(fmean(each) for each in by_graph.values())


@dataclass(frozen=True)
class EnergyFigure:
    """One energy figure of a paper; `stated` is None for a part of an average that is not stated itself."""

    paper: str
    name: str
    where: str
    stated: float | None
    speedup: float | None  # the paper's, at which it must hold
    measure: Callable[[StoredRuns], Savings | None]

    def possible(self, ours: Savings) -> bool | None:
        """Whether any unit could reach it at the paper's speedup, in the way of counting that favours it most."""
        if self.stated is None or ours.ceiling is None:
            return None
        return ours.ceiling[MOST_FAVOURABLE] >= self.stated

    def near(self, ours: Savings) -> bool | None:
        return None if self.stated is None else abs(ours.saved[MOST_FAVOURABLE] / self.stated - 1) <= NEAR


def pairs_of(runs: StoredRuns, graphs: Iterable[str], wanted: Wanted, phase: str | None = None) -> list[Pair]:
    found = []
    for graph in graphs:
        name, both = runs.pairs(graph, wanted)
        found += [_pair(name, plain, unit, phase) for plain, unit in both]
    return found


def _pair(graph: str, plain: Run, unit: Run, phase: str | None) -> Pair:
    before, after = ([p for p in run["phases"] if phase in (None, p["phase"])] for run in (plain, unit))
    asked, seconds = plain["asked"], float(sum(p["seconds"] for p in before))
    machine = machine_of_stored(asked)
    prices, chosen = prices_of(machine), coefficients_of(asked["overrides"])
    return Pair(
        graph,
        sum(p["energy_joules"] for p in before),
        sum(p["static_joules"] for p in before),
        seconds,
        {mode: sum(p["energy_by_gpu_idle"][mode] for p in after) for mode in GPU_IDLE},
        float(sum(p["seconds"] for p in after)),
        {mode: least_joules(prices, seconds, Design.of(machine), mode, chosen) for mode in GPU_IDLE},
        float(sum(p["energy_joules"] - p["static_joules"] for p in after)),
    )


def of_scu(gpu: str, algorithm: str, unit: str, speedup: float, runs: StoredRuns) -> Savings | None:
    pairs = pairs_of(runs, scu_runs.GRAPHS, scu_claims.pair(runs, algorithm, gpu, unit))
    return Savings.of(pairs, speedup) if pairs else None


def of_scu_average(gpu: str, runs: StoredRuns) -> Savings | None:
    """Over the three algorithms, each at its own speedup; only where all of them were run."""
    parts = [of_scu(gpu, name, scu_runs.best_unit(name), _scu_speedup(gpu, name), runs) for name in scu_runs.ALGORITHMS]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None

    return Savings(
        geometric_mean(part.speedup for part in found),
        {mode: geometric_mean(part.saved[mode] for part in found) for mode in GPU_IDLE},
        {mode: geometric_mean(part.ceiling[mode] for part in found if part.ceiling) for mode in GPU_IDLE},
        geometric_mean(part.static_share for part in found),
        geometric_mean(part.events for part in found),
        tuple(dict.fromkeys(graph for part in found for graph in part.graphs)),
    )


def _scu_speedup(gpu: str, algorithm: str) -> float:
    """PageRank on the GTX 980 is "slightly" slower (section 6.2): at most 1."""
    return scu_speedups.PAPER.get((gpu, algorithm), 1.0)


def of_mff(algorithm: str, speedup: float, runs: StoredRuns) -> Savings | None:
    pairs = pairs_of(runs, mff_runs.GRAPHS, mff_claims.pair(runs, algorithm), COMPUTE_PHASE)
    return Savings.of(pairs, speedup) if pairs else None


def _mff_speedup(algorithm: str) -> float:
    """SSSP and WCC lie below BFS (Fig. 10), so BFS's bounds them."""
    return mff_speedups.PAPER.get(algorithm, mff_speedups.PAPER["bfs"])


def of_mff_sum(runs: StoredRuns) -> Savings | None:
    """All algorithms together: their joules and seconds summed, each bounded at its own speedup."""
    sums = dict.fromkeys(("plain", "plain_events", "unit_events", "plain_seconds", "unit_seconds"), 0.0)
    unit, least = dict.fromkeys(GPU_IDLE, 0.0), dict.fromkeys(GPU_IDLE, 0.0)
    graphs: dict[str, None] = {}
    for algorithm in mff_runs.ALGORITHMS:
        for pair in pairs_of(runs, mff_runs.GRAPHS, mff_claims.pair(runs, algorithm), COMPUTE_PHASE):
            sums = {name: value + getattr(pair, name) for name, value in sums.items()}
            for mode in GPU_IDLE:
                unit[mode] += pair.unit[mode]
                least[mode] += pair.waiting[mode] / _mff_speedup(algorithm)
            graphs[pair.graph] = None
    if not graphs:
        return None
    return Savings(
        sums["plain_seconds"] / sums["unit_seconds"],
        {mode: sums["plain"] / unit[mode] for mode in GPU_IDLE},
        {mode: sums["plain"] / least[mode] for mode in GPU_IDLE},
        1 - sums["plain_events"] / sums["plain"],
        sums["plain_events"] / sums["unit_events"],
        tuple(graphs),
    )


def _of_gpu(gpu: str) -> list[EnergyFigure]:
    figures = []
    for name in scu_runs.ALGORITHMS:
        speedup = _scu_speedup(gpu, name)
        measure = partial(of_scu, gpu, name, scu_runs.best_unit(name), speedup)
        figures.append(EnergyFigure("scu", f"{name}, {gpu}", "Fig. 9", scu_fig09.PAPER[gpu, name], speedup, measure))
    stated, speedup = scu_claims.ENERGY_AVERAGE[gpu], scu_speedups.PAPER_AVERAGE[gpu]
    figures.append(EnergyFigure("scu", f"average, {gpu}", "section 6.1", stated, speedup, partial(of_scu_average, gpu)))
    for name in ("bfs", "sssp"):
        stated, speedup = scu_fig11.BASIC_ENERGY, scu_fig11.BASIC_SPEEDUP
        measure = partial(of_scu, gpu, name, "scu-basic", speedup)
        figures.append(EnergyFigure("scu", f"basic unit, {name}, {gpu}", "Fig. 11", stated, speedup, measure))
    return figures


FIGURES = (
    *(figure for gpu in scu_runs.GPUS for figure in _of_gpu(gpu)),
    *(
        EnergyFigure("mff", name, "Fig. 8", None, _mff_speedup(name), partial(of_mff, name, _mff_speedup(name)))
        for name in mff_runs.ALGORITHMS
    ),
    EnergyFigure("mff", "all four", "Fig. 8", 1 / (1 - mff_claims.ENERGY_SAVED), None, of_mff_sum),
)


@dataclass(frozen=True)
class Beside:
    """A figure with our savings under each reading."""

    figure: EnergyFigure
    ours: Mapping[str, Savings | None]

    def as_dict(self) -> dict[str, Any]:
        figure = self.figure
        row: dict[str, Any] = {"paper": figure.paper, "figure": figure.name, "where": figure.where}
        row |= {"stated": figure.stated, "at speedup": figure.speedup}
        row["static at most"] = _static_at_most(figure)
        row["replaced at least"] = None if figure.stated is None else replaced_share_needed(figure.stated)
        for reading, ours in self.ours.items():
            row[reading] = None
            if ours is not None:
                named = {"saved": dict(ours.saved), "ceiling": dict(ours.ceiling) if ours.ceiling else None}
                row[reading] = {"speedup": ours.speedup, **named, "static_share": ours.static_share}
                row[reading]["events"] = ours.events
                row[reading] |= {"possible": figure.possible(ours), "graphs": list(ours.graphs)}
        return row

    def cells(self) -> list[str]:
        figure, limit = self.figure, _static_at_most(self.figure)
        cells = [
            f"{figure.paper}, {figure.name} ({figure.where})",
            "" if figure.stated is None else f"{figure.stated:.2f}",
            "" if figure.speedup is None else f"{figure.speedup:.2f}",
            "" if limit is None else f"{100 * limit:.0f} %",
            "" if figure.stated is None else f"{100 * replaced_share_needed(figure.stated):.0f} %",
        ]
        for ours in self.ours.values():
            if ours is None:
                cells += [""] * 5
                continue
            cells += [
                f"{ours.speedup:.2f}",
                _three(ours.saved),
                _three(ours.ceiling),
                f"{100 * ours.static_share:.0f} %",
                f"{ours.events:.2f}",
            ]
        return cells


def _static_at_most(figure: EnergyFigure) -> float | None:
    """The share of the plain energy that may be static if the figure is to hold: arithmetic alone."""
    if figure.stated is None or figure.speedup is None:
        return None
    return static_share_limit(figure.stated, figure.speedup)


def _three(values: ByIdle | None) -> str:
    """The three ways in the order of GPU_IDLE; once where they are one, as for a unit that no SM waits for."""
    if values is None:
        return ""
    shown = [f"{values[mode]:.2f}" for mode in GPU_IDLE]
    return shown[0] if len(set(shown)) == 1 else " / ".join(shown)


def columns(readings: Iterable[str]) -> list[str]:
    head = ["energy, plain / with", "paper", "at speedup", "static at most", "replaced at least"]
    for reading in readings:
        head += [f"{reading}: {what}" for what in ("speedup", "saving", "ceiling", "static", "events")]
    return head


def energy_figures(runs: Sequence[StoredRuns], papers: Sequence[str]) -> list[Beside]:
    """Every figure of these papers under every reading."""
    return [
        Beside(figure, {each.reading: figure.measure(each) for each in runs})
        for figure in FIGURES
        if figure.paper in papers
    ]


def verdict(found: Sequence[Beside]) -> str:
    """What the table says, a sentence per reading."""
    return " ".join(verdicts(found))


def verdicts(found: Sequence[Beside]) -> list[str]:
    """The same, a sentence each."""
    parts = []
    for reading in found[0].ours if found else ():
        known = [(beside.figure, ours) for beside in found if (ours := beside.ours[reading]) is not None]
        stated = [(figure, ours) for figure, ours in known if figure.stated is not None]
        near = sum(bool(figure.near(ours)) for figure, ours in stated)
        out = sum(figure.possible(ours) is False for figure, ours in stated)
        parts.append(
            f"{reading}: {near} of {len(stated)} savings lie within 25 % of the paper's with waiting SMs power-gated; "
            f"{out} of the paper's are out of reach of any unit at its speedup on this board."
        )
    return parts


def write_energy_page(path: Path, found: Sequence[Beside]) -> None:
    """The table in a Markdown page, after its verdict."""
    table = "\n".join([head(columns(list(found[0].ours) if found else [])), *(line(each.cells()) for each in found)])
    put_between_marks(path, "energy claims", f"{as_list(verdicts(found))}\n\n{table}")


def write_energy_csv(path: Path, found: Sequence[Beside]) -> None:
    """The table with its verdict in the first line, as a comment."""
    readings = list(found[0].ours) if found else []
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {verdict(found)}\n")
        writer = csv.writer(file)
        writer.writerow([*columns(readings), "graphs"])
        for beside in found:
            graphs = dict.fromkeys(graph for ours in beside.ours.values() if ours is not None for graph in ours.graphs)
            writer.writerow([*beside.cells(), ", ".join(graphs)])
