"""Means and spreads over sources, and means over graphs.

Which mean: over sources of one graph, arithmetic with the standard deviation as error bar; over graphs, geometric, as
ratios want it. The paper does not say which it uses.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any

from warpsift.report.figures import COMMAND, Chart, PaperValue
from warpsift.report.provenance import command_of
from warpsift.store.rows import geometric_mean
from warpsift.studies.sampled_spread import sampled_half, with_sampling
from warpsift.studies.scale import Scale
from warpsift.studies.scu.scu_runs import ALGORITHMS, GPUS, GRAPHS, request, result, seeds
from warpsift.sweep import Results

MEAN = "mean"
Measure = Callable[[dict[str, Any], dict[str, Any]], float]  # baseline, with the unit


def ratio_rows(results: Results, scale: Scale, unit_of: Callable[[str], str], measure: Measure) -> list[dict[str, Any]]:
    """One row per GPU, algorithm and graph, and a geometric mean over the graphs."""
    rows = []
    for gpu in GPUS:
        for algorithm in ALGORITHMS:
            found = []
            for graph in GRAPHS:
                values, halves = [], []
                for seed in seeds(algorithm, graph, scale):
                    with_unit = request(algorithm, graph, gpu, unit_of(algorithm), scale, seed=seed)
                    plain = request(algorithm, graph, gpu, "none", scale, seed=seed)
                    both = [result(results, plain), result(results, with_unit)]
                    values.append(measure(*both))
                    halves.append(values[-1] * sampled_half(both))
                found.append(statistics.fmean(values))
                spread = with_sampling(values, halves)
                row = {"gpu": gpu, "algorithm": algorithm, "graph": graph, "value": found[-1], "spread": spread}
                rows.append(row | {COMMAND: command_of(with_unit)})
            rows.append(
                {"gpu": gpu, "algorithm": algorithm, "graph": MEAN, "value": geometric_mean(found), "spread": 0.0}
            )
    return rows


def bars_by_graph(y_label: str) -> Chart:
    """Graphs side by side, a bar per algorithm, a panel per GPU, the plain GPU at 1, a gain above."""
    return Chart(
        "bars",
        x="graph",
        y="value",
        series="algorithm",
        facet="gpu",
        error="spread",
        y_label=y_label,
        reference=1,
        better="higher",
    )


def paper_means(values: dict[tuple[str, str], float], what: str) -> list[PaperValue]:
    """The paper's means by GPU and algorithm, marked at our means."""
    return [
        PaperValue(f"{algorithm} on {gpu}, {what}", value, {"gpu": gpu, "algorithm": algorithm, "graph": MEAN})
        for (gpu, algorithm), value in values.items()
    ]


def mean_of(rows: Iterable[dict[str, Any]], **where: Any) -> float:
    """Our value at one place of a figure."""
    return next(row["value"] for row in rows if all(row[k] == v for k, v in where.items()))
