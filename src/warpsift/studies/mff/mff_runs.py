"""The runs that the MFF paper's figures share: four algorithms on five graphs on a GTX 480, with and without the unit.

Compared is the compute stage of the super-steps; vertex scheduling is not measured in the paper (section 6.1).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any, Literal

from warpsift.algorithms.operators.scheduling import COMPUTE_PHASE
from warpsift.report.figures import COMMAND, Chart
from warpsift.report.provenance import command_of
from warpsift.run.request import Request, make_request
from warpsift.studies.mff.mff_measurements import figures
from warpsift.studies.sampled_spread import sampled_half, with_sampling
from warpsift.studies.scale import Scale
from warpsift.sweep import Results

GRAPHS = ("dblp-2010", "dblp-2011", "cnr-2000", "amazon-2008", "dewiki-2013")  # table 2
LARGEST = ("dewiki-2013",)  # six times the arcs of the next
ALGORITHMS = ("pagerank", "bfs", "sssp", "wcc")
GPU = "gtx480"
LIMITS = {"sssp": 12, "wcc": 4}  # super-steps timed: the rest are like them, and full runs take hours
MEAN = "mean"
PLAIN, SAME_OCCUPANCY, UNIT = "plain GPU", "plain GPU at the unit's occupancy", "with the MFF"
Row = dict[str, Any]


def request(algorithm: str, graph: str, system: str, scale: Scale, **changes: Any) -> Request:
    """One run of one of the three systems."""
    choices: dict[str, Any] = {"gpu": GPU, "style": "vertex", "unit": "mff" if system == UNIT else "none", **changes}
    choices |= {"reading": scale.reading, "sample": scale.sample}
    if system != UNIT:  # both are shown, whatever the reading says
        choices["occupancy"] = "target" if system == SAME_OCCUPANCY else "full"
    if algorithm == "pagerank":
        choices["max_iterations"] = scale.iterations
    elif algorithm in LIMITS:
        choices["max_iterations"] = LIMITS[algorithm]
    return make_request(algorithm, scale.graph(graph), choices)


def seeds(algorithm: str, graph: str, scale: Scale) -> tuple[int, ...]:
    """BFS and SSSP start from several seeded sources; PageRank and WCC have none."""
    return scale.sources(graph) if algorithm in ("bfs", "sssp") else scale.seeds[:1]


def evaluation(scale: Scale) -> list[Request]:
    return [
        request(algorithm, graph, system, scale, seed=seed)
        for graph in GRAPHS
        for algorithm in ALGORITHMS
        for seed in seeds(algorithm, graph, scale)
        for system in (PLAIN, SAME_OCCUPANCY, UNIT)
    ]


def compute_stage(results: Results, wanted: Request) -> Row:
    """Cycles, traffic, stalls and energy of the compute stage alone."""
    from warpsift.engine.counters import Counters, total_of
    from warpsift.run.set_up import machine_of

    found = results[wanted].result or {}
    phases = [phase for phase in found["phases"] if phase["phase"] == COMPUTE_PHASE]
    total = total_of(Counters(phase["counters"]) for phase in phases)
    machine = machine_of(wanted)
    assert machine is not None, "every run of these figures is timed"
    return figures(total, machine, wanted.unit)


def bars_by_algorithm(y_label: str, better: Literal["higher", "lower"]) -> Chart:
    """Graphs side by side, a bar per algorithm, a panel per baseline, the plain GPU at 1."""
    return Chart(
        "bars",
        x="graph",
        y="value",
        series="algorithm",
        facet="baseline",
        error="spread",
        y_label=y_label,
        reference=1,
        better=better,
    )


def ratio_rows(results: Results, scale: Scale, base: str, measure: Callable[[Row, Row], float]) -> list[Row]:
    """One row per algorithm and graph, and the mean over the graphs; `measure` takes the baseline and the unit.

    A row is the mean over sources, with their standard deviation as `spread`.
    """
    rows: list[Row] = []
    for algorithm in ALGORITHMS:
        means = []
        for graph in GRAPHS:
            values, halves = [], []
            for seed in seeds(algorithm, graph, scale):
                plain = request(algorithm, graph, base, scale, seed=seed)
                unit = request(algorithm, graph, UNIT, scale, seed=seed)
                values.append(measure(compute_stage(results, plain), compute_stage(results, unit)))
                both = [results[plain].result or {}, results[unit].result or {}]
                halves.append(values[-1] * sampled_half(both))
            means.append(statistics.fmean(values))
            spread = with_sampling(values, halves)
            row = {"algorithm": algorithm, "graph": graph, "value": means[-1], "spread": spread}
            rows.append(row | {COMMAND: command_of(unit)})
        rows.append({"algorithm": algorithm, "graph": MEAN, "value": statistics.fmean(means), "spread": 0.0})
    return rows


def totals(results: Results, scale: Scale, system: str, columns: tuple[str, ...]) -> Row:
    """Sums over all algorithms, graphs and sources."""
    stages = [
        compute_stage(results, request(algorithm, graph, system, scale, seed=seed))
        for algorithm in ALGORITHMS
        for graph in GRAPHS
        for seed in seeds(algorithm, graph, scale)
    ]
    return {column: sum(stage[column] for stage in stages) for column in columns}


def overall(rows: list[Row]) -> float:
    """Mean over all algorithms and graphs."""
    return statistics.fmean(row["value"] for row in rows if row["graph"] != MEAN)
