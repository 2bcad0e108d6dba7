"""Fig. 12: what grouping does for coalescing, SSSP on the TX1, against the unit that only filters."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from warpsift.report.figures import COMMAND, Chart, Figure, PaperValue
from warpsift.report.provenance import command_of
from warpsift.run.request import Request
from warpsift.store.rows import geometric_mean
from warpsift.studies.scale import Scale
from warpsift.studies.scu.scu_means import MEAN
from warpsift.studies.scu.scu_runs import GRAPHS, request, result
from warpsift.sweep import Results

PAPER = 1.27  # section 6.3: "an average improvement of 27%"
FILTER_ONLY = {"scu.grouping": "false"}


def matrix(scale: Scale) -> list[Request]:
    return [r for graph in GRAPHS for seed in scale.sources(graph) for r in _pair(graph, seed, scale)]


def _pair(graph: str, seed: int, scale: Scale) -> tuple[Request, Request]:
    """Filtering only, and filtering with grouping."""
    only = request("sssp", graph, "tx1", "scu", scale, seed=seed, overrides=FILTER_ONLY)
    return only, request("sssp", graph, "tx1", "scu", scale, seed=seed)


def lines(run: dict[str, Any]) -> float:
    return float(run["transactions_per_memory_instruction"])


def sectors(run: dict[str, Any]) -> float:
    return float(run["sectors"] / run["memory_instructions"])


# The paper does not say what it counts. GPGPU-Sim's coalescer makes 32-byte requests when configured for Maxwell, which
# both of the paper's GPUs are; a group shares a line, so it gains less in sectors (docs/scu.md).
COUNTED: dict[str, Callable[[dict[str, Any]], float]] = {"128-byte lines": lines, "32-byte sectors": sectors}


def figure(results: Results, scale: Scale) -> Figure:
    rows: list[dict[str, Any]] = []
    for counted, measure in COUNTED.items():
        found = []
        for graph in GRAPHS:
            pairs = [_pair(graph, seed, scale) for seed in scale.sources(graph)]
            gains = [measure(result(results, only)) / measure(result(results, both)) for only, both in pairs]
            spread = statistics.stdev(gains) if len(gains) > 1 else 0.0
            found.append(statistics.fmean(gains))
            row = {"graph": graph, "counted": counted, "value": found[-1], "spread": spread}
            rows.append(row | {COMMAND: command_of(pairs[0][1])})
        rows.append({"graph": MEAN, "counted": counted, "value": geometric_mean(found), "spread": 0.0})
    return Figure(
        "Coalescing gained by grouping, SSSP on tx1",
        Chart(
            "bars",
            x="graph",
            y="value",
            series="counted",
            error="spread",
            y_label="filter only / filter and group",
            reference=1,
            better="higher",
        ),
        rows,
        "SCU paper, Fig. 12",
        [
            PaperValue(f"mean improvement, in {counted}", PAPER, {"graph": MEAN, "counted": counted})
            for counted in COUNTED
        ],
        ["Transactions per memory instruction, over all kernels that are left to the GPU."],
        name="scu-fig12",
    )
