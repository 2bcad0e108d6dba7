"""Sections 4.4, 4.5 and 6.3: how much of the GPU's work filtering removes."""

from __future__ import annotations

from typing import Any

from warpsift.report.figures import Chart, Figure, PaperValue
from warpsift.run.request import Request
from warpsift.studies.scale import Scale
from warpsift.studies.scu.scu_means import MEAN, mean_of, ratio_rows
from warpsift.studies.scu.scu_runs import GPUS, best_unit, evaluation
from warpsift.sweep import Results

PAPER_LEFT = {"bfs": 0.14, "sssp": 0.22}  # nodes and edges left after filtering
PAPER_INSTRUCTIONS_LEFT = {"bfs": 1 - 0.71, "sssp": 1 - 0.76}  # on the TX1


def matrix(scale: Scale) -> list[Request]:
    return [r for r in evaluation(scale) if r.algorithm != "pagerank"]


def elements(run: dict[str, Any]) -> float:
    """Elements of the frontiers that the GPU works on."""
    return run["notes"].get("frontier_elements") or run["work"]["nodes_processed"] + run["work"]["edges_touched"]


def figure(results: Results, scale: Scale) -> Figure:
    left = ratio_rows(results, scale, best_unit, lambda plain, unit: elements(unit) / elements(plain))
    instructions = ratio_rows(
        results, scale, best_unit, lambda plain, unit: unit["warp_instructions"] / plain["warp_instructions"]
    )
    rows = [
        {"what": what, **row}
        for what, found in (("frontier elements", left), ("GPU instructions", instructions))
        for row in found
        if row["algorithm"] != "pagerank" and row["gpu"] == "tx1"
    ]
    claims = []
    for algorithm in ("bfs", "sssp"):
        mine = [mean_of(left, gpu=gpu, algorithm=algorithm, graph=MEAN) for gpu in GPUS]
        value = PAPER_LEFT[algorithm]
        claims.append(PaperValue(f"{algorithm}: frontier elements left, both GPUs", value, ours=sum(mine) / 2, line=1))
        here = mean_of(instructions, gpu="tx1", algorithm=algorithm, graph=MEAN)
        paper = PAPER_INSTRUCTIONS_LEFT[algorithm]
        claims.append(PaperValue(f"{algorithm}: GPU instructions left, tx1", paper, ours=here, line=1))
    return Figure(
        "GPU work left with the enhanced SCU (tx1)",
        Chart(
            "bars",
            x="graph",
            y="value",
            series="algorithm",
            facet="what",
            error="spread",
            y_label="of the plain GPU's",
            y_format="percent",
            better="lower",
        ),
        rows,
        "SCU paper, sections 4.4, 4.5, 6.3",
        claims,
        ["Includes what leaves the GPU with compaction itself, not only what filtering removes."],
        name="scu-workload",
    )
