"""Larger caches instead of a fast-forward unit (MFF paper, section 6.2).

L1 and L2 are scaled by 1 to 16, at unchanged latency (the paper's "ideal condition"), and their speedup over the plain
GPU is set against the unit's. The paper: 16 x L1 (256 KB) reaches 71 % of the unit's speedup, L2 less; in reality that
L1 would take 5.3 x the active and 15.7 x the static power and 2.3 x the time of the 16 KB one, which is a check of our
CACTI tables.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warpsift.graph import CsrGraph
from warpsift.machines import load_machine
from warpsift.report.pictures import save_picture
from warpsift.studies.larger_l1_price import price_of_l1
from warpsift.studies.mff.mff_measurements import Row, measure

FACTORS = (1, 2, 4, 8, 16)
__all__ = ["plot", "price_of_l1", "study"]
PAPER = {"l1_share_of_mff": 0.71, "active_power": 5.3, "static_power": 15.7, "latency": 2.3}


def study(
    graph: CsrGraph,
    algorithms: Iterable[str] = ("pagerank",),
    gpu: str = "gtx480",
    choices: Mapping[str, Any] | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> list[Row]:
    """Rows of cache, factor, cycles, speedup over the plain GPU, and its share of the unit's speedup.

    `choices` are those of a request: overrides, max_iterations, ...
    """
    asked = {"gpu": gpu, **(choices or {})}
    overrides = asked.get("overrides") or {}
    plain = load_machine(gpu, overrides)
    rows: list[Row] = []
    for name in algorithms:
        chosen = asked | ({"max_iterations": 1} if name == "pagerank" else {})  # all super-steps are alike
        note(f"{name} on the plain GPU and with the MFF")
        base = measure(graph, name, "plain", chosen)
        unit = measure(graph, name, "mff", chosen)
        rows.append(_row(base, unit, base, "mff", 1, unit))
        for cache, factor in itertools.product(("l1", "l2"), FACTORS):
            setting = {**overrides, f"{cache}.size_bytes": getattr(plain, cache).size_bytes * factor}
            mine = base
            if factor > 1:
                note(f"{name} with {factor} x {cache.upper()}")
                mine = measure(graph, name, "plain", chosen | {"overrides": setting})
            rows.append(_row(base, unit, mine, cache, factor, mine))
    return rows


def _row(base: Row, unit: Row, mine: Row, cache: str, factor: int, measured: Row) -> Row:
    speedup = base["cycles"] / measured["cycles"]
    return {
        "graph": mine["graph"],
        "algorithm": mine["algorithm"],
        "instead": cache,
        "factor": factor,
        "cycles": measured["cycles"],
        "dram_bytes": measured["dram_bytes"],
        "speedup": speedup,
        "share_of_mff": speedup / (base["cycles"] / unit["cycles"]),
    }


def plot(rows: Sequence[Row], path: Path) -> None:
    """Speedup against the scaling factor, one line per cache, the unit as a level."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        mine = [row for row in rows if row["algorithm"] == name]
        for cache in ("l1", "l2"):
            line = [row for row in mine if row["instead"] == cache]
            label = f"{name}, {cache.upper()} scaled"
            axes.plot([r["factor"] for r in line], [r["speedup"] for r in line], marker="o", label=label)
        unit = next(row for row in mine if row["instead"] == "mff")
        axes.axhline(unit["speedup"], linestyle="--", color="black", label=f"{name}, fast-forward unit")
    axes.set_xscale("log", base=2)
    axes.set_xticks(FACTORS, [f"{factor}x" for factor in FACTORS])
    axes.set_xlabel("size of the cache, latency unchanged")
    axes.set_ylabel("speedup over the plain GPU")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    save_picture(figure, path)
    plt.close(figure)
