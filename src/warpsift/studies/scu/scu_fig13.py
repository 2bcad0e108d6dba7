"""Fig. 13: memory bandwidth used, of the peak, with and without the SCU."""

from __future__ import annotations

from warpsift.report.figures import Chart, Figure
from warpsift.run.request import Request
from warpsift.studies.sampled_spread import mean_over_graphs
from warpsift.studies.scale import Scale
from warpsift.studies.scu.scu_runs import ALGORITHMS, GPUS, GRAPHS, best_unit, evaluation, request, result, seeds
from warpsift.sweep import Results


def matrix(scale: Scale) -> list[Request]:
    return evaluation(scale)


def figure(results: Results, scale: Scale) -> Figure:
    rows = []
    for gpu in GPUS:
        for algorithm in ALGORITHMS:
            for label, unit in (("GPU", "none"), ("GPU + SCU", best_unit(algorithm))):
                used = [
                    [
                        result(results, request(algorithm, graph, gpu, unit, scale, seed=seed))["bandwidth_utilisation"]
                        for seed in seeds(algorithm, graph, scale)
                    ]
                    for graph in GRAPHS
                ]
                value, spread = mean_over_graphs(used)
                row = {"gpu": gpu, "algorithm": algorithm, "system": label, "value": value}
                rows.append(row | {"spread": spread})
    return Figure(
        "Bandwidth utilisation",
        Chart(
            "bars",
            x="algorithm",
            y="value",
            series="system",
            facet="gpu",
            error="spread",
            y_label="of peak bandwidth",
            y_format="percent",
        ),
        rows,
        "SCU paper, Fig. 13",
        (),
        [
            "The paper's text gives no numbers: with the SCU utilisation falls on the GTX 980 and rises on the TX1 "
            "for BFS and SSSP.",
            "Mean over the six graphs; error bars: one standard deviation over seeded sources.",
        ],
        name="scu-fig13",
    )
