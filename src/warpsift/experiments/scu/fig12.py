"""Fig. 12: what grouping does for coalescing, SSSP on the TX1, against the unit that only filters."""

from __future__ import annotations

import statistics
from typing import Any

from warpsift.experiments.scale import Scale
from warpsift.experiments.scu.means import MEAN
from warpsift.experiments.scu.runs import GRAPHS, request, result
from warpsift.report.figures import COMMAND, Chart, Figure, PaperValue
from warpsift.report.provenance import command_of
from warpsift.request import Request
from warpsift.results.rows import geometric_mean
from warpsift.sweep import Results

PAPER = 1.27  # section 6.3: "an average improvement of 27%"
FILTER_ONLY = {"scu.grouping": "false"}


def matrix(scale: Scale) -> list[Request]:
    return [r for graph in GRAPHS for seed in scale.seeds for r in _pair(graph, seed, scale)]


def _pair(graph: str, seed: int, scale: Scale) -> tuple[Request, Request]:
    """Filtering only, and filtering with grouping."""
    only = request("sssp", graph, "tx1", "scu", scale, seed=seed, overrides=FILTER_ONLY)
    return only, request("sssp", graph, "tx1", "scu", scale, seed=seed)


def figure(results: Results, scale: Scale) -> Figure:
    rows: list[dict[str, Any]] = []
    for graph in GRAPHS:
        gains = []
        for seed in scale.seeds:
            only, both = (result(results, r)["transactions_per_memory_instruction"] for r in _pair(graph, seed, scale))
            gains.append(only / both)
        spread = statistics.stdev(gains) if len(gains) > 1 else 0.0
        rerun = command_of(_pair(graph, scale.seeds[0], scale)[1])
        rows.append({"graph": graph, "value": statistics.fmean(gains), "spread": spread, COMMAND: rerun})
    rows.append({"graph": MEAN, "value": geometric_mean(row["value"] for row in rows), "spread": 0.0})
    return Figure(
        "Coalescing gained by grouping, SSSP on tx1",
        Chart(
            "bars",
            x="graph",
            y="value",
            error="spread",
            y_label="transactions per memory instruction, filter only / filter and group",
            reference=1,
        ),
        rows,
        "SCU paper, Fig. 12",
        [PaperValue("mean improvement", PAPER, {"graph": MEAN})],
        ["Transactions per memory instruction over all kernels that are left to the GPU."],
        name="scu-fig12",
    )
