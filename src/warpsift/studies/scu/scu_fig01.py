"""Fig. 1: the share of the time, and of the energy, that the plain GPU spends in stream compaction.

As in the paper, kernels are split to show it: BFS contraction runs as flags and compaction in separate launches.
"""

from __future__ import annotations

from typing import Any

from warpsift.report.figures import Chart, Figure, PaperValue
from warpsift.run.request import Request
from warpsift.studies.sampled_spread import mean_over_graphs
from warpsift.studies.scale import Scale
from warpsift.studies.scu.scu_runs import ALGORITHMS, GPUS, GRAPHS, request, result, seeds
from warpsift.sweep import Results

LOWEST, HIGHEST = 0.25, 0.55  # paper, section 1: "between 25% to 55% of the total execution time"
ENERGY = 0.45  # section 1: "more than 45% of the energy consumption"


def split_kernels(algorithm: str) -> dict[str, Any]:
    """BFS contraction writes flags and compacts in a launch of its own, without a filter in front."""
    return {"split_kernels": True, "filter_kernel": False} if algorithm == "bfs" else {}


def _request(algorithm: str, graph: str, gpu: str, seed: int, scale: Scale) -> Request:
    return request(algorithm, graph, gpu, "none", scale, seed=seed, **split_kernels(algorithm))


def matrix(scale: Scale) -> list[Request]:
    return [
        _request(algorithm, graph, gpu, seed, scale)
        for gpu in GPUS
        for algorithm in ALGORITHMS
        for graph in GRAPHS
        for seed in seeds(algorithm, graph, scale)
    ]


def share(run: dict[str, Any], column: str) -> float:
    """Of a run's cycles or joules, the part in phases that compact."""
    parts = {True: 0.0, False: 0.0}
    for phase in run["phases"]:
        parts[phase["compaction"]] += phase[column]
    return parts[True] / sum(parts.values())


def figure(results: Results, scale: Scale) -> Figure:
    rows: list[dict[str, Any]] = []
    for what, column in (("time", "cycles"), ("energy", "energy_joules")):
        for gpu in GPUS:
            for algorithm in ALGORITHMS:
                shares = [
                    [
                        share(result(results, _request(algorithm, graph, gpu, seed, scale)), column)
                        for seed in seeds(algorithm, graph, scale)
                    ]
                    for graph in GRAPHS
                ]
                value, spread = mean_over_graphs(shares)
                rows.append({"what": what, "gpu": gpu, "algorithm": algorithm, "value": value, "spread": spread})
    time = [row["value"] for row in rows if row["what"] == "time"]
    energy = [row["value"] for row in rows if row["what"] == "energy"]
    return Figure(
        "Share of time and energy in stream compaction, plain GPU",
        Chart(
            "bars",
            x="algorithm",
            y="value",
            series="gpu",
            facet="what",
            error="spread",
            y_label="share",
            y_format="percent",
        ),
        rows,
        "SCU paper, Fig. 1",
        [
            PaperValue("time, lowest", LOWEST, ours=min(time)),
            PaperValue("time, highest", HIGHEST, ours=max(time)),
            PaperValue("energy, lowest (the paper: more than)", ENERGY, ours=min(energy)),
        ],
        [
            "Mean over the six graphs. Expansion counts as compaction, as the whole of it is what the unit takes over.",
            "Kernels are split to show this, as in the paper: BFS contraction writes flags and compacts in a launch "
            "of its own. Error bars: one standard deviation over seeded sources.",
        ],
        name="scu-fig01",
    )
