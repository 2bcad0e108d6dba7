"""Fig. 10: speedup of the compute stage with the MFF."""

from __future__ import annotations

from warpsift.report.figures import Figure, PaperValue
from warpsift.run.request import Request
from warpsift.studies.mff.mff_runs import MEAN, PLAIN, SAME_OCCUPANCY, bars_by_algorithm, evaluation, ratio_rows
from warpsift.studies.scale import Scale
from warpsift.sweep import Results

PAPER = {"pagerank": 1.75, "bfs": 5.22}  # section 6.2: the least and the most; SSSP and WCC lie between


def matrix(scale: Scale) -> list[Request]:
    return evaluation(scale)


def figure(results: Results, scale: Scale) -> Figure:
    rows = []
    for label, base in (("over the plain GPU", PLAIN), ("over the plain GPU at equal occupancy", SAME_OCCUPANCY)):
        found = ratio_rows(results, scale, base, lambda plain, unit: plain["cycles"] / max(unit["cycles"], 1))
        rows += [{"baseline": label, **row} for row in found]
    claims = [
        PaperValue(
            f"{algorithm}, mean speedup",
            value,
            {"algorithm": algorithm, "graph": MEAN, "baseline": "over the plain GPU at equal occupancy"},
        )
        for algorithm, value in PAPER.items()
    ]
    return Figure(
        "Speedup with the MFF",
        bars_by_algorithm("speedup", "higher"),
        rows,
        "MFF paper, Fig. 10",
        claims,
        [
            "Compute stage only. The targets in shared memory leave 12 warps per SM; the baseline runs at full "
            "occupancy and at that one (the paper speaks of 120 to 240 warps in all).",
            f"PageRank: {scale.iterations} iterations, which all do the same work. Error bars: one standard deviation "
            "over seeded sources of BFS and SSSP.",
        ],
        name="mff-fig10",
    )
