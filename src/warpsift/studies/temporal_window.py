"""How much memory traffic temporal coalescing could save (MFF paper, section 4 and Fig. 5).

PageRank's compute stage runs on the plain GPU, but of every `window` consecutive warp-level loads of the arrays C and
V of one warp each line is asked for once. What is left passes through L1, MSHRs, network, L2 and DRAM of the timing
engine as always. A window of 1 is the plain GPU itself. The stream is the very one that the plain GPU runs; only
repeated line requests inside a window are taken out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from warpsift.algorithms.operators.scheduling import COMPUTE_PHASE
from warpsift.graph import CsrGraph
from warpsift.report.pictures import save_picture
from warpsift.run.execute import run_request
from warpsift.run.observer import Observer
from warpsift.run.request import make_request
from warpsift.simt import Chunk, LaunchInfo, Sink
from warpsift.simt.stream import LINE_SHIFT, LOAD, UnitOperation

WINDOWS = (1, 2, 4, 8, 16, 32, 64)
ARRAYS = {"C": "in_sources", "V": "shares"}  # of pagerank.vertex
PAPER_REDUCTION = {("amazon-2008", 16): 0.458}

Row = dict[str, Any]


@njit(cache=True)
def _coalesce(kind, array, first, count, transactions, warp_first, tags, window):
    """Drop requests for lines that the same warp has asked for in the same window; new first, count, transactions."""
    new_first = first.copy()
    new_count = count.copy()
    kept = np.empty(transactions.size, np.int64)
    used = 0
    seen = np.empty(window * 64, np.int64)
    for w in range(warp_first.size - 1):
        loads = 0
        known = 0
        for k in range(warp_first[w], warp_first[w + 1]):
            if count[k] == 0 or kind[k] > 3 or kind[k] == 0:  # no line transactions
                continue
            start = used
            mine = kind[k] == LOAD and (array[k] == tags[0] or array[k] == tags[1])
            if mine and loads % window == 0:
                known = 0
            for j in range(first[k], first[k] + count[k]):
                line = transactions[j] >> LINE_SHIFT
                found = False
                if mine:
                    for n in range(known):
                        if seen[n] == line:
                            found = True
                            break
                    if not found:
                        seen[known] = line
                        known += 1
                if not found:
                    kept[used] = transactions[j]
                    used += 1
            if mine:
                loads += 1
            new_first[k] = start
            new_count[k] = used - start
    return new_first, new_count, kept[:used]


class Windowed:
    """A sink in front of another: coalesces the loads of two arrays over a window of warp-level operations."""

    def __init__(self, sink: Sink, window: int, arrays: Sequence[str] = tuple(ARRAYS.values())) -> None:
        if window < 1:
            raise ValueError(f"a window holds at least 1 operation, not {window}")
        self._sink = sink
        self._window = window
        self._arrays = arrays
        self._tags = np.full(2, -1)

    def begin(self, launch: LaunchInfo) -> None:
        if launch.phase == COMPUTE_PHASE:
            self._tags = np.array([launch.arrays.index(name) for name in self._arrays])
        else:
            self._tags = np.full(2, -1)
        self._sink.begin(launch)

    def chunk(self, chunk: Chunk) -> None:
        ops = chunk.ops.copy()
        kind, array, first, count = (ops[name] for name in ("kind", "array", "first", "transactions"))
        warps = (chunk.transactions, chunk.warp_first)
        first, count, kept = _coalesce(kind, array, first, count, *warps, self._tags, self._window)
        ops["first"], ops["transactions"] = first, count
        self._sink.chunk(replace(chunk, ops=ops, transactions=kept))

    def end(self) -> None:
        self._sink.end()

    def operation(self, operation: UnitOperation) -> None:
        self._sink.operation(operation)


def study(
    graph: CsrGraph,
    windows: Iterable[int] = WINDOWS,
    gpu: str = "gtx480",
    overrides: Mapping[str, Any] | None = None,
    note: Callable[[str], None] = lambda text: None,
    reading: str | None = None,
) -> list[Row]:
    """One row per window: requests that leave L1 and sectors that come from DRAM, per array and normalised."""
    asked = {"gpu": gpu, "overrides": overrides or {}, "style": "vertex", "max_iterations": 1, "check": False}
    request = make_request("pagerank", graph.name, asked | {"reading": reading})
    rows: list[Row] = []
    for window in windows:
        note(f"PageRank, window {window}")
        engine = run_request(request, graph, Observer(before_engine=partial(Windowed, window=window))).engine
        launch = next(result for result in engine.launches if result.launch.phase == COMPUTE_PHASE)
        row: Row = {"graph": graph.name, "window": window, "cycles": launch.counters.cycles}
        for short, name in ARRAYS.items():
            traffic = launch.arrays[name]
            row[f"requests_{short}"] = traffic["l1_transactions"]
            row[f"after_l1_{short}"] = traffic["l1_read_misses"]
            row[f"after_l2_{short}"] = traffic["dram_reads"]
        for place in ("requests", "after_l1", "after_l2"):
            row[place] = row[f"{place}_C"] + row[f"{place}_V"]
        rows.append(row)
        engine.close()
    for row in rows:
        for place in ("requests", "after_l1", "after_l2"):
            row[f"{place}_relative"] = row[place] / max(rows[0][place], 1)
    return rows


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
