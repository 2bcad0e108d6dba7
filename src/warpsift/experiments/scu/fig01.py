"""Fig. 1: the share of the time that the plain GPU spends in stream compaction.

As in the paper, kernels are split to show it: BFS contraction runs as flags and compaction in separate launches.
"""

from __future__ import annotations

import statistics
from typing import Any

from warpsift.experiments.scale import Scale
from warpsift.experiments.scu.runs import ALGORITHMS, GPUS, GRAPHS, request, result, seeds
from warpsift.report.figures import Chart, Figure, PaperValue
from warpsift.request import Request
from warpsift.sweep import Results

LOWEST, HIGHEST = 0.25, 0.55  # paper, section 1: "between 25% to 55% of the total execution time"


def _request(algorithm: str, graph: str, gpu: str, seed: int, scale: Scale) -> Request:
    split = {"split_kernels": True} if algorithm == "bfs" else {}
    return request(algorithm, graph, gpu, "none", scale, seed=seed, **split)


def matrix(scale: Scale) -> list[Request]:
    return [
        _request(algorithm, graph, gpu, seed, scale)
        for gpu in GPUS
        for algorithm in ALGORITHMS
        for graph in GRAPHS
        for seed in seeds(algorithm, scale)[:1]
    ]


def figure(results: Results, scale: Scale) -> Figure:
    rows: list[dict[str, Any]] = []
    for gpu in GPUS:
        for algorithm in ALGORITHMS:
            shares = []
            for graph in GRAPHS:
                run = result(results, _request(algorithm, graph, gpu, seeds(algorithm, scale)[0], scale))
                cycles = {True: 0.0, False: 0.0}
                for phase in run["phases"]:
                    cycles[phase["compaction"]] += phase["cycles"]
                shares.append(cycles[True] / sum(cycles.values()))
            rows.append({"gpu": gpu, "algorithm": algorithm, "value": statistics.fmean(shares)})
    ours = [row["value"] for row in rows]
    return Figure(
        "Share of time in stream compaction, plain GPU",
        Chart("bars", x="algorithm", y="value", series="gpu", y_label="share of time", y_format="percent"),
        rows,
        "SCU paper, Fig. 1",
        [PaperValue("lowest", LOWEST, ours=min(ours)), PaperValue("highest", HIGHEST, ours=max(ours))],
        [
            "Mean over the six graphs. Expansion counts as compaction, as the whole of it is what the unit takes over.",
            "Kernels are split to show this, as in the paper: BFS contraction writes flags and compacts in a launch "
            "of its own.",
        ],
        name="scu-fig01",
    )
