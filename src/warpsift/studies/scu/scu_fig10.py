"""Fig. 10: speedup of the GPU with the SCU over the plain GPU."""

from __future__ import annotations

from warpsift.report.figures import Figure, PaperValue
from warpsift.run.request import Request
from warpsift.store.rows import geometric_mean
from warpsift.studies.scale import Scale
from warpsift.studies.scu.scu_means import MEAN, bars_by_graph, mean_of, paper_means, ratio_rows
from warpsift.studies.scu.scu_runs import GPUS, best_unit, evaluation
from warpsift.sweep import Results

# Section 6.2; PageRank on the GTX 980 "incurs a small slowdown" without a number.
PAPER = {
    ("gtx980", "bfs"): 1.41,
    ("gtx980", "sssp"): 1.65,
    ("tx1", "bfs"): 3.83,
    ("tx1", "sssp"): 3.24,
    ("tx1", "pagerank"): 1.05,
}
PAPER_AVERAGE = {"gtx980": 1.37, "tx1": 2.32}


def matrix(scale: Scale) -> list[Request]:
    return evaluation(scale)


def figure(results: Results, scale: Scale) -> Figure:
    rows = ratio_rows(results, scale, best_unit, lambda plain, unit: plain["seconds"] / unit["seconds"])
    averages = []
    for gpu in GPUS:
        ours = geometric_mean(mean_of(rows, gpu=gpu, algorithm=a, graph=MEAN) for a in ("bfs", "sssp", "pagerank"))
        averages.append(PaperValue(f"average of the three algorithms on {gpu}", PAPER_AVERAGE[gpu], ours=ours, line=1))
    return Figure(
        "Speedup with the SCU",
        bars_by_graph("speedup"),
        rows,
        "SCU paper, Fig. 10",
        [*paper_means(PAPER, "speedup"), *averages],
        [
            "Mean over graphs: geometric. Error bars: one standard deviation over seeded sources.",
            f"PageRank: {scale.iterations} iterations are timed; all iterations do the same work.",
        ],
        name="scu-fig10",
    )
