"""How much memory traffic temporal coalescing could save (MFF paper, section 4 and Fig. 5).

PageRank's compute stage on the plain GPU, with `temporal_window` from 1 to 64: `simt/temporal_window.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warpsift.algorithms.operators.scheduling import COMPUTE_PHASE
from warpsift.graph import CsrGraph
from warpsift.report.pictures import save_picture
from warpsift.run.execute import run_request
from warpsift.run.launch_history import TRAFFIC
from warpsift.run.request import Request, make_request

WINDOWS = (1, 2, 4, 8, 16, 32, 64)
ARRAYS = {"C": "in_sources", "V": "shares"}  # of pagerank.vertex
PAPER_REDUCTION = {("amazon-2008", 16): 0.458}

Row = dict[str, Any]


def window_request(graph: str, window: int, choices: Mapping[str, Any]) -> Request:
    """One super-step of PageRank with this window; the next ones are alike."""
    asked = {"style": "vertex", "max_iterations": 1, "temporal_window": window, **choices}
    return make_request("pagerank", graph, asked)


def traffic_of(run: Mapping[str, Any]) -> Row:
    """Requests of a run for C and V, those that left the L1, and sectors from DRAM.

    Only the loop reads these arrays. That the commit stores V is among the requests, one for 32 nodes.
    """
    row: Row = {}
    for place, column in (("requests", "l1_transactions"), ("after_l1", "l1_read_misses"), ("after_l2", "dram_reads")):
        for short, name in ARRAYS.items():
            row[f"{place}_{short}"] = run["array_traffic"][name][TRAFFIC.index(column)]
        row[place] = row[f"{place}_C"] + row[f"{place}_V"]
    return row


def relative(rows: list[Row]) -> list[Row]:
    """Rows with their traffic normalised to the first."""
    for row in rows:
        for place in ("requests", "after_l1", "after_l2"):
            row[f"{place}_relative"] = row[place] / max(rows[0][place], 1)
    return rows


def study(
    graph: CsrGraph,
    windows: Iterable[int] = WINDOWS,
    gpu: str = "gtx480",
    overrides: Mapping[str, Any] | None = None,
    note: Callable[[str], None] = lambda text: None,
    reading: str | None = None,
) -> list[Row]:
    """One row per window: requests that leave L1 and sectors that come from DRAM, per array and normalised."""
    rows: list[Row] = []
    for window in windows:
        note(f"PageRank, window {window}")
        choices = {"gpu": gpu, "overrides": overrides or {}, "reading": reading, "check": False}
        run = run_request(window_request(graph.name, window, choices), graph).as_dict()
        compute = next(phase for phase in run["phases"] if phase["phase"] == COMPUTE_PHASE)
        rows.append({"graph": graph.name, "window": window, "cycles": compute["cycles"], **traffic_of(run)})
    return relative(rows)


def plot(rows: Sequence[Row], path: Path) -> None:
    """Fig. 5 (b): traffic against the window, normalised to the first window."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for graph in dict.fromkeys(row["graph"] for row in rows):
        mine = [row for row in rows if row["graph"] == graph]
        windows = [row["window"] for row in mine]
        for place, style in (("after_l1", "--"), ("after_l2", "-")):
            label = f"{graph}, {place.replace('_', ' ').replace('l', 'L')}"
            axes.plot(windows, [row[f"{place}_relative"] for row in mine], style, marker="o", label=label)
    axes.set_xscale("log", base=2)
    axes.set_xticks(WINDOWS, [str(window) for window in WINDOWS])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("window of temporal coalescing (warp-level operations)")
    axes.set_ylabel("requests for C and V (window 1 = 1)")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    save_picture(figure, path)
    plt.close(figure)
