"""Fig. 5: memory traffic against the window of temporal coalescing, PageRank, arrays C and V."""

from __future__ import annotations

from typing import Any

from warpsift.report.figures import Chart, Figure, PaperValue
from warpsift.run.request import Request
from warpsift.studies.mff.mff_runs import GPU
from warpsift.studies.scale import Scale
from warpsift.studies.window_study import PAPER_REDUCTION, WINDOWS, relative, traffic_of, window_request
from warpsift.sweep import Results

GRAPHS = ("dblp-2010", "cnr-2000", "amazon-2008")  # three graphs, as in the paper's figure
PLACES = {"leaving L1": "after_l1_relative", "from DRAM": "after_l2_relative"}


def _request(graph: str, window: int, scale: Scale) -> Request:
    return window_request(scale.graph(graph), window, {"gpu": GPU, "reading": scale.reading})


def matrix(scale: Scale) -> list[Request]:
    return [_request(graph, window, scale) for graph in GRAPHS for window in WINDOWS]


def figure(results: Results, scale: Scale) -> Figure:
    rows: list[dict[str, Any]] = []
    for name in GRAPHS:
        traffic = (traffic_of(results[_request(name, window, scale)].result or {}) for window in WINDOWS)
        found = relative([{"window": window, **each} for window, each in zip(WINDOWS, traffic, strict=True)])
        for place, column in PLACES.items():
            rows += [{"place": place, "graph": name, "window": row["window"], "value": row[column]} for row in found]
    claims = [
        PaperValue(
            f"{graph}, window {window}, {place}", 1 - reduction, {"place": place, "graph": graph, "window": window}
        )
        for place in PLACES
        for (graph, window), reduction in PAPER_REDUCTION.items()
    ]
    return Figure(
        "Memory traffic after L1 and L2 against the temporal window",
        Chart(
            "lines",
            x="window",
            y="value",
            series="graph",
            facet="place",
            x_label="window, warp-level operations",
            y_label="requests for C and V, window 1 = 1",
            log_x=True,
            better="lower",
        ),
        rows,
        "MFF paper, Fig. 5",
        claims,
        ["A window of 1 is the plain GPU with its MSHRs and caches."],
        commands=["warpsift study temporal-window --graph amazon-2008"],
        name="mff-fig05",
    )
