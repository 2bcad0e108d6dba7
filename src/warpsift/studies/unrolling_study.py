"""Loops with and without unrolling: what it does to thread-per-vertex baselines, and to the MFF's speedup over them.

A thread that walks a long list one gather at a time waits for each; compilers unroll such loops by four
(simt/unrolling.py), so four gathers are in flight. Both sides of the comparison are compiled alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from warpsift.graph import CsrGraph
from warpsift.studies.mff.mff_measurements import Row, measure

FACTORS = (1, 4)  # PTX as it is; ptxas


def study(
    graph: CsrGraph,
    algorithms: Iterable[str],
    gpu: str,
    choices: Mapping[str, Any] | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> list[Row]:
    """Rows of algorithm and unrolling: cycles plain and with the MFF, its speedup, and what unrolling gains."""
    asked = {"gpu": gpu, **(choices or {})}
    overrides = asked.get("overrides") or {}
    rows: list[Row] = []
    for name in algorithms:
        chosen = asked | ({"max_iterations": 1} if name == "pagerank" else {})  # all super-steps are alike
        first: float | None = None
        for factor in FACTORS:
            note(f"{name}, loops unrolled {factor} times" if factor > 1 else f"{name}, loops as written")
            setting = chosen | {"overrides": {**overrides, "compiler.unroll": factor}}
            plain, unit = (measure(graph, name, which, setting)["cycles"] for which in ("plain", "mff"))
            first = first or plain
            rows.append(
                {
                    "graph": graph.name,
                    "algorithm": name,
                    "unroll": factor,
                    "plain_cycles": plain,
                    "mff_cycles": unit,
                    "plain_gain": first / plain,
                    "mff_speedup": plain / unit,
                }
            )
    return rows
