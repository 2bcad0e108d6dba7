"""The savings of docs/energy.md: small stand-ins of the papers' graphs, three ways to count waiting SMs, the ceilings.

    python -m warpsift.studies.energy_savings      (minutes)

Means over graphs are geometric. The ceiling is what the paper's speedup allows at the static share of our plain runs if
nothing is gated; no model of a unit enters it.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterable
from typing import Any

from warpsift.costs.ceilings import reduction_limit
from warpsift.costs.energy import GPU_IDLE
from warpsift.graph import load_graph
from warpsift.run.execute import simulate
from warpsift.units import unit_named

GRAPHS = ("cond@1/4", "kron@1/128", "delaunay@1/64")
Paper = tuple[float, float] | None
CASES: dict[
    tuple[str, str], dict[str, Paper]
] = {  # (unit, GPU) -> algorithms with the paper's saving and speedup (SCU paper, Figs. 9 and 10)
    ("scu", "gtx980"): {"bfs": (12.3, 1.41), "sssp": (11.0, 1.65)},
    ("scu", "tx1"): {"bfs": (5.35, 3.83), "sssp": (4.54, 3.24)},
    ("scu-basic", "gtx980"): {"bfs": None, "sssp": None, "pagerank": (4.65, 1.0)},
    ("scu-basic", "tx1"): {"bfs": None, "sssp": None, "pagerank": (1.5, 1.05)},
    ("mff", "gtx480"): {"bfs": None, "pagerank": None},
}
HEAD = [
    "unit, algorithm, GPU",
    "speedup",
    "saving: SMs idle / clock-gated / power-gated",
    "paper",
    "static share",
    "ceiling",
]


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def row(unit: str, gpu: str, algorithm: str, paper: Paper) -> list[str]:
    choices: dict[str, Any] = {"max_iterations": 2} if algorithm == "pagerank" else {}
    speedups, static = [], []
    savings: dict[str, list[float]] = {mode: [] for mode in GPU_IDLE}
    for name in GRAPHS:
        style = unit_named(unit).style
        plain, with_unit = (
            simulate(algorithm, load_graph(name), gpu=gpu, unit=which, style=style, check=False, **choices)
            for which in ("none", unit)
        )
        speedups.append(plain.seconds / with_unit.seconds)
        assert plain.energy_report is not None
        static.append(plain.energy_report.static_joules / plain.energy_joules)
        for mode in GPU_IDLE:
            savings[mode].append(plain.energy_joules / with_unit.energy_by_gpu_idle[mode])
        print(f"{unit} {algorithm} {gpu} {name}: done", file=sys.stderr, flush=True)
    share = statistics.fmean(static)
    return [
        f"{unit}, {algorithm}, {gpu}",
        f"{geometric_mean(speedups):.2f}",
        " / ".join(f"{geometric_mean(savings[mode]):.2f}" for mode in GPU_IDLE),
        f"{paper[0]:g}" if paper else "",
        f"{100 * share:.0f} %",
        f"{reduction_limit(share, paper[1]):.2f}" if paper else "",
    ]


def main() -> None:
    print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|", flush=True)
    for (unit, gpu), algorithms in CASES.items():
        for algorithm, paper in algorithms.items():
            print(f"| {' | '.join(row(unit, gpu, algorithm, paper))} |", flush=True)


if __name__ == "__main__":
    main()
